//! Undoing reductions for losses that were none (RFC 9438, section 4.9): segments that came late, not never.
//!
//! Two signs tell, as in Linux (`tcp_may_undo`). The receiver reports every byte retransmitted as a duplicate (DSACK,
//! RFC 3708). Or an acknowledgement echoes a timestamp older than the first retransmission (Eifel, RFC 3522): the
//! original has arrived.

use crate::control::Control;
use crate::send::{Phase, Sender};
use crate::{Endpoint, Flags, Segment};
use units::Time;

/// The state before a reduction, and what was retransmitted since.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// SND.UNA at the reduction: duplicates below it are of an older recovery (`undo_marker`).
    marker: u64,
    /// Bytes retransmitted since and not reported as duplicates; `None` before the first retransmission.
    unreported: Option<u64>,
    /// The timestamp of the first retransmission, in microseconds.
    first: u32,
}

impl Undo {
    /// `start..end` is retransmitted.
    pub fn on_retransmit(&mut self, now: Time, start: u64, end: u64) {
        if self.unreported.is_none() {
            self.first = now.as_us() as u32;
        }
        self.unreported = Some(self.unreported.unwrap_or(0) + (end - start));
    }
    /// The receiver got `start..end` twice.
    pub fn on_dsack(&mut self, start: u64, end: u64) {
        if end > self.marker
            && let Some(unreported) = &mut self.unreported
        {
            *unreported = unreported.saturating_sub(end - start);
        }
    }
}

impl Sender {
    /// What the last reduction for a loss took.
    #[inline]
    pub fn undo(&mut self) -> Option<&mut Undo> {
        self.repair.written()?.undo.as_deref_mut()
    }
    /// The reduction stands.
    pub fn forget_undo(&mut self) {
        if let Some(repair) = self.repair.written() {
            repair.undo = None;
        }
    }
}

impl Endpoint {
    /// A loss is about to reduce the window.
    pub(crate) fn begin_undo(&mut self) {
        if !self.config.undo_spurious {
            return;
        }
        let tx = &mut self.tx;
        let undo =
            Undo { cwnd: tx.window.cwnd, ssthresh: tx.window.ssthresh, marker: tx.una, unreported: None, first: 0 };
        tx.repair.undo = Some(Box::new(undo));
    }
    /// An acknowledgement was taken in `phase`: it may show that the loss was none.
    #[cold]
    pub(crate) fn judge_undo(&mut self, now: Time, segment: &Segment, phase: Phase) {
        let timed = self.timestamps && segment.flags.contains(Flags::TIMESTAMPS) && segment.ts_ecr != 0;
        let tx = &mut self.tx;
        let open = tx.phase == Phase::Open;
        let Some(repair) = tx.repair.written() else { return };
        let Some(undo) = repair.undo.as_deref() else { return };
        let Some(unreported) = undo.unreported else { return };
        let duplicates = unreported == 0;
        // A partial acknowledgement in fast recovery is not enough: other segments may be lost.
        let progress = phase == Phase::Loss || open || repair.board.highest_sacked().is_none();
        let older = undo.first.wrapping_sub(segment.ts_ecr).cast_signed() > 0;
        let late = timed && older && phase != Phase::Open && tx.una > undo.marker && progress;
        if !duplicates && !late {
            return;
        }
        let Some(undo) = repair.undo.take() else { return };
        if !open {
            if self.sack {
                // What is lost after all may start a recovery of its own.
                repair.recover = tx.una;
            }
            if let Some(rack) = &mut repair.rack {
                rack.forget_losses();
            }
            self.enter_phase(now, Phase::Open);
        }
        self.forget_reduction();
        let window = &mut self.tx.window;
        window.ssthresh = window.ssthresh.max(undo.ssthresh);
        if window.cwnd < undo.cwnd {
            window.cwnd = undo.cwnd;
            self.control.on_undo();
        }
        self.tx.repair.counts.undone += 1;
    }
}
