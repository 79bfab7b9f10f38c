import { expect, test } from 'vitest';
import { hit, layout, pack, pieces } from '../src/lanes';
import { random } from './sample-attempts';
import { teraSort, wordCount } from './sample-jobs';

test('an attempt takes the lowest lane that is free when it starts', () => {
  expect([...pack([0, 0, 5, 6, 10], [10, 5, 6, 20, 12])]).toEqual([0, 1, 1, 1, 0]);
});

test('lanes never overlap and are as few as run at once', () => {
  const rng = random(3);
  const spans = Array.from({ length: 500 }, () => {
    const start = Math.floor(rng() * 10_000);
    return [start, start + 1 + Math.floor(rng() * 800)] as const;
  }).sort((a, b) => a[0] - b[0]);
  const lanes = pack(
    spans.map((s) => s[0]),
    spans.map((s) => s[1]),
  );
  for (let i = 0; i < spans.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      if (lanes[i] === lanes[j]) expect(spans[j]![1]).toBeLessThanOrEqual(spans[i]![0]);
    }
  }
  const most = Math.max(...spans.map(([at]) => spans.filter(([from, to]) => from <= at && at < to).length));
  expect(Math.max(...lanes) + 1).toBe(most);
});

test('every attempt of a hundred nodes is placed once, rows apart', () => {
  const data = teraSort();
  const at = layout(data.attempts, () => true, 560);
  expect(at.rows).toHaveLength(100);
  expect(new Set(at.rows.flatMap((row) => [...row.attempts])).size).toBe(data.attempts.node.length);
  at.rows
    .slice(1)
    .forEach((row, k) => expect(row.top).toBeGreaterThanOrEqual(at.rows[k]!.top + at.rows[k]!.lanes * at.laneHeight));
  expect(at.laneHeight).toBe(3);
});

test('a place finds the attempt drawn there, and only that', () => {
  const { attempts } = wordCount();
  const at = layout(attempts, () => true, 560);
  for (const row of at.rows) {
    row.attempts.forEach((i, k) => {
      const y = row.top + (row.lane[k]! + 0.5) * at.laneHeight;
      expect(hit(at, attempts, (attempts.start_ms[i]! + attempts.end_ms[i]!) / 2, y, 0)).toBe(i);
    });
  }
  expect(hit(at, attempts, 1, 5, 100)).toBe(-1);
});

test('a filter leaves out nodes that have nothing left', () => {
  const { attempts } = wordCount();
  const at = layout(attempts, (i) => attempts.outcome[i] === 1, 560);
  expect(at.rows.map((row) => row.node)).toEqual([3]);
});

test('phases that run side by side share the height while they do', () => {
  const a = {
    ...wordCount().attempts,
    node: [1],
    phase_at: [0, 3],
    phase_kind: [2, 3, 5],
    phase_start_ms: [0, 40, 100],
    phase_end_ms: [100, 60, 130],
  };
  const got = pieces(a);
  const rows = got.kind.map((kind, p) => [got.start_ms[p], got.end_ms[p], kind, got.slot[p], got.of[p]]);
  expect(rows).toEqual([
    [0, 40, 2, 0, 1],
    [40, 60, 2, 0, 2],
    [40, 60, 3, 1, 2],
    [60, 100, 2, 0, 1],
    [100, 130, 5, 0, 1],
  ]);
});
