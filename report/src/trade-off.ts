// Time against energy: which scenarios no other beats in both.

import { el, section } from './dom';
import type { TradeOff } from './runs-data';
import { label, straight } from './scale';
import { unitOf } from './surface';
import { hideTip, showTip } from './tip';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 300;
const LEFT = 62;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 44;

function draw(parent: Element, tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

/** From the least to the greatest, with a little room. */
function room(values: number[]): [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const more = (most - least || Math.abs(most) || 1) * 0.08;
  return [Math.max(0, least - more), most + more];
}

/** The corners of the front, the shortest first: between two of its points nothing is known to be possible but the worse. */
export function steps(all: TradeOff[]): TradeOff[] {
  return all.filter((one) => one.on_front).sort((a, b) => a.time_s - b.time_s || a.energy_j - b.energy_j);
}

function picture(all: TradeOff[], width: number): SVGElement {
  const unit = unitOf('J', all.map((one) => one.energy_j));
  const svg = document.createElementNS(SVG, 'svg');
  const attributes = { width, height: HEIGHT, role: 'img', 'aria-label': `Energy, ${unit.text}, against time, s, of ${all.length} scenarios` };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, String(value));
  const bottom = HEIGHT - BOTTOM;
  const x = straight(...room(all.map((one) => one.time_s)), LEFT, width - RIGHT, Math.max(2, Math.floor(width / 90)));
  const y = straight(...room(all.map((one) => one.energy_j * unit.factor)), bottom, TOP, 6);
  const text = { 'font-size': 11, fill: 'var(--muted)' };
  for (const tick of y.ticks) {
    draw(svg, 'line', { x1: LEFT, x2: width - RIGHT, y1: y.at(tick), y2: y.at(tick), stroke: 'var(--grid)' });
    draw(svg, 'text', { x: LEFT - 6, y: y.at(tick) + 4, 'text-anchor': 'end', ...text }, label(tick));
  }
  draw(svg, 'line', { x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom, stroke: 'var(--line)' });
  for (const tick of x.ticks) {
    draw(svg, 'line', { x1: x.at(tick), x2: x.at(tick), y1: bottom, y2: bottom + 4, stroke: 'var(--line)' });
    draw(svg, 'text', { x: x.at(tick), y: bottom + 16, 'text-anchor': 'middle', ...text }, label(tick));
  }
  draw(svg, 'text', { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 8, 'text-anchor': 'middle', ...text }, 'time, s');
  const centre = (TOP + bottom) / 2;
  draw(svg, 'text', { x: 12, y: centre, 'text-anchor': 'middle', transform: `rotate(-90 12 ${centre})`, ...text }, `energy, ${unit.text}`);
  const at = (one: TradeOff): [number, number] => [x.at(one.time_s), y.at(one.energy_j * unit.factor)];
  const front = steps(all).map(at);
  const path = front.map(([px, py], i) => (i === 0 ? `M${px} ${py}` : `H${px}V${py}`)).join('');
  if (front.length > 1) draw(svg, 'path', { d: path, fill: 'none', stroke: 'var(--simulated)', 'stroke-width': 1.5, class: 'front' });
  for (const one of all) {
    const [cx, cy] = at(one);
    const fill = one.on_front ? 'var(--simulated)' : 'var(--page)';
    const spot = draw(svg, 'circle', { cx, cy, r: 4.5, fill, stroke: 'var(--simulated)', 'stroke-width': 1.5, class: 'spot' });
    const lines = [`${label(one.time_s)} s, ${label(one.energy_j * unit.factor)} ${unit.text}`, one.on_front ? 'on the front' : 'another beats it'];
    spot.addEventListener('pointermove', (event) => showTip((event as PointerEvent).clientX, (event as PointerEvent).clientY, one.name, lines, []));
    spot.addEventListener('pointerleave', hideTip);
    if (!one.on_front) continue;
    const end = cx + 8 + one.name.length * 6.2 > width - RIGHT;
    draw(svg, 'text', { x: end ? cx - 8 : cx + 8, y: cy - 6, 'text-anchor': end ? 'end' : 'start', 'font-size': 11, fill: 'var(--ink)' }, one.name);
  }
  return svg;
}

export function tradeOff(all: TradeOff[]): HTMLElement {
  const area = el('div', { class: 'spread' });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(area.clientWidth);
    if (width === 0 || width === drawn) return;
    drawn = width;
    area.replaceChildren(picture(all, width) as unknown as HTMLElement);
  }).observe(area);
  const front = steps(all).map((one) => one.name);
  const beaten = all.length - front.length;
  return section(
    'trade-off',
    'Time and energy',
    el(
      'p',
      { class: 'story' },
      `On the Pareto front, no other being as short and drawing as little: ${front.join(', ')}.${beaten > 0 ? ' What is hollow another beats in both, or in one at no cost of the other.' : ''}`,
    ),
    el('figure', { class: 'panel' }, area),
  );
}
