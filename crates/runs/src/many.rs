//! Runs of several seeds into one folder. Finished runs are kept even if others fail.

use crate::folder::{move_to_place, place_of};
use crate::partial::Partial;
use crate::pool::make_all;
use crate::single::{run_into, timing, write};
use crate::{Clock, Compared, Effort, Error, Figures, Folder, RunsPage, Summary, Told, kept, seeds};
use scenario::Scenario;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The outcome of several seeds, beside their folder.
#[derive(Clone, Debug)]
pub struct Many {
    /// The scenario's name.
    pub name: String,
    /// The scenario's digest.
    pub digest: String,
    /// The figures of each seed.
    pub runs: Vec<Figures>,
    /// Number of runs reused from an earlier call.
    pub reused: usize,
}

impl Many {
    /// Means over the runs.
    pub fn summary(&self) -> Summary<'_> {
        Summary { name: &self.name, digest: &self.digest, runs: &self.runs }
    }
}

/// Runs a scenario with `runs` seeds. When all have finished, `target` has a folder for each seed. Until then, and
/// after an interruption or an error, finished seeds are in `.NAME.unfinished` beside it. A seed that an earlier call
/// of this build has finished for the same scenario is not run again, unless `fresh`.
pub fn many<'a>(
    scenario: &Scenario,
    runs: u32,
    told: impl Into<Told<'a>>,
    target: &Path,
    fresh: bool,
    effort: &Effort<'_>,
) -> Result<Many, Error> {
    let (clock, told) = (Clock::start(), told.into());
    let scenarios = seeds(scenario, runs);
    let unfinished = Unfinished::open(target)?;
    let build = kept::build_id();
    let keys: Vec<String> = scenarios.iter().map(|scenario| kept::key(build, scenario, &told)).collect();
    let mut figures: Vec<Option<Figures>> = Vec::with_capacity(keys.len());
    unfinished.retain(&scenarios)?;
    for (scenario, key) in scenarios.iter().zip(&keys) {
        figures.push(if fresh { None } else { unfinished.kept(scenario, key) });
    }
    let missing: Vec<usize> = (0..keys.len()).filter(|position| figures[*position].is_none()).collect();
    let reused = keys.len() - missing.len();
    (0..keys.len()).filter(|position| figures[*position].is_some()).for_each(|position| effort.made_before(position));
    let made = make_all(&missing, effort, |position| {
        let seeded = &scenarios[position];
        let folder = unfinished.seed(seeded)?;
        let result = run_into(&folder, seeded, position, None, effort)?;
        let comparison = write(&folder, seeded, &result, &told, effort.stop)?;
        let compared = comparison.as_ref().map(Compared::rows).unwrap_or_default();
        let (text, figures) = kept::text(&keys[position], Figures { compared, ..Figures::of(&result) });
        folder.file(kept::FILE, text.as_bytes())?;
        folder.commit()?;
        Ok(figures)
    });
    let made = made.map_err(|error| unfinished.with_note(error, &scenarios))?;
    for (position, made) in missing.into_iter().zip(made) {
        figures[position] = Some(made);
    }
    let runs: Vec<Figures> = figures.into_iter().flatten().collect();
    let many = Many { name: scenario.name.clone(), digest: scenario.digest(), runs, reused };
    let finished = effort.stop.look().and_then(|()| {
        unfinished.file("runs.json", &many.summary().to_json())?;
        unfinished.file("report.html", &RunsPage::of_seeds(&many.summary(), told.changes()).render())?;
        unfinished.file("timing.json", &timing(&clock, None))?;
        Ok(move_to_place(unfinished.partial.path(), &unfinished.place, &unfinished.target)?)
    });
    finished.map_err(|error| unfinished.with_note(error, &scenarios))?;
    Ok(many)
}

/// The folder in which finished seeds wait for the others.
struct Unfinished {
    /// The path as the caller gave it, for messages.
    target: PathBuf,
    /// That path with symbolic links resolved.
    place: PathBuf,
    partial: Partial,
}

/// The name of the folder of a seed.
fn folder_name(scenario: &Scenario) -> String {
    format!("seed-{}", scenario.run.seed)
}

impl Unfinished {
    fn open(target: &Path) -> Result<Self, Error> {
        let place = place_of(target)?;
        let partial = Partial::unfinished(&place).map_err(|error| Error::writing(target, &error))?;
        let Some(partial) = partial else {
            let message = format!("another run is writing to {}: wait for it, or name another --out", target.display());
            return Err(Error::Output(message));
        };
        Ok(Self { target: target.to_owned(), place, partial })
    }

    /// Removes all but the folders of these seeds.
    fn retain(&self, scenarios: &[Scenario]) -> Result<(), Error> {
        let names: Vec<String> = scenarios.iter().map(folder_name).collect();
        let remove = || -> io::Result<()> {
            for entry in fs::read_dir(self.partial.path())? {
                let entry = entry?;
                if names.iter().any(|name| entry.file_name() == **name) {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    fs::remove_dir_all(entry.path())
                } else {
                    fs::remove_file(entry.path())
                }?;
            }
            Ok(())
        };
        remove().map_err(|error| Error::writing(self.partial.path(), &error))
    }

    /// The figures of a finished run of that key, from an interrupted call or a completed one.
    fn kept(&self, scenario: &Scenario, key: &str) -> Option<Figures> {
        let own = self.partial.path().join(folder_name(scenario));
        if let Some(figures) = kept::read(&own, key) {
            return Some(figures);
        }
        let finished = self.place.join(folder_name(scenario));
        let figures = kept::read(&finished, key)?;
        let _ = fs::remove_dir_all(&own);
        let copied = copy(&finished, &own).is_ok();
        if !copied {
            let _ = fs::remove_dir_all(&own);
        }
        copied.then_some(figures)
    }

    /// Opens the folder of a seed.
    fn seed(&self, scenario: &Scenario) -> Result<Folder, Error> {
        let name = folder_name(scenario);
        Ok(Folder::at(self.partial.path().join(&name), &self.target.join(&name))?)
    }

    fn file(&self, name: &str, text: &str) -> Result<(), Error> {
        let written = fs::write(self.partial.path().join(name), text);
        written.map_err(|error| Error::writing(&self.target.join(name), &error))
    }

    /// The error with a note on finished runs that are kept.
    fn with_note(&self, error: Error, scenarios: &[Scenario]) -> Error {
        let is_kept = |scenario: &&Scenario| self.partial.path().join(folder_name(scenario)).join(kept::FILE).is_file();
        let (count, all) = (scenarios.iter().filter(is_kept).count(), scenarios.len());
        if count == 0 {
            return error;
        }
        let place = self.partial.path().display();
        let note = format!("{count} of {all} runs are kept in {place}; the same command goes on from there");
        match error {
            Error::Interrupted => Error::Kept(note),
            Error::Output(message) => Error::Output(format!("{message}\n{note}")),
            other => other,
        }
    }
}

/// Copies the files of a folder, by links where the file system has them: nobody changes a result.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    let mut last = None;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name() == kept::FILE {
            last = Some(entry);
            continue;
        }
        link(&entry.path(), &to.join(entry.file_name()))?;
    }
    // The record comes last: it says that the other files are complete.
    last.map_or(Ok(()), |entry| link(&entry.path(), &to.join(kept::FILE)))
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ()))
}
