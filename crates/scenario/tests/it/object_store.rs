//! An object store under jobs: what is refused, and what defeats itself.

use crate::support::{parse, refused, warnings};

/// A job that reads from the store and writes to it.
const BOTH: &str = r#"
[cluster]
workers = 3
[object-store]
latency-p99 = "0 s"
s3a = { multipart-size = "8 MiB" }
[job]
workload = "terasort"
input = "192 MiB"
input-store = "object-store"
output-store = "object-store"
reducers = 3
"#;

#[test]
fn what_contradicts_itself_is_said() {
    let none = "[job]\ninput-store = \"object-store\"\n";
    refused(none, &[], &["the scenario has no object store", "add [object-store]"]);
    refused(BOTH, &["job.input-store=hdfs", "job.read-range='1 MiB'"], &["only input in an object store"]);
    refused(BOTH, &["job.read-gap='1 MiB'"], &["does not say what is read", "read-range"]);
    refused(BOTH, &["object-store.s3a.committer=rename"], &["rename", "magic"]);
    refused(BOTH, &["job.output-replication=2"], &["keeps its copies to itself", "output-store"]);
    refused(BOTH, &["job.splits=['192 MiB']", "job.split-hosts=[['worker-1']]"], &["objects are near no node"]);
    refused(BOTH, &["cluster.generation=hadoop1"], &["of Hadoop 3"]);
    parse(BOTH, &["object-store.at=worker-3"]).expect("a worker may be the store");
    refused(BOTH, &["object-store.at=worker-9"], &["there is no `worker-9`", "worker-3"]);
    refused(BOTH, &["object-store.at=master", "object-store.rate='1 Gbit/s'"], &["the store is a node"]);
    refused(BOTH, &["object-store.s3a.multipart-size='4 MiB'"], &["5 MiB"]);
    refused(BOTH, &["object-store.s3a.multipart-size='256 MiB'"], &["below a part"]);
    refused("[object-store]\n[traffic]\nfrom = \"worker-1\"\nto = \"worker-2\"\n", &[], &["there is no job"]);
}

#[test]
fn what_defeats_itself_is_warned_of() {
    let warned = |sets: &[&str], words: &str| {
        let text = warnings(BOTH, sets);
        assert!(text.contains(words), "`{words}` is not in: {text}");
    };
    warned(&["object-store.s3a.connections=2"], "2 connections hold `active-blocks`, 4, back");
    warned(&["object-store.s3a.input-policy=random"], "each read-ahead waits for a first byte");
    warned(&["job.output-store=hdfs", "object-store.s3a.committer=magic"], "no job writes to the store");
    // 300 GB of 3 reducers in parts of 8 MiB.
    warned(&["job.input='300 GB'"], "a reducer may write 11920 parts, and S3 takes 10000 of an object");
    assert_eq!(warnings(BOTH, &[]), "");
    warned(&["job.input-store=hdfs", "job.output-store=hdfs"], "no job reads from it or writes to it");
}
