//! `trunkline study`.

use crate::args;
use crate::clock::{self, Clock};
use crate::failure::Failure;
use crate::study_folder::Folder;
use crate::{emit, interrupt, simulate, study_text};
use serde_json::json;
use sim::study::{Outcome, Plan, Record, Study, judge, names, page};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Runs studies, or lists them.
pub fn study(args: &args::Study) -> Result<(), Failure> {
    if args.names.iter().any(|name| name == "list") {
        return list();
    }
    let mut chosen: Vec<String> = Vec::new();
    for name in &args.names {
        match name.as_str() {
            "all" => chosen.extend(names().into_iter().map(str::to_owned)),
            name => chosen.push(name.to_owned()),
        }
    }
    // All are read before the first is run: what is wrong with the last is better known now.
    let mut studies = chosen.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    if !args.figures.is_empty() {
        for study in &mut studies {
            study.keep_figures(&args.figures).map_err(Failure::Input)?;
        }
    }
    let program = program()?;
    let out = args.out.clone().unwrap_or_else(|| Path::new("results").join("studies"));
    let mut outcomes = Vec::new();
    for study in &studies {
        let form = if args.quick { format!("{}-quick", study.name) } else { study.name.clone() };
        let outcome = run(args, study, &program, &out.join(form))?;
        if !args.json {
            emit(&study_text::of(&outcome))?;
            let form = if args.quick { "-quick" } else { "" };
            emit(&format!(
                "\nresults: {0}, the page: {0}/report.html\n\n",
                out.join(format!("{}{form}", study.name)).display()
            ))?;
        }
        outcomes.push(outcome);
    }
    match (&outcomes[..], args.json) {
        ([outcome], true) => emit(&outcome.to_json()),
        (outcomes, true) => emit(&format!("{:#}\n", json!(outcomes))),
        ([_], false) => Ok(()),
        (outcomes, false) => emit(&study_text::of_all(outcomes)),
    }
}

fn list() -> Result<(), Failure> {
    let line = |name: &str| Ok(format!("{name:<18} {}", find(name)?.file.title));
    let lines = names().into_iter().map(line).collect::<Result<Vec<_>, Failure>>()?;
    emit(&format!("{}\n", lines.join("\n")))
}

/// A study of the program, or of a folder.
fn find(name: &str) -> Result<Study, Failure> {
    if let Some(study) = Study::embedded(name) {
        return study.map_err(Failure::Scenario);
    }
    let folder = Path::new(name);
    if !folder.join("study.toml").is_file() {
        let known = names();
        let near = match units::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? "),
            None => String::new(),
        };
        let all = known.join(", ");
        return Err(Failure::Input(format!(
            "there is no study `{name}`, and no folder of that name with a study.toml; {near}there are: {all}"
        )));
    }
    let mut texts = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| Failure::reading(folder, &error))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort_by_key(|path| (!path.ends_with("study.toml"), path.clone()));
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| Failure::reading(&path, &error))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        texts.push((name, text));
    }
    let name = folder.file_name().map_or_else(|| "study".to_owned(), |name| name.to_string_lossy().into_owned());
    Study::read(&name, texts).map_err(Failure::Scenario)
}

/// Names this build: the hash of its own file. Records of another build are not gone on from.
fn program() -> Result<String, Failure> {
    let bytes = std::env::current_exe().and_then(fs::read);
    let bytes = bytes.map_err(|error| Failure::Internal(format!("cannot read the program's own file: {error}")))?;
    let words = bytes.chunks(8).map(|chunk| chunk.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte)));
    let hash =
        words.fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(5));
    Ok(format!("{hash:016x}"))
}

fn run(args: &args::Study, study: &Study, program: &str, target: &Path) -> Result<Outcome, Failure> {
    let clock = Clock::start();
    let before = clock::cpu_time();
    let plan = Plan::new(study, args.quick, args.seeds).map_err(Failure::Scenario)?;
    let folder = Folder::open(target, &study.name)?;
    let mut records: Vec<Option<Record>> = plan.runs.iter().map(|run| folder.record(run, program)).collect();
    let missing: Vec<usize> = (0..records.len()).filter(|index| records[*index].is_none()).collect();
    let scenarios: Vec<_> = missing.iter().map(|index| plan.runs[*index].scenario.clone()).collect();
    let kept = Mutex::new(records.len() - missing.len());
    let made = simulate::run_all(&scenarios, &args.effort, |index, result| {
        let run = &plan.runs[missing[index]];
        let (text, record) = Record::of(run, &result, program).map_err(|error| Failure::Input(error.to_string()))?;
        folder.keep(run, &text)?;
        *kept.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Ok(record)
    });
    let stopped = |failure| match failure {
        Failure::Interrupted => {
            let kept = *kept.lock().unwrap_or_else(PoisonError::into_inner);
            let all = plan.runs.len();
            Failure::Kept(format!(
                "{kept} of {all} runs are kept in {}; the same command goes on from there",
                target.display()
            ))
        }
        other => other,
    };
    for (index, record) in missing.iter().zip(made.map_err(stopped)?) {
        records[*index] = Some(record);
    }
    let records: Vec<Record> = records.into_iter().flatten().collect();
    let outcome = judge(study, &plan, &records);
    if interrupt::requested() {
        return Err(stopped(Failure::Interrupted));
    }
    folder.file("report.html", page(&outcome).as_bytes())?;
    folder.file("timing.json", timing(&clock, before.as_secs_f64(), missing.len()).as_bytes())?;
    folder.file("study.json", outcome.to_json().as_bytes())?;
    Ok(outcome)
}

/// What the study cost this time, apart from its outcome because it differs from machine to machine.
fn timing(clock: &Clock, before: f64, runs: usize) -> String {
    let timing = json!({
        "schema": "trunkline-timing/1",
        "runs": runs,
        "wall_s": clock.elapsed().as_secs_f64(),
        "cpu_s": clock::cpu_time().as_secs_f64() - before,
        "peak_bytes": clock::peak_bytes(),
    });
    format!("{timing:#}\n")
}
