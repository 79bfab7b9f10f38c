//! Random reads and writes of objects while clients and the store crash and return: everything that was asked ends, its
//! bytes are all there, and nothing is left open.

use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::HdfsConfig;
use hadoop::object_store::{Before, InputPolicy, ObjectStoreConfig, OutputCommitter, Stride};
use hadoop::rpc::Process;
use hadoop::{Config, Event, NodeId, ReadNews, Reader, Service, WriteNews, Writer};
use proptest::prelude::*;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Time};

const CLIENTS: u32 = 4;
const STORE: NodeId = NodeId(CLIENTS + 1);

fn config() -> impl Strategy<Value = ObjectStoreConfig> {
    use InputPolicy::{Prefetch, Random, Sequential};
    use OutputCommitter::{Directory, FileV1, FileV2, Magic};
    let policies = prop::sample::select(vec![Sequential, Random, Prefetch]);
    let committers = prop::sample::select(vec![FileV1, FileV2, Directory, Magic]);
    (policies, committers, 1_u32..4, any::<bool>(), 2_u32..200).prop_map(
        |(policy, committer, connections, disk, limit)| ObjectStoreConfig {
            node: STORE,
            connection_rate: BitRate::from_mbps(80),
            readahead: Bytes::from_mib(1),
            prefetch_block: Bytes::from_mib(2),
            prefetch_count: 3,
            timeout: Time::from_secs(5),
            multipart_size: Bytes::from_mib(5),
            multipart_threshold: Bytes::from_mib(8),
            input_policy: policy,
            committer,
            connections,
            disk_buffer: disk,
            read_limit: limit,
            write_limit: limit,
            ..ObjectStoreConfig::default()
        },
    )
}

#[derive(Debug, Clone)]
enum Act {
    Read { node: u32, from: u64, kib: u64, columns: bool },
    Write { node: u32, mib: u64 },
    Crash { node: u32, ms: u64 },
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let read = (1..=CLIENTS, 0_u64..30_000, 1_u64..20_000, any::<bool>());
    let act = prop_oneof![
        4 => read.prop_map(|(node, from, kib, columns)| Act::Read { node, from, kib, columns }),
        3 => (1..=CLIENTS, 0_u64..24).prop_map(|(node, mib)| Act::Write { node, mib }),
        2 => (1..=STORE.0, 0_u64..20_000).prop_map(|(node, ms)| Act::Crash { node, ms }),
    ];
    prop::collection::vec((0_u64..30_000, act), 1..20)
}

/// What a read is still owed, or a stream has still to append; with its node.
#[derive(Default)]
struct Asked {
    reads: BTreeMap<hadoop::hdfs::ReadId, (NodeId, Bytes)>,
    writes: BTreeMap<hadoop::hdfs::WriteId, (NodeId, Bytes)>,
}

impl Asked {
    fn hear(&mut self, world: &mut World) {
        while !world.news.is_empty() {
            for (_, event) in std::mem::take(&mut world.news) {
                match event {
                    Event::Read { read, news: ReadNews::Progress { bytes, .. }, .. } => {
                        let owed = &mut self.reads.get_mut(&read).expect("a read under way").1;
                        assert!(bytes <= *owed, "more than was asked for");
                        *owed -= bytes;
                        world.drive_platform(|platform| platform.store.take(platform.ctx, read, bytes));
                    }
                    Event::Read { read, news, .. } => {
                        let (_, owed) = self.reads.remove(&read).expect("a read under way");
                        assert!(news == ReadNews::Failed || owed == Bytes::ZERO, "{owed:?} are missing");
                    }
                    Event::Write { write, news: WriteNews::Room, .. } => {
                        let (_, left) = self.writes.get_mut(&write).expect("a stream under way");
                        let bytes = Bytes::from_mib(1).min(*left);
                        *left -= bytes;
                        world.drive_platform(|platform| match bytes {
                            Bytes::ZERO => platform.store.close(platform.ctx, write),
                            bytes => platform.store.append(platform.ctx, write, bytes),
                        });
                    }
                    Event::Write { write, news, .. } => {
                        let (_, left) = self.writes.remove(&write).expect("a stream under way");
                        assert!(news == WriteNews::Failed || left == Bytes::ZERO, "{left:?} are missing");
                    }
                    _ => {}
                }
            }
        }
    }
    fn run_to(&mut self, world: &mut World, until: Time) {
        loop {
            self.hear(world);
            if !world.step(until) {
                break;
            }
        }
        world.now = world.now.max(until);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn everything_ends_and_nothing_is_left_open(object_store in config(), mut acts in acts()) {
        // HDFS is silent.
        let hdfs = HdfsConfig { heartbeat_interval: Time::from_secs(5_000), ..HdfsConfig::default() };
        let config = Config { object_store, ..hdfs_only(hdfs) };
        let mut world = World::new(config, Spec::new(STORE.0, 1), 1);
        let object = world.drive_platform(|platform| platform.store.add_object(Bytes::new(40_000 << 10)));
        let mut asked = Asked::default();
        let mut back = [Time::ZERO; STORE.0 as usize + 1];
        acts.sort_by_key(|(ms, _)| *ms);
        for (ms, act) in acts {
            asked.run_to(&mut world, Time::from_ms(ms));
            match act {
                Act::Read { node, from, kib, columns } if back[node as usize] <= world.now => {
                    let process = Process { node: NodeId(node), id: 9 };
                    let range = (Bytes::new(from << 10), Bytes::new(kib << 10));
                    let stride = Stride { wanted: Bytes::new(300_000), gap: Bytes::new(100_000) };
                    let stride = columns.then_some(stride);
                    let length = range.1.min(Bytes::new(40_000 << 10) - range.0);
                    let owed = stride.map_or(length, |stride| stride.of(length));
                    let id = world.drive_platform(|platform| {
                        platform.store.read(platform.ctx, process, object, range, stride, Reader::Driver(1))
                    });
                    asked.reads.insert(id, (NodeId(node), owed));
                }
                Act::Write { node, mib } if back[node as usize] <= world.now => {
                    let process = Process { node: NodeId(node), id: 9 };
                    let id = world.drive_platform(|platform| {
                        let id = platform.store.create(platform.ctx, process, Before::Nothing, Writer::Driver(1));
                        platform.store.append(platform.ctx, id, Bytes::new(1));
                        id
                    });
                    asked.writes.insert(id, (NodeId(node), Bytes::from_mib(mib)));
                }
                Act::Crash { node, ms } if back[node as usize] <= world.now => {
                    let returns = world.now + Time::from_ms(1 + ms);
                    back[node as usize] = returns + Time::from_ms(1);
                    let now = world.now;
                    world.kill(NodeId(node), now);
                    world.revive(NodeId(node), returns);
                    // Whoever asked on that node is gone.
                    asked.run_to(&mut world, now);
                    asked.reads.retain(|_, (client, _)| client.0 != node);
                    asked.writes.retain(|_, (client, _)| client.0 != node);
                }
                _ => {}
            }
        }
        asked.run_to(&mut world, Time::from_secs(20_000));
        prop_assert!(asked.reads.is_empty() && asked.writes.is_empty(), "{:?} {:?}", asked.reads, asked.writes);
        for node in 1..=CLIENTS {
            world.drive_platform(|platform| platform.store.exit(platform.ctx, Process { node: NodeId(node), id: 9 }));
        }
        asked.run_to(&mut world, Time::from_secs(21_000));
        let store = world.cluster.object_store();
        let done = store.counters();
        prop_assert_eq!(store.under_way(), (Bytes::ZERO, Bytes::ZERO));
        prop_assert_eq!(done.sent, done.received + done.aborted);
        let ends = store.ends();
        prop_assert_eq!(done.requests.iter().sum::<u64>(), ends.iter().map(|(_, count)| count).sum::<u64>());
        prop_assert_eq!(ends[4], ("open", 0));
        prop_assert_eq!(world.cluster.context().connection_count(Service::ObjectStore), 0);
        world.check_messages();
    }
}
