// What each node moved, computed and drew over the whole run, and what happened to it.

import type { Drawn, Happening, Imbalance, Node, Stalled } from './data';
import { el, section } from './dom';
import * as format from './format';

const OPEN = 12;

/** A table whose first column names its rows; the others are numbers. */
function table(head: string[], body: string[][], caption: string): HTMLElement {
  const top = head.map((h, k) => el('th', { scope: 'col', ...(k > 0 ? { class: 'number' } : {}) }, h));
  const rows = body.map(([name, ...cells]) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, name ?? ''),
      ...cells.map((cell) => el('td', { class: 'number' }, cell)),
    ),
  );
  return el(
    'div',
    { class: 'table', tabindex: '0' },
    el(
      'table',
      {},
      el('caption', {}, caption),
      el('thead', {}, el('tr', {}, ...top)),
      el('tbody', {}, ...rows),
    ),
  );
}

/** Where it went, and what is left; parts that no node has are left out. */
export function energyTable(rows: Node[]): { head: string[]; body: string[][] } | null {
  const known = rows.flatMap((n) => (n.energy ? [{ name: n.name, energy: n.energy }] : []));
  if (known.length === 0) return null;
  const parts: [string, keyof Drawn & `${string}_j`][] = [
    ['Total', 'total_j'],
    ['Being on', 'idle_j'],
    ['Screen', 'screen_j'],
    ['Processor', 'cpu_j'],
    ['Radio', 'radio_j'],
    ['Disks', 'disks_j'],
  ];
  const shown = parts.filter(([, key]) => known.some((n) => (n.energy[key] ?? 0) > 0));
  const batteries = known.some((n) => n.energy.battery !== null);
  const left = ({ battery, empty_s }: Drawn): string =>
    empty_s !== null
      ? `empty at ${format.seconds(empty_s)}`
      : battery === null
        ? 'plugged in'
        : format.share(battery);
  return {
    head: ['Node', ...shown.map(([label]) => label), ...(batteries ? ['Battery'] : [])],
    body: known.map(({ name, energy }) => [
      name,
      ...shown.map(([, key]) => format.energy(energy[key] ?? 0)),
      ...(batteries ? [left(energy)] : []),
    ]),
  };
}

/** How evenly jobs' bytes are spread over the workers: two rows for the spread, then each worker. */
export function loadTable(rows: Node[], spreads: Imbalance[]): { head: string[]; body: string[][] } | null {
  const workers = rows.flatMap((n) => (n.loads ? [{ name: n.name, loads: n.loads }] : []));
  if (workers.length === 0 || spreads.length === 0) return null;
  const of = (value: number | null, digits: number): string => (value === null ? '' : value.toFixed(digits));
  return {
    head: ['Worker', ...spreads.map((s) => s.label)],
    body: [
      ['greatest / mean', ...spreads.map((s) => of(s.max_over_mean, 2))],
      ['coefficient of variation', ...spreads.map((s) => of(s.variation, 3))],
      ...workers.map(({ name, loads }) => [name, ...loads.map((bytes) => format.bytes(bytes))]),
    ],
  };
}

export function nodes(rows: Node[], spreads: Imbalance[]): HTMLElement {
  const computed = rows.some((n) => n.cpu_work_s > 0);
  const moved = table(
    ['Node', 'Rack', 'Received', 'Sent', ...(computed ? ['CPU work'] : [])],
    rows.map((n) => [
      n.name,
      String(n.rack),
      format.bytes(n.received),
      format.bytes(n.sent),
      ...(computed ? [format.seconds(n.cpu_work_s)] : []),
    ]),
    `Bytes through the interface, headers included${computed ? '; work in seconds of one core at speed 1' : ''}`,
  );
  const energy = energyTable(rows);
  const drawn = energy
    ? table(energy.head, energy.body, 'Energy by what it was for; of the battery, what is left')
    : null;
  const load = loadTable(rows, spreads);
  const spread = load ? table(load.head, load.body, "Jobs' bytes on each worker, and how evenly they are spread") : null;
  return section(
    'nodes',
    'Nodes',
    rows.length > OPEN
      ? el('details', {}, el('summary', {}, `All ${format.count(rows.length)} nodes`), moved, spread, drawn)
      : el('div', {}, moved, spread, drawn),
  );
}

const LISTED = 200;

function list(head: [string, boolean][], rows: string[][], all: number): HTMLElement {
  const caption = all > rows.length ? [el('caption', {}, `The first ${rows.length} of ${format.count(all)}`)] : [];
  const number = (k: number): { class?: string } => (head[k]?.[1] ? { class: 'number' } : {});
  return el(
    'div',
    { class: 'table', tabindex: '0' },
    el(
      'table',
      {},
      ...caption,
      el('thead', {}, el('tr', {}, ...head.map(([h], k) => el('th', { scope: 'col', ...number(k) }, h)))),
      el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((cell, k) => el('td', number(k), cell))))),
    ),
  );
}

/** Who waited for what when a run was given up. */
export function stalled({ since_s, waits }: Stalled): HTMLElement {
  const rows = waits.slice(0, LISTED).map((w) => [w.who, w.what, w.since_s.toFixed(1)]);
  return section(
    'stalled',
    'Who waits for what',
    el('p', { class: 'story' }, `The run was given up: its jobs have made no progress since ${format.seconds(since_s)}.`),
    list(
      [
        ['Who', false],
        ['Waits for', false],
        ['Since (s)', true],
      ],
      rows,
      waits.length,
    ),
  );
}

/** Faults and what followed from them. */
export function events(all: Happening[]): HTMLElement | null {
  if (all.length === 0) return null;
  const rows = all.slice(0, LISTED).map((e) => [e.at_s.toFixed(3), e.kind, e.text]);
  return section(
    'events',
    'Events',
    list(
      [
        ['At (s)', true],
        ['What', false],
        ['In words', false],
      ],
      rows,
      all.length,
    ),
  );
}
