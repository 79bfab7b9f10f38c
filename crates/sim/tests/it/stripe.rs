//! One byte stream over many simulated TCP connections: rates whose closed form is known, paths, deaths, and what
//! others keep.

use crate::support::streams::{beside, run, traffic};
use results::TrafficOutcome;

/// Two nodes over a bottleneck of 155 Mbit/s, 40 ms there and back, sockets of 64 KB.
fn long_path(stripe: &str, more: &str) -> String {
    let network = r#"
        [cluster]
        workers = 2
        [network]
        topology = "dumbbell"
        delay = "0 us"
        rate = "10 Gbit/s"
        core = { rate = "155 Mbit/s", delay = "20 ms" }
        queue = { limit = "2000 packets" }
        framing = "none"
        [tcp]
        receive-buffer = "65535 B"
        send-buffer = "65535 B"
        window-scaling = false
        "#;
    scenario(network, "worker-2", stripe, more)
}

/// The traffic "many", of one stream over several, in this network.
fn scenario(network: &str, from: &str, stripe: &str, more: &str) -> String {
    let traffic = format!("name = \"many\"\nkind = \"stripe\"\nfrom = \"{from}\"\nstripe = {{ {stripe} }}");
    format!("{network}\n[[traffic]]\n{traffic}\n{more}")
}

#[test]
fn windows_add_up_to_the_capacity() {
    // A window of 64 KB in 40 ms is 13.1 Mbit/s; of 155 Mbit/s headers leave 1448/1500, frames little.
    let window = 65_535.0 * 8.0 / 0.040;
    let capacity = 155e6 * 1448.0 / 1500.0;
    for (scheduler, count) in [("earliest", 1), ("earliest", 4), ("earliest", 8), ("earliest", 16), ("round-robin", 8)]
    {
        let stripe = format!("streams = {count}, scheduler = \"{scheduler}\", segment = \"8 KB\"");
        let result = run(&long_path(&stripe, "[run]\nuntil = \"20 s\"\nwarm-up = \"5 s\""));
        let goodput = traffic(&result, "many").goodput_warm.as_bps() as f64;
        let expected = (window * f64::from(count)).min(capacity);
        let ratio = goodput / expected;
        assert!((0.93..=1.0).contains(&ratio), "{count} {scheduler}: {goodput} of {expected}");
    }
}

#[test]
fn a_transfer_is_complete_and_counted_per_stream() {
    let stripe = "streams = 4, scheduler = \"round-robin\", segment = \"10 KB\", pin = \"0 B\", copies = 0.0";
    let result = run(&long_path(stripe, "bytes = \"20 MB\"\n[run]\nuntil = \"60 s\""));
    let many = traffic(&result, "many");
    assert_eq!((many.begun, many.completed, many.failed, many.delivered.get()), (1, 1, 0, 20_000_000));
    let outcome = many.stripe.as_ref().expect("a stripe's outcome");
    // In turn: the same to each, from when they are all connected on.
    let per_stream: Vec<u64> = outcome.streams.iter().map(|stream| stream.delivered.get()).collect();
    assert_eq!((per_stream.len(), per_stream.iter().sum::<u64>()), (4, 20_000_000));
    assert!(per_stream.iter().all(|bytes| bytes.abs_diff(5_000_000) <= 100_000), "{per_stream:?}");
    assert_eq!((outcome.duplicates.get(), outcome.repeated.get(), outcome.copied.get()), (0, 0, 0));
    assert!(outcome.buffered_max <= outcome.credit);
    let numbers: Vec<u32> = outcome.numbers.iter().map(|number| number.streams).collect();
    assert_eq!(numbers, [4]);
    // Handshake, slow start, 20 MB at 52.4 Mbit/s, and the way of the last byte.
    let took = many.completion_max.as_secs_f64();
    let least = 20e6 * 8.0 / (4.0 * 65_535.0 * 8.0 / 0.040);
    assert!(took > least && took < least * 1.07 + 0.2, "{took} s, at least {least} s");
}

#[test]
fn the_number_is_tuned_to_the_windows_whatever_the_policy() {
    for policy in ["polite", "fill", "greedy"] {
        let stripe = format!("policy = \"{policy}\", segment = \"8 KB\"");
        let result = run(&long_path(&stripe, "[run]\nuntil = \"60 s\"\nwarm-up = \"30 s\""));
        let many = traffic(&result, "many");
        let outcome = many.stripe.as_ref().expect("a stripe's outcome");
        // 11.4 windows fill the path.
        assert!((9..=24).contains(&outcome.streams_at_end), "{policy}: {:?}", outcome.numbers);
        let ratio = many.goodput_warm.as_bps() as f64 / (155e6 * 1448.0 / 1500.0);
        assert!(ratio > 0.8, "{policy}: {ratio} of the path, {:?}", outcome.numbers);
    }
}

#[test]
fn the_papers_enumeration_takes_all_it_may_where_loss_does_not_grow() {
    let stripe = "streams = \"paper\", scheduler = \"round-robin\", segment = \"8 KB\"";
    let result = run(&long_path(stripe, "[run]\nuntil = \"40 s\""));
    let outcome = traffic(&result, "many").stripe.as_ref().expect("a stripe's outcome");
    let numbers: Vec<u32> = outcome.numbers.iter().map(|number| number.streams).collect();
    assert_eq!(numbers[..3], [1, 8, 32], "what it measures first");
    // Queues of 2000 packets hold 128 windows of 45 segments less the 536 of the path only just not: it measures what
    // that loses and goes back.
    assert!(numbers.len() > 3, "{numbers:?}");
}

/// Ten flows and, from `start` on, a stripe of this policy over 100 Mbit/s, 40 ms: what the ten get. `tcp` is set beside
/// what RFC 5681 and RFC 6675 say.
fn others_beside(policy: &str, streams: &str, start: &str, tcp: &[&str]) -> (f64, TrafficOutcome) {
    let network = r#"delay = "0 us"
        core = { rate = "100 Mbit/s", delay = "20 ms" }
        queue = { limit = "333 packets" }"#;
    let ours =
        format!("kind = \"stripe\"\nstart = \"{start}\"\nstripe = {{ streams = {streams}, policy = \"{policy}\" }}");
    let result = beside(network, 10, "", &ours, "until = \"80 s\"\nwarm-up = \"20 s\"", tcp);
    let others = traffic(&result, "others").goodput_warm.as_bps() as f64;
    (others, traffic(&result, "ours").clone())
}

#[test]
fn what_others_keep_follows_the_policy() {
    let (beside_one, _) = others_beside("fill", "1", "5 s", &[]);
    let (beside_sixteen, _) = others_beside("fill", "16", "5 s", &[]);
    let (polite, _) = others_beside("polite", "\"auto\"", "5 s", &[]);
    let (fill, ours) = others_beside("fill", "\"auto\"", "5 s", &[]);
    // Sixteen beside ten: the ten keep about 10/26 of the path instead of 10/11.
    assert!(beside_sixteen < 0.6 * beside_one, "{beside_sixteen} of {beside_one}");
    assert!(polite > 0.95 * beside_one, "{polite} of {beside_one}");
    assert!(fill > 0.75 * beside_one, "{fill} of {beside_one}: {:?}", ours.stripe.map(|stripe| stripe.numbers));
}

/// TCP as hosts have it. Ten flows of CUBIC let their queue run full and empty together, so how a stripe finds it depends
/// on when it comes, and losses of the queue are not to pass for chance whenever that is. Beside `n` streams ten keep
/// 11 / (10 + n) of what they have beside one: three quarters where `n` is 4 or 5.
#[test]
fn whenever_a_stripe_comes_others_keep_three_quarters() {
    let hosts = ["tcp.control=cubic", "tcp.recovery=rack"];
    let (beside_one, _) = others_beside("fill", "1", "5 s", &hosts);
    let starts = ["5 s", "5.5 s", "6 s", "6.5 s", "7 s", "7.5 s", "8 s", "8.5 s"];
    let kept = starts.map(|start| others_beside("fill", "\"auto\"", start, &hosts).0 / beside_one);
    let (mean, least) = (kept.iter().sum::<f64>() / kept.len() as f64, kept.iter().copied().fold(1.0, f64::min));
    assert!(mean > 0.75 && least > 0.65, "{kept:?}");
}

/// Two nodes, two paths through switches of their own.
fn two_paths(stripe: &str, more: &str) -> String {
    let network = r#"
        [cluster]
        workers = 1
        [network]
        topology = "graph"
        delay = "0 us"
        rate = "1 Gbit/s"
        link = [
            { from = "worker-1", to = "near", rate = "40 Mbit/s", delay = "10 ms" },
            { from = "near", to = "master" },
            { from = "worker-1", to = "far", rate = "10 Mbit/s", delay = "50 ms" },
            { from = "far", to = "master" },
        ]
        host-queue = { limit = "100 packets" }
        framing = "none"
        "#;
    scenario(network, "worker-1", stripe, more)
}

#[test]
fn two_paths_add_up_and_the_better_one_alone_is_never_better() {
    let until = "[run]\nuntil = \"30 s\"\nwarm-up = \"5 s\"";
    let goodput = |stripe: &str| traffic(&run(&two_paths(stripe, until)), "many").goodput_warm.as_bps() as f64 / 1e6;
    let best = goodput("streams = 1, paths = [\"near\"]");
    let both = goodput("streams = 2, paths = [\"near\", \"far\"]");
    assert!(best > 36.0 && best < 40.0, "{best}");
    // 50 Mbit/s less headers are 48.
    assert!(both > 0.9 * 48.0, "{both}");
    // With little credit the slow path would hold the fast one up; it does not.
    let little = goodput("streams = 2, paths = [\"near\", \"far\"], credit = \"300 KB\", max-credit = \"300 KB\"");
    assert!(little > 0.95 * best, "{little} beside {best}");
}

#[test]
fn a_path_that_dies_costs_no_byte() {
    let faults = "bytes = \"20 MB\"\n[[faults]]\nat = \"1 s\"\nlink = \"near -- master\"\n[run]\nuntil = \"120 s\"";
    let result = run(&two_paths("streams = 4, paths = [\"near\", \"far\"]", faults));
    let many = traffic(&result, "many");
    assert_eq!((many.completed, many.delivered.get()), (1, 20_000_000));
    let outcome = many.stripe.as_ref().expect("a stripe's outcome");
    assert!(outcome.repeated.get() + outcome.copied.get() > 0);
    // One second of both, the rest over 10 Mbit/s; to see that a path is dead takes two timeouts, of half a second at
    // least together.
    let took = many.completion_max.as_secs_f64();
    assert!(took < 1.0 + (20e6 - 5e6) * 8.0 / 9.6e6 + 3.0, "{took}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = long_path("policy = \"fill\"", "bytes = \"10 MB\"\n[run]\nuntil = \"30 s\"\nseed = 4");
    let text = text.replace("delay = \"20 ms\"", "delay = \"20 ms\", loss = 0.001");
    assert_eq!(run(&text), run(&text));
}

#[test]
fn a_path_leads_through_a_switch() {
    for (name, stripe) in [("fart", "paths = [\"near\", \"fart\"]"), ("master", "paths = [\"master\"]")] {
        let error = sim::parse("test.toml", &two_paths(stripe, ""), &[]).expect_err(stripe).to_string();
        assert!(error.contains(&format!("there is no switch `{name}`")), "{stripe}\n{error}");
    }
}
