//! What is retransmitted, and in which order (RFC 6675, NextSeg()).

use crate::send::Phase;
use crate::{Endpoint, Flags, Output};
use units::Time;

impl Endpoint {
    /// Retransmits what is lost, as far as the window allows. True when new data may follow.
    #[cold]
    pub(crate) fn retransmit_lost(&mut self, now: Time, out: &mut Output) -> bool {
        if self.tx.rack().is_some() {
            return self.retransmit_found(now, out);
        }
        loop {
            let tx = &self.tx;
            let mss = self.full_segment() as u32;
            let pipe = tx.pipe();
            // RFC 6675, step C: one segment at a time while a whole one fits.
            let room = self.allowance().saturating_sub(pipe) >= u64::from(mss);
            let counts = self.sack && self.config.falls() && tx.phase == Phase::Recovery;
            if counts && tx.repair.begins {
                // `Sack1TcpAgent::recv`. What the application writes next is sent (`TcpAgent::advanceby`).
                self.tx.repair.begins = false;
                return false;
            }
            let next = if counts {
                // ns-2 (`ScoreBoardRQ::GetNextRetran`): whatever has something SACKed above it.
                tx.repair.board.next_hole(tx.una, mss)
            } else {
                tx.repair.board.next_lost(tx.una, mss)
            };
            if let Some((start, end)) = next {
                if !room {
                    self.tx.note_use(true);
                    return false;
                }
                if self.must_wait(now) {
                    return false;
                }
                self.retransmit(now, start, end, out);
                continue;
            }
            if !room || tx.phase != Phase::Recovery || !self.sack || counts {
                return true;
            }
            // Rule 2 precedes rules 3 and 4: they apply when there is no new data, or the peer's window has no room for
            // it.
            let new = tx.nxt < tx.stream_end() && (tx.send_edge(&self.config) > tx.nxt || tx.nxt == tx.write_end);
            if new {
                return true;
            }
            if let Some((start, end)) = tx.repair.board.next_hole(tx.una, mss) {
                if self.must_wait(now) {
                    return false;
                }
                self.retransmit(now, start, end, out);
                continue;
            }
            // Rule 4, once per recovery: the tail may be lost with nothing SACKed above it.
            if tx.una > tx.repair.rescue
                && tx.una < tx.nxt
                && tx.repair.board.highest_sacked().is_none_or(|highest| highest < tx.nxt)
            {
                let floor = tx.repair.board.highest_sacked().unwrap_or(tx.una).max(tx.una);
                let start = floor.max(tx.nxt.saturating_sub(u64::from(mss)));
                let end = tx.nxt;
                self.tx.repair.rescue = tx.repair.recover;
                self.send_again(now, start, end, out);
            }
            return true;
        }
    }
    /// Retransmits the first unacknowledged segment, whatever the window; with RACK, the first lost one.
    pub(crate) fn retransmit_first(&mut self, now: Time, out: &mut Output) {
        let full = self.full_segment();
        let tx = &mut self.tx;
        if let Some(rack) = tx.rack() {
            if let Some((start, end)) = rack.next_lost(full) {
                self.send_again(now, start, end, out);
            }
            return;
        }
        let una = tx.una;
        let mut end = (una + full).min(tx.nxt);
        if let Some(range) = tx.repair.board.first_sacked() {
            end = end.min(range);
        }
        tx.repair.board.mark_lost(una, end);
        self.retransmit(now, una, end, out);
    }
    pub(crate) fn retransmit(&mut self, now: Time, start: u64, end: u64, out: &mut Output) {
        self.tx.repair.board.on_retransmit(start, end);
        self.send_again(now, start, end, out);
    }
    pub(crate) fn send_again(&mut self, now: Time, start: u64, end: u64, out: &mut Output) {
        if let Some(flight) = self.special.flight() {
            flight.on_retransmit(now, start, end);
        }
        if let Some(rack) = self.tx.rack() {
            rack.on_retransmit(now, start, end);
        }
        self.forget_departures();
        if let Some(undo) = self.tx.undo() {
            undo.on_retransmit(now, start, end);
        }
        let len = end.min(self.tx.write_end) - start.min(self.tx.write_end);
        self.tx.repair.counts.retransmissions += 1;
        out.retransmissions += 1;
        self.tx.repair.counts.bytes_retransmitted += len;
        if self.timestamps {
            // The timestamp echo tells the transmissions apart.
            self.tx.timed_at = Time::MAX;
            self.tx.timed_end = end;
        } else {
            self.tx.timed_end = 0;
        }
        self.send_data(now, start, len as u32, Flags::NONE, out);
    }
}
