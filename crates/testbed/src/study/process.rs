//! A server, gateway or program that runs in a namespace until it is ended.

use super::TrialError;
use crate::link::{Clock, Namespace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use units::Time;

/// A process. Dropping it sends SIGTERM, then SIGKILL.
pub struct Process {
    child: Child,
    name: String,
    log: PathBuf,
    ended: bool,
}

/// Time for a process to end after SIGTERM.
const GRACE: Time = Time::from_secs(5);
/// Polling interval of waiting loops.
pub const LOOK: Duration = Duration::from_millis(5);

impl Process {
    /// Starts the process. Its standard error goes to a log.
    pub fn start(at: &Namespace, mut command: Command, name: &str, logs: &Path) -> Result<Self, TrialError> {
        let log = logs.join(format!("{name}.log"));
        let starting = |error: io::Error| TrialError::system(format!("start {name}"))(error);
        let errors = File::create(&log).map_err(starting)?;
        // A process group of its own: signals of the terminal reach us, and we pass them on.
        command.stdin(Stdio::null()).stderr(errors).process_group(0);
        let child = at.spawn(&mut command).map_err(starting)?;
        Ok(Self { child, name: name.to_owned(), log, ended: false })
    }

    /// The standard output, if it was piped.
    pub fn take_stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.stdout.take()
    }

    /// How it ended, if it has.
    pub fn status(&mut self) -> Result<Option<ExitStatus>, TrialError> {
        let status = self.child.try_wait().map_err(TrialError::system(format!("wait for {}", self.name)))?;
        self.ended |= status.is_some();
        Ok(status)
    }

    /// The last lines of its log.
    pub fn said(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).rev().take(4).collect();
        lines.reverse();
        lines.join("; ")
    }

    /// CPU time used by the process and its threads.
    pub fn cpu_s(&self) -> f64 {
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // Fields 14 and 15, counted from the end of the name, which may hold anything.
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_ascii_whitespace()).into_iter().flatten();
        fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / ticks
    }

    /// Ends the process: SIGTERM, then SIGKILL after a while.
    pub fn end(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        let pid = Pid::from_raw(self.child.id() as i32);
        // A process that has just ended needs no signal.
        let _ = kill(pid, Signal::SIGTERM);
        let clock = Clock::start();
        while clock.now() < GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits until `is_so` holds, at most for `within`. `what` names the event in an error.
    pub fn until(
        &mut self,
        what: &str,
        within: Time,
        stop: &(dyn Fn() -> bool + Sync),
        mut is_so: impl FnMut() -> bool,
    ) -> Result<(), TrialError> {
        let clock = Clock::start();
        loop {
            if is_so() {
                return Ok(());
            }
            if stop() {
                return Err(TrialError::Interrupted);
            }
            if let Some(status) = self.status()? {
                return Err(TrialError::Failed(format!("{} ended early ({status}): {}", self.name, self.said())));
            }
            if clock.now() > within {
                let said = self.said();
                return Err(TrialError::Failed(format!("{} did not {what} within {within}: {said}", self.name)));
            }
            thread::sleep(LOOK * 4);
        }
    }

    /// Waits until something listens at a TCP port of a namespace. It is not tried by a connection, which some servers
    /// take for the first client.
    pub fn until_it_listens(
        &mut self,
        at: &Namespace,
        port: u16,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), TrialError> {
        let table = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        let listens = || ["tcp", "tcp6"].iter().any(|name| lists_a_listener(&table(name), port));
        self.until("listen", Time::from_secs(60), stop, || at.within(listens).unwrap_or(false))
    }
}

/// Whether the kernel's table of sockets has one that listens at a port: the local address ends with it, in
/// hexadecimal, and the state is 0A.
fn lists_a_listener(table: &str, port: u16) -> bool {
    let at_port = format!(":{port:04X}");
    table.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        fields.next().is_some_and(|local| local.ends_with(&at_port)) && fields.nth(1) == Some("0A")
    })
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs a program here to its end; returns its output.
pub fn finish(command: &mut Command) -> Result<Vec<u8>, TrialError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(TrialError::system(format!("run {name}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(TrialError::Failed(format!("{name} ended with {}: {said}", output.status)))
}

/// Makes a folder new and empty.
pub fn fresh(folder: &Path) -> Result<(), TrialError> {
    let made = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    };
    made.map_err(TrialError::system(format!("make the folder {}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_by_port_and_state() {
        // /proc/net/tcp of Linux 6.18, its first columns: a listener at 198.19.2.2:5201, and a connection to port 80.
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
             0: 020213C6:1451 00000000:0000 0A 00000000:00000000\n   \
             1: 020213C6:9C40 020113C6:0050 01 00000000:00000000\n";
        assert!(lists_a_listener(table, 5_201));
        assert!(!lists_a_listener(table, 40_000), "connected");
        assert!(!lists_a_listener(table, 80), "the other end");
        assert!(!lists_a_listener(table, 20_817), "0x5151");
    }
}
