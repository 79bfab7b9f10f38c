import { expect, test } from 'vitest';
import type { Drawn, Node } from '../src/data';
import { energyTable } from '../src/nodes';

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
