//! What an application of Spark leaves.

use super::critical::Waits;
use super::spark_path::Known;
use crate::cluster::Driver;
use crate::world::World;
use results::{Balance, Breakdown, JobState, RunResult, SparkApplication, SparkStage};
use transport::FlowRecord;
use units::{Bytes, count};

/// Adds the application, if there is one, and the books of its shuffles.
pub(super) fn fill(driver: &Driver, flows: &[FlowRecord], world: &World, result: &mut RunResult) {
    let Some(spark) = &driver.spark else { return };
    let stages = spark.config().stages.iter().zip(spark.stages()).map(|(spec, record)| SparkStage {
        name: spec.name.clone(),
        job: count(spec.job),
        tasks: record.tasks,
        partitions: record.partitions,
        done: record.done,
        attempts: record.attempts,
        excluded_executors: record.excluded_executors,
        excluded_nodes: record.excluded_nodes,
        submit: record.submit,
        finish: record.finish,
        breakdown: Breakdown::default(),
    });
    let mut stages: Vec<SparkStage> = stages.collect();
    let (tasks, executors): (Vec<_>, Vec<_>) = (spark.tasks().collect(), spark.executors().collect());
    let known = Known {
        specs: &spark.config().stages,
        stages: &stages,
        tasks: &tasks,
        jobs: spark.jobs(),
        executors: &executors,
    };
    let critical_path = known.path(&Waits::new(flows, world));
    for segment in &critical_path {
        if let Some(stage) = segment.stage {
            stages[stage].breakdown.add(segment.waiting, segment.length());
        }
    }
    let (all_kept, broadcasts) = (spark.kept(), spark.broadcasts());
    let finish = spark.jobs().last().and_then(|job| job.finish);
    result.spark = Some(SparkApplication {
        state: match (spark.failure(), finish) {
            (Some(_), _) => JobState::Failed,
            (None, Some(_)) => JobState::Succeeded,
            (None, None) => JobState::Unfinished,
        },
        reason: spark.failure().unwrap_or_default().to_owned(),
        lost: count(spark.lost()),
        excluded_nodes: spark.excluded_nodes(),
        exclusions: spark.exclusions().to_vec(),
        wanted: spark.wanted().to_vec(),
        executors,
        critical_path,
        master: spark.master(),
        ready: spark.ready(),
        finish,
        stages,
        tasks,
        jobs: spark.jobs().to_vec(),
        cached_local: all_kept.iter().map(|kept| kept.own_memory + kept.own_disk).sum(),
        cached_remote: all_kept.iter().map(|kept| kept.remote).sum(),
        recomputed: all_kept.iter().map(|kept| kept.recomputed).sum(),
        not_kept: all_kept.iter().map(|kept| kept.no_room + kept.evicted + kept.lost).sum(),
        broadcast_from_driver: broadcasts.iter().map(|spread| spread.from_driver).sum(),
        broadcast_from_executors: broadcasts.iter().map(|spread| spread.from_executors).sum(),
    });
    let name = |stage: usize| &spark.config().stages[stage].name;
    let mut balance = |what: String, offered: Bytes, parts: &[(&str, Bytes)]| {
        let accounted = parts.iter().map(|(part, bytes)| ((*part).to_owned(), bytes.get())).collect();
        result.ledger.push(Balance { what, offered: offered.get(), accounted });
    };
    for exchange in spark.exchanges() {
        let of = format!("shuffle of {} for {}", name(exchange.parent), name(exchange.stage));
        let got = [
            ("read on the same node", exchange.local),
            ("fetched", exchange.remote),
            ("never fetched", exchange.never_fetched),
        ];
        balance(format!("{of}: offered, bytes"), exchange.offered, &got);
        let sent = [
            ("fetched", exchange.remote),
            ("fetched again", exchange.again),
            ("lost with a connection or its task", exchange.wasted),
            ("in flight", exchange.in_flight),
        ];
        balance(format!("{of}: served, bytes"), exchange.served, &sent);
    }
    for kept in all_kept {
        let of = format!("kept of {}", name(kept.stage));
        let places = [
            ("in memory", kept.in_memory),
            ("on disk", kept.on_disk),
            ("without room", kept.no_room),
            ("evicted", kept.evicted),
            ("lost with an executor", kept.lost),
        ];
        balance(format!("{of}: computed, bytes"), kept.computed, &places);
        let reads = [
            ("own memory", kept.own_memory),
            ("own disk", kept.own_disk),
            ("other executors", kept.remote),
            ("computed anew", kept.recomputed),
            ("not read", kept.not_read),
        ];
        balance(format!("{of}: wanted, bytes"), kept.wanted, &reads);
        let sent = [
            ("got", kept.remote),
            ("lost with a connection or its task", kept.sent.wasted),
            ("in flight", kept.sent.in_flight),
        ];
        balance(format!("{of}: sent, bytes"), kept.sent.all, &sent);
    }
    for spread in broadcasts {
        let of = format!("broadcast of {}", name(spread.stage));
        let (driver, executors) = (spread.from_driver, spread.from_executors);
        let got = [("from the driver", driver), ("from executors", executors), ("not got", spread.not_got)];
        balance(format!("{of}: wanted, bytes"), spread.wanted, &got);
        let sent = [
            ("got", driver + executors),
            ("lost with a connection or an executor", spread.sent.wasted),
            ("in flight", spread.sent.in_flight),
        ];
        balance(format!("{of}: sent, bytes"), spread.sent.all, &sent);
    }
}
