// Results without a MapReduce job to try the page with: traffic alone, and an application of Spark.

import { type ReportData, type Series } from '../src/data';
import { columns, flowsBetween, random } from './sample-attempts';
import { wordCount } from './sample-jobs';

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
