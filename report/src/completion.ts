// How long flows, sessions, rounds or queries took: cumulative distributions in one picture.

import uPlot from 'uplot';
import { el } from './dom';
import * as format from './format';
import { onTheme, palette } from './palette';
import { FONT, GUTTER, MARGIN } from './plot';

/** Seconds, and the share that took no longer. */
export type Distribution = [number, number][];

/** The most curves in one picture, as many as there are colours. */
export const MOST_CURVES = 6;
const HEIGHT = 190;

/** The completion time that the share `p` does not exceed. */
export function quantile(completion: Distribution, p: number): number {
  return (completion.find(([, share]) => share >= p - 1e-9) ?? completion[completion.length - 1] ?? [0, 0])[0];
}

/** From so many values on the largest of a thousand means something. */
const ENOUGH = 1000;

/** "50 % within 12.9 ms, ...". */
export function saidOf(completion: Distribution, count = 0): string {
  const parts = count >= ENOUGH ? [0.5, 0.9, 0.99, 0.999] : [0.5, 0.9, 0.99];
  return parts.map((p) => `${format.share(p)} within ${format.seconds(quantile(completion, p))}`).join(', ');
}

/** Curves over one grid of times: each as a column that holds at a time of another what it held at its own last one before. */
export function aligned(curves: Distribution[]): [number[], ...number[][]] {
  const times = [...new Set(curves.flatMap((curve) => curve.map(([t]) => t)))].sort((a, b) => a - b);
  const columns = curves.map((curve) => {
    let next = 0;
    let share = 0;
    return times.map((t) => {
      while (next < curve.length && curve[next]![0] <= t) share = curve[next++]![1];
      return share * 100;
    });
  });
  return [times, ...columns];
}

/** The picture; its axis of time is logarithmic when the times span more than a decade. */
export function completionPlot(
  id: string,
  title: string,
  note: string,
  label: string,
  curves: { name: string; points: Distribution }[],
): HTMLElement {
  const shown = curves.slice(0, MOST_CURVES);
  const [times, ...columns] = aligned(shown.map((c) => c.points.filter(([t]) => t > 0)));
  const log = (times[times.length - 1] ?? 1) / (times[0] ?? 1) > 10;
  const said = shown.map((c) => (shown.length > 1 ? `${c.name}: ` : '') + saidOf(c.points)).join('; ');
  const area = el('div', { class: 'lines', role: 'img', 'aria-label': `${title}s: ${said}` });
  const swatch = (k: number): HTMLElement =>
    el('span', { class: 'swatch line', style: `background:var(--series-${k})` });
  const legend = el('ul', { class: 'legend' }, ...shown.map((c, k) => el('li', {}, swatch(k), c.name)));
  const root = el(
    'figure',
    { class: 'chart', id },
    el('div', { class: 'chart-head' }, el('h3', {}, title)),
    el('p', { class: 'note' }, note),
    shown.length > 1 ? legend : null,
    area,
  );
  const axes = {
    font: FONT,
    labelFont: FONT,
    stroke: () => palette().muted,
    grid: { stroke: () => palette().grid, width: 1 },
    ticks: { stroke: () => palette().line, width: 1, size: 4 },
  };
  const u = new uPlot(
    {
      width: 600,
      height: HEIGHT,
      padding: [8, MARGIN, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, ...(log ? { distr: 3 as const } : {}) }, y: { range: [0, 100] } },
      axes: [
        {
          ...axes,
          size: 20,
          labelSize: 16,
          labelGap: 0,
          gap: 4,
          label: `${title} (s)${log ? ', logarithmic' : ''}`,
          values: (_u, splits) => splits.map((v) => (v === null ? '' : String(Number(v.toPrecision(3))))),
        },
        { ...axes, size: GUTTER - 22, labelSize: 22, labelGap: 0, gap: 6, label },
      ],
      series: [
        {},
        ...shown.map((_, k) => ({
          width: 1.5,
          points: { show: false },
          stroke: () => palette().series[k]!,
          paths: uPlot.paths.stepped!({ align: 1 }),
        })),
      ],
    },
    [times, ...columns],
    area,
  );
  new ResizeObserver(() => area.clientWidth > 0 && u.setSize({ width: area.clientWidth, height: HEIGHT })).observe(area);
  onTheme(() => u.redraw(false));
  return root;
}
