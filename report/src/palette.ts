// Colours in both themes. Hues are chosen to stay apart under the common colour-vision deficiencies and to keep at least 3:1 against the page;
// test/palette.test.ts computes both. One resource keeps one hue: processors blue, disks violet, network orange.

import type { Cause, PhaseKind } from './data';

export interface Palette {
  page: string;
  panel: string;
  ink: string;
  muted: string;
  line: string;
  grid: string;
  accent: string;
  good: string;
  bad: string;
  warn: string;
  phases: Record<PhaseKind, string>;
  causes: Record<Cause, string>;
  /** Nodes on the map by what they do, and frames; the master is black in both themes, with an outline. */
  field: Record<'busy' | 'idle' | 'failed' | 'data' | 'control', string>;
  series: string[];
  /** Strips and shades of one quantity: stronger is more. */
  amount: string;
  simulated: string;
  recorded: string;
}

export const LIGHT: Palette = {
  page: '#fdfdfc',
  panel: '#f5f5f2',
  ink: '#1c1e21',
  muted: '#5c6168',
  line: '#d9dad6',
  grid: '#ebebe7',
  accent: '#0b5cad',
  good: '#1a7f4b',
  bad: '#c2182b',
  warn: '#96570a',
  phases: {
    startup: '#86909b',
    read: '#3f99c7',
    compute: '#2054a3',
    spill: '#866cd7',
    fetch: '#d77a19',
    merge: '#542277',
    reduce: '#008169',
    write: '#d3436e',
  },
  causes: {
    cpu: '#2054a3',
    disk: '#2b2bd4',
    transfer: '#d77a19',
    queueing: '#9f5000',
    recovery: '#c30734',
    tcp_timeout: '#6a093a',
    timeout: '#d42bd4',
    second_attempt: '#a98c70',
    slot: '#4c5561',
    startup: '#86909b',
    locality: '#180084',
    driver: '#240048',
  },
  field: { busy: '#1f5fd0', idle: '#2f9e4f', failed: '#c2182b', data: '#d77a19', control: '#8a1c7c' },
  series: ['#21a121', '#a66959', '#1e1e48', '#b06d9c', '#551f11', '#5a8f00'],
  amount: '#1f5f74',
  simulated: '#1f5f74',
  recorded: '#7a0063',
};

export const DARK: Palette = {
  page: '#15171a',
  panel: '#1d2024',
  ink: '#e8e9ea',
  muted: '#a1a7ae',
  line: '#383d43',
  grid: '#262a2f',
  accent: '#7db8f5',
  good: '#5cc98d',
  bad: '#ff6b76',
  warn: '#f0b45a',
  phases: {
    startup: '#757e87',
    read: '#79cff1',
    compute: '#5a84ca',
    spill: '#b1a2ff',
    fetch: '#fba74b',
    merge: '#8762dd',
    reduce: '#3ab587',
    write: '#ee76b1',
  },
  causes: {
    cpu: '#5a84ca',
    disk: '#8b4f92',
    transfer: '#fba74b',
    queueing: '#c77026',
    recovery: '#fb6674',
    tcp_timeout: '#bd3168',
    timeout: '#cee378',
    second_attempt: '#ffd1b2',
    slot: '#c9cccf',
    startup: '#757e87',
    locality: '#fcfc00',
    driver: '#b40cfc',
  },
  field: { busy: '#5b93ff', idle: '#5fe58a', failed: '#e8384d', data: '#fba74b', control: '#e08fd8' },
  series: ['#2bd42b', '#c78675', '#b22bd4', '#a3a35c', '#3c871c', '#a5f0c5'],
  amount: '#9db6c6',
  simulated: '#9db6c6',
  recorded: '#ff6ee8',
};

/** Relative luminance (WCAG 2) of a #rrggbb colour. */
export function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const v = parseInt(colour.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(colour: string): string {
  const l = luminance(colour);
  return (l + 0.05) / 0.05 > 1.05 / (l + 0.05) ? '#000000' : '#ffffff';
}

export type ThemeName = 'light' | 'dark';

let current: Palette = LIGHT;
const watchers: (() => void)[] = [];

export function palette(): Palette {
  return current;
}

export function onTheme(tell: () => void): void {
  watchers.push(tell);
}

export function applyTheme(name: ThemeName): void {
  current = name === 'dark' ? DARK : LIGHT;
  const root = document.documentElement;
  root.dataset['theme'] = name;
  root.style.colorScheme = name;
  for (const key of ['page', 'panel', 'ink', 'muted', 'line', 'grid', 'accent', 'good', 'bad', 'warn', 'amount', 'simulated', 'recorded'] as const) {
    root.style.setProperty(`--${key}`, current[key]);
  }
  for (const [kind, colour] of Object.entries(current.phases)) root.style.setProperty(`--phase-${kind}`, colour);
  for (const [cause, colour] of Object.entries(current.causes)) root.style.setProperty(`--cause-${cause}`, colour);
  current.series.forEach((colour, i) => root.style.setProperty(`--series-${i}`, colour));
  for (const tell of watchers) tell();
}
