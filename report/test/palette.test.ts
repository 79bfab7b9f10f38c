// Colours must stay apart for colour-blind readers and stand out from the page. Deficiencies are simulated with the matrices of
// Machado, Oliveira and Fernandes (IEEE TVCG 15(6), 2009), severity 1.0, in linear RGB; differences are CIE 1976 in L*a*b*.

import { expect, test } from 'vitest';
import { DARK, inkOn, LIGHT, luminance } from '../src/palette';

type Triple = [number, number, number];
const VISION: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function linear(hex: string): Triple {
  return [1, 3, 5].map((i) => {
    const v = parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

function seen(hex: string, matrix: Triple[]): Triple {
  const rgb = linear(hex);
  return matrix.map((row) => Math.min(1, Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]))) as Triple;
}

function lab([r, g, b]: Triple): Triple {
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

for (const [theme, p] of Object.entries({ light: LIGHT, dark: DARK })) {
  for (const [name, set] of Object.entries({ phases: p.phases, causes: p.causes, field: p.field })) {
    const entries = Object.entries(set);
    test.each(Object.keys(VISION))(`${theme} ${name} stay apart under %s vision`, (vision) => {
      const close: string[] = [];
      for (let i = 0; i < entries.length; i += 1) {
        for (let j = 0; j < i; j += 1) {
          const a = lab(seen(entries[i]![1], VISION[vision]!));
          const b = lab(seen(entries[j]![1], VISION[vision]!));
          const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
          if (distance < 12) close.push(`${entries[i]![0]} and ${entries[j]![0]}: ${distance.toFixed(1)}`);
        }
      }
      expect(close).toEqual([]);
    });
    test(`${theme} ${name} have at least 3:1 against the page`, () => {
      expect(
        entries
          .filter(([, colour]) => contrast(colour, p.page) < 3)
          .map(([k, colour]) => `${k} ${contrast(colour, p.page).toFixed(2)}`),
      ).toEqual([]);
    });
  }
  test(`${theme} bars can be written on`, () => {
    expect(Object.values(p.phases).filter((colour) => contrast(inkOn(colour), colour) < 4.5)).toEqual([]);
  });
  test(`${theme} lines have at least 3:1 and text at least 4.5:1 against the page`, () => {
    expect(p.series.filter((colour) => contrast(colour, p.page) < 3)).toEqual([]);
    expect(
      [p.ink, p.muted, p.accent, p.good, p.bad, p.warn].filter((colour) => contrast(colour, p.page) < 4.5),
    ).toEqual([]);
  });
}

/** A phase and a cause that are the same thing have the same colour. */
const SAME = new Set(['startup startup', 'compute cpu', 'fetch transfer']);

test.each([
  ['light', LIGHT],
  ['dark', DARK],
] as const)('in the %s theme a colour means one thing', (_, p) => {
  const series = Object.fromEntries(p.series.map((colour, i) => [`series ${i}`, colour]));
  const marks = { simulated: p.simulated, recorded: p.recorded };
  const groups = [p.phases, p.causes, series, marks].map((g) => Object.entries(g) as [string, string][]);
  const close: string[] = [];
  groups.forEach((group, g) => {
    for (const other of groups.slice(g + 1))
      for (const [a, x] of group)
        for (const [b, y] of other) {
          const [u, v] = [lab(linear(x)), lab(linear(y))];
          const distance = Math.hypot(u[0] - v[0], u[1] - v[1], u[2] - v[2]);
          if (distance < 10 && !SAME.has(`${a} ${b}`)) close.push(`${a} and ${b}: ${distance.toFixed(1)}`);
        }
  });
  expect(close).toEqual([]);
});

test('luminance spans black to white', () => {
  expect([luminance('#000000'), luminance('#ffffff')]).toEqual([0, expect.closeTo(1, 12)]);
});
