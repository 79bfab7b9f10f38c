// Flows: how long they took, and the largest of them in a table that sorts.

import { completionPlot, saidOf } from './completion';
import type { Flows, ReportData } from './data';
import { el, section } from './dom';
import * as format from './format';
import type { TimeAxis } from './range';

const ROWS = 25;
const ENDS = ['complete', 'open at the end', 'reset'];
/** Columns that hold words. */
const WORDS = new Set([0, 1, 2, 7]);

interface Column {
  title: string;
  value: (flows: Flows, i: number) => number | string;
  print: (flows: Flows, i: number) => string;
  /** Known of packets alone. */
  ofPackets?: true;
}

/** Mean rate of a flow in bits per second. */
export function flowRate(flows: Flows, i: number): number {
  const us = flows.end_us[i]! - flows.start_us[i]!;
  return us > 0 ? (flows.bytes[i]! * 8e6) / us : 0;
}

const COLUMNS: Column[] = [
  { title: 'From', value: (f, i) => f.from[i]!, print: (f, i) => f.from[i]! },
  { title: 'To', value: (f, i) => f.to[i]!, print: (f, i) => f.to[i]! },
  { title: 'For', value: (f, i) => f.service[i]!, print: (f, i) => f.service[i]! },
  { title: 'Start (s)', value: (f, i) => f.start_us[i]!, print: (f, i) => (f.start_us[i]! / 1e6).toFixed(3) },
  {
    title: 'Lasted',
    value: (f, i) => f.end_us[i]! - f.start_us[i]!,
    print: (f, i) => format.seconds((f.end_us[i]! - f.start_us[i]!) / 1e6),
  },
  { title: 'Bytes', value: (f, i) => f.bytes[i]!, print: (f, i) => format.bytes(f.bytes[i]!) },
  { title: 'Mean rate', value: flowRate, print: (f, i) => format.rate(flowRate(f, i)) },
  { title: 'Ended', value: (f, i) => f.end_kind[i]!, print: (f, i) => ENDS[f.end_kind[i]!]! },
  {
    title: 'Retransmissions',
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
];

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
  const columns = COLUMNS.filter((column) => report.fidelity === 'packet' || !column.ofPackets);
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
    return el('th', WORDS.has(k) ? { scope: 'col' } : { scope: 'col', class: 'number' }, button);
  });
  const fill = (): void => {
    heads.forEach((h, k) => h.setAttribute('aria-sort', k === sorted ? (rising ? 'ascending' : 'descending') : 'none'));
    const rows = order(data, columns[sorted]!.value, rising).slice(0, ROWS);
    bodyRows.replaceChildren(
      ...rows.map((i) => {
        const row = el(
          'tr',
          {},
          ...columns.map((column, k) => el('td', WORDS.has(k) ? {} : { class: 'number' }, column.print(data, i))),
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
