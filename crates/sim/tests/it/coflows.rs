//! Coflows: flows that belong together.

use results::RunResult;
use std::ops::ControlFlow;
use units::{Bytes, Time};

fn run(text: &str, assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", text, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

const TWO: &str = r#"
[cluster]
workers = 4
[network]
rate = "100 Mbit/s"
[[traffic]]
name = "shuffles"
kind = "coflow"
[[traffic.coflow]]
name = "one"
from = ["worker-1", "worker-2"]
to = ["worker-3"]
bytes = ["10 MB"]
[[traffic.coflow]]
start = "60 s"
from = ["worker-1", "worker-2"]
to = ["worker-3", "worker-1"]
bytes = ["6 MB", "2 MB"]
"#;

/// On an idle fabric the busiest link decides. 10 MB at 100 Mbit/s need 0.8 s; a frame of 1538 bytes carries at least
/// 1448 of payload, so 0.85 s with headers, and handshakes and windows come on top.
#[test]
fn a_coflow_alone_takes_what_its_busiest_link_needs() {
    // A queue that nothing is lost in.
    let result = run(TWO, &["network.queue.limit=\"2000 packets\""]);
    let [traffic] = result.traffic.as_slice() else { panic!("one traffic") };
    let [one, two] = traffic.coflows.as_slice() else { panic!("two coflows") };
    assert_eq!((one.name.as_str(), one.flows, one.bytes), ("one", 2, Bytes::from_mb(10)));
    assert_eq!((one.start, one.least), (Some(Time::ZERO), Time::from_ms(800)));
    let took = one.completion().expect("it is complete");
    assert!(took > Time::from_ms(842) && took < Time::from_ms(900), "{took}");

    // Worker 3 receives 6 MB from two senders, half each; of worker 1's 2 MB one comes from itself. So worker 3's link
    // is the busiest: 0.48 s, and 7 MB cross the network in three flows.
    assert_eq!((two.name.as_str(), two.flows, two.bytes), ("2", 3, Bytes::from_mb(7)));
    assert_eq!((two.senders, two.receivers), (2, 2));
    assert_eq!((two.start, two.least), (Some(Time::from_secs(60)), Time::from_ms(480)));
    let second = two.completion().expect("it is complete");
    assert!(second > Time::from_ms(505) && second < Time::from_ms(560), "{second}");

    assert_eq!((traffic.begun, traffic.completed, traffic.failed), (2, 2, 0));
    assert_eq!(traffic.delivered, Bytes::from_mb(17));
    assert_eq!(traffic.completion_mean, Time::from_ps(took.as_ps().midpoint(second.as_ps())));
    assert_eq!(traffic.completion_max, took);
    assert_eq!(result.ended_at, traffic.finish.expect("it is finished"), "the run is over with the last coflow");
    let slowdown = traffic.slowdown.expect("two slowdowns");
    let each = [took.as_secs_f64() / 0.8, second.as_secs_f64() / 0.48];
    assert!((slowdown.mean - each.iter().sum::<f64>() / 2.0).abs() < 1e-5, "{slowdown:?} of {each:?}");
}

/// Two coflows at once share their receiver's link: the last byte of both comes when both need it.
#[test]
fn coflows_that_meet_share_a_link() {
    let result = run(
        TWO,
        &[
            "traffic.0.coflow.1.start=0 s",
            "traffic.0.coflow.1.to=[\"worker-3\"]",
            "traffic.0.coflow.1.bytes=[\"10 MB\"]",
        ],
    );
    let coflows = &result.traffic[0].coflows;
    let last = coflows.iter().filter_map(|coflow| coflow.finish).max().expect("complete");
    // 20 MB at 100 Mbit/s, with headers.
    assert!(last > Time::from_ms(1_684) && last < Time::from_ms(1_850), "{last}");
}

#[test]
fn bytes_are_scaled_and_a_lost_flow_fails_its_coflow_alone() {
    let fault = "faults=[{ at = \"100 ms\", node = \"worker-2\" }]";
    let result = run(TWO, &["traffic.0.data-scale=0.5", fault, "tcp.max-rto=1 s", "run.until=600 s"]);
    let [one, two] = result.traffic[0].coflows.as_slice() else { panic!("two coflows") };
    assert_eq!((one.bytes, one.least), (Bytes::from_mb(5), Time::from_ms(400)));
    assert_eq!(one.finish, None, "worker 2 never sends its half");
    assert!(two.finish.is_none(), "worker 2 is down when the second comes");
    assert_eq!((result.traffic[0].begun, result.traffic[0].completed), (2, 0));
}
