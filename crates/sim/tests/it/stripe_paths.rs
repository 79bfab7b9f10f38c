//! One byte stream over streams whose number is tuned, on the paths that gateways are for: what it carries of what the
//! path does, and how soon.

use crate::support::streams::{beside, run, traffic};
use results::{RunResult, TrafficOutcome};

/// 155 Mbit/s, a queue of what the path carries in a round trip, sockets that the gateways choose: what became of a
/// stream without end.
fn carried(rtt_ms: u32, loss: f64, control: &str, stripe: &str, warm_up_ms: u32, until_ms: u32) -> TrafficOutcome {
    let result = run_at(155, rtt_ms, loss, control, stripe, warm_up_ms, until_ms);
    traffic(&result, "jet").clone()
}

/// The run of such a stream at any rate.
fn run_at(mbps: u32, rtt_ms: u32, loss: f64, control: &str, stripe: &str, warm_up_ms: u32, until_ms: u32) -> RunResult {
    let delay_us = rtt_ms * 500;
    let queue = mbps * 1000 * rtt_ms / 8 / 1500;
    run(&format!(
        r#"
        [cluster]
        workers = 2
        [network]
        topology = "dumbbell"
        delay = "0 us"
        rate = "10 Gbit/s"
        core = {{ rate = "{mbps} Mbit/s", delay = "{delay_us} us", loss = {loss} }}
        queue = {{ limit = "{queue} packets" }}
        framing = "none"
        [tcp]
        control = "{control}"
        # RFC 6298's: with Linux's, which adds 200 ms to every round trip, and without its tail loss probes, what waits for a
        # timeout waits longer (docs/models/stripe.md).
        rto-estimator = "rfc6298"
        pacing = true
        receive-buffer = "32 MiB"
        send-buffer = "4 MiB"
        [[traffic]]
        name = "jet"
        kind = "stripe"
        from = "worker-2"
        stripe = {{ credit = "1 MiB", {stripe} }}
        [run]
        warm-up = "{warm_up_ms} ms"
        until = "{until_ms} ms"
        "#
    ))
}

/// Of the payload that the path carries.
fn share(outcome: &TrafficOutcome) -> f64 {
    share_of(155, outcome)
}
fn share_of(mbps: u32, outcome: &TrafficOutcome) -> f64 {
    outcome.goodput_warm.as_bps() as f64 / (f64::from(mbps) * 1e6 * 1448.0 / 1500.0)
}

#[test]
fn a_clean_path_is_soon_full() {
    // Slow start from 4 x 10 segments has 40 to 10,000 segments to go; at half a second the receiver's credit, which
    // follows, takes some round trips more.
    for (rtt, rounds) in [(40, 12), (120, 12), (539, 20)] {
        let outcome = carried(rtt, 0.0, "cubic", "streams = \"auto\"", rounds * rtt, (rounds + 18) * rtt);
        let share = share(&outcome);
        assert!(share > 0.9, "{rtt} ms: {share}, {:?}", outcome.stripe);
    }
}

#[test]
fn random_losses_are_made_up_for_by_as_many_streams_as_it_takes() {
    let outcome = carried(100, 0.001, "cubic", "streams = \"auto\"", 10_000, 30_000);
    let numbers = outcome.stripe.as_ref().map(|stripe| stripe.numbers.clone());
    assert!(share(&outcome) > 0.85, "{}: {numbers:?}", share(&outcome));
    // 4.49 Mbit/s each by Mathis' model: 33 fill it.
    let most = numbers.iter().flatten().map(|number| number.streams).max().unwrap_or(0);
    assert!((25..=90).contains(&most), "{numbers:?}");
    // BBR needs no more than it begins with.
    let outcome = carried(100, 0.001, "bbr", "streams = \"auto\"", 10_000, 30_000);
    let numbers = outcome.stripe.as_ref().map(|stripe| stripe.numbers.clone());
    assert!(share(&outcome) > 0.85, "{}: {numbers:?}", share(&outcome));
    assert!(numbers.iter().flatten().all(|number| number.streams <= 8), "{numbers:?}");
}

/// What either end may hold: credit, and at the sender what is written ahead. It is two round trips, in which the queue
/// counts as long as it has been, with twice what is held out of order where segments are lost (by chance, or in the
/// queue), and four round trips at most.
#[test]
fn two_round_trips_may_be_held_and_four_where_segments_are_lost() {
    for (mbps, rtt, loss, control, streams) in
        [(155, 40, 0.0, "cubic", 4), (155, 539, 0.0, "cubic", 4), (1000, 100, 0.001, "bbr", 16)]
    {
        let streams = format!("streams = {streams}");
        let result = run_at(mbps, rtt, loss, control, &streams, 10_000, 20_000);
        let outcome = traffic(&result, "jet");
        let stripe = outcome.stripe.as_ref().expect("a stripe's");
        let may_hold = stripe.credit.get() + (384 << 10);
        let queue = result.links.iter().map(|link| link.queue_max).max().unwrap_or(0) * 1500;
        let round = u64::from(mbps) * 125 * u64::from(rtt) + queue;
        let case = format!("{mbps} Mbit/s, {rtt} ms, {loss}, {control}");
        let drops: u64 = result.links.iter().map(|link| link.drops).sum();
        let out_of_order = if loss > 0.0 || drops > 0 { stripe.out_of_order_max.get() } else { 0 };
        let most = (2 * (round + out_of_order)).min(4 * round) + (1 << 20);
        assert!(may_hold <= most, "{case}: {:.2} round trips", may_hold as f64 / round as f64);
        let share = share_of(mbps, outcome);
        assert!(share > 0.85, "{case}: {share}");
    }
}

#[test]
fn no_more_is_held_than_four_round_trips_bring() {
    for (rtt, loss) in [(40, 0.0), (100, 0.001)] {
        let outcome = carried(rtt, loss, "cubic", "streams = \"auto\"", 0, 20_000);
        let held = outcome.stripe.as_ref().map_or(0, |stripe| stripe.buffered_max.get());
        let round = 155_000_000 / 8 * u64::from(rtt) / 1000;
        assert!(held <= 4 * round + (1 << 20), "{rtt} ms: {held} bytes");
    }
}

#[test]
fn ten_others_keep_what_the_policy_leaves_them() {
    let network = r#"delay = "0 us"
        core = { rate = "155 Mbit/s", delay = "20 ms" }
        queue = { limit = "516 packets" }"#;
    let others = |ours: &str| {
        let ours = format!("start = \"5 s\"\n{ours}");
        let result = beside(network, 10, "jitter = \"1 s\"", &ours, "until = \"65 s\"\nwarm-up = \"15 s\"", &[]);
        traffic(&result, "others").goodput_warm.as_bps() as f64
    };
    let beside_tcp = others("kind = \"long\"");
    let fill = others("kind = \"stripe\"\nstripe = { policy = \"fill\" }") / beside_tcp;
    let polite = others("kind = \"stripe\"\nstripe = { policy = \"polite\" }") / beside_tcp;
    println!("of what they have beside one TCP connection: fill {fill:.3}, polite {polite:.3}");
    assert!(fill > 0.75, "{fill}");
    assert!(polite > 0.95, "{polite}");
}

/// 50 Mbit/s, 100 ms, ten others with Reno: 128 streams take most. Two seeds, since a doubling that chance refuses costs
/// one run but not both.
#[test]
fn greedy_takes_of_a_full_path_what_the_best_number_does() {
    let network = r#"delay = "0 us"
        core = { rate = "50 Mbit/s", delay = "50 ms" }
        queue = { limit = "416 packets" }"#;
    let set = ["tcp.rto-estimator=rfc6298", "tcp.receive-buffer='4 MiB'", "tcp.send-buffer='4 MiB'"];
    let carried = |streams: &str, seed: u32| {
        let stripe = format!(r#"streams = {streams}, policy = "greedy", credit = "64 MiB", max-credit = "64 MiB""#);
        let ours = format!("start = \"5 s\"\nkind = \"stripe\"\nstripe = {{ {stripe} }}");
        let more = format!("seed = {seed}\nwarm-up = \"40 s\"\nuntil = \"80 s\"");
        let result = beside(network, 10, "jitter = \"1 s\"", &ours, &more, &set);
        traffic(&result, "ours").goodput_warm.as_bps() as f64
    };
    let most = carried("128", 1) + carried("128", 2);
    let greedy = carried("\"auto\"", 1) + carried("\"auto\"", 2);
    assert!(greedy > 0.85 * most, "{greedy} of {most}");
}
