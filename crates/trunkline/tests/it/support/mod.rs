//! What tests of the command line share.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::Duration;

/// A folder of its own for a test, gone at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("written");
        path
    }
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
    pub fn has(&self, name: &str) -> bool {
        self.0.join(name).symlink_metadata().is_ok()
    }
    pub fn names(&self) -> Vec<String> {
        names(&self.0)
    }
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.args(args).current_dir(&self.0).env("NO_COLOR", "1").env_remove("COLUMNS").stdin(Stdio::null());
        command
    }
    pub fn trunkline(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it starts")
    }
    /// Starts it; what it prints is not looked at.
    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }
    /// With this text as standard input.
    pub fn fed(&self, args: &[&str], input: &str) -> Output {
        let file = self.file("input", input);
        let input = fs::File::open(file).expect("there");
        self.command(args).stdin(input).output().expect("it starts")
    }
    /// Waits for something to be there.
    pub fn wait_for(&self, what: impl Fn(&Self) -> bool) {
        for _ in 0..6000 {
            if what(self) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("still missing after a minute: {:?}", self.names());
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The names in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Sends a signal to a process that a test started.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// How it ended, if it ends in that time.
pub fn ends_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let clock = runs::Clock::start();
    while clock.elapsed() < time {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The recorded jobs, as they stand in the tree of `sim`.
pub fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/traces")
}
