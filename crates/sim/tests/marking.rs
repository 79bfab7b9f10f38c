//! ECN from end to end: queues mark, receivers echo, senders reduce; and what is refused because nothing can mark.

use sim::results::RunResult;
use sim::scenario::Scenario;

/// Four workers send to the master through one port of 1 Gbit/s for two seconds.
fn run(tcp: &str, queue: &str) -> RunResult {
    let text = format!(
        "[cluster]\nworkers = 4\n[network]\nqueue = {queue}\n[tcp]\nmin-rto = \"10 ms\"\n{tcp}\n\
         [[traffic]]\nkind = \"long\"\nfrom = \"workers\"\nto = \"master\"\nbytes = \"50 MB\"\n[run]\nuntil = \"10 s\"\n"
    );
    let scenario = Scenario::parse("test.toml", &text, &[]).map_err(|error| error.to_string()).unwrap();
    sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).unwrap()
}

const THRESHOLD: &str = "{ kind = \"threshold\", limit = \"300 packets\", mark-above = \"20 packets\" }";
const DROP_TAIL: &str = "{ limit = \"300 packets\" }";

#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    let dctcp = run("control = \"dctcp\"", THRESHOLD).network;
    assert!(dctcp.marks > 100 && dctcp.ecn_reductions > 50, "{dctcp:?}");
    assert_eq!((dctcp.drops, dctcp.retransmissions, dctcp.timeouts), (0, 0, 0));
    // The same port without marks fills up and drops.
    let reno = run("control = \"sack-reno\"", DROP_TAIL).network;
    assert!(reno.drops > 0 && reno.marks == 0 && reno.ecn_reductions == 0, "{reno:?}");
}

#[test]
fn only_capable_packets_are_marked() {
    let without = run("control = \"sack-reno\"", THRESHOLD).network;
    assert!(without.marks == 0 && without.drops > 0, "{without:?}");
    let with = run("control = \"sack-reno\"\necn = true", THRESHOLD).network;
    assert!(with.marks > 0 && with.ecn_reductions > 0 && with.drops == 0, "{with:?}");
}

#[test]
fn dctcp_where_nothing_marks_is_refused() {
    let parse = |text: &str| Scenario::parse("test.toml", text, &[]).map_err(|error| error.to_string());
    let long = "[[traffic]]\nkind = \"long\"\nbytes = \"1 MB\"\n";
    let error = parse(&format!("[tcp]\ncontrol = \"dctcp\"\n{long}")).unwrap_err();
    for word in ["test.toml:2", "no queue marks", "threshold", "sack-reno"] {
        assert!(error.contains(word), "{error}\nlacks: {word}");
    }
    // One marking queue is enough, wherever it is.
    for key in ["queue", "host-queue", "core.queue"] {
        parse(&format!("[tcp]\ncontrol = \"dctcp\"\n[network]\n{key} = {THRESHOLD}\n{long}")).unwrap();
    }
}
