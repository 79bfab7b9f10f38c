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

/// Servers of this decade draw what SPECpower_ssj2008 measured idle and at full load, to a watt, and their networks are of
/// 10, 25 and 100 Gbit/s: a job on them is done sooner the faster they are, until links are not what it waits for.
#[test]
fn servers_of_this_decade_draw_what_was_measured() {
    for (preset, idle, full) in [("epyc-9654", 115.0, 630.0), ("xeon-8480", 147.0, 836.0)] {
        let scenario = sim::parse("test.toml", JOB, &[format!("node.preset={preset}")]).expect("it is right");
        let node = &scenario.node;
        let watts = |power: units::Power| power.as_watts();
        let drawn = watts(node.idle_power.expect("it is known")) + watts(node.core_power) * f64::from(node.cores);
        assert_eq!(node.idle_power.map(watts), Some(idle));
        assert!((drawn - full).abs() < 1.0, "{preset}: {drawn} W at full load, not {full}");
        let time = |rate: &str| {
            let sets = [format!("node.preset={preset}"), format!("network.rate={rate}"), "job.input=1 GB".to_owned()];
            finishes(JOB, &[sets.as_slice(), &["run.fidelity=flow".to_owned()]].concat())
        };
        let times = [time("1 Gbit/s"), time("10 Gbit/s"), time("25 Gbit/s"), time("100 Gbit/s")];
        assert!(times[0] > times[1] && times.is_sorted_by(|slow, fast| slow >= fast), "{preset}: {times:?}");
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
