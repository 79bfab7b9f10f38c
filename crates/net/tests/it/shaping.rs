//! Token buckets against their definition: at most burst + rate x t in any interval, and no less than that while there
//! is something to send.

use crate::harness::{Driver, Flow};
use net::{DropTail, Limit, LinkId, LinkSpec, TokenBucketSpec, Topology};
use proptest::prelude::*;
use units::{BitRate, Bytes, Time};

const RATE: BitRate = BitRate::from_mbps(10);
const LINE: BitRate = BitRate::from_gbps(1);

fn shaped(burst: u64, limit: Limit) -> Topology {
    let bucket = TokenBucketSpec { rate: RATE, burst: Bytes::new(burst) };
    let mut topology = Topology::new();
    let (a, b) = (topology.add_host("a"), topology.add_host("b"));
    topology.connect(a, b, &LinkSpec::new(LINE, Time::ZERO).with_shaper(bucket, limit));
    topology
}

fn deliver(topology: &Topology, sends: &[(Time, u32)]) -> (Vec<(usize, Time)>, Driver) {
    let mut driver = Driver::new(topology, 1);
    for (at, bytes) in sends {
        driver.send(Flow { at: *at, from: topology.hosts()[0], to: topology.hosts()[1], bytes: *bytes });
    }
    driver.run(Time::MAX);
    (driver.arrivals.clone(), driver)
}

#[test]
fn a_full_bucket_lets_a_burst_through_at_line_rate_and_then_its_rate() {
    let (arrivals, _) = deliver(&shaped(15_000, Limit::Unlimited), &[(Time::ZERO, 1_500); 110]);
    // 1500 B take 12 us on the line, 1.2 ms of tokens. Ten packets are the burst; what comes in during it is at hand at
    // once after it.
    assert_eq!(arrivals[9].1, Time::from_us(120));
    assert_eq!(arrivals[10].1, Time::from_us(1_200 + 12));
    assert_eq!(arrivals[109].1, Time::from_us(100 * 1_200 + 12));
}

/// Ten of the burst, and one more each 1.2 ms, of either kind of queue, though both have accepted others by then.
#[test]
fn bytes_begin_as_the_bucket_lets_them() {
    for managed in [false, true] {
        let topology = shaped(15_000, Limit::Unlimited);
        let mut driver = Driver::new(&topology, 1);
        if managed {
            driver.network.manage(LinkId(0), Box::new(DropTail::new(Limit::Unlimited)));
        }
        for _ in 0..110 {
            driver.send(Flow { at: Time::ZERO, from: topology.hosts()[0], to: topology.hosts()[1], bytes: 1_500 });
        }
        for (us, packets) in [(5_000, 14), (5_999, 14), (12_001, 20), (200_000, 110)] {
            let now = Time::from_us(us);
            driver.run(now);
            assert_eq!(driver.network.link(LinkId(0)).begun_bytes(now), packets * 1_500, "{us} us, managed: {managed}");
        }
    }
}

#[test]
fn long_run_rate_is_exact() {
    let count = 5_000;
    let (arrivals, _) = deliver(&shaped(3_000, Limit::Unlimited), &vec![(Time::ZERO, 1_500); count]);
    let time = arrivals[count - 1].1.as_secs_f64();
    let sent = (count as f64 * 1_500.0 - 3_000.0) * 8.0;
    assert!((sent / (time - 12e-6) / 10e6 - 1.0).abs() < 1e-9);
}

#[test]
fn tokens_come_back_while_idle_but_never_above_the_burst() {
    let mut sends = vec![(Time::ZERO, 1_500); 10];
    sends.extend(vec![(Time::from_secs(60), 1_500); 12]);
    let (arrivals, _) = deliver(&shaped(15_000, Limit::Unlimited), &sends);
    let minute = Time::from_secs(60);
    assert_eq!(arrivals[19].1, minute + Time::from_us(120));
    assert_eq!(arrivals[20].1, minute + Time::from_us(1_212));
}

#[test]
fn a_limit_by_delay_bounds_the_wait() {
    let (arrivals, driver) = deliver(&shaped(1_600, Limit::Delay(Time::from_ms(400))), &[(Time::ZERO, 1_500); 1_000]);
    // Tokens for one at once, then one each 1.2 ms; 100 B of tokens are left over, worth 80 us.
    assert_eq!(arrivals.len(), 1 + 333);
    let last = arrivals[arrivals.len() - 1].1;
    assert!(last <= Time::from_us(400_012) && last > Time::from_us(398_800), "{last}");
    assert_eq!(driver.network.link(LinkId(0)).counters().drops, 1_000 - 334);
}

proptest! {
    /// In any interval at most burst + rate x length; and a packet waits only if tokens or the line are short.
    #[test]
    fn conforms_to_its_definition(
        sends in prop::collection::vec((0_u64..20_000, 40_u32..=1_538), 2..80),
        burst in 1_538_u64..10_000,
    ) {
        let mut at = Time::ZERO;
        let sends: Vec<_> = sends.into_iter().map(|(gap, bytes)| { at += Time::from_us(gap / 10); (at, bytes) }).collect();
        let (arrivals, _) = deliver(&shaped(burst, Limit::Unlimited), &sends);
        let starts: Vec<Time> = arrivals.iter().map(|(i, end)| *end - LINE.transmission_time(Bytes::new(u64::from(sends[*i].1)))).collect();
        for from in 0..starts.len() {
            let mut bytes = 0;
            for to in from..starts.len() {
                bytes += u64::from(sends[to].1);
                let length = starts[to] - starts[from];
                prop_assert!(bytes <= burst + RATE.bytes_in(length).get() + 1, "{bytes} B in {length}");
            }
        }
        // An independent bucket in floating point.
        let (mut tokens, mut clock, mut free) = (burst as f64, 0.0, 0.0);
        for (i, (at, bytes)) in sends.iter().enumerate() {
            let mut start = at.as_secs_f64().max(free);
            tokens = (tokens + (start - clock) * 1.25e6).min(burst as f64);
            if tokens < f64::from(*bytes) {
                start += (f64::from(*bytes) - tokens) / 1.25e6;
                tokens = f64::from(*bytes);
            }
            tokens -= f64::from(*bytes);
            clock = start;
            free = start + f64::from(*bytes) * 8e-9;
            prop_assert!((starts[i].as_secs_f64() - start).abs() < 1e-9, "packet {i}: {} against {start}", starts[i]);
        }
    }
}
