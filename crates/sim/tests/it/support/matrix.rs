//! The matrix of runs on a quiet real cluster (`crates/history/tests/traces/matrix`), each beside what is predicted of
//! it from a run of the same job without a limit.
//!
//! They ran on two mornings, and on the second the machine was slower: the same jobs took a fifth more of the
//! processors' seconds. A run is predicted from the first one of its morning that is not set aside, or from the first
//! of all.
//!
//! A run is named RATE/JOB-SIZE-N, N its repetition (files leave out `-1`).

#[path = "../../../../history/tests/matrix/mod.rs"]
mod rule;

use super::recorded::{Moments, times};
use history::JobHistory;
use history::import::{Imported, Settings, Sources, import, replay};
use rule::{is_of_first_morning, is_set_aside};
use scenario::Scenario;
use std::fs;
use std::path::{Path, PathBuf};

/// The rate of the runs that others are predicted from.
const UNSHAPED: &str = "unshaped";

/// A job of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    rate: String,
    /// Job and size.
    job: String,
    repetition: u32,
    /// Of several jobs of a run the number of one.
    part: Option<u32>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/traces/matrix")
}

/// All jobs of all runs that are predicted from another one.
pub fn runs() -> Vec<Run> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the matrix");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    let mut runs = Vec::new();
    for rate in names(&folder()) {
        for file in names(&folder().join(&rate)) {
            let Some(name) = file.strip_suffix(".jhist.gz") else { continue };
            let (name, part) = match name.rsplit_once('.') {
                Some((name, part)) => (name, part.parse().ok()),
                None => (name, None),
            };
            let last = name.rsplit_once('-').and_then(|(job, last)| Some((job, last.parse().ok()?)));
            let (job, repetition) = last.unwrap_or((name, 1));
            runs.push(Run { rate: rate.clone(), job: job.to_owned(), repetition, part });
        }
    }
    runs.retain(|run| *run != run.basis());
    runs.sort();
    runs
}

impl Run {
    /// RATE/JOB-SIZE-N, and which job of it.
    pub fn name(&self) -> String {
        let part = self.part.map_or(String::new(), |part| format!(".{part}"));
        format!("{}/{}-{}{part}", self.rate, self.job, self.repetition)
    }
    /// Whether nothing may be fitted to it.
    pub fn is_set_aside(&self) -> bool {
        is_set_aside(&self.rate, &self.job, self.repetition)
    }
    /// What it is predicted from.
    fn basis(&self) -> Self {
        let unshaped = |repetition| Self { rate: UNSHAPED.to_owned(), repetition, ..self.clone() };
        let is_there = |run: &Self| run.file(".run.toml").exists() && !run.is_set_aside();
        let is_of_first = is_of_first_morning(&self.rate, self.repetition);
        let later = if is_of_first { None } else { (3..=4).map(unshaped).find(is_there) };
        later.unwrap_or_else(|| unshaped(1))
    }
    fn file(&self, ending: &str) -> PathBuf {
        let repetition = if self.repetition == 1 { String::new() } else { format!("-{}", self.repetition) };
        folder().join(&self.rate).join(format!("{}{repetition}{ending}", self.job))
    }
    /// What was recorded.
    pub fn history(&self) -> JobHistory {
        let part = self.part.map_or(String::new(), |part| format!(".{part}"));
        let path = self.file(&format!("{part}.jhist.gz"));
        let packed = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        history::read(&packed).unwrap_or_else(|error| panic!("{}: {error}", path.display())).1.remove(0)
    }
    /// When what happened, as recorded.
    pub fn recorded(&self) -> Moments {
        times(&self.history())
    }
    fn imported(&self) -> Imported {
        let text = |path: PathBuf| fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let settings = Settings::parse(&text(self.file(".run.toml"))).expect("a run");
        let cluster = text(folder().join(&self.rate).join("cluster.toml"));
        // TestDFSIO reads what the run before it wrote.
        let writer = self
            .job
            .strip_prefix("dfsio-read")
            .map(|size| Self { job: format!("dfsio-write{size}"), ..self.clone() }.history());
        let sources =
            Sources { cluster: Some(("cluster.toml", &cluster)), settings: Some(settings), writer: writer.as_ref() };
        import(&self.history(), &sources).unwrap_or_else(|error| panic!("{}: {error}", self.name()))
    }
    /// What predicts it: the costs of the job without a limit; its own input, where that lies, and its network. With
    /// `placed`, its attempts start where and when they did.
    pub fn known(&self, placed: bool) -> Scenario {
        let Imported { mut scenario, .. } = self.basis().imported();
        let Imported { scenario: own, hosts, .. } = self.imported();
        scenario.network = own.network;
        let (job, other) = (&mut scenario.job[0], &own.job[0]);
        job.splits.clone_from(&other.splits);
        job.split_hosts.clone_from(&other.split_hosts);
        job.file_writers.clone_from(&other.file_writers);
        if placed {
            // The machine as it was on average: the placement alone is given, and no draw of its speed.
            scenario.node.variation = 0.0;
            job.plan = Some(replay(&self.history(), &hosts).unwrap_or_else(|e| panic!("{}: {e}", self.name())));
        }
        scenario
    }
}
