// Debian's Chromium with nothing but the page: a fresh profile, no network of its own.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll } from 'vitest';
import type { ReportData } from '../src/data';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args: FLAGS });
}

/** Where a file of tests keeps its reports. */
const folder = mkdtempSync(join(tmpdir(), 'report-'));
let written = 0;
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a report with `data` as a run would, and returns its file: URL. */
export function write(data: unknown): string {
  const template = readFileSync(new URL('../dist/report.html', import.meta.url), 'utf8');
  const file = join(folder, `${written++}.html`);
  writeFileSync(
    file,
    template.replace('__REPORT_DATA__', () => JSON.stringify(data).replaceAll('<', '\\u003c')),
  );
  return pathToFileURL(file).href;
}

export interface Opened {
  page: Page;
  /** What it said on the console, threw, or asked the network for. */
  troubles: string[];
}

export interface Look {
  width?: number;
  colorScheme?: 'light' | 'dark';
  deviceScaleFactor?: number;
}

/** Opens a report of `data` from disk, and waits until it is drawn. */
export function open(browser: Browser, data: ReportData, look: Look = {}): Promise<Opened> {
  return openAny(browser, data, look);
}

/** The same of any data that the page knows how to show. */
export async function openAny(browser: Browser, data: unknown, look: Look = {}): Promise<Opened> {
  const { width = 1280, colorScheme = 'light', deviceScaleFactor = 1 } = look;
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, deviceScaleFactor });
  const troubles: string[] = [];
  page.on('console', (message) => message.type() !== 'log' && troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('request', (request) => !/^(file|blob):/.test(request.url()) && troubles.push(`asked for ${request.url()}`));
  await page.goto(write(data));
  await page.waitForSelector('main footer');
  await frames(page);
  return { page, troubles };
}

/** Until everything that was asked for is drawn, what is out of sight included. */
export async function frames(page: Page): Promise<void> {
  await page.waitForTimeout(150);
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}
