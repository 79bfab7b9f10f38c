//! Scans of SQL: which files of HDFS stages read, by the plans of their queries. Lines are written by hand, as Spark 4.1.1
//! has them unless said otherwise; a recording is in `sql_recorded`.

use crate::spark::{application, log as recorded};
use crate::spark_foreign::{imported, log, says, stage, task};
use history::spark::{SparkImported, import};
use scenario::{SparkFormat, SparkPlace, SparkStage};
use serde_json::{Value, json};
use units::Bytes;

const UI: &str = "org.apache.spark.sql.execution.ui.SparkListener";

/// A scan of a plan, with metrics of these numbers for its rows and its files.
fn scan(name: &str, format: &str, location: &str, metrics: &[u64]) -> Value {
    let named = ["number of output rows", "number of files read"];
    let metrics = metrics
        .iter()
        .zip(named)
        .map(|(number, name)| json!({ "name": name, "accumulatorId": number, "metricType": "sum" }));
    json!({ "nodeName": name, "simpleString": "FileScan", "children": [],
        "metadata": { "Format": format, "Location": location, "ReadSchema": "struct<a:\"{>" },
        "metrics": metrics.collect::<Vec<_>>() })
}

/// An operator over others.
fn over(name: &str, children: &[Value]) -> Value {
    json!({ "nodeName": name, "simpleString": name, "children": children, "metadata": {},
        "metrics": [{ "name": "number of output rows", "accumulatorId": 7, "metricType": "sum" }] })
}

/// What a stage of a query reads, of two tasks with 1,000 B each: its plan, the metrics that its tasks counted, how many
/// files the driver counted by which metric, and the file system of paths without one.
struct Query<'a> {
    plan: &'a Value,
    counted: &'a [u64],
    files: Option<(u64, u64)>,
    default_fs: &'a str,
}

impl Query<'_> {
    fn imported(&self) -> SparkImported {
        let read = |index: u32| {
            let mut event = task((0, 0), index, &(index + 1).to_string(), (2_000, 4_000));
            event["Task Info"]["Locality"] = json!("NODE_LOCAL");
            event["Task Metrics"]["Input Metrics"] = json!({ "Bytes Read": 1_000 });
            event
        };
        let mut whole = stage((0, 0), 2, (1_000, 4_000), &[]);
        whole["Stage Info"]["RDD Info"] = json!([{ "RDD ID": 1, "Name": "MapPartitionsRDD", "Parent IDs": [0] },
            { "RDD ID": 0, "Name": "FileScanRDD", "Scope": "{\"id\":\"3\",\"name\":\"Scan parquet \"}" }]);
        whole["Stage Info"]["Accumulables"] = self.counted.iter().map(|id| json!({ "ID": id, "Value": "9" })).collect();
        let text = log("4.1.1", &[], &[("1", "h1", 1), ("2", "h2", 1)], 1, &[read(0), read(1), whole]);
        let started = json!({ "Event": format!("{UI}SQLExecutionStart"), "executionId": 5, "sparkPlanInfo": self.plan,
            "physicalPlanDescription": "{\"nodeName\":\"a quote is no \\\"Location\\\": [", "time": 900 });
        let files = self.files.map_or_else(String::new, |(metric, files)| {
            format!(
                "{}\n",
                json!({ "Event": format!("{UI}DriverAccumUpdates"), "executionId": 5,
                "accumUpdates": [[metric, files]] })
            )
        });
        let environment = json!({ "Event": "SparkListenerEnvironmentUpdate",
            "Hadoop Properties": { "fs.defaultFS": self.default_fs } });
        let job = "{\"Event\":\"SparkListenerJobStart\",";
        let of_query = format!("{job}\"Properties\":{{\"spark.sql.execution.id\":\"5\"}},");
        assert!(text.contains(job));
        imported(&text.replace(job, &format!("{environment}\n{started}\n{files}{of_query}")))
    }

    fn stage(&self) -> SparkStage {
        self.imported().scenario.spark.unwrap().stage.remove(0)
    }
}

fn query(plan: &Value) -> Query<'_> {
    Query { plan, counted: &[], files: None, default_fs: "hdfs://m:8020" }
}

const PARQUET: &str = "InMemoryFileIndex(1 paths)[hdfs://m:8020/a/visits]";

#[test]
fn a_scan_of_files_in_hdfs_is_input_there() {
    let plan = over("HashAggregate", &[scan("Scan parquet ", "Parquet", PARQUET, &[40, 41])]);
    let of = query(&plan).stage();
    assert_eq!(
        (&*of.name, &of.inputs, of.input_from),
        ("0: scan parquet visits", &vec![Bytes::new(1_000); 2], SparkPlace::Hdfs)
    );
    assert_eq!((of.input_format, of.input_files), (SparkFormat::Binary, 1));
    // Of lines the last one ends in the next block.
    let lines = scan("Scan csv spark_catalog.default.users", "CSV", PARQUET, &[40, 41]);
    let of = query(&lines).stage();
    assert_eq!((&*of.name, of.input_format), ("0: scan csv spark_catalog.default.users", SparkFormat::Text));
}

/// Spark 3.1 and later say how many paths there are, and leave out those behind 100 characters. Before, all were there;
/// 2.x had the metric of files by another name.
#[test]
fn locations_of_other_versions_are_read() {
    for location in [
        "InMemoryFileIndex[hdfs://m:8020/a/visits]",
        "CatalogFileIndex[hdfs://m:8020/a/visits]",
        "InMemoryFileIndex(3 paths)[hdfs://m:8020/a/visits, hdfs://m:8020/a/year=2026/month=11/day=30/hour=1/country=de, ...]",
    ] {
        let plan = scan("Scan parquet ", "Parquet", location, &[40]);
        let of = query(&plan).stage();
        assert_eq!((&*of.name, of.input_from), ("0: scan parquet visits", SparkPlace::Hdfs), "{location}");
    }
    let mut plan = scan("Scan parquet ", "Parquet", PARQUET, &[40, 41]);
    plan["metrics"][1]["name"] = json!("number of files");
    assert_eq!(Query { files: Some((41, 6)), ..query(&plan) }.stage().input_files, 3);
}

/// Small files are packed, several for a task (`FilePartition`). Large ones are split: a task reads a part of one.
#[test]
fn tasks_read_as_many_files_as_the_driver_counted() {
    let plan = scan("Scan parquet ", "Parquet", PARQUET, &[40, 41]);
    for (files, each) in [(1, 1), (2, 1), (8, 4), (9, 5)] {
        let of = Query { files: Some((41, files)), ..query(&plan) }.stage();
        assert_eq!(of.input_files, each, "{files} files");
    }
    assert_eq!(Query { files: Some((40, 8)), ..query(&plan) }.stage().input_files, 1, "rows are no files");
}

#[test]
fn files_elsewhere_stay_in_the_work() {
    for (location, default_fs, schemes) in [
        ("InMemoryFileIndex(1 paths)[s3a://b/visits]", "hdfs://m", " of `s3a:` that"),
        ("InMemoryFileIndex(1 paths)[file:/visits]", "hdfs://m", " of `file:` that"),
        ("InMemoryFileIndex(2 paths)[hdfs://m/a, s3a://b/visits]", "hdfs://m", " of `hdfs:`, `s3a:` that"),
        ("InMemoryFileIndex(1 paths)[/visits]", "file:///", " read files that"),
        ("*********(redacted)", "hdfs://m", " read files that"),
    ] {
        let plan = scan("Scan parquet ", "Parquet", location, &[40]);
        let of = Query { default_fs, ..query(&plan) }.imported();
        let of_stage = &of.scenario.spark.as_ref().unwrap().stage[0];
        assert_eq!((of_stage.inputs.len(), of_stage.input_from), (0, SparkPlace::Local), "{location}");
        assert_eq!(of_stage.input_format, SparkFormat::Text, "{location}");
        says(&of, "scans of 1 stage");
        says(&of, schemes);
    }
    let plan = scan("Scan parquet ", "Parquet", "InMemoryFileIndex(1 paths)[/visits]", &[40]);
    assert_eq!(query(&plan).stage().input_from, SparkPlace::Hdfs, "the default file system is HDFS");
}

/// Of a query that joins files of HDFS with others, the metrics that a stage counted tell which it reads. A log without
/// them does not.
#[test]
fn a_stage_reads_the_scan_whose_rows_it_counted() {
    let elsewhere = "InMemoryFileIndex(1 paths)[s3a://b/users]";
    let scans = [scan("Scan parquet ", "Parquet", PARQUET, &[40]), scan("Scan csv ", "CSV", elsewhere, &[50])];
    let plan = over("BroadcastHashJoin", &scans);
    let of = |counted| Query { counted, ..query(&plan) }.stage();
    assert_eq!((of(&[7, 40]).name, of(&[7, 40]).input_from), ("0: scan parquet visits".to_owned(), SparkPlace::Hdfs));
    assert_eq!((of(&[7, 50]).name, of(&[7, 50]).input_from), ("0: scan csv users".to_owned(), SparkPlace::Local));
    assert_eq!(
        (of(&[]).name, of(&[]).input_from),
        ("0: scan csv users, scan parquet visits".to_owned(), SparkPlace::Local)
    );
}

/// Operators stand one in the other: a join of fifty tables has more of them than JSON's parser takes levels.
#[test]
fn a_plan_may_be_as_deep_as_its_query() {
    let mut plan = scan("Scan parquet ", "Parquet", PARQUET, &[40]);
    for _ in 0..50 {
        plan = over("BroadcastHashJoin", &[plan]);
    }
    let text = plan.to_string();
    let bottom = "{\"nodeName\":\"Project\",\"simpleString\":\"\",\"children\":[";
    let deep = format!("{}{text}{}", bottom.repeat(900), "],\"metadata\":{},\"metrics\":[]}".repeat(900));
    let start = format!("{{\"Event\":\"{UI}SQLExecutionStart\",\"executionId\":0,\"sparkPlanInfo\":{deep}}}\n");
    let log = log("4.1.1", &[], &[("1", "h1", 1)], 1, &[task((0, 0), 0, "1", (2_000, 4_000))]);
    let of = application(format!("{log}{start}").as_bytes()).unwrap();
    assert_eq!(of.scans.len(), 1);
    assert_eq!((&*of.scans[0].name, &*of.scans[0].location), ("Scan parquet", PARQUET));
}

/// An exchange over an operator, with metrics of these numbers for its data's size and its rows.
fn exchange(name: &str, mode: &str, child: &Value, [size, rows]: [u64; 2]) -> Value {
    json!({ "nodeName": name, "simpleString": format!("{name} {mode}"), "children": [child], "metadata": {},
        "metrics": [{ "name": "data size", "accumulatorId": size, "metricType": "size" },
            { "name": "number of output rows", "accumulatorId": rows, "metricType": "sum" }] })
}

/// A join that counts its rows by metric 80 of a scan, with what is broadcast.
fn join(broadcast: &Value) -> Value {
    let around = json!({ "nodeName": "InputAdapter", "simpleString": "", "children": [broadcast], "metrics": [] });
    let mut join = over("BroadcastHashJoin", &[scan("Scan parquet ", "Parquet", PARQUET, &[70]), around]);
    join["metrics"][0]["accumulatorId"] = json!(80);
    join
}

const BY_KEYS: &str = "HashedRelationBroadcastMode(List(input[0, string, false]),false), [plan_id=1]";

/// What the three stages of a query get by broadcast: the first counts metric 50 or what is given, with results of
/// 50,000 B and 30,000 B, the others count the join's rows. `plans` are those of the query, one after the other; the
/// driver has counted 5,000 rows of metric 61.
fn broadcasts(plans: &[Value], first: &[u64], others: [&[u64]; 2]) -> Vec<u64> {
    let mut rest: Vec<Value> = Vec::new();
    for (number, counted) in (0..).zip([first, others[0], others[1]]) {
        let from = 2_000 + 2_000 * i64::from(number);
        for (index, result) in [(0, 50_000), (1, 30_000)] {
            let at = (index + 1).to_string();
            let mut event = task((number, 0), index, &at, (from, from + 1_500));
            event["Task Metrics"]["Result Size"] = json!(if number == 0 { result } else { 2_000 });
            rest.push(event);
        }
        let mut whole = stage((number, 0), 2, (from, from + 1_600), &[]);
        whole["Stage Info"]["RDD Info"][0]["RDD ID"] = json!(number);
        whole["Stage Info"]["Accumulables"] = counted.iter().map(|id| json!({ "ID": id, "Value": "9" })).collect();
        rest.push(whole);
    }
    let text = log("4.1.1", &[], &[("1", "h1", 1), ("2", "h2", 1)], 3, &rest);
    let event = |(number, plan): (usize, &Value)| {
        let name = if number == 0 { "SQLExecutionStart" } else { "SQLAdaptiveExecutionUpdate" };
        json!({ "Event": format!("{UI}{name}"), "executionId": 5, "sparkPlanInfo": plan }).to_string() + "\n"
    };
    let events: String = plans.iter().enumerate().map(event).collect();
    let counted = json!({ "Event": format!("{UI}DriverAccumUpdates"), "executionId": 5,
        "accumUpdates": [[60, 8_388_608], [61, 5_000]] });
    let of_query = "{\"Event\":\"SparkListenerStageCompleted\"";
    let imported = imported(&text.replacen(of_query, &format!("{events}{counted}\n{of_query}"), 1));
    imported.scenario.spark.unwrap().stage.into_iter().map(|stage| stage.broadcast.get()).collect()
}

/// The driver collects 80,000 B in two results, of which 2,000 B each are what any task counts. By their keys rows are
/// 8 B longer, without keys they are as long. Executors keep what they have got.
#[test]
fn a_stage_that_joins_gets_what_the_driver_has_collected() {
    let table = scan("Scan csv ", "CSV", PARQUET, &[50]);
    let by_keys = join(&exchange("BroadcastExchange", BY_KEYS, &table, [60, 61]));
    let got = |plan: &Value, first: &[u64], others| broadcasts(std::slice::from_ref(plan), first, others);
    assert_eq!(got(&by_keys, &[50], [&[80], &[80]]), [0, 76_000 + 8 * 5_000, 0]);
    assert_eq!(got(&by_keys, &[50], [&[70], &[80, 70]]), [0, 0, 116_000]);
    let plain = join(&exchange("BroadcastExchange", "IdentityBroadcastMode, [plan_id=1]", &table, [60, 61]));
    assert_eq!(got(&plain, &[50], [&[80], &[]]), [0, 76_000, 0]);
    // No stage has counted the join's rows, or those that are collected.
    assert_eq!(got(&by_keys, &[50], [&[70], &[]]), [0; 3]);
    assert_eq!(got(&by_keys, &[70], [&[80], &[]]), [0; 3]);
}

/// What is below a shuffle is computed by other stages' tasks, whose results are no rows. A join that has the rows of
/// another is in the same stage.
#[test]
fn rows_are_collected_of_the_stage_next_to_the_broadcast() {
    let table = scan("Scan csv ", "CSV", PARQUET, &[50]);
    let shuffled = over("HashAggregate", &[exchange("Exchange", "hashpartitioning(a#1, 4)", &table, [40, 41])]);
    let plan = join(&exchange("BroadcastExchange", BY_KEYS, &shuffled, [60, 61]));
    let got = |plan: &Value, first: &[u64]| broadcasts(std::slice::from_ref(plan), first, [&[80], &[]]);
    assert_eq!(got(&plan, &[50, 41]), [0; 3]);
    assert_eq!(got(&plan, &[7]), [0, 116_000, 0]);
    let plan = over("SortMergeJoin", &[plan]);
    assert_eq!(got(&plan, &[7]), [0, 116_000, 0]);
}

/// Adaptive execution plans an exchange anew when it runs it, with other metrics over the same scan.
#[test]
fn a_broadcast_is_that_of_the_last_plan() {
    let table = scan("Scan csv ", "CSV", PARQUET, &[50]);
    let first = join(&exchange("BroadcastExchange", BY_KEYS, &table, [30, 31]));
    let then = join(&exchange("BroadcastExchange", BY_KEYS, &table, [60, 61]));
    let got = broadcasts(&[first, then.clone(), then], &[50], [&[80], &[]]);
    assert_eq!(got, [0, 116_000, 0]);
}

/// A query of Spark 4.1.1 over a table in Parquet, of 12 files of 3.8 MB, and one in CSV, by adaptive execution, whose
/// plan is said four times. Figures are those of the log's JSON.
#[test]
fn a_recorded_query_reads_its_tables() {
    let of = application(&recorded("sql-50mbit.zstd")).unwrap();
    let scans: Vec<_> = of.scans.iter().map(|scan| (&*scan.name, &*scan.format, scan.query, scan.files)).collect();
    assert_eq!(scans, [("Scan parquet", "Parquet", 2, 12), ("Scan csv", "CSV", 2, 1)]);
    let cluster = include_str!("../spark/cluster-50mbit.toml");
    let spark = import(&of, Some(("cluster", cluster))).unwrap().scenario.spark.unwrap();
    let read: Vec<_> = spark.stage.iter().map(|stage| (&*stage.name, stage.input_from, stage.input_files)).collect();
    let (hdfs, local) = (SparkPlace::Hdfs, SparkPlace::Local);
    let action = "$anonfun$withThreadLocalCaptured$2";
    assert_eq!(
        read,
        [
            ("0: parquet", local, 1),
            ("1: scan csv table", hdfs, 1),
            ("2: scan parquet text-32000000.parquet", hdfs, 3),
            (&format!("4: {action}"), local, 1),
            (&format!("7: {action}"), local, 1),
        ]
    );
    assert_eq!(spark.stage[1].inputs, [Bytes::new(572_867)]);
    // Of 46,009,538 B in the files, as the column of digests is not read.
    assert_eq!(spark.stage[2].inputs, [5_393_467, 5_396_187, 5_392_348, 5_396_668].map(Bytes::new));
    assert_eq!((spark.stage[1].input_format, spark.stage[2].input_format), (SparkFormat::Text, SparkFormat::Binary));
    // The join's executors get the table in CSV, of which the driver's own log said 1434.4 KiB.
    let got: Vec<Bytes> = spark.stage.iter().map(|stage| stage.broadcast).collect();
    let zero = Bytes::ZERO;
    assert_eq!((&got[..3], got[4]), (&[zero; 3][..], zero));
    let off = got[3].get() as f64 / (1434.4 * 1024.0) - 1.0;
    assert!(off.abs() < 0.16, "{} is off by {off}", got[3]);
    // The shuffle's four partitions are two tasks, by adaptive execution.
    assert_eq!(
        (spark.stage[3].tasks, &spark.stage[3].parents[..]),
        (2, &["2: scan parquet text-32000000.parquet".to_owned()][..])
    );
}
