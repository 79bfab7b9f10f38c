import { expect, test } from 'vitest';
import type { Drawn, Node } from '../src/data';
import { energyTable, loadTable } from '../src/nodes';

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');
const drawn: Drawn = {
  total_j: 1234.5,
  idle_j: 300,
  screen_j: 0,
  cpu_j: 34.5,
  radio_j: 900,
  battery: 0.25,
  empty_s: null,
};
const node = (name: string, energy?: Drawn): Node => ({
  name,
  rack: 1,
  received: 0,
  sent: 0,
  cpu_work_s: 0,
  ...(energy ? { energy } : {}),
});

test('energy stands by what it was for; parts that nobody has and nodes without figures are left out', () => {
  const rows = [
    node('master'),
    node('worker-1', drawn),
    node('worker-2', { ...drawn, battery: 0, empty_s: 120 }),
    node('worker-3', { ...drawn, battery: null }),
  ];
  const table = energyTable(rows)!;
  expect(table.head).toEqual(['Node', 'Total', 'Being on', 'Processor', 'Radio', 'Battery']);
  expect(table.body.map((row) => row.map(plain))).toEqual([
    ['worker-1', '1.23 kJ', '300 J', '34.5 J', '900 J', '25 %'],
    ['worker-2', '1.23 kJ', '300 J', '34.5 J', '900 J', 'empty at 120 s'],
    ['worker-3', '1.23 kJ', '300 J', '34.5 J', '900 J', 'plugged in'],
  ]);
});

test('without batteries there is no such column, without figures no table', () => {
  expect(energyTable([node('master', { ...drawn, battery: null })])!.head).not.toContain('Battery');
  expect(energyTable([node('master')])).toBeNull();
});

test('loads stand by worker under their spread; the master and nodes without jobs have none', () => {
  const spreads = [
    { label: 'map input', max_over_mean: 1.5, variation: 0.5 },
    { label: 'shuffle in', max_over_mean: null, variation: null },
  ];
  const rows = [
    node('master'),
    { ...node('worker-1'), loads: [3e6, 0] },
    { ...node('worker-2'), loads: [1e6, 0] },
  ];
  const table = loadTable(rows, spreads)!;
  expect(table.head).toEqual(['Worker', 'map input', 'shuffle in']);
  expect(table.body.map((row) => row.map(plain))).toEqual([
    ['greatest / mean', '1.50', ''],
    ['coefficient of variation', '0.500', ''],
    ['worker-1', '3 MB', '0 B'],
    ['worker-2', '1 MB', '0 B'],
  ]);
  expect(loadTable([node('master')], [])).toBeNull();
});
