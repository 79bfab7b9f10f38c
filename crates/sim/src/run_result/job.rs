//! Jobs, their attempts, and the balances of their bytes.

use super::critical::Waits;
use super::disks;
use crate::cluster::Driver;
use crate::hosts::DiskState;
use crate::world::World;
use hadoop::NodeId;
use hadoop::hdfs::Exit;
use hadoop::mapreduce::critical::critical_path;
use hadoop::record::{self, AttemptRecord, JobRecord, Records};
use results::{
    Attempt, AttemptState, Balance, Balancing, Disk, Event, Interval, Job, JobBytes, JobState, NodeLoad, RunResult,
    TaskKind, imbalances,
};
use scenario::node_name;
use transport::FlowRecord;
use units::{Bytes, Time};

/// What a job's fetches stand for, where each stands for several.
fn fetches_together(record: &JobRecord) -> Option<Event> {
    let outputs = record.outputs_per_fetch;
    let detail = format!(
        "each fetch of {} stands for {outputs} map outputs, of which there are too many to follow one by one: \
         `run.most-fetches = 0` does",
        record.name
    );
    let event = |at| Event { at, kind: "fetches-together".to_owned(), node: None, link: None, detail };
    record.launch.filter(|_| outputs > 1).map(event)
}

/// Fills in jobs, attempts and disks.
pub(super) fn jobs(driver: &Driver, flows: &[FlowRecord], world: &World, result: &mut RunResult) {
    let records = driver.cluster.records();
    result.disks = driver
        .hosts
        .disks(world.now())
        .enumerate()
        .map(|(number, DiskState { name, node, role, counters, power, offloaded })| Disk {
            name,
            node: node.0,
            role: role.to_owned(),
            read: counters.read,
            written: counters.written,
            requests: counters.requests,
            seeks: counters.switches,
            busy: counters.busy,
            programmed: counters.programmed,
            utilisation: Vec::new(),
            read_rate: Vec::new(),
            write_rate: Vec::new(),
            power: power.map(|(store, seat)| disks::power(units::count(number), (store, seat), offloaded, world.now())),
        })
        .collect();
    // Attempts are rows in the order of their start; references to attempts are translated to rows.
    let mut order: Vec<usize> = (0..records.attempts.len()).collect();
    order.sort_by_key(|&index| (records.attempts[index].allocated, index));
    let mut rows = vec![0_u32; order.len()];
    for (row, &index) in order.iter().enumerate() {
        rows[index] = units::count(row);
    }
    result.attempts = order.iter().map(|&index| attempt(&records.attempts[index], world.now())).collect();
    let waits = Waits::new(flows, world);
    for (number, record) in records.jobs.iter().enumerate() {
        let mut job = job(record, &records, units::count(number));
        if let Some(path) = critical_path(&records, hadoop::JobId(units::count(number))) {
            for stretch in &path.stretches {
                waits.add(stretch, &records, &rows, &mut job);
            }
        }
        result.events.extend(fetches_together(record));
        result.jobs.push(job);
        ledger(record, &mut result.ledger);
    }
    let workers: Vec<usize> = driver.cluster.context().nodes.workers().map(des::Index::as_usize).collect();
    for index in workers {
        result.nodes[index].load = Some(load(driver, &result.attempts, NodeId(units::count(index))));
    }
    result.imbalance = imbalances(&result.nodes);
    result.balancer = driver.cluster.hdfs().balanced().map(|balanced| Balancing {
        iterations: balanced.iterations,
        replicas: balanced.replicas,
        bytes: balanced.bytes,
        exit: balanced.exit.map(|(at, _)| at),
        balanced: matches!(balanced.exit, Some((_, Exit::Balanced))),
    });
    for attempt in &records.attempts {
        let kind = match attempt.state {
            AttemptState::Failed => "attempt-failed",
            AttemptState::Killed if !attempt.reason.is_empty() => "attempt-killed",
            _ => continue,
        };
        result.events.push(Event {
            at: attempt.output_lost.unwrap_or(attempt.finish),
            kind: kind.to_owned(),
            node: Some(attempt.node.0),
            link: None,
            detail: format!("{} on {}: {}", title(attempt), node_name(attempt.node.0), attempt.reason),
        });
    }
}

pub(super) fn title(attempt: &AttemptRecord) -> String {
    let kind = match attempt.kind {
        TaskKind::Map => "map",
        TaskKind::Reduce => "reduce",
    };
    if attempt.attempt == 0 {
        format!("{kind} {}", attempt.task)
    } else {
        format!("{kind} {} (attempt {})", attempt.task, attempt.attempt + 1)
    }
}

fn attempt(record: &AttemptRecord, now: Time) -> Attempt {
    let bytes = &record.bytes;
    let running = record.state == AttemptState::Running;
    Attempt {
        job: record.job.0,
        kind: record.kind,
        task: record.task,
        attempt: record.attempt,
        node: record.node.0,
        speculative: record.speculative,
        locality: record.locality,
        state: record.state,
        reason: record.reason.to_owned(),
        start: record.allocated,
        finish: if running { now } else { record.finish },
        output_lost: record.output_lost,
        intervals: record.intervals.clone(),
        input: bytes.input,
        output: bytes.output,
        remote: bytes.read_rack + bytes.read_remote + bytes.read_store + bytes.fetched_network,
        spilled: bytes.disk_written,
    }
}

fn job(record: &JobRecord, records: &Records, number: u32) -> Job {
    let mut bytes = JobBytes::default();
    let mut phases: Vec<Interval> = Vec::new();
    for attempt in records.attempts.iter().filter(|attempt| attempt.job.0 == number) {
        let moved = &attempt.bytes;
        if attempt.state != AttemptState::Succeeded {
            bytes.wasted += moved.input + moved.fetched_network + moved.fetched_node + moved.fetch_aborted;
            continue;
        }
        bytes.hdfs_read_local += moved.read_node;
        if moved.read_store > Bytes::ZERO {
            *bytes.store_read.get_or_insert_default() += moved.read_store;
        }
        bytes.hdfs_read_remote += moved.read_rack + moved.read_remote;
        bytes.spilled += moved.disk_written;
        match attempt.kind {
            TaskKind::Map => {
                bytes.map_input += moved.input;
                if record.reduces > 0 {
                    bytes.map_output += moved.output;
                    bytes.map_output_plain += moved.output_plain;
                } else {
                    bytes.written += moved.output;
                    bytes.written_plain += moved.output_plain;
                }
            }
            TaskKind::Reduce => {
                bytes.shuffle_local += moved.fetched_node;
                bytes.shuffle_remote += moved.fetched_network;
                bytes.written += moved.output;
                bytes.written_plain += moved.output_plain;
            }
        }
        for interval in &attempt.intervals {
            let phase = interval.phase;
            match phases.iter_mut().find(|whole| whole.phase == phase) {
                Some(whole) => {
                    whole.start = whole.start.min(interval.start);
                    whole.finish = whole.finish.max(interval.finish);
                }
                None => phases.push(Interval { phase, start: interval.start, finish: interval.finish }),
            }
        }
    }
    phases.sort_by_key(|interval| interval.phase);
    Job {
        name: record.name.clone(),
        workload: record.workload.clone(),
        state: match record.state {
            record::JobState::Running => JobState::Unfinished,
            record::JobState::Succeeded => JobState::Succeeded,
            record::JobState::Failed => JobState::Failed,
        },
        reason: record.reason.clone(),
        submit: record.submit,
        launch: record.launch,
        commit: record.commit,
        finish: record.finish,
        client_wall: record.client_wall,
        uber: record.uber,
        maps: record.maps,
        reduces: record.reduces,
        phases,
        bytes,
        ..Job::default()
    }
}

/// What of the jobs' bytes is a worker's.
pub(super) fn load(driver: &Driver, attempts: &[Attempt], node: NodeId) -> NodeLoad {
    let (hdfs, exchanged) = (driver.cluster.hdfs(), driver.cluster.shuffle().exchanged(node));
    let input = |kind: TaskKind| -> Bytes {
        let done = attempts.iter().filter(|attempt| attempt.state == AttemptState::Succeeded && attempt.kind == kind);
        done.filter(|attempt| attempt.node == node.0).map(|attempt| attempt.input).sum()
    };
    NodeLoad {
        stored_at_start: hdfs.stored_at_start(node),
        stored: hdfs.stored(node),
        map_input: input(TaskKind::Map),
        shuffle_received: exchanged.received,
        shuffle_sent: exchanged.sent,
        reduce_input: input(TaskKind::Reduce),
    }
}

fn ledger(record: &JobRecord, out: &mut Vec<Balance>) {
    let ledger = &record.ledger;
    let mut balance = |what: &str, offered: u64, parts: &[(&str, u64)]| {
        let accounted = parts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        out.push(Balance { what: format!("{}: {what}", record.name), offered, accounted });
    };
    balance(
        "map output served, bytes",
        ledger.served.get(),
        &[
            ("fetched", ledger.fetched.get()),
            ("fetched by attempts that did not succeed", ledger.discarded.get()),
            ("aborted", ledger.aborted.get()),
            ("in flight", ledger.in_flight.get()),
        ],
    );
    balance(
        "map output offered, bytes",
        ledger.offered.get(),
        &[("fetched", ledger.fetched.get()), ("never fetched", ledger.never_fetched.get())],
    );
    balance("slots", ledger.slots_given, &[("returned", ledger.slots_returned), ("held", ledger.slots_held)]);
}
