//! What an application of Spark leaves.

use crate::cluster::Driver;
use results::{Balance, JobState, RunResult, SparkApplication, SparkStage};
use units::count;

/// Adds the application, if there is one, and the books of its shuffles.
pub(super) fn fill(driver: &Driver, result: &mut RunResult) {
    let Some(spark) = &driver.spark else { return };
    let stages = spark.config().stages.iter().zip(spark.stages()).map(|(spec, record)| SparkStage {
        name: spec.name.clone(),
        job: count(spec.job),
        tasks: record.tasks,
        partitions: record.partitions,
        done: record.done,
        attempts: record.attempts,
        submit: record.submit,
        finish: record.finish,
    });
    let finish = spark.jobs().last().and_then(|job| job.finish);
    result.spark = Some(SparkApplication {
        state: match (spark.failure(), finish) {
            (Some(_), _) => JobState::Failed,
            (None, Some(_)) => JobState::Succeeded,
            (None, None) => JobState::Unfinished,
        },
        reason: spark.failure().unwrap_or_default().to_owned(),
        lost: count(spark.lost()),
        executors: count(driver.cluster.context().nodes.worker_count()) * spark.config().executors,
        finish,
        stages: stages.collect(),
        tasks: spark.tasks().collect(),
        jobs: spark.jobs().to_vec(),
    });
    for exchange in spark.exchanges() {
        let name = |stage: usize| &spark.config().stages[stage].name;
        let of = format!("shuffle of {} for {}", name(exchange.parent), name(exchange.stage));
        let mut balance = |what: &str, offered: units::Bytes, parts: &[(&str, units::Bytes)]| {
            let accounted = parts.iter().map(|(part, bytes)| ((*part).to_owned(), bytes.get())).collect();
            result.ledger.push(Balance { what: format!("{of}: {what}"), offered: offered.get(), accounted });
        };
        let got = [
            ("read on the same node", exchange.local),
            ("fetched", exchange.remote),
            ("never fetched", exchange.never_fetched),
        ];
        balance("offered, bytes", exchange.offered, &got);
        let sent = [
            ("fetched", exchange.remote),
            ("fetched again", exchange.again),
            ("lost with a connection or its task", exchange.wasted),
            ("in flight", exchange.in_flight),
        ];
        balance("served, bytes", exchange.served, &sent);
    }
}
