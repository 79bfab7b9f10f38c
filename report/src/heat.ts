// A figure over two axes as a map of cells: a stronger colour is more, and each cell says its value where it has room.

import { label } from './scale';
import type { Unit } from './surface';
import { pointAt } from './surface';
import { blank, draw, LETTER, shortened, tell, TEXT } from './svg';
import type { Sweep } from './sweep-data';

const RIGHT = 8;
const TOP = 20;
const BOTTOM = 42;
const CELL = 34;
/** Letters of a name that stay in any case. */
const LEAST = 2;
/** The least cell is still told from none. */
const FAINTEST = 0.06;
const STRONGEST = 0.9;
/** Letters are read on any colour. */
const HALO = { 'paint-order': 'stroke', stroke: 'var(--page)', 'stroke-width': 3, 'stroke-linejoin': 'round' };

/** How strong a value's colour is, between those of the least and the greatest. */
export function strength(value: number, least: number, greatest: number): number {
  if (!(greatest > least)) return FAINTEST;
  return FAINTEST + ((value - least) / (greatest - least)) * (STRONGEST - FAINTEST);
}

/**
 * The map of one figure over the axes `x` and `y`; the others stand at `at`. `ends` are the least and the greatest
 * value of all maps of the figure, so that their colours compare. `say` tells a cell in words.
 */
export function heat(
  data: Sweep,
  metric: number,
  x: number,
  y: number,
  at: number[],
  unit: Unit,
  ends: [number, number],
  width: number,
  say: (place: number[]) => string[],
): SVGElement {
  const [columns, rows] = [data.axes[x]!.values, data.axes[y]!.values];
  const longest = rows.reduce((most, text) => Math.max(most, text.length), 0);
  const left = Math.min(width * 0.34, 12 + longest * LETTER);
  const cell = (width - left - RIGHT) / columns.length;
  const height = TOP + rows.length * CELL + BOTTOM;
  const bottom = TOP + rows.length * CELL;
  const title = `${data.metrics[metric]!.path} over ${data.axes[x]!.key} and ${data.axes[y]!.key}`;
  const svg = blank(width, height, title);
  const name = (text: string, room: number, place: { x: number; y: number; 'text-anchor': string }): void => {
    draw(svg, 'text', { ...place, ...TEXT }, shortened(text, room, LEAST));
  };
  rows.forEach((row, j) => {
    // Rows go up as a vertical axis does.
    const top = bottom - (j + 1) * CELL;
    const middle = top + CELL / 2 + 4;
    name(row, left - 8, { x: left - 6, y: middle, 'text-anchor': 'end' });
    columns.forEach((_, i) => {
      const place = at.slice();
      place[x] = i;
      place[y] = j;
      const mean = pointAt(data, place)?.figures[metric]?.mean ?? null;
      const value = mean === null ? null : mean * unit.factor;
      const box = { x: left + i * cell + 0.5, y: top + 0.5, width: Math.max(1, cell - 1), height: CELL - 1 };
      const fill =
        value === null
          ? { fill: 'none', stroke: 'var(--line)' }
          : { fill: 'var(--amount)', 'fill-opacity': strength(value, ...ends) };
      const rect = draw(svg, 'rect', { ...box, ...fill, class: 'spot', 'pointer-events': 'all' });
      const [head, ...rest] = say(place);
      tell(rect, head ?? '', rest);
      const told = value === null ? '–' : label(value);
      if (told.length * LETTER + 4 > cell) return;
      const centre = { x: box.x + box.width / 2, y: middle, 'text-anchor': 'middle', 'pointer-events': 'none' };
      draw(svg, 'text', { ...centre, ...HALO, 'font-size': 11, fill: 'var(--ink)' }, told);
    });
  });
  const every = Math.max(1, Math.ceil((Math.min(60, Math.max(...columns.map((c) => c.length * LETTER))) + 6) / cell));
  columns.forEach((column, i) => {
    if (i % every !== 0) return;
    name(column, cell * every - 4, { x: left + (i + 0.5) * cell, y: bottom + 15, 'text-anchor': 'middle' });
  });
  name(data.axes[x]!.key, width, { x: left + (width - left - RIGHT) / 2, y: height - 8, 'text-anchor': 'middle' });
  // Above its values: a name along the side would have less room than most are long.
  name(data.axes[y]!.key, width - 4, { x: 2, y: 11, 'text-anchor': 'start' });
  return svg;
}
