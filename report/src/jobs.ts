// Many jobs: their classes of size, the causes of all of them, and a table that sorts, searches and leads to each.

import { causeBar } from './causes';
import type { Job, JobClass } from './data';
import { el, section } from './dom';
import { ruleName } from './findings';
import * as format from './format';
import { causeName, totals, type Medium } from './words';

/** Up to so many jobs have a line and a paragraph of their own; more are a table. */
export const FEW_JOBS = 3;

/** The jobs whose time is told in words: all of a few, else the one that took longest. */
export function told(all: Job[]): Job[] {
  if (all.length <= FEW_JOBS) return all;
  return [all.reduce((a, b) => (b.finish_s - b.submit_s > a.finish_s - a.submit_s ? b : a))];
}

const STATES = { succeeded: 'Succeeded', failed: 'Failed', unfinished: 'Not finished' } as const;

function cell(text: string, number = false): HTMLElement {
  return el('td', number ? { class: 'number' } : {}, text);
}

function table(head: [string, boolean][], body: HTMLElement[]): HTMLElement {
  const top = head.map(([h, number]) => el('th', { scope: 'col', ...(number ? { class: 'number' } : {}) }, h));
  return el(
    'div',
    { class: 'table', tabindex: '0' },
    el('table', {}, el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...body)),
  );
}

function took(job: Job): number {
  return job.finish_s - job.submit_s;
}

/** The costliest cause of a job. */
function cause(job: Job): string {
  const first = job.findings[0];
  return first ? `${ruleName(first.rule)}, ${format.share(first.cost_s / took(job))}` : '';
}

function mostly(job: Job, medium: Medium): string {
  const parts = totals(job.critical_path);
  const whole = parts.reduce((sum, p) => sum + p.seconds, 0);
  const first = parts[0];
  return first ? `${causeName(first.cause, medium)}, ${format.share(first.seconds / whole)}` : '';
}

/** Jobs by what they move together. */
function classes(rows: JobClass[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const head: [string, boolean][] = ['Reads, shuffles and writes', 'Jobs', 'Succeeded', 'Mean', 'Median', '95 %', '99 %', 'Longest'].map(
    (h, k) => [h, k > 0],
  );
  const body = rows.map((r) =>
    el(
      'tr',
      { 'data-class': r.label },
      el('th', { scope: 'row' }, r.label),
      cell(format.count(r.jobs), true),
      cell(format.count(r.succeeded), true),
      ...[r.mean_s, r.p50_s, r.p95_s, r.p99_s, r.max_s].map((s) => cell(format.seconds(s), true)),
    ),
  );
  return table(head, body);
}

/** The causes of many jobs, by rule: how many jobs each slowed, by how much, and which most. */
export function byRule(all: Job[]): { rule: string; jobs: number; seconds: number; worst: string; most: number }[] {
  const sums = new Map<string, { rule: string; jobs: number; seconds: number; worst: string; most: number }>();
  for (const job of all)
    for (const f of job.findings) {
      const sum = sums.get(f.rule) ?? { rule: f.rule, jobs: 0, seconds: 0, worst: '', most: 0 };
      sum.jobs += 1;
      sum.seconds += f.cost_s;
      if (f.cost_s > sum.most) [sum.worst, sum.most] = [job.name, f.cost_s];
      sums.set(f.rule, sum);
    }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
}

function causes(all: Job[]): HTMLElement | null {
  const rows = byRule(all);
  if (rows.length === 0) return null;
  const body = rows.map((r) =>
    el(
      'tr',
      { 'data-rule': r.rule },
      el('th', { scope: 'row' }, ruleName(r.rule)),
      cell(`${format.count(r.jobs)} of ${format.count(all.length)}`, true),
      cell(format.seconds(r.seconds), true),
      cell(`${r.worst}, ${format.seconds(r.most)}`),
    ),
  );
  return table(
    [
      ['Why jobs took so long', false],
      ['Jobs', true],
      ['Time in all', true],
      ['Worst', false],
    ],
    body,
  );
}

interface Column {
  title: string;
  value: (job: Job) => number | string;
  print: (job: Job) => string;
  number?: true;
}

function columns(all: Job[], medium: Medium): Column[] {
  const out: Column[] = [
    {
      title: 'State',
      value: (j) => j.state,
      print: (j) => (j.reason === '' ? STATES[j.state] : `${STATES[j.state]}: ${j.reason}`),
    },
    { title: 'Submitted (s)', value: (j) => j.submit_s, print: (j) => j.submit_s.toFixed(1), number: true },
    { title: 'Took', value: took, print: (j) => format.seconds(took(j)), number: true },
  ];
  if (all.some((j) => j.size !== undefined))
    out.push({ title: 'Size', value: (j) => j.size ?? 0, print: (j) => format.bytes(j.size ?? 0), number: true });
  if (all.some((j) => j.maps !== undefined))
    out.push(
      { title: 'Maps', value: (j) => j.maps ?? 0, print: (j) => format.count(j.maps ?? 0), number: true },
      { title: 'Reducers', value: (j) => j.reduces ?? 0, print: (j) => format.count(j.reduces ?? 0), number: true },
    );
  out.push({ title: 'Mostly', value: (j) => mostly(j, medium), print: (j) => mostly(j, medium) });
  if (all.some((j) => j.findings.length > 0)) out.push({ title: 'Why', value: cause, print: cause });
  return out;
}

function compare(a: number | string, b: number | string): number {
  return typeof a === 'string' && typeof b === 'string'
    ? a.localeCompare(b, 'en', { numeric: true })
    : Number(a) - Number(b);
}

/** All jobs, the longest first, in a box that scrolls. */
function list(all: Job[], medium: Medium, show: (from: number, to: number) => void): HTMLElement {
  const all_columns: Column[] = [{ title: 'Job', value: (j) => j.name, print: (j) => j.name }, ...columns(all, medium)];
  const body = el('tbody');
  let sorted = all_columns.findIndex((c) => c.title === 'Took');
  let rising = false;
  let wanted = '';
  const heads = all_columns.map((column, k) => {
    const button = el('button', { type: 'button', class: 'quiet' }, column.title);
    button.addEventListener('click', () => {
      rising = sorted === k ? !rising : !column.number;
      sorted = k;
      fill();
    });
    return el('th', { scope: 'col', ...(column.number ? { class: 'number' } : {}) }, button);
  });
  const found = el('output', { class: 'muted' });
  const fill = (): void => {
    heads.forEach((h, k) => h.setAttribute('aria-sort', k === sorted ? (rising ? 'ascending' : 'descending') : 'none'));
    const value = all_columns[sorted]!.value;
    const rows = all
      .filter((j) => j.name.toLowerCase().includes(wanted))
      .sort((a, b) => (rising ? 1 : -1) * compare(value(a), value(b)));
    found.textContent = wanted === '' ? `of ${format.count(all.length)} jobs; a name shows its time in the charts` : `${format.count(rows.length)} found`;
    body.replaceChildren(
      ...rows.map((job) => {
        const button = el('button', { type: 'button', class: 'quiet', title: 'Show its time in the charts' }, job.name);
        button.addEventListener('click', () => show(job.submit_s, job.finish_s));
        const rest = all_columns.slice(1).map((c) => cell(c.print(job), c.number === true));
        return el('tr', {}, el('th', { scope: 'row' }, button), ...rest);
      }),
    );
  };
  fill();
  const search = el('input', { type: 'search', placeholder: 'Search by name', 'aria-label': 'Search jobs by name' });
  search.addEventListener('input', () => {
    wanted = search.value.toLowerCase();
    fill();
  });
  return el(
    'div',
    { class: 'all-jobs' },
    el('div', { class: 'toolbar' }, search, found),
    el(
      'div',
      { class: 'table tall', tabindex: '0' },
      el('table', {}, el('thead', {}, el('tr', {}, ...heads)), body),
    ),
  );
}

/** The section of many jobs. */
export function jobs(
  all: Job[],
  of: JobClass[],
  medium: Medium,
  show: (from: number, to: number) => void,
): HTMLElement | null {
  if (all.length <= FEW_JOBS) return null;
  const parts = totals(all.flatMap((job) => job.critical_path));
  return section(
    'jobs',
    `Jobs (${format.count(all.length)})`,
    classes(of),
    parts.length > 0 ? el('p', { class: 'note' }, 'Time of the critical paths of all jobs together, by cause:') : null,
    ...(parts.length > 0 ? causeBar(parts, medium, 'Critical paths of all jobs by cause') : []),
    causes(all),
    list(all, medium, show),
  );
}
