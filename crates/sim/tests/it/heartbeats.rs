//! Containers that heartbeats give, beside word counts on a real cluster of four workers at 10 Mbit/s: a ResourceManager
//! of 3.5.0 without its scheduling thread, heartbeats a second apart. Maps and the job's shares have the work and the
//! lengths of the first of them; where its blocks are, is known: the node that wrote them has all.

use crate::support::chance::{at_most, misses};
use crate::support::recorded::interval;
use results::{AttemptState, RunResult, TaskKind};
use std::ops::ControlFlow;

/// Maps on the node that has most of the four, and seconds from launch to finish. Other work had most of the two cores.
const RECORDED: [(usize, f64); 7] =
    [(2, 137.8), (4, 287.4), (4, 252.9), (2, 172.8), (2, 142.9), (3, 218.2), (2, 160.0)];
const SEEDS: u64 = 40;

/// What a run has of the above.
fn run(settings: &[&str]) -> Vec<(usize, f64)> {
    let known = [
        "run.fidelity=\"flow\"",
        "mapreduce.asynchronous=false",
        "mapreduce.heartbeat=\"1 s\"",
        "mapreduce.node-vcores=4",
        "mapreduce.jvm-start=\"5820 ms\"",
        "mapreduce.task-variation=0.2343",
        "job.workload=\"generic\"",
        "job.input=\"128000018 B\"",
        "job.splits=[\"32 MiB\", \"32 MiB\", \"32 MiB\", \"27336722 B\"]",
        "job.split-hosts=[[\"worker-4\", \"worker-1\"], [\"worker-3\", \"worker-1\"], [\"worker-3\", \"worker-1\"], \
         [\"worker-2\", \"worker-1\"]]",
        "job.input-record=86.578",
        "job.map-ratio=1.5544",
        "job.map-record=11.215",
        "job.reduce-ratio=0.002326",
        "job.shares=[71.833395, 56.262576, 56.519287, 49.831888]",
        "job.map-cpu=105.35",
        "job.sort-cpu=52.649",
        "job.merge-cpu=76.069",
        "job.fetch-cpu=0.0",
        "job.reduce-cpu=67.879",
    ];
    let overrides: Vec<String> = known.iter().chain(settings).map(|&setting| setting.to_owned()).collect();
    let text = include_str!("../../../../scenarios/wordcount-10mbit.toml").replace("files = 2\n", "");
    let text = text.replace("combiner = false\n", "");
    let mut scenario =
        sim::parse("wordcount-10mbit.toml", &text, &overrides).unwrap_or_else(|error| panic!("{error:?}"));
    let of = |result: &RunResult| {
        let job = &result.jobs[0];
        let maps = result.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map && !attempt.speculative);
        let mut on = [0_usize; 5];
        maps.filter(|map| map.state == AttemptState::Succeeded).for_each(|map| on[map.node as usize] += 1);
        let took = job.finish.zip(job.launch).expect("it is done");
        (on.into_iter().max().unwrap_or(0), took.0.saturating_sub(took.1).as_secs_f64())
    };
    let first = scenario.run.seed;
    let seeds = (first..first + SEEDS).map(|seed| {
        scenario.run.seed = seed;
        of(&sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}")))
    });
    seeds.collect()
}

fn missed(runs: &[(usize, f64)]) -> usize {
    let (low, middle, high) = interval(runs.iter().map(|(_, seconds)| *seconds).collect());
    println!("predicted {middle:.1} s ({low:.1} to {high:.1})");
    RECORDED.iter().filter(|(_, seconds)| !(low..=high).contains(seconds)).count()
}

/// One heartbeat may fill a node with all maps of a small job, whose output then leaves by one link.
#[test]
fn a_heartbeat_that_gives_many_containers_makes_jobs_as_slow_as_they_were() {
    let runs = run(&[]);
    let records = RECORDED.len();
    assert!(missed(&runs) <= misses(records), "{runs:.0?}");
    assert!(missed(&run(&["mapreduce.containers-per-heartbeat=1"])) > misses(records));

    let all_on_one = |of: &[(usize, f64)]| of.iter().filter(|(most, _)| *most == 4).count();
    let share = all_on_one(&runs) as f64 / runs.len() as f64;
    let recorded = all_on_one(&RECORDED);
    let or_more = 1.0 - at_most(recorded - 1, records, share);
    assert!(or_more >= 0.025 && at_most(recorded, records, share) >= 0.025, "{recorded} of {records}, {share}");
}
