//! `trunkline testbed study`.
//!
//! What it starts (servers, gateways, programs, mounts) lives in a process namespace and a mount namespace of its own:
//! when its first process ends, however that happens, the kernel ends the others and unmounts what they mounted. What
//! it writes for servers lies in a folder that is locked; the next call removes those whose lock nobody holds.

use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::Table;
use crate::testbed::{code, wait_for};
use crate::testbed_args::Study as Args;
use crate::{emit, interrupt};
use runs::{Clock, write_whole};
use serde_json::json;
use std::fmt::Write;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use testbed::study::{
    Absent, Cell, Figure, Kept, Only, Record, Stock, Study, Trial, TrialError, csv, markdown, missing,
};

/// The one who started it is gone, or wants it to end.
static LEFT_ALONE: AtomicBool = AtomicBool::new(false);
/// How long it has to clean up after that.
const GRACE: Duration = Duration::from_secs(20);
/// The beginning of the names of folders for servers.
const SCRATCH: &str = "trunkline-testbed-";

/// A study as it was asked for.
struct Asked<'a> {
    args: &'a Args,
    study: Study,
    cells: Vec<Cell>,
    /// Where its results go.
    out: PathBuf,
}

/// Measures, or lists what would be.
pub fn study(args: &Args) -> Result<(), Failure> {
    if args.names.iter().any(|name| name == "list") {
        return list();
    }
    // All are read before the first is measured.
    let asked = args.names.iter().map(|name| Asked::new(args, name)).collect::<Result<Vec<_>, _>>()?;
    if args.list {
        return asked.iter().try_for_each(|asked| emit(&asked.list()));
    }
    if args.tables {
        return asked.iter().try_for_each(Asked::write);
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::Input(
            "a study makes network namespaces and starts servers: it has to be run as root".to_owned(),
        ));
    }
    match &args.inside {
        Some(scratch) => {
            watch_standard_input();
            hide_run_folder()?;
            asked.iter().try_for_each(|asked| asked.measure(scratch))
        }
        None => enclose(args),
    }
}

/// Prints the studies that are built in.
fn list() -> Result<(), Failure> {
    let mut table = Table::new(["study", "what it measures"]).of_texts();
    for name in Study::built_in_names() {
        table.row([name.to_owned(), Study::read(name)?.title]);
    }
    emit(&table.shown(&Screen::of_output()))
}

impl<'a> Asked<'a> {
    fn new(args: &'a Args, name: &str) -> Result<Self, Failure> {
        let study = Study::read(name)?;
        let mut cells = Only::choose(&args.only, study.cells(args.quick).to_vec()).map_err(Failure::Input)?;
        if args.time.is_some() {
            for cell in cells.iter_mut().filter(|cell| cell.program.time.is_some()) {
                Arc::make_mut(&mut cell.program).time = args.time;
            }
        }
        let form = if args.quick { format!("{}-quick", study.name) } else { study.name.clone() };
        let out = args.out.clone().unwrap_or_else(|| Path::new("results").join("testbed")).join(form);
        Ok(Self { args, study, cells, out })
    }

    fn records(&self) -> PathBuf {
        self.out.join("cells")
    }

    /// What is kept of a cell and need not be measured again.
    fn kept(&self, cell: &Cell) -> Option<Record> {
        match Record::read(&self.records(), cell, self.study.late) {
            Kept::Good(record) if !self.args.redo => Some(*record),
            Kept::Doubtful(record) if !self.args.redo && self.args.keep_late => Some(*record),
            _ => None,
        }
    }

    fn list(&self) -> String {
        let mut text = String::new();
        let mut seconds = 0.0;
        for cell in &self.cells {
            let state = match Record::read(&self.records(), cell, self.study.late) {
                Kept::Good(_) => "measured",
                Kept::Doubtful(_) => "measured late, or failed",
                Kept::Nothing => "-",
            };
            seconds += if self.kept(cell).is_some() { 0.0 } else { cell.expected_s() };
            let _ = writeln!(text, "{:<60} {state}", cell.id());
        }
        let count = self.cells.len();
        let (name, minutes) = (&self.study.name, (seconds / 60.0).ceil());
        let _ = writeln!(text, "{name}: {count} cells; to be measured, about {minutes:.0} min");
        text
    }

    /// Measures what is not kept, and writes what came out.
    fn measure(&self, scratch: &Path) -> Result<(), Failure> {
        let folder = self.records();
        fs::create_dir_all(&folder).map_err(|error| Failure::writing(&folder, &error))?;
        let program = std::env::current_exe().map_err(|error| Failure::Internal(error.to_string()))?;
        let mut absent = Vec::new();
        let mut to_do: Vec<&Cell> = self.cells.iter().filter(|cell| self.kept(cell).is_none()).collect();
        to_do.retain(|cell| {
            let lacks = missing(cell).map(|error| error.to_string());
            absent.extend(lacks.clone().filter(|lacks| !absent.contains(lacks)));
            lacks.is_none()
        });
        for lacks in &absent {
            eprintln!("{lacks}; what needs it is left out");
        }
        let own = scratch.join(&self.study.name);
        fs::create_dir(&own).map_err(|error| Failure::writing(&own, &error))?;
        let mut stock = Stock::new(&own, &program, to_do.iter().copied()).map_err(failure)?;
        let clock = Clock::start();
        let stop = || interrupt::requested() || LEFT_ALONE.load(Ordering::Relaxed);
        for (index, cell) in to_do.iter().enumerate() {
            if !self.args.quiet {
                eprint!("{} of {}, {:.0} s: {} ... ", index + 1, to_do.len(), clock.elapsed().as_secs_f64(), cell.id());
            }
            let said = match (Trial { cell, stock: &mut stock, stop: &stop }).run() {
                Ok(record) => {
                    record.keep(&folder, cell).map_err(failure)?;
                    told(cell, &record)
                }
                Err(TrialError::Interrupted) => {
                    if !self.args.quiet {
                        eprintln!("interrupted");
                    }
                    return Err(Failure::Kept(format!(
                        "{index} more cells are kept in {}; the same command goes on from there",
                        folder.display()
                    )));
                }
                // What this machine cannot do it cannot do for the next cell either.
                Err(error @ TrialError::Link(_)) => return Err(failure(error)),
                Err(error) => format!("not measured: {error}"),
            };
            if !self.args.quiet {
                eprintln!("{said}");
            }
        }
        self.write()
    }

    /// The programs without any measurement on a path, for want of a tool.
    fn absent(&self, measured: &[(Cell, Record)]) -> Vec<Absent> {
        let mut absent: Vec<Absent> = Vec::new();
        for cell in &self.cells {
            let (path, program) = (&cell.path.name, &cell.program.name);
            let same = |other: &Cell| other.path.name == *path && other.program.name == *program;
            if measured.iter().any(|(other, _)| same(other))
                || absent.iter().any(|other| other.path == *path && other.program == *program)
            {
                continue;
            }
            if let Some(TrialError::Missing { program: tool, .. }) = missing(cell) {
                absent.push(Absent { program: program.clone(), path: path.clone(), tool });
            }
        }
        absent
    }

    /// Writes and prints what is kept.
    fn write(&self) -> Result<(), Failure> {
        let of = |cell: &Cell| match Record::read(&self.records(), cell, self.study.late) {
            Kept::Good(record) | Kept::Doubtful(record) => Some((cell.clone(), *record)),
            Kept::Nothing => None,
        };
        let measured: Vec<(Cell, Record)> = self.cells.iter().filter_map(of).collect();
        let absent = self.absent(&measured);
        let table = markdown(&self.study, &measured, &absent, self.args.quick);
        let records: Vec<&Record> = measured.iter().map(|(_, record)| record).collect();
        let results = json!({
            "schema": "trunkline-testbed-study/1",
            "name": self.study.name,
            "title": self.study.title,
            "quick": self.args.quick,
            "cells": records,
            "rows": testbed::study::rows(&measured),
        });
        let results = format!("{results:#}\n");
        write_whole(&self.out.join("table.md"), table.as_bytes())?;
        write_whole(&self.out.join("results.csv"), csv(&measured).as_bytes())?;
        write_whole(&self.out.join("results.json"), results.as_bytes())?;
        if self.args.json {
            return emit(&results);
        }
        emit(&format!("{table}\n{} of {} cells; results: {}\n", measured.len(), self.cells.len(), self.out.display()))
    }
}

/// A cell in a few words.
fn told(cell: &Cell, record: &Record) -> String {
    let outcome = &record.outcome;
    let shown = |figure: &Figure| {
        let Figure { metric, value } = *figure;
        format!("{} {:.2} {}", metric.name(), value * metric.scale(), metric.unit())
    };
    let figures = outcome.figures(cell).iter().map(shown).collect::<Vec<_>>().join(", ");
    let late = record
        .late
        .as_ref()
        .map_or_else(String::new, |_| format!(", {:.2} % of frames late", 100.0 * record.late_share));
    match &outcome.wrong {
        Some(wrong) => format!("failed: {wrong}"),
        None => format!("{:.2} s, {figures}{late}", outcome.wall_s),
    }
}

fn failure(error: TrialError) -> Failure {
    match error {
        TrialError::Link(error) => error.into(),
        TrialError::Interrupted => Failure::Interrupted,
        TrialError::Failed(_) => Failure::Input(error.to_string()),
        TrialError::Missing { .. } => Failure::Missing(error.to_string()),
        TrialError::System { .. } => Failure::Output(error.to_string()),
    }
}

/// Does the same in namespaces of processes and mounts that end with it.
fn enclose(args: &Args) -> Result<(), Failure> {
    let scratch = Scratch::new(args.scratch.as_deref())?;
    let internal = |error: io::Error| Failure::Internal(format!("cannot start in a namespace of processes: {error}"));
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "--"]);
    command.arg(std::env::current_exe().map_err(internal)?).args(std::env::args_os().skip(1));
    command.arg("--inside").arg(&scratch.folder).stdin(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Missing("unshare is not installed: apt-get install util-linux".to_owned()),
        _ => internal(error),
    })?;
    // The end of this is what it takes for the wish to stop, however this process ends.
    let input = child.stdin.take();
    match wait_for(child, GRACE + Duration::from_secs(5), || drop(input)).map(code) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure::Program(code)),
        // The one inside has said what is kept.
        Err(interrupted @ Failure::Interrupted) => Err(Failure::Program(interrupted.code())),
        Err(failure) => Err(failure),
    }
}

/// Inside: servers find a folder for their state that is theirs alone; sshd insists on one there.
fn hide_run_folder() -> Result<(), Failure> {
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"]).stdin(Stdio::null()).status();
    match mounted {
        Ok(status) if status.success() => {}
        _ => return Err(Failure::Missing("this host does not let mount a file system of its own at /run".to_owned())),
    }
    fs::create_dir("/run/sshd").map_err(|error| Failure::writing(Path::new("/run/sshd"), &error))
}

/// Inside: ends with whoever holds the other end of standard input.
fn watch_standard_input() {
    thread::spawn(|| {
        let mut byte = [0];
        while io::stdin().read(&mut byte).is_ok_and(|length| length > 0) {}
        LEFT_ALONE.store(true, Ordering::Relaxed);
        thread::sleep(GRACE);
        std::process::exit(130);
    });
}

/// A folder for what servers serve, removed when this is dropped.
struct Scratch {
    folder: PathBuf,
    #[expect(dead_code, reason = "locked as long as this is held")]
    lock: File,
}

impl Scratch {
    fn new(parent: Option<&Path>) -> Result<Self, Failure> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let writing = |error: io::Error| Failure::writing(&parent, &error);
        let parent = parent.canonicalize().map_err(writing)?;
        clean(&parent).map_err(writing)?;
        let folder = parent.join(format!("{SCRATCH}{}", std::process::id()));
        DirBuilder::new().mode(0o711).create(&folder).map_err(|error| Failure::writing(&folder, &error))?;
        let lock = File::create(folder.join("lock")).and_then(|lock| lock.lock().map(|()| lock));
        match lock {
            Ok(lock) => Ok(Self { folder, lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&folder);
                Err(Failure::writing(&folder, &error))
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is by the next one.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folders of calls that were killed: ours, and locked by nobody.
fn clean(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let of_us = entry.file_name().to_string_lossy().starts_with(SCRATCH)
            && entry.metadata().is_ok_and(|at| at.is_dir() && at.uid() == rustix::process::geteuid().as_raw());
        if !of_us {
            continue;
        }
        let lock = File::open(entry.path().join("lock"));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
