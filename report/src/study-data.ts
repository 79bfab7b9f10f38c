// What `trunkline study` leaves in study.json and in the page; mirrors crates/sim/src/study/outcome.rs.

export const STUDY_SCHEMA = 'trunkline-study/1';

export type Verdict = 'reproduced' | 'not reproduced' | 'cannot tell';

export interface Study {
  schema: string;
  name: string;
  title: string;
  about: string;
  source: string;
  quick: boolean;
  runs: number;
  verdict: Verdict | null;
  figures: Figure[];
  models: Model[];
  /** Name and text of each file that the study was read from. */
  files: [string, string][];
}

export interface Figure {
  id: string;
  title: string;
  place: string;
  about: string;
  kind: 'sweep' | 'time' | 'scatter';
  label: string;
  unit: string;
  /** None for bars and dots. */
  x: Axis | null;
  metric: string;
  /** The file of its scenario, one of the study's `files`. */
  scenario: string;
  set: string[];
  curves: Curve[];
  published: Published[];
  findings: Finding[];
  verdict: Verdict | null;
  seeds: number;
}

export interface Axis {
  label: string;
  unit: string;
  log: boolean;
  categories: string[] | null;
}

/** Values and 95 % intervals by column; null where no run gave a value. */
export interface Curve {
  series: string;
  assumption: string | null;
  /** One run along the axis: a line to compare the others with. */
  constant: boolean;
  set: string[];
  x: number[];
  mean: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

export interface Published {
  series: string;
  x: number | null;
  value: number;
  tolerance: number;
  place: string;
  judged: boolean;
}

export interface Finding {
  text: string;
  place: string;
  rule: string;
  verdict: Verdict | null;
  detail: string;
  under: { assumption: string; verdict: Verdict; detail: string }[];
}

export interface Model {
  name: string;
  source: string;
  link: string;
  code: string;
  test: string;
}
