//! ECN from end to end: queues mark, receivers echo, senders reduce.

use results::RunResult;

/// Four workers send to the master through one port of 1 Gbit/s for two seconds.
fn run(tcp: &str, queue: &str) -> RunResult {
    let text = format!(
        "[cluster]\nworkers = 4\n[network]\nqueue = {queue}\n[tcp]\nmin-rto = \"10 ms\"\n{tcp}\n\
         [[traffic]]\nkind = \"long\"\nfrom = \"workers\"\nto = \"master\"\nbytes = \"50 MB\"\n[run]\nuntil = \"10 s\"\n"
    );
    let scenario = sim::parse("test.toml", &text, &[]).map_err(|error| error.to_string()).unwrap();
    sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).unwrap()
}

const THRESHOLD: &str = "{ kind = \"threshold\", limit = \"300 packets\", mark-above = \"20 packets\" }";
const DROP_TAIL: &str = "{ limit = \"300 packets\" }";

#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    let dctcp = run("control = \"dctcp\"", THRESHOLD).network.unwrap();
    assert!(dctcp.marks > 100 && dctcp.ecn_reductions > 50, "{dctcp:?}");
    assert_eq!((dctcp.drops, dctcp.retransmissions, dctcp.timeouts), (0, 0, 0));
    // The same port without marks fills up and drops.
    let reno = run("control = \"sack-reno\"", DROP_TAIL).network.unwrap();
    assert!(reno.drops > 0 && reno.marks == 0 && reno.ecn_reductions == 0, "{reno:?}");
}

#[test]
fn only_capable_packets_are_marked() {
    let without = run("control = \"sack-reno\"", THRESHOLD).network.unwrap();
    assert!(without.marks == 0 && without.drops > 0, "{without:?}");
    let with = run("control = \"sack-reno\"\necn = true", THRESHOLD).network.unwrap();
    assert!(with.marks > 0 && with.ecn_reductions > 0 && with.drops == 0, "{with:?}");
}

/// Two workers send to the master by way of an access point, for ten seconds.
fn on_air(tcp: &str, queue: &str) -> RunResult {
    let text = format!(
        "[cluster]\nworkers = 2\n[network]\ntopology = \"wifi\"\n[network.wifi]\nmode = \"infrastructure\"\n\
         rate-control = \"fixed\"\nrate = \"65 Mbit/s\"\nqueue = {queue}\n[mobility]\nplace = \"circle\"\nradius = \"5 m\"\n[tcp]\n{tcp}\n\
         [[traffic]]\nkind = \"long\"\nfrom = \"workers\"\nto = \"master\"\nstart = \"1 s\"\n[run]\nuntil = \"11 s\"\n"
    );
    let scenario = sim::parse("test.toml", &text, &[]).map_err(|error| error.to_string()).unwrap();
    sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).unwrap()
}

/// What has to go out again at the access point, which has one turn for two of the workers, fills its queue, or is
/// marked there.
#[test]
fn dctcp_keeps_the_queue_of_an_access_point_short() {
    let of_point = |result: &RunResult| result.links.iter().find(|link| link.name == "ap-1 -> air").unwrap().clone();
    let dctcp = on_air("control = \"dctcp\"", "{ packets = 200, mark-above = 40 }");
    let reno = on_air("control = \"sack-reno\"", "{ packets = 200 }");
    let (short, long) = (of_point(&dctcp), of_point(&reno));
    assert!(
        dctcp.network.unwrap().marks > 100 && dctcp.network.unwrap().ecn_reductions > 20,
        "{:?}",
        dctcp.network.unwrap()
    );
    assert_eq!(
        (dctcp.network.unwrap().drops, dctcp.network.unwrap().retransmissions),
        (0, 0),
        "{:?}",
        dctcp.network.unwrap()
    );
    // The workers' own queues stay below, but for bursts.
    assert!(
        short.marks * 100 > dctcp.network.unwrap().marks * 95,
        "{} of {} marks",
        short.marks,
        dctcp.network.unwrap().marks
    );
    assert!(reno.network.unwrap().drops > 0 && reno.network.unwrap().marks == 0, "{:?}", reno.network.unwrap());
    assert!(short.queue_mean < 0.6 * long.queue_mean, "{} after {} packets", short.queue_mean, long.queue_mean);
    assert!(short.bytes.get() as f64 > 0.95 * long.bytes.get() as f64, "{} after {}", short.bytes, long.bytes);
}

#[test]
fn fair_queueing_marks_in_place_of_dropping() {
    let queue = "{ packets = 1000, kind = \"fq-codel\" }";
    let (with, without) = (
        on_air("control = \"sack-reno\"\necn = true", queue).network.unwrap(),
        on_air("control = \"sack-reno\"", queue).network.unwrap(),
    );
    // Acknowledgements cannot be marked.
    assert!(with.marks > 0 && with.ecn_reductions > 0 && with.drops < without.drops / 2, "{with:?}");
    assert!(without.marks == 0 && without.drops > 0, "{without:?}");
}

/// The second of three stations in a row marks what it passes on.
#[test]
fn a_mark_goes_on_over_further_hops() {
    let text = r#"
        cluster = { workers = 2 }
        network = { topology = "wifi", wifi = { standard = "a", rate-control = "fixed", rate = "6 Mbit/s", range = "100 m", routing = "aodv", node = [{ nodes = "worker-1", queue = { mark-above = 3 } }] } }
        mobility = { area = ["200 m", "10 m"], node = [{ node = "master", at = ["5 m", "5 m"] }, { node = "worker-1", at = ["95 m", "5 m"] }, { node = "worker-2", at = ["185 m", "5 m"] }] }
        tcp = { control = "dctcp" }
        traffic = [{ kind = "long", from = "worker-2", to = "master", start = "1 s" }]
        run = { until = "11 s" }
    "#;
    let scenario = sim::parse("test.toml", text, &[]).map_err(|error| error.to_string()).unwrap();
    let result = sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert!(
        result.network.unwrap().marks > 10 && result.network.unwrap().ecn_reductions > 5,
        "{:?}",
        result.network.unwrap()
    );
}
