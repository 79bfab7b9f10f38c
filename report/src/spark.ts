// An application of Spark: its stages, one below the other, and what was excluded from them.

import type { Spark, SparkExclusion, SparkStage } from './data';
import { el, section } from './dom';
import * as format from './format';

const HEAD = [
  'Stage',
  'Tasks',
  'Submitted',
  'Took',
  'Read',
  'Shuffle in',
  'Over the network',
  'Shuffle out',
  'Fetch wait',
];

function cells(stage: SparkStage): string[] {
  const { submit_s: submit, finish_s: finish } = stage;
  return [
    (stage.done === stage.tasks ? '' : `${format.count(stage.done)} of `) +
      format.count(stage.tasks) +
      (stage.partitions !== stage.tasks ? ` for ${format.count(stage.partitions)} partitions` : ''),
    submit === null ? '' : format.seconds(submit),
    submit === null || finish === null ? '' : format.seconds(finish - submit),
    ...[stage.input, stage.shuffle_read, stage.shuffle_remote, stage.shuffle_write].map((bytes) =>
      bytes > 0 ? format.bytes(bytes) : '',
    ),
    stage.shuffle_read > 0 ? format.seconds(stage.fetch_wait_s) : '',
  ];
}

/** The stages as a table; a stage's name shows its time in all plots. */
export function stages(spark: Spark, show: (from: number, to: number) => void): HTMLElement {
  const name = (stage: SparkStage): HTMLElement => {
    const { submit_s: from, finish_s: to } = stage;
    if (from === null || to === null) return el('th', { scope: 'row' }, stage.name);
    const button = el('button', { type: 'button', class: 'quiet' }, stage.name);
    button.addEventListener('click', () => show(from, to));
    return el('th', { scope: 'row' }, button);
  };
  const rows = spark.stages.map((stage) =>
    el('tr', {}, name(stage), ...cells(stage).map((cell) => el('td', { class: 'number' }, cell))),
  );
  const top = HEAD.map((head, k) => el('th', { scope: 'col', ...(k > 0 ? { class: 'number' } : {}) }, head));
  const more = spark.left_out > 0 ? ` ${format.count(spark.left_out)} stages that took less are left out.` : '';
  const wait = 'A fetch wait is how long a task had no shuffle block to work on, on average.';
  const said = `Times since the run’s begin. ${wait}`;
  return section(
    'stages',
    'Stages',
    el(
      'div',
      { class: 'table', tabindex: '0' },
      el('table', {}, el('caption', {}, said + more), el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...rows)),
    ),
  );
}

/** What was excluded, from where and for how long; a row's name shows its time in all plots. */
export function exclusions(spark: Spark, end: number, show: (from: number, to: number) => void): HTMLElement | null {
  if (spark.exclusions.length === 0) return null;
  const name = ({ executor, node, at_s: from, until_s: until }: SparkExclusion): HTMLElement => {
    const what = executor === null ? `all of ${node}` : `executor ${format.count(executor)} on ${node}`;
    const button = el('button', { type: 'button', class: 'quiet' }, what);
    button.addEventListener('click', () => show(from, Math.min(until ?? end, end)));
    return el('th', { scope: 'row' }, button);
  };
  const rows = spark.exclusions.map((one) =>
    el(
      'tr',
      {},
      name(one),
      el('td', {}, one.stage === null ? 'the application' : `stage ${one.stage}`),
      el('td', { class: 'number' }, format.seconds(one.at_s)),
      el('td', { class: 'number' }, one.until_s === null ? 'the end' : format.seconds(one.until_s)),
    ),
  );
  const heads: [string, boolean][] = [
    ['What', false],
    ['Excluded from', false],
    ['At', true],
    ['Until', true],
  ];
  const top = heads.map(([head, number]) => el('th', { scope: 'col', ...(number ? { class: 'number' } : {}) }, head));
  const more =
    spark.exclusions_left_out > 0 ? ` ${format.count(spark.exclusions_left_out)} later ones are left out.` : '';
  const said = 'Executors and nodes that got no more tasks as some failed there. Times since the run’s begin.';
  return section(
    'exclusions',
    'Exclusions',
    el(
      'div',
      { class: 'table', tabindex: '0' },
      el('table', {}, el('caption', {}, said + more), el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...rows)),
    ),
  );
}
