//! What `trunkline import` says of the scenario that it has written: predicted beside recorded, and what is assumed.

use crate::emit;
use crate::failure::Failure;
use crate::number::off_by;
use crate::screen::Screen;
use crate::table::Table;
use history::JobState;
use history::import::{Imported, ImportedMany};
use results::RunResult;
use runs::{BUDGET, Check, Checked, Effort, JobLine, Line, failure_in, reproduce};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// What is asked of the check.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Leave it out.
    pub none: bool,
    /// A job that is not reproduced is an error.
    pub strict: bool,
    /// The scenario itself goes to standard output.
    pub to_output: bool,
}

/// Fits the imported job and runs it once: before it is written, as the fit changes it.
pub fn fit(imported: &mut Imported, asked: Asked, effort: &Effort<'_>) -> Result<Option<Checked>, Failure> {
    if asked.none && imported.record.is_none() {
        return Ok(None);
    }
    Ok(Some(reproduce(imported, BUDGET, effort)?))
}

/// Says how near the scenario comes to the record, once it is written.
pub fn report(imported: &Imported, checked: Option<&Checked>, asked: Asked) -> Result<(), Failure> {
    tell(assumptions(imported), checked, asked, |result| {
        let check = runs::check(imported, result);
        let mut notes = String::new();
        if let Some(reason) = failure_in(result) {
            let recorded = imported.job.state != JobState::Succeeded;
            let what = if recorded { "the recorded job did not succeed" } else { "the simulated job fails" };
            let _ = writeln!(notes, "{what}: {reason}");
        }
        Compared { table: table(&check), notes, far: verdict(&check) }
    })
}

/// Jobs that the table names: those that err most.
const ROWS: usize = 40;

/// Says how near the scenario of many jobs comes to each job's record, once it is written.
pub fn report_all(imported: &ImportedMany, checked: Option<&Checked>, asked: Asked) -> Result<(), Failure> {
    tell(String::new(), checked, asked, |result| {
        let mut lines = runs::check_all(imported, result);
        let (all, near) = (lines.len(), lines.iter().filter(|line| line.holds()).count());
        if all > ROWS {
            let error = |line: &JobLine| line.error().map_or(f64::INFINITY, f64::abs);
            lines.sort_by(|a, b| error(b).total_cmp(&error(a)));
            lines.truncate(ROWS);
        }
        let far = format!("{} of {all} jobs are not within 10 % of their recorded time", all - near);
        Compared { table: jobs(&lines, all), notes: String::new(), far: (near < all).then_some(far) }
    })
}

/// A run beside the record.
pub struct Compared {
    /// Recorded beside predicted figures.
    pub table: String,
    /// What else is to be said, in whole lines.
    pub notes: String,
    /// What is not reproduced.
    pub far: Option<String>,
}

/// Prints the table, and on standard error what stands in `aside` and what is to be known of the check.
pub fn tell(
    mut aside: String,
    checked: Option<&Checked>,
    asked: Asked,
    compare: impl FnOnce(&RunResult) -> Compared,
) -> Result<(), Failure> {
    let mut far = None;
    if let Some(checked) = checked.filter(|_| !asked.none) {
        if let Some(result) = &checked.result {
            let compared = compare(result);
            if checked.by_flows {
                let _ = writeln!(aside, "with flows in place of packets: {}", exhausted());
            }
            if asked.to_output {
                aside.push_str(&compared.table);
            } else {
                emit(&compared.table)?;
            }
            if checked.exhausted && !checked.by_flows {
                let _ = writeln!(aside, "the fit is not finished: {}", exhausted());
            }
            aside.push_str(&compared.notes);
            far = compared.far;
        } else {
            let _ = writeln!(aside, "not checked: {}", exhausted());
        }
    }
    if let (Some(far), false) = (&far, asked.strict) {
        let _ = writeln!(aside, "warning: {far}");
    }
    let _ = io::stderr().lock().write_all(aside.as_bytes());
    match far {
        Some(far) if asked.strict => Err(Failure::Input(far)),
        _ => Ok(()),
    }
}

/// Recorded beside predicted times of jobs, from launch to finish.
fn jobs(lines: &[JobLine], all: usize) -> String {
    let mut table = Table::new(["job, launch to finish", "recorded", "predicted", "error"]);
    for line in lines {
        let predicted = line.predicted.map_or_else(|| "no end".to_owned(), |seconds| format!("{seconds:.1} s"));
        let error = percent(line.error(), !line.holds());
        table.row([line.job.clone(), format!("{:.1} s", line.recorded), predicted, error]);
    }
    let mut text = table.shown(&Screen::of_output());
    if all > lines.len() {
        let _ = writeln!(text, "and {} more that err less", all - lines.len());
    }
    text
}

/// An error in a table, marked if it is one to name.
pub fn percent(error: Option<f64>, far: bool) -> String {
    let mark = if far { " *" } else { "" };
    error.map_or_else(String::new, |error| format!("{}{mark}", off_by(error)))
}

fn exhausted() -> String {
    format!("a run takes more than the {} CPU seconds that an import may take", BUDGET.as_secs())
}

/// What is wrong with a job that is not reproduced.
fn verdict(check: &Check) -> Option<String> {
    let job = check.lines.first().filter(|_| !check.holds())?;
    let mut text = format!("the scenario does not reproduce its job: {}", beside(job));
    if let Some(line) = check.blamed() {
        let _ = write!(text, "; most of it is in \"{}\": {}", line.name, beside(line));
    }
    Some(text)
}

fn beside(line: &Line) -> String {
    format!("{:.1} {unit} where {:.1} {unit} are recorded", line.predicted, line.recorded, unit = line.unit)
}

fn table(check: &Check) -> String {
    let mut table = Table::new(["", "recorded", "predicted", "error"]);
    for line in &check.lines {
        let figure = |value: f64| format!("{value:.1} {}", line.unit);
        let error = percent(line.error(), line.is_far());
        table.row([line.name.to_owned(), figure(line.recorded), figure(line.predicted), error]);
    }
    table.shown(&Screen::of_output())
}

fn assumptions(imported: &Imported) -> String {
    if imported.assumed.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["assumed", "value", "why"]).of_texts();
    for assumption in &imported.assumed {
        table.row([assumption.key.clone(), assumption.value.clone(), assumption.why.clone()]);
    }
    table.shown(&Screen::of_output())
}
