//! At flow level bursts that overflow queues go by packets, and a run says so.

use results::RunResult;
use std::ops::ControlFlow;

fn run(senders: u32, sets: &[&str]) -> RunResult {
    let text = format!(
        "[cluster]\nworkers = 17\n[network]\nqueue = {{ limit = \"32 KB\" }}\n[[traffic]]\nkind = \"barrier\"\n\
         from = \"worker-2..worker-{}\"\nto = \"worker-1\"\nbytes = \"64 KB\"\nrounds = 3\n",
        senders + 1
    );
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test", &text, &sets).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

fn carried(result: &RunResult) -> usize {
    result.events.iter().filter(|event| event.kind == "by-packets").count()
}

/// Sixteen initial windows of ten segments are 234 KB for a queue of 32 KB; two of two segments fit.
#[test]
fn bursts_that_no_queue_holds_are_an_event() {
    let flow = "run.fidelity=flow";
    assert_eq!(carried(&run(16, &[flow])), 1);
    assert_eq!(carried(&run(2, &[flow, "tcp.initial-window=2", "tcp.max-window=5"])), 0);
    // Packets themselves say what was dropped.
    let packets = run(16, &[]);
    assert_eq!(carried(&packets), 0);
    assert!(packets.network.expect("by packets").drops > 0);
}
