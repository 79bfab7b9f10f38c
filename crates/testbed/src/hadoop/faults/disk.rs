//! Disks of nodes' own: a loop device with a file system of a size for a node's folder, which the kernel can throttle.
//!
//! Version 1 of the kernel's control groups limits the bytes per second of a device for the processes of a group, and
//! for the kernel's own writing back in the root group. So the cluster is put into the root group and the limit is set
//! there. A mount within the cluster's own namespace holds the loop device: when the namespace ends, however it does,
//! the kernel lets the device go. A limit outlives it, so it is on record, in a file, before it is set.

use crate::hadoop::HadoopError;
use crate::hadoop::layout::{Layout, Owner};
use nix::sys::stat::{major, minor, stat};
use nix::unistd::chown;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::Bytes;

/// A disk of its own.
#[derive(Debug)]
pub struct Disk {
    /// The loop device: "major:minor".
    device: String,
    /// Where its rates are limited, if it can be slow.
    group: Option<PathBuf>,
}

/// How a node's folder becomes a disk: the largest file of a disk, and a file system with few inodes.
pub const LARGEST: Bytes = Bytes::from_mib(64 << 10);
const BYTES_PER_INODE: u32 = 1 << 18;
/// The limits: bytes read and written per second.
const LIMITS: [&str; 2] = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];
/// The files in a cluster's folder: the disks, and the limits that may be set.
const FOLDER: &str = "disks";
const RECORD: &str = "throttles.json";

impl Disk {
    /// Lays a disk under the folder of a node, which is empty. It is of a size, or as large as what is free. Its file
    /// takes the room of what is written.
    pub fn under(folder: &Path, size: Option<Bytes>, layout: &Layout, owner: &Owner) -> Result<Self, HadoopError> {
        let what = || format!("make a disk for {}", folder.display());
        let disks = layout.folder.join(FOLDER);
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let image = disks.join(format!("{name}.img"));
        let free = free_of(&layout.folder).map_err(HadoopError::system(what()))?;
        fs::create_dir_all(&disks)
            .and_then(|()| File::create(&image)?.set_len(size.unwrap_or(free).min(LARGEST).get()))
            .map_err(HadoopError::system(what()))?;
        let inodes = BYTES_PER_INODE.to_string();
        let options = ["-q", "-F", "-m", "0", "-i", &inodes, "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"];
        run(Command::new("mkfs.ext4").args(options).arg(&image), &what())?;
        run(Command::new("mount").args(["-o", "loop,noatime"]).arg(&image).arg(folder), &what())?;
        let made = chown(folder, Some(owner.uid), Some(owner.gid)).map_err(io::Error::from);
        made.map_err(HadoopError::system(what()))?;
        let device = stat(folder).map_err(io::Error::from).map_err(HadoopError::system(what()))?.st_dev;
        Ok(Self { device: format!("{}:{}", major(device), minor(device)), group: None })
    }

    /// From now on it can be made slow.
    pub fn can_be_slow(&mut self) -> Result<(), HadoopError> {
        let group = throttle_group().ok_or_else(missing)?;
        // Whatever group this process was in: what it starts from now on is in the root group.
        fs::write(group.join("cgroup.procs"), std::process::id().to_string())
            .map_err(HadoopError::system(format!("limit the rates of the disk {}", self.device)))?;
        self.group = Some(group);
        Ok(())
    }

    /// Lets it read and write so many bytes a second.
    pub fn slow(&self, layout: &Layout, [read, write]: [u64; 2]) -> Result<(), HadoopError> {
        let group = self.group.as_ref().ok_or_else(missing)?;
        let mut all = recorded(&layout.folder);
        let entry = [group.display().to_string(), self.device.clone()];
        if !all.contains(&entry) {
            all.push(entry);
            let text = serde_json::to_string(&all).unwrap_or_default();
            fs::write(layout.folder.join(RECORD), text).map_err(HadoopError::system("write the record of limits"))?;
        }
        for (limit, rate) in LIMITS.iter().zip([read, write]) {
            fs::write(group.join(limit), format!("{} {}", self.device, rate.max(1)))
                .map_err(HadoopError::system(format!("slow down the disk {}", self.device)))?;
        }
        Ok(())
    }

    /// As fast as it is.
    pub fn restore(&self) -> Result<(), HadoopError> {
        let Some(group) = &self.group else { return Ok(()) };
        unlimited(group, &self.device).map_err(HadoopError::system(format!("restore the disk {}", self.device)))
    }
}

/// What disks of nodes' own need of this machine and do not find.
pub fn lacking() -> Option<HadoopError> {
    if !Path::new("/dev/loop-control").exists() {
        return Some(HadoopError::missing(
            "loop devices",
            "a node's own disk is a file as a device: there is no /dev/loop-control",
        ));
    }
    let programs = [("mkfs.ext4", "e2fsprogs"), ("mount", "mount")];
    let absent = programs.into_iter().find(|(program, _)| crate::link::program(program).is_none());
    absent.map(|(program, package)| HadoopError::missing(program, format!("apt-get install {package}")))
}

/// What slow disks need beside that and do not find.
pub fn lacking_for_slow() -> Option<HadoopError> {
    throttle_group().is_none().then(missing)
}

/// Removes the limits that a cluster has set and not removed.
pub fn clear(folder: &Path) {
    for [group, device] in recorded(folder) {
        // A device that is gone has taken its limit along.
        let _ = unlimited(Path::new(&group), &device);
    }
}

/// The loop devices whose files lie below a folder. The kernel lets one go a moment after the last process of the
/// namespace that has mounted it.
pub fn disks_held_below(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut held: Vec<String> = devices
        .filter(|device| {
            let file = fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default();
            Path::new(file.trim_end()).starts_with(&folder)
        })
        .map(|device| device.file_name().to_string_lossy().into_owned())
        .collect();
    held.sort();
    held
}

fn missing() -> HadoopError {
    HadoopError::missing(
        "a limit of disks' rates",
        "slow disks are made by blkio.throttle of control groups version 1, mounted (mount -t cgroup -o blkio); leave \
         the fault out, or simulate it",
    )
}

fn unlimited(group: &Path, device: &str) -> io::Result<()> {
    LIMITS.iter().try_for_each(|limit| fs::write(group.join(limit), format!("{device} 0")))
}

fn recorded(folder: &Path) -> Vec<[String; 2]> {
    let text = fs::read(folder.join(RECORD)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The root group of the controller of block devices, if it can limit rates there.
fn throttle_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    blkio(&mounts).filter(|group| LIMITS.iter().all(|limit| group.join(limit).exists()))
}

/// Where the controller `blkio` of version 1 is mounted.
fn blkio(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, place, "cgroup", options, ..] = fields.as_slice() else { return None };
        options.split(',').any(|option| option == "blkio").then(|| PathBuf::from(place))
    })
}

fn free_of(folder: &Path) -> io::Result<Bytes> {
    let room = nix::sys::statvfs::statvfs(folder)?;
    Ok(Bytes::new(room.blocks_available() as u64 * room.fragment_size() as u64))
}

/// Runs a program to its end.
fn run(command: &mut Command, what: &str) -> Result<(), HadoopError> {
    let output = command.stdin(Stdio::null()).output().map_err(HadoopError::system(what))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(HadoopError::system(what)(io::Error::other(said)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_is_found_where_it_is_mounted() {
        let mounts = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
            cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(blkio(mounts), Some("/sys/fs/cgroup/blkio".into()));
        assert_eq!(blkio("cgroup2 /sys/fs/cgroup cgroup2 rw,relatime 0 0\n"), None);
    }

    #[test]
    fn limits_that_are_on_record_are_found_and_others_do_no_harm() {
        let folder = std::env::temp_dir().join(format!("trunkline-limits-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        assert!(recorded(&folder).is_empty());
        fs::write(folder.join(RECORD), "[[\"/absent\",\"7:3\"]]").expect("written");
        assert_eq!(recorded(&folder), [["/absent".to_owned(), "7:3".to_owned()]]);
        clear(&folder);
        fs::write(folder.join(RECORD), "{").expect("written");
        clear(&folder);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
