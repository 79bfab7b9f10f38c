// A straight or logarithmic scale from values to pixels, with round ticks.

import { count } from './format';

export interface Scale {
  at: (value: number) => number;
  ticks: number[];
  log: boolean;
}

/** Steps of 1, 2 or 5 times a power of ten, at most `most` of them. */
export function straight(from: number, to: number, start: number, end: number, most: number): Scale {
  const span = to > from ? to - from : Math.abs(from) || 1;
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9))!;
  const ticks: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= from + span * (1 + 1e-9); k += 1) ticks.push(k * step + 0);
  return { at: (v) => start + ((v - from) / span) * (end - start), ticks, log: false };
}

/** Ticks at the given values where they fit, else at powers of ten. */
export function logarithmic(from: number, to: number, start: number, end: number, given: number[]): Scale {
  const low = Math.log(from);
  const span = Math.log(to) - low || 1;
  const at = (v: number): number => start + ((Math.log(Math.max(v, from / 1e6)) - low) / span) * (end - start);
  let ticks = given;
  if (ticks.length > 12 || ticks.length === 0) {
    ticks = [];
    for (let p = Math.ceil(Math.log10(from) - 1e-9); 10 ** p <= to * (1 + 1e-9); p += 1) ticks.push(10 ** p);
  }
  // Ticks nearer than 26 pixels to the one before them would print over each other.
  const kept: number[] = [];
  for (const t of ticks) if (kept.length === 0 || Math.abs(at(t) - at(kept[kept.length - 1]!)) >= 26) kept.push(t);
  return { at, ticks: kept, log: true };
}

/** Decimals that show so many digits of a number. */
function digits(n: number, of: number): number {
  return n - 1 - Math.floor(Math.log10(of * 1.005));
}

function fixed(values: number[], decimals: number): string[] {
  const few = values.every(Number.isInteger) ? 0 : Math.min(6, Math.max(0, decimals));
  return values.map((v) => (few > 0 ? v.toFixed(few) : count(v)));
}

/** What is left of rounding is no difference. */
function rounding(size: number): number {
  return size * 1e-9;
}

/**
 * The ends of a range and what lies between, all with the same decimals: three digits of the least and two of the range, but
 * of the largest no more than four.
 */
export function together(values: number[]): string[] {
  const sizes = values.map(Math.abs).filter((v) => v > 0);
  const size = Math.max(0, ...sizes);
  const range = Math.max(...values) - Math.min(...values);
  if (!(range > rounding(size))) return values.map(label);
  return fixed(values, Math.min(digits(4, size), Math.max(digits(3, Math.min(...sizes)), digits(2, range))));
}

/** A mean and half the width of its interval, with as many decimals as show two digits of the latter. */
export function plusMinus(mean: number, half: number): string {
  const size = Math.abs(mean);
  if (!(half > rounding(size))) return `${label(mean)} ± 0`;
  return fixed([mean, half], Math.max(digits(3, Math.max(size, half)), digits(2, half))).join(' ± ');
}

/** A tick's or a value's text: three significant digits, no more than it needs. */
export function label(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}\u00a0M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}\u00a0K`;
  return String(Number(value.toPrecision(size >= 1000 ? 4 : 3)));
}
