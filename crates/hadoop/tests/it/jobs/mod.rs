//! Jobs for tests, and what is asked of their records.

use crate::support::{Spec, World};
use hadoop::hdfs::HdfsConfig;
use hadoop::mapreduce::critical::critical_path;
use hadoop::mapreduce::{FileSystem, Generation, JobCompression, JobInput, JobSpec, MapReduceConfig, Packing};
use hadoop::record::{AttemptRecord, AttemptState, JobState, Records, TaskKind};
use hadoop::workload::{Costs, Workload};
use hadoop::{Config, JobId};
use units::{Bytes, Time};

pub const MIB: u64 = 1 << 20;
pub const GENERATIONS: [Generation; 2] = [Generation::Yarn, Generation::Hadoop1];

pub fn job(workload: &str, input: u64, reducers: u32) -> JobSpec {
    with_workload(Workload::preset(workload).expect("a preset"), input, reducers)
}

pub fn with_workload(workload: Workload, input: u64, reducers: u32) -> JobSpec {
    JobSpec {
        keyed: None,
        input_store: FileSystem::Hdfs,
        output_store: FileSystem::Hdfs,
        stride: None,
        packing: Packing::None,
        name: workload.name.clone(),
        workload,
        input: JobInput::Files(vec![Bytes::new(input)]),
        whole_files: false,
        reducers,
        submit: Time::ZERO,
        sample: Bytes::ZERO,
        weight: 1.0,
        compression: JobCompression::default(),
        uber: false,
    }
}

/// Records of 100 bytes go through unchanged, and only the map function takes time.
pub fn plain(map_seconds_per_mib: f64) -> Workload {
    let costs = Costs { map: map_seconds_per_mib / MIB as f64, ..Costs::NONE };
    Workload { costs, ..Workload::preset("generic").expect("a preset") }
}

/// Blocks of 32 MiB, and no speculation.
pub fn config(generation: Generation, jobs: Vec<JobSpec>) -> Config {
    let mapreduce = MapReduceConfig {
        generation,
        jobs,
        speculative_maps: false,
        speculative_reduces: false,
        ..MapReduceConfig::default()
    };
    let hdfs = HdfsConfig { block_size: Bytes::from_mib(32), ..HdfsConfig::default() };
    Config { hdfs, mapreduce, ..Config::default() }
}

/// The records of a run on so many workers in one rack.
pub fn run(config: Config, workers: u32) -> Records {
    finish(&mut World::new(config, Spec::new(workers, 1), 1))
}

/// Runs to the end of all jobs, and checks every job's ledger and critical path.
pub fn finish(world: &mut World) -> Records {
    let ended = world.run_to_finish(Time::from_secs(100_000));
    let records = world.cluster.records();
    assert!(ended, "the jobs do not end: {:#?}", records.jobs);
    world.check_messages();
    check(&records);
    records
}

pub fn check(records: &Records) {
    for (number, job) in (0..).zip(&records.jobs) {
        assert_eq!(job.ledger.violation(), None);
        let Some(finish) = job.finish else { continue };
        let path = critical_path(records, JobId(number)).expect("a job that has ended has a path");
        assert_eq!(path.split.total(), finish - job.submit);
        assert_eq!(path.stretches.first().map(|stretch| stretch.from), Some(job.submit));
        assert_eq!(path.stretches.last().map(|stretch| stretch.to), Some(finish));
        assert!(path.stretches.windows(2).all(|pair| pair[0].to == pair[1].from));
    }
}

pub fn job_time(records: &Records) -> f64 {
    let job = &records.jobs[0];
    assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    (job.finish.expect("a job that succeeded has ended") - job.submit).as_secs_f64()
}

pub fn attempts(records: &Records, kind: TaskKind, state: AttemptState) -> Vec<&AttemptRecord> {
    records.attempts.iter().filter(|attempt| attempt.kind == kind && attempt.state == state).collect()
}

pub fn succeeded(records: &Records, kind: TaskKind) -> Vec<&AttemptRecord> {
    attempts(records, kind, AttemptState::Succeeded)
}
