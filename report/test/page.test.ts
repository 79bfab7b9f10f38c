// The built page in a real browser, opened from disk.

import { mkdirSync, readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, type ReportData } from '../src/data';
import { frames, launch, open as openIn, type Opened, write } from './browser';
import { teraSort, wordCount } from './sample-jobs';
import { spark, traffic } from './sample-traffic';

const SHOTS = new URL('../dist-test/', import.meta.url).pathname;

let browser: Browser;
beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
afterAll(() => browser.close());

function open(data: ReportData, width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  return openIn(browser, data, { width, colorScheme });
}

function views(page: Page): Promise<string[]> {
  return page.$$eval('[data-view]', (plots) => plots.map((plot) => (plot as HTMLElement).dataset['view']!));
}

async function drag(page: Page, selector: string, from: number, to: number): Promise<void> {
  const plot = page.locator(selector).first();
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  const left = box.x + 116;
  const width = box.width - 116 - 14;
  const y = box.y + box.height / 2;
  await page.mouse.move(left + from * width, y);
  await page.mouse.down();
  await page.mouse.move(left + to * width, y, { steps: 4 });
  await page.mouse.up();
  await frames(page);
}

/** The ink of a canvas: how many of its pixels are painted. */
function painted(page: Page, selector: string): Promise<number> {
  return page.$eval(selector, (canvas) => {
    const c = canvas as HTMLCanvasElement;
    const data = c.getContext('2d')!.getImageData(0, 0, c.width, c.height).data;
    let count = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]! > 0) count += 1;
    return count;
  });
}

describe('a job', () => {
  let it: Opened;
  beforeAll(async () => {
    it = await open(wordCount());
  });
  afterAll(() => it.page.close());

  test('shows every section that it has data for, and only those', async () => {
    expect(await it.page.$$eval('section', (all) => all.map((s) => s.id))).toEqual([
      'where',
      'comparison',
      'summary',
      'tasks',
      'resources',
      'events',
      'flows',
      'nodes',
    ]);
    expect(await it.page.$$eval('#resources figure', (all) => all.map((s) => s.id))).toEqual([
      'chart-links',
      'chart-queues',
      'chart-losses',
      'chart-disks',
      'chart-cpu',
      'chart-flows',
    ]);
    expect(await it.page.textContent('.story')).toMatch(
      /Of 207\.8.s, 112\.4.s \(54.%\) went into moving data over the network/,
    );
    expect(await it.page.textContent('.state')).toBe('Succeeded');
  });

  test('draws attempts and strips', async () => {
    expect(await painted(it.page, '#tasks .scroller canvas')).toBeGreaterThan(20_000);
    expect(await painted(it.page, '#chart-links .scroller canvas')).toBeGreaterThan(20_000);
    expect(await painted(it.page, '#chart-losses canvas')).toBeGreaterThan(1_000);
  });

  test('a drag in the Gantt zooms every plot to the same range, a double click shows the whole run again', async () => {
    await drag(it.page, '#tasks .gantt', 0.25, 0.5);
    const zoomed = await views(it.page);
    expect(zoomed).toHaveLength(7);
    expect(new Set(zoomed).size).toBe(1);
    const [from, to] = zoomed[0]!.split(' ').map(Number) as [number, number];
    expect(from).toBeCloseTo(0.25 * 207.788, 0);
    expect(to).toBeCloseTo(0.5 * 207.788, 0);
    await it.page.screenshot({ path: `${SHOTS}zoomed.png` });
    await it.page.dblclick('#chart-losses .u-over');
    await frames(it.page);
    expect(new Set(await views(it.page))).toEqual(new Set(['0 207.788']));
  });

  test('a drag in a chart zooms the Gantt; Ctrl with the wheel zooms, the keys pan', async () => {
    await drag(it.page, '#chart-losses .lines', 0.5, 0.75);
    const [from, to] = (await views(it.page))[0]!.split(' ').map(Number) as [number, number];
    expect(from).toBeCloseTo(0.5 * 207.788, 0);
    await it.page.keyboard.down('Control');
    await it.page.mouse.wheel(0, -200);
    await it.page.keyboard.up('Control');
    await frames(it.page);
    const [closer, end] = (await views(it.page))[0]!.split(' ').map(Number) as [number, number];
    expect(end - closer).toBeLessThan(0.8 * (to - from));
    await it.page.focus('#tasks .gantt');
    await it.page.keyboard.press('ArrowRight');
    await frames(it.page);
    const panned = await views(it.page);
    expect(Number(panned[0]!.split(' ')[0])).toBeCloseTo(closer + (end - closer) / 10, 6);
    expect(new Set(panned).size).toBe(1);
    await it.page.keyboard.press('Home');
    await frames(it.page);
    expect(new Set(await views(it.page))).toEqual(new Set(['0 207.788']));
  });

  test('the pointer on an attempt shows its numbers; the keys go from attempt to attempt', async () => {
    const canvas = (await it.page.locator('#tasks .scroller canvas').boundingBox())!;
    await it.page.mouse.move(canvas.x + 116 + ((canvas.width - 130) * 100) / 207.788, canvas.y + 18);
    expect(await it.page.textContent('.tip')).toMatch(
      /r_000000_0Reduce on w1, succeeded24\.1.s to 176\.5.s, 152\.4.s96\.5.MB in, 965.KB outstart-up 2\.1.sfetch 145\.5.s/,
    );
    await it.page.focus('#tasks .gantt');
    await it.page.keyboard.press('ArrowDown');
    expect(await it.page.textContent('#tasks .visually-hidden')).toMatch(/^m_000000_0\. Map on w1, succeeded/);
    await it.page.keyboard.press('ArrowDown');
    expect(await it.page.textContent('#tasks .visually-hidden')).toMatch(/^m_000006_0\. /);
  });

  test('the keys keep to the attempts in view', async () => {
    await drag(it.page, '#tasks .gantt', 0.8, 0.9);
    await it.page.focus('#tasks .gantt');
    const met: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      await it.page.keyboard.press('ArrowDown');
      met.push((await it.page.textContent('#tasks .visually-hidden'))!.slice(0, 10));
    }
    expect(met).toEqual(['r_000000_0', 'r_000002_0', 'r_000001_0', 'r_000002_1', 'r_000000_1']);
    await it.page.keyboard.press('Home');
    await frames(it.page);
  });

  test('filters leave the attempts asked for, in the Gantt and in its table', async () => {
    await it.page.getByLabel('Tasks', { exact: true }).selectOption('reduce');
    await it.page.getByLabel('Outcome').selectOption('not succeeded');
    expect(await it.page.getAttribute('#tasks .gantt', 'aria-label')).toContain('of 3 task attempts on 3 nodes');
    await it.page.click('#tasks details summary');
    await it.page.waitForSelector('#tasks tbody tr');
    expect(
      await it.page.$$eval('#tasks tbody tr', (rows) => rows.map((r) => r.querySelector('td')!.textContent)),
    ).toEqual(['r_000002_1', 'r_000001_1', 'r_000000_1']);
    await it.page.getByLabel('Outcome').selectOption('all');
    await it.page.getByLabel('Tasks', { exact: true }).selectOption('all');
    await it.page.getByLabel('Node', { exact: true }).selectOption('1');
    expect(await it.page.textContent('#chart-disks .legend')).toMatch(/^w1 /);
    await it.page.getByLabel('Node', { exact: true }).selectOption('-1');
  });

  test('the theme follows the system until the button is pressed', async () => {
    const page = (): Promise<string> => it.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await page()).toBe('rgb(253, 253, 252)');
    await it.page.emulateMedia({ colorScheme: 'dark' });
    await frames(it.page);
    expect(await page()).toBe('rgb(21, 23, 26)');
    await it.page.click('#theme');
    expect(await page()).toBe('rgb(253, 253, 252)');
  });

  test('said nothing on the console and asked for nothing', () => expect(it.troubles).toEqual([]));
});

test.each([
  [1280, 'light'],
  [1280, 'dark'],
  [1000, 'light'],
  [1000, 'dark'],
] as const)('fits %i pixels in the %s theme', async (width, theme) => {
  const { page, troubles } = await open(wordCount(), width, theme);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  await page.screenshot({ path: `${SHOTS}job-${theme}-${width}.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test.each([
  ['job', wordCount],
  ['hundred nodes', teraSort],
  ['traffic', traffic],
  ['spark', spark],
] as const)('a phone of 390 pixels shows the page of %s without a scroll bar below', async (name, data) => {
  // Names of imported jobs have nowhere to break.
  const { page, troubles } = await open({ ...data(), title: 'job_1795217314114_0002_of_somebody' }, 390);
  const wide = await page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((e) => e.getBoundingClientRect().right > 391 && !e.closest('.table, pre, .visually-hidden, .scroller'))
      .map((e) => `${e.tagName} ${e.className} ${e.id}`),
  );
  expect(wide).toEqual([]);
  // What is said of a table is read without moving it.
  const captions = await page.locator('caption').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().right));
  expect(captions.filter((right) => right > 391)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.screenshot({ path: `${SHOTS}phone-${name.replace(' ', '-')}.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test('the causes of a job stand with their cost, their figures and the settings that change them', async () => {
  const { page, troubles } = await open(wordCount());
  const first = page.locator('#where .cause').first();
  expect(await first.getAttribute('data-rule')).toBe('silent-node');
  const text = (await first.textContent())!.replaceAll('\u00a0', ' ');
  for (const word of ['critical', 'Silent node', '112.4 s, 54 % of the job', 'w2 crashed at 30.0 s'])
    expect(text).toContain(word);
  expect(await first.locator('code').allTextContents()).toEqual([
    'yarn.nm.liveness-monitor.expiry-interval-ms',
    'mapreduce.task.timeout',
    'mapreduce.node-expiry',
    'mapreduce.task-timeout',
  ]);
  // Where a cause is known, general advice would only distract.
  expect(await page.textContent('#where')).not.toContain('What would help most');
  await first.getByRole('button').click();
  await frames(page);
  const [from, to] = (await views(page))[0]!.split(' ').map(Number) as [number, number];
  const data = wordCount();
  expect(from).toBeLessThanOrEqual(data.attempts.start_ms[1]! / 1000);
  expect(to).toBeGreaterThanOrEqual(data.attempts.end_ms[1]! / 1000);
  expect(to - from).toBeLessThan(data.end_s);
  expect(troubles).toEqual([]);
  await page.close();
});

test('the waits for the network lead down to the connections behind them', async () => {
  const data = wordCount();
  const { page, troubles } = await open(data);
  const row = page.locator('#where .connections tbody tr').first();
  const text = (await row.textContent())!;
  for (const word of [data.flows.from[0]!, data.flows.to[0]!, 'shuffle', 'Mbit/s']) expect(text).toContain(word);
  const heads = await page.$$eval('#flows th', (all) => all.map((th) => th.textContent));
  expect(heads.slice(-5)).toEqual(['Drops', 'RTT', 'Least RTT', 'Largest cwnd', 'Limited by']);
  await row.getByRole('button').click();
  await frames(page);
  const [from, to] = (await views(page))[0]!.split(' ').map(Number) as [number, number];
  expect(to - from).toBeLessThan(data.end_s);
  expect(troubles).toEqual([]);
  await page.close();
});

test('what differs from the scenario stands in the title', async () => {
  const { page } = await open({ ...wordCount(), changes: ['network.rate = 10 Mbit/s', 'hdfs.block = 64 MB'] });
  expect(await page.textContent('header .changes')).toBe('with network.rate = 10 Mbit/s, hdfs.block = 64 MB');
  expect(await page.title()).toContain('network.rate = 10 Mbit/s');
  await page.close();
});

test('the recorded run stands above the simulated one, on its axis', async () => {
  const data = wordCount();
  const shift = (values: number[]): number[] => values.map((ms) => Math.round(ms * 1.1));
  const a = data.attempts;
  data.recorded = {
    ...a,
    start_ms: shift(a.start_ms),
    end_ms: shift(a.end_ms),
    phase_start_ms: shift(a.phase_start_ms),
    phase_end_ms: shift(a.phase_end_ms),
  };
  data.end_s *= 1.1;
  const { page, troubles } = await open(data);
  const ids = await page.$$eval('section', (all) => all.map((s) => s.id));
  expect(ids.indexOf('recorded')).toBe(ids.indexOf('tasks') - 1);
  expect(await painted(page, '#recorded .scroller canvas')).toBeGreaterThan(10_000);
  await drag(page, '#recorded .gantt', 0.25, 0.5);
  expect(new Set(await views(page)).size, 'one axis').toBe(1);
  const both = await page.$$eval('#recorded .gantt, #tasks .gantt', (all) => all.map((e) => e.clientHeight));
  expect(both[0]! + both[1]!, 'both on one screen').toBeLessThan(800);
  await page.screenshot({ path: `${SHOTS}recorded.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test('every axis of every chart says what it shows and in which unit', async () => {
  const { page } = await open(traffic());
  const said = await page.$$eval('figure [role=img]', (plots) => plots.map((p) => p.getAttribute('aria-label')));
  expect(said).toEqual([
    expect.stringContaining('Completion times: 50'),
    'Goodput, Delivered in order in Mbit/s',
    'Queues, Packets in queue',
  ]);
  await page.close();
});

test('an application of Spark shows its stages, and leads from one to its time', async () => {
  const loses = spark();
  loses.spark!.lost = 2;
  const { page, troubles } = await open(loses);
  expect(await page.textContent('header')).toMatch(
    /Not finished.*an application of Spark on 8 executors, of which it lost 2$/,
  );
  const onYarn = spark();
  onYarn.spark!.ready_s = 14.2;
  const other = await open(onYarn);
  expect((await other.page.textContent('header'))!.replace(/\u00a0|\u202f/g, ' ')).toMatch(
    /an application of Spark on YARN, whose program could go on after 14.2 s, on 8 executors$/,
  );
  await other.page.close();
  const why = (await page.textContent('#where'))!.replace(/\u00a0|\u202f/g, ' ');
  expect(why).toContain('550 ms (55 %) went into moving data over the network (the 1 Gbit/s link into worker-3)');
  expect(why).toContain('waiting for cores near to the data with 100 ms (10 %)');
  expect(why).toContain('criticalShuffle550 ms, 55 % of the application');
  expect(why).toContain('Spark: spark.reducer.maxSizeInFlight, spark.shuffle.compress. Scenario: network.rate');
  const rows = await page.$$eval('#stages tbody tr', (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent!.replace(/\u00a0|\u202f/g, ' '))),
  );
  expect(rows).toEqual([
    ['scan', '32', '50 ms', '400 ms', '4 GB', '', '', '400 MB', ''],
    ['join_of_orders_and_customers_by_key', '3 of 16 for 200 partitions', '500 ms', '', '', '500 MB', '438 MB', '', '68.5 ms'],
  ]);
  expect(await page.textContent('#stages caption')).toContain('12 stages that took less are left out');
  const excluded = await page.$$eval('#exclusions tbody tr', (all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent!.replace(/\u00a0|\u202f/g, ' '))),
  );
  expect(excluded).toEqual([
    ['executor 3 on worker-2', 'stage scan', '120 ms', '450 ms'],
    ['executor 3 on worker-2', 'the application', '450 ms', '1 h 0 min 0 s'],
    ['all of worker-2', 'stage join_of_orders_and_customers_by_key', '700 ms', 'the end'],
  ]);
  expect(await page.textContent('#exclusions caption')).toContain('4 later ones are left out');
  // Its series are compared on one axis, unless strips are asked for.
  expect(await page.locator('#chart-executors .lines').count()).toBe(1);
  expect(await page.getAttribute('#chart-executors [role=img]', 'aria-label')).toBe('Executors, Most at once');
  await page.click('#chart-executors button');
  expect(await page.locator('#chart-executors .lines').count()).toBe(0);
  expect(await page.textContent('#chart-executors button')).toBe('As lines');
  const before = await views(page);
  await page.click('#stages button');
  await frames(page);
  const ofStage = await views(page);
  expect(ofStage).not.toEqual(before);
  await page.click('#exclusions button');
  await frames(page);
  expect(await views(page)).not.toEqual(ofStage);
  expect(troubles).toEqual([]);
  await page.close();
  const none = spark();
  none.spark!.exclusions = [];
  const well = await open(none);
  expect(await well.page.$('#exclusions')).toBeNull();
  await well.page.close();
});

test('traffic without a job shows traffic, and nothing of a job', async () => {
  const { page, troubles } = await open(traffic());
  expect(await page.$$eval('section', (all) => all.map((s) => s.id))).toEqual([
    'summary',
    'traffic',
    'resources',
    'flows',
    'nodes',
  ]);
  expect(await page.textContent('#traffic tbody')).toMatch(/barrier320320/);
  // 12.1 ms * 1.018^49 and ^98.
  expect(await page.getAttribute('#traffic [role=img]', 'aria-label')).toMatch(/50.% within 29(\.0)?.ms.*99.% within 69\.5.ms/);
  expect(await page.$('#flows [role=img]'), 'one distribution, that of the traffic').toBeNull();
  await page.screenshot({ path: `${SHOTS}traffic.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test('what a run cost is in its summary, and that its times are not to be believed below them', async () => {
  const { page, troubles } = await open({
    ...traffic(),
    fidelity: 'flow',
    cost: [
      { label: 'all', value: '0.0437 USD' },
      { label: 'nodes', value: '0.0437 USD' },
    ],
    events: [{ at_s: 0.01, node: -1, kind: 'overflow', text: 'bursts overflow queues: `run.fidelity` does' }],
  });
  expect(await page.textContent('header')).toMatch(/no job.*far too short: bursts overflow queues: run.fidelity does/);
  expect(await page.textContent('.doubt code')).toBe('run.fidelity');
  expect(await page.textContent('#summary')).toContain('Costall0.0437 USDnodes0.0437 USD');
  await page.screenshot({ path: `${SHOTS}overflow.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
  const believed = await open(traffic());
  expect(await believed.page.$('.doubt')).toBeNull();
  await believed.page.close();
});

test('a balance of nothing is counted and not listed, unless it does not hold', async () => {
  const data = wordCount();
  const none = { what: 'blocks cached', holds: true, offered: 0, accounted: [{ label: 'read', value: 0 }] };
  const broken = { what: 'blocks pulled', holds: false, offered: 0, accounted: [{ label: 'read', value: 2 }] };
  const listed = data.ledger.length;
  data.ledger.push(none, broken);
  const { page, troubles } = await open(data);
  const items = await page.$$eval('#summary ul.plain li', (all) => all.map((li) => li.textContent));
  expect(items.filter((text) => text?.startsWith('blocks'))).toEqual(['blocks pulled: 0 ≠ 2 read']);
  expect(items).toHaveLength(listed + 1);
  expect(await page.textContent('#summary')).toContain('Nothing went into 1 other balance.');
  expect(await page.isVisible('#summary ul.plain')).toBe(true);
  expect(troubles).toEqual([]);
  await page.close();
  // Where all hold, they are there for who asks.
  const calm = await open(wordCount());
  expect(await calm.page.isVisible('#summary ul.plain')).toBe(false);
  await calm.page.click('#summary details summary');
  expect(await calm.page.isVisible('#summary ul.plain')).toBe(true);
  expect(calm.troubles).toEqual([]);
  await calm.page.close();
});

// How fast it opens and zooms: `bench/smooth.test.ts`.
test('a hundred nodes and 8,400 attempts open and zoom', async () => {
  const { page, troubles } = await open(teraSort());
  expect(await page.getAttribute('#tasks .gantt', 'aria-label')).toMatch(/of 8.4\d\d task attempts on 100 nodes/);
  await page.screenshot({ path: `${SHOTS}hundred-nodes.png`, fullPage: true });
  await page.focus('#tasks .gantt');
  const before = await page.locator('#tasks .gantt').screenshot();
  await page.press('#tasks .gantt', '+');
  await frames(page);
  expect(await page.locator('#tasks .gantt').screenshot()).not.toEqual(before);
  expect(troubles).toEqual([]);
  await page.close();
});

test('the page of a flow run has no column of packets', async () => {
  const { page, troubles } = await open({ ...wordCount(), fidelity: 'flow' });
  const heads = await page.$$eval('#flows th', (all) => all.map((th) => th.textContent));
  expect(heads).toEqual(['From', 'To', 'For', 'Start (s)', 'Lasted', 'Bytes', 'Mean rate', 'Ended']);
  expect(await page.textContent('#where')).toContain('waiting behind other messages');
  expect(troubles).toEqual([]);
  await page.close();
});

test('what the simulator writes is what the page reads', async () => {
  const data = parse(readFileSync(new URL('./run.json', import.meta.url), 'utf8'));
  const { page, troubles } = await open(data);
  expect(await page.textContent('h1')).toBe('word count </script> & <b>two</b> workers');
  expect(await page.$$eval('section', (all) => all.map((s) => s.id))).toEqual([
    'where',
    'comparison',
    'summary',
    'traffic',
    'tasks',
    'resources',
    'events',
    'flows',
    'nodes',
  ]);
  expect(await page.textContent('.story')).toMatch(
    /Of 12.s, 6.s \(50.%\) went into moving data over the network \(the 1 Gbit\/s link out of worker-1\)/,
  );
  expect(await page.getAttribute('#traffic [role=img]', 'aria-label')).toMatch(/50.% within 1\.5.s/);
  expect(await page.textContent('#traffic .note')).toContain('1 begun and not complete');
  expect(await page.$$eval('#resources figure', (all) => all.map((s) => s.id))).toEqual(
    data.charts.map((c) => `chart-${c.id}`),
  );
  expect(await page.getAttribute('#tasks .gantt', 'aria-label')).toContain('of 4 task attempts on 2 nodes');
  expect(await page.textContent('.comparison tbody')).toMatch(
    /job11\.5.s11.s to 13.s12.s−4\.2.%bytes50.MB52.MB−3\.8.%/,
  );
  expect(await page.$$eval('[data-view]', (plots) => plots.map((p) => (p as HTMLElement).dataset['view']))).toEqual(
    new Array(1 + data.charts.length).fill('0 40'),
  );
  await page.screenshot({ path: `${SHOTS}from-run.png`, fullPage: true });
  expect(troubles).toEqual([]);
  await page.close();
});

test.each([2, 12])('%i jobs', async (many) => {
  const data = wordCount();
  const only = data.jobs[0]!;
  data.jobs = Array.from({ length: many }, (_, i) => ({
    ...only,
    name: `job-${i}`,
    submit_s: i,
    finish_s: i === 1 ? 207 : 150,
    state: i === 0 ? 'failed' : 'succeeded',
    reason: i === 0 ? 'task failed 4 times' : '',
  }));
  const { page, troubles } = await open(data);
  const where = await page.$$eval('#where h2', (all) => all.map((h) => h.textContent));
  expect(where).toEqual(
    many === 2 ? ['Where the time of job-0 went', 'Where the time of job-1 went'] : ['Where the time of job-1 went'],
  );
  expect(await page.locator('#jobs tbody tr:not([data-rule])').count()).toBe(many === 2 ? 0 : many);
  if (many > 2) expect(await page.textContent('#jobs [data-rule=silent-node]')).toMatch(/Silent node12 of 12/);
  expect(await page.textContent('header')).toMatch(
    many === 2 ? /Failedjob-0.*task failed 4 times/ : /11 succeeded1 failed207.s/,
  );
  expect(await page.textContent('.counts')).toMatch(many === 2 ? /map input420.MB/ : /map input2\.52.GB/);
  expect(troubles).toEqual([]);
  await page.close();
});

test('hundreds of jobs: classes, causes, a table that scrolls, sorts, searches and leads to a job', async () => {
  const data = wordCount();
  const only = data.jobs[0]!;
  data.jobs = Array.from({ length: 300 }, (_, i) => ({
    ...only,
    name: `job_2009_${i}`,
    submit_s: i / 2,
    finish_s: i / 2 + 10 + ((i * 37) % 300) / 10,
    findings: i % 3 === 0 ? only.findings : [],
    maps: 1 + (i % 90),
    reduces: i % 7,
    size: 1e6 * (i + 1),
  }));
  data.job_classes = ['up to 100 MB', 'all'].map((label, i) => ({
    label,
    jobs: i === 0 ? 100 : 300,
    succeeded: i === 0 ? 100 : 299,
    mean_s: 20,
    p50_s: 18,
    p95_s: 37,
    p99_s: 39,
    max_s: 39.9,
  }));
  const { page, troubles } = await open(data);
  expect(await page.textContent('#jobs h2')).toBe('Jobs (300)');
  expect(await page.locator('#jobs [data-class]').count()).toBe(2);
  expect(await page.textContent('#jobs [data-rule=silent-node]')).toMatch(/100 of 300/);
  expect(await page.$eval('#jobs .tall', (box) => box.clientHeight)).toBeLessThan(360);
  const first = (): Promise<string | null> => page.textContent('#jobs .tall tbody tr th');
  // 37 i modulo 300 is 299 for i = 227: 37 x 227 = 8399 = 27 x 300 + 299.
  expect(await first(), 'the longest').toBe('job_2009_227');
  await page.locator('#jobs thead button', { hasText: 'Size' }).click();
  expect(await first()).toBe('job_2009_299');
  await page.getByLabel('Search jobs by name').fill('_12');
  expect(await page.locator('#jobs .tall tbody tr').count(), '12 and 120 to 129').toBe(11);
  await page.locator('#jobs .tall tbody button').first().click();
  await frames(page);
  const [from, to] = (await views(page))[0]!.split(' ').map(Number) as [number, number];
  expect(from).toBeLessThan(64.5);
  expect(to).toBeGreaterThan(64.5 + 10);
  await page.screenshot({ path: `${SHOTS}many-jobs.png`, fullPage: true });
  await page.setViewportSize({ width: 390, height: 800 });
  await frames(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(troubles).toEqual([]);
  await page.close();
});

test('names with markup stay text', async () => {
  const data = wordCount();
  data.title = '</script><img src=x onerror=alert(1)>';
  data.nodes[1]!.name = '<b>w1</b>';
  const { page, troubles } = await open(data);
  expect(await page.textContent('h1')).toBe(data.title);
  expect(await page.$$('main img, main b')).toHaveLength(0);
  expect(troubles).toEqual([]);
  await page.close();
});

test('data of another version is refused in words', async () => {
  const page = await browser.newPage();
  await page.goto(write({ ...wordCount(), schema: 'trunkline-report-0' }));
  expect(await page.textContent('main')).toContain('these are of schema trunkline-report-0');
  await page.close();
});
