// Numbers as people read them, always with their unit.

/** No-break spaces: a number stays on one line with its unit, and in one piece. */
const SPACE = '\u00a0';
const NARROW = '\u202f';

const DECIMAL = ['', 'K', 'M', 'G', 'T', 'P'];

function trim(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Three significant digits, never more than two decimals. */
function short(value: number): string {
  const size = Math.abs(value);
  return trim(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value: number, unit: string): string {
  let step = 0;
  let v = value;
  while (Math.abs(v) >= 999.5 && step < DECIMAL.length - 1) {
    v /= 1000;
    step += 1;
  }
  return `${short(v)}${SPACE}${DECIMAL[step]}${unit}`;
}

export function bytes(value: number): string {
  return scaled(value, 'B');
}

export function rate(bitsPerSecond: number): string {
  return scaled(bitsPerSecond, 'bit/s');
}

export function energy(joules: number): string {
  return scaled(joules, 'J').replace('K', 'k');
}

export function share(value: number): string {
  const percent = value * 100;
  if (percent > 0 && percent < 0.05) return `<0.1${SPACE}%`;
  // Near the ends a tenth says something: 99.9 % is not 100 %.
  const fine = Math.abs(percent) < 9.95 || (percent > 99 && percent < 100);
  return `${trim(percent, fine && percent !== 0 ? 1 : 0)}${SPACE}%`;
}

/** A whole number with its thousands apart. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
}

/** A duration: microseconds to hours, in the unit that suits it. */
export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return `0${SPACE}s`;
  if (size < 0.9995e-3) return `${short(value * 1e6)}${SPACE}µs`;
  if (size < 0.9995) return `${short(value * 1e3)}${SPACE}ms`;
  if (size < 600) return `${trim(value, size < 9.995 ? 2 : 1)}${SPACE}s`;
  const whole = Math.round(size);
  const sign = value < 0 ? '-' : '';
  const h = Math.floor(whole / 3600);
  const m = Math.floor((whole % 3600) / 60);
  const s = whole % 60;
  return h > 0 ? `${sign}${h}${SPACE}h ${m}${SPACE}min ${s}${SPACE}s` : `${sign}${m}${SPACE}min ${s}${SPACE}s`;
}

/** A length on the map. */
export function metres(value: number): string {
  return Math.abs(value) >= 9995 ? `${short(value / 1000)}${SPACE}km` : `${short(value)}${SPACE}m`;
}

/** An instant on the time axis, as fine as the view needs. */
export function instant(value: number, span: number): string {
  const digits = span > 100 ? 1 : Math.min(9, Math.max(1, 3 - Math.floor(Math.log10(span))));
  return `${value.toFixed(digits)}${SPACE}s`;
}

/** A relative error with its sign, to a tenth of a percent below ten. */
export function signedShare(value: number): string {
  const sign = value > 0 ? '+' : '−';
  return Math.abs(value) < 0.0005 ? share(0) : `${sign}${share(Math.abs(value))}`;
}

/** A value of a chart in the chart's unit. */
export function inUnit(value: number, unit: string): string {
  switch (unit) {
    case 'share':
      return share(value);
    case 'bit/s':
      return rate(value);
    case 'B':
      return bytes(value);
    case 'B/s':
      return scaled(value, 'B/s');
    case 's':
      return seconds(value);
    default:
      return value < 9.95 ? trim(value, 1) : count(value);
  }
}
