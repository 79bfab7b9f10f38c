//! Traces of many jobs, and of traffic, as scenarios.

use history::import::{Extent, ImportError, ImportedMany, Sources, all, coflows, workload};
use history::{coflow, swim};
use scenario::{Generation, Nodes, PlannedEnd, Scheduler};
use units::{Bytes, Time};

/// Job, submission, gap, map input, shuffle, output.
const SMALL: &str = "shuffles\t100\t0\t600000000\t306000000\t3060000\n\
                     maps-write\t160\t60\t3000\t0\t900\n\
                     generates\t200\t40\t30\t0\t900000000\n\
                     multiplies\t230\t30\t0\t3000\t300\n\
                     nothing\t260\t30\t0\t0\t0\n\
                     late\t4000\t3740\t100\t0\t1\n";

fn import(extent: &Extent) -> ImportedMany {
    workload("small", &swim::read(SMALL.as_bytes()).unwrap(), extent).unwrap()
}

fn hour() -> Extent<'static> {
    let (from, length) = (Time::from_secs(100), Some(Time::from_secs(3_600)));
    Extent { nodes: Some(100), recorded_nodes: Some(600), from, length, ..Extent::default() }
}

#[test]
fn a_workloads_jobs_keep_their_volumes_and_times() {
    let scenario = import(&hour()).scenario;
    assert_eq!(scenario.cluster.workers, 100);
    assert!((scenario.mapreduce.data_scale - 1.0 / 6.0).abs() < 1e-12, "one key scales all bytes");
    let names: Vec<_> = scenario.job.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["shuffles", "maps-write", "generates", "multiplies", "nothing"], "the hour from 100 s on");
    let submits: Vec<_> = scenario.job.iter().map(|job| job.submit).collect();
    assert_eq!(submits, [0, 60, 100, 130, 160].map(Time::from_secs));

    // 306 MB in records of 100 B with two bytes of lengths each: 300 MB of map output. 1 % of it is written.
    let [shuffles, maps_write, generates, multiplies, nothing] = scenario.job.as_slice() else { panic!("five jobs") };
    assert_eq!((shuffles.input, shuffles.map_ratio), (Bytes::from_mb(600), Some(0.5)));
    assert_eq!((shuffles.reduce_ratio, shuffles.reducers), (Some(0.01), None));
    assert_eq!((maps_write.map_ratio, maps_write.reducers, maps_write.generated), (Some(0.3), Some(0), false));
    // 30 million bytes of output from one of input are not a ratio: the maps make them.
    assert_eq!((generates.input, generates.map_ratio), (Bytes::from_mb(900), Some(1.0)));
    assert_eq!((generates.reducers, generates.generated), (Some(0), true));
    assert_eq!((multiplies.input, multiplies.generated, multiplies.reducers), (Bytes::new(3_000), true, None));
    assert_eq!((nothing.input, nothing.map_ratio, nothing.reducers), (Bytes::new(1), Some(0.0), Some(0)));
}

#[test]
fn what_a_workload_does_not_say_is_said() {
    let imported = import(&hour());
    let text = imported.to_toml();
    assert!(text.starts_with("# 5 of 6 jobs of a SWIM workload, submitted from 100 s to 3700 s.\n"), "{text}");
    assert!(text.contains("data-scale = 0.16666666666666666  # 100 workers for 600 recorded machines\n"), "{text}");
    for what in ["machines", "network", "CPU costs", "files", "reducers", "maps make the data", "maps write the output"]
    {
        assert!(imported.assumptions.iter().any(|assumption| assumption.key == what), "{what}");
    }
    assert_eq!(imported.scenario.cluster.generation, Generation::Hadoop1);

    let unscaled = import(&Extent { recorded_nodes: None, ..hour() });
    assert_eq!(unscaled.scenario.mapreduce.data_scale.to_bits(), 1.0_f64.to_bits());
    assert!(unscaled.assumptions.iter().any(|assumption| assumption.key == "recorded machines"));
}

#[test]
fn a_workload_takes_the_cluster_that_it_is_given() {
    let cluster = "[cluster]\nworkers = 12\n[network]\nrate = \"10 Gbit/s\"\n[job]\nworkload = \"sort\"\n\
                   [[traffic]]\nkind = \"long\"\nto = \"worker-2\"\n";
    let extent = Extent { cluster: Some(("mine.toml", cluster)), nodes: None, recorded_nodes: Some(24), ..hour() };
    let imported = import(&extent);
    let scenario = &imported.scenario;
    assert_eq!((scenario.cluster.workers, scenario.cluster.generation), (12, Generation::Yarn));
    assert_eq!(scenario.mapreduce.scheduler, Scheduler::Fifo, "settings of a cluster that is given are not assumed");
    assert_eq!((scenario.job.len(), scenario.traffic.len()), (5, 0), "its own job and traffic are replaced");
    assert_eq!(scenario.mapreduce.data_scale.to_bits(), 0.5_f64.to_bits());
    assert!(imported.assumptions.iter().all(|assumption| assumption.key != "network"));
}

#[test]
fn what_cannot_be_imported_is_refused() {
    let jobs = swim::read(SMALL.as_bytes()).unwrap();
    let empty = Extent { from: Time::from_secs(5_000), ..hour() };
    assert!(matches!(workload("small", &jobs, &empty), Err(ImportError::Window(6))));
    let nowhere = Extent { nodes: None, recorded_nodes: None, ..hour() };
    assert!(matches!(workload("small", &jobs, &nowhere), Err(ImportError::Nodes)));
    let broken = Extent { cluster: Some(("mine.toml", "[cluster]\nwrokers = 9\n")), ..hour() };
    assert!(matches!(workload("small", &jobs, &broken), Err(ImportError::Scenario(_))));
}

#[test]
fn coflows_become_traffic_between_workers() {
    let trace = coflow::read(b"5 3\na 0 1 4 1 0:1\nb 2500 2 0 1 2 3:2.0 1:1.0\nc 9000 1 1 1 2:1\n").unwrap();
    let extent = Extent { from: Time::from_secs(1), length: Some(Time::from_secs(4)), ..Extent::default() };
    let imported = coflows("trace", &trace, &extent).unwrap();
    assert_eq!((imported.scenario.cluster.workers, imported.scenario.job.len()), (5, 0));
    let [traffic] = imported.scenario.traffic.as_slice() else { panic!("one traffic") };
    let [b] = traffic.coflow.as_slice() else { panic!("one coflow arrives from 1 s to 5 s") };
    assert_eq!((b.name.as_str(), b.start), ("b", Time::from_ms(1_500)));
    assert_eq!((&b.from, &b.to), (&Nodes::List(vec![1, 2]), &Nodes::List(vec![4, 2])));
    assert_eq!(b.bytes, [Bytes::from_mib(2), Bytes::from_mib(1)]);

    let few = Extent { nodes: Some(4), ..extent };
    assert!(matches!(coflows("trace", &trace, &few), Err(ImportError::Workers(4, 5))));
}

/// A job in Rumen's form: one map on a host, and what it read.
fn rumen(id: &str, submit_s: u64, host: &str, outcome: &str) -> String {
    let ms = |seconds: u64| (1_300_000_000 + submit_s + seconds) * 1_000;
    format!(
        r#"{{"jobID": "job_1_{id}", "jobName": "n", "submitTime": {}, "launchTime": {}, "finishTime": {},
        "outcome": "{outcome}",
        "mapTasks": [{{"taskID": "task_1_{id}_m_000000", "taskType": "MAP", "startTime": {}, "finishTime": {},
        "taskStatus": "SUCCESS", "inputBytes": 1000000,
        "preferredLocations": [{{"layers": ["r", "{host}"]}}],
        "attempts": [{{"attemptID": "attempt_1_{id}_m_000000_0", "result": "SUCCESS", "hostName": "/r/{host}",
        "startTime": {}, "finishTime": {}, "hdfsBytesRead": 1000000}}]}}], "reduceTasks": [], "otherTasks": []}}"#,
        ms(0),
        ms(1),
        ms(40),
        ms(1),
        ms(39),
        ms(2),
        ms(38),
    )
}

#[test]
fn all_jobs_of_a_history_become_one_scenario() {
    let text = [("0002", 100, "n7"), ("0001", 30, "n4"), ("0001", 330, "n4")]
        .map(|(id, submit, host)| rumen(id, submit, host, "SUCCESS"));
    let (_, jobs) = history::read(text.join("\n").as_bytes()).unwrap();
    let jobs: Vec<_> = jobs.iter().map(|job| (job, None)).collect();
    let imported = all("trace", &jobs, &Sources::default(), &Extent::default()).unwrap();
    let scenario = &imported.scenario;
    // Hosts of both jobs, in the order of their names: n4, n7.
    assert_eq!(scenario.cluster.workers, 2);
    let names: Vec<_> = scenario.job.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["job_1_0001", "job_1_0002", "job_1_0001#2"]);
    let submits: Vec<_> = scenario.job.iter().map(|job| job.submit).collect();
    assert_eq!(submits, [0, 70, 300].map(Time::from_secs), "after the first");
    let hosts: Vec<_> = scenario.job.iter().flat_map(|job| job.split_hosts.clone()).collect();
    assert_eq!(hosts, [vec![1], vec![2], vec![1]].map(Nodes::List), "numbers of all jobs' hosts");
    // No CPU time is counted: each job has its plan, on the numbers of all jobs' hosts.
    let places: Vec<_> = scenario.job.iter().flat_map(|job| &job.plan.as_ref().expect("a plan").attempt).collect();
    let nodes: Vec<_> = places.iter().map(|attempt| attempt.node.as_str()).collect();
    assert_eq!(nodes, ["worker-1", "worker-2", "worker-1"]);
    assert!(places.iter().all(|attempt| attempt.start == Time::from_secs(2)), "after the job's own submission");
    assert_eq!(imported.records.len(), 3);
    assert_eq!(scenario.node.cores, 2, "no two maps ran side by side on a host: the least");
    // Each job names one rack, all of them two.
    let mut apart: Vec<_> = jobs.iter().map(|(job, _)| (*job).clone()).collect();
    for (job, rack) in apart.iter_mut().zip(["/b", "/a", "/a"]) {
        job.racks = job.maps[0].attempts.iter().map(|attempt| (attempt.host.clone(), rack.to_owned())).collect();
    }
    let apart: Vec<_> = apart.iter().map(|job| (job, None)).collect();
    let apart = all("trace", &apart, &Sources::default(), &Extent::default()).unwrap();
    assert_eq!(apart.heading[1], "Racks: /a is rack 1, /b is rack 2.");
    let apart = apart.scenario;
    assert_eq!(apart.nodes().iter().map(|node| node.rack).collect::<Vec<_>>(), [1, 1, 2], "n4 in /a, n7 in /b");

    // Where one job's costs follow from its CPU time, no job has a plan. A map of a million bytes that starts at 2 s
    // and is known to be done at 39 s: 37 us for each.
    let mut counting: Vec<_> = jobs.iter().map(|(job, _)| (*job).clone()).collect();
    counting[0].maps[0].attempts[0].counters.set("CPU_MILLISECONDS", 30_000);
    let counting: Vec<_> = counting.iter().map(|job| (job, None)).collect();
    let cluster = "[cluster]\nworkers = 2\n[hdfs]\nreplication = 2\n[job]\nworkload = \"generic\"\n";
    let sources = Sources { cluster: Some(("c.toml", cluster)), ..Sources::default() };
    let unplanned = all("trace", &counting, &sources, &Extent::default()).unwrap();
    assert!(unplanned.records.is_empty() && unplanned.scenario.job.iter().all(|job| job.plan.is_none()));
    let costs: Vec<_> = unplanned.scenario.job.iter().map(|job| job.map_cpu).collect();
    assert_eq!((costs[0], costs[2]), (Some(37_000.0), Some(37_000.0)));

    let window = Extent { from: Time::from_secs(60), length: Some(Time::from_secs(60)), ..Extent::default() };
    let one = all("trace", &jobs, &Sources::default(), &window).unwrap();
    assert_eq!((one.scenario.job.len(), one.scenario.job[0].submit), (1, Time::from_secs(10)));
    assert!(
        one.heading[0].starts_with("1 of 3 jobs, submitted from 1 min to 2 min after the first"),
        "{:?}",
        one.heading
    );

    // The maps of three jobs at once on one host, a container of a gibibyte each.
    let three = [("0001", 0, "SUCCESS"), ("0002", 20, "FAILED"), ("0003", 30, "SUCCESS")];
    let text = three.map(|(id, submit, outcome)| rumen(id, submit, "n4", outcome)).join("\n");
    let (_, beside) = history::read(text.as_bytes()).unwrap();
    let beside: Vec<_> = beside.iter().map(|job| (job, None)).collect();
    let beside = all("trace", &beside, &Sources::default(), &Extent::default()).unwrap().scenario;
    assert_eq!((beside.node.cores, beside.mapreduce.node_memory), (3, Some(Bytes::from_mib(3_072))));
    assert_eq!(beside.job[1].plan.as_ref().expect("a plan").end, Some(PlannedEnd::Failed));

    let text = [rumen("0001", 0, "n4", "SUCCESS"), rumen("0002", 31 * 86_400, "n4", "SUCCESS")].join("\n");
    let (_, apart) = history::read(text.as_bytes()).unwrap();
    let apart: Vec<_> = apart.iter().map(|job| (job, None)).collect();
    let error = all("trace", &apart, &Sources::default(), &Extent::default()).unwrap_err();
    assert!(error.to_string().contains("up to 31 days apart"), "{error}");

    let text = [rumen("0001", 0, "n4", "SUCCESS"), rumen("0002", 900 * 86_400, "n4", "SUCCESS")].join("\n");
    let (_, years) = history::read(text.as_bytes()).unwrap();
    let years: Vec<_> = years.iter().map(|job| (job, None)).collect();
    let error = all("trace", &years, &Sources::default(), &Extent::default()).unwrap_err();
    assert!(matches!(error, ImportError::Apart(_)), "{error}");

    let nothing = Extent { from: Time::from_secs(9_000), ..Extent::default() };
    assert!(matches!(all("trace", &jobs, &Sources::default(), &nothing), Err(ImportError::Window(3))));
}

/// Every prefix, and every byte replaced by some that end a field, a line or a number: an error or a trace, no panic.
#[test]
fn damaged_traces_are_errors() {
    let coflows = "5 2\na 0 1 4 1 0:1\nb 2500 2 0 1 2 3:2.0 1:1.0\n";
    for text in [SMALL, coflows] {
        let bytes = text.as_bytes();
        let prefixes = (0..bytes.len()).map(|end| bytes[..end].to_vec());
        let replaced = (0..bytes.len()).flat_map(|at| {
            [b'\n', b'\t', b' ', b':', b'-', b'9', b'e', 0, 0xff].map(|byte| {
                let mut damaged = bytes.to_vec();
                damaged[at] = byte;
                damaged
            })
        });
        for damaged in prefixes.chain(replaced) {
            let extent = Extent { nodes: Some(5), recorded_nodes: Some(10), ..Extent::default() };
            if let Ok(jobs) = swim::read(&damaged) {
                let _ = workload("damaged", &jobs, &extent);
            }
            if let Ok(trace) = coflow::read(&damaged) {
                let _ = history::import::coflows("damaged", &trace, &extent);
            }
        }
    }
}
