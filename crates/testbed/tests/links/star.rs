//! Real frames between the hosts of a star.

use super::measure::{goodput_between, round_trips_between};
use super::{alone, holds};
use net::Limit;
use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;
use testbed::link::{Bucket, Links, Path, Spoke, Star, StarSettings};
use units::{BitRate, Bytes, Time};

fn up(spokes: &[Spoke], links: Links) -> Star {
    let settings = StarSettings { links, control: Some("reno".to_owned()), ..StarSettings::default() };
    Star::up(spokes, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Median round trip in milliseconds between two hosts.
fn round_trip(star: &Star, from: usize, to: usize) -> f64 {
    let hosts = star.hosts();
    let to_address = Star::address(to).into();
    let times = round_trips_between(hosts[from].net(), hosts[to].net(), to_address, 15, Duration::from_millis(1));
    times[times.len() / 2]
}

fn rate(star: &Star, from: usize, to: usize) -> f64 {
    let hosts = star.hosts();
    let (warm_up, length) = (Duration::from_millis(700), Duration::from_millis(1_500));
    goodput_between(hosts[from].net(), hosts[to].net(), Star::address(to).into(), warm_up, length)
}

#[test]
fn a_round_trip_takes_the_delays_of_both_hosts_links() {
    let _alone = alone();
    let delays = [("m", 4), ("w1", 20), ("w2", 50)];
    let spokes = delays.map(|(name, ms)| Spoke::new(Path::new(name, BitRate::from_mbps(155), Time::from_ms(ms))));
    let star = up(&spokes, Links::Emulated);
    for (from, to) in [(0, 1), (1, 0), (1, 2), (0, 2)] {
        let ms = delays[from].1 + delays[to].1;
        holds(|| {
            let median = round_trip(&star, from, to);
            let report = star.report().expect("read").expect("emulated");
            let is_right = (median - ms as f64).abs() < 0.6;
            is_right.then_some(()).ok_or(format!("{median} ms for {ms} ms from {from} to {to}\n{report}"))
        });
    }
}

/// The slower of the sender's way up and the receiver's way down decides, and each way is that host's own.
#[test]
fn a_connection_gets_the_slower_rate_of_both_hosts_links() {
    let _alone = alone();
    let rates = [("m", 100), ("w1", 10), ("w2", 40)];
    let spokes = rates.map(|(name, mbps)| {
        Spoke::new(Path::new(name, BitRate::from_mbps(mbps), Time::from_ms(4)).with_limit(Limit::Packets(5_000)))
    });
    let star = up(&spokes, Links::Emulated);
    for (from, to) in [(0, 1), (0, 2), (2, 0), (1, 2)] {
        // 1448 of the 1514 bytes of a full frame.
        let most = rates[from].1.min(rates[to].1) as f64 * 1e6 * 1_448.0 / 1_514.0;
        holds(|| {
            let share = rate(&star, from, to) / most;
            let is_right = (0.95..1.01).contains(&share);
            is_right.then_some(()).ok_or(format!("{share} of {most} bit/s from {from} to {to}"))
        });
    }
}

#[test]
fn buckets_limit_each_way_of_links_of_either_kind() {
    let _alone = alone();
    for links in [Links::Veth, Links::Emulated] {
        let bucket = |mbps| Bucket {
            rate: BitRate::from_mbps(mbps),
            burst: Bytes::new(32_000),
            limit: Limit::Delay(Time::from_ms(400)),
        };
        let plain = |name| Spoke::new(Path::new(name, None, Time::ZERO));
        let spokes =
            [plain("m"), Spoke { egress: Some(bucket(10)), ingress: Some(bucket(30)), ..plain("w1") }, plain("w2")];
        let star = up(&spokes, links);
        for (from, to, mbps) in [(1, 0, 10.0), (0, 1, 30.0)] {
            // Veths carry segments that the receiver's kernel did not have to cut, with a header for each packet.
            holds(|| {
                let got = rate(&star, from, to) / 1e6;
                let is_right = (0.93..1.02).contains(&(got / mbps));
                is_right.then_some(()).ok_or(format!("{links:?}: {got} of {mbps} Mbit/s"))
            });
        }
        assert!(rate(&star, 2, 0) > 60e6, "{links:?}: a link without a bucket");
    }
}

#[test]
fn frames_are_lost_by_the_link_s_share_and_only_there() {
    let _alone = alone();
    let path = |name| Path::new(name, None, Time::from_ms(1));
    let mut lossy = path("w1");
    lossy.forth.loss = 0.1.into();
    let star = up(&[Spoke::new(path("m")), Spoke::new(lossy), Spoke::new(path("w2"))], Links::Emulated);
    let count = 4_000;
    for (from, to) in [(1, 0), (2, 0), (0, 1)] {
        let hosts = star.hosts();
        let before = star.report().expect("read").expect("emulated");
        let address = (Star::address(to), 5_001);
        let _server = hosts[to].within(|| UdpSocket::bind(address).expect("bound")).expect("entered");
        let client = hosts[from].within(|| UdpSocket::bind("0.0.0.0:0").expect("bound")).expect("entered");
        for number in 0..count {
            client.send_to(&[0; 100], address).expect("sent");
            if number % 20 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        std::thread::sleep(Duration::from_millis(50));
        let report = star.report().expect("read").expect("emulated").since(&before);
        let lost: Vec<u64> =
            report.paths.iter().map(|path| path.forth.counters.lost + path.back.counters.lost).collect();
        let expected = if from == 1 { f64::from(count) * 0.1 } else { 0.0 };
        // Five standard deviations of a binomial distribution: 5 sqrt(4000 x 0.1 x 0.9) = 95.
        assert!((lost[1] as f64 - expected).abs() <= 95.0 * (expected / 400.0), "{from} to {to}: {lost:?}\n{report}");
        assert_eq!((lost[0], lost[2]), (0, 0), "{report}");
        assert_eq!(report.paths[from].forth.counters.offered, u64::from(count as u32), "{report}");
    }
}

/// Frames go to their host alone: a switch whose table is fixed floods nothing.
#[test]
fn a_host_gets_only_its_own_frames() {
    let _alone = alone();
    let spokes = ["m", "w1", "w2"].map(|name| Spoke::new(Path::new(name, None, Time::ZERO)));
    for links in [Links::Veth, Links::Emulated] {
        let star = up(&spokes, links);
        round_trip(&star, 0, 1);
        let traffic = |host: usize| star.hosts()[host].traffic().expect("it has an interface");
        assert!(traffic(0).sent > 0 && traffic(1).received > 0, "{links:?}");
        assert_eq!((traffic(2).received, traffic(2).sent), (0, 0), "{links:?}");
    }
}

#[test]
fn hosts_have_names_and_their_processes_end_with_the_star() {
    let _alone = alone();
    let spokes = ["m", "w1"].map(|name| Spoke::new(Path::new(name, None, Time::ZERO)));
    let star = up(&spokes, Links::Veth);
    for (host, name) in star.hosts().iter().zip(["m", "w1"]) {
        let said = host.within(|| Command::new("cat").arg("/proc/sys/kernel/hostname").output().expect("run"));
        assert_eq!(String::from_utf8_lossy(&said.expect("entered").stdout).trim(), name);
    }
    let mut sleeper = star.hosts()[1].spawn(Command::new("sleep").arg("60")).expect("started");
    drop(star);
    assert!(!sleeper.wait().expect("ended").success());
}

/// A link at a part of its rate, of either kind, shaped or not, and as before afterwards.
#[test]
fn a_link_becomes_slow_and_is_restored() {
    let _alone = alone();
    let bucket =
        Bucket { rate: BitRate::from_mbps(40), burst: Bytes::new(32_000), limit: Limit::Delay(Time::from_ms(400)) };
    let emulated = Path::new("w1", BitRate::from_mbps(40), Time::from_ms(1));
    let plain = |name| Spoke::new(Path::new(name, None, Time::ZERO));
    let shaped = Spoke { egress: Some(bucket), ingress: Some(bucket), ..plain("w1") };
    let cases = [(Links::Emulated, Spoke::new(emulated)), (Links::Emulated, shaped.clone()), (Links::Veth, shaped)];
    for (links, spoke) in cases {
        let star = up(&[plain("m"), spoke.clone()], links);
        for (part, mbps) in [(0.25, 10.0), (1.0, 40.0)] {
            star.set_link_part(1, part, BitRate::from_gbps(15)).expect("changed");
            for (from, to) in [(0, 1), (1, 0)] {
                holds(|| {
                    let share = rate(&star, from, to) / 1e6 / mbps;
                    let is_right = (0.9..1.03).contains(&share);
                    is_right.then_some(()).ok_or(format!("{links:?}, {spoke:?}: {share} of {mbps} Mbit/s"))
                });
            }
        }
    }
    // A link of the kernel's own gets a bucket, and loses it.
    let star = up(&[plain("m"), plain("w1")], Links::Veth);
    star.set_link_part(1, 0.001, BitRate::from_gbps(10)).expect("changed");
    holds(|| {
        let share = rate(&star, 0, 1) / 10e6;
        (0.9..1.03).contains(&share).then_some(()).ok_or(format!("{share} of 10 Mbit/s"))
    });
    star.set_link_part(1, 1.0, BitRate::from_gbps(10)).expect("restored");
    assert!(rate(&star, 0, 1) > 60e6);
}

/// Nothing crosses a link that is down, in either direction, and others do not notice.
#[test]
fn a_link_that_is_down_carries_nothing() {
    let _alone = alone();
    let spokes = ["m", "w1", "w2"].map(|name| Spoke::new(Path::new(name, None, Time::ZERO)));
    for links in [Links::Veth, Links::Emulated] {
        let star = up(&spokes, links);
        let arrives = |from: usize, to: usize| {
            let address = (Star::address(to), 5_002);
            let server = star.hosts()[to].within(|| UdpSocket::bind(address).expect("bound")).expect("entered");
            let client = star.hosts()[from].within(|| UdpSocket::bind("0.0.0.0:0").expect("bound")).expect("entered");
            server.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
            client.send_to(b"x", address).expect("sent");
            server.recv(&mut [0; 8]).is_ok()
        };
        assert!(arrives(0, 1) && arrives(1, 0), "{links:?}");
        star.set_link_up(1, false).expect("down");
        assert_eq!((arrives(0, 1), arrives(1, 0), arrives(0, 2)), (false, false, true), "{links:?}");
        star.set_link_up(1, true).expect("up");
        assert!(arrives(0, 1) && arrives(1, 0), "{links:?}");
    }
}
