//! An application of Spark on the page: how it ended, and its stages.

use super::data::{Spark, SparkStage};
use super::from_run::{seconds, state};
use crate::SparkApplication;
use units::Bytes;

/// The stages listed: of more, those that took longest.
const MOST_STAGES: usize = 50;

pub(super) fn spark(app: &SparkApplication) -> Spark {
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
        executors: units::count(app.executors.len()),
        lost: app.lost,
        copies: app.copies().into(),
        cached: [app.cached_local.get(), app.cached_remote.get(), app.recomputed.get()],
        broadcast: [app.broadcast_from_driver.get(), app.broadcast_from_executors.get()],
        left_out: units::count(app.stages.len() - listed.len()),
        stages: listed.into_iter().map(stage).collect(),
    }
}
