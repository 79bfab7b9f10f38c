//! Priority classes of connections, for queues with classes.

use super::Owner;
use std::collections::BTreeMap;

/// Classes of connections by owner and port; class 0 goes first.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    of_ports: BTreeMap<(Owner, u16), u8>,
    others: u8,
}

impl Classes {
    /// Connections accepted at a port that is not listed are of class `others`.
    pub const fn new(of_ports: BTreeMap<(Owner, u16), u8>, others: u8) -> Self {
        Self { of_ports, others }
    }
    /// The class of a connection by its owner and the port at which it is accepted.
    pub(crate) fn of(&self, owner: Owner, port: u16) -> u8 {
        self.of_ports.get(&(owner, port)).copied().unwrap_or(self.others)
    }
}
