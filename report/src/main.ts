// The page: reads the data that the run embedded, and leaves out every section for which there is none.

import 'uplot/dist/uPlot.min.css';
import './style.css';
import type { Filter } from './attempts';
import { chart, type View } from './charts';
import { parse, type ReportData } from './data';
import { disks } from './disks';
import { el, section, select } from './dom';
import { flows } from './flows';
import { gantt } from './gantt';
import { events, nodes, stalled } from './nodes';
import { overview, type Outline } from './overview';
import { applyTheme, type ThemeName } from './palette';
import { player, startingInstant } from './player';
import { TimeAxis } from './range';
import { runsPage, titleText } from './runs';
import { RUNS_SCHEMA, type Runs } from './runs-data';
import { jobs, told } from './jobs';
import { comparison, header, summary, traffic, whereSparkWent, whereTimeWent } from './summary';
import { studyPage } from './study';
import { STUDY_SCHEMA, type Study } from './study-data';
import { sweepPage } from './sweep';
import { SWEEP_SCHEMA, type Sweep } from './sweep-data';
import { exclusions, stages } from './spark';
import { mountTip } from './tip';
import { mediumOf } from './words';

/** Of a run with a field, in seconds: an acknowledgement takes 30 microseconds. */
const SHORTEST_VIEW = 1e-4;
/** Height of each of two charts of tasks, one above the other: both fit on a screen. */
const HALF_ROOM = 260;

/** What the overview draws: running attempts, or the first chart when there is no job. */
export function outline(data: ReportData, parts: number): Outline {
  const values = new Array<number>(parts).fill(0);
  const a = data.attempts;
  if (a.node.length > 0) {
    const step = (data.end_s * 1000) / parts;
    for (let i = 0; i < a.node.length; i += 1) {
      const last = Math.min(parts, Math.ceil(a.end_ms[i]! / step));
      for (let k = Math.floor(a.start_ms[i]! / step); k < last; k += 1) values[k]! += 1;
    }
    return { title: 'running tasks', values };
  }
  const first = data.charts[0];
  if (!first) return { title: '', values };
  const n = first.series[0]?.values.length ?? 0;
  for (const s of first.series)
    s.values.forEach((v, i) => (values[Math.min(parts - 1, Math.floor((i / n) * parts))]! += v));
  return { title: first.title.toLowerCase(), values };
}

function themeButton(): HTMLElement {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  let theme: ThemeName = system.matches ? 'dark' : 'light';
  let chosen = false;
  const button = el('button', { type: 'button', class: 'quiet', id: 'theme' });
  const show = (): void => {
    applyTheme(theme);
    button.textContent = theme === 'dark' ? 'Light theme' : 'Dark theme';
  };
  button.addEventListener('click', () => {
    chosen = true;
    theme = theme === 'dark' ? 'light' : 'dark';
    show();
  });
  system.addEventListener('change', () => {
    if (chosen) return;
    theme = system.matches ? 'dark' : 'light';
    show();
  });
  show();
  return button;
}

function page(data: ReportData): void {
  document.title = `${titleText(data.title, data.changes)}: Trunkline`;
  // Where frames are shown, a view goes down to one of them.
  const axis = data.field ? new TimeAxis(data.end_s, SHORTEST_VIEW) : new TimeAxis(data.end_s);
  const filter: Filter = { kind: 'all', outcome: 'all', node: -1 };
  const view: View = filter;
  const refilters: (() => void)[] = [];
  const refilter = (): void => refilters.forEach((tell) => tell());
  const onFilter = (tell: () => void): void => void refilters.push(tell);

  const controls: HTMLElement[] = [];
  if (data.nodes.length > 1) {
    const named = data.nodes.map((n, i): [string, string] => [String(i), n.name]);
    controls.push(select('Node', [['-1', 'all'], ...named], (v) => ((filter.node = Number(v)), refilter())));
  }
  const hasTasks = data.attempts.node.length > 0;
  if (hasTasks) {
    controls.push(
      select<Filter['kind']>(
        'Tasks',
        [
          ['all', 'all'],
          ['map', 'maps'],
          ['reduce', 'reduces'],
        ],
        (v) => ((filter.kind = v), refilter()),
      ),
      select<Filter['outcome']>(
        'Outcome',
        [
          ['all', 'any'],
          ['not succeeded', 'not succeeded'],
          ['speculative', 'speculative'],
        ],
        (v) => ((filter.outcome = v), refilter()),
      ),
    );
  }

  const medium = mediumOf(data);
  /** A time in all plots, and the chart of tasks in sight, or without tasks that of resources. */
  const span = (from: number, to: number): void => {
    const room = Math.max((to - from) * 0.1, data.end_s * 0.005);
    axis.show({ from: from - room, to: to + room });
    const chart = document.getElementById('tasks') ?? document.getElementById('resources');
    chart?.scrollIntoView({ block: 'start' });
  };
  const attempt = (i: number): void => span(data.attempts.start_ms[i]! / 1000, data.attempts.end_ms[i]! / 1000);
  const theme = themeButton();
  const main = el(
    'main',
    {},
    header(data, theme),
    jobs(data.jobs, data.job_classes ?? [], medium, span),
    data.stalled ? stalled(data.stalled) : null,
    ...told(data.jobs).map((job) => whereTimeWent(job, data.jobs.length > 1, medium, { attempt, span }, data.flows)),
    data.spark ? whereSparkWent(data.spark, medium, { attempt, span }) : null,
    data.spark ? stages(data.spark, span) : null,
    data.spark ? exclusions(data.spark, data.end_s, span) : null,
    data.comparison ? comparison(data.comparison) : null,
    summary(data),
    traffic(data.traffic),
  );
  const timed = el('div', { class: 'timed' });
  if (hasTasks || data.charts.length > 0 || data.field || data.disks) {
    timed.append(overview(axis, outline(data, 400), ...controls));
    main.append(timed);
  }
  document.body.append(main);
  mountTip();
  const field = player(data, axis);
  if (field) timed.append(field);
  if (hasTasks && data.recorded) {
    const record = { ...data, attempts: data.recorded, jobs: [], events: [] };
    timed.append(
      gantt(record, axis, filter, onFilter, {
        id: 'recorded',
        title: 'Recorded: tasks by node',
        room: HALF_ROOM,
        note: `What the job's history says${data.changes.length > 0 && !data.comparison ? ', without the changes named in the title' : ''}; its launch stands at the launch of the simulated job.`,
      }),
      gantt(data, axis, filter, onFilter, { id: 'tasks', title: 'Simulated: tasks by node', room: HALF_ROOM }),
    );
  } else if (hasTasks) timed.append(gantt(data, axis, filter, onFilter));
  if (data.disks) timed.append(disks(data.disks, axis, filter, onFilter));
  const charts = data.charts.filter((c) => c.series.length > 0 && c.series.some((s) => s.values.some((v) => v !== 0)));
  if (charts.length > 0) {
    timed.append(section('resources', 'Resources over time', ...charts.map((c) => chart(c, axis, view, onFilter))));
  }
  const happened = events(data.events);
  if (happened) main.append(happened);
  if (data.flows.total > 0) main.append(flows(data, axis));
  if (data.nodes.length > 0) main.append(nodes(data.nodes, data.imbalance ?? []));
  if (data.field) axis.hold(startingInstant(data.field));
  main.append(el('footer', {}, 'Made by Trunkline. This page holds all of its data and asks the network for nothing.'));
}

try {
  const text = document.getElementById('data')?.textContent ?? '';
  const schema = (JSON.parse(text) as { schema?: string }).schema;
  if (schema === STUDY_SCHEMA) {
    document.body.append(studyPage(JSON.parse(text) as Study, themeButton()));
    mountTip();
  } else if (schema === RUNS_SCHEMA) {
    document.body.append(runsPage(JSON.parse(text) as Runs, themeButton()));
    mountTip();
  } else if (schema === SWEEP_SCHEMA) {
    document.body.append(sweepPage(JSON.parse(text) as Sweep, themeButton()));
    mountTip();
  } else {
    page(parse(text));
  }
} catch (error) {
  document.body.append(
    el(
      'main',
      {},
      el('h1', {}, 'This report cannot be shown'),
      el('p', {}, error instanceof Error ? error.message : String(error)),
    ),
  );
  throw error;
}
