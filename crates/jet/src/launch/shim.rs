//! The library to be preloaded, as a file.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;
use rustix::process;

use super::LaunchError;

/// `shim/connect.c`, built for this machine.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/connect.so"));

/// Writes the library where the program and its children find it while they live. All programs share one file.
pub fn install() -> Result<PathBuf, LaunchError> {
    let mut failed = None;
    for folder in folders() {
        let path = folder.join(concat!("trunkline-connect-", env!("CARGO_PKG_VERSION"), ".so"));
        if path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
            failed = Some(LaunchError::Path(path));
            continue;
        }
        match write(&folder, &path) {
            Ok(()) => return Ok(path),
            Err(cause) => failed = Some(LaunchError::Library { path, cause }),
        }
    }
    Err(failed.unwrap_or_else(|| LaunchError::Path(PathBuf::new())))
}

/// Folders that only this user may write, the best first. Not below `/run`, which Debian mounts `noexec`.
fn folders() -> Vec<PathBuf> {
    let set = |name| env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    // The cache directory of a systemd service (systemd.exec(5)).
    if let Some(folder) = set("CACHE_DIRECTORY") {
        return vec![folder];
    }
    let user = process::geteuid();
    // Root's folder is readable for all: its programs can drop their rights and start others.
    let cache = match set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))) {
        _ if user.is_root() => Some(PathBuf::from("/var/cache")),
        cache => cache,
    };
    let cache = cache.map(|cache| cache.join("trunkline"));
    cache.into_iter().chain([env::temp_dir().join(format!("trunkline-{}", user.as_raw()))]).collect()
}

fn write(folder: &Path, path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o755).recursive(true).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let owned = fs::symlink_metadata(folder)?;
    if !owned.is_dir() || owned.uid() != process::geteuid().as_raw() || owned.mode() & 0o022 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder is not this user's alone"));
    }
    if rustix::fs::statvfs(folder)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "its file system lets nothing be executed (noexec)",
        ));
    }
    if fs::read(path).is_ok_and(|there| there == LIBRARY) {
        return Ok(());
    }
    // Written under another name first: a program that starts now finds the old one or the new one, never half of it.
    let fresh = path.with_extension(std::process::id().to_string());
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(&fresh)?;
    file.write_all(LIBRARY)?;
    drop(file);
    fs::rename(&fresh, path)
}
