//! How the daemon talks to a disk.
//!
//! | driver | rests | wakes | state |
//! |---|---|---|---|
//! | `ata` | `hdparm -y` | `hdparm --read-sector` | `hdparm -C`: CHECK POWER MODE |
//! | `scsi` | `sg_start --pc=3`, or `--stop` | `sg_start --start` | `sg_requests`, then `sg_turs` |
//! | `command` | the user's words | the user's words | the user's words: `awake` or `standby` on its output |

use super::event::Seen;
use super::program;
use super::sense::{hdparm_state, sense_state};
use std::path::Path;

/// Which driver a disk has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DriverSpec {
    /// A disk in the daemon.
    Simulated,
    /// The user's programs.
    Command(Programs),
    /// ATA disks, by hdparm.
    Ata,
    /// SCSI and SAS disks, by sg3-utils.
    Scsi {
        /// Stops the unit in place of the power condition standby.
        stop: bool,
    },
}

/// Programs, each as words.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Programs {
    /// Puts the disk to rest.
    pub rest: Vec<String>,
    /// Starts it.
    pub wake: Vec<String>,
    /// Prints `awake` or `standby`.
    pub state: Vec<String>,
}

/// A driver for one disk, for the thread that waits for its programs.
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    Command(Programs),
    Ata { node: String, sectors: u64, next: u64 },
    Scsi { node: String, stop: bool },
}

impl Driver {
    /// The programs that it needs, and the package that has them.
    pub(crate) fn needs(&self) -> (Vec<&str>, &'static str) {
        match self {
            Self::Command(programs) => {
                let all = [&programs.rest, &programs.wake, &programs.state];
                (all.into_iter().filter_map(|words| words.first()).map(String::as_str).collect(), "the configuration")
            }
            Self::Ata { .. } => (vec!["hdparm"], "hdparm"),
            Self::Scsi { .. } => (vec!["sg_start", "sg_turs", "sg_requests"], "sg3-utils"),
        }
    }
    /// An ATA disk's.
    pub(crate) fn ata(node: &Path, sectors: u64) -> Self {
        Self::Ata { node: node.to_string_lossy().into_owned(), sectors, next: 0 }
    }
    /// A SCSI disk's.
    pub(crate) fn scsi(node: &Path, stop: bool) -> Self {
        Self::Scsi { node: node.to_string_lossy().into_owned(), stop }
    }
    pub(crate) fn rest(&self) -> Result<(), String> {
        match self {
            Self::Command(programs) => do_it(&programs.rest),
            Self::Ata { node, .. } => do_it(&words(["hdparm", "-y", node])),
            Self::Scsi { node, stop: true } => do_it(&words(["sg_start", "--stop", node])),
            Self::Scsi { node, stop: false } => do_it(&words(["sg_start", "--pc=3", node])),
        }
    }
    pub(crate) fn wake(&mut self) -> Result<(), String> {
        match self {
            Self::Command(programs) => do_it(&programs.wake),
            Self::Ata { node, sectors, next } => {
                // A read of the medium: each time of another place, which the drive's memory does not have.
                *next = next.wrapping_add(0x9e37_79b9_7f4a_7c15);
                do_it(&words(["hdparm", "--read-sector", &(*next % (*sectors).max(1)).to_string(), node]))
            }
            Self::Scsi { node, .. } => do_it(&words(["sg_start", "--start", node])),
        }
    }
    pub(crate) fn look(&self) -> Seen {
        match self {
            Self::Command(programs) => asked(&programs.state, command_state),
            Self::Ata { node, .. } => asked(&words(["hdparm", "-C", node]), hdparm_state),
            Self::Scsi { node, .. } => {
                let sense = program::run(&words(["sg_requests", "--raw", node]));
                let sense = sense.and_then(|ran| ran.succeeded("sg_requests").map(|()| ran.out));
                match sense.map(|out| sense_state(&out)) {
                    Ok(Some(seen)) => seen,
                    Ok(None) => ready(&words(["sg_turs", node])),
                    Err(why) => Seen::Unknown(why),
                }
            }
        }
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn do_it(words: &[String]) -> Result<(), String> {
    let name = words.first().map_or("", String::as_str);
    program::run(words)?.succeeded(name)
}

/// What a program that prints a state says.
fn asked(words: &[String], read: impl Fn(&str) -> Seen) -> Seen {
    let name = words.first().map_or("", String::as_str);
    match program::run(words).and_then(|ran| ran.succeeded(name).map(|()| ran.out)) {
        Ok(out) => read(&String::from_utf8_lossy(&out)),
        Err(why) => Seen::Unknown(why),
    }
}

fn command_state(printed: &str) -> Seen {
    match printed.trim() {
        "awake" => Seen::Awake,
        "standby" => Seen::Standby,
        other => {
            let other: String = other.chars().filter(|c| !c.is_control()).take(60).collect();
            Seen::Unknown(format!("the program for the state printed \"{other}\", neither awake nor standby"))
        }
    }
}

/// TEST UNIT READY: sg3-utils ends with 0 if the unit is ready, 2 if it is not (sg3_utils(8)).
fn ready(words: &[String]) -> Seen {
    match program::run(words) {
        Ok(ran) if ran.status.success() => Seen::Awake,
        Ok(ran) if ran.status.code() == Some(2) => Seen::Standby,
        Ok(ran) => Seen::Unknown(ran.succeeded("sg_turs").err().unwrap_or_default()),
        Err(why) => Seen::Unknown(why),
    }
}
