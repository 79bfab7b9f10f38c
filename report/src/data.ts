// What a run hands to this page. The writer is crates/results/src/page; the two change together, and `SCHEMA` with them.

export const SCHEMA = 'trunkline-report-1';

export interface ReportData {
  schema: string;
  title: string;
  /** What was laid over the scenario's file. */
  changes: string[];
  /** How the run was set up, as label and value: workload, cluster, network, TCP, seed. */
  setup: Fact[];
  /** The scenario's text, what differs from the defaults alone; empty if not known. */
  scenario: string;
  /** How finely messages were simulated: `run.fidelity`. */
  fidelity: 'packet' | 'flow';
  /** End of the shared time axis. */
  end_s: number;
  /** In the order of the scenario; none when the run is plain traffic. */
  jobs: Job[];
  /** Of an application of Spark alone. */
  spark?: Spark;
  /** Of many jobs alone. */
  job_classes?: JobClass[];
  /** Of a run that was given up alone. */
  stalled?: Stalled;
  /** All of it first, then by what it is for; where the scenario has prices. */
  cost?: Fact[];
  /** Packet and TCP counters, in the order to show them. */
  network: Count[];
  ledger: Balance[];
  comparison: Comparison | null;
  traffic: Traffic[];
  nodes: Node[];
  /** How evenly jobs' loads are spread over the workers; where there are jobs. */
  imbalance?: Imbalance[];
  /** Where the scenario says what disks draw. */
  disks?: Disks;
  /** Of a wireless run alone. */
  field?: Field;
  attempts: Attempts;
  /** Of the recorded job that the run re-does: on the same axis, its launch at that of the simulated job. */
  recorded?: Attempts;
  charts: Chart[];
  flows: Flows;
  events: Happening[];
}

export interface Fact {
  label: string;
  value: string;
}

export interface Count {
  label: string;
  value: number;
}

export interface Job {
  name: string;
  state: 'succeeded' | 'failed' | 'unfinished';
  reason: string;
  submit_s: number;
  launch_s: number | null;
  /** The end of the run when the job did not finish. */
  finish_s: number;
  phases: Phase[];
  /** Volumes in bytes, in the order to show them. */
  bytes: Count[];
  critical_path: Segment[];
  /** Why it took as long as it did, the costliest causes first. */
  findings: Finding[];
  /** Its tasks, and what it read, shuffled and wrote together in bytes, where there are many jobs. */
  maps?: number;
  reduces?: number;
  size?: number;
}

/** An application of Spark; of very many stages, those that took longest. */
export interface Spark {
  state: Job['state'];
  reason: string;
  /** From the first job's submission to the last one's end. */
  took_s: number | null;
  /** On YARN: after how long its program could go on. */
  ready_s: number | null;
  /** Those that its driver took. */
  executors: number;
  /** Those of them that it lost. */
  lost: number;
  /** Speculative copies that it launched, and those of them that were first. */
  copies: [number, number];
  /** Bytes of kept data sets that tasks read from their own executors, from others, and computed anew. */
  cached: [number, number, number];
  /** Bytes that its executors got of what is broadcast: from the driver, and from each other. */
  broadcast: [number, number];
  stages: SparkStage[];
  left_out: number;
  /** Executors and nodes that got no more tasks as some failed there; the first of very many. */
  exclusions: SparkExclusion[];
  exclusions_left_out: number;
  /** When its first job was submitted, and when its last one was done or the run ended. */
  span_s: [number, number];
  critical_path: Segment[];
  findings: Finding[];
}

/** From when until when an executor or a node got no more tasks. */
export interface SparkExclusion {
  /** The executor's number, from 0; null: the node, with all of its executors. */
  executor: number | null;
  node: string;
  /** The stage from which it was excluded; null: from the application. */
  stage: string | null;
  at_s: number;
  /** Null: it still was when the run ended. */
  until_s: number | null;
}

/** A stage; volumes are in bytes, the fetch wait is a task's on average. */
export interface SparkStage {
  name: string;
  tasks: number;
  /** Adaptive execution may have joined or split them for its tasks. */
  partitions: number;
  done: number;
  submit_s: number | null;
  finish_s: number | null;
  input: number;
  shuffle_read: number;
  shuffle_remote: number;
  shuffle_write: number;
  fetch_wait_s: number;
}

/** States of disks over time; of very many disks, those that were woken most often. */
export interface Disks {
  /** By number. */
  states: DiskState[];
  lanes: DiskLane[];
  left_out: number;
  drawn_j: number;
  /** What they would have drawn for the same requests without rest, and the least that was possible. */
  always_on_j: number;
  least_j: number;
}

export const DISK_STATES = ['ready', 'idle-b', 'idle-c', 'standby', 'down', 'up', 'off'] as const;
export type DiskState = (typeof DISK_STATES)[number];

export interface DiskLane {
  name: string;
  node: number;
  role: string;
  drawn_j: number;
  always_on_j: number;
  least_j: number;
  starts: number;
  /** How long requests waited for it. */
  late_s: number;
  /** Into which state it came when, and why it was woken if it was. */
  at_s: number[];
  state: number[];
  cause: string[];
}

/** Jobs of one class of size; the last one is of all. */
export interface JobClass {
  label: string;
  jobs: number;
  succeeded: number;
  mean_s: number;
  p50_s: number;
  p95_s: number;
  p99_s: number;
  max_s: number;
}

export interface Finding {
  rule: string;
  severity: 'low' | 'moderate' | 'severe' | 'critical';
  /** The time of the critical path that it accounts for. */
  cost_s: number;
  summary: string;
  evidence: string;
  advice: string;
  /** Hadoop's properties and the scenario's keys that change it, separated by commas. */
  property: string;
  key: string;
  /** Index into `attempts`, or -1. */
  attempt: number;
  /** Index into `nodes`, or -1. */
  node: number;
}

/** Jobs that made no progress since then, and who waited for what when the run was given up, longest first. */
export interface Stalled {
  since_s: number;
  waits: Waits[];
}

export interface Waits {
  who: string;
  what: string;
  since_s: number;
}

/** A conservation law: what was put in, and where it went. */
export interface Balance {
  what: string;
  holds: boolean;
  offered: number;
  accounted: Count[];
}

/** From the first start to the last end of a phase over the job's successful attempts. */
export interface Phase {
  name: 'map' | 'shuffle' | 'reduce';
  start_s: number;
  end_s: number;
}

/** What the job was held up by, for one stretch of its critical path. */
export const CAUSES = [
  'cpu',
  'disk',
  'transfer',
  'queueing',
  'recovery',
  'tcp_timeout',
  'timeout',
  'second_attempt',
  'slot',
  'startup',
  'locality',
  'driver',
] as const;
export type Cause = (typeof CAUSES)[number];

export interface Segment {
  cause: Cause;
  start_s: number;
  end_s: number;
  /** The resource in words ("worker-2's disk"), empty when there is none to name. */
  where: string;
  /** What was going on ("fetch of map 3 from worker-2"). */
  detail: string;
  /** The connection that carried it: index into `flows`, or -1. */
  flow: number;
}

export interface Comparison {
  title: string;
  note: string;
  rows: ComparisonRow[];
}

export interface ComparisonRow {
  name: string;
  unit: 's' | 'B';
  predicted: number;
  actual: number;
  /** Bounds of the prediction's 90 % interval over seeds. */
  interval: [number, number] | null;
}

/** What became of one `[[traffic]]` of the scenario. */
export interface Traffic {
  name: string;
  begun: number;
  completed: number;
  delivered: number;
  /** Bits per second over the time in which it ran. */
  goodput: number;
  completion_p50_s: number;
  completion_p95_s: number;
  completion_p99_s: number;
  /** Of a thousand or more. */
  completion_p999_s: number | null;
  completion_max_s: number;
  /** Cumulative distribution of completion times: [seconds, share of the complete]. */
  completion: [number, number][];
  jain: number;
}

export interface Node {
  name: string;
  rack: number;
  /** Bytes through its interface, headers included. */
  received: number;
  sent: number;
  /** Seconds of one core at speed 1. */
  cpu_work_s: number;
  /** Of a worker of jobs, its bytes of each load in `imbalance`. */
  loads?: number[];
  /** Where it is known what it draws. */
  energy?: Drawn;
}

/** The spread of a load over the workers. */
export interface Imbalance {
  label: string;
  /** The greatest over the mean; null where there is nothing. */
  max_over_mean: number | null;
  /** The coefficient of variation. */
  variation: number | null;
}

/** What a node drew, in joules. */
export interface Drawn {
  total_j: number;
  idle_j: number;
  screen_j: number;
  cpu_j: number;
  radio_j: number;
  /** Where it is not part of `idle_j`. */
  disks_j?: number;
  /** What part of its battery is left, if it has one. */
  battery: number | null;
  /** When that was empty, if it was. */
  empty_s: number | null;
}

/** Where wireless nodes were, and a sample of the frames that they put on the air. */
export interface Field {
  width_m: number;
  height_m: number;
  /** How far a frame is received, where one radius says it for all. */
  range_m: number | null;
  stations: Station[];
  frames: Frames;
}

/** Straight at constant speed between the points of its course, still outside of them; y goes up. */
export interface Station {
  name: string;
  /** Index into `nodes`, or -1 for an access point. */
  node: number;
  at_ms: number[];
  x_mm: number[];
  y_mm: number[];
  /** When it failed, when it came back, and so on in turn. */
  failed_ms: number[];
}

export const FRAME_KINDS = ['data', 'ack', 'rts', 'cts', 'block-ack', 'beacon', 'other'] as const;
export type FrameKind = (typeof FRAME_KINDS)[number];

export const FATES = ['received', 'collided', 'lost'] as const;
export type Fate = (typeof FATES)[number];

/** Frames by column, in the order of their start. */
export interface Frames {
  /** Start, after that of the frame before; of the first one, after the start of the run. */
  gap_ns: number[];
  duration_ns: number[];
  /** Index into the field's stations. */
  from: number[];
  /** Index into the field's stations, or -1 for everyone. */
  to: number[];
  /** Index into `FRAME_KINDS`. */
  kind: number[];
  /** Packets of the layer above in it. */
  packets: number[];
  /** Index into `FATES`. */
  fate: number[];
}

export const PHASES = ['startup', 'read', 'compute', 'spill', 'fetch', 'merge', 'reduce', 'write'] as const;
export type PhaseKind = (typeof PHASES)[number];

export const OUTCOMES = ['succeeded', 'failed', 'killed', 'running'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Task attempts by column. */
export interface Attempts {
  name: string[];
  node: number[];
  /** 0 map, 1 reduce. */
  kind: number[];
  /** Index into `OUTCOMES`. */
  outcome: number[];
  speculative: number[];
  start_ms: number[];
  end_ms: number[];
  bytes_in: number[];
  bytes_out: number[];
  /** Attempt i's phases are `phase_*[phase_at[i] .. phase_at[i + 1]]`. */
  phase_at: number[];
  /** Index into `PHASES`. */
  phase_kind: number[];
  phase_start_ms: number[];
  phase_end_ms: number[];
  /** Why an attempt did not succeed, by its index. */
  note: Record<string, string>;
}

/** Series over simulated time that share one grid: value i covers [i, i + 1) x step_s. */
export interface Chart {
  id: string;
  title: string;
  /** Label of the y axis without its unit. */
  label: string;
  unit: 'share' | 'bit/s' | 'B' | 'B/s' | 's' | 'count';
  /** How a stored value came from finer ones: the mean over its cell, the highest in it, or their sum. */
  holds: 'mean' | 'peak' | 'sum';
  step_s: number;
  /** What one stored integer is worth in `unit`. */
  scale: number;
  series: Series[];
  /** How many quieter series are not in the page. */
  left_out: number;
}

export interface Series {
  name: string;
  /** Index into `nodes`, or -1 for what belongs to no single node. */
  node: number;
  values: number[];
}

/** What kept a sender from sending more. */
export const LIMITS = ['application', 'window', 'peer', 'recovery', 'timeout', 'pace'] as const;
export type Limit = (typeof LIMITS)[number];

/** The largest flows by column, those that critical paths waited for among them, and the distribution over all. */
export interface Flows {
  total: number;
  from: string[];
  to: string[];
  service: string[];
  start_us: number[];
  end_us: number[];
  /** 0 complete, 1 open at the end of the run, 2 reset. */
  end_kind: number[];
  bytes: number[];
  retransmissions: number[];
  timeouts: number[];
  /** Packets that queues dropped, both ways. */
  drops: number[];
  /** The sender's last smoothed round-trip time and its least one, -1 if not known. */
  rtt_us: number[];
  least_rtt_us: number[];
  /** Index into `LIMITS`, -1 if nobody looked; and at which part of the samples, per mille. */
  limit: number[];
  limit_share: number[];
  /** The sender's largest congestion window at a sample, in bytes; 0 if not known. */
  window_max: number[];
  /** How many completed flows the distribution is over. */
  completed: number;
  /** Cumulative distribution of completion times: [seconds, share of flows]. */
  completion: [number, number][];
}

export interface Happening {
  at_s: number;
  /** Index into `nodes`, or -1. */
  node: number;
  kind: string;
  text: string;
}

/** Reads the data that the run embedded in the page; what is wrong with it is an error in words. */
export function parse(text: string): ReportData {
  const data = JSON.parse(text) as Partial<ReportData>;
  if (data.schema !== SCHEMA) {
    throw new Error(`This page reads results of schema ${SCHEMA}, but these are of schema ${String(data.schema)}.`);
  }
  return data as ReportData;
}
