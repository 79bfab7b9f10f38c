// What each node moved and computed over the whole run, and what happened to it.

import type { Happening, Node } from './data';
import { el, section } from './dom';
import * as format from './format';

const OPEN = 12;

export function nodes(rows: Node[]): HTMLElement {
  const computed = rows.some((n) => n.cpu_work_s > 0);
  const head = ['Node', 'Rack', 'Received', 'Sent', ...(computed ? ['CPU work'] : [])];
  const body = rows.map((n) => {
    const cells = [String(n.rack), format.bytes(n.received), format.bytes(n.sent)];
    if (computed) cells.push(format.seconds(n.cpu_work_s));
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, n.name),
      ...cells.map((cell) => el('td', { class: 'number' }, cell)),
    );
  });
  const top = head.map((h, k) => el('th', { scope: 'col', ...(k > 0 ? { class: 'number' } : {}) }, h));
  const caption = el(
    'caption',
    {},
    `Bytes through the interface, headers included${computed ? '; work in seconds of one core at speed 1' : ''}`,
  );
  const table = el(
    'div',
    { class: 'table', tabindex: '0' },
    el('table', {}, caption, el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...body)),
  );
  return section(
    'nodes',
    'Nodes',
    rows.length > OPEN ? el('details', {}, el('summary', {}, `All ${format.count(rows.length)} nodes`), table) : table,
  );
}

const LISTED = 200;

/** Faults and what followed from them. */
export function events(all: Happening[]): HTMLElement | null {
  if (all.length === 0) return null;
  const rows = all
    .slice(0, LISTED)
    .map((e) =>
      el('tr', {}, el('td', { class: 'number' }, e.at_s.toFixed(3)), el('td', {}, e.kind), el('td', {}, e.text)),
    );
  const caption = all.length > LISTED ? [el('caption', {}, `The first ${LISTED} of ${format.count(all.length)}`)] : [];
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col', class: 'number' }, 'At (s)'),
    el('th', { scope: 'col' }, 'What'),
    el('th', { scope: 'col' }, 'In words'),
  );
  return section(
    'events',
    'Events',
    el(
      'div',
      { class: 'table', tabindex: '0' },
      el('table', {}, ...caption, el('thead', {}, head), el('tbody', {}, ...rows)),
    ),
  );
}
