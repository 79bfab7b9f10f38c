// Task attempts by node on a canvas: thousands of them redraw within a frame, because only what is in view is drawn.

import { admits, describe, type Filter, legend, table } from './attempts';
import { OUTCOMES, PHASES, type ReportData } from './data';
import { eachFrame, el, fit, section } from './dom';
import * as format from './format';
import { FEW_JOBS, told } from './jobs';
import { hit, layout, type Layout, pieces } from './lanes';
import { inkOn, onTheme, palette } from './palette';
import { AXIS_HEIGHT, drawGrid, drawTimeAxis, FONT, GUTTER, interact, MARGIN, toX } from './plot';
import type { TimeAxis } from './range';
import { hideTip, showTip } from './tip';
import { causeName, mediumOf } from './words';

const ROOM = 560;
const TALLEST = 640;
const BAND = 16;
/** Jobs whose phases and critical path head the Gantt: a few, or of many the one that is told. */
function banded(jobs: ReportData['jobs']): ReportData['jobs'] {
  return jobs.length <= FEW_JOBS ? jobs : told(jobs);
}

/** A job's phase has the colour of what its tasks do most in it. */
const BAND_COLOURS = { map: 'compute', shuffle: 'fetch', reduce: 'reduce' } as const;

export function gantt(
  data: ReportData,
  axis: TimeAxis,
  filter: Filter,
  refiltered: (tell: () => void) => void,
  { id, title, room, note }: { id: string; title: string; room: number; note?: string } = {
    id: 'tasks',
    title: 'Tasks by node',
    room: ROOM,
  },
): HTMLElement {
  const a = data.attempts;
  const tallest = room < ROOM ? room + 40 : TALLEST;
  const summary = el('canvas', { 'aria-hidden': 'true' });
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const scale = el('canvas', { 'aria-hidden': 'true' });
  const spacer = el('div', { class: 'spacer' }, canvas);
  const scroller = el('div', { class: 'scroller' }, spacer);
  const area = el('div', { class: 'gantt', role: 'application' }, summary, scroller, scale);
  const said = el('p', { class: 'visually-hidden', 'aria-live': 'polite' });
  let at: Layout = layout(a, admits(data, filter), room);
  const more = el('p', { class: 'note more', hidden: '' });
  let chosen = -1;
  const parts = pieces(a);
  const medium = mediumOf(data);

  const bands: { name: string; spans: { from: number; to: number; colour: string; text: string }[] }[] = [];
  const relabel = (): void => {
    const colours = palette();
    bands.length = 0;
    for (const job of banded(data.jobs)) {
      const prefix = data.jobs.length > 1 ? `${job.name} ` : '';
      for (const phase of job.phases) {
        bands.push({
          name: prefix + phase.name,
          spans: [
            {
              from: phase.start_s,
              to: phase.end_s,
              colour: colours.phases[BAND_COLOURS[phase.name]],
              text: format.seconds(phase.end_s - phase.start_s),
            },
          ],
        });
      }
      if (job.critical_path.length === 0) continue;
      bands.push({
        name: `${prefix}critical path`,
        spans: job.critical_path.map((s) => ({
          from: s.start_s,
          to: s.end_s,
          colour: colours.causes[s.cause],
          text: [causeName(s.cause, medium), s.detail, s.where, format.seconds(s.end_s - s.start_s)]
            .filter((part) => part !== '')
            .join(', '),
        })),
      });
    }
  };
  relabel();

  const drawSummary = (width: number): void => {
    const height = bands.length * BAND + 8;
    const c = fit(summary, width, height);
    const colours = palette();
    c.clearRect(0, 0, width, height);
    drawGrid(c, axis.view, width, 0, height);
    c.font = FONT;
    c.textBaseline = 'middle';
    bands.forEach((band, k) => {
      const top = k * BAND + 2;
      c.fillStyle = colours.muted;
      c.textAlign = 'right';
      c.fillText(band.name, GUTTER - 8, top + 6, GUTTER - 12);
      c.save();
      c.beginPath();
      c.rect(GUTTER, top, width - GUTTER - MARGIN, 12);
      c.clip();
      for (const span of band.spans) {
        const left = toX(span.from, axis.view, width);
        const right = toX(span.to, axis.view, width);
        if (right < GUTTER || left > width) continue;
        c.fillStyle = span.colour;
        c.fillRect(left, top, Math.max(0.75, right - left - 0.5), 12);
        if (band.spans.length === 1 && right - Math.max(left, GUTTER) > 60) {
          c.fillStyle = inkOn(span.colour);
          c.textAlign = 'left';
          c.fillText(span.text, Math.max(left, GUTTER) + 5, top + 6.5);
        }
      }
      c.restore();
    });
  };

  const drawAttempts = (width: number): void => {
    const height = Math.min(tallest, at.height);
    const c = fit(canvas, width, height);
    const colours = palette();
    const { from, to } = axis.view;
    const scrolled = scroller.scrollTop;
    const inner = width - GUTTER - MARGIN;
    const perMs = inner / ((to - from) * 1000);
    const x = (ms: number): number => GUTTER + (ms - from * 1000) * perMs;
    const lane = at.laneHeight;
    const bar = lane > 4 ? lane - 2 : lane > 3 ? lane - 1 : lane - 0.5;
    c.clearRect(0, 0, width, height);
    drawGrid(c, axis.view, width, 0, height);
    c.font = FONT;
    c.textBaseline = 'middle';
    const shown = at.rows.filter((row) => row.top + row.height >= scrolled && row.top <= scrolled + height);
    shown.forEach((row) => {
      const top = row.top - scrolled;
      c.fillStyle = colours.muted;
      c.textAlign = 'right';
      c.fillText(data.nodes[row.node]?.name ?? '', GUTTER - 8, top + Math.min(row.height / 2, 7), GUTTER - 12);
      c.fillStyle = colours.grid;
      c.fillRect(0, Math.round(top + row.height + 2), width - MARGIN, 1);
    });
    c.save();
    c.beginPath();
    c.rect(GUTTER, 0, inner, height);
    c.clip();
    const phaseColour = PHASES.map((kind) => colours.phases[kind]);
    for (const row of shown) {
      for (let k = 0; k < row.attempts.length; k += 1) {
        const i = row.attempts[k]!;
        const left = x(a.start_ms[i]!);
        const right = x(a.end_ms[i]!);
        if (right < GUTTER || left > width - MARGIN) continue;
        const top = row.top + row.lane[k]! * lane - scrolled;
        const outcome = OUTCOMES[a.outcome[i]!];
        c.globalAlpha = outcome === 'failed' || outcome === 'killed' ? 0.45 : 1;
        for (let p = parts.at[i]!; p < parts.at[i + 1]!; p += 1) {
          const l = x(parts.start_ms[p]!);
          const h = bar / parts.of[p]!;
          c.fillStyle = phaseColour[parts.kind[p]!]!;
          c.fillRect(l, top + parts.slot[p]! * h, Math.max(x(parts.end_ms[p]!) - l, 0.6), h);
        }
        c.globalAlpha = 1;
        mark(c, colours, outcome ?? '', a.speculative[i] === 1, left, right, top, bar);
        if (i === chosen) {
          c.strokeStyle = colours.ink;
          c.lineWidth = 1.5;
          c.strokeRect(left - 0.75, top - 0.75, Math.max(3, right - left) + 1.5, bar + 1.5);
        }
      }
    }
    c.lineWidth = 1;
    c.strokeStyle = colours.bad;
    c.setLineDash([3, 3]);
    for (const event of data.events) {
      const line = Math.round(GUTTER + (event.at_s - from) * 1000 * perMs) + 0.5;
      const row = shown.find((r) => r.node === event.node);
      if (!row) continue;
      c.beginPath();
      c.moveTo(line, row.top - scrolled);
      c.lineTo(line, row.top - scrolled + row.height);
      c.stroke();
    }
    c.setLineDash([]);
    c.restore();
  };

  const draw = eachFrame(area, () => {
    const width = area.clientWidth;
    if (width === 0) return;
    drawSummary(width);
    drawAttempts(width);
    const c = fit(scale, width, AXIS_HEIGHT);
    c.clearRect(0, 0, width, AXIS_HEIGHT);
    drawTimeAxis(c, axis.view, width, 0);
    area.dataset['view'] = `${axis.view.from} ${axis.view.to}`;
  });

  /** What part of the nodes is in sight, where not all are. */
  const told = (): void => {
    more.hidden = at.height <= tallest;
    const seen = at.rows.filter(
      (row) => row.top + row.height > scroller.scrollTop && row.top < scroller.scrollTop + tallest,
    );
    const name = (row: (typeof seen)[number] | undefined): string => (row ? (data.nodes[row.node]?.name ?? '') : '');
    more.textContent = `${name(seen[0])} to ${name(seen[seen.length - 1])} of ${format.count(at.rows.length)} nodes; scroll in the chart for the others, or choose a node above.`;
  };

  const relayout = (): void => {
    at = layout(a, admits(data, filter), room);
    chosen = -1;
    scroller.style.height = `${Math.min(tallest, at.height)}px`;
    spacer.style.height = `${at.height}px`;
    told();
    const shown = at.rows.reduce((sum, row) => sum + row.attempts.length, 0);
    area.setAttribute(
      'aria-label',
      `Gantt chart of ${format.count(shown)} task attempts on ${at.rows.length} nodes. Up and down move from attempt to attempt of those in view; left, right, plus and minus move the time axis. A table of the attempts follows.`,
    );
    draw();
  };

  const tipFor = (i: number, clientX: number, clientY: number): void => {
    const text = describe(data, i);
    showTip(
      clientX,
      clientY,
      text.title,
      text.lines,
      text.phases.map((p) => ({ colour: palette().phases[p.kind], text: p.text })),
    );
  };
  interact(area, axis, {
    hover: (t, x, y, event) => {
      const below = y - summary.clientHeight;
      if (x < GUTTER) return hideTip();
      if (below < 0) {
        const band = bands[Math.floor((y - 2) / BAND)];
        const span = band?.spans.find((s) => t >= s.from && t < s.to);
        if (band && span) showTip(event.clientX, event.clientY, band.name, [span.text], []);
        else hideTip();
        return;
      }
      const slack = (3 * (axis.view.to - axis.view.from) * 1000) / area.clientWidth;
      const i = below < scroller.clientHeight ? hit(at, a, t * 1000, below + scroller.scrollTop, slack) : -1;
      if (i < 0) hideTip();
      else tipFor(i, event.clientX, event.clientY);
    },
    leave: hideTip,
  });

  area.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const inView = (i: number): boolean =>
      a.end_ms[i]! >= axis.view.from * 1000 && a.start_ms[i]! <= axis.view.to * 1000;
    const order = at.rows.flatMap((row) => [...row.attempts].filter(inView).map((i) => ({ i, row })));
    if (order.length === 0) return;
    const now = order.findIndex((o) => o.i === chosen);
    const next = order[(now + (event.key === 'ArrowDown' ? 1 : now < 0 ? 0 : -1) + order.length) % order.length]!;
    chosen = next.i;
    scroller.scrollTop = Math.max(0, next.row.top - 40);
    const text = describe(data, chosen);
    said.textContent = [text.title, ...text.lines, ...text.phases.map((p) => p.text)].join('. ');
    const box = area.getBoundingClientRect();
    const x = Math.min(box.width - MARGIN, Math.max(GUTTER, toX(a.start_ms[chosen]! / 1000, axis.view, box.width)));
    tipFor(chosen, box.left + x, box.top + summary.clientHeight + next.row.top - scroller.scrollTop + 20);
    draw();
  });
  area.addEventListener('blur', () => {
    chosen = -1;
    hideTip();
    draw();
  });
  scroller.addEventListener('scroll', () => {
    hideTip();
    told();
    draw();
  });
  axis.onView(draw);
  refiltered(relayout);
  onTheme(() => {
    relabel();
    draw();
  });
  new ResizeObserver(draw).observe(area);
  relayout();
  return section(
    id,
    title,
    note === undefined ? null : el('p', { class: 'note' }, note),
    legend(data),
    area,
    more,
    said,
    table(data, () => at),
  );
}

function mark(
  c: CanvasRenderingContext2D,
  colours: ReturnType<typeof palette>,
  outcome: string,
  speculative: boolean,
  left: number,
  right: number,
  top: number,
  bar: number,
): void {
  if (speculative && bar >= 5) {
    c.fillStyle = colours.ink;
    for (let dash = left; dash < right; dash += 6) c.fillRect(dash, top + bar - 1.5, Math.min(3, right - dash), 1.5);
  }
  if (outcome === 'failed') {
    c.strokeStyle = colours.bad;
    c.lineWidth = 1;
    c.strokeRect(left + 0.5, top + 0.5, Math.max(2, right - left - 1), bar - 1);
    cross(c, right, top + bar / 2, Math.min(4, bar / 2));
  } else if (outcome === 'killed' && bar >= 5) {
    c.strokeStyle = colours.muted;
    c.lineWidth = 1;
    c.strokeRect(left + 0.5, top + 0.5, Math.max(2, right - left - 1), bar - 1);
    c.beginPath();
    c.moveTo(right - 5, top + bar - 1);
    c.lineTo(right - 1, top + 1);
    c.stroke();
  }
}

function cross(c: CanvasRenderingContext2D, x: number, y: number, r: number): void {
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(x - r, y - r);
  c.lineTo(x + r, y + r);
  c.moveTo(x - r, y + r);
  c.lineTo(x + r, y - r);
  c.stroke();
}
