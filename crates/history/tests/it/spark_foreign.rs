//! Event logs of clusters that are not as ours: what other people's logs have shown, each in a small log of our own.

use crate::spark::application;
use history::spark::{LogPart, SparkImported, import};
use scenario::{Scenario, SparkAttempt, SparkEnd, SparkStage};
use serde_json::{Value, json};
use units::{BitRate, Bytes, Time};

/// A log of executors, then events, within one job of stages 0 to `stages`.
pub fn log(
    version: &str,
    properties: &[(&str, &str)],
    executors: &[(&str, &str, u32)],
    stages: u32,
    rest: &[Value],
) -> String {
    let set: serde_json::Map<String, Value> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let mut lines = vec![
        json!({ "Event": "LogStart", "Spark Version": version }),
        json!({ "Event": "ApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": 0 }),
        json!({ "Event": "EnvironmentUpdate", "Spark Properties": set }),
    ];
    for (id, host, cores) in executors {
        lines.push(json!({ "Event": "ExecutorAdded", "Timestamp": 500, "Executor ID": id,
            "Executor Info": { "Host": host, "Total Cores": cores } }));
    }
    let numbers: Vec<u32> = (0..stages).collect();
    lines.push(json!({ "Event": "JobStart", "Job ID": 0, "Submission Time": 1_000, "Stage IDs": numbers }));
    lines.extend_from_slice(rest);
    if !rest.iter().any(|event| event["Event"] == "JobEnd") {
        lines.push(json!({ "Event": "JobEnd", "Job ID": 0, "Completion Time": 20_000,
            "Job Result": { "Result": "JobSucceeded" } }));
    }
    lines.push(json!({ "Event": "ApplicationEnd", "Timestamp": 21_000 }));
    let text = |line: Value| format!("{line}\n").replace("\"Event\":\"", "\"Event\":\"SparkListener");
    lines.into_iter().map(text).collect()
}

/// An attempt at a stage that ended.
pub fn stage((id, attempt): (u32, u32), tasks: u32, (submit, finish): (i64, i64), parents: &[u32]) -> Value {
    json!({ "Event": "StageCompleted", "Stage Info": { "Stage ID": id, "Stage Attempt ID": attempt,
        "Stage Name": "count at a.py:1", "Number of Tasks": tasks, "RDD Info": [{ "RDD ID": id }],
        "Parent IDs": parents, "Submission Time": submit, "Completion Time": finish } })
}

/// An attempt at a task that ended: executor, launch and finish.
pub fn task((stage, attempt): (u32, u32), index: u32, executor: &str, (launch, finish): (i64, i64)) -> Value {
    json!({ "Event": "TaskEnd", "Stage ID": stage, "Stage Attempt ID": attempt,
        "Task End Reason": { "Reason": "Success" },
        "Task Info": { "Task ID": stage * 1_000 + attempt * 100 + index, "Index": index, "Launch Time": launch,
            "Executor ID": executor, "Host": format!("h{executor}"), "Locality": "PROCESS_LOCAL", "Finish Time": finish },
        "Task Metrics": { "Executor Run Time": finish - launch } })
}

/// An event whose part of this name has these values in place of its own, and beside them.
fn with(mut event: Value, part: &str, values: &Value) -> Value {
    let (Some(of), Some(values)) = (event[part].as_object_mut(), values.as_object()) else { panic!("objects") };
    of.extend(values.clone());
    event
}

pub fn imported(text: &str) -> SparkImported {
    import(&application(text.as_bytes()).unwrap(), None).unwrap()
}

pub fn says(imported: &SparkImported, words: &str) {
    assert!(imported.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", imported.notes);
}

pub fn ms(times: &[u64]) -> Vec<Time> {
    times.iter().copied().map(Time::from_ms).collect()
}

const TWO: [(&str, &str, u32); 2] = [("1", "h1", 1), ("2", "h2", 1)];

/// Of local mode the driver is the executor, with the cores that it says or else those that its tasks had at once. Its
/// first tasks took 2.9 s and 3.9 s, a later one 2 s: warming up is 1.4 s.
#[test]
fn local_mode_is_an_executor_on_a_worker() {
    let tasks = [
        task((0, 0), 0, "driver", (1_100, 4_000)),
        task((0, 0), 1, "driver", (1_100, 5_000)),
        task((0, 0), 2, "driver", (4_000, 6_000)),
        stage((0, 0), 3, (1_050, 6_000), &[]),
    ];
    for (executors, cores) in [(&[("driver", "hdriver", 8)][..], 8), (&[], 2)] {
        let imported = imported(&log("3.5.1", &[("spark.master", "local[*]")], executors, 1, &tasks));
        let spark = imported.scenario.spark.as_ref().unwrap();
        assert_eq!((imported.scenario.cluster.workers, spark.executors, spark.executor_cores), (1, 1, cores));
        assert_eq!(
            (&spark.stage[0].works, spark.stage[0].warm_up),
            (&ms(&[1_500, 2_500, 2_000]), Time::from_ms(1_400))
        );
        says(&imported, "local mode");
    }
}

/// The events of executors were lost: their tasks say where they were. A task of the driver's is of no executor then.
#[test]
fn executors_are_known_by_their_tasks() {
    let tasks = [
        task((0, 0), 0, "7", (1_100, 4_000)),
        task((0, 0), 1, "7", (1_100, 4_000)),
        task((0, 0), 2, "driver", (1_100, 4_000)),
        stage((0, 0), 3, (1_050, 4_000), &[]),
    ];
    let text = log("3.5.1", &[], &[], 1, &tasks);
    let of = application(text.as_bytes()).unwrap();
    let known: Vec<_> = of.executors.iter().map(|of| (&*of.id, &*of.host, of.cores, of.added_ms)).collect();
    assert_eq!(known, [("7", "h7", 2, 1_100)]);
    let spark = imported(&text).scenario.spark.unwrap();
    assert_eq!((spark.executors, spark.executor_cores), (1, 2));
    let nothing = log("3.5.1", &[], &[], 1, &[stage((0, 0), 3, (1_050, 4_000), &[])]);
    let error = import(&application(nothing.as_bytes()).unwrap(), None).unwrap_err().to_string();
    assert!(error.starts_with("the log names no executor"), "{error}");
}

/// Four cores for a task, or a quarter of a GPU: not as many tasks at once as an executor has cores.
#[test]
fn tasks_that_take_more_than_a_core_are_fewer_at_once() {
    let rest = [task((0, 0), 0, "1", (1_100, 4_000)), stage((0, 0), 1, (1_050, 4_000), &[])];
    let gpu = "spark.executor.resource.gpu.amount";
    let cases: [(&[(&str, &str)], u32); 6] = [
        (&[], 16),
        (&[("spark.task.cpus", "4")], 4),
        (&[("spark.task.cpus", "32")], 1),
        (&[(gpu, "1"), ("spark.task.resource.gpu.amount", "0.25")], 4),
        (&[(gpu, "2"), ("spark.task.resource.gpu.amount", "0.33")], 6),
        (&[(gpu, "4"), ("spark.task.resource.gpu.amount", "2"), ("spark.task.cpus", "2")], 2),
    ];
    for (properties, at_once) in cases {
        let scenario = imported(&log("3.5.1", properties, &[("1", "h1", 16)], 1, &rest)).scenario;
        let cores = scenario.spark.as_ref().unwrap().executor_cores;
        assert_eq!((cores, scenario.node.cores), (at_once, at_once), "{properties:?}");
    }
}

/// Whoever copied a log may have ended its last line. Within a log such a line is an error still.
#[test]
fn a_last_line_that_breaks_off_may_have_an_end() {
    let whole = log("3.5.1", &[], &TWO, 1, &[task((0, 0), 0, "1", (1_100, 4_000)), stage((0, 0), 1, (1, 4_000), &[])]);
    let end = whole.rfind("{\"Event\"").unwrap();
    let cut = format!("{}{}", &whole[..end], "{\"Event\":\"SparkListenerApplicationEnd\",\"Time\n\n");
    let of = application(cut.as_bytes()).unwrap();
    assert!(of.cut_off && of.finish_ms.is_none() && of.jobs[0].finish_ms == Some(20_000));
    let error = application(format!("{cut}{}", &whole[end..]).as_bytes()).unwrap_err().to_string();
    assert!(error.contains("found EOF while parsing"), "{error}");
}

/// One task of 400 is in the log, of a stage that took 10 s on two executors of two cores: 39.9 s of work are left for
/// the other 399. Of four tasks of which three are there, the last takes the mean.
#[test]
fn tasks_whose_events_were_lost_take_what_the_stage_leaves() {
    let two = [("1", "h1", 2), ("2", "h2", 2)];
    let few = [task((0, 0), 7, "1", (1_000, 1_100)), stage((0, 0), 400, (1_000, 11_000), &[])];
    let of = imported(&log("3.2.4", &[], &two, 1, &few));
    let works = &of.scenario.spark.as_ref().unwrap().stage[0].works;
    assert_eq!((works[7], works[0], works[399]), (Time::from_ms(100), Time::from_ms(100), Time::from_ms(100)));
    assert_eq!(of.recorded.stages[0].1, 10.0);
    says(&of, "no end of 399 tasks is in the log");
    let most = [
        task((0, 0), 0, "1", (1_000, 3_000)),
        task((0, 0), 1, "1", (1_000, 4_000)),
        task((0, 0), 3, "2", (1_000, 5_000)),
        stage((0, 0), 4, (1_000, 20_000), &[]),
    ];
    let of = imported(&log("3.2.4", &[], &two, 1, &most));
    assert_eq!(of.scenario.spark.unwrap().stage[0].works, ms(&[2_000, 3_000, 3_000, 4_000]));
    assert_eq!(of.recorded.stages[0].1, 4.0);
}

/// The first attempt at a stage did two of four tasks, before output of its parents could not be fetched. The second
/// one did the others, which are its tasks 0 and 1: by their partitions, or in their order before Spark 3.3.
#[test]
fn a_stage_that_was_tried_again_has_all_of_its_tasks() {
    let metrics = |bytes: u32| json!({ "Shuffle Write Metrics": { "Shuffle Bytes Written": bytes } });
    let written = |event: Value, bytes| with(event, "Task Metrics", &metrics(bytes));
    let mut failed = stage((0, 0), 4, (1_000, 5_000), &[]);
    failed = with(failed, "Stage Info", &json!({ "Failure Reason": "org.apache.spark.shuffle.FetchFailedException" }));
    let rest = |known: bool| {
        let again = |index: u32, partition: u32, bytes: u32| {
            let event = written(task((0, 1), index, "2", (6_000, 6_000 + 1_000 * i64::from(partition))), bytes);
            if known { with(event, "Task Info", &json!({ "Partition ID": partition })) } else { event }
        };
        vec![
            written(task((0, 0), 2, "1", (1_100, 3_100)), 30),
            written(task((0, 0), 0, "1", (1_100, 2_100)), 10),
            failed.clone(),
            again(0, 1, 20),
            again(1, 3, 40),
            stage((0, 1), 2, (6_000, 9_000), &[]),
        ]
    };
    for known in [true, false] {
        let of = imported(&log("3.5.1", &[], &TWO, 1, &rest(known))).scenario.spark.unwrap();
        assert_eq!((of.stage.len(), of.stage[0].tasks), (1, 4), "{known}");
        assert_eq!(of.stage[0].works, ms(&[1_000, 1_000, 2_000, 3_000]), "{known}");
        assert_eq!(of.stage[0].shuffle_writes, [10, 20, 30, 40].map(Bytes::new), "{known}");
    }
}

/// A task runs from 1.1 s on, and a copy of it from 5 s to 7 s, which is first. The stage waited for 5.9 s.
#[test]
fn a_copy_that_was_first_does_not_shorten_its_task() {
    let killed = json!({ "Reason": "TaskKilled", "Kill Reason": "another attempt succeeded" });
    let mut slow = task((0, 0), 1, "1", (1_100, 7_050));
    slow["Task End Reason"] = killed;
    let copy = with(task((0, 0), 1, "2", (5_000, 7_000)), "Task Info", &json!({ "Speculative": true, "Attempt": 1 }));
    let rest = [task((0, 0), 0, "2", (1_100, 2_100)), copy, slow, stage((0, 0), 2, (1_000, 7_000), &[])];
    let before = imported(&log("3.5.1", &[("spark.speculation", "true")], &TWO, 1, &rest));
    says(&before, "copies of slow tasks were first, 1 of them");
    says(&before, "attempts at tasks that failed, were killed");
    let spark = before.scenario.spark.unwrap();
    assert_eq!(spark.stage[0].works, ms(&[1_000, 5_900]));
    // Spark 4 has other defaults than those before.
    assert_eq!((spark.speculation_multiplier, spark.speculation_quantile), (1.5, 0.75));
    let now = imported(&log("4.0.0", &[("spark.speculation", "true")], &TWO, 1, &rest)).scenario.spark.unwrap();
    assert_eq!((now.speculation_multiplier, now.speculation_quantile), (3.0, 0.9));
}

/// 200 tasks of a stage were launched and ended within 100 ms, by one thread of the driver's: 0.5 ms each, where the
/// model would have taken 1 ms.
#[test]
fn the_driver_is_as_fast_as_it_was_seen_to_be() {
    let of = |length: i64| {
        let mut rest: Vec<Value> = (0..200)
            .map(|index| task((0, 0), index, "1", (1_100, 1_100 + length * i64::from(index + 1) / 200)))
            .collect();
        rest.push(stage((0, 0), 200, (1_000, 1_300), &[]));
        let spark = imported(&log("3.5.1", &[], &TWO, 1, &rest)).scenario.spark.unwrap();
        (spark.launch_cost, spark.status_cost)
    };
    assert_eq!(of(100), (Time::from_us(250), Time::from_us(250)));
    assert_eq!(of(2_000), (Time::from_us(500), Time::from_us(500)));
}

/// Two stages are ready when their job is submitted at 1 s. The driver hands over the tasks of both by 1.2 s; those of
/// the second wait for the core until 5 s, which is no delay of the driver's.
#[test]
fn waiting_for_a_core_is_no_delay() {
    let rest = [
        task((0, 0), 0, "1", (1_300, 5_000)),
        stage((0, 0), 1, (1_100, 5_000), &[]),
        task((1, 0), 0, "1", (5_000, 6_000)),
        stage((1, 0), 1, (1_200, 6_000), &[]),
    ];
    let spark = imported(&log("3.5.1", &[], &[("1", "h1", 1)], 2, &rest)).scenario.spark.unwrap();
    assert_eq!((spark.stage[0].delay, spark.stage[1].delay), (Time::from_ms(300), Time::from_ms(300)));
}

/// A data set of two partitions of 2 GB is kept by executors 1 and 2. One task of the next job runs where it is not
/// kept, as the executor's first: 30 s with 9 s of processor time, where that beside its partition takes 10 s. The rest
/// is neither work nor a start. In the 21 s 0.8 Gbit/s came; had it taken 20 s, 1.5 Gbit/s in 11 s, which is no link of
/// 1 Gbit/s.
#[test]
fn what_is_kept_elsewhere_is_read_over_the_network() {
    let three = [("1", "h1", 1), ("2", "h2", 1), ("3", "h3", 1)];
    let kept = json!({ "RDD Info": [{ "RDD ID": 0, "Storage Level": { "Use Memory": true, "Use Disk": true } }] });
    let counted = |event: Value, input: u64, cpu: u64| {
        let input = json!({ "Executor CPU Time": cpu * 1_000_000, "Input Metrics": { "Bytes Read": input } });
        with(event, "Task Metrics", &input)
    };
    let far = |event: Value| with(event, "Task Info", &json!({ "Locality": "RACK_LOCAL" }));
    let first = [
        counted(task((0, 0), 0, "1", (1_100, 3_100)), 0, 2_000),
        counted(task((0, 0), 1, "2", (1_100, 3_100)), 0, 2_000),
        with(stage((0, 0), 2, (1_000, 3_100), &[]), "Stage Info", &kept),
        json!({ "Event": "JobEnd", "Job ID": 0, "Completion Time": 3_200, "Job Result": { "Result": "JobSucceeded" } }),
        json!({ "Event": "JobStart", "Job ID": 1, "Submission Time": 4_000, "Stage IDs": [1] }),
        counted(task((1, 0), 0, "1", (4_100, 14_100)), 2_000_000_000, 9_000),
        counted(far(task((1, 0), 1, "3", (4_100, 34_100))), 2_000_000_000, 9_000),
        with(stage((1, 0), 2, (4_000, 34_100), &[]), "Stage Info", &kept),
        json!({ "Event": "JobEnd", "Job ID": 1, "Completion Time": 34_200, "Job Result": { "Result": "JobSucceeded" } }),
    ];
    let of = imported(&log("3.5.1", &[], &three, 1, &first));
    let spark = of.scenario.spark.as_ref().unwrap();
    assert_eq!(spark.stage[1].reads, "0: count");
    assert_eq!((spark.executor_start, spark.stage[1].works.clone()), (Time::ZERO, ms(&[10_000, 10_000])));
    assert_eq!(of.scenario.network.rate, BitRate::from_gbps(1));
    let fast: Vec<Value> =
        first.iter().map(|event| serde_json::from_str(&event.to_string().replace("34100", "24100")).unwrap()).collect();
    let of = imported(&log("3.5.1", &[], &three, 1, &fast));
    assert_eq!(of.scenario.network.rate, BitRate::from_gbps(10));
    says(&of, "a host read 1.5 Gbit/s of others");
}

/// A task that did not succeed, for this reason.
fn in_vain(event: Value, reason: &Value) -> Value {
    let mut event = event;
    event["Task End Reason"] = reason.clone();
    event
}

pub fn threw(event: Value) -> Value {
    in_vain(event, &json!({ "Reason": "ExceptionFailure", "Class Name": "java.lang.Error", "Description": "no" }))
}

/// A stage that failed with its task 1, after so many failures of that.
pub fn aborted(event: Value, times: u32) -> Value {
    let id = &event["Stage Info"]["Stage ID"];
    let words = format!("Job aborted due to stage failure: Task 1 in stage {id}.0 failed {times} times, most recent");
    with(event, "Stage Info", &json!({ "Failure Reason": words }))
}

pub fn job_start(id: u32, at: i64, stages: &[u32]) -> Value {
    json!({ "Event": "JobStart", "Job ID": id, "Submission Time": at, "Stage IDs": stages })
}

pub fn job_end(id: u32, at: i64, succeeded: bool) -> Value {
    let result = if succeeded { "JobSucceeded" } else { "JobFailed" };
    json!({ "Event": "JobEnd", "Job ID": id, "Completion Time": at, "Job Result": { "Result": result } })
}

/// By task: how attempts at it ended, after how many milliseconds, and by whose loss.
pub fn attempts(stage: &SparkStage) -> Vec<(u32, SparkEnd, u64, Option<&str>)> {
    let of = |of: &SparkAttempt| (of.of_task().expect("a task's"), of.end, of.after.as_ms());
    stage
        .attempt
        .iter()
        .map(|attempt| {
            let (task, end, after) = of(attempt);
            (task, end, after, attempt.node.as_deref())
        })
        .collect()
}

/// Task 1 failed after 1 s and after 1.5 s. Its third attempt took 2 s.
#[test]
fn attempts_that_failed_are_planned() {
    let rest = [
        threw(task((0, 0), 1, "2", (1_100, 2_100))),
        task((0, 0), 0, "1", (1_100, 3_100)),
        threw(task((0, 0), 1, "2", (2_200, 3_700))),
        task((0, 0), 1, "1", (3_800, 5_800)),
        stage((0, 0), 2, (1_000, 5_800), &[]),
    ];
    let of = imported(&log("3.5.1", &[("spark.task.maxFailures", "8")], &TWO, 1, &rest));
    let spark = of.scenario.spark.as_ref().unwrap();
    assert_eq!(spark.stage[0].works, ms(&[2_000, 2_000]));
    assert_eq!(attempts(&spark.stage[0]), [(1, SparkEnd::Failed, 1_000, None), (1, SparkEnd::Failed, 1_500, None)]);
    assert_eq!((spark.task_max_failures, spark.catches_failures), (8, false));
    assert!(!of.notes.iter().any(|note| note.contains("left out")), "{:?}", of.notes);
    Scenario::parse("back", &of.scenario.to_short_toml(), &[]).expect("it can run");
    // Events that were lost do not fail a job that succeeded.
    let of = imported(&log("3.5.1", &[("spark.task.maxFailures", "2")], &TWO, 1, &rest));
    assert_eq!(attempts(&of.scenario.spark.unwrap().stage[0]), [(1, SparkEnd::Failed, 1_000, None)]);
}

/// Task 1 of the first job failed twice, at 5 s, when a job that ran beside it was cancelled; the next one succeeded.
/// Of the first stage task 2 was not tried; of the cancelled one a task had run for 3 s, longer than the others.
#[test]
fn a_job_that_failed_takes_those_beside_it_along() {
    let killed = json!({ "Reason": "TaskKilled", "Kill Reason": "Stage cancelled" });
    let job = |beside: bool, after: i64| {
        vec![
            job_start(1, 1_500, &[1]),
            task((0, 0), 0, "1", (1_100, 2_000)),
            threw(task((0, 0), 1, "2", (1_100, 3_100))),
            task((1, 0), 0, "1", (2_000, 2_200)),
            threw(task((0, 0), 1, "2", (3_200, 5_000))),
            in_vain(task((1, 0), 1, "1", (2_200, 5_200)), &killed),
            aborted(stage((0, 0), 3, (1_000, 5_000), &[]), 2),
            job_end(0, 5_000, false),
            with(
                stage((1, 0), 3, (1_600, 5_300), &[]),
                "Stage Info",
                &json!({ "Failure Reason": if beside { "" } else { "cancelled" } }),
            ),
            job_end(1, 5_300, beside),
            job_start(2, after, &[2]),
            task((2, 0), 0, "1", (after + 100, after + 1_100)),
            stage((2, 0), 1, (after, after + 1_100), &[]),
            job_end(2, after + 1_100, true),
        ]
    };
    let of = imported(&log("3.5.1", &[("spark.master", "local[2,2]")], &TWO, 1, &job(false, 7_000)));
    let spark = of.scenario.spark.as_ref().unwrap();
    assert_eq!((spark.task_max_failures, spark.catches_failures), (2, true));
    assert_eq!(spark.stage.iter().map(|stage| stage.job).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(attempts(&spark.stage[0]), [(1, SparkEnd::Failed, 2_000, None), (1, SparkEnd::Failed, 1_800, None)]);
    assert_eq!(spark.stage[0].works, ms(&[900, 900, 900]));
    assert_eq!(spark.stage[1].works, ms(&[200, 3_000, 200]));
    // 2 s from the failure on, and not from the end of what was cancelled.
    assert_eq!((spark.pause.clone(), of.recorded.took), (ms(&[0, 2_000]), 7.1));
    assert!(!of.notes.iter().any(|note| note.ends_with("left out")), "{:?}", of.notes);
    // Where the one beside it went on to succeed, the one that failed is left out.
    let of = imported(&log("3.5.1", &[], &TWO, 1, &job(true, 7_000)));
    says(&of, "1 job that did not succeed is left out");
    assert_eq!(of.scenario.spark.unwrap().stage.len(), 2);
}

/// A job that alone was there and failed is one to predict; one that was cancelled is not.
#[test]
fn a_job_that_failed_is_imported_and_one_that_was_cancelled_is_not() {
    let rest = [
        task((0, 0), 0, "1", (1_100, 2_000)),
        threw(task((0, 0), 1, "2", (1_100, 3_100))),
        aborted(stage((0, 0), 2, (1_000, 3_100), &[]), 1),
        job_end(0, 3_100, false),
    ];
    let of = imported(&log("3.5.1", &[("spark.master", "local[2]")], &TWO, 1, &rest)).scenario.spark.unwrap();
    assert_eq!((of.stage.len(), of.task_max_failures, of.catches_failures), (1, 1, true));
    // Its attempts are not in the log, or it has another reason.
    let text = log("3.5.1", &[], &TWO, 1, &rest);
    for other in [text.replace("failed 1 times", "failed 2 times"), text.replace("failed 1 times", "cancelled")] {
        assert!(import(&application(other.as_bytes()).unwrap(), None).is_err());
    }
}

/// A task whose executors were lost twice, and its job with it: both attempts are planned, and the executors go, too.
/// That of another task follows from the loss.
#[test]
fn a_job_that_failed_with_lost_executors_is_imported() {
    let lost = json!({ "Reason": "ExecutorLostFailure", "Executor ID": "1", "Exit Caused By App": true,
        "Loss Reason": "Container killed by YARN for exceeding memory limits" });
    let again = json!({ "Reason": "Resubmitted" });
    let rest = [
        in_vain(task((0, 0), 0, "1", (1_100, 3_000)), &lost),
        in_vain(task((0, 0), 1, "1", (1_100, 3_000)), &lost),
        goes("1", 3_000, "Container killed by YARN for exceeding memory limits"),
        in_vain(task((0, 0), 1, "2", (3_100, 3_200)), &again),
        in_vain(task((0, 0), 1, "2", (3_200, 5_000)), &lost),
        goes("2", 5_000, "Container killed by YARN for exceeding memory limits"),
        aborted(stage((0, 0), 2, (1_000, 5_000), &[]), 2),
        job_end(0, 5_000, false),
    ];
    let of = imported(&log("3.5.1", &[], &TWO, 1, &rest)).scenario.spark.unwrap();
    assert_eq!(attempts(&of.stage[0]), [(1, SparkEnd::Failed, 1_900, None), (1, SparkEnd::Failed, 1_800, None)]);
    assert_eq!(of.executor.iter().map(|executor| executor.lost).collect::<Vec<_>>(), [true, false]);
}

/// What could not be fetched from an executor that lived on takes that one's output along. What could not be from one
/// that was lost follows from its loss.
#[test]
fn output_that_could_not_be_fetched_is_lost() {
    let fetch =
        json!({ "Reason": "FetchFailed", "Block Manager Address": { "Executor ID": "2", "Host": "h2", "Port": 7 } });
    let metrics = json!({ "Shuffle Write Metrics": { "Shuffle Bytes Written": 100 } });
    let failed = json!({ "Failure Reason": "org.apache.spark.shuffle.FetchFailedException" });
    let again = with(task((1, 1), 0, "1", (6_000, 7_000)), "Task Info", &json!({ "Partition ID": 1 }));
    let mut rest = vec![
        with(task((0, 0), 0, "2", (1_100, 4_000)), "Task Metrics", &metrics),
        stage((0, 0), 1, (1_050, 4_000), &[]),
        task((1, 0), 0, "1", (4_100, 5_000)),
        in_vain(task((1, 0), 1, "1", (4_100, 4_900)), &fetch),
        with(stage((1, 0), 2, (4_050, 5_000), &[0]), "Stage Info", &failed),
        again,
        stage((1, 1), 1, (5_900, 7_000), &[0]),
    ];
    let of = |rest: &[Value]| imported(&log("3.5.1", &[], &TWO, 2, rest)).scenario.spark.unwrap();
    assert_eq!(attempts(&of(&rest).stage[1]), [(1, SparkEnd::FetchFailed, 800, Some("worker-2"))]);
    rest.insert(3, goes("2", 4_050, "worker lost"));
    assert_eq!(attempts(&of(&rest).stage[1]), []);
}

/// Two executors of two cores each went after 4 s and 6 s of a stage of 7 s, of whose 100 tasks one is in the log, with
/// 0.2 s. The second one is there until the end: 8 + 14 s of cores are left, less the 0.2 s, for the 99.
#[test]
fn executors_that_went_had_no_part_in_the_rest() {
    let two = [("1", "h1", 2), ("2", "h2", 2)];
    let rest = [
        task((0, 0), 7, "1", (1_000, 1_200)),
        goes("1", 5_000, "Container marked as failed"),
        goes("2", 7_000, "Dynamic allocation"),
        stage((0, 0), 100, (1_000, 8_000), &[]),
    ];
    let of = imported(&log("3.2.4", &[], &two, 1, &rest)).scenario.spark.unwrap();
    let works = &of.stage[0].works;
    assert_eq!((works[7], works[0]), (Time::from_ms(200), Time::from_ms(220)));
    // Two of a core that came 1 s after the stage, before its first task, are there from the start here: 14 s.
    let rest = [
        comes("1", 2_000),
        comes("2", 2_000),
        task((0, 0), 7, "1", (2_000, 2_200)),
        stage((0, 0), 100, (1_000, 8_000), &[]),
    ];
    let of = imported(&log("3.2.4", &[], &[], 1, &rest)).scenario.spark.unwrap();
    assert_eq!((of.executor.len(), of.stage[0].works[0]), (0, Time::from_ms(139)));
}

/// The events of an executor that comes, and of one that goes.
fn comes(id: &str, at: i64) -> Value {
    json!({ "Event": "ExecutorAdded", "Timestamp": at, "Executor ID": id,
        "Executor Info": { "Host": format!("h{id}"), "Total Cores": 1 } })
}

fn goes(id: &str, at: i64, reason: &str) -> Value {
    json!({ "Event": "ExecutorRemoved", "Timestamp": at, "Executor ID": id, "Removed Reason": reason })
}

/// Four executors: one from the start on, one that comes 2 s after the job and is lost, one that comes after 5 s and is
/// given back, and one that went before the job. Standalone, Spark 3.4 and later know of the one that was given back 5 s
/// after they have asked for its end (SPARK-39957).
#[test]
fn a_cluster_that_grows_and_shrinks_is_listed() {
    let rest = [
        comes("9", 100),
        goes("9", 900, "Executor killed by driver."),
        task((0, 0), 0, "1", (1_100, 4_000)),
        comes("2", 3_000),
        comes("3", 6_000),
        task((0, 0), 1, "3", (6_100, 8_000)),
        goes("2", 8_000, "Remote RPC client disassociated. Likely due to containers exceeding thresholds"),
        goes("3", 14_000, "Executor killed by driver."),
        stage((0, 0), 2, (1_050, 8_000), &[]),
    ];
    for (version, master, given_back) in
        [("3.5.1", "spark://m:7077", 8), ("3.3.4", "spark://m:7077", 13), ("3.5.1", "yarn", 13)]
    {
        let of = imported(&log(version, &[("spark.master", master)], &[("1", "h1", 1)], 1, &rest));
        let spark = of.scenario.spark.as_ref().unwrap();
        let listed: Vec<_> =
            spark.executor.iter().map(|of| (&*of.node, (of.job, of.from), (of.until_job, of.until))).collect();
        // Of the job's submission at 1 s.
        let secs = Time::from_secs;
        let expected = [
            ("worker-1", (None, secs(0)), (None, None)),
            ("worker-2", (Some(0), secs(2)), (Some(0), Some(secs(7)))),
            ("worker-3", (Some(0), secs(5)), (Some(0), Some(secs(given_back)))),
        ];
        assert_eq!(
            spark.executor.iter().map(|of| (of.cores, of.lost)).collect::<Vec<_>>(),
            [(None, false), (None, true), (None, false)]
        );
        assert_eq!(listed, expected, "{version}, {master}");
        assert_eq!((of.scenario.cluster.workers, &spark.yarn), (3, &None));
        says(&of, "its executors came and went: 3 in all, of which 1 were lost and 1 given back");
        Scenario::parse("back", &of.scenario.to_short_toml(), &[]).expect("it can run");
    }
}

/// Hosts with one and two executors, of which one has two cores; on YARN the number of executors is what holds.
#[test]
fn hosts_that_differ_are_listed() {
    let executors = [("1", "h1", 1), ("2", "h2", 1), ("3", "h2", 2)];
    let rest = [task((0, 0), 0, "1", (1_100, 4_000)), stage((0, 0), 1, (1_050, 4_000), &[])];
    let of = |master: &str| imported(&log("3.5.1", &[("spark.master", master)], &executors, 1, &rest));
    let spark = of("spark://m:7077").scenario.spark.unwrap();
    let listed: Vec<_> = spark.executor.iter().map(|of| (&*of.node, of.cores)).collect();
    assert_eq!(listed, [("worker-1", Some(1)), ("worker-2", Some(1)), ("worker-2", None)]);
    let on_yarn = of("yarn");
    let spark = on_yarn.scenario.spark.as_ref().unwrap();
    assert_eq!((spark.executor.len(), spark.yarn.as_ref().unwrap().instances), (0, 3));
    says(&on_yarn, "hosts had different numbers of executors");
}

/// Executors that came after the job's end and went before its begin, by their own events: tasks ran on one, so it was
/// there. Nobody else was, and one is until the end.
#[test]
fn an_executor_was_there_while_tasks_ran_on_it() {
    let rest = [
        comes("1", 90_000),
        comes("2", 90_000),
        task((0, 0), 0, "1", (1_100, 4_000)),
        task((0, 0), 1, "1", (4_000, 6_000)),
        goes("1", 2_000, "Executor heartbeat timed out after 125967 ms"),
        stage((0, 0), 2, (1_050, 6_000), &[]),
    ];
    let of = imported(&log("3.5.1", &[], &[], 1, &rest)).scenario;
    assert_eq!((of.cluster.workers, of.spark.unwrap().executor.len()), (1, 0));
    // Without tasks all of them stand for where it ran.
    let rest = [comes("1", 90_000), comes("2", 90_000), stage((0, 0), 2, (1_050, 6_000), &[])];
    assert_eq!(imported(&log("3.5.1", &[], &[], 1, &rest)).scenario.cluster.workers, 2);
}

/// Jobs of Spark 1.2 have no times: theirs are those of their stages.
#[test]
fn jobs_without_times_have_those_of_their_stages() {
    let rest = [
        task((0, 0), 0, "1", (1_100, 4_000)),
        stage((0, 0), 1, (1_050, 4_000), &[]),
        json!({ "Event": "JobEnd", "Job ID": 0, "Job Result": { "Result": "JobSucceeded" } }),
    ];
    let text = log("1.2.0", &[], &TWO, 1, &rest).replace(",\"Submission Time\":1000}", "}");
    let of = imported(&text);
    assert_eq!((of.recorded.took, of.scenario.spark.unwrap().stage[0].delay), (2.95, Time::from_ms(50)));
}

/// A job that ran when the log broke off has its first stage, which had ended.
#[test]
fn a_job_that_runs_when_the_log_breaks_off_has_the_stages_that_ended() {
    let rest = [
        task((0, 0), 0, "1", (1_100, 4_000)),
        stage((0, 0), 1, (1_050, 4_000), &[]),
        task((1, 0), 0, "1", (4_100, 6_000)),
    ];
    let whole = log("3.5.1", &[], &TWO, 2, &rest);
    let cut: String = whole.split_inclusive('\n').take_while(|line| !line.contains("SparkListenerJobEnd")).collect();
    let of = imported(&cut);
    assert_eq!((of.recorded.took, of.scenario.spark.as_ref().unwrap().stage.len()), (3.0, 1));
    says(&of, "of those that ran the stages that had ended");
    // One that has ended without its job's end is no such log.
    let lost = whole.replace("SparkListenerJobEnd", "SparkListenerOther");
    assert!(import(&application(lost.as_bytes()).unwrap(), None).is_err());
}

/// A stage that found nothing to read comes after its parent, if that wrote little: its task reads it all. Of 40 MB
/// that the parent wrote it would be another matter. What reads 10 MB of the 40 reads all, which is said.
#[test]
fn stages_that_read_little_of_their_parents() {
    let of = |written: u64, read: u64| {
        let metrics = json!({ "Shuffle Write Metrics": { "Shuffle Bytes Written": written } });
        let reading = json!({ "Shuffle Read Metrics": { "Local Bytes Read": read } });
        let rest = [
            with(task((0, 0), 0, "1", (1_100, 4_000)), "Task Metrics", &metrics),
            stage((0, 0), 1, (1_050, 4_000), &[]),
            with(task((1, 0), 0, "1", (4_100, 6_000)), "Task Metrics", &reading),
            stage((1, 0), 1, (4_050, 6_000), &[0]),
        ];
        let of = imported(&log("3.5.1", &[], &TWO, 2, &rest));
        let stage = of.scenario.spark.as_ref().unwrap().stage[1].clone();
        (stage.parents.len(), stage.delay, of.notes.iter().any(|note| note.contains("read 10 MB of the 40 MB")))
    };
    assert_eq!(of(100, 0), (1, Time::from_ms(100), false));
    assert_eq!(of(40_000_000, 0), (0, Time::from_ms(3_100), false));
    assert_eq!(of(40_000_000, 40_000_000), (1, Time::from_ms(100), false));
    assert_eq!(of(40_000_000, 10_000_000), (1, Time::from_ms(100), true));
}

/// Databricks names a log's files by when each ended; the last one has no time.
#[test]
fn files_of_databricks_follow_one_another() {
    let names =
        ["eventlog", "eventlog-2021-06-15--15-00.gz", "eventlog-2021-06-15--14-00", "eventlog-2021-12-01--00-00"];
    let mut parts: Vec<_> = names.iter().map(|name| (LogPart::of(name).unwrap(), *name)).collect();
    parts.sort_unstable();
    assert_eq!(parts.iter().map(|(_, name)| *name).collect::<Vec<_>>(), [names[2], names[1], names[3], names[0]]);
    for other in
        ["eventlog_v2_app", "eventlog-diff-context", "eventlog-2", "eventlogs", "eventlog-2022-01-18--20-00-missing"]
    {
        assert_eq!(LogPart::of(other), None, "{other}");
    }
}
