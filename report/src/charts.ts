// Series over simulated time. A few go into one uPlot; many become strips below one another, thin ones shaded like a heat map.

import uPlot from 'uplot';
import type { Chart, Series } from './data';
import { eachFrame, el, fit } from './dom';
import * as format from './format';
import { onTheme, palette } from './palette';
import { AXIS_HEIGHT, drawGrid, drawTimeAxis, FONT, GUTTER, interact, MARGIN, tickText, timeTicks } from './plot';
import type { TimeAxis } from './range';
import { amounts, axisUnit, busiest, cells, largest, ofNode } from './series';
import { hideTip, showTip } from './tip';

const LINES = 6;
const LINE_HEIGHT = 168;
/** Charts whose series count the same things, and are compared on one axis rather than strip by strip. */
const TOGETHER = new Set(['executors']);

export interface View {
  node: number;
}

type Plot = { root: HTMLElement; destroy: () => void };

export function chart(data: Chart, axis: TimeAxis, view: View, refiltered: (tell: () => void) => void): HTMLElement {
  const figure = el('figure', { class: 'chart', id: `chart-${data.id}` });
  const heading = el('h3', {}, data.title);
  const body = el('div', {});
  const caption = el('figcaption', { class: 'visually-hidden' });
  const toggle = el('button', { type: 'button', class: 'quiet' });
  const head = el('div', { class: 'chart-head' }, heading, toggle);
  figure.append(head, body, caption);
  let strips = !TOGETHER.has(data.id);
  let plot: Plot | null = null;

  const build = (): void => {
    const series = ofNode(data, view.node);
    const many = series.length > 2;
    const asStrips = strips && many;
    toggle.hidden = !many;
    toggle.textContent = asStrips
      ? `As lines${series.length > LINES ? `: the busiest ${LINES} of ${format.count(series.length)}` : ''}`
      : `As strips: all ${format.count(series.length)}`;
    toggle.setAttribute('aria-label', `${data.title}: show ${toggle.textContent}`);
    plot?.destroy();
    plot = asStrips ? stripPlot(data, series, axis) : linePlot(data, busiest(series, LINES), axis);
    body.replaceChildren(plot.root);
    caption.textContent = words(data, series);
  };
  toggle.addEventListener('click', () => {
    strips = !strips;
    build();
  });
  refiltered(build);
  build();
  return figure;
}

/** Whole numbers with their thousands apart, others as they are. */
function tickLabel(value: number): string {
  return Number.isInteger(value) ? format.count(value) : String(Number(value.toPrecision(6)));
}

/** The chart for those who cannot see it: each series' mean and peak over the run. */
function words(data: Chart, series: Series[]): string {
  const said = busiest(series, 12).map((s) => `${s.name} ${amounts(data, s, 0, s.values.length)}`);
  return `${data.title}, ${data.label.toLowerCase()} over simulated time: ${said.join('; ')}${series.length > 12 ? `; and ${series.length - 12} quieter ones` : ''}.`;
}

const steps = uPlot.paths.stepped!({ align: 1 });

function linePlot(data: Chart, series: Series[], axis: TimeAxis): Plot {
  const n = series[0]?.values.length ?? 0;
  const unit = axisUnit(
    data,
    series.reduce((most, s) => Math.max(most, largest(s, 0, n)), 0),
  );
  // One point past the end, so that the last cell is drawn as wide as it lasts.
  const x = Array.from({ length: n + 1 }, (_, i) => i * data.step_s);
  const columns = series.map((s) =>
    Array.from({ length: n + 1 }, (_, i) => s.values[Math.min(i, n - 1)]! * unit.factor),
  );
  const area = el('div', {
    class: 'lines',
    role: 'img',
    'aria-label': `${data.title}, ${data.label}${unit.text === '' ? '' : ` in ${unit.text}`}`,
  });
  const values = series.map(() => el('span', { class: 'value' }));
  const legend = el(
    'ul',
    { class: 'legend' },
    ...series.map((s, k) =>
      el(
        'li',
        {},
        el('span', { class: 'swatch line', style: `background:var(--series-${k})` }),
        s.name,
        ' ',
        values[k]!,
      ),
    ),
  );
  const root = el('div', {}, legend, area);

  const colour = (): ReturnType<typeof palette> => palette();
  const options: uPlot.Options = {
    width: 600,
    height: LINE_HEIGHT + AXIS_HEIGHT,
    padding: [8, MARGIN, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, auto: false, range: () => [axis.view.from, axis.view.to] },
      y: {
        range: (_u, _min, max) => [0, data.unit === 'share' ? Math.max(100, max) : Math.max(max * 1.06, unit.factor)],
      },
    },
    axes: [
      {
        size: AXIS_HEIGHT - 16,
        labelSize: 16,
        labelGap: 0,
        gap: 4,
        label: 'Simulated time (s)',
        labelFont: FONT,
        font: FONT,
        stroke: () => colour().muted,
        grid: { stroke: () => colour().grid, width: 1 },
        ticks: { stroke: () => colour().line, width: 1, size: 4 },
        splits: (u) => timeTicks(axis.view, u.width),
        values: (_u, splits) => splits.map((v) => tickText(v, splits.length > 1 ? splits[1]! - splits[0]! : 1)),
      },
      {
        size: GUTTER - 22,
        labelSize: 22,
        labelGap: 0,
        gap: 6,
        label: unit.text === '' ? data.label : `${data.label} (${unit.text})`,
        labelFont: FONT,
        font: FONT,
        stroke: () => colour().muted,
        space: 34,
        grid: { stroke: () => colour().grid, width: 1 },
        ticks: { stroke: () => colour().line, width: 1, size: 4 },
        values: (_u, splits) => splits.map((v) => tickLabel(v)),
        incrs: [
          0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000,
          5000, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6,
        ],
      },
    ],
    series: [
      {},
      ...series.map((s, k): uPlot.Series => ({
        label: s.name,
        width: 1.25,
        points: { show: false },
        paths: steps,
        stroke: () => colour().series[k % colour().series.length]!,
        ...(series.length === 1 ? { fill: () => `${colour().series[0]!}2e` } : {}),
      })),
    ],
  };
  const u = new uPlot(options, [x, ...columns] as uPlot.AlignedData, area);

  let live = true;
  const say = (at: number | null): void => {
    const [from, to] = cells(data, axis.view);
    const cell = at === null ? -1 : Math.floor(at / data.step_s);
    series.forEach((s, k) => {
      values[k]!.textContent =
        cell >= 0 && cell < n ? format.inUnit(s.values[cell]! * data.scale, data.unit) : amounts(data, s, from, to);
    });
  };
  const draw = eachFrame(area, () => {
    if (!live || area.clientWidth === 0) return;
    if (u.width !== area.clientWidth) u.setSize({ width: area.clientWidth, height: LINE_HEIGHT + AXIS_HEIGHT });
    u.setScale('x', { min: axis.view.from, max: axis.view.to });
    area.dataset['view'] = `${axis.view.from} ${axis.view.to}`;
    say(axis.held);
  });
  interact(area, axis);
  axis.onView(draw);
  axis.onPoint((t) => live && say(t));
  onTheme(() => live && u.redraw(false));
  const sized = new ResizeObserver(draw);
  sized.observe(area);
  draw();
  return {
    root,
    destroy: () => {
      live = false;
      sized.disconnect();
      u.destroy();
    },
  };
}

const TALLEST = 464;

function stripPlot(data: Chart, series: Series[], axis: TimeAxis): Plot {
  const rowHeight = series.length <= 10 ? 26 : series.length <= 16 ? 20 : series.length <= 42 ? 11 : 5;
  const height = series.length * rowHeight;
  const n = series[0]?.values.length ?? 0;
  const most = series.reduce((m, s) => Math.max(m, largest(s, 0, n)), 1);
  const full = data.unit === 'share' ? Math.max(1 / data.scale, most) : most;
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const scale = el('canvas', { 'aria-hidden': 'true' });
  const spacer = el('div', { class: 'spacer', style: `height:${height}px` }, canvas);
  const scroller = el('div', { class: 'scroller', style: `height:${Math.min(TALLEST, height)}px` }, spacer);
  const range = `0 to ${format.inUnit(full * data.scale, data.unit)}`;
  const area = el(
    'div',
    { class: 'strips', role: 'img', 'aria-label': `${data.title}, one strip per series, ${data.label} ${range}` },
    scroller,
    scale,
  );
  const heat = rowHeight < 16;
  const left = data.left_out > 0 ? ` The ${format.count(data.left_out)} quietest are left out.` : '';
  const key = heat
    ? el(
        'span',
        { class: 'ramp' },
        format.inUnit(0, data.unit),
        el('span', { class: 'gradient', 'aria-hidden': 'true' }),
        format.inUnit(full * data.scale, data.unit),
      )
    : null;
  const hidden = height > TALLEST ? ` Scroll in the chart for all ${format.count(series.length)}.` : '';
  const each = heat ? 'one row each' : `one strip each, ${range}`;
  const above = data.unit === 'share' && full * data.scale > 1.005 ? ' Above 100 %: the burst of a token bucket.' : '';
  const note = el('p', { class: 'note' }, `${data.label}: ${each}.${above}${left}${hidden} `, key);
  const root = el('div', {}, note, area);

  let live = true;
  const draw = eachFrame(area, () => {
    const width = area.clientWidth;
    if (!live || width === 0) return;
    const shown = Math.min(TALLEST, height);
    const c = fit(canvas, width, shown);
    const colours = palette();
    const scrolled = scroller.scrollTop;
    const inner = Math.floor(width - GUTTER - MARGIN);
    c.clearRect(0, 0, width, shown);
    drawGrid(c, axis.view, width, 0, shown);
    c.font = FONT;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    const first = Math.floor(scrolled / rowHeight);
    const last = Math.min(series.length, Math.ceil((scrolled + shown) / rowHeight));
    // A name per row where rows are tall; else one each time a label's height has passed.
    const every = Math.max(1, Math.ceil(11 / rowHeight));
    c.fillStyle = colours.muted;
    for (let r = first; r < last; r += 1) {
      if (r % every === 0)
        c.fillText(series[r]!.name, GUTTER - 8, r * rowHeight - scrolled + Math.max(rowHeight, 11) / 2, GUTTER - 12);
    }
    const peaks = peaksByPixel(data, series.slice(first, last), axis, inner);
    if (heat) shade(c, peaks, full, inner, first * rowHeight - scrolled, rowHeight);
    else fillStrips(c, peaks, full, inner, first * rowHeight - scrolled, rowHeight);
    const below = fit(scale, width, AXIS_HEIGHT);
    below.clearRect(0, 0, width, AXIS_HEIGHT);
    drawTimeAxis(below, axis.view, width, 0);
    area.dataset['view'] = `${axis.view.from} ${axis.view.to}`;
  });
  interact(area, axis, {
    hover: (t, x, y, event) => {
      const r = Math.floor((y + scroller.scrollTop) / rowHeight);
      const s = series[r];
      const cell = Math.floor(t / data.step_s);
      if (!s || x < GUTTER || y > scroller.clientHeight || cell < 0 || cell >= n) return hideTip();
      showTip(
        event.clientX,
        event.clientY,
        s.name,
        [
          `${data.label} ${format.inUnit(s.values[cell]! * data.scale, data.unit)} at ${format.instant(t, axis.view.to - axis.view.from)}`,
        ],
        [],
      );
    },
    leave: hideTip,
  });
  scroller.addEventListener('scroll', draw);
  axis.onView(draw);
  onTheme(draw);
  const sized = new ResizeObserver(draw);
  sized.observe(area);
  return {
    root,
    destroy: () => {
      live = false;
      sized.disconnect();
    },
  };
}

/** For each series and pixel column, the highest value of the cells behind it: peaks survive any zoom. */
function peaksByPixel(data: Chart, series: Series[], axis: TimeAxis, width: number): Float64Array[] {
  const perPixel = (axis.view.to - axis.view.from) / width / data.step_s;
  const start = axis.view.from / data.step_s;
  return series.map(({ values }) => {
    const out = new Float64Array(width);
    for (let x = 0; x < width; x += 1) {
      const from = Math.max(0, Math.floor(start + x * perPixel));
      const to = Math.min(values.length, Math.max(from + 1, Math.ceil(start + (x + 1) * perPixel)));
      let most = 0;
      for (let i = from; i < to; i += 1) if (values[i]! > most) most = values[i]!;
      out[x] = most;
    }
    return out;
  });
}

function fillStrips(
  c: CanvasRenderingContext2D,
  peaks: Float64Array[],
  full: number,
  width: number,
  top: number,
  rowHeight: number,
): void {
  const colours = palette();
  peaks.forEach((row, r) => {
    const base = top + (r + 1) * rowHeight - 2;
    c.fillStyle = colours.line;
    c.fillRect(GUTTER, Math.round(base), width, 1);
    c.fillStyle = colours.amount;
    c.globalAlpha = 0.85;
    for (let x = 0; x < width; x += 1) {
      if (row[x]! <= 0) continue;
      const h = Math.max(0.5, (row[x]! / full) * (rowHeight - 4));
      c.fillRect(GUTTER + x, base - h, 1, h);
    }
    c.globalAlpha = 1;
  });
}

/** One row of pixels per series, stretched to its height: a hundred rows cost no more than one picture. */
function shade(
  c: CanvasRenderingContext2D,
  peaks: Float64Array[],
  full: number,
  width: number,
  top: number,
  rowHeight: number,
): void {
  if (peaks.length === 0) return;
  const colours = palette();
  const [red, green, blue] = [1, 3, 5].map((i) => parseInt(colours.amount.slice(i, i + 2), 16)) as [
    number,
    number,
    number,
  ];
  const picture = el('canvas', { width: String(width), height: String(peaks.length) });
  const ink = picture.getContext('2d')!;
  const pixels = ink.createImageData(width, peaks.length);
  peaks.forEach((row, r) => {
    for (let x = 0; x < width; x += 1) {
      const at = (r * width + x) * 4;
      pixels.data[at] = red;
      pixels.data[at + 1] = green;
      pixels.data[at + 2] = blue;
      pixels.data[at + 3] = Math.round((255 * row[x]!) / full);
    }
  });
  ink.putImageData(pixels, 0, 0);
  c.imageSmoothingEnabled = false;
  c.drawImage(picture, GUTTER, top, width, peaks.length * rowHeight);
}
