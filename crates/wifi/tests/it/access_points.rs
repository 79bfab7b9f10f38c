//! Access points that are switched off and on, and those that let go of clients of which nothing is heard any more.

use crate::harness::{Run, access_point, rest};
use units::{BitRate, Time};
use wifi::mac::{AccessPointSpec, ClientSpec, MacConfig, Reason, StationId};
use wifi::medium::{Role, StationSpec};
use wifi::mobility::Mobility;
use wifi::phy::{Settings, Standard};

fn spec(role: Role, mobility: Mobility) -> StationSpec {
    let phy = Settings::new(Standard::A);
    let mac = MacConfig::new(phy, phy.at_rate(BitRate::from_mbps(24)).unwrap());
    StationSpec { role, ..StationSpec::new(mobility, mac) }
}

fn client() -> Role {
    Role::Client(ClientSpec::default())
}

fn ms(time: u64) -> Time {
    Time::from_ms(time)
}

/// A beacon every so often.
const BEACONS: Time = Time::from_us(102_400);

/// When a client joined and lost access points.
fn moves(run: &Run, client: u32) -> Vec<(Time, Option<u32>)> {
    let own = run.moves.iter().filter(|(_, station, _)| station.0 == client);
    own.map(|(at, _, point)| (*at, point.map(|point| point.0))).collect()
}

/// Two access points, a client nearer to the first, a client of the second that sends to it.
fn two() -> Run {
    Run::new(&[
        spec(access_point(), rest(0.0, 0.0)),
        spec(access_point(), rest(30.0, 0.0)),
        spec(client(), rest(10.0, 0.0)),
        spec(client(), rest(29.0, 0.0)),
    ])
}

/// One access point and two clients, after half a second in which the one has sent to the other.
fn one() -> Run {
    let mut run = Run::new(&[
        spec(access_point(), rest(0.0, 0.0)),
        spec(client(), rest(3.0, 0.0)),
        spec(client(), rest(-3.0, 0.0)),
    ]);
    run.steadily(1, 2, ms(500), ms(10), ms(1_000));
    run
}

/// Its client misses seven beacons and goes over to the other one; what the wire brought to the dead one meanwhile is
/// lost there.
#[test]
fn clients_of_an_access_point_that_is_off_go_over_to_another() {
    let mut run = two();
    let (off, step) = (ms(1_000), ms(5));
    run.steadily(3, 2, ms(500), step, off);
    assert_eq!(run.arrived.len(), 100);
    run.power(off, 0, false);
    assert!(!run.medium.is_on(StationId(0)));
    let sent = run.medium.station(StationId(0)).counters().ppdus;
    run.steadily(3, 2, off + step, step, ms(3_000));
    assert_eq!(run.medium.station(StationId(0)).counters().ppdus, sent, "not even a beacon");
    let [(_, Some(0)), (lost, None), (found, Some(1))] = moves(&run, 2)[..] else { panic!("{:?}", run.moves) };
    // The last beacon came within an interval before it was switched off.
    assert!(lost > off + BEACONS * 6 && lost <= off + BEACONS * 7, "{lost}");
    assert!(found > lost + ms(20) && found < lost + ms(25), "{found}: a probe of 20 ms and four frames");
    let late = run.arrived.iter().filter(|(at, ..)| *at > off);
    let first = late.clone().map(|(at, ..)| *at).min().unwrap();
    assert!(first > found && first < found + step * 2, "{first} after {found}");
    // Everything in between was handed to the wire by the living access point and ended at the dead one.
    let dead: Vec<_> = run.dropped.iter().filter(|(_, dropped)| dropped.reason == Reason::Off).collect();
    assert!(dead.iter().all(|(_, dropped)| dropped.at == StationId(0)));
    assert_eq!(late.count() + dead.len(), 400, "{} ended at the dead one", dead.len());
    assert_eq!(run.dropped.len(), dead.len());
    // Back again it is where it was, and nobody's: its former client hears its new one well enough.
    run.power(ms(3_000), 0, true);
    run.steadily(3, 2, ms(3_005), step, ms(4_000));
    assert!(run.medium.station(StationId(0)).counters().ppdus > sent + 8);
    assert_eq!(moves(&run, 2).len(), 3);
    assert_eq!(run.arrived.iter().filter(|(at, ..)| *at > ms(3_000)).count(), 200);
}

/// What a client sends to an access point that is off it sends seven times, and then it has nobody.
#[test]
fn a_client_of_the_only_access_point_retries_and_waits_for_it() {
    let mut run = one();
    let (off, on) = (ms(1_002), ms(4_000));
    run.power(off, 0, false);
    run.steadily(1, 2, ms(1_010), ms(10), on);
    let [(_, Some(0)), (lost, None)] = moves(&run, 1)[..] else { panic!("{:?}", run.moves) };
    run.power(on, 0, true);
    let reasons = |before: bool| -> Vec<Reason> {
        let dropped = run.dropped.iter().filter(|(at, dropped)| dropped.at == StationId(1) && (*at < lost) == before);
        dropped.map(|(_, dropped)| dropped.reason).collect()
    };
    let (before, after) = (reasons(true), reasons(false));
    assert_eq!(before.len() + after.len(), 301);
    // Seven attempts with their windows take 9 ms of backoff and 5 of frames.
    assert!((35..=55).contains(&before.len()), "{}", before.len());
    assert!(before.iter().all(|reason| *reason == Reason::RetryLimit), "{before:?}");
    assert!(after.iter().all(|reason| *reason == Reason::Unreachable), "{after:?}");
    run.steadily(1, 2, on + ms(10), ms(10), ms(5_000));
    let [.., (found, Some(0))] = moves(&run, 1)[..] else { panic!("{:?}", run.moves) };
    // It probes every 120 ms.
    assert!(found < on + ms(150), "{found}");
}

/// One that comes back before its clients have missed it does not know them: it takes nothing of theirs, tells them so,
/// and they join anew.
#[test]
fn an_access_point_that_was_off_for_a_moment_tells_its_clients_that_they_are_strangers() {
    let mut run = one();
    let before = run.arrived.len();
    let (off, on) = (ms(1_002), ms(1_102));
    run.power(off, 0, false);
    run.until(on, |_, _| {});
    run.power(on, 0, true);
    run.steadily(1, 2, ms(1_110), ms(10), ms(2_000));
    let [(_, Some(0)), (lost, None), (found, Some(0))] = moves(&run, 1)[..] else { panic!("{:?}", run.moves) };
    // Its first packet is refused.
    assert!(lost > ms(1_110) && lost < ms(1_112), "{lost}");
    assert!(found > lost + ms(20) && found < lost + ms(25), "{found}");
    // Who only listens hears beacons as before, and is a stranger.
    assert_eq!(moves(&run, 2).len(), 1);
    assert_eq!(run.arrived.len(), before);
    assert!(run.dropped.iter().filter(|(at, _)| *at > on).all(|(_, dropped)| dropped.reason == Reason::Unreachable));
    // It shows itself 30 s after the last packet that came.
    run.until(ms(32_000), |_, _| {});
    let [_, (lost, None), (found, Some(0))] = moves(&run, 2)[..] else { panic!("{:?}", run.moves) };
    let (last, ..) = run.arrived.iter().rfind(|(.., station)| station.0 == 2).unwrap();
    assert!(lost >= *last + Time::from_secs(30) && lost < *last + ms(30_010), "{lost}");
    assert!(found > lost + ms(20) && found < lost + ms(25), "{found}");
    run.steadily(1, 2, ms(32_000), ms(10), ms(32_990));
    run.until(ms(33_100), |_, _| {});
    assert_eq!(run.arrived.len(), before + 100);
}

/// A client that has died without a word is asked after the time given, and let go of three seconds later with what
/// waits for it. One that lives and has nothing to say answers.
#[test]
fn clients_that_have_died_are_let_go_of() {
    for listen_interval in [None, Some(3)] {
        let patience = Time::from_secs(20);
        let keeper = Role::AccessPoint(AccessPointSpec { max_inactivity: patience });
        let quiet = Role::Client(ClientSpec { listen_interval, ..ClientSpec::default() });
        let mut run = Run::new(&[
            spec(keeper, rest(0.0, 0.0)),
            spec(quiet, rest(3.0, 0.0)),
            spec(quiet, rest(-3.0, 0.0)),
            spec(client(), rest(0.0, 3.0)),
        ]);
        let died = ms(5_000);
        run.until(died, |_, _| {});
        let joined = moves(&run, 1)[0].0;
        run.power(died, 1, false);
        // Of a client that dozed nobody knows that it is off: packets wait for it. Else they are given up one by one.
        let waits = listen_interval.is_some();
        run.steadily(3, 1, ms(6_000), ms(500), ms(10_000));
        run.until(ms(12_000), |_, _| {});
        assert_eq!(run.medium.station(StationId(0)).queued(), if waits { 9 } else { 0 });
        let given_up = run.dropped.len();
        assert_eq!(given_up, if waits { 0 } else { 9 });
        // Last heard when it joined, or when it said that it dozes.
        let asked = joined + patience;
        run.until(asked + ms(3_000), |_, _| {});
        assert_eq!(run.dropped.len(), given_up);
        run.until(asked + ms(3_500), |_, _| {});
        assert_eq!(run.medium.station(StationId(0)).queued(), 0, "its power save buffer is free");
        let reasons: Vec<Reason> = run.dropped[given_up..].iter().map(|(_, dropped)| dropped.reason).collect();
        assert_eq!(reasons, vec![Reason::Unreachable; if waits { 9 } else { 0 }]);
        // What comes for it now ends at once, and costs nothing on the air.
        let ppdus = run.medium.station(StationId(0)).counters().data_ppdus;
        let now = asked + ms(3_500);
        run.send(now, 100, 3, 1);
        run.until(now + ms(10), |_, _| {});
        let (_, last) = run.dropped.last().unwrap();
        assert_eq!((last.packet, last.at, last.reason), (100, StationId(0), Reason::Unreachable));
        assert!(run.medium.station(StationId(0)).counters().data_ppdus <= ppdus + 1, "a beacon at most");
        // The living ones are members for ever: each time they are asked they acknowledge.
        run.until(Time::from_secs(120), |_, _| {});
        run.send(Time::from_secs(120), 200, 3, 2);
        run.until(Time::from_secs(122), |_, _| {});
        assert_eq!(run.arrived.iter().filter(|(.., station)| station.0 == 2).count(), 1);
        assert_eq!((moves(&run, 2).len(), moves(&run, 3).len()), (1, 1));
    }
}
