//! `trunkline compare RUN --fidelity packet,real`: a recorded job, simulated several times, beside what happened.

use crate::args::Compare;
use crate::compare::default_target;
use crate::failure::Failure;
use crate::import_check::{Asked, fit};
use crate::interrupt::STOP;
use crate::number::off_by;
use crate::progress::Meter;
use crate::recorded_run::{self, RecordedRun};
use crate::screen::Screen;
use crate::table::Table;
use crate::{emit, failure};
use history::import::Counted;
use results::Estimate;
use runs::{
    Comparison, Effort, Figures, Folder, Inputs, Likeness, Recorded, RunsPage, Summary, change_words, run_all, seeds,
};
use scenario::Scenario;
use serde_json::{Value, json};

/// The word for what was recorded.
pub const REAL: &str = "real";

/// Simulates a recorded job at the fidelities that are named, and puts the figures beside those of the record.
pub fn compare_real(args: &Compare) -> Result<(), Failure> {
    let versions: Vec<&str> = args.fidelity.iter().map(String::as_str).filter(|version| *version != REAL).collect();
    let [path] = args.scenarios.as_slice() else {
        return Err(Failure::Input("`real` is what one recorded job did: name one".to_owned()));
    };
    if versions.is_empty() {
        return Err(Failure::Input(
            "what is recorded is compared with a simulation: `--fidelity packet,real`".to_owned(),
        ));
    }
    let inputs = Inputs::new(&STOP);
    let (scenario, job, counted, remark) = if recorded_run::is_one(path) {
        if !args.change.assignments.is_empty() {
            let message = "what was recorded is no yardstick of another scenario: leave --set out";
            return Err(Failure::Input(message.to_owned()));
        }
        let mut run = RecordedRun::open(path, None)?;
        let asked = Asked { none: false, strict: false, to_output: args.json };
        if run.imported.record.is_some() {
            let effort = Effort { threads: Some(1), stop: &STOP, progress: &|_, _| {} };
            fit(&mut run.imported, asked, &effort)?;
        }
        (run.imported.scenario, run.imported.job, run.counted, run.remark)
    } else {
        let (scenario, warnings) = inputs.scenario(path, &args.change.to_change())?;
        failure::warn(&warnings);
        let job = inputs.recorded(&scenario, path)?.ok_or_else(|| {
            Failure::Input(format!(
                "{} names no recorded job: `real` is for the folder of `trunkline testbed hadoop run`, or for a \
                 scenario with job.history, as `trunkline import` writes it",
                path.display()
            ))
        })?;
        (scenario, job, Counted::default(), None)
    };
    let versions: Vec<(String, Scenario)> = versions
        .iter()
        .map(|version| {
            let mut of = scenario.clone();
            of.run.fidelity = if *version == "flow" { scenario::Fidelity::Flow } else { scenario::Fidelity::Packet };
            ((*version).to_owned(), of)
        })
        .collect();
    let name = format!("{} beside real", path.display());
    let target = args.out.clone().unwrap_or_else(|| default_target(&[name]));
    let folder = Folder::create(&target).map_err(runs::Error::from)?;
    let recorded = Recorded { job, likeness: Likeness::Made, counted, remark };
    let all: Vec<_> = versions.iter().flat_map(|(_, scenario)| seeds(scenario, args.runs)).collect();
    let meter = Meter::new(all.len(), args.effort.quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: args.effort.threads, stop: &STOP, progress: &progress };
    let figures = run_all(&all, &effort, |result| Ok(Figures::beside(&result, &recorded)));
    meter.finish();
    let figures = figures?;
    let digests: Vec<_> = versions.iter().map(|(_, scenario)| scenario.digest()).collect();
    let summaries: Vec<_> = (versions.iter().zip(&digests))
        .zip(figures.chunks(args.runs as usize))
        .map(|(((name, _), digest), runs)| Summary { name, digest, runs })
        .collect();
    let comparison = Comparison { summaries: &summaries };
    let rows = rows(&summaries);
    let text = format!("{:#}\n", to_json(&recorded.job.id, args.runs, recorded.remark.as_deref(), &rows));
    let changes = args.change.assignments.iter().map(|assignment| change_words(assignment)).collect();
    let page =
        RunsPage::side_by_side(&comparison, changes).titled(format!("{}: simulated beside real", recorded.job.id));
    let written = folder
        .file("comparison.json", text.as_bytes())
        .and_then(|()| folder.file("report.html", page.render().as_bytes()))
        .and_then(|()| folder.commit());
    written.map_err(runs::Error::from)?;
    if args.json {
        return emit(&text);
    }
    emit(&format!("{}, {} runs of each\n\n{}", recorded.job.id, args.runs, table(&summaries, &rows)))?;
    if let Some(remark) = &recorded.remark {
        emit(&format!("{remark}\n"))?;
    }
    emit(&format!("\nresults: {0}\nthe page: {0}/report.html\n", target.display()))?;
    figures.iter().find_map(|run| run.failure.clone()).map_or(Ok(()), |reason| Err(Failure::Job(reason)))
}

/// A figure: as recorded, and as each version predicts it.
struct Row {
    name: String,
    unit: String,
    real: f64,
    predicted: Vec<Option<Estimate>>,
}

fn rows(summaries: &[Summary<'_>]) -> Vec<Row> {
    let Some(first) = summaries.iter().flat_map(|summary| summary.runs).find(|run| !run.compared.is_empty()) else {
        return Vec::new();
    };
    let row = |compared: &runs::Compared| {
        let of = |summary: &Summary<'_>| {
            let same =
                |run: &Figures| run.compared.iter().find(|other| other.name == compared.name).map(|c| c.predicted);
            Estimate::of(&summary.runs.iter().filter_map(same).collect::<Vec<_>>())
        };
        Row {
            name: compared.name.clone(),
            unit: compared.unit.clone(),
            real: compared.actual,
            predicted: summaries.iter().map(of).collect(),
        }
    };
    first.compared.iter().map(row).collect()
}

impl Row {
    fn error(&self, estimate: &Estimate) -> Option<f64> {
        (self.real > 0.0).then(|| estimate.median / self.real - 1.0)
    }
    /// A value in words: bytes in MB.
    fn shown(&self, value: f64) -> String {
        match self.unit.as_str() {
            "B" => format!("{:.1} MB", value / 1e6),
            unit => format!("{value:.1} {unit}"),
        }
    }
}

fn table(summaries: &[Summary<'_>], rows: &[Row]) -> String {
    let mut heads = vec![String::new(), REAL.to_owned()];
    heads.extend(
        summaries.iter().flat_map(|of| [of.name.to_owned(), "90 % of the runs".to_owned(), "error".to_owned()]),
    );
    let mut table = Table::new(heads);
    for row in rows {
        let mut cells = vec![row.name.clone(), row.shown(row.real)];
        for estimate in &row.predicted {
            cells.extend(estimate.as_ref().map_or_else(
                || ["-".to_owned(), String::new(), String::new()],
                |estimate| {
                    let (low, high) = estimate.nine_tenths;
                    let error = row.error(estimate).map_or_else(String::new, off_by);
                    [row.shown(estimate.median), format!("{} to {}", row.shown(low), row.shown(high)), error]
                },
            ));
        }
        table.row(cells);
    }
    table.shown(&Screen::of_output())
}

fn to_json(job: &str, runs: u32, remark: Option<&str>, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let predicted = |estimate: &Estimate| {
            let (median, nine_tenths, error) = (estimate.median, estimate.nine_tenths, row.error(estimate));
            json!({ "median": median, "nine_tenths": nine_tenths, "error": error })
        };
        let all: Vec<_> = row.predicted.iter().map(|estimate| estimate.as_ref().map(predicted)).collect();
        json!({ "name": row.name, "unit": row.unit, "real": row.real, "predicted": all })
    };
    json!({
        "schema": "trunkline-comparison-real/1",
        "job": job,
        "runs": runs,
        "remark": remark,
        "figures": rows.iter().map(row).collect::<Vec<_>>(),
    })
}
