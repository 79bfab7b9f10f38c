import { expect, test } from 'vitest';
import type { Segment } from '../src/data';
import { advice, causeName, mediumOf, story, totals } from '../src/words';
import { walk } from './field-sample';
import { wordCount } from './sample-jobs';

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');
const stretch = (cause: Segment['cause'], start_s: number, end_s: number, where = ''): Segment => ({
  cause,
  start_s,
  end_s,
  where,
  detail: '',
  flow: -1,
});

test('time per cause adds up to the path', () => {
  const path = wordCount().jobs[0]!.critical_path;
  const sum = totals(path).reduce((s, t) => s + t.seconds, 0);
  expect(sum).toBeCloseTo(207.788, 9);
  expect(
    totals(path)
      .map((t) => t.cause)
      .slice(0, 2),
  ).toEqual(['transfer', 'cpu']);
});

test('the largest cause comes first, with its share, its place and what would help', () => {
  const job = {
    state: 'succeeded' as const,
    critical_path: [stretch('transfer', 0, 148, "worker-2's 10 Mbit/s link"), stretch('cpu', 148, 212)],
  };
  const text = plain([...story(job, 'wires'), advice(job, 'wires')].join(' '));
  expect(text).toContain("Of 212 s, 148 s (70 %) went into moving data over the network (worker-2's 10 Mbit/s link).");
  expect(text).toContain('Then came computing with 64 s (30 %).');
  expect(text).toContain('What would help most: a faster link there');
  expect(text).toContain('save at most 74 s (35 %)');
});

test('on the air other things help: there is no faster link, but a channel and ways', () => {
  const job = { critical_path: [stretch('tcp_timeout', 0, 10)] };
  expect(advice(job, 'air')).toContain('fewer collisions (RTS and CTS before long frames), nodes that stay within range');
  expect(advice(job, 'wires')).toContain('a lower minimum retransmission timeout');
  expect(advice({ critical_path: [stretch('disk', 0, 10)] }, 'air')).toBe(advice({ critical_path: [stretch('disk', 0, 10)] }, 'wires'));
});

test('causes under five percent share one sentence', () => {
  const text = plain(
    story({
      state: 'succeeded',
      critical_path: [stretch('disk', 0, 95), stretch('startup', 95, 98), stretch('slot', 98, 100)],
    }, 'wires').join(' '),
  );
  expect(text).toContain('Start-up and waiting for slots took the remaining 5 s (5 %).');
});

test('what the network did is summed when it is more than transfer', () => {
  const text = plain(
    story({
      state: 'succeeded',
      critical_path: [
        stretch('transfer', 0, 40),
        stretch('queueing', 40, 60),
        stretch('tcp_timeout', 60, 70),
        stretch('cpu', 70, 100),
      ],
    }, 'wires').join(' '),
  );
  expect(text).toContain('comes to 70 s, 70 % of the path');
});

test('a place is qualified by how much of its cause it explains', () => {
  const of = (a: number, b: number): string =>
    story({ state: 'succeeded', critical_path: [stretch('disk', 0, a, 'w1'), stretch('disk', a, a + b, 'w2')] }, 'wires')[0]!;
  expect(of(99, 1)).toContain('(w1)');
  expect(of(80, 20)).toContain('(mostly w1)');
});

test('a job that failed says so; a run without a path says nothing', () => {
  expect(story({ state: 'failed', critical_path: [stretch('cpu', 0, 10)] }, 'wires')[0]).toContain('until the job failed');
  expect(story({ state: 'succeeded', critical_path: [] }, 'wires')).toEqual([]);
  expect(advice({ critical_path: [] }, 'wires')).toBe('');
});

test('flows know no packets, queues or losses, and their words name none', () => {
  const job = { state: 'succeeded' as const, critical_path: [stretch('queueing', 0, 60), stretch('transfer', 60, 100)] };
  const text = plain([...story(job, 'flows'), advice(job, 'flows')].join(' '));
  expect(text).toContain("60 s (60 %) went into messages waiting behind others at nodes' interfaces");
  expect(text).toContain('(transfer and waiting) comes to 100 s');
  expect(text).toContain('What would help most: faster links at the nodes that send most');
  expect(text).not.toMatch(/packet|queue|loss|congestion/);
  expect(causeName('queueing', 'flows')).toBe('waiting behind other messages');
  expect(causeName('queueing', 'wires')).toBe('waiting in queues');
});

test('what carried the messages follows from the fidelity and the field', () => {
  expect(mediumOf({ fidelity: 'packet' })).toBe('wires');
  expect(mediumOf({ fidelity: 'packet', field: walk().field! })).toBe('air');
  expect(mediumOf({ fidelity: 'flow' })).toBe('flows');
});
