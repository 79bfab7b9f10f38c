//! Recorders that did other work, and jobs that waited: neither becomes processor time of the job.

use crate::samples::{RUNS, traces, with_cluster};
use history::import::{Contention, Imported, Settings, Sources, import};
use history::{JobHistory, Task, read, unpack};
use std::fs;
use std::path::PathBuf;
use units::Time;

fn recorded(folder: &str, number: &str) -> JobHistory {
    let files = fs::read_dir(traces().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.contains(number) && name.contains(".jhist")
    };
    let bytes = fs::read(files.filter(is_it).min().unwrap()).unwrap();
    read(&unpack(&bytes).unwrap()).unwrap().1.remove(0)
}

fn imported(job: &JobHistory, settings: Option<Settings>) -> Imported {
    with_cluster(job, settings).unwrap()
}

fn described(folder: &str) -> Settings {
    Settings::parse(&fs::read_to_string(traces().join(folder).join("run.toml")).unwrap()).unwrap()
}

/// Its README says that the host had a load of 10 to 17, the job's own four tasks among it.
#[test]
fn a_busy_recorder_is_seen() {
    let loaded = imported(&recorded("with-conf", "_0001-"), None);
    let Contention::Load { per_core, .. } = loaded.calibration.contention else {
        panic!("{:?}", loaded.calibration.contention)
    };
    let threads = 2.0 * per_core + 4.0;
    assert!((8.0..17.0).contains(&threads), "{threads} threads on two cores");
    assert_eq!(loaded.scenario.mapreduce.jvm_start, Time::from_ms(1200), "the cluster's");
    assert!(loaded.assumed.iter().any(|of| of.key == "node.load"), "{:?}", loaded.assumed);
    // The same job when the host was quiet: its costs are the job's, and no load's.
    let quiet = imported(&recorded("with-conf", "_0005-"), None);
    assert_eq!((quiet.calibration.contention, quiet.scenario.node.load), (Contention::None, 0.0));
    let sum = |of: &Imported| {
        let costs = of.calibration.costs;
        costs.map.unwrap() * 0.52 + costs.merge.unwrap() + costs.reduce.unwrap() + costs.fetch.unwrap()
    };
    let ratio = sum(&loaded) / sum(&quiet);
    assert!((0.8..1.25).contains(&ratio), "costs by {ratio} of the quiet ones");
}

#[test]
fn quiet_recorders_are_quiet() {
    for folder in RUNS {
        let of = imported(&recorded(folder, "job_"), Some(described(folder)));
        assert_eq!(of.calibration.contention, Contention::None, "{folder}");
    }
}

/// All moments of a job moved by a function of the time after submission.
fn moved(job: &JobHistory, to: &dyn Fn(i64) -> i64) -> JobHistory {
    let mut job = job.clone();
    let submit = job.submit_ms;
    let at = |ms: &mut i64| *ms = submit + to(*ms - submit);
    let some = |ms: &mut Option<i64>| *ms = ms.map(|ms| submit + to(ms - submit));
    at(&mut job.launch_ms);
    some(&mut job.finish_ms);
    job.masters.iter_mut().for_each(|master| at(&mut master.start_ms));
    for Task { start_ms, finish_ms, attempts, .. } in job.maps.iter_mut().chain(&mut job.reduces) {
        some(start_ms);
        some(finish_ms);
        for a in attempts {
            for ms in [
                &mut a.start_ms,
                &mut a.finish_ms,
                &mut a.map_finish_ms,
                &mut a.shuffle_finish_ms,
                &mut a.sort_finish_ms,
            ] {
                some(ms);
            }
        }
    }
    job
}

/// Two cores with four maps that take three times as long get a third of what they had: 2 / (4 + L) = 1 / 6, eight
/// threads of other work, four for each core. What starts took beyond the preset's makes it somewhat more.
#[test]
fn a_job_at_a_third_of_its_pace_shared_the_cores() {
    let quiet = recorded("with-conf", "_0005-");
    let slow = imported(&moved(&quiet, &|ms| 3 * ms), None);
    let Contention::Load { per_core, .. } = slow.calibration.contention else {
        panic!("{:?}", slow.calibration.contention)
    };
    assert!((3.5..5.5).contains(&per_core), "{per_core}");
}

/// TestDFSIO's maps wrote 64 MB each while the links were fast. Where the same maps take twenty seconds more for it,
/// with the same processor time, they waited: nothing of that is a cost.
#[test]
fn waits_for_the_network_are_no_processor_time() {
    let fast = recorded("dfsio-write-unshaped", "job_");
    let first = fast.maps.iter().filter_map(|map| map.successful()?.start_ms).max().unwrap() - fast.submit_ms;
    let slow = moved(&fast, &|ms| if ms > first { ms + 20_000 } else { ms });
    let settings = || Some(described("dfsio-write-unshaped"));
    let (fast, slow) = (imported(&fast, settings()), imported(&slow, settings()));
    assert!(matches!(slow.calibration.contention, Contention::Waits { .. }), "{:?}", slow.calibration.contention);
    assert_eq!(slow.scenario.mapreduce.jvm_start, Time::from_ms(1200), "the cluster's");
    assert_eq!(slow.scenario.node.load, 0.0);
    let costs = |of: &Imported| {
        let maps = 4.0 * 67_108_864.0 * of.scenario.job[0].map_cpu.unwrap() * 1e-9;
        maps + 4.0 * of.scenario.mapreduce.jvm_start.as_secs_f64()
    };
    assert!(costs(&slow) < 1.3 * costs(&fast) + 0.5, "{} s, {} s", costs(&slow), costs(&fast));
    let said = slow.assumed.iter().find(|of| of.key == "mapreduce.jvm-start").expect("said");
    assert!(said.why.contains("they waited for the network or disks"), "{}", said.why);
}

/// An AppMaster that took long too, beside links that were busy with the maps' bytes, proves no load.
#[test]
fn busy_links_are_no_load() {
    let mut settings = described("dfsio-write-unshaped");
    settings.shaped = Some("20 Mbit/s".to_owned());
    // 64 MB of replicas from each of four maps, two of them on w2: 54 s at 20 Mbit/s.
    let slow = moved(&recorded("dfsio-write-unshaped", "job_"), &|ms| 12 * ms);
    let of = imported(&slow, Some(settings));
    assert!(matches!(of.calibration.contention, Contention::Waits { .. }), "{:?}", of.calibration.contention);
}

/// A plan of recorded durations has the load in them: it is not put on the machines a second time.
#[test]
fn durations_hold_the_load() {
    let of = import(&recorded("with-conf", "_0001-"), &Sources::default()).unwrap();
    assert!(of.record.is_some() && of.scenario.node.load == 0.0, "{}", of.scenario.node.load);
}
