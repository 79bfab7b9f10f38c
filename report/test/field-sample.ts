// A field of many nodes that go to random points, and frames between them: as much as a page has to hold.

import { FATES, type Field, FRAME_KINDS, type ReportData } from '../src/data';
import { random } from './sample-attempts';
import { teraSort } from './sample-jobs';

const SIDE = 300_000;

/** A hundred nodes and the master sort a terabyte on the move; 20,000 frames were kept of 40 s. */
export function walk(): ReportData {
  const data = teraSort();
  const rng = random(12);
  const end = data.end_s * 1000;
  const stations: Field['stations'] = data.nodes.map(({ name }, node) => {
    const [at_ms, x_mm, y_mm] = [[0], [Math.round(SIDE * rng())], [Math.round(SIDE * rng())]];
    while (at_ms.at(-1)! < end) {
      const [x, y] = [Math.round(SIDE * rng()), Math.round(SIDE * rng())];
      // 1 to 2 mm in a millisecond: 1 to 2 m/s.
      const took = Math.hypot(x - x_mm.at(-1)!, y - y_mm.at(-1)!) / (1 + rng());
      at_ms.push(Math.round(at_ms.at(-1)! + took));
      x_mm.push(x);
      y_mm.push(y);
    }
    return { name, node, at_ms, x_mm, y_mm, failed_ms: node % 25 === 7 ? [120_000 + 1000 * node] : [] };
  });
  const frames: Field['frames'] = { gap_ns: [], duration_ns: [], from: [], to: [], kind: [], packets: [], fate: [] };
  for (let i = 0; i < 20_000; i += 1) {
    const isData = i % 2 === 0;
    const [from, to] = [Math.floor(101 * rng()), Math.floor(101 * rng())];
    const draw = rng();
    frames.gap_ns.push(i === 0 ? 100e9 : Math.round(4e6 * rng()));
    frames.duration_ns.push(isData ? 2_400_000 : 32_000);
    frames.from.push(from);
    frames.to.push(to === from ? -1 : to);
    frames.kind.push(FRAME_KINDS.indexOf(isData ? 'data' : 'ack'));
    frames.packets.push(isData ? 12 : 0);
    frames.fate.push(FATES.indexOf(draw < 0.05 ? 'collided' : draw < 0.1 ? 'lost' : 'received'));
  }
  return { ...data, title: 'A terabyte on the move', field: { width_m: 300, height_m: 300, range_m: 100, stations, frames } };
}
