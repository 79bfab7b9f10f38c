//! What a daemon keeps for its next start: what is left of the wear budgets, which disks rest, who woke them.
//!
//! The file is replaced as a whole, and is on its disk before a disk is put to rest: a rest that is not accounted for
//! does not begin. What is left of a budget grows with the daemon's own clock alone. It does not grow while no daemon
//! runs, so that no wrong clock and no restart makes it more.

use super::counters::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The name of the file in the daemon's folder.
pub(crate) const FILE: &str = "journal.json";
/// The only version so far.
const VERSION: u32 = 1;

/// The whole journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// Version of the format.
    pub version: u32,
    /// Which start of the machine the counters are of.
    pub boot: String,
    /// The disks, by name.
    pub disks: BTreeMap<String, KeptDisk>,
}

/// What is kept of a disk.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptDisk {
    /// Starts that its budget has left, in millionths; left out without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_left: Option<u64>,
    /// Its rest, if it rests or is about to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<KeptRest>,
    /// What it did so far.
    pub ledger: Ledger,
}

/// A rest that has begun, or for which the disk is about to be told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRest {
    /// Whether the daemon has put it to rest.
    pub own: bool,
    /// It was told to, and it is not known whether it did.
    #[serde(default)]
    pub unsure: bool,
    /// Counters of requests that have not woken it.
    pub base: Counters,
    /// What it is being woken for, once the daemon wakes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waking: Option<String>,
}

/// What a disk did under daemons of this journal.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// Rests.
    pub rests: u64,
    /// Seconds at rest, of rests that are over.
    pub rested_s: f64,
    /// Wakes, by cause.
    pub wakes: BTreeMap<String, u64>,
}

impl Journal {
    /// An empty one.
    pub fn new(boot: &str) -> Self {
        Self { version: VERSION, boot: boot.to_owned(), disks: BTreeMap::new() }
    }
    /// Reads a text. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let journal: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if journal.version != VERSION {
            return Err(format!("its version is {}, and this program knows {VERSION}", journal.version));
        }
        Ok(journal)
    }
    /// As it is written.
    pub fn text(&self) -> String {
        format!("{}\n", serde_json::to_string_pretty(self).unwrap_or_default())
    }
    /// Writes it into a folder: beside its place, to the disk, then into its place.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let beside = folder.join(format!(".{FILE}.partial"));
        let mut file = File::create(&beside)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, folder.join(FILE))?;
        File::open(folder)?.sync_all()
    }
}
