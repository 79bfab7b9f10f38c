// Pictures in SVG: elements, axes at the left and below, tips, and pictures that are drawn as wide as their place.

import { el } from './dom';
import { label, type Scale } from './scale';
import { hideTip, showTip } from './tip';

const SVG = 'http://www.w3.org/2000/svg';
/** Width of a letter of 11 pixels, about. */
export const LETTER = 6.2;
/** Names and numbers beside an axis. */
export const TEXT = { 'font-size': 11, fill: 'var(--muted)' };

export type Attributes = Record<string, string | number>;

function set(node: SVGElement, attributes: Attributes): SVGElement {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

/** Adds an element to a picture. */
export function draw(parent: Element, tag: string, attributes: Attributes, text?: string): SVGElement {
  const node = set(document.createElementNS(SVG, tag), attributes);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

/** An empty picture; `title` is what a reader hears of it. */
export function blank(width: number, height: number, title: string): SVGElement {
  const attributes = { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': title };
  return set(document.createElementNS(SVG, 'svg'), attributes);
}

/** A text that fits into so many pixels; `least` letters of it stay in any case. */
export function shortened(text: string, room: number, least: number): string {
  const letters = Math.max(least, Math.floor(room / LETTER));
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

/** Where the plot lies within its picture, in pixels. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
  width: number;
  height: number;
}

/** Both axes with ticks and names, and a grid of the vertical one's; `name` writes a tick of the horizontal one. */
export function axes(
  svg: Element,
  box: Box,
  x: Scale,
  y: Scale,
  names: { x: string; y: string },
  name: (tick: number) => string = label,
): void {
  const { left, right, top, bottom, width, height } = box;
  for (const tick of y.ticks) {
    draw(svg, 'line', { x1: left, x2: right, y1: y.at(tick), y2: y.at(tick), stroke: 'var(--grid)' });
    draw(svg, 'text', { x: left - 6, y: y.at(tick) + 4, 'text-anchor': 'end', ...TEXT }, label(tick));
  }
  draw(svg, 'line', { x1: left, x2: right, y1: bottom, y2: bottom, stroke: 'var(--line)' });
  for (const tick of x.ticks) {
    const text = name(tick);
    draw(svg, 'line', { x1: x.at(tick), x2: x.at(tick), y1: bottom, y2: bottom + 4, stroke: 'var(--line)' });
    // A word at the right end would be cut.
    const cut = x.at(tick) + (text.length * LETTER) / 2 > width;
    const place = { x: cut ? width : x.at(tick), y: bottom + 16, 'text-anchor': cut ? 'end' : 'middle' };
    draw(svg, 'text', { ...place, ...TEXT }, text);
  }
  if (names.x !== '') {
    draw(svg, 'text', { x: (left + right) / 2, y: height - 8, 'text-anchor': 'middle', ...TEXT }, names.x);
  }
  const centre = (top + bottom) / 2;
  const upright = { x: 12, y: centre, 'text-anchor': 'middle', transform: `rotate(-90 12 ${centre})` };
  draw(svg, 'text', { ...upright, ...TEXT }, names.y);
}

/** Shows a tip while the pointer is over an element. */
export function tell(node: SVGElement, title: string, lines: string[]): void {
  node.addEventListener('pointermove', (event) => showTip(event.clientX, event.clientY, title, lines, []));
  node.addEventListener('pointerleave', hideTip);
}

/** A picture that is drawn anew when its place becomes wider or narrower. */
export function fitted(picture: (width: number) => SVGElement): HTMLElement {
  const area = el('div', { class: 'spread' });
  let drawn = 0;
  const fit = (): void => {
    const width = Math.floor(area.clientWidth);
    if (width === 0 || width === drawn) return;
    drawn = width;
    // What it tells of is no longer there.
    hideTip();
    area.replaceChildren(picture(width) as unknown as HTMLElement);
  };
  new ResizeObserver(fit).observe(area);
  return area;
}
