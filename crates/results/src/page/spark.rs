//! An application of Spark on the page: how it ended, its stages, and what was excluded from them.

use super::data::{Segment, Spark, SparkExclusion, SparkStage};
use super::from_run::{cause, finding_of, seconds, state};
use super::place::places_of_spark;
use crate::{RunResult, SparkApplication};
use units::Bytes;

/// The stages listed: of more, those that took longest.
const MOST_STAGES: usize = 50;
/// The exclusions listed: of more, the first.
const MOST_EXCLUSIONS: usize = 100;

fn exclusion(of: &crate::SparkExclusion, app: &SparkApplication, run: &RunResult) -> SparkExclusion {
    SparkExclusion {
        executor: of.executor,
        node: run.nodes.get(of.node.0 as usize).map_or_else(String::new, |node| node.name.clone()),
        stage: of.stage.map(|stage| app.stages[stage].name.clone()),
        at_s: seconds(of.at),
        until_s: of.until.map(seconds),
    }
}

pub(super) fn spark(app: &SparkApplication, run: &RunResult) -> Spark {
    let mut read = vec![[Bytes::ZERO; 4]; app.stages.len()];
    let mut waited = vec![0.0; app.stages.len()];
    for task in &app.tasks {
        let [input, shuffle, remote, write] = &mut read[task.stage];
        *input += task.input_local + task.input_remote;
        *shuffle += task.shuffle_local + task.shuffle_remote;
        *remote += task.shuffle_remote;
        *write += task.shuffle_write;
        waited[task.stage] += task.fetch_wait.as_secs_f64();
    }
    let stage = |number: usize| {
        let (stage, [input, shuffle, remote, write]) = (&app.stages[number], read[number]);
        SparkStage {
            name: stage.name.clone(),
            tasks: stage.tasks,
            partitions: stage.partitions,
            done: stage.done,
            submit_s: stage.submit.map(seconds),
            finish_s: stage.finish.map(seconds),
            input: input.get(),
            shuffle_read: shuffle.get(),
            shuffle_remote: remote.get(),
            shuffle_write: write.get(),
            fetch_wait_s: waited[number] / f64::from(stage.tasks.max(1)),
        }
    };
    let took = |number: &usize| {
        let stage = &app.stages[*number];
        stage.submit.zip(stage.finish).map(|(submit, finish)| finish.saturating_sub(submit))
    };
    let mut listed: Vec<usize> = (0..app.stages.len()).collect();
    if listed.len() > MOST_STAGES {
        listed.sort_by_key(|number| std::cmp::Reverse(took(number)));
        listed.truncate(MOST_STAGES);
        listed.sort_unstable();
    }
    Spark {
        state: state(app.state),
        reason: app.reason.clone(),
        took_s: app.took().map(seconds),
        ready_s: app.ready.map(seconds),
        executors: units::count(app.executors.iter().filter(|executor| executor.registered.is_some()).count()),
        lost: app.lost,
        copies: app.copies().into(),
        cached: [app.cached_local.get(), app.cached_remote.get(), app.recomputed.get()],
        broadcast: [app.broadcast_from_driver.get(), app.broadcast_from_executors.get()],
        left_out: units::count(app.stages.len() - listed.len()),
        exclusions: app.exclusions.iter().take(MOST_EXCLUSIONS).map(|of| exclusion(of, app, run)).collect(),
        exclusions_left_out: units::count(app.exclusions.len().saturating_sub(MOST_EXCLUSIONS)),
        stages: listed.into_iter().map(stage).collect(),
        span_s: [
            seconds(app.jobs.first().and_then(|job| job.submit).unwrap_or_default()),
            seconds(app.finish.unwrap_or(run.ended_at)),
        ],
        critical_path: app.critical_path.iter().zip(places_of_spark(app, run)).map(|of| segment(of, app)).collect(),
        findings: run.findings.iter().filter(|finding| finding.job.is_none()).map(finding_of).collect(),
    }
}

fn segment((of, place): (&crate::SparkSegment, String), app: &SparkApplication) -> Segment {
    let name = |stage: usize| app.stages[stage].name.as_str();
    let detail = match (of.task.map(|row| &app.tasks[row]), of.stage) {
        (Some(task), _) => format!("task {} of {}", task.index, name(task.stage)),
        (None, Some(stage)) => format!("before {}", name(stage)),
        (None, None) => "the program".to_owned(),
    };
    Segment {
        cause: cause(of.waiting),
        start_s: seconds(of.start),
        end_s: seconds(of.finish),
        place,
        detail,
        // A task has connections with many others at once.
        flow: -1,
    }
}
