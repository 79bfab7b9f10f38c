// The field on the page: the map at the instant of the crosshair, and what plays, steps and saves it.

import type { Field, ReportData } from './data';
import { eachFrame, el, fit, section, select } from './dom';
import { Air, apart, frameWords, placeAt, queues, type State, states, unreached } from './field';
import * as format from './format';
import { frameLanes } from './frames';
import { keys, map, markRadius, type Options, type Plane, planeIn, recent } from './map';
import { onTheme, palette } from './palette';
import { pan, type TimeAxis } from './range';
import { paint } from './shapes';
import { asPng, asSvg, fileName, save, still } from './still';
import { hideTip, showTip } from './tip';

/** What stands above and below the map and should be in sight with it, in pixels. */
const AROUND = 320;
/** While it plays, a frame stays lit for so many seconds of the reader's time, or no eye would see it. */
const AFTERGLOW = 0.125;
/** Frames that are told in words. */
const TOLD = 8;
/** With more stations than this, names are off until asked for. */
const NAMED = 40;

const PACES: [number, string][] = [
  [1e-3, 'slow, 1/1000'],
  [1e-2, 'slow, 1/100'],
  [0.1, 'slow, 1/10'],
  [1, 'real time'],
  [10, '× 10'],
  [100, '× 100'],
  [1000, '× 1000'],
];

/** The pace at which a run of `end` seconds plays within a minute. */
export function startingPace(end: number): number {
  return PACES.map(([pace]) => pace).find((pace) => pace >= 0.1 && end / pace <= 60) ?? 1000;
}

/** Lengths of trails that make sense for a run of `end` seconds: none, some, the whole way. */
export function trails(end: number): [number, string][] {
  const some = [1, 10, 60, 600].filter((s) => s < end);
  return [[0, 'none'], ...some.map((s): [number, string] => [s, format.seconds(s)]), [Infinity, 'whole way']];
}

/** A trail that shows where stations come from, and not where they have been all the time. */
export function startingTrail(end: number): number {
  const some = trails(end).map(([length]) => length);
  return some.filter((length) => length > 0 && length <= end / 5).at(-1) ?? Infinity;
}

const MEMORIES: [number, string][] = [
  [0, 'on the air now'],
  [1e-3, 'of the last ms'],
  [1e-2, 'of the last 10 ms'],
  [0.1, 'of the last 100 ms'],
  [1, 'of the last second'],
];

const DOING: Record<State['doing'], (running: number) => string> = {
  master: () => 'the master',
  busy: (running) => `${running} running ${running === 1 ? 'task' : 'tasks'}`,
  idle: () => 'no running task',
  failed: () => 'failed',
  point: () => 'access point',
};

/** The map's height: what the window leaves, within reason. */
function tallest(): number {
  return Math.max(360, Math.min(760, window.innerHeight - AROUND));
}

export function player(data: ReportData, axis: TimeAxis): HTMLElement | null {
  const field = data.field;
  if (!field) return null;
  const air = new Air(field);
  const stateAt = states(data, field);
  const end = axis.full.to;
  const options: Options = {
    range: field.range_m === null ? 'none' : 'some',
    trail: startingTrail(field.stations.length > NAMED ? end / 5 : end),
    names: field.stations.length <= NAMED,
    memory: 1e-2,
    chosen: field.stations.findIndex((s) => s.node === 0),
    fullQueue: queues(data, field).most,
  };
  let pace = startingPace(end);
  let shownAt = 0;
  let plane: Plane = planeIn(field, 600, tallest());

  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const area = el('div', { class: 'map', role: 'application', tabindex: '0' }, canvas);
  area.setAttribute(
    'aria-label',
    `Map of the field, ${format.metres(field.width_m)} by ${format.metres(field.height_m)}, ${format.count(field.stations.length)} stations. ` +
      'Space plays and pauses, left and right move the time, comma and full stop go from frame to frame, up and down choose a station.',
  );
  const said = el('p', { class: 'visually-hidden', 'aria-live': 'polite' });
  const clock = el('output', { class: 'clock', 'aria-label': 'Instant' });
  const tally = el('ul', { class: 'plain' });
  const onAir = el('ul', { class: 'plain on-air' });
  const about = el('p', { class: 'about' });
  const saving = el('span', { class: 'save' });
  const readout = el('div', { class: 'readout' }, el('div', { class: 'head' }, clock, saving), tally, about, onAir);

  const memoryNow = (): number => (axis.running ? Math.max(options.memory, AFTERGLOW * pace) : options.memory);

  /** The instant shown: while it plays no finer than the eye can follow, else to the microsecond where it is that fine. */
  const instantNow = (): string => {
    const rough = format.instant(shownAt, axis.view.to - axis.view.from);
    const fine = `${Number(shownAt.toFixed(6))}\u00a0s`;
    return axis.running || fine.length < rough.length ? rough : fine;
  };

  const describe = (station: number): string => {
    const { x, y } = placeAt(field.stations[station]!, shownAt);
    const { doing, running, queue } = stateAt(station, shownAt);
    const waiting = queue === null ? '' : `, ${format.count(queue)} ${queue === 1 ? 'packet' : 'packets'} in its transmit queue`;
    return `${DOING[doing](running)}, at x ${format.metres(x)}, y ${format.metres(y)}${waiting}`;
  };
  /** Whom a station cannot hear. */
  const outOfReach = (station: number): string => {
    const far = unreached(field, station, shownAt).map((i) => field.stations[i]!.name);
    if (field.range_m === null) return '';
    return far.length === 0 ? '; all stations are within its range' : `; out of its range: ${far.join(', ')}`;
  };

  const tell = (): void => {
    clock.textContent = `t = ${instantNow()}`;
    const counts = { master: 0, busy: 0, idle: 0, failed: 0, point: 0 };
    let running = 0;
    field.stations.forEach((_, i) => {
      const state = stateAt(i, shownAt);
      counts[state.doing] += 1;
      if (state.doing === 'busy') running += state.running;
    });
    fill(tally, [
      `${counts.busy} ${counts.busy === 1 ? 'worker' : 'workers'} busy with ${running} ${running === 1 ? 'task' : 'tasks'}`,
      `${counts.idle} without a task`,
      `${counts.failed} failed`,
    ]);
    const chosen = field.stations[options.chosen];
    const text = chosen ? `${chosen.name}: ${describe(options.chosen)}${outOfReach(options.chosen)}` : '';
    if (about.textContent !== text) about.textContent = text;
    if (air.count === 0) return;
    const shown = recent(air, shownAt, memoryNow()).reverse();
    const lines = shown.slice(0, TOLD).map(({ frame, age }) => {
      const fate = frame.fate === 'received' ? '' : `, ${frame.fate}`;
      const when = age === 0 ? 'now' : `${format.seconds(shownAt - frame.end)} ago`;
      return `${frameWords(frame, field)}${fate}, ${when}`;
    });
    if (shown.length > TOLD) lines.push(`and ${shown.length - TOLD} more`);
    const outside = shownAt < air.start[0]! || shownAt > air.end[air.count - 1]!;
    fill(onAir, lines.length > 0 ? lines : [outside ? 'No frames of this time were kept.' : 'No frame on the air.']);
  };

  const draw = eachFrame(area, () => {
    const room = stage.clientWidth;
    if (room === 0) return;
    // Beside the map stands the readout; below it where the page is narrow or the map wide.
    const width = room > 900 && field.width_m < 2 * field.height_m ? room - 320 : room;
    plane = planeIn(field, width, tallest());
    const wide = Math.min(width, plane.left + plane.width + 24);
    const tall = plane.top + plane.height + 38;
    const c = fit(canvas, wide, tall);
    const colours = palette();
    c.clearRect(0, 0, wide, tall);
    paint(c, map(field, air, stateAt, shownAt, plane, { ...options, memory: memoryNow() }, colours));
    area.dataset['plane'] = `${plane.left} ${plane.top} ${plane.scale} ${plane.height}`;
    area.dataset['at'] = String(shownAt);
    tell();
  });

  /** Goes to an instant, and takes the plots along where they would not show it. */
  const seek = (t: number): void => {
    axis.hold(t);
    const { from, to } = axis.view;
    const at = axis.held ?? 0;
    if (at < from || at > to) axis.show(pan(axis.view, at - (from + to) / 2));
  };

  const slider = el('input', {
    type: 'range',
    min: '0',
    max: String(end),
    step: 'any',
    value: '0',
    'aria-label': 'Instant in seconds',
  });
  const exact = el('input', { type: 'number', min: '0', max: String(end), step: 'any', 'aria-label': 'Instant in seconds, exact' });
  slider.addEventListener('input', () => seek(Number(slider.value)));
  let typing = false;
  exact.addEventListener('input', () => (typing = true));
  exact.addEventListener('blur', () => (typing = false));
  exact.addEventListener('change', () => {
    typing = false;
    if (exact.value !== '' && Number.isFinite(Number(exact.value))) seek(Number(exact.value));
  });

  const play = el('button', { type: 'button', class: 'play' });
  let last = 0;
  const advance = (now: number): void => {
    if (!axis.running) return;
    // A page that was out of sight does not catch up.
    const passed = Math.min(0.1, (now - last) / 1000);
    last = now;
    const before = axis.held ?? 0;
    const next = before + passed * pace;
    axis.hold(next);
    const { from, to } = axis.view;
    if (before <= to && next > to && to < end) axis.show(pan(axis.view, (to - from) * 0.9));
    if (next >= end) run(false);
    else requestAnimationFrame(advance);
  };
  const run = (on: boolean): void => {
    axis.running = on;
    play.textContent = on ? '❚❚ Pause' : '▶ Play';
    play.setAttribute('aria-pressed', String(on));
    if (!on) {
      draw();
      return;
    }
    if ((axis.held ?? 0) >= end) seek(0);
    last = performance.now();
    requestAnimationFrame(advance);
  };
  play.addEventListener('click', () => run(!axis.running));

  const move = (by: number): void => seek((axis.held ?? 0) + by * (axis.view.to - axis.view.from));
  const step = (forward: boolean, wanted: (i: number) => boolean = () => true): void => {
    run(false);
    const i = air.next(axis.held ?? 0, forward, wanted);
    if (i >= 0) seek(air.start[i]!);
    else said.textContent = `No such frame ${forward ? 'after' : 'before'} this instant.`;
  };
  const choose = (station: number): void => {
    options.chosen = station;
    const name = field.stations[station]?.name;
    said.textContent = name === undefined ? '' : `${name}: ${describe(station)}`;
    draw();
  };

  const control = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const of = field.stations.length;
    const acts: Record<string, () => void> = {
      ' ': () => run(!axis.running),
      ArrowLeft: () => move(event.shiftKey ? -0.1 : -0.01),
      ArrowRight: () => move(event.shiftKey ? 0.1 : 0.01),
      Home: () => seek(0),
      End: () => seek(end),
      ',': () => step(false),
      '.': () => step(true),
      ArrowDown: () => choose((options.chosen + 1) % of),
      ArrowUp: () => choose((options.chosen - 1 + of) % of),
    };
    const act = acts[event.key];
    // Of the slider, up and down are its own.
    if (!act || (event.currentTarget === slider && /^Arrow(Up|Down)$/.test(event.key))) return;
    event.preventDefault();
    act();
  };
  area.addEventListener('keydown', control);
  slider.addEventListener('keydown', control);

  const under = (event: MouseEvent): number => {
    const box = canvas.getBoundingClientRect();
    const slack = markRadius(field.stations.length) + 4;
    let best = -1;
    let nearest = slack;
    field.stations.forEach((station, i) => {
      const { x, y } = placeAt(station, shownAt);
      const dx = event.clientX - box.left - (plane.left + x * plane.scale);
      const dy = event.clientY - box.top - (plane.top + plane.height - y * plane.scale);
      if (Math.hypot(dx, dy) > nearest) return;
      nearest = Math.hypot(dx, dy);
      best = i;
    });
    return best;
  };
  area.addEventListener('pointermove', (event) => {
    const i = under(event);
    if (i < 0) hideTip();
    else showTip(event.clientX, event.clientY, field.stations[i]!.name, [describe(i)], []);
  });
  area.addEventListener('pointerleave', hideTip);
  area.addEventListener('click', (event) => choose(under(event)));

  const name = (ending: string): string => fileName(data.title, shownAt, ending);
  const picture = (): ReturnType<typeof still> =>
    still(`${data.title}, t = ${instantNow()}`, field, air, stateAt, shownAt, { ...options, memory: memoryNow() });
  const button = (label: string, title: string, act: () => void): HTMLButtonElement => {
    const b = el('button', { type: 'button', title, 'aria-label': title }, label);
    b.addEventListener('click', act);
    return b;
  };
  const savePng = async (): Promise<void> => {
    const blob = await asPng(picture());
    if (blob) save(blob, name('png'));
  };
  const frameButtons =
    air.count === 0
      ? []
      : [
          button('◂ frame', 'To the frame before', () => step(false)),
          button('frame ▸', 'To the next frame', () => step(true)),
          button('collision ▸', 'To the next collision', () => step(true, (i) => air.isCollided(i))),
        ];

  const bar = el(
    'div',
    { class: 'toolbar' },
    play,
    choice('Pace', PACES, pace, (v) => (pace = v)),
    ...frameButtons,
    air.count > 0 ? choice('Frames', MEMORIES, options.memory, (v) => ((options.memory = v), draw())) : null,
    choice('Trail', trails(end), options.trail, (v) => ((options.trail = v), draw())),
    field.range_m === null ? null : ranges(options, draw),
    names(options, draw),
  );
  saving.append(
    button('PNG', 'Save the map at this instant as PNG', () => void savePng()),
    button('SVG', 'Save the map at this instant as SVG', () => save(asSvg(picture()), name('svg'))),
  );
  const stage = el('div', { class: 'stage' }, area, readout);
  const time = el('div', { class: 'seek' }, el('label', {}, exact, ' s'), slider);

  axis.onPoint((t) => {
    shownAt = t ?? axis.held ?? 0;
    slider.value = String(shownAt);
    slider.setAttribute('aria-valuetext', instantNow());
    if (!typing) exact.value = String(Number(shownAt.toFixed(9)));
    draw();
  });
  axis.onView(draw);
  onTheme(draw);
  new ResizeObserver(draw).observe(stage);
  run(false);

  const parts = [...told(data, field), legend(data, options.fullQueue), bar, stage, time];
  if (air.count > 0) parts.push(note(air), frameLanes(field, air, axis));
  return section('field', 'The field', ...parts, said);
}

/** What being on the air, and on the move, has cost: in words, as the map shows one instant only. */
export function airWords(data: Pick<ReportData, 'network' | 'end_s'>, field: Field): string[] {
  const out: string[] = [];
  const of = (label: string): number => data.network.find((count) => count.label === label)?.value ?? 0;
  const [drops, lost] = [of('drops'), of('given up on the air')];
  if (drops + lost > 0) {
    const parts = [
      drops > 0 ? `full transmit queues dropped ${format.count(drops)}` : '',
      lost > 0 ? `radios gave up ${format.count(lost)} that nobody had acknowledged` : '',
    ].filter((part) => part !== '');
    const repairs = `TCP sent ${format.count(of('retransmissions'))} segments again and waited for ${format.count(of('timeouts'))} timeouts`;
    out.push(`Of ${format.count(of('packets'))} packets ${parts.join(', and ')}; ${repairs}.`);
  }
  if (field.range_m === null) return out;
  const { pairs, worst } = apart(field, data.end_s);
  if (pairs === 0) {
    out.push(`All stations were within ${format.metres(field.range_m)} of each other, the range of their radios, all the time.`);
  } else {
    const lonely = worst ? `, and ${field.stations[worst.station]!.name} from the master for ${format.share(worst.part)} of it` : '';
    out.push(
      `Two stations were farther apart than the range of their radios, ${format.metres(field.range_m)}, for ${format.share(pairs)} of the time on average${lonely}.`,
    );
  }
  return out;
}

function told(data: ReportData, field: Field): HTMLElement[] {
  const words = airWords(data, field);
  return words.length === 0 ? [] : [el('p', { class: 'story' }, words.join(' '))];
}

/** The instant at which the page opens: in the middle of the frames that were kept, or at the start. */
export function startingInstant(field: Field): number {
  const air = new Air(field);
  return air.count > 0 ? air.start[air.count >> 1]! : 0;
}

function note(air: Air): HTMLElement {
  const [from, to] = [air.start[0]!, air.end[air.count - 1]!];
  const span = Math.max(to - from, 1e-6);
  return el(
    'p',
    { class: 'note' },
    `${format.count(air.count)} frames were kept, from ${format.instant(from, span)} to ${format.instant(to, span)}: zoom in here to see them one by one.`,
  );
}

function legend(data: ReportData, fullQueue: number): HTMLElement {
  const list = el('ul', { class: 'legend' });
  const build = (): void => {
    const items = keys(data.field!, fullQueue, palette()).map((key) => {
      const canvas = el('canvas', { 'aria-hidden': 'true' });
      paint(fit(canvas, 28, 16), key.shapes);
      return el('li', {}, canvas, key.text);
    });
    list.replaceChildren(...items);
  };
  onTheme(build);
  build();
  return list;
}

/** Makes a list say `lines`, touching only what changed. */
function fill(list: HTMLElement, lines: string[]): void {
  while (list.children.length > lines.length) list.lastElementChild!.remove();
  while (list.children.length < lines.length) list.append(el('li'));
  lines.forEach((line, i) => {
    const item = list.children[i]!;
    if (item.textContent !== line) item.textContent = line;
  });
}

/** A choice among numbers. */
function choice(label: string, of: [number, string][], now: number, chosen: (value: number) => void): HTMLElement {
  const options = of.map(([value, text]): [string, string] => [String(value), text]);
  return select(label, options, (value) => chosen(Number(value)), String(now));
}

function ranges(options: Options, draw: () => void): HTMLElement {
  const kinds: [Options['range'], string][] = [
    ['none', 'none'],
    ['some', 'chosen, senders'],
    ['all', 'all'],
  ];
  return select('Range', kinds, (range) => ((options.range = range), draw()), options.range);
}

function names(options: Options, draw: () => void): HTMLElement {
  const box = el('input', { type: 'checkbox' });
  box.checked = options.names;
  box.addEventListener('change', () => ((options.names = box.checked), draw()));
  return el('label', {}, box, ' Names');
}
