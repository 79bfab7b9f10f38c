// The one tooltip of the page.

import { el } from './dom';

let tip: HTMLElement;

export function mountTip(): void {
  tip = el('div', { class: 'tip', role: 'tooltip', hidden: '' });
  document.body.append(tip);
}

export function showTip(
  clientX: number,
  clientY: number,
  title: string,
  lines: string[],
  swatches: { colour: string; text: string }[],
): void {
  tip.replaceChildren(
    el('strong', {}, title),
    ...lines.map((line) => el('div', {}, line)),
    ...swatches.map((s) =>
      el('div', { class: 'tip-phase' }, el('span', { class: 'swatch', style: `background:${s.colour}` }), s.text),
    ),
  );
  tip.hidden = false;
  const left = clientX + 14 + tip.offsetWidth > window.innerWidth ? clientX - 14 - tip.offsetWidth : clientX + 14;
  const top = Math.min(clientY + 12, window.innerHeight - tip.offsetHeight - 8);
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

export function hideTip(): void {
  tip.hidden = true;
}
