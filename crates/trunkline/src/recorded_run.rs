//! The folder that `trunkline testbed hadoop run` leaves: a recorded job with its cluster, as a scenario.

use crate::failure::Failure;
use crate::interrupt::STOP;
use history::import::{self, Counted, ImportError, Imported, Settings, Sources};
use runs::{Error, Inputs};
use scenario::{JobKeys, PlacementKind, Scenario};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use units::Time;

/// A job that was recorded, and the scenario of it.
pub struct RecordedRun {
    /// The scenario, with the cluster's faults at the times at which they were.
    pub imported: Imported,
    /// What was counted beside the history.
    pub counted: Counted,
    /// The file of the job's history.
    #[cfg_attr(not(feature = "testbed"), expect(dead_code, reason = "the testbed replays it"))]
    pub history: PathBuf,
    /// What is to be known of the run: how late the emulator of its links was.
    pub remark: Option<String>,
}

/// The cluster and the run in such a folder.
pub const CLUSTER: &str = "cluster.toml";
const RUN: &str = "run.toml";
/// The plan by which a job's input was laid out, as `trunkline kat plan -o` writes one.
pub const PLAN: &str = "plan.json";
/// Per cent of frames that may be late.
const MOST_LATE: f64 = 0.1;
/// A client has written its job's files long before.
const SUBMITTED: Time = Time::from_secs(60);

/// Whether a path is the folder of a recorded run.
pub fn is_one(path: &Path) -> bool {
    [CLUSTER, RUN].iter().all(|file| path.join(file).is_file())
}

impl RecordedRun {
    /// Reads a folder. `job` names one of several jobs.
    pub fn open(folder: &Path, job: Option<&str>) -> Result<Self, Failure> {
        let inputs = Inputs::new(&STOP);
        let found = match job {
            Some(id) => inputs.job(&[history_file(folder, id)?], Some(id))?,
            None => inputs.job(&[folder.to_owned()], None)?,
        };
        let history = found.file.clone();
        let cluster = folder.join(CLUSTER);
        let text = inputs.text(&cluster)?;
        let described = inputs.settings(&folder.join(RUN))?;
        let counted = described.counted.clone();
        let settings = match &found.configuration {
            None => described,
            Some((file, properties)) => {
                let own = Settings::of_job(properties);
                let own = own.map_err(|error| Failure::Input(format!("{}: {error}", file.display())))?;
                described.before(own)
            }
        };
        let name = cluster.display().to_string();
        let sources = Sources { cluster: Some((&name, &text)), settings: Some(settings), writer: None };
        let mut imported = import::import(&found.job, &sources).map_err(|error| match error {
            ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
            other => Failure::Input(format!("{}: {other}", history.display())),
        })?;
        if imported.scenario.hdfs.placement.kind == PlacementKind::ByKey {
            lay_out(&mut imported.scenario, folder)?;
        }
        sim::parse(&found.job.id, &imported.to_toml(), &[]).map_err(Error::Scenario)?;
        let submitted = submission(&imported.scenario)?;
        for fault in &mut imported.scenario.faults {
            fault.at += submitted;
        }
        Ok(Self { imported, counted, history, remark: remark(folder) })
    }
}

/// The history tells the hosts of splits, not whose keys they hold: they are laid out anew, by the plan of the run if it
/// has left one. Reducers then have the shares of its buckets, not those that were recorded.
fn lay_out(scenario: &mut Scenario, folder: &Path) -> Result<(), Failure> {
    let plan = folder.join(PLAN);
    let plan_text = if plan.is_file() { Some(Inputs::new(&STOP).text(&plan)?) } else { None };
    for job in &mut scenario.job {
        job.split_hosts.clear();
        if let Some(plan_text) = plan_text.clone() {
            job.splits.clear();
            job.shares.clear();
            job.keys = Some(JobKeys { plan: PLAN.to_owned(), plan_text, ..JobKeys::default() });
        }
    }
    Ok(())
}

/// How late the emulator of a run's links was, a sentence; none where links were not emulated.
fn remark(folder: &Path) -> Option<String> {
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json")).ok()?).ok()?;
    late_words(&result["links"])
}

/// Frames that left late, in words; `links` is that of a run's `result.json`.
pub fn late_words(links: &Value) -> Option<String> {
    let (frames, late) = (links["frames"].as_u64()?, links["late"].as_u64()?);
    let share = 100.0 * late as f64 / frames.max(1) as f64;
    let much = if share > MOST_LATE { ": more than the 0.1 % up to which an emulated link counts as kept" } else { "" };
    Some(format!("Of {frames} real frames {share:.2} % left the emulated links more than a millisecond late{much}."))
}

/// When the simulated job is submitted: its client first writes the job's files. Faults count from then.
fn submission(scenario: &Scenario) -> Result<Time, Failure> {
    if scenario.faults.is_empty() {
        return Ok(Time::ZERO);
    }
    let mut until_then = scenario.clone();
    until_then.faults.clear();
    until_then.run.until = SUBMITTED;
    let result = sim::run(&until_then, &mut |_| STOP.check()).map_err(Error::from)?;
    Ok(result.jobs.first().map_or(Time::ZERO, |job| job.submit))
}

/// The file of a folder that holds a job's history.
fn history_file(folder: &Path, job: &str) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Error::reading(folder, &error))?;
    let name = |path: &PathBuf| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            history::job_id_within(&name) == Some(job) && name.ends_with(".jhist")
        })
    };
    let found = entries.flatten().map(|entry| entry.path()).find(name);
    found.ok_or_else(|| Failure::Input(format!("{} has no history of {job}", folder.display())))
}
