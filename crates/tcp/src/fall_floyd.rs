//! What ns-2's Sack1 and NewReno do otherwise than the RFCs: [`Recovery::FallFloyd`] as the reference simulator has it.
//! `tests/it/ns2.rs` holds it against ns-2 loss by loss.

use crate::scoreboard::DUP_THRESH;
use crate::send::Phase;
use crate::{Config, Endpoint, Output, Recovery, Segment};
use units::Time;

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
    /// `NewRenoTcpAgent::dupack_action`: while the first segment is missing, three duplicates always begin a recovery,
    /// a timeout before them or not (`bugfix_ss_`).
    #[inline]
    pub(crate) fn loses_the_first(&self) -> bool {
        let tx = &self.tx;
        let counts = matches!(tx.phase, Phase::Open | Phase::Loss) && u64::from(tx.dup_acks) == DUP_THRESH;
        counts && tx.una == 1 && !self.sack && self.config.falls()
    }
    /// The first duplicates have come and no recovery has begun: what is sent follows rules of its own.
    #[inline]
    pub(crate) fn counts_duplicates(&self) -> bool {
        let dup_acks = u64::from(self.tx.dup_acks);
        self.tx.phase == Phase::Open && dup_acks > 0 && self.config.falls() && (self.sack || dup_acks < DUP_THRESH)
    }
    /// `send_one`: each of the first duplicates lets one segment go, beyond cwnd by their number. Nothing else does.
    #[cold]
    pub(crate) fn send_for_duplicate(&mut self, now: Time, out: &mut Output) {
        if self.tx.repair.inflation > 0 {
            let end = (self.tx.nxt + self.full_segment()).min(self.tx.stream_end());
            self.send_new_data(now, end, out);
            self.tx.repair.inflation = 0;
        }
    }
    /// The application writes while duplicates are counted. NewReno fills cwnd as ever. Sack1 (`send_much`) looks for a
    /// hole first: it retransmits it if `recover_` is set, as a timeout leaves it, and sends nothing at all otherwise.
    #[cold]
    pub(crate) fn write_among_duplicates(&mut self, now: Time, out: &mut Output) {
        self.tx.repair.inflation = 0;
        loop {
            let (tx, segment) = (&self.tx, self.full_segment());
            let hole = tx.repair.board.next_hole(tx.una, segment as u32).filter(|_| self.sack);
            let Some((start, end)) = hole else { break };
            let full = tx.nxt - tx.una + segment > tx.window.cwnd;
            if tx.repair.recover == 0 || full || self.must_wait(now) {
                return;
            }
            self.retransmit(now, start, end, out);
        }
        self.send_new_data(now, self.tx.stream_end(), out);
    }
}
