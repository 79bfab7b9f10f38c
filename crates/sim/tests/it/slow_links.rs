//! Links at a part of their rate, and nodes of one machine with disks of their own.

use results::RunResult;
use std::ops::ControlFlow;

fn run(text: &str) -> RunResult {
    let scenario = sim::parse("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error:?}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// Mbit/s of payload of a connection over 20 s on a link of 100 Mbit/s.
fn goodput(more: &str) -> f64 {
    let result = run(&format!(
        "[cluster]\nworkers = 1\n[network]\nrate = \"100 Mbit/s\"\n[[traffic]]\nkind = \"long\"\nfrom = \"worker-1\"\n\
         to = \"master\"\n[run]\nuntil = \"20 s\"\n{more}"
    ));
    result.traffic[0].goodput.as_bps() as f64 / 1e6
}

/// Half of the time at a fifth of the rate: 60 % of the bytes, in packets and in flows, with and without a bucket that
/// is the slower one.
#[test]
fn a_slow_link_carries_a_part_of_its_rate() {
    let fault = "[[faults]]\nat = \"5 s\"\nlink = \"worker-1\"\nslow = 0.2\nslow-for = \"10 s\"\n";
    let shape = "[[network.shape]]\nnodes = \"workers\"\nrate = \"20 Mbit/s\"\nburst = \"32 KB\"\nlimit = \"50 ms\"\n";
    for more in ["", shape] {
        for fidelity in ["packet", "flow"] {
            let more = format!("fidelity = \"{fidelity}\"\n{more}");
            let share = goodput(&format!("{more}{fault}")) / goodput(&more);
            assert!((share / 0.6 - 1.0).abs() < 0.03, "{share} with {more}");
        }
    }
}

const SORT: &str = r#"
[cluster]
workers = 3
[cluster.host]
cores = 4
own-disks = true
[hdfs]
block = "32 MiB"
replication = 2
[mapreduce]
reducers = 3
speculative = false
node-memory = "8 GiB"
[node]
memory = "64 MiB"
[job]
workload = "terasort"
input = "256 MiB"
"#;

/// The master and each worker have a disk of their own on the one machine; a slow one is that of its node alone.
#[test]
fn nodes_of_one_machine_can_have_their_own_disks() {
    let fault = "[[faults]]\nat = \"0 s\"\nnode = \"worker-2\"\ndisk = 0\nslow = 0.1\n";
    let (plain, slow) = (run(SORT), run(&format!("{SORT}{fault}")));
    assert_eq!(plain.disks.len(), 4);
    let busy = |result: &RunResult, disk: usize| result.disks[disk].busy.as_secs_f64();
    for worker in 1..=3 {
        assert!(plain.disks[worker].read.get() > 32 << 20, "worker-{worker} reads its own: {:?}", plain.disks[worker]);
        let times = busy(&slow, worker) / busy(&plain, worker);
        assert_eq!(times > 3.0, worker == 2, "worker-{worker}: {times} times as busy");
    }
    let shared = run(&SORT.replace("own-disks = true", ""));
    assert_eq!(shared.disks.len(), 1);
}
