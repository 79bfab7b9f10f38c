// The map of the field at an instant, as shapes: the floor with its axes and a scale bar, stations, their range and trails, frames.

import type { Field } from './data';
import { type Air, type Doing, type Frame, placeAt, type State, trail } from './field';
import type { Palette } from './palette';
import { ticks } from './range';
import type { Shape } from './shapes';

/** Where the floor lies in the picture, in pixels. */
export interface Plane {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Pixels per metre. */
  scale: number;
}

export interface Options {
  /** Of whom the range is drawn. */
  range: 'none' | 'some' | 'all';
  /** Length of the trails in seconds. */
  trail: number;
  names: boolean;
  /** Frames that were on the air in the last so many seconds. */
  memory: number;
  /** A station that stands out, or -1. */
  chosen: number;
  /** A transmit queue of so many packets is a full ring; 0 for no rings. */
  fullQueue: number;
}

/** Room for the labels of the axes. */
export const EDGE = { left: 52, right: 16, top: 20, bottom: 38 };

/** The floor as large as it fits into `width` by `height` pixels with its labels. */
export function planeIn(field: Field, width: number, height: number): Plane {
  const inner = Math.max(40, width - EDGE.left - EDGE.right);
  const tall = Math.max(40, height - EDGE.top - EDGE.bottom);
  const scale = Math.min(inner / field.width_m, tall / field.height_m);
  return { left: EDGE.left, top: EDGE.top, width: field.width_m * scale, height: field.height_m * scale, scale };
}

/** The radius of a station's mark: smaller where there are many. */
export function markRadius(stations: number): number {
  return Math.min(10, Math.max(5, 11 - stations / 20));
}

/** A smaller mark has no room for a number. */
const NUMBERED = 8;

/** The frames to draw for an instant, the newest for each pair of stations, kind and fate; and how old each is, 0 to 1. */
export function recent(air: Air, t: number, memory: number): { frame: Frame; age: number }[] {
  const newest = new Map<string, { frame: Frame; age: number }>();
  for (const i of air.within(t - memory, t)) {
    const frame = air.frame(i);
    const key = `${frame.from} ${frame.to} ${frame.kind === 'data'} ${frame.fate}`;
    newest.delete(key);
    newest.set(key, { frame, age: frame.end >= t ? 0 : (t - frame.end) / memory });
  }
  return [...newest.values()];
}

export function map(
  field: Field,
  air: Air,
  stateAt: (station: number, t: number) => State,
  t: number,
  plane: Plane,
  options: Options,
  colours: Palette,
): Shape[] {
  const at = field.stations.map((station) => {
    const place = placeAt(station, t);
    return { x: plane.left + place.x * plane.scale, y: plane.top + plane.height - place.y * plane.scale };
  });
  const shown = recent(air, t, options.memory);
  const inside: Shape[] = [];
  const range = field.range_m;
  if (range !== null && options.range !== 'none') {
    const senders = new Set(shown.filter(({ age }) => age === 0).map(({ frame }) => frame.from));
    at.forEach(({ x, y }, i) => {
      if (options.range !== 'all' && i !== options.chosen && !senders.has(i)) return;
      const stroke = i === options.chosen ? colours.ink : colours.muted;
      const disc = { kind: 'circle', x, y, r: range * plane.scale } as const;
      if (options.range !== 'all') inside.push({ ...disc, fill: colours.muted, alpha: 0.08 });
      inside.push({ ...disc, stroke, width: 1, dash: [4, 3], alpha: 0.7 });
    });
  }
  if (options.trail > 0) {
    field.stations.forEach((station, i) => {
      const points = trail(station, Math.max(0, t - options.trail), t).map((v, k) =>
        k % 2 === 0 ? plane.left + v * plane.scale : plane.top + plane.height - v * plane.scale,
      );
      const stroke = i === options.chosen ? colours.ink : colours.muted;
      if (points.length > 0) inside.push({ kind: 'line', points, stroke, width: 1.5, alpha: 0.55 });
    });
  }
  const r = markRadius(field.stations.length);
  const links: Shape[] = [];
  const crosses: Shape[] = [];
  for (const { frame, age } of shown) onAir(frame, age, at, r, colours, links, crosses);
  const marks = field.stations.flatMap((_, i) => {
    const { x, y } = at[i]!;
    const { running, doing, queue } = stateAt(i, t);
    const own = mark(x, y, r, doing, running, colours);
    if (queue !== null && options.fullQueue > 0) own.unshift(...ring(x, y, r, queue / options.fullQueue, colours));
    if (i === options.chosen) own.push({ kind: 'circle', x, y, r: r + CHOSEN, stroke: colours.ink, width: 1.5 });
    return own;
  });
  const named = field.stations.map((station, i) => (options.names || i === options.chosen ? station.name : ''));
  const labels = labelled(named, at, r, plane).flatMap((spot, i): Shape[] => {
    if (!spot) return [];
    const bold = i === options.chosen;
    return [{ kind: 'text', ...spot, text: named[i]!, size: 11, fill: colours.ink, bold, halo: colours.page }];
  });
  const { left, top, width, height } = plane;
  return [
    ...floor(field, plane, colours),
    { kind: 'clip', x: left, y: top, width, height, shapes: inside },
    ...scaleBar(field, plane, colours),
    ...links,
    ...marks,
    ...labels,
    ...crosses,
  ];
}

/** How much wider than a station's mark the circle around the chosen one is: it leaves room for the ring of its queue. */
const CHOSEN = 7;

/** A ring that closes as a queue fills. */
function ring(x: number, y: number, r: number, part: number, colours: Palette): Shape[] {
  const end = Math.min(1, part);
  if (end < 1 / 64) return [];
  const steps = Math.ceil(end * 48);
  const points = Array.from({ length: steps + 1 }, (_, k) => 2 * Math.PI * end * (k / steps)).flatMap((angle) => [
    x + (r + 3.5) * Math.sin(angle),
    y - (r + 3.5) * Math.cos(angle),
  ]);
  return [{ kind: 'line', points, stroke: colours.field.data, width: 3.5 }];
}

interface Spot {
  x: number;
  y: number;
  align: 'start' | 'middle' | 'end';
}

/** Where each name goes: beside its mark, else above or below, wherever it hides no other mark or name; to the right if it does everywhere. */
export function labelled(names: string[], at: { x: number; y: number }[], r: number, plane: Plane): (Spot | null)[] {
  const taken: { left: number; right: number; top: number; bottom: number }[] = at.map(({ x, y }) => ({
    left: x - r,
    right: x + r,
    top: y - r,
    bottom: y + r,
  }));
  return names.map((name, i) => {
    if (name === '') return null;
    const { x, y } = at[i]!;
    const width = name.length * 6.2;
    const far = r + CHOSEN + 2;
    const spots: Spot[] = [
      { x: x + far, y: y + 4, align: 'start' },
      { x: x - far, y: y + 4, align: 'end' },
      { x, y: y - far, align: 'middle' },
      { x, y: y + far + 9, align: 'middle' },
    ];
    const box = (spot: Spot): (typeof taken)[number] => {
      const left = spot.x - (spot.align === 'start' ? 0 : spot.align === 'end' ? width : width / 2);
      return { left, right: left + width, top: spot.y - 9, bottom: spot.y + 3 };
    };
    const fits = (spot: Spot): boolean => {
      const own = box(spot);
      if (own.left < plane.left || own.right > plane.left + plane.width) return false;
      if (own.top < plane.top || own.bottom > plane.top + plane.height) return false;
      return !taken.some(
        (b, k) => k !== i && own.left < b.right && own.right > b.left && own.top < b.bottom && own.bottom > b.top,
      );
    };
    const spot = spots.find(fits) ?? spots[0]!;
    taken.push(box(spot));
    return spot;
  });
}

/** Ticks in metres on both axes, with grid lines. */
function floor(field: Field, plane: Plane, colours: Palette): Shape[] {
  const { left, top, width, height, scale } = plane;
  const bottom = top + height;
  const right = left + width;
  const out: Shape[] = [];
  // Both axes have the same step, so that squares are squares.
  const most = Math.max(2, Math.floor(Math.max(width, height) / 70));
  const longer = ticks({ from: 0, to: Math.max(field.width_m, field.height_m) }, most);
  for (const v of longer.filter((m) => m <= field.width_m * (1 + 1e-9))) {
    const x = left + v * scale;
    out.push({ kind: 'line', points: [x, top, x, bottom], stroke: colours.grid });
    out.push({ kind: 'text', x, y: bottom + 15, text: String(v), size: 11, fill: colours.muted, align: 'middle' });
  }
  for (const v of longer.filter((m) => m <= field.height_m * (1 + 1e-9))) {
    const y = bottom - v * scale;
    out.push({ kind: 'line', points: [left, y, right, y], stroke: colours.grid });
    out.push({ kind: 'text', x: left - 6, y: y + 4, text: String(v), size: 11, fill: colours.muted, align: 'end' });
  }
  const corners = [left, top, right, top, right, bottom, left, bottom];
  out.push({ kind: 'polygon', points: corners, stroke: colours.line, width: 1 });
  const title = { kind: 'text', size: 11, fill: colours.muted, align: 'middle' } as const;
  out.push({ ...title, x: left + width / 2, y: bottom + 31, text: 'x (m)' });
  out.push({ ...title, x: 14, y: top + height / 2, text: 'y (m)', upward: true });
  return out;
}

/** A bar of a round length, about a fifth of the floor's width. */
export function barLength(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width / 5));
  return [5, 2, 1].map((m) => m * power).find((v) => v <= width / 5 + 1e-9)!;
}

function scaleBar(field: Field, plane: Plane, colours: Palette): Shape[] {
  const length = barLength(field.width_m);
  const right = plane.left + plane.width - 10;
  const left = right - length * plane.scale;
  const y = plane.top + plane.height - 10;
  const points = [left, y - 4, left, y, right, y, right, y - 4];
  return [
    { kind: 'line', points, stroke: colours.page, width: 4 },
    { kind: 'line', points, stroke: colours.ink, width: 1.5 },
    {
      kind: 'text',
      x: (left + right) / 2,
      y: y - 5,
      text: `${Number(length.toPrecision(3))} m`,
      size: 11,
      fill: colours.ink,
      align: 'middle',
      halo: colours.page,
    },
  ];
}

/** A station's mark: what it does shows in its colour and in its form. */
export function mark(x: number, y: number, r: number, doing: Doing, running: number, colours: Palette): Shape[] {
  const rim = { stroke: colours.page, width: 1.5 };
  const square = (half: number): number[] => [x - half, y - half, x + half, y - half, x + half, y + half, x - half, y + half];
  switch (doing) {
    case 'master':
      return [{ kind: 'polygon', points: square(r * 0.95), fill: '#000000', stroke: colours.ink, width: 1.5 }];
    case 'point': {
      const points = [x, y - r * 1.1, x + r, y + r * 0.8, x - r, y + r * 0.8];
      return [{ kind: 'polygon', points, fill: colours.muted, ...rim }];
    }
    case 'failed':
      return [
        { kind: 'circle', x, y, r, fill: colours.field.failed, ...rim },
        ...cross(x, y, r * 0.45, colours.page, 2),
      ];
    case 'busy': {
      const disc: Shape = { kind: 'circle', x, y, r, fill: colours.field.busy, ...rim };
      if (r < NUMBERED) return [disc, { kind: 'circle', x, y, r: r * 0.38, fill: colours.page }];
      const text = {
        kind: 'text',
        x,
        y: y + r * 0.4,
        text: String(running),
        size: Math.round(r * 1.15),
        fill: colours.page,
        align: 'middle',
        bold: true,
      } as const;
      return [disc, text];
    }
    case 'idle':
      return [{ kind: 'circle', x, y, r, fill: colours.field.idle, ...rim }];
  }
}

/** A cross that also stands out from a dark mark. */
function collision(x: number, y: number, r: number, colours: Palette): Shape[] {
  return [...cross(x, y, r + 1, colours.page, 6), ...cross(x, y, r, colours.field.failed, 3)];
}

function cross(x: number, y: number, r: number, stroke: string, width: number): Shape[] {
  return [
    { kind: 'line', points: [x - r, y - r, x + r, y + r], stroke, width },
    { kind: 'line', points: [x - r, y + r, x + r, y - r], stroke, width },
  ];
}

/** A frame: a line to its receiver with an arrow, or rings for everyone; a cross where it collided, a bar where it was lost. */
function onAir(
  frame: Frame,
  age: number,
  at: { x: number; y: number }[],
  r: number,
  colours: Palette,
  under: Shape[],
  over: Shape[],
): void {
  const from = at[frame.from];
  const to = at[frame.to];
  const stroke = frame.kind === 'data' ? colours.field.data : colours.field.control;
  const alpha = 1 - 0.75 * age;
  const width = age === 0 ? 2.5 : 1.5;
  if (!from) return;
  if (!to) {
    for (const more of [6, 11]) under.push({ kind: 'circle', x: from.x, y: from.y, r: r + more, stroke, width, alpha });
    if (frame.fate === 'collided') over.push(...collision(from.x, from.y - r - 14, 5, colours));
    return;
  }
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length < 1) return;
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  // Each way on its own side, so that a frame and its answer do not hide each other.
  const [sx, sy] = [-uy * 3, ux * 3];
  const short = Math.min(r + 2, length / 2);
  const begin = { x: from.x + sx, y: from.y + sy };
  const tip = { x: to.x - ux * short + sx, y: to.y - uy * short + sy };
  const dash = frame.fate === 'received' ? {} : { dash: [5, 4] };
  under.push({ kind: 'line', points: [begin.x, begin.y, tip.x, tip.y], stroke, width, alpha, ...dash });
  if (frame.fate === 'lost') {
    const bar = [tip.x - uy * 6, tip.y + ux * 6, tip.x + uy * 6, tip.y - ux * 6];
    under.push({ kind: 'line', points: bar, stroke, width: 2.5, alpha });
    return;
  }
  const back = { x: tip.x - ux * 8, y: tip.y - uy * 8 };
  const head = [tip.x, tip.y, back.x - uy * 4, back.y + ux * 4, back.x + uy * 4, back.y - ux * 4];
  under.push({ kind: 'polygon', points: head, fill: stroke, alpha });
  if (frame.fate === 'collided') over.push(...collision(to.x, to.y, Math.max(7, r), colours));
}

export interface Key {
  text: string;
  shapes: Shape[];
}

/** What the marks mean, each drawn around (14, 8); of frames, queues and access points only what this field has. */
export function keys(field: Field, fullQueue: number, colours: Palette): Key[] {
  const [x, y] = [14, 8];
  const r = markRadius(field.stations.length) < NUMBERED ? 6 : NUMBERED;
  const line = (stroke: string, dash?: number[]): Shape => ({
    kind: 'line',
    points: [2, y, 26, y],
    stroke,
    width: 2.5,
    ...(dash ? { dash } : {}),
  });
  const out: Key[] = [
    { text: 'master', shapes: mark(x, y, r, 'master', 0, colours) },
    { text: r < NUMBERED ? 'worker with running tasks' : 'worker with so many running tasks', shapes: mark(x, y, r, 'busy', 2, colours) },
    { text: 'worker without', shapes: mark(x, y, r, 'idle', 0, colours) },
    { text: 'failed', shapes: mark(x, y, r, 'failed', 0, colours) },
  ];
  if (field.stations.some((s) => s.node < 0))
    out.push({ text: 'access point', shapes: mark(x, y, r, 'point', 0, colours) });
  if (fullQueue > 0) {
    const text = `transmit queue, a full ring: ${fullQueue} packets`;
    out.push({ text, shapes: [...ring(x, y, 4, 0.7, colours), { kind: 'circle', x, y, r: 4, fill: colours.muted }] });
  }
  if (field.frames.from.length === 0) return out;
  out.push({ text: 'data', shapes: [line(colours.field.data)] });
  out.push({ text: 'control', shapes: [line(colours.field.control)] });
  out.push({ text: 'collision', shapes: collision(x, y, 5, colours) });
  const bar: Shape = { kind: 'line', points: [25, y - 5, 25, y + 5], stroke: colours.field.data, width: 2.5 };
  out.push({ text: 'lost', shapes: [line(colours.field.data, [5, 4]), bar] });
  return out;
}

/** Shapes moved as a whole. */
export function moved(shapes: Shape[], dx: number, dy: number): Shape[] {
  return shapes.map((shape) => {
    if ('points' in shape)
      return { ...shape, points: shape.points.map((v, i) => v + (i % 2 === 0 ? dx : dy)) };
    return { ...shape, x: shape.x + dx, y: shape.y + dy };
  });
}
