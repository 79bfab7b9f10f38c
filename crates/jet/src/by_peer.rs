//! What the sessions of a peer share, as long as it has any.

use crate::keys::Fingerprint;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One of these for each peer that has sessions. Of those that have gone their names are left, and there are no more of them than keys are pinned.
#[derive(Debug)]
pub(crate) struct ByPeer<T>(Mutex<BTreeMap<Fingerprint, Weak<T>>>);

impl<T> Default for ByPeer<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> ByPeer<T> {
    /// A peer's; made where it has none.
    pub fn of(&self, peer: Fingerprint, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = known.get(&peer).and_then(Weak::upgrade) {
            return own;
        }
        let own = make();
        known.insert(peer, Arc::downgrade(&own));
        own
    }
}
