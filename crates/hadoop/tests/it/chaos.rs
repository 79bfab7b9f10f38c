//! Random reads, writes, crashes and returns: whatever happens, everything that was asked ends, nothing is lost or
//! counted twice, and the file system is whole again in the end.

use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::{FileId, HdfsConfig, ReadId, WriteId};
use hadoop::rpc::Process;
use hadoop::{Config, Event, NodeId, ReadNews, Reader, Service, WriteNews, Writer};
use proptest::prelude::*;
use std::collections::BTreeMap;
use units::{Bytes, Time};

const WORKERS: u32 = 6;

/// Small blocks and short timeouts, so that much happens in little time.
fn config() -> Config {
    let hdfs = HdfsConfig {
        block_size: Bytes::from_mib(8),
        heartbeat_interval: Time::from_secs(1),
        recheck_interval: Time::from_secs(5),
        socket_timeout: Time::from_secs(5),
        timeout_extension: Time::from_ms(500),
        ..HdfsConfig::default()
    };
    hdfs_only(hdfs)
}

#[derive(Debug, Clone)]
enum Act {
    Write { node: u32, mib: u64 },
    Read { node: u32, block: usize },
    Crash { node: u32, ms: u64 },
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let act = prop_oneof![
        3 => (0..=WORKERS, 1_u64..40).prop_map(|(node, mib)| Act::Write { node, mib }),
        3 => (0..=WORKERS, 0_usize..12).prop_map(|(node, block)| Act::Read { node, block }),
        2 => (1..=WORKERS, 0_u64..40_000).prop_map(|(node, ms)| Act::Crash { node, ms }),
    ];
    prop::collection::vec((0_u64..60_000, act), 1..25)
}

#[derive(Default)]
struct Asked {
    writes: BTreeMap<WriteId, (NodeId, FileId, Bytes)>,
    reads: BTreeMap<ReadId, (NodeId, Bytes, Bytes)>,
    written: Vec<(FileId, Bytes)>,
}

impl Asked {
    /// Takes the news; answers to what was never asked, or has ended, fail.
    fn hear(&mut self, world: &mut World) {
        for (_, event) in std::mem::take(&mut world.news) {
            match event {
                Event::Write { write, news: WriteNews::Closed, .. } => {
                    let (_, file, length) = self.writes.remove(&write).expect("a stream under way");
                    self.written.push((file, length));
                }
                Event::Write { write, news: WriteNews::Failed, .. } => {
                    self.writes.remove(&write).expect("a stream under way");
                }
                Event::Read { read, news: ReadNews::Progress { bytes, .. }, .. } => {
                    self.reads.get_mut(&read).expect("a read under way").2 += bytes;
                    world.drive(|ctx, hdfs| hdfs.take(ctx, read, bytes));
                }
                Event::Read { read, news: ReadNews::Done, .. } => {
                    let (_, asked, got) = self.reads.remove(&read).expect("a read under way");
                    assert_eq!(asked, got);
                }
                Event::Read { read, news: ReadNews::Failed, .. } => {
                    self.reads.remove(&read).expect("a read under way");
                }
                _ => {}
            }
        }
    }

    fn run_to(&mut self, world: &mut World, at: Time) {
        while world.step(at) {
            if !world.news.is_empty() {
                self.hear(world);
            }
            let up = |node: &NodeId| world.is_up(*node);
            self.writes.retain(|_, (node, ..)| up(node));
            self.reads.retain(|_, (node, ..)| up(node));
        }
        world.now = world.now.max(at);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn everything_ends_and_nothing_is_lost(acts in acts(), seed in any::<u64>()) {
        let mut acts = acts;
        acts.sort_by_key(|(at, _)| *at);
        let spec = Spec { retries: 1, ..Spec::new(WORKERS, 2) };
        let mut world = World::new(config(), spec, seed);
        let mut asked = Asked::default();
        let file = world.drive(|ctx, hdfs| hdfs.add_file(ctx, Bytes::from_mib(8) * 12, Bytes::from_mib(8), 3, None));
        let blocks = world.cluster.hdfs().namespace().file(file).blocks.clone();
        let mut back = [Time::ZERO; WORKERS as usize + 1];
        for (at, act) in acts {
            asked.run_to(&mut world, Time::from_ms(at));
            match act {
                Act::Write { node, mib } if world.is_up(NodeId(node)) => {
                    let process = Process { node: NodeId(node), id: 9 };
                    let length = Bytes::from_mib(mib);
                    let (id, file) = world.drive(|ctx, hdfs| {
                        let id = hdfs.create(ctx, process, Bytes::from_mib(8), 3, Writer::Driver(1));
                        hdfs.append(ctx, id, length);
                        hdfs.close(ctx, id);
                        (id, hdfs.file_of(id).expect("an open stream"))
                    });
                    asked.writes.insert(id, (NodeId(node), file, length));
                }
                Act::Read { node, block } if world.is_up(NodeId(node)) => {
                    let process = Process { node: NodeId(node), id: 9 };
                    let length = Bytes::from_mib(8);
                    let (block, reader) = (blocks[block], Reader::Driver(1));
                    let id = world.drive(|ctx, hdfs| hdfs.read(ctx, process, block, Bytes::ZERO, length, reader));
                    asked.reads.insert(id, (NodeId(node), length, Bytes::ZERO));
                }
                Act::Crash { node, ms } if back[node as usize] <= world.now => {
                    let returns = world.now + Time::from_ms(1 + ms);
                    back[node as usize] = returns + Time::from_ms(1);
                    let now = world.now;
                    world.kill(NodeId(node), now);
                    world.revive(NodeId(node), returns);
                }
                _ => {}
            }
            let now = world.now;
            asked.run_to(&mut world, now);
        }
        asked.run_to(&mut world, Time::from_secs(1_000));
        prop_assert!(asked.writes.is_empty() && asked.reads.is_empty(), "{:?} {:?}", asked.writes, asked.reads);
        let namespace = world.cluster.hdfs().namespace();
        for (file, length) in asked.written.iter().copied().chain([(file, Bytes::from_mib(96))]) {
            prop_assert!(namespace.file(file).complete);
            prop_assert_eq!(namespace.length(file), length);
            for block in &namespace.file(file).blocks {
                prop_assert_eq!(namespace.block(*block).replicas.len(), 3, "{:?}", block);
            }
        }
        let lacking = world.cluster.hdfs().lacking();
        prop_assert!(lacking.is_empty(), "{:?}", lacking.iter().map(|b| namespace.block(*b)).collect::<Vec<_>>());
        world.check_messages();
        // What stays open is one connection of each DataNode, NodeManager and client process to the master.
        prop_assert_eq!(world.cluster.context().connection_count(Service::DataTransfer), 0);
        prop_assert!(world.cluster.context().connection_count(Service::Rpc) <= 3 * WORKERS as usize + 1);
    }
}
