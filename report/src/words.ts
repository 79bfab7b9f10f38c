// Where the time went, in plain words, from the critical path alone.

import { CAUSES, type Cause, type Job, type ReportData, type Segment } from './data';
import { seconds, share } from './format';

export interface CauseTotal {
  cause: Cause;
  seconds: number;
  /** The resource that most of it is due to, and its part; empty when the segments name none. */
  where: string;
  whereSeconds: number;
}

/** What carried the messages; by it the same cause has another name, and other things help. */
export type Medium = 'wires' | 'air' | 'flows';

export function mediumOf(data: Pick<ReportData, 'field' | 'fidelity'>): Medium {
  if (data.fidelity === 'flow') return 'flows';
  return data.field ? 'air' : 'wires';
}

const CAUSE_NAMES: Record<Cause, string> = {
  cpu: 'CPU',
  disk: 'disk',
  transfer: 'network transfer',
  queueing: 'waiting in queues',
  recovery: 'loss recovery',
  tcp_timeout: 'TCP timeouts',
  timeout: 'heartbeats and timeouts',
  second_attempt: 'waiting for second attempts',
  slot: 'waiting for slots',
  startup: 'start-up',
  locality: 'waiting for locality',
  driver: 'driver',
};

const WENT_INTO: Record<Cause, string> = {
  cpu: 'computing',
  disk: 'reading and writing disks',
  transfer: 'moving data over the network',
  queueing: 'packets waiting in queues',
  recovery: 'recovering lost packets',
  tcp_timeout: "TCP's retransmission timeouts",
  timeout: "Hadoop's heartbeats and timeouts",
  second_attempt: 'waiting until a second attempt was asked for',
  slot: 'waiting for a free slot',
  startup: 'starting processes',
  locality: 'waiting for cores near to the data',
  driver: "Spark's driver",
};

/** Flows know no packets: a message waits until a node's interface has done with those before it. */
const BY_FLOWS: Partial<Record<Cause, { name: string; wentInto: string; wouldHelp: string }>> = {
  queueing: {
    name: 'waiting behind other messages',
    wentInto: "messages waiting behind others at nodes' interfaces",
    wouldHelp: 'faster links at the nodes that send most, or data that is spread over more of them',
  },
};

export function causeName(cause: Cause, medium: Medium): string {
  return (medium === 'flows' ? BY_FLOWS[cause]?.name : undefined) ?? CAUSE_NAMES[cause];
}

function wentInto(cause: Cause, medium: Medium): string {
  return (medium === 'flows' ? BY_FLOWS[cause]?.wentInto : undefined) ?? WENT_INTO[cause];
}

function wouldHelp(cause: Cause, medium: Medium): string {
  const special = { wires: undefined, air: ON_AIR[cause], flows: BY_FLOWS[cause]?.wouldHelp }[medium];
  return special ?? WOULD_HELP[cause];
}

const WOULD_HELP: Record<Cause, string> = {
  cpu: 'more or faster cores, or work spread over more nodes',
  disk: 'more or faster disks, or fewer spills (a larger sort buffer)',
  transfer: 'a faster link there, or less data to move (a combiner, compressed map output)',
  queueing: 'a smaller queue bound, or a congestion control that keeps queues short',
  recovery: 'longer queues, or a congestion control that loses less',
  tcp_timeout: 'a lower minimum retransmission timeout, or fewer flows that start at once',
  timeout: 'shorter heartbeat intervals and timeouts',
  second_attempt: 'a cause of the slow attempt that can be taken away; speculative execution asks for the second one only when others are done',
  slot: 'more slots per node, more nodes, or shorter tasks',
  startup: 'fewer, larger tasks (bigger splits) or processes that are kept and reused',
  locality: 'another wait for such cores, or executors on more nodes that have the data',
  driver: 'fewer, larger tasks, or less that the program does between jobs',
};

/** What else would, where all share one channel and walk about. */
const ON_AIR: Partial<Record<Cause, string>> = {
  transfer: 'fewer collisions (RTS and CTS before long frames), a faster channel (wider, more streams), or less data to move (a combiner, compressed map output)',
  recovery: 'fewer collisions (RTS and CTS before long frames), or a TCP that stops before its transmit queue overflows',
  tcp_timeout:
    'fewer collisions (RTS and CTS before long frames), nodes that stay within range of each other, and a TCP that stops before its transmit queue overflows',
  timeout: 'nodes that stay within range of each other, or other heartbeat intervals and timeouts',
};

/** Time per cause along the path, largest first. */
export function totals(path: Segment[]): CauseTotal[] {
  return CAUSES.map((cause) => {
    const own = path.filter((s) => s.cause === cause);
    const places = new Map<string, number>();
    for (const s of own) places.set(s.where, (places.get(s.where) ?? 0) + s.end_s - s.start_s);
    let where = '';
    let whereSeconds = 0;
    for (const [place, time] of places) {
      if (place !== '' && time > whereSeconds) {
        where = place;
        whereSeconds = time;
      }
    }
    return { cause, seconds: own.reduce((sum, s) => sum + s.end_s - s.start_s, 0), where, whereSeconds };
  })
    .filter((t) => t.seconds > 0)
    .sort((a, b) => b.seconds - a.seconds);
}

function place(total: CauseTotal): string {
  if (total.where === '') return '';
  const part = total.whereSeconds / total.seconds;
  if (part > 0.95) return ` (${total.where})`;
  return part > 0.5 ? ` (mostly ${total.where})` : ` (${total.where} more than any other)`;
}

function list(items: string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`;
}

/** The paragraph, sentence by sentence; empty without a critical path. */
export function story(job: Pick<Job, 'state' | 'critical_path'>, medium: Medium): string[] {
  const parts = totals(job.critical_path);
  const first = parts[0];
  if (!first) return [];
  const whole = parts.reduce((sum, p) => sum + p.seconds, 0);
  const of = (p: CauseTotal): string => `${seconds(p.seconds)} (${share(p.seconds / whole)})`;
  const state =
    job.state === 'succeeded' ? '' : job.state === 'failed' ? ' until the job failed' : ' until the run was cut off';
  const out = [`Of ${seconds(whole)}${state}, ${of(first)} went into ${wentInto(first.cause, medium)}${place(first)}.`];

  const notable = parts.slice(1).filter((p) => p.seconds / whole >= 0.05);
  if (notable.length > 0)
    out.push(`Then came ${list(notable.map((p) => `${wentInto(p.cause, medium)}${place(p)} with ${of(p)}`))}.`);
  const rest = parts.slice(1).filter((p) => p.seconds / whole < 0.05);
  if (rest.length > 0) {
    const sum = rest.reduce((s, p) => s + p.seconds, 0);
    out.push(
      `${list(rest.map((p) => causeName(p.cause, medium))).replace(/^./, (c) => c.toUpperCase())} took the remaining ${seconds(sum)} (${share(sum / whole)}).`,
    );
  }

  const congestion = parts.filter((p) => ['transfer', 'queueing', 'recovery', 'tcp_timeout'].includes(p.cause));
  const network = congestion.reduce((s, p) => s + p.seconds, 0);
  if (congestion.length > 1 && network / whole >= 0.1) {
    out.push(
      `All that the network did (${medium === 'flows' ? 'transfer and waiting' : 'transfer, queues, losses and timeouts'}) comes to ${seconds(network)}, ${share(network / whole)} of the path.`,
    );
  }
  return out;
}

/** What would shorten the path most, and by how much at best; empty without a critical path. */
export function advice(job: Pick<Job, 'critical_path'>, medium: Medium): string {
  const parts = totals(job.critical_path);
  const first = parts[0];
  if (!first) return '';
  const whole = parts.reduce((sum, p) => sum + p.seconds, 0);
  const half = first.seconds / 2;
  return `What would help most: ${wouldHelp(first.cause, medium)}. Halving this part alone would save at most ${seconds(half)} (${share(half / whole)}); another chain of tasks may become the longest before that.`;
}
