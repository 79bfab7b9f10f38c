//! Runs a program: words, no shell, bounded in time and in what it may print.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// Where programs are, whatever the environment says.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// A drive has 30 s to answer out of standby (hdparm(8)); twice that, and then it hangs.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two looks whether it has ended.
const STEP: Duration = Duration::from_millis(10);
/// What is kept of what it prints.
const KEPT: u64 = 65_536;

/// What a program has said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) out: Vec<u8>,
    err: Vec<u8>,
}

impl Ran {
    /// Whether it went well; else how it ended and what it said.
    pub(crate) fn succeeded(&self, name: &str) -> Result<(), String> {
        if self.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(if self.err.is_empty() { &self.out } else { &self.err });
        let said = said.lines().map(str::trim).find(|line| !line.is_empty() && !line.ends_with(':')).unwrap_or("");
        let said: String = said.chars().filter(|c| !c.is_control()).take(200).collect();
        Err(format!("{name}: {}{}{said}", self.status, if said.is_empty() { "" } else { ": " }))
    }
}

/// Runs it to its end.
pub(crate) fn run(words: &[String]) -> Result<Ran, String> {
    let Some((name, arguments)) = words.split_first() else { return Err("no program is given".to_owned()) };
    let mut command = Command::new(name);
    command.args(arguments).env_clear().env("PATH", PATH).env("LC_ALL", "C").current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // `Command` looks in the PATH of the child for words without a slash.
    let mut child = command.spawn().map_err(|error| format!("{name} does not start: {error}"))?;
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let status = wait(&mut child).map_err(|error| format!("{name}: {error}"))?;
    let status = status.ok_or_else(|| format!("{name} did not end within {} s", PATIENCE.as_secs()))?;
    Ok(Ran { status, out: out.join().unwrap_or_default(), err: err.join().unwrap_or_default() })
}

/// Waits; `None` if it had to be ended.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let mut left = PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if left.is_zero() {
            let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
}

/// Reads to the end, and keeps the beginning.
fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(pipe) = pipe {
            let mut limited = pipe.take(KEPT);
            let _ = limited.read_to_end(&mut kept);
            let _ = io::copy(&mut limited.into_inner(), &mut io::sink());
        }
        kept
    })
}

/// Whether there is such a program.
pub(crate) fn is_there(name: &str) -> bool {
    let is_file = |path: &Path| path.metadata().is_ok_and(|found| found.is_file());
    if name.contains('/') {
        return is_file(Path::new(name));
    }
    std::env::split_paths(&OsString::from(PATH)).any(|folder: PathBuf| is_file(&folder.join(name)))
}
