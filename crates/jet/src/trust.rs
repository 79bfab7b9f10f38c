//! The peers that a gateway trusts, while it runs: whoever is unpinned loses its sessions at once.

use crate::hint;
use crate::keys::{Fingerprint, Peers};
use crate::log::Log;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::sleep;

/// How often the peers' file is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// The pinned peers, shared by a gateway's handshakes and sessions.
#[derive(Clone, Debug)]
pub(crate) struct Trusted(Arc<RwLock<Peers>>);

impl Trusted {
    pub fn new(peers: Peers) -> Self {
        Self(Arc::new(RwLock::new(peers)))
    }
    /// The peer's name, if it is pinned.
    pub fn name(&self, peer: Fingerprint) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).name(peer).map(str::to_owned)
    }
    pub fn has(&self, peer: Fingerprint) -> bool {
        self.name(peer).is_some()
    }
    /// The peer that has given this hint.
    pub fn hinted(&self, hint: &str) -> Option<Fingerprint> {
        let peers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        hint::whose(hint, peers.iter().map(|(peer, _)| peer))
    }
    pub fn set(&self, peers: Peers) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = peers;
    }
}

/// Passes the peers of a folder on whenever they change, as long as this is polled: it never ends. A file that cannot
/// be read changes nothing.
pub async fn follow(folder: PathBuf, log: Log, mut each: impl FnMut(Peers)) {
    // Read once more at first: the file may have changed since the gateway began.
    let mut known = None;
    loop {
        let now = Edition::of(&folder);
        if known != Some(now) {
            match Peers::load(&folder) {
                Ok(peers) => each(peers),
                Err(error) => log.note("the peers are as before", &error.to_string()),
            }
            known = Some(now);
        }
        sleep(LOOK).await;
    }
}

/// What tells two states of the peers' file apart. Where the file is replaced its number changes; one that is written
/// in place has another time or length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Edition {
    inode: u64,
    length: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Edition {
    /// Of a folder's file; none where there is none.
    fn of(folder: &Path) -> Option<Self> {
        let file = fs::metadata(Peers::file(folder)).ok()?;
        let (seconds, nanoseconds) = (file.mtime(), file.mtime_nsec());
        Some(Self { inode: file.ino(), length: file.len(), seconds, nanoseconds })
    }
}
