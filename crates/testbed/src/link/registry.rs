//! Named links. Their namespaces can be entered from anywhere and outlast a killed emulator. So each link has a record
//! on disk, by which it is shown, taken down, and cleaned up.

use super::namespace::{NAMES, Namespace};
use super::pair::Addresses;
use super::path::check_name;
use super::{LinkError, Pair, Path, check, setup};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File};
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::thread;
use std::time::Duration;

/// The folder of records.
#[derive(Clone, Debug)]
pub struct Registry {
    folder: PathBuf,
}

/// The record of a link on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The name of the link.
    pub name: String,
    /// The process that emulates the link.
    pub pid: u32,
    /// Start time of the process in clock ticks since boot, because process numbers are reused.
    started: u64,
    /// The namespaces made for the link: near, far.
    namespaces: Vec<OwnNamespace>,
    /// The paths of the link.
    pub paths: Vec<PathRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OwnNamespace {
    name: String,
    /// The namespace's inode; `None` before it is made.
    inode: Option<u64>,
}

/// The record of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PathRecord {
    /// The name of the path and of its interfaces.
    pub name: String,
    /// The addresses of its ends.
    #[serde(flatten)]
    pub addresses: Addresses,
}

/// A link that is up. Dropping it takes it down.
#[derive(Debug)]
pub struct Link {
    /// The namespaces and paths.
    pub pair: Pair,
    /// The record of the link.
    pub record: Record,
    registry: Registry,
}

/// Time for an emulator to take its link down after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

impl Registry {
    /// The user's registry: below /run for root, else in `XDG_RUNTIME_DIR`.
    pub fn of_user() -> Result<Self, LinkError> {
        if Uid::effective().is_root() {
            return Ok(Self::at("/run/trunkline/links"));
        }
        match std::env::var_os("XDG_RUNTIME_DIR") {
            Some(folder) => Ok(Self::at(PathBuf::from(folder).join("trunkline/links"))),
            None => Err(LinkError::Missing {
                capability: "a run directory",
                reason: "named links are recorded in XDG_RUNTIME_DIR, which is not set".to_owned(),
            }),
        }
    }

    /// The registry in a given folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Makes two namespaces, NAME-near and NAME-far in `ip netns`, and paths between them. First cleans up after killed
    /// emulators.
    pub fn up(&self, name: &str, paths: &[Path], seed: u64) -> Result<Link, LinkError> {
        check_name("link", name)?;
        check(paths)?;
        let _lock = self.lock()?;
        self.clean()?;
        if self.read(name)?.is_some() {
            return Err(LinkError::Input(format!(
                "a link named {name} is up: take it down first, or choose another name"
            )));
        }
        let names = ["near", "far"].map(|side| format!("{name}-{side}"));
        if let Some(taken) = names.iter().find(|name| FilePath::new(NAMES).join(name).exists()) {
            return Err(LinkError::Input(format!(
                "a network namespace named {taken} exists, and is not of a link: choose another name"
            )));
        }
        let path =
            |(index, path): (usize, &Path)| PathRecord { name: path.name.clone(), addresses: Addresses::of(index) };
        let mut record = Record {
            name: name.to_owned(),
            pid: std::process::id(),
            started: started(std::process::id()).unwrap_or(0),
            namespaces: names.into_iter().map(|name| OwnNamespace { name, inode: None }).collect(),
            paths: paths.iter().enumerate().map(path).collect(),
        };
        // The record is written first: nothing is made that is not on record.
        self.write(&record)?;
        let pair = self.make(&mut record, paths, seed);
        match pair {
            Ok(pair) => Ok(Link { pair, record, registry: self.clone() }),
            Err(error) => {
                // The first error is the one to report.
                let _ = self.forget(&record);
                Err(error)
            }
        }
    }

    fn make(&self, record: &mut Record, paths: &[Path], seed: u64) -> Result<Pair, LinkError> {
        let mut made = Vec::new();
        for own in &mut record.namespaces {
            // This attempt gives a clear error; `ip netns` gives none.
            drop(Namespace::create()?);
            setup::ip("make a network namespace", &["netns", "add", &own.name])?;
            let namespace = Namespace::open(&own.name)?;
            own.inode = Some(namespace.inode().map_err(LinkError::system("look at a network namespace"))?);
            made.push(namespace);
        }
        self.write(record)?;
        let [near, far] = made.try_into().map_err(|_| LinkError::Input("a link has two ends".to_owned()))?;
        Pair::between(near, far, paths, seed)
    }

    /// All recorded links whose emulator runs, by name.
    pub fn links(&self) -> Result<Vec<Record>, LinkError> {
        Ok(self.records()?.into_iter().filter(Record::is_running).collect())
    }

    /// The last report published by a link's emulator.
    pub fn report(&self, name: &str) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.file(name, "report")).ok()?).ok()
    }

    /// Takes a link down; true if its emulator still ran. A link without a record is an error.
    pub fn down(&self, name: &str) -> Result<bool, LinkError> {
        check_name("link", name)?;
        let _lock = self.lock()?;
        let Some(record) = self.read(name)? else {
            let links = self.links()?;
            let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            let up = if names.is_empty() { "none is up".to_owned() } else { format!("up: {}", names.join(", ")) };
            return Err(LinkError::Input(format!("there is no link named {name} ({up})")));
        };
        let ran = record.is_running();
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            for _ in 0..100 {
                if !record.is_running() {
                    break;
                }
                // A process that has just ended needs no signal.
                let _ = kill(Pid::from_raw(record.pid as i32), signal);
                thread::sleep(GRACE / 100);
            }
        }
        self.forget(&record)?;
        Ok(ran)
    }

    /// Removes links whose emulator is gone.
    fn clean(&self) -> Result<(), LinkError> {
        self.records()?.iter().filter(|record| !record.is_running()).try_for_each(|record| self.forget(record))
    }

    /// Removes a link's record, and its namespaces if they are still those made for it.
    fn forget(&self, record: &Record) -> Result<(), LinkError> {
        for own in &record.namespaces {
            let Ok(namespace) = Namespace::open(&own.name) else { continue };
            if own.inode.is_none_or(|inode| namespace.inode().is_ok_and(|found| found == inode)) {
                setup::ip("remove a network namespace", &["netns", "delete", &own.name])?;
            }
        }
        for kind in ["partial", "report", "link"] {
            match fs::remove_file(self.file(&record.name, kind)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(LinkError::system("remove a link's record")(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn records(&self) -> Result<Vec<Record>, LinkError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(LinkError::system(format!("read {}", self.folder.display())))?,
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".link.json")?.to_owned()))
            .collect();
        names.sort_unstable();
        Ok(names.iter().map(|name| self.read(name)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn read(&self, name: &str) -> Result<Option<Record>, LinkError> {
        let file = self.file(name, "link");
        match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LinkError::system(format!("read {}", file.display()))(error)),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| LinkError::Input(format!("{} is not a record of a link: {error}", file.display()))),
        }
    }

    fn write(&self, record: &Record) -> Result<(), LinkError> {
        let json = serde_json::to_value(record).map_err(|error| LinkError::system("write a record")(error.into()))?;
        self.write_whole(&record.name, "link", &json)
            .map_err(LinkError::system(format!("write a record in {}", self.folder.display())))
    }

    /// Writes a file elsewhere and renames it into place: readers see all of it or nothing.
    fn write_whole(&self, name: &str, kind: &str, json: &Value) -> io::Result<()> {
        let (file, partial) = (self.file(name, kind), self.file(name, "partial"));
        fs::write(&partial, format!("{json:#}\n"))?;
        fs::rename(partial, file)
    }

    fn file(&self, name: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{name}.{kind}.json"))
    }

    /// Serialises the making and removal of links.
    fn lock(&self) -> Result<Flock<File>, LinkError> {
        let folder = || format!("use {} for records of links", self.folder.display());
        fs::create_dir_all(&self.folder).map_err(LinkError::system(folder()))?;
        let file = File::create(self.folder.join("lock")).map_err(LinkError::system(folder()))?;
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| LinkError::system(folder())(error.into()))
    }
}

impl Record {
    /// Whether the process that emulates the link runs.
    fn is_running(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// The names of the link's namespaces: near, far.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(|own| own.name.as_str())
    }

    /// Processes in the link's namespaces. They lose their network when the link goes down.
    pub fn processes(&self) -> Vec<u32> {
        let namespaces = self.namespaces().filter_map(|name| Namespace::open(name).ok());
        namespaces
            .flat_map(|namespace| namespace.processes().unwrap_or_default())
            .filter(|pid| *pid != self.pid)
            .collect()
    }
}

impl Link {
    /// Publishes the paths' report, for `testbed link status`.
    pub fn publish(&self) -> io::Result<()> {
        self.registry.write_whole(&self.record.name, "report", &self.pair.report()?.to_json())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // What cannot be removed now stays on record, and is cleaned up when the next link is made.
        let _ = self.registry.forget(&self.record);
    }
}

/// The start time of a running process: field 22 of its `stat`, counted from the end of the name, which may hold
/// anything. A zombie has ended.
pub(crate) fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}
