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
    let mut run = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    run.args(["jet", "run", "--gateway"]).arg(socket).arg("--").args(command);
    // The library to be preloaded goes to the test's folder.
    run.env("CACHE_DIRECTORY", socket.with_file_name("cache")).stdin(Stdio::null()).output().expect("it runs")
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
    let (source, program) = (scratch.0.join("main.c"), scratch.0.join("main"));
    fs::write(&source, "int main(void) { return 5; }\n").unwrap();
    assert!(Command::new("cc").arg("-static").arg(&source).arg("-o").arg(&program).status().unwrap().success());
    let output = jet_run(&scratch.socket(), &[&program.display().to_string()]);
    assert_eq!(output.status.code(), Some(5));
    assert!(said(&output).starts_with("warning: ") && said(&output).contains("linked statically"), "{}", said(&output));
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
