//! The runs of a plan: what is missing is made, on all cores, and kept as soon as it is there.

use crate::plan::{Plan, PlannedRun};
use crate::record::Record;
use crate::surface::{SCHEMA, Surface};
use crate::table::table;
use runs::{Effort, Error, Holds, Journal, make_all, run_scenario};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A share of a plan's runs: the K-th of N, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    number: u32,
    of: u32,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if number >= 1 && number <= of => Ok(Self { number, of }),
            _ => Err("a share is written K/N, as 2/8: the second of eight, from 1/8 to 8/8".to_owned()),
        }
    }
}

impl Share {
    /// Whether it has the run at this position: runs are dealt out like cards.
    pub const fn has(self, position: usize) -> bool {
        position as u64 % self.of as u64 == self.number as u64 - 1
    }
}

/// How a sweep is made.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Only these runs.
    pub only: Option<Share>,
    /// Folders of the same sweep whose finished runs are taken over.
    pub from: Vec<PathBuf>,
    /// Make all runs anew.
    pub fresh: bool,
}

/// What has become of a plan.
#[derive(Clone, Debug)]
pub struct Made {
    /// The surface, if all runs are there.
    pub surface: Option<Surface>,
    /// The records of all runs in the order of the plan, if all are there.
    pub records: Vec<Record>,
    /// Runs that are there.
    pub there: usize,
    /// Runs that this call made.
    pub made: usize,
}

/// What the folder of a sweep holds.
const FOLDER: Holds = Holds { file: "sweep.json", schema: SCHEMA, what: "a sweep's folder" };

/// Makes the runs of a plan that `target` has not, and where all are there writes `sweep.parquet`, `report.html` and
/// `sweep.json`.
pub fn make(plan: &Plan, asked: &Asked, target: &Path, effort: &Effort<'_>) -> Result<Made, Error> {
    let journal = open(plan, target)?;
    asked.from.iter().try_for_each(|from| {
        if !from.join("runs").is_dir() {
            return Err(Error::Input(format!("{} is not a sweep's folder: it has no folder `runs`", from.display())));
        }
        same_build(plan, from)
    })?;
    let mut records: Vec<Option<Record>> = Vec::with_capacity(plan.runs.len());
    for run in &plan.runs {
        effort.stop.look()?;
        records.push(if asked.fresh { None } else { known(plan, run, &journal, &asked.from)? });
    }
    (0..records.len())
        .filter(|position| records[*position].is_some())
        .for_each(|position| effort.made_before(position));
    let wanted = |position: &usize| records[*position].is_none() && asked.only.is_none_or(|share| share.has(*position));
    let mut missing: Vec<usize> = (0..records.len()).filter(wanted).collect();
    in_turn(plan, &mut missing);
    let there = AtomicUsize::new(records.iter().flatten().count());
    let made = make_all(&missing, effort, |position| {
        let run = &plan.runs[position];
        let result = plan.scenario_of(run, effort.stop).and_then(|scenario| run_scenario(&scenario, position, effort));
        let result = result.map_err(|error| at(plan, run, error))?;
        let (text, record) = Record::of(plan, run, &result)?;
        journal.keep(&Record::file_name(run), &text)?;
        there.fetch_add(1, Ordering::Relaxed);
        Ok(record)
    });
    let kept = || {
        let (there, all) = (there.load(Ordering::Relaxed), plan.runs.len());
        format!("{there} of {all} runs are kept in {}; the same command goes on from there", target.display())
    };
    let with_note = |error| match error {
        Error::Interrupted => Error::Kept(kept()),
        Error::Output(message) => Error::Output(format!("{message}\n{}", kept())),
        other => other,
    };
    let made = made.map_err(with_note)?;
    let count = made.len();
    for (position, record) in missing.into_iter().zip(made) {
        records[position] = Some(record);
    }
    if asked.only.is_some() {
        // Another share may have ended meanwhile.
        for (run, record) in plan.runs.iter().zip(&mut records).filter(|(_, record)| record.is_none()) {
            *record = known(plan, run, &journal, &[])?;
        }
    }
    let there = records.iter().flatten().count();
    if there < records.len() {
        return Ok(Made { surface: None, records: Vec::new(), there, made: count });
    }
    let records: Vec<Record> = records.into_iter().flatten().collect();
    let surface = Surface::of(plan, &records);
    effort.stop.look().map_err(|_| Error::Kept(kept()))?;
    let mut parquet = Vec::new();
    table(plan, &records).write(&mut parquet).map_err(|error| Error::Internal(error.to_string()))?;
    journal.file("sweep.parquet", &parquet)?;
    journal.file("report.html", surface.page().as_bytes())?;
    journal.file(FOLDER.file, surface.to_json().as_bytes())?;
    Ok(Made { surface: Some(surface), records, there, made: count })
}

/// Opens the folder of a sweep, which no other build may have filled.
pub(crate) fn open(plan: &Plan, target: &Path) -> Result<Journal, Error> {
    same_build(plan, target)?;
    let journal = Journal::open(target, FOLDER, &plan.sweep.name)?;
    if build_of(target).is_none() {
        let mark = json!({ "schema": SCHEMA, "name": plan.sweep.name, "build": plan.build, "unfinished": true });
        journal.file(FOLDER.file, format!("{mark:#}\n").as_bytes())?;
    }
    Ok(journal)
}

/// Puts runs in the order in which they are made: all points on the first seed come before any on the second, so that
/// an interrupted sweep has seen the whole surface.
pub(crate) fn in_turn(plan: &Plan, positions: &mut [usize]) {
    let seeds = plan.seeds.len().max(1);
    positions.sort_by_key(|position| (position % seeds, *position));
}

/// The record of a run that an earlier call, or another folder, has kept.
pub(crate) fn known(
    plan: &Plan,
    run: &PlannedRun,
    journal: &Journal,
    from: &[PathBuf],
) -> Result<Option<Record>, Error> {
    let name = Record::file_name(run);
    if let Some(record) = journal.record(&name).and_then(|text| Record::read(&text, plan, run)) {
        return Ok(Some(record));
    }
    for folder in from {
        let Ok(text) = fs::read_to_string(folder.join("runs").join(&name)) else { continue };
        if let Some(record) = Record::read(&text, plan, run) {
            journal.keep(&name, &text)?;
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// The build that filled a folder.
fn build_of(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(FOLDER.file)).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    value.get("build")?.as_str().map(str::to_owned)
}

/// Refuses a folder that another build filled: it may give other numbers, and a table has those of one.
fn same_build(plan: &Plan, folder: &Path) -> Result<(), Error> {
    let Some(build) = build_of(folder).filter(|build| *build != plan.build) else { return Ok(()) };
    let records = fs::read_dir(folder.join("runs")).map_or(0, Iterator::count);
    if records == 0 {
        return Ok(());
    }
    let (other, own) = (&build[..build.len().min(12)], &plan.build[..12]);
    Err(Error::Input(format!(
        "{0} holds {records} runs of another build of trunkline ({other}; this one is {own}), which may give other \
         numbers; they are left as they are: name another --out, or remove {0} to make them again",
        folder.display()
    )))
}

/// An error of a run, with the point that it is of.
fn at(plan: &Plan, run: &PlannedRun, error: Error) -> Error {
    let place = || format!("at {}, seed {}", plan.words(run.point), run.seed);
    match error {
        Error::Input(message) => Error::Input(format!("{}: {message}", place())),
        Error::Internal(message) => Error::Internal(format!("{}: {message}", place())),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn shares_deal_out_every_run_once() {
        let shares: Vec<Share> = (1..=3).map(|number| format!("{number}/3").parse().expect("a share")).collect();
        for position in 0..20 {
            assert_eq!(shares.iter().filter(|share| share.has(position)).count(), 1, "{position}");
        }
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "1/3/5", "-1/3"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
