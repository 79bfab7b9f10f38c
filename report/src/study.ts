// The page of a study: every figure with what was published, what each claim comes to, and what stands behind it.

import { el, section } from './dom';
import { count } from './format';
import { height, look, picture } from './picture';
import { label, plusMinus } from './scale';
import type { Curve, Figure, Finding, Study, Verdict } from './study-data';

const VERDICTS: Verdict[] = ['reproduced', 'not reproduced', 'cannot tell'];

function badge(verdict: Verdict | null): HTMLElement {
  return el('span', { class: `verdict ${(verdict ?? 'none').replaceAll(' ', '-')}` }, verdict ?? 'not judged');
}

/** What a quick form saw is no verdict: it has other words, and no badge. */
const SEEN: Record<Verdict, string> = {
  reproduced: 'as claimed',
  'not reproduced': 'not as claimed',
  'cannot tell': 'unclear',
};

function mark(verdict: Verdict | null, quick: boolean): HTMLElement {
  if (!quick) return badge(verdict);
  return el('span', { class: 'muted' }, `Quick look: ${verdict === null ? 'not judged' : SEEN[verdict]}.`);
}

function tally(findings: Finding[], quick: boolean): string {
  const word = (v: Verdict): string => (quick ? SEEN[v] : v);
  const parts = VERDICTS.map((v) => [word(v), findings.filter((f) => f.verdict === v).length] as const);
  const left = findings.filter((f) => f.verdict === null).length;
  const told = parts.filter(([, n]) => n > 0).map(([v, n]) => `${n} ${v}`);
  if (left > 0) told.push(`${left} not judged`);
  return told.join(', ');
}

export function studyPage(data: Study, theme: HTMLElement): HTMLElement {
  document.title = `${data.title}: Trunkline`;
  const findings = data.figures.flatMap((f) => f.findings);
  const seeds = Math.max(...data.figures.map((f) => f.seeds));
  const head = el(
    'header',
    {},
    el('div', { class: 'title' }, el('h1', {}, data.title), theme),
    el('p', { class: 'headline' }, data.quick ? null : badge(data.verdict), el('span', {}, tally(findings, data.quick))),
    data.quick
      ? el(
          'p',
          { class: 'reason' },
          'Quick form: fewer points and seeds, shorter runs. A look, not a verdict to quote.',
        )
      : null,
    ...data.about.split('\n\n').map((text) => el('p', { class: 'story' }, text)),
    el('p', { class: 'note' }, `Re-does: ${data.source}.`),
    el(
      'p',
      { class: 'note' },
      `${count(data.runs)} runs, ${seeds} seeds for a point. Whiskers and bands are 95 % intervals over seeds (Student's t); diamonds are published values, with their tolerance where they decide.`,
    ),
  );
  const rows = data.figures.map((f) =>
    el(
      'tr',
      {},
      el('td', {}, el('a', { href: `#${f.id}` }, f.title)),
      el('td', { class: 'muted' }, f.place),
      el('td', {}, tally(f.findings, data.quick) || 'shown, nothing claimed'),
    ),
  );
  const contents = el(
    'div',
    { class: 'table' },
    el(
      'table',
      {},
      el(
        'thead',
        {},
        el('tr', {}, ...['Figure', 'In the document', 'Claims'].map((t) => el('th', { scope: 'col' }, t))),
      ),
      el('tbody', {}, ...rows),
    ),
  );
  return el(
    'main',
    { class: 'study' },
    head,
    section('contents', 'Figures', contents),
    ...data.figures.map((f) => figure(f, data)),
    section(
      'files',
      'The study as it was read',
      ...data.files.map(([name, text]) => el('details', {}, el('summary', {}, name), el('pre', {}, text))),
    ),
    el('footer', {}, 'Made by Trunkline. This page holds all of its data and asks the network for nothing.'),
  );
}

function figure(data: Figure, study: Study): HTMLElement {
  const names = [...new Set(data.curves.map((c) => c.series))];
  const legend = el(
    'ul',
    { class: 'legend' },
    ...names.map((name, i) => {
      const { colour, dash } = look(i);
      const style =
        dash === ''
          ? `background:${colour}`
          : `background:repeating-linear-gradient(90deg, ${colour} 0 4px, transparent 4px 6px)`;
      return el(
        'li',
        {},
        el('span', { class: data.kind === 'scatter' || !data.x ? 'swatch' : 'swatch line', style }),
        name,
      );
    }),
    data.published.length > 0 ? el('li', {}, el('span', { class: 'diamond' }), 'published') : null,
  );
  const assumptions = [...new Set(data.curves.map((c) => c.assumption))];
  const whole = height(data);
  const panels = assumptions.map((assumption) => {
    const curves = data.curves.filter((c) => c.assumption === assumption);
    const width = assumptions.length > 1 ? 560 : 900;
    // One scale, so that panels compare; but what would be flat on it has its own.
    const own = height({ ...data, curves });
    const top = own[1] < whole[1] / 10 ? own : whole;
    return el(
      'figure',
      { class: 'panel' },
      assumption === null ? null : el('figcaption', {}, assumption),
      picture(data, curves, names, width, top) as unknown as HTMLElement,
    );
  });
  const about = data.about === '' ? null : el('p', { class: 'note' }, data.about);
  const block = section(
    data.id,
    data.title,
    el('p', { class: 'note' }, data.place),
    about,
    legend,
    el('div', { class: 'panels' }, ...panels),
    data.findings.length > 0 ? el('ul', { class: 'findings' }, ...data.findings.map((f) => finding(f, study.quick))) : null,
    data.kind === 'sweep' ? el('details', {}, el('summary', {}, 'Values'), values(data)) : null,
    behind(data, study),
  );
  block.classList.add('study-figure');
  return block;
}

function finding(data: Finding, quick: boolean): HTMLElement {
  const under = data.under.map((u) => el('li', {}, mark(u.verdict, quick), ` ${u.assumption}: ${u.detail}`));
  return el(
    'li',
    {},
    el('div', {}, mark(data.verdict, quick), ' ', data.text, el('span', { class: 'muted' }, ` (${data.place})`)),
    el('div', { class: 'detail' }, data.detail),
    el('div', { class: 'detail muted' }, `Rule: ${data.rule}`),
    under.length > 0
      ? el('details', {}, el('summary', {}, 'Under each assumption'), el('ul', { class: 'findings' }, ...under))
      : null,
  );
}

function values(data: Figure): HTMLElement {
  const xs = [...new Set(data.curves.flatMap((c) => c.x))].sort((a, b) => a - b);
  const cell = (c: Curve, x: number): string => {
    const i = c.x.indexOf(x);
    const [mean, low, high] = [c.mean[i], c.low[i], c.high[i]];
    if (typeof mean !== 'number' || typeof low !== 'number' || typeof high !== 'number') return '–';
    return high > low ? plusMinus(mean, (high - low) / 2) : label(mean);
  };
  const head = data.x ? xs.map((x) => data.x?.categories?.[x] ?? label(x)) : [data.label];
  const caption = `${data.label}${data.unit === '' ? '' : `, ${data.unit}`}${data.x ? `, against ${data.x.label}${data.x.unit === '' ? '' : `, ${data.x.unit}`}` : ''}`;
  return el(
    'div',
    { class: 'table' },
    el(
      'table',
      {},
      el('caption', {}, caption),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col' }, 'series'),
          ...head.map((h) => el('th', { scope: 'col', class: 'number' }, h)),
        ),
      ),
      el(
        'tbody',
        {},
        ...data.curves.map((c) =>
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, c.assumption === null ? c.series : `${c.series} [${c.assumption}]`),
            ...xs.map((x) => el('td', { class: 'number' }, cell(c, x))),
          ),
        ),
      ),
    ),
  );
}

/** The models, their sources and tests, and how to make a point of the figure oneself. */
function behind(data: Figure, study: Study): HTMLElement {
  const rows = study.models.map((m) =>
    el(
      'tr',
      {},
      el('td', {}, m.name),
      el('td', {}, m.link === '' ? m.source : el('a', { href: m.link, rel: 'noreferrer' }, m.source)),
      el('td', {}, el('code', {}, m.code)),
      el('td', {}, el('code', {}, m.test)),
    ),
  );
  const head = ['Model', 'Follows', 'Source', 'Tests'].map((t) => el('th', { scope: 'col' }, t));
  const sets = data.curves.map((c) => {
    const all = [...data.set, ...c.set].map((s) => `  --set ${quoted(s)}`).join(' \\\n');
    return `# ${c.series}${c.assumption === null ? '' : `, ${c.assumption}`}\n${all === '' ? '  (the scenario as it stands)' : all}`;
  });
  return el(
    'details',
    { class: 'behind' },
    el('summary', {}, 'What stands behind these numbers'),
    el('div', { class: 'table' }, el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))),
    el(
      'p',
      { class: 'note' },
      `Measured: ${data.metric === '' ? 'by series, see the study' : data.metric}. The scenario is ${data.scenario}, at the end of this page; each curve sets, with {x} the value of the x axis:`,
    ),
    el('pre', {}, sets.join('\n')),
  );
}

function quoted(assignment: string): string {
  return /[\s'"{}]/.test(assignment) ? `"${assignment.replaceAll('"', '\\"')}"` : assignment;
}
