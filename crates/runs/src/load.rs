//! Scenarios from files, and the seeds of one.

use crate::histories::{Found, pick_job};
use crate::input::shown;
use crate::spark::import_spark;
use crate::{Error, Inputs, Likeness, Recorded};
use history::import::{self, Counted, Hosts, Settings};
use history::spark::SparkImported;
use history::{self, Format, JobHistory};
use scenario::{Scenario, ScenarioWarnings};
use std::path::{Component, Path, PathBuf};

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
        let name = if crate::input::is_standard_input(path) { "stdin".to_owned() } else { path.display().to_string() };
        self.scenario_of(&name, &text, path.parent().unwrap_or(Path::new(".")), change)
    }

    /// As [`Self::scenario`], of a text. `name` is its file, for messages; paths in it are relative to `folder`.
    pub fn scenario_of(
        &self,
        name: &str,
        text: &str,
        folder: &Path,
        change: &Change,
    ) -> Result<(Scenario, ScenarioWarnings), Error> {
        let seed = change.seed.map(|seed| format!("run.seed={seed}"));
        let assignments: Vec<_> = change.assignments.iter().cloned().chain(seed).collect();
        let (mut scenario, warnings) = sim::parse_with_warnings(name, text, &assignments).map_err(Error::Scenario)?;
        let beside = |file: String| folder.join(file);
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
        let plans = scenario.plan_files();
        for (job, file) in &plans {
            let text = self.text(&beside(file.clone()))?;
            scenario.take_plan(*job, &text);
        }
        if !plans.is_empty() {
            sim::check_plans(&scenario).map_err(Error::Input)?;
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

    /// What is known of a job's configuration: its own, and before it the description of its run in a file.
    pub fn settings_of(&self, found: &Found, run: Option<&Path>) -> Result<Option<Settings>, Error> {
        let described = run.map(|path| self.settings(path)).transpose()?;
        let (file, properties) = match &found.configuration {
            Some((file, properties)) => (file, properties),
            None => (&found.file, &found.job.properties),
        };
        if properties.is_empty() {
            return Ok(described);
        }
        let own = Settings::of_job(properties).map_err(|error| Error::Input(format!("{}: {error}", file.display())))?;
        Ok(Some(match described {
            Some(described) => described.before(own),
            None => own,
        }))
    }

    /// The recorded job that the scenario at a path names as its history (`job.history`), if it names one.
    pub fn recorded(&self, scenario: &Scenario, path: &Path) -> Result<Option<JobHistory>, Error> {
        let [job] = scenario.job.as_slice() else { return Ok(None) };
        let Some(file) = &job.history else { return Ok(None) };
        let file = [path.parent().unwrap_or(Path::new(".")).join(file)];
        // A scenario may have got another name since.
        let named = self.job(&file, Some(&scenario.name));
        let found = named.or_else(|error| self.job(&file, None).map_err(|_| error))?;
        Ok(Some(found.job))
    }

    /// The recorded job beside which the page of the scenario at a path shows its run: that which it was made of.
    /// `changed`: something is laid over its file.
    pub fn own_record(&self, scenario: &Scenario, path: &Path, changed: bool) -> Result<Option<Recorded>, Error> {
        let Some(job) = self.recorded(scenario, path)? else { return Ok(None) };
        let planned = scenario.job.iter().any(|job| job.plan.is_some());
        let likeness = match (changed, planned) {
            (true, _) => Likeness::Changed,
            (false, true) => Likeness::Replayed,
            (false, false) => Likeness::Made,
        };
        Ok(Some(Recorded { job, likeness, counted: Counted::default(), remark: None }))
    }

    /// The recorded application of Spark beside which the summary and the page of the scenario at a path show its run:
    /// that which it was made of, by its event log (`spark.history`). None where something is laid over its file
    /// (`changed`): the record is no yardstick of that.
    pub fn own_application(
        &self,
        scenario: &Scenario,
        path: &Path,
        changed: bool,
    ) -> Result<Option<SparkImported>, Error> {
        let Some(spark) = scenario.spark.as_ref().filter(|_| !changed) else { return Ok(None) };
        let Some(log) = &spark.history else { return Ok(None) };
        let log = path.parent().unwrap_or(Path::new(".")).join(log);
        let application = self.event_log(&log)?;
        let application =
            application.ok_or_else(|| Error::Input(format!("{} is not an event log of Spark", shown(&log))))?;
        let imported = import_spark(&application, None)?;
        let names = |of: &Scenario| -> Vec<String> {
            of.spark.iter().flat_map(|spark| &spark.stage).map(|stage| stage.name.clone()).collect()
        };
        if names(&imported.scenario) != names(scenario) {
            let message = "records other stages than the scenario has: name the log that it was made of";
            return Err(Error::Input(format!("{} {message}", shown(&log))));
        }
        Ok(Some(imported))
    }

    /// Gives the scenario's job the plan that a history records, and returns the recorded job. Where and when its
    /// attempts started are given, and the machines are as fast as they are on average.
    pub fn replay(&self, scenario: &mut Scenario, file: &Path) -> Result<JobHistory, Error> {
        if scenario.job.len() != 1 {
            let instead = match &scenario.spark {
                Some(_) => ": how an application of Spark comes to its log, `trunkline import` prints",
                None => "",
            };
            return Err(Error::Input(format!("--replay is for a scenario of one job{instead}")));
        }
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
        let settings = &scenario.mapreduce;
        let reducers = settings.bytes_per_reducer.is_none().then_some(settings.reducers);
        let [planned] = scenario.job.as_mut_slice() else {
            return Err(Error::Input("--replay is for a scenario of one job".to_owned()));
        };
        // A task without an attempt would keep the job from ending. Without `splits` the number of maps is known later.
        let maps = (!planned.splits.is_empty()).then_some(planned.splits.len());
        let reducers = planned.reducers.or(reducers).map(|reducers| reducers as usize);
        for (task, has, recorded) in [("maps", maps, job.maps.len()), ("reducers", reducers, job.reduces.len())] {
            if let Some(has) = has.filter(|has| *has != recorded) {
                let message = format!(
                    "{} records another job than the scenario's ({task}: {recorded} there, {has} here): give the \
                     history that the scenario was made of",
                    shown(file)
                );
                return Err(Error::Input(message));
            }
        }
        // A plan with the recorded durations is that of its history already.
        if !planned.plan.as_ref().is_some_and(|plan| plan.wait) {
            let plan = import::replay(&job, &hosts);
            planned.plan = Some(plan.map_err(|error| Error::Input(format!("{}: {error}", shown(file))))?);
        }
        scenario.node.variation = 0.0;
        Ok(job)
    }
}

/// A file's path as the scenario at `scenario` names it: from its folder. None for standard input and for a path that
/// no text can hold.
pub fn path_beside(file: &Path, scenario: &Path) -> Option<String> {
    if crate::input::is_standard_input(file) {
        return None;
    }
    let file = file.canonicalize().ok()?;
    let folder = scenario.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let Ok(folder) = folder.canonicalize() else { return Some(file.to_str()?.to_owned()) };
    let common = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| "..".as_ref());
    let down = file.components().skip(common).map(Component::as_os_str);
    Some(up.chain(down).collect::<PathBuf>().to_str()?.to_owned())
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

#[cfg(test)]
mod tests {
    use super::path_beside;
    use std::path::Path;

    #[test]
    fn a_history_is_named_from_the_folder_of_its_scenario() {
        let root = std::env::temp_dir().join(format!("trunkline-beside-{}", std::process::id()));
        std::fs::create_dir_all(root.join("done/2026")).expect("made");
        std::fs::create_dir_all(root.join("scenarios")).expect("made");
        let history = root.join("done/2026/job_1.jhist");
        std::fs::write(&history, "").expect("written");
        let from = |scenario: &str| path_beside(&history, &root.join(scenario));
        assert_eq!(from("scenarios/job.toml").as_deref(), Some("../done/2026/job_1.jhist"));
        assert_eq!(from("job.toml").as_deref(), Some("done/2026/job_1.jhist"));
        assert_eq!(from("done/2026/job.toml").as_deref(), Some("job_1.jhist"));
        assert_eq!(path_beside(Path::new("-"), Path::new("job.toml")), None);
        assert_eq!(path_beside(&root.join("nowhere"), Path::new("job.toml")), None);
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
