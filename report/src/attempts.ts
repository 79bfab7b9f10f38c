// Task attempts in words: which ones a filter admits, what each did, the legend of their colours, and all of them as a table.

import { OUTCOMES, PHASES, type PhaseKind, type ReportData } from './data';
import { el } from './dom';
import * as format from './format';
import type { Layout } from './lanes';

const PHASE_NAMES: Record<PhaseKind, string> = {
  startup: 'start-up',
  read: 'read',
  compute: 'compute',
  spill: 'spill',
  fetch: 'fetch',
  merge: 'merge',
  reduce: 'reduce',
  write: 'write',
};

export interface Filter {
  kind: 'all' | 'map' | 'reduce';
  outcome: 'all' | 'not succeeded' | 'speculative';
  node: number;
}

export function admits(data: ReportData, filter: Filter): (attempt: number) => boolean {
  const a = data.attempts;
  return (i) =>
    (filter.kind === 'all' || a.kind[i] === (filter.kind === 'map' ? 0 : 1)) &&
    (filter.outcome === 'all' ||
      (filter.outcome === 'speculative' ? a.speculative[i] === 1 : OUTCOMES[a.outcome[i]!] !== 'succeeded')) &&
    (filter.node < 0 || a.node[i] === filter.node);
}

/** An attempt in lines of text, for the tooltip and for assistive technology. */
export function describe(
  data: ReportData,
  i: number,
): { title: string; lines: string[]; phases: { kind: PhaseKind; text: string }[] } {
  const a = data.attempts;
  const outcome = OUTCOMES[a.outcome[i]!]!;
  const start = a.start_ms[i]! / 1000;
  const end = a.end_ms[i]! / 1000;
  const spans = new Map<PhaseKind, number>();
  for (let p = a.phase_at[i]!; p < a.phase_at[i + 1]!; p += 1) {
    const kind = PHASES[a.phase_kind[p]!]!;
    spans.set(kind, (spans.get(kind) ?? 0) + (a.phase_end_ms[p]! - a.phase_start_ms[p]!) / 1000);
  }
  const note = a.note[String(i)];
  const lines = [
    `${a.kind[i] === 0 ? 'Map' : 'Reduce'} on ${data.nodes[a.node[i]!]?.name ?? '?'}, ${outcome}${a.speculative[i] ? ', speculative' : ''}`,
    `${format.instant(start, end - start || 1)} to ${format.instant(end, end - start || 1)}, ${format.seconds(end - start)}`,
    `${format.bytes(a.bytes_in[i]!)} in, ${format.bytes(a.bytes_out[i]!)} out`,
  ];
  if (note !== undefined) lines.push(note);
  return {
    title: a.name[i]!,
    lines,
    phases: [...spans].map(([kind, s]) => ({ kind, text: `${PHASE_NAMES[kind]} ${format.seconds(s)}` })),
  };
}

export function legend(data: ReportData): HTMLElement {
  const used = new Set(data.attempts.phase_kind);
  const items = PHASES.filter((_, k) => used.has(k)).map((kind) =>
    el('li', {}, el('span', { class: 'swatch', style: `background:var(--phase-${kind})` }), PHASE_NAMES[kind]),
  );
  const has = (test: (i: number) => boolean): boolean => data.attempts.outcome.some((_, i) => test(i));
  if (has((i) => OUTCOMES[data.attempts.outcome[i]!] === 'failed'))
    items.push(el('li', {}, el('span', { class: 'swatch failed' }, '✕'), 'failed'));
  if (has((i) => OUTCOMES[data.attempts.outcome[i]!] === 'killed'))
    items.push(el('li', {}, el('span', { class: 'swatch killed' }, '⁄'), 'killed'));
  if (has((i) => data.attempts.speculative[i] === 1))
    items.push(el('li', {}, el('span', { class: 'swatch speculative' }), 'speculative'));
  return el('ul', { class: 'legend' }, ...items);
}

const TABLE_ROWS = 500;

/** The same attempts as a table, built when it is opened. */
export function table(data: ReportData, now: () => Layout): HTMLElement {
  const details = el('details', {}, el('summary', {}, 'Attempts as a table'));
  details.addEventListener('toggle', () => {
    details.querySelector('.table')?.remove();
    if (!details.open) return;
    const a = data.attempts;
    const order = now()
      .rows.flatMap((row) => [...row.attempts])
      .sort((i, j) => a.start_ms[i]! - a.start_ms[j]!);
    const head = ['Attempt', 'Node', 'Outcome', 'Start (s)', 'End (s)', 'Duration', 'In', 'Out', 'Phases'];
    const numeric = (k: number): Record<string, string> => (k >= 3 && k <= 7 ? { class: 'number' } : {});
    const body = order.slice(0, TABLE_ROWS).map((i) => {
      const text = describe(data, i);
      const cells = [
        text.title,
        data.nodes[a.node[i]!]?.name ?? '',
        `${OUTCOMES[a.outcome[i]!]!}${a.speculative[i] ? ', speculative' : ''}`,
        (a.start_ms[i]! / 1000).toFixed(2),
        (a.end_ms[i]! / 1000).toFixed(2),
        format.seconds((a.end_ms[i]! - a.start_ms[i]!) / 1000),
        format.bytes(a.bytes_in[i]!),
        format.bytes(a.bytes_out[i]!),
        text.phases.map((p) => p.text).join(', '),
      ];
      return el('tr', {}, ...cells.map((cell, k) => el('td', numeric(k), cell)));
    });
    const caption =
      order.length > TABLE_ROWS
        ? `The first ${format.count(TABLE_ROWS)} of ${format.count(order.length)} attempts by start; filter above for others.`
        : `${format.count(order.length)} attempts by start`;
    details.append(
      el(
        'div',
        { class: 'table', tabindex: '0' },
        el(
          'table',
          {},
          el('caption', {}, caption),
          el('thead', {}, el('tr', {}, ...head.map((h, k) => el('th', { scope: 'col', ...numeric(k) }, h)))),
          el('tbody', {}, ...body),
        ),
      ),
    );
  });
  return details;
}
