//! Whole jobs in both generations, on a network, disks and processors whose times can be worked out by hand.

mod support;

use hadoop::Config;
use hadoop::hdfs::HdfsConfig;
use hadoop::mapreduce::{Generation, JobInput, JobSpec, MapReduceConfig};
use hadoop::record::{AttemptRecord, AttemptState, JobState, Records, TaskKind};
use hadoop::workload::Workload;
use support::{Spec, World};
use units::{Bytes, Time};

const MIB: u64 = 1 << 20;

fn job(workload: &str, input: u64, reducers: u32) -> JobSpec {
    JobSpec {
        name: workload.to_string(),
        workload: Workload::preset(workload).expect("a preset"),
        input: JobInput::Files(vec![Bytes::new(input)]),
        whole_files: false,
        reducers,
        submit: Time::ZERO,
        weight: 1.0,
    }
}

fn config(generation: Generation, jobs: Vec<JobSpec>) -> Config {
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

fn run(config: Config, workers: u32) -> Records {
    let mut world = World::new(config, Spec::new(workers, 1), 1);
    finish(&mut world)
}

fn finish(world: &mut World) -> Records {
    assert!(
        world.run_to_finish(Time::from_secs(100_000)),
        "the job does not end: {:#?}",
        world.cluster.mapreduce().records().jobs
    );
    let records = world.cluster.mapreduce().records();
    for job in &records.jobs {
        assert_eq!(job.ledger.violation(), None);
    }
    records
}

fn succeeded(records: &Records, kind: TaskKind) -> Vec<&AttemptRecord> {
    records.attempts.iter().filter(|a| a.kind == kind && a.state == AttemptState::Succeeded).collect()
}

#[test]
fn terasort_moves_the_same_bytes_in_both_generations() {
    let volumes = [Generation::Yarn, Generation::Hadoop1].map(|generation| {
        let records = run(config(generation, vec![job("terasort", 256 * MIB, 4)]), 4);
        assert_eq!(records.jobs[0].state, JobState::Succeeded);
        let (maps, reduces) = (succeeded(&records, TaskKind::Map), succeeded(&records, TaskKind::Reduce));
        assert_eq!((maps.len(), reduces.len()), (8, 4));
        let sum = |of: &dyn Fn(&AttemptRecord) -> Bytes| records.attempts.iter().map(of).sum::<Bytes>();
        let read = sum(&|a| a.bytes.read_node + a.bytes.read_rack + a.bytes.read_remote);
        let fetched = sum(&|a| a.bytes.fetched_node + a.bytes.fetched_network);
        let map_output: Bytes = maps.iter().map(|a| a.bytes.output).sum();
        assert_eq!(fetched, map_output);
        let written: Vec<Bytes> = reduces.iter().map(|a| a.bytes.output).collect();
        (read, map_output, written)
    });
    // 32 MiB hold 335,544 records of 100 bytes, 102 with their lengths in the buffer and 104 in the file; 4 partitions add 6 bytes each.
    let map_output = 8 * (34_225_521 + 335_544 * 2 + 24);
    assert_eq!(volumes[0].0, Bytes::from_mib(256));
    assert_eq!(volumes[0].1, Bytes::new(map_output));
    assert_eq!(volumes[0], volumes[1]);
}
