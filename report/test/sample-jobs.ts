// Results of jobs to try the page with: a word count on four workers with the attempt times of a real Hadoop run over
// 10 Mbit/s links, and a terabyte sort on a hundred nodes.

import { type Finding, type Job, type ReportData, SCHEMA, type Segment } from '../src/data';
import { type Attempt, chartsFrom, columns, flowsBetween, map, random, reduce } from './sample-attempts';

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
