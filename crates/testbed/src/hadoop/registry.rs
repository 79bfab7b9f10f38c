//! Records of clusters on disk, by which they are shown, taken down, and cleaned up.
//!
//! A cluster's processes lie in a namespace of processes. Its first one, the supervisor, holds networks and mounts:
//! when the supervisor is gone, however it ended, the kernel has ended the others. What is left then is a folder and
//! a record.

use super::HadoopError;
use super::faults;
use super::layout::Layout;
use crate::link::{Clock, is_name, start_of};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use units::Time;

/// The folder of records.
#[derive(Clone, Debug)]
pub struct Registry {
    folder: PathBuf,
}

/// A cluster on record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The process that starts it, and what holds its namespaces once that runs.
    pub launcher: Process,
    /// The first process of its namespace; none before it runs.
    pub supervisor: Option<Process>,
}

/// A process: its number, and its start in clock ticks since boot, because numbers are reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Process {
    /// The number.
    pub pid: u32,
    start: u64,
}

/// How long a supervisor has to stop its daemons after SIGTERM.
const GRACE: Time = Time::from_secs(20);
const LOOK: Duration = Duration::from_millis(20);
/// How many looks a loop device has to be let go of: 20 s.
const LOOKS: u32 = 1_000;

impl Process {
    /// A process that runs.
    pub fn of(pid: u32) -> Option<Self> {
        start_of(pid).map(|start| Self { pid, start })
    }
    /// Whether it still runs.
    pub fn is_running(&self) -> bool {
        start_of(self.pid) == Some(self.start)
    }
    /// Sends it a signal, if it still runs.
    pub fn signal(&self, signal: Signal) {
        if self.is_running() {
            // One that has just ended needs no signal.
            let _ = kill(Pid::from_raw(self.pid as i32), signal);
        }
    }
    /// Waits for its end; whether it has come.
    fn ends_within(&self, time: Time) -> bool {
        let clock = Clock::start();
        while self.is_running() {
            if clock.now() > time {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }
}

impl Record {
    /// Whether the cluster is up, or is being started.
    pub fn is_alive(&self) -> bool {
        self.supervisor.as_ref().map_or_else(|| self.launcher.is_running(), Process::is_running)
    }
}

impl Registry {
    /// That of root.
    pub fn of_root() -> Self {
        Self::at("/run/trunkline/hadoop")
    }
    /// The registry in a given folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Puts a cluster that this process is about to start on record. First cleans up after those that have ended.
    pub fn enter(&self, name: &str, folder: PathBuf) -> Result<Record, HadoopError> {
        check_name(name)?;
        let _lock = self.lock()?;
        for record in self.records()? {
            if !record.is_alive() {
                self.remove(&record)?;
            } else if record.name == name {
                let message = format!("a cluster named {name} is up: take it down first, or choose another --name");
                return Err(HadoopError::Input(message));
            }
        }
        if folder.exists() {
            let message = format!("{} exists, and is not of a cluster on record: remove it", folder.display());
            return Err(HadoopError::Input(message));
        }
        let launcher = Process::of(std::process::id());
        let launcher =
            launcher.ok_or_else(|| HadoopError::system("look at this process")(io::ErrorKind::Other.into()))?;
        let record = Record { name: name.to_owned(), folder, launcher, supervisor: None };
        self.write(&record)?;
        Ok(record)
    }

    /// Writes a record anew.
    pub fn write(&self, record: &Record) -> Result<(), HadoopError> {
        let writing = || HadoopError::system(format!("write a record in {}", self.folder.display()));
        let text = serde_json::to_string_pretty(record).map_err(|error| writing()(error.into()))?;
        let (file, partial) = (self.file(&record.name), self.folder.join(format!("{}.partial", record.name)));
        fs::write(&partial, text).and_then(|()| fs::rename(&partial, file)).map_err(writing())
    }

    /// All clusters on record, by name.
    pub fn records(&self) -> Result<Vec<Record>, HadoopError> {
        let reading = || HadoopError::system(format!("read {}", self.folder.display()));
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(reading())?,
        };
        let mut records: Vec<Record> = Vec::new();
        for entry in entries.flatten() {
            if entry.path().extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let text = fs::read(entry.path()).map_err(reading())?;
            records.push(serde_json::from_slice(&text).map_err(|error| {
                HadoopError::Input(format!("{} is not a record of a cluster: {error}", entry.path().display()))
            })?);
        }
        records.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(records)
    }

    /// The record of a cluster.
    pub fn find(&self, name: &str) -> Result<Record, HadoopError> {
        let records = self.records()?;
        let names: Vec<&str> = records.iter().map(|record| record.name.as_str()).collect();
        let up = if names.is_empty() { "none is up".to_owned() } else { format!("up: {}", names.join(", ")) };
        let found = records.iter().find(|record| record.name == name).cloned();
        found.ok_or_else(|| HadoopError::Input(format!("there is no cluster named {name} ({up})")))
    }

    /// Takes a cluster down, and removes all that is left of it. Whether it was still up.
    pub fn down(&self, name: &str) -> Result<bool, HadoopError> {
        let record = self.find(name)?;
        let was_alive = record.is_alive();
        if let Some(supervisor) = record.supervisor {
            supervisor.signal(Signal::SIGTERM);
            if !supervisor.ends_within(GRACE) {
                supervisor.signal(Signal::SIGKILL);
                supervisor.ends_within(GRACE);
            }
        } else {
            record.launcher.signal(Signal::SIGTERM);
            record.launcher.ends_within(GRACE);
        }
        let _lock = self.lock()?;
        self.remove(&record)?;
        Ok(was_alive)
    }

    /// Removes what is left of a cluster that has ended: its folder, its record.
    pub fn remove(&self, record: &Record) -> Result<(), HadoopError> {
        let removing = || HadoopError::system(format!("remove {}", record.folder.display()));
        if Layout::is_ours(&record.folder) {
            faults::clear(&record.folder);
            wait_for_disks(&record.folder)?;
            // Processes that the kernel has just ended may have had files open: a folder can be filled once more.
            for _ in 0..50 {
                match fs::remove_dir_all(&record.folder) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => thread::sleep(LOOK),
                    other => other.map_err(removing())?,
                }
            }
        }
        match fs::remove_file(self.file(&record.name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(removing()(error)),
            _ => Ok(()),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    fn lock(&self) -> Result<Flock<File>, HadoopError> {
        let using = || HadoopError::system(format!("use {} for records of clusters", self.folder.display()));
        fs::create_dir_all(&self.folder).map_err(using())?;
        let file = File::create(self.folder.join("lock")).map_err(using())?;
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| using()(error.into()))
    }
}

/// Until no loop device holds a file of this folder, so that none outlives its cluster.
fn wait_for_disks(folder: &Path) -> Result<(), HadoopError> {
    let mut held = faults::disks_held_below(folder);
    for _ in 0..LOOKS {
        if held.is_empty() {
            return Ok(());
        }
        thread::sleep(LOOK);
        held = faults::disks_held_below(folder);
    }
    let what = format!("let go of {} in {}", held.join(", "), folder.display());
    Err(HadoopError::system(what)(io::Error::other("the kernel still holds it; `losetup -a` and `mount` say for whom")))
}

fn check_name(name: &str) -> Result<(), HadoopError> {
    if is_name(name) {
        return Ok(());
    }
    Err(HadoopError::Input(format!(
        "`{name}` cannot name a cluster: a name begins with a letter and has at most 15 of a-z, 0-9 and -"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_launcher_has_left_is_removed_by_the_next() {
        let scratch = std::env::temp_dir().join(format!("trunkline-clusters-{}", std::process::id()));
        let registry = Registry::at(scratch.join("records"));
        let folder = Layout::folder_of(&scratch, "one");
        let mut record = registry.enter("one", folder.clone()).expect("entered");
        let error = registry.enter("one", folder.clone()).expect_err("it is being started").to_string();
        assert!(error.contains("a cluster named one is up"), "{error}");
        fs::create_dir_all(folder.join("nodes/worker-1")).expect("made");
        // As if this process had another start: the number is another's now.
        record.launcher.start += 1;
        registry.write(&record).expect("written");
        let other = registry.enter("two", Layout::folder_of(&scratch, "two")).expect("entered");
        assert!(!folder.exists(), "the folder of a dead launcher");
        assert_eq!(registry.records().expect("read"), std::slice::from_ref(&other));
        registry.remove(&other).expect("removed");
        assert!(registry.down("two").is_err(), "not on record any more");
        fs::remove_dir_all(&scratch).expect("removed");
    }

    #[test]
    fn a_folder_of_nobody_s_is_not_taken() {
        let scratch = std::env::temp_dir().join(format!("trunkline-clusters-own-{}", std::process::id()));
        let registry = Registry::at(scratch.join("records"));
        let folder = Layout::folder_of(&scratch, "one");
        fs::create_dir_all(&folder).expect("made");
        assert!(matches!(registry.enter("one", folder.clone()), Err(HadoopError::Input(_))));
        assert!(matches!(registry.enter("../one", folder.clone()), Err(HadoopError::Input(_))));
        assert!(folder.exists());
        fs::remove_dir_all(&scratch).expect("removed");
    }
}
