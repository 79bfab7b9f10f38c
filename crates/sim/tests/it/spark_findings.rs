//! Why an application of Spark took its time: each cause put into one on four workers of a core each, and not into
//! another. Costs are by hand from what was put in.

use crate::spark::{SHUFFLE, run, spark};
use crate::spark_loss::near;
use results::RunResult;
use results::findings::{Finding, Rule, Severity};
use units::Time;

/// The findings of a run, whose critical path has no gap and is as long as the application.
fn found(result: &RunResult) -> &[Finding] {
    let app = spark(result);
    let mut at = app.jobs[0].submit.expect("a job");
    for segment in &app.critical_path {
        assert_eq!(segment.start, at, "{:#?}", app.critical_path);
        at = segment.finish;
    }
    assert_eq!(Some(at), app.finish);
    assert_eq!(app.breakdown().total(), app.took().expect("an end"));
    for finding in &result.findings {
        assert!(finding.job.is_none() && !finding.evidence.is_empty() && !finding.key.is_empty(), "{finding:?}");
    }
    &result.findings
}

/// The finding of a rule, which the first run has and the second does not.
fn tells(rule: Rule, with: &RunResult, without: &RunResult) -> Finding {
    let of = |result| found(result).iter().find(|finding| finding.rule == rule).cloned();
    assert_eq!(of(without), None);
    of(with).unwrap_or_else(|| panic!("no {rule:?} in {:#?}", with.findings))
}

fn cost(finding: &Finding) -> f64 {
    finding.cost.as_secs_f64()
}

fn stage(keys: &str) -> String {
    format!("[[spark.stage]]\nname = \"a\"\n{keys}\n")
}

/// Two waves of a second each; a stage without work has none of it.
#[test]
fn work_is_of_the_processors() {
    let waves = run(&stage("tasks = 8\nwork = \"1 s\""), &[]);
    let finding = tells(Rule::Processor, &waves, &run(&stage("tasks = 8\ninput = \"400 MB\""), &[]));
    near(cost(&finding), 2.0, 0.001);
    assert_eq!((finding.severity, finding.stage), (Severity::Critical, Some(0)));
    assert!(finding.evidence.contains("4.0 tasks computed at once, on 4 executors of 1 core"), "{}", finding.evidence);
    assert!(finding.evidence.contains("'s processor"), "{}", finding.evidence);
    assert_eq!(found(&waves).len(), 1, "{:#?}", waves.findings);
}

/// Each reader gets 7.5 MB of others, which takes 6 s at 10 Mbit/s; 20 s of work beside 0.06 s on a fast link is no
/// shuffle's fault.
#[test]
fn a_shuffle_is_told_with_its_link() {
    let slow = run(SHUFFLE, &["network.rate=10 Mbit/s"]);
    let busy = run(&SHUFFLE.replace("\"20 ms\"", "\"2 s\""), &["network.rate=1 Gbit/s"]);
    let finding = tells(Rule::Shuffle, &slow, &busy);
    assert!(cost(&finding) > 5.8, "{finding:?}");
    assert_eq!((finding.severity, finding.stage), (Severity::Critical, Some(1)));
    // The link that was in most use of those that lead to the reader: its own, or that of a node that it reads of.
    let app = spark(&slow);
    let last = app.critical_path.iter().rev().find_map(|segment| segment.task).expect("a task");
    let reader = format!("worker-{}", app.tasks[last].node.0);
    let into = finding.evidence.contains(&format!("the 10 Mbit/s link into {reader} "));
    let out_of = finding.evidence.split_once("the 10 Mbit/s link out of ").map(|(_, rest)| rest);
    assert!(into || out_of.is_some_and(|rest| !rest.starts_with(&reader)), "{reader}: {}", finding.evidence);
    assert!(finding.evidence.contains("30 MB crossed the network"), "{}", finding.evidence);
}

/// Each task of the second stage reads 0.75 MB of others, which takes 0.6 s at 10 Mbit/s, and writes 10 MB, of which a
/// second replica takes 8 s on its way to another node; without it nothing is waited for but the blocks.
#[test]
fn output_is_not_taken_for_a_shuffle() {
    let text = format!(
        "{}[[spark.stage]]\nname = \"b\"\nparents = [\"a\"]\ntasks = 4\nwork = \"1 s\"\noutput = \"40 MB\"\n\
         output-to = \"hdfs\"\n",
        stage("tasks = 4\nwork = \"1 s\"\nshuffle-write = \"4 MB\"")
    );
    let with = |replicas: u32| run(&text, &["network.rate=10 Mbit/s", &format!("hdfs.replication={replicas}")]);
    let (two, one) = (with(2), with(1));
    let finding = tells(Rule::Output, &two, &one);
    assert!(cost(&finding) > 8.0 && cost(&finding) < 20.0, "{finding:?}");
    assert_eq!(finding.stage, Some(1));
    assert!(finding.evidence.contains("40 MB written in all"), "{}", finding.evidence);
    assert!(two.findings.iter().all(|finding| finding.rule != Rule::Shuffle), "{:#?}", two.findings);
    let took = |result: &RunResult| spark(result).took().expect("an end").as_secs_f64();
    assert!(took(&two) - took(&one) > 0.8 * cost(&finding), "what is said comes true: {} {}", took(&two), took(&one));
}

/// A task reads 100 MB of its node's disk and does nothing with them.
#[test]
fn disks_are_told() {
    let read = run(&stage("input = \"100 MB\""), &[]);
    let finding = tells(Rule::Disk, &read, &run(&stage("work = \"5 s\""), &[]));
    assert!(cost(&finding) > 0.95 * spark(&read).took().expect("an end").as_secs_f64(), "{finding:?}");
    assert!(finding.evidence.contains("'s disk"), "{}", finding.evidence);
}

/// The second job comes 5 s after the first, which took a second.
#[test]
fn the_program_between_jobs_is_the_drivers() {
    let jobs = |pause: &str| {
        let second = stage("work = \"1 s\"\njob = 1").replace("\"a\"", "\"b\"");
        run(&format!("pause = [\"0 s\", \"{pause}\"]\n{}{second}", stage("work = \"1 s\"")), &[])
    };
    let finding = tells(Rule::Driver, &jobs("5 s"), &jobs("0 s"));
    near(cost(&finding), 5.0, 0.001);
    assert_eq!(finding.stage, None);
    assert!(finding.evidence.contains("most of it outside of stages"), "{}", finding.evidence);
}

/// Blocks of one replica each, of which some node has two and another none: after 3 s the latter's core takes one of
/// them (`spark.locality.wait`).
#[test]
fn waiting_for_locality_is_told() {
    let text = stage("tasks = 4\nwork = \"10 s\"\ninput = \"4 MB\"\ninput-from = \"hdfs\"");
    let sets = ["hdfs.replication=1", "hdfs.block=1 MB"];
    let patient = run(&text, &sets);
    let hasty = run(&text, &[&sets[..], &["spark.locality-wait=0 s"]].concat());
    let finding = tells(Rule::Locality, &patient, &hasty);
    near(cost(&finding), 3.0, 0.02);
    assert_eq!(
        (finding.severity, finding.property.as_str()),
        (Severity::Moderate, "spark.locality.wait, dfs.replication")
    );
}

/// All of a shuffle is on one node. Of two tasks that prefer it one has its core, the other waits 3 s for it, and for the
/// driver's next look at free cores, each second: no replica of a file would have helped. Without `spark.reduce-locality`
/// none waits.
#[test]
fn waiting_for_blocks_of_shuffles_is_not_of_replicas() {
    let second = stage("parents = [\"a\"]\ntasks = 2\nwork = \"10 s\"").replace("name = \"a\"", "name = \"b\"");
    let text = format!("{}{second}", stage("shuffle-write = \"4 MB\""));
    let finding = tells(Rule::Locality, &run(&text, &[]), &run(&text, &["spark.reduce-locality=false"]));
    assert!((3.0..4.0).contains(&cost(&finding)), "{finding:?}");
    assert_eq!(finding.stage, Some(1));
    assert_eq!(
        (finding.property.as_str(), finding.key),
        ("spark.locality.wait, spark.shuffle.reduceLocality.enabled", "spark.locality-wait, spark.reduce-locality")
    );
}

/// Each executor's first task has its start before it, 2 s, and those of a stage its warming up, 1 s.
#[test]
fn starts_of_executors_are_told() {
    let text = |start: &str| {
        format!("executor-start = \"{start}\"\n{}", stage("tasks = 8\nwork = \"5 s\"\nwarm-up = \"1 s\""))
    };
    let cold = run(&text("2 s"), &[]);
    let finding = tells(Rule::ExecutorStarts, &cold, &run(&stage("tasks = 8\nwork = \"5 s\""), &[]));
    near(cost(&finding), 3.0, 0.001);
    near(cost(found(&cold).iter().find(|finding| finding.rule == Rule::Processor).expect("work")), 10.0, 0.001);
}

/// Three attempts fail after 2, 3 and 14 s, before one that succeeds.
#[test]
fn attempts_in_vain_are_told() {
    let attempts = ["2 s", "3 s", "14 s"].map(|after| format!("[[spark.stage.attempt]]\nafter = \"{after}\"\n"));
    let fails = run(&format!("{}{}", stage("work = \"10 s\""), attempts.concat()), &[]);
    let finding = tells(Rule::FailedAttempts, &fails, &run(&stage("work = \"10 s\""), &[]));
    near(cost(&finding), 19.0, 0.001);
    assert!(finding.evidence.contains("3 attempts did not succeed"), "{}", finding.evidence);
}

/// A node at a tenth of its speed: after 3.1 s a copy of its task begins elsewhere, which takes a second.
#[test]
fn a_slow_first_attempt_is_told() {
    let text = |speed: f64| {
        let fault = format!("[[faults]]\nat = \"0 s\"\nnode = \"worker-1\"\nslow = {speed}\n");
        format!("speculation = true\n{}{fault}", stage("tasks = 4\nwork = \"1 s\""))
    };
    let finding = tells(Rule::SecondAttempt, &run(&text(0.1), &[]), &run(&text(0.9), &[]));
    near(cost(&finding), 3.1, 0.005);
}

/// An executor that comes 4 s after the first: its task, the last, waits for that and not for the other's core.
#[test]
fn the_path_goes_by_what_came_last() {
    let listed = "[[spark.executor]]\nnode = \"worker-1\"\n[[spark.executor]]\nnode = \"worker-2\"\nfrom = \"4 s\"\n";
    let result = run(&format!("{listed}{}", stage("tasks = 2\nworks = [\"10 s\", \"10 s\"]")), &[]);
    let starts = found(&result).iter().find(|finding| finding.rule == Rule::ExecutorStarts).expect("a start");
    near(cost(starts), 4.0, 0.01);
    assert!(Time::from_secs(13) < spark(&result).took().expect("an end"));
}
