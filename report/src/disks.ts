// States of disks over time, one below the other, with what woke each.

import type { Filter } from './attempts';
import type { DiskLane, Disks, DiskState } from './data';
import { eachFrame, el, fit, section } from './dom';
import * as format from './format';
import { onTheme, palette, type Palette } from './palette';
import { AXIS_HEIGHT, drawGrid, drawTimeAxis, FONT, GUTTER, interact, MARGIN, toX } from './plot';
import type { TimeAxis } from './range';
import { hideTip, showTip } from './tip';

const LANE = 18;
const BAR = 11;
const TALLEST = 560;
const LISTED = 500;

const NAMES: Record<DiskState, string> = {
  ready: 'ready',
  'idle-b': 'Idle_B: heads parked',
  'idle-c': 'Idle_C: heads parked, fewer revolutions',
  standby: 'standby: motor stopped',
  down: 'on the way down',
  up: 'on the way up',
  off: 'without power',
};

/** The deeper a disk rests, the paler it is; moves have the colours of what is wanted and of what is given up. */
export function colourOf(state: DiskState, colours: Palette): { fill: string; alpha: number } {
  switch (state) {
    case 'ready':
      return { fill: colours.causes.disk, alpha: 1 };
    case 'idle-b':
      return { fill: colours.causes.disk, alpha: 0.62 };
    case 'idle-c':
      return { fill: colours.causes.disk, alpha: 0.42 };
    case 'standby':
      return { fill: colours.causes.disk, alpha: 0.18 };
    case 'up':
      return { fill: colours.warn, alpha: 1 };
    case 'down':
      return { fill: colours.muted, alpha: 1 };
    case 'off':
      return { fill: colours.bad, alpha: 0.35 };
  }
}

export interface Wake {
  at_s: number;
  lane: number;
  cause: string;
}

/** All wakes of some disks, by time. */
export function wakes(lanes: DiskLane[]): Wake[] {
  return lanes
    .flatMap((disk, lane) =>
      disk.cause.flatMap((cause, k) => (cause === '' ? [] : [{ at_s: disk.at_s[k]!, lane, cause }])),
    )
    .sort((a, b) => a.at_s - b.at_s || a.lane - b.lane);
}

/** How often each cause woke a disk, the most frequent first. */
export function causes(lanes: DiskLane[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { cause } of wakes(lanes)) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** The stretch of a state that a disk is in at a time, and where it ends. */
export function stretch(lane: DiskLane, t: number, end: number): { k: number; from: number; to: number } {
  let k = 0;
  while (k + 1 < lane.at_s.length && lane.at_s[k + 1]! <= t) k += 1;
  return { k, from: lane.at_s[k]!, to: lane.at_s[k + 1] ?? end };
}

/** What was saved, beside what could have been. */
export function story(all: Pick<Disks, 'drawn_j' | 'always_on_j' | 'least_j'>, who = 'They'): string {
  const saved = 1 - all.drawn_j / all.always_on_j;
  const most = 1 - all.least_j / all.always_on_j;
  const share = (part: number): string => (Math.abs(part) < 5e-4 ? 'nothing' : format.share(part));
  return `${who} drew ${format.energy(all.drawn_j)}, without rest it would have been ${format.energy(all.always_on_j)}: saved ${share(saved)}, and at most ${share(most)} could be (an oracle that knows this run's requests).`;
}

export function disks(
  data: Disks,
  axis: TimeAxis,
  filter: Filter,
  refiltered: (tell: () => void) => void,
): HTMLElement {
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const scale = el('canvas', { 'aria-hidden': 'true' });
  const spacer = el('div', { class: 'spacer' }, canvas);
  const scroller = el('div', { class: 'scroller' }, spacer);
  const area = el('div', { class: 'gantt', role: 'application' }, scroller, scale);
  const legend = el('ul', { class: 'legend' });
  const why = el('p', { class: 'note' });
  let shown: DiskLane[] = data.lanes;

  const relegend = (): void => {
    const colours = palette();
    const used = new Set(data.lanes.flatMap((lane) => lane.state));
    const items = data.states.flatMap((state, k) => {
      if (!used.has(k)) return [];
      const { fill, alpha } = colourOf(state, colours);
      return [el('li', {}, el('span', { class: 'swatch', style: `background:${fill};opacity:${alpha}` }), NAMES[state])];
    });
    legend.replaceChildren(...items);
  };

  const draw = eachFrame(area, () => {
    const width = area.clientWidth;
    if (width === 0) return;
    const height = Math.min(TALLEST, shown.length * LANE + 4);
    const c = fit(canvas, width, height);
    const colours = palette();
    const scrolled = scroller.scrollTop;
    c.clearRect(0, 0, width, height);
    drawGrid(c, axis.view, width, 0, height);
    c.font = FONT;
    c.textBaseline = 'middle';
    shown.forEach((lane, row) => {
      const top = row * LANE + 4 - scrolled;
      if (top + LANE < 0 || top > height) return;
      c.fillStyle = colours.muted;
      c.textAlign = 'right';
      c.fillText(lane.name.replace(' disk ', ' '), GUTTER - 8, top + BAR / 2, GUTTER - 12);
      c.save();
      c.beginPath();
      c.rect(GUTTER, top - 3, width - GUTTER - MARGIN, LANE);
      c.clip();
      for (let k = 0; k < lane.at_s.length; k += 1) {
        const left = Math.max(GUTTER, toX(lane.at_s[k]!, axis.view, width));
        const right = toX(lane.at_s[k + 1] ?? axis.full.to, axis.view, width);
        if (right < GUTTER || left > width) continue;
        const { fill, alpha } = colourOf(data.states[lane.state[k]!]!, colours);
        c.globalAlpha = alpha;
        c.fillStyle = fill;
        c.fillRect(left, top, Math.max(0.75, right - left), BAR);
        c.globalAlpha = 1;
        if (lane.cause[k] !== '') {
          // A wake: a notch above the bar.
          c.fillStyle = colours.ink;
          c.beginPath();
          c.moveTo(left - 3, top - 3);
          c.lineTo(left + 3, top - 3);
          c.lineTo(left, top + 2);
          c.fill();
        }
      }
      c.restore();
    });
    const axisOf = fit(scale, width, AXIS_HEIGHT);
    axisOf.clearRect(0, 0, width, AXIS_HEIGHT);
    drawTimeAxis(axisOf, axis.view, width, 0);
    area.dataset['view'] = `${axis.view.from} ${axis.view.to}`;
  });

  const refill = (): void => {
    shown = data.lanes.filter((lane) => filter.node < 0 || lane.node === filter.node);
    const height = shown.length * LANE + 4;
    scroller.style.height = `${Math.min(TALLEST, height)}px`;
    spacer.style.height = `${height}px`;
    const found = causes(shown);
    const told = found.map(([cause, times]) => `${cause} ${format.count(times)}`).join(', ');
    why.textContent = found.length === 0 ? 'No disk was woken.' : `Wakes by cause: ${told}.`;
    area.setAttribute(
      'aria-label',
      `States of ${shown.length} disks over time. Left, right, plus and minus move the time axis. A table of the wakes follows.`,
    );
    draw();
  };

  interact(area, axis, {
    hover: (t, x, y, event) => {
      const row = Math.floor((y + scroller.scrollTop - 1) / LANE);
      const lane = y < scroller.clientHeight ? shown[row] : undefined;
      if (!lane || x < GUTTER) return hideTip();
      const { k, from, to } = stretch(lane, t, axis.full.to);
      const state = data.states[lane.state[k]!]!;
      const lines = [
        `${NAMES[state]} for ${format.seconds(to - from)}, from ${format.seconds(from)}`,
        ...(lane.cause[k] === '' ? [] : [`woken: ${lane.cause[k]}`]),
        story(lane, 'It'),
      ];
      showTip(event.clientX, event.clientY, `${lane.name} (${lane.role})`, lines, []);
    },
    leave: hideTip,
  });
  scroller.addEventListener('scroll', () => {
    hideTip();
    draw();
  });
  axis.onView(draw);
  refiltered(refill);
  onTheme(() => {
    relegend();
    draw();
  });
  new ResizeObserver(draw).observe(area);
  relegend();
  refill();
  const more =
    data.left_out > 0
      ? el('p', { class: 'note' }, `${format.count(data.left_out)} disks that were woken less often are left out.`)
      : null;
  return section('disks', 'Disks: when they rested, and what woke them', el('p', { class: 'story' }, story(data)), legend, area, why, more, table(() => shown));
}

/** The disks and their wakes as tables, built when they are opened. */
function table(now: () => DiskLane[]): HTMLElement {
  const details = el('details', {}, el('summary', {}, 'Disks and their wakes as tables'));
  details.addEventListener('toggle', () => {
    details.querySelectorAll('.table').forEach((old) => old.remove());
    if (!details.open) return;
    const lanes = now();
    const all = wakes(lanes);
    const disk = lanes.map((lane) => [
      lane.name,
      lane.role,
      format.energy(lane.drawn_j),
      format.energy(lane.always_on_j),
      format.energy(lane.least_j),
      format.count(lane.starts),
      format.seconds(lane.late_s),
    ]);
    const wake = all.slice(0, LISTED).map((w) => [w.at_s.toFixed(3), lanes[w.lane]!.name, w.cause]);
    const many = all.length > LISTED ? `The first ${LISTED} of ${format.count(all.length)} wakes` : 'Wakes';
    details.append(
      plain(['Disk', 'Holds', 'Drew', 'Without rest', 'At least', 'Starts', 'Waited for'], disk, 2, 'Disks'),
      plain(['At (s)', 'Disk', 'Cause'], wake, 3, many),
    );
  });
  return details;
}

function plain(head: string[], rows: string[][], numbersFrom: number, caption: string): HTMLElement {
  const cls = (k: number): { class?: string } => (k >= numbersFrom ? { class: 'number' } : {});
  return el(
    'div',
    { class: 'table', tabindex: '0' },
    el(
      'table',
      {},
      el('caption', {}, caption),
      el('thead', {}, el('tr', {}, ...head.map((h, k) => el('th', { scope: 'col', ...cls(k) }, h)))),
      el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((cell, k) => el('td', cls(k), cell))))),
    ),
  );
}
