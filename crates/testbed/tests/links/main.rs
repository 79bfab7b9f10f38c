//! Real frames between real namespaces. Where the machine cannot, these fail and say what it lacks: CI is root, with
//! TUN/TAP and network namespaces.
//!
//! A program of its own, which `scripts/test` runs before all others, so that what is measured here has the processor
//! to itself. Inside it one test runs at a time, for the same reason.

mod measure;
mod star;

use measure::{datagrams, goodput, round_trips};
use net::Limit;
use std::fs;
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use testbed::link::{Pair, Path};
use units::{BitRate, Time};

/// One at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A measurement holds if one of three does: what the machine's host takes from it while one runs only makes paths
/// slower. It does so for seconds on end, so that the next begins some later. A path that is wrong is so three times.
fn holds(mut measure: impl FnMut() -> Result<(), String>) {
    let mut failed = Vec::new();
    for pause in [0, 5, 15] {
        std::thread::sleep(Duration::from_secs(pause));
        match measure() {
            Ok(()) => return,
            Err(why) => failed.push(why),
        }
    }
    panic!("{}", failed.join("\n"));
}

fn up(path: Path) -> Pair {
    Pair::up(&[path], 1).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn round_trips_take_the_path_s_delay() {
    let _alone = alone();
    for ms in [10, 40, 120] {
        let pair = up(Path::new("wan", BitRate::from_mbps(155), Time::from_ms(ms)));
        let addresses = pair.addresses()[0];
        let both = [Some(IpAddr::from(addresses.far)), addresses.far_v6.map(IpAddr::from)];
        for to in both.into_iter().flatten() {
            holds(|| {
                let times = round_trips(&pair, to, 15, Duration::from_millis(1));
                let median = times[times.len() / 2];
                let report = pair.report().expect("a report");
                assert!(times[0] >= ms as f64, "{times:?}");
                let is_right = (median - ms as f64).abs() < 0.3;
                is_right.then_some(()).ok_or(format!("{median} ms for {ms} ms to {to}: {times:?}\n{report}"))
            });
        }
    }
}

/// Where the queue never fills, Reno loses nothing, and sends as fast as the path can from its slow start on.
#[test]
fn a_connection_gets_the_path_s_rate() {
    let _alone = alone();
    for mbps in [10, 100] {
        let path = Path::new("wan", BitRate::from_mbps(mbps), Time::from_ms(20)).with_limit(Limit::Packets(20_000));
        let most = path.forth.tcp_goodput().expect("it has a rate").as_bps() as f64;
        let pair = up(path);
        let reno = ["route", "change", "198.18.0.0/24", "dev", "wan", "src", "198.18.0.1", "congctl", "reno"];
        let mut ip = pair.near().spawn(Command::new("ip").args(reno)).expect("ip runs");
        assert!(ip.wait().expect("ended").success());
        let far = pair.addresses()[0].far.into();
        holds(|| {
            let before = pair.report().expect("a report");
            let got = goodput(&pair, far, Duration::from_millis(700), Duration::from_millis(1_500));
            let report = pair.report().expect("a report").since(&before);
            // Never more than the path carries, and nearly all of it.
            let is_right = (0.97..1.005).contains(&(got / most));
            is_right.then_some(()).ok_or(format!("{:.2} of {:.2} Mbit/s\n{report}", got / 1e6, most / 1e6))
        });
    }
}

#[test]
fn datagrams_are_lost_at_random_and_by_seed() {
    let _alone = alone();
    let (count, share) = (4_000, 0.05);
    let once = |seed| {
        let path = Path::new("lossy", None, Time::from_ms(2)).with_loss(share);
        let pair = Pair::up(&[path], seed).unwrap_or_else(|error| panic!("{error}"));
        let arrived = datagrams(&pair, pair.addresses()[0].far.into(), count, 20_000.0);
        let report = pair.report().expect("a report");
        assert_eq!(report.paths[0].forth.counters.lost, u64::from(count) - arrived.len() as u64, "{report}");
        arrived
    };
    let arrived = once(1);
    let lost = f64::from(count) - arrived.len() as f64;
    let (mean, deviation) = (f64::from(count) * share, (f64::from(count) * share * (1.0 - share)).sqrt());
    assert!((lost - mean).abs() < 4.0 * deviation, "{lost} lost, {mean} expected");
    assert!(arrived.is_sorted(), "in order");
    assert!(once(1) == arrived, "the same seed loses the same");
    assert!(once(2) != arrived, "another seed loses others");
}

#[test]
fn what_runs_in_the_namespaces_ends_with_them() {
    let _alone = alone();
    let pair = up(Path::new("metro", BitRate::from_mbps(155), Time::from_ms(1)));
    let mut child = pair.far().spawn(Command::new("sleep").arg("600").stdin(Stdio::null())).expect("spawned");
    assert_eq!(pair.far().processes().expect("listed"), [child.id()]);
    let seen = Command::new("nsenter")
        .arg(format!("--net={}", pair.near().path().display()))
        .args(["ip", "-brief", "address"])
        .output()
        .expect("nsenter runs");
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(seen.contains("metro") && seen.contains("198.18.0.1/24") && seen.contains("2001:2::1/64"), "{seen}");
    let path = pair.near().path();
    drop(pair);
    assert!(!child.wait().expect("ended").success());
    assert!(fs::metadata(path).is_err(), "its handle is closed");
}
