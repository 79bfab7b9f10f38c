//! One daemon for a disk and for a folder, by locks that the kernel drops however a process ends.

use std::fs::{File, TryLockError};
use std::path::Path;

/// What is locked, as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code, reason = "its descriptor holds the lock")] File);

impl Lock {
    /// Locks a file or a folder. A disk is locked by its counters in /sys, which every daemon of it reads. That needs
    /// no right to write, and keeps nobody from the disk itself, whose own lock belongs to udev.
    pub(crate) fn take(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err("another daemon has it".to_owned()),
            Err(TryLockError::Error(error)) => Err(format!("cannot lock {}: {error}", path.display())),
        }
    }
}
