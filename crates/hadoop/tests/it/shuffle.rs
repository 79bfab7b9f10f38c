//! The shuffle service under a fetcher that is not a reduce of MapReduce, by hand.
//!
//! Two outputs of 1,000,000 bytes each lie on worker 1, and worker 2 fetches all of both. Disks read 1 GB/s, links
//! carry 1 Gbit/s, the network takes 50 us. An output is 16 segments of at most 65,483 bytes with 40 bytes of headers
//! each: 1,000,640 bytes on the wire.

use crate::support::{Spec, World, hdfs_only};
use hadoop::hdfs::HdfsConfig;
use hadoop::shuffle::{Batch, News, Wanted};
use hadoop::yarn::{ApplicationSpec, Resources};
use hadoop::{ApplicationId, DiskStream, Event, Fetcher, Framework, NodeId, OutputId, Service};
use units::{Bytes, Time};

const HOST: NodeId = NodeId(1);
const CLIENT: NodeId = NodeId(2);
const OUTPUT: Bytes = Bytes::new(1_000_000);
const FETCHER: u64 = 5;

struct Run {
    world: World,
    application: ApplicationId,
    outputs: [OutputId; 2],
}

impl Run {
    /// Both outputs are named; the first so many are there.
    fn new(published: usize) -> Self {
        Self::standing_for(published, 1)
    }
    /// The fetch stands for so many requests.
    fn standing_for(published: usize, requests: u32) -> Self {
        let never = Time::from_secs(10_000_000);
        let silent = HdfsConfig { heartbeat_interval: never, block_report_interval: never, ..HdfsConfig::default() };
        let mut world = World::new(hdfs_only(silent), Spec::new(2, 1), 1);
        let master = Resources { memory: Bytes::ZERO, vcores: 0 };
        let framework = Framework::Driver(1);
        let spec = ApplicationSpec { framework, submit: Time::ZERO, weight: 1.0, master, max_attempts: 1 };
        let (application, outputs) = world.drive_platform(|platform| {
            let outputs = [0, 1].map(|map| platform.shuffle.add_output(map, HOST));
            for (file, &output) in (1..).zip(&outputs).take(published) {
                platform.shuffle.publish(output, 0, DiskStream { file, part: 0 }, OUTPUT);
            }
            (platform.yarn.add_application(spec), outputs)
        });
        let mut run = Self { world, application, outputs };
        run.world.drive_platform(|platform| {
            let wanted =
                outputs.map(|output| Wanted { output, start: Bytes::ZERO, bytes: OUTPUT, outputs: 1 }).to_vec();
            let fetcher = Fetcher::Driver(FETCHER);
            let batch = Batch { application, fetcher, part: 1, client: CLIENT, host: HOST, wanted, requests };
            platform.shuffle.start(platform.ctx, batch);
        });
        run
    }
    /// What the fetcher was told up to a time.
    fn told_until(&mut self, until: Time) -> Vec<(Time, News)> {
        self.world.run_to(until);
        let news = |(at, event)| match event {
            Event::Shuffle { fetcher: FETCHER, news } => (at, news),
            other => panic!("{other:?}"),
        };
        std::mem::take(&mut self.world.news).into_iter().map(news).collect()
    }
    /// Bytes served, received in vain, and under way.
    fn bytes(&mut self) -> (u64, u64, u64) {
        let application = self.application;
        self.world.drive_platform(|platform| {
            let totals = platform.shuffle.totals(application);
            (totals.served.get(), totals.aborted.get(), platform.shuffle.in_flight(application).get())
        })
    }
}

/// When the request is at the host: the handshake takes 100 us and 0.48 us for a SYN on each of four links, the request
/// of 420 + 2 x 36 bytes and its header 4.256 us on each of two links and 50 us.
const ASKED: u64 = 100_000 + 4 * 480 + 2 * 4_256 + 50_000;
/// An output is a million bytes in 685 segments with 40 bytes of headers each; its last one takes the second link, too.
const SENT: u64 = 8_219_200;
const THERE: u64 = 12_000 + 50_000;

/// Two times are the same nanosecond, or neighbours.
fn close(found: Time, expected: Time) -> bool {
    found.saturating_sub(expected).max(expected.saturating_sub(found)) <= Time::from_ns(1)
}

/// The header of an output leaves before the disk has read it, in 1 ms. The second output is read while the first
/// leaves, and follows it; its header is there with the end of the first.
#[test]
fn a_batch_arrives_in_order() {
    let mut run = Run::new(2);
    let told = run.told_until(Time::from_secs(1));
    let [first, second] = run.outputs;
    let begins = |(_, news): &(Time, News)| matches!(news, News::Begins { bytes: OUTPUT, .. });
    assert!(begins(&told[0]) && begins(&told[2]), "{told:?}");
    let arrived = |output| News::Arrived { host: HOST, output, bytes: OUTPUT };
    let first_at = Time::from_ns(ASKED + 1_000_000 + SENT + THERE);
    let second_at = first_at + Time::from_ns(SENT);
    let expected =
        [(1, first_at, arrived(first)), (3, second_at, arrived(second)), (4, second_at, News::Finished { host: HOST })];
    for (place, at, news) in expected {
        assert!(close(told[place].0, at) && told[place].1 == news, "{told:?}, not {news:?} at {at}");
    }
    assert_eq!(told.len(), 5);
    assert_eq!(run.bytes(), (2_000_000, 0, 0));
    assert_eq!(run.world.cluster.context().connection_count(Service::Shuffle), 0);
}

/// A fetch that stands for a million requests waits as long as two handshakes take for each of the others, which is 204 s,
/// and the host is not taken for silent after 180 s.
#[test]
fn a_fetch_that_stands_for_many_waits_for_the_others() {
    let mut run = Run::standing_for(2, 1_000_000);
    let told = run.told_until(Time::from_secs(290));
    let handshake = 100_000e-9 + 4.0 * 480e-9;
    let others = 2.0 * 999_999.0 * handshake;
    let done = told.last().expect("news");
    assert_eq!(done.1, News::Finished { host: HOST }, "{told:?}");
    // The request has the lines of all of them, in segments of 1,460 bytes; then come both outputs.
    let request = 1_000_000.0 * 420.0 * (1.0 + 40.0 / 1_460.0) * 8.0 / 1e9;
    let outputs = 2.0 * SENT as f64 / 1e9;
    let (found, expected) = (done.0.as_secs_f64(), others + request + outputs);
    assert!((found - expected).abs() < 0.005, "{found} s, not {expected} s");
}

/// The host says that it does not have the second: the first stands, and the second is the fetcher's to ask for again.
#[test]
fn an_output_that_is_not_there_is_said_to_be_missing() {
    let mut run = Run::new(1);
    let told = run.told_until(Time::from_secs(1));
    assert!(matches!(told[1].1, News::Arrived { output, .. } if output == run.outputs[0]), "{told:?}");
    let outputs = vec![run.outputs[1]];
    assert_eq!(told[2].1, News::Failed { host: HOST, outputs, missing: true });
    assert_eq!((told.len(), run.bytes()), (3, (1_000_000, 0, 0)));
}

/// The host dies while it sends the second output: after 180 s without a byte that has failed.
#[test]
fn a_host_that_dies_fails_what_has_not_arrived() {
    let mut run = Run::new(2);
    // The first has left after 9.380 ms and is there after 9.442 ms.
    let dies = Time::from_us(9_500);
    run.world.kill(HOST, dies);
    let told = run.told_until(Time::from_secs(250));
    assert!(matches!(told[1].1, News::Arrived { output, .. } if output == run.outputs[0]), "{told:?}");
    let outputs = vec![run.outputs[1]];
    let failed = News::Failed { host: HOST, outputs, missing: false };
    assert_eq!(told[3..], [(dies + Time::from_secs(180), failed)]);
    // The host had read and handed over the second, which was in vain.
    assert_eq!(run.bytes(), (2_000_000, 1_000_000, 0));
}

/// A fetcher that has no room for the second output when that begins gives the fetch up: the bytes that the host had
/// sent by then were in vain.
#[test]
fn what_is_given_up_is_sent_in_vain() {
    let mut run = Run::new(2);
    // A nanosecond after the end of the first.
    let second_begins = Time::from_ns(ASKED + 1_000_000 + SENT + THERE + 1);
    let told = run.told_until(second_begins);
    let (at, News::Begins { fetch, .. }) = told[2] else { panic!("{told:?}") };
    assert!(told.len() == 3 && close(at, second_begins), "{told:?}");
    let rest = run.world.drive_platform(|platform| platform.shuffle.give_up(platform.ctx, fetch));
    assert_eq!(rest, [run.outputs[1]]);
    assert_eq!(run.told_until(Time::from_secs(1)), []);
    assert_eq!(run.bytes(), (2_000_000, 1_000_000, 0));
}
