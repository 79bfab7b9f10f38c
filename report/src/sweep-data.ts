// What `trunkline sweep` leaves in sweep.json and in the page; mirrors crates/sweep/src/surface.rs.

export const SWEEP_SCHEMA = 'trunkline-sweep/1';

export interface Sweep {
  schema: string;
  name: string;
  title: string;
  scenario: string;
  build: string;
  /** Keys that all runs set. */
  set: string[];
  seeds: number[];
  runs: number;
  /** Runs whose job failed. */
  failures: number;
  axes: SweepAxis[];
  metrics: SweepMetric[];
  /** The last axis goes round first. */
  points: SweepPoint[];
}

export interface SweepAxis {
  key: string;
  unit: string;
  /** As the file has them. */
  values: string[];
  /** In `unit`; null where they are words. */
  numbers: number[] | null;
  log: boolean;
  /** Other keys that go together with this one. */
  with: string[];
}

export interface SweepMetric {
  path: string;
  unit: string;
}

export interface SweepPoint {
  /** Its place along each axis. */
  at: number[];
  set: string[];
  failures: number;
  failure: string | null;
  figures: SweepSpread[];
}

export interface SweepSpread {
  /** Seed by seed. */
  values: (number | null)[];
  mean: number | null;
  half_width_95: number | null;
}
