// The page of a sweep: what its pictures show, and that it fits.

import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { strength } from '../src/heat';
import { curves, curvesBy, pointAt, unitOf } from '../src/surface';
import { extreme } from '../src/sweep';
import { SWEEP_SCHEMA, type Sweep, type SweepAxis } from '../src/sweep-data';
import { launch, openAny } from './browser';

const SHOTS = new URL('../dist-test/', import.meta.url).pathname;
const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');

let browser: Browser;
beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
afterAll(() => browser.close());

const RATE: SweepAxis = {
  key: 'network.rate',
  unit: 'Mbit/s',
  values: ['10 Mbit/s', '31.62 Mbit/s', '100 Mbit/s', '1 Gbit/s'],
  numbers: [10, 31.62, 100, 1000],
  log: true,
  with: [],
};
const REDUCERS: SweepAxis = { key: 'mapreduce.reducers', unit: '', values: ['1', '2', '4'], numbers: [1, 2, 4], log: false, with: ['job.input'] };
const CONTROL: SweepAxis = { key: 'tcp.control', unit: '', values: ['cubic', 'sack-reno'], numbers: null, log: false, with: [] };

/** The time is 1000 / rate + 10 * reducers, and 5 more by the second control; the second figure is the rate. */
function sample(axes: SweepAxis[]): Sweep {
  const points: Sweep['points'] = [];
  const visit = (at: number[]): void => {
    if (at.length < axes.length) {
      axes[at.length]!.values.forEach((_, i) => visit([...at, i]));
      return;
    }
    const of = (axis: SweepAxis): number => (axes.includes(axis) ? at[axes.indexOf(axis)]! : 0);
    const rate = RATE.numbers![of(RATE)]!;
    const mean = 1000 / rate + 10 * REDUCERS.numbers![of(REDUCERS)]! + 5 * of(CONTROL);
    points.push({
      at,
      set: axes.map((a, k) => `${a.key}=${a.values[at[k]!]!}`),
      failures: rate === 10 && of(REDUCERS) === 2 ? 1 : 0,
      failure: rate === 10 && of(REDUCERS) === 2 ? 'terasort: it had not finished' : null,
      figures: [
        { values: [mean - 1, mean + 1], mean, half_width_95: 2 },
        { values: [rate * 1e6, rate * 1e6], mean: rate * 1e6, half_width_95: 0 },
      ],
    });
  };
  visit([]);
  return {
    schema: SWEEP_SCHEMA,
    name: 'terasort',
    title: 'TeraSort by rate and <b>reducers</b>',
    scenario: 'terasort.toml',
    build: 'b'.repeat(64),
    set: ['hdfs.block=64 MB'],
    seeds: [1, 2],
    runs: 2 * points.length,
    failures: points.reduce((sum, p) => sum + p.failures, 0),
    axes,
    metrics: [
      { path: 'job.finish_s', unit: 's' },
      { path: 'traffic.0.goodput_bps', unit: 'bit/s' },
    ],
    points,
  };
}

test('a point is found by its place along each axis', () => {
  const data = sample([RATE, REDUCERS, CONTROL]);
  for (const at of [[0, 0, 0], [3, 2, 1], [1, 0, 1]]) expect(pointAt(data, at)?.at).toEqual(at);
});

test('a curve runs along one axis at the values of another', () => {
  const data = sample([RATE, REDUCERS, CONTROL]);
  const lines = curves(data, 0, 0, 1, [0, 0, 1], 1);
  expect(lines.map((c) => c.series)).toEqual(['1', '2', '4']);
  expect(lines[2]!.x).toEqual([10, 31.62, 100, 1000]);
  expect(lines[2]!.mean[2]).toBeCloseTo(10 + 40 + 5);
  expect([lines[2]!.low[2]!, lines[2]!.high[2]!].map(Math.round)).toEqual([53, 57]);
  expect(curves(data, 0, 2, null, [0, 0, 0], 1)[0]!.x).toEqual([0, 1]);
  expect([curvesBy(1, 0, null), curvesBy(3, 2, null), curvesBy(3, 0, 2), curvesBy(3, 2, 2)]).toEqual([null, 0, 2, 0]);
});

test('units are those that leave a digit before the point', () => {
  expect(unitOf('bit/s', [3e5, 2e7])).toEqual({ text: 'Mbit/s', factor: 1e-6 });
  expect(unitOf('s', [0.004]).text).toBe('ms');
  expect(unitOf('s', [0]).text).toBe('s');
  expect(unitOf('packets', [4e9])).toEqual({ text: 'packets', factor: 1 });
});

test('the strongest colour is the greatest value, and the least is not blank', () => {
  expect([strength(0, 0, 4), strength(2, 0, 4), strength(4, 0, 4), strength(3, 3, 3)].map((v) => Number(v.toFixed(2)))).toEqual([0.06, 0.48, 0.9, 0.06]);
  const data = sample([RATE, REDUCERS]);
  expect(extreme(data, 0, -1)?.at).toEqual([3, 0]);
  expect(extreme(data, 0, 1)?.at).toEqual([0, 2]);
  // Where one of two runs was cut, the other is a short one: the point is no extreme.
  pointAt(data, [0, 2])!.figures[0]!.values[0] = null;
  expect(extreme(data, 0, 1)?.at).toEqual([0, 1]);
});

test.each([
  [1, 1280, 'light'],
  [2, 1280, 'light'],
  [2, 390, 'dark'],
  [3, 1280, 'dark'],
  [3, 390, 'light'],
] as const)('%i keys fit %i pixels', async (keys, width, colorScheme) => {
  const axes = [RATE, REDUCERS, CONTROL].slice(0, keys);
  const { page, troubles } = await openAny(browser, sample(axes), { width, colorScheme });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await page.textContent('h1')).toBe('TeraSort by rate and <b>reducers</b>');
  const ids = await page.$$eval('section', (all) => all.map((s) => s.id));
  expect(ids).toEqual(keys === 1 ? ['response', 'points'] : ['response', 'surface', 'points']);
  expect(await page.locator('#response svg').count()).toBe(keys);
  // A point for each value of the plot's key, on a curve for each value of the next.
  expect(await page.locator('#response figure').first().locator('circle.spot').count()).toBe(keys === 1 ? 4 : 12);
  expect(await page.getAttribute('#response svg', 'aria-label')).toBe('job.finish_s: job.finish_s, s against network.rate, Mbit/s');
  if (keys > 1) {
    expect(await page.locator('#surface rect.spot').count()).toBe(12);
    await page.locator('#surface rect.spot').nth(2).hover();
    const tip = plain((await page.textContent('.tip'))!);
    expect(tip).toContain('network.rate = 100 Mbit/s, mapreduce.reducers = 1');
    expect(tip).toContain('20 ± 2 s');
  }
  expect(await page.locator('#points tbody tr').count()).toBe(axes.reduce((n, a) => n * a.values.length, 1));
  // Another figure: its own unit, in the same pictures.
  await page.selectOption('#response select', '1');
  expect(await page.getAttribute('#response svg', 'aria-label')).toContain('Gbit/s against network.rate, Mbit/s');
  await page.screenshot({ path: `${SHOTS}sweep-${keys}-${width}.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test('an interval that goes beyond the frame has no end there', async () => {
  const wide = sample([RATE]);
  // Means of 20 to 110 s: the second one's interval is wider than all of them together.
  wide.points[1]!.figures[0]!.half_width_95 = 400;
  const { page, troubles } = await openAny(browser, wide);
  const drawn = page.locator('svg path[pointer-events="none"]');
  const paths = await drawn.evaluateAll((all) => all.map((e) => e.getAttribute('d') ?? ''));
  const caps = paths.filter((d) => /^M[\d.]+ [\d.]+V/.test(d)).map((d) => d.split('h6').length - 1);
  expect(caps.slice(0, 4)).toEqual([2, 0, 2, 2]);
  expect(troubles).toEqual([]);
  await page.close();
});
