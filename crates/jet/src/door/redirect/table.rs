//! A table of rules that lasts as long as this process and no longer.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use super::DoorError;

/// A table held by an `nft` process that waits for more input. When the pipe ends, because this is dropped or the
/// process was killed, `nft` ends, and the kernel removes the table that it owns (`flags owner`, Linux 5.12).
#[derive(Debug)]
pub struct Table {
    name: String,
    nft: Child,
    input: Option<Arc<Mutex<ChildStdin>>>,
}

/// Gives commands to the owner of a table, as long as the table is there.
#[derive(Clone, Debug)]
pub struct Orders {
    /// The table's name.
    pub table: String,
    input: Weak<Mutex<ChildStdin>>,
}

impl Orders {
    /// Gives one line of commands. Blocks while `nft` is busy.
    pub fn give(&self, commands: &str) -> io::Result<()> {
        let input = self.input.upgrade().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(input, "{commands}")
    }
}

/// Interval and limit of the wait for the rules to come into force.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: usize = 500;

impl Table {
    /// Adds a table by commands in one line.
    pub fn install(name: &str, commands: &str) -> Result<Self, DoorError> {
        check(commands)?;
        let mut nft = Command::new("nft");
        // In a process group of its own, so that Ctrl-C does not reach it before the gateway has ended.
        nft.arg("-i").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut nft = nft.spawn().map_err(|cause| missing(&cause))?;
        let input = nft.stdin.take().map(|input| Arc::new(Mutex::new(input)));
        let table = Self { name: name.to_owned(), nft, input };
        let deaf = |cause| DoorError::Redirection(format!("nft does not listen: {cause}"));
        table.orders().give(commands).map_err(deaf)?;
        for _ in 0..LOOKS {
            let listed = Command::new("nft")
                .args(["list", "table", "inet", name])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if listed.is_ok_and(|status| status.success()) {
                return Ok(table);
            }
            thread::sleep(LOOK);
        }
        Err(DoorError::Redirection("nft has not put the rules in force".to_owned()))
    }
    /// For commands that change the table later.
    pub fn orders(&self) -> Orders {
        Orders { table: self.name.clone(), input: self.input.as_ref().map(Arc::downgrade).unwrap_or_default() }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.input = None;
        // `nft` ends by itself now; until it has, the rules stand.
        let _ = self.nft.wait();
    }
}

/// Whether the kernel would accept the rules, without installing them: nft reports errors only this way.
fn check(commands: &str) -> Result<(), DoorError> {
    let mut nft = Command::new("nft");
    let mut nft = nft
        .args(["-c", "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|cause| missing(&cause))?;
    let written = nft.stdin.take().map_or(Ok(()), |mut input| writeln!(input, "{commands}"));
    let output = nft.wait_with_output().map_err(|cause| missing(&cause))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return written.map_err(|cause| missing(&cause));
    }
    let cause = said.lines().next().unwrap_or("nft has failed without a word").to_owned();
    if cause.contains("not permitted") {
        return Err(DoorError::Capability {
            what: "a redirection",
            needs: "CAP_NET_ADMIN in its network namespace",
            cause,
        });
    }
    Err(DoorError::Capability {
        what: "a redirection",
        needs: "nf_tables with NAT, fib and owned tables (Linux 5.12) in this kernel",
        cause,
    })
}

fn missing(cause: &io::Error) -> DoorError {
    DoorError::Capability { what: "a redirection", needs: "nft (Debian: nftables)", cause: cause.to_string() }
}
