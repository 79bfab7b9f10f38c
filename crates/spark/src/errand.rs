//! What is under way outside: each errand has a number, with which its answer comes back.

use std::collections::BTreeMap;

/// Errands by number.
#[derive(Debug)]
pub struct Errands<E> {
    under_way: BTreeMap<u64, E>,
    next: u64,
}

impl<E> Default for Errands<E> {
    fn default() -> Self {
        Self { under_way: BTreeMap::new(), next: 0 }
    }
}

impl<E> Errands<E> {
    /// Sends one out.
    pub fn send(&mut self, errand: E) -> u64 {
        self.next += 1;
        self.under_way.insert(self.next, errand);
        self.next
    }
    /// The answer to one is there.
    pub fn answered(&mut self, number: u64) -> Option<E> {
        self.under_way.remove(&number)
    }
    /// Only those are heard of from now on of which this holds.
    pub fn retain(&mut self, holds: impl Fn(&E) -> bool) {
        self.under_way.retain(|_, errand| holds(errand));
    }
    /// One that will be heard of again.
    pub fn get(&self, number: u64) -> Option<&E> {
        self.under_way.get(&number)
    }
}
