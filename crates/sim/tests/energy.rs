//! What nodes draw, against sums by hand, and batteries that run out.

use sim::results::{JobState, RunResult, to_json};
use sim::scenario::Scenario;
use std::ops::ControlFlow;
use units::Time;

const JOB: &str = r#"
cluster = { workers = 3, generation = "hadoop1" }
node = { preset = "nexus7", speed = 1.0 }
hdfs = { block = "4 MiB", replication = 2 }
mapreduce = { reducers = 2 }
job = { workload = "wordcount", input = "32 MiB" }
"#;

fn run(text: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse("test", text, &sets).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_cluster_draws_by_time_and_work() {
    let result = run(JOB, &[]);
    let energy = result.energy.as_ref().unwrap();
    let time = result.ended_at.as_secs_f64();
    assert_eq!((energy.nodes.len(), energy.first_empty()), (4, None));
    for (used, node) in energy.nodes.iter().zip(&result.nodes) {
        let expected = 0.22 * time + 0.315 * node.cpu_work.as_secs_f64();
        assert!((used.total().as_joules() - expected).abs() < 1e-6, "{}", node.name);
        let (whole, left) = used.battery.unwrap();
        assert_eq!((whole.as_joules(), left), (57_600.0, whole.saturating_sub(used.total())));
    }
    // The job is all that the run is, but for a step of the series.
    let job = energy.jobs[0].unwrap().as_joules();
    let step = 4.0 * (0.22 + 4.0 * 0.315) * result.sample_interval.as_secs_f64();
    assert!((job - energy.total().as_joules()).abs() <= step, "{job} of {}", energy.total());

    // The screen draws as long as the node is on.
    let lit = run(JOB, &["node.screen=true"]);
    let energy = lit.energy.as_ref().unwrap();
    assert_eq!(lit.ended_at, result.ended_at);
    assert!((energy.nodes[1].screen.as_joules() - 1.32 * time).abs() < 1e-6);
}

#[test]
fn hardware_without_figures_has_no_energy() {
    let result = run(JOB, &["node.preset='xeon-2009'"]);
    assert_eq!(result.energy, None);
    assert!(to_json(&result).contains("\"energy\": null"));
}

#[test]
fn an_empty_battery_takes_its_node_down_and_the_job_goes_on_without_it() {
    // One battery lasts 10 s at rest; its blocks have a replica elsewhere, its silence is noticed soon, and a fault would have it back later.
    let text = r#"
        node = { preset = "nexus7", speed = 1.0 }
        hdfs = { block = "4 MiB", replication = 2 }
        mapreduce = { reducers = 2, node-expiry = "20 s" }
        job = { workload = "wordcount", input = "32 MiB" }
        faults = [{ at = "12 s", node = "worker-2", down-for = "1 s" }]
        [cluster]
        generation = "hadoop1"
        group = [{ count = 1 }, { count = 1, node = { preset = "nexus7", speed = 1.0, battery = "2.2 J" } }, { count = 1 }]
    "#;
    let result = run(text, &[]);
    let energy = result.energy.as_ref().unwrap();
    let empty = energy.nodes[2].empty.unwrap();
    assert_eq!(energy.first_empty(), Some(empty));
    // Between the time at full load and that at rest, and what it has drawn is what it held.
    assert!(empty > Time::from_secs_f64(2.2 / 1.48) && empty <= Time::from_secs_f64(2.2 / 0.22 + 0.01), "{empty}");
    assert!((energy.nodes[2].total().as_joules() - 2.2).abs() < 1.48 * 0.011);
    assert_eq!(result.jobs[0].state, JobState::Succeeded);
    let kinds: Vec<&str> = result.events.iter().map(|event| event.kind.as_str()).collect();
    assert!(kinds.contains(&"battery-empty"), "{kinds:?}");
    // A fault that would bring it back does not, nor is it said to.
    assert!(!kinds.contains(&"node-up") && !kinds.contains(&"node-down"), "{kinds:?}");
    let idle = energy.nodes[2].idle.as_joules();
    assert!((idle - 0.22 * empty.as_secs_f64()).abs() < 1e-6);
}
