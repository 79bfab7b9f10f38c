//! A job that has just run on a testbed, simulated: simulated beside real, and the page of the same attempts.

use crate::emit;
use crate::failure::Failure;
use crate::import_check::{self, Asked};
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::recorded_run::RecordedRun;
use history::JobHistory;
use results::RunResult;
use runs::{Effort, Inputs, Likeness, Recorded, Told};
use scenario::{Fault, PlacementKind};
use std::path::Path;

/// What a simulation says of a job.
pub struct Predicted {
    /// From its launch to its end, of Spark from its first job's submission to the last one's end, in seconds.
    pub seconds: f64,
    /// Bytes that the interfaces of all workers received.
    pub into_workers: u64,
}

/// Imports a job from the results of its run, simulates it, and says simulated beside real. `target` gets the simulated
/// run of the same attempts, with its page.
pub fn predict(
    results: &Path,
    job: &JobHistory,
    target: &Path,
    quiet: bool,
    silent: bool,
) -> Result<Option<Predicted>, Failure> {
    let RecordedRun { mut imported, counted, history, remark } = RecordedRun::open(results, Some(&job.id))?;
    let is_by_key = imported.scenario.hdfs.placement.kind == PlacementKind::ByKey;
    let inputs = Inputs::new(&STOP);
    let meter = Meter::new(1, quiet);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: Some(1), stop: &STOP, progress: &progress };
    let asked = Asked { none: false, strict: false, to_output: silent };
    let checked = import_check::fit(&mut imported, asked, &effort)?;
    let predicted = checked.as_ref().and_then(|checked| checked.result.as_ref()).and_then(of_result);
    if !silent {
        for fault in &imported.scenario.faults {
            emit(&format!("simulated, as it was: {}\n", fault_words(fault)))?;
        }
        emit(&format!("\n{}, simulated (predicted) beside real (recorded):\n", job.id))?;
        import_check::report(&imported, checked.as_ref(), asked)?;
    }
    let mut scenario = imported.scenario.clone();
    let (job, likeness) = if is_by_key {
        (imported.job.clone(), Likeness::Made)
    } else {
        (inputs.replay(&mut scenario, &history)?, Likeness::Replayed)
    };
    // One run stands for all: its attempts take what equal ones take on average.
    scenario.mapreduce.task_variation = 0.0;
    let recorded = Recorded { job, likeness, counted, remark };
    let told = Told { recorded: Some(&recorded), ..Told::default() };
    let single = runs::single(&scenario, told, None, target, &effort);
    meter.finish();
    let single = single?;
    if !silent {
        // Where an attempt runs is chance, and on slow links it decides: with few maps one that is far from its input
        // can double a job's time. Both are said, so that the chance is not taken for the model's error.
        let whole = single.comparison.as_ref().and_then(|comparison| comparison.rows.first());
        if let Some(row) = whole.filter(|row| row.actual > 0.0 && !is_by_key) {
            let error = 100.0 * (row.predicted / row.actual - 1.0);
            emit(&format!(
                "with the attempts where and when they were: {}: {:.1} {} ({error:+.1} %)\n",
                row.name, row.predicted, row.unit
            ))?;
        }
        let of_store = single.comparison.iter().flat_map(|comparison| &comparison.rows);
        for row in of_store.filter(|row| row.unit == results::REQUESTS) {
            emit(&format!("{}: {} simulated, {} real\n", row.name, row.predicted, row.actual))?;
        }
        emit(&format!("the page: {}/report.html\n", target.display()))?;
    }
    Ok(predicted)
}

fn of_result(result: &RunResult) -> Option<Predicted> {
    let job = result.jobs.first()?;
    let seconds = job.finish?.saturating_sub(job.launch?).as_secs_f64();
    Some(Predicted { seconds, into_workers: runs::into_workers(result) })
}

/// A fault with its times after the submission of the job, which is not that of the run.
fn fault_words(fault: &Fault) -> String {
    let name = fault.link.as_deref().or(fault.node.as_deref()).unwrap_or_default();
    let what = match (fault.slow, fault.disk, &fault.link) {
        (Some(part), Some(disk), _) => format!("disk {disk} of {name} at {part} of its rate"),
        (Some(part), None, _) => format!("the link of {name} at {part} of its rate"),
        (None, _, Some(_)) => format!("the link of {name} down"),
        (None, ..) => format!("{name} down"),
    };
    let length = fault.down_for.or(fault.slow_for).map_or_else(String::new, |length| format!(" for {length:.1}"));
    format!("{what} from {:.1}{length}", fault.at)
}
