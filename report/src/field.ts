// The field at an instant: where stations are, what their nodes do, which frames are on the air. No drawing here.

import { FATES, FRAME_KINDS, type Fate, type Field, type FrameKind, type ReportData, type Station } from './data';

export interface Place {
  x: number;
  y: number;
}

/** How many of the rising `values` are at most `value`. */
export function reached(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a station is, in metres. */
export function placeAt(station: Station, t: number): Place {
  const ms = t * 1000;
  const next = reached(station.at_ms, ms);
  const last = station.at_ms.length - 1;
  if (next === 0 || next > last) {
    const end = next === 0 ? 0 : last;
    return { x: (station.x_mm[end] ?? 0) / 1000, y: (station.y_mm[end] ?? 0) / 1000 };
  }
  const from = station.at_ms[next - 1]!;
  const part = (ms - from) / (station.at_ms[next]! - from);
  const between = (values: number[]): number =>
    (values[next - 1]! + (values[next]! - values[next - 1]!) * part) / 1000;
  return { x: between(station.x_mm), y: between(station.y_mm) };
}

/** The way of a station from one instant to another: x, y, x, y, ... in metres; empty where it stood still. */
export function trail(station: Station, from: number, to: number): number[] {
  const begin = placeAt(station, from);
  const out = [begin.x, begin.y];
  for (let i = reached(station.at_ms, from * 1000); i < reached(station.at_ms, to * 1000); i += 1)
    out.push(station.x_mm[i]! / 1000, station.y_mm[i]! / 1000);
  const end = placeAt(station, to);
  out.push(end.x, end.y);
  return out.some((v, i) => v !== out[i % 2]) ? out : [];
}

export type Doing = 'master' | 'busy' | 'idle' | 'failed' | 'point';

/** What is with a station at an instant. */
export interface State {
  doing: Doing;
  /** Task attempts that run on its node. */
  running: number;
  /** Packets in its transmit queue, null where the page does not know. */
  queue: number | null;
}

/** What the page knows of transmit queues: packets in a station's at an instant, and the most that any held in the run. */
export interface Queues {
  at: (station: number, t: number) => number | null;
  most: number;
}

export function queues(data: Pick<ReportData, 'charts'>, field: Field): Queues {
  const chart = data.charts.find((c) => c.id === 'queues' && c.unit === 'count');
  if (!chart) return { at: () => null, most: 0 };
  const series = field.stations.map((station) => chart.series.find((s) => s.name === `${station.name} out`)?.values);
  const most = series.reduce((top, values) => (values ?? []).reduce((a, b) => Math.max(a, b), top), 0) * chart.scale;
  const at = (station: number, t: number): number | null => {
    const values = series[station];
    if (!values || values.length === 0) return null;
    return values[Math.min(values.length - 1, Math.floor(t / chart.step_s))]! * chart.scale;
  };
  return { at, most };
}

/** Answers what a station does when. */
export function states(data: ReportData, field: Field): (station: number, t: number) => State {
  const a = data.attempts;
  const starts = new Map<number, number[]>();
  const ends = new Map<number, number[]>();
  const add = (to: Map<number, number[]>, node: number, ms: number): void => {
    const list = to.get(node);
    if (list) list.push(ms);
    else to.set(node, [ms]);
  };
  a.node.forEach((node, i) => {
    add(starts, node, a.start_ms[i]!);
    add(ends, node, a.end_ms[i]!);
  });
  for (const list of [...starts.values(), ...ends.values()]) list.sort((x, y) => x - y);
  const none: number[] = [];
  const waiting = queues(data, field);
  return (number, t) => {
    const station = field.stations[number]!;
    const queue = waiting.at(number, t);
    const ms = t * 1000;
    const failed = reached(station.failed_ms, ms) % 2 === 1;
    if (station.node < 0) return { doing: failed ? 'failed' : 'point', running: 0, queue };
    const running = reached(starts.get(station.node) ?? none, ms) - reached(ends.get(station.node) ?? none, ms);
    if (failed) return { doing: 'failed', running, queue };
    return { doing: station.node === 0 ? 'master' : running > 0 ? 'busy' : 'idle', running, queue };
  };
}

/** The stations that are farther from `station` than a frame is received; of access points and nodes alike. */
export function unreached(field: Field, station: number, t: number): number[] {
  const range = field.range_m;
  if (range === null) return [];
  const from = placeAt(field.stations[station]!, t);
  return field.stations.flatMap((other, i) => {
    const { x, y } = placeAt(other, t);
    return i !== station && Math.hypot(x - from.x, y - from.y) > range ? [i] : [];
  });
}

/** Instants at which one asks how a run was on average. */
const LOOKS = 200;

/** Which part of the time, up to `end`, pairs of stations spend farther apart than a frame is received: of all pairs, and who is so most with the master. */
export function apart(field: Field, end: number): { pairs: number; worst: { station: number; part: number } | null } {
  const of = field.stations.length;
  const master = field.stations.findIndex((s) => s.node === 0);
  const alone = new Array<number>(of).fill(0);
  let pairs = 0;
  for (let k = 0; k < LOOKS; k += 1) {
    const t = ((k + 0.5) / LOOKS) * end;
    for (let i = 0; i < of; i += 1) pairs += unreached(field, i, t).length;
    if (master >= 0) for (const i of unreached(field, master, t)) alone[i]! += 1 / LOOKS;
  }
  const part = Math.max(0, ...alone);
  const worst = part > 0 ? { station: alone.indexOf(part), part } : null;
  return { pairs: of > 1 ? pairs / (LOOKS * of * (of - 1)) : 0, worst };
}

export interface Frame {
  start: number;
  end: number;
  from: number;
  /** A row of the field's stations, or -1 for everyone. */
  to: number;
  kind: FrameKind;
  packets: number;
  fate: Fate;
}

/** The frames of a run, to be asked by time. */
export class Air {
  readonly count: number;
  /** In seconds. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  private readonly longest: number;

  constructor(private readonly field: Field) {
    const f = field.frames;
    this.count = f.gap_ns.length;
    this.start = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    let at = 0;
    let longest = 0;
    for (let i = 0; i < this.count; i += 1) {
      at += f.gap_ns[i]!;
      this.start[i] = at / 1e9;
      this.end[i] = (at + f.duration_ns[i]!) / 1e9;
      longest = Math.max(longest, this.end[i]! - this.start[i]!);
    }
    this.longest = longest;
  }

  frame(i: number): Frame {
    const f = this.field.frames;
    return {
      start: this.start[i]!,
      end: this.end[i]!,
      from: f.from[i]!,
      to: f.to[i]!,
      kind: FRAME_KINDS[f.kind[i]!] ?? 'other',
      packets: f.packets[i]!,
      fate: FATES[f.fate[i]!] ?? 'received',
    };
  }

  isCollided(i: number): boolean {
    return FATES[this.field.frames.fate[i]!] === 'collided';
  }

  /** Frames that were on the air at some instant from `from` to `to`, both included, in the order of their start. */
  within(from: number, to: number): number[] {
    const out: number[] = [];
    const last = reached(this.start, to);
    // A frame that began earlier than this has ended.
    for (let i = reached(this.start, from - this.longest - 1e-9); i < last; i += 1) if (this.end[i]! >= from) out.push(i);
    return out;
  }

  /** The next frame in a direction that `wanted` admits, as one steps from the instant `t`; -1 for none. */
  next(t: number, forward: boolean, wanted: (i: number) => boolean): number {
    // Instants come back from the slider and the keys: half a nanosecond is no step.
    let i = forward ? reached(this.start, t + 5e-10) : reached(this.start, t - 5e-10) - 1;
    while (i >= 0 && i < this.count && !wanted(i)) i += forward ? 1 : -1;
    return i < this.count ? i : -1;
  }
}

/** A frame in words: "RTS, worker-1 to master". */
export function frameWords(frame: Frame, field: Field): string {
  const name = (station: number): string => field.stations[station]?.name ?? '?';
  const packets = frame.packets === 0 ? '' : ` of ${frame.packets} ${frame.packets === 1 ? 'packet' : 'packets'}`;
  return `${FRAME_NAMES[frame.kind]}${packets}, ${name(frame.from)} to ${frame.to < 0 ? 'everyone' : name(frame.to)}`;
}

const FRAME_NAMES: Record<FrameKind, string> = {
  data: 'data',
  ack: 'ACK',
  rts: 'RTS',
  cts: 'CTS',
  'block-ack': 'block ACK',
  beacon: 'beacon',
  other: 'request or management',
};
