//! Two stations and a channel that loses what it likes: packets arrive in order and once, whatever is lost.

use des::{Ecn, RandomStream};
use proptest::prelude::*;
use units::Time;
use wifi::mac::{Aggregation, Kind, MacConfig, Offer, Output, PacketId, Ppdu, Reason, Station, StationId};
use wifi::phy::{AccessCategory, Settings, Standard};

/// Station 0 sends to station 1; every MPDU and every other frame is lost with a probability of its own.
struct Pair {
    stations: [Station; 2],
    random: RandomStream,
    mpdu_loss: f64,
    answer_loss: f64,
    delivered: Vec<u32>,
    acknowledged: Vec<u32>,
    dropped: Vec<u32>,
    /// The last packet delivered because the receiver had waited too long for an earlier one.
    flushed: u32,
    /// Data PPDUs, their MPDUs, packets, longest duration.
    ppdus: Vec<(usize, usize, Time, u32)>,
}

impl Pair {
    fn new(config: &MacConfig, seed: u64, mpdu_loss: f64, answer_loss: f64) -> Self {
        let station = |id| Station::new(StationId(id), config.clone(), seed);
        let (delivered, acknowledged, dropped, ppdus) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let random = RandomStream::new(seed, "test/loss", 0);
        Self {
            stations: [station(0), station(1)],
            random,
            mpdu_loss,
            answer_loss,
            delivered,
            acknowledged,
            dropped,
            flushed: 0,
            ppdus,
        }
    }
    fn take(&mut self, out: &mut Output) {
        self.delivered.extend(out.delivered.drain(..).map(|packet| packet.0));
        self.acknowledged.extend(out.acknowledged.drain(..).map(|packet| packet.0));
        self.dropped.extend(out.dropped.drain(..).map(|(packet, reason)| {
            assert_eq!(reason, Reason::RetryLimit);
            packet.0
        }));
        out.held.clear();
    }
    /// Sends packets of these lengths, all queued at the start, until nothing moves any more. Returns when.
    fn run(&mut self, lengths: &[u32]) -> Time {
        let mut out = Output::new(self.stations[0].config().broadcast_mode);
        let mut now = Time::ZERO;
        for (packet, bytes) in lengths.iter().enumerate() {
            let category = AccessCategory::BestEffort;
            let packet = PacketId(packet as u32);
            let offer = Offer { packet, to: StationId(1), bytes: *bytes, category, flow: 0, ecn: Ecn::default() };
            self.stations[0].enqueue(now, &offer, &mut out);
        }
        loop {
            let due = [self.stations[0].deadline(), self.stations[1].deadline()];
            let sender = usize::from(due[0] > due[1]);
            if due[sender] == Time::MAX {
                return now;
            }
            now = now.max(due[sender]);
            self.stations[sender].on_timer(now, &mut out);
            self.flushed = out.delivered.iter().map(|packet| packet.0).fold(self.flushed, u32::max);
            self.take(&mut out);
            if std::mem::take(&mut out.transmit) {
                let ppdu = out.ppdu.clone();
                now = self.carry(now, sender, &ppdu, &mut out);
            }
        }
    }
    fn carry(&mut self, now: Time, sender: usize, ppdu: &Ppdu, out: &mut Output) -> Time {
        let receiver = 1 - sender;
        if ppdu.kind == Kind::Data {
            self.ppdus.push((ppdu.mpdus.len(), ppdu.packets.len(), ppdu.duration(), ppdu.bytes));
        }
        self.stations[receiver].sense(now, true);
        self.stations[receiver].reception_begins();
        let end = now + ppdu.duration();
        let understood = match ppdu.kind {
            Kind::Data => (0..ppdu.mpdus.len()).map(|bit| u64::from(!self.random.chance(self.mpdu_loss)) << bit).sum(),
            _ => u64::from(!self.random.chance(self.answer_loss)),
        };
        self.stations[receiver].received(end, ppdu, understood, 1e6, out);
        self.stations[receiver].sense(end, false);
        self.stations[sender].transmitted(end, out);
        self.take(out);
        end
    }
}

fn config(aggregation: Aggregation) -> MacConfig {
    let phy = Settings::new(Standard::N5);
    MacConfig { aggregation, queue_limit: 10_000, ..MacConfig::new(phy, phy.mcs(7).unwrap()) }
}

fn check(pair: &Pair, packets: usize) -> Result<(), TestCaseError> {
    prop_assert!(pair.delivered.is_sorted(), "out of order: {:?}", pair.delivered);
    let mut once = pair.delivered.clone();
    once.dedup();
    prop_assert_eq!(&once, &pair.delivered, "a packet was delivered twice");
    let mut ended: Vec<u32> = pair.acknowledged.iter().chain(&pair.dropped).copied().collect();
    ended.sort_unstable();
    prop_assert_eq!(ended, (0..packets as u32).collect::<Vec<_>>(), "each packet ends once at its sender");
    for packet in &pair.acknowledged {
        let delivered = pair.delivered.binary_search(packet).is_ok();
        prop_assert!(delivered || *packet < pair.flushed, "packet {packet} was acknowledged, not delivered");
    }
    for station in &pair.stations {
        prop_assert_eq!(station.queued(), 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn packets_arrive_in_order_and_once(
        seed in any::<u64>(),
        mpdu_loss in 0.0..0.95_f64,
        answer_loss in 0.0..0.8_f64,
        mpdus in 1..=64_u32,
        amsdu in prop::sample::select(vec![0_u32, 3_839, 7_935]),
        lengths in prop::collection::vec(40..1_600_u32, 1..400),
    ) {
        let aggregation = Aggregation { mpdus, amsdu, ..Aggregation::AMPDU };
        let mut pair = Pair::new(&config(aggregation), seed, mpdu_loss, answer_loss);
        pair.run(&lengths);
        check(&pair, lengths.len())?;
        for (mpdus_in, _, duration, bytes) in &pair.ppdus {
            prop_assert!(*mpdus_in <= mpdus as usize && *duration <= Time::from_us(5_484) && *bytes <= 65_535);
        }
    }
}

#[test]
fn an_aggregate_is_as_long_as_the_standard_allows() {
    // 28 MPDUs of 1538 bytes in 5.484 ms at 65 Mbit/s, 42 in 65535 bytes at 130 Mbit/s in half the time, 64 if they are
    // short.
    let phy = Settings { streams: 2, ..Settings::new(Standard::N5) };
    for (mcs, length, expected) in [(7, 1_500, 28), (15, 1_500, 42), (7, 100, 64), (0, 1_500, 2)] {
        let mut pair =
            Pair::new(&MacConfig { queue_limit: 1_000, ..MacConfig::new(phy, phy.mcs(mcs).unwrap()) }, 1, 0.0, 0.0);
        pair.run(&[length; 300]);
        assert_eq!(pair.ppdus[0].0, expected, "MCS {mcs}, packets of {length} bytes");
    }
}

#[test]
fn short_packets_share_an_mpdu() {
    // In 3839 bytes: subframes of 14 + 8 + 100 bytes are padded to 124, the last to none: 30 * 124 + 122 = 3842 is too
    // long, 29 * 124 + 122 fits.
    let mut pair = Pair::new(&config(Aggregation { mpdus: 1, amsdu: 3_839, ..Aggregation::NONE }), 1, 0.0, 0.0);
    pair.run(&[100; 90]);
    let counts: Vec<usize> = pair.ppdus.iter().map(|ppdu| ppdu.1).collect();
    assert_eq!(counts, [30, 30, 30]);
    // QoS header and FCS around it.
    assert_eq!(pair.ppdus[0].3, 29 * 124 + 122 + 26 + 4);
    assert_eq!(pair.delivered.len(), 90);
}

#[test]
fn lost_mpdus_alone_are_sent_again() {
    // Every MPDU is lost with probability 0.2: each goes 1.25 times, none seven times in vain (0.2^7 = 1.3e-5).
    let mut pair = Pair::new(&config(Aggregation::AMPDU), 3, 0.2, 0.0);
    pair.run(&vec![1_500; 10_000]);
    let sent: usize = pair.ppdus.iter().map(|ppdu| ppdu.0).sum();
    assert!((sent as f64 / 10_000.0 - 1.25).abs() < 0.02, "{sent} MPDUs for 10000 packets");
    assert!(pair.dropped.len() <= 3);
    assert_eq!(pair.delivered.len() + pair.dropped.len(), 10_000);
}

#[test]
fn without_aggregation_attempts_are_a_truncated_geometric_series() {
    let (loss, packets) = (0.3_f64, 5_000);
    let mut pair = Pair::new(&config(Aggregation::NONE), 5, loss, 0.0);
    pair.run(&vec![1_500; packets]);
    let attempts = (1.0 - libm::pow(loss, 7.0)) / (1.0 - loss);
    let sent = pair.ppdus.len() as f64 / packets as f64;
    assert!((sent / attempts - 1.0).abs() < 0.02, "{sent} attempts a packet, expected {attempts}");
    let lost = libm::pow(loss, 7.0) * packets as f64;
    assert!(
        (pair.dropped.len() as f64 - lost).abs() <= 3.0 * lost.sqrt() + 1.0,
        "{} given up, expected {lost}",
        pair.dropped.len()
    );
}

#[test]
fn who_does_not_aggregate_is_understood_by_who_does() {
    // Without an agreement the receiver must not wait for what its sender has given up.
    let mut pair = Pair::new(&config(Aggregation::NONE), 7, 0.6, 0.3);
    pair.stations[1] = Station::new(StationId(1), config(Aggregation::AMPDU), 7);
    pair.run(&[1_500; 2_000]);
    assert!(pair.dropped.len() > 20, "{}", pair.dropped.len());
    check(&pair, 2_000).unwrap();
    assert_eq!(pair.flushed, 0);
}
