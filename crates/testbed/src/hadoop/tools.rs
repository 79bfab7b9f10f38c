//! Programs of this machine: where they are, what version Java has, and running one to its end.

use super::HadoopError;
use super::layout::closed_to_daemons;
use nix::unistd::{AccessFlags, access};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Java runtime.
#[derive(Clone, Debug)]
pub struct Java {
    /// Its folder, as `JAVA_HOME` names it.
    pub home: PathBuf,
    /// Its version as it says it itself.
    pub version: String,
}

/// The oldest Java that runs Hadoop 3.5.
const OLDEST: u32 = 17;
const PACKAGE: &str = "apt-get install openjdk-17-jdk-headless";

impl Java {
    /// The one of `JAVA_HOME`, or else of the path.
    pub fn find() -> Result<Self, HadoopError> {
        let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let program = home.map(|home| home.join("bin/java")).filter(|java| java.is_file()).or_else(|| find("java"));
        let Some(program) = program.and_then(|java| java.canonicalize().ok()) else {
            return Err(HadoopError::missing("Java", PACKAGE));
        };
        let output = Command::new(&program).arg("-version").stdin(Stdio::null()).output();
        let output = output.map_err(HadoopError::system(format!("run {}", program.display())))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let version = said.split('"').nth(1).unwrap_or_default().to_owned();
        let major = version.split(['.', '-']).next().and_then(|major| major.parse::<u32>().ok()).unwrap_or(0);
        if major < OLDEST {
            let what = format!("Java {OLDEST} or newer (this is {version})");
            return Err(HadoopError::missing(what, PACKAGE));
        }
        let home = program.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned();
        if let Some(closed) = closed_to_daemons(&home.join("bin"))? {
            let message =
                format!("a Java that daemons can run: a user without rights may not enter {}", closed.display());
            return Err(HadoopError::missing(message, PACKAGE));
        }
        Ok(Self { home, version })
    }

    /// A program of the development kit.
    pub fn tool(&self, name: &str) -> Result<PathBuf, HadoopError> {
        let own = self.home.join("bin").join(name);
        let found = if own.is_file() { Some(own) } else { find(name) };
        found.ok_or_else(|| HadoopError::missing(format!("the program {name}"), PACKAGE))
    }
}

/// Where a program of the path is.
pub fn find(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let may_run = |file: &PathBuf| file.is_file() && access(file, AccessFlags::X_OK).is_ok();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(may_run)
}

/// Runs a program to its end; returns its output. What it said last is the reason if it fails.
pub fn finish(command: &mut Command) -> Result<Vec<u8>, HadoopError> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(HadoopError::system(format!("run {name}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    let said = last_lines(&String::from_utf8_lossy(&said), 4);
    Err(HadoopError::Failed(format!("{name} ended with {}: {said}", output.status)))
}

/// The last lines of a text that say something, in one.
pub fn last_lines(text: &str, count: usize) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).rev().take(count).collect();
    lines.reverse();
    lines.join("; ")
}
