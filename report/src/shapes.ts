// Pictures as lists of shapes: painted on a canvas for the screen and for PNG, written as text for SVG.

interface Stroke {
  stroke?: string;
  width?: number;
  dash?: number[];
}

interface Common extends Stroke {
  fill?: string;
  alpha?: number;
}

export type Shape =
  /** Points as x, y, x, y, ... */
  | (Common & { kind: 'line' | 'polygon'; points: number[] })
  | (Common & { kind: 'circle'; x: number; y: number; r: number })
  | {
      kind: 'text';
      x: number;
      y: number;
      text: string;
      size: number;
      fill: string;
      align: 'start' | 'middle' | 'end';
      bold?: boolean;
      /** The colour behind it, so that it reads across lines. */
      halo?: string;
      /** Turned by a quarter, to be read from below upwards. */
      upward?: boolean;
    }
  /** Shapes of which only what is inside of a rectangle shows. */
  | { kind: 'clip'; x: number; y: number; width: number; height: number; shapes: Shape[] };

const FAMILY = 'system-ui, Helvetica, Arial, sans-serif';

export function paint(c: CanvasRenderingContext2D, shapes: Shape[]): void {
  for (const shape of shapes) {
    if (shape.kind === 'clip') {
      c.save();
      c.beginPath();
      c.rect(shape.x, shape.y, shape.width, shape.height);
      c.clip();
      paint(c, shape.shapes);
      c.restore();
    } else if (shape.kind === 'text') {
      paintText(c, shape);
    } else {
      c.beginPath();
      if (shape.kind === 'circle') c.arc(shape.x, shape.y, shape.r, 0, 2 * Math.PI);
      else {
        for (let i = 0; i < shape.points.length; i += 2) c.lineTo(shape.points[i]!, shape.points[i + 1]!);
        if (shape.kind === 'polygon') c.closePath();
      }
      c.globalAlpha = shape.alpha ?? 1;
      if (shape.fill !== undefined) {
        c.fillStyle = shape.fill;
        c.fill();
      }
      if (shape.stroke !== undefined) {
        c.strokeStyle = shape.stroke;
        c.lineWidth = shape.width ?? 1;
        c.setLineDash(shape.dash ?? []);
        c.lineJoin = 'round';
        c.stroke();
      }
      c.globalAlpha = 1;
    }
  }
  c.setLineDash([]);
}

function paintText(c: CanvasRenderingContext2D, shape: Shape & { kind: 'text' }): void {
  c.font = `${shape.bold ? '600 ' : ''}${shape.size}px ${FAMILY}`;
  c.textAlign = shape.align === 'middle' ? 'center' : shape.align;
  c.textBaseline = 'alphabetic';
  c.save();
  c.translate(shape.x, shape.y);
  if (shape.upward) c.rotate(-Math.PI / 2);
  if (shape.halo !== undefined) {
    c.strokeStyle = shape.halo;
    c.lineWidth = 3;
    c.lineJoin = 'round';
    c.strokeText(shape.text, 0, 0);
  }
  c.fillStyle = shape.fill;
  c.fillText(shape.text, 0, 0);
  c.restore();
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function round(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** A document of its own, white where nothing is drawn. */
export function svg(shapes: Shape[], width: number, height: number, title: string): string {
  const body = shapes.map((shape, i) => element(shape, `c${i}`)).join('\n');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" ` +
    `viewBox="0 0 ${round(width)} ${round(height)}" font-family="${FAMILY}">\n<title>${escaped(title)}</title>\n` +
    `<rect width="100%" height="100%" fill="#ffffff"/>\n${body}\n</svg>\n`
  );
}

function element(shape: Shape, id: string): string {
  switch (shape.kind) {
    case 'clip': {
      const { x, y, width, height } = shape;
      const box = `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"/>`;
      const inside = shape.shapes.map((s, i) => element(s, `${id}-${i}`)).join('\n');
      return `<clipPath id="${id}">${box}</clipPath>\n<g clip-path="url(#${id})">\n${inside}\n</g>`;
    }
    case 'text': {
      const turned = shape.upward ? ` transform="rotate(-90 ${round(shape.x)} ${round(shape.y)})"` : '';
      const halo =
        shape.halo === undefined
          ? ''
          : ` stroke="${shape.halo}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`;
      return (
        `<text x="${round(shape.x)}" y="${round(shape.y)}" font-size="${shape.size}" text-anchor="${shape.align}" ` +
        `fill="${shape.fill}"${shape.bold ? ' font-weight="600"' : ''}${halo}${turned}>${escaped(shape.text)}</text>`
      );
    }
    case 'circle':
      return `<circle cx="${round(shape.x)}" cy="${round(shape.y)}" r="${round(shape.r)}"${look(shape)}/>`;
    default: {
      const points = shape.points.map(round).join(' ');
      return `<${shape.kind === 'line' ? 'polyline' : 'polygon'} points="${points}"${look(shape)}/>`;
    }
  }
}

function look(shape: Common): string {
  const stroke =
    shape.stroke === undefined
      ? ''
      : ` stroke="${shape.stroke}" stroke-width="${shape.width ?? 1}" stroke-linejoin="round"`;
  const dash = shape.dash === undefined ? '' : ` stroke-dasharray="${shape.dash.join(' ')}"`;
  const alpha = shape.alpha === undefined ? '' : ` opacity="${round(shape.alpha)}"`;
  return ` fill="${shape.fill ?? 'none'}"${stroke}${dash}${alpha}`;
}
