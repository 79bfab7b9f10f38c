// What every plot on the time axis shares: the same left gutter and right margin, so that an instant is at the same place in all of them;
// drag to zoom, double-click to reset, wheel with Ctrl or Shift, keys; one crosshair.

import { el } from './dom';
import { instant } from './format';
import { palette } from './palette';
import { pan, ticks, zoomAround, type Span, type TimeAxis } from './range';

/** Room for names and y-axis labels left of every plot. */
export const GUTTER = typeof window !== 'undefined' && window.innerWidth < 560 ? 74 : 116;
/** Margin right of every plot; a scroll bar fits in it. */
export const MARGIN = 14;
export const AXIS_HEIGHT = 36;
export const FONT = '11px system-ui, sans-serif';

export function toX(t: number, view: Span, width: number): number {
  return GUTTER + ((t - view.from) / (view.to - view.from)) * (width - GUTTER - MARGIN);
}

export function toTime(x: number, view: Span, width: number): number {
  return view.from + ((x - GUTTER) / (width - GUTTER - MARGIN)) * (view.to - view.from);
}

export interface Handlers {
  /** The pointer moved over the plot without dragging. */
  hover?: (t: number, x: number, y: number, event: PointerEvent) => void;
  leave?: () => void;
}

/** Zooming, panning and the crosshair for the plot inside `area`, whose left edge is the gutter's. */
export function interact(area: HTMLElement, axis: TimeAxis, handlers: Handlers = {}): void {
  const band = el('div', { class: 'band', hidden: '' });
  const hair = el('div', { class: 'hair', hidden: '' });
  area.append(band, hair);
  area.classList.add('plot');
  area.tabIndex = 0;

  const at = (event: MouseEvent): { x: number; y: number; t: number } => {
    const box = area.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x, y: event.clientY - box.top, t: toTime(x, axis.view, box.width) };
  };
  const inside = (x: number): number => Math.min(area.clientWidth - MARGIN, Math.max(GUTTER, x));
  let dragFrom: number | null = null;

  area.addEventListener('pointerdown', (event) => {
    const { x } = at(event);
    if (event.button !== 0 || x < GUTTER || x > area.clientWidth - MARGIN + 2) return;
    dragFrom = x;
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener('pointermove', (event) => {
    const { x, y, t } = at(event);
    axis.point(x >= GUTTER && x <= area.clientWidth - MARGIN ? t : null);
    if (dragFrom === null) {
      handlers.hover?.(t, x, y, event);
      return;
    }
    const to = inside(x);
    band.hidden = Math.abs(to - dragFrom) < 4;
    band.style.left = `${Math.min(dragFrom, to)}px`;
    band.style.width = `${Math.abs(to - dragFrom)}px`;
    handlers.leave?.();
  });
  const finish = (event: PointerEvent): void => {
    if (dragFrom === null) return;
    const to = inside(at(event).x);
    const width = area.clientWidth;
    if (event.type === 'pointerup' && Math.abs(to - dragFrom) >= 4) {
      axis.show({
        from: toTime(Math.min(dragFrom, to), axis.view, width),
        to: toTime(Math.max(dragFrom, to), axis.view, width),
      });
    } else if (event.type === 'pointerup' && axis.held !== null) axis.hold(toTime(to, axis.view, width));
    dragFrom = null;
    band.hidden = true;
  };
  area.addEventListener('pointerup', finish);
  area.addEventListener('pointercancel', finish);
  area.addEventListener('pointerleave', () => {
    axis.point(null);
    handlers.leave?.();
  });
  area.addEventListener('dblclick', () => axis.reset());
  area.addEventListener(
    'wheel',
    (event) => {
      const span = axis.view.to - axis.view.from;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        axis.show(zoomAround(axis.view, at(event).t, Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.003)))));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        axis.show(
          pan(axis.view, (((event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) || 0) / 1000) * span),
        );
      }
    },
    { passive: false },
  );
  area.addEventListener('keydown', (event) => keys(event, axis));
  axis.onPoint((t) => {
    const x = t === null ? -1 : toX(t, axis.view, area.clientWidth);
    hair.hidden = x < GUTTER || x > area.clientWidth - MARGIN;
    hair.style.transform = `translateX(${x}px)`;
  });
}

/** Arrow keys pan, plus and minus zoom, Home or Escape shows the whole run. */
export function keys(event: KeyboardEvent, axis: TimeAxis): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const span = axis.view.to - axis.view.from;
  const middle = (axis.view.from + axis.view.to) / 2;
  switch (event.key) {
    case 'ArrowLeft':
      axis.show(pan(axis.view, -span / 10));
      break;
    case 'ArrowRight':
      axis.show(pan(axis.view, span / 10));
      break;
    case '+':
    case '=':
      axis.show(zoomAround(axis.view, middle, 0.7));
      break;
    case '-':
      axis.show(zoomAround(axis.view, middle, 1 / 0.7));
      break;
    case 'Home':
    case 'Escape':
      axis.reset();
      break;
    default:
      return;
  }
  event.preventDefault();
}

export function timeTicks(view: Span, width: number): number[] {
  return ticks(view, Math.max(2, Math.floor((width - GUTTER - MARGIN) / 90)));
}

/** A tick's text: as many decimals as the step between ticks needs. */
export function tickText(value: number, step: number): string {
  return value.toFixed(Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9))));
}

/** Vertical grid lines of the time axis. */
export function drawGrid(c: CanvasRenderingContext2D, view: Span, width: number, top: number, bottom: number): void {
  c.fillStyle = palette().grid;
  for (const t of timeTicks(view, width)) c.fillRect(Math.round(toX(t, view, width)), top, 1, bottom - top);
}

/** The time axis itself, `AXIS_HEIGHT` tall. */
export function drawTimeAxis(c: CanvasRenderingContext2D, view: Span, width: number, top: number): void {
  const colours = palette();
  c.fillStyle = colours.line;
  c.fillRect(GUTTER, top, width - GUTTER - MARGIN, 1);
  c.font = FONT;
  c.textAlign = 'center';
  c.textBaseline = 'top';
  c.fillStyle = colours.muted;
  const values = timeTicks(view, width);
  const step = values.length > 1 ? values[1]! - values[0]! : view.to - view.from;
  for (const t of values) {
    const x = toX(t, view, width);
    c.fillRect(Math.round(x), top, 1, 4);
    c.fillText(tickText(t, step), x, top + 6);
  }
  c.fillText('Simulated time (s)', GUTTER + (width - GUTTER - MARGIN) / 2, top + 21);
}

/** What the toolbar says about the view. */
export function viewText(view: Span, full: Span): string {
  const span = view.to - view.from;
  const text = `${instant(view.from, span)} to ${instant(view.to, span)}`;
  return span >= full.to - full.from ? `whole run, ${text}` : text;
}
