// How fast the largest pages open and move, beside an empty page in the same browser: `npm run bench`, alone on the
// machine. The tests beside it say what the pages show.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, open } from '../test/browser';
import { walk } from '../test/field-sample';
import { teraSort } from '../test/sample-jobs';

let browser: Browser;
/** Median time from one frame of an empty page to the next, ms: the display's own pace. */
let empty: number;

beforeAll(async () => {
  browser = await launch();
  const page = await browser.newPage();
  empty = await frame(page, 60, 'html', '');
  await page.close();
});
afterAll(() => browser.close());

/** Median time of a frame, ms: `event` is dispatched `times` times at the element `at`, each time until it is drawn. */
function frame(page: Page, times: number, at: string, event: '' | 'zoom' | 'seek'): Promise<number> {
  return page.evaluate(
    async ([times, at, event]) => {
      const element = document.querySelector<HTMLElement>(at)!;
      const next = (): Promise<number> => new Promise((done) => requestAnimationFrame(done));
      const took: number[] = [];
      await next();
      for (let i = 0; i < times; i += 1) {
        const begun = performance.now();
        if (event === 'zoom') {
          element.dispatchEvent(new KeyboardEvent('keydown', { key: i < times / 2 ? '+' : '-' }));
        } else if (event === 'seek') {
          (element as HTMLInputElement).value = String(120 + i * 0.05);
          element.dispatchEvent(new Event('input'));
        }
        await next();
        took.push(performance.now() - begun);
      }
      return took.sort((x, y) => x - y)[times >> 1]!;
    },
    [times, at, event] as const,
  );
}

function say(what: string, took: number): void {
  const ratio = (took / empty).toFixed(1);
  process.stdout.write(`${what}: ${took.toFixed(1)} ms a frame, ${ratio} x an empty page's ${empty.toFixed(1)} ms\n`);
}

test.each([1000, 1280])('a hundred nodes with 20,000 frames move at 30 frames a second, %i pixels wide', async (width) => {
  const { page } = await open(browser, walk(), { width });
  await page.fill('.seek input[type=number]', '120');
  await page.press('.seek input[type=number]', 'Enter');
  await page.getByLabel('Range', { exact: true }).selectOption('all');
  await page.locator('.map').scrollIntoViewIfNeeded();
  const took = await frame(page, 60, '.seek input[type=range]', 'seek');
  say(`100 nodes on the map, ${width} px`, took);
  expect(took).toBeLessThan(33);
  await page.close();
});

test('a hundred nodes and 8,400 attempts open within three seconds and zoom at 8 frames a second', async () => {
  const { page } = await open(browser, teraSort());
  // Since the navigation began: reading, building and the first drawing of everything.
  const opened = await page.evaluate(() => performance.now());
  process.stdout.write(`100 nodes and 8,400 attempts: open after ${opened.toFixed(0)} ms\n`);
  await page.focus('#tasks .gantt');
  const took = await frame(page, 20, '#tasks .gantt', 'zoom');
  say('the plot of 8,400 attempts', took);
  expect(opened).toBeLessThan(3000);
  expect(took).toBeLessThan(120);
  await page.close();
});
