//! The library to be preloaded, as a file.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::process;

use super::LaunchError;

/// `shim/connect.c`, built for this machine.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/connect.so"));

/// Writes the library where the program and its children find it as long as they live. Every program has the same file.
pub fn install() -> Result<PathBuf, LaunchError> {
    let folder = folder();
    let path = folder.join(concat!("trunkline-connect-", env!("CARGO_PKG_VERSION"), ".so"));
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.iter().any(|byte| matches!(byte, b' ' | b':')) {
        return Err(LaunchError::Path(path));
    }
    write(&folder, &path).map_err(|cause| LaunchError::Library { path: path.clone(), cause })?;
    Ok(path)
}

/// A folder that is this user's alone to write.
fn folder() -> PathBuf {
    let user = process::geteuid();
    if user.is_root() {
        return "/run/trunkline".into();
    }
    match env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => Path::new(&folder).join("trunkline"),
        None => env::temp_dir().join(format!("trunkline-{}", user.as_raw())),
    }
}

fn write(folder: &Path, path: &Path) -> io::Result<()> {
    // Others may read: root's programs can give up their rights and run more.
    match fs::DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let owned = fs::symlink_metadata(folder)?;
    if !owned.is_dir() || owned.uid() != process::geteuid().as_raw() || owned.mode() & 0o022 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder is not this user's alone"));
    }
    if fs::read(path).is_ok_and(|there| there == LIBRARY) {
        return Ok(());
    }
    // By another name first: a program that starts now finds the old one or the new one, never half of it.
    let fresh = path.with_extension(std::process::id().to_string());
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(&fresh)?;
    file.write_all(LIBRARY)?;
    drop(file);
    fs::rename(&fresh, path)
}
