//! The record of a cell: a file of its own, written whole or not at all.

use super::figure::{Figure, Metric};
use super::gateways::Streams;
use super::{Cell, TrialError};
use crate::link::Report;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// How the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with all the payload.
    Whole,
    /// Cut off at its time limit.
    Cut,
    /// With an error, or what arrived differs from what was sent.
    Failed,
}

/// The measurements of a cell. Rates are of payload, in bits per second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// How the program ended.
    pub ended: Ended,
    /// The error of a failed cell.
    pub wrong: Option<String>,
    /// Wall time from the program's start to its end, in seconds.
    pub wall_s: f64,
    /// Payload bytes that arrived. They were compared with what was sent.
    pub bytes: u64,
    /// Goodput over the whole run.
    pub goodput_bps: Option<f64>,
    /// The cell was cut off with unknown progress, so the goodput is an upper bound.
    pub at_most: bool,
    /// Goodput over the first twelve RTTs; `None` if the RTT is zero or no progress could be seen.
    pub first_bps: Option<f64>,
    /// Goodput after the first twelve RTTs.
    pub later_bps: Option<f64>,
    /// Time from the start until it first had 90 % of the path's capacity, for an RTT and at least half a second.
    pub filled_after_s: Option<f64>,
    /// What a benchmark reports of itself; the first is its figure of merit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<Figure>,
    /// What the gateways report.
    pub streams: Option<Streams>,
    /// MPTCP subflows beside the first.
    pub subflows: Option<u64>,
    /// Points of seconds and bytes.
    pub curve: Vec<(f64, u64)>,
}

impl Measurement {
    /// The rate that represents the measurement: after the first RTTs if it was cut off on purpose.
    pub fn rate_bps(&self, cell: &Cell) -> Option<f64> {
        let cut = cell.program.cut().is_some() && self.ended != Ended::Failed;
        if cut { self.later_bps } else { self.goodput_bps }
    }

    /// The figures of the measurement, the figure of merit first: what a benchmark reports, or the goodput.
    pub fn figures(&self, cell: &Cell) -> Vec<Figure> {
        if cell.program.tool.is_benchmark() {
            return self.reported.clone();
        }
        self.rate_bps(cell).map(|bps| Figure::new(Metric::Goodput, bps)).into_iter().collect()
    }

    /// A figure of the measurement.
    pub fn figure(&self, cell: &Cell, metric: Metric) -> Option<f64> {
        self.figures(cell).iter().find(|figure| figure.metric == metric).map(|figure| figure.value)
    }
}

/// The kept record of a cell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    schema: String,
    /// The cell's name.
    pub id: String,
    /// The parameters requested.
    asked: Value,
    /// The measurements.
    pub outcome: Measurement,
    /// The emulator's warning, if it was late at all.
    pub late: Option<String>,
    /// Fraction of its frames that left late.
    pub late_share: f64,
    /// Frames lost in front of the emulator because they arrived faster than it read them.
    pub overflowed: u64,
    /// The emulator's report, as `testbed link` writes it.
    emulator: Value,
    /// The machine's condition meanwhile.
    pub conditions: Value,
}

const SCHEMA: &str = "trunkline-testbed-cell/1";

/// What an earlier run has left of a cell.
#[derive(Clone, PartialEq, Debug)]
pub enum Kept {
    /// Nothing, or a record of something else.
    Nothing,
    /// A measurement that failed, or during which the emulator was late.
    Doubtful(Box<Record>),
    /// A measurement that counts.
    Good(Box<Record>),
}

impl Record {
    pub(super) fn new(cell: &Cell, outcome: Measurement, report: &Report) -> Self {
        let pipes = || report.paths.iter().flat_map(|path| [&path.forth, &path.back]);
        let late: u64 = pipes().map(|pipe| pipe.lateness.late()).sum();
        let frames: u64 = pipes().map(|pipe| pipe.lateness.count()).sum();
        let word = |file: &str| fs::read_to_string(file).unwrap_or_default().trim().to_owned();
        let processor = word("/proc/cpuinfo");
        let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Self {
            schema: SCHEMA.to_owned(),
            id: cell.id(),
            asked: cell.asked(),
            outcome,
            late: report.late(),
            late_share: late as f64 / frames.max(1) as f64,
            overflowed: pipes().map(|pipe| pipe.overflowed).sum(),
            emulator: report.to_json(),
            conditions: json!({
                "kernel": word("/proc/sys/kernel/osrelease"),
                "processor": processor.map(|(_, name)| name),
                "processors": std::thread::available_parallelism().map_or(1, usize::from),
                "load_average": word("/proc/loadavg"),
            }),
        }
    }

    /// Whether the emulator was late for more than this fraction of its frames, or something failed.
    pub fn is_doubtful(&self, most_late: f64) -> bool {
        self.late_share > most_late || self.overflowed > 0 || self.outcome.ended == Ended::Failed
    }

    /// Reads the record of a cell.
    pub fn read(folder: &Path, cell: &Cell, most_late: f64) -> Kept {
        let text = fs::read(folder.join(cell.file_name())).unwrap_or_default();
        match serde_json::from_slice::<Self>(&text) {
            Ok(record) if record.schema == SCHEMA && record.asked == cell.asked() => {
                if record.is_doubtful(most_late) {
                    Kept::Doubtful(Box::new(record))
                } else {
                    Kept::Good(Box::new(record))
                }
            }
            _ => Kept::Nothing,
        }
    }

    /// Writes the record: elsewhere first, then renamed into place.
    pub fn keep(&self, folder: &Path, cell: &Cell) -> Result<(), TrialError> {
        let (file, beside) = (folder.join(cell.file_name()), folder.join(format!("{}.partial", cell.file_name())));
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from);
        let written = text.and_then(|text| fs::write(&beside, text + "\n")).and_then(|()| fs::rename(&beside, &file));
        written.map_err(TrialError::system(format!("write {}", file.display())))
    }
}
