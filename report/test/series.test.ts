import { expect, test } from 'vitest';
import { parse, SCHEMA, type Chart, type Flows, type Segment } from '../src/data';
import { aligned, quantile } from '../src/completion';
import { flowRate, limitOf, order, waitedFor } from '../src/flows';
import { admits, describe as words } from '../src/attempts';
import { amounts, axisUnit, busiest, cells, ofNode } from '../src/series';
import { error } from '../src/errors';
import { balance } from '../src/summary';
import { wordCount } from './sample-jobs';
import { traffic } from './sample-traffic';

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');
const chart = (over: Partial<Chart> = {}): Chart => ({
  id: 'x',
  title: 'X',
  label: 'Rate',
  unit: 'bit/s',
  holds: 'mean',
  left_out: 0,
  step_s: 0.5,
  scale: 1000,
  series: [
    { name: 'a', node: 1, values: [0, 10, 20, 30] },
    { name: 'b', node: 2, values: [90, 0, 0, 0] },
    { name: 'all', node: -1, values: [1, 1, 1, 1] },
  ],
  ...over,
});

test('a view touches the cells that it overlaps', () => {
  expect(cells(chart(), { from: 0.5, to: 1.5 })).toEqual([1, 3]);
  expect(cells(chart(), { from: 0.6, to: 1.1 })).toEqual([1, 3]);
  expect(cells(chart(), { from: 0, to: 99 })).toEqual([0, 4]);
});

test('rates have a mean and a peak, levels a peak, sums a total', () => {
  const c = chart();
  expect(plain(amounts(c, c.series[0]!, 0, 4))).toBe('mean 15 Kbit/s, peak 30 Kbit/s');
  expect(plain(amounts(chart({ unit: 'B/s' }), c.series[0]!, 0, 4))).toBe('mean 15 KB/s, peak 30 KB/s');
  expect(plain(amounts(chart({ holds: 'peak' }), c.series[0]!, 1, 3))).toBe('peak 20 Kbit/s');
  expect(plain(amounts(chart({ holds: 'sum', unit: 'count', scale: 1 }), c.series[0]!, 0, 4))).toBe(
    '60 in all, peak 30',
  );
});

test('the axis unit keeps its numbers short', () => {
  expect(axisUnit(chart(), 90)).toEqual({ text: 'Kbit/s', factor: 1 });
  expect(axisUnit(chart({ scale: 1e6 }), 90)).toEqual({ text: 'Mbit/s', factor: 1 });
  expect(axisUnit(chart({ unit: 'share', scale: 0.001 }), 1000)).toEqual({ text: '%', factor: 0.1 });
  expect(axisUnit(chart({ unit: 'B/s' }), 90_000)).toEqual({ text: 'MB/s', factor: 0.001 });
  expect(axisUnit(chart({ unit: 's', scale: 0.001 }), 400)).toEqual({ text: 's', factor: 0.001 });
});

test('the busiest series are those with the highest mean, in their own order', () => {
  expect(busiest(chart().series, 2).map((s) => s.name)).toEqual(['a', 'b']);
  expect(busiest(chart().series, 1).map((s) => s.name)).toEqual(['b']);
});

test('a node shows its own series, or those of the whole when it has none', () => {
  expect(ofNode(chart(), 2).map((s) => s.name)).toEqual(['b']);
  expect(ofNode(chart(), 7).map((s) => s.name)).toEqual(['all']);
  expect(ofNode(chart(), -1)).toHaveLength(3);
});

test('flows sort by any column, ties by size', () => {
  const flows = {
    ...traffic().flows,
    from: ['h10', 'h2', 'h2'],
    bytes: [5, 1, 9],
    start_us: [0, 0, 0],
    end_us: [1e6, 0, 2e6],
    retransmissions: [0, 0, 0],
  } as Flows;
  expect(order(flows, (f, i) => f.from[i]!, true)).toEqual([2, 1, 0]);
  expect(order(flows, (f, i) => f.retransmissions[i]!, false)).toEqual([2, 0, 1]);
  expect([0, 1, 2].map((i) => flowRate(flows, i))).toEqual([40, 0, 36]);
});

test('quantiles come from the cumulative distribution', () => {
  const completion: [number, number][] = [
    [1, 0.25],
    [2, 0.5],
    [3, 0.75],
    [9, 1],
  ];
  expect([quantile(completion, 0.5), quantile(completion, 0.51), quantile(completion, 1)]).toEqual([2, 3, 9]);
});

test('distributions stand over one grid of times, each flat where only others have a point', () => {
  const short: [number, number][] = [
    [1, 0.5],
    [3, 1],
  ];
  const long: [number, number][] = [
    [2, 0.1],
    [3, 0.4],
    [8, 1],
  ];
  expect(aligned([short, long])).toEqual([
    [1, 2, 3, 8],
    [50, 50, 100, 100],
    [0, 10, 40, 100],
  ]);
});

test('filters combine', () => {
  const data = wordCount();
  const names = (
    kind: 'all' | 'map' | 'reduce',
    outcome: 'all' | 'not succeeded' | 'speculative',
    node: number,
  ): string[] => data.attempts.name.filter((_, i) => admits(data, { kind, outcome, node })(i));
  expect(names('reduce', 'not succeeded', -1)).toEqual(['r_000002_1', 'r_000001_1', 'r_000000_1']);
  expect(names('map', 'speculative', 3)).toEqual(['m_000002_1']);
  expect(names('all', 'all', -1)).toHaveLength(18);
});

test('an attempt is described with numbers, units and why it failed', () => {
  const data = wordCount();
  const text = words(data, data.attempts.name.indexOf('r_000001_1'));
  expect(text.lines.map(plain)).toEqual([
    'Reduce on w3, failed, speculative',
    '139.17 s to 160.00 s, 20.8 s',
    '40 MB in, 0 B out',
    'too many fetch failures',
  ]);
  expect(text.phases.map((p) => plain(p.text))).toEqual(['start-up 2.1 s', 'fetch 18.7 s']);
});

test('a conservation law reads as an equation', () => {
  const law = {
    what: 'packets',
    holds: true,
    offered: 10,
    accounted: [
      { label: 'delivered', value: 9 },
      { label: 'dropped', value: 1 },
      { label: 'lost', value: 0 },
    ],
  };
  expect(balance(law)).toBe('packets: 10 = 9 delivered + 1 dropped');
  expect(balance({ ...law, holds: false, offered: 11 })).toContain('≠');
});

test('the error of a prediction is relative to what happened', () => {
  expect(error(90, 100)).toBeCloseTo(-0.1, 12);
  expect(error(0, 0)).toBe(0);
});

test('data of another schema is refused in words', () => {
  expect(() => parse('{"schema":"trunkline-report-0"}')).toThrow(`schema ${SCHEMA}`);
});

test('what limited a flow is said in words, a standing queue by its round trips', () => {
  const flows = {
    ...traffic().flows,
    limit: [1, 1, 2, -1],
    limit_share: [1000, 800, 612, 0],
    rtt_us: [9000, 300, 300, -1],
    least_rtt_us: [250, 250, 250, -1],
  };
  expect([0, 1, 2, 3].map((i) => plain(limitOf(flows, i)))).toEqual([
    'a queue on its path (cwnd full)',
    'its congestion window, 80 % of the time',
    "the receiver's window, 61 % of the time",
    '',
  ]);
});

test('a path says for which connections it waited, longest first', () => {
  const stretch = (flow: number, start_s: number, end_s: number): Segment => ({
    cause: 'transfer',
    start_s,
    end_s,
    where: '',
    detail: `fetch ${flow}`,
    flow,
  });
  const rows = waitedFor([stretch(3, 0, 1), stretch(-1, 1, 5), stretch(7, 5, 7), stretch(3, 9, 9.5)]);
  expect(rows.map((r) => [r.flow, r.seconds, r.from, r.to])).toEqual([
    [7, 2, 5, 7],
    [3, 1.5, 0, 9.5],
  ]);
});
