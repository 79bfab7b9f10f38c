// The page of a sweep: how a figure answers to each key, to two of them together, and every point in numbers.

import { el, section, select } from './dom';
import { count } from './format';
import { heat } from './heat';
import { height, look, picture } from './picture';
import { label, plusMinus } from './scale';
import type { Curve, Figure } from './study-data';
import { curves, curvesBy, pointAt, unitOf, type Unit } from './surface';
import { fitted } from './svg';
import type { Sweep, SweepPoint } from './sweep-data';

/** Points that the table shows before it is asked for all. */
const FEW = 200;
/** Curves that can be told apart in one plot. */
const MOST_CURVES = 18;

interface Choice {
  metric: number;
  /** The axis of the curves; null for the one after the plot's own. */
  by: number | null;
  /** Where axes stand that a picture does not show. */
  at: number[];
  /** The axes of the map. */
  across: number;
  up: number;
}

/** The picture of a study's figure takes a sweep's as one without claims. */
function asFigure(data: Sweep, metric: number, axis: number, unit: Unit, lines: Curve[]): Figure {
  const { key, unit: own, numbers, values, log } = data.axes[axis]!;
  return {
    id: key,
    title: data.metrics[metric]!.path,
    place: '',
    about: '',
    kind: 'sweep',
    label: data.metrics[metric]!.path,
    unit: unit.text,
    x: { label: key, unit: own, log, categories: numbers === null ? values : null },
    metric: data.metrics[metric]!.path,
    scenario: data.scenario,
    set: [],
    curves: lines,
    published: [],
    findings: [],
    verdict: null,
    seeds: data.seeds.length,
  };
}

/** A mean with its interval in a unit. */
function told(point: SweepPoint | null, metric: number, unit: Unit): string {
  const spread = point?.figures[metric];
  if (!spread || spread.mean === null) return '–';
  const mean = spread.mean * unit.factor;
  const have = spread.values.filter((v) => v !== null).length;
  if (have < spread.values.length) return `${label(mean)} in ${have} of ${spread.values.length}`;
  return spread.half_width_95 === null ? label(mean) : plusMinus(mean, spread.half_width_95 * unit.factor);
}

function words(data: Sweep, at: number[], left: number[] = []): string {
  return data.axes.flatMap((axis, k) => (left.includes(k) ? [] : [`${axis.key} = ${axis.values[at[k]!]!}`])).join(', ');
}

/** Whether all runs of a point have a figure: of a job that ends with some seeds only, these are the short ones. */
const whole = (point: SweepPoint, metric: number): boolean => !point.figures[metric]?.values.includes(null);

/** The point with the least or the greatest mean of a figure, among those at which all runs have it. */
export function extreme(data: Sweep, metric: number, sign: 1 | -1): SweepPoint | null {
  let best: SweepPoint | null = null;
  let most = -Infinity;
  for (const point of data.points.filter((p) => whole(p, metric))) {
    const mean = point.figures[metric]?.mean;
    if (typeof mean === 'number' && sign * mean > most) [best, most] = [point, sign * mean];
  }
  return best;
}

function metricUnit(data: Sweep, metric: number): Unit {
  const means = data.points.flatMap((p) => p.figures[metric]?.mean ?? []);
  return unitOf(data.metrics[metric]!.unit, means);
}

function plot(data: Sweep, choice: Choice, axis: number, unit: Unit): HTMLElement {
  const by = curvesBy(data.axes.length, axis, choice.by);
  const lines = curves(data, choice.metric, axis, by, choice.at, unit.factor);
  const shown = lines.slice(0, MOST_CURVES);
  const figure = asFigure(data, choice.metric, axis, unit, shown);
  const names = shown.map((c) => c.series);
  const rest = data.axes.map((_, k) => k).filter((k) => k !== axis && k !== by);
  const legend =
    by === null
      ? null
      : el(
          'ul',
          { class: 'legend' },
          el('li', { class: 'muted' }, `${data.axes[by]!.key}:`),
          ...names.map((name, i) => {
            const { colour, dash } = look(i);
            const style =
              dash === ''
                ? `background:${colour}`
                : `background:repeating-linear-gradient(90deg, ${colour} 0 4px, transparent 4px 6px)`;
            return el('li', {}, el('span', { class: 'swatch line', style }), name);
          }),
        );
  const notes = [
    rest.length > 0 ? `At ${words(data, choice.at, [axis, ...(by === null ? [] : [by])])}.` : '',
    lines.length > shown.length ? `The first ${shown.length} of ${lines.length} curves.` : '',
    data.axes[axis]!.with.length > 0 ? `Together with it go ${data.axes[axis]!.with.join(', ')}.` : '',
  ].filter((s) => s !== '');
  return el(
    'figure',
    { class: 'panel', 'data-axis': data.axes[axis]!.key },
    el('figcaption', {}, `Over ${data.axes[axis]!.key}`),
    legend,
    notes.length > 0 ? el('p', { class: 'note' }, notes.join(' ')) : null,
    fitted((width) => picture(figure, shown, names, width, height(figure))),
  );
}

function map(data: Sweep, choice: Choice, unit: Unit): HTMLElement {
  const end = (sign: 1 | -1): number =>
    (extreme(data, choice.metric, sign)?.figures[choice.metric]?.mean ?? NaN) * unit.factor;
  const ends: [number, number] = [end(-1), end(1)];
  const say = (at: number[]): string[] => {
    const point = pointAt(data, at);
    const failures = (p: SweepPoint): string => `${p.failures} of ${data.seeds.length} runs failed: ${p.failure ?? ''}`;
    const failed = point && point.failures > 0 ? [failures(point)] : [];
    return [words(data, at), `${told(point, choice.metric, unit)} ${unit.text}`, ...failed];
  };
  const rest = data.axes.map((_, k) => k).filter((k) => k !== choice.across && k !== choice.up);
  const [from, to] = ends.map((v) => (Number.isNaN(v) ? '–' : label(v)));
  return el(
    'figure',
    { class: 'panel' },
    el(
      'p',
      { class: 'note' },
      `${data.metrics[choice.metric]!.path}${unit.text === '' ? '' : `, ${unit.text}`}: `,
      el('span', { class: 'ramp' }, from!, el('span', { class: 'gradient', 'aria-hidden': 'true' }), to!),
      rest.length > 0 ? ` At ${words(data, choice.at, [choice.across, choice.up])}.` : '',
    ),
    fitted((width) => heat(data, choice.metric, choice.across, choice.up, choice.at, unit, ends, width, say)),
  );
}

function table(data: Sweep, all: boolean): HTMLElement {
  const units = data.metrics.map((_, m) => metricUnit(data, m));
  const heads = data.metrics.map((m, k) => (units[k]!.text === '' ? m.path : `${m.path}, ${units[k]!.text}`));
  const failures = data.failures > 0;
  const head = [...data.axes.map((a) => a.key), ...heads, ...(failures ? ['Failed'] : [])];
  const row = (p: SweepPoint): HTMLElement =>
    el(
      'tr',
      {},
      ...data.axes.map((a, k) => el(k === 0 ? 'th' : 'td', k === 0 ? { scope: 'row' } : {}, a.values[p.at[k]!]!)),
      ...data.metrics.map((_, m) => el('td', { class: 'number' }, told(p, m, units[m]!))),
      ...(failures
        ? [el('td', { class: 'number', title: p.failure ?? '' }, p.failures === 0 ? '' : String(p.failures))]
        : []),
    );
  const few = all ? data.points : data.points.slice(0, FEW);
  return el(
    'div',
    { class: 'table tall', tabindex: '0' },
    el(
      'table',
      {},
      el('caption', {}, `Means over ${data.seeds.length} seeds with their 95 % interval (Student's t)`),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...head.map((h, k) => el('th', { scope: 'col', ...(k >= data.axes.length ? { class: 'number' } : {}) }, h)),
        ),
      ),
      el('tbody', {}, ...few.map(row)),
    ),
  );
}

export function sweepPage(data: Sweep, theme: HTMLElement): HTMLElement {
  document.title = `${data.title}: Trunkline`;
  const middle = data.axes.map((a) => Math.floor((a.values.length - 1) / 2));
  const choice: Choice = { metric: 0, by: null, at: middle, across: 0, up: Math.min(1, data.axes.length - 1) };
  const plots = el('div', { class: 'panels' });
  const maps = el('div', {});
  const sentence = el('p', { class: 'story' });
  const heading = el('p', { class: 'headline' });
  const draw = (): void => {
    const unit = metricUnit(data, choice.metric);
    const [least, greatest] = [extreme(data, choice.metric, -1), extreme(data, choice.metric, 1)];
    const suffix = unit.text === '' ? '' : ` ${unit.text}`;
    const said = (p: SweepPoint): string => `${told(p, choice.metric, unit)}${suffix} at ${words(data, p.at)}`;
    heading.replaceChildren(
      data.failures > 0
        ? el('span', { class: 'state failed' }, `${count(data.failures)} of ${count(data.runs)} failed`)
        : '',
      el(
        'span',
        { class: 'big' },
        least ? `${label(least.figures[choice.metric]!.mean! * unit.factor)}${suffix}` : '–',
      ),
      el('span', { class: 'muted' }, `least ${data.metrics[choice.metric]!.path}, mean of ${data.seeds.length} seeds`),
    );
    const partial = data.points.filter((p) => !whole(p, choice.metric)).length;
    const leftOut = partial === 0 ? '' : ` ${count(partial)} of ${count(data.points.length)} points left out: not all their runs have it.`;
    sentence.textContent =
      least && greatest ? `Least: ${said(least)}. Greatest: ${said(greatest)}.${leftOut}` : 'No point has this figure in all runs.';
    plots.replaceChildren(...data.axes.map((_, k) => plot(data, choice, k, unit)));
    if (data.axes.length > 1) maps.replaceChildren(map(data, choice, unit));
  };
  const pick = (name: string, options: string[], now: number, chosen: (i: number) => void): HTMLElement =>
    select(
      name,
      options.map((text, i): [string, string] => [String(i), text]),
      (v) => (chosen(Number(v)), draw()),
      String(now),
    );
  const keys = data.axes.map((a) => a.key);
  const controls: HTMLElement[] = [];
  const paths = data.metrics.map((m) => m.path);
  if (paths.length > 1) controls.push(pick('Figure', paths, 0, (i) => (choice.metric = i)));
  if (data.axes.length > 2) {
    controls.push(pick('Curves by', ['the next key', ...keys], 0, (i) => (choice.by = i === 0 ? null : i - 1)));
    data.axes.forEach((a, k) => controls.push(pick(a.key, a.values, choice.at[k]!, (i) => (choice.at[k] = i))));
  }
  const corners: HTMLElement[] = [];
  if (data.axes.length > 2) {
    corners.push(
      pick('Across', keys, choice.across, (i) => {
        if (i === choice.up) choice.up = choice.across;
        choice.across = i;
      }),
      pick('Up', keys, choice.up, (i) => {
        if (i === choice.across) choice.across = choice.up;
        choice.up = i;
      }),
    );
  }
  draw();
  const sizes = data.axes.map((a) => count(a.values.length)).join(' × ');
  const { seeds } = data;
  const which = seeds.length > 6 ? `${seeds[0]} to ${seeds[seeds.length - 1]}` : seeds.join(', ');
  const each = `${seeds.length} seeds each (${which})`;
  const facts = `${count(data.runs)} runs: ${sizes} points, ${each}, of ${data.scenario}.`;
  const points = el('div', {}, table(data, false));
  const more =
    data.points.length > FEW
      ? el('button', { type: 'button', class: 'quiet' }, `All ${count(data.points.length)} points`)
      : null;
  more?.addEventListener('click', () => (points.replaceChildren(table(data, true)), more.remove()));
  return el(
    'main',
    { class: 'sweep' },
    el(
      'header',
      {},
      el(
        'div',
        { class: 'title' },
        el(
          'div',
          {},
          el('h1', {}, data.title),
          data.set.length > 0
            ? el(
                'p',
                { class: 'changes' },
                'with ',
                ...data.set.flatMap((s, k) => [k > 0 ? ', ' : '', el('code', {}, s)]),
              )
            : null,
        ),
        theme,
      ),
      heading,
      sentence,
      el('p', { class: 'note' }, facts),
    ),
    section(
      'response',
      'Over each key',
      controls.length > 0 ? el('div', { class: 'toolbar' }, ...controls) : null,
      seeds.length > 1 ? el('p', { class: 'note' }, "Whiskers are 95 % intervals over seeds (Student's t).") : null,
      plots,
    ),
    data.axes.length > 1
      ? section(
          'surface',
          'Over two keys',
          corners.length > 0 ? el('div', { class: 'toolbar' }, ...corners) : null,
          maps,
        )
      : null,
    section(
      'points',
      'All points',
      more,
      points,
      el('p', { class: 'note' }, 'sweep.parquet, beside this page, has every run with all its figures.'),
    ),
    el('footer', {}, 'Made by Trunkline. This page holds all of its data and asks the network for nothing.'),
  );
}
