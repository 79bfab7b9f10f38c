// The page of several runs: how long, how sure, and where the record lies.

import { el, section } from './dom';
import { errorTable } from './errors';
import * as format from './format';
import type { Runs, RunsFigure, RunsValues } from './runs-data';
import { label, plusMinus, together } from './scale';
import { place, spread, words, type SpreadRow } from './spread';
import { tradeOff } from './trade-off';

/** The figure that the page is about: the first time of a job, else the first time, else the first figure. */
export function main(figures: RunsFigure[]): RunsFigure | null {
  return (
    figures.find((f) => f.recorded !== null) ??
    figures.find((f) => f.name.endsWith(': launch to finish')) ??
    figures.find((f) => f.unit === 's') ??
    figures[0] ??
    null
  );
}

/** Of several jobs, the others' times; else phases and counters. What is the same in all runs needs no plot. */
export function others(data: Runs, first: RunsFigure | null): RunsFigure[] {
  const constant = (f: RunsFigure): boolean => {
    const all = f.of.flatMap((v) => (v === null ? [] : v.values.filter((x): x is number => x !== null)));
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return !(high - low > 1e-9 * Math.max(Math.abs(high), Math.abs(low)));
  };
  return data.figures.filter((f) => f !== first && !constant(f));
}

function rows(data: Runs, figure: RunsFigure): SpreadRow[] {
  return figure.of.flatMap((v, i) =>
    v === null
      ? []
      : [{ name: data.scenarios[i]!.name, values: v.values, median: v.median, low: v.low, high: v.high }],
  );
}

/** Where some runs have no value, how many have one. */
function estimate(v: RunsValues): string {
  const have = v.values.filter((x) => x !== null).length;
  if (have < v.values.length) return `${label(v.mean)} in ${have} of ${v.values.length}`;
  return v.half_width === null ? label(v.mean) : plusMinus(v.mean, v.half_width);
}

function table(data: Runs): HTMLElement {
  const several = data.scenarios.length > 1;
  const head = ['Figure', ...(several ? ['Scenario'] : []), 'Mean ± 95 %', '90 % of the runs', ...(several ? ['Change'] : [])];
  const body = data.figures.flatMap((f) =>
    f.of.flatMap((v, i) => {
      if (v === null) return [];
      const base = f.of[0]?.mean ?? 0;
      const d = v.difference;
      const change = d === null ? '' : base === 0 ? label(d.mean) : format.signedShare(d.mean / base);
      const sure = d === null || d.half_width === null ? '' : d.significant ? ', significant' : ', not significant';
      const name = f.unit === '' ? f.name : `${f.name}, ${f.unit}`;
      return [
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, name),
          ...(several ? [el('td', {}, data.scenarios[i]!.name)] : []),
          el('td', { class: 'number' }, estimate(v)),
          el('td', { class: 'number' }, together([v.low, v.high]).join(' to ')),
          ...(several ? [el('td', { class: 'number' }, `${change}${sure}`)] : []),
        ),
      ];
    }),
  );
  const first = several ? 2 : 1;
  const top = head.map((h, k) => el('th', { scope: 'col', ...(k >= first ? { class: 'number' } : {}) }, h));
  const caption = `Means with their 95 % interval (Student's t)${several ? `; changes are from ${data.scenarios[0]!.name}, seed by seed` : ''}`;
  return section(
    'figures',
    'All figures',
    el(
      'div',
      { class: 'table', tabindex: '0' },
      el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...body)),
    ),
  );
}

function seeds(data: Runs): HTMLElement | null {
  const of = data.scenarios.filter((s) => s.pages.length > 0 || s.failures.some((f) => f !== null));
  if (of.length === 0) return null;
  const item = (s: (typeof of)[number], i: number): HTMLElement => {
    const page = s.pages[i];
    const name = `seed ${s.seeds[i]!}`;
    const failure = s.failures[i];
    return el(
      'li',
      failure ? { class: 'violated' } : {},
      page === undefined ? name : el('a', { href: page }, name),
      failure ? `: ${failure}` : '',
    );
  };
  return section(
    'seeds',
    'The runs',
    ...of.map((s) =>
      el(
        'div',
        {},
        data.scenarios.length > 1 ? el('h3', {}, s.name) : null,
        el('ul', { class: 'seeds' }, ...s.seeds.map((_, i) => item(s, i))),
      ),
    ),
  );
}

export function title(name: string, changes: string[], theme: HTMLElement): HTMLElement {
  return el(
    'div',
    { class: 'title' },
    el(
      'div',
      {},
      el('h1', {}, name),
      changes.length > 0
        ? el('p', { class: 'changes' }, 'with ', ...changes.flatMap((c, k) => [k > 0 ? ', ' : '', el('code', {}, c)]))
        : null,
    ),
    theme,
  );
}

/** Name and changes as one line of text. */
export function titleText(name: string, changes: string[]): string {
  return changes.length === 0 ? name : `${name}, ${changes.join(', ')}`;
}

export function runsPage(data: Runs, theme: HTMLElement): HTMLElement {
  document.title = `${titleText(data.title, data.changes)}: Trunkline`;
  const first = main(data.figures);
  const names = data.scenarios[0]?.seeds.map((seed) => `seed ${seed}`) ?? [];
  const failed = data.scenarios.reduce((sum, s) => sum + s.failures.filter((f) => f !== null).length, 0);
  const plot = (f: RunsFigure, row: number): HTMLElement =>
    spread({ title: f.name, unit: f.unit, rows: rows(data, f), recorded: f.recorded, runs: names, row });
  const told = first ? rows(data, first) : [];
  const big = told[0];
  const behind = big ? big.values.filter((value) => value !== null).length : 0;
  const head = el(
    'header',
    {},
    title(data.title, data.changes, theme),
    big && first
      ? el(
          'p',
          { class: 'headline' },
          failed > 0 ? el('span', { class: 'state failed' }, `${failed} failed`) : null,
          el('span', { class: 'big' }, first.unit === 's' ? format.seconds(big.median) : `${label(big.median)} ${first.unit}`),
          el(
            'span',
            { class: 'muted' },
            `${first.name}, median of ${format.count(behind)} runs${told.length > 1 ? ` of ${big.name}` : ''}`,
          ),
        )
      : null,
  );
  const sentences = first
    ? [
        ...told.map((row) => `${told.length > 1 ? `${row.name}: m` : 'M'}${words(row, first.unit).slice(1)}.`),
        ...(first.recorded === null || !big ? [] : [place(big, first.recorded)]),
        behind < 20 && behind > 1
          ? `With ${format.count(behind)} runs the ends of the 90 % interval are interpolated; some twenty runs make them steady.`
          : '',
      ].filter((s) => s !== '')
    : [];
  const legend = el(
    'ul',
    { class: 'legend' },
    el('li', {}, el('span', { class: 'swatch round', style: 'background:var(--simulated)' }), 'a run'),
    el('li', {}, el('span', { class: 'swatch', style: 'background:var(--simulated);opacity:0.25' }), '90 % of the runs, and their median'),
    first !== null && first.recorded !== null
      ? el('li', {}, el('span', { class: 'swatch diamond-recorded' }), 'recorded')
      : null,
  );
  const rest = others(data, first);
  return el(
    'main',
    { class: 'runs' },
    head,
    first
      ? section(
          'sure',
          'How long, how sure',
          ...sentences.map((s) => el('p', { class: 'story' }, s)),
          legend,
          el('figure', { class: 'chart' }, plot(first, 64)),
        )
      : null,
    data.errors.length > 0
      ? section(
          'comparison',
          'Predicted beside recorded',
          el('p', { class: 'note' }, 'Points are medians over the runs, bars 90 % of the runs; left of the middle the prediction is too low.'),
          errorTable(
            data.errors.map((e) => ({
              name: e.name,
              unit: e.unit,
              predicted: e.median,
              actual: e.actual,
              interval: [e.low, e.high],
            })),
          ),
        )
      : null,
    rest.length > 0
      ? section(
          'spreads',
          'Phases and the rest',
          el('p', { class: 'note' }, 'A phase lasts from its first start to its last end over all tasks. What is the same in all runs stands in the table alone.'),
          el('div', { class: 'panels' }, ...rest.map((f) => el('figure', { class: 'panel' }, plot(f, 30)))),
        )
      : null,
    data.trade_off && data.trade_off.length > 1 ? tradeOff(data.trade_off) : null,
    table(data),
    seeds(data),
    el('footer', {}, 'Made by Trunkline. This page holds all of its data and asks the network for nothing.'),
  );
}
