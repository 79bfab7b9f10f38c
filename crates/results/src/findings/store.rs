//! What an object store costs a job.

use super::job::{JobView, Texts, seconds};
use super::network::on_network;
use super::{Finding, Rule, Severity};
use crate::{Phase, TaskKind};
use units::{Time, many};

/// Waiting for the object store: maps for their input, tasks for their output to be there, the job for its commit.
pub fn object_store(view: &JobView<'_>) -> Option<Finding> {
    let store = view.run.object_store.as_ref()?;
    let job = view.scenario.job.get(view.number as usize)?;
    let (reads, writes) = (job.reads_objects(), job.writes_objects());
    let rows = || view.attempts.iter().copied();
    let of = |kind: TaskKind| rows().filter(move |row| view.attempt(*row).kind == kind);
    let read: Time = if reads {
        of(TaskKind::Map).map(|row| view.path_in_phases(row, &[Phase::Read, Phase::Compute], on_network)).sum()
    } else {
        Time::ZERO
    };
    let written: Time = if writes {
        rows().map(|row| view.path_in_phases(row, &[Phase::Reduce, Phase::Write], on_network)).sum()
    } else {
        Time::ZERO
    };
    let committed = view.path(|segment| segment.attempt.is_none() && on_network(segment));
    let cost = read + written + committed;
    let s3a = &view.scenario.object_store.as_ref()?.s3a;
    let throttled = store.throttled as f64 / store.requests().max(1) as f64;
    // Where requests are refused, nothing else helps before that.
    let (advice, property, key) = if throttled > 0.05 {
        (
            "Fewer requests: larger blocks and parts; or keys under more prefixes.".to_owned(),
            "fs.s3a.block.size, fs.s3a.multipart.size",
            "object-store.s3a.block, object-store.s3a.multipart-size, object-store.prefixes",
        )
    } else if committed + written > read && s3a.committer.copies() {
        (
            "A committer that does not copy: magic, or directory.".to_owned(),
            "fs.s3a.committer.name, mapreduce.outputcommitter.factory.scheme.s3a",
            "object-store.s3a.committer",
        )
    } else if written > read {
        (
            format!("More parts under way at once (now {}), or smaller ones.", s3a.active_blocks),
            "fs.s3a.fast.upload.active.blocks, fs.s3a.multipart.size",
            "object-store.s3a.active-blocks, object-store.s3a.multipart-size",
        )
    } else {
        (
            "Several requests at once for each reader: the prefetching stream; or more maps at once.".to_owned(),
            "fs.s3a.prefetch.enabled, fs.s3a.block.size",
            "object-store.s3a.input-policy, object-store.s3a.block",
        )
    };
    let mean = store.waited_for_first_byte / store.first_bytes.max(1);
    let texts = Texts {
        summary: format!("The longest chain of tasks waited {} for the object store.", seconds(cost)),
        evidence: format!(
            "{} for input, {} for output, {} for the job's commit; {} in the run, {} of them told to slow down, a \
             first byte after {} on average",
            seconds(read),
            seconds(written),
            seconds(committed),
            many(usize::try_from(store.requests()).unwrap_or(usize::MAX), "request"),
            store.throttled,
            seconds(mean)
        ),
        advice,
        property,
        key,
    };
    view.finding(Rule::ObjectStore, Severity::Critical, cost, texts)
}
