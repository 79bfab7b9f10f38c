//! Control groups: how nft finds one, and the group of programs that root's `jet run` starts.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::DoorError;
use super::life::{self, Life};
use crate::handover::Inherited;

/// A control group as `socket cgroupv2` wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlGroup {
    /// The path from `/sys/fs/cgroup`, where nft looks.
    pub path: String,
    /// Depth of the group in its hierarchy.
    pub level: usize,
}

/// Finds a control group by its path from the root of the hierarchy.
pub fn locate(path: &str) -> Result<ControlGroup, DoorError> {
    let (group, folder) = find(path)?;
    if group.level == 0 {
        return Err(DoorError::Redirection("the root of all control groups is every program: say local".to_owned()));
    }
    if !folder.is_dir() {
        return Err(DoorError::Redirection(format!(
            "there is no control group {path}: {} is missing",
            folder.display()
        )));
    }
    Ok(group)
}

/// A control group as nft names it, and its folder, whether that exists or not.
fn find(path: &str) -> Result<(ControlGroup, PathBuf), DoorError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let group = within(&mounts, path).ok_or_else(|| DoorError::Capability {
        what: "a redirection by control group",
        needs: "control groups of version 2 below /sys/fs/cgroup",
        cause: "none is mounted".to_owned(),
    })?;
    let folder = Path::new(ROOT).join(&group.path);
    Ok((group, folder))
}

const ROOT: &str = "/sys/fs/cgroup";

/// The control group of programs that `jet run` starts.
const LAUNCHED: &str = "/trunkline-jet";
/// Held by the gateway that redirects the group's connections.
const LAUNCHED_LIFE: &str = "run";

/// The group of `jet run`. Dropping it removes the group, unless a program is in it or a successor uses it.
#[derive(Debug)]
pub struct Launched {
    pub group: ControlGroup,
    folder: Option<PathBuf>,
    life: Life,
}

impl Launched {
    /// The hold on the group, if it was inherited.
    pub fn inherited(inherited: &Inherited) -> Option<Life> {
        Life::inherit(LAUNCHED_LIFE, inherited)
    }
    /// The socket that marks the group as in use, for a successor.
    pub fn life(&self) -> Option<OwnedFd> {
        self.life.share()
    }
    pub fn leave(&mut self) {
        self.folder = None;
    }
    pub fn create(life: Option<Life>) -> Result<Self, DoorError> {
        let taken = || DoorError::Redirection("another gateway redirects the programs that jet run starts".to_owned());
        let life = life.or_else(|| Life::hold(LAUNCHED_LIFE)).ok_or_else(taken)?;
        let (group, folder) = find(LAUNCHED)?;
        match fs::create_dir(&folder) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
                let cause = format!("{}: {cause}", folder.display());
                Err(DoorError::Capability {
                    what: "a redirection of what jet run starts",
                    needs: "the right to make a control group",
                    cause,
                })
            }
            _ => Ok(Self { group, folder: Some(folder), life }),
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Puts this process into the group whose connections the kernel redirects, if there is one and it may.
pub fn join_launched() -> bool {
    let join = || fs::write(find(LAUNCHED).ok()?.1.join("cgroup.procs"), "0").ok();
    life::is_held(LAUNCHED_LIFE) && join().is_some()
}

/// The place where systemd mounts the hierarchy differs: at the root, or in `unified` beside version 1's.
fn within(mounts: &str, path: &str) -> Option<ControlGroup> {
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (mount, kind) = (fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| mount.strip_prefix(ROOT))?
    })?;
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    let whole: Vec<_> = mount.split('/').filter(|part| !part.is_empty()).chain(parts.iter().copied()).collect();
    Some(ControlGroup { path: whole.join("/"), level: parts.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_places_of_the_hierarchy() {
        let unified = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        let hybrid = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let found = |mounts| within(mounts, "/system.slice/a.service").map(|group| (group.path, group.level));
        assert_eq!(found(unified), Some(("system.slice/a.service".to_owned(), 2)));
        assert_eq!(found(hybrid), Some(("unified/system.slice/a.service".to_owned(), 2)));
        assert_eq!(found("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"), None);
    }
}
