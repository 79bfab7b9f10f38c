//! Studies: the runs of a published experiment, and their verdicts.

use crate::pool::make_all;
use crate::pool::run_one;
use crate::{Clock, Effort, Error, Holds, Inputs, Journal, STANDARD_INPUT, build_id, cpu_time, peak_bytes};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use study::{Plan, PlannedRun, Record, SCHEMA, Study, StudyOutcome, judge, names, page};

/// Extent of a study: short or full, and its seeds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Fewer points, fewer seeds, shorter runs.
    pub quick: bool,
    /// Seeds of each point, in place of the study's.
    pub seeds: Option<u32>,
}

/// A study's folder.
const STUDY: Holds = Holds { file: "study.json", schema: SCHEMA, what: "a study's folder" };

/// A study that the program holds, that of a folder with a `study.toml`, or `-`: `study.toml` from standard input, with
/// its scenarios from the working folder.
pub fn find(name: &str, inputs: &Inputs<'_>) -> Result<Study, Error> {
    if let Some(study) = Study::embedded(name) {
        return study.map_err(Error::Scenario);
    }
    let (folder, from_input) = if name == STANDARD_INPUT { (Path::new("."), true) } else { (Path::new(name), false) };
    if !from_input && !folder.join("study.toml").is_file() {
        if folder.file_name().is_some_and(|file| file == "study.toml") && folder.is_file() {
            let of = folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            return Err(Error::Input(format!("{name} is a file: a study is named by its folder, {}", of.display())));
        }
        let known = names();
        let near = match units::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? "),
            None => String::new(),
        };
        let all = known.join(", ");
        return Err(Error::Input(format!(
            "there is no study `{name}`, and no folder of that name with a study.toml; {near}there are: {all}"
        )));
    }
    let mut texts = Vec::new();
    if from_input {
        texts.push(("study.toml".to_owned(), inputs.text(Path::new(STANDARD_INPUT))?));
    }
    let entries = fs::read_dir(folder).map_err(|error| Error::reading(folder, &error))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.retain(|path| !from_input || !path.ends_with("study.toml"));
    paths.sort_by_key(|path| (!path.ends_with("study.toml"), path.clone()));
    for path in paths {
        let text = inputs.text(&path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        texts.push((name, text));
    }
    let name = folder.file_name().map_or_else(|| "study".to_owned(), |name| name.to_string_lossy().into_owned());
    Study::read(&name, texts).map_err(Error::Scenario)
}

/// Makes the runs of a study that an earlier call of this build has not kept in `target`, and judges all.
pub fn run(study: &Study, form: Form, target: &Path, effort: &Effort<'_>) -> Result<StudyOutcome, Error> {
    let clock = Clock::start();
    let before = cpu_time();
    let build = build_id();
    let plan = Plan::new(study, form.quick, form.seeds).map_err(Error::Scenario)?;
    let folder = Journal::open(target, STUDY, &study.name)?;
    let record = |run: &PlannedRun| Record::read(&folder.record(&Record::file_name(run))?, run, build);
    let mut records: Vec<Option<Record>> = plan.runs.iter().map(record).collect();
    let missing: Vec<usize> = (0..records.len()).filter(|index| records[*index].is_none()).collect();
    (0..records.len()).filter(|index| records[*index].is_some()).for_each(|index| effort.made_before(index));
    let kept = AtomicUsize::new(records.len() - missing.len());
    let made = make_all(&missing, effort, |index| {
        let run = &plan.runs[index];
        let result = run_one(&run.scenario, index, None, None, effort)?;
        let (text, record) = Record::of(run, &result, build).map_err(|error| Error::Input(error.to_string()))?;
        folder.keep(&Record::file_name(run), &text)?;
        kept.fetch_add(1, Ordering::Relaxed);
        Ok(record)
    });
    let with_note = |error| {
        let (kept, all) = (kept.load(Ordering::Relaxed), plan.runs.len());
        let note =
            format!("{kept} of {all} runs are kept in {}; the same command goes on from there", target.display());
        match error {
            Error::Interrupted => Error::Kept(note),
            Error::Output(message) if kept > 0 => Error::Output(format!("{message}\n{note}")),
            other => other,
        }
    };
    for (index, record) in missing.iter().zip(made.map_err(with_note)?) {
        records[*index] = Some(record);
    }
    let records: Vec<Record> = records.into_iter().flatten().collect();
    let outcome = judge(study, &plan, &records);
    effort.stop.look().map_err(with_note)?;
    folder.file("report.html", page(&outcome).as_bytes())?;
    folder.file("timing.json", timing(&clock, before.as_secs_f64(), missing.len()).as_bytes())?;
    folder.file("study.json", outcome.to_json().as_bytes())?;
    Ok(outcome)
}

/// The cost of a study as JSON. It is kept apart from the outcome, as it differs from machine to machine.
fn timing(clock: &Clock, before: f64, runs: usize) -> String {
    let timing = json!({
        "schema": "trunkline-timing/1",
        "runs": runs,
        "wall_s": clock.elapsed().as_secs_f64(),
        "cpu_s": cpu_time().as_secs_f64() - before,
        "peak_bytes": peak_bytes(),
    });
    format!("{timing:#}\n")
}
