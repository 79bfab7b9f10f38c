//! Nodes that went silent, and attempts that were in vain.

use super::job::{JobView, Texts, seconds, united};
use super::{Finding, Rule, Severity};
use crate::page::node_of;
use crate::{AttemptState, TaskKind, Waiting};
use hadoop::record::reason;
use std::collections::BTreeMap;
use units::{Time, many};

/// How a node fell silent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Silence {
    /// It crashed, or its battery was empty.
    Crashed,
    /// Its link was down or lost everything.
    Cut,
    /// It had crashed, and attempts elsewhere needed what was on it.
    Needed,
    /// It ran, and nothing was heard of an attempt's progress.
    Unheard,
}

/// An attempt that stood still until somebody gave it up.
struct Silent {
    row: u32,
    /// The node that is to blame: the attempt's, or another that it needed.
    node: u32,
    how: Silence,
    from: Time,
    /// When it was given up.
    to: Time,
}

/// When an attempt that did not succeed had stopped, and when it was given up for that.
fn silent(view: &JobView<'_>, row: u32) -> Option<Silent> {
    let attempt = view.attempt(row);
    if matches!(attempt.state, AttemptState::Succeeded | AttemptState::Running) {
        return None;
    }
    // The output of a map that was done is given up later than the map ended.
    let (first, to) = attempt.output_lost.map_or((attempt.start, attempt.finish), |lost| (attempt.start, lost));
    let happened = |how: Silence, kinds: &[&str]| {
        let events = view.run.events.iter().filter(|event| kinds.contains(&event.kind.as_str()));
        let here = events.filter(|event| node_of(event, view.run) == Some(attempt.node));
        let at = here.map(|event| event.at).filter(|at| (first..=to).contains(at)).min()?;
        Some(Silent { row, node: attempt.node, how, from: at, to })
    };
    let given_up = [reason::TASK_TIMEOUT, reason::NODE_LOST, reason::OUTPUT_NODE_LOST, reason::OUTPUT_UNFETCHABLE];
    let settings = &view.scenario.mapreduce;
    let limit = match attempt.reason.as_str() {
        reason::TASK_TIMEOUT => settings.task_timeout,
        reason::NODE_LOST | reason::OUTPUT_NODE_LOST => settings.node_expiry,
        _ => Time::ZERO,
    };
    let from = to.saturating_sub(limit).max(first);
    // Who makes no progress while another node is gone reads from there, or writes to it.
    let needed = down_meanwhile(view, from, to).filter(|node| *node != attempt.node);
    let needed = needed.filter(|_| attempt.reason == reason::TASK_TIMEOUT);
    let how = if needed.is_some() { Silence::Needed } else { Silence::Unheard };
    let unheard = Silent { row, node: needed.unwrap_or(attempt.node), how, from, to };
    happened(Silence::Crashed, &["node-down", "battery-empty"])
        .or_else(|| {
            let cut = happened(Silence::Cut, &["link-down", "link-silent"]);
            cut.filter(|_| given_up.contains(&attempt.reason.as_str()))
        })
        .or_else(|| (limit > Time::ZERO).then_some(unheard))
}

/// The node that went down last before `to` and was not back at `from`.
fn down_meanwhile(view: &JobView<'_>, from: Time, to: Time) -> Option<u32> {
    let events = view.run.events.iter().filter(|event| event.at <= to);
    let mut down: Vec<u32> = Vec::new();
    for event in events {
        let Some(node) = event.node else { continue };
        match event.kind.as_str() {
            "node-down" | "battery-empty" => down.push(node),
            "node-up" if event.at <= from => down.retain(|other| *other != node),
            _ => {}
        }
    }
    down.last().copied()
}

/// The attempts of a job that stood still until somebody gave them up.
pub struct Silences(Vec<Silent>);

impl Silences {
    pub fn of(view: &JobView<'_>) -> Self {
        Self(view.attempts.iter().filter_map(|row| silent(view, *row)).collect())
    }
    /// From when to when, those that overlap joined.
    pub fn spans(&self) -> Vec<(Time, Time)> {
        united(self.0.iter().map(|silent| (silent.from, silent.to)).collect())
    }
    fn has(&self, row: u32) -> bool {
        self.0.iter().any(|silent| silent.row == row)
    }
}

/// Nodes that were silent while the job waited for them: a finding for each.
pub fn silent_nodes(view: &JobView<'_>, silences: &Silences) -> Vec<Finding> {
    let mut by_node: BTreeMap<u32, Vec<&Silent>> = BTreeMap::new();
    for silent in &silences.0 {
        by_node.entry(silent.node).or_default().push(silent);
    }
    by_node.into_iter().filter_map(|(node, silents)| silent_node(view, node, &silents)).collect()
}

/// Time of the path that a silent attempt held up: its own, and what the job as a whole waited.
fn held_up(view: &JobView<'_>, silent: &Silent) -> Time {
    view.path_within(&[(silent.from, silent.to)], |segment| segment.attempt.is_none_or(|row| row == silent.row))
}

fn silent_node(view: &JobView<'_>, node: u32, silents: &[&Silent]) -> Option<Finding> {
    let rows: Vec<u32> = silents.iter().map(|silent| silent.row).collect();
    let spans = united(silents.iter().map(|silent| (silent.from, silent.to)).collect());
    let cost = view.path_within(&spans, |segment| segment.attempt.is_none_or(|row| rows.contains(&row)));
    let worst = silents.iter().max_by_key(|silent| (held_up(view, silent), silent.to - silent.from, silent.row))?;
    let attempt = view.attempt(worst.row);
    let (name, silence) = (view.node(node), worst.to - worst.from);
    let settings = &view.scenario.mapreduce;
    let what = match worst.how {
        Silence::Crashed => format!("{name} crashed at {}", seconds(worst.from)),
        Silence::Cut => format!("{name} could not be reached from {} on", seconds(worst.from)),
        Silence::Needed => {
            format!("{name} was down, and from {} on there was no progress without it", seconds(worst.from))
        }
        Silence::Unheard => format!("Nothing was heard of {name}'s progress from {} on", seconds(worst.from)),
    };
    let output = if attempt.output_lost.is_some() { "the output of " } else { "" };
    let mut evidence = format!(
        "{what}; {output}{} was given up at {}, {} later ({})",
        view.named(worst.row),
        seconds(worst.to),
        seconds(silence),
        attempt.reason,
    );
    if silents.len() > 1 {
        let all = many(silents.len(), "such attempt");
        evidence = format!("{evidence}; {all} in all");
    }
    let (timeout, expiry) = (settings.task_timeout, settings.node_expiry);
    let gain = |limit: Time| cost.saturating_sub(limit.min(cost));
    // A minute is what a job of this length may lose without being ruled by it, and far above a heartbeat.
    let minute = Time::from_secs(60);
    let gain = if silence > minute {
        format!("; with one minute for both, at most about {} less", seconds(gain(minute)))
    } else {
        String::new()
    };
    let timeout = if timeout == Time::ZERO { "off".to_owned() } else { seconds(timeout) };
    let advice = format!(
        "Whichever passes first ends the wait: mapreduce.task-timeout is {timeout}, mapreduce.node-expiry \
         {}{gain}.",
        seconds(expiry)
    );
    let by_timeout = attempt.reason == reason::TASK_TIMEOUT;
    let texts = Texts {
        summary: format!(
            "The job waited {} for attempts {} {name}, which {}.",
            seconds(cost),
            if worst.how == Silence::Needed { "that needed" } else { "on" },
            match worst.how {
                Silence::Crashed | Silence::Needed => "had crashed",
                Silence::Cut => "could not be reached",
                Silence::Unheard => "was not heard of",
            }
        ),
        evidence,
        advice,
        property: match (by_timeout, view.is_yarn()) {
            (true, true) => "mapreduce.task.timeout, yarn.nm.liveness-monitor.expiry-interval-ms",
            (false, true) => "yarn.nm.liveness-monitor.expiry-interval-ms, mapreduce.task.timeout",
            (true, false) => "mapreduce.task.timeout, mapreduce.jobtracker.expire.trackers.interval",
            (false, false) => "mapreduce.jobtracker.expire.trackers.interval, mapreduce.task.timeout",
        },
        key: if by_timeout {
            "mapreduce.task-timeout, mapreduce.node-expiry"
        } else {
            "mapreduce.node-expiry, mapreduce.task-timeout"
        },
    };
    let found = view.finding(Rule::SilentNode, Severity::Critical, cost, texts)?;
    Some(Finding { node: Some(node), attempt: Some(worst.row), ..found })
}

/// The setting that bears on why an attempt ended: Hadoop's property and the key.
fn setting_of(why: &str) -> (&'static str, &'static str) {
    match why {
        reason::PREEMPTED => ("mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.slowstart"),
        reason::INPUT_UNREADABLE | reason::OUTPUT_UNWRITABLE => {
            ("dfs.client.socket-timeout, dfs.replication", "hdfs.socket-timeout, hdfs.replication")
        }
        reason::FETCHES_FAILED | reason::OUTPUT_UNFETCHABLE => {
            ("mapreduce.reduce.shuffle.parallelcopies", "mapreduce.parallel-copies")
        }
        _ => ("mapreduce.job.maxtaskfailures.per.tracker", "mapreduce.node-failures"),
    }
}

/// Work of the critical path that was in vain, beyond what silent nodes account for.
pub fn failed_attempts(view: &JobView<'_>, silent: &[Finding]) -> Option<Finding> {
    let known: Vec<u32> = silent.iter().filter_map(|finding| finding.node).collect();
    let in_vain = |row: &u32| {
        let attempt = view.attempt(*row);
        // Losers of a race and what a job left behind are killed too: they count where the job waited for them.
        let failed = match attempt.state {
            AttemptState::Failed => true,
            // One that was too slow is told by the rule on second attempts.
            AttemptState::Killed => attempt.reason != reason::OTHER_FIRST && view.on_path(*row) > Time::ZERO,
            AttemptState::Succeeded | AttemptState::Running => false,
        };
        failed && !known.contains(&attempt.node)
    };
    let rows: Vec<u32> = view.attempts.iter().copied().filter(in_vain).collect();
    let worst = *rows.iter().max_by_key(|row| (view.on_path(**row), std::cmp::Reverse(**row)))?;
    let cost = rows.iter().map(|row| view.on_path(*row)).sum();
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *by_reason.entry(&view.attempt(*row).reason).or_default() += 1;
    }
    let reasons: Vec<String> = by_reason.iter().map(|(why, count)| format!("{count}: {why}")).collect();
    let (property, key) = setting_of(&view.attempt(worst).reason);
    let texts = Texts {
        summary: format!("{} of the longest chain of tasks went into attempts that came to nothing.", seconds(cost)),
        evidence: format!(
            "{} failed or were killed ({}); the longest on the path was {}, {}",
            many(rows.len(), "attempt"),
            reasons.join("; "),
            view.named(worst),
            seconds(view.on_path(worst))
        ),
        advice: format!("Its cause: {}.", view.attempt(worst).reason),
        property,
        key,
    };
    let found = view.finding(Rule::FailedAttempts, Severity::Critical, cost, texts)?;
    Some(Finding { node: Some(view.attempt(worst).node), attempt: Some(worst), ..found })
}

/// Attempts that were slow until a second one was asked for, where their nodes were not silent.
pub fn second_attempts(view: &JobView<'_>, silences: &Silences) -> Option<Finding> {
    let mut by_row: BTreeMap<u32, Time> = BTreeMap::new();
    for segment in view.job.critical_path.iter().filter(|segment| segment.waiting == Waiting::SecondAttempt) {
        let slow = segment.attempt.filter(|row| !silences.has(*row) && view.attempt(*row).output_lost.is_none());
        if let Some(row) = slow {
            *by_row.entry(row).or_default() += segment.finish - segment.start;
        }
    }
    let cost = by_row.values().copied().sum();
    let (row, waited) = by_row.into_iter().max_by_key(|(row, time)| (*time, std::cmp::Reverse(*row)))?;
    let first = view.attempt(row);
    // The one that was on the path in its place.
    let second = view.attempts.iter().copied().filter(|other| {
        let attempt = view.attempt(*other);
        (attempt.kind, attempt.task) == (first.kind, first.task) && attempt.attempt > first.attempt
    });
    let second = second.max_by_key(|other| (view.on_path(*other), std::cmp::Reverse(*other)))?;
    let other = view.attempt(second);
    let ended = if other.state == AttemptState::Succeeded { "was done" } else { "ended" };
    let advice = if view.is_yarn() {
        "YARN asks for a second attempt once the first is expected to end later than a new one would, which it judges by \
         the tasks that are done."
    } else {
        "Hadoop 1 asks for a second attempt after a minute, if the first makes less progress than the tasks that are \
         done."
    };
    let speculative = match first.kind {
        TaskKind::Map => "mapreduce.map.speculative",
        TaskKind::Reduce => "mapreduce.reduce.speculative",
    };
    let texts = Texts {
        summary: format!("The job waited {} until second attempts at slow tasks were asked for.", seconds(cost)),
        evidence: format!(
            "{} was slow for {} of it; {} started at {} and {ended} {} later",
            view.named(row),
            seconds(waited),
            view.named(second),
            seconds(other.start),
            seconds(other.finish.saturating_sub(other.start)),
        ),
        advice: format!("Find out what slowed {} down. {advice}", view.named(row)),
        property: speculative,
        key: "mapreduce.speculative",
    };
    let found = view.finding(Rule::SecondAttempt, Severity::Critical, cost, texts)?;
    Some(Finding { node: Some(first.node), attempt: Some(row), ..found })
}
