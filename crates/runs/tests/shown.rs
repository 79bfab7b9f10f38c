//! What an import sees of the recorder's links and of other work on its machines, against simulated jobs of which both
//! are known.

use history::import::{Contention, Sources, import};
use history::{Attempt, AttemptState, JobHistory, JobState, Master, Task};
use results::{Phase, RunResult, TaskKind};
use std::ops::ControlFlow;
use units::{BitRate, Time};

/// A job of 24 maps on four workers, with reducers of very different shares, which start when a part of the maps is
/// done.
fn run(rate: &str, map_cpu: f64, slowstart: f64) -> RunResult {
    simulated(&format!(
        "[cluster]\nworkers = 4\n[network]\nrate = \"{rate}\"\n[hdfs]\nblock = \"16 MiB\"\n[mapreduce]\n\
         speculative = false\nasynchronous = true\nslowstart = {slowstart:?}\n[job]\nworkload = \"generic\"\n\
         input = \"384 MiB\"\nreducers = 4\nmap-ratio = 1.0\n\
         map-record = 100.0\nmap-cpu = {map_cpu}\nreduce-ratio = 0.01\nshares = [1.0, 2.0, 3.0, 5.0]\n"
    ))
}

fn simulated(text: &str) -> RunResult {
    let scenario = sim::parse("shown", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).expect("a run")
}

/// What a history server would have kept of it. Maps count `map_seconds` of processor time, or all of their time;
/// reduces count a hundredth of theirs.
fn recorded(result: &RunResult, map_seconds: Option<f64>) -> JobHistory {
    let ms = |time: Time| (time.as_secs_f64() * 1e3) as i64;
    let job = &result.jobs[0];
    let mut history = JobHistory {
        id: "job_1700000000000_0001".to_owned(),
        submit_ms: ms(job.submit),
        launch_ms: ms(job.launch.expect("a launch")),
        finish_ms: job.finish.map(ms),
        state: JobState::Succeeded,
        ..JobHistory::default()
    };
    for row in &result.attempts {
        let map = row.kind == TaskKind::Map;
        let end = |phase: Phase| row.intervals.iter().filter(|i| i.phase == phase).map(|i| ms(i.finish)).max();
        let mut attempt = Attempt {
            host: format!("w{}", row.node),
            start_ms: Some(ms(row.start)),
            finish_ms: Some(ms(row.finish)),
            state: AttemptState::Succeeded,
            shuffle_finish_ms: end(Phase::Fetch).filter(|_| !map),
            ..Attempt::default()
        };
        attempt.sort_finish_ms = attempt.shuffle_finish_ms;
        let took = (ms(row.finish) - ms(row.start)) as u64;
        let counters = &mut attempt.counters;
        counters.set(
            "CPU_MILLISECONDS",
            if map { map_seconds.map_or(took, |seconds| (seconds * 1e3) as u64) } else { took / 100 },
        );
        counters.set(if map { "HDFS_BYTES_READ" } else { "REDUCE_SHUFFLE_BYTES" }, row.input.get());
        if map {
            counters.set("MAP_OUTPUT_BYTES", row.output.get());
        }
        let (start, finish) = (attempt.start_ms, attempt.finish_ms);
        let tasks = if map { &mut history.maps } else { &mut history.reduces };
        let task =
            Task { number: row.task, start_ms: start, finish_ms: finish, attempts: vec![attempt], ..Task::default() };
        tasks.push(task);
    }
    history.maps.sort_by_key(|task| task.number);
    history.reduces.sort_by_key(|task| task.number);
    history
}

/// The rate that an import takes, and what it says of it.
fn seen(rate: &str, map_cpu: f64, slowstart: f64) -> (BitRate, String) {
    let imported = import(&recorded(&run(rate, map_cpu, slowstart), None), &Sources::default()).expect("imported");
    let why = imported.assumed.iter().find(|of| of.key == "network.rate").map_or("", |of| &of.why);
    (imported.scenario.network.rate, why.to_owned())
}

/// Links of 10, 20 and 50 Mbit/s keep 110 and 183 MB for two hosts waiting for 17 s and more: within a fifth below they
/// are seen, never above what they are.
#[test]
fn slow_links_are_seen() {
    for mbps in [10.0, 20.0, 50.0] {
        let (rate, why) = seen(&format!("{mbps} Mbit/s"), 5.0, 1.0);
        let part = rate.as_bps() as f64 / (mbps * 1e6);
        assert!(why.starts_with("about"), "{mbps} Mbit/s: {rate}: {why}");
        assert!((0.8..1.05).contains(&part), "{mbps} Mbit/s: {rate}");
    }
}

/// Maps that take a minute each feed their reduces as they end, on links that are never busy: no rate is seen.
#[test]
fn a_shuffle_that_waits_for_maps_shows_no_rate() {
    for (rate, map_cpu) in [("1 Gbit/s", 3_000.0), ("200 Mbit/s", 3_000.0), ("1 Gbit/s", 5.0)] {
        let (seen, why) = seen(rate, map_cpu, 0.05);
        assert_eq!(seen, BitRate::from_gbps(1), "{rate}, {map_cpu}: {why}");
        assert!(!why.starts_with("about"), "{rate}, {map_cpu}: {why}");
    }
}

/// Eight maps of 10 s of processor time at a time on four machines of two cores, beside as many threads of other work
/// as the scenario says.
#[test]
fn other_work_is_seen() {
    let cluster = "[cluster]\nworkers = 4\n[hdfs]\nblock = \"16 MiB\"\n[mapreduce]\nspeculative = false\n\
                   containers-per-heartbeat = 1\n";
    let job = "[job]\nworkload = \"generic\"\ninput = \"256 MiB\"\nreducers = 0\nmap-cpu = 600.0\nmap-ratio = 1.0\n\
               reduce-ratio = 0.01\n";
    // 16 MiB at 600 ns a byte, and a task's own 0.24 s.
    let counted = 16.0 * 1_048_576.0 * 600e-9 + 0.24;
    for load in [0.0, 1.0, 3.0] {
        let mut history = recorded(&simulated(&format!("{cluster}[node]\nload = {load:.1}\n{job}")), Some(counted));
        // 2.7 s of its processor time, alone among the other threads: it gets 2 / (1 + 2 load) of a core, at most one.
        let master = 0.2 + 2.7 * f64::max(1.0, 0.5 + load);
        let start_ms = history.launch_ms - (master * 1e3) as i64;
        history.masters.push(Master { host: "w1".to_owned(), start_ms });
        let basis = format!("{cluster}{job}");
        let sources = Sources { cluster: Some(("c.toml", &basis)), ..Sources::default() };
        let found = import(&history, &sources).expect("imported").calibration.contention;
        match found {
            Contention::None => assert!(load == 0.0, "{load}: not seen"),
            Contention::Load { per_core, .. } => assert!((per_core / load - 1.0).abs() < 0.2, "{load}: {per_core}"),
            Contention::Waits { .. } => panic!("{load}: {found:?}"),
        }
    }
}
