//! The doors that programs go to knowingly: port forward and SOCKS5.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::process::{Command, Output};

use jet::door::{Door, Front, Socks5};
use jet::handover::Inherited;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::doors::namespace::{finish, inside, own_address};
use crate::doors::peers::{FILE, NAME, SILENT, listener, open, serve_echo, serve_http};

/// Two addresses that are not loopback ones, and servers there.
fn servers() -> SocketAddr {
    for address in ["192.0.2.1/32", "2001:db8::1/128"] {
        own_address(address);
    }
    serve_http(listener("192.0.2.1:80"));
    serve_http(listener("[2001:db8::1]:80"));
    serve_echo(listener("192.0.2.1:7"));
    "192.0.2.1:80".parse().unwrap()
}

async fn curl(arguments: String) -> Output {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--max-time", "20", "--noproxy", ""]).args(arguments.split_whitespace());
    finish(curl).await
}

#[track_caller]
fn assert_downloaded(output: &Output) {
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout.len(), FILE);
}

fn port(door: &Door) -> u16 {
    door.addresses[0].port()
}

#[test]
fn programs_go_through_a_forward() {
    inside("doors::proxies::programs_go_through_a_forward", async || {
        let named = servers();
        for to in ["192.0.2.1:80", "[2001:db8::1]:80", "server.test:80"] {
            let door = open(Front::Forward(format!("0={to}").parse().unwrap()), named).await;
            let page = format!("http://{}/", door.addresses[0]);
            assert_downloaded(&curl(page.clone()).await);
            drop(door);
            // The listener closes when the runtime has come round to it.
            let mut gone = curl(page.clone()).await;
            for _ in 0..50 {
                if gone.status.code() == Some(7) {
                    break;
                }
                gone = curl(page.clone()).await;
            }
            assert_eq!(gone.status.code(), Some(7), "it listens as long as the door is open: {gone:?}");
        }
        let door = open(Front::Forward("[::1]:0=192.0.2.1:7".parse().unwrap()), named).await;
        let mut python = Command::new("python3");
        python.args(["-c", HALF_CLOSE, &port(&door).to_string()]);
        let output = finish(python).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
}

/// Sends a megabyte, ends its direction, and reads it all back.
const HALF_CLOSE: &str = "
import socket, sys, threading
s = socket.create_connection(('::1', int(sys.argv[1])), timeout=20)
data = bytes(range(256)) * 4096
threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR))).start()
back = b''
while piece := s.recv(65536):
    back += piece
assert back == data, len(back)
";

#[test]
fn a_destination_that_refuses_resets_the_forward() {
    inside("doors::proxies::a_destination_that_refuses_resets_the_forward", async || {
        let door = open(Front::Forward("0=192.0.2.1:9".parse().unwrap()), servers()).await;
        let output = curl(format!("http://{}/", door.addresses[0])).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Curl says one or the other, depending on whether the reset comes before it looks.
        assert!(said.contains("reset by peer") || output.status.code() == Some(7), "{output:?}");
    });
}

#[test]
fn programs_go_through_socks5() {
    inside("doors::proxies::programs_go_through_socks5", async || {
        let door = open(Front::Socks5("0".parse().unwrap()), servers()).await;
        let through = |option: &str, url: &str| curl(format!("{option} 127.0.0.1:{} {url}", port(&door)));
        assert_downloaded(&through("--socks5", "http://192.0.2.1/").await);
        assert_downloaded(&through("--socks5", "http://[2001:db8::1]/").await);
        assert_downloaded(&through("--socks5-hostname", &format!("http://{NAME}/")).await);
        // What curl says of each code of a reply (RFC 1928, section 6).
        for (url, code) in [("192.0.2.1:9", 5), ("198.51.100.9", 4), ("no-such-name.test", 4), ("203.0.113.1", 3)] {
            let output = through("--socks5-hostname", url).await;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(97), "{url}: {said}");
            assert!(said.contains(&format!("({code})")), "{url}: {said}");
        }
    });
}

#[test]
fn socks5_lets_in_who_has_the_password() {
    inside("doors::proxies::socks5_lets_in_who_has_the_password", async || {
        let named = servers();
        let users = Some("me:right\nyou:too".parse().unwrap());
        let socks5 = Socks5 { listen: "192.0.2.1:0".parse().unwrap(), users, flows: None };
        let door = open(Front::Socks5(socks5), named).await;
        let through = |user: &str| curl(format!("--socks5 {user}192.0.2.1:{} http://192.0.2.1/", port(&door)));
        assert_downloaded(&through("me:right@").await);
        assert_downloaded(&through("you:too@").await);
        for user in ["me:wrong@", "you:right@", "me:@", ""] {
            let output = through(user).await;
            assert_eq!(output.status.code(), Some(97), "{user:?}: {output:?}");
        }
    });
}

#[test]
fn many_come_at_once_and_some_say_nothing() {
    inside("doors::proxies::many_come_at_once_and_some_say_nothing", async || {
        let door = open(Front::Socks5("0".parse().unwrap()), servers()).await;
        let silent: Vec<_> = (0..500).map(|_| std::net::TcpStream::connect(door.addresses[0]).unwrap()).collect();
        let arguments = format!("--socks5 127.0.0.1:{} -Z --parallel-max 50 http://192.0.2.1/[1-100]", port(&door));
        let output = curl(arguments).await;
        assert!(output.status.success());
        assert_eq!(output.stdout.len(), 100 * FILE);
        drop(silent);
    });
}

/// Opens 200 connections at one door, holds them for a second, leaves, and finds another door usable again in a while.
const CROWD: &str = "
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))
crowded, echo = (('127.0.0.1', int(port)) for port in sys.argv[1:])
crowd = [socket.create_connection(crowded, timeout=20) for _ in range(200)]
time.sleep(1)
del crowd
for attempt in range(100):
    try:
        with socket.create_connection(echo, timeout=20) as s:
            s.sendall(b'hello')
            if s.recv(5) == b'hello':
                sys.exit(0)
    except OSError:
        pass
    time.sleep(0.2)
sys.exit('never again')
";

#[test]
fn a_door_without_descriptors_waits_for_some() {
    inside("doors::proxies::a_door_without_descriptors_waits_for_some", async || {
        let named = servers();
        let crowded = open(Front::Forward(format!("0={SILENT}").parse().unwrap()), named).await;
        let echo = open(Front::Forward("0=192.0.2.1:7".parse().unwrap()), named).await;
        let few = Rlimit { current: Some(100), maximum: Some(1000) };
        setrlimit(Resource::Nofile, few).unwrap();
        let mut crowd = Command::new("python3");
        crowd.args(["-c", CROWD, &port(&crowded).to_string(), &port(&echo).to_string()]);
        let crowd = finish(crowd).await;
        assert!(crowd.status.success(), "{}", String::from_utf8_lossy(&crowd.stderr));
    });
}

#[test]
fn an_address_in_use_is_an_error() {
    let taken = StdListener::bind("127.0.0.1:0").unwrap();
    let forward = format!("{}=192.0.2.1:7", taken.local_addr().unwrap());
    let (out, _accepted) = tokio::sync::mpsc::channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime
        .block_on(Front::Forward(forward.parse().unwrap()).open(out, &jet::log::Log::default(), &Inherited::default()))
        .unwrap_err();
    assert!(error.to_string().contains(&format!("cannot listen on {}", taken.local_addr().unwrap())), "{error}");
}
