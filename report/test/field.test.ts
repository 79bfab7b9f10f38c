// Where stations are, what they do and which frames are on the air, against values worked out here.

import { expect, test } from 'vitest';
import type { Field, ReportData, Station } from '../src/data';
import { Air, apart, frameWords, placeAt, queues, reached, states, trail, unreached } from '../src/field';
import { barLength, labelled, map, planeIn, recent } from '../src/map';
import { LIGHT } from '../src/palette';
import { airWords, startingInstant, startingPace, startingTrail } from '../src/player';
import { svg } from '../src/shapes';
import { fileName } from '../src/still';
import { wordCount } from './sample-jobs';

/** East at 1 m/s for 10 s, a rest of 5 s, then north at 2 m/s for 5 s. */
const walker: Station = {
  name: 'walker',
  node: 1,
  at_ms: [0, 10_000, 15_000, 20_000],
  x_mm: [0, 10_000, 10_000, 10_000],
  y_mm: [0, 0, 0, 10_000],
  failed_ms: [4000, 6000, 18_000],
};
const still: Station = { name: 'master', node: 0, at_ms: [0], x_mm: [40_000], y_mm: [30_000], failed_ms: [] };
const point: Station = { ...still, name: 'ap-1', node: -1, failed_ms: [13_000, 13_500] };

function field(rows: [start: number, duration: number, from: number, to: number, kind: number, fate: number][]): Field {
  let last = 0;
  const gaps = rows.map(([start]) => {
    const gap = start - last;
    last = start;
    return gap;
  });
  const column = (k: number): number[] => rows.map((row) => row[k]!);
  return {
    width_m: 80,
    height_m: 60,
    range_m: 25,
    stations: [still, walker, point],
    frames: {
      gap_ns: gaps,
      duration_ns: column(1),
      from: column(2),
      to: column(3),
      kind: column(4),
      packets: rows.map(() => 3),
      fate: column(5),
    },
  };
}

test('reached counts the values up to one', () => {
  expect([0, 1, 2, 4].map((v) => reached([1, 2, 2, 3], v))).toEqual([0, 1, 3, 4]);
  expect(reached([], 5)).toBe(0);
});

test.each([
  [-1, 0, 0],
  [0, 0, 0],
  [2.5, 2.5, 0],
  [10, 10, 0],
  [12, 10, 0],
  [17, 10, 4],
  [20, 10, 10],
  [99, 10, 10],
])('at %d s the walker is at (%d, %d)', (t, x, y) => {
  const at = placeAt(walker, t);
  expect(at.x).toBeCloseTo(x, 12);
  expect(at.y).toBeCloseTo(y, 12);
});

test('a jump is one', () => {
  const jumper = { ...walker, at_ms: [0, 1000, 1000, 2000], x_mm: [0, 0, 5000, 5000], y_mm: [0, 0, 0, 0] };
  expect([0.999, 1, 1.5].map((t) => placeAt(jumper, t).x)).toEqual([0, 5, 5]);
});

test('a trail has the corners between its ends, and is nothing for who stood still', () => {
  expect(trail(walker, 9, 17)).toEqual([9, 0, 10, 0, 10, 0, 10, 4]);
  expect(trail(walker, 11, 14)).toEqual([]);
  expect(trail(still, 0, 100)).toEqual([]);
});

test('a node is busy from the start of an attempt to its end, and failed from event to event', () => {
  const data: ReportData = wordCount();
  const none = field([]);
  data.attempts = {
    ...data.attempts,
    node: [1, 1, 0],
    start_ms: [1000, 2000, 0],
    end_ms: [3000, 5000, 9000],
  };
  const of = states(data, none);
  const walkers = [0.5, 1, 2.5, 3, 4.5, 5.5, 6, 17, 18, 30].map((t) => of(1, t));
  expect(walkers.map((s) => `${s.doing} ${s.running}`)).toEqual([
    'idle 0',
    'busy 1',
    'busy 2',
    'busy 1',
    'failed 1',
    'failed 0',
    'idle 0',
    'idle 0',
    'failed 0',
    'failed 0',
  ]);
  expect([of(0, 1).doing, of(2, 1).doing, of(2, 13).doing, of(2, 14).doing]).toEqual(['master', 'point', 'failed', 'point']);
});

// A long one, three short ones while it lasts, one after.
const busy = field([
  [1_000_000, 900_000, 0, 1, 0, 0],
  [1_100_000, 50_000, 1, 0, 2, 1],
  [1_120_000, 50_000, 2, -1, 5, 0],
  [1_500_000, 50_000, 1, 0, 1, 2],
  [3_000_000, 50_000, 0, 1, 1, 1],
]);

test('frames on the air at an instant are those that have begun and not ended', () => {
  const air = new Air(busy);
  const at = (us: number): number[] => air.within(us / 1e6, us / 1e6);
  expect([at(999), at(1000), at(1125), at(1300), at(1900), at(1901)]).toEqual([[], [0], [0, 1, 2], [0], [0], []]);
  expect(air.within(0.0016, 0.0035)).toEqual([0, 4]);
  expect(air.within(0.00156, 0.0029)).toEqual([0]);
});

test('steps go from start to start, and to collisions', () => {
  const air = new Air(busy);
  const any = (): boolean => true;
  expect([0, 0.001, 0.00111, 0.0031].map((t) => air.next(t, true, any))).toEqual([0, 1, 2, -1]);
  expect([0, 0.001, 0.0011, 0.0031].map((t) => air.next(t, false, any))).toEqual([-1, -1, 0, 4]);
  expect([0, 0.0011, 0.0031].map((t) => air.next(t, true, (i) => air.isCollided(i)))).toEqual([1, 4, -1]);
  // From each start to the next, as floating point has them.
  let t = 0;
  const met: number[] = [];
  for (let i = air.next(t, true, any); i >= 0; i = air.next(t, true, any)) {
    met.push(i);
    t = air.start[i]!;
  }
  expect(met).toEqual([0, 1, 2, 3, 4]);
});

test('frames in words', () => {
  const air = new Air(busy);
  expect([0, 2].map((i) => frameWords(air.frame(i), busy))).toEqual([
    'data of 3 packets, master to walker',
    'beacon of 3 packets, ap-1 to everyone',
  ]);
});

test('what was on the air fades; the newest stands for its like', () => {
  const twice = field([
    [1_000_000, 100_000, 0, 1, 0, 0],
    [1_200_000, 100_000, 0, 1, 0, 0],
    [1_300_000, 50_000, 0, 1, 0, 1],
  ]);
  const ages = recent(new Air(twice), 0.0014, 0.0005).map(({ frame, age }) => [frame.fate, Number(age.toFixed(6))]);
  expect(ages).toEqual([
    ['received', 0.2],
    ['collided', 0.1],
  ]);
});

test('the map keeps proportions, north is up, and its bar is of a round length', () => {
  const plane = planeIn(busy, 1000, 400);
  expect(plane.width / plane.height).toBeCloseTo(80 / 60, 12);
  expect(plane.height).toBeLessThanOrEqual(400);
  expect([80, 100, 1000, 7.5, 49].map(barLength)).toEqual([10, 20, 200, 1, 5]);
  const data = wordCount();
  const options = { range: 'all', trail: 0, names: true, memory: 0, chosen: -1, fullQueue: 0 } as const;
  const shapes = map(busy, new Air(busy), states(data, busy), 20, plane, options, LIGHT);
  const inside = shapes.find((s) => s.kind === 'clip')!;
  const ranges = inside.shapes.filter((s) => s.kind === 'circle' && s.dash !== undefined);
  expect(ranges).toHaveLength(3);
  expect(ranges[1]).toMatchObject({
    x: plane.left + 10 * plane.scale,
    y: plane.top + 50 * plane.scale,
    r: 25 * plane.scale,
  });
  expect(shapes.filter((s) => s.kind === 'text').map((s) => s.text)).toContain('walker');
});

test('a collision has a red cross at its receiver', () => {
  const plane = planeIn(busy, 1000, 400);
  const options = { range: 'none', trail: 0, names: false, memory: 0, chosen: -1, fullQueue: 0 } as const;
  const crosses = (t: number): number[][] => {
    const shapes = map(busy, new Air(busy), states(wordCount(), busy), t, plane, options, LIGHT);
    return shapes.flatMap((s) => (s.kind === 'line' && s.stroke === LIGHT.field.failed ? [s.points] : []));
  };
  // The second frame collides at the master, (40, 30) of 80 by 60 metres.
  const [x, y] = [plane.left + 40 * plane.scale, plane.top + 30 * plane.scale];
  const both = crosses(0.00111);
  expect(both).toHaveLength(2);
  for (const [x1, y1, x2, y2] of both as [number, number, number, number][])
    expect([(x1 + x2) / 2, (y1 + y2) / 2]).toEqual([expect.closeTo(x, 9), expect.closeTo(y, 9)]);
  expect(crosses(0.0013)).toEqual([]);
});

test('who is out of range of whom, and for how long', () => {
  // The walker is 50 m from the master at first, 41.2 m in the end; the access point stands on the master's place.
  const wide = { ...busy, range_m: 45 };
  expect(unreached(wide, 0, 0)).toEqual([1]);
  expect(unreached(wide, 1, 0)).toEqual([0, 2]);
  expect(unreached(wide, 0, 7)).toEqual([]);
  expect(unreached({ ...busy, range_m: null }, 0, 0)).toEqual([]);
  // 45 m are reached where the walker has come to x with (40 - x)^2 + 30^2 = 45^2: after 6.459 s of 20.
  const { pairs, worst } = apart({ ...wide, stations: [still, walker] }, 20);
  expect(pairs).toBeCloseTo(6.459 / 20, 2);
  expect(worst).toEqual({ station: 1, part: expect.closeTo(pairs, 9) });
  expect(apart({ ...busy, range_m: 200 }, 20)).toEqual({ pairs: 0, worst: null });
});

test('what being on the air has cost is said with its numbers', () => {
  const network = [
    { label: 'packets', value: 1000 },
    { label: 'drops', value: 20 },
    { label: 'retransmissions', value: 30 },
    { label: 'timeouts', value: 4 },
    { label: 'given up on the air', value: 5 },
  ];
  const words = airWords({ network, end_s: 20 }, { ...busy, range_m: 45, stations: [still, walker] }).join(' ').replaceAll('\u00a0', ' ');
  expect(words).toMatch(/^Of 1.?000 packets full transmit queues dropped 20, and radios gave up 5 that nobody had acknowledged; TCP sent 30 segments again and waited for 4 timeouts\./);
  expect(words).toContain('walker from the master for 33 % of it');
  const quiet = { network: [{ label: 'packets', value: 9 }], end_s: 20 };
  expect(airWords(quiet, { ...busy, range_m: null })).toEqual([]);
  expect(airWords(quiet, { ...busy, range_m: 200 }).join(' ')).toContain('all the time');
});

test('a transmit queue shows as a ring that closes as it fills', () => {
  const data = wordCount();
  const chart = { ...data.charts[0]!, id: 'queues', unit: 'count' as const, step_s: 2, scale: 1 };
  const charts = [{ ...chart, series: [{ name: 'walker out', node: 1, values: [0, 64, 256] }] }];
  const known = queues({ charts }, busy);
  expect([0, 2, 5, 99].map((t) => known.at(1, t))).toEqual([0, 64, 256, 256]);
  expect([known.at(0, 0), known.most]).toEqual([null, 256]);
  expect(queues({ charts: [] }, busy).at(1, 0)).toBeNull();
  const plane = planeIn(busy, 1000, 400);
  const options = { range: 'none', trail: 0, names: false, memory: 0, chosen: -1, fullQueue: 256 } as const;
  const rings = (t: number): number[][] =>
    map(busy, new Air({ ...busy, frames: field([]).frames }), states({ ...data, charts }, busy), t, plane, options, LIGHT).flatMap((s) =>
      s.kind === 'line' && s.stroke === LIGHT.field.data ? [s.points] : [],
    );
  expect(rings(0)).toEqual([]);
  // A quarter of a ring, from the top to the right.
  const quarter = rings(2)[0]!;
  const [x, y] = [plane.left + 2 * plane.scale, plane.top + 60 * plane.scale];
  expect([quarter[0], quarter.at(-1)]).toEqual([expect.closeTo(x, 6), expect.closeTo(y, 6)]);
  expect(rings(4)[0]).toHaveLength(2 * 49);
});

test('names keep off marks and other names where there is room', () => {
  const plane = { left: 0, top: 0, width: 400, height: 400, scale: 1 };
  const at = [
    { x: 100, y: 100 },
    { x: 140, y: 100 },
    { x: 395, y: 300 },
  ];
  const spots = labelled(['one', 'two', 'three'], at, 10, plane);
  expect(spots.map((spot) => spot!.align)).toEqual(['end', 'start', 'end']);
  expect(labelled(['', 'two', ''], at, 10, plane).map((spot) => spot === null)).toEqual([true, false, true]);
});

test('the page opens where frames were kept', () => {
  expect(startingInstant(field([]))).toBe(0);
  expect(startingInstant(busy)).toBe(new Air(busy).start[new Air(busy).count >> 1]);
});

test('SVG is well formed whatever the names are', () => {
  const text = svg(
    [{ kind: 'text', x: 1, y: 2, text: '<a & "b">', size: 11, fill: '#000000', align: 'start' }],
    10,
    10,
    'x < y',
  );
  expect(text).toContain('>&lt;a &amp; &quot;b&quot;&gt;</text>');
  expect(text).toContain('<title>x &lt; y</title>');
});

test('a run plays within a minute, with a trail that suits its length', () => {
  expect([0.8, 60, 207, 3000, 1e6].map(startingPace)).toEqual([0.1, 1, 10, 100, 1000]);
  expect([0.8, 60, 207, 10_000].map(startingTrail)).toEqual([Infinity, 10, 10, 600]);
  expect(fileName('Four tablets: <walk>', 31.25, 'png')).toBe('four-tablets-walk-31.25s.png');
  expect(fileName('字', 0, 'svg')).toBe('field-0s.svg');
});
