//! Ends BBR's start-up where BBR does not.
//!
//! Linux's BBR leaves start-up when three round trips have brought less than a quarter more (Cardwell et al., *BBR:
//! Congestion-Based Congestion Control*, ACM Queue 2016). It does not count a round trip in which there was nothing
//! left to send for a moment. A stream that waits for the peer's credit, or for room in its send buffer, has hardly any
//! other: it continues at 2.89 times the delivery rate, and loses what exceeds the path's queue, round trip after round
//! trip. So a round trip with more than 2 % lost ends start-up, as in BBRv3 (draft-ietf-ccwg-bbr, section 5.3.1.3): the
//! stream's pacing is limited to its bandwidth. Then something is always left to send, BBR leaves start-up by itself,
//! and the limit is lifted.

use crate::tcp_info::BbrInfo;
use stripe::session::Gauge;
use units::{BitRate, Time};

/// More than this is lost by one's own doing: BBR's third version's `BBRLossThresh`.
const LOSSY: f64 = 0.02;
/// And more than so many segments: a few say nothing about a share.
const FEW: u64 = 8;

/// The state of a stream's start-up.
#[derive(Debug, Default)]
pub(crate) struct Startup {
    /// When the round trip began, and what had been sent and lost by then, in segments.
    since: Time,
    sent: u64,
    lost: u64,
    limited: bool,
}

/// The pacing to set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pacing {
    Limited(BitRate),
    Free,
}

impl Startup {
    /// Takes in the gauge of a stream with BBR; `ask` asks BBR itself. Returns the pacing to change to.
    pub fn see(&mut self, now: Time, gauge: &Gauge, ask: impl FnOnce() -> Option<BbrInfo>) -> Option<Pacing> {
        if !gauge.starting {
            return std::mem::take(&mut self.limited).then_some(Pacing::Free);
        }
        if now.saturating_sub(self.since) < gauge.rtt {
            return None;
        }
        let census = gauge.census;
        let (sent, lost) = (census.sent.saturating_sub(self.sent), census.lost.saturating_sub(self.lost));
        (self.since, self.sent, self.lost) = (now, census.sent, census.lost);
        if self.limited || lost <= FEW || lost as f64 <= LOSSY * sent as f64 {
            return None;
        }
        let bandwidth = ask()?.bandwidth();
        self.limited = bandwidth > BitRate::from_bps(0);
        self.limited.then_some(Pacing::Limited(bandwidth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripe::session::Census;

    fn gauge(starting: bool, sent: u64, lost: u64) -> Gauge {
        let census = Census { sent, lost, ..Census::default() };
        Gauge { starting, census, rtt: Time::from_ms(100), ..Gauge::default() }
    }
    /// Start-up at 5 Mbit/s.
    const BBR: BbrInfo = BbrInfo { bandwidth: [625_000, 0], min_rtt: 1, pacing_gain: 739, cwnd_gain: 739 };

    #[test]
    fn losses_of_a_round_trip_end_it_once_and_its_end_frees_the_stream() {
        let mut startup = Startup::default();
        let mut see = |tenths: u64, gauge: Gauge| startup.see(Time::from_ms(10 * tenths), &gauge, || Some(BBR));
        // One in fifty is borne, and so are the few that came by chance.
        assert_eq!(see(10, gauge(true, 1000, 20)), None);
        assert_eq!(see(20, gauge(true, 1100, 28)), None);
        // A round trip is waited for.
        assert_eq!(see(25, gauge(true, 1600, 90)), None);
        assert_eq!(see(30, gauge(true, 2000, 100)), Some(Pacing::Limited(BitRate::from_bps(5_000_000))));
        assert_eq!(see(40, gauge(true, 3000, 200)), None);
        assert_eq!(see(45, gauge(false, 3100, 200)), Some(Pacing::Free));
        assert_eq!(see(60, gauge(false, 9000, 900)), None);
    }
}
