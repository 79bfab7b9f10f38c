//! Programs with the preloaded library.

use std::ffi::OsStr;
use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Output};

use jet::door::{DoorError, Front, Preload, preload};
use jet::handover::Inherited;
use jet::launch::{self, LaunchError};

use crate::doors::namespace::{command_in, finish, inside, neighbour, own_address};
use crate::doors::peers::{FILE, listener, open, serve_echo, serve_http};

fn door() -> Preload {
    Preload { socket: preload::default_socket().unwrap(), direct: vec!["192.0.2.77/32".parse().unwrap()] }
}

fn servers() -> SocketAddr {
    for address in ["192.0.2.1/32", "192.0.2.77/32", "2001:db8::1/128"] {
        own_address(address);
    }
    for host in ["192.0.2.1", "192.0.2.77", "[2001:db8::1]"] {
        serve_echo(listener(&format!("{host}:7")));
    }
    serve_http(listener("192.0.2.1:80"));
    "192.0.2.1:80".parse().unwrap()
}

/// Runs a program with the library.
async fn launched(program: impl AsRef<OsStr>, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).envs(launch::environment(&door().socket).unwrap());
    finish(command).await
}

#[test]
fn a_program_does_with_connections_what_it_always_does() {
    inside("doors::preload::a_program_does_with_connections_what_it_always_does", async || {
        let _door = open(Front::Preload(door()), servers()).await;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/doors/client.py");
        let output = launched("/usr/bin/python3", &[script, "192.0.2.1", "2001:db8::1"]).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(said, "", "the library has nothing to say");
    });
}

#[test]
fn curl_downloads_in_parallel() {
    inside("doors::preload::curl_downloads_in_parallel", async || {
        let _door = open(Front::Preload(door()), servers()).await;
        let arguments = ["-sS", "--max-time", "60", "-Z", "--parallel-max", "50", "http://192.0.2.1/[1-100]"];
        let output = launched("curl", &arguments).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout.len(), 100 * FILE);
    });
}

/// Connects to the echo server, and says how it went.
const CONNECT: &str = "
import errno, socket
print(errno.errorcode.get(socket.socket().connect_ex(('192.0.2.1', 7)), 'connected'))
";

#[test]
fn without_a_gateway_the_network_is_down() {
    inside("doors::preload::without_a_gateway_the_network_is_down", async || {
        let open_door = open(Front::Preload(door()), servers()).await;
        let environment = launch::environment(&door().socket).unwrap();
        let connect = || {
            let mut command = Command::new("/usr/bin/python3");
            command.args(["-c", CONNECT]).envs(environment.clone());
            command
        };
        assert_eq!(finish(connect()).await.stdout, b"connected\n");
        // Rather fail than send in the open what was to go between the gateways.
        drop(open_door);
        assert_eq!(finish(connect()).await.stdout, b"ENETDOWN\n");
        assert!(!door().socket.exists());
        assert!(matches!(launch::environment(&door().socket), Err(LaunchError::NoGateway { .. })));
    });
}

#[test]
fn another_network_namespace_is_noticed() {
    inside("doors::preload::another_network_namespace_is_noticed", async || {
        let _door = open(Front::Preload(door()), servers()).await;
        let environment = launch::environment(&door().socket).unwrap();
        neighbour("other", 1);
        let mut command = command_in("other", "/usr/bin/python3");
        command.args(["-c", CONNECT]).envs(environment);
        assert_eq!(finish(command).await.stdout, b"ENETDOWN\n");
        let there = crate::doors::namespace::enter("other", || launch::environment(&door().socket));
        assert!(matches!(there, Err(LaunchError::OtherNamespace(_))), "{there:?}");
    });
}

#[test]
fn strangers_at_the_door_are_turned_away() {
    inside("doors::preload::strangers_at_the_door_are_turned_away", async || {
        let opened = open(Front::Preload(door()), servers()).await;
        let door_address = opened.addresses[0];
        let stranger = tokio::task::spawn_blocking(move || {
            use std::io::{Read, Write};
            let mut stranger = std::net::TcpStream::connect(door_address).unwrap();
            let _ = stranger.write_all(b"let me in");
            stranger.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
            stranger.read_to_end(&mut Vec::new()).map_err(|error| error.kind())
        });
        let outcome = stranger.await.unwrap();
        assert!(matches!(outcome, Ok(0) | Err(std::io::ErrorKind::ConnectionReset)), "{outcome:?}");
        for garbage in [&b"GET / HTTP/1.0\r\n\r\n and more than it wants"[..], &[0; 64], b"TJ"] {
            use std::io::Write;
            let mut program = std::os::unix::net::UnixStream::connect(door().socket).unwrap();
            program.write_all(garbage).unwrap();
        }
        assert_eq!(launched("/usr/bin/python3", &["-c", CONNECT]).await.stdout, b"connected\n", "it goes on");
    });
}

#[test]
fn a_socket_is_one_gateways() {
    inside("doors::preload::a_socket_is_one_gateways", async || {
        let named = servers();
        let first = open(Front::Preload(door()), named).await;
        let (out, _accepted) = tokio::sync::mpsc::channel(1);
        let second = Front::Preload(door()).open(out, &jet::log::Log::default(), &Inherited::default()).await;
        assert!(matches!(second, Err(DoorError::Occupied(_))), "{second:?}");
        drop(first);
        // The file of one that was killed is in nobody's way.
        drop(std::os::unix::net::UnixListener::bind(&door().socket).unwrap());
        assert!(door().socket.exists());
        let _door = open(Front::Preload(door()), named).await;
        assert_eq!(launched("/usr/bin/python3", &["-c", CONNECT]).await.stdout, b"connected\n");
        let rights = fs::metadata(door().socket).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&rights) & 0o777, 0o660);
    });
}

/// Connects without blocking, says how long that took, and then waits for the connection.
const IMPATIENT: &str = "
import errno, select, socket, time
with socket.socket() as sock:
    sock.setblocking(False)
    began = time.monotonic()
    error = sock.connect_ex(('192.0.2.1', 7))
    took = time.monotonic() - began
    assert error == errno.EINPROGRESS and took < 0.5, (error, took)
    assert select.select([], [sock], [], 20)[1]
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    sock.sendall(b'?')
    assert select.select([sock], [], [], 20)[0] and sock.recv(1) == b'?'
with socket.socket() as sock:
    sock.setblocking(False)
    sock.connect_ex(('192.0.2.77', 7))
    assert select.select([], [sock], [], 20)[1]
    assert sock.getpeername()[0] == '192.0.2.77', 'what goes directly still does'
print('done')
";

/// All threads of the gateway stand still for three seconds, as after SIGSTOP.
#[test]
fn a_stopped_gateway_holds_no_program_that_does_not_wait() {
    inside("doors::preload::a_stopped_gateway_holds_no_program_that_does_not_wait", async || {
        let _door = open(Front::Preload(door()), servers()).await;
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", IMPATIENT]).envs(launch::environment(&door().socket).unwrap());
        let (stopped, has_stopped) = std::sync::mpsc::channel();
        // The runtime has two workers, and each is kept by one of these.
        for _ in 0..2 {
            let stopped = stopped.clone();
            tokio::spawn(async move {
                stopped.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_secs(3));
            });
        }
        has_stopped.recv().unwrap();
        has_stopped.recv().unwrap();
        let output = std::thread::spawn(move || command.output().unwrap()).join().unwrap();
        assert_eq!(output.stdout, b"done\n", "{}", String::from_utf8_lossy(&output.stderr));
    });
}
