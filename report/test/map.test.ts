// The field on the built page in a real browser: colours at their places, one instant for all plots, stills.

import { mkdirSync, readFileSync } from 'node:fs';
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, type ReportData } from '../src/data';
import { DARK, LIGHT, type Palette } from '../src/palette';
import { frames, launch, open, type Opened } from './browser';
import { walk } from './field-sample';
import { wordCount } from './sample-jobs';

const SHOTS = new URL('../dist-test/', import.meta.url).pathname;

let browser: Browser;
beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
afterAll(() => browser.close());

/** Made by crates/sim/tests/field.rs; its formulas stand there, and again here. */
function tablets(): ReportData {
  return parse(readFileSync(new URL('./field.json', import.meta.url), 'utf8'));
}

function circle(worker: number, t: number): [number, number] {
  const angle = worker * 1.3 + t * 0.1;
  const radius = 10 + 7 * worker;
  return [50 + radius * Math.cos(angle), 50 + radius * Math.sin(angle)];
}

async function seek(page: Page, t: number): Promise<void> {
  await page.fill('.seek input[type=number]', String(t));
  await page.press('.seek input[type=number]', 'Enter');
  await frames(page);
}

/** The colours of the map around a place in metres: of the pixel `off` beside it, and of those up to `around` pixels from that. */
function colours(page: Page, place: [number, number], off: [number, number], around: number): Promise<string[]> {
  const asked = [...place, ...off, around] as [number, number, number, number, number];
  return page.$eval(
    '.map',
    (area, [x, y, dx, dy, around]) => {
      const canvas = area.querySelector('canvas')!;
      const plane = (area as HTMLElement).dataset['plane']!;
      const [left, top, scale, height] = plane.split(' ').map(Number) as [number, number, number, number];
      const ratio = canvas.width / canvas.clientWidth;
      const copy = document.createElement('canvas');
      copy.width = canvas.width;
      copy.height = canvas.height;
      const c = copy.getContext('2d', { willReadFrequently: true })!;
      c.drawImage(canvas, 0, 0);
      const [px, py] = [left + x * scale + dx, top + height - y * scale + dy].map((v) => Math.round(v * ratio));
      const side = 2 * around + 1;
      const { data } = c.getImageData(px! - around, py! - around, side, side);
      const hex = (v: number): string => v.toString(16).padStart(2, '0');
      return Array.from(
        { length: side * side },
        (_, i) => `#${hex(data[4 * i]!)}${hex(data[4 * i + 1]!)}${hex(data[4 * i + 2]!)}`,
      );
    },
    asked,
  );
}

async function colour(page: Page, place: [number, number], off: [number, number]): Promise<string> {
  return (await colours(page, place, off, 0))[0]!;
}

/** Where the crosshair of a plot stands, as an instant; NaN where there is none. */
function hairs(page: Page): Promise<number[]> {
  return page.$$eval('[data-view]', (plots) =>
    plots.map((plot) => {
      const hair = plot.querySelector<HTMLElement>('.hair')!;
      if (hair.hidden) return NaN;
      const x = new DOMMatrix(getComputedStyle(hair).transform).m41;
      const [from, to] = (plot as HTMLElement).dataset['view']!.split(' ').map(Number) as [number, number];
      return from + ((x - 116) / (plot.clientWidth - 130)) * (to - from);
    }),
  );
}

const instant = (page: Page): Promise<number> =>
  page.$eval('.map', (area) => Number((area as HTMLElement).dataset['at']));

async function read(download: Download): Promise<Buffer> {
  return readFileSync(await download.path());
}

for (const [theme, p] of Object.entries({ light: LIGHT, dark: DARK }) as ['light' | 'dark', Palette][]) {
  describe(`the map in the ${theme} theme`, () => {
    let it: Opened;
    beforeAll(async () => {
      it = await open(browser, tablets(), { colorScheme: theme, deviceScaleFactor: 2 });
    });
    afterAll(() => it.page.close());

    test('stands where the run has a field, before the tasks', async () => {
      const sections = await it.page.$$eval('section', (all) => all.map((s) => s.id));
      expect(sections.slice(0, 3)).toEqual(['summary', 'field', 'tasks']);
    });

    test('is as sharp as the screen', async () => {
      expect(await it.page.$eval('.map canvas', (c) => (c as HTMLCanvasElement).width / c.clientWidth)).toBeCloseTo(2, 2);
    });

    test.each([
      [2, ['idle', 'idle', 'idle', 'idle']],
      [13, ['busy', 'busy', 'idle', 'idle']],
      [31, ['busy', 'busy', 'busy', 'busy']],
      [41, ['idle', 'idle', 'busy', 'failed']],
      [51.5, ['idle', 'idle', 'failed', 'failed']],
      [56, ['idle', 'idle', 'idle', 'failed']],
    ] as const)('at %d s has each worker in its colour where it is then', async (t, want) => {
      await seek(it.page, t);
      for (const [k, doing] of want.entries()) {
        expect(await colour(it.page, circle(k + 1, t), [7, 0]), `worker-${k + 1}`).toBe(p.field[doing]);
      }
      expect(await colour(it.page, [50, 50], [3, 3])).toBe('#000000');
      expect(await colour(it.page, [90, 10], [0, 3])).toBe(p.muted);
    });

    test('lights links while frames are on the air, and crosses their collisions', async () => {
      await it.page.getByLabel('Frames', { exact: true }).selectOption('0');
      const half = (worker: number, t: number): [number, number] => {
        const [x, y] = circle(worker, t);
        return [(x + 50) / 2, (y + 50) / 2];
      };
      // The first exchange is worker 1's, from 20 s on: RTS to 52 us, data from 128 us on; a link lies 3 pixels beside the straight line.
      const link = async (worker: number, t: number): Promise<Set<string>> => {
        await seek(it.page, t);
        return new Set(await colours(it.page, half(worker, t), [0, 0], 8));
      };
      expect([...(await link(1, 20.00003))]).toContain(p.field.control);
      expect([...(await link(1, 20.00006))]).not.toContain(p.field.control);
      const data = await link(1, 20.001);
      expect([data.has(p.field.data), data.has(p.field.control)]).toEqual([true, false]);
      // The fifth turn collides at the master.
      await seek(it.page, 20.16002);
      expect(await colour(it.page, [50, 50], [5, 5])).toBe(p.field.failed);
      await it.page.locator('#field').screenshot({ path: `${SHOTS}field-${theme}.png` });
      await seek(it.page, 20.17);
      expect(await colour(it.page, [50, 50], [5, 5])).toBe('#000000');
    });

    test('said nothing on the console and asked for nothing', () => expect(it.troubles).toEqual([]));
  });
}

describe('the instant', () => {
  let it: Opened;
  beforeAll(async () => {
    it = await open(browser, tablets());
  });
  afterAll(() => it.page.close());

  test('of the slider is that of every plot', async () => {
    await it.page.locator('.seek input[type=range]').fill('37.5');
    await frames(it.page);
    const at = await hairs(it.page);
    expect(at.length).toBe(3);
    for (const t of at) expect(t).toBeCloseTo(37.5, 1);
    expect(await instant(it.page)).toBeCloseTo(37.5, 9);
  });

  test('follows the pointer over the Gantt, goes back when it leaves, and stays where it clicks', async () => {
    const gantt = it.page.locator('#tasks .gantt');
    await gantt.scrollIntoViewIfNeeded();
    const box = (await gantt.boundingBox())!;
    const x = (t: number): number => box.x + 116 + (t / 60) * (box.width - 130);
    await it.page.mouse.move(x(12), box.y + 40);
    await frames(it.page);
    expect(await instant(it.page)).toBeCloseTo(12, 1);
    expect(Number(await it.page.inputValue('.seek input[type=range]'))).toBeCloseTo(12, 1);
    await it.page.mouse.move(2, box.y - 30);
    await frames(it.page);
    expect(await instant(it.page)).toBeCloseTo(37.5, 9);
    await it.page.mouse.click(x(45), box.y + 40);
    await it.page.mouse.move(2, box.y - 30);
    await frames(it.page);
    expect(await instant(it.page)).toBeCloseTo(45, 1);
    for (const t of await hairs(it.page)) expect(t).toBeCloseTo(45, 1);
  });

  test('stands at its place in a plot that zooms', async () => {
    await seek(it.page, 25);
    await it.page.click('button[title="Zoom in"]');
    await frames(it.page);
    expect(await it.page.getAttribute('#tasks .gantt', 'data-view')).toBe('15 45');
    for (const t of await hairs(it.page)) expect(t).toBeCloseTo(25, 1);
    await it.page.click('button[title="Show the whole run"]');
    await frames(it.page);
  });

  test('takes a view along that would not show it, down to a single frame', async () => {
    await seek(it.page, 25);
    for (let i = 0; i < 20; i += 1) await it.page.click('button[title="Zoom in"]');
    await frames(it.page);
    const view = async (): Promise<number[]> =>
      (await it.page.getAttribute('#field .frames', 'data-view'))!.split(' ').map(Number);
    const [from, to] = (await view()) as [number, number];
    expect([to - from, (from + to) / 2]).toEqual([expect.closeTo(1e-4, 9), expect.closeTo(30, 6)]);
    await it.page.focus('.map');
    await it.page.keyboard.press('.');
    await frames(it.page);
    const start = await instant(it.page);
    const [left, right] = (await view()) as [number, number];
    expect([right - left, (left + right) / 2]).toEqual([expect.closeTo(1e-4, 9), expect.closeTo(start, 6)]);
    await it.page.click('button[title="Show the whole run"]');
    await frames(it.page);
  });

  test('moves by keys: by time, from frame to frame, to an end', async () => {
    await it.page.focus('.map');
    await it.page.keyboard.press('Home');
    await it.page.keyboard.press('.');
    await frames(it.page);
    expect(await instant(it.page)).toBe(19.999);
    await it.page.keyboard.press('.');
    await it.page.keyboard.press('.');
    await it.page.keyboard.press(',');
    await frames(it.page);
    expect(await instant(it.page)).toBe(20);
    await it.page.keyboard.press('ArrowRight');
    await frames(it.page);
    expect(await instant(it.page)).toBeCloseTo(20.6, 9);
    await it.page.click('button[title="To the next collision"]');
    await frames(it.page);
    // Turns 4, 9, 14, 19 collide: 20.16, 20.36, 20.56, 20.76 s.
    expect(await instant(it.page)).toBeCloseTo(20.76, 9);
    expect(await it.page.textContent('.clock')).toBe('t = 20.76\u00a0s');
    expect(await it.page.$$eval('.on-air li', (all) => all.map((li) => li.textContent))).toEqual([
      'RTS, worker-4 to master, collided, now',
    ]);
    await it.page.focus('.seek input[type=range]');
    await it.page.keyboard.press('End');
    await frames(it.page);
    expect(await instant(it.page)).toBe(60);
  });

  test('up and down choose a station, and say what it does', async () => {
    await seek(it.page, 30);
    await it.page.focus('.map');
    await it.page.keyboard.press('ArrowDown');
    await it.page.keyboard.press('ArrowDown');
    await frames(it.page);
    const text = (await it.page.textContent('#field p.visually-hidden'))!;
    const [, x, y] = /^worker-2: 2 running tasks, at x ([\d.]+)\u00a0m, y ([\d.]+)\u00a0m$/.exec(text)!;
    // A course is right to 2.5 cm, a number here to 10 cm.
    expect(Math.abs(Number(x) - circle(2, 30)[0])).toBeLessThan(0.08);
    expect(Math.abs(Number(y) - circle(2, 30)[1])).toBeLessThan(0.08);
    expect(await it.page.textContent('.readout .about')).toMatch(/^worker-2: 2 running tasks/);
  });

  test('runs at the pace chosen, takes the plots with it, and stops', async () => {
    await seek(it.page, 10);
    await it.page.getByLabel('Pace', { exact: true }).selectOption('10');
    const begun = Date.now();
    await it.page.click('button.play');
    await it.page.waitForTimeout(800);
    await it.page.click('button.play');
    const passed = (Date.now() - begun) / 1000;
    await frames(it.page);
    const reached = await instant(it.page);
    // No faster than the pace; slower only as far as a busy machine misses frames.
    expect(reached - 10).toBeLessThanOrEqual(passed * 10 + 0.2);
    expect(reached - 10).toBeGreaterThan(3);
    for (const t of await hairs(it.page)) expect(t).toBeCloseTo(reached, 1);
    await frames(it.page);
    expect(await instant(it.page)).toBe(reached);
    expect(await it.page.textContent('button.play')).toBe('▶ Play');
  });

  test('said nothing on the console and asked for nothing', () => expect(it.troubles).toEqual([]));
});

test('stills have the instant, the key and every station', async () => {
  const { page, troubles } = await open(browser, tablets(), { colorScheme: 'dark' });
  await seek(page, 51.5);
  const [asSvg] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'as SVG' }).click()]);
  expect(asSvg.suggestedFilename()).toBe('four-tablets-around-a-master-51.5s.svg');
  const text = (await read(asSvg)).toString('utf8');
  const found = await page.evaluate((source) => {
    const document = new DOMParser().parseFromString(source, 'image/svg+xml');
    const texts = [...document.querySelectorAll('text')].map((t) => t.textContent);
    const fills = [...document.querySelectorAll('circle')].map((c) => c.getAttribute('fill'));
    return { root: document.documentElement.nodeName, texts, fills, size: document.documentElement.getAttribute('viewBox') };
  }, text);
  expect(found.root).toBe('svg');
  expect(found.texts).toEqual(expect.arrayContaining(['four tablets around a master, t = 51.50\u00a0s', 'x (m)', 'y (m)', '20 m']));
  expect(found.texts).toEqual(expect.arrayContaining(['master', 'worker-1', 'worker-4', 'ap-1', 'failed', 'collision']));
  // Workers 1 and 2 without tasks, 3 and 4 failed, and one of each in the key; print's colours on a dark page.
  const of = (fill: string): number => found.fills.filter((f) => f === fill).length;
  expect([of(LIGHT.field.idle), of(LIGHT.field.failed), of(LIGHT.field.busy)]).toEqual([3, 3, 1]);

  const [asPng] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'as PNG' }).click()]);
  expect(asPng.suggestedFilename()).toBe('four-tablets-around-a-master-51.5s.png');
  const bytes = await read(asPng);
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  const [, , width, height] = found.size!.split(' ').map(Number) as [number, number, number, number];
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([3 * width, Math.round(3 * height)]);
  await asPng.saveAs(`${SHOTS}still.png`);
  await asSvg.saveAs(`${SHOTS}still.svg`);
  expect(troubles).toEqual([]);
  await page.close();
});

test('a run without a field has no map, and its plots no instant of their own', async () => {
  const { page } = await open(browser, wordCount());
  expect(await page.$('#field')).toBeNull();
  expect(await page.$eval('#tasks .hair', (hair) => (hair as HTMLElement).hidden)).toBe(true);
  await page.mouse.click(700, 400);
  await page.mouse.move(2, 2);
  await frames(page);
  expect(await page.$$eval('.hair', (all) => all.every((hair) => (hair as HTMLElement).hidden))).toBe(true);
  await page.close();
});

test('a field without frames or a range offers nothing of them', async () => {
  const data = tablets();
  const none = { gap_ns: [], duration_ns: [], from: [], to: [], kind: [], packets: [], fate: [] };
  data.field = { ...data.field!, range_m: null, frames: none };
  const { page, troubles } = await open(browser, data);
  expect(await page.$$eval('#field .legend li', (all) => all.map((li) => li.textContent))).toHaveLength(5);
  expect(await page.$$eval('#field label', (all) => all.map((l) => l.textContent!.split(' ')[0]))).not.toContain('Range');
  expect(await page.$('#field .frames')).toBeNull();
  expect(await page.getByRole('button', { name: 'frame' }).count()).toBe(0);
  expect(troubles).toEqual([]);
  await page.close();
});

// How fast it moves: `bench/smooth.test.ts`.
test.each([1000, 1280])('a hundred nodes with 20,000 frames fit %i pixels and move', async (width) => {
  const { page, troubles } = await open(browser, walk(), { width });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  await seek(page, 120);
  await page.getByLabel('Range', { exact: true }).selectOption('all');
  await page.locator('.map').scrollIntoViewIfNeeded();
  const before = await page.locator('.map').screenshot();
  await seek(page, 123);
  expect(await page.locator('.map').screenshot()).not.toEqual(before);
  await page.screenshot({ path: `${SHOTS}field-hundred-${width}.png` });
  expect(troubles).toEqual([]);
  await page.close();
});
