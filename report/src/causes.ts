// Time by cause as one bar with its key.

import { el } from './dom';
import * as format from './format';
import { causeName, type CauseTotal, type Medium } from './words';

export function causeBar(parts: CauseTotal[], medium: Medium, title: string): HTMLElement[] {
  const whole = parts.reduce((sum, p) => sum + p.seconds, 0);
  const label = parts
    .map((p) => `${causeName(p.cause, medium)} ${format.seconds(p.seconds)}, ${format.share(p.seconds / whole)}`)
    .join('; ');
  const bar = el(
    'div',
    { class: 'stack', role: 'img', 'aria-label': `${title}: ${label}` },
    ...parts.map((p) =>
      el('span', {
        style: `flex-grow:${p.seconds};background:var(--cause-${p.cause})`,
        title: `${causeName(p.cause, medium)}: ${format.seconds(p.seconds)}`,
      }),
    ),
  );
  const key = el(
    'ul',
    { class: 'legend causes' },
    ...parts.map((p) =>
      el(
        'li',
        {},
        el('span', { class: 'swatch', style: `background:var(--cause-${p.cause})` }),
        `${causeName(p.cause, medium)} `,
        el('span', { class: 'value' }, `${format.seconds(p.seconds)}, ${format.share(p.seconds / whole)}`),
      ),
    ),
  );
  return [bar, key];
}
