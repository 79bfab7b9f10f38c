//! Where nft finds a control group.

use std::fs;
use std::path::Path;

use super::DoorError;

/// A control group as `socket cgroupv2` wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlGroup {
    /// From `/sys/fs/cgroup`, where nft looks.
    pub path: String,
    /// How deep it is in its own hierarchy.
    pub level: usize,
}

/// Finds a control group by its path from the root of the hierarchy.
pub fn locate(path: &str) -> Result<ControlGroup, DoorError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let group = within(&mounts, path).ok_or_else(|| DoorError::Capability {
        what: "a redirection by control group",
        needs: "control groups of version 2 below /sys/fs/cgroup",
        cause: "none is mounted".to_owned(),
    })?;
    if group.level == 0 {
        return Err(DoorError::Redirection("the root of all control groups is every program: say local".to_owned()));
    }
    let folder = Path::new(ROOT).join(&group.path);
    if !folder.is_dir() {
        return Err(DoorError::Redirection(format!(
            "there is no control group {path}: {} is missing",
            folder.display()
        )));
    }
    Ok(group)
}

const ROOT: &str = "/sys/fs/cgroup";

/// Where systemd mounts the hierarchy differs: at the root, or in `unified` beside those of version 1.
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
