//! One run into a folder.

use crate::pool::run_one;
use crate::spark::beside;
use crate::{Clock, Effort, Error, Folder, Stop, cpu_time, peak_bytes};
use history::JobHistory;
use history::import::Counted;
use history::spark::SparkImported;
use results::page::{self, Comparison, ReportData};
use results::{Capture, Frame, RunResult};
use scenario::{Fidelity, Scenario};
use serde_json::json;
use sim::{TakeFlows, Tap};
use std::io::BufWriter;
use std::path::Path;

/// What a run has to do with the recorded job beside which its page shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Attempts start where and when they did.
    Replayed,
    /// The scenario was made of the job; the scheduler decides where and when attempts start.
    Made,
    /// The scenario was made of the job and changed since: the record is no yardstick of what it predicts.
    Changed,
}

/// The recorded job that a run re-does, and what was counted of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The job.
    pub job: JobHistory,
    /// How near the run is to it.
    pub likeness: Likeness,
    /// What was counted of the recorded run beside its history.
    pub counted: Counted,
    /// What else is to be known of the record, a sentence.
    pub remark: Option<String>,
}

/// What pages say of runs beside their results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// The recorded job that they re-do.
    pub recorded: Option<&'a Recorded>,
    /// The recorded application of Spark that they were made of.
    pub application: Option<&'a SparkImported>,
    /// What was laid over the scenario's file: assignments `section.key=value`.
    pub changes: &'a [String],
}

impl<'a> From<Option<&'a Recorded>> for Told<'a> {
    fn from(recorded: Option<&'a Recorded>) -> Self {
        Self { recorded, ..Self::default() }
    }
}

impl Told<'_> {
    /// The changes as a reader takes them: `network.rate = 10 Mbit/s`.
    pub(crate) fn changes(&self) -> Vec<String> {
        self.changes.iter().map(|assignment| change_words(assignment)).collect()
    }
}

/// An assignment as a reader takes it: blanks around the sign, no quotes around a text.
pub fn change_words(assignment: &str) -> String {
    let Some((key, value)) = assignment.split_once('=') else { return assignment.to_owned() };
    let value = value.trim();
    let quoted = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    let plain = quoted('"').or_else(|| quoted('\'')).filter(|inner| !inner.contains(['"', '\'']));
    format!("{} = {}", key.trim(), plain.unwrap_or(value))
}

/// The outcome of a run, beside its folder.
#[derive(Clone, Debug)]
pub struct Single {
    /// The result.
    pub result: RunResult,
    /// The comparison with the recorded job, if it replays one.
    pub comparison: Option<Comparison>,
}

/// Runs a scenario once. `target` receives all results or none, and earlier results there are replaced. `capture` names
/// a link whose packets are written there too.
pub fn single<'a>(
    scenario: &Scenario,
    told: impl Into<Told<'a>>,
    capture: Option<&str>,
    target: &Path,
    effort: &Effort<'_>,
) -> Result<Single, Error> {
    let clock = Clock::start();
    // Before the run, so that a path that cannot be written is found at once.
    let folder = Folder::create(target)?;
    let result = match capture {
        None => run_into(&folder, scenario, 0, None, effort),
        Some(link) => captured(scenario, link, &folder, effort),
    }?;
    let comparison = write(&folder, scenario, &result, &told.into(), effort.stop)?;
    folder.file("timing.json", timing(&clock, result.network.map(|network| network.hops)).as_bytes())?;
    effort.stop.look()?;
    folder.commit()?;
    Ok(Single { result, comparison })
}

/// Runs a scenario whose table of connections, if it cannot be held, goes into a folder during the run.
pub(crate) fn run_into(
    folder: &Folder,
    scenario: &Scenario,
    position: usize,
    tap: Option<Tap<'_>>,
    effort: &Effort<'_>,
) -> Result<RunResult, Error> {
    let nodes = scenario.nodes().into_iter().map(|node| node.name).collect();
    let mut flows = folder.flows(nodes, scenario.run.fidelity == Fidelity::Flow);
    let take: TakeFlows<'_> = &mut |rows| flows.take(rows);
    let result = run_one(scenario, position, tap, Some(take), effort)?;
    flows.finish()?;
    Ok(result)
}

/// Runs with the packets of a link written to a capture in the folder.
fn captured(scenario: &Scenario, link: &str, folder: &Folder, effort: &Effort<'_>) -> Result<RunResult, Error> {
    let name = format!("{}.pcapng", file_name(link));
    let refused = |error| Error::from(folder.failed(&name, error));
    let nodes: Vec<String> = scenario.nodes().into_iter().map(|node| node.name).collect();
    let file = BufWriter::new(folder.open(&name).map_err(refused)?);
    let mut capture = Capture::new(file, link, &nodes).map_err(refused)?;
    let mut written = Ok(());
    let mut take = |packet: &transport::Captured| {
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
    let result = run_into(folder, scenario, 0, Some(Tap { link, take: &mut take }), effort)?;
    written.and_then(|()| capture.finish()).map_err(refused)?;
    Ok(result)
}

/// Writes the files of a run. Returns the comparison with the recorded job that it replays.
pub(crate) fn write(
    folder: &Folder,
    scenario: &Scenario,
    result: &RunResult,
    told: &Told<'_>,
    stop: &Stop,
) -> Result<Option<Comparison>, Error> {
    folder.run(result, stop)?;
    folder.file("scenario.toml", scenario.to_toml().as_bytes())?;
    let data = report(scenario, result, told);
    stop.look()?;
    folder.file("report.html", page::render(&data).as_bytes())?;
    Ok(data.comparison)
}

/// The page of a run, as it stands in its folder.
pub fn page_of(scenario: &Scenario, result: &RunResult, told: &Told<'_>) -> String {
    page::render(&report(scenario, result, told))
}

fn report(scenario: &Scenario, result: &RunResult, told: &Told<'_>) -> ReportData {
    let comparison = told.recorded.and_then(|recorded| {
        let how = match recorded.likeness {
            Likeness::Replayed => "attempts start where and when they did; what follows is simulated",
            Likeness::Made => "the simulated scheduler decides where and when attempts start",
            Likeness::Changed => return None,
        };
        let remark = recorded.remark.as_ref().map_or_else(String::new, |remark| format!(" {remark}"));
        let note = format!("{}: {how}.{remark}", recorded.job.id);
        Some(Comparison::with_actual(result, &recorded.job, &recorded.counted, &note))
    });
    let comparison = comparison.or_else(|| beside(told.application?, result));
    let mut data = ReportData::new(result, Some(scenario));
    if let Some(recorded) = told.recorded {
        data = data.beside(&recorded.job, result);
    }
    ReportData { comparison, changes: told.changes(), ..data }
}

/// Makes a name safe as one part of a path.
pub fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    if name.trim_matches('.').is_empty() { "run".to_owned() } else { name }
}

/// The cost of a run as JSON. It is kept apart from the result, as it differs from machine to machine.
pub(crate) fn timing(clock: &Clock, hops: Option<u64>) -> String {
    let cpu = cpu_time().as_secs_f64();
    let timing = json!({
        "schema": "trunkline-timing/1",
        "wall_s": clock.elapsed().as_secs_f64(),
        "cpu_s": cpu,
        "hops": hops,
        "hops_per_cpu_s": hops.map(|hops| hops as f64 / cpu.max(1e-9)),
        "peak_bytes": peak_bytes(),
    });
    format!("{timing:#}\n")
}
