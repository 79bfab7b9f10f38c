//! `trunkline sweep --dask`: the installed Python package has a Dask cluster make the runs, into the sweep's folder.

use crate::failure::Failure;
use crate::interrupt::{self, STOP};
use crate::sweep_args::Sweep as Words;
use ::sweep::Plan;
use runs::exit;
use rustix::process::{Pid, Signal, kill_process};
use std::env;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Which interpreter has the package.
const PYTHON: &str = "TRUNKLINE_PYTHON";
/// How often it is looked whether the package is done.
const LOOK: Duration = Duration::from_millis(50);
/// How long it has, after a wish to stop, to keep what has come back.
const PATIENCE: Duration = Duration::from_secs(3);

/// Hands the runs that the folder lacks to a scheduler. What is kept then is as if made here.
pub fn hand_out(words: &Words, plan: &Plan, address: &str, target: &Path) -> Result<(), Failure> {
    let python = env::var_os(PYTHON).filter(|name| !name.is_empty()).unwrap_or_else(|| OsString::from("python3"));
    same_build(&python, plan)?;
    let mut command = Command::new(&python);
    command.args(["-m", "trunkline", "hand-out"]).arg(&words.file).args(["--dask", address]).arg("--out").arg(target);
    for assignment in &words.assignments {
        command.args(["--set", assignment]);
    }
    if let Some(seeds) = words.seeds {
        command.args(["--seeds", &seeds.to_string()]);
    }
    if let Some(dataset) = &words.dataset {
        command.args(["--dataset", dataset]);
    }
    command.args(words.fresh.then_some("--fresh")).args(words.effort.quiet.then_some("--quiet"));
    // The child says what is kept: it is waited for.
    interrupt::limit(0);
    let child = command.stdin(Stdio::null()).spawn().map_err(|error| absent(&python, &error.to_string()))?;
    match waited(child)? {
        0 => Ok(()),
        code => Err(Failure::Program(code)),
    }
}

/// Refuses an interpreter without the package, or with one of other sources.
fn same_build(python: &OsString, plan: &Plan) -> Result<(), Failure> {
    let text = "import trunkline, distributed; print(trunkline.__version__, trunkline.BUILD)";
    let asked = Command::new(python).args(["-c", text]).stdin(Stdio::null()).output();
    let said = asked.map_err(|error| absent(python, &error.to_string()))?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr);
        return Err(absent(python, why.trim().lines().last().unwrap_or_default()));
    }
    let said = String::from_utf8_lossy(&said.stdout);
    let (version, build) = said.trim().split_once(' ').unwrap_or_default();
    if build == plan.build {
        return Ok(());
    }
    let short = |build: &str| build.chars().take(12).collect::<String>();
    Err(Failure::Input(format!(
        "the Python package is trunkline {version} of build {}, and this is {} of build {}: it may give other numbers",
        short(build),
        env!("CARGO_PKG_VERSION"),
        short(&plan.build)
    )))
}

fn absent(python: &OsString, why: &str) -> Failure {
    Failure::Missing(format!(
        "sweeps on Dask need the Python package trunkline[dask], which {} has not ({why}); {PYTHON} names another",
        python.to_string_lossy()
    ))
}

/// The exit code of the package. After a wish to stop it has a moment to end by itself.
fn waited(mut child: Child) -> Result<u8, Failure> {
    let lost = |error: io::Error| Failure::Internal(format!("the Python package cannot be waited for: {error}"));
    let mut since_asked = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait().map_err(lost)? {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.unwrap_or(if STOP.requested() { exit::INTERRUPTED } else { exit::INTERNAL }));
        }
        if STOP.requested() {
            if since_asked.is_zero() {
                // It hears Ctrl-C as this does, but not what is sent to this alone. Of two wishes it takes the first.
                let pid = Pid::from_child(&child);
                kill_process(pid, Signal::TERM).map_err(|error| lost(error.into()))?;
            }
            since_asked += LOOK;
            if since_asked > PATIENCE {
                child.kill().map_err(lost)?;
            }
        }
        thread::sleep(LOOK);
    }
}
