//! Other people's jobs: their written scenarios take as long as they did, and still wait for the network.

use history::import::{Extent, Imported, Sources, all, import};
use history::{JobHistory, JobState};
use results::{AttemptState, Phase, RunResult, TaskKind};
use runs::{BUDGET, Effort, Stop, check, check_all, reproduce, reproduce_all, try_once};
use scenario::{Generation, Scenario};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use units::{BitRate, Time};

fn sample(name: &str) -> Vec<JobHistory> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/samples").join(name);
    history::read(&fs::read(&path).expect(name)).expect(name).1
}

fn jobs() -> Vec<JobHistory> {
    sample("foreign.rumen.json").into_iter().chain(sample("failed-0.23.9.jhist")).collect()
}

fn reproduced(job: &JobHistory) -> (Imported, RunResult) {
    let mut imported = import(job, &Sources::default()).unwrap_or_else(|e| panic!("{}: {e}", job.id));
    let effort = Effort { threads: Some(1), stop: &Stop::new(), progress: &|_, _| {} };
    let checked = reproduce(&mut imported, BUDGET, &effort).unwrap_or_else(|e| panic!("{}: {e}", job.id));
    let result = checked.result.unwrap_or_else(|| panic!("{}: no run", job.id));
    (imported, result)
}

/// Each of [`jobs`] with its scenario and the run of that. Three tests look at them, and reproduce them once.
fn all_reproduced() -> &'static [(JobHistory, Imported, RunResult)] {
    static ALL: LazyLock<Vec<(JobHistory, Imported, RunResult)>> = LazyLock::new(|| {
        let beside = |job| {
            let (imported, result) = reproduced(&job);
            (job, imported, result)
        };
        jobs().into_iter().map(beside).collect()
    });
    &ALL
}

fn run(scenario: &Scenario) -> RunResult {
    sim::run(scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|e| panic!("{}: {e}", scenario.name))
}

/// Seconds from launch to finish.
fn length(result: &RunResult) -> f64 {
    let job = &result.jobs[0];
    let launch = job.launch.expect("a launch");
    job.finish.expect("an end").saturating_sub(launch).as_secs_f64()
}

/// What is written is read and run anew, as a user does it: the job takes as long as it is recorded to, from its launch
/// and from its submission, and moves what its counters say.
#[test]
fn written_scenarios_take_as_long_as_their_jobs() {
    for (job, imported, _) in all_reproduced() {
        let scenario = sim::parse(&job.id, &imported.to_toml(), &[]).unwrap_or_else(|e| panic!("{}: {e}", job.id));
        assert_eq!(scenario, imported.scenario, "{}: what is written is not what was checked", job.id);
        let result = run(&scenario);
        let recorded = (job.finish_ms.expect("an end") - job.launch_ms) as f64 / 1e3;
        let error = length(&result) / recorded - 1.0;
        assert!(error.abs() < 0.02, "{}: {} s, recorded {recorded} s", job.id, length(&result));
        let since_submission = (job.finish_ms.expect("an end") - job.submit_ms) as f64 / 1e3;
        let finish = result.jobs[0].finish.expect("an end").saturating_sub(result.jobs[0].submit).as_secs_f64();
        assert!((finish / since_submission - 1.0).abs() < 0.05, "{}: {finish} s of {since_submission} s", job.id);
        let succeeds = job.state == JobState::Succeeded;
        assert_eq!(result.jobs[0].state == results::JobState::Succeeded, succeeds, "{}", result.jobs[0].reason);
        let check = check(imported, &result);
        for line in check.lines.iter().filter(|line| line.unit == "MB") {
            assert!(line.error().is_some_and(|error| error.abs() < 0.02), "{}: {line:?}", job.id);
        }
        assert!(check.holds());
    }
}

/// The recorded attempts are all there, those that failed too, where they were.
#[test]
fn every_recorded_attempt_runs() {
    for (job, imported, result) in all_reproduced() {
        let tasks = || job.maps.iter().chain(&job.reduces);
        let recorded = tasks().flat_map(|task| &task.attempts).filter(|a| a.start_ms.is_some() && !a.host.is_empty());
        assert_eq!(result.attempts.len(), recorded.count(), "{}", job.id);
        let failed = tasks().flat_map(|t| &t.attempts).filter(|a| a.state == history::AttemptState::Failed).count();
        let fails = result.attempts.iter().filter(|a| a.state == AttemptState::Failed).count();
        assert_eq!(fails, failed, "{}", job.id);
        let by_tracker = job.masters.is_empty();
        assert_eq!(imported.scenario.cluster.generation == Generation::Hadoop1, by_tracker, "{}", job.id);
    }
}

/// Bytes that successful reduces fetched from other hosts, into each host; and seconds from the first fetch to the
/// last.
fn shuffle(result: &RunResult) -> (BTreeMap<u32, u64>, f64) {
    let mut into: BTreeMap<u32, u64> = BTreeMap::new();
    let (mut from, mut to) = (Time::MAX, Time::ZERO);
    let reduces = |a: &&results::Attempt| a.kind == TaskKind::Reduce && a.state == AttemptState::Succeeded;
    for reduce in result.attempts.iter().filter(reduces) {
        *into.entry(reduce.node).or_default() += reduce.remote.get();
        for fetch in reduce.intervals.iter().filter(|interval| interval.phase == Phase::Fetch) {
            (from, to) = (from.min(fetch.start), to.max(fetch.finish));
        }
    }
    (into, to.saturating_sub(from).as_secs_f64())
}

/// Reproducing does not freeze a job: on links so slow that the shuffle of the busiest host takes ten times as long as
/// it was recorded, it takes that long. A tenth of the rate is one of them.
#[test]
fn the_shuffle_of_a_reproduced_job_waits_for_the_network() {
    let mut with_a_shuffle = 0;
    for (job, imported, result) in all_reproduced().iter().filter(|(job, ..)| job.state == JobState::Succeeded) {
        let (into, recorded) = shuffle(result);
        let Some(busiest) = into.values().max().copied().filter(|bytes| *bytes > 1_000_000) else { continue };
        with_a_shuffle += 1;
        let tenth = imported.scenario.network.rate.as_bps() / 10;
        let starved = (busiest as f64 * 8.0 / (10.0 * recorded)) as u64;
        for rate in [tenth, starved] {
            let mut slow = imported.scenario.clone();
            slow.network.rate = BitRate::from_bps(rate);
            let (into, lasts) = shuffle(&run(&slow));
            let most = into.values().max().copied().unwrap_or(0);
            let least = 0.9 * most as f64 * 8.0 / rate as f64;
            assert!(lasts >= least, "{}: {lasts} s, and {most} B need {least} s at {rate} bit/s", job.id);
        }
    }
    assert!(with_a_shuffle >= 3, "{with_a_shuffle}");
}

/// A run that takes longer than its budget is said to, and the scenario is the first guess.
#[test]
fn a_budget_ends_the_fit() {
    let job = jobs().remove(0);
    let mut imported = import(&job, &Sources::default()).expect("a job");
    let guess = imported.scenario.clone();
    let effort = Effort { threads: Some(1), stop: &Stop::new(), progress: &|_, _| {} };
    let checked = reproduce(&mut imported, std::time::Duration::ZERO, &effort).expect("no error");
    assert!(checked.exhausted && checked.result.is_none());
    assert_eq!(imported.scenario, guess);
}

/// The rule of the test before, for every job of a folder of plain histories: `TRUNKLINE_HISTORIES=FOLDER cargo test -p
/// runs --test reproduce -- --ignored --nocapture`. Prints a line for each.
#[test]
#[ignore = "needs a folder of histories"]
fn every_shuffle_of_a_folder_waits_for_the_network() {
    let folder = std::env::var("TRUNKLINE_HISTORIES").expect("TRUNKLINE_HISTORIES names a folder");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| history::read(&fs::read(path).ok()?).ok().map(|(_, jobs)| jobs);
    let (mut tried, mut broken) = (0, Vec::new());
    for job in files.iter().filter_map(read).flatten().filter(|job| job.state == JobState::Succeeded) {
        let (imported, _) = reproduced(&job);
        let mut slow = imported.scenario.clone();
        slow.network.rate = BitRate::from_bps(slow.network.rate.as_bps() / 10);
        let (into, lasts) = shuffle(&run(&slow));
        let Some(most) = into.values().max().copied().filter(|bytes| *bytes > 0) else { continue };
        let least = 0.9 * most as f64 * 8.0 / slow.network.rate.as_bps() as f64;
        println!("{}: {lasts:.2} s; {most} B into the busiest host need {least:.3} s", job.id);
        tried += 1;
        if lasts < least {
            broken.push(job.id);
        }
    }
    assert!(tried > 0 && broken.is_empty(), "{tried} jobs, {broken:?}");
}

/// All jobs of a trace in one scenario, each with its plan: each takes the time that it is recorded with, though they
/// share the cluster.
#[test]
fn many_jobs_take_as_long_as_each_did() {
    // Two jobs of one trace, submitted 6 s apart; the others of the sample are years away.
    let jobs = sample("foreign.rumen.json");
    let jobs: Vec<_> = jobs.iter().filter(|job| job.id.contains("201102100941")).map(|job| (job, None)).collect();
    assert_eq!(jobs.len(), 2);
    let mut imported = all("trace", &jobs, &Sources::default(), &Extent::default()).expect("imported");
    let effort = Effort { threads: Some(1), stop: &Stop::new(), progress: &|_, _| {} };
    reproduce_all(&mut imported, BUDGET, &effort).expect("fitted").expect("plans");
    let scenario = sim::parse("trace", &imported.to_toml(), &[]).expect("what is written is read");
    let lines = check_all(&imported, &run(&scenario));
    assert_eq!(lines.len(), jobs.len());
    for line in &lines {
        assert!(line.error().is_some_and(|error| error.abs() < 0.02), "{line:?}");
    }
}

/// A job recorded while its host did other work, on machines without it: as long as the same job took when the host was
/// quiet, 23.15 s (`job_1795427606570_0005` of the same folder).
#[test]
fn a_loaded_recording_predicts_the_quiet_job() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/traces");
    let files = fs::read_dir(folder.join("with-conf")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_it = |path: &std::path::PathBuf| path.to_string_lossy().contains("_0001-");
    let bytes = fs::read(files.filter(is_it).min().expect("a history")).expect("read");
    let job = history::read(&history::unpack(&bytes).expect("unpacked")).expect("a history").1.remove(0);
    let cluster = fs::read_to_string(folder.join("cluster.toml")).expect("a cluster");
    let sources = Sources { cluster: Some(("cluster.toml", &cluster)), ..Sources::default() };
    let imported = import(&job, &sources).expect("imported");
    let scenario = |load: f64| {
        let mut scenario = imported.scenario.clone();
        (scenario.node.variation, scenario.mapreduce.task_variation) = (0.0, 0.0);
        scenario.node.load = load;
        scenario
    };
    let (loaded, quiet) = (length(&run(&scenario(imported.scenario.node.load))), length(&run(&scenario(0.0))));
    let recorded = (job.finish_ms.expect("an end") - job.launch_ms) as f64 / 1e3;
    assert!((loaded / recorded - 1.0).abs() < 0.15, "{loaded} s, recorded {recorded} s");
    assert!((quiet / 23.15 - 1.0).abs() < 0.15, "{quiet} s, recorded 23.15 s");
}

/// Half of 40 GB cross the network between two workers, which are 14 million packets: the check goes by flows. 10 GB at
/// 10 Gbit/s each way take 8 s at least. Of 20 MB it goes by packets.
#[test]
fn a_large_shuffle_is_checked_by_flows() {
    for (bytes, by_flows) in [("40 GB", true), ("20 MB", false)] {
        let text = format!(
            "[cluster]\nworkers = 2\n[network]\nrate = \"10 Gbit/s\"\n\
             [[spark.stage]]\nname = \"a\"\ntasks = 2\nshuffle-write = \"{bytes}\"\n\
             [[spark.stage]]\nname = \"b\"\ntasks = 2\nparents = [\"a\"]\n"
        );
        let scenario = Scenario::parse("large", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let effort = Effort { threads: Some(1), stop: &Stop::new(), progress: &|_, _| {} };
        let checked = try_once(&scenario, BUDGET, &effort).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(checked.by_flows, by_flows, "{bytes}");
        let spark = checked.result.expect("a run").spark.expect("an application");
        let took = spark.took().expect("an end").as_secs_f64();
        assert!(!by_flows || took > 8.0, "{took}");
    }
}
