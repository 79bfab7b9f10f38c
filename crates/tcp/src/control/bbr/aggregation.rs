//! How much acknowledgements come in lumps, as Linux's BBR measures it (`tcp_bbr.c`): bytes acknowledged beyond what
//! the bandwidth explains. cwnd has room for them, so that the path stays full between two lumps.

use units::Time;

/// Round trips that each of the two slots of the filter covers.
const SLOT_ROUNDS: u32 = 5;

/// Filter of the largest excess over the last five to ten round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    epoch: Time,
    /// Bytes delivered since the epoch began.
    acked: u64,
    /// Largest excess in bytes of the slots.
    excess: [u64; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    /// The connection begins, or sends again after a pause.
    pub fn begin(&mut self, now: Time) {
        (self.epoch, self.acked) = (now, 0);
    }
    /// `newly` bytes are delivered, over a path of `bandwidth` bytes per picosecond.
    pub fn take(&mut self, now: Time, newly: u64, round_start: bool, bandwidth: f64, cwnd: u64) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= SLOT_ROUNDS {
                self.rounds = 0;
                self.slot = 1 - self.slot;
                self.excess[self.slot] = 0;
            }
        }
        let expected = |epoch: Time| (bandwidth * now.saturating_sub(epoch).as_ps() as f64) as u64;
        // An epoch ends when it is no longer ahead of the bandwidth.
        if self.acked <= expected(self.epoch) {
            self.begin(now);
        }
        self.acked += newly;
        let excess = (self.acked - expected(self.epoch)).min(cwnd);
        self.excess[self.slot] = self.excess[self.slot].max(excess);
    }
    /// The largest excess in bytes.
    pub fn excess(&self) -> u64 {
        self.excess[0].max(self.excess[1])
    }
}

#[cfg(test)]
mod tests {
    use super::Aggregation;
    use units::Time;

    /// 1,000 bytes per millisecond.
    const BANDWIDTH: f64 = 1e-6;

    #[test]
    fn the_excess_is_what_comes_ahead_of_the_bandwidth() {
        let mut acks = Aggregation::default();
        for at in 1..100 {
            acks.take(Time::from_ms(at), 1_000, false, BANDWIDTH, 50_000);
        }
        assert_eq!(acks.excess(), 1_000, "an epoch begins with an acknowledgement");
        acks.take(Time::from_ms(104), 9_000, false, BANDWIDTH, 50_000);
        assert_eq!(acks.excess(), 9_000);
        // Half of the lump's time later only half of it is still ahead.
        acks.take(Time::from_ms(106), 1_000, false, BANDWIDTH, 50_000);
        assert_eq!(acks.excess(), 9_000);
        acks.take(Time::from_ms(107), 90_000, false, BANDWIDTH, 50_000);
        assert_eq!(acks.excess(), 50_000, "at most cwnd");
    }

    #[test]
    fn a_lump_is_remembered_for_five_to_ten_rounds() {
        let mut acks = Aggregation::default();
        acks.take(Time::from_ms(1), 20_000, true, BANDWIDTH, 50_000);
        let mut remembered = 0;
        for round in 1..30 {
            acks.take(Time::from_ms(1 + 100 * round), 1_000, true, BANDWIDTH, 50_000);
            remembered += usize::from(acks.excess() == 20_000);
        }
        assert!((5..10).contains(&remembered), "{remembered}");
    }
}
