//! Network namespaces.

use super::LinkError;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::fstat;
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use std::{fs, thread};

/// A network namespace. An unnamed one ends with this handle and the processes in it, so nothing is left even if this
/// process is killed.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    name: Option<String>,
}

/// Where `ip netns` keeps its names.
pub(super) const NAMES: &str = "/run/netns";
/// The namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";
/// Time for processes to end before they are killed.
const GRACE: Duration = Duration::from_secs(1);

impl Namespace {
    /// A new unnamed namespace.
    pub(crate) fn create() -> Result<Self, LinkError> {
        let made = on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open(OWN)
        });
        match made {
            Ok(file) => Ok(Self { file, name: None }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(LinkError::Missing {
                capability: "CAP_SYS_ADMIN",
                reason: "this user may not make network namespaces; be root, or root of a user namespace (unshare -Ur)"
                    .to_owned(),
            }),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(LinkError::Missing { capability: "network namespaces", reason: error.to_string() })
            }
            Err(error) => Err(LinkError::system("make a network namespace")(error)),
        }
    }

    /// The calling thread's namespace.
    pub(crate) fn of_thread() -> Result<Self, LinkError> {
        let file = File::open(OWN).map_err(LinkError::system("open this network namespace"))?;
        Ok(Self { file, name: None })
    }

    /// A namespace made by `ip netns`.
    pub(super) fn open(name: &str) -> Result<Self, LinkError> {
        let file = File::open(Path::new(NAMES).join(name));
        let file = file.map_err(LinkError::system(format!("open the network namespace {name}")))?;
        Ok(Self { file, name: Some(name.to_owned()) })
    }

    /// The unnamed namespace of a file.
    pub(super) const fn of_file(file: File) -> Self {
        Self { file, name: None }
    }

    /// The descriptor that holds it.
    pub(super) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The name in `ip netns`, if there is one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// A path by which other programs enter it (`nsenter --net=PATH`) while this process holds it.
    pub fn path(&self) -> PathBuf {
        match &self.name {
            Some(name) => Path::new(NAMES).join(name),
            None => PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())),
        }
    }

    /// Moves the calling thread into the namespace for good. For a runtime's threads as they start: a socket is made in
    /// its thread's namespace.
    pub fn enter(&self) -> io::Result<()> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
    }

    /// Runs `work` on a thread inside the namespace.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_thread(|| {
            self.enter()?;
            Ok(work())
        })
    }

    /// Starts a program inside the namespace.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        self.within(|| command.spawn())?
    }

    /// The processes in the namespace, except this one.
    pub fn processes(&self) -> io::Result<Vec<u32>> {
        let own = fstat(&self.file)?;
        let is_in = |pid: &u32| {
            fs::metadata(format!("/proc/{pid}/ns/net")).is_ok_and(|at| (at.dev(), at.ino()) == (own.st_dev, own.st_ino))
        };
        let pids = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Ok(pids.filter(|pid| *pid != std::process::id()).filter(is_in).collect())
    }

    /// The inode number, which identifies the namespace behind a name.
    pub(crate) fn inode(&self) -> io::Result<u64> {
        Ok(fstat(&self.file)?.st_ino)
    }

    /// Ends the processes in the namespace: SIGTERM, and SIGKILL after a second.
    pub(crate) fn end_processes(&self) {
        let signal = |signal: Signal| {
            let pids = self.processes().unwrap_or_default();
            for pid in &pids {
                // A process that is already gone is no error.
                let _ = kill(Pid::from_raw(*pid as i32), signal);
            }
            pids.is_empty()
        };
        if signal(Signal::SIGTERM) {
            return;
        }
        for _ in 0..50 {
            thread::sleep(GRACE / 50);
            if self.processes().is_ok_and(|pids| pids.is_empty()) {
                return;
            }
        }
        signal(Signal::SIGKILL);
    }
}

/// Runs `work` on a thread of its own. A thread enters a namespace for good; the caller's stays where it is.
pub(super) fn on_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
