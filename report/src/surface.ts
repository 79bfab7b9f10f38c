// The arithmetic of a response surface: which points a line or a map has, and the unit in which a figure is shown.

import type { Curve } from './study-data';
import type { Sweep, SweepAxis, SweepPoint, SweepSpread } from './sweep-data';

/** The point at a place along each axis. */
export function pointAt(data: Sweep, at: number[]): SweepPoint | null {
  return data.points[data.axes.reduce((place, axis, k) => place * axis.values.length + at[k]!, 0)] ?? null;
}

export interface Unit {
  text: string;
  /** Multiplies a value. */
  factor: number;
}

const STEPS: Record<string, [number, string][]> = {
  s: [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']],
  B: [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']],
  'bit/s': [[1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'Kbit/s'], [1, 'bit/s']],
  J: [[1e6, 'MJ'], [1e3, 'kJ'], [1, 'J']],
};

/** The unit in which the greatest of some values has at least one digit before the point. */
export function unitOf(unit: string, values: number[]): Unit {
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const steps = STEPS[unit];
  if (!steps) return { text: unit === 'number' ? '' : unit, factor: 1 };
  const [size, text] = steps.find(([size]) => most >= size) ?? steps[steps.length - 1]!;
  return { text: most === 0 ? unit : text, factor: most === 0 ? 1 : 1 / size };
}

/** Where values stand along an axis: by number, or one after the other. */
export function along(axis: SweepAxis): number[] {
  return axis.numbers ?? axis.values.map((_, i) => i);
}

function spreads(data: Sweep, metric: number, at: number[], axis: number): (SweepSpread | null)[] {
  return data.axes[axis]!.values.map((_, i) => {
    const place = at.slice();
    place[axis] = i;
    return pointAt(data, place)?.figures[metric] ?? null;
  });
}

/**
 * A figure along one axis: a curve for each value of another, or one where there is none. The axes besides stand at `at`.
 */
export function curves(data: Sweep, metric: number, x: number, by: number | null, at: number[], factor: number): Curve[] {
  const places = by === null ? [null] : data.axes[by]!.values.map((_, i) => i);
  return places.map((place) => {
    const fixed = at.slice();
    if (by !== null) fixed[by] = place!;
    const found = spreads(data, metric, fixed, x);
    const times = (v: number | null | undefined): number | null => (typeof v === 'number' ? v * factor : null);
    const end = (sign: number): (number | null)[] =>
      found.map((s) => (s === null || s.mean === null ? null : times(s.mean + sign * (s.half_width_95 ?? 0))));
    return {
      series: by === null ? '' : data.axes[by]!.values[place!]!,
      assumption: null,
      constant: false,
      set: [],
      x: along(data.axes[x]!),
      mean: found.map((s) => times(s?.mean)),
      low: end(-1),
      high: end(1),
    };
  });
}

/** The axis whose values make the curves of a plot: the wanted one, or that after the plot's own. */
export function curvesBy(axes: number, x: number, wanted: number | null): number | null {
  if (axes < 2) return null;
  return wanted !== null && wanted !== x ? wanted : (x + 1) % axes;
}
