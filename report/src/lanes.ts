// Where the Gantt puts each attempt: nodes below one another, and within a node as few lanes as its attempts need.

import type { Attempts } from './data';

/** Lowest free lane for each interval; intervals must come by rising start. Returns a lane per interval. */
export function pack(starts: ArrayLike<number>, ends: ArrayLike<number>): Uint16Array {
  const lanes = new Uint16Array(starts.length);
  const busyUntil: number[] = [];
  for (let i = 0; i < starts.length; i += 1) {
    let lane = busyUntil.findIndex((end) => end <= starts[i]!);
    if (lane < 0) lane = busyUntil.length;
    busyUntil[lane] = ends[i]!;
    lanes[i] = lane;
  }
  return lanes;
}

export interface Row {
  node: number;
  top: number;
  lanes: number;
  height: number;
  /** Attempts of this row by rising start, and the lane of each. */
  attempts: Uint32Array;
  lane: Uint16Array;
}

export interface Layout {
  rows: Row[];
  laneHeight: number;
  height: number;
}

const GAP = 6;
const TALLEST = 13;
const SHORTEST = 3;

/** Rows for the nodes that have an attempt which `keep` admits; lanes get as tall as `room` pixels allow, within reason. */
export function layout(attempts: Attempts, keep: (attempt: number) => boolean, room: number): Layout {
  const byNode = new Map<number, number[]>();
  for (let i = 0; i < attempts.node.length; i += 1) {
    if (!keep(i)) continue;
    const node = attempts.node[i]!;
    const list = byNode.get(node);
    if (list) list.push(i);
    else byNode.set(node, [i]);
  }
  const rows: Row[] = [...byNode.keys()]
    .sort((a, b) => a - b)
    .map((node) => {
      const list = byNode.get(node)!.sort((a, b) => attempts.start_ms[a]! - attempts.start_ms[b]! || a - b);
      const lane = pack(
        list.map((i) => attempts.start_ms[i]!),
        list.map((i) => attempts.end_ms[i]!),
      );
      const lanes = lane.reduce((most, l) => Math.max(most, l + 1), 1);
      return { node, top: 0, lanes, height: 0, attempts: Uint32Array.from(list), lane };
    });
  const total = rows.reduce((sum, row) => sum + row.lanes, 0);
  const fit = Math.floor((room - rows.length * GAP) / Math.max(1, total));
  const laneHeight = Math.max(SHORTEST, Math.min(TALLEST, fit));
  let top = 0;
  for (const row of rows) {
    row.top = top;
    // A row must hold its node's name even when its lanes are thin.
    row.height = Math.max(row.lanes * laneHeight, 11);
    top += row.height + GAP;
  }
  return { rows, laneHeight, height: top };
}

/** Stretches of attempts with the phases that run in each side by side; where two run, each has half the height. */
export interface Pieces {
  /** Attempt i has the pieces from `at[i]` up to `at[i + 1]`. */
  at: Uint32Array;
  start_ms: number[];
  end_ms: number[];
  kind: number[];
  /** Which part of the height, of how many. */
  slot: number[];
  of: number[];
}

/** Cuts each attempt at every start and end of a phase: phases overlap, as a spill beside the map function does. */
export function pieces(a: Attempts): Pieces {
  const n = a.node.length;
  const out: Pieces = { at: new Uint32Array(n + 1), start_ms: [], end_ms: [], kind: [], slot: [], of: [] };
  for (let i = 0; i < n; i += 1) {
    const phases = Array.from({ length: a.phase_at[i + 1]! - a.phase_at[i]! }, (_, k) => a.phase_at[i]! + k);
    const cuts = [...new Set(phases.flatMap((p) => [a.phase_start_ms[p]!, a.phase_end_ms[p]!]))].sort((x, y) => x - y);
    for (let c = 0; c + 1 < cuts.length; c += 1) {
      const active = phases.filter((p) => a.phase_start_ms[p]! <= cuts[c]! && a.phase_end_ms[p]! >= cuts[c + 1]!);
      const kinds = [...new Set(active.map((p) => a.phase_kind[p]!))].sort((x, y) => x - y);
      kinds.forEach((kind, slot) => {
        out.start_ms.push(cuts[c]!);
        out.end_ms.push(cuts[c + 1]!);
        out.kind.push(kind);
        out.slot.push(slot);
        out.of.push(kinds.length);
      });
    }
    out.at[i + 1] = out.kind.length;
  }
  return out;
}

/** The attempt drawn at a place, or -1. */
export function hit(at: Layout, attempts: Attempts, ms: number, y: number, slackMs: number): number {
  const row = at.rows.find((r) => y >= r.top && y < r.top + r.lanes * at.laneHeight);
  if (!row) return -1;
  const lane = Math.floor((y - row.top) / at.laneHeight);
  let best = -1;
  let distance = Infinity;
  for (let k = 0; k < row.attempts.length; k += 1) {
    if (row.lane[k] !== lane) continue;
    const i = row.attempts[k]!;
    const away = Math.max(attempts.start_ms[i]! - ms, ms - attempts.end_ms[i]!, 0);
    if (away <= slackMs && away < distance) {
      best = i;
      distance = away;
    }
  }
  return best;
}
