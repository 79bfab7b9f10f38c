import { expect, test } from 'vitest';
import type { DiskLane } from '../src/data';
import { causes, story, stretch, wakes } from '../src/disks';

const lane = (name: string, at_s: number[], state: number[], cause: string[]): DiskLane => ({
  name,
  node: 1,
  role: 'backup',
  drawn_j: 0,
  always_on_j: 0,
  least_j: 0,
  starts: 0,
  late_s: 0,
  at_s,
  state,
  cause,
});

const lanes = [
  lane('a', [0, 50, 62], [3, 5, 0], ['', 'last block', '']),
  lane('b', [0, 10, 30, 42], [0, 3, 5, 0], ['', '', 'helping', '']),
];

test('wakes stand in order of time, with disk and cause', () => {
  expect(wakes(lanes)).toEqual([
    { at_s: 30, lane: 1, cause: 'helping' },
    { at_s: 50, lane: 0, cause: 'last block' },
  ]);
  expect(causes([...lanes, lanes[1]!])).toEqual([
    ['helping', 2],
    ['last block', 1],
  ]);
});

test('a state lasts until the next, the last one until the end of the run', () => {
  expect(stretch(lanes[1]!, 0, 100)).toEqual({ k: 0, from: 0, to: 10 });
  expect(stretch(lanes[1]!, 30, 100)).toEqual({ k: 2, from: 30, to: 42 });
  expect(stretch(lanes[1]!, 99, 100)).toEqual({ k: 3, from: 42, to: 100 });
});

test('what was saved stands beside what could have been', () => {
  const plain = story({ drawn_j: 800, always_on_j: 1000, least_j: 750 }).replaceAll(/[\u00a0\u202f]/g, ' ');
  expect(plain).toContain('They drew 800 J, without rest it would have been 1 kJ: saved 20 %, and at most 25 %');
  expect(story({ drawn_j: 1000, always_on_j: 1000, least_j: 1000 })).toContain('saved nothing');
});
