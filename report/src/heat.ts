// A figure over two axes as a map of cells: a stronger colour is more, and each cell says its value where it has room.

import { label } from './scale';
import type { Unit } from './surface';
import { pointAt } from './surface';
import type { Sweep } from './sweep-data';
import { hideTip, showTip } from './tip';

const SVG = 'http://www.w3.org/2000/svg';
const RIGHT = 8;
const TOP = 20;
const BOTTOM = 42;
const CELL = 34;
/** Width of a letter of 11 pixels, about. */
const LETTER = 6.2;
/** The least cell is still told from none. */
const FAINTEST = 0.06;
const STRONGEST = 0.9;

function draw(parent: Element, tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

/** How strong a value's colour is, between those of the least and the greatest. */
export function strength(value: number, least: number, greatest: number): number {
  if (!(greatest > least)) return FAINTEST;
  return FAINTEST + ((value - least) / (greatest - least)) * (STRONGEST - FAINTEST);
}

function short(text: string, room: number): string {
  const letters = Math.max(2, Math.floor(room / LETTER));
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

/** An axis' name with its unit, if its values are numbers without. */
export function axisName(key: string, unit: string): string {
  return unit === '' ? key : `${key}, ${unit}`;
}

/** The map of one figure over the axes `x` and `y`; the others stand at `at`. `say` tells a cell in words. */
export function heat(
  data: Sweep,
  metric: number,
  x: number,
  y: number,
  at: number[],
  unit: Unit,
  width: number,
  say: (place: number[]) => string[],
): SVGElement {
  const [columns, rows] = [data.axes[x]!.values, data.axes[y]!.values];
  const longest = rows.reduce((most, text) => Math.max(most, text.length), 0);
  const left = Math.min(width * 0.34, 12 + longest * LETTER);
  const cell = (width - left - RIGHT) / columns.length;
  const height = TOP + rows.length * CELL + BOTTOM;
  const svg = document.createElementNS(SVG, 'svg');
  const title = `${data.metrics[metric]!.path} over ${data.axes[x]!.key} and ${data.axes[y]!.key}`;
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': title }))
    svg.setAttribute(name, String(value));
  const value = (i: number, j: number): number | null => {
    const place = at.slice();
    place[x] = i;
    place[y] = j;
    const mean = pointAt(data, place)?.figures[metric]?.mean ?? null;
    return mean === null ? null : mean * unit.factor;
  };
  const all = rows.flatMap((_, j) => columns.map((_, i) => value(i, j))).filter((v): v is number => v !== null);
  const [least, greatest] = [Math.min(...all), Math.max(...all)];
  const text = { 'font-size': 11, fill: 'var(--muted)' };
  const bottom = TOP + rows.length * CELL;
  rows.forEach((name, j) => {
    // Rows go up as a vertical axis does.
    const top = bottom - (j + 1) * CELL;
    const middle = top + CELL / 2 + 4;
    draw(svg, 'text', { x: left - 6, y: middle, 'text-anchor': 'end', ...text }, short(name, left - 8));
    columns.forEach((_, i) => {
      const v = value(i, j);
      const box = { x: left + i * cell + 0.5, y: top + 0.5, width: Math.max(1, cell - 1), height: CELL - 1 };
      const fill = v === null ? { fill: 'none', stroke: 'var(--line)' } : { fill: 'var(--amount)', 'fill-opacity': strength(v, least, greatest) };
      const place = at.slice();
      place[x] = i;
      place[y] = j;
      const rect = draw(svg, 'rect', { ...box, ...fill, class: 'spot', 'pointer-events': 'all' });
      rect.addEventListener('pointermove', (event) => {
        const [head, ...rest] = say(place);
        showTip((event as PointerEvent).clientX, (event as PointerEvent).clientY, head ?? '', rest, []);
      });
      rect.addEventListener('pointerleave', hideTip);
      const told = v === null ? '–' : label(v);
      if (told.length * LETTER + 4 > cell) return;
      const halo = { 'paint-order': 'stroke', stroke: 'var(--page)', 'stroke-width': 3, 'stroke-linejoin': 'round' };
      draw(svg, 'text', { x: box.x + box.width / 2, y: middle, 'text-anchor': 'middle', 'font-size': 11, fill: 'var(--ink)', 'pointer-events': 'none', ...halo }, told);
    });
  });
  const every = Math.max(1, Math.ceil((Math.min(60, Math.max(...columns.map((c) => c.length * LETTER))) + 6) / cell));
  columns.forEach((name, i) => {
    if (i % every !== 0) return;
    draw(svg, 'text', { x: left + (i + 0.5) * cell, y: bottom + 15, 'text-anchor': 'middle', ...text }, short(name, cell * every - 4));
  });
  draw(svg, 'text', { x: left + (width - left - RIGHT) / 2, y: height - 8, 'text-anchor': 'middle', ...text }, data.axes[x]!.key);
  // Above its values: a name along the side would have less room than most are long.
  draw(svg, 'text', { x: 2, y: 11, ...text }, short(data.axes[y]!.key, width - 4));
  return svg;
}
