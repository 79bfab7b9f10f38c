//! Executors that come, go, are excluded and die, beside recordings of Spark 4.1.1 (`crates/history/tests/spark`, three of
//! each), each by its own log. Other work had most of the machine's two cores, so that processes took 5 to 13 s to start.

use crate::spark::{recorded_with, spark, took};
use results::{RunResult, SparkApplication, SparkExecutor};
use units::Time;

/// A network that nothing slows.
const NETWORK: &str = "[network]\nrate = \"10 Gbit/s\"\n";

/// Seconds after a job's submission.
fn after(app: &SparkApplication, job: usize, at: Time) -> f64 {
    at.as_secs_f64() - app.jobs[job].submit.expect("a job").as_secs_f64()
}

/// Times of executors, in their order, in seconds after the first job's submission.
fn times(app: &SparkApplication, of: impl Fn(&SparkExecutor) -> Option<Time>) -> Vec<f64> {
    let mut times: Vec<f64> = app.executors.iter().filter_map(of).map(|at| after(app, 0, at)).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// As many as recorded, and no further from them than this in the mean, and at worst.
fn all_near(simulated: &[f64], recorded: &[f64], (mean, worst): (f64, f64)) {
    assert_eq!(simulated.len(), recorded.len(), "{simulated:.1?}, recorded {recorded:.1?}");
    let errors: Vec<f64> = simulated.iter().zip(recorded).map(|(simulated, recorded)| simulated - recorded).collect();
    let all: f64 = errors.iter().map(|error| error.abs()).sum();
    assert!(all / errors.len() as f64 <= mean, "{errors:.1?}");
    assert!(errors.iter().all(|error| error.abs() <= worst), "{errors:.1?}");
}

fn near(result: &RunResult, recorded: f64, part: f64) {
    assert!((took(result) / recorded - 1.0).abs() <= part, "{:.2} s, recorded {recorded} s", took(result));
}

/// When executors came and went, by the log's own events, in seconds after the first job's submission.
const CAME: [[f64; 21]; 3] = [
    [
        2.39, 7.74, 10.87, 11.11, 11.51, 11.87, 12.49, 12.51, 35.87, 39.47, 41.40, 41.41, 42.68, 42.83, 72.27, 76.32,
        76.37, 78.53, 78.57, 78.70, 79.10,
    ],
    [
        6.13, 13.88, 15.48, 15.94, 16.32, 16.55, 17.43, 17.52, 41.67, 45.33, 46.53, 46.57, 47.69, 47.72, 74.77, 77.98,
        79.51, 80.42, 80.48, 81.44, 81.67,
    ],
    [
        4.96, 12.71, 13.88, 14.55, 15.57, 15.70, 15.73, 16.00, 40.58, 44.81, 46.16, 47.14, 47.98, 48.36, 77.78, 80.67,
        81.27, 83.54, 84.49, 84.68, 84.72,
    ],
];
const WENT: [[f64; 13]; 3] = [
    [26.37, 26.70, 27.01, 27.24, 27.35, 28.26, 50.61, 50.62, 51.91, 58.33, 58.37, 61.31, 62.29],
    [33.10, 33.20, 33.42, 34.35, 34.37, 34.67, 54.46, 55.71, 56.85, 56.95, 62.10, 62.11, 66.11],
    [31.09, 31.10, 31.21, 31.34, 32.60, 32.71, 54.07, 55.34, 56.29, 57.12, 57.50, 64.60, 64.69],
];

/// When the second job was submitted.
const SECOND: [f64; 3] = [19.15, 25.58, 23.56];

/// Executors that are there are to be one at least and eight at most, and one that has no task for 4 s goes: so does one
/// with files of a shuffle that no job reads, whose own time-out is 2 s. How many were wanted, as the driver's log has
/// it, is the same; when, to a look of the driver. Executors come and go as they did, to what a process took to start
/// beside others; the driver knows that they are gone 5 s after their end.
#[test]
fn executors_come_and_go_as_recorded() {
    for log in 0..3 {
        let name = format!("waves-{}.zstd", log + 1);
        let (imported, result) = recorded_with(&name, &format!("{NETWORK}[spark.dynamic-allocation]\n"));
        let app = spark(&result);
        // The driver waited for the first executor, and for nothing else.
        let delay = imported.scenario.spark.as_ref().expect("an application").stage[0].delay;
        assert!(delay < Time::from_ms(100), "{delay:?}");
        let more = app.wanted.windows(2).filter(|pair| pair[1].executors > pair[0].executors).map(|pair| pair[1]);
        let more: Vec<_> = more.collect();
        let wanted: Vec<u32> = more.iter().map(|of| of.executors).collect();
        assert_eq!(wanted, [2, 4, 8, 3, 4, 6, 8, 2, 4, 8]);
        let jobs = [0, 0, 0, 2, 2, 2, 2, 4, 4, 4];
        let asked: Vec<f64> = more.iter().zip(jobs).map(|(of, job)| after(app, job, of.at)).collect();
        // In the mean of the three logs.
        let recorded = [1.10, 2.14, 3.22, 1.10, 2.12, 3.15, 4.19, 1.05, 2.06, 3.09];
        all_near(&asked, &recorded, (0.15, 0.25));
        all_near(&times(app, |executor| executor.registered), &CAME[log], (2.5, 5.5));
        // A job that has its executors 3 s sooner ends 4 s sooner, and so go those behind it.
        let went = times(app, |executor| executor.lost);
        all_near(&went, &WENT[log], (4.5, 7.0));
        // After the second job's submission, which leaves six without a task.
        let recorded: Vec<f64> = WENT[log][..6].iter().map(|at| at - SECOND[log]).collect();
        let second = after(app, 0, app.jobs[1].submit.expect("a job"));
        all_near(&went[..6].iter().map(|at| at - second).collect::<Vec<f64>>(), &recorded, (0.6, 1.2));
        near(&result, imported.recorded.took, 0.06);
    }
}

/// What was excluded in each run, in seconds after the first job's submission: the first executor of worker-2, the second
/// and with it the node, from a stage; both and the node from the application, as the stage is over. For 10 s, by the
/// setting; then the host is tried again, and the same follows in the third job.
const EXCLUDED: [[[f64; 3]; 2]; 3] = [
    [[3.63, 3.75, 6.87], [22.78, 22.86, 24.50]],
    [[3.80, 3.86, 7.12], [23.22, 23.26, 24.91]],
    [[4.30, 4.42, 7.85], [24.17, 24.21, 25.86]],
];

#[test]
fn executors_are_excluded_as_recorded() {
    for (log, recorded) in EXCLUDED.iter().enumerate() {
        let (imported, result) = recorded_with(&format!("host-{}.zstd", log + 1), NETWORK);
        let app = spark(&result);
        near(&result, imported.recorded.took, 0.02);
        // From stage 0 and then from stage 2, an executor, another, and the node, which are worker-2's.
        let kinds: Vec<_> = app.exclusions.iter().map(|of| (of.executor.is_some(), of.stage)).collect();
        let of = |stage| [(true, stage), (true, stage), (false, stage)];
        assert_eq!(kinds, [of(Some(0)), of(None), of(Some(2)), of(None)].concat());
        assert!(app.exclusions.iter().all(|of| of.node.0 == 2));
        for (at, [first, second, over]) in recorded.iter().enumerate() {
            let all = &app.exclusions[6 * at..6 * at + 6];
            let simulated: Vec<f64> = all.iter().map(|of| after(app, 0, of.at)).collect();
            all_near(&simulated, &[*first, *second, *second, *over, *over, *over], (0.5, 0.6));
            let until: Vec<f64> = all[3..].iter().filter_map(|of| Some(after(app, 0, of.until?))).collect();
            all_near(&until, &[over + 10.0; 3], (0.5, 0.6));
        }
        // No task began there meanwhile.
        let (from, until) = (app.exclusions[3].at, app.exclusions[3].until.expect("for 10 s"));
        assert!(!app.tasks.iter().any(|task| task.node.0 == 2 && (from..until).contains(&task.launch)));
    }
}

/// A task ends its executor's process; tasks of the second wave cannot have its blocks, and both stages are tried again:
/// (recorded seconds, those of the stages). Recorded, it takes 2 s until they have failed, as eight executors find out at
/// once, for the first time and on two cores, which has them load and compile much.
#[test]
fn an_executor_that_dies_costs_what_it_did() {
    for (log, (recorded, part)) in [(13.64, 0.1), (14.85, 0.3), (13.53, 0.1)].into_iter().enumerate() {
        let (imported, result) = recorded_with(&format!("dies-{}.zstd", log + 1), NETWORK);
        let app = spark(&result);
        assert!((imported.recorded.took - recorded).abs() < 0.01);
        near(&result, recorded, part);
        assert_eq!((app.lost, app.stages[0].attempts, app.stages[1].attempts), (1, 2, 2));
        // The first stage is over when what was lost of it is there again: 11.68, 11.43 and 11.44 s in the logs.
        assert!(imported.recorded.stages[0].1 > 10.5, "{:?}", imported.recorded.stages);
    }
}

/// When the driver asked for executors' end, by its own log in the first run, in seconds after the first job's
/// submission; the event log has 5.1 s more for each. So long after the job before it they are listed to go.
#[test]
fn executors_that_are_listed_go_when_the_driver_asked_for_it() {
    let asked = [21.32, 21.64, 21.96, 22.17, 22.28, 23.21, 45.52, 45.52, 46.76, 53.24, 53.24, 56.19, 57.21];
    let submitted = [0.0, 19.15, 29.34, 53.19, 63.41];
    let (imported, _) = recorded_with("waves-1.zstd", NETWORK);
    let spark = imported.scenario.spark.expect("an application");
    let until =
        spark.executor.iter().filter_map(|of| Some(submitted[of.until_job? as usize] + of.until?.as_secs_f64()));
    let mut until: Vec<f64> = until.collect();
    until.sort_by(f64::total_cmp);
    all_near(&until, &asked, (0.15, 0.2));
}

/// Joins at 50 Mbit/s on a machine with two cores, which executors that start share with each other and with tasks.
const JOINS: &str = "[cluster]\nhost = { cores = 2, disks = 1 }\n[network]\nrate = \"15 Gbit/s\"\n\
    shape = [{ nodes = \"workers\", direction = \"both\", rate = \"50 Mbit/s\", burst = \"32 KB\", limit = \"400 ms\" }]\n\
    [hdfs]\nblock = \"4 MiB\"\nreplication = 2\n[spark.dynamic-allocation]\n";

/// When their executors came, in seconds after the job's submission; the first was asked for before.
const CAME_TO_JOINS: [[f64; 4]; 3] = [[1.37, 6.37, 9.43, 9.95], [1.92, 8.64, 9.40, 9.94], [1.88, 8.97, 10.64, 10.81]];

#[test]
fn executors_that_share_cores_come_as_recorded() {
    for (log, came) in CAME_TO_JOINS.iter().enumerate() {
        let (imported, result) = recorded_with(&format!("join-{}.zstd", log + 1), JOINS);
        all_near(&times(spark(&result), |executor| executor.registered), came, (2.0, 3.0));
        near(&result, imported.recorded.took, 0.1);
    }
}
