// The frames of a run over time, a lane for each sort: where to zoom in to see them on the map.

import type { Field } from './data';
import { eachFrame, el, fit } from './dom';
import { type Air, type Frame, frameWords } from './field';
import * as format from './format';
import { onTheme, type Palette, palette } from './palette';
import { AXIS_HEIGHT, drawGrid, drawTimeAxis, FONT, GUTTER, interact, MARGIN, toX } from './plot';
import type { TimeAxis } from './range';
import { hideTip, showTip } from './tip';

const LANE = 14;

interface Lane {
  name: string;
  holds: (frame: Frame) => boolean;
  colour: (colours: Palette) => string;
}

const LANES: Lane[] = [
  { name: 'data', holds: (f) => f.kind === 'data', colour: (c) => c.field.data },
  { name: 'control', holds: (f) => f.kind !== 'data', colour: (c) => c.field.control },
  { name: 'collided', holds: (f) => f.fate === 'collided', colour: (c) => c.field.failed },
  { name: 'lost', holds: (f) => f.fate === 'lost', colour: (c) => c.muted },
];

export function frameLanes(field: Field, air: Air, axis: TimeAxis): HTMLElement {
  const lanes = LANES.map((lane) => ({
    ...lane,
    frames: Array.from({ length: air.count }, (_, i) => i).filter((i) => lane.holds(air.frame(i))),
  }));
  const height = lanes.length * LANE + 4;
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const scale = el('canvas', { 'aria-hidden': 'true' });
  const counted = lanes.map((lane) => `${format.count(lane.frames.length)} ${lane.name}`).join(', ');
  const area = el('div', { class: 'frames', role: 'img', 'aria-label': `Frames over time: ${counted}` }, canvas, scale);

  const first = air.start[0] ?? 0;
  const last = air.end.reduce((most, end) => Math.max(most, end), first);
  const draw = eachFrame(area, () => {
    const width = area.clientWidth;
    if (width === 0) return;
    const c = fit(canvas, width, height);
    const colours = palette();
    const { view } = axis;
    const x = (t: number): number => Math.min(width - MARGIN, Math.max(GUTTER, toX(t, view, width)));
    c.clearRect(0, 0, width, height);
    c.fillStyle = colours.panel;
    c.fillRect(x(first), 0, x(last) - x(first), height);
    drawGrid(c, view, width, 0, height);
    c.font = FONT;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    lanes.forEach((lane, k) => {
      const top = k * LANE + 2;
      c.fillStyle = colours.muted;
      c.fillText(lane.name, GUTTER - 8, top + LANE / 2, GUTTER - 12);
      c.fillStyle = lane.colour(colours);
      let painted = -1;
      for (const i of lane.frames) {
        if (air.end[i]! < view.from) continue;
        if (air.start[i]! > view.to) break;
        const [from, to] = [x(air.start[i]!), x(air.end[i]!)];
        // What falls on a pixel that is painted already would not show.
        if (to <= painted) continue;
        c.fillRect(from, top + 1, Math.max(0.8, to - from), LANE - 2);
        painted = from + Math.max(0.8, to - from);
      }
    });
    const below = fit(scale, width, AXIS_HEIGHT);
    below.clearRect(0, 0, width, AXIS_HEIGHT);
    drawTimeAxis(below, view, width, 0);
    area.dataset['view'] = `${view.from} ${view.to}`;
  });
  interact(area, axis, {
    hover: (t, x, y, event) => {
      const lane = lanes[Math.floor((y - 2) / LANE)];
      const slack = (3 * (axis.view.to - axis.view.from)) / area.clientWidth;
      const i = lane && x >= GUTTER ? nearest(air, lane.frames, t, slack) : -1;
      if (i < 0) return hideTip();
      const frame = air.frame(i);
      const lines = [
        `${format.instant(frame.start, 1e-4)}, ${format.seconds(frame.end - frame.start)} on the air`,
        frame.fate,
      ];
      showTip(event.clientX, event.clientY, frameWords(frame, field), lines, []);
    },
    leave: hideTip,
  });
  axis.onView(draw);
  onTheme(draw);
  new ResizeObserver(draw).observe(area);
  draw();
  return area;
}

/** Of these frames the one on the air at an instant, or the nearest within `slack` seconds; -1 for none. */
function nearest(air: Air, frames: number[], t: number, slack: number): number {
  let best = -1;
  let distance = slack;
  for (const i of frames) {
    if (air.start[i]! > t + slack) break;
    const away = Math.max(air.start[i]! - t, t - air.end[i]!, 0);
    if (away <= distance) {
      best = i;
      distance = away;
    }
  }
  return best;
}
