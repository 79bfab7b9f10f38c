// Values over seeds as points, with the interval in which 90 % of them lie, the median, and what was recorded.

import { count } from './format';
import { tickText } from './plot';
import { label, straight, together } from './scale';
import { blank, draw, fitted, tell, TEXT } from './svg';

export interface SpreadRow {
  name: string;
  /** Run by run; null where a run has none. */
  values: (number | null)[];
  median: number;
  low: number;
  high: number;
}

export interface Spread {
  title: string;
  unit: string;
  rows: SpreadRow[];
  recorded: number | null;
  /** Names of the runs, for the tooltip. */
  runs: string[];
  /** Height of a row. */
  row: number;
}

const AXIS = 34;
const SIDE = 16;
const DOT = 3.6;

/** Heights, by position, at which points do not cover each other: each takes the free place nearest to the middle. */
export function swarm(xs: number[], size: number, most: number): number[] {
  const order = xs.map((_, i) => i).sort((i, j) => xs[i]! - xs[j]! || i - j);
  const placed: { x: number; y: number }[] = [];
  const out = new Array<number>(xs.length).fill(0);
  for (const i of order) {
    const x = xs[i]!;
    const near = placed.filter((p) => x - p.x < size);
    let y = 0;
    for (let step = 0; step < 200; step += 1) {
      y = (step % 2 === 0 ? 1 : -1) * Math.ceil(step / 2) * (size / 2);
      const free = near.every((p) => Math.hypot(p.x - x, p.y - y) >= size * 0.98);
      if (free || Math.abs(y) > most) break;
    }
    out[i] = Math.max(-most, Math.min(most, y));
    placed.push({ x, y: out[i]! });
  }
  return out;
}

/** The range of an axis that shows all values and the record, with a little room. */
export function extent(rows: SpreadRow[], recorded: number | null): [number, number] {
  const all = rows.flatMap((r) => [r.low, r.high, ...r.values.filter((v): v is number => v !== null)]);
  if (recorded !== null) all.push(recorded);
  const low = all.reduce((a, b) => Math.min(a, b), Infinity);
  const high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(low)) return [0, 1];
  const room = (high - low || Math.abs(high) * 0.1 || 1) * 0.06;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

function said(value: number, unit: string): string {
  return `${label(value)}${unit === '' ? '' : `\u00a0${unit}`}`;
}

/** "median 41.2 s, 90 % of 20 runs from 39.8 to 43.1 s". */
export function words(row: SpreadRow, unit: string): string {
  const n = row.values.filter((v) => v !== null).length;
  const all = row.values.length;
  const cut = n < all ? `; ${count(all - n)} of ${count(all)} runs ${all - n === 1 ? 'has' : 'have'} none` : '';
  if (n === 1) return `${said(row.median, unit)}, one run${cut}`;
  const [median, low, high] = together([row.median, row.low, row.high]);
  const of = unit === '' ? '' : `\u00a0${unit}`;
  return `median ${median}${of}, 90\u00a0% of ${n} runs from ${low} to ${high}${of}${cut}`;
}

function picture(data: Spread, width: number): SVGElement {
  const named = data.rows.length > 1;
  const head = named ? 16 : 0;
  const height = data.rows.length * (data.row + head) + AXIS;
  const record = data.recorded === null ? '' : `; recorded ${said(data.recorded, data.unit)}`;
  const told = data.rows.map((r) => `${named ? `${r.name}: ` : ''}${words(r, data.unit)}`).join('; ');
  const svg = blank(width, height, `${data.title}: ${told}${record}`);
  const x = straight(...extent(data.rows, data.recorded), SIDE, width - SIDE, Math.max(2, Math.floor(width / 90)));
  const bottom = height - AXIS;
  const step = x.ticks.length > 1 ? x.ticks[1]! - x.ticks[0]! : 1;
  for (const tick of x.ticks) {
    draw(svg, 'line', { x1: x.at(tick), x2: x.at(tick), y1: 0, y2: bottom + 4, stroke: 'var(--grid)' });
    draw(svg, 'text', { x: x.at(tick), y: bottom + 16, 'text-anchor': 'middle', ...TEXT }, tickText(tick, step));
  }
  draw(svg, 'line', { x1: SIDE, x2: width - SIDE, y1: bottom, y2: bottom, stroke: 'var(--line)' });
  const title = data.unit === '' ? data.title : `${data.title} (${data.unit})`;
  draw(svg, 'text', { x: width / 2, y: height - 4, 'text-anchor': 'middle', ...TEXT }, title);
  data.rows.forEach((row, r) => {
    const top = r * (data.row + head);
    if (named) draw(svg, 'text', { x: SIDE, y: top + 12, ...TEXT, fill: 'var(--ink)' }, row.name);
    const middle = top + head + data.row / 2;
    const half = data.row / 2 - 4;
    const many = row.values.filter((v) => v !== null).length > 1;
    if (many) {
      const from = x.at(row.low);
      const bar = { x: from, y: middle - half, width: Math.max(1, x.at(row.high) - from), height: 2 * half };
      draw(svg, 'rect', { ...bar, rx: 3, fill: 'var(--simulated)', opacity: 0.16, class: 'ninety' });
      const mark = { x1: x.at(row.median), x2: x.at(row.median), y1: middle - half, y2: middle + half };
      draw(svg, 'line', { ...mark, stroke: 'var(--simulated)', 'stroke-width': 2 });
    }
    const known = row.values.flatMap((v, i) => (v === null ? [] : [{ v, i }]));
    const dodge = swarm(
      known.map(({ v }) => x.at(v)),
      2 * DOT,
      half - DOT,
    );
    known.forEach(({ v, i }, k) => {
      const place = { cx: x.at(v), cy: middle + dodge[k]!, r: DOT };
      const spot = { ...place, fill: 'var(--simulated)', opacity: 0.75, class: 'spot' };
      tell(draw(svg, 'circle', spot), named ? `${row.name}, ${data.runs[i] ?? ''}` : (data.runs[i] ?? ''), [
        said(v, data.unit),
      ]);
    });
  });
  if (data.recorded !== null) {
    const at = x.at(data.recorded);
    const dashes = { stroke: 'var(--recorded)', 'stroke-width': 2, 'stroke-dasharray': '5 3' };
    draw(svg, 'line', { x1: at, x2: at, y1: 0, y2: bottom, ...dashes });
    const mark = { fill: 'var(--recorded)', class: 'spot recorded-mark' };
    const diamond = draw(svg, 'path', { d: `M${at} ${bottom - 6}l6 6l-6 6l-6 -6Z`, ...mark });
    tell(diamond, 'Recorded', [said(data.recorded, data.unit)]);
  }
  return svg;
}

/** The picture, as wide as its place. */
export function spread(data: Spread): HTMLElement {
  return fitted((width) => picture(data, width));
}

/** Where the record stands among the runs, in a sentence. */
export function place(row: SpreadRow, recorded: number): string {
  const known = row.values.filter((v): v is number => v !== null);
  const below = known.filter((v) => v < recorded).length;
  if (known.length < 2) return '';
  const inside = recorded >= row.low && recorded <= row.high;
  const off = (recorded - row.median) / row.median;
  const side = off < 0 ? 'below' : 'above';
  const where = inside ? 'inside' : 'outside';
  const distance = `${(100 * Math.abs(off)).toFixed(1)}\u00a0% ${side} the median`;
  return `The record lies ${where} the 90\u00a0% interval, ${distance}: ${below} of ${known.length} runs are shorter.`;
}
