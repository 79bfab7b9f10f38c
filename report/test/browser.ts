// Debian's Chromium with nothing but the page: a fresh profile, no network of its own.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
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

/** Writes a report with `data` as a run would, and returns its file: URL. */
export function write(data: ReportData): string {
  const template = readFileSync(new URL('../dist/report.html', import.meta.url), 'utf8');
  const file = join(mkdtempSync(join(tmpdir(), 'report-')), 'report.html');
  writeFileSync(
    file,
    template.replace('__REPORT_DATA__', () => JSON.stringify(data).replaceAll('<', '\\u003c')),
  );
  return pathToFileURL(file).href;
}
