//! Short sessions that meet at one port, against ns-2 2.35 and ns-3.37 (`reference/incast_short.csv`): 200 clients that
//! the link carries, 900 that nearly fill it, 2,000 that offer twice what it carries.

use crate::reference::{incast_marks_table, incast_short_table};
use net::{Discipline, Limit, LinkId, RedSpec};
use results::TrafficOutcome;
use sim::bench::incast_short;
use sim::world::{World, WorldSpec};
use units::{BitRate, Time};

struct Measured {
    traffic: TrafficOutcome,
    drops: u64,
    /// Share of the bottleneck's time in which it sent.
    busy: f64,
    /// Mean packets in its queue, and most.
    queue: f64,
    longest: u64,
    marks: u64,
}

fn run(clients: u32, access_mbps: u64, length: Time) -> Measured {
    run_seed(clients, access_mbps, length, 1)
}

fn run_seed(clients: u32, access_mbps: u64, length: Time, seed: u64) -> Measured {
    let mut spec = incast_short(clients, BitRate::from_mbps(access_mbps));
    spec.seed = seed;
    run_spec(&spec, clients, length)
}

fn run_spec(spec: &WorldSpec, clients: u32, length: Time) -> Measured {
    let mut world = World::new(spec).unwrap();
    world.run(length);
    world.packets().unwrap().ledger().unwrap();
    let bottleneck = world.packets().unwrap().link(bottleneck(clients));
    let span = length.as_ps() as f64;
    Measured {
        drops: bottleneck.counters().drops,
        busy: bottleneck.busy(length).as_ps() as f64 / span,
        queue: bottleneck.queue_integral(length) as f64 / span,
        longest: bottleneck.counters().longest_queue,
        marks: bottleneck.counters().marks,
        traffic: world.traffic_outcomes().remove(0),
    }
}

/// Cables are those of the clients, then the server's.
fn bottleneck(clients: u32) -> LinkId {
    LinkId(2 * clients)
}

/// A column of the rows of both simulators for a set-up.
fn references(clients: u32, access_mbps: u64, length: &str, column: &str) -> [f64; 2] {
    let (n, access) = (clients.to_string(), access_mbps.to_string());
    let of = |sim, proto| {
        let wanted =
            [("sim", sim), ("proto", proto), ("N", &*n), ("access_mbps", &*access), ("T", length), ("mode", "new")];
        incast_short_table().mean(&wanted, column)
    };
    [of("ns2", "Sack1"), of("ns3", "Sack")]
}

fn near(what: &str, value: f64, references: &[f64], tolerance: f64) {
    let off = references.iter().map(|reference| (value / reference - 1.0).abs()).fold(f64::INFINITY, f64::min);
    assert!(off <= tolerance, "{what}: {value}, references {references:?}, tolerance {tolerance}");
}

/// No more than 1.5 times one of them, or less than one by more than that: how far the two are apart.
fn same_order(what: &str, value: f64, references: [f64; 2]) {
    let (low, high) = (references[0].min(references[1]) / 1.5, references[0].max(references[1]) * 1.5);
    assert!((low..=high).contains(&value), "{what}: {value}, references {references:?}");
}

/// ns-2's completion is the sender's last acknowledgement; ours and ns-3's are the receiver's last byte, one way
/// earlier.
const ONE_WAY: f64 = 1.03e-3;

#[test]
fn sessions_that_the_link_carries_take_the_time_of_their_round_trips() {
    for (access, length, seconds, tolerance) in [(100, "5", 5.0, 0.01), (10, "2", 2.0, 0.05)] {
        let got = run(200, access, Time::from_secs_f64(seconds));
        assert_eq!(got.drops, 0);
        let [ns2, ns3] = references(200, access, length, "fct_p50");
        let median = got.traffic.completion_p50.as_secs_f64();
        near(&format!("median at {access} Mbit/s"), median, &[ns2 - ONE_WAY, ns3], tolerance);
        let [ns2, ns3] = references(200, access, length, "fct_mean");
        let mean = got.traffic.completion_mean.as_secs_f64();
        near(&format!("mean at {access} Mbit/s"), mean, &[ns2 - ONE_WAY, ns3], tolerance);
        near("utilisation", got.busy, &references(200, access, length, "util"), 0.02);
        // The Poisson process has its own draws: four standard deviations.
        let offered = 200.0 * seconds / 0.04;
        assert!((got.traffic.begun as f64 - offered).abs() < 4.0 * offered.sqrt(), "{} begun", got.traffic.begun);
    }
}

#[test]
fn a_link_that_is_nearly_full_drops_little() {
    // Where 2 % are left over, a few moments in which many begin at once decide what is dropped: the mean over seeds is
    // compared.
    let drops: Vec<u64> = (1..=8).map(|seed| run_seed(900, 100, Time::from_secs(1), seed).drops).collect();
    let mean = drops.iter().sum::<u64>() as f64 / 8.0;
    same_order(&format!("drops {drops:?}"), mean, references(900, 100, "1", "drops"));
    let got = run(900, 100, Time::from_secs(1));
    let [ns2, ns3] = references(900, 100, "1", "fct_p50");
    near("median", got.traffic.completion_p50.as_secs_f64(), &[ns2 - ONE_WAY, ns3], 0.02);
    near("utilisation", got.busy, &references(900, 100, "1", "util"), 0.02);
}

#[test]
fn twice_what_the_link_carries_drops_as_much_as_in_the_references() {
    let got = run(2_000, 100, Time::from_ms(400));
    same_order("drops", got.drops as f64, references(2_000, 100, "0.4", "drops"));
    same_order("sessions done", got.traffic.completed as f64, references(2_000, 100, "0.4", "done"));
    near("utilisation", got.busy, &references(2_000, 100, "0.4", "util"), 0.01);
    near("mean queue", got.queue, &references(2_000, 100, "0.4", "qmean"), 0.02);
    // Half of those that complete had no loss; the others wait for a timer.
    same_order("median", got.traffic.completion_p50.as_secs_f64(), references(2_000, 100, "0.4", "fct_p50"));
    // A whole second, of which only ns-2 has a row.
    let got = run(2_000, 100, Time::from_secs(1));
    let wanted = [("sim", "ns2"), ("proto", "Sack1"), ("N", "2000"), ("T", "1"), ("mode", "new")];
    let ns2 = |column| [incast_short_table().mean(&wanted, column); 2];
    same_order("drops in a second", got.drops as f64, ns2("drops"));
    same_order("sessions done in a second", got.traffic.completed as f64, ns2("done"));
}

/// Above how many packets the queue marks, and how it treats what cannot be marked.
const K: u32 = 65;
const MARKS: Discipline = Discipline::Threshold { mark_above: Limit::Packets(K) };

/// One second of 905 clients with ECN, over four seeds.
fn with_marks(discipline: Discipline, limit: u32, ecn: bool) -> Vec<Measured> {
    let run = |seed| {
        let mut spec = incast_short(905, BitRate::from_mbps(100));
        (spec.seed, spec.traffic[0].tcp.ecn) = (seed, ecn);
        let link = spec.topology.spec_mut(bottleneck(905));
        (link.discipline, link.limit) = (discipline, Limit::Packets(limit));
        run_spec(&spec, 905, Time::from_secs(1))
    };
    (1..=4).map(run).collect()
}

fn mean(outcomes: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
}

/// ns-2 says so too: where sessions are too short for a window and too many for the buffer, marks bring drops instead
/// of sparing them.
#[test]
fn marks_at_a_nearly_full_link_bring_drops() {
    let table = incast_marks_table();
    let ns2 = |queue| table.mean(&[("queue", queue), ("K", "65")], "drops");
    let drops = |outcomes: &[Measured]| mean(outcomes, |outcome| outcome.drops as f64);
    let tail = drops(&with_marks(Discipline::DropTail, 128, false));
    same_order("drops without marks", tail, [ns2("drop-tail"); 2]);
    let marked = with_marks(MARKS, 128, true);
    assert!(marked.iter().all(|outcome| outcome.marks > 10_000 && outcome.longest == 128));
    assert!(drops(&marked) > 10.0 * tail, "{} {tail}", drops(&marked));
    assert!(ns2("red") > 10.0 * ns2("drop-tail"));
    // ns-2 has no queue that only marks: its RED drops above K what it cannot mark, SYNs too, which the clients then
    // send again after a second. So does ours with its upper threshold at K. What is left between them is that ns-2's
    // window goes down to one segment, ours to two (RFC 5681, equation 4).
    let red = RedSpec {
        min: Some(Limit::Packets(K - 1)),
        max: Some(Limit::Packets(K)),
        weight: Some(1.0),
        max_p: 1.0,
        ..RedSpec::default()
    };
    let red = with_marks(Discipline::Red(red), 128, true);
    assert!(drops(&red) > 5.0 * tail && drops(&red) < ns2("red"), "{} {tail}", drops(&red));
    let lost = |outcomes: &[Measured]| mean(outcomes, |outcome| outcome.busy);
    assert!(lost(&red) < 0.93 && ns2_utilisation(&table) < 0.93, "the link stands idle at 94 % load: {}", lost(&red));
}

fn ns2_utilisation(table: &crate::reference::Table) -> f64 {
    table.mean(&[("queue", "red"), ("K", "65")], "util")
}

/// Why. Nearly every session that is open in a round trip is marked, 250 of them, and halves; the link runs empty. Then
/// all grow at once, by a segment each round trip, which is four times the room above the threshold. In a buffer that
/// holds these swings nothing is lost, marked or not; but the queue is longer with marks, its peaks are what a buffer
/// of 128 cannot hold, and a session takes two round trips more.
#[test]
fn marks_make_all_sessions_swing_together() {
    let tail = with_marks(Discipline::DropTail, 1_000, false);
    let marked = with_marks(MARKS, 1_000, true);
    for (tail, marked) in tail.iter().zip(&marked) {
        assert_eq!((tail.drops, marked.drops), (0, 0));
        assert!(marked.longest > tail.longest.max(256), "{} {}", marked.longest, tail.longest);
        assert!(marked.queue > 2.0 * tail.queue, "{} {}", marked.queue, tail.queue);
        let more = marked.traffic.completion_p50 - tail.traffic.completion_p50;
        // A round trip is 2.05 ms without the queue.
        assert!((Time::from_us(2_050)..Time::from_us(3 * 2_050)).contains(&more), "{more}");
    }
}
