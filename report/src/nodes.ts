// What each node moved and computed over the whole run.

import type { Node } from './data';
import { el, section } from './dom';
import * as format from './format';

const OPEN = 12;

export function nodes(rows: Node[]): HTMLElement {
  const head = ['Node', 'Rack', 'Received', 'Sent', 'CPU work'];
  const body = rows.map((n) => {
    const cells = [String(n.rack), format.bytes(n.received), format.bytes(n.sent), format.seconds(n.cpu_work_s)];
    return el('tr', {}, el('th', { scope: 'row' }, n.name), ...cells.map((cell) => el('td', { class: 'number' }, cell)));
  });
  const top = head.map((h, k) => el('th', { scope: 'col', ...(k > 0 ? { class: 'number' } : {}) }, h));
  const caption = el('caption', {}, 'Bytes through the interface, headers included; work in seconds of one core at speed 1.');
  const table = el('div', { class: 'table', tabindex: '0' }, el('table', {}, caption, el('thead', {}, el('tr', {}, ...top)), el('tbody', {}, ...body)));
  return section('nodes', 'Nodes', rows.length > OPEN ? el('details', {}, el('summary', {}, `All ${format.count(rows.length)} nodes`), table) : table);
}
