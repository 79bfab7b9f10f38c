// The strip that stays at the top: the whole run in small, the part in view, and the buttons that change it.

import { el, eachFrame, fit } from './dom';
import { onTheme, palette } from './palette';
import { keys, viewText, toX, toTime, GUTTER, MARGIN } from './plot';
import { zoomAround, type TimeAxis } from './range';

const HEIGHT = 34;

export interface Outline {
  /** What the shape shows, in words. */
  title: string;
  /** Values over equal parts of the run. */
  values: number[];
}

export function overview(axis: TimeAxis, outline: Outline, ...controls: HTMLElement[]): HTMLElement {
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const strip = el(
    'div',
    {
      class: 'strip',
      tabindex: '0',
      role: 'group',
      'aria-label': `Time range. ${outline.title} over the whole run; drag to choose a part. Arrow keys pan, plus and minus zoom, Home shows all.`,
    },
    canvas,
  );
  const text = el('output', { class: 'range', 'aria-live': 'polite' });
  const button = (label: string, title: string, act: () => void): HTMLButtonElement => {
    const b = el('button', { type: 'button', title, 'aria-label': title }, label);
    b.addEventListener('click', act);
    return b;
  };
  const middle = (): number => (axis.view.from + axis.view.to) / 2;
  const bar = el(
    'div',
    { class: 'toolbar' },
    text,
    button('−', 'Zoom out', () => axis.show(zoomAround(axis.view, middle(), 2))),
    button('+', 'Zoom in', () => axis.show(zoomAround(axis.view, middle(), 0.5))),
    button('Whole run', 'Show the whole run', () => axis.reset()),
    ...controls,
    el(
      'span',
      {
        class: 'hint',
        title:
          'Ctrl and the wheel zooms, Shift and the wheel pans; with a plot in focus the arrow keys pan, plus and minus zoom, Home shows all.',
      },
      'Drag to zoom, double-click for the whole run',
    ),
  );
  const hair = el('div', { class: 'hair', hidden: '' });
  strip.append(hair);
  const point = (t: number | null): void => {
    hair.hidden = t === null;
    if (t !== null) hair.style.transform = `translateX(${toX(t, axis.full, strip.clientWidth)}px)`;
  };
  axis.onPoint(point);
  const root = el('div', { class: 'overview' }, bar, strip);

  const draw = eachFrame(strip, () => {
    const width = strip.clientWidth;
    if (width === 0) return;
    const c = fit(canvas, width, HEIGHT);
    const colours = palette();
    c.clearRect(0, 0, width, HEIGHT);
    c.fillStyle = colours.panel;
    c.fillRect(GUTTER, 0, width - GUTTER - MARGIN, HEIGHT);
    const most = Math.max(...outline.values, 1e-9);
    const n = outline.values.length;
    c.fillStyle = colours.line;
    outline.values.forEach((v, i) => {
      const left = toX((i / n) * axis.full.to, axis.full, width);
      const right = toX(((i + 1) / n) * axis.full.to, axis.full, width);
      const h = (v / most) * (HEIGHT - 4);
      c.fillRect(left, HEIGHT - h, right - left + 0.5, h);
    });
    const from = toX(axis.view.from, axis.full, width);
    const to = toX(axis.view.to, axis.full, width);
    c.globalAlpha = 0.14;
    c.fillStyle = colours.accent;
    c.fillRect(from, 0, to - from, HEIGHT);
    c.globalAlpha = 1;
    c.fillRect(from - 1, 0, 2, HEIGHT);
    c.fillRect(to - 1, 0, 2, HEIGHT);
    c.font = '11px system-ui, sans-serif';
    c.fillStyle = colours.muted;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    c.fillText(outline.title, GUTTER - 8, HEIGHT / 2, GUTTER - 12);
    text.value = viewText(axis.view, axis.full);
    point(axis.held);
  });

  let grab: { at: number; from: number; to: number; moving: boolean } | null = null;
  const timeAt = (event: MouseEvent): number => {
    const box = strip.getBoundingClientRect();
    return Math.min(axis.full.to, Math.max(axis.full.from, toTime(event.clientX - box.left, axis.full, box.width)));
  };
  strip.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const at = timeAt(event);
    const whole = axis.view.to - axis.view.from >= axis.full.to - axis.full.from;
    grab = { at, from: axis.view.from, to: axis.view.to, moving: !whole && at > axis.view.from && at < axis.view.to };
    strip.setPointerCapture(event.pointerId);
  });
  strip.addEventListener('pointermove', (event) => {
    if (!grab) return;
    const t = timeAt(event);
    if (grab.moving) axis.show({ from: grab.from + t - grab.at, to: grab.to + t - grab.at });
    else if (Math.abs(t - grab.at) > axis.full.to * 0.004)
      axis.show({ from: Math.min(t, grab.at), to: Math.max(t, grab.at) });
  });
  const release = (): void => {
    grab = null;
  };
  strip.addEventListener('pointerup', release);
  strip.addEventListener('pointercancel', release);
  strip.addEventListener('dblclick', () => axis.reset());
  strip.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      axis.show(zoomAround(axis.view, timeAt(event), Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.003)))));
    },
    { passive: false },
  );
  strip.addEventListener('keydown', (event) => keys(event, axis));
  axis.onView(draw);
  new ResizeObserver(draw).observe(strip);
  onTheme(draw);
  return root;
}
