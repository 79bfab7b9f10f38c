//! Scenarios from files, and the seeds of one.

use crate::histories::pick_job;
use crate::input::shown;
use crate::{Error, Inputs};
use history::import::{self, Hosts, Settings};
use history::{self, Format, JobHistory};
use scenario::{Scenario, ScenarioWarnings};
use std::path::Path;

/// Changes to a scenario's file.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Assignments `section.key=value`, applied in this order.
    pub assignments: Vec<String>,
    /// Replaces `run.seed`.
    pub seed: Option<u64>,
}

impl Inputs<'_> {
    /// Reads a scenario and applies changes. Paths in it are relative to its own file, or to the working folder if it
    /// comes from standard input. Returns it with its warnings.
    pub fn scenario(&self, path: &Path, change: &Change) -> Result<(Scenario, ScenarioWarnings), Error> {
        let text = self.text(path)?;
        let seed = change.seed.map(|seed| format!("run.seed={seed}"));
        let assignments: Vec<_> = change.assignments.iter().cloned().chain(seed).collect();
        let name = if crate::input::is_standard_input(path) { "stdin".to_owned() } else { path.display().to_string() };
        let (mut scenario, warnings) = sim::parse_with_warnings(&name, &text, &assignments).map_err(Error::Scenario)?;
        let beside = |file: String| path.parent().unwrap_or(Path::new(".")).join(file);
        for (traffic, file) in scenario.flow_files() {
            let file = beside(file);
            let text = self.text(&file)?;
            scenario.take_flows(traffic, &file.display().to_string(), &text).map_err(Error::Scenario)?;
        }
        for (traffic, file) in scenario.size_files() {
            let file = beside(file);
            let text = self.text(&file)?;
            scenario.take_sizes(traffic, &file.display().to_string(), &text).map_err(Error::Scenario)?;
        }
        if let Some(file) = scenario.movement_file() {
            scenario.take_movements(&self.text(&beside(file))?);
        }
        Ok((scenario, warnings))
    }

    /// Reads the history of recorded jobs.
    pub fn history(&self, file: &Path) -> Result<(Format, Vec<JobHistory>), Error> {
        history::read(&self.bytes(file)?).map_err(|error| Error::Input(format!("{}: {error}", shown(file))))
    }

    /// Reads a recorded run's description.
    pub fn settings(&self, path: &Path) -> Result<Settings, Error> {
        Settings::parse(&self.text(path)?).map_err(|error| Error::Input(format!("{}: {error}", shown(path))))
    }

    /// Gives the scenario's job the plan that a history records, and returns the recorded job. Where and when its
    /// attempts started are given, and the machines are as fast as they are on average.
    pub fn replay(&self, scenario: &mut Scenario, file: &Path) -> Result<JobHistory, Error> {
        let (_, mut jobs) = self.history(file)?;
        let named = |job: &JobHistory| scenario.name.contains(&job.id);
        let job = match jobs.iter().position(named) {
            Some(index) => jobs.swap_remove(index),
            None => pick_job(file, jobs, None)?,
        };
        let hosts = Hosts::of(&job, Some(scenario.cluster.workers));
        if hosts.workers() > scenario.cluster.workers {
            let (needs, has) = (hosts.workers(), scenario.cluster.workers);
            let message = format!("{} names {needs} hosts, and the scenario has {has} workers", shown(file));
            return Err(Error::Input(message));
        }
        let [planned] = scenario.job.as_mut_slice() else {
            return Err(Error::Input("--replay is for a scenario of one job".to_owned()));
        };
        // A plan with the recorded durations is that of its history already.
        if !planned.plan.as_ref().is_some_and(|plan| plan.wait) {
            let plan = import::replay(&job, &hosts);
            planned.plan = Some(plan.map_err(|error| Error::Input(format!("{}: {error}", shown(file))))?);
        }
        scenario.node.variation = 0.0;
        Ok(job)
    }
}

/// The scenario with each of `runs` seeds, from its own on.
pub fn seeds(scenario: &Scenario, runs: u32) -> Vec<Scenario> {
    let seeded = |offset| {
        let mut scenario = scenario.clone();
        scenario.run.seed = scenario.run.seed.wrapping_add(offset) & i64::MAX as u64;
        scenario
    };
    (0..u64::from(runs)).map(seeded).collect()
}
