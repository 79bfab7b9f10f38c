//! `trunkline testbed hadoop run`: a real job on a cluster, and a folder with what it, the cluster and the host did.

use crate::emit;
use crate::failure::Failure;
use crate::recorded_run::PLAN;
use crate::testbed_hadoop::{need_room, need_root, running};
use crate::testbed_hadoop_args::Run;
use crate::testbed_hadoop_kat as kat;
use crate::testbed_hadoop_measure::measure;
use crate::testbed_hadoop_predict::{Predicted, predict};
use crate::testbed_hadoop_recorded::RecordedJob;
use crate::testbed_hadoop_result::{as_it_was, cluster_toml, result_json, run_toml, summary};
use crate::testbed_spark_predict::predict_spark;
use runs::{Error, Folder};
use scenario::{Job as ScenarioJob, Scenario};
use std::fs::{self, File, TryLockError};
use std::path::Path;
use testbed::hadoop::{Check, Engine, Input, Job, Kind, Running, is_worker};
use testbed::link::Traffic;

/// Runs a job, and leaves a folder with what it did.
pub fn run(args: &Run) -> Result<(), Failure> {
    need_root()?;
    let mut job = Job {
        kind: args.job.clone(),
        text: if args.kat { Input::Words } else { Input::Lines },
        input: args.input,
        maps: args.maps,
        reducers: args.reducers,
        properties: args.property.clone(),
        arguments: args.arguments.clone(),
        in_store: [false; 2],
    };
    job.check()?;
    let (record, cluster) = running(&args.name)?;
    let _alone = alone(&args.name, &record.folder)?;
    let scenario = cluster.layout.scenario();
    let scenario_text = fs::read_to_string(&scenario).map_err(|error| Error::reading(&scenario, &error))?;
    let scenario = Scenario::parse("scenario.toml", &scenario_text, &[]).map_err(Error::Scenario)?;
    job.check_engine(cluster.engine())?;
    if scenario.object_store.is_some() && job.kind != Kind::Pi {
        let jobs = || scenario.job.iter();
        job.in_store = [jobs().any(ScenarioJob::reads_objects), jobs().any(ScenarioJob::writes_objects)];
        job.check()?;
    }
    if !matches!(job.kind, Kind::Jar(_) | Kind::Pi) {
        // Input and output with their replicas, map output, and as much for merging it.
        let copies = 2 * u64::from(scenario.hdfs.replication) + 2;
        need_room(&record.folder, job.input.get().saturating_mul(copies), "the job with its replicas")?;
    }
    let results = Path::new("results").join("hadoop");
    if args.kat {
        let target = args.out.clone().unwrap_or_else(|| results.join(format!("{}-kat", job.name())));
        return kat::run(args, job, &cluster, &scenario, &target);
    }
    let target = args.out.clone().unwrap_or_else(|| results.join(job.name()));
    one(args, &job, &cluster, scenario, None, &target).map(|_| ())
}

/// A job that was run.
pub struct Outcome {
    /// From the launch to the end of its jobs, in seconds.
    pub seconds: f64,
    /// Bytes that the interfaces of all workers received.
    pub into_workers: u64,
    /// The same as simulated.
    pub predicted: Option<Predicted>,
    /// Seconds of processors that others on this machine had meanwhile.
    pub others_s: f64,
}

/// Runs a job, and leaves a folder with what it did, and with the plan by which its input was laid out, if it was.
pub fn one(
    args: &Run,
    job: &Job,
    cluster: &Running,
    scenario: Scenario,
    plan: Option<&str>,
    target: &Path,
) -> Result<Outcome, Failure> {
    let folder = Folder::create(target).map_err(Error::from)?;
    let measured = measure(args, job, cluster, &scenario, folder.path())?;
    folder.file("cluster.toml", cluster_toml(as_it_was(scenario, &measured)).as_bytes()).map_err(Error::from)?;
    if cluster.engine() == Engine::Yarn {
        folder.file("run.toml", run_toml(job, &measured).as_bytes()).map_err(Error::from)?;
    }
    if let Some(plan) = plan {
        folder.file(PLAN, plan.as_bytes()).map_err(Error::from)?;
    }
    let result = format!("{:#}\n", result_json(job, cluster, &measured));
    folder.file("result.json", result.as_bytes()).map_err(Error::from)?;
    folder.commit().map_err(Error::from)?;
    if args.json {
        emit(&result)?;
    } else {
        emit(&summary(job, cluster, &measured, target))?;
    }
    if let Check::Wrong(what) = &measured.check {
        return Err(Failure::RealJob(format!("the output is wrong: {what}; results: {}", target.display())));
    }
    if let Some((deed, why)) = measured.deeds.iter().find_map(|deed| Some((deed, deed.failed.as_ref()?))) {
        return Err(Failure::RealJob(format!("a fault was not made: {}: {why}", deed.what)));
    }
    let into_workers = into_workers(&measured.traffic);
    let mut predicted = None;
    if args.predict {
        for job in &measured.jobs {
            let own = if measured.jobs.len() == 1 { "predicted".to_owned() } else { format!("predicted-{}", job.id()) };
            let own = target.join(own);
            predicted = match job {
                RecordedJob::MapReduce(job) => predict(target, job, &own, args.quiet, args.json)?,
                RecordedJob::Spark(application) => {
                    predict_spark(application, into_workers, (target, &own), args.quiet, args.json)?
                }
            };
        }
    }
    let spans = measured.jobs.iter().filter_map(RecordedJob::span);
    let (begin, end) = spans.fold((i64::MAX, 0), |all, span| (all.0.min(span.0), all.1.max(span.1)));
    Ok(Outcome {
        seconds: end.saturating_sub(begin).max(0) as f64 / 1e3,
        into_workers,
        predicted,
        others_s: measured.load(begin, end).map_or(0.0, |load| load.other_s),
    })
}

fn into_workers(traffic: &[(String, Traffic)]) -> u64 {
    let workers = traffic.iter().enumerate().filter(|(index, (host, _))| is_worker(*index, host));
    workers.map(|(_, (_, traffic))| traffic.received).sum()
}

/// Keeps other jobs off a cluster: what is measured would be of both.
fn alone(name: &str, folder: &Path) -> Result<File, Failure> {
    let file = folder.join("run.lock");
    let lock = File::create(&file).map_err(|error| Error::writing(&file, &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Failure::Input(format!(
            "a job runs on cluster {name}, and what is measured would be of both: wait for it, or bring up \
             another cluster"
        ))),
        Err(TryLockError::Error(error)) => Err(Error::writing(&file, &error).into()),
    }
}
