// What ran and how it ended, and where the time went.

import { completionPlot, MOST_CURVES } from './completion';
import type { Balance, Comparison, Count, Fact, Flows, Job, ReportData, Spark, Traffic } from './data';
import { el, section, withCode } from './dom';
import { errorTable } from './errors';
import { causeBar } from './causes';
import { connections } from './flows';
import { explains, findings } from './findings';
import { FEW_JOBS } from './jobs';
import * as format from './format';
import { title as titled } from './runs';
import { advice, type Medium, story, totals } from './words';

const STATES = { succeeded: 'Succeeded', failed: 'Failed', unfinished: 'Not finished' } as const;

function headline(job: Job, named: boolean): HTMLElement {
  const launched = job.launch_s === null ? '' : `; ${format.seconds(job.finish_s - job.launch_s)} from launch`;
  return el(
    'p',
    { class: 'headline' },
    el('span', { class: `state ${job.state}` }, STATES[job.state]),
    named ? el('span', {}, job.name) : null,
    el('span', { class: 'big' }, format.seconds(job.finish_s - job.submit_s)),
    el(
      'span',
      { class: 'muted' },
      `submit to ${job.state === 'unfinished' ? 'the end of the run' : 'finish'}${launched}`,
    ),
    job.reason === '' ? null : el('span', { class: 'reason' }, job.reason),
  );
}

function application(spark: Spark): HTMLElement {
  const lost = spark.lost > 0 ? `, of which it lost ${format.count(spark.lost)}` : '';
  const [copies, first] = spark.copies.map(format.count);
  const copied = spark.copies[0] > 0 ? `; of ${copies} speculative copies ${first} were first` : '';
  const [driver, others] = spark.broadcast.map(format.bytes);
  const got = spark.broadcast.some((bytes) => bytes > 0);
  const broadcast = got ? `; they got ${driver} of broadcasts from the driver, ${others} from each other` : '';
  const [own, other, anew] = spark.cached.map(format.bytes);
  const read = spark.cached.some((bytes) => bytes > 0);
  const cached = read ? `; tasks read ${own} of kept data from their own executors, ${other} from others, and computed ${anew} anew` : '';
  const yarn = spark.ready_s === null ? '' : ` on YARN, whose program could go on after ${format.seconds(spark.ready_s)},`;
  const what = `application of Spark${yarn} on ${format.count(spark.executors)} executors${lost}${copied}${cached}${broadcast}`;
  return el(
    'p',
    { class: 'headline' },
    el('span', { class: `state ${spark.state}` }, STATES[spark.state]),
    spark.took_s === null ? null : el('span', { class: 'big' }, format.seconds(spark.took_s)),
    el(
      'span',
      { class: 'muted' },
      spark.took_s === null ? `an ${what}` : `from the first job’s submission to the last one’s end: an ${what}`,
    ),
    spark.reason === '' ? null : el('span', { class: 'reason' }, spark.reason),
  );
}

function allJobs(jobs: Job[]): HTMLElement {
  const ended = (state: Job['state']): number => jobs.filter((job) => job.state === state).length;
  const parts = (['succeeded', 'failed', 'unfinished'] as const)
    .filter((state) => ended(state) > 0)
    .map((state) => el('span', { class: `state ${state}` }, `${ended(state)} ${STATES[state].toLowerCase()}`));
  const first = Math.min(...jobs.map((job) => job.submit_s));
  const last = Math.max(...jobs.map((job) => job.finish_s));
  return el(
    'p',
    { class: 'headline' },
    ...parts,
    el('span', { class: 'big' }, format.seconds(last - first)),
    el('span', { class: 'muted' }, `from the first submission to the last end of ${format.count(jobs.length)} jobs`),
  );
}

/** Volumes of several jobs, summed by what they are. */
export function volumes(all: Job[]): Count[] {
  const sums = new Map<string, number>();
  for (const job of all) for (const { label, value } of job.bytes) sums.set(label, (sums.get(label) ?? 0) + value);
  return [...sums].map(([label, value]) => ({ label, value }));
}

export function header(data: ReportData, themeButton: HTMLElement): HTMLElement {
  const lines =
    data.jobs.length > FEW_JOBS
      ? [allJobs(data.jobs)]
      : data.jobs.length > 0
        ? data.jobs.map((job) => headline(job, data.jobs.length > 1))
        : data.spark
          ? [application(data.spark)]
          : [
              el(
                'p',
                { class: 'headline' },
                el('span', { class: 'big' }, format.seconds(data.end_s)),
                el('span', { class: 'muted' }, 'of simulated traffic, no job'),
              ),
            ];
  // Flow level counts what it cannot foresee: the times above it are then too short, and by how much is not known.
  const doubts = data.events
    .filter((event) => event.kind === 'overflow')
    .map((event) => el('p', { class: 'doubt' }, 'These times may be far too short: ', ...withCode(event.text)));
  return el('header', {}, titled(data.title, data.changes, themeButton), ...lines, ...doubts);
}

function counts(title: string, items: Count[], print: (value: number) => string): HTMLElement | null {
  if (items.length === 0) return null;
  return el(
    'div',
    {},
    el('h3', {}, title),
    el(
      'dl',
      { class: 'counts' },
      ...items.flatMap((item) => [el('dt', {}, item.label), el('dd', {}, print(item.value))]),
    ),
  );
}

function amounts(cost: Fact[]): HTMLElement | null {
  if (cost.length === 0) return null;
  const rows = cost.flatMap((fact) => [el('dt', {}, fact.label), el('dd', {}, fact.value)]);
  return el('div', {}, el('h3', {}, 'Cost'), el('dl', { class: 'counts' }, ...rows));
}

/** A conservation law in one line; what went nowhere is left out. */
export function balance(law: Balance): string {
  const parts = law.accounted
    .filter((part) => part.value !== 0)
    .map((part) => `${format.count(part.value)} ${part.label}`);
  return `${law.what}: ${format.count(law.offered)} ${law.holds ? '=' : '≠'} ${parts.length > 0 ? parts.join(' + ') : '0'}`;
}

function ledger(laws: Balance[]): HTMLElement | null {
  if (laws.length === 0) return null;
  const ok = laws.every((law) => law.holds);
  // What did not happen in the run: its balance is 0 = 0.
  const empty = laws.filter((law) => law.holds && law.offered === 0);
  const told = laws.filter((law) => !empty.includes(law));
  const list = el(
    'ul',
    { class: 'plain' },
    ...told.map((law) => el('li', law.holds ? {} : { class: 'violated' }, balance(law))),
  );
  const rest = empty.length > 0 ? ` Nothing went into ${empty.length} other ${empty.length > 1 ? 'balances' : 'balance'}.` : '';
  return el(
    'div',
    {},
    el('h3', {}, 'Conservation'),
    el('p', { class: ok ? 'ok' : 'violated' }, ok ? '✓ Every balance holds' : '✕ A balance does not hold'),
    el('p', { class: 'note' }, `What went in = where it went, counted apart in the simulation.${rest}`),
    ok ? el('details', {}, el('summary', {}, `${told.length} ${told.length === 1 ? 'balance' : 'balances'}`), list) : list,
  );
}

function scenario(text: string): HTMLElement | null {
  return text === ''
    ? null
    : el(
        'details',
        { id: 'scenario' },
        el('summary', {}, 'The scenario, where it differs from the defaults'),
        el('pre', {}, text),
      );
}

export function summary(data: ReportData): HTMLElement {
  const setup = el(
    'div',
    { class: 'wide' },
    el('h3', {}, 'Set-up'),
    el('dl', { class: 'facts' }, ...data.setup.flatMap((f) => [el('dt', {}, f.label), el('dd', {}, f.value)])),
  );
  const bytes = counts(data.jobs.length > 1 ? 'Bytes, all jobs' : 'Bytes', volumes(data.jobs), format.bytes);
  return section(
    'summary',
    'Summary',
    el(
      'div',
      { class: 'summary' },
      setup,
      bytes,
      amounts(data.cost ?? []),
      counts('Network', data.network, format.count),
      ledger(data.ledger),
    ),
    scenario(data.scenario),
  );
}

/** Ways from a sentence to its place in the charts. */
export interface Show {
  attempt: (attempt: number) => void;
  span: (from: number, to: number) => void;
}

export function whereTimeWent(
  job: Job,
  named: boolean,
  medium: Medium,
  show: Show,
  flows: Flows,
): HTMLElement | null {
  const parts = totals(job.critical_path);
  if (parts.length === 0) return null;
  return section(
    'where',
    named ? `Where the time of ${job.name} went` : 'Where the time went',
    el('p', { class: 'story' }, story(job, medium).join(' ')),
    ...causeBar(parts, medium, 'Critical path by cause'),
    // Advice of a general kind stands where no rule has found the cause.
    explains(job.findings, parts[0]!.seconds) ? null : el('p', { class: 'story' }, advice(job, medium)),
    findings(job.findings, job.finish_s - job.submit_s, 'Hadoop', show.attempt),
    connections(job.critical_path, flows, medium !== 'flows', show.span),
  );
}

/** Where the time of an application of Spark went: its longest chain of tasks by cause, and the findings. */
export function whereSparkWent(spark: Spark, medium: Medium, show: Show): HTMLElement | null {
  const parts = totals(spark.critical_path);
  if (parts.length === 0) return null;
  const [submit, finish] = spark.span_s;
  return section(
    'where',
    'Where the time went',
    el('p', { class: 'story' }, story(spark, medium).join(' ')),
    ...causeBar(parts, medium, 'Critical path by cause'),
    explains(spark.findings, parts[0]!.seconds) ? null : el('p', { class: 'story' }, advice(spark, medium)),
    findings(spark.findings, finish - submit, 'Spark', show.attempt),
  );
}

export function traffic(rows: Traffic[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const head = [
    'Traffic',
    'Begun',
    'Complete',
    'Delivered',
    'Goodput',
    'Median',
    '95 %',
    '99 %',
    ...(rows.some((t) => t.completion_p999_s !== null) ? ['99.9 %'] : []),
    'Longest',
    "Jain's index",
  ];
  const cells = (t: Traffic): string[] => [
    format.count(t.begun),
    format.count(t.completed),
    format.bytes(t.delivered),
    format.rate(t.goodput),
    ...[
      t.completion_p50_s,
      t.completion_p95_s,
      t.completion_p99_s,
      ...(rows.some((row) => row.completion_p999_s !== null) ? [t.completion_p999_s] : []),
      t.completion_max_s,
    ].map((s) => (t.completed > 0 && s !== null ? format.seconds(s) : '')),
    t.jain.toFixed(3),
  ];
  const body = rows.map((t) =>
    el('tr', {}, el('th', { scope: 'row' }, t.name), ...cells(t).map((cell) => el('td', { class: 'number' }, cell))),
  );
  const top = head.map((h, k) => el('th', { scope: 'col', ...(k > 0 ? { class: 'number' } : {}) }, h));
  const caption = el(
    'caption',
    {},
    'Payload delivered in order; completion times of flows, sessions or rounds; 1 is a fair share for all.',
  );
  return section(
    'traffic',
    'Traffic',
    el(
      'div',
      { class: 'table', tabindex: '0' },
      el('table', {}, caption, el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...body)),
    ),
    completions(rows),
  );
}

/** How long what is complete took, a curve for each traffic; those that complete nothing, or one thing, have none. */
function completions(rows: Traffic[]): HTMLElement | null {
  const curves = rows.filter((t) => t.completion.length > 1);
  if (curves.length === 0) return null;
  const open = rows.map((t) => t.begun - t.completed).reduce((sum, n) => sum + n, 0);
  const parts = [
    'The share of what is complete that took no longer than a time.',
    open > 0 ? `${format.count(open)} begun and not complete are not in it.` : '',
    curves.length > MOST_CURVES ? `The first ${MOST_CURVES} of ${curves.length} are shown.` : '',
  ];
  return completionPlot(
    'chart-traffic-completion',
    'Completion time',
    parts.filter((p) => p !== '').join(' '),
    'Share of the complete (%)',
    curves.map((t) => ({ name: t.name, points: t.completion })),
  );
}

/** Predictions beside what was recorded, their errors on one axis. */
export function comparison(data: Comparison): HTMLElement {
  return section(
    'comparison',
    data.title,
    data.note === '' ? null : el('p', { class: 'note' }, data.note),
    errorTable(data.rows),
  );
}
