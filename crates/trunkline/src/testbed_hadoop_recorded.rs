//! What a run on a testbed has recorded of its jobs: histories of MapReduce, event logs of Spark.

use history::spark::Application;
use history::{Attempt, JobHistory, Task};

/// A job that ran.
pub enum RecordedJob {
    /// One of MapReduce.
    MapReduce(Box<JobHistory>),
    /// An application of Spark.
    Spark(Box<Application>),
}

/// A part of a job: its name, and from when to when in milliseconds since 1970.
pub type Phase = (String, i64, i64);

impl RecordedJob {
    /// Its identifier.
    pub fn id(&self) -> &str {
        match self {
            Self::MapReduce(job) => &job.id,
            Self::Spark(application) => &application.id,
        }
    }

    /// How it ended, in a word.
    pub fn state(&self) -> String {
        match self {
            Self::MapReduce(job) => format!("{:?}", job.state).to_lowercase(),
            Self::Spark(application) => {
                let all = application.jobs.iter().all(|job| job.succeeded == Some(true));
                if all { "succeeded" } else { "failed" }.to_owned()
            }
        }
    }

    /// When its work was submitted; of Spark, its first job.
    pub fn submit_ms(&self) -> i64 {
        match self {
            Self::MapReduce(job) => job.submit_ms,
            Self::Spark(application) => {
                let jobs = application.jobs.iter().map(|job| job.submit_ms);
                jobs.min().unwrap_or(application.start_ms)
            }
        }
    }

    /// Whether it is an application of Spark on YARN, whose executors are asked for when it is submitted.
    pub fn is_on_yarn(&self) -> bool {
        match self {
            Self::MapReduce(_) => false,
            Self::Spark(application) => application.property("spark.master").is_some_and(|master| master == "yarn"),
        }
    }

    /// From when to when its work ran: what a prediction is of.
    pub fn span(&self) -> Option<(i64, i64)> {
        match self {
            Self::MapReduce(job) => Some((job.launch_ms, job.finish_ms?)),
            Self::Spark(application) => {
                let last = application.jobs.iter().filter_map(|job| job.finish_ms).max()?;
                Some((self.submit_ms(), last))
            }
        }
    }

    /// Its phases.
    pub fn phases(&self) -> Vec<Phase> {
        match self {
            Self::MapReduce(job) => of_map_reduce(job),
            Self::Spark(application) => of_spark(application),
        }
    }
}

fn of_map_reduce(job: &JobHistory) -> Vec<Phase> {
    let attempts = |tasks: &[Task]| -> Vec<Attempt> { tasks.iter().filter_map(Task::successful).cloned().collect() };
    let (maps, reduces) = (attempts(&job.maps), attempts(&job.reduces));
    let first = |of: &[Attempt]| of.iter().filter_map(|attempt| attempt.start_ms).min();
    let last = |of: &[Attempt]| of.iter().filter_map(|attempt| attempt.finish_ms).max();
    let shuffled = reduces.iter().filter_map(|attempt| attempt.shuffle_finish_ms).max();
    let spans = [
        ("job", Some(job.submit_ms), job.finish_ms),
        ("start", Some(job.submit_ms), first(&maps)),
        ("maps", first(&maps), last(&maps)),
        ("shuffle", first(&reduces), shuffled),
        ("reduce", shuffled, last(&reduces)),
    ];
    spans.into_iter().filter_map(|(name, from, to)| Some((name.to_owned(), from?, to?))).collect()
}

/// The application, what its program did before its first job, and its stages.
fn of_spark(application: &Application) -> Vec<Phase> {
    let first = application.jobs.iter().map(|job| job.submit_ms).min();
    let spans = [
        ("application", Some(application.start_ms), application.finish_ms),
        ("start", Some(application.start_ms), first),
    ];
    let spans = spans.into_iter().filter_map(|(name, from, to)| Some((name.to_owned(), from?, to?)));
    let stages = application.stages.iter().filter_map(|stage| {
        let words = stage.name.split(" at ").next().unwrap_or_default();
        Some((format!("{}: {words}", stage.id), stage.submit_ms?, stage.finish_ms?))
    });
    spans.chain(stages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt;
    use runs::Inputs;

    #[test]
    fn phases_are_those_of_the_recorded_job() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../history/tests/traces/wordcount-nocombine-unshaped");
        let inputs = Inputs::new(&interrupt::STOP);
        let found = inputs.job(&[file.into()], None).expect("a history");
        let phases = RecordedJob::MapReduce(Box::new(found.job)).phases();
        let seconds = |name: &str| {
            let (_, from, to) = phases.iter().find(|phase| phase.0 == name).expect("it has it");
            (to - from) as f64 / 1e3
        };
        let whole = seconds("start") + seconds("maps");
        assert!(seconds("job") > whole && whole > seconds("maps"), "{whole}");
        // Reducers start before the last map ends, and fetch its output after it.
        assert!(seconds("shuffle") > 0.0 && seconds("reduce") > 0.0);
    }
}
