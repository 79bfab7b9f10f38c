// Reading series: which ones to show, and what they amount to in the view. No drawing here.

import type { Chart, Series } from './data';
import * as format from './format';
import type { Span } from './range';

/** Cells of a chart's grid that a span touches: [first, last). */
export function cells(chart: Chart, view: Span): [number, number] {
  const n = chart.series[0]?.values.length ?? 0;
  const first = Math.max(0, Math.min(n, Math.floor(view.from / chart.step_s + 1e-9)));
  return [first, Math.max(first, Math.min(n, Math.ceil(view.to / chart.step_s - 1e-9)))];
}

export function largest(series: Series, from: number, to: number): number {
  let most = 0;
  for (let i = from; i < to; i += 1) most = Math.max(most, series.values[i]!);
  return most;
}

export function mean(series: Series, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < to; i += 1) sum += series.values[i]!;
  return to > from ? sum / (to - from) : 0;
}

/** The series of one node (or of the whole system when it has none), or all when `node` is negative. */
export function ofNode(chart: Chart, node: number): Series[] {
  if (node < 0) return chart.series;
  const own = chart.series.filter((s) => s.node === node);
  return own.length > 0 ? own : chart.series.filter((s) => s.node < 0);
}

/** The `most` series with the highest mean over the run, in their own order. */
export function busiest(series: Series[], most: number): Series[] {
  if (series.length <= most) return series;
  const ranked = series.map((s, i) => ({ i, m: mean(s, 0, s.values.length) })).sort((a, b) => b.m - a.m || a.i - b.i);
  const kept = new Set(ranked.slice(0, most).map((r) => r.i));
  return series.filter((_, i) => kept.has(i));
}

/** A series over the cells [from, to) in words: a total for sums, else mean and peak. */
export function amounts(chart: Chart, series: Series, from: number, to: number): string {
  const peak = format.inUnit(largest(series, from, to) * chart.scale, chart.unit);
  const average = mean(series, from, to) * chart.scale;
  if (chart.holds === 'sum') return `${format.count(average * (to - from))} in all, peak ${peak}`;
  return `${chart.holds === 'mean' ? `mean ${format.inUnit(average, chart.unit)}, ` : ''}peak ${peak}`;
}

export interface AxisUnit {
  text: string;
  /** What a stored value is multiplied with to stand on the axis. */
  factor: number;
}

/** The axis unit that suits values up to `most` (in stored integers). */
export function axisUnit(chart: Chart, most: number): AxisUnit {
  if (chart.unit === 'share') return { text: '%', factor: chart.scale * 100 };
  if (chart.unit === 'count') return { text: '', factor: chart.scale };
  const value = most * chart.scale;
  const [power, prefix] = value >= 1e9 ? [1e9, 'G'] : value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'K'] : [1, ''];
  return { text: `${prefix}${chart.unit}`, factor: chart.scale / power };
}
