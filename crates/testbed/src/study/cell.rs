//! The unit of measurement: one program over one path, in one way, with given socket buffers and congestion control.

use super::spec::Program;
use super::tool::Tool;
use crate::link::{Direction, Path};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use units::{Bytes, Time};

/// How the program's bytes cross the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The program's own TCP connection.
    Plain,
    /// Through gateways beside the program's and the server's hosts, with the system's buffers. The program's
    /// connections are redirected.
    Jet,
    /// Through a gateway on the program's host, by `trunkline jet run`.
    JetRun,
    /// As `jet`, in the mode of Wang et al. 2014: 16 streams in turn, each with 64 KB of socket buffer.
    Paper,
    /// The program's own TCP connection with BBR, and buffers of up to 64 MiB at both ends.
    Bbr,
    /// The program's own connection over MPTCP, by `mptcpize` at both ends, with eight addresses at the near end.
    Mptcp,
    /// `aria2c -x16` fetches the file instead.
    Aria2,
    /// `pget -n 16` of lftp fetches the file instead.
    Lftp,
    /// On files of the program's own host. No path is crossed: the time is the program's own.
    Local,
}

impl Way {
    /// All ways.
    pub const ALL: [Self; 9] = [
        Self::Plain,
        Self::Jet,
        Self::JetRun,
        Self::Paper,
        Self::Bbr,
        Self::Mptcp,
        Self::Aria2,
        Self::Lftp,
        Self::Local,
    ];

    /// The name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Jet => "jet",
            Self::JetRun => "jet-run",
            Self::Paper => "paper",
            Self::Bbr => "bbr",
            Self::Mptcp => "mptcp",
            Self::Aria2 => "aria2",
            Self::Lftp => "lftp",
            Self::Local => "local",
        }
    }

    /// Whether it uses gateways.
    pub const fn has_gateways(self) -> bool {
        matches!(self, Self::Jet | Self::JetRun | Self::Paper)
    }
}

/// Socket buffers of the program's and the server's host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Buffers {
    /// The system's defaults.
    Default,
    /// At most this much, each way.
    Limited(Bytes),
}

impl FromStr for Buffers {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "default" {
            return Ok(Self::Default);
        }
        let bytes: Bytes = text.parse().map_err(|error| format!("{error}; or \"default\""))?;
        if (Bytes::new(4_096)..=Bytes::from_mib(1_024)).contains(&bytes) {
            Ok(Self::Limited(bytes))
        } else {
            Err(format!("socket buffers of {bytes} cannot be: 4 KiB to 1 GiB, or \"default\""))
        }
    }
}

/// The size without blanks, for names.
impl fmt::Display for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Limited(bytes) => match bytes.get() {
                bytes if bytes.is_multiple_of(1 << 20) => write!(f, "{}MiB", bytes >> 20),
                bytes if bytes.is_multiple_of(1 << 10) => write!(f, "{}KiB", bytes >> 10),
                bytes => write!(f, "{bytes}B"),
            },
        }
    }
}

/// A cell: one combination of path, program, way, buffers and control, measured by itself.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The emulated path.
    pub path: Path,
    /// The seed of the path's random draws.
    pub seed: u64,
    /// The program and its payload.
    pub program: Arc<Program>,
    /// The way across the path.
    pub way: Way,
    /// The program's and the server's buffers.
    pub buffers: Buffers,
    /// The congestion control of everything that crosses the path, by the kernel's name.
    pub control: String,
}

impl Cell {
    /// The identifier among the study's cells.
    pub fn id(&self) -> String {
        let Self { path, program, way, buffers, control, .. } = self;
        format!("{}/{}/{buffers}/{control}/{}", path.name, program.name, way.name())
    }

    /// The name of its record's file.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.id().replace('/', "_"))
    }

    /// All parameters requested. A record is valid for a cell with equal parameters.
    pub fn asked(&self) -> Value {
        json!({
            "path": self.path.name,
            "rate_bps": self.path.forth.rate.map(units::BitRate::as_bps),
            "round_trip_s": self.path.round_trip().as_secs_f64(),
            "loss": self.path.back.loss.mean(),
            "seed": self.seed,
            "program": self.program.name,
            "tool": self.program.tool,
            "bytes": self.program.size.get(),
            "measured_s": self.program.time.map(Time::as_secs_f64),
            "way": self.way,
            "buffers": self.buffers.to_string(),
            "control": self.control,
        })
    }

    /// Payload rate that the path can carry, in bits per second: full segments, less losses. Payload that crosses both
    /// ways crosses one way after the other.
    pub fn capacity_bps(&self) -> Option<f64> {
        let rate = |way: &Direction| Some(way.tcp_goodput()?.as_bps() as f64 * (1.0 - way.loss.mean()));
        let (back, forth) = (rate(&self.path.back), rate(&self.path.forth));
        let tool = self.program.tool;
        if tool.is_benchmark() && tool != Tool::Iperf3 {
            return None;
        }
        match (tool.downloads(), tool.uploads()) {
            _ if self.way == Way::Local => None,
            (true, true) => Some(2.0 / (1.0 / back? + 1.0 / forth?)),
            (_, true) => forth,
            _ => back,
        }
    }

    /// How long a program with a time runs, in seconds.
    pub(super) fn expected_run_s(&self) -> f64 {
        self.program.time.map_or(0.0, Time::as_secs_f64) + 12.0 * self.path.round_trip().as_secs_f64()
    }

    /// Expected duration in seconds, from the path's rate or the cell's limits.
    pub fn expected_s(&self) -> f64 {
        const PREPARED_S: f64 = 4.0;
        let rtt = self.path.round_trip().as_secs_f64();
        let measured = if self.program.time.is_some() {
            self.expected_run_s()
        } else {
            let rate = self.capacity_bps().unwrap_or(1e9);
            let window = match self.buffers {
                // The kernel announces half of a buffer (tcp_adv_win_scale).
                Buffers::Limited(bytes) if matches!(self.way, Way::Plain | Way::Mptcp) => {
                    bytes.get() as f64 * 4.0 / rtt.max(1e-3)
                }
                _ => rate,
            };
            let bytes = self.program.size.get() * self.program.tool.crossings();
            let whole = bytes as f64 * 8.0 / rate.min(window) + 4.0 * rtt;
            whole.min(self.program.limit.as_secs_f64())
        };
        PREPARED_S + measured
    }
}

/// `KEY=VALUE[,VALUE]`: a filter of cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Only {
    key: &'static str,
    values: Vec<String>,
}

const KEYS: [&str; 5] = ["path", "program", "way", "buffers", "control"];

impl FromStr for Only {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = || format!("a choice is KEY=VALUE[,VALUE] with one of the keys {}", KEYS.join(", "));
        let (key, values) = text.split_once('=').ok_or_else(known)?;
        let key =
            KEYS.into_iter().find(|known| *known == key).ok_or_else(|| format!("`{key}` is none; {}", known()))?;
        Ok(Self { key, values: values.split(',').map(|value| value.trim().replace(' ', "")).collect() })
    }
}

impl Only {
    fn value_of(&self, cell: &Cell) -> String {
        match self.key {
            "path" => cell.path.name.clone(),
            "program" => cell.program.name.clone(),
            "way" => cell.way.name().to_owned(),
            "buffers" => cell.buffers.to_string(),
            _ => cell.control.clone(),
        }
    }

    /// Whether the filter accepts a cell.
    pub fn takes(&self, cell: &Cell) -> bool {
        self.values.contains(&self.value_of(cell))
    }

    /// Keeps the cells that all filters accept. A value that no cell has is an error, which lists the known values.
    pub fn choose(choices: &[Self], cells: Vec<Cell>) -> Result<Vec<Cell>, String> {
        for only in choices {
            let mut there: Vec<String> = cells.iter().map(|cell| only.value_of(cell)).collect();
            there.sort_unstable();
            there.dedup();
            if let Some(unknown) = only.values.iter().find(|value| !there.contains(value)) {
                return Err(format!("no cell has {}={unknown}: there are {}", only.key, there.join(", ")));
            }
        }
        Ok(cells.into_iter().filter(|cell| choices.iter().all(|only| only.takes(cell))).collect())
    }
}
