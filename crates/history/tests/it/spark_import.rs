//! Scenarios of event logs of Spark, where logs say what no application did, and where clusters have settings.

use crate::spark::application;
use history::spark::{SparkImportError, SparkImported, import};
use scenario::{Scenario, SparkDeployMode, SparkLevel};
use serde_json::{Value, json};
use units::{Bytes, Time};

/// A log of two executors and two jobs, each of two stages of two tasks. `slot` is asked for each time and each count,
/// with what would be usual.
pub fn log(slot: &mut dyn FnMut(i64) -> i64) -> String {
    let mut lines = vec![
        json!({ "Event": "LogStart", "Spark Version": "4.1.1" }),
        json!({ "Event": "EnvironmentUpdate",
            "Spark Properties": { "spark.locality.wait": "5s", "spark.reducer.maxSizeInFlight": "24m" } }),
        json!({ "Event": "ApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": slot(1_000) }),
    ];
    for executor in 1..=2 {
        lines.push(json!({ "Event": "ExecutorAdded", "Timestamp": slot(1_100), "Executor ID": executor.to_string(),
            "Executor Info": { "Host": format!("w{executor}"), "Total Cores": 1 } }));
    }
    for job in 0..2 {
        let (first, begin) = (2 * job, 2_000 + 10_000 * job);
        lines.push(json!({ "Event": "JobStart", "Job ID": job, "Submission Time": slot(begin),
            "Stage IDs": [first, first + 1] }));
        for reads in [false, true] {
            let (stage, at) = (first + i64::from(reads), begin + 4_000 * i64::from(reads));
            let (read, write) = if reads { (5_500, 0) } else { (0, 11_000) };
            for index in 0..2 {
                lines.push(json!({ "Event": "TaskEnd", "Stage ID": stage, "Task End Reason": { "Reason": "Success" },
                    "Task Info": { "Task ID": 2 * stage + index, "Index": index, "Launch Time": slot(at + 20),
                        "Executor ID": (index + 1).to_string(), "Host": "w1", "Locality": "NODE_LOCAL",
                        "Finish Time": slot(at + 3_000) },
                    "Task Metrics": { "Result Size": slot(900), "Disk Bytes Spilled": slot(0),
                        "Shuffle Read Metrics": { "Remote Bytes Read": slot(read), "Local Bytes Read": slot(read),
                            "Fetch Wait Time": slot(10) },
                        "Shuffle Write Metrics": { "Shuffle Bytes Written": slot(write),
                            "Shuffle Write Time": slot(1_000_000) } } }));
            }
            let parents = if reads { vec![first, first] } else { Vec::new() };
            lines.push(json!({ "Event": "StageCompleted", "Stage Info": { "Stage ID": stage,
                "Stage Name": "count at a.py:1", "Number of Tasks": slot(2), "RDD Info": [{ "RDD ID": stage }],
                "Parent IDs": parents, "Submission Time": slot(at), "Completion Time": slot(at + 3_010) } }));
        }
        lines.push(json!({ "Event": "JobEnd", "Job ID": job, "Completion Time": slot(begin + 7_500),
            "Job Result": { "Result": "JobSucceeded" } }));
    }
    lines.push(json!({ "Event": "ApplicationEnd", "Timestamp": slot(30_000) }));
    let text = |line: Value| format!("{line}\n").replace("\"Event\":\"", "\"Event\":\"SparkListener");
    lines.into_iter().map(text).collect()
}

/// The log with one usual value replaced wherever it stands.
fn with(usual: i64, other: i64) -> String {
    log(&mut |value| if value == usual { other } else { value })
}

fn imported(text: &str, cluster: Option<&str>) -> Result<SparkImported, SparkImportError> {
    import(&application(text.as_bytes()).unwrap(), cluster.map(|cluster| ("cluster", cluster)))
}

#[test]
fn a_log_without_surprises() {
    let imported = imported(&log(&mut |value| value), None).unwrap();
    let spark = imported.scenario.spark.unwrap();
    assert_eq!(spark.pause, [Time::ZERO, Time::from_ms(2_500)]);
    let names: Vec<_> = spark.stage.iter().map(|stage| (&*stage.name, stage.job, stage.tasks)).collect();
    assert_eq!(names, [("0: count", 0, 2), ("1: count", 0, 2), ("2: count", 1, 2), ("3: count", 1, 2)]);
    // A parent that a log names twice is one parent.
    assert_eq!(
        (&spark.stage[1].parents[..], &spark.stage[3].parents[..]),
        (&["0: count".to_owned()][..], &["2: count".to_owned()][..])
    );
    // 2.98 s, less 10 ms without a block and 1 ms of writing.
    assert_eq!(spark.stage[0].works, [Time::from_ms(2_969); 2]);
    assert_eq!(
        (imported.recorded.took, imported.recorded.shuffle_remote, imported.recorded.shuffle_local),
        (17.5, 22_000, 22_000)
    );
    assert_eq!((spark.locality_wait, spark.reducer_max_size_in_flight), (Time::from_secs(5), Bytes::from_mib(24)));
}

/// What a log states of tasks takes memory only as far as a scenario may have it.
#[test]
fn more_tasks_than_a_scenario_may_have_are_refused() {
    let error = imported(&with(2, 4_000_000_000), None).unwrap_err().to_string();
    assert_eq!(error, "the application has 16000000000 tasks; up to 1000000 are imported");
    let most = imported(&with(2, 250_000), None).unwrap().scenario;
    assert_eq!(most.spark.unwrap().stage[0].works.len(), 250_000);
}

#[test]
fn times_that_cannot_be_are_refused() {
    for (usual, other) in
        [(2_000, -5), (9_500, i64::MAX), (2_020, i64::MIN), (5_000, 253_402_300_800_000), (30_000, -2)]
    {
        let error = application(with(usual, other).as_bytes()).unwrap_err().to_string();
        let expected = format!("a time of {other} ms since 1970, where 0 to 253402300799999 are expected");
        assert!(error.contains(&expected), "{usual}: {error}");
    }
    // Spark has -1 for a time that it does not know.
    assert_eq!(application(with(1_000, -1).as_bytes()).unwrap().start_ms, 0);
}

/// Times that turn around make no time below zero, and sums of counts stay where they are greatest.
#[test]
fn what_contradicts_itself_is_imported_without_a_panic() {
    let of = imported(&log(&mut |value| if value == 5_500 { i64::MAX } else { value }), None);
    assert_eq!(of.unwrap().recorded.shuffle_remote, u64::MAX);
    let late = imported(&with(2_020, 9_000), None).unwrap().scenario.spark.unwrap();
    assert_eq!(late.stage[0].works, [Time::ZERO; 2]);
}

/// A run has an end that a scenario may have, however long the application took.
#[test]
fn an_application_of_months_can_run() {
    let end = 2_000 + 100 * 86_400_000;
    let scenario = imported(&with(19_500, end), None).unwrap().scenario;
    assert_eq!(scenario.run.until, Time::from_secs(180 * 86_400));
    Scenario::parse("months", &scenario.to_short_toml(), &[]).unwrap();
}

/// A cluster's file says what no log does; what a log says holds.
#[test]
fn settings_of_the_cluster_are_kept() {
    let cluster = "[spark]\nlaunch-cost = \"2 ms\"\nlocality-wait-node = \"9 s\"\nreduce-locality = false\n\
                   reducer-max-size-in-flight = \"96 MiB\"\nexecutors = 7\n";
    let spark = imported(&log(&mut |value| value), Some(cluster)).unwrap().scenario.spark.unwrap();
    assert_eq!((spark.launch_cost, spark.reduce_locality), (Time::from_ms(2), false));
    assert_eq!((spark.reducer_max_size_in_flight, spark.executors), (Bytes::from_mib(24), 1));
    // `spark.locality.wait` is what a wait for a node is where that has none of its own.
    assert_eq!((spark.locality_wait, spark.locality_wait_node), (Time::from_secs(5), None));
    for own in ["[[spark.stage]]\nname = \"own\"\n", "[[spark.stage]]\nname = \"none\"\n", "[job]\ninput = \"1 MB\"\n"]
    {
        let error = imported(&log(&mut |value| value), Some(own)).unwrap_err();
        assert!(matches!(error, SparkImportError::Occupied), "{own}: {error}");
    }
}

/// A task: executor, host, locality, launch and finish in ms, processor time in ms.
type Ran<'a> = (u32, &'a str, &'a str, i64, i64, i64);

/// A stage of these tasks.
fn stage_of(tasks: &[Ran]) -> String {
    stages_of(&[tasks])
}

/// A job with these stages of tasks.
fn stages_of(stages: &[&[Ran]]) -> String {
    let mut lines = vec![json!({ "Event": "LogStart", "Spark Version": "4.1.1" })];
    for executor in 1..=2 {
        lines.push(json!({ "Event": "ExecutorAdded", "Timestamp": 1, "Executor ID": executor.to_string(),
            "Executor Info": { "Host": format!("w{executor}"), "Total Cores": 1 } }));
    }
    let numbers: Vec<usize> = (0..stages.len()).collect();
    lines.push(json!({ "Event": "JobStart", "Job ID": 0, "Submission Time": 1_000, "Stage IDs": numbers }));
    for (number, tasks) in stages.iter().enumerate() {
        for (index, (executor, host, locality, launch, finish, cpu)) in tasks.iter().enumerate() {
            lines.push(json!({ "Event": "TaskEnd", "Stage ID": number, "Task End Reason": { "Reason": "Success" },
                "Task Info": { "Task ID": index, "Index": index, "Launch Time": launch,
                    "Executor ID": executor.to_string(), "Host": host, "Locality": locality, "Finish Time": finish },
                "Task Metrics": { "Executor Run Time": finish - launch - 50, "Executor CPU Time": cpu * 1_000_000,
                    "Input Metrics": { "Bytes Read": 1_000_000 } } }));
        }
        lines.push(json!({ "Event": "StageCompleted", "Stage Info": { "Stage ID": number,
            "Stage Name": "count at a.py:1", "Number of Tasks": tasks.len(),
            "RDD Info": [{ "RDD ID": number, "Name": "hdfs://m/in" }],
            "Submission Time": 1_000, "Completion Time": 20_000 } }));
    }
    lines.push(json!({ "Event": "JobEnd", "Job ID": 0, "Completion Time": 20_000,
        "Job Result": { "Result": "JobSucceeded" } }));
    let text = |line: Value| format!("{line}\n").replace("\"Event\":\"", "\"Event\":\"SparkListener");
    lines.into_iter().map(text).collect()
}

fn works(log: &str, cluster: Option<&str>) -> (Vec<u64>, u64) {
    let spark = imported(log, cluster).unwrap().scenario.spark.unwrap();
    let stage = &spark.stage[0];
    let ms = |time: &Time| time.as_ps() / 1_000_000_000;
    (stage.works.iter().map(ms).collect(), ms(&stage.warm_up))
}

/// Executors' first tasks took 4 s and 6 s, later ones 1 s and 3 s: 5 s against 2 s in the mean, so warming up takes 3
/// s.
#[test]
fn first_tasks_of_executors_are_told_from_later_ones() {
    let log = stage_of(&[
        (1, "w1", "NODE_LOCAL", 2_000, 6_000, 0),
        (2, "w2", "NODE_LOCAL", 2_000, 8_000, 0),
        (1, "w1", "NODE_LOCAL", 6_000, 7_000, 0),
        (2, "w2", "NODE_LOCAL", 8_000, 11_000, 0),
    ]);
    assert_eq!(works(&log, None), (vec![1_000, 3_000, 1_000, 3_000], 3_000));
    // The driver launches the next task before it notes the end of the last, which the executor's own times tell.
    let early = stage_of(&[
        (1, "w1", "NODE_LOCAL", 2_000, 6_000, 0),
        (2, "w2", "NODE_LOCAL", 2_000, 8_000, 0),
        (1, "w1", "NODE_LOCAL", 5_970, 6_970, 0),
        (2, "w2", "NODE_LOCAL", 7_970, 10_970, 0),
    ]);
    assert_eq!(works(&early, None), (vec![1_000, 3_000, 1_000, 3_000], 3_000));
    // Without later ones they cannot be told apart.
    let log = stage_of(&[(1, "w1", "NODE_LOCAL", 2_000, 6_000, 0), (2, "w2", "NODE_LOCAL", 2_000, 8_000, 0)]);
    assert_eq!(works(&log, None), (vec![4_000, 6_000], 0));
}

/// Executor 1 runs the first stage alone: 5 s, then 1 s. In the second its first task takes 3 s, and that of the other
/// executor, which has run nothing before, 5 s: starting takes 2 s. Of the first stage's 4 s beyond a later task, 2 s
/// are then its own warming up.
#[test]
fn starts_of_executors_are_told_from_warming_up() {
    let first = [(1, "w1", "NODE_LOCAL", 2_000, 7_000, 0), (1, "w1", "NODE_LOCAL", 7_000, 8_000, 0)];
    let second = [(1, "w1", "NODE_LOCAL", 9_000, 12_000, 0), (2, "w2", "NODE_LOCAL", 9_000, 14_000, 0)];
    let spark = imported(&stages_of(&[&first, &second]), None).unwrap().scenario.spark.unwrap();
    let ms = Time::from_ms;
    assert_eq!(spark.executor_start, ms(2_000));
    assert_eq!((&spark.stage[0].works[..], spark.stage[0].warm_up), (&[ms(1_000), ms(1_000)][..], ms(2_000)));
    assert_eq!((&spark.stage[1].works[..], spark.stage[1].warm_up), (&[ms(3_000), ms(3_000)][..], ms(0)));
    // Where no stage has executors of both kinds, nothing tells them apart.
    let spark = imported(&stages_of(&[&first]), None).unwrap().scenario.spark.unwrap();
    assert_eq!((spark.executor_start, spark.stage[0].warm_up), (ms(0), ms(4_000)));
    // An executor that began late and was quicker has no start.
    let quick = [(1, "w1", "NODE_LOCAL", 9_000, 12_000, 0), (2, "w2", "NODE_LOCAL", 9_000, 11_000, 0)];
    let spark = imported(&stages_of(&[&first, &quick]), None).unwrap().scenario.spark.unwrap();
    assert_eq!((spark.executor_start, spark.stage[1].works[1]), (ms(0), ms(2_000)));
}

/// Two hosts on a machine of one core: both tasks run from 2 s to 6 s, each with half a core, then one alone to 8 s.
#[test]
fn what_tasks_took_is_divided_where_they_shared_a_core() {
    let log = stage_of(&[(1, "w1", "NODE_LOCAL", 2_000, 6_000, 0), (2, "w2", "NODE_LOCAL", 2_000, 8_000, 0)]);
    assert_eq!(works(&log, Some("[cluster.host]\ncores = 1\n")).0, [2_000, 4_000]);
    // With another thread on it always ready, a third of it each, then a half.
    let loaded = "[cluster.host]\ncores = 1\n[node]\nload = 1.0\n";
    assert_eq!(works(&log, Some(loaded)).0, [1_333, 2_333]);
    assert_eq!(works(&log, Some("[cluster.host]\ncores = 2\n")).0, [4_000, 6_000]);
    let scenario = imported(&log, Some(loaded)).unwrap().scenario;
    assert_eq!((scenario.cluster.host.unwrap().cores, scenario.node.cores, scenario.node.load), (1, 1, 1.0));
}

/// A task beside its input takes 4 s and counts 2 s of processor time. One that read over the network for 7 s and
/// counted 1 s has worked for 2 s.
#[test]
fn reading_over_the_network_is_no_work() {
    let log = stage_of(&[(1, "w1", "NODE_LOCAL", 2_000, 6_000, 2_000), (2, "w2", "ANY", 5_000, 12_000, 1_000)]);
    assert_eq!(works(&log, None), (vec![4_000, 2_000], 0));
    // Where nobody was beside the input there is nothing to tell it by.
    let log = stage_of(&[(1, "w1", "ANY", 2_000, 6_000, 2_000), (2, "w2", "ANY", 5_000, 12_000, 1_000)]);
    assert_eq!(works(&log, None), (vec![4_000, 7_000], 0));
}

/// Tasks that wait for no network take 4 s and count 2 s of processor time. Later ones take 9 s and count 1 s: where
/// they wrote output, or read from another executor, they have worked for 2 s, if the network is known that they waited
/// for.
#[test]
fn waits_for_the_network_that_no_log_counts_are_no_work() {
    let first = [(1, "w1", "NODE_LOCAL", 2_000, 6_000, 2_000), (2, "w2", "NODE_LOCAL", 2_000, 6_000, 2_000)];
    let second = [(1, "w1", "NODE_LOCAL", 7_000, 16_000, 1_000), (2, "w2", "NODE_LOCAL", 7_000, 16_000, 1_000)];
    let of = |metrics: &str, cluster: Option<&str>, name: &str| {
        let counted = "\"Executor CPU Time\":1000000000";
        let log = stages_of(&[&first, &second]).replace(counted, &format!("{counted}{metrics}"));
        let spark = imported(&log.replace("hdfs://m/in", name), cluster).unwrap().scenario.spark.unwrap();
        [0, 1].map(|stage: usize| spark.stage[stage].works.clone()).concat()
    };
    let ms = |all: [u64; 4]| all.map(Time::from_ms).to_vec();
    let (waits, works) = (ms([4_000, 4_000, 2_000, 2_000]), ms([4_000, 4_000, 9_000, 9_000]));
    let cluster = Some("[cluster.host]\ncores = 4\n");
    let output = ",\"Output Metrics\":{\"Bytes Written\":10}";
    let fetched = ",\"Shuffle Read Metrics\":{\"Remote Bytes Read\":10}";
    assert_eq!((of(output, cluster, "a"), of(fetched, cluster, "a")), (waits.clone(), waits));
    assert_eq!(
        (of("", cluster, "a"), of(output, None, "a"), of(output, cluster, "PythonRDD")),
        (works.clone(), works.clone(), works)
    );
}

/// Speculation is as the log's environment has it; what Spark would not take is said, and Spark's default assumed.
#[test]
fn settings_of_speculation_are_read() {
    let with = |properties: &str| {
        let text = log(&mut |value| value);
        text.replace("\"spark.locality.wait\":\"5s\"", &format!("\"spark.locality.wait\":\"5s\",{properties}"))
    };
    let spark = imported(&log(&mut |value| value), None).unwrap().scenario.spark.unwrap();
    assert!(!spark.speculation);
    let all = r#""spark.speculation":"true","spark.speculation.interval":"250","spark.speculation.multiplier":"1.5",
        "spark.speculation.quantile":"0.75","spark.speculation.minTaskRuntime":"2s""#;
    let spark = imported(&with(&all.replace('\n', "")), None).unwrap().scenario.spark.unwrap();
    assert_eq!((spark.speculation, spark.speculation_interval), (true, Time::from_ms(250)));
    assert_eq!((spark.speculation_multiplier, spark.speculation_quantile), (1.5, 0.75));
    assert_eq!(spark.speculation_min_task_runtime, Time::from_secs(2));
    let odd = imported(&with(r#""spark.speculation":"maybe","spark.speculation.quantile":"NaN""#), None).unwrap();
    assert_eq!(odd.notes.iter().filter(|note| note.contains("not understood")).count(), 2, "{:?}", odd.notes);
    let spark = odd.scenario.spark.unwrap();
    assert_eq!((spark.speculation, spark.speculation_quantile), (false, 0.9));
}

/// The first data set is kept by the program. The second job's first stage, whose tasks are where it is, reads it: 7 KB
/// a task. Sizes are those that tasks have read; where a stage has them from files, nothing is read of what is kept.
#[test]
fn kept_data_sets_are_found() {
    let with = |locality: &str, level: &str| {
        let kept = format!(r#"{{"RDD ID":0,"Storage Level":{{{level}}}}}"#);
        let text = log(&mut |value| value)
            .replace("NODE_LOCAL", locality)
            .replace("\"Result Size\"", "\"Input Metrics\":{\"Bytes Read\":7000},\"Result Size\"")
            .replace(r#"[{"RDD ID":0}]"#, &format!("[{kept}]"))
            .replace(r#"[{"RDD ID":2}]"#, &format!(r#"[{{"RDD ID":2}},{kept}]"#))
            .replace("\"24m\"", "\"24m\",\"spark.executor.memory\":\"2g\",\"spark.memory.fraction\":\"0.5\"");
        imported(&text, None).unwrap().scenario
    };
    let both = r#""Use Disk":true,"Use Memory":true"#;
    let scenario = with("PROCESS_LOCAL", both);
    let spark = scenario.spark.as_ref().unwrap();
    let of =
        |stage: usize| (spark.stage[stage].persist, &*spark.stage[stage].reads, &spark.stage[stage].kept_sizes[..]);
    assert_eq!(of(0), (SparkLevel::MemoryAndDisk, "", &[Bytes::new(7_000); 2][..]));
    assert_eq!(of(2), (SparkLevel::None, "0: count", &[][..]));
    assert!([1, 3].into_iter().all(|stage| of(stage) == (SparkLevel::None, "", &[])));
    assert_eq!((spark.executor_memory, spark.memory_fraction), (Bytes::from_mib(2_048), 0.5));
    Scenario::parse("kept", &scenario.to_short_toml(), &[]).unwrap();
    let level = |locality, level| with(locality, level).spark.unwrap().stage[0].persist;
    assert_eq!(level("PROCESS_LOCAL", r#""Use Memory":true"#), SparkLevel::MemoryOnly);
    assert_eq!(level("PROCESS_LOCAL", r#""Use Disk":true"#), SparkLevel::DiskOnly);
    assert_eq!(level("PROCESS_LOCAL", r#""Use Disk":false"#), SparkLevel::None);
    assert_eq!(level("NODE_LOCAL", both), SparkLevel::None);
}

/// A log of queries that were planned anew keeps their numbers of tasks, and says that these are its cluster's.
#[test]
fn tasks_of_adaptive_execution_are_those_of_the_log() {
    let plain = log(&mut |value| value);
    let event = "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate\",\"executionId\":0,\
                 \"physicalPlanDescription\":\"AQEShuffleRead coalesced\",\"sparkPlanInfo\":{}}\n";
    let with = plain.replacen(
        "{\"Event\":\"SparkListenerApplicationEnd",
        &format!("{event}{{\"Event\":\"SparkListenerApplicationEnd"),
        1,
    );
    let (one, other) = (imported(&plain, None).unwrap(), imported(&with, None).unwrap());
    assert_eq!(one.scenario, other.scenario);
    let said = |of: &SparkImported| of.notes.iter().filter(|note| note.contains("adaptive execution")).count();
    assert_eq!((said(&one), said(&other)), (0, 1));
    assert!(one.scenario.spark.unwrap().stage.iter().all(|stage| !stage.sql));
}

/// A log of YARN says so by `spark.master`. An executor of 2 GiB asks for 2,048 + 384 MiB, granted as 3 GiB, the
/// ApplicationMaster for 512 + 384, granted as 1 GiB: a worker has room for one of each. In cluster mode that has the
/// driver's 1,024 + 384, granted as 2 GiB beside the 3 GiB of an executor. Of a tenth of 6 GiB 614 MiB
/// are left, of 7 GiB in all.
#[test]
fn an_application_of_yarn_stays_on_yarn() {
    let usual = log(&mut |value| value);
    let on = |more: &str| usual.replace("\"spark.locality.wait\"", &format!("{more}\"spark.locality.wait\""));
    let of = |more: &str| {
        let SparkImported { scenario, notes, .. } = imported(&on(more), None).unwrap();
        Scenario::parse("back", &scenario.to_short_toml(), &[]).expect("it can run");
        (scenario.mapreduce.node_memory, scenario.mapreduce.node_vcores, scenario.spark.unwrap(), notes.join("\n"))
    };
    assert_eq!(of("\"spark.master\":\"spark://m:7077\",").2.yarn, None);
    let yarn = "\"spark.master\":\"yarn\",\"spark.executor.memory\":\"2g\",";
    let (memory, vcores, spark, notes) = of(yarn);
    assert_eq!((memory, vcores), (Some(Bytes::from_mib(4 << 10)), 2));
    assert_eq!((spark.executor_memory, spark.yarn.unwrap().instances), (Bytes::from_mib(2_048), 2));
    assert!(notes.contains("what 1 executor and the ApplicationMaster need"), "{notes}");
    let more = "\"spark.yarn.scheduler.heartbeat.interval-ms\":\"5000\",\"spark.executor.memoryOverhead\":\"1g\",\
                \"spark.dynamicAllocation.enabled\":\"true\",\"spark.submit.deployMode\":\"cluster\",\
                \"spark.scheduler.minRegisteredResourcesRatio\":\"1.0\",";
    let (memory, _, spark, notes) = of(&format!("{yarn}{more}"));
    let yarn = spark.yarn.expect("on YARN");
    assert_eq!(
        (memory, yarn.heartbeat, yarn.min_registered),
        (Some(Bytes::from_mib(5 << 10)), Time::from_secs(5), 1.0)
    );
    assert_eq!((yarn.deploy_mode, yarn.am_container()), (SparkDeployMode::Cluster, Bytes::from_mib(1_408)));
    assert_eq!(yarn.executor_memory_overhead, Some(Bytes::from_mib(1_024)));
    assert!(notes.contains("dynamic allocation"), "{notes}");
    let before = of("\"spark.master\":\"yarn-cluster\",\"spark.driver.memory\":\"3g\",").2.yarn.expect("on YARN");
    assert_eq!((before.deploy_mode, before.am_memory), (SparkDeployMode::Cluster, Bytes::from_mib(3_072)));
    let (memory, ..) = of("\"spark.master\":\"yarn-client\",\"spark.executor.memory\":\"6g\",");
    assert_eq!(memory, Some(Bytes::from_mib(8 << 10)));
}

/// Executors are there at 1,100 ms and the first job is submitted at 2,000. The ApplicationMaster was there at 400 ms,
/// and a process begins 0.2 s later: on a core of its own its start is 0.5 s of work, on one that both share half of
/// that. Four fifths of two are two: both had to be there, and the program took 0.9 s from then on.
#[test]
fn the_start_of_executors_on_yarn_is_that_of_the_log() {
    let usual =
        log(&mut |value| value).replace("\"spark.locality.wait\"", "\"spark.master\":\"yarn\",\"spark.locality.wait\"");
    let master = "{\"Event\":\"org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded\",\"time\":400,\
        \"processId\":\"yarn-am\",\"info\":{}}\n";
    let of = |text: &str, cluster: &str| imported(text, Some(cluster)).unwrap();
    let with = |cluster: &str| of(&format!("{usual}{master}"), cluster);
    let own = with("");
    let spark = own.scenario.spark.unwrap();
    assert_eq!(own.scenario.mapreduce.jvm_start, Time::from_ms(500));
    assert_eq!((own.recorded.executors, own.recorded.took), (Some(0.7), 17.5));
    assert_eq!(spark.pause, [Time::from_ms(900), Time::from_ms(2_500)]);
    let shared = with("[mapreduce]\nasynchronous = true\n[cluster.host]\ncores = 1\n").scenario;
    assert_eq!(shared.mapreduce.jvm_start, Time::from_ms(250));
    // Executors that come one after the other wait for heartbeats; the first one does not.
    let later = format!("{usual}{master}").replacen("1100", "1500", 1);
    assert_eq!(of(&later, "").scenario.mapreduce.jvm_start, Time::from_ms(500));
    assert_eq!(of(&later, "[mapreduce]\nasynchronous = true\n").scenario.mapreduce.jvm_start, Time::from_ms(700));
    // A cluster that is known has the room that it says; what no log tells is as ever.
    let known = with("[mapreduce]\nnode-memory = \"9 GiB\"\nnode-vcores = 5\n[spark.yarn]\n");
    assert_eq!(
        (known.scenario.mapreduce.node_memory, known.scenario.mapreduce.node_vcores),
        (Some(Bytes::from_mib(9 << 10)), 5)
    );
    let untold = of(&usual, "");
    assert_eq!((untold.recorded.executors, untold.scenario.mapreduce.jvm_start), (None, Time::from_ms(1_200)));
    assert_eq!(untold.scenario.spark.unwrap().pause[0], Time::ZERO);
}

/// A cluster of Hadoop 1 has no YARN, and an application of a standalone cluster none either, whatever the cluster's
/// scenario says.
#[test]
fn only_what_ran_on_yarn_is_on_yarn() {
    let yarn =
        log(&mut |value| value).replace("\"spark.locality.wait\"", "\"spark.master\":\"yarn\",\"spark.locality.wait\"");
    let hadoop1 = imported(&yarn, Some("[cluster]\ngeneration = \"hadoop1\"\n")).unwrap();
    assert_eq!(hadoop1.scenario.spark.unwrap().yarn, None);
    let other = imported(&log(&mut |value| value), Some("[spark.yarn]\ninstances = 3\n")).unwrap();
    assert_eq!(other.scenario.spark.unwrap().yarn, None);
}

/// The log with these properties, and with these events before its end.
fn with_properties(properties: &[(&str, &str)], events: &[Value]) -> String {
    let text = log(&mut |value| value);
    let said = |(name, value): &(&str, &str)| format!("\"{name}\":\"{value}\",");
    let said: String = properties.iter().map(said).collect();
    let text = text.replace("\"Spark Properties\":{", &format!("\"Spark Properties\":{{{said}"));
    let (before, end) = text.trim_end().rsplit_once('\n').expect("lines");
    let line = |event: &Value| format!("{event}\n");
    let events: String = events.iter().map(line).collect();
    format!("{before}\n{events}{end}\n")
}

/// Exclusion as it was set, by its names since Spark 3.1 and before; off where nothing is said. Where only events tell of
/// it, by its defaults; each executor counts once, although Spark writes two events of it.
#[test]
fn exclusion_is_imported() {
    let exclusion = |properties: &[(&str, &str)], events: &[Value]| {
        imported(&with_properties(properties, events), None).unwrap().scenario.spark.unwrap().exclude_on_failure
    };
    assert_eq!(exclusion(&[], &[]), None);
    assert_eq!(exclusion(&[("spark.excludeOnFailure.enabled", "false")], &[]), None);
    for prefix in ["spark.excludeOnFailure", "spark.blacklist"] {
        let names = ["enabled", "stage.maxFailedTasksPerExecutor", "timeout"].map(|name| format!("{prefix}.{name}"));
        let properties = [(&*names[0], "true"), (&*names[1], "5"), (&*names[2], "10m")];
        let exclusion = exclusion(&properties, &[]).expect("it was on");
        assert_eq!((exclusion.application, exclusion.task_and_stage), (true, true));
        assert_eq!((exclusion.stage_failed_tasks_per_executor, exclusion.timeout), (5, Time::from_secs(600)));
        assert_eq!(exclusion.task_attempts_per_node, 2);
    }
    let stages = [("spark.excludeOnFailure.enabled", "true"), ("spark.excludeOnFailure.application.enabled", "false")];
    assert_eq!(
        exclusion(&stages, &[]).map(|exclusion| (exclusion.application, exclusion.task_and_stage)),
        Some((false, true))
    );
    // A job that fails with the second failure of a task leaves one attempt to a node, and with the first none.
    let few = [("spark.blacklist.enabled", "true"), ("spark.task.maxFailures", "2")];
    assert_eq!(exclusion(&few, &[]).expect("on").task_attempts_per_node, 1);
    assert_eq!(exclusion(&[few[0], ("spark.task.maxFailures", "1")], &[]), None);
    let event = |name: &str, more: Value| {
        let mut event = json!({ "Event": format!("org.apache.spark.scheduler.SparkListenerExecutor{name}"),
            "time": 3_000, "executorId": "1", "taskFailures": 2 });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let of_stage = || json!({ "stageId": 0, "stageAttemptId": 0 });
    let events = [event("BlacklistedForStage", of_stage()), event("ExcludedForStage", of_stage())];
    assert_eq!(
        exclusion(&[], &events).map(|exclusion| (exclusion.application, exclusion.task_and_stage)),
        Some((false, true))
    );
    let all = [&events[..], &[event("Excluded", json!({}))]].concat();
    let recorded = imported(&with_properties(&few[..1], &all), None).unwrap().recorded.excluded.expect("some were");
    assert_eq!((recorded.from_stages, recorded.from_application), (1, 1));
}

/// A cluster's scenario with dynamic allocation has executors come and go by the log's settings; a log without leaves it
/// out, and a cluster without has them listed, with a word of it.
#[test]
fn dynamic_allocation_is_imported_where_it_is_wanted() {
    let cluster = "[cluster]\nworkers = 2\n[spark.dynamic-allocation]\n";
    let removed = json!({ "Event": "SparkListenerExecutorRemoved", "Timestamp": 12_000, "Executor ID": "2",
        "Removed Reason": "Executor 2 killed by driver." });
    let on = [
        ("spark.dynamicAllocation.enabled", "true"),
        ("spark.dynamicAllocation.maxExecutors", "2147483647"),
        ("spark.dynamicAllocation.minExecutors", "1"),
        ("spark.dynamicAllocation.executorIdleTimeout", "30"),
        ("spark.dynamicAllocation.cachedExecutorIdleTimeout", "5min"),
        ("spark.dynamicAllocation.schedulerBacklogTimeout", "soon"),
        ("spark.executor.instances", "2"),
        ("spark.shuffle.service.enabled", "true"),
    ];
    let both = imported(&with_properties(&on, std::slice::from_ref(&removed)), Some(cluster)).unwrap();
    let spark = both.scenario.spark.as_ref().unwrap();
    let allocation = spark.dynamic_allocation.as_ref().expect("as the cluster wants it");
    assert_eq!((allocation.min_executors, allocation.max_executors, allocation.initial()), (1, None, 2));
    assert_eq!(allocation.executor_idle_timeout, Time::from_secs(30));
    assert_eq!(allocation.cached_executor_idle_timeout, Some(Time::from_secs(300)));
    assert_eq!((spark.executor.len(), spark.executors, spark.shuffle_service), (0, 1, true));
    assert!(
        both.notes.iter().any(|note| note.contains("schedulerBacklogTimeout` is not understood")),
        "{:?}",
        both.notes
    );
    Scenario::parse("written", &both.scenario.to_short_toml(), &[]).unwrap();
    let listed = imported(&with_properties(&on, std::slice::from_ref(&removed)), None).unwrap();
    assert_eq!(listed.scenario.spark.as_ref().unwrap().executor.len(), 2);
    assert!(
        listed.notes.iter().any(|note| note.contains("an empty `[spark.dynamic-allocation]`")),
        "{:?}",
        listed.notes
    );
    let off = imported(&with_properties(&[], &[removed]), Some(cluster)).unwrap();
    assert_eq!(off.scenario.spark.as_ref().unwrap().dynamic_allocation, None);
}
