//! Each node and each disk that a scenario can name builds and runs.

use results::JobState;
use scenario::{DiskPreset, NodePreset};
use std::ops::ControlFlow;

/// A job of 64 MB on two workers.
const JOB: &str = "cluster = { workers = 2, generation = \"hadoop1\" }\nhdfs = { block = \"16 MiB\", replication = 2 }\n\
                   job = { workload = \"sort\", input = \"64 MB\" }\n";

fn finishes(text: &str, sets: &[String]) -> f64 {
    let scenario = sim::parse("test.toml", text, sets).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|e| panic!("{sets:?}: {e}"));
    let job = &result.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{sets:?}: {}", job.reason);
    job.finish.expect("it has ended").as_secs_f64()
}

#[test]
fn each_node_that_a_scenario_can_name_runs_a_job() {
    for preset in NodePreset::ALL {
        finishes(JOB, &[format!("node.preset={}", preset.word())]);
    }
}

#[test]
fn each_disk_that_a_scenario_can_name_runs_a_job() {
    for preset in DiskPreset::ALL {
        finishes(JOB, &[format!("node.disk={}", preset.word())]);
    }
}

/// Yang 2012, Table 3.1: a node with two cores of 3 GHz and 4 GB, three with four cores and 2 GB.
#[test]
fn the_mixed_cluster_of_table_3_1_runs() {
    let text = include_str!("../../../../scenarios/yang2012-mixed.toml");
    let scenario = sim::parse("yang2012-mixed.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let nodes = scenario.nodes();
    let hardware = |worker: usize| (nodes[worker].hardware.cores, nodes[worker].hardware.memory.get() >> 30);
    assert_eq!([1, 2, 3, 4].map(hardware), [(2, 4), (4, 2), (4, 2), (4, 2)]);
    // 3.0 GHz against 2.4 GHz.
    assert!((nodes[1].hardware.speed / nodes[2].hardware.speed - 1.25).abs() < 1e-12);
    finishes(text, &["job.input=256 MB".to_owned()]);
}
