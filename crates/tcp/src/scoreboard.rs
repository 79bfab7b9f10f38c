//! The SACK scoreboard: what a sender knows of its outstanding data (RFC 6675).
//!
//! IsLost() is monotone: if a byte is lost, so is every un-SACKed byte below it. Every un-SACKed byte below HighRxt has
//! been retransmitted. So two edges and the SACKed ranges are the whole state. *pipe* is kept as three sums: bytes
//! SACKed, bytes lost, bytes retransmitted.

use crate::ranges::{Range, RangeSet};

/// Duplicate acknowledgements, or SACKed segments above a hole, that mean a loss (RFC 5681, RFC 6675).
pub(crate) const DUP_THRESH: u64 = 3;

/// Each sum lies within one window, below 2^30 bytes (RFC 7323).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scoreboard {
    sacked_bytes: u32,
    /// Bytes below the lost edge that are not SACKed.
    lost_bytes: u32,
    /// Bytes below the retransmission edge that are not SACKed.
    retransmitted_bytes: u32,
    /// Bytes found lost since the control was last told. Bytes lost twice count twice.
    lost_news: u32,
    lost_edge: u64,
    /// HighRxt: everything below that is not SACKed has been retransmitted.
    retransmitted_edge: u64,
    sacked: RangeSet,
}

impl Scoreboard {
    /// Nothing outstanding.
    pub const fn new() -> Self {
        Self {
            sacked_bytes: 0,
            lost_bytes: 0,
            retransmitted_bytes: 0,
            lost_news: 0,
            lost_edge: 0,
            retransmitted_edge: 0,
            sacked: RangeSet::new(),
        }
    }
    /// Nothing SACKed, lost or retransmitted.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.sacked_bytes | self.lost_bytes | self.retransmitted_bytes == 0
    }
    /// SetPipe(): bytes in flight, out of `flight` outstanding.
    #[inline]
    pub fn pipe(&self, flight: u64) -> u64 {
        flight + u64::from(self.retransmitted_bytes) - u64::from(self.sacked_bytes) - u64::from(self.lost_bytes)
    }
    /// Bytes SACKed and not yet acknowledged.
    pub fn sacked(&self) -> u64 {
        u64::from(self.sacked_bytes)
    }
    /// Bytes lost, retransmitted or not.
    pub fn lost(&self) -> u64 {
        u64::from(self.lost_bytes)
    }
    /// `bytes` more were found lost.
    pub fn add_lost(&mut self, bytes: u64) {
        self.lost_news = self.lost_news.saturating_add(bytes as u32);
    }
    /// Bytes found lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        u64::from(std::mem::take(&mut self.lost_news))
    }
    /// `start..end` was SACKed: calls `added` with each piece that is new, and returns how many bytes they have.
    pub fn sack(&mut self, start: u64, end: u64, mut added: impl FnMut(Range)) -> u64 {
        let (lost_edge, retransmitted_edge) = (self.lost_edge, self.retransmitted_edge);
        let (mut news, mut lost, mut retransmitted) = (0, 0, 0);
        self.sacked.insert(start, end, |from, to| {
            news += to - from;
            lost += to.min(lost_edge).saturating_sub(from);
            retransmitted += to.min(retransmitted_edge).saturating_sub(from);
            added(Range { start: from, end: to });
        });
        self.sacked_bytes += news as u32;
        self.lost_bytes -= lost as u32;
        self.retransmitted_bytes -= retransmitted as u32;
        news
    }
    /// The cumulative acknowledgement moves from `from` to `to`; returns how many of these bytes were not SACKed
    /// before.
    pub fn advance(&mut self, from: u64, to: u64) -> u64 {
        let sacked = self.sacked.covered(from, to);
        self.lost_bytes -= self.unsacked(from, to.min(self.lost_edge)) as u32;
        self.retransmitted_bytes -= self.unsacked(from, to.min(self.retransmitted_edge)) as u32;
        self.sacked_bytes -= sacked as u32;
        self.sacked.remove_below(to);
        to - from - sacked
    }
    fn unsacked(&self, from: u64, to: u64) -> u64 {
        if from < to { to - from - self.sacked.covered(from, to) } else { 0 }
    }
    /// IsLost() holds below this: at least [`DUP_THRESH`] separate ranges are SACKed above, or more than `DUP_THRESH -
    /// 1` segments' bytes.
    fn lost_by_sack(&self, mss: u32) -> u64 {
        let mut bytes = 0;
        for (count, range) in (1..).zip(self.sacked.as_slice().iter().rev()) {
            bytes += range.end - range.start;
            if count >= DUP_THRESH || bytes > (DUP_THRESH - 1) * u64::from(mss) {
                return range.start;
            }
        }
        0
    }
    /// IsLost(`position`).
    pub fn is_lost(&self, position: u64, mss: u32) -> bool {
        position < self.lost_by_sack(mss)
    }
    /// Marks lost what the SACKed ranges now show to be lost; `una` is SND.UNA.
    pub fn find_losses(&mut self, una: u64, mss: u32) {
        let edge = self.lost_by_sack(mss);
        self.mark_lost(una, edge);
    }
    /// Marks everything un-SACKed below `edge` lost.
    pub fn mark_lost(&mut self, una: u64, edge: u64) {
        if edge > self.lost_edge {
            let lost = self.unsacked(self.lost_edge.max(una), edge);
            self.lost_bytes += lost as u32;
            self.add_lost(lost);
            self.lost_edge = edge;
        }
    }
    /// Clears the loss and retransmission marks: a recovery has ended or starts afresh.
    pub fn forget_losses(&mut self) {
        self.lost_bytes = 0;
        self.retransmitted_bytes = 0;
        self.lost_edge = 0;
        self.retransmitted_edge = 0;
    }
    /// The receiver reneged (RFC 2018, section 8).
    pub fn forget_sacked(&mut self) {
        self.sacked.clear();
        self.sacked_bytes = 0;
    }
    /// Whether `position` was SACKed.
    pub fn is_sacked(&self, position: u64) -> bool {
        self.sacked.containing(position).is_some()
    }
    /// NextSeg() rule 1: the first lost range not yet retransmitted, at most `mss` long.
    pub fn next_lost(&self, una: u64, mss: u32) -> Option<(u64, u64)> {
        if self.lost_edge <= self.retransmitted_edge || self.lost_bytes == 0 {
            return None;
        }
        self.next_hole(una, mss).filter(|(start, _)| *start < self.lost_edge).map(|(s, e)| (s, e.min(self.lost_edge)))
    }
    /// NextSeg() rule 3: the first range not retransmitted that is lost or lies below a SACKed range.
    pub fn next_hole(&self, una: u64, mss: u32) -> Option<(u64, u64)> {
        let mut start = self.retransmitted_edge.max(una);
        let mut end = start + u64::from(mss);
        match self.sacked.at_or_after(start) {
            Some(range) if range.start <= start => {
                start = range.end;
                end = start + u64::from(mss);
                match self.sacked.at_or_after(start) {
                    Some(next) => end = end.min(next.start),
                    None if start < self.lost_edge => {}
                    None => return None,
                }
            }
            Some(range) => end = end.min(range.start),
            None if start < self.lost_edge => {}
            None => return None,
        }
        Some((start, end))
    }
    /// The position after HighRxt.
    pub fn retransmitted_edge(&self) -> u64 {
        self.retransmitted_edge
    }
    /// `start..end` is being retransmitted.
    pub fn on_retransmit(&mut self, start: u64, end: u64) {
        if end > self.retransmitted_edge {
            self.retransmitted_bytes += (end - start.max(self.retransmitted_edge)) as u32;
            self.retransmitted_edge = end;
        }
    }
    /// The start of the lowest SACKed range.
    pub fn first_sacked(&self) -> Option<u64> {
        self.sacked.as_slice().first().map(|range| range.start)
    }
    /// The end of the highest SACKed range.
    pub fn highest_sacked(&self) -> Option<u64> {
        self.sacked.as_slice().last().map(|range| range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::Scoreboard;

    /// SetPipe (RFC 6675, section 4) over ten segments of 1,000 bytes from 0: an un-SACKed octet counts once unless
    /// lost, and once more if retransmitted.
    #[test]
    fn pipe_is_what_set_pipe_counts() {
        let mut board = Scoreboard::new();
        assert_eq!(board.sack(1_000, 5_000, |_| {}), 4_000);
        board.find_losses(0, 1_000);
        assert_eq!(board.pipe(10_000), 5_000, "four SACKed, one lost, five in flight");
        board.on_retransmit(0, 1_000);
        assert_eq!(board.pipe(10_000), 6_000, "and one sent again");
        assert_eq!(board.sack(0, 1_000, |_| {}), 1_000);
        assert_eq!(board.pipe(10_000), 5_000, "which has arrived");
        assert_eq!(board.advance(0, 5_000), 0, "all of it was SACKed");
        assert_eq!(board.pipe(5_000), 5_000);
        assert!(board.is_clear());
    }
}
