// What `trunkline run --runs` and `trunkline compare` leave in their page; mirrors crates/runs/src/page.rs.

export const RUNS_SCHEMA = 'trunkline-runs-page/1';

export interface Runs {
  schema: string;
  title: string;
  changes: string[];
  scenarios: RunsOf[];
  figures: RunsFigure[];
  /** What each run predicts beside the record; empty where there is no record. */
  errors: ErrorRow[];
  /** Scenarios by time and energy; left out where energy is not known. */
  trade_off?: TradeOff[];
}

export interface TradeOff {
  name: string;
  time_s: number;
  energy_j: number;
  /** No other is as short and draws as little, or beats it in one. */
  on_front: boolean;
}

export interface RunsOf {
  name: string;
  digest: string;
  seeds: number[];
  /** Why a job failed, run by run. */
  failures: (string | null)[];
  /** The page of each run, relative to this one; empty where there are none. */
  pages: string[];
}

export interface RunsFigure {
  name: string;
  unit: string;
  recorded: number | null;
  /** Of each scenario; null where it does not have this figure. */
  of: (RunsValues | null)[];
}

export interface RunsValues {
  /** Run by run. */
  values: (number | null)[];
  mean: number;
  /** Half the width of the 95 % interval of the mean. */
  half_width: number | null;
  median: number;
  /** Between these lie 90 % of the runs. */
  low: number;
  high: number;
  /** From the first scenario, seed by seed. */
  difference: { mean: number; half_width: number | null; significant: boolean } | null;
}

export interface ErrorRow {
  name: string;
  unit: string;
  actual: number;
  predicted: number[];
  median: number;
  low: number;
  high: number;
}
