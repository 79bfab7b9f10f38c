// The page of a study in a real browser, opened from disk; and the scales that its pictures stand on.

import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { label, logarithmic, straight } from '../src/scale';
import { STUDY_SCHEMA, type Figure, type Study } from '../src/study-data';
import { launch, openAny, type Opened } from './browser';

const SHOTS = new URL('../dist-test/', import.meta.url).pathname;

const BASE: Omit<Figure, 'id' | 'title' | 'kind' | 'x' | 'curves' | 'published' | 'findings' | 'verdict'> = {
  place: 'Fig. 2',
  about: 'A port of 64 packets.',
  label: 'goodput',
  unit: 'Mbit/s',
  metric: 'traffic.reads.goodput_bps',
  scenario: 'scenario.toml',
  set: ["run.until='12 s'"],
  seeds: 5,
};

function study(): Study {
  const curve = (series: string, assumption: string | null, mean: number[]) => ({
    series,
    assumption,
    constant: series === 'a line',
    set: [`tcp.control=${series.toLowerCase()}`, 'cluster.workers={x}'],
    x: [1, 2, 4, 8],
    mean,
    low: mean.map((v) => v * 0.9),
    high: mean.map((v) => v * 1.1),
  });
  const reproduced = { place: 'Fig. 2', rule: 'falls', verdict: 'reproduced' as const, detail: 'at 8: 40', under: [] };
  return {
    schema: STUDY_SCHEMA,
    name: 'incast',
    title: 'Incast <b>goodput</b>',
    about: 'Many servers answer one client at once.',
    source: 'Phanishayee et al., FAST 2008',
    quick: false,
    runs: 40,
    verdict: 'cannot tell',
    files: [['study.toml', 'title = "x"']],
    models: [
      {
        name: 'retransmission timer',
        source: 'RFC 6298',
        link: 'https://www.rfc-editor.org/rfc/rfc6298',
        code: 'crates/tcp/src/rtt.rs',
        test: 'crates/tcp/tests',
      },
    ],
    figures: [
      {
        ...BASE,
        id: 'senders',
        title: 'By senders',
        kind: 'sweep',
        x: { label: 'senders', unit: '', log: true, categories: null },
        curves: [curve('SACK', null, [900, 800, 60, 40]), curve('Vegas', null, [900, 850, 900, 700]), curve('a line', null, [500, 500, 500, 500])],
        published: [{ series: 'SACK', x: 8, value: 41, tolerance: 0.05, place: 'ns-2', judged: true }],
        findings: [{ ...reproduced, text: 'Goodput collapses.' }],
        verdict: 'reproduced',
      },
      {
        ...BASE,
        id: 'access',
        title: 'By access link',
        kind: 'sweep',
        x: { label: 'senders', unit: '', log: false, categories: null },
        curves: [curve('SACK', 'fast access', [900, 800, 60, 40]), curve('SACK', 'slow access', [90, 90, 90, 90])],
        published: [],
        findings: [
          {
            ...reproduced,
            text: 'It collapses.',
            verdict: 'cannot tell',
            detail: 'the access links decide: reproduced with fast access',
            under: [
              { assumption: 'fast access', verdict: 'reproduced', detail: 'knee at 4' },
              { assumption: 'slow access', verdict: 'not reproduced', detail: 'no knee' },
            ],
          },
        ],
        verdict: 'cannot tell',
      },
      {
        ...BASE,
        id: 'bars',
        title: 'Three groups',
        kind: 'sweep',
        x: null,
        curves: ['S1', 'S2'].map((name, i) => ({
          series: name,
          assumption: null,
          constant: false,
          set: [],
          x: [0],
          mean: [50 + 400 * i],
          low: [45 + 400 * i],
          high: [55 + 400 * i],
        })),
        published: [{ series: 'S1', x: null, value: 46, tolerance: 0.1, place: 'Fig. 17', judged: true }],
        findings: [],
        verdict: null,
      },
    ],
  };
}

let browser: Browser;
beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
afterAll(() => browser.close());

function open(colorScheme: 'light' | 'dark', width = 1280, shown = study()): Promise<Opened> {
  return openAny(browser, shown, { colorScheme, width });
}

describe('the page of a study', () => {
  for (const scheme of ['light', 'dark'] as const) {
    test(`shows a picture, the verdicts and the rules, ${scheme}`, async () => {
      const { page, troubles } = await open(scheme);
      await page.screenshot({ path: `${SHOTS}study-${scheme}.png`, fullPage: true });
      expect(await page.textContent('h1')).toBe('Incast <b>goodput</b>');
      const badges = await page.$$eval('.study-figure > .findings > li > div > .verdict', (all) =>
        all.map((b) => b.textContent),
      );
      expect(badges).toEqual(['reproduced', 'cannot tell']);
      expect(await page.textContent('#access .detail')).toContain('reproduced with fast access');
      // A panel for each assumption; a spot for each point, and one for the published value.
      expect(await page.locator('#access svg').count()).toBe(2);
      expect(await page.locator('#senders svg circle.spot').count(), 'none on a line to compare with').toBe(8);
      expect(await page.locator('#senders svg path.spot').count()).toBe(1);
      expect(await page.locator('#bars svg rect.spot').count()).toBe(2);
      expect(await page.getAttribute('#senders svg', 'aria-label')).toBe('By senders: goodput, Mbit/s against senders');
      expect(troubles).toEqual([]);
      await page.close();
    });
  }

  test('a doubted number is two clicks from its model, source and test', async () => {
    const { page } = await open('light');
    await page.click('#senders .behind summary');
    const row = page.locator('#senders .behind tbody tr').first();
    expect(await row.isVisible()).toBe(true);
    expect(await row.textContent()).toContain('crates/tcp/src/rtt.rs');
    expect(await row.locator('a').getAttribute('href')).toBe('https://www.rfc-editor.org/rfc/rfc6298');
    expect(await page.textContent('#senders .behind pre')).toContain('--set "run.until=\'12 s\'"');
    await page.close();
  });

  test('a quick look shows no verdict that its own text withdraws', async () => {
    const { page } = await open('light', 1280, { ...study(), quick: true });
    expect(await page.textContent('.reason')).toContain('not a verdict to quote');
    expect(await page.locator('.verdict').count()).toBe(0);
    const headline = (await page.textContent('.headline'))!;
    expect(headline).toMatch(/1 as claimed.*1 unclear/);
    expect(headline).not.toMatch(/reproduced/);
    await page.close();
  });

  test('a point tells its values, and nothing is wider than a small screen', async () => {
    const { page } = await open('light', 390);
    await page.locator('#senders svg circle.spot').nth(2).hover();
    expect(await page.textContent('.tip')).toContain('60 ± 6');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.close();
  });
});

describe('scales', () => {
  test('a straight scale has round steps', () => {
    const scale = straight(0, 953, 0, 100, 6);
    expect(scale.ticks).toEqual([0, 200, 400, 600, 800]);
    expect(scale.at(476.5)).toBeCloseTo(50);
    expect(straight(0, 0.07, 0, 1, 5).ticks.map((t) => Number(t.toPrecision(3)))).toEqual([0, 0.02, 0.04, 0.06]);
  });
  test('a logarithmic scale stands at the given values where they fit', () => {
    const scale = logarithmic(1, 256, 0, 800, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(scale.ticks).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(scale.at(16)).toBeCloseTo(400);
    expect(logarithmic(1, 256, 0, 100, [1, 2, 4, 8, 16, 32, 64, 128, 256]).ticks).toEqual([1, 8, 64]);
  });
  test('a value has three significant digits', () => {
    expect([41.13, 0.01234, 1234, 56_789, 2_500_000].map(label)).toEqual([
      '41.1',
      '0.0123',
      '1234',
      '56.8\u00a0K',
      '2.5\u00a0M',
    ]);
  });
});
