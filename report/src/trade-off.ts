// Time against energy: which scenarios no other beats in both.

import { el, section } from './dom';
import type { TradeOff } from './runs-data';
import { label, straight } from './scale';
import { unitOf } from './surface';
import { axes, blank, draw, fitted, LETTER, tell } from './svg';

const HEIGHT = 300;
const LEFT = 62;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 44;

/** From the least to the greatest, with a little room. */
function room(values: number[]): [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const more = (most - least || Math.abs(most) || 1) * 0.08;
  return [Math.max(0, least - more), most + more];
}

/** The scenarios on the front, the shortest first. */
export function steps(all: TradeOff[]): TradeOff[] {
  return all.filter((one) => one.on_front).sort((a, b) => a.time_s - b.time_s || a.energy_j - b.energy_j);
}

function picture(all: TradeOff[], width: number): SVGElement {
  const energies = all.map((one) => one.energy_j);
  const unit = unitOf('J', energies);
  const title = `Energy, ${unit.text}, against time, s, of ${all.length} scenarios`;
  const svg = blank(width, HEIGHT, title);
  const box = { left: LEFT, right: width - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM, width, height: HEIGHT };
  const times = room(all.map((one) => one.time_s));
  const x = straight(...times, LEFT, box.right, Math.max(2, Math.floor(width / 90)));
  const y = straight(...room(energies.map((energy) => energy * unit.factor)), box.bottom, TOP, 6);
  axes(svg, box, x, y, { x: 'time, s', y: `energy, ${unit.text}` });
  const at = (one: TradeOff): [number, number] => [x.at(one.time_s), y.at(one.energy_j * unit.factor)];
  const front = steps(all).map(at);
  // Between two points of the front nothing is known to be possible but the worse of both.
  const path = front.map(([px, py], i) => (i === 0 ? `M${px} ${py}` : `H${px}V${py}`)).join('');
  const line = { fill: 'none', stroke: 'var(--simulated)', 'stroke-width': 1.5, class: 'front' };
  if (front.length > 1) draw(svg, 'path', { d: path, ...line });
  for (const one of all) {
    const [cx, cy] = at(one);
    const fill = one.on_front ? 'var(--simulated)' : 'var(--page)';
    const spot = { cx, cy, r: 4.5, fill, stroke: 'var(--simulated)', 'stroke-width': 1.5, class: 'spot' };
    tell(draw(svg, 'circle', spot), one.name, [
      `${label(one.time_s)} s, ${label(one.energy_j * unit.factor)} ${unit.text}`,
      one.on_front ? 'on the front' : 'another beats it',
    ]);
    if (!one.on_front) continue;
    const end = cx + 8 + one.name.length * LETTER > box.right;
    const place = { x: end ? cx - 8 : cx + 8, y: cy - 6, 'text-anchor': end ? 'end' : 'start' };
    draw(svg, 'text', { ...place, 'font-size': 11, fill: 'var(--ink)' }, one.name);
  }
  return svg;
}

export function tradeOff(all: TradeOff[]): HTMLElement {
  const front = steps(all).map((one) => one.name);
  const best = `On the Pareto front, no other being as short and drawing as little: ${front.join(', ')}.`;
  const beaten = 'What is hollow another beats in both, or in one at no cost of the other.';
  return section(
    'trade-off',
    'Time and energy',
    el('p', { class: 'story' }, all.length > front.length ? `${best} ${beaten}` : best),
    el('figure', { class: 'panel' }, fitted((width) => picture(all, width))),
  );
}
