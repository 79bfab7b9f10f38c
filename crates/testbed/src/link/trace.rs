//! How a path changes over time: Mahimahi's packet-delivery opportunities, or a table of rate, delay and loss.

use super::LinkError;
use super::share::share;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};
use units::{BitRate, Bytes, Time};

/// The recorded or synthetic course of one direction.
#[derive(Clone, PartialEq, Debug)]
pub enum Trace {
    /// When the transmitter may send, in the format of Mahimahi's `mm-link` (Netravali et al. 2015).
    Opportunities(Arc<Opportunities>),
    /// Changes of rate, delay and loss, in order of time.
    Changes(Arc<[Change]>),
}

/// Times at which 1500 bytes of IP packets may leave, repeated for ever.
#[derive(PartialEq, Debug)]
pub struct Opportunities {
    times: Vec<Time>,
}

/// A change of the shape at some time. Absent values stay as they are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Time since the link came up.
    pub at: Time,
    /// Rate of the transmitter; at zero it halts.
    pub rate: Option<BitRate>,
    /// One-way delay.
    pub delay: Option<Time>,
    /// Loss probability.
    pub loss: Option<f64>,
}

/// IP bytes that one delivery opportunity carries.
pub const OPPORTUNITY: Bytes = Bytes::new(1_500);

impl Trace {
    /// Reads a file. If its first line names columns it is a table, otherwise Mahimahi's format.
    pub fn read(path: &Path) -> Result<Self, LinkError> {
        let text = fs::read(path).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not a text"))
        });
        let text = text.map_err(|error| LinkError::Input(format!("cannot read {}: {error}", path.display())))?;
        Self::parse(&text).map_err(|what| LinkError::Input(format!("{}: {what}", path.display())))
    }

    /// Reads a text in either format. An error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if first.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()) {
            changes(text).map(|changes| Self::Changes(changes.into()))
        } else {
            Opportunities::parse(text).map(|opportunities| Self::Opportunities(Arc::new(opportunities)))
        }
    }
}

impl Opportunities {
    /// Parses times in whole milliseconds, one per line, in order. A repeated time stands for as many opportunities.
    /// After the last time the trace starts again.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut times = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let (number, line) = (number + 1, line.trim());
            if line.is_empty() {
                continue;
            }
            let ms: u32 = line.parse().map_err(|_| {
                format!("line {number}: `{line}` is not a time in whole milliseconds (up to {})", u32::MAX)
            })?;
            let at = Time::from_ms(ms.into());
            if times.last().is_some_and(|last| *last > at) {
                return Err(format!("line {number}: {ms} ms lies before the line above it"));
            }
            times.push(at);
        }
        match times.last() {
            None => Err("the trace is empty: it needs a time in milliseconds on each line".to_owned()),
            Some(&Time::ZERO) => {
                Err("the trace ends at 0 ms: its last time is its length, after which it begins again".to_owned())
            }
            Some(_) => Ok(Self { times }),
        }
    }

    /// The length of the trace, after which it starts again.
    pub fn period(&self) -> Time {
        self.times.last().copied().unwrap_or(Time::MAX)
    }

    /// The time of opportunity number `index`, counted from the start of the link.
    pub fn at(&self, index: u64) -> Time {
        let (round, place) = (index / self.times.len() as u64, index % self.times.len() as u64);
        self.period() * round + self.times[place as usize]
    }

    /// The number of the first opportunity after `now`.
    pub fn after(&self, now: Time) -> u64 {
        let (round, within) = (now / self.period(), now % self.period());
        round * self.times.len() as u64 + self.times.partition_point(|at| *at <= within) as u64
    }

    /// The long-run rate.
    pub fn mean_rate(&self) -> BitRate {
        let bits = self.times.len() as f64 * OPPORTUNITY.get() as f64 * 8.0;
        BitRate::from_bps((bits / self.period().as_secs_f64()) as u64)
    }
}

const COLUMNS: [&str; 4] = ["time", "rate", "delay", "loss"];

/// Parses a comma-separated table. The first line names the columns, `time` among them. Times, rates and delays have
/// units. An empty field changes nothing.
fn changes(text: &str) -> Result<Vec<Change>, String> {
    let mut lines =
        text.lines().enumerate().map(|(number, line)| (number + 1, line.trim())).filter(|(_, line)| !line.is_empty());
    let (number, header) = lines.next().unwrap_or((1, ""));
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    for (index, column) in columns.iter().enumerate() {
        if !COLUMNS.contains(column) {
            return Err(format!("line {number}: `{column}` is not a column: there are {}", COLUMNS.join(", ")));
        }
        if columns[..index].contains(column) {
            return Err(format!("line {number}: the column {column} stands there twice"));
        }
    }
    if !columns.contains(&"time") {
        return Err(format!("line {number}: the column time is missing"));
    }
    let mut changes: Vec<Change> = Vec::new();
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != columns.len() {
            return Err(format!("line {number}: {} fields, and the first line names {}", fields.len(), columns.len()));
        }
        let mut change = Change { at: Time::MAX, rate: None, delay: None, loss: None };
        for (column, field) in columns.iter().zip(fields).filter(|(_, field)| !field.is_empty()) {
            let read = match *column {
                "time" => field.parse().map(|at| change.at = at).map_err(|error: units::ParseError| error.to_string()),
                "rate" => field
                    .parse()
                    .map(|rate| change.rate = Some(rate))
                    .map_err(|error: units::ParseError| error.to_string()),
                "delay" => field
                    .parse()
                    .map(|delay| change.delay = Some(delay))
                    .map_err(|error: units::ParseError| error.to_string()),
                _ => share(field).map(|loss| change.loss = Some(loss)),
            };
            read.map_err(|what| format!("line {number}, {column}: {what}"))?;
        }
        if change.at == Time::MAX {
            return Err(format!("line {number}: the time is missing"));
        }
        if changes.last().is_some_and(|last| last.at > change.at) {
            return Err(format!("line {number}: {} lies before the line above it", change.at));
        }
        changes.push(change);
    }
    if changes.is_empty() { Err("the table has no line below its columns".to_owned()) } else { Ok(changes) }
}
