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

#[test]
fn explore() {
    use hadoop::mapreduce::Policy;
    for generation in [Generation::Yarn, Generation::Hadoop1] {
        for seed in 0..100 {
            let names = ["terasort", "wordcount", "grep", "teragen", "dfsio-write", "wordcount-nocombine", "dfsio-read", "sort"];
            let mut random = des::RandomStream::new(seed, "x", 0);
            let jobs: Vec<JobSpec> = (0..1 + random.below(3)).map(|_| {
                let name = names[random.below(8) as usize];
                let reducers = if name == "teragen" { 0 } else { 1 + random.below(5) as u32 };
                let mut j = job(name, (20 + random.below(400)) * MIB, reducers);
                j.submit = Time::from_secs(random.below(20));
                j
            }).collect();
            let names: Vec<String> = jobs.iter().map(|j| j.name.clone()).collect();
            let mut cfg = config(generation, jobs);
            let m = &mut cfg.mapreduce;
            m.speculative_maps = random.chance(0.5);
            m.speculative_reduces = random.chance(0.5);
            m.policy = if random.chance(0.5) { Policy::Fair } else { Policy::Fifo };
            m.sort_buffer = Bytes::from_mib(4 + random.below(40));
            m.sort_factor = 2 + random.below(9) as u32;
            m.reduce_heap = Bytes::from_mib(4 + random.below(200));
            m.shuffle_keep_alive = random.chance(0.5);
            m.parallel_copies = 1 + random.below(5) as u32;
            m.shuffle_threads = 1 + random.below(4) as u32;
            m.yarn.node_memory = Bytes::from_mib(3072);
            m.task_timeout = Time::from_secs(60);
            m.yarn.node_expiry = Time::from_secs(60);
            m.hadoop1.expiry = Time::from_secs(60);
            m.shuffle_timeout = Time::from_secs(30);
            let racks = 1 + random.below(3) as u32;
            let mut world = World::new(cfg, Spec::new(6, racks), seed);
            for _ in 0..random.below(3) {
                let node = hadoop::NodeId(1 + random.below(6) as u32);
                let at = Time::from_secs_f64(random.range(0.5, 40.0));
                world.kill(node, at);
                if random.chance(0.7) {
                    world.revive(node, at + Time::from_secs_f64(random.range(1.0, 100.0)));
                }
            }
            let ok = world.run_to_finish(Time::from_secs(5_000));
            let records = world.cluster.mapreduce().records();
            for (n, j) in records.jobs.iter().enumerate() {
                let c = hadoop::mapreduce::critical::critical_path(&records, hadoop::JobId(n as u32));
                let sum = c.as_ref().map(|c| c.split.total());
                let good = sum == j.finish.map(|f| f - j.submit);
                eprintln!("{generation:?} {seed} {names:?}: {ok} {:?} {:?} {} v={:?} {} {good} {:?}", j.state, j.finish, j.reason, j.ledger.violation(), world.inputs, c.map(|c| c.split));
                assert!(good || j.finish.is_none());
            }
            if !ok {
                for a in records.attempts.iter() { eprintln!("   {:?} {:?} {}.{} on {:?} {:?} {} alloc {:?} start {:?} finish {:?}", a.job, a.kind, a.task, a.attempt, a.node, a.state, a.reason, a.allocated, a.start, a.finish); }
                panic!();
            }
        }
    }
}
