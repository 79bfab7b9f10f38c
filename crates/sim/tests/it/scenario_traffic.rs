//! Traffic in scenarios: sizes and links that the engine refuses, and the load it offers.

use scenario::Scenario;
use std::ops::ControlFlow;
use units::{Bytes, Time};

fn parse(text: &str) -> Result<Scenario, String> {
    sim::parse("test.toml", text, &[]).map_err(|error| error.to_string())
}

fn refused(text: &str, words: &[&str]) {
    let error = parse(text).expect_err(text);
    for word in words {
        assert!(error.contains(word), "{text}\n{error}\nlacks: {word}");
    }
}

#[test]
fn what_only_the_engine_knows_is_refused() {
    let poisson = "[[traffic]]\nkind = \"poisson\"\nname = \"web\"\n";
    for (keys, words) in [
        ("sizes = { kind = \"pareto\", shape = 1.0 }", vec!["no mean", "test.toml:4"]),
        ("bytes = \"1 MB\"\nsizes = { kind = \"pareto\", most = \"1 MB\" }", vec!["the mean must be below the cap"]),
        ("sizes = { kind = \"cdf\", point = [{ bytes = \"1 KB\", share = 0.5 }] }", vec!["the last share is 0.5"]),
        ("load = 0.5\nload-link = \"worker-99\"", vec!["there is no link `worker-99`"]),
    ] {
        refused(&format!("{poisson}{keys}"), &words);
    }
}

fn run(text: &str) -> results::RunResult {
    sim::run(&parse(text).expect("right"), &mut |_| ControlFlow::Continue(())).expect("it runs")
}

/// Payload per second over the rate of the receivers' links, or of a link, is the load.
#[test]
fn sources_offer_the_load_that_they_are_told() {
    let common = "[network]\nrate = \"100 Mbit/s\"\n[run]\nuntil = \"20 s\"\n[[traffic]]\nkind = \"poisson\"\nstop = \"20 s\"\nbytes = \"20 KB\"\nload = 0.4\n";
    for (text, rate) in [
        // Four workers to the master: its own link.
        ("sizes = { kind = \"exponential\" }".to_owned(), 100e6),
        // Among the workers: all their links.
        ("to = \"workers\"\nsizes = { kind = \"uniform\" }".to_owned(), 400e6),
        ("to = \"workers\"\nload-link = \"worker-1\"".to_owned(), 100e6),
    ] {
        let result = run(&format!("{common}{text}"));
        let traffic = &result.traffic[0];
        let offered = traffic.delivered.get() as f64 * 8.0 / 20.0 / rate;
        // Some 5,000 sessions: the standard error is about 2 %.
        assert!((offered / 0.4 - 1.0).abs() < 0.06, "{text}: {offered}");
        assert!(traffic.slowdown.expect("of sessions").p50 >= 1.0);
    }
}

/// The shipped scenarios of traffic run in seconds and show what they are for.
#[test]
fn shipped_scenarios_of_traffic_run() {
    let shipped = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
        std::fs::read_to_string(path).expect("part of the tree")
    };
    let result = run(&shipped("incast-partition.toml"));
    let [search, background] = result.traffic.as_slice() else { panic!("two kinds of traffic") };
    let deadlines = search.deadlines.expect("queries have one");
    assert_eq!(deadlines.queries, 500);
    assert!(deadlines.missed > 0 && deadlines.missed < 500, "{deadlines:?}");
    assert!(background.classes.len() > 1 && background.completed > 100);
    // For how long each queue had each length: all of the run, and the mean that the sum of the waits gives.
    for link in &result.links {
        let all: f64 = link.queue_shares.iter().map(|(_, share)| share).sum();
        let mean: f64 = link.queue_shares.iter().map(|(packets, share)| *packets as f64 * share).sum();
        assert!((all - 1.0).abs() < 1e-9 && (mean - link.queue_mean).abs() < 1e-9, "{}: {all}, {mean}", link.name);
        assert!(link.queue_quantile(1.0).is_some_and(|most| most <= link.queue_max), "{}", link.name);
    }
    let to_master = result.links.iter().find(|link| link.name.ends_with("-> master")).expect("its link");
    assert!(to_master.queue_quantile(0.5) < to_master.queue_quantile(0.999) && to_master.used > 0.01);
    let result = run(&shipped("netpipe.toml"));
    assert!(result.links[0].queue_shares.is_empty() && result.links[0].queue_quantile(0.5).is_none());
    let messages = &result.traffic[0].messages;
    assert_eq!(messages.last().map(|message| message.bytes), Some(Bytes::new((8 << 20) + 3)));
    assert!(messages[0].latency < Time::from_us(200), "{:?}", messages[0]);
    // Without Nagle's algorithm nothing waits for a delayed acknowledgement, and nothing is dropped.
    for message in messages {
        let wire = Time::from_ns(message.bytes.get().div_ceil(1_448) * 1_538 * 8);
        assert!(message.latency < wire + Time::from_us(150), "{message:?}");
    }
    let peak = messages.iter().map(|message| message.throughput.as_bps()).max().unwrap();
    // 1448 of 1538 bytes of a gigabit.
    assert!(peak > 900_000_000 && peak < 941_500_000, "{peak}");
    let result = run(&shipped("waves.toml"));
    assert!(result.traffic.windows(2).all(|pair| pair[0].finish.unwrap() <= pair[1].start));
}
