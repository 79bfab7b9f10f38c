//! Ends that vanish without a word: what a program with keep-alive learns by itself it learns through the gateways.

use crate::doors::namespace::{enter, inside, neighbour, run};
use crate::support::{Rig, bytes, server, until, write_pattern};
use socket2::{SockRef, TcpKeepalive};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

/// P-19. By itself the program waits 2 s, and for two probes a second apart: 4 s. The gateways see the 2 s and probe
/// twice, a second apart.
#[test]
fn a_vanished_server_is_noticed_as_the_program_has_asked() {
    inside("vanished::a_vanished_server_is_noticed_as_the_program_has_asked", async || {
        neighbour("server", 1);
        let listener = enter("server", || TcpListener::bind("10.1.0.2:7").expect("its address"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a program");
            let mut bytes = [0; 1];
            while stream.read_exact(&mut bytes).is_ok() && stream.write_all(&bytes).is_ok() {}
            std::thread::park();
        });
        let rig = Rig::allowing("10.1.0.2:7".parse().expect("an address"), &["10.1.0.2:7"]).await;
        let mut program = rig.program().await;
        let options = TcpKeepalive::new().with_time(Duration::from_secs(2)).with_interval(Duration::from_secs(1));
        SockRef::from(&program).set_tcp_keepalive(&options.with_retries(2)).expect("a TCP socket");
        program.write_all(b"?").await.expect("open");
        assert_eq!(program.read_u8().await.expect("it answers"), b'?');
        // The first look is after 100 ms, and the far gateway hears of it at once.
        tokio::time::sleep(Duration::from_millis(500)).await;
        run("ip link set to-server down");
        let began = Instant::now();
        let ended = timeout(Duration::from_secs(20), program.read_u8()).await.expect("noticed");
        assert_eq!(ended.expect_err("not an end").kind(), ErrorKind::ConnectionReset);
        // 4 s, and as long again for the kernel's own clock and a slow host.
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        until(|| rig.far.status().sessions.iter().all(|session| session.connections == 0)).await;
    });
}

/// A path that swallows everything for six seconds, one way or both, which is long for TCP's timers: bytes flow again
/// within a second of its return, and none is missing.
#[test]
fn after_an_outage_bytes_flow_within_a_second() {
    inside("vanished::after_an_outage_bytes_flow_within_a_second", async || {
        neighbour("far", 1);
        let at = enter("far", || TcpListener::bind("10.1.0.2:0").expect("its address"));
        let rig = Rig::listening(server(endless).await, at).await;
        let mut program = rig.program().await;
        let mut at = read_some(&mut program, 0).await;
        for (outage, hooks) in [(3, &["input"][..]), (6, &["input"]), (6, &["input", "output"])] {
            in_far("add table inet outage");
            for hook in hooks {
                in_far(&format!(
                    "add chain inet outage {hook} {{ type filter hook {hook} priority 0 ; policy drop ; }}"
                ));
            }
            tokio::time::sleep(Duration::from_secs(outage)).await;
            // What had arrived before is read, so that what comes next has come over the path.
            while let Ok(read) = timeout(Duration::from_millis(1), read_some(&mut program, at)).await {
                at = read;
            }
            in_far("delete table inet outage");
            let began = Instant::now();
            at = timeout(Duration::from_secs(20), read_some(&mut program, at)).await.expect("it goes on");
            let took = began.elapsed();
            println!("{took:?} after {outage} s, {hooks:?}");
            assert!(took < Duration::from_secs(1), "{took:?} after {outage} s, {hooks:?}");
        }
    });
}

fn in_far(rule: &str) {
    run(&format!("ip netns exec far nft {rule}"));
}
/// The pattern without an end.
async fn endless(mut stream: tokio::net::TcpStream) {
    let _ = write_pattern(&mut stream, u64::MAX).await;
}
/// Reads once; the bytes are the pattern's from this position on. Says to which one they go.
async fn read_some(stream: &mut tokio::net::TcpStream, at: u64) -> u64 {
    let mut buffer = vec![0; 64 << 10];
    let count = stream.read(&mut buffer).await.expect("not reset");
    assert!(count > 0 && buffer[..count] == bytes(at, count), "at {at}");
    at + count as u64
}
