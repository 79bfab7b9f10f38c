//! Jobs and the power of nodes: keys that contradict each other.

use crate::support::{parse, refused};

const ONE: &str = r#"
cluster = { workers = 6, generation = "hadoop1" }
hdfs = { block = "8 MiB", replication = 2 }
mapreduce = { bytes-per-reducer = "8 MB", data-scale = 0.25, scheduler = "fair" }
[[job]]
name = "shuffles"
workload = "generic"
input = "160 MB"
map-ratio = 0.5
reduce-ratio = 0.2
"#;

#[test]
fn keys_that_contradict_each_other_are_named() {
    for (set, expected) in [
        ("job.0.workload=\"teragen\"", "says itself where its input comes from"),
        ("job.0.splits=[\"1 MB\"]", "nothing is read that could be split"),
    ] {
        refused(ONE, &["job.0.generated=true", set], &[expected]);
    }
    refused(ONE, &["job.0.combiner=true"], &["workload generic has no combiner of its own"]);
    for set in ["job.0.workload=wordcount", "job.0.combine-keys=9", "job.0.combiner=false"] {
        let sets = ["job.0.combiner=true", "job.0.combine-record=9", set];
        parse(ONE, &sets).unwrap_or_else(|error| panic!("{error}"));
    }
    let two = ["job.0.workload=generic", "job.0.reducers=2"];
    refused(ONE, &[two.as_slice(), &["job.0.shares=[0, 0.0]"]].concat(), &["all shares are zero"]);
    refused(ONE, &[two.as_slice(), &["job.0.shares=[1]"]].concat(), &["1 shares for 2 reducers"]);
    parse(ONE, &[two.as_slice(), &["job.0.shares=[0, 1]"]].concat()).unwrap_or_else(|error| panic!("{error}"));
    refused(ONE, &["job.0.shares=[1, 2]"], &["follows from `mapreduce.bytes-per-reducer`"]);
}

#[test]
fn hosts_are_told_for_each_split_and_writers_for_each_file() {
    let reads = ["job.0.workload=dfsio-read", "job.0.files=2", "job.0.map-ratio=0", "job.0.reduce-ratio=0"];
    let with = |set| [reads.as_slice(), &[set]].concat();
    for set in ["job.0.split-hosts=[[\"worker-1\"], [\"worker-2\"]]", "job.0.file-writers=[1, 2]"] {
        parse(ONE, &with(set)).unwrap_or_else(|error| panic!("{error}"));
    }
    for (set, expected) in [
        ("job.0.split-hosts=[[\"worker-1\"]]", "hosts of 1 splits, and there are 2"),
        ("job.0.file-writers=[1]", "writers of 1 files"),
        ("job.0.file-writers=[1, 7]", "there is no worker 7"),
    ] {
        refused(ONE, &with(set), &[expected]);
    }
    refused(ONE, &["job.0.file-writers=[1]"], &["the worker that wrote each file of dfsio-read"]);
}

#[test]
fn files_that_cannot_be_packed_are_named() {
    for (set, expected) in [
        ("job.0.generated=true", "nothing is read that could be packed"),
        ("job.0.workload=dfsio-read", "the files that its control files name"),
        ("job.0.splits=[\"1 MB\"]", "the splits are given one by one"),
        ("job.0.input-store=object-store", "the job reads from an object store"),
        ("hdfs.placement.kind=by-key", "blocks that are placed by key are not packed"),
        ("hdfs.erasure-coding=rs-3-2", "parts of blocks, which a group of erasure-coded blocks has not"),
    ] {
        refused(ONE, &["job.0.packing.kind=archive", set], &[expected]);
    }
}

#[test]
fn files_are_not_combined_to_splits_without_end() {
    let sets = ["job.0.packing.kind=combine", "job.0.packing.split=1 B"];
    refused(ONE, &sets, &["a larger `packing.split`"]);
}

#[test]
fn throttling_and_sparing_say_what_they_need() {
    let cases = [
        ("node = { throttle = { sustained = '1 W' } }", "what the node draws is not known"),
        ("node = { preset = 'nexus7', throttle = {} }", "nothing says when the processor runs slower"),
        ("node = { idle-power = '1 W', throttle = { low-battery = 0.2 } }", "the node has no battery"),
        ("node = { preset = 'nexus7', charge = 0.0 }", "0 is out of range"),
        ("mapreduce = { spare-batteries = 0.2 }", "no worker has a battery"),
        ("node = { battery = '16 Wh' }\nmapreduce = { spare-batteries = 0.2 }", "no worker has a battery"),
    ];
    for (text, expected) in cases {
        refused(&format!("{text}\njob = {{}}"), &[], &[expected]);
    }
    for throttle in ["sustained = '1 W'", "low-battery = 0.2"] {
        let text = format!("node = {{ preset = 'nexus7', throttle = {{ {throttle} }} }}\ntraffic = [{{}}]");
        parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn what_is_down_or_silent_cannot_be_slow() {
    let fault = |keys: &str| format!("[[faults]]\nlink = \"worker-1\"\nslow = 0.5\n{keys}\n[job]\n");
    refused(&fault("down-for = \"1 s\""), &[], &["3:8: only what is up can be slow"]);
    refused(&fault("silent = true"), &[], &["3:8: a silent link carries nothing"]);
}

#[test]
fn a_plan_names_workers_that_there_are() {
    let plan = |worker: u32| format!("[cluster]\nworkers = 4\n[job.plan]\nmaster = \"worker-{worker}\"\n");
    parse(&plan(4), &[]).unwrap_or_else(|error| panic!("{error}"));
    for wrong in [0, 5] {
        refused(&plan(wrong), &[], &[&*format!("there is no worker `worker-{wrong}`"), "worker-1 to worker-4"]);
    }
}
