//! The daemon's socket. Who may say what is decided here, by the kernel's word of who is at the other end.

use super::ask::{Ask, AskError, LONGEST};
use super::event::Who;
use rustix::net::sockopt::socket_peercred;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// Connections at once; more are closed.
const MOST: usize = 32;
/// A connection on which nothing comes for so long is closed.
const IDLE: Duration = Duration::from_mins(1);
/// The daemon's own loop answers within so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something asked, with the way back. The answer is a line without its end.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) who: Who,
    pub(crate) answer: Sender<String>,
}

/// Who may say what.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// May give hints and wake disks.
    pub(crate) hinters: Vec<u32>,
    /// May ask for the status besides: the daemon's own user and root.
    pub(crate) own: u32,
}

impl Allowed {
    fn refuses(&self, ask: &Ask, uid: u32) -> Option<String> {
        let hints = self.hinters.contains(&uid);
        let may = hints || matches!(ask, Ask::Status {}) && (uid == self.own || uid == 0);
        (!may).then(|| format!("user {uid} may not say this: `hints` of the configuration has who may"))
    }
}

/// Listens on a path. What an earlier daemon has left there is replaced.
pub(crate) fn bind(path: &Path) -> Result<UnixListener, String> {
    let failed = |error: io::Error| format!("cannot listen on {}: {error}", path.display());
    if UnixStream::connect(path).is_ok() {
        return Err(format!("another daemon listens on {}", path.display()));
    }
    match fs::symlink_metadata(path) {
        Ok(there) if std::os::unix::fs::FileTypeExt::is_socket(&there.file_type()) => {
            fs::remove_file(path).map_err(failed)?;
        }
        Ok(_) => return Err(format!("{} is there and is no socket; it is left as it is", path.display())),
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    // Anybody may connect; what a peer may say depends on who it is.
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).map_err(failed)?;
    Ok(listener)
}

/// Serves connections in threads, each line handed to `send`.
pub(crate) fn serve<S>(listener: UnixListener, allowed: Allowed, send: S)
where
    S: Fn(Asked) -> bool + Clone + Send + 'static,
{
    let open = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of descriptors: not at once again.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            if open.fetch_add(1, Ordering::Relaxed) >= MOST {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (open, allowed, send) = (Arc::clone(&open), allowed.clone(), send.clone());
            thread::spawn(move || {
                let _ = connection(&stream, &allowed, &send);
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

/// Answers line after line until the peer has gone or says too much.
fn connection(mut stream: &UnixStream, allowed: &Allowed, send: &impl Fn(Asked) -> bool) -> io::Result<()> {
    let peer = socket_peercred(stream)?;
    let who = Who { uid: peer.uid.as_raw(), pid: peer.pid.as_raw_nonzero().get() };
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let most = u64::try_from(LONGEST).unwrap_or(u64::MAX) + 1;
        reader.by_ref().take(most).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let whole = line.ends_with(b"\n");
        let answer =
            if whole || line.len() <= LONGEST { answer(&line, who, allowed, send) } else { wrong(&AskError::Long) };
        stream.write_all(answer.as_bytes())?;
        stream.write_all(b"\n")?;
        if !whole {
            return Ok(());
        }
    }
}

fn wrong(error: &dyn std::fmt::Display) -> String {
    serde_json::json!({ "error": error.to_string() }).to_string()
}

fn answer(line: &[u8], who: Who, allowed: &Allowed, send: &impl Fn(Asked) -> bool) -> String {
    let ask = match Ask::parse(line) {
        Ok(ask) => ask,
        Err(error) => return wrong(&error),
    };
    if let Some(refusal) = allowed.refuses(&ask, who.uid) {
        return wrong(&refusal);
    }
    let (sender, receiver) = channel();
    if !send(Asked { ask, who, answer: sender }) {
        return wrong(&"the daemon ends");
    }
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| wrong(&"the daemon does not answer"))
}
