//! Gateways that are restarted, killed, stopped, or short of what they need: each byte arrives, or the program is told
//! that it does not.

use crate::gateways::{
    self, Gateway, HALF, Pair, READ, Server, end, is_alive, read_pattern, text, until, within, write_pattern,
};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

/// Long enough that both gateways are replaced in its middle; by hand a gigabyte.
fn length() -> u64 {
    std::env::var("TRUNKLINE_TRANSFER_BYTES").map_or(60_000_000, |bytes| bytes.parse().expect("a number"))
}

/// As proc(5) has it.
fn parent(process: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it is alive");
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("it has one");
    parent.trim().parse().expect("a number")
}

#[test]
fn both_gateways_are_replaced_during_a_transfer_and_nobody_notices() {
    let server = Server::start();
    let pair = Pair::new("replaced", server.address, &[]);
    let (mut far, mut near) = pair.both();
    let (length, got) = (length(), AtomicU64::new(0));
    let mut download = pair.ask(length).expect("a connection");
    let mut upload = pair.ask(READ).expect("a connection");
    let successors = thread::scope(|scope| {
        let reading = scope.spawn(|| {
            read_pattern(&mut download, |at| {
                got.store(at, Ordering::SeqCst);
                sleep(Duration::from_millis(3));
            })
        });
        let writing = scope.spawn(|| write_pattern(&mut upload, length));
        // Programs that come meanwhile do not notice either.
        let visiting = scope.spawn(|| {
            let mut visits = 0;
            while got.load(Ordering::SeqCst) < length {
                assert!(
                    pair.works(),
                    "a visit failed after {visits}: {:?}",
                    (pair.log("near.log"), pair.log("far.log"))
                );
                visits += 1;
            }
            visits
        });
        let part = |of: u64| assert!(within(100, || got.load(Ordering::SeqCst) > length / 8 * of), "no progress");
        part(1);
        far.signal("USR2");
        let far_successor = pair.successor("far.log");
        // Whoever supervises both has it for a child, as systemd wants it, though the old one is still there.
        let parent = parent(far_successor);
        assert!(is_alive(far.0.id()) && parent != far.0.id(), "{parent}");
        part(3);
        near.signal("USR2");
        let near_successor = pair.successor("near.log");
        assert!(got.load(Ordering::SeqCst) < length, "it was over before");
        assert_eq!(reading.join().expect("no panic").0, length);
        assert!(writing.join().expect("no panic").is_ok());
        assert!(visiting.join().expect("no panic") > 3);
        [far_successor, near_successor]
    });
    drop((upload, download));
    let (written, ended) = server.ends.recv_timeout(Duration::from_secs(100)).expect("it ends");
    assert!(written == length && ended.is_ok(), "{written} {ended:?}");
    // The old ones have nothing left to do, the new ones all.
    assert_eq!(near.ended().and_then(|status| status.code()), Some(0), "{:?}", pair.log("near.log"));
    assert_eq!(far.ended().and_then(|status| status.code()), Some(0), "{:?}", pair.log("far.log"));
    assert!(successors.iter().all(|process| is_alive(*process)) && pair.works());
    assert!(pair.status(true).is_some() && pair.status(false).is_some());
    // Once more: they, too, can be replaced.
    gateways::signal(successors[1], "USR2");
    until("the second handover", || pair.successor("near.log") != successors[1]);
    let last = pair.successor("near.log");
    assert!(pair.works());
    end(last);
    end(successors[0]);
    assert!(!std::path::Path::new(&pair.scratch.of("run.sock")).exists());
}

/// Asks, again if need be, until the answer is there.
fn asks(program: &UdpSocket, to: &str, question: &[u8]) -> bool {
    let mut answer = [0; 100];
    (0..20).any(|_| {
        program.send_to(question, to).expect("loopback");
        program.recv(&mut answer).is_ok_and(|count| answer[..count] == *question)
    })
}

#[test]
fn a_socket_for_datagrams_is_handed_over_too() {
    let server = Server::start();
    let echo = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let to = echo.local_addr().expect("bound");
    thread::spawn(move || {
        let mut buffer = [0; 100];
        while let Ok((count, from)) = echo.recv_from(&mut buffer) {
            let _ = echo.send_to(&buffer[..count], from);
        }
    });
    // The same port as the door for connections.
    let pair = Pair::new("datagrams", server.address, &["--udp", "--udp-deadline", "200 ms", "--explain"]);
    let (door, forward) = (pair.door.to_string(), format!("{}={to}", pair.door));
    let pair = pair.near_too(&["--forward-udp", &forward]);
    let (far, mut near) = pair.both();
    let program = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    program.set_read_timeout(Some(Duration::from_millis(500))).expect("a socket");
    assert!(asks(&program, &door, b"before") && pair.works());
    let session = &pair.status(true).expect("it answers")["sessions"][0];
    assert_eq!((&session["flows"], &session["datagrams_late"]), (&1.into(), &0.into()), "{session}");
    // Each end says it in its log.
    let explained = |name: &str| {
        let is = |line: &serde_json::Value| {
            line["event"] == "1 flow of datagrams"
                && line["reason"]
                    .as_str()
                    .is_some_and(|why| why.ends_with("dropped here 0 late, 0 for lack of room, 0 refused"))
        };
        pair.log(name).iter().any(is)
    };
    assert!(within(20, || explained("near.log") && explained("far.log")), "{:?}", pair.log("near.log"));
    near.signal("USR2");
    let successor = pair.successor("near.log");
    assert_eq!(near.ended().and_then(|status| status.code()), Some(0), "{:?}", pair.log("near.log"));
    assert!(asks(&program, &door, b"after") && pair.works());
    end(successor);
    assert_eq!(far.stop(), Some(0));
}

/// A service manager that stops a service tells all its processes to go.
#[test]
fn an_old_process_that_is_told_to_go_has_its_grace_too() {
    let server = Server::start();
    let pair = Pair::new("old", server.address, &["--grace", "2"]);
    let (far, mut near) = pair.both();
    let [mut download, _upload] = transfers_at_rest(&pair);
    near.signal("USR2");
    let successor = pair.successor("near.log");
    near.signal("TERM");
    sleep(Duration::from_secs(1));
    assert!(near.0.try_wait().expect("a child").is_none(), "{:?}", pair.log("near.log"));
    assert_eq!(near.ended().and_then(|status| status.code()), Some(0));
    assert_eq!(download.read(&mut [0; 1]).expect_err("not an end").kind(), ErrorKind::ConnectionReset);
    assert!(pair.works());
    end(successor);
    assert_eq!(far.stop(), Some(0));
}

#[test]
fn a_new_process_that_fails_leaves_the_old_one_at_work() {
    let server = Server::start();
    let pair = Pair::new("fails", server.address, &[]);
    let (far, near) = pair.both();
    // What the new one would need is no key. Without its file of peers the old one, too, would trust nobody.
    for folder in ["near", "far"] {
        std::fs::write(format!("{}/key", pair.scratch.of(folder)), "no key").expect("written");
    }
    for (gateway, log) in [(&far, "far.log"), (&near, "near.log")] {
        gateway.signal("USR2");
        until("an answer", || {
            std::fs::read_to_string(pair.scratch.of(log)).is_ok_and(|log| log.contains("not handed over"))
        });
    }
    assert!(pair.works());
    assert_eq!((near.stop(), far.stop()), (Some(0), Some(0)));
}

/// As systemd is told (sd_notify(3)): which process is the service, and when it is ready.
#[test]
fn the_service_manager_is_told_who_serves() {
    let server = Server::start();
    let pair = Pair::new("notify", server.address, &[]);
    let _far = pair.far();
    let socket = pair.scratch.of("notify");
    let manager = std::os::unix::net::UnixDatagram::bind(&socket).expect("a scratch folder");
    manager.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    let hear = || {
        let mut said = [0; 200];
        let count = manager.recv(&mut said).expect("within 10 s");
        text(&said[..count])
    };
    let [_, keeping] = pair.arguments();
    let log = std::fs::File::create(pair.scratch.of("near.log")).expect("a scratch folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.arg("jet").args(&keeping).env("NOTIFY_SOCKET", &socket).stdout(Stdio::null()).stderr(log);
    let mut near = Gateway(command.spawn().expect("the program is built"));
    assert_eq!(hear(), "READY=1");
    near.signal("USR2");
    // From the process that the manager listens to; it is ready as before.
    let heard = hear();
    let successor = pair.successor("near.log");
    assert_eq!(heard, format!("MAINPID={successor}"));
    assert_eq!(near.ended().and_then(|status| status.code()), Some(0));
    assert!(pair.works());
    end(successor);
    manager.set_nonblocking(true).expect("a socket");
    assert!(manager.recv(&mut [0; 200]).is_err(), "nothing else is said");
}

/// A download of which the server has sent half, all of which has been read, and an upload of which all has been read:
/// nothing is under way.
fn transfers_at_rest(pair: &Pair) -> [std::net::TcpStream; 2] {
    let mut download = pair.ask(HALF + 200_000).expect("a connection");
    let mut buffer = vec![0; 100_000];
    download.read_exact(&mut buffer).expect("half of it");
    let mut upload = pair.ask(READ).expect("a connection");
    write_pattern(&mut upload, 100_000).expect("open");
    sleep(Duration::from_millis(300));
    [download, upload]
}

#[test]
fn a_gateway_that_is_killed_is_a_reset_and_never_an_end() {
    let server = Server::start();
    let pair = Pair::new("killed", server.address, &[]);
    let (far, mut near) = pair.both();
    let programs_are_reset = |streams: [std::net::TcpStream; 2]| {
        for mut stream in streams {
            let error = stream.read(&mut [0; 1]).expect_err("not an end");
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    };
    let streams = transfers_at_rest(&pair);
    near.signal("KILL");
    near.ended();
    programs_are_reset(streams);
    let near = pair.near();
    pair.wait_for_session();
    assert!(pair.works());
    // What the first near gateway had is still waited for at the far one; its death is a reset to those servers as
    // well.
    let streams = transfers_at_rest(&pair);
    far.signal("KILL");
    drop(far);
    for _ in 0..4 {
        let (_, ended) = server.ends.recv_timeout(Duration::from_secs(10)).expect("they are told");
        assert_eq!(ended.expect_err("not an end").kind(), ErrorKind::ConnectionReset);
    }
    let far = pair.far();
    programs_are_reset(streams);
    until("the way", || pair.works());
    assert_eq!((near.stop(), far.stop()), (Some(0), Some(0)));
}

#[test]
fn what_has_not_ended_in_time_is_reset() {
    let server = Server::start();
    let pair = Pair::new("grace", server.address, &["--grace", "1"]);
    for near_goes in [true, false] {
        let (far, near) = pair.both();
        let [mut download, _upload] = transfers_at_rest(&pair);
        let goes = if near_goes { near } else { far };
        assert_eq!(goes.stop(), Some(0));
        if near_goes {
            assert_eq!(download.read(&mut [0; 1]).expect_err("not an end").kind(), ErrorKind::ConnectionReset);
        } else {
            let (_, ended) = server.ends.recv_timeout(Duration::from_secs(10)).expect("it is told");
            assert_eq!(ended.expect_err("not an end").kind(), ErrorKind::ConnectionReset);
        }
        // Whatever the other gateway's end makes of the rest.
        while server.ends.recv_timeout(Duration::from_millis(500)).is_ok() {}
    }
}

#[test]
fn a_gateway_that_stands_still_for_a_while_goes_on() {
    let server = Server::start();
    let pair = Pair::new("stopped", server.address, &[]);
    let (far, near) = pair.both();
    let length = 60_000_000;
    let mut download = pair.ask(length).expect("a connection");
    let got = AtomicU64::new(0);
    thread::scope(|scope| {
        let reading = scope.spawn(|| read_pattern(&mut download, |at| got.store(at, Ordering::SeqCst)));
        for gateway in [&far, &near] {
            until("progress", || got.load(Ordering::SeqCst) > 100_000);
            gateway.signal("STOP");
            sleep(Duration::from_millis(1500));
            gateway.signal("CONT");
        }
        let (read, ended) = reading.join().expect("no panic");
        assert!(read == length && ended.is_ok(), "{read} {ended:?}");
    });
    drop(download);
    assert_eq!((near.stop(), far.stop()), (Some(0), Some(0)));
}

#[test]
fn a_log_that_cannot_be_written_is_no_reason_to_stop() {
    let server = Server::start();
    let pair = Pair::new("full", server.address, &["--explain"]);
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").expect("Linux"));
    let [serving, keeping] = pair.arguments();
    let (far, near) = (Gateway::logging(&serving, full()), Gateway::logging(&keeping, full()));
    pair.wait_for_session();
    assert!(pair.works());
    assert_eq!((near.stop(), far.stop()), (Some(0), Some(0)));
    // Nor does an error become another one.
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    let wrong = command
        .args(["jet", "gateway", "--keys", &pair.scratch.of("near"), "--to", "far", "--paper"])
        .stderr(full())
        .status();
    assert_eq!(wrong.expect("it runs").code(), Some(2));
    // Keys that cannot be written are said to be so.
    let unwritable =
        Command::new(env!("CARGO_BIN_EXE_trunkline")).args(["jet", "keys", "--keys", "/dev/full/keys"]).output();
    let unwritable = unwritable.expect("it runs");
    assert!(matches!(unwritable.status.code(), Some(2 | 5)), "{}", text(&unwritable.stderr));
}

#[test]
fn without_descriptors_new_connections_wait_or_fail_and_old_ones_go_on() {
    let server = Server::start();
    let pair = Pair::new("descriptors", server.address, &[]);
    let (far, near) = pair.both();
    let [mut download, mut upload] = transfers_at_rest(&pair);
    for gateway in [&far, &near] {
        let open = std::fs::read_dir(format!("/proc/{}/fd", gateway.0.id())).expect("alive").count();
        let limit = format!("--nofile={0}:{0}", open + 8);
        let limited = Command::new("prlimit").args(["--pid", &gateway.0.id().to_string(), &limit]).status();
        assert!(limited.expect("prlimit (Debian: util-linux) is there").success());
    }
    let many: Vec<_> = (0..40).filter_map(|_| pair.ask(HALF + 2000).ok()).collect();
    sleep(Duration::from_secs(2));
    // What is open goes on as if nothing were.
    upload.write_all(&[0; 0]).expect("open");
    download.set_read_timeout(Some(Duration::from_millis(100))).expect("open");
    assert_eq!(download.read(&mut [0; 1]).expect_err("nothing comes").kind(), ErrorKind::WouldBlock);
    drop((many, download, upload));
    until("the way", || pair.works());
    let said: Vec<_> = [pair.log("near.log"), pair.log("far.log")].concat();
    assert!(said.len() < 20, "once, not for every connection: {said:#?}");
    assert!(said.iter().any(|line| line.to_string().contains("Too many open files")), "{said:#?}");
    assert_eq!((near.stop(), far.stop()), (Some(0), Some(0)));
}
