// The one time axis of the page: what part of the run is in view, and the instant under the pointer.

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
  private readonly viewers: ((view: Span) => void)[] = [];
  private readonly pointers: ((at: number | null) => void)[] = [];

  constructor(end: number) {
    this.full = { from: 0, to: end > 0 ? end : 1 };
    this.least = Math.max(this.full.to * 1e-5, 1e-6);
    this.view = this.full;
  }

  show(span: Span): void {
    const next = clamp(span, this.full, this.least);
    if (next.from === this.view.from && next.to === this.view.to) return;
    this.view = next;
    for (const tell of this.viewers) tell(next);
  }

  reset(): void {
    this.show(this.full);
  }

  point(at: number | null): void {
    for (const tell of this.pointers) tell(at);
  }

  onView(tell: (view: Span) => void): void {
    this.viewers.push(tell);
  }

  onPoint(tell: (at: number | null) => void): void {
    this.pointers.push(tell);
  }
}
