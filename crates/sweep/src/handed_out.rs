//! Runs that are made elsewhere: by other processes, on other machines.
//!
//! [`HandedOut`] is a sweep's folder as whoever hands runs out sees it; an [`Order`] says all that a run needs, and its
//! record comes back as text. The folder is that of [`crate::make`], which goes on from it, and the other way round.

use crate::make::{in_turn, known, open};
use crate::plan::{Plan, PlannedRun, name};
use crate::record::Record;
use crate::table::table_of;
use results::Table;
use runs::{Change, Effort, Error, Inputs, Journal, Stop, build_id, run_scenario};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// A run for whoever makes it: without any file beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The run's name.
    pub run: String,
    /// The build that must make it.
    pub build: String,
    /// The scenario as resolved, with its seed.
    pub scenario: String,
    /// The figures that the sweep asks for.
    pub metrics: Vec<String>,
}

impl Order {
    /// Makes the run. Returns its record's text.
    pub fn make(&self, effort: &Effort<'_>) -> Result<String, Error> {
        if self.build != build_id() {
            return Err(Error::Input(format!(
                "this run is of build {} of trunkline, and here is build {}, which may give other numbers",
                short(&self.build),
                short(build_id())
            )));
        }
        let inputs = Inputs::new(effort.stop);
        let (scenario, _) = inputs.scenario_of("order.toml", &self.scenario, Path::new("."), &Change::default())?;
        if name(&self.build, &scenario) != self.run {
            return Err(Error::Internal(format!("the scenario of run {} does not come back as it was sent", self.run)));
        }
        let result = run_scenario(&scenario, 0, effort)?;
        Ok(Record::of_run(&self.run, &self.build, &self.metrics, &result)?.0)
    }
}

/// A build's name, as messages show it.
fn short(build: &str) -> &str {
    build.get(..12).unwrap_or(build)
}

/// A sweep's folder, for whoever hands its runs out.
#[derive(Debug)]
pub struct HandedOut {
    plan: Arc<Plan>,
    journal: Journal,
}

impl HandedOut {
    /// Opens or makes the folder. Fails on one that another build has filled.
    pub fn open(plan: Arc<Plan>, target: &Path) -> Result<Self, Error> {
        let journal = open(&plan, target)?;
        Ok(Self { plan, journal })
    }

    /// The positions of runs that have no record there, in the order in which they are to be made.
    pub fn missing(&self, stop: &Stop) -> Result<Vec<usize>, Error> {
        let mut missing = Vec::new();
        for (position, run) in self.plan.runs.iter().enumerate() {
            stop.look()?;
            if known(&self.plan, run, &self.journal, &[])?.is_none() {
                missing.push(position);
            }
        }
        in_turn(&self.plan, &mut missing);
        Ok(missing)
    }

    /// What the run at a position needs.
    pub fn order(&self, position: usize, stop: &Stop) -> Result<Order, Error> {
        let run = self.run(position)?;
        let scenario = self.plan.scenario_of(run, stop)?.to_toml();
        let (build, metrics) = (self.plan.build.clone(), self.plan.metrics.clone());
        Ok(Order { run: run.name.clone(), build, scenario, metrics })
    }

    /// Keeps the record of the run at a position, as [`Order::make`] has returned it.
    pub fn keep(&self, position: usize, text: &str) -> Result<(), Error> {
        let run = self.run(position)?;
        if Record::read(text, &self.plan, run).is_none() {
            return Err(Error::Internal(format!("what came back for run {} is not its record", run.name)));
        }
        self.journal.keep(&Record::file_name(run), text)
    }

    /// Keeps that the run at a position gives no result, because of `why`. Its row has no figures.
    pub fn lose(&self, position: usize, why: &str) -> Result<(), Error> {
        let run = self.run(position)?;
        let (text, _) = Record::lost(&self.plan, run, why)?;
        self.journal.keep(&Record::file_name(run), &text)
    }

    /// A row for each run of those at some positions that is there, in the order of these.
    pub fn table(&self, positions: &[usize]) -> Result<Table, Error> {
        let (mut there, mut records) = (Vec::new(), Vec::new());
        for position in positions {
            if let Some(record) = known(&self.plan, self.run(*position)?, &self.journal, &[])? {
                there.push(*position);
                records.push(record);
            }
        }
        Ok(table_of(&self.plan, &there, &records))
    }

    fn run(&self, position: usize) -> Result<&PlannedRun, Error> {
        let run = self.plan.runs.get(position);
        run.ok_or_else(|| Error::Internal(format!("the plan has no run {position}")))
    }
}
