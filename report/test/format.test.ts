import { expect, test } from 'vitest';
import * as format from '../src/format';

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [999.6, '1 KB'],
  [1500, '1.5 KB'],
  [999_499, '999 KB'],
  [999_600, '1 MB'],
  [386_196_972, '386 MB'],
  [1e12, '1 TB'],
  [12_340_000, '12.3 MB'],
])('%d bytes read %s', (value, text) => expect(plain(format.bytes(value))).toBe(text));

test.each([
  [10e6, '10 Mbit/s'],
  [1e9, '1 Gbit/s'],
  [950_123, '950 Kbit/s'],
])('%d bits per second read %s', (value, text) => expect(plain(format.rate(value))).toBe(text));

test.each([
  [0, '0 s'],
  [25e-6, '25 µs'],
  [0.0129, '12.9 ms'],
  [0.9996, '1 s'],
  [7.5, '7.5 s'],
  [9.996, '10 s'],
  [38.64, '38.6 s'],
  [207.788, '207.8 s'],
  [600, '10 min 0 s'],
  [3725, '1 h 2 min 5 s'],
])('%d seconds read %s', (value, text) => expect(plain(format.seconds(value))).toBe(text));

test('shares keep a decimal below ten percent', () => {
  expect([0, 0.0001, 0.004, 0.0996, 0.5412, 1].map((v) => plain(format.share(v)))).toEqual([
    '0 %',
    '<0.1 %',
    '0.4 %',
    '10 %',
    '54 %',
    '100 %',
  ]);
  expect(plain(format.signedShare(-0.042))).toBe('−4.2 %');
  expect(plain(format.signedShare(0.12))).toBe('+12 %');
  expect(plain(format.signedShare(-0.0001))).toBe('0 %');
});

test('counts are grouped by thousands', () => {
  expect([0, 999, 1000, 3_168_000].map((v) => plain(format.count(v)))).toEqual(['0', '999', '1 000', '3 168 000']);
});

test('an instant is as fine as the view', () => {
  expect(plain(format.instant(12.3456, 200))).toBe('12.3 s');
  expect(plain(format.instant(12.3456, 5))).toBe('12.346 s');
  expect(plain(format.instant(0.00123456, 0.001))).toBe('0.001235 s');
});

test('a number never breaks across lines', () => {
  for (const text of [format.bytes(1.5e6), format.count(1_234_567), format.seconds(12.5), format.share(0.5)])
    expect(text).not.toContain(' ');
});
