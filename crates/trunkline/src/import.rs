//! `trunkline import`, and the history that `run --replay` follows.

use crate::args::{History, Import};
use crate::emit;
use crate::failure::Failure;
use hadoop::history::{self, Format, JobHistory};
use sim::import::{self, Hosts, ImportError, Settings, Sources};
use sim::scenario::Scenario;
use std::fs;
use std::path::Path;

/// Turns a history into a scenario.
pub fn import(args: &Import) -> Result<(), Failure> {
    let (format, jobs) = read(&args.file)?;
    let of_format = match format {
        Format::AvroBinary | Format::AvroJson => History::Jhist,
        Format::Rumen => History::Rumen,
        Format::Sls => History::Sls,
    };
    if of_format != args.format {
        let name = format!("{of_format:?}").to_lowercase();
        return Err(Failure::Input(format!("{} is a history of format {name}", args.file.display())));
    }
    let job = pick(&args.file, jobs, args.job.as_deref())?;
    let cluster = match &args.cluster {
        None => None,
        Some(path) => Some((path.display().to_string(), text(path)?)),
    };
    let settings = args.run.as_deref().map(settings).transpose()?;
    let writer = match &args.written_by {
        None => None,
        Some(path) => Some(pick(path, read(path)?.1, None)?),
    };
    let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let imported =
        import::import(&job, &Sources { cluster, settings, writer: writer.as_ref() }).map_err(|error| match error {
            ImportError::Scenario(error) => Failure::Scenario(error),
            other => Failure::Input(format!("{}: {other}", args.file.display())),
        })?;
    match &args.output {
        None => emit(&imported.to_toml()),
        Some(path) => write_whole(path, &imported.to_toml()),
    }
}

/// Gives the scenario's job the plan that a history records, and returns the recorded job. Where and when it started are given, and the machines are as fast as
/// they are on average.
pub fn replay(scenario: &mut Scenario, file: &Path) -> Result<JobHistory, Failure> {
    let (_, mut jobs) = read(file)?;
    let named = |job: &JobHistory| scenario.name.contains(&job.id);
    let job = match jobs.iter().position(named) {
        Some(index) => jobs.swap_remove(index),
        None => pick(file, jobs, None)?,
    };
    let hosts = Hosts::of(&job, Some(scenario.cluster.workers));
    if hosts.workers() > scenario.cluster.workers {
        let (needs, has) = (hosts.workers(), scenario.cluster.workers);
        return Err(Failure::Input(format!(
            "{} names {needs} hosts, and the scenario has {has} workers",
            file.display()
        )));
    }
    let [planned] = scenario.job.as_mut_slice() else {
        return Err(Failure::Input("--replay is for a scenario of one job".to_owned()));
    };
    planned.plan = Some(import::replay(&job, &hosts));
    scenario.node.variation = 0.0;
    Ok(job)
}

/// A recorded run's description.
pub fn settings(path: &Path) -> Result<Settings, Failure> {
    Settings::parse(&text(path)?).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

fn read(file: &Path) -> Result<(Format, Vec<JobHistory>), Failure> {
    let bytes = fs::read(file).map_err(|error| Failure::reading(file, &error))?;
    history::read(&bytes).map_err(|error| Failure::Input(format!("{}: {error}", file.display())))
}

fn pick(file: &Path, mut jobs: Vec<JobHistory>, id: Option<&str>) -> Result<JobHistory, Failure> {
    let ids: Vec<_> = jobs.iter().take(20).map(|job| job.id.clone()).collect();
    let known = || format!("its jobs: {}{}", ids.join(", "), if jobs.len() > ids.len() { ", ..." } else { "" });
    let index = match id {
        Some(id) => jobs.iter().position(|job| job.id == id),
        None if jobs.len() == 1 => Some(0),
        None => {
            return Err(Failure::Input(format!(
                "{} has several jobs: name one with --job; {}",
                file.display(),
                known()
            )));
        }
    };
    match index {
        Some(index) => Ok(jobs.swap_remove(index)),
        None => Err(Failure::Input(format!("{} has no job {}; {}", file.display(), id.unwrap_or_default(), known()))),
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))
}

/// Writes a file beside its place and moves it there.
fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".partial-{}", std::process::id()));
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&partial);
        Failure::writing(path, &error)
    })
}
