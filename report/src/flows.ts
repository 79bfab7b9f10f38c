// Flows: how long they took, and the largest of them in a table that sorts.

import uPlot from 'uplot';
import type { Flows } from './data';
import { el, section } from './dom';
import * as format from './format';
import { onTheme, palette } from './palette';
import { FONT, GUTTER, MARGIN } from './plot';
import type { TimeAxis } from './range';

const ROWS = 25;
const ENDS = ['complete', 'open at the end', 'reset'];
/** Columns that hold words. */
const WORDS = new Set([0, 1, 2, 7]);

interface Column {
  title: string;
  value: (flows: Flows, i: number) => number | string;
  print: (flows: Flows, i: number) => string;
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
  },
  { title: 'Timeouts', value: (f, i) => f.timeouts[i]!, print: (f, i) => format.count(f.timeouts[i]!) },
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

/** The completion time that the share `p` of flows does not exceed. */
export function quantile(completion: [number, number][], p: number): number {
  return (completion.find(([, share]) => share >= p - 1e-9) ?? completion[completion.length - 1] ?? [0, 0])[0];
}

export function flows(data: Flows, axis: TimeAxis): HTMLElement {
  const bodyRows = el('tbody');
  let sorted = 5;
  let rising = false;
  const heads = COLUMNS.map((column, k) => {
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
    const rows = order(data, COLUMNS[sorted]!.value, rising).slice(0, ROWS);
    bodyRows.replaceChildren(
      ...rows.map((i) => {
        const row = el(
          'tr',
          {},
          ...COLUMNS.map((column, k) => el('td', WORDS.has(k) ? {} : { class: 'number' }, column.print(data, i))),
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
  return section('flows', 'Flows', data.completion.length > 1 ? completionPlot(data) : null, table);
}

/** The cumulative distribution of completion times, on a logarithmic axis when they span more than a decade. */
function completionPlot(data: Flows): HTMLElement {
  const points = data.completion.filter(([t]) => t > 0);
  const shortest = points[0]?.[0] ?? 1;
  const longest = points[points.length - 1]?.[0] ?? 1;
  const log = longest / shortest > 10;
  const said = [0.5, 0.9, 0.99]
    .map((p) => `${format.share(p)} within ${format.seconds(quantile(data.completion, p))}`)
    .join(', ');
  const area = el('div', { class: 'lines', role: 'img', 'aria-label': `Flow completion times: ${said}` });
  const root = el(
    'figure',
    { class: 'chart', id: 'chart-completion' },
    el('div', { class: 'chart-head' }, el('h3', {}, 'Completion time')),
    el('p', { class: 'note' }, `Of ${format.count(data.completed)} flows that moved data and ended, ${said}.`),
    area,
  );
  const axes = {
    font: FONT,
    labelFont: FONT,
    stroke: () => palette().muted,
    grid: { stroke: () => palette().grid, width: 1 },
    ticks: { stroke: () => palette().line, width: 1, size: 4 },
  };
  const u = new uPlot(
    {
      width: 600,
      height: 190,
      padding: [8, MARGIN, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, ...(log ? { distr: 3 as const } : {}) }, y: { range: [0, 100] } },
      axes: [
        {
          ...axes,
          size: 20,
          labelSize: 16,
          labelGap: 0,
          gap: 4,
          label: `Flow completion time (s)${log ? ', logarithmic' : ''}`,
          values: (_u, splits) => splits.map((v) => (v === null ? '' : String(Number(v.toPrecision(3))))),
        },
        { ...axes, size: GUTTER - 22, labelSize: 22, labelGap: 0, gap: 6, label: 'Share of flows (%)' },
      ],
      series: [
        {},
        {
          width: 1.5,
          points: { show: false },
          stroke: () => palette().series[0]!,
          paths: uPlot.paths.stepped!({ align: 1 }),
        },
      ],
    },
    [points.map(([t]) => t), points.map(([, p]) => p * 100)],
    area,
  );
  new ResizeObserver(() => area.clientWidth > 0 && u.setSize({ width: area.clientWidth, height: 190 })).observe(area);
  onTheme(() => u.redraw(false));
  return root;
}
