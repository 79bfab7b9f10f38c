//! Recorded jobs beside what the simulator makes of them.

use history::import::{Imported, Settings, Sources, import, replay};
use history::{self, JobHistory, Properties};
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

/// A job whose `conf.xml` was kept, and the run of the same program that it is predicted from: other input, other
/// blocks, other memory.
pub const CONFIGURED: (&str, &str) = ("wordcount-nocombine-unshaped", "with-conf/job_1795427606570_0005");

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
    /// From the first reducer's launch to the last fetched output: how long it is, not when it ends.
    pub shuffling: f64,
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

/// The job of [`CONFIGURED`] with a scenario that knows of it what is known before it runs: its input, which hosts hold
/// it, and its configuration. Costs, ratios and delays are those of the run that it is predicted from.
pub fn configured() -> Recorded {
    let (basis, run) = CONFIGURED;
    let (beside, id) = run.split_once('/').expect("a folder and a job");
    let file = |ending: &str| {
        let files = fs::read_dir(folder(beside)).expect(beside).map(|e| e.expect(beside).path());
        let is_of_job =
            |path: &PathBuf| path.to_string_lossy().contains(id) && path.to_string_lossy().ends_with(ending);
        let packed = fs::read(files.into_iter().find(is_of_job).expect(ending)).expect(ending);
        history::unpack(&packed).expect(ending).into_owned()
    };
    let job = history::read(&file(".jhist.gz")).expect(run).1.remove(0);
    let properties = Properties::read(&file("_conf.xml.gz"), run).expect(run);
    let cluster = text(&folder("").join("cluster.toml"));
    let settings = Some(Settings::of_job(&properties).expect(run));
    let sources = Sources { cluster: Some(("cluster.toml", &cluster)), settings, writer: None };
    let itself = import(&job, &sources).expect(run).scenario;
    let known = recorded(basis, basis, false).remove(0).scenario;
    let mut scenario = Scenario { hdfs: itself.hdfs, mapreduce: itself.mapreduce, ..known.clone() };
    scenario.mapreduce.jvm_start = known.mapreduce.jvm_start;
    scenario.mapreduce.am_start = known.mapreduce.am_start;
    scenario.mapreduce.job_jar = known.mapreduce.job_jar;
    scenario.mapreduce.first_start_delays = known.mapreduce.first_start_delays;
    scenario.mapreduce.start_delays = known.mapreduce.start_delays;
    scenario.mapreduce.task_variation = known.mapreduce.task_variation;
    let (input, splits, split_hosts) = (itself.job[0].input, &itself.job[0].splits, &itself.job[0].split_hosts);
    scenario.job[0] = scenario::Job {
        input,
        splits: splits.clone(),
        split_hosts: split_hosts.clone(),
        reducers: itself.job[0].reducers,
        ..known.job[0].clone()
    };
    Recorded { job, scenario }
}

/// What the history states of the job; its bytes are of the whole run, which may be several jobs.
pub fn actual(run: &str, job: &JobHistory) -> Moments {
    let bytes = |direction: &str| {
        let text = text(&folder(run).join("run.toml"));
        let workers = text.lines().filter(|line| line.starts_with('w') && line.contains(direction));
        let number = |line: &str| -> f64 {
            let rest = line.split(direction).nth(1).unwrap_or_default().trim_start_matches([' ', '=']);
            rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse().expect(line)
        };
        workers.map(number).collect::<Vec<f64>>()
    };
    Moments {
        received: bytes("received").iter().sum::<f64>() / 1e6,
        // Of a job that reads and hardly moves anything else; each block comes with its checksums.
        remote: bytes("received").iter().map(|bytes| (bytes / BLOCK).floor()).sum(),
        client: client(run),
        ..times(job)
    }
}

/// Times that the history states of the job.
pub fn times(job: &JobHistory) -> Moments {
    let seconds = |ms: Option<i64>| ms.map_or(0.0, |ms| (ms - job.launch_ms) as f64 / 1e3);
    let reduces = || job.reduces.iter().filter_map(|t| t.successful());
    let shuffle = reduces().map(|a| seconds(a.shuffle_finish_ms)).fold(0.0, f64::max);
    Moments {
        maps: job.maps.iter().map(|t| seconds(t.finish_ms)).fold(0.0, f64::max),
        shuffle,
        shuffling: shuffle - reduces().map(|a| seconds(a.start_ms)).fold(shuffle, f64::min),
        job: seconds(job.finish_ms),
        submitted: job.finish_ms.map_or(0.0, |ms| (ms - job.submit_ms) as f64 / 1e3),
        ..Moments::default()
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
        shuffling: of(|m| m.shuffling),
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
    let phases = |phase| of(TaskKind::Reduce).flat_map(|a| &a.intervals).filter(move |i| i.phase == phase);
    let shuffle = phases(Phase::Fetch).map(|i| seconds(i.finish)).fold(0.0, f64::max);
    Moments {
        maps: of(TaskKind::Map).map(|a| seconds(a.finish)).fold(0.0, f64::max),
        shuffle,
        // A history's start is the launch of the container, where the first phase begins.
        shuffling: shuffle - phases(Phase::Start).map(|i| seconds(i.start)).fold(shuffle, f64::min),
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

/// Where a recorded value lies among predicted ones: the part of them that are below it, each of the n + 1 places
/// between them at its middle. Over runs that are predicted well it is uniform.
pub fn rank(predicted: impl IntoIterator<Item = f64>, recorded: f64) -> f64 {
    let (mut below, mut all) = (0.0, 0.0);
    for value in predicted {
        all += 1.0;
        below += if value < recorded { 1.0 } else { 0.0 };
    }
    (below + 0.5) / (all + 1.0)
}

/// The distance of Kolmogorov and Smirnov of ranks from the uniform distribution, and the probability of at least that
/// distance if they are uniform (Marsaglia, Tsang and Wang 2003, "Evaluating Kolmogorov's distribution").
pub fn uniform(mut ranks: Vec<f64>) -> (f64, f64) {
    ranks.sort_by(f64::total_cmp);
    let n = ranks.len();
    let step = |i: usize| i as f64 / n as f64;
    let distance = ranks.iter().enumerate().map(|(i, r)| (r - step(i)).max(step(i + 1) - r)).fold(0.0, f64::max);
    (distance, 1.0 - kolmogorov(n, distance))
}

/// P(D < d) of n independent uniform values.
fn kolmogorov(n: usize, d: f64) -> f64 {
    let k = (n as f64 * d) as usize + 1;
    let (size, h) = (2 * k - 1, k as f64 - n as f64 * d);
    let mut matrix = vec![vec![0.0; size]; size];
    for (i, row) in matrix.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate().take(i + 2) {
            *cell = if i + 1 < j { 0.0 } else { 1.0 };
        }
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row[0] -= h.powi(i as i32 + 1);
    }
    for (i, cell) in matrix[size - 1].iter_mut().enumerate() {
        *cell -= h.powi((size - i) as i32);
    }
    matrix[size - 1][0] += if 2.0 * h > 1.0 { (2.0 * h - 1.0).powi(size as i32) } else { 0.0 };
    for (i, row) in matrix.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate().take(i + 1) {
            *cell /= (1..=i + 1 - j).map(|f| f as f64).product::<f64>();
        }
    }
    let times = |a: &Vec<Vec<f64>>, b: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        let cell = |i: usize, j: usize| (0..size).map(|x| a[i][x] * b[x][j]).sum();
        (0..size).map(|i| (0..size).map(|j| cell(i, j)).collect()).collect()
    };
    let mut power = matrix.clone();
    for _ in 1..n {
        power = times(&power, &matrix);
    }
    (1..=n).fold(power[k - 1][k - 1], |product, i| product * i as f64 / n as f64)
}
