//! The object store and its clients against closed forms.

use crate::jobs::{self, MIB, finish, plain, succeeded, with_workload};
use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::HdfsConfig;
use hadoop::mapreduce::{FileSystem, Generation, JobSpec};
use hadoop::object_store::{Before, InputPolicy, Method, ObjectStoreConfig, OutputCommitter, StoreCounters, Stride};
use hadoop::record::{JobState, Locality, TaskKind};
use hadoop::rpc::Process;
use hadoop::{Config, Event, JobId, NodeId, ObjectId, ReadNews, Reader, WriteNews, Writer};
use units::{BitRate, Bytes, Time};

/// The store answers on a worker that has nothing else to do.
const STORE: NodeId = NodeId(2);
const LATENCY: Time = Time::from_ms(40);
/// 40 MB/s; a node's link carries 125 MB/s.
const RATE: f64 = 40e6;

fn store() -> ObjectStoreConfig {
    ObjectStoreConfig {
        node: STORE,
        latency: LATENCY,
        latency_p99: Time::ZERO,
        connection_rate: BitRate::from_mbps(320),
        disk_buffer: false,
        // Closed forms are of requests; processors have a test of their own.
        start_cpu: Time::ZERO,
        write_start_cpu: Time::ZERO,
        request_cpu: Time::ZERO,
        ..ObjectStoreConfig::default()
    }
}

fn world(object_store: ObjectStoreConfig) -> World {
    let config = Config { object_store, ..hdfs_only(HdfsConfig::default()) };
    World::new(config, Spec::new(3, 1), 1)
}

fn process(id: u32) -> Process {
    Process { node: NodeId(1), id }
}

fn counters(world: &World) -> StoreCounters {
    *world.cluster.object_store().counters()
}

fn requests(world: &World, method: Method) -> u64 {
    counters(world).requests[method as usize]
}

/// What the store sent of bodies has a fate.
fn conserved(world: &World) {
    let (done, (moving, held)) = (counters(world), world.cluster.object_store().under_way());
    assert_eq!(done.sent, done.received + done.aborted + moving);
    let ends: u64 = world.cluster.object_store().ends().iter().map(|(_, count)| count).sum();
    assert_eq!(done.requests.iter().sum::<u64>(), ends);
    // Committers' small files are nobody's bytes here.
    assert!(done.received >= done.read + done.discarded + held);
}

/// Reads ranges of objects side by side, each by a process of its own or all by one, taking what comes at once. The
/// bytes of each read, none for one that failed.
fn read(world: &mut World, ranges: &[(ObjectId, Bytes, Bytes)], one: bool) -> Vec<Option<Bytes>> {
    read_some(world, ranges, one, None)
}

fn read_some(
    world: &mut World,
    ranges: &[(ObjectId, Bytes, Bytes)],
    one: bool,
    stride: Option<Stride>,
) -> Vec<Option<Bytes>> {
    let ids: Vec<_> = (0..)
        .zip(ranges)
        .map(|(number, (object, from, length))| {
            let process = process(if one { 9 } else { 9 + number });
            world.drive_platform(|platform| {
                let owner = Reader::Driver(number.into());
                platform.store.read(platform.ctx, process, *object, (*from, *length), stride, owner)
            })
        })
        .collect();
    let mut got = vec![Some(Bytes::ZERO); ids.len()];
    let mut open = ids.len();
    while open > 0 {
        for (_, event) in std::mem::take(&mut world.news) {
            let Event::Read { read, news, .. } = event else { continue };
            let place = ids.iter().position(|id| *id == read).expect("a read of ours");
            match news {
                ReadNews::Progress { bytes, source } => {
                    assert_eq!(source, STORE);
                    *got[place].as_mut().expect("it goes on") += bytes;
                    world.drive_platform(|platform| platform.store.take(platform.ctx, read, bytes));
                }
                ReadNews::Done => open -= 1,
                ReadNews::Failed => {
                    got[place] = None;
                    open -= 1;
                }
            }
        }
        if world.news.is_empty() && open > 0 {
            assert!(world.step(Time::from_secs(100_000)), "nothing happens any more");
        }
    }
    got
}

fn object(world: &mut World, length: Bytes) -> ObjectId {
    world.drive_platform(|platform| platform.store.add_object(length))
}

/// Writes an object; whether it was closed.
fn write(world: &mut World, length: Bytes) -> bool {
    let id = world
        .drive_platform(|platform| platform.store.create(platform.ctx, process(9), Before::Nothing, Writer::Driver(1)));
    let (mut left, mut room) = (length, true);
    loop {
        if room {
            let bytes = Bytes::from_mib(1).min(left);
            left -= bytes;
            room = false;
            world.drive_platform(|platform| {
                if bytes > Bytes::ZERO {
                    platform.store.append(platform.ctx, id, bytes);
                } else {
                    platform.store.close(platform.ctx, id);
                }
            });
        }
        for (_, event) in std::mem::take(&mut world.news) {
            match event {
                Event::Write { news: WriteNews::Room, .. } => room = true,
                Event::Write { news: WriteNews::Closed, .. } => return true,
                Event::Write { news: WriteNews::Failed, .. } => return false,
                _ => {}
            }
        }
        if !room {
            assert!(world.step(Time::from_secs(100_000)), "nothing happens any more");
        }
    }
}

fn close_to(got: f64, expected: f64, part: f64) {
    assert!((got / expected - 1.0).abs() < part, "{got} against {expected}");
}

/// A request for the length, one for the bytes: two latencies, and the bytes at the connection's rate. Round trips are
/// 0.1 ms here.
#[test]
fn a_read_takes_two_latencies_and_its_bytes_at_the_connection_s_rate() {
    let mut world = world(store());
    let length = Bytes::from_mb(80);
    let object = object(&mut world, length);
    assert_eq!(read(&mut world, &[(object, Bytes::ZERO, length)], true), [Some(length)]);
    close_to(world.now.as_secs_f64(), 2.0 * 0.04 + 80e6 / RATE, 0.005);
    assert_eq!((requests(&world, Method::Head), requests(&world, Method::Get)), (1, 1));
    assert_eq!(counters(&world).connections, 1, "the connection is used again");
    // From the request to the first piece of 128 KiB: a latency, and the piece on a link of 1 Gbit/s, twice.
    close_to(counters(&world).waited_for_first_byte.as_secs_f64(), 0.04 + 131_072.0 * 8e-9, 0.03);
    conserved(&world);
}

/// Sequential: the request goes to the object's end, whatever the reader wants. It gives the connection up, and what
/// was on the way is lost with it. Near the end it is kept.
#[test]
fn a_sequential_read_that_ends_early_costs_its_connection() {
    let mut world = world(store());
    let length = Bytes::from_mib(64);
    let object = object(&mut world, length);
    // The reader stops within a piece of 128 KiB, the rest of which has come for nothing.
    let half = Bytes::from_mib(32) + Bytes::new(1_000);
    for round in 1..=3 {
        assert_eq!(read(&mut world, &[(object, Bytes::ZERO, half)], true), [Some(half)]);
        assert_eq!(counters(&world).connections, round);
        assert_eq!(counters(&world).discarded, Bytes::new(131_072 - 1_000) * round);
    }
    let most = length - Bytes::new(1_000);
    for _ in 0..2 {
        assert_eq!(read(&mut world, &[(object, Bytes::ZERO, most)], true), [Some(most)]);
    }
    assert_eq!(counters(&world).connections, 4);
    conserved(&world);
}

/// A reader that is slower than its connection has a window of the store's bytes before it: what of it lies beyond the
/// end of its split is in vain.
#[test]
fn a_slow_sequential_reader_loses_a_window_at_its_end() {
    let mut world = world(store());
    let (length, half) = (Bytes::from_mib(64), Bytes::from_mib(32));
    let object = object(&mut world, length);
    let id = world.drive_platform(|platform| {
        platform.store.read(platform.ctx, process(9), object, (Bytes::ZERO, half), None, Reader::Driver(0))
    });
    let (mut left, piece) = (half, Bytes::from_mib(1) / 4);
    while left > Bytes::ZERO {
        // 256 KiB in 25 ms; the connection brings them in 7.
        let until = world.now + Time::from_ms(25);
        world.run_to(until);
        if counters(&world).read > half - left {
            world.drive_platform(|platform| platform.store.take(platform.ctx, id, piece));
            left -= piece;
        }
    }
    world.run_to(world.now + Time::from_secs(1));
    let done = counters(&world);
    assert_eq!(done.read, half);
    // Before it took the last 256 KiB the store had sent 1 MiB beyond what it had taken.
    let in_vain = done.discarded + done.aborted;
    let window = Bytes::from_mib(1) - piece;
    assert!(in_vain >= window && in_vain <= window + Bytes::new(131_072), "{in_vain:?}");
    conserved(&world);
}

/// Random: a request for every 64 KiB, one after the other: a latency for each.
#[test]
fn a_random_policy_pays_a_latency_for_every_read_ahead() {
    let mut world = world(ObjectStoreConfig { input_policy: InputPolicy::Random, ..store() });
    let length = Bytes::from_mib(8);
    let object = object(&mut world, length);
    assert_eq!(read(&mut world, &[(object, Bytes::ZERO, length)], true), [Some(length)]);
    assert_eq!(requests(&world, Method::Get), 128);
    close_to(world.now.as_secs_f64(), 129.0 * 0.04 + 128.0 * 65_536.0 * 8e-9 * 2.0, 0.02);
    assert_eq!(counters(&world).discarded, Bytes::ZERO);
    conserved(&world);
}

/// Prefetching: with four blocks at once 4 x 25 MB/s; with eight the link's 125 MB/s.
#[test]
fn prefetched_blocks_come_side_by_side() {
    for (count, rate) in [(1, 25e6), (4, 100e6), (8, 125e6)] {
        let mut world = world(ObjectStoreConfig {
            input_policy: InputPolicy::Prefetch,
            prefetch_count: count,
            connection_rate: BitRate::from_mbps(200),
            latency: Time::from_ms(1),
            ..store()
        });
        let length = Bytes::from_mib(256);
        let object = object(&mut world, length);
        assert_eq!(read(&mut world, &[(object, Bytes::ZERO, length)], true), [Some(length)]);
        assert_eq!(requests(&world, Method::Get), 32);
        close_to(world.now.as_secs_f64(), length.get() as f64 / rate, 0.04);
        conserved(&world);
    }
}

/// Vectored reads of 512 KiB in each 2 MiB, four ranges at once: the gaps are too long to be read over, so that 16
/// ranges of 32 MiB make four rounds of a latency and a range. With gaps of 64 KiB ranges are merged: of 512 KiB and
/// the gaps between them three make 1.625 MiB and a fourth would be more than 2 MiB; 57 stretches are 19 requests.
#[test]
fn vectored_reads_ask_for_ranges_side_by_side() {
    let kib = |count: u64| Bytes::new(count << 10);
    let range = kib(512);
    for (gap, ranges, discarded) in [(kib(1_536), 16, Bytes::ZERO), (kib(64), 19, kib(64) * (57 - 19))] {
        let mut world = world(store());
        let length = Bytes::from_mib(32);
        let object = object(&mut world, length);
        let stride = Stride { wanted: range, gap };
        let wanted = stride.of(length);
        assert_eq!(read_some(&mut world, &[(object, Bytes::ZERO, length)], true, Some(stride)), [Some(wanted)]);
        // 32 MiB are 16 stretches of 2 MiB; or 56 of 576 KiB and one that ends with the object.
        assert_eq!(wanted, range * if ranges == 16 { 16 } else { 57 });
        assert_eq!((requests(&world, Method::Get), counters(&world).discarded), (ranges, discarded));
        if ranges == 16 {
            // Four at once on a link that is faster than all of them.
            close_to(world.now.as_secs_f64(), 5.0 * 0.04 + 4.0 * 524_288.0 / RATE, 0.06);
        }
        conserved(&world);
    }
}

/// Amazon's guideline: a network card of 10 Gbit/s is saturated by about 15 requests at once, for ranges of 8 to 16 MB
/// (Amazon S3 User Guide, "Performance design patterns": a request carries 85 to 90 MB/s). So with 15 the card bounds
/// them, with 10 their connections do. Equal latencies make rounds of requests: each takes the longer of the time on
/// the link, with 40 bytes of headers for each 1,460, and the time at 87.5 MB/s; and a latency, in which the link is
/// idle.
#[test]
fn fifteen_requests_saturate_ten_gigabit() {
    let share = |requests: u32| {
        let object_store = ObjectStoreConfig {
            node: STORE,
            input_policy: InputPolicy::Prefetch,
            prefetch_block: Bytes::from_mib(16),
            prefetch_count: requests,
            latency_p99: Time::ZERO,
            request_cpu: Time::ZERO,
            ..ObjectStoreConfig::default()
        };
        let config = Config { object_store, ..hdfs_only(HdfsConfig::default()) };
        let spec = Spec { rate: BitRate::from_gbps(10), ..Spec::new(3, 1) };
        let mut world = World::new(config, spec, 1);
        let length = Bytes::from_mib(16 * 15 * 32);
        let object = object(&mut world, length);
        assert_eq!(read(&mut world, &[(object, Bytes::ZERO, length)], true), [Some(length)]);
        length.get() as f64 * 8.0 / world.now.as_secs_f64() / 10e9
    };
    for (requests, on_link) in [(10, false), (15, true), (20, true)] {
        let block = 16.0 * 1_048_576.0;
        let bits = f64::from(requests) * block * 8.0;
        let (link, connection) = (bits * 1_500.0 / 1_460.0 / 10e9, block / 87.5e6);
        assert_eq!(link > connection, on_link, "{requests}");
        close_to(share(requests), bits / 10e9 / (link.max(connection) + 0.030), 0.02);
    }
}

/// Six readers of one process with two connections: three rounds of two.
#[test]
fn a_pool_smaller_than_its_readers_makes_rounds() {
    let mut world = world(ObjectStoreConfig { connections: 2, ..store() });
    let length = Bytes::from_mb(40);
    let object = object(&mut world, length);
    let got = read(&mut world, &[(object, Bytes::ZERO, length); 6], true);
    assert_eq!(got, [Some(length); 6]);
    // Twelve requests on two connections, six of them of a second.
    close_to(world.now.as_secs_f64(), 6.0 * 0.04 + 3.0 * 1.0, 0.01);
    assert_eq!(counters(&world).connections, 2);
    assert!(counters(&world).waited_for_connection > Time::from_secs(5));
}

/// 400 readers make 800 requests at a prefix that takes 100 a second and saves up 50: 7.5 s at least. What comes too
/// soon is told to slow down and comes again. Two prefixes take half of that.
#[test]
fn a_prefix_takes_its_limit_and_tells_the_rest_to_slow_down() {
    let took = |prefixes: u32| {
        let mut world = world(ObjectStoreConfig {
            read_limit: 100,
            limit_window: Time::from_ms(500),
            prefixes,
            latency: Time::from_ms(1),
            ..store()
        });
        let length = Bytes::new(10_000);
        let ranges: Vec<_> = (0..400).map(|_| (object(&mut world, length), Bytes::ZERO, length)).collect();
        assert!(read(&mut world, &ranges, false).iter().all(|got| *got == Some(length)));
        let done = counters(&world);
        assert_eq!(done.answered, 800);
        assert_eq!(done.requests.iter().sum::<u64>(), 800 + done.throttled);
        assert!(done.throttled > 400 && done.backed_off > Time::from_secs(100), "{done:?}");
        assert_eq!(done.given_up, 0);
        world.now.as_secs_f64()
    };
    let (one, two) = (took(1), took(2));
    // Pauses grow, so that the last few find the prefix idle.
    assert!((7.5..16.0).contains(&one), "{one}");
    assert!((3.0..one * 0.8).contains(&two), "{two}");
}

/// A client that gives up after its attempts fails its read.
#[test]
fn throttling_beyond_all_attempts_fails_the_read() {
    let mut world = world(ObjectStoreConfig {
        read_limit: 1,
        limit_window: Time::ZERO,
        sdk_attempts: 1,
        throttle_limit: 2,
        throttle_interval: Time::from_ms(1),
        ..store()
    });
    let length = Bytes::new(10_000);
    let object = object(&mut world, length);
    let got = read(&mut world, &[(object, Bytes::ZERO, length); 3], false);
    assert_eq!(got, [None; 3]);
    assert_eq!(counters(&world).given_up, 3);
}

/// Eight parts of 8 MiB at 20 MB/s each: four at once are two rounds, one at once eight, and with one connection eight
/// as well. Around them: a listing, the upload's beginning and its end.
#[test]
fn parts_of_an_upload_go_side_by_side() {
    let part = 8.0 * 1_048_576.0 / 20e6;
    for (blocks, connections, rounds) in [(4, 500, 2.0), (1, 500, 8.0), (4, 1, 8.0), (8, 500, 1.3)] {
        let mut world = world(ObjectStoreConfig {
            multipart_size: Bytes::from_mib(8),
            active_blocks: blocks,
            connections,
            connection_rate: BitRate::from_mbps(160),
            committer: OutputCommitter::Magic,
            latency: Time::from_ms(2),
            ..store()
        });
        assert!(write(&mut world, Bytes::from_mib(64)));
        // 8 x 20 MB/s are more than the link's 125 MB/s: 1.28 rounds. Around them 16 requests one after the other: two
        // looks, a listing, a marker and the upload's beginning; a marker, three small files, three listings, two looks
        // and two deletions.
        close_to(world.now.as_secs_f64(), rounds * part + 16.0 * 0.002, 0.06);
        let done = counters(&world);
        // Two markers, what is pending, the task's list of it.
        assert_eq!(requests(&world, Method::Put), 8 + 4);
        assert_eq!(done.stored, Bytes::from_mib(64) + Bytes::new(8_000));
        assert_eq!(requests(&world, Method::Post), 2, "it begins, and deletes; the job completes the upload");
    }
}

/// A stream that ends within its first block is one PUT.
#[test]
fn a_small_object_is_one_put() {
    let mut world = world(ObjectStoreConfig { committer: OutputCommitter::FileV2, ..store() });
    assert!(write(&mut world, Bytes::from_mib(1)));
    let kinds = Method::ALL.map(|method| requests(&world, method));
    // As Hadoop 3.5.0 asked for its reducer 1: `recorded/s3a/file-v2.tsv`.
    assert_eq!(kinds, [0, 9, 8, 2, 0, 1, 1]);
    // A latency each, the body at 40 MB/s, the copy at 10 MB/s.
    close_to(world.now.as_secs_f64(), 21.0 * 0.04 + 1_048_576.0 / RATE + 1_048_576.0 / 10e6, 0.03);
}

/// A renamed object is copied by the store: 64 MiB in one piece at 10 MB/s; 256 MiB in four parts, all at once, in the
/// time of one.
#[test]
fn a_rename_takes_the_store_s_copy() {
    let took = |committer: OutputCommitter, mib: u64| {
        let mut world = world(ObjectStoreConfig { committer, latency: Time::from_ms(1), ..store() });
        assert!(write(&mut world, Bytes::from_mib(mib)));
        assert_eq!(counters(&world).copied.get() > 0, committer == OutputCommitter::FileV2);
        world.now.as_secs_f64()
    };
    let part = 64.0 * 1_048_576.0;
    for mib in [100, 256] {
        let more = took(OutputCommitter::FileV2, mib) - took(OutputCommitter::Magic, mib);
        let copied = if mib == 100 { 100.0 * 1_048_576.0 } else { part };
        close_to(more, copied / 10e6, 0.03);
    }
}

/// The store's node goes down for a while in mid-read: the reader asks again for what it has not got.
#[test]
fn a_read_goes_on_where_it_broke_off() {
    let mut world = world(store());
    let length = Bytes::from_mb(80);
    let object = object(&mut world, length);
    world.kill(STORE, Time::from_secs(1));
    world.revive(STORE, Time::from_secs(20));
    assert_eq!(read(&mut world, &[(object, Bytes::ZERO, length)], true), [Some(length)]);
    let done = counters(&world);
    assert!(done.retries >= 1 && done.given_up == 0, "{done:?}");
    assert_eq!(done.read, length);
    assert!(world.now > Time::from_secs(21));
}

/// Four reducers write some 16 MiB each. With algorithm 1 the AppMaster merges each file in turn, by 14 requests of
/// which one copies; with S3A's committers it completes the uploads side by side. How many requests these are was
/// counted at a server (`recorded/s3a`). A latency for each, and what was written at 10 MB/s, one copy after the other.
#[test]
fn a_job_s_commit_takes_what_its_committer_asks_for() {
    let latency = LATENCY.as_secs_f64();
    // Around them: the temporary folder is looked for, listed, deleted and listed (5), _SUCCESS is written (2).
    let cases = [
        (OutputCommitter::FileV1, 32, (1.0 + 4.0 * 14.0 + 7.0) * latency),
        (OutputCommitter::FileV2, 32, 7.0 * latency),
        // Four POSTs at once or in turn, _SUCCESS, a look, uploads that are left.
        (OutputCommitter::Directory, 32, 5.0 * latency),
        (OutputCommitter::Directory, 1, 8.0 * latency),
        // A listing, a GET for each of six tasks, four POSTs, _SUCCESS, and nine to clean up.
        (OutputCommitter::Magic, 32, 13.0 * latency),
        (OutputCommitter::Magic, 2, 16.0 * latency),
    ];
    for (committer, threads, expected) in cases {
        let mut world = job_world(&ObjectStoreConfig { committer, committer_threads: threads, ..store() });
        let records = finish(&mut world);
        let job = &records.jobs[0];
        assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
        let (commit, finish) = (job.commit.expect("a commit"), job.finish.expect("an end"));
        let written: Bytes = succeeded(&records, TaskKind::Reduce).iter().map(|reduce| reduce.bytes.output).sum();
        let copied = if committer == OutputCommitter::FileV1 { written } else { Bytes::ZERO };
        let expected = expected + copied.get() as f64 / 10e6;
        // Of it a handshake and some round trips of 0.1 ms.
        let took = (finish - commit).as_secs_f64();
        assert!((expected..expected * 1.01 + 0.002).contains(&took), "{committer:?}: {took} against {expected}");
        let read: Bytes = succeeded(&records, TaskKind::Map).iter().map(|map| map.bytes.read_store).sum();
        assert_eq!((job.maps, read), (2, Bytes::from_mib(64)));
        assert!(counters(&world).stored >= written, "{:?} of {written:?}", counters(&world).stored);
        assert!(succeeded(&records, TaskKind::Map).iter().all(|map| map.locality == Some(Locality::Rack)));
        conserved(&world);
    }
}

/// Hadoop 3.5.0's requests, as a server logged them, are what the model asks for, kind by kind: word counts of three
/// maps and two reducers, and TeraSorts of two and two. Fields of a line: kind, status, bytes in, out and copied,
/// client, S3A's operation, attempt, path.
#[test]
fn jobs_ask_for_what_hadoop_s_did() {
    use OutputCommitter::{Directory, FileV1, FileV2, Magic};
    let counts = [
        (FileV1, include_str!("../recorded/s3a/file-v1.tsv")),
        (FileV2, include_str!("../recorded/s3a/file-v2.tsv")),
        (Directory, include_str!("../recorded/s3a/directory.tsv")),
        (Magic, include_str!("../recorded/s3a/magic.tsv")),
    ]
    .map(|(committer, log)| (committer, log, 24, Bytes::ZERO));
    let sorts = [
        (FileV2, include_str!("../recorded/s3a/terasort-file-v2.tsv")),
        (Directory, include_str!("../recorded/s3a/terasort-directory.tsv")),
        (Magic, include_str!("../recorded/s3a/terasort-magic.tsv")),
    ]
    .map(|(committer, log)| (committer, log, 16, Bytes::from_mb(10)));
    for (committer, log, input, sample) in counts.into_iter().chain(sorts) {
        let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split('\t').collect()).collect();
        let sorts = sample > Bytes::ZERO;
        let real = Method::ALL.map(|method| {
            // A second attempt at a map was started and killed: its folder was looked for, in the log of algorithm 2.
            let own = lines.iter().filter(|line| line[0] == method.name() && !line[8].ends_with("_m_000002_1"));
            let killed = u64::from(committer == FileV2 && method == Method::List && !sorts);
            // The folder in which tasks' folders are gets a marker by the last that leaves it; the model has none.
            let marker = u64::from(committer == FileV1 && method == Method::Put);
            own.count() as u64 - killed - marker
        });
        let spec = JobSpec {
            input_store: FileSystem::ObjectStore,
            output_store: FileSystem::ObjectStore,
            sample,
            ..with_workload(plain(0.01), input * MIB, 2)
        };
        let object_store = ObjectStoreConfig { node: NodeId(0), block_size: Bytes::from_mib(8), committer, ..store() };
        let config = Config { object_store, ..jobs::config(Generation::Yarn, vec![spec]) };
        // The tasks of the sort ran on both of two workers.
        let mut world = World::new(config, Spec::new(if sorts { 2 } else { 4 }, 1), 1);
        let records = finish(&mut world);
        assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
        assert_eq!(Method::ALL.map(|method| requests(&world, method)), real, "{committer:?}: get, head, list, ...");
        conserved(&world);
    }
}

/// A list of partitions is the first that a NodeManager gets from the store, and it loads S3A for it: the AppMaster of
/// the first job waits for that, the second job's does not.
#[test]
fn a_node_loads_s3a_for_its_first_list_of_partitions() {
    let sort = |submit: u64| JobSpec {
        input_store: FileSystem::ObjectStore,
        output_store: FileSystem::ObjectStore,
        sample: Bytes::from_mb(10),
        submit: Time::from_secs(submit),
        ..with_workload(plain(0.01), 16 * MIB, 2)
    };
    let object_store = ObjectStoreConfig { node: NodeId(0), start_cpu: Time::from_secs(20), ..store() };
    let config = Config { object_store, ..jobs::config(Generation::Yarn, vec![sort(0), sort(2_000)]) };
    // One worker.
    let records = finish(&mut World::new(config, Spec::new(2, 1), 1));
    let [first, second] = [0, 1].map(|job| {
        let record = &records.jobs[job];
        (record.launch.expect("launched") - record.master_start.expect("started")).as_secs_f64()
    });
    // The AppMaster loads S3A, too, since it commits, beside its JVM and itself (2.5 s).
    assert!((20.0..24.0).contains(&second) && (first - second - 20.0).abs() < 0.5, "{first} and {second}");
}

/// An AppMaster makes its output's folders before its tasks exist: with 3 s of work for the first request they miss
/// three more of its heartbeats, which come every second. The one that is lost in it leaves it to the next.
#[test]
fn tasks_wait_for_the_folders_of_their_output() {
    let slow = ObjectStoreConfig { write_start_cpu: Time::from_secs(3), ..store() };
    let waited = |records: &hadoop::record::Records| {
        let first = records.attempts.iter().map(|attempt| attempt.start).min().expect("an attempt");
        (first - records.jobs[0].launch.expect("a launch")).as_secs_f64()
    };
    // Nine requests take 0.4 s.
    for (config, expected) in [(store(), 2.0), (slow.clone(), 5.0)] {
        let took = waited(&finish(&mut job_world(&config)));
        assert!((expected..expected + 0.1).contains(&took), "{took} for {expected}");
    }
    let mut world = job_world(&slow);
    assert!(world.run_until(Time::from_secs(100), |world| world.cluster.records().jobs[0].launch.is_some()));
    let launch = world.cluster.records().jobs[0].launch.expect("a launch");
    let master = world.cluster.master_node(JobId(0)).expect("a master");
    world.kill(master, launch + Time::from_secs(1));
    let records = finish(&mut world);
    assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
    // Ten minutes until the node is missed.
    assert!(waited(&records) > 600.0);
}

/// Each of a read's two requests takes its client 0.1 s of work. After hundreds a request takes a third of that.
#[test]
fn a_request_takes_its_client_s_processor() {
    let took = |request_cpu: Time| {
        let mut world = world(ObjectStoreConfig { request_cpu, ..store() });
        let length = Bytes::from_mib(1);
        let object = object(&mut world, length);
        read(&mut world, &[(object, Bytes::ZERO, length)], true);
        world.now.as_secs_f64()
    };
    let longer = took(Time::from_ms(100)) - took(Time::ZERO);
    assert!((longer - 0.2).abs() < 0.001, "{longer} s");
    let config = ObjectStoreConfig::default();
    let part = |made: u32| config.cpu_of(made).as_secs_f64() / config.request_cpu.as_secs_f64();
    assert_eq!((part(0), part(30)), (1.0, 1.0));
    assert!((part(34 * 8) - 0.5).abs() < 1e-6 && (0.3..0.34).contains(&part(1_190)) && part(100_000) == part(1_190));
}

/// The AppMaster's node dies in mid-commit: the next AppMaster commits from the beginning.
#[test]
fn a_lost_app_master_s_commit_is_made_again() {
    let config = ObjectStoreConfig { committer: OutputCommitter::FileV1, ..store() };
    let records = finish(&mut job_world(&config));
    let began = records.jobs[0].commit.expect("a commit");
    let mut world = job_world(&config);
    assert!(world.run_until(began + Time::from_secs(1), |world| world.cluster.records().jobs[0].commit.is_some()));
    let master = world.cluster.master_node(JobId(0)).expect("a master");
    world.kill(master, began + Time::from_secs(2));
    let records = finish(&mut world);
    assert_eq!(records.jobs[0].state, JobState::Succeeded, "{}", records.jobs[0].reason);
    assert!(records.jobs[0].finish > Some(began + Time::from_secs(60)));
}

/// A job over 64 MiB in two blocks with four reducers; the store answers on the master's node.
fn job_world(object_store: &ObjectStoreConfig) -> World {
    let spec = JobSpec {
        input_store: FileSystem::ObjectStore,
        output_store: FileSystem::ObjectStore,
        ..with_workload(plain(0.01), 64 * MIB, 4)
    };
    let object_store = ObjectStoreConfig { node: NodeId(0), ..object_store.clone() };
    let config = Config { object_store, ..jobs::config(Generation::Yarn, vec![spec]) };
    World::new(config, Spec::new(4, 1), 1)
}

/// A seed decides the latencies: two runs of one seed end alike, another seed's end otherwise.
#[test]
fn latencies_are_drawn_by_the_seed() {
    let run = |seed: u64| {
        let object_store = ObjectStoreConfig { latency_p99: Time::from_ms(400), ..store() };
        let config = Config { object_store, ..hdfs_only(HdfsConfig::default()) };
        let mut world = World::new(config, Spec::new(3, 1), seed);
        let length = Bytes::new(1_000);
        let ranges: Vec<_> = (0..500).map(|_| (object(&mut world, length), Bytes::ZERO, length)).collect();
        read(&mut world, &ranges, false);
        (world.digest, counters(&world))
    };
    let (first, again, other) = (run(1), run(1), run(2));
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
    // A log-normal of median 40 ms and 99th percentile 400 ms has sigma = ln 10 / 2.326 = 0.990 and mean
    // 40 ms x exp(sigma^2 / 2) = 65.3 ms; of 500 draws the mean is off by 8 % or less two times in three.
    let mean = first.1.waited_for_first_byte.as_secs_f64() / 500.0;
    assert!((0.052..0.082).contains(&mean), "{mean}");
}
