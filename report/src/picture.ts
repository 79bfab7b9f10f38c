// A figure of a study as SVG: curves with their intervals, bars or dots, and the published values over them. Colours
// are the theme's variables, so the picture follows the theme without being drawn again.

import { label, logarithmic, plusMinus, straight, type Scale } from './scale';
import type { Curve, Figure, Published } from './study-data';
import { axes, blank, draw, shortened, tell, TEXT } from './svg';

const HEIGHT = 300;
const LEFT = 62;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 44;
const COLOURS = 6;
const DASHES = ['', '7 3', '2 3'];

/** The colour and the dash of a series, by its position. */
export function look(index: number): { colour: string; dash: string } {
  return { colour: `var(--series-${index % COLOURS})`, dash: DASHES[Math.floor(index / COLOURS) % DASHES.length]! };
}

function extent(values: (number | null | undefined)[]): [number, number] {
  const known = values.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  return known.length === 0 ? [0, 1] : [Math.min(...known.slice(0, 1), least(known)), most(known)];
}
function least(values: number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}
function most(values: number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

function withUnit(text: string, unit: string): string {
  return unit === '' ? text : `${text}, ${unit}`;
}

function told(figure: Figure, mean: number, low: number, high: number): string {
  const half = (high - low) / 2;
  const unit = figure.unit === '' ? '' : `\u00a0${figure.unit}`;
  return `${half > 0 ? plusMinus(mean, half) : label(mean)}${unit}`;
}

/** The picture of a figure under one assumption; `names` gives every series its place in the legend. */
export function picture(
  figure: Figure,
  curves: Curve[],
  names: string[],
  width: number,
  top: [number, number],
): SVGElement {
  const against = figure.x ? ` against ${withUnit(figure.x.label, figure.x.unit)}` : '';
  const svg = blank(width, HEIGHT, `${figure.title}: ${withUnit(figure.label, figure.unit)}${against}`);
  const bars = figure.kind === 'sweep' && figure.x === null;
  const bottom = HEIGHT - BOTTOM;
  const y = straight(Math.min(0, top[0]), top[1] > 0 ? top[1] * 1.06 : 1, bottom, TOP, 6);
  const x = bars ? bands(curves.length, width) : across(figure, curves, width);
  frame(svg, figure, x, y, width, bars ? curves.map((c) => c.series) : null);
  const plot = draw(svg, 'g', {});
  if (figure.kind === 'scatter') diagonal(plot, curves, x, y);
  for (const curve of curves) {
    const index = names.indexOf(curve.series);
    if (bars) bar(plot, figure, curve, index, x.at(curves.indexOf(curve)), y, (width - LEFT - RIGHT) / curves.length);
    else if (figure.kind === 'scatter') dots(plot, curve, index, x, y);
    else line(plot, figure, curve, index, x, y);
  }
  for (const published of figure.published) {
    if (!bars && published.x === null) {
      reference(plot, figure, published, names.indexOf(published.series), width, y);
      continue;
    }
    const at = bars ? curves.findIndex((c) => c.series === published.series) : published.x;
    if (at !== null && at >= 0) diamond(plot, figure, published, names.indexOf(published.series), x.at(at), y);
  }
  return svg;
}

/** From the least to the greatest value of the y axis, over all curves and published values of a figure. */
export function height(figure: Figure): [number, number] {
  const values = figure.curves.flatMap((c) => (figure.kind === 'time' ? c.mean : [...c.low, ...c.high]));
  const published = figure.published.flatMap((p) => [p.value * (1 + (p.judged ? p.tolerance : 0)), p.value]);
  // An interval over few seeds may be wider than all values; it must not press them flat.
  const means = extent(figure.curves.flatMap((c) => c.mean));
  const [low, high] = extent([...values, ...published]);
  const limit = Math.max(means[1] * 1.5, most([...published, 0]));
  return [Math.max(low, Math.min(0, means[0] * 1.5)), Math.min(high, limit > 0 ? limit : high)];
}

function bands(count: number, width: number): Scale {
  const step = (width - LEFT - RIGHT) / Math.max(1, count);
  return { at: (i) => LEFT + (i + 0.5) * step, ticks: [], log: false };
}

function across(figure: Figure, curves: Curve[], width: number): Scale {
  const given = [...new Set(curves.flatMap((c) => c.x))].sort((a, b) => a - b);
  const [from, to] = extent(given);
  const [start, end] = [LEFT + (figure.kind === 'sweep' ? 10 : 0), width - RIGHT - (figure.kind === 'sweep' ? 10 : 0)];
  if (figure.x?.log === true && from > 0) return logarithmic(from, to, start, end, given);
  if (figure.x?.categories) {
    return { at: (v) => start + ((v - from) / (to - from || 1)) * (end - start), ticks: given, log: false };
  }
  const scale = straight(figure.kind === 'sweep' ? from : Math.min(0, from), to, start, end, Math.floor(width / 90));
  // Between whole numbers nothing was run.
  const counted = figure.kind === 'sweep' && given.length <= 9 && given.every(Number.isInteger);
  return counted && !scale.ticks.every(Number.isInteger) ? { ...scale, ticks: given } : scale;
}

function frame(svg: Element, figure: Figure, x: Scale, y: Scale, width: number, names: string[] | null): void {
  const box = { left: LEFT, right: width - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM, width, height: HEIGHT };
  // A name has the room of one among so many.
  const among = (name: string, count: number): string => shortened(name, (box.right - LEFT) / count, 4);
  const categories = figure.x?.categories;
  const tick = (at: number): string => (categories ? among(categories[at] ?? '', x.ticks.length) : label(at));
  const called = {
    x: figure.x ? withUnit(figure.x.label, figure.x.unit) : '',
    y: withUnit(figure.label, figure.unit),
  };
  axes(svg, box, x, y, called, tick);
  names?.forEach((name, i) => {
    const place = { x: x.at(i), y: box.bottom + 16, 'text-anchor': 'middle' };
    draw(svg, 'text', { ...place, ...TEXT }, among(name, names.length));
  });
}

function line(plot: Element, figure: Figure, curve: Curve, index: number, x: Scale, y: Scale): void {
  const { colour, dash } = look(index);
  const known = curve.x.map((_, i) => i).filter((i) => curve.mean[i] !== null);
  const at = (values: (number | null)[], i: number): string =>
    `${x.at(curve.x[i]!).toFixed(1)} ${y.at(values[i]!).toFixed(1)}`;
  if (known.length === 0) return;
  const banded = figure.kind === 'time' || curve.constant;
  if (banded) {
    // What is beyond the frame ends at the frame.
    const kept = (value: number): number => Math.min(HEIGHT - BOTTOM, Math.max(TOP, y.at(value)));
    const edge = (values: (number | null)[]): string[] =>
      known.map((i) => `${x.at(curve.x[i]!).toFixed(1)} ${kept(values[i]!).toFixed(1)}`);
    const upper = edge(curve.high);
    const lower = edge(curve.low).reverse();
    const opacity = curve.constant ? 0.1 : 0.18;
    draw(plot, 'path', { d: `M${[...upper, ...lower].join('L')}Z`, fill: colour, opacity });
  }
  const stroke = {
    fill: 'none',
    stroke: colour,
    'stroke-width': 1.8,
    'stroke-dasharray': dash,
    'stroke-linejoin': 'round',
    'pointer-events': curve.constant ? 'stroke' : 'none',
  };
  const path = draw(plot, 'path', { d: `M${known.map((i) => at(curve.mean, i)).join('L')}`, ...stroke });
  const first = known[0]!;
  if (curve.constant) {
    tell(path, curve.series, [told(figure, curve.mean[first]!, curve.low[first]!, curve.high[first]!)]);
  }
  if (banded) return;
  for (const i of known) {
    whisker(plot, x.at(curve.x[i]!), y, curve.low[i]!, curve.high[i]!, colour);
    const spot = draw(plot, 'circle', {
      cx: x.at(curve.x[i]!),
      cy: y.at(curve.mean[i]!),
      r: 3.4,
      fill: colour,
      class: 'spot',
    });
    const name = figure.x?.categories?.[curve.x[i]!] ?? withUnit(label(curve.x[i]!), '');
    tell(spot, curve.series, [
      `${figure.x?.label ?? 'x'} ${name}${figure.x?.unit ? ` ${figure.x.unit}` : ''}`,
      told(figure, curve.mean[i]!, curve.low[i]!, curve.high[i]!),
    ]);
  }
}

/** Where a part of the one is the same part of the other. */
function diagonal(plot: Element, curves: Curve[], x: Scale, y: Scale): void {
  const end = Math.min(most(curves.flatMap((c) => c.x)), most(curves.flatMap((c) => c.mean.map((v) => v ?? 0))));
  const d = `M${x.at(0)} ${y.at(0)}L${x.at(end)} ${y.at(end)}`;
  draw(plot, 'path', { d, stroke: 'var(--muted)', 'stroke-dasharray': '4 4', fill: 'none' });
}

function dots(plot: Element, curve: Curve, index: number, x: Scale, y: Scale): void {
  curve.x.forEach((at, i) => {
    if (curve.mean[i] !== null)
      draw(plot, 'circle', { cx: x.at(at), cy: y.at(curve.mean[i]!), r: 2.2, fill: look(index).colour, opacity: 0.55 });
  });
}

function bar(plot: Element, figure: Figure, curve: Curve, index: number, centre: number, y: Scale, room: number): void {
  const [mean, low, high] = [curve.mean[0], curve.low[0], curve.high[0]];
  if (typeof mean !== 'number' || typeof low !== 'number' || typeof high !== 'number') return;
  const width = Math.min(46, room * 0.6);
  const [a, b] = [y.at(0), y.at(mean)];
  const box = {
    x: centre - width / 2,
    y: Math.min(a, b),
    width,
    height: Math.abs(a - b),
    fill: look(index).colour,
    class: 'spot',
  };
  tell(draw(plot, 'rect', box), curve.series, [told(figure, mean, low, high)]);
  whisker(plot, centre, y, low, high, 'var(--ink)');
}

function whisker(plot: Element, at: number, y: Scale, low: number, high: number, colour: string): void {
  if (!(high > low)) return;
  // What is above or below the frame goes on there: an end that is not seen has no cap.
  const [top, bottom] = [y.at(high), y.at(low)];
  const [from, to] = [Math.max(TOP, top), Math.min(HEIGHT - BOTTOM, bottom)];
  const caps = (top < TOP ? '' : `M${at - 3} ${top}h6`) + (bottom > HEIGHT - BOTTOM ? '' : `M${at - 3} ${bottom}h6`);
  const d = `M${at} ${from}V${to}${caps}`;
  draw(plot, 'path', { d, stroke: colour, 'stroke-width': 1.2, fill: 'none', 'pointer-events': 'none' });
}

/** A published value, with its tolerance where it decides. */
function diamond(plot: Element, figure: Figure, published: Published, index: number, at: number, y: Scale): void {
  const { value, tolerance, judged } = published;
  if (judged) whisker(plot, at + 6, y, value * (1 - tolerance), value * (1 + tolerance), 'var(--ink)');
  const d = `M${at + 6} ${y.at(value) - 5}l5 5l-5 5l-5 -5Z`;
  const style = {
    fill: judged ? look(Math.max(0, index)).colour : 'var(--page)',
    stroke: 'var(--ink)',
    'stroke-width': 1.3,
  };
  const unit = figure.unit === '' ? '' : ` ${figure.unit}`;
  tell(draw(plot, 'path', { d, class: 'spot', ...style }), `${published.series}: published`, [
    `${label(value)}${unit}`,
    published.place,
  ]);
}

/** A published value that has no x: a line across. */
function reference(plot: Element, figure: Figure, published: Published, index: number, width: number, y: Scale): void {
  const line = {
    x1: LEFT,
    x2: width - RIGHT,
    y1: y.at(published.value),
    y2: y.at(published.value),
    'stroke-dasharray': '1 4',
  };
  const style = {
    stroke: look(Math.max(0, index)).colour,
    'stroke-width': 2.4,
    'stroke-linecap': 'round',
    class: 'spot',
  };
  const unit = figure.unit === '' ? '' : ` ${figure.unit}`;
  const lines = [`${label(published.value)}${unit}`, published.place];
  tell(draw(plot, 'line', { ...line, ...style }), `${published.series}: published`, lines);
}
