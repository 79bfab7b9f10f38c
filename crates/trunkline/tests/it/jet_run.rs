//! `trunkline jet run` as its users meet it. The gateway here answers itself, so that no packet leaves this host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use jet::door::{Accepted, Door, Front, Preload};
use jet::{Destination, Refusal};
use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// A folder of its own for a test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-jet-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }
    fn socket(&self) -> PathBuf {
        self.0.join("jet-run.sock")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A gateway that says to every program where it wanted to go, but refuses port 9.
fn gateway(socket: PathBuf) -> (Runtime, Door) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let door = runtime.block_on(async {
        let (out, mut accepted) = mpsc::channel::<Accepted>(4);
        tokio::spawn(async move {
            while let Some(accepted) = accepted.recv().await {
                let to = accepted.to.clone();
                if matches!(to, Destination::Address(address) if address.port() == 9) {
                    accepted.refused(Refusal::ConnectionRefused).await;
                } else if let Ok(mut stream) = accepted.opened().await {
                    let _ = stream.write_all(to.to_string().as_bytes()).await;
                }
            }
        });
        Front::Preload(Preload { socket, direct: Vec::new() })
            .open(out, &jet::log::Log::default(), &jet::handover::Inherited::default())
            .await
            .unwrap()
    });
    (runtime, door)
}

fn jet_run(socket: &Path, command: &[&str]) -> Output {
    command_of(socket, &[], command).output().expect("it runs")
}

fn strict(socket: &Path, command: &[&str]) -> Command {
    command_of(socket, &["--strict"], command)
}

fn command_of(socket: &Path, options: &[&str], command: &[&str]) -> Command {
    let mut run = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    run.args(["jet", "run", "--gateway"]).arg(socket).args(options).arg("--").args(command);
    // The library to be preloaded goes to the test's folder.
    run.env("CACHE_DIRECTORY", socket.with_file_name("cache")).stdin(Stdio::null());
    run
}

/// Builds a statically linked program.
fn built_static(scratch: &Scratch, source: &str) -> String {
    let (file, program) = (scratch.0.join("main.c"), scratch.0.join("main"));
    fs::write(&file, source).unwrap();
    assert!(Command::new("cc").arg("-static").arg(&file).arg("-o").arg(&program).status().unwrap().success());
    program.display().to_string()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const PYTHON: &str = "
import errno, socket, sys
s = socket.socket(); s.connect(('198.51.100.1', 3306)); print(s.recv(100).decode())
print(errno.errorcode[socket.socket().connect_ex(('198.51.100.1', 9))])
sys.exit(7)
";

#[test]
fn a_program_runs_as_itself_with_its_connections_caught() {
    let scratch = Scratch::new("caught");
    let _gateway = gateway(scratch.socket());
    let output = jet_run(&scratch.socket(), &["python3", "-c", PYTHON]);
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "198.51.100.1:3306\nECONNREFUSED\n");
    assert_eq!(said(&output), "");
    let output = jet_run(&scratch.socket(), &["sh", "-c", "kill -TERM $$"]);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15), "and ends as itself");
}

#[test]
fn a_program_that_cannot_be_caught_is_named_and_run() {
    let scratch = Scratch::new("static");
    let _gateway = gateway(scratch.socket());
    let program = built_static(&scratch, "int main(void) { return 5; }\n");
    let output = jet_run(&scratch.socket(), &[&program]);
    assert_eq!(output.status.code(), Some(5));
    assert!(said(&output).starts_with("warning: ") && said(&output).contains("linked statically"), "{}", said(&output));
}

#[test]
fn strict_does_not_start_what_cannot_be_caught() {
    let scratch = Scratch::new("not-started");
    let _gateway = gateway(scratch.socket());
    let refused = |program: &str, why: &str| {
        let output = strict(&scratch.socket(), &[program]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        for part in [why, "with --strict it is not started", "--redirect"] {
            assert!(said(&output).contains(part), "{part}: {}", said(&output));
        }
    };
    refused(&built_static(&scratch, "int main(void) { return 5; }\n"), "is linked statically");
    // A program with the section by which Go's are known.
    let (shell, go) = (fs::canonicalize("/bin/sh").unwrap(), scratch.0.join("go"));
    let section = format!(".go.buildinfo={}", scratch.0.join("main.c").display());
    let added = Command::new("objcopy").args(["--add-section", &section]).args([&shell, &go]).status().unwrap();
    assert!(added.success());
    refused(&go.display().to_string(), "is a Go program");
}

/// Connects to the port of loopback that it is told. Exit code: 0, or the error's number.
const CONNECT: &str = "
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
int main(int count, char **words)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
    inet_pton(AF_INET, \"127.0.0.1\", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 || connect(fd, (void *)&to, sizeof to) ? errno : 0;
}
";

/// What a caught program does under `--strict`, with a program that is not caught, and a port of loopback.
const STRICT: &str = "
import errno, os, socket, subprocess, sys
uncaught, port = sys.argv[1:]
def run(*words, **more):
    return subprocess.run(words, **more).returncode
s = socket.socket(); s.connect(('198.51.100.1', 3306)); print(s.recv(100).decode())
# Loopback is left alone, and names are asked for by UDP.
socket.create_connection(('localhost', int(port)))
assert socket.getaddrinfo('127.0.0.1', 80)
# What it starts and is not caught: static, or without the library.
assert run(uncaught, port) == errno.EPERM
bare = run('/usr/bin/env', '-i', sys.executable, '-c', 'import socket; socket.socket()', stderr=subprocess.DEVNULL)
assert bare == 1, bare
# Other ways to connect than connect(2).
try:
    socket.socket().sendto(b'?', 0x20000000, ('198.51.100.1', 3306))
    sys.exit('TCP Fast Open')
except PermissionError:
    pass
status = open('/proc/self/status').read()
assert 'NoNewPrivs:\\t1' in status and 'Seccomp:\\t2' in status
";

#[test]
fn strict_lets_nothing_out_that_is_not_caught() {
    let scratch = Scratch::new("strict");
    let _gateway = gateway(scratch.socket());
    let program = built_static(&scratch, CONNECT);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let output = strict(&scratch.socket(), &["python3", "-c", STRICT, &program, &port]).output().unwrap();
    assert_eq!(said(&output), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "198.51.100.1:3306\n");
    assert_eq!(output.status.code(), Some(0));
    // The caught program's connection has arrived, and no other.
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_ok() && listener.accept().is_err());
    // Without --strict the program would have connected.
    assert_eq!(Command::new(&program).arg(&port).status().unwrap().code(), Some(0));
}

const WITHOUT_GATEWAY: &str = "
import errno, os, socket, sys, time
while os.path.exists(sys.argv[1]):
    time.sleep(0.01)
print(errno.errorcode.get(socket.socket().connect_ex(('198.51.100.1', 3306)), 'connected'))
";

#[test]
fn strict_fails_when_the_gateway_has_gone() {
    let scratch = Scratch::new("gone");
    let (_runtime, door) = gateway(scratch.socket());
    let socket = scratch.socket().display().to_string();
    let mut program = strict(&scratch.socket(), &["python3", "-c", WITHOUT_GATEWAY, &socket]);
    let program = program.stdout(Stdio::piped()).spawn().unwrap();
    // By then `jet run` has asked whether there is a gateway.
    std::thread::sleep(std::time::Duration::from_secs(1));
    drop(door);
    assert_eq!(program.wait_with_output().unwrap().stdout, b"ENETDOWN\n");
}

#[test]
fn what_is_wrong_is_said_with_its_exit_code() {
    let scratch = Scratch::new("wrong");
    let output = jet_run(&scratch.socket(), &["true"]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(
        said(&output).contains(&format!("no gateway answers at {}", scratch.socket().display())),
        "{}",
        said(&output)
    );
    let output = jet_run(&scratch.socket(), &["no-such-program-anywhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot run no-such-program-anywhere: not found in PATH"), "{}", said(&output));
    let output = jet_run(&scratch.socket(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let _gateway = gateway(scratch.socket());
    let file = scratch.0.join("no-program");
    fs::write(&file, "").unwrap();
    let output = jet_run(&scratch.socket(), &[&file.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot run ") && said(&output).contains("ermission denied"), "{}", said(&output));
}
