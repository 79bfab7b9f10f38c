import { expect, test } from 'vitest';
import { clamp, pan, ticks, TimeAxis, zoomAround } from '../src/range';
import { tickText, toTime, toX } from '../src/plot';

const full = { from: 0, to: 100 };

test('zooming keeps the instant under the pointer where it is', () => {
  const before = { from: 20, to: 60 };
  const after = zoomAround(before, 30, 0.5);
  expect(after).toEqual({ from: 25, to: 45 });
  expect((30 - after.from) / (after.to - after.from)).toBeCloseTo((30 - before.from) / (before.to - before.from), 12);
});

test('a span is moved into the run, not cut, and never gets shorter than the least', () => {
  expect(clamp({ from: -10, to: 10 }, full, 1)).toEqual({ from: 0, to: 20 });
  expect(clamp({ from: 95, to: 105 }, full, 1)).toEqual({ from: 90, to: 100 });
  expect(clamp({ from: 50, to: 50 }, full, 2)).toEqual({ from: 49, to: 51 });
  expect(clamp({ from: -500, to: 900 }, full, 1)).toEqual(full);
});

test('panning past the end stops at the end with the same length', () => {
  const axis = new TimeAxis(100);
  axis.show({ from: 80, to: 90 });
  axis.show(pan(axis.view, 50));
  expect(axis.view).toEqual({ from: 90, to: 100 });
});

test('every plot hears of a new view once, and of no view that is the same', () => {
  const axis = new TimeAxis(100);
  const heard: number[] = [];
  axis.onView((v) => heard.push(v.from));
  axis.show({ from: 10, to: 20 });
  axis.show({ from: 10, to: 20 });
  axis.reset();
  expect(heard).toEqual([10, 0]);
});

test.each([
  [{ from: 0, to: 207.788 }, 10, [0, 50, 100, 150, 200]],
  [{ from: 3, to: 4 }, 5, [3, 3.2, 3.4, 3.6, 3.8, 4]],
  [{ from: 0.00101, to: 0.00131 }, 4, [0.0011, 0.0012, 0.0013]],
])('ticks of %j are round', (span, most, want) => {
  const got = ticks(span, most);
  expect(got.length).toBeLessThanOrEqual(most + 1);
  expect(got).toEqual(want);
});

test('ticks are labelled as finely as their step', () => {
  expect([tickText(20, 20), tickText(0.3, 0.1), tickText(12, 0.5), tickText(0.0012, 0.0001)]).toEqual([
    '20',
    '0.3',
    '12.0',
    '0.0012',
  ]);
});

test("pixels and instants are each other's inverse", () => {
  const view = { from: 12, to: 34 };
  expect(toTime(toX(20, view, 1200), view, 1200)).toBeCloseTo(20, 9);
});
