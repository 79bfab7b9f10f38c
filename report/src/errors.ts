// Errors of predictions as points on one axis of percent, so that a small one looks small.

import { el } from './dom';
import * as format from './format';

export interface Prediction {
  name: string;
  unit: string;
  predicted: number;
  actual: number;
  /** Bounds of 90 % of the runs. */
  interval: [number, number] | null;
}

/** Relative error of a prediction. */
export function error(predicted: number, actual: number): number {
  return actual === 0 ? (predicted === 0 ? 0 : Infinity) : (predicted - actual) / actual;
}

/** A relative error below this is not marked. */
const NEAR = 0.005;

/** The end of the axis: the least round share that holds all errors, at most 100 %; what is beyond has an arrow. */
export function limit(errors: number[]): number {
  const most = errors.filter(Number.isFinite).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  return [0.05, 0.1, 0.2, 0.5, 1].find((l) => most <= l) ?? 1;
}

function print(value: number, unit: string): string {
  return unit === 's' ? format.seconds(value) : unit === 'B' ? format.bytes(value) : `${format.count(value)} ${unit}`;
}

export function errorTable(rows: Prediction[]): HTMLElement {
  const intervals = rows.some((row) => row.interval !== null);
  const bounds = (row: Prediction): [number, number] | null =>
    row.interval ? [error(row.interval[0], row.actual), error(row.interval[1], row.actual)] : null;
  const most = limit(rows.flatMap((row) => [error(row.predicted, row.actual), ...(bounds(row) ?? [])]));
  const at = (e: number): number => 50 + 50 * (Math.max(-most, Math.min(most, e)) / most);
  const body = rows.map((row) => {
    const e = error(row.predicted, row.actual);
    const between = bounds(row);
    // What every run says alike and the record too, but for a header or so, is no miss.
    const inside = between === null || Math.abs(e) < NEAR || (between[0] <= 0 && between[1] >= 0);
    const plot = el(
      'div',
      { class: 'error-plot', 'aria-hidden': 'true' },
      el('span', { class: 'quarter', style: 'left:25%' }),
      el('span', { class: 'zero' }),
      el('span', { class: 'quarter', style: 'left:75%' }),
      between === null
        ? null
        : el('span', {
            class: 'whisker',
            style: `left:${at(between[0])}%;width:${at(between[1]) - at(between[0])}%`,
          }),
      Math.abs(e) > most
        ? el('span', { class: 'beyond', style: e > 0 ? 'right:0' : 'left:0' }, e > 0 ? '▸' : '◂')
        : el('span', { class: inside ? 'point' : 'point off', style: `left:${at(e)}%` }),
    );
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, row.name),
      el('td', { class: 'number' }, print(row.predicted, row.unit)),
      ...(intervals
        ? [
            el(
              'td',
              { class: 'number' },
              row.interval ? `${print(row.interval[0], row.unit)} to ${print(row.interval[1], row.unit)}` : '',
            ),
          ]
        : []),
      el('td', { class: 'number' }, print(row.actual, row.unit)),
      el('td', { class: 'number' }, format.signedShare(e)),
      el('td', { class: 'plotted' }, plot),
    );
  });
  const ends = el(
    'div',
    { class: 'error-ends' },
    el('span', {}, format.signedShare(-most)),
    el('span', {}, 'error'),
    el('span', {}, format.signedShare(most)),
  );
  const head = ['', 'Predicted', ...(intervals ? ['90 % of the runs'] : []), 'Recorded', 'Error'];
  return el(
    'div',
    { class: 'table', tabindex: '0' },
    el(
      'table',
      { class: 'comparison' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...head.map((h) => (h === '' ? el('td') : el('th', { scope: 'col', class: 'number' }, h))),
          el('td', { class: 'plotted' }, ends),
        ),
      ),
      el('tbody', {}, ...body),
    ),
  );
}
