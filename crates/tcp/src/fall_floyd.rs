//! What ns-2's Sack1 and NewReno do otherwise than the RFCs: [`Recovery::FallFloyd`] as the reference simulator has it.
//! `tests/it/ns2.rs` holds it against ns-2 loss by loss.

use crate::send::Phase;
use crate::{Config, Endpoint, Recovery, Segment};

impl Config {
    /// Losses are repaired as by ns-2's Sack1, without SACK as by its NewReno.
    #[inline]
    pub(crate) fn falls(&self) -> bool {
        self.recovery == Recovery::FallFloyd
    }
}

impl Endpoint {
    /// ns-2's `Sack1TcpAgent::timeout` clears its scoreboard, and every acknowledgement of something new does so again
    /// outside fast recovery: what follows a timeout is sent again from una on, whether it has arrived or not.
    pub(crate) fn goes_back_n(&self) -> bool {
        self.tx.phase == Phase::Loss && self.config.falls()
    }
    /// A segment's bytes if this acknowledgement stands for something that arrived beyond a hole, once the timer's own
    /// retransmission is acknowledged.
    #[cold]
    pub(crate) fn counts_as_duplicate(&self, segment: &Segment) -> u64 {
        let tx = &self.tx;
        // The first duplicate finds the scoreboard cleared by the acknowledgement before it: all of its blocks are new.
        let tells = segment.dsack().is_none() || tx.dup_acks == 0 && segment.sack_blocks().any(|(_, end)| end > tx.una);
        let news = segment.ack == tx.una && tx.retries == 0 && tells;
        u64::from(news) * u64::from(tx.window.mss)
    }
}
