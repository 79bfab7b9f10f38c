//! A job's client: what its sample moves, and when it learns that the job is over.

use crate::jobs::{GENERATIONS, MIB, config, finish, job, plain, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::Generation;
use hadoop::{Config, NodeId};
use units::{Bytes, Time};

/// Ten blocks of 32 MiB on three workers.
fn ten_blocks(sample: u64) -> Config {
    let mut job = job("terasort", 320 * MIB, 1);
    job.sample = Bytes::new(sample);
    config(Generation::Yarn, vec![job])
}

/// The client takes 1 MB of each of ten blocks. It leaves the connections open, so each DataNode sends until a receive
/// buffer of 1 MiB is full: 31 whole packets of 64 KiB fit into 2,048,576 bytes, each with a header of 33 bytes and
/// 4 bytes of checksum for each 512.
#[test]
fn a_sample_moves_what_the_client_reads_and_what_its_buffers_hold() {
    let received = |sample: u64| {
        let mut world = World::new(ten_blocks(sample), Spec::new(3, 1), 1);
        let records = finish(&mut world);
        (world.received(NodeId(0)).get() as f64, records.jobs[0].submit.as_secs_f64())
    };
    let ((with, submitted), (without, at_once)) = (received(10_000_000), received(0));
    let expected = 10.0 * 31.0 * (65_536.0 + 33.0 + 4.0 * 128.0);
    let more = with - without;
    // Beside them: ten calls to the NameNode, and as many calls more as the job is later.
    assert!((more - expected).abs() < 0.002 * expected, "{more} bytes against {expected}");
    // All ten at once over a gigabit: 10 MB take 80 ms, 20 MB 160 ms.
    let took = submitted - at_once;
    assert!((0.08..0.17).contains(&took), "{took} s");
}

/// A sample of less than a block that is shorter than the buffer moves the block.
#[test]
fn a_short_block_is_sent_whole() {
    let mut world = World::new(
        {
            let mut config = ten_blocks(10_000);
            config.hdfs.block_size = Bytes::new(500_000);
            config.mapreduce.jobs[0].input = hadoop::mapreduce::JobInput::Files(vec![Bytes::new(1_000_000)]);
            config
        },
        Spec::new(3, 1),
        1,
    );
    let records = finish(&mut world);
    assert!(records.jobs[0].finish.is_some());
    let received = world.received(NodeId(0)).get();
    assert!((1_000_000..1_100_000).contains(&received), "{received}");
}

/// The client asks at submission and every so often after it. An AppMaster says that its job is over when it has asked
/// the ResourceManager a second time, a heartbeat of a second later; a JobTracker at once.
#[test]
fn the_client_exits_when_it_asks_after_the_end() {
    for generation in GENERATIONS {
        for poll in [1, 5] {
            let mut config = config(generation, vec![with_workload(plain(0.01), 64 * MIB, 1)]);
            config.mapreduce.client_poll = Time::from_secs(poll);
            config.mapreduce.client_start = Time::from_ms(1_700);
            config.mapreduce.jobs[0].submit = Time::from_secs(3);
            let records = finish(&mut World::new(config, Spec::new(3, 1), 1));
            let job = &records.jobs[0];
            let wall = job.client_wall.expect("it has ended");
            let since_submission = wall - Time::from_ms(1_700) - (job.submit - Time::from_secs(3));
            assert_eq!(since_submission.as_ps() % Time::from_secs(poll).as_ps(), 0, "{since_submission:?}");
            let shown = if generation == Generation::Yarn { 1.0 } else { 0.0 };
            let took = (job.finish.expect("ended") - job.submit).as_secs_f64() + shown;
            let waited = since_submission.as_secs_f64() - took;
            // Writing the history takes some milliseconds.
            assert!((0.0..poll as f64 + 0.1).contains(&waited), "{generation:?}: {waited} s");
        }
    }
}
