//! Recorded jobs beside what the simulator makes of them.

use history::import::{Imported, Settings, Sources, import, replay};
use history::{self, JobHistory};
use results::{AttemptState, JobState, Phase, RunResult, TaskKind};
use scenario::Scenario;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Runs, each after the run that it is calibrated on: itself, or the first unshaped one of its job.
pub const RUNS: [(&str, &str); 12] = [
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit-2"),
    ("wordcount-combine-unshaped", "wordcount-combine-10mbit"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped-2"),
    ("wordcount-combine-unshaped", "wordcount-combine-unshaped"),
    ("terasort-unshaped", "terasort-unshaped"),
    ("terasort-unshaped", "terasort-unshaped-2"),
    ("grep-unshaped", "grep-unshaped"),
    ("teragen-unshaped", "teragen-unshaped"),
    ("dfsio-write-unshaped", "dfsio-write-unshaped"),
    ("dfsio-read-unshaped", "dfsio-read-unshaped"),
];

/// A recorded job and a scenario that shall predict it.
pub struct Recorded {
    pub job: JobHistory,
    pub scenario: Scenario,
}

/// Moments of a job, in seconds after its launch, bytes through the workers' interfaces, in MB, and blocks that maps
/// read from other nodes; of the job's client all its seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    pub maps: f64,
    pub shuffle: f64,
    pub job: f64,
    pub received: f64,
    pub remote: f64,
    pub client: f64,
    /// From submission to finish.
    pub submitted: f64,
}

/// HDFS's block in all runs.
const BLOCK: f64 = 33_554_432.0;

fn folder(run: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/traces").join(run)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn histories(run: &str) -> Vec<JobHistory> {
    let files = fs::read_dir(folder(run)).unwrap_or_else(|e| panic!("{run}: {e}")).map(|e| e.expect(run).path());
    let mut files: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "jhist")).collect();
    files.sort();
    let read = |path: &PathBuf| history::read(&fs::read(path).expect(run)).unwrap_or_else(|e| panic!("{run}: {e}"));
    files.iter().flat_map(|path| read(path).1).collect()
}

/// The jobs of `run`, each with the scenario that is calibrated on the same job of `calibrated_on` alone and has the
/// network of `run`. With `placed`, its attempts start where and when they did.
pub fn recorded(calibrated_on: &str, run: &str, placed: bool) -> Vec<Recorded> {
    let cluster = text(&folder("").join("cluster.toml"));
    let settings =
        |run: &str| Settings::parse(&text(&folder(run).join("run.toml"))).unwrap_or_else(|e| panic!("{run}: {e}"));
    // TestDFSIO reads what the run before it wrote.
    let writer = (run == "dfsio-read-unshaped").then(|| histories("dfsio-write-unshaped").remove(0));
    let pair = |(basis, job): (JobHistory, JobHistory)| {
        let settings = Settings { shaped: settings(run).shaped, ..settings(calibrated_on) };
        let sources =
            Sources { cluster: Some(("cluster.toml", &cluster)), settings: Some(settings), writer: writer.as_ref() };
        let Imported { mut scenario, hosts, .. } = import(&basis, &sources).unwrap_or_else(|e| panic!("{run}: {e}"));
        if placed {
            // The machine as it was on average: the placement alone is given, and no draw of its speed.
            scenario.node.variation = 0.0;
            scenario.job[0].plan = Some(replay(&job, &hosts).unwrap_or_else(|e| panic!("{run}: {e}")));
        }
        Recorded { job, scenario }
    };
    histories(calibrated_on).into_iter().zip(histories(run)).map(pair).collect()
}

/// What the history states of the job; its bytes are of the whole run, which may be several jobs.
pub fn actual(run: &str, job: &JobHistory) -> Moments {
    let seconds = |ms: Option<i64>| ms.map_or(0.0, |ms| (ms - job.launch_ms) as f64 / 1e3);
    let bytes = |direction: &str| {
        let text = text(&folder(run).join("run.toml"));
        let workers = text.lines().filter(|line| line.starts_with('w') && line.contains(direction));
        let number = |line: &str| -> f64 {
            let rest = line.split(direction).nth(1).unwrap_or_default().trim_start_matches([' ', '=']);
            rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse().expect(line)
        };
        workers.map(number).collect::<Vec<f64>>()
    };
    let reduces = || job.reduces.iter().filter_map(|t| t.successful());
    Moments {
        maps: job.maps.iter().map(|t| seconds(t.finish_ms)).fold(0.0, f64::max),
        shuffle: reduces().map(|a| seconds(a.shuffle_finish_ms)).fold(0.0, f64::max),
        job: seconds(job.finish_ms),
        received: bytes("received").iter().sum::<f64>() / 1e6,
        // Of a job that reads and hardly moves anything else; each block comes with its checksums.
        remote: bytes("received").iter().map(|bytes| (bytes / BLOCK).floor()).sum(),
        client: client(run),
        submitted: job.finish_ms.map_or(0.0, |ms| (ms - job.submit_ms) as f64 / 1e3),
    }
}

/// The client's wall time, which `run.toml` has; of a run, which may be several jobs.
fn client(run: &str) -> f64 {
    let text = text(&folder(run).join("run.toml"));
    let line = text.lines().find_map(|line| line.strip_prefix("client_wall_s = ")).expect(run);
    line.split(' ').next().expect(run).parse().expect(run)
}

/// What a scenario makes of a job, with each of so many seeds.
pub fn predicted(scenario: &Scenario, seeds: u64) -> Vec<Moments> {
    let run = |seed| {
        let mut scenario = scenario.clone();
        scenario.run.seed = seed;
        let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|e| panic!("{e}"));
        moments(&result)
    };
    (1..=seeds).map(run).collect()
}

/// The medians of all moments.
pub fn median(runs: &[Moments]) -> Moments {
    let of = |value: fn(&Moments) -> f64| interval(runs.iter().map(value).collect()).1;
    Moments {
        maps: of(|m| m.maps),
        shuffle: of(|m| m.shuffle),
        job: of(|m| m.job),
        received: of(|m| m.received),
        remote: of(|m| m.remote),
        client: of(|m| m.client),
        submitted: of(|m| m.submitted),
    }
}

fn moments(result: &RunResult) -> Moments {
    let job = &result.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    let launch = job.launch.expect("a job that succeeded was launched");
    let seconds = |time: units::Time| time.saturating_sub(launch).as_secs_f64();
    let of = |kind| result.attempts.iter().filter(move |a| a.kind == kind && a.state == AttemptState::Succeeded);
    let fetches = of(TaskKind::Reduce).flat_map(|a| &a.intervals).filter(|i| i.phase == Phase::Fetch);
    Moments {
        maps: of(TaskKind::Map).map(|a| seconds(a.finish)).fold(0.0, f64::max),
        shuffle: fetches.map(|i| seconds(i.finish)).fold(0.0, f64::max),
        job: job.finish.map_or(0.0, seconds),
        remote: of(TaskKind::Map).map(|a| a.remote.get() as f64).sum::<f64>() / BLOCK,
        submitted: job.finish.map_or(0.0, |finish| finish.saturating_sub(job.submit).as_secs_f64()),
        client: job.client_wall.map_or(0.0, units::Time::as_secs_f64),
        received: result.nodes.iter().skip(1).map(|n| n.interface_received.get() as f64).sum::<f64>() / 1e6,
    }
}

/// The 5 % and the 95 % quantile (nearest rank), and the median.
pub fn interval(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let rank = |p: f64| values[((p * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1];
    (rank(0.05), rank(0.5), rank(0.95))
}
