//! Ends that vanish without a word: what a program with keep-alive learns by itself it learns through the gateways.

use crate::doors::namespace::{enter, inside, neighbour, run};
use crate::support::{Rig, until};
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
