//! Histories of real jobs become scenarios: what the history states stands in them, and what they cost adds up.

use crate::samples::{RUNS, traces, with_cluster};
use history::import::{ImportError, Imported, Settings, Shape, Sources, import, replay};
use history::{AttemptState, JobHistory, JobState, read};
use proptest::prelude::*;
use scenario::{FileSystem, Job, Nodes, PlannedEnd, PlannedKind, Scenario, TopologyKind};
use std::fs;
use std::path::Path;
use units::{BitRate, Bytes, Time};

fn jobs(file: &Path) -> Vec<JobHistory> {
    let bytes = fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display())).1
}

/// The first job of a run, with the cluster on which it ran and the settings with which it did.
fn run(name: &str) -> (JobHistory, Imported) {
    let folder = traces().join(name);
    let history = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let history = history.filter(|p| p.extension().is_some_and(|e| e == "jhist")).min().unwrap();
    let job = jobs(&history).remove(0);
    let settings = Settings::parse(&fs::read_to_string(folder.join("run.toml")).unwrap()).unwrap();
    let imported = with_cluster(&job, Some(settings)).unwrap_or_else(|e| panic!("{name}: {e}"));
    (job, imported)
}

#[test]
fn every_run_becomes_a_scenario_that_reads_back_as_it_is() {
    for name in RUNS {
        let (job, imported) = run(name);
        let text = imported.to_toml();
        let scenario = Scenario::parse(&job.id, &text, &[]).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        assert_eq!(scenario, imported.scenario, "{name}");
        assert_eq!(scenario.job.len(), 1, "{name}");
        assert_eq!(scenario.network.shape.len(), usize::from(name.contains("10mbit")), "{name}");
        assert!(text.contains("w2 is worker-2"), "{name}\n{text}");
    }
}

#[test]
fn settings_and_shaping_are_those_of_the_run() {
    let (_, imported) = run("wordcount-nocombine-10mbit");
    let scenario = &imported.scenario;
    assert_eq!(scenario.hdfs.block, Bytes::from_mib(32));
    assert_eq!(scenario.mapreduce.io_sort, Bytes::from_mib(64));
    assert_eq!(scenario.mapreduce.reduce_heap, Some(Bytes::from_mib(300)));
    assert_eq!(scenario.mapreduce.heartbeat, Some(Time::from_ms(200)));
    assert_eq!(scenario.mapreduce.node_memory, Some(Bytes::from_mib(1024)));
    assert_eq!(scenario.network.shape[0].rate, BitRate::from_mbps(10));
    assert_eq!(scenario.network.shape[0].nodes, Nodes::Workers);
}

/// TeraSort is known: 100-byte records become 102 bytes of key and value with lengths, 104 in the intermediate file.
#[test]
fn volumes_of_terasort_are_those_of_its_format() {
    let (_, imported) = run("terasort-unshaped");
    let job = &imported.scenario.job[0];
    assert_eq!((job.input_record, job.map_record, job.map_ratio), (Some(100.0), Some(102.0), Some(1.02)));
    assert!((job.reduce_ratio.unwrap() - 1.0 / 1.04).abs() < 1e-5);
    let split = Bytes::new(33_554_400);
    assert!(job.splits[..4].iter().all(|s| *s >= split && *s <= split + Bytes::new(100)), "{:?}", job.splits);
    assert_eq!(job.split_hosts[2], Nodes::List(vec![4]));
    assert_eq!(job.shares.iter().sum::<f64>(), 208_000_144.0);
}

/// Each of four reducers fetched 50 B, of which six maps' partitions take 6 B each by themselves, and wrote 70 B: five for
/// each byte of its records, and not one and a half for each that it fetched. So too where durations stand for costs.
#[test]
fn output_is_by_the_records_of_a_small_shuffle() {
    let (mut job, _) = run("terasort-unshaped");
    for attempt in job.reduces.iter_mut().flat_map(|task| &mut task.attempts) {
        attempt.counters.set("REDUCE_SHUFFLE_BYTES", 50);
        attempt.counters.set("HDFS_BYTES_WRITTEN", 70);
    }
    let counted = with_cluster(&job, None).unwrap().scenario.job.remove(0);
    assert_eq!((counted.reducers, counted.reduce_ratio), (Some(4), Some(5.0)));
    for attempt in job.maps.iter_mut().chain(&mut job.reduces).flat_map(|task| &mut task.attempts) {
        attempt.counters.set("CPU_MILLISECONDS", 0);
    }
    let timed = with_cluster(&job, None).unwrap().scenario.job.remove(0);
    assert!(timed.plan.is_some(), "durations stand for costs");
    assert_eq!(timed.reduce_ratio, Some(5.0));
}

#[test]
fn jobs_that_read_or_make_whole_files_are_seen_as_such() {
    for (name, shape, bytes) in [
        ("dfsio-read-unshaped", Shape::WholeFiles, 4 * 67_108_864),
        ("dfsio-write-unshaped", Shape::Generated, 4 * 67_108_864),
        ("teragen-unshaped", Shape::Generated, 200_000_000),
        ("grep-unshaped", Shape::Splits, 2 * 104_898_390),
    ] {
        let (_, imported) = run(name);
        assert_eq!(imported.calibration.shape, shape, "{name}");
        let total: u64 = imported.calibration.splits.iter().map(|b| b.get()).sum();
        assert!((total as f64 / f64::from(bytes) - 1.0).abs() < 1e-3, "{name}: {total}");
    }
}

/// The fit uses what all maps left together; what the 4 MB splits left of their 593,748 words alone is a check.
#[test]
fn the_combiner_leaves_of_a_small_split_what_it_left() {
    let (job, imported) = run("wordcount-combine-unshaped");
    let keys = imported.calibration.combiner.unwrap().keys;
    let small = job.maps[6].successful().unwrap();
    let left = small.counters.count("COMBINE_OUTPUT_RECORDS") as f64;
    assert!((keys.expected_distinct(593_748) / left - 1.0).abs() < 0.03, "{} {left}", keys.expected_distinct(593_748));
}

/// What the costs make of the volumes is the CPU time that tasks counted, and what the machine did for them besides:
/// the daemons and DataNodes beside them have their share of the cores by wall time.
#[test]
fn costs_add_up_to_the_counted_time_and_what_was_beside_it() {
    for name in
        ["terasort-unshaped", "terasort-unshaped-2", "wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped-2"]
    {
        let (history, imported) = run(name);
        let counted = |tasks: &[history::Task]| -> f64 {
            tasks.iter().map(|t| t.successful().unwrap().counters.count("CPU_MILLISECONDS") as f64 / 1e3).sum()
        };
        let (maps, reduces) = seconds(&history, &imported.scenario.job[0], imported.scenario.mapreduce.task_overhead);
        let maps = maps / counted(&history.maps) - 1.0;
        let reduces = reduces / counted(&history.reduces) - 1.0;
        assert!((-0.01..0.5).contains(&maps) && (-0.01..0.5).contains(&reduces), "{name}: {maps} {reduces}");
    }
}

/// CPU seconds of the maps and of the reducers of a job without combiner, by the definition of each cost and the
/// volumes.
fn seconds(history: &JobHistory, job: &Job, overhead: Time) -> (f64, f64) {
    let cost = |cost: Option<f64>| cost.unwrap() * 1e-9;
    let overhead = overhead.as_secs_f64();
    let mut total = overhead * history.maps.len() as f64;
    for map in history.maps.iter().filter_map(|t| t.successful()) {
        let count = |counter| map.counters.count(counter) as f64;
        let (records, written) = (count("MAP_OUTPUT_RECORDS"), count("MAP_OUTPUT_MATERIALIZED_BYTES"));
        let full = Bytes::from_mib(64).get() as f64 * 0.8;
        let held = count("MAP_OUTPUT_BYTES") + 16.0 * records;
        let spills = (held / full).ceil();
        // All spills but the last are full.
        let of_full = records * full / held;
        let compare = |n: f64| n * libm::log2(n);
        let compared = if spills > 1.0 {
            (spills - 1.0) * compare(of_full) + compare(records - (spills - 1.0) * of_full)
        } else {
            compare(records)
        };
        total +=
            cost(job.map_cpu) * count("BYTES_READ") + cost(job.sort_cpu) * compared + cost(job.spill_cpu) * written;
        total += if spills > 1.0 { cost(job.merge_cpu) * written } else { 0.0 };
    }
    let per_byte = cost(job.fetch_cpu) + cost(job.merge_cpu) + cost(job.reduce_cpu);
    (total, overhead * history.reduces.len() as f64 + per_byte * job.shares.iter().sum::<f64>())
}

/// Repetitions of a job give the same costs as far as they took the same time.
#[test]
fn repetitions_agree() {
    for (one, other) in [
        ("terasort-unshaped", "terasort-unshaped-2"),
        ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped-2"),
    ] {
        let work = |name: &str| {
            let (history, imported) = run(name);
            let (maps, reduces) =
                seconds(&history, &imported.scenario.job[0], imported.scenario.mapreduce.task_overhead);
            maps + reduces
        };
        let (one_work, other_work) = (work(one), work(other));
        assert!((one_work / other_work - 1.0).abs() < 0.12, "{one}: {one_work}, {other}: {other_work}");
    }
}

#[test]
fn a_history_is_a_plan_of_its_attempts() {
    let (history, imported) = run("wordcount-nocombine-10mbit");
    let plan = replay(&history, &imported.hosts).expect("hosts of its own");
    assert_eq!((plan.master.as_deref(), plan.master_start), (Some("worker-3"), Time::from_ms(655)));
    assert_eq!(plan.launch, Some(Time::from_ms(2_854)));
    // 8 maps, 4 reducers, 3 second attempts at maps that ran, 3 at reducers.
    assert_eq!(plan.attempt.len(), 18);
    let copy = plan.attempt.iter().filter(|a| a.kind == PlannedKind::Reduce && a.task == 2).nth(1).unwrap();
    assert_eq!((copy.node.as_str(), copy.start), ("worker-2", Time::from_ms(124_320)));
    // It stands in a scenario like any other key.
    let mut scenario = imported.scenario.clone();
    scenario.job[0].plan = Some(plan);
    assert_eq!(Scenario::parse(&history.id, &scenario.to_toml(), &[]).unwrap(), scenario);
}

#[test]
fn other_formats_import_as_far_as_they_tell() {
    let binary = run("terasort-unshaped").1;
    let avro_json = jobs(&traces().join("samples/terasort-unshaped.avro-json.jhist")).remove(0);
    let settings =
        || Some(Settings::parse(&fs::read_to_string(traces().join("terasort-unshaped/run.toml")).unwrap()).unwrap());
    assert_eq!(with_cluster(&avro_json, settings()).unwrap().scenario, binary.scenario);
    // Rumen has no counter of split descriptions (96 bytes) and no end of the map function.
    let rumen = with_cluster(&jobs(&traces().join("samples/rumen.json"))[0], settings()).unwrap();
    let (ours, theirs) = (&rumen.scenario.job[0], &binary.scenario.job[0]);
    assert_eq!((ours.map_ratio, ours.map_record, &ours.shares), (theirs.map_ratio, theirs.map_record, &theirs.shares));
    assert_eq!(ours.split_hosts, theirs.split_hosts);
    assert!(
        (rumen.scenario.mapreduce.jvm_start.as_secs_f64() / binary.scenario.mapreduce.jvm_start.as_secs_f64() - 1.0)
            .abs()
            < 0.01
    );
    // SLS tells only when containers ran.
    let sls = with_cluster(&jobs(&traces().join("samples/sls.json"))[0], settings()).unwrap();
    assert_eq!(sls.scenario.job[0].splits, vec![Bytes::from_mib(32); 6]);
    let about: Vec<&str> = sls.assumed.iter().map(|assumption| assumption.key.as_str()).collect();
    assert_eq!(about, ["job.splits", "job.map-ratio"]);
    assert!(sls.to_toml().contains("the history counts no bytes: a block for each map"));
}

#[test]
fn without_a_cluster_the_defaults_are_named_as_such() {
    let job = run("grep-unshaped").0;
    let imported = import(&job, &Sources::default()).unwrap();
    assert_eq!(imported.scenario.cluster.workers, 4);
    assert!(imported.to_toml().contains("# Machines and network are not in a history: those below are defaults."));
}

#[test]
fn racks_that_a_history_names_have_switches() {
    let mut job = run("grep-unshaped").0;
    let racks = |job: &JobHistory| {
        let scenario = import(job, &Sources::default()).unwrap().scenario;
        (scenario.network.topology, scenario.nodes().iter().skip(1).map(|node| node.rack).collect::<Vec<_>>())
    };
    assert_eq!(racks(&job), (TopologyKind::Star, vec![1; 4]), "all hosts are in /default-rack");
    for (host, rack) in [("w1", "/b"), ("w2", "/a"), ("w3", "/a"), ("w4", "/b")] {
        job.racks.insert(host.to_owned(), rack.to_owned());
    }
    assert_eq!(racks(&job), (TopologyKind::Tree, vec![2, 1, 1, 2]));
    // Nothing says where w3 stands: where its neighbour does.
    job.racks.remove("w3");
    assert_eq!(racks(&job), (TopologyKind::Tree, vec![2, 1, 1, 2]));
    let text = import(&job, &Sources::default()).unwrap().to_toml();
    assert!(text.contains("# Racks: /a is rack 1, /b is rack 2.\n"), "{text}");
    assert!(text.contains("of the host before, for 1 of 4 hosts"), "{text}");
    job.racks.remove("w1");
    assert_eq!(racks(&job), (TopologyKind::Tree, vec![1, 1, 1, 2]), "before the first that is known");
    // Of most hosts nobody knows where they stand.
    job.maps[0].preferred_hosts.push("w5".to_owned());
    assert_eq!(racks(&job), (TopologyKind::Star, vec![1; 5]));
}

/// TeraSort's client reads 100,000 records of 100 bytes before it submits the job; no other client does.
#[test]
fn terasort_takes_its_sample() {
    for name in ["terasort-unshaped", "wordcount-nocombine-unshaped", "teragen-unshaped"] {
        let (job, by_cpu) = run(name);
        let by_durations = import(&job, &Sources::default()).unwrap();
        let expected = name.contains("terasort").then(|| Bytes::from_mb(10));
        assert_eq!([&by_cpu, &by_durations].map(|of| of.scenario.job[0].sample), [expected; 2], "{name}");
    }
}

#[test]
fn what_cannot_be_imported_says_why() {
    let job = run("terasort-unshaped").0;
    let error = |job: &JobHistory| with_cluster(job, None).unwrap_err().to_string();
    let id = &job.id;
    assert_eq!(error(&JobHistory { maps: Vec::new(), ..job.clone() }), format!("{id} has no map task"));
    let mut many = job.clone();
    many.maps[0].preferred_hosts = (1..=9).map(|i| format!("x{i}")).collect();
    assert!(error(&many).contains("the cluster has 4 workers"), "{}", error(&many));
    let broken = Sources { cluster: Some(("c.toml", "[cluster]\nworkers = 0\n")), ..Sources::default() };
    assert!(matches!(import(&job, &broken), Err(ImportError::Scenario(_))));
    let faster = Settings { shaped: Some("ten".into()), ..Settings::default() };
    assert!(with_cluster(&job, Some(faster)).unwrap_err().to_string().starts_with("network_rate_per_worker"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A history with wrong numbers becomes a scenario that reads back, or an error.
    #[test]
    fn changed_histories_do_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = fs::read(traces().join("teragen-unshaped/job_1795217314114_0001.jhist")).unwrap();
        let events = bytes.len() - 8_000;
        for (at, byte) in changes {
            let at = events + at.index(8_000);
            bytes[at] = byte;
        }
        if let Ok((_, jobs)) = read(&bytes)
            && let Ok(imported) = with_cluster(&jobs[0], None)
        {
            prop_assert!(Scenario::parse("imported", &imported.to_toml(), &[]).is_ok());
        }
    }
}

/// A job that did not succeed is a plan that does not: its last failure is named, and its costs are its durations,
/// though it counts CPU time on known machines.
#[test]
fn jobs_that_did_not_succeed_end_as_they_did() {
    for (state, end, heading, reason) in [
        (JobState::Failed, PlannedEnd::Failed, "failed after", "map 1 failed once, as recorded"),
        (JobState::Killed, PlannedEnd::Killed, "was killed after", "it was killed, as recorded"),
        (JobState::Unfinished, PlannedEnd::Killed, "has no end in its history", "its history has no end"),
    ] {
        let mut job = JobHistory { state, ..run("terasort-unshaped").0 };
        job.maps[1].attempts[0].state = AttemptState::Failed;
        let imported = with_cluster(&job, None).unwrap();
        assert!(imported.to_toml().contains(heading), "{heading}");
        let plan = imported.scenario.job[0].plan.as_ref().expect("a plan");
        assert_eq!((plan.end, plan.reason.as_str(), plan.wait), (Some(end), reason, true));
        let failed = plan.attempt.iter().find(|attempt| attempt.end.is_some()).expect("a failed attempt");
        assert_eq!((failed.task, failed.end), (1, Some(PlannedEnd::Failed)));
        assert!(failed.after.is_some_and(|after| after > Time::from_secs(1)));
        // It is taken to have worked as fast as the others.
        assert!(failed.map.is_some_and(|map| map > Time::from_secs(1)));
    }
}

/// Recorded jobs whose input and output lay in an object store: S3A counted 16,000,053 bytes of text in two maps. The
/// cluster that has the store gets a job that uses it; the one that has none reads as much from HDFS, and says so.
#[test]
fn a_job_on_an_object_store_keeps_its_volumes_and_its_place() {
    let folder = traces().join("object-store");
    for name in ["file-v2-50mbit", "magic-50mbit", "file-v2-10mbit", "magic-10mbit"] {
        let text = |ending: &str| fs::read_to_string(folder.join(format!("{name}.{ending}"))).unwrap();
        let job = jobs(&folder.join(format!("{name}.jhist.gz"))).remove(0);
        let settings = || Settings::parse(&text("run.toml")).unwrap();
        assert_eq!(settings().counted.store_requests.len(), if name.starts_with("magic") { 6 } else { 7 }, "{name}");
        let cluster = text("cluster.toml");
        let with = |cluster: &str| {
            let sources =
                Sources { cluster: Some(("cluster.toml", cluster)), settings: Some(settings()), writer: None };
            import(&job, &sources).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let imported = with(&cluster);
        let [of] = imported.scenario.job.as_slice() else { panic!("{name}: one job") };
        assert_eq!((of.input_store, of.output_store), (FileSystem::ObjectStore, FileSystem::ObjectStore), "{name}");
        // Each map reads to the end of a line beyond its split; the first split is a block.
        let read: u64 = of.splits.iter().map(|split| split.get()).sum();
        assert!(of.splits.len() == 2 && (16_000_000..16_001_000).contains(&read), "{name}: {:?}", of.splits);
        assert!(of.split_hosts.is_empty(), "`localhost` is no host: {:?}", of.split_hosts);
        // 49,822 words, each with its count.
        let written: u64 = job.counters.count("S3A_BYTES_WRITTEN");
        let shuffled = job.counters.count("REDUCE_SHUFFLE_BYTES") as f64;
        assert!((of.reduce_ratio.unwrap() * shuffled / written as f64 - 1.0).abs() < 0.02, "{name}");

        // The machine had a load average of 28 to 30 throughout. That maps waited for the link before the store, 13 s at
        // 10 Mbit/s, is no load: by all four jobs other work had as much.
        assert!((2.5..4.5).contains(&imported.scenario.node.load), "{name}: {}", imported.scenario.node.load);

        let from = cluster.find("[object-store]").expect("a store");
        let to = from + cluster[from..].find("\n[mapreduce]").or_else(|| cluster[from..].find("\n[job]")).unwrap();
        let without = format!("{}{}", &cluster[..from], &cluster[to..]).replace("input-store = \"object-store\"\n", "");
        let imported = with(&without.replace("output-store = \"object-store\"\n", ""));
        assert_eq!(imported.scenario.job[0].input_store, FileSystem::Hdfs, "{name}");
        assert!(imported.assumed.iter().any(|of| of.key == "job.input-store"), "{name}: {:?}", imported.assumed);
    }
}
