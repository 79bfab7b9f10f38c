//! Finds the disks: their nodes, their counters, and what keeps the daemon from them.

use super::Failure;
use super::driver::{Driver, DriverSpec};
use super::lock::Lock;
use super::privileges::Needs;
use super::program;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A disk and how to talk to it.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceSpec {
    /// The driver.
    pub driver: DriverSpec,
    /// Its node; a link such as those in /dev/disk/by-id keeps its name over starts of the machine.
    pub device: Option<PathBuf>,
    /// Its counters. Left out: those in /sys.
    pub stat: Option<PathBuf>,
}

/// A disk that was found.
pub(crate) struct Found {
    pub(crate) driver: Option<Driver>,
    pub(crate) stat: Option<PathBuf>,
    pub(crate) inflight: Option<PathBuf>,
    pub(crate) lock: Option<Lock>,
}

/// Finds a disk, locks it, and says what its driver needs.
pub(crate) fn find(device: &DeviceSpec, needs: &mut Needs, warn: &dyn Fn(&str)) -> Result<Found, Failure> {
    if device.driver == DriverSpec::Simulated {
        return Ok(Found { driver: None, stat: None, inflight: None, lock: None });
    }
    let block = device.device.as_deref().map(block_device).transpose()?;
    let driver = match (&device.driver, &block) {
        (DriverSpec::Command(programs), _) => {
            needs.unknown = true;
            Driver::Command(programs.clone())
        }
        (DriverSpec::Ata, Some(block)) => {
            // What hdparm says of any other disk is not its state.
            let vendor = fs::read_to_string(block.sys.join("device/vendor")).unwrap_or_default();
            if vendor.trim() != "ATA" {
                let message = format!(
                    "{} is no ATA disk (vendor \"{}\"), and hdparm calls any other in standby: driver `scsi`",
                    block.node.display(),
                    vendor.trim()
                );
                return Err(Failure::Input(message));
            }
            needs.raw = true;
            needs.groups.push(block.group);
            let size = fs::read_to_string(block.sys.join("size")).ok().and_then(|size| size.trim().parse().ok());
            Driver::ata(&block.node, size.unwrap_or(1))
        }
        (DriverSpec::Scsi { stop }, Some(block)) => {
            let node = block.generic().unwrap_or_else(|| block.node.clone());
            needs.groups.extend(fs::metadata(&node).map(|node| node.gid()));
            if *stop && !block.restarts() {
                let message = format!(
                    "{}: a stopped disk answers reads with errors unless allow_restart is 1 in {}/device/scsi_disk/*: \
                     `echo 1 >` there, or leave `stop` out",
                    block.node.display(),
                    block.sys.display()
                );
                return Err(Failure::Input(message));
            }
            Driver::scsi(&node, *stop)
        }
        (DriverSpec::Ata | DriverSpec::Scsi { .. }, None) | (DriverSpec::Simulated, _) => {
            return Err(Failure::Input("its driver needs a `device`".to_owned()));
        }
    };
    let (programs, package) = driver.needs();
    if let Some(program) = programs.into_iter().find(|name| !program::is_there(name)) {
        return Err(Failure::Missing(format!("the program {program} is not there ({package})")));
    }
    if let Some(block) = &block {
        if fs::read_to_string(block.sys.join("queue/rotational")).is_ok_and(|text| text.trim() == "0") {
            warn("the kernel says that it has no motor");
        }
        if block.holds_root() {
            let message = format!("{} holds the root file system: it never rests for long", block.node.display());
            return Err(Failure::Input(message));
        }
    }
    let (stat, inflight) = match (&device.stat, &block) {
        (Some(stat), _) => (stat.clone(), None),
        (None, Some(block)) => (block.sys.join("stat"), Some(block.sys.join("inflight"))),
        (None, None) => return Err(Failure::Input("it needs a `device`, or a `stat` with its counters".to_owned())),
    };
    let lock = Lock::take(&stat).map_err(Failure::Input)?;
    Ok(Found { driver: Some(driver), stat: Some(stat), inflight, lock: Some(lock) })
}

/// A whole disk that the kernel knows.
struct Block {
    node: PathBuf,
    sys: PathBuf,
    group: u32,
}

fn block_device(path: &Path) -> Result<Block, Failure> {
    let shown = path.display();
    let node = fs::canonicalize(path).map_err(|error| Failure::Input(format!("{shown}: {error}")))?;
    let found = fs::metadata(&node).map_err(|error| Failure::Input(format!("{shown}: {error}")))?;
    if !found.file_type().is_block_device() {
        return Err(Failure::Input(format!("{shown} is no block device: a disk is like /dev/disk/by-id/ata-...")));
    }
    let number = rustix::fs::Dev::from(found.rdev());
    let sys = format!("/sys/dev/block/{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let sys = fs::canonicalize(&sys).map_err(|error| Failure::Input(format!("{sys}: {error}")))?;
    if sys.join("partition").exists() {
        return Err(Failure::Input(format!("{shown} is a partition: name the whole disk")));
    }
    Ok(Block { node, sys, group: found.gid() })
}

impl Block {
    /// The generic node of a SCSI disk. The block device's own, opened to write and closed, makes udev read the disk.
    fn generic(&self) -> Option<PathBuf> {
        let mut nodes = fs::read_dir(self.sys.join("device/scsi_generic")).ok()?;
        let node = Path::new("/dev").join(nodes.next()?.ok()?.file_name());
        node.exists().then_some(node)
    }
    /// Whether the kernel starts a stopped disk for a request.
    fn restarts(&self) -> bool {
        let Ok(mut found) = fs::read_dir(self.sys.join("device/scsi_disk")) else { return false };
        let restarts = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("allow_restart")).ok();
        found.any(|entry| entry.ok().and_then(restarts).is_some_and(|text| text.trim() == "1"))
    }
    /// Whether the root file system is mounted from it or from one of its partitions.
    fn holds_root(&self) -> bool {
        let Ok(mounts) = fs::read_to_string("/proc/self/mountinfo") else { return false };
        let root = mounts.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let device = words.nth(2)?;
            (words.nth(1)? == "/").then_some(device)
        });
        let root: Vec<&str> = root.collect();
        let is_root =
            |folder: &Path| fs::read_to_string(folder.join("dev")).is_ok_and(|device| root.contains(&device.trim()));
        let parts = fs::read_dir(&self.sys).into_iter().flatten().flatten();
        is_root(&self.sys) || parts.map(|entry| entry.path()).any(|part| is_root(&part))
    }
}
