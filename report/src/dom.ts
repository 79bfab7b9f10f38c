// Building elements; text always goes in as text, never as markup.

type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((c): c is Node | string => c !== null));
  return node;
}

/** A text whose parts between backticks are keys and settings. */
export function withCode(text: string): Child[] {
  return text.split('`').map((part, k) => (k % 2 === 1 ? el('code', {}, part) : part));
}

/** A labelled choice among values and their texts; the first one stands at the start, or `now`. */
export function select<T extends string>(
  label: string,
  options: [T, string][],
  chosen: (value: T) => void,
  now?: T,
): HTMLElement {
  const box = el('select', { 'aria-label': label }, ...options.map(([value, text]) => el('option', { value }, text)));
  if (now !== undefined) box.value = now;
  box.addEventListener('change', () => chosen(box.value as T));
  return el('label', {}, el('span', { 'aria-hidden': 'true' }, `${label} `), box);
}

let sections = 0;

/** A titled section of the page. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  sections += 1;
  const heading = el('h2', { id: `h-${id}-${sections}` }, title);
  return el('section', { id, 'aria-labelledby': heading.id }, heading, ...children);
}

/** A canvas sized in CSS pixels and sharp on any screen; returns a context scaled to match. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

const QUIET_MS = 120;

/**
 * Calls `work` once before the next frame, however often it is asked for. While `area` is out of sight the work waits until asking has
 * stopped for a moment: zooming stays smooth however many plots the page holds, and all of them are right once it rests.
 */
export function eachFrame(area: Element, work: () => void): () => void {
  let asked = false;
  let later = 0;
  const run = (): void => {
    asked = false;
    work();
  };
  return () => {
    if (asked) return;
    clearTimeout(later);
    const box = area.getBoundingClientRect();
    if (box.bottom < -50 || box.top > window.innerHeight + 50) {
      later = window.setTimeout(run, QUIET_MS);
      return;
    }
    asked = true;
    requestAnimationFrame(run);
  };
}
