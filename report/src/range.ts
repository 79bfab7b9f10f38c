// The one time axis of the page: what part of the run is in view, and the instant of the crosshair.

export interface Span {
  from: number;
  to: number;
}

/** Keeps a span inside `full` and no shorter than `least`, moving it rather than cutting it where it can. */
export function clamp(span: Span, full: Span, least: number): Span {
  const whole = full.to - full.from;
  const length = Math.min(whole, Math.max(least, span.to - span.from));
  const middle = (span.from + span.to) / 2;
  const from = Math.min(full.to - length, Math.max(full.from, middle - length / 2));
  return { from, to: from + length };
}

/** The span `factor` times as long that keeps `at` where it is on the screen. */
export function zoomAround(span: Span, at: number, factor: number): Span {
  return { from: at - (at - span.from) * factor, to: at + (span.to - at) * factor };
}

export function pan(span: Span, by: number): Span {
  return { from: span.from + by, to: span.to + by };
}

/** Round tick values for a span: at most `most` of them, at steps of 1, 2 or 5 times a power of ten. */
export function ticks(span: Span, most: number): number[] {
  const raw = (span.to - span.from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999999)!;
  const first = Math.ceil(span.from / step - 1e-9);
  const last = Math.floor(span.to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

export class TimeAxis {
  readonly full: Span;
  readonly least: number;
  view: Span;
  /** The instant at which the crosshair stays when no pointer is over a plot; null where nothing has set one. */
  held: number | null = null;
  /** While the held instant moves by itself, pointers do not move the crosshair. */
  running = false;
  private readonly viewers: ((view: Span) => void)[] = [];
  private readonly pointers: ((at: number | null) => void)[] = [];

  /** Of a run of `end` seconds; a view is at least `least` seconds long. */
  constructor(end: number, least = Math.max(end * 1e-5, 1e-6)) {
    this.full = { from: 0, to: end > 0 ? end : 1 };
    this.least = least;
    this.view = this.full;
  }

  show(span: Span): void {
    const next = clamp(span, this.full, this.least);
    if (next.from === this.view.from && next.to === this.view.to) return;
    this.view = next;
    for (const tell of this.viewers) tell(next);
    if (this.held !== null) this.tellPoint(this.held);
  }

  reset(): void {
    this.show(this.full);
  }

  /** The pointer is at an instant of some plot, or has left it. */
  point(at: number | null): void {
    if (!this.running) this.tellPoint(at ?? this.held);
  }

  /** Puts the crosshair of all plots at an instant, to stay there. */
  hold(at: number): void {
    this.held = Math.min(this.full.to, Math.max(this.full.from, at));
    this.tellPoint(this.held);
  }

  private tellPoint(at: number | null): void {
    for (const tell of this.pointers) tell(at);
  }

  onView(tell: (view: Span) => void): void {
    this.viewers.push(tell);
  }

  onPoint(tell: (at: number | null) => void): void {
    this.pointers.push(tell);
  }
}
