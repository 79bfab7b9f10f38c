//! Executors that are excluded, come and go, fail and crash, all at once, on small clusters: every run ends or says why not,
//! and its books close.

use crate::spark::run;
use des::RandomStream;
use results::{JobState, RunResult, SparkTaskEnd};
use std::fmt::Write;

/// One of these, drawn.
fn one<'a>(random: &mut RandomStream, of: &[&'a str]) -> &'a str {
    of[random.below(of.len() as u64) as usize]
}

fn scenario(seed: u64) -> String {
    let random = &mut RandomStream::new(seed, "mixed", 0);
    let mut text = String::new();
    let tasks = 1 + random.below(8);
    let jobs = 1 + random.below(3);
    text += one(random, &["", "shuffle-service = true\n"]);
    text += one(random, &["", "speculation = true\n"]);
    text += one(random, &["", "catches-failures = true\n"]);
    text += one(random, &["", "executor-cores = 2\n"]);
    text += one(random, &["", "executors = 2\n"]);
    if jobs > 1 {
        text += one(random, &["", "pause = [\"0 s\", \"100 s\"]\n"]);
    }
    if random.below(2) == 0 {
        text += "[spark.exclude-on-failure]\n";
        text += one(random, &["", "kill-excluded-executors = true\n"]);
        text += one(random, &["", "timeout = \"30 s\"\n"]);
        text += one(random, &["", "unschedulable-timeout = \"0 s\"\n", "unschedulable-timeout = \"20 s\"\n"]);
        text += one(random, &["", "fetch-failure = true\n"]);
        text += one(random, &["", "application = false\n", "task-and-stage = false\n"]);
        text +=
            one(random, &["", "application-failed-executors-per-node = 1\n", "stage-failed-tasks-per-executor = 1\n"]);
    }
    if random.below(2) == 0 {
        text += "[spark.dynamic-allocation]\n";
        text += one(random, &["", "min-executors = 1\n", "initial-executors = 3\n", "min-executors = 50\n"]);
        text += one(random, &["", "executor-idle-timeout = \"0 s\"\n", "executor-idle-timeout = \"5 s\"\n"]);
        text += one(random, &["", "shuffle-tracking-timeout = \"0 s\"\n", "shuffle-tracking-timeout = \"20 s\"\n"]);
        text += one(random, &["", "cached-executor-idle-timeout = \"10 s\"\n"]);
        text += one(random, &["", "executor-allocation-ratio = 0.3\n"]);
    }
    if random.below(2) == 0 {
        text += "[spark.yarn]\n";
        text += one(random, &["", "deploy-mode = \"cluster\"\n"]);
    }
    for job in 0..jobs {
        let work = one(random, &["1 s", "10 s", "40 s"]);
        let keep = one(random, &["", "persist = \"memory-and-disk\"\nkept-size = \"8 MB\"\n"]);
        let _ = write!(
            text,
            "[[spark.stage]]\nname = \"map-{job}\"\njob = {job}\ntasks = {tasks}\nwork = \"{work}\"\nshuffle-write = \"20 MB\"\n{keep}"
        );
        for _ in 0..random.below(4) {
            let (task, after) = (random.below(tasks), one(random, &["0 s", "500 ms", "5 s"]));
            let _ = write!(text, "[[spark.stage.attempt]]\nafter = \"{after}\"\n");
            text += one(random, &["", "only-on = \"worker-2\"\n", "only-on = [\"worker-1\", \"worker-3\"]\n"]);
            if random.below(2) == 0 {
                let _ = writeln!(text, "task = {task}");
            }
        }
        let parent = random.below(job + 1);
        let _ = write!(
            text,
            "[[spark.stage]]\nname = \"reduce-{job}\"\njob = {job}\nparents = [\"map-{parent}\"]\ntasks = {tasks}\nwork = \"2 s\"\n"
        );
        if random.below(3) == 0 {
            let node = one(random, &["", "node = \"worker-1\"\n", "node = \"worker-3\"\n"]);
            let _ = write!(text, "[[spark.stage.attempt]]\nend = \"fetch-failed\"\nafter = \"1 s\"\n{node}");
        }
        if job > 0
            && !keep.is_empty()
            && text.contains("name = \"map-0\"\njob = 0\ntasks")
            && text.matches("persist").count() > 1
        {
            let first =
                text.find("persist").map(|at| text[..at].rfind("name = \"map-").map(|at| &text[at + 12..at + 13]));
            if let Some(Some(keeper)) = first.filter(|keeper| keeper.is_some_and(|keeper| keeper != job.to_string())) {
                let keeper = keeper.to_owned();
                let _ = write!(
                    text,
                    "[[spark.stage]]\nname = \"again-{job}\"\njob = {job}\nreads = \"map-{keeper}\"\ntasks = {tasks}\n"
                );
            }
        }
    }
    for _ in 0..random.below(3) {
        let (at, node) = (1 + random.below(60), 1 + random.below(4));
        let _ = write!(text, "[[faults]]\nat = \"{at} s\"\nnode = \"worker-{node}\"\n");
        text += one(random, &["", "down-for = \"20 s\"\n", "down-for = \"200 s\"\n"]);
    }
    text
}

fn check(result: &RunResult, text: &str, seed: u64) {
    let app = result.spark.as_ref().expect("an application");
    assert!(app.state != JobState::Failed || !app.reason.is_empty(), "{seed}: {text}");
    assert_eq!(result.violations().count(), 0, "{seed}: {text}");
    if app.state == JobState::Succeeded {
        for stage in app.stages.iter().filter(|stage| !app.jobs[stage.job as usize].failed) {
            assert!(stage.finish.is_some() || stage.attempts == 0, "{seed}: {} {text}", stage.name);
        }
    }
    // Two attempts at a task of a stage's attempt run only where one is a copy.
    for (place, task) in app.tasks.iter().enumerate() {
        let others = &app.tasks[place + 1..];
        let same = others
            .iter()
            .filter(|other| (other.stage, other.index, other.attempt) == (task.stage, task.index, task.attempt));
        for other in same.filter(|other| !other.speculative && !task.speculative) {
            let ended = task.finish.unwrap_or_else(|| panic!("{seed}: two attempts run: {text}"));
            assert!(ended <= other.launch && task.ended != SparkTaskEnd::Running, "{seed}: {text}");
        }
    }
}

#[test]
fn every_run_ends_or_says_why_not() {
    let sets = ["network.rate=100 Mbit/s", "node.cores=2", "mapreduce.node-expiry=60 s", "run.until=3 h"];
    let mut states = std::collections::BTreeMap::new();
    for seed in 0..60 {
        let text = scenario(seed);
        let result = std::panic::catch_unwind(|| run(&text, &sets)).unwrap_or_else(|_| panic!("seed {seed}:\n{text}"));
        check(&result, &text, seed);
        let app = result.spark.as_ref().expect("an application");
        if app.state == JobState::Unfinished {
            eprintln!("unfinished, seed {seed}:\n{text}");
        }
        *states.entry(app.state.name()).or_insert(0) += 1;
    }
    eprintln!("{states:?}");
}
