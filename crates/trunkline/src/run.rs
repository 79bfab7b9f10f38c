//! `trunkline run`.

use crate::args::Run;
use crate::clock::{self, Clock};
use crate::failure::Failure;
use crate::progress::Meter;
use crate::{compare, emit, import, interrupt, simulate, summary};
use hadoop::history::JobHistory;
use serde_json::json;
use sim::Tap;
use sim::import::Interface;
use sim::report::{self, Comparison, ReportData};
use sim::results::{Capture, Folder, Frame, Job, JobState, RunResult, to_json};
use sim::scenario::Scenario;
use std::io::BufWriter;
use std::path::Path;

/// Simulates a scenario once or over several seeds.
pub fn run(args: &Run) -> Result<(), Failure> {
    let mut scenario = simulate::load(&args.scenario, &args.change)?;
    let recorded = match &args.replay {
        Some(file) => Some(Recorded {
            job: import::replay(&mut scenario, file)?,
            interfaces: args.recorded.as_deref().map(import::settings).transpose()?.unwrap_or_default().interfaces,
        }),
        None => None,
    };
    if recorded.is_some() && args.runs == 1 {
        // One run stands for all: its attempts take what equal ones take on average.
        scenario.mapreduce.task_variation = 0.0;
    }
    let recorded = recorded.as_ref();
    if args.pcap.is_some() && args.runs > 1 {
        return Err(Failure::Input("--pcap is for a single run".to_owned()));
    }
    let target = args.out.clone().unwrap_or_else(|| Path::new("results").join(file_name(&scenario.name)));
    // Before the work: what cannot be written is better known now.
    let folder = Folder::create(&target)?;
    if args.runs == 1 {
        once(args, &scenario, recorded, folder, &target)
    } else {
        many(args, &scenario, recorded, folder, &target)
    }
}

/// The job that a run re-does, and what was counted at the interfaces meanwhile.
struct Recorded {
    job: JobHistory,
    interfaces: Vec<Interface>,
}

/// A name that is one part of a path.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    if name.trim_matches('.').is_empty() { "run".to_owned() } else { name }
}

fn once(
    args: &Run,
    scenario: &Scenario,
    recorded: Option<&Recorded>,
    folder: Folder,
    target: &Path,
) -> Result<(), Failure> {
    let clock = Clock::start();
    let meter = Meter::new(1, args.effort.quiet);
    let result = match &args.pcap {
        None => simulate::run_into((&folder, ""), scenario, 0, None, &meter),
        Some(link) => captured(scenario, link, &folder, &meter),
    };
    meter.finish();
    let result = result?;
    let comparison = recorded.map(|job| beside(&result, job));
    write(&folder, "", scenario, &result, comparison.clone())?;
    folder.file("timing.json", timing(&clock, Some(result.network.hops)).as_bytes())?;
    commit(folder)?;
    if args.json {
        emit(&to_json(&result))?;
    } else {
        emit(&summary::of(&result))?;
        if let Some(comparison) = &comparison {
            emit(&summary::of_comparison(comparison))?;
        }
        emit(&format!("\nresults: {0}, the page: {0}/report.html\n", target.display()))?;
    }
    if let Some(stall) = &result.stall {
        return Err(Failure::Job(stall.to_string()));
    }
    result.jobs.iter().try_for_each(failed)
}

/// Runs with the packets of a link written to a capture in the folder.
fn captured(scenario: &Scenario, link: &str, folder: &Folder, meter: &Meter) -> Result<RunResult, Failure> {
    let name = format!("{}.pcapng", file_name(link));
    let refused = |error| Failure::from(folder.failed(&name, error));
    let nodes: Vec<String> = scenario.nodes().into_iter().map(|node| node.name).collect();
    let file = BufWriter::new(folder.open(&name).map_err(refused)?);
    let mut capture = Capture::new(file, link, &nodes).map_err(refused)?;
    let mut written = Ok(());
    let mut take = |packet: &sim::transport::Captured| {
        if written.is_ok() {
            written = capture.frame(&Frame {
                at: packet.at,
                from: packet.from,
                to: packet.to,
                from_port: packet.from_port,
                to_port: packet.to_port,
                segment: &packet.segment,
            });
        }
    };
    let result = simulate::run_into((folder, ""), scenario, 0, Some(Tap { link, take: &mut take }), meter)?;
    written.and_then(|()| capture.finish()).map_err(refused)?;
    Ok(result)
}

fn many(
    args: &Run,
    scenario: &Scenario,
    recorded: Option<&Recorded>,
    folder: Folder,
    target: &Path,
) -> Result<(), Failure> {
    let clock = Clock::start();
    let scenarios = simulate::seeds(scenario, args.runs);
    let runs = simulate::run_all_into(Some(&folder), &scenarios, &args.effort, |index, result| {
        let seeded = &scenarios[index];
        let comparison = recorded.map(|job| beside(&result, job));
        write(&folder, &simulate::prefix(seeded), seeded, &result, comparison)?;
        Ok(compare::Figures::of(&result))
    })?;
    let digest = scenario.digest();
    let summary = compare::Summary::new(&scenario.name, &digest, &runs);
    folder.file("runs.json", summary.to_json().as_bytes())?;
    folder.file("timing.json", timing(&clock, None).as_bytes())?;
    commit(folder)?;
    if args.json {
        emit(&summary.to_json())?;
    } else {
        emit(&summary.to_text())?;
        emit(&format!("\nresults: {}\n", target.display()))?;
    }
    runs.iter().find_map(|run| run.failure.clone()).map_or(Ok(()), |reason| Err(Failure::Job(reason)))
}

/// A run beside the recorded job that it re-does.
fn beside(result: &RunResult, recorded: &Recorded) -> Comparison {
    let Recorded { job, interfaces } = recorded;
    let note = format!("{}: attempts start where and when they did; what follows is simulated.", job.id);
    Comparison::with_actual(result, job, interfaces, &note)
}

fn write(
    folder: &Folder,
    prefix: &str,
    scenario: &Scenario,
    result: &RunResult,
    comparison: Option<Comparison>,
) -> Result<(), Failure> {
    if interrupt::requested() {
        return Err(Failure::Interrupted);
    }
    folder.run(prefix, result)?;
    folder.file(&format!("{prefix}scenario.toml"), scenario.to_toml().as_bytes())?;
    let page = report::render(&ReportData { comparison, ..ReportData::new(result, Some(scenario)) });
    folder.file(&format!("{prefix}report.html"), page.as_bytes())?;
    Ok(())
}

fn commit(folder: Folder) -> Result<(), Failure> {
    if interrupt::requested() {
        return Err(Failure::Interrupted);
    }
    Ok(folder.commit()?)
}

/// What the run cost, apart from its result because it differs from machine to machine.
fn timing(clock: &Clock, hops: Option<u64>) -> String {
    let cpu = clock::cpu_time().as_secs_f64();
    let timing = json!({
        "schema": "trunkline-timing/1",
        "wall_s": clock.elapsed().as_secs_f64(),
        "cpu_s": cpu,
        "hops": hops,
        "hops_per_cpu_s": hops.map(|hops| hops as f64 / cpu.max(1e-9)),
        "peak_bytes": clock::peak_bytes(),
    });
    format!("{timing:#}\n")
}

/// The failure of a job that did not succeed.
fn failed(job: &Job) -> Result<(), Failure> {
    match failure_of(job) {
        Some(reason) => Err(Failure::Job(reason)),
        None => Ok(()),
    }
}

/// Why a job did not succeed.
pub fn failure_of(job: &Job) -> Option<String> {
    match job.state {
        JobState::Succeeded => None,
        JobState::Failed => Some(format!("{}: {}", job.name, job.reason)),
        JobState::Unfinished => Some(format!("{}: it had not finished when the run ended (run.until)", job.name)),
    }
}
