// Results to try the page with: a word count on four workers with the attempt times of a real Hadoop run over 10 Mbit/s links,
// a terabyte sort on a hundred nodes, and traffic without a job. Series follow from the attempts, so that the charts agree with the Gantt.

import {
  PHASES,
  SCHEMA,
  type Chart,
  type Finding,
  type Job,
  type Outcome,
  OUTCOMES,
  type PhaseKind,
  type ReportData,
  type Segment,
  type Series,
} from '../src/data';

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

interface Attempt {
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

function columns(attempts: Attempt[]): ReportData['attempts'] {
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

function map(
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

function reduce(
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

function chartsFrom(
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

function flowsBetween(
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

/** A finding as the simulator words it. */
export const CRASHED: Finding = {
  rule: 'silent-node',
  severity: 'critical',
  cost_s: 112.4,
  summary: 'The job waited 112.4 s for attempts on w2, which had crashed.',
  evidence: 'w2 crashed at 30.0 s; m_000001_0 on w2 was given up at 142.4 s, 112.4 s later (its node was lost)',
  advice: 'Whichever passes first ends the wait: mapreduce.task-timeout is 600.0 s, mapreduce.node-expiry 112.0 s.',
  property: 'yarn.nm.liveness-monitor.expiry-interval-ms, mapreduce.task.timeout',
  key: 'mapreduce.node-expiry, mapreduce.task-timeout',
  attempt: 1,
  node: 2,
};

/** The word count whose map output crossed 10 Mbit/s links; attempts as Hadoop's own history records them. */
export function wordCount(): ReportData {
  const rng = random(9);
  const names = ['master', 'w1', 'w2', 'w3', 'w4'];
  const split = 26.2e6;
  const attempts: Attempt[] = [
    map('m_000005_0', 2, 5.107, 44.61, 57.133, split),
    map('m_000004_0', 3, 5.12, 43.334, 56.559, split),
    map('m_000007_0', 2, 5.12, 21.667, 25.578, 4.2e6),
    map('m_000001_0', 4, 5.215, 45.128, 58.714, split),
    map('m_000002_0', 3, 5.227, 46.735, 59.325, split),
    map('m_000000_0', 1, 5.299, 45.516, 59.833, split),
    map('m_000006_0', 1, 5.374, 18.43, 21.133, 4.2e6),
    map('m_000003_0', 4, 5.431, 44.152, 56.524, split),
    map('m_000007_1', 4, 23.134, 25.2, 25.6, 0.4e6, 'killed', true),
    map('m_000002_1', 3, 38.143, 55, 59.4, 11e6, 'killed', true),
    map('m_000000_1', 2, 53.3, 59.4, 59.9, 2e6, 'killed', true),
    reduce('r_000000_0', 1, 24.107, 171.724, 173.85, 176.5, 96.5e6),
    reduce('r_000001_0', 2, 24.109, 159.41, 162.494, 167.696, 96.5e6),
    reduce('r_000002_0', 1, 24.123, 200.565, 203.678, 207.064, 96.5e6),
    reduce('r_000003_0', 4, 26.113, 116.427, 118.454, 121.058, 96.5e6),
    reduce('r_000002_1', 2, 124.32, 207.06, 207.06, 207.06, 60e6, 'killed', true),
    { ...reduce('r_000001_1', 3, 139.169, 160, 160, 160, 40e6, 'failed', true), note: 'too many fetch failures' },
    reduce('r_000000_1', 4, 156.948, 176.5, 176.5, 176.5, 20e6, 'killed', true),
  ];
  const path: Segment[] = [
    { cause: 'startup', start_s: 0, end_s: 2.854, where: 'the ApplicationMaster', detail: '', flow: -1 },
    { cause: 'slot', start_s: 2.854, end_s: 5.299, where: 'containers on w1', detail: '', flow: -1 },
    { cause: 'startup', start_s: 5.299, end_s: 7.5, where: 'a Java process on w1', detail: '', flow: -1 },
    { cause: 'disk', start_s: 7.5, end_s: 9.2, where: "w1's disk", detail: '', flow: -1 },
    { cause: 'cpu', start_s: 9.2, end_s: 45.516, where: "w1's processor", detail: '', flow: -1 },
    { cause: 'disk', start_s: 45.516, end_s: 59.833, where: "w1's disk", detail: '', flow: -1 },
    { cause: 'transfer', start_s: 59.833, end_s: 171.2, where: 'the 10 Mbit/s link into w1', detail: '', flow: 0 },
    { cause: 'queueing', start_s: 171.2, end_s: 190.4, where: 'the switch port towards w1', detail: '', flow: 0 },
    { cause: 'recovery', start_s: 190.4, end_s: 197.9, where: 'the link into w1', detail: '', flow: -1 },
    { cause: 'tcp_timeout', start_s: 197.9, end_s: 200.565, where: 'the connection w4 to w1', detail: '', flow: -1 },
    { cause: 'disk', start_s: 200.565, end_s: 203.678, where: "w1's disk", detail: '', flow: -1 },
    { cause: 'cpu', start_s: 203.678, end_s: 206.0, where: "w1's processor", detail: '', flow: -1 },
    { cause: 'transfer', start_s: 206.0, end_s: 207.064, where: 'the replication pipeline', detail: '', flow: 0 },
    { cause: 'timeout', start_s: 207.064, end_s: 207.788, where: 'job commit', detail: '', flow: -1 },
  ];
  return {
    schema: SCHEMA,
    title: 'Word count over 10 Mbit/s links',
    changes: [],
    setup: [
      { label: 'Workload', value: 'WordCount without combiner, 209.8 MB in 8 splits, 4 reducers' },
      { label: 'Cluster', value: '4 workers on one host (2 cores, 1 disk), YARN, 1 GB each' },
      { label: 'Network', value: 'star, 15 Gbit/s, 25 µs; workers shaped to 10 Mbit/s, 32 KB burst, 400 ms queue' },
      { label: 'TCP', value: 'BBR, SACK, minimum RTO 200 ms' },
      { label: 'HDFS', value: '32 MiB blocks, 2 replicas' },
      { label: 'Seed', value: '1' },
      { label: 'Scenario', value: 'sha256 4f1c9a02d7e3' },
    ],
    scenario: '[cluster]\nworkers = 4\n\n[[network.shape]]\nnodes = "workers"\nrate = "10 Mbit/s"\n',
    fidelity: 'packet',
    end_s: 207.788,
    jobs: [
      {
        name: 'wordcount',
        state: 'succeeded',
        reason: '',
        submit_s: 0,
        launch_s: 2.854,
        finish_s: 207.788,
        critical_path: path,
        findings: [CRASHED],
        phases: [
          { name: 'map', start_s: 5.107, end_s: 59.833 },
          { name: 'shuffle', start_s: 26.107, end_s: 200.565 },
          { name: 'reduce', start_s: 116.427, end_s: 207.064 },
        ],
        bytes: [
          { label: 'map input', value: 209822052 },
          { label: 'map output', value: 386196972 },
          { label: 'shuffle, same node', value: 100.9e6 },
          { label: 'shuffle, over the network', value: 285.2e6 },
          { label: 'HDFS read, same node', value: 183.6e6 },
          { label: 'HDFS read, remote', value: 26.2e6 },
          { label: 'written', value: 545930 },
        ],
      },
    ],
    network: [
      { label: 'packets', value: 412_377 },
      { label: 'hops', value: 824_754 },
      { label: 'drops', value: 1187 },
      { label: 'retransmissions', value: 1214 },
      { label: 'timeouts', value: 31 },
      { label: 'zero windows', value: 4 },
    ],
    ledger: [
      {
        what: 'packets',
        holds: true,
        offered: 412_377,
        accounted: [
          { label: 'delivered', value: 411_190 },
          { label: 'dropped', value: 1187 },
          { label: 'lost on links', value: 0 },
          { label: 'in flight', value: 0 },
        ],
      },
      {
        what: 'map output, bytes',
        holds: true,
        offered: 386_196_972,
        accounted: [
          { label: 'fetched', value: 386_196_972 },
          { label: 'never fetched', value: 0 },
        ],
      },
    ],
    traffic: [],
    comparison: {
      title: 'Predicted beside recorded',
      note: 'Calibrated on the unshaped run alone; the intervals hold 90 % of 20 seeds.',
      rows: [
        { name: 'job, launch to finish', unit: 's', predicted: 196.4, actual: 204.934, interval: [161.2, 214.8] },
        { name: 'last map done', unit: 's', predicted: 57.9, actual: 59.833, interval: [55.1, 61.0] },
        { name: 'shuffle', unit: 's', predicted: 168.0, actual: 176.458, interval: [131.0, 186.2] },
        {
          name: 'bytes through the workers',
          unit: 'B',
          predicted: 451.7e6,
          actual: 469.4e6,
          interval: [430.1e6, 498.7e6],
        },
      ],
    },
    nodes: names.map((name, i) => ({
      name,
      rack: 1,
      received: 40e6 * (i + 1),
      sent: 35e6 * (i + 1),
      cpu_work_s: 9.5 * i,
    })),
    attempts: columns(attempts),
    charts: chartsFrom(attempts, names, 0.2, 207.788, rng, 500_000),
    flows: flowsBetween(names, 196, 207.788, rng, 9e6, 6e6),
    events: [
      { at_s: 139.2, node: 3, kind: 'link-down', text: 'w3: link down' },
      { at_s: 160, node: 3, kind: 'link-up', text: 'w3: link up' },
    ],
  };
}

function terasort(end: number, mapsDone: number): Job {
  return {
    name: 'terasort',
    state: 'succeeded',
    reason: '',
    submit_s: 0,
    launch_s: 3,
    finish_s: end,
    phases: [
      { name: 'map', start_s: 5, end_s: mapsDone },
      { name: 'shuffle', start_s: 26, end_s: mapsDone + 100 },
      { name: 'reduce', start_s: mapsDone + 40, end_s: end },
    ],
    bytes: [
      { label: 'map input', value: 1e12 },
      { label: 'map output', value: 1e12 },
      { label: 'shuffle, over the network', value: 0.99e12 },
      { label: 'written', value: 1e12 },
    ],
    findings: [],
    critical_path: [
      { cause: 'startup', start_s: 0, end_s: 5, where: 'the ApplicationMaster', detail: '', flow: -1 },
      { cause: 'slot', start_s: 5, end_s: mapsDone - 20, where: 'map containers', detail: '', flow: -1 },
      { cause: 'cpu', start_s: mapsDone - 20, end_s: mapsDone, where: "worker-7's processor", detail: '', flow: -1 },
      { cause: 'transfer', start_s: mapsDone, end_s: mapsDone + 70, where: 'the uplink of rack-2', detail: '', flow: 0 },
      { cause: 'disk', start_s: mapsDone + 70, end_s: end - 1, where: "worker-100's disks", detail: '', flow: -1 },
      { cause: 'timeout', start_s: end - 1, end_s: end, where: 'job commit', detail: '', flow: -1 },
    ],
  };
}

/** A terabyte sorted by a hundred nodes: 8,000 maps, 400 reducers. */
export function teraSort(): ReportData {
  const rng = random(100);
  const names = ['master', ...Array.from({ length: 100 }, (_, i) => `worker-${i + 1}`)];
  const attempts: Attempt[] = [];
  const free: number[][] = names.map(() => Array.from({ length: 8 }, () => 5 + rng()));
  const pad = (i: number): string => String(i).padStart(6, '0');
  for (let i = 0; i < 8000; i += 1) {
    const node = 1 + (i % 100);
    const slots = free[node]!;
    const slot = slots.indexOf(Math.min(...slots));
    const start = slots[slot]! + 0.2 * rng();
    const length = 16 + 8 * rng() + (rng() < 0.01 ? 30 * rng() : 0);
    const bad = rng() < 0.004;
    attempts.push(
      map(`m_${pad(i)}_0`, node, start, start + length * 0.8, start + length, 125e6, bad ? 'failed' : 'succeeded'),
    );
    slots[slot] = start + length;
    if (rng() < 0.006) {
      const other = 1 + Math.floor(rng() * 100);
      const at = free[other]!;
      const k = at.indexOf(Math.min(...at));
      attempts.push(
        map(`m_${pad(i)}_1`, other, at[k]!, at[k]! + 10, at[k]! + 14, 125e6, bad ? 'succeeded' : 'killed', !bad),
      );
      at[k]! += 14;
    }
  }
  const mapsDone = Math.max(...free.flat());
  for (let i = 0; i < 400; i += 1) {
    const start = 26 + 3 * rng();
    const fetched = mapsDone + 40 + 60 * rng();
    attempts.push(
      reduce(
        `r_${pad(i)}_0`,
        1 + (i % 100),
        start,
        fetched,
        fetched + 20 + 10 * rng(),
        fetched + 60 + 40 * rng(),
        2.5e9,
      ),
    );
  }
  const end = Math.max(...attempts.map((a) => a.phases[a.phases.length - 1]![2])) + 1;
  return {
    ...wordCount(),
    title: 'TeraSort of 1 TB on 100 nodes',
    changes: [],
    setup: [
      { label: 'Workload', value: 'TeraSort, 1 TB in 8,000 splits, 400 reducers' },
      { label: 'Cluster', value: '100 workers, YARN, 8 cores and 4 disks each' },
      { label: 'Network', value: 'tree of 5 racks, 1 Gbit/s to hosts, 10 Gbit/s up' },
      { label: 'Seed', value: '7' },
    ],
    end_s: end,
    jobs: [terasort(end, mapsDone)],
    comparison: null,
    events: [],
    nodes: names.map((name, i) => ({ name, rack: 1 + (i % 5), received: 9.9e9, sent: 9.9e9, cpu_work_s: 700 })),
    attempts: columns(attempts),
    charts: chartsFrom(attempts, names, end / 700, end, rng, 128 * 1500),
    flows: flowsBetween(names, 3_168_000, end, rng, 400e6, 4e8),
  };
}

/** Traffic alone: a permutation of long flows, no job. */
export function traffic(): ReportData {
  const rng = random(4);
  const names = Array.from({ length: 9 }, (_, i) => `h${i}`);
  const none = columns([]);
  const n = 1500;
  const step = 0.8 / n;
  const fill = (f: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => Math.round(f(i)));
  return {
    ...wordCount(),
    title: 'Barrier-synchronised reads from 8 servers',
    changes: [],
    setup: [
      { label: 'Traffic', value: 'barrier, 8 servers, 256 KB per round, 40 rounds' },
      { label: 'Network', value: 'star, 1 Gbit/s, 25 µs, drop-tail 64 packets' },
      { label: 'TCP', value: 'NewReno, SACK' },
      { label: 'Seed', value: '4' },
    ],
    end_s: 0.8,
    jobs: [],
    comparison: null,
    events: [],
    attempts: none,
    traffic: [
      {
        name: 'barrier',
        begun: 320,
        completed: 320,
        delivered: 83_886_080,
        goodput: 838.9e6,
        completion_p50_s: 0.0129,
        completion_p95_s: 0.041,
        completion_p99_s: 0.0587,
      completion_p999_s: null,
        completion_max_s: 0.071,
        completion: Array.from({ length: 100 }, (_, i): [number, number] => [0.0121 * 1.018 ** i, (i + 1) / 100]),
        jain: 0.993,
      },
    ],
    nodes: names.map((name, i) => ({
      name,
      rack: 1,
      received: 40e6 * (i + 1),
      sent: 35e6 * (i + 1),
      cpu_work_s: 9.5 * i,
    })),
    charts: [
      {
        id: 'goodput',
        title: 'Goodput',
        label: 'Delivered in order',
        unit: 'bit/s',
        holds: 'mean',
        left_out: 0,
        step_s: step,
        scale: 1000,
        series: [
          {
            name: 'all flows',
            node: -1,
            values: fill((i) => (Math.floor(i / 60) % 5 === 4 ? 0 : 880_000 + 60_000 * rng())),
          },
        ],
      },
      {
        id: 'queues',
        title: 'Queues',
        label: 'Packets in queue',
        unit: 'count',
        holds: 'peak',
        left_out: 0,
        step_s: step,
        scale: 1,
        series: [
          { name: 'switch to h0', node: 0, values: fill((i) => (Math.floor(i / 60) % 5 === 4 ? 0 : 64 * rng())) },
        ],
      },
    ],
    flows: flowsBetween(names, 320, 0.8, rng, 262_144, 3e8),
  };
}

/** An application of Spark with a stage that the run's end cut short. */
export function spark(): ReportData {
  const volumes = { input: 0, shuffle_read: 0, shuffle_remote: 0, shuffle_write: 0, fetch_wait_s: 0 };
  const usual = traffic();
  const cells = usual.charts[0]!.series[0]!.values.length;
  const of = (name: string, most: number): Series => ({
    name,
    node: -1,
    values: Array.from({ length: cells }, (_, i) => Math.min(most, 1 + (i >> 4))),
  });
  return {
    ...usual,
    charts: [
      ...usual.charts,
      {
        id: 'executors',
        title: 'Executors',
        label: 'Most at once',
        unit: 'count',
        holds: 'peak',
        step_s: usual.charts[0]!.step_s,
        scale: 1,
        series: [of('wanted', 12), of('there', 8), of('with tasks', 7), of('excluded', 1)],
        left_out: 0,
      },
    ],
    title: 'spark-join',
    traffic: [],
    spark: {
      state: 'unfinished',
      reason: '',
      took_s: null,
      ready_s: null,
      executors: 8,
      lost: 0,
      copies: [0, 0],
      cached: [0, 0, 0],
      broadcast: [0, 0],
      left_out: 12,
      stages: [
        { ...volumes, name: 'scan', tasks: 32, partitions: 32, done: 32, submit_s: 0.05, finish_s: 0.45, input: 4e9, shuffle_write: 4e8 },
        {
          ...volumes,
          name: 'join_of_orders_and_customers_by_key',
          tasks: 16,
          partitions: 200,
          done: 3,
          submit_s: 0.5,
          finish_s: null,
          shuffle_read: 5e8,
          shuffle_remote: 4.38e8,
          fetch_wait_s: 0.0685,
        },
      ],
      exclusions: [
        { executor: 3, node: 'worker-2', stage: 'scan', at_s: 0.12, until_s: 0.45 },
        { executor: 3, node: 'worker-2', stage: null, at_s: 0.45, until_s: 3_600.45 },
        { executor: null, node: 'worker-2', stage: 'join_of_orders_and_customers_by_key', at_s: 0.7, until_s: null },
      ],
      exclusions_left_out: 4,
      span_s: [0, 1],
      critical_path: [
        { cause: 'driver', start_s: 0, end_s: 0.1, where: '', detail: 'before scan', flow: -1 },
        { cause: 'locality', start_s: 0.1, end_s: 0.2, where: '', detail: 'task 3 of scan', flow: -1 },
        { cause: 'cpu', start_s: 0.2, end_s: 0.45, where: 'worker-2\u2019s processor', detail: 'task 3 of scan', flow: -1 },
        { cause: 'transfer', start_s: 0.45, end_s: 1, where: 'the 1 Gbit/s link into worker-3', detail: 'task 1 of join_of_orders_and_customers_by_key', flow: -1 },
      ],
      findings: [
        {
          rule: 'shuffle',
          severity: 'critical',
          cost_s: 0.55,
          summary: 'The longest chain of tasks waited for blocks of shuffles for 0.55 s.',
          evidence: '0.55 s of 1.00 s; most of it in stage join_of_orders_and_customers_by_key, 0.55 s',
          advice: 'Less to shuffle, or a faster link there: at most 0.55 s less.',
          property: 'spark.reducer.maxSizeInFlight, spark.shuffle.compress',
          key: 'network.rate',
          attempt: -1,
          node: -1,
        },
      ],
    },
  };
}
