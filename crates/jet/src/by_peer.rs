//! What the sessions of a peer share, as long as it has any.

use crate::keys::Fingerprint;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A value for each peer that has sessions. A peer without sessions leaves its name, and there are no more names than
/// pinned keys.
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
