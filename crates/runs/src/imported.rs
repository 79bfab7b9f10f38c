//! A recorded job as a scenario, with all that its cluster has left beside it.

use crate::{Error, Found, Inputs, pick_job};
use history::JobHistory;
use history::import::{self, ImportError, Imported, Settings, Sources};
use std::path::Path;

/// What is known of recorded jobs beside their histories.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownBeside<'a> {
    /// A scenario whose machines, network and settings are the cluster's: its file's name, and its text.
    pub cluster: Option<(&'a str, &'a str)>,
    /// The run's description, a file.
    pub described: Option<&'a Path>,
    /// The job that wrote the input.
    pub writer: Option<&'a JobHistory>,
}

impl Inputs<'_> {
    /// The job that wrote another's input: the only one of a history.
    pub fn writer(&self, history: &Path) -> Result<JobHistory, Error> {
        pick_job(history, self.history(history)?.1, None)
    }

    /// Makes a scenario of a recorded job.
    pub fn imported(&self, found: &Found, beside: KnownBeside<'_>) -> Result<Imported, Error> {
        let settings: Option<Settings> = self.settings_of(found, beside.described)?;
        let sources = Sources { cluster: beside.cluster, settings, writer: beside.writer };
        import::import(&found.job, &sources).map_err(|error| match error {
            ImportError::Scenario(error) => Error::Scenario(error),
            other => Error::Input(format!("{}: {other}", found.file.display())),
        })
    }
}
