//! Atomic writes: files and folders are written beside their place, and moved there when complete.

use crate::Error;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Incomplete files and folders of this process, for [`remove_partial`].
static PARTIAL: Mutex<Vec<Place>> = Mutex::new(Vec::new());

/// An incomplete file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// Keep its content; remove it only if it is empty.
    keeps: bool,
}

/// The most symbolic links followed in a row, as in the kernel (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// An incomplete file or folder that is removed on drop.
#[derive(Debug)]
pub struct Partial {
    place: Place,
    /// Its lock: its process is alive. The kernel releases it however the process ends.
    _lock: Option<File>,
}

impl Partial {
    /// Makes the file `.NAME.partial-PID` beside `place`, locked by this process, to be written.
    fn file(place: &Path) -> io::Result<(Self, File)> {
        let mut own = beginning(place.file_name().unwrap_or_default());
        own.push(std::process::id().to_string());
        let path = place.with_file_name(own);
        loop {
            let file = File::create(&path)?;
            // Another process may hold the lock while it removes the file as abandoned; another thread while it writes.
            if let Some(lock) = lock(&path, wait)? {
                let held = if let Lock::Held(file) = lock { Some(file) } else { None };
                return Ok((Self::listed(Place { path, keeps: false }, held), file));
            }
        }
    }

    /// Makes a folder `.NAME.partial-PID` beside `target`, locked by this process, and removes those of dead processes.
    pub fn folder(target: &Path) -> io::Result<Self> {
        let (parent, name) = (parent(target), target.file_name().unwrap_or_default());
        fs::create_dir_all(parent)?;
        remove_abandoned(parent, |other| is_partial_of(name, other));
        let mut own = beginning(name);
        own.push(std::process::id().to_string());
        let path = target.with_file_name(own);
        // A leftover of an earlier process with this number, on a file system without locks.
        let _ = fs::remove_dir_all(&path);
        loop {
            fs::create_dir(&path)?;
            // Another process may hold the lock while it removes the folder as abandoned.
            if let Some(lock) = lock(&path, wait)? {
                let held = if let Lock::Held(file) = lock { Some(file) } else { None };
                return Ok(Self::listed(Place { path, keeps: false }, held));
            }
        }
    }

    /// Opens or makes the folder `.NAME.unfinished` beside `target`, which keeps finished runs for a later call. `None`
    /// if another process has it open.
    pub fn unfinished(target: &Path) -> io::Result<Option<Self>> {
        fs::create_dir_all(parent(target))?;
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(".unfinished");
        let path = target.with_file_name(name);
        loop {
            match fs::create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            if let Some(lock) = lock(&path, File::try_lock)? {
                let place = Place { path, keeps: true };
                return Ok(match lock {
                    Lock::OfAnother => None,
                    Lock::Held(file) => Some(Self::listed(place, Some(file))),
                    Lock::Unknown => Some(Self::listed(place, None)),
                });
            }
        }
    }

    fn listed(place: Place, lock: Option<File>) -> Self {
        PARTIAL.lock().unwrap_or_else(PoisonError::into_inner).push(place.clone());
        Self { place, _lock: lock }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.place.path
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        remove(&self.place);
        PARTIAL.lock().unwrap_or_else(PoisonError::into_inner).retain(|place| *place != self.place);
    }
}

/// Removes all incomplete files and folders of this process, before the process ends while other threads still write.
/// Nothing new can begin after it. Returns the folders that keep finished runs for a later call.
pub fn remove_partial() -> Vec<PathBuf> {
    let places = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // In reverse: folders of single seeds come after the folder that contains them.
    for place in places.iter().rev() {
        // Removal fails if a thread writes into the folder meanwhile: retry until the folder is gone.
        while place.path.symlink_metadata().is_ok() && !remove(place) {}
    }
    let kept = places.iter().filter(|place| place.keeps && place.path.exists());
    let kept = kept.map(|place| place.path.clone()).collect();
    std::mem::forget(places);
    kept
}

/// Removes a file or folder. Returns false if a retry makes sense.
fn remove(Place { path, keeps }: &Place) -> bool {
    let removed = match (path.is_dir(), keeps) {
        (true, true) => {
            // Fails if it is not empty.
            let _ = fs::remove_dir(path);
            return true;
        }
        (true, false) => fs::remove_dir_all(path),
        (false, _) => fs::remove_file(path),
    };
    !removed.is_err_and(|error| error.kind() == io::ErrorKind::DirectoryNotEmpty)
}

/// The folder in which a path stands.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The prefix of the names of all partial folders of a target; a process number follows it.
fn beginning(name: &OsStr) -> OsString {
    let mut text = OsString::from(".");
    text.push(name);
    text.push(".partial-");
    text
}

/// The result of locking.
enum Lock {
    Held(File),
    OfAnother,
    /// The file system has no locks.
    Unknown,
}

/// Waits for a lock, however long.
fn wait(file: &File) -> Result<(), TryLockError> {
    file.lock().map_err(TryLockError::Error)
}

/// Locks a file or folder by flock(2) on itself, which needs no lock file. `None` if it was removed before it was
/// locked.
fn lock(path: &Path, take: impl Fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<Lock>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match take(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Some(Lock::OfAnother)),
        Err(TryLockError::Error(_)) => return Ok(Some(Lock::Unknown)),
    }
    let (held, there) = (file.metadata()?, path.metadata());
    let same = there.is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()));
    Ok(same.then_some(Lock::Held(file)))
}

/// Whether what ends a partial name is a process number.
fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether `other` is the name of a partial file or folder of the target `name`.
fn is_partial_of(name: &OsStr, other: &OsStr) -> bool {
    other.as_encoded_bytes().strip_prefix(beginning(name).as_encoded_bytes()).is_some_and(is_number)
}

/// Removes from a folder all partial files and folders whose process has ended.
pub(crate) fn remove_all_abandoned(folder: &Path) {
    remove_abandoned(folder, |name| {
        let (name, mark) = (name.as_encoded_bytes(), ".partial-".as_bytes());
        let number = name.rsplit(|byte| *byte == b'-').next().unwrap_or_default();
        let before = &name[..name.len() - number.len()];
        name.starts_with(b".") && before.len() > mark.len() && before.ends_with(mark) && is_number(number)
    });
}

/// Removes the partial files and folders of such names whose process has ended.
fn remove_abandoned(parent: &Path, is_meant: impl Fn(&OsStr) -> bool) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        // What is neither could not even be opened without waiting.
        let Ok(kind) = entry.file_type() else { continue };
        if !is_meant(&entry.file_name()) || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        match file.try_lock() {
            // Removed while locked: a process that has just made it will find it gone.
            Ok(()) => {
                let _ = if kind.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
            }
            // Its process is alive, or the file system has no locks.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

/// The target of a path: symbolic links are resolved, even to a path that does not exist.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&place) {
            Ok(next) => place = parent(&place).join(next),
            // Not a link, or nothing at all.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Writes a file atomically: beside its place, then moved there. A symbolic link is followed. What a process that was
/// killed has left of the same file is removed.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    let place = resolve(path).map_err(|error| Error::writing(path, &error))?;
    let name = place.file_name().unwrap_or_default();
    remove_abandoned(parent(&place), |other| is_partial_of(name, other));
    write_beside(path, content)
}

/// Like [`write_whole`], but leaves what others have left: for one of many files in a folder.
pub(crate) fn write_beside(path: &Path, content: &[u8]) -> Result<(), Error> {
    let written = || -> io::Result<()> {
        let place = resolve(path)?;
        let (beside, mut file) = Partial::file(&place)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(beside.path(), &place)
    };
    written().map_err(|error| Error::writing(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("trunkline-partial-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        path
    }

    #[test]
    fn folders_of_dead_processes_go_and_those_of_living_ones_stay() {
        let scratch = scratch("abandoned");
        for name in [".out.partial-1", ".out.partial-2", ".out.partial-x", ".other.partial-1"] {
            fs::create_dir_all(scratch.join(name).join("seed-1")).expect("made");
        }
        let living = File::open(scratch.join(".out.partial-2")).expect("there");
        living.lock().expect("locked");
        let own = Partial::folder(&scratch.join("out")).expect("made");
        let left = |name: &str| scratch.join(name).exists();
        assert!(!left(".out.partial-1"), "its process is dead");
        assert!(left(".out.partial-2"), "somebody holds its lock");
        assert!(left(".out.partial-x") && left(".other.partial-1"), "not of this target");
        assert!(own.path().is_dir());
        let held = File::open(own.path()).expect("there").try_lock();
        assert!(matches!(held, Err(TryLockError::WouldBlock)), "this process lives");
        fs::remove_dir_all(scratch).expect("cleaned up");
    }

    #[test]
    fn files_of_dead_processes_go_and_those_of_living_ones_stay() {
        let scratch = scratch("files");
        let names = [".a.json.partial-1", ".a.json.partial-2", ".b.json.partial-1", ".partial-1", ".b.json.partial-x"];
        for name in names {
            fs::write(scratch.join(name), "half").expect("written");
        }
        let living = File::open(scratch.join(".a.json.partial-2")).expect("there");
        living.lock().expect("locked");
        let left = || names.map(|name| scratch.join(name).exists());
        write_whole(&scratch.join("a.json"), b"whole").expect("written");
        assert_eq!(fs::read_to_string(scratch.join("a.json")).expect("there"), "whole");
        assert_eq!(left(), [false, true, true, true, true], "only those of the same file");
        remove_all_abandoned(&scratch);
        assert_eq!(left(), [false, true, false, true, true], "what has no name or no number is not ours");
        assert_eq!(fs::read_dir(&scratch).expect("there").count(), 4, "nothing is left of what was written");
        fs::remove_dir_all(scratch).expect("cleaned up");
    }

    #[test]
    fn links_are_followed_also_to_what_is_not_there_yet() {
        let scratch = scratch("links");
        std::os::unix::fs::symlink("second", scratch.join("first")).expect("a link");
        std::os::unix::fs::symlink(scratch.join("deep/place"), scratch.join("second")).expect("a link");
        assert_eq!(resolve(&scratch.join("first")).expect("a place"), scratch.join("deep/place"));
        std::os::unix::fs::symlink("loop", scratch.join("loop")).expect("a link");
        assert!(resolve(&scratch.join("loop")).is_err());
        fs::remove_dir_all(scratch).expect("cleaned up");
    }
}
