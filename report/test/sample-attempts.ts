// What sample results are made of: attempts, and the charts and flows that follow from them, so that charts agree with the
// Gantt.

import { type Chart, OUTCOMES, type Outcome, PHASES, type PhaseKind, type ReportData } from '../src/data';

/** A small seeded generator (mulberry32), so that samples never change. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** An attempt as the samples write it down. */
export interface Attempt {
  name: string;
  node: number;
  kind: 0 | 1;
  outcome: Outcome;
  speculative: boolean;
  bytesIn: number;
  bytesOut: number;
  phases: [PhaseKind, number, number][];
  note?: string;
}

/** The columns of attempts. */
export function columns(attempts: Attempt[]): ReportData['attempts'] {
  const out: ReportData['attempts'] = {
    name: [],
    node: [],
    kind: [],
    outcome: [],
    speculative: [],
    start_ms: [],
    end_ms: [],
    bytes_in: [],
    bytes_out: [],
    phase_at: [0],
    phase_kind: [],
    phase_start_ms: [],
    phase_end_ms: [],
    note: {},
  };
  attempts.forEach((a, i) => {
    out.name.push(a.name);
    out.node.push(a.node);
    out.kind.push(a.kind);
    out.outcome.push(OUTCOMES.indexOf(a.outcome));
    out.speculative.push(a.speculative ? 1 : 0);
    out.start_ms.push(Math.round(a.phases[0]![1] * 1000));
    out.end_ms.push(Math.round(a.phases[a.phases.length - 1]![2] * 1000));
    out.bytes_in.push(Math.round(a.bytesIn));
    out.bytes_out.push(Math.round(a.bytesOut));
    for (const [kind, start, end] of a.phases) {
      out.phase_kind.push(PHASES.indexOf(kind));
      out.phase_start_ms.push(Math.round(start * 1000));
      out.phase_end_ms.push(Math.round(end * 1000));
    }
    out.phase_at.push(out.phase_kind.length);
    if (a.note) out.note[String(i)] = a.note;
  });
  return out;
}

/** A map of a word count. */
export function map(
  name: string,
  node: number,
  start: number,
  computed: number,
  end: number,
  bytesIn: number,
  outcome: Outcome = 'succeeded',
  speculative = false,
): Attempt {
  const begun = start + Math.min(2.2, (end - start) * 0.25);
  const read = begun + (computed - begun) * 0.18;
  const spilling = begun + (computed - begun) * 0.85;
  return {
    name,
    node,
    kind: 0,
    outcome,
    speculative,
    bytesIn,
    bytesOut: outcome === 'succeeded' ? bytesIn * 1.84 : 0,
    phases: [
      ['startup', start, begun],
      ['read', begun, read],
      ['compute', read, spilling],
      ['spill', spilling, computed],
      ['merge', computed, end],
    ],
  };
}

/** A reduce of a word count. */
export function reduce(
  name: string,
  node: number,
  start: number,
  fetched: number,
  merged: number,
  end: number,
  bytesIn: number,
  outcome: Outcome = 'succeeded',
  speculative = false,
): Attempt {
  const begun = start + Math.min(2.1, (fetched - start) * 0.3);
  const phases: Attempt['phases'] = [
    ['startup', start, begun],
    ['fetch', begun, fetched],
  ];
  if (merged > fetched)
    phases.push(
      ['merge', fetched, merged],
      ['reduce', merged, merged + (end - merged) * 0.7],
      ['write', merged + (end - merged) * 0.7, end],
    );
  return {
    name,
    node,
    kind: 1,
    outcome,
    speculative,
    bytesIn,
    bytesOut: outcome === 'succeeded' ? bytesIn * 0.01 : 0,
    phases,
  };
}

/** Per node and step, how many attempts are in one of the given phases. */
function activity(attempts: Attempt[], kinds: PhaseKind[], nodes: number, step: number, end: number): Float64Array[] {
  const n = Math.ceil(end / step);
  const out = Array.from({ length: nodes }, () => new Float64Array(n));
  for (const a of attempts) {
    for (const [kind, from, to] of a.phases) {
      if (!kinds.includes(kind)) continue;
      for (let i = Math.floor(from / step); i < Math.min(n, Math.ceil(to / step)); i += 1) {
        const overlap = Math.min(to, (i + 1) * step) - Math.max(from, i * step);
        out[a.node]![i]! += overlap / step;
      }
    }
  }
  return out;
}

/** Charts that agree with the attempts. */
export function chartsFrom(
  attempts: Attempt[],
  names: string[],
  step: number,
  end: number,
  rng: () => number,
  queueLimit: number,
): Chart[] {
  const nodes = names.length;
  const fetch = activity(attempts, ['fetch'], nodes, step, end);
  const cpu = activity(attempts, ['compute', 'reduce'], nodes, step, end);
  const diskWork = activity(attempts, ['spill', 'merge', 'read'], nodes, step, end);
  const writing = activity(attempts, ['write'], nodes, step, end);
  const n = Math.ceil(end / step);
  const series = (suffix: string, value: (node: number, i: number) => number): Chart['series'] =>
    names.slice(1).map((name, k) => ({
      name: `${name}${suffix}`,
      node: k + 1,
      values: Array.from({ length: n }, (_, i) => Math.round(value(k + 1, i))),
    }));
  const total = Array.from({ length: n }, (_, i) => fetch.reduce((sum, f) => sum + f[i]!, 0));
  const into = (node: number, i: number): number =>
    fetch[node]![i]! > 0.02 ? Math.min(1, 0.72 + 0.27 * rng()) * Math.min(1, fetch[node]![i]!) : 0.01 * rng();
  const outOf = (_node: number, i: number): number => Math.min(1, (total[i]! / (nodes - 1)) * (0.55 + 0.5 * rng()));
  const depth = (node: number, i: number): number =>
    fetch[node]![i]! > 0.02 ? queueLimit * Math.min(1, 0.35 + 0.65 * rng() * Math.min(2, fetch[node]![i]!)) : 0;
  return [
    {
      id: 'links',
      title: 'Links',
      label: 'Utilisation',
      unit: 'share',
      holds: 'mean',
      left_out: 0,
      step_s: step,
      scale: 0.001,
      series: series(' in', (k, i) => 1000 * into(k, i)).concat(series(' out', (k, i) => 1000 * outOf(k, i))),
    },
    {
      id: 'queues',
      title: 'Queues',
      label: 'Occupancy',
      unit: 'B',
      holds: 'peak',
      left_out: 0,
      step_s: step,
      scale: 100,
      series: series(' port', (k, i) => depth(k, i) / 100),
    },
    {
      id: 'losses',
      title: 'Losses',
      label: `Packets per ${step.toFixed(2)} s`,
      unit: 'count',
      holds: 'sum',
      left_out: 0,
      step_s: step,
      scale: 1,
      series: [
        {
          name: 'dropped at queues',
          node: -1,
          values: total.map((t) => (rng() < 0.1 * Math.min(1, t) ? Math.round(6 * rng()) : 0)),
        },
        {
          name: 'retransmitted',
          node: -1,
          values: total.map((t) => (rng() < 0.12 * Math.min(1, t) ? Math.round(7 * rng()) : 0)),
        },
      ],
    },
    {
      id: 'disks',
      title: 'Disks',
      label: 'Busy',
      unit: 'share',
      holds: 'mean',
      left_out: 0,
      step_s: step,
      scale: 0.001,
      series: series(
        '',
        (k, i) => 1000 * Math.min(1, 0.4 * diskWork[k]![i]! * (0.6 + 0.6 * rng()) + 0.3 * writing[k]![i]!),
      ),
    },
    {
      id: 'cpu',
      title: 'Processors',
      label: 'Busy',
      unit: 'share',
      holds: 'mean',
      left_out: 0,
      step_s: step,
      scale: 0.001,
      series: series('', (k, i) => 1000 * Math.min(1, 0.5 * cpu[k]![i]! * (0.85 + 0.15 * rng()))),
    },
    {
      id: 'flows',
      title: 'Flows',
      label: 'Open connections',
      unit: 'count',
      holds: 'peak',
      left_out: 0,
      step_s: step,
      scale: 1,
      series: [
        { name: 'shuffle', node: -1, values: total.map((t) => Math.round(t * 4)) },
        { name: 'HDFS', node: -1, values: total.map((_, i) => Math.round(writing.reduce((s, w) => s + w[i]!, 0))) },
      ],
    },
  ];
}

/** Flows between nodes, drawn at random. */
export function flowsBetween(
  names: string[],
  countOf: number,
  end: number,
  rng: () => number,
  size: number,
  rate: number,
): ReportData['flows'] {
  const rows = Array.from({ length: Math.min(countOf, 500) }, () => {
    const from = 1 + Math.floor(rng() * (names.length - 1));
    let to = 1 + Math.floor(rng() * (names.length - 1));
    if (to === from) to = 1 + (to % (names.length - 1));
    const bytes = Math.round(size * (0.3 + 1.4 * rng()));
    const start = rng() * end * 0.7;
    const length = (bytes * 8) / (rate * (0.15 + 0.8 * rng()));
    return {
      from: names[from]!,
      to: names[to]!,
      bytes,
      start,
      end: Math.min(end, start + length),
      retransmissions: Math.floor(rng() * rng() * 30),
      timeouts: rng() < 0.06 ? 1 : 0,
    };
  }).sort((a, b) => b.bytes - a.bytes);
  const times = rows.map((r) => r.end - r.start).sort((a, b) => a - b);
  return {
    total: countOf,
    completed: rows.length,
    from: rows.map((r) => r.from),
    to: rows.map((r) => r.to),
    service: rows.map(() => 'shuffle'),
    start_us: rows.map((r) => Math.round(r.start * 1e6)),
    end_us: rows.map((r) => Math.round(r.end * 1e6)),
    end_kind: rows.map(() => 0),
    bytes: rows.map((r) => r.bytes),
    retransmissions: rows.map((r) => r.retransmissions),
    timeouts: rows.map((r) => r.timeouts),
    drops: rows.map((r) => r.retransmissions),
    rtt_us: rows.map((_, i) => 9000 + 10 * i),
    least_rtt_us: rows.map(() => 250),
    limit: rows.map((_, i) => (i % 7 === 6 ? -1 : i % 6)),
    limit_share: rows.map((_, i) => 1000 - (i % 5) * 100),
    window_max: rows.map(() => 290_000),
    completion: times.map((t, i): [number, number] => [t, (i + 1) / times.length]),
  };
}
