//! What nodes draw, against sums by hand, and batteries that run out.

use results::{JobState, RunResult, to_json};
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
    let scenario = sim::parse("test", text, &sets).unwrap_or_else(|error| panic!("{error}"));
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
    // The job is all that the run is, but for a step of the series and the 16 ms before its submission, which count
    // since steps are of milliseconds.
    let own = result.jobs[0].finish.unwrap() - result.jobs[0].submit;
    let job = energy.jobs[0].unwrap().as_joules();
    let besides = (result.ended_at - own + result.sample_interval).as_secs_f64();
    let most = 4.0 * (0.22 + 4.0 * 0.315) * besides;
    assert!((job - energy.total().as_joules()).abs() <= most, "{job} of {}", energy.total());

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
    // One battery lasts 10 s at rest; its blocks have a replica elsewhere, its silence is noticed soon, and a fault
    // would have it back later.
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

const WIRELESS: &str = r#"
network = { topology = "wifi", wifi = { range = "100 m" } }
node = { preset = "nexus7" }
hdfs = { block = "4 MiB", replication = 2 }
mapreduce = { reducers = 2 }
cluster = { workers = 3, generation = "hadoop1" }
job = { workload = "terasort", input = "32 MiB" }
"#;

/// The energy of a node is the sum of its states' power over their time, to the nanojoule that each may lose by
/// rounding.
#[test]
fn energy_is_the_sum_of_power_over_time_in_each_state() {
    let sleeping = "network.wifi.mode='infrastructure'";
    for sets in [vec![], vec!["node.screen=true"], vec![sleeping, "network.wifi.power-save={}"]] {
        let result = run(WIRELESS, &sets);
        assert_eq!(result.jobs[0].state, JobState::Succeeded, "{sets:?}: {}", result.jobs[0].reason);
        let energy = result.energy.as_ref().unwrap();
        let screen = if sets == ["node.screen=true"] { 1.32 } else { 0.0 };
        for (used, node) in energy.nodes.iter().zip(&result.nodes) {
            let radio = node.radio.unwrap();
            let states = [
                (0.22 + screen, result.ended_at),
                (0.315, node.cpu_work),
                (0.851, radio.transmit),
                (0.278, radio.receive + radio.listen),
                (0.01073, radio.sleep),
            ];
            let expected: f64 = states.iter().map(|(watts, time)| watts * time.as_secs_f64()).sum();
            assert!((used.total().as_joules() - expected).abs() < 1e-8, "{sets:?}, {}: {expected} J", node.name);
            assert!(radio.transmit > Time::ZERO && radio.receive > radio.transmit / 10, "{sets:?}, {radio:?}");
            // The master hears three workers' heartbeats: while these come less than 0.1 s apart it has no time to
            // doze, which is up to their phases.
            let least = if node.name == "master" { Time::ZERO } else { result.ended_at / 4 };
            assert_eq!(radio.sleep > least, sets.contains(&sleeping), "{sets:?}, {}: {radio:?}", node.name);
            let all = radio.transmit + radio.receive + radio.listen + radio.sleep + radio.off;
            assert_eq!(all, result.ended_at);
            // The series of the radio adds up to it.
            let step = result.sample_interval.as_secs_f64();
            let sampled: f64 = node.radio_power.iter().map(|watts| f64::from(*watts) * step).sum();
            assert!((sampled / used.radio.as_joules() - 1.0).abs() < 1e-5, "{sampled} J of {}", used.radio);
        }
        // The job is what the run draws but for its beginning and its end, of which the series tells to a step.
        let job = energy.jobs[0].unwrap().as_joules();
        let span = result.jobs[0].finish.unwrap() - result.jobs[0].submit;
        let outside = (result.ended_at - span).as_secs_f64();
        let (least, most) = (4.0 * (0.22 + screen), 4.0 * (0.22 + screen + 4.0 * 0.315 + 0.851));
        let step = most * result.sample_interval.as_secs_f64();
        let rest = energy.total().as_joules() - job;
        assert!(rest >= least * outside - step && rest <= most * outside + step, "{rest} J in {outside} s, {job} J");
        assert!(to_json(&result).contains("\"radio_j\""));
    }
}

/// A radio empties a battery sooner: one that only listens at the moment that its power and the node's decide.
#[test]
fn a_radio_empties_a_battery_sooner() {
    let listening = "network = { topology = 'wifi' }\nnode = { preset = 'nexus7', battery = '100 J' }\ncluster = { workers = 2 }\nrun = { until = '10 min' }\ntraffic = [{ kind = 'csv', flow = [{ start = '500 s' }] }]";
    let empty = |sets: &[&str]| run(listening, sets).energy.unwrap().first_empty();
    let with = empty(&[]).unwrap().as_secs_f64();
    assert!((with - 100.0 / (0.22 + 0.278)).abs() < 0.011, "{with} s");
    let without = empty(&["node.radio-listen-power='0 W'"]).unwrap().as_secs_f64();
    assert!((without - 100.0 / 0.22).abs() < 0.011, "{without} s");
}

/// A tablet that is hot runs slower: its maps take longer by its slower clock, from the moment on that a warming body
/// says, and its cores draw less.
#[test]
fn a_hot_processor_slows_its_tasks_down() {
    // One worker, maps one after the other that are all processor: it draws 0.22 W and 0.315 W for one core.
    let text = r#"
        node = { preset = "nexus7", speed = 1.0, battery = "100 kJ" }
        hdfs = { block = "16 MiB", replication = 1 }
        mapreduce = { reducers = 0, map-slots = 1, speculative = false, task-overhead = "0 s", jvm-start = "0 s", launch-latency = "0 s", heartbeat = "300 ms" }
        cluster = { workers = 1, generation = "hadoop1" }
        job = { workload = "generic", input = "640 MiB", map-ratio = 0.0, map-cpu = 1000.0 }
    "#;
    let maps = |result: &RunResult| -> Vec<(f64, f64)> {
        let seconds = |at: Time| at.as_secs_f64();
        result.attempts.iter().map(|map| (seconds(map.start), seconds(map.finish) - seconds(map.start))).collect()
    };
    let cool = run(text, &[]);
    let usual = maps(&cool);
    assert_eq!(cool.jobs[0].state, JobState::Succeeded);
    assert!(usual.len() == 40 && usual.iter().all(|(_, took)| (took / usual[0].1 - 1.0).abs() < 0.1), "{usual:?}");
    // Never cool again once it is hot: slowed down it still draws more than 0.1 W.
    let throttle = "node.throttle={ sustained = '0.4 W', resume = 0.25, time = '200 s', speed = 0.5, power = 0.4 }";
    let hot = run(text, &[throttle]);
    let slowed = maps(&hot);
    let node = hot.energy.as_ref().unwrap().nodes[1];
    let since = hot.ended_at.as_secs_f64() - node.throttled.0.as_secs_f64();
    assert_eq!(node.throttled.1, 1);
    // The mean power up to then decides when: t = tau ln(P / (P - limit)).
    let power = 0.22 + 0.315 * usual[0].1 / (usual[1].0 - usual[0].0);
    let expected = 200.0 * libm::log(power / (power - 0.4));
    assert!((since / expected - 1.0).abs() < 0.1, "slow from {since} s on, expected {expected} s");
    for (start, took) in &slowed {
        let factor = took / usual[0].1;
        if start + took < since {
            assert!((factor - 1.0).abs() < 0.1, "{start} s: {factor}");
        } else if *start > since {
            assert!((factor - 2.0).abs() < 0.2, "{start} s: {factor}");
        }
    }
    // Joules by sum: core time at its own power up to then, at two fifths after it.
    let work = hot.nodes[1].cpu_work.as_secs_f64();
    let within = (0.315 * 0.4 * work, 0.315 * work);
    let cores = node.processor.as_joules();
    assert!(within.0 < cores && cores < 0.8 * within.1, "{cores} J of {within:?}");
    assert!(hot.ended_at > cool.ended_at && to_json(&hot).contains("throttled_s"));

    // Low on charge from the beginning: slow all the time.
    let low = run(text, &["node.charge=0.1", "node.throttle={ low-battery = 0.15, speed = 0.5 }"]);
    let node = low.energy.as_ref().unwrap().nodes[1];
    assert_eq!(node.throttled, (low.ended_at, 1));
    assert!(maps(&low).iter().all(|(_, took)| (took / usual[0].1 / 2.0 - 1.0).abs() < 0.1));
}

/// Tablets of which one has little charge: spared, its battery lasts longer, here to the end of the job, which takes
/// longer for it.
#[test]
fn a_scheduler_that_spares_batteries_delays_the_first_that_is_empty() {
    let text = r#"
        network = { topology = "wifi", wifi = { range = "100 m" } }
        node = { preset = "nexus7", speed = 0.5 }
        hdfs = { block = "8 MiB", replication = 2 }
        mapreduce = { reducers = 2, node-expiry = "30 s" }
        job = { workload = "wordcount", input = "1200 MiB" }
        [cluster]
        generation = "hadoop1"
        group = [{ count = 1, node = { preset = "nexus7", speed = 0.5, battery = "1 kJ", charge = 0.04 } }, { count = 3 }]
    "#;
    let (usual, spared) = (run(text, &[]), run(text, &["mapreduce.spare-batteries=0.2"]));
    for result in [&usual, &spared] {
        assert_eq!(result.jobs[0].state, JobState::Succeeded, "{}", result.jobs[0].reason);
        assert!(result.violations().next().is_none());
    }
    let tasks = |result: &RunResult| result.attempts.iter().filter(|attempt| attempt.node == 1).count();
    assert!(tasks(&usual) >= 5, "{}", tasks(&usual));
    assert_eq!(tasks(&spared), 0);
    let empty = |result: &RunResult| result.energy.as_ref().unwrap().first_empty();
    let first = empty(&usual).expect("it is empty before the job is done");
    assert!(empty(&spared).is_none_or(|later| later > first * 5 / 4), "{first}, then {:?}", empty(&spared));
    // What it is for: by then the node that worked has drawn more of it than the one that was spared.
    let left = spared.energy.as_ref().unwrap().nodes[1].battery.unwrap().1;
    assert!(empty(&spared).is_some() || left.as_joules() > 0.0);
}
