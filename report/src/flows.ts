// Flows: how long they took, and the largest of them in a table that sorts.

import { completionPlot, saidOf } from './completion';
import { LIMITS, type Flows, type Limit, type ReportData, type Segment } from './data';
import { el, section } from './dom';
import * as format from './format';
import type { TimeAxis } from './range';

const ROWS = 25;
const ENDS = ['complete', 'open at the end', 'reset'];

interface Column {
  title: string;
  value: (flows: Flows, i: number) => number | string;
  print: (flows: Flows, i: number) => string;
  /** Known of packets alone. */
  ofPackets?: true;
  /** It holds words. */
  words?: true;
  /** Left out where no flow has it. */
  ifAny?: (flows: Flows, i: number) => boolean;
}

/** Mean rate of a flow in bits per second. */
export function flowRate(flows: Flows, i: number): number {
  const us = flows.end_us[i]! - flows.start_us[i]!;
  return us > 0 ? (flows.bytes[i]! * 8e6) / us : 0;
}

const COLUMNS: Column[] = [
  { title: 'From', words: true, value: (f, i) => f.from[i]!, print: (f, i) => f.from[i]! },
  { title: 'To', words: true, value: (f, i) => f.to[i]!, print: (f, i) => f.to[i]! },
  { title: 'For', words: true, value: (f, i) => f.service[i]!, print: (f, i) => f.service[i]! },
  { title: 'Start (s)', value: (f, i) => f.start_us[i]!, print: (f, i) => (f.start_us[i]! / 1e6).toFixed(3) },
  {
    title: 'Lasted',
    value: (f, i) => f.end_us[i]! - f.start_us[i]!,
    print: (f, i) => format.seconds((f.end_us[i]! - f.start_us[i]!) / 1e6),
  },
  { title: 'Bytes', value: (f, i) => f.bytes[i]!, print: (f, i) => format.bytes(f.bytes[i]!) },
  { title: 'Mean rate', value: flowRate, print: (f, i) => format.rate(flowRate(f, i)) },
  { title: 'Ended', words: true, value: (f, i) => f.end_kind[i]!, print: (f, i) => ENDS[f.end_kind[i]!]! },
  {
    title: 'Sent again',
    value: (f, i) => f.retransmissions[i]!,
    print: (f, i) => format.count(f.retransmissions[i]!),
    ofPackets: true,
  },
  {
    title: 'Timeouts',
    value: (f, i) => f.timeouts[i]!,
    print: (f, i) => format.count(f.timeouts[i]!),
    ofPackets: true,
  },
  {
    title: 'Drops',
    value: (f, i) => f.drops[i]!,
    print: (f, i) => format.count(f.drops[i]!),
    ofPackets: true,
    ifAny: (f, i) => f.drops[i]! > 0,
  },
  {
    title: 'RTT',
    value: (f, i) => f.rtt_us[i]!,
    print: (f, i) => (f.rtt_us[i]! < 0 ? '' : format.seconds(f.rtt_us[i]! / 1e6)),
    ofPackets: true,
    ifAny: (f, i) => f.rtt_us[i]! >= 0,
  },
  {
    title: 'Least RTT',
    value: (f, i) => f.least_rtt_us[i]!,
    print: (f, i) => (f.least_rtt_us[i]! < 0 ? '' : format.seconds(f.least_rtt_us[i]! / 1e6)),
    ofPackets: true,
    ifAny: (f, i) => f.least_rtt_us[i]! >= 0,
  },
  {
    title: 'Largest cwnd',
    value: (f, i) => f.window_max[i]!,
    print: (f, i) => (f.window_max[i]! > 0 ? format.bytes(f.window_max[i]!) : ''),
    ofPackets: true,
    ifAny: (f, i) => f.window_max[i]! > 0,
  },
  {
    title: 'Limited by',
    words: true,
    value: (f, i) => limitOf(f, i),
    print: (f, i) => limitOf(f, i),
    ofPackets: true,
    ifAny: (f, i) => f.limit[i]! >= 0,
  },
];

/** A standing queue: the last round trip took so many times the least one. */
const QUEUED = 2;

const LIMIT_WORDS: Record<Limit, string> = {
  application: 'the sender: nothing more to send',
  window: 'its congestion window',
  peer: "the receiver's window",
  recovery: 'loss recovery',
  timeout: 'retransmission timeouts',
  pace: 'its own pace',
};

/** What limited a flow: what kept its sender from sending more at most samples, and whether a queue stood on its path. */
export function limitOf(flows: Flows, i: number): string {
  const limit = LIMITS[flows.limit[i]!];
  if (limit === undefined) return '';
  const [rtt, least] = [flows.rtt_us[i]!, flows.least_rtt_us[i]!];
  const queued = limit === 'window' && least > 0 && rtt >= QUEUED * least;
  const what = queued ? 'a queue on its path (cwnd full)' : LIMIT_WORDS[limit];
  const share = flows.limit_share[i]! / 1000;
  return share < 0.995 ? `${what}, ${format.share(share)} of the time` : what;
}

/** The connections that a critical path waited for, with how long it did, longest first. */
export function waitedFor(path: Segment[]): { flow: number; seconds: number; from: number; to: number; detail: string }[] {
  const sums = new Map<number, { flow: number; seconds: number; from: number; to: number; detail: string }>();
  for (const s of path) {
    if (s.flow < 0) continue;
    const sum = sums.get(s.flow);
    if (!sum) sums.set(s.flow, { flow: s.flow, seconds: s.end_s - s.start_s, from: s.start_s, to: s.end_s, detail: s.detail });
    else {
      sum.seconds += s.end_s - s.start_s;
      sum.from = Math.min(sum.from, s.start_s);
      sum.to = Math.max(sum.to, s.end_s);
    }
  }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds || a.flow - b.flow);
}

/** Rows of the connections that a path waited for. */
const WAITED = 6;

/** From the longest waits for the network down to the connections behind them. */
export function connections(
  path: Segment[],
  flows: Flows,
  packets: boolean,
  show: (from: number, to: number) => void,
): HTMLElement | null {
  const rows = waitedFor(path).slice(0, WAITED);
  if (rows.length === 0) return null;
  const head = ['Waited', 'From', 'To', 'For', 'Moved', 'Mean rate', ...(packets ? ['Sent again', 'Limited by'] : [])];
  const words = new Set(['From', 'To', 'For', 'Limited by']);
  const body = rows.map((row) => {
    const i = row.flow;
    const button = el('button', { type: 'button', class: 'quiet', title: row.detail }, format.seconds(row.seconds));
    button.addEventListener('click', () => show(row.from, row.to));
    const cells: [string, string | HTMLElement][] = [
      ['Waited', button],
      ['From', flows.from[i]!],
      ['To', flows.to[i]!],
      ['For', flows.service[i]!],
      ['Moved', format.bytes(flows.bytes[i]!)],
      ['Mean rate', format.rate(flowRate(flows, i))],
    ];
    if (packets) cells.push(['Sent again', format.count(flows.retransmissions[i]!)], ['Limited by', limitOf(flows, i)]);
    return el('tr', {}, ...cells.map(([name, cell]) => el('td', { class: cellClass(name, words.has(name)) }, cell)));
  });
  const top = head.map((h) => el('th', { scope: 'col', ...(words.has(h) ? {} : { class: 'number' }) }, h));
  return el(
    'details',
    { class: 'connections', open: '' },
    el('summary', {}, 'The connections that it waited for'),
    el(
      'div',
      { class: 'table', tabindex: '0' },
      el('table', {}, el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...body)),
    ),
  );
}

/** Names stay in one piece; sentences may break. */
function cellClass(title: string, words: boolean): string {
  return title === 'Limited by' ? 'sentence' : words ? 'name' : 'number';
}

/** Row order by a column; ties keep the larger flow first. */
export function order(flows: Flows, value: (flows: Flows, i: number) => number | string, rising: boolean): number[] {
  const rows = flows.bytes.map((_, i) => i);
  const compare = (x: number | string, y: number | string): number =>
    typeof x === 'string' && typeof y === 'string'
      ? x.localeCompare(y, 'en', { numeric: true })
      : Number(x) - Number(y);
  return rows.sort(
    (i, j) =>
      (rising ? 1 : -1) * compare(value(flows, i), value(flows, j)) || flows.bytes[j]! - flows.bytes[i]! || i - j,
  );
}

/** The distribution is that of all flows; plain traffic shows its own. */
export function flows(report: ReportData, axis: TimeAxis): HTMLElement {
  const data = report.flows;
  const any = (column: Column): boolean => !column.ifAny || data.bytes.some((_, i) => column.ifAny!(data, i));
  const columns = COLUMNS.filter((column) => (report.fidelity === 'packet' || !column.ofPackets) && any(column));
  const bodyRows = el('tbody');
  let sorted = 5;
  let rising = false;
  const heads = columns.map((column, k) => {
    const button = el('button', { type: 'button', class: 'quiet' }, column.title);
    button.addEventListener('click', () => {
      rising = sorted === k ? !rising : typeof column.value(data, 0) === 'string';
      sorted = k;
      fill();
    });
    return el('th', column.words ? { scope: 'col' } : { scope: 'col', class: 'number' }, button);
  });
  const fill = (): void => {
    heads.forEach((h, k) => h.setAttribute('aria-sort', k === sorted ? (rising ? 'ascending' : 'descending') : 'none'));
    const rows = order(data, columns[sorted]!.value, rising).slice(0, ROWS);
    bodyRows.replaceChildren(
      ...rows.map((i) => {
        const row = el(
          'tr',
          {},
          ...columns.map((column) => el('td', { class: cellClass(column.title, column.words === true) }, column.print(data, i))),
        );
        row.addEventListener('dblclick', () => axis.show({ from: data.start_us[i]! / 1e6, to: data.end_us[i]! / 1e6 }));
        return row;
      }),
    );
  };
  fill();
  const shown = Math.min(ROWS, data.bytes.length);
  const caption = `${format.count(shown)} of ${format.count(data.total)} flows; the headings sort${data.total > data.bytes.length ? ` the ${format.count(data.bytes.length)} largest` : ''}, a double click on a row shows its time.`;
  const table = el(
    'div',
    { class: 'table', tabindex: '0' },
    el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, ...heads)), bodyRows),
  );
  const plot =
    report.jobs.length > 0 && data.completion.length > 1
      ? completionPlot(
          'chart-completion',
          'Completion time',
          `Of ${format.count(data.completed)} flows that moved data and ended, ${saidOf(data.completion, data.completed)}.`,
          'Share of flows (%)',
          [{ name: 'flows', points: data.completion }],
        )
      : null;
  return section('flows', 'Flows', plot, table);
}
