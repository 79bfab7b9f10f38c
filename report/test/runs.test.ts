// The page of several runs: what its pictures show, and that it fits.

import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { error, limit } from '../src/errors';
import { main, titleText } from '../src/runs';
import { RUNS_SCHEMA, type Runs, type RunsValues } from '../src/runs-data';
import { plusMinus, together } from '../src/scale';
import { extent, place, swarm, words } from '../src/spread';
import { steps } from '../src/trade-off';
import { launch, openAny } from './browser';

const SHOTS = new URL('../dist-test/', import.meta.url).pathname;
const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');

let browser: Browser;
beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
afterAll(() => browser.close());

/** Twenty runs whose quantiles are those of evenly spaced values: 5 % and 95 % lie one value from the ends, almost. */
function values(from: number, to: number, n = 20): RunsValues {
  const all = Array.from({ length: n }, (_, i) => from + ((to - from) * ((i * 7) % n)) / (n - 1));
  const at = (p: number): number => from + (to - from) * p;
  const mean = (from + to) / 2;
  const half_width = n > 1 ? (to - from) / 8 : null;
  return { values: all, mean, half_width, median: mean, low: at(0.05), high: at(0.95), difference: null };
}

function sample(scenarios = 1): Runs {
  const of = (name: string): Runs['scenarios'][number] => ({
    name,
    digest: 'a'.repeat(32),
    seeds: Array.from({ length: 20 }, (_, i) => i + 1),
    failures: Array.from({ length: 20 }, () => null),
    pages: scenarios === 1 ? Array.from({ length: 20 }, (_, i) => `seed-${i + 1}/report.html`) : [],
  });
  const names = ['terasort-of-forty-gigabytes', 'the-same-at-100-mbit', 'with-another-scheduler'].slice(0, scenarios);
  const each = (from: number, to: number): RunsValues[] =>
    names.map((_, i) => {
      const v = values(from * (1 + i / 5), to * (1 + i / 5));
      return i === 0 ? v : { ...v, difference: { mean: (from * i) / 5, half_width: 0.2, significant: true } };
    });
  const recorded = scenarios === 1;
  return {
    schema: RUNS_SCHEMA,
    title: names.join(' beside '),
    changes: ['network.rate = 10 Mbit/s', 'hdfs.block = 64 MB'],
    scenarios: names.map(of),
    figures: [
      { name: 'terasort: launch to finish', unit: 's', recorded: recorded ? 47 : null, of: each(40, 52) },
      { name: 'terasort: start', unit: 's', recorded: null, of: each(3, 3.4) },
      { name: 'terasort: fetch', unit: 's', recorded: null, of: each(20, 30) },
      { name: 'terasort: shuffled over the network', unit: 'MB', recorded: null, of: each(900, 901) },
      { name: 'TCP timeouts', unit: '', recorded: null, of: each(0, 9) },
    ],
    errors: recorded
      ? [
          { name: 'job, launch to finish', unit: 's', actual: 47, predicted: [46], median: 46, low: 41, high: 51 },
          { name: 'a map, mean', unit: 's', actual: 10, predicted: [10.2], median: 10.2, low: 10.1, high: 10.3 },
          { name: 'bytes shuffled', unit: 'B', actual: 9e8, predicted: [9.01e8], median: 9.01e8, low: 9e8, high: 9.02e8 },
        ]
      : [],
  };
}

test('points of a swarm do not cover each other while there is room, and none leaves it', () => {
  const xs = [10, 10, 11, 30, 10.5];
  const ys = swarm(xs, 6, 20);
  expect(ys[3]).toBe(0);
  for (let i = 0; i < xs.length; i += 1)
    for (let j = 0; j < i; j += 1) expect(Math.hypot(xs[i]! - xs[j]!, ys[i]! - ys[j]!)).toBeGreaterThan(5.8);
  expect(Math.max(...swarm(new Array<number>(200).fill(5), 6, 20).map(Math.abs))).toBeLessThanOrEqual(20);
});

test('the axis holds every point and the record', () => {
  const row = { name: '', values: [40, 52, null], median: 46, low: 41, high: 51 };
  const [from, to] = extent([row], 60);
  expect(from).toBeLessThan(40);
  expect(to).toBeGreaterThan(60);
  expect(extent([{ ...row, values: [0, 1], low: 0, high: 1 }], null)[0]).toBe(0);
});

test('what stands together has the same decimals, and rounding is no spread', () => {
  expect(plusMinus(49.976, 0.2401)).toBe('49.98 ± 0.24');
  expect(plusMinus(3.7169, 2.13e-16)).toBe('3.72 ± 0');
  expect(plusMinus(918.2, 53.5)).toBe('918 ± 54');
  expect(plusMinus(13.36874, 0.000293)).toBe('13.36874 ± 0.00029');
  expect(together([13.3664, 13.3692])).toEqual(['13.37', '13.37']);
  expect(together([98.1, 96.4, 133.1])).toEqual(['98.1', '96.4', '133.1']);
  expect(together([0, 2])).toEqual(['0', '2']);
  expect(together([49, 51.2])).toEqual(['49.0', '51.2']);
  expect(together([0, 0])).toEqual(['0', '0']);
});

test('the record is placed among the runs in words', () => {
  const row = { name: '', values: [40, 45, 50, 55], median: 47.5, low: 41, high: 54 };
  expect(plain(place(row, 47))).toBe(
    'The record lies inside the 90 % interval, 1.1 % below the median: 2 of 4 runs are shorter.',
  );
  expect(plain(place(row, 60))).toContain('outside the 90 % interval, 26.3 % above');
  expect(plain(words(row, 's'))).toBe('median 47.5 s, 90 % of 4 runs from 41.0 to 54.0 s');
  const cut = { ...row, values: [...row.values, null] };
  expect(plain(words(cut, 's'))).toBe('median 47.5 s, 90 % of 4 runs from 41.0 to 54.0 s; 1 of 5 runs has none');
});

test('errors share an axis that ends at a round share', () => {
  expect(limit([0.031, -0.04])).toBe(0.05);
  expect(limit([0.12])).toBe(0.2);
  expect(limit([7, Infinity])).toBe(1);
  expect(error(110, 100)).toBeCloseTo(0.1, 12);
});

test('the page is about the time of the job, with its changes in the title', () => {
  const data = sample();
  expect(main(data.figures)?.name).toBe('terasort: launch to finish');
  expect(main([])).toBeNull();
  expect(titleText('a', ['x = 1', 'y = 2'])).toBe('a, x = 1, y = 2');
});

const TRADE_OFF = [
  { name: 'as it is', time_s: 120, energy_j: 52_000, on_front: false },
  { name: 'compress-snappy', time_s: 90, energy_j: 47_000, on_front: true },
  { name: 'more-reducers-on-every-node', time_s: 84, energy_j: 55_000, on_front: true },
  { name: 'replication', time_s: 95, energy_j: 47_500, on_front: false },
];

test('the front goes from the shortest to what draws least', () => {
  expect(steps(TRADE_OFF).map((one) => one.name)).toEqual(['more-reducers-on-every-node', 'compress-snappy']);
});

test.each([1280, 390])('time and energy stand against each other on %i pixels', async (width) => {
  const { page, troubles } = await openAny(browser, { ...sample(3), trade_off: TRADE_OFF }, { width });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await page.locator('#trade-off circle.spot').count()).toBe(4);
  expect(await page.getAttribute('#trade-off svg', 'aria-label')).toBe('Energy, kJ, against time, s, of 4 scenarios');
  expect(await page.textContent('#trade-off .story')).toContain('more-reducers-on-every-node, compress-snappy.');
  // The shortest stands furthest left and draws most: the front goes down to the right.
  const at = await page.$$eval('#trade-off circle.spot', (all) => all.map((c) => [Number(c.getAttribute('cx')), Number(c.getAttribute('cy'))]));
  expect(at[2]![0]).toBeLessThan(at[1]![0]!);
  expect(at[2]![1]).toBeLessThan(at[1]![1]!);
  await page.locator('#trade-off circle.spot').first().hover();
  expect(plain((await page.textContent('.tip'))!)).toContain('120 s, 52 kJ');
  await page.screenshot({ path: `${SHOTS}trade-off-${width}.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test('the headline counts the runs that its median is of, not the most of any scenario', async () => {
  const data = sample(2);
  const short = data.figures[0]!.of[0]!;
  short.values = short.values.map((value, i) => (i < 18 ? value : null));
  const { page } = await openAny(browser, data);
  expect(plain((await page.textContent('.headline'))!)).toContain('median of 18 runs of terasort-of-forty-gigabytes');
  // A mean over the runs that ended has no interval: it would be one of the runs that went well.
  const mean = page.locator('#figures tbody tr').first().locator('td.number').first();
  expect(plain((await mean.textContent())!)).toMatch(/^46(\.0*)? in 18 of 20$/);
  await page.close();
});

test.each([
  [1, 1280, 'light'],
  [1, 390, 'dark'],
  [3, 1280, 'dark'],
  [3, 390, 'light'],
] as const)('%i scenarios fit %i pixels', async (scenarios, width, colorScheme) => {
  const { page, troubles } = await openAny(browser, sample(scenarios), { width, colorScheme });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  const ids = await page.$$eval('section', (all) => all.map((s) => s.id));
  expect(ids).toEqual(
    scenarios === 1 ? ['sure', 'comparison', 'spreads', 'figures', 'seeds'] : ['sure', 'spreads', 'figures'],
  );
  // A point for each run, the interval of each scenario, and the record where there is one.
  expect(await page.locator('#sure circle.spot').count()).toBe(20 * scenarios);
  expect(await page.locator('#sure rect.ninety').count()).toBe(scenarios);
  expect(await page.locator('#sure .recorded-mark').count()).toBe(scenarios === 1 ? 1 : 0);
  expect(plain((await page.getAttribute('#sure svg', 'aria-label'))!)).toContain('90 % of 20 runs from 40.6 to 51.4 s');
  // The point of an error of 2 % stands a fifth as far from the middle as the end of an axis of 10 %.
  if (scenarios === 1) {
    const lefts = await page.$$eval('#comparison .point', (all) => all.map((p) => (p as HTMLElement).style.left));
    expect(lefts.map((left) => Number(left.replace('%', '')).toFixed(1))).toEqual(['44.7', '55.0', '50.3']);
  }
  expect(await page.title()).toContain('network.rate = 10 Mbit/s');
  await page.screenshot({ path: `${SHOTS}runs-${scenarios}-${width}.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});
