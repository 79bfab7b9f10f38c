//! An application of Spark as text.

use crate::screen::Screen;
use crate::summary::line;
use crate::summary_jobs::short;
use crate::table::Table;
use results::{JobState, SparkApplication, SparkTaskEnd};
use std::fmt::Write;
use units::{Bytes, Time};

/// At most this many stages are listed: those that took longest.
const STAGES: usize = 20;

/// What the executors that it lost have cost.
fn losses(spark: &SparkApplication) -> String {
    let ended = |how: SparkTaskEnd| spark.tasks.iter().filter(|task| task.ended == how).count();
    let again = spark.stages.iter().filter(|stage| stage.attempts > 1);
    let again: Vec<String> = again.map(|stage| format!("{} {} times", stage.name, stage.attempts)).collect();
    format!(
        "executors lost: {}; attempts at tasks that ended with them: {}, that could not fetch: {}; stages submitted more \
         than once: {}",
        spark.lost,
        ended(SparkTaskEnd::ExecutorLost),
        ended(SparkTaskEnd::FetchFailed),
        if again.is_empty() { "none".to_owned() } else { again.join(", ") }
    )
}

/// What was excluded where tasks failed.
fn excluded(spark: &SparkApplication) -> Option<String> {
    let of_stages = |of: fn(&results::SparkStage) -> u32| spark.stages.iter().map(of).sum::<u32>();
    let (executors, nodes) = (of_stages(|stage| stage.excluded_executors), of_stages(|stage| stage.excluded_nodes));
    let all = u64::from(executors + nodes + spark.excluded_nodes) + spark.excluded();
    (all > 0).then(|| {
        format!(
            "excluded as tasks failed there: from stages executors: {executors}, nodes: {nodes}; from the application \
             executors: {}, nodes: {}",
            spark.excluded(),
            spark.excluded_nodes,
        )
    })
}

/// How many tasks adaptive execution has made of the partitions of stages.
fn adapted<'a>(stages: impl Iterator<Item = &'a results::SparkStage>) -> Option<String> {
    let adapted = stages.filter(|stage| stage.partitions != stage.tasks);
    let adapted: Vec<String> =
        adapted.map(|stage| format!("{} {} for {} tasks", stage.name, stage.partitions, stage.tasks)).collect();
    (!adapted.is_empty()).then(|| format!("partitions that adaptive execution joined or split: {}", adapted.join(", ")))
}

/// Adds an application: how it ended, its volumes, its stages.
pub fn of_spark(text: &mut String, spark: &SparkApplication, screen: &Screen) {
    let paint = if spark.state == JobState::Succeeded { Screen::good } else { Screen::bad };
    let rest = match spark.took() {
        Some(took) => format!(", {} from the first job's submission to the last one's end", short(took)),
        None => String::new(),
    };
    let head = format!("Spark: {}", spark.state.name());
    let _ = writeln!(text, "\n{}", screen.wrapped_after(&head, paint, &rest, 0));
    if let Some(failure) = spark.failure() {
        line(text, screen, &failure);
    }
    let sum = |of: fn(&results::SparkTask) -> Bytes| spark.tasks.iter().map(of).sum::<Bytes>();
    let (input, remote) = (sum(|task| task.input_local + task.input_remote), sum(|task| task.input_remote));
    let shuffled = spark.shuffle_local() + spark.shuffle_remote();
    let volumes = format!(
        "executors: {}; jobs: {}; attempts at tasks: {}, which read {input:.1} of files, {remote:.1} of it over the \
         network, shuffled {shuffled:.1}, {:.1} of it over the network, and wrote {:.1}",
        spark.executors.len(),
        spark.jobs.len(),
        spark.tasks.len(),
        spark.shuffle_remote(),
        sum(|task| task.output),
    );
    line(text, screen, &volumes);
    if let Some(ready) = spark.ready {
        line(text, screen, &format!("on YARN; enough executors for the program to go on after {}", short(ready)));
    }
    if spark.lost > 0 {
        line(text, screen, &losses(spark));
    }
    let failed = spark.tasks.iter().filter(|task| task.ended == SparkTaskEnd::Failed).count();
    if failed > 0 {
        let jobs = spark.jobs.iter().filter(|job| job.failed).count();
        line(
            text,
            screen,
            &format!("attempts at tasks that failed: {failed}; jobs that did, and were followed: {jobs}"),
        );
    }
    if let Some(excluded) = excluded(spark) {
        line(text, screen, &excluded);
    }
    if spark.killed() > 0 {
        line(text, screen, &format!("executors that the driver ended or gave back: {}", spark.killed()));
    }
    let (driver, executors) = (spark.broadcast_from_driver, spark.broadcast_from_executors);
    if driver + executors > Bytes::ZERO {
        line(text, screen, &format!("broadcast: {driver:.1} from the driver, {executors:.1} from other executors"));
    }
    let (local, others, anew) = (spark.cached_local, spark.cached_remote, spark.recomputed);
    if local + others + anew + spark.not_kept > Bytes::ZERO {
        let read = format!(
            "read of kept data: {local:.1} from tasks' own executors, {others:.1} from others, {anew:.1} computed anew"
        );
        line(text, screen, &format!("{read}; without room, evicted or lost: {:.1}", spark.not_kept));
    }
    let (copies, won) = spark.copies();
    if copies > 0 {
        line(text, screen, &format!("speculative copies launched: {copies}; that were first: {won}"));
    }
    let mut numbers: Vec<usize> = (0..spark.stages.len()).collect();
    let took = |number: usize| {
        let stage = &spark.stages[number];
        stage.submit.zip(stage.finish).map(|(submit, finish)| finish.saturating_sub(submit))
    };
    if numbers.len() > STAGES {
        numbers.sort_by_key(|number| std::cmp::Reverse(took(*number)));
        numbers.truncate(STAGES);
        numbers.sort_unstable();
    }
    if let Some(adapted) = adapted(numbers.iter().map(|number| &spark.stages[*number])) {
        line(text, screen, &adapted);
    }
    let mut table = Table::new(["stage", "tasks", "submitted", "took", "shuffle in", "remote", "mean wait"])
        .indented(2)
        .optional(&[2, 5]);
    let mut sums = vec![(Bytes::ZERO, Bytes::ZERO, 0.0); spark.stages.len()];
    for task in &spark.tasks {
        let (local, remote, waited) = &mut sums[task.stage];
        *local += task.shuffle_local;
        *remote += task.shuffle_remote;
        *waited += task.fetch_wait.as_secs_f64();
    }
    for number in numbers {
        let (stage, (local, remote, waited)) = (&spark.stages[number], sums[number]);
        let time = |time: Option<Time>| time.map_or_else(|| "-".to_owned(), short);
        table.row([
            stage.name.clone(),
            stage.tasks.to_string(),
            time(stage.submit),
            time(took(number)),
            format!("{:.1}", local + remote),
            format!("{remote:.1}"),
            format!("{:.1}", Time::from_secs_f64(waited / f64::from(stage.tasks.max(1)))),
        ]);
    }
    let _ = write!(text, "\n{}", table.shown(screen));
    if spark.stages.len() > STAGES {
        line(text, screen, &format!("and {} stages that took less", spark.stages.len() - STAGES));
    }
}
