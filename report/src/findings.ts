// Why a job took as long as it did: causes by what they cost, each with its figures and the settings that change it.

import type { Finding } from './data';
import { el } from './dom';
import * as format from './format';

/** Up to so many are open; the others fold away. */
const OPEN = 5;

const RULES: Record<string, string> = {
  'silent-node': 'Silent node',
  'failed-attempts': 'Work in vain',
  'second-attempt': 'Slow first attempt',
  'map-bytes-skew': 'Uneven splits',
  'map-time-skew': 'Uneven maps',
  'reduce-bytes-skew': 'Uneven partitions',
  'reduce-time-skew': 'Uneven reducers',
  stragglers: 'Slow node',
  spills: 'Spills',
  'slot-waves': 'Waves of maps',
  'idle-slots': 'Idle slots',
  locality: 'Data locality',
  'object-store': 'Object store',
  'short-tasks': 'Short tasks',
  shuffle: 'Shuffle',
  output: 'Output',
  'tcp-timeouts': 'TCP timeouts',
  heartbeats: 'Heartbeats',
  processor: 'Processors',
  disk: 'Disks',
  'executor-starts': 'Starts of executors',
  driver: 'Driver',
};

export function ruleName(rule: string): string {
  return RULES[rule] ?? rule;
}

/** A finding that explains at least this part of the largest cause takes the place of general advice. */
const EXPLAINS = 0.5;

export function explains(findings: Finding[], seconds: number): boolean {
  return findings.some((finding) => finding.cost_s >= EXPLAINS * seconds);
}

/** Whose properties a finding names, and what it took its part of. */
export type Of = 'Hadoop' | 'Spark';

function settings(finding: Finding, of: Of): HTMLElement {
  const codes = (names: string): (Node | string)[] =>
    names.split(', ').flatMap((name, k) => [k > 0 ? ', ' : '', el('code', {}, name)]);
  return el(
    'div',
    { class: 'detail' },
    ...(finding.property === '' ? [] : [`${of}: `, ...codes(finding.property), '. ']),
    'Scenario: ',
    ...codes(finding.key),
  );
}

function one(finding: Finding, length: number, of: Of, show: (attempt: number) => void): HTMLElement {
  const button = el('button', { type: 'button', class: 'quiet' }, 'Show it in the chart');
  button.addEventListener('click', () => show(finding.attempt));
  return el(
    'li',
    { class: 'cause', 'data-rule': finding.rule },
    el(
      'div',
      {},
      el('span', { class: `severity ${finding.severity}` }, finding.severity),
      el('strong', {}, ruleName(finding.rule)),
      el('span', { class: 'muted' }, `${format.seconds(finding.cost_s)}, ${format.share(finding.cost_s / length)} of the ${of === 'Spark' ? 'application' : 'job'}`),
    ),
    el('div', {}, finding.summary),
    el('div', { class: 'detail' }, `${finding.evidence}.`, finding.attempt >= 0 ? button : null),
    el('div', { class: 'detail' }, finding.advice),
    settings(finding, of),
  );
}

/** The causes of a job or an application of `length` seconds; null where no rule found one. */
export function findings(
  all: Finding[],
  length: number,
  of: Of,
  show: (attempt: number) => void,
): HTMLElement | null {
  if (all.length === 0) return null;
  const list = (some: Finding[]): HTMLElement =>
    el('ul', { class: 'causes-found' }, ...some.map((f) => one(f, length, of, show)));
  const rest = all.slice(OPEN);
  return el(
    'div',
    { class: 'why' },
    el('h3', {}, 'Why'),
    list(all.slice(0, OPEN)),
    rest.length > 0
      ? el('details', {}, el('summary', {}, `${format.count(rest.length)} lesser causes`), list(rest))
      : null,
    el(
      'p',
      { class: 'note' },
      'Each cost is time of the longest chain of tasks; causes overlap, and another chain may become the longest.',
    ),
  );
}
