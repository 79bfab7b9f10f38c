//! Real gateways over emulated paths, several at once. Where the machine cannot, these fail and say what it lacks: CI
//! is root, with TUN/TAP and network namespaces.
//!
//! A program of its own, which `scripts/test` runs with nothing but the studies beside it, which take what it leaves of
//! the processor. Inside it one test runs at a time: what is measured here has the processor to itself.

#[path = "../it/support/mod.rs"]
#[allow(dead_code, reason = "paths need a part of it")]
mod support;

mod direct;

use jet::door::Answer;
use jet::far::{Far, FarOptions, listen};
use jet::keys::Identity;
use jet::limits::Limits;
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::{Options, Streams};
use jet::status::Status;
use jet::{Destination, Via};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use support::{byte, door, pinned, server_at, write_pattern};
use testbed::link::{Namespace, Pair, Path, Trace};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep, timeout_at};
use units::{BitRate, Time};

/// One at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn path(name: &str, mbps: u64, round_trip_ms: u64) -> Path {
    Path::new(name, BitRate::from_mbps(mbps), Time::from_ms(round_trip_ms))
}
/// Nothing comes through any more from then on, and nobody is told.
fn dying(path: Path, after: &str) -> Path {
    losing(path, &format!("{after}, 100 %"))
}
/// Loses what each line says from some time on.
fn losing(mut path: Path, lines: &str) -> Path {
    let trace = Trace::parse(&format!("time, loss\n{lines}\n")).expect("a trace");
    (path.forth.trace, path.back.trace) = (Some(trace.clone()), Some(trace));
    path
}

/// A runtime whose sockets are in a namespace.
fn runtime(pair: &Arc<Pair>, namespace: fn(&Pair) -> &Namespace) -> Runtime {
    let pair = Arc::clone(pair);
    let enter = move || namespace(&pair).enter().expect("a namespace");
    Builder::new_multi_thread().worker_threads(2).on_thread_start(enter).enable_all().build().expect("a runtime")
}

/// A near and a far gateway with those paths between them; `to` and `via` by the paths' numbers.
struct Gateways {
    near: Arc<Near>,
    _far: Arc<Far>,
    /// Where programs connect, in the near namespace.
    door: std::net::SocketAddr,
    near_runtime: Runtime,
    _far_runtime: Runtime,
    _pair: Arc<Pair>,
}

impl Gateways {
    fn new(paths: &[Path], via: &[Via], to: &[&str]) -> Self {
        Self::with(&Options::default(), paths, via, to)
    }
    fn with(options: &Options, paths: &[Path], via: &[Via], to: &[&str]) -> Self {
        Self::serving(support::LOOPBACK, &[], options, paths, via, to)
    }
    /// With a server at an address of the far host, and rules for direct connections.
    fn serving(
        server: &'static str,
        direct: &[&str],
        options: &Options,
        paths: &[Path],
        via: &[Via],
        to: &[&str],
    ) -> Self {
        let pair = Arc::new(Pair::up(paths, 1).unwrap_or_else(|error| panic!("{error}")));
        let (near_key, far_key) = (Identity::generate().expect("a key"), Identity::generate().expect("a key"));
        let (near_runtime, far_runtime) = (runtime(&pair, Pair::near), runtime(&pair, Pair::far));
        let told = FarOptions {
            identity: far_key.clone(),
            peers: pinned(&near_key, "near"),
            allowed: support::allowed(&["127.0.0.1:*", "198.18.0.2:*"]),
            limits: Limits::default(),
            options: options.clone(),
        };
        let far = far_runtime.spawn(async move {
            let listener = listen("[::]:7608".parse().expect("an address"), &told.options).expect("it listens");
            (Far::start(told, vec![listener], Log::default()).expect("it starts"), server_at(server, source).await)
        });
        let (far, server) = far_runtime.block_on(far).expect("no panic");
        let told = NearOptions {
            identity: near_key,
            peers: pinned(&far_key, "far"),
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            via: via.to_vec(),
            direct: direct.iter().map(|rule| rule.parse().expect("a rule")).collect(),
            options: options.clone(),
        };
        let near = near_runtime.spawn(async move {
            let near = Near::start(told, Log::default()).expect("it starts");
            assert!(near.ready(Duration::from_secs(15)).await, "no session");
            let door = door(&near, Destination::Address(server), || Answer::Established).await;
            (Arc::new(near), door)
        });
        let (near, door) = near_runtime.block_on(near).expect("no panic");
        Self { near, _far: far, door, near_runtime, _far_runtime: far_runtime, _pair: pair }
    }
    /// Runs something in the near namespace.
    fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        self.near_runtime.block_on(self.near_runtime.spawn(work)).expect("no panic")
    }
    /// Until each of so many paths has a stream.
    fn ready(&self, paths: u32) {
        let near = Arc::clone(&self.near);
        self.run(async move { support::until(|| (0..paths).all(|path| on(&near.status(), path) > 0)).await });
    }
    /// Bits per second of one download, from `warm_up` seconds after its beginning for `length` seconds.
    fn goodput(&self, warm_up: u64, length: u64) -> f64 {
        let door = self.door;
        self.run(async move {
            let mut stream = TcpStream::connect(door).await.expect("the door is open");
            stream.write_u64(u64::MAX).await.expect("open");
            let begin = Instant::now() + Duration::from_secs(warm_up);
            receive_until(&mut stream, begin).await;
            let bytes = receive_until(&mut stream, begin + Duration::from_secs(length)).await;
            bytes as f64 * 8.0 / length as f64
        })
    }
    /// Downloads so much, and says how long that took, and the longest wait between two reads.
    fn download(&self, length: u64) -> [Duration; 2] {
        let door = self.door;
        self.run(async move {
            let start = Instant::now();
            let mut stream = TcpStream::connect(door).await.expect("the door is open");
            stream.write_u64(length).await.expect("open");
            let (mut at, mut buffer, mut longest) = (0, vec![0; 256 << 10], Duration::ZERO);
            loop {
                let began = Instant::now();
                let read = tokio::time::timeout(Duration::from_mins(1), stream.read(&mut buffer)).await;
                let count = read.expect("within a minute").expect("not reset");
                longest = longest.max(began.elapsed());
                if count == 0 {
                    assert_eq!(at, length);
                    return [start.elapsed(), longest];
                }
                for (place, got) in buffer[..count].iter().enumerate() {
                    assert_eq!(*got, byte(at + place as u64));
                }
                at += count as u64;
            }
        })
    }
}

/// Sends as much of the pattern as it is asked for.
async fn source(mut stream: TcpStream) {
    let Ok(length) = stream.read_u64().await else { return };
    if write_pattern(&mut stream, length).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}
async fn receive_until(stream: &mut TcpStream, end: Instant) -> u64 {
    let (mut bytes, mut buffer) = (0, vec![0; 256 << 10]);
    while let Ok(count) = timeout_at(end, stream.read(&mut buffer)).await {
        bytes += count.expect("not reset") as u64;
    }
    bytes
}
/// Streams on a path.
fn on(status: &Status, path: u32) -> usize {
    status.sessions.iter().flat_map(|session| &session.streams).filter(|stream| stream.path == path).count()
}
/// Those that are used.
fn usable(status: &Status, path: u32) -> usize {
    let all = status.sessions.iter().flat_map(|session| &session.streams);
    all.filter(|stream| stream.path == path && stream.health == "usable").count()
}
fn capacity(path: &Path) -> f64 {
    path.back.tcp_goodput().expect("a rate").as_bps() as f64
}

const FIRST: &str = "198.18.0.2:7608";
const SECOND: &str = "198.18.1.2:7608";

#[test]
fn two_unequal_paths_carry_more_than_the_better_one() {
    let _alone = alone();
    let paths = [path("fast", 40, 20), path("slow", 15, 90)];
    // One address of the far gateway is reached by each.
    let gateways = Gateways::new(&paths, &[], &[FIRST, SECOND]);
    gateways.ready(2);
    let got = gateways.goodput(3, 5);
    let (fast, slow) = (capacity(&paths[0]), capacity(&paths[1]));
    assert!(got > fast + 0.4 * slow, "{:.1} Mbit/s of {:.1} and {:.1}", got / 1e6, fast / 1e6, slow / 1e6);
}

#[test]
fn a_path_so_bad_that_it_is_of_no_use_does_no_harm() {
    let _alone = alone();
    let good = path("good", 40, 20);
    let [single, _] = Gateways::new(std::slice::from_ref(&good), &[], &[FIRST]).download(30_000_000);
    let paths = [good, path("bad", 1, 400).with_loss(0.05)];
    let gateways = Gateways::new(&paths, &[], &[FIRST, SECOND]);
    gateways.ready(2);
    let [both, longest] = gateways.download(30_000_000);
    // What goes there while rates are not known yet is found late after twice its time, at 400 ms and 1 Mbit/s about
    // 0.8 s, and goes on the other path as well. That is all it costs.
    let late = Duration::from_millis(800);
    assert!(both < single + late && longest < late, "{both:?} with it (longest wait {longest:?}), {single:?} without");
}

#[test]
fn a_path_that_dies_costs_no_byte_and_less_than_a_second() {
    let _alone = alone();
    let paths = [path("stays", 40, 20), dying(path("dies", 40, 30), "6 s")];
    let gateways = Gateways::new(&paths, &[], &[FIRST, SECOND]);
    gateways.ready(2);
    // About nine seconds with both, more with one.
    let [_, longest] = gateways.download(60_000_000);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
}

#[test]
fn a_path_that_is_dead_from_the_beginning_is_no_hindrance() {
    let _alone = alone();
    let paths = [dying(path("dead", 40, 20), "0 s"), path("lives", 40, 20)];
    let began = Instant::now();
    let gateways = Gateways::new(&paths, &[], &[FIRST, SECOND]);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let [_, longest] = gateways.download(5_000_000);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    // It is tried now and then, and the streams that there are to be go where they can.
    let near = Arc::clone(&gateways.near);
    gateways.run(async move { support::until(|| on(&near.status(), 1) >= 4).await });
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

/// P-24: the near end, which opens streams, sends nothing by which it would see that a path is dead.
#[test]
fn what_a_dead_path_had_is_opened_elsewhere_at_once_and_given_back() {
    let _alone = alone();
    let (dies, returns) = (Duration::from_secs(6), Duration::from_secs(20));
    let paths = [path("stays", 20, 20), losing(path("goes", 20, 30), "6 s, 100 %\n20 s, 0 %")];
    // So many as long as it takes: a controller that tries more while the path dies, and is content with fewer later,
    // would leave nothing to be given back.
    let options = Options { streams: Streams::Fixed(4), ..Options::default() };
    let began = Instant::now();
    let gateways = Gateways::with(&options, &paths, &[], &[FIRST, SECOND]);
    gateways.ready(2);
    let (near, door) = (Arc::clone(&gateways.near), gateways.door);
    gateways.run(async move {
        let mut download = TcpStream::connect(door).await.expect("the door is open");
        download.write_u64(u64::MAX).await.expect("open");
        let download = tokio::spawn(async move { receive_until(&mut download, began + returns * 3).await });
        let mut had = 0;
        let found = loop {
            let status = near.status();
            match usable(&status, 1) {
                now if began.elapsed() < dies => had = now,
                0 => break Instant::now(),
                _ => {}
            }
            sleep(Duration::from_millis(20)).await;
        };
        let other = usable(&near.status(), 0);
        assert!(had >= 1 && other >= 1 && had + other == 4, "the two had {had} and {other}");
        assert!(found < began + dies + Duration::from_secs(3), "found {:?} after the beginning", found - began);
        support::until(|| usable(&near.status(), 0) > other).await;
        assert!(found.elapsed() < Duration::from_secs(1), "one is opened elsewhere after {:?}", found.elapsed());
        // There may be no more than four, of which one place is that of the path that died. A SYN may be lost: a full
        // path drops some.
        support::until(|| usable(&near.status(), 0) >= 3).await;
        assert!(found.elapsed() < Duration::from_secs(5), "all are after {:?}", found.elapsed());
        support::until(|| on(&near.status(), 1) == 0).await;
        assert!(began.elapsed() < returns, "its streams are given up after {:?}", began.elapsed());
        support::until(|| usable(&near.status(), 1) >= had).await;
        let after = began.elapsed().saturating_sub(returns);
        assert!(after < Duration::from_secs(10), "it has its {had} streams again {after:?} after its return");
        assert!(!download.is_finished(), "not a byte is lost meanwhile");
        download.abort();
    });
}

/// P-30, P-33, P-34. The buffers of those that do not read are full after some seconds: 1 MiB here, and the kernel's.
#[test]
fn programs_that_do_not_read_hold_up_nobody() {
    const EACH: usize = 30;
    let _alone = alone();
    let gateways = Gateways::new(&[path("wan", 155, 20)], &[], &[FIRST]);
    let small = || {
        let mut times: Vec<Duration> = (0..9).map(|_| gateways.download(1000)[0]).collect();
        times.sort();
        times[4]
    };
    gateways.download(20_000_000);
    let ([large_alone, _], small_alone) = (gateways.download(20_000_000), small());
    let door = gateways.door;
    let others = gateways.run(async move {
        let mut others = Vec::new();
        for number in 0..2 * EACH {
            let mut stream = TcpStream::connect(door).await.expect("the door is open");
            stream.write_u64(u64::MAX).await.expect("open");
            others.push(tokio::spawn(async move {
                let (mut buffer, is_slow) = (vec![0; 1000], number % 2 == 0);
                while !is_slow || stream.read(&mut buffer).await.is_ok() {
                    sleep(Duration::from_millis(100)).await;
                }
            }));
        }
        sleep(Duration::from_secs(15)).await;
        others
    });
    let ([large, _], small) = (gateways.download(20_000_000), small());
    // Those that are slow take 0.3 MB/s, a sixtieth of the path.
    assert!(large < large_alone.mul_f64(1.2), "20 MB take {large:?}, alone {large_alone:?}");
    assert!(small < small_alone + Duration::from_millis(5), "1 KB takes {small:?}, alone {small_alone:?}");
    others.iter().for_each(tokio::task::JoinHandle::abort);
}

#[test]
fn paths_are_told_by_interfaces_and_by_addresses() {
    let _alone = alone();
    let paths = [path("left", 20, 10), path("right", 20, 10)];
    let addresses = Pair::up(&paths, 1).unwrap_or_else(|error| panic!("{error}")).addresses();
    let interfaces = ["left", "right"].map(|name| name.parse().expect("an interface"));
    let local = addresses.iter().map(|ends| Via::Address(ends.near.into())).collect::<Vec<_>>();
    for via in [&interfaces[..], &local] {
        let gateways = Gateways::new(&paths, via, &[FIRST, SECOND]);
        // Paths 0 and 3 lead somewhere: left to the first, right to the second.
        let near = Arc::clone(&gateways.near);
        gateways.run(async move { support::until(|| [0, 3].iter().all(|path| on(&near.status(), *path) > 0)).await });
        let got = gateways.goodput(2, 3);
        let most = capacity(&paths[0]);
        assert!(got > 1.5 * most, "{:.1} Mbit/s of two times {:.1}", got / 1e6, most / 1e6);
    }
}

#[test]
fn ipv6_and_ipv4_are_two_paths_or_two_ways_to_one() {
    let _alone = alone();
    let paths = [path("old", 20, 10), path("new", 20, 10)];
    let gateways = Gateways::new(&paths, &[], &["198.18.0.2:7608", "[2001:2:0:1::2]:7608"]);
    gateways.ready(2);
    let got = gateways.goodput(2, 3);
    let most = capacity(&paths[0]);
    assert!(got > 1.5 * most, "{:.1} Mbit/s of two times {:.1}", got / 1e6, most / 1e6);
    sleep_free(&gateways);
}

/// Nothing is left to be done.
fn sleep_free(gateways: &Gateways) {
    let near = Arc::clone(&gateways.near);
    gateways.run(async move {
        for _ in 0..500 {
            if near.status().sessions.iter().all(|session| session.connections == 0) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("connections are left");
    });
}
