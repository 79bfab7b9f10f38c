//! The machine around the daemon: its folders, its clocks, its service manager, and people.

use super::Failure;
use super::event::Event;
use super::journal::{FILE, Journal};
use nix::unistd::{Gid, Uid};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::chown;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

/// An event as a line for people.
pub(crate) fn in_words(event: &Event) -> String {
    match event {
        Event::Rest { disk, own: true } => format!("{disk}: rests"),
        Event::Rest { disk, own: false } => format!("{disk}: rests, and was not told to by this daemon"),
        Event::Wake { disk, cause, by, io, rested_s, away } => {
            let by = by.map_or_else(String::new, |who| format!(", told by user {} (process {})", who.uid, who.pid));
            let away = if *away { " while no daemon ran" } else { "" };
            let counts =
                [(io.reads, "reads"), (io.writes, "writes"), (io.discards, "discards"), (io.flushes, "flushes")];
            let counts: Vec<_> =
                counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
            let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
            format!("{disk}: woken{away} for {cause}{counts}{by} after {rested_s:.0} s at rest")
        }
        Event::Unknown { disk, why } => format!("{disk}: its state is not known, so nothing is done with it: {why}"),
        Event::Failed { disk, what, why } => format!("{disk}: {what} failed: {why}"),
    }
}

/// A folder of the daemon's, made if it is not there.
pub(crate) fn folder(path: &Path, owner: Option<(Uid, Option<Gid>)>, what: &str) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Output(format!("the folder {} (`{what}`) cannot be made: {error}", path.display()))
    };
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path).map_err(|error| failed(&error))?;
    if let Some((uid, gid)) = owner {
        chown(path, Some(uid.as_raw()), gid.map(Gid::as_raw)).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// The journal of an earlier life, if there was one.
pub(crate) fn read_journal(folder: &Path) -> Result<Journal, Failure> {
    let path = folder.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Journal::new("")),
        Err(error) => return Err(Failure::Input(format!("{}: {error}", path.display()))),
    };
    Journal::parse(&text).map_err(|why| {
        Failure::Input(format!(
            "{}: {why}. It has what is left of the disks' wear budgets. Move it away to begin with full ones, when no \
             disk of it was started in the last 24 hours",
            path.display()
        ))
    })
}

/// Time that no clock's setting changes, and that stands still while the machine sleeps.
pub(crate) fn clock() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

pub(crate) fn since_1970() -> f64 {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec as f64 * 1e3 + (now.tv_nsec / 1_000_000) as f64) / 1e3
}

/// Tells systemd, where it has started this.
pub(crate) fn notify(what: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let address = match name.as_bytes().split_first() {
        Some((b'@', name)) => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(&name),
    };
    // Whether it hears is its own business.
    if let (Ok(socket), Ok(address)) = (UnixDatagram::unbound(), address) {
        let _ = socket.send_to_addr(what.as_bytes(), &address);
    }
}
