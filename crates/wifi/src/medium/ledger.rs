//! Where every packet has gone.

use crate::mac::Reason;
use thiserror::Error;

/// Packets by what has become of them: what was accepted is delivered, sent to everyone, dropped, or held by some MAC.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ledger {
    /// Handed to the medium, for one receiver or for everyone.
    pub accepted: u64,
    /// Handed to the layer above at their receiver, each once.
    pub delivered: u64,
    /// Sent to everyone, whoever heard it.
    pub broadcast: u64,
    /// Given up without having been delivered, by reason ([`Reason`]).
    pub dropped: [u64; Reason::ALL.len()],
    /// Given up by their sender though they had been delivered: all acknowledgements were lost.
    pub unacknowledged: u64,
    /// Copies of broadcasts handed to the layer above.
    pub copies: u64,
    /// In transmit queues, and in reorder buffers without a transmitter any more.
    pub held: u64,
    /// Taken places of the packet slab.
    pub slab: u64,
    /// Packets in the transmit queues, counted there.
    pub queued: u64,
}

/// The books do not balance: an error in the simulator, never in its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the ledger of the wireless medium does not balance: {0:?}")]
pub struct LedgerError(pub Ledger);

impl Ledger {
    /// Packets given up, whatever the reason.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }
    /// Whether every packet is accounted for and none has leaked.
    pub fn check(&self) -> Result<(), LedgerError> {
        let ended = self.delivered + self.broadcast + self.all_dropped();
        if self.accepted == ended + self.held && self.queued <= self.slab && self.held <= self.slab {
            Ok(())
        } else {
            Err(LedgerError(*self))
        }
    }
}
