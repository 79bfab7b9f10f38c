// A still of the map for a paper: in print's colours, with its title, its instant and its key; as SVG text or as a PNG file.

import type { Field } from './data';
import { type Air, type State } from './field';
import { EDGE, keys, map, moved, type Options, planeIn } from './map';
import { LIGHT, type Palette } from './palette';
import { paint, type Shape, svg } from './shapes';

const WIDTH = 720;
const HEADING = 30;
const KEY_HEIGHT = 20;
const TALLEST = 900;
/** Pixels of a PNG per pixel of its SVG: 720 of them are 2160, 18 cm at 300 dots per inch. */
export const FINENESS = 3;

const PRINT: Palette = { ...LIGHT, page: '#ffffff' };

export interface Still {
  shapes: Shape[];
  width: number;
  height: number;
  title: string;
}

export function still(
  title: string,
  field: Field,
  air: Air,
  stateAt: (station: number, t: number) => State,
  t: number,
  options: Options,
): Still {
  const fitted = planeIn(field, WIDTH, TALLEST);
  const plane = { ...fitted, left: (WIDTH + EDGE.left - EDGE.right - fitted.width) / 2, top: HEADING + EDGE.top };
  const bottom = plane.top + plane.height + EDGE.bottom;
  const shapes = [
    ...map(field, air, stateAt, t, plane, options, PRINT),
    { kind: 'text', x: plane.left, y: 22, text: title, size: 14, fill: PRINT.ink, align: 'start', bold: true } as const,
  ];
  // The key in rows: a mark 28 wide, its text, a gap.
  let x = plane.left - 4;
  let y = bottom + 4;
  for (const key of keys(field, options.fullQueue, PRINT)) {
    const width = 34 + key.text.length * 6 + 14;
    if (x + width > WIDTH && x > plane.left) {
      x = plane.left - 4;
      y += KEY_HEIGHT;
    }
    shapes.push(...moved(key.shapes, x, y));
    shapes.push({ kind: 'text', x: x + 32, y: y + 12, text: key.text, size: 11, fill: PRINT.ink, align: 'start' });
    x += width;
  }
  return { shapes, width: WIDTH, height: y + KEY_HEIGHT + 8, title };
}

export function asSvg(of: Still): Blob {
  return new Blob([svg(of.shapes, of.width, of.height, of.title)], { type: 'image/svg+xml' });
}

export function asPng(of: Still): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(of.width * FINENESS);
  canvas.height = Math.round(of.height * FINENESS);
  const c = canvas.getContext('2d')!;
  c.fillStyle = PRINT.page;
  c.fillRect(0, 0, canvas.width, canvas.height);
  c.scale(FINENESS, FINENESS);
  paint(c, of.shapes);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

/** Hands a file to the reader. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file's name for an instant of a run. */
export function fileName(title: string, t: number, ending: string): string {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return `${words === '' ? 'field' : words.slice(0, 60)}-${Number(t.toFixed(6))}s.${ending}`;
}
