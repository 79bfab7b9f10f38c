//! Which files that tasks read are of HDFS, where a program's paths name no file system.

use crate::spark_foreign::{imported, log, says, stage, task};
use history::spark::SparkImported;
use serde_json::{Value, json};
use units::Bytes;

/// A stage whose RDD of files is named by this path. Of its tasks, one on each of two hosts, this is how near their
/// 1,000 B of input were. `of` is what the environment says beside Spark's properties.
fn of(path: &str, localities: [&str; 2], properties: &[(&str, &str)], of: &Value) -> SparkImported {
    let read = |index: u32| {
        let mut event = task((0, 0), index, &(index + 1).to_string(), (2_000, 4_000));
        event["Task Info"]["Locality"] = json!(localities[index as usize]);
        event["Task Metrics"]["Input Metrics"] = json!({ "Bytes Read": 1_000 });
        event
    };
    let mut whole = stage((0, 0), 2, (1_000, 4_000), &[]);
    whole["Stage Info"]["RDD Info"] =
        json!([{ "RDD ID": 1, "Name": "MapPartitionsRDD", "Parent IDs": [0] }, { "RDD ID": 0, "Name": path }]);
    let rest = [read(0), read(1), whole];
    let environment = json!({ "Event": "SparkListenerEnvironmentUpdate", "Hadoop Properties": of });
    let text = log("3.5.1", properties, &[("1", "h1", 1), ("2", "h2", 1)], 1, &rest);
    let job = "{\"Event\":\"SparkListenerJobStart\"";
    imported(&text.replace(job, &format!("{environment}\n{job}")))
}

fn inputs(imported: &SparkImported) -> Vec<Bytes> {
    imported.scenario.spark.as_ref().unwrap().stage[0].inputs.clone()
}

/// `sc.textFile("/in")` is of the default file system, which logs say since Spark 3.0. In older ones tasks that
/// preferred nodes tell; a file on every host has hosts named localhost, for which Spark's tasks have no preference.
#[test]
fn paths_without_a_file_system_are_of_the_default_one() {
    let hdfs = vec![Bytes::new(1_000); 2];
    let (near, anywhere) = (["NODE_LOCAL", "NODE_LOCAL"], ["PROCESS_LOCAL", "PROCESS_LOCAL"]);
    let default = |fs: &str| json!({ "fs.defaultFS": fs });
    assert_eq!(inputs(&of("hdfs://m/in", anywhere, &[], &json!({}))), hdfs);
    assert_eq!(inputs(&of("/in", anywhere, &[], &default("hdfs://m:8020"))), hdfs);
    assert_eq!(inputs(&of("/in", near, &[], &json!({}))), hdfs);
    assert_eq!(inputs(&of("/in", ["RACK_LOCAL", "ANY"], &[], &json!({}))), hdfs);
    let own = [("spark.hadoop.fs.defaultFS", "hdfs://other")];
    assert_eq!(inputs(&of("/in", anywhere, &own, &default("file:///"))), hdfs);
    for (name, localities, fs) in [
        ("/in", anywhere, json!({})),
        ("/in", near, default("file:///")),
        ("s3a://b/in", anywhere, default("hdfs://m")),
        ("file:///in", anywhere, default("hdfs://m")),
        ("MapPartitionsRDD", near, default("hdfs://m")),
    ] {
        assert_eq!(inputs(&of(name, localities, &[], &fs)), [], "{name} of {fs}");
    }
}

/// Where most tasks had their files on other hosts, HDFS has nodes that the application had no executors on.
#[test]
fn files_on_hosts_without_executors_are_noted() {
    let none = json!({});
    says(&of("hdfs://m/in", ["RACK_LOCAL", "ANY"], &[], &none), "2 of 2 tasks that read files of HDFS");
    let near = of("hdfs://m/in", ["NODE_LOCAL", "ANY"], &[], &none);
    assert!(!near.notes.iter().any(|note| note.contains("files of HDFS")), "{:?}", near.notes);
}
