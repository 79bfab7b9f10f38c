//! A job's side of the faults.

use super::{Deed, SOCKET, Word};
use crate::hadoop::HadoopError;
use crate::hadoop::layout::Layout;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Tells the supervisor of a job. Dropping it ends the faults.
#[derive(Debug)]
pub struct FaultSession(UnixStream);

/// Daemons that were started again have this long to register.
const PATIENCE: Duration = Duration::from_mins(2);

impl FaultSession {
    /// A session with a cluster's supervisor.
    pub fn open(layout: &Layout) -> Result<Self, HadoopError> {
        let stream = UnixStream::connect(layout.folder.join(SOCKET));
        stream.map(Self).map_err(HadoopError::system("reach the cluster's supervisor, which makes its faults"))
    }

    /// The job was submitted, at this many milliseconds since 1970: the times of faults count from then.
    pub fn submitted(&mut self, at_ms: u64) -> Result<(), HadoopError> {
        self.say(Word::Submitted(at_ms))
    }

    /// The job is over. Waits until the faults are undone; what was done of each.
    pub fn over(mut self) -> Result<Vec<Deed>, HadoopError> {
        self.say(Word::Over)?;
        let hearing = || HadoopError::system("hear what became of the faults");
        self.0.set_read_timeout(Some(PATIENCE)).map_err(hearing())?;
        let mut line = String::new();
        BufReader::new(&self.0).read_line(&mut line).map_err(hearing())?;
        serde_json::from_str(&line).map_err(|error| hearing()(error.into()))
    }

    fn say(&mut self, word: Word) -> Result<(), HadoopError> {
        let text = serde_json::to_string(&word).unwrap_or_default();
        writeln!(self.0, "{text}").map_err(HadoopError::system("tell the cluster's supervisor of the job"))
    }
}
