//! How the work is cut and packed: spills, waves, idle slots, tasks that are too short.

use super::job::{JobView, Task, Texts, mean, seconds};
use super::{Finding, Rule, Severity};
use crate::{CriticalSegment, LinkEnd, Phase, TaskKind, Waiting};
use std::collections::BTreeMap;
use units::{Bytes, Time, many};

/// What is spilled for each byte of output: Dr. Elephant's `spill_severity`, there in records. One spill is 1; several,
/// merged once, are 2; more than that are passes of merging.
const SPILLED: [f64; 4] = [2.01, 2.2, 2.5, 3.0];
/// Mean time of a task in minutes, and number of tasks: Dr. Elephant's `short_runtime_severity_in_min` and
/// `num_tasks_severity`, which are alike for maps and for reducers.
const SHORT_MINUTES: [f64; 4] = [10.0, 4.0, 2.0, 1.0];
const MANY_TASKS: [f64; 4] = [50.0, 101.0, 500.0, 1000.0];
/// A task that works four times as long as its start takes spends a fifth of its time on it.
const WORTH: f64 = 4.0;

/// Maps whose output goes to disk in several passes.
pub fn spills(view: &JobView<'_>) -> Option<Finding> {
    if view.job.reduces == 0 {
        return None;
    }
    let sum = |of: fn(&Task<'_>) -> Bytes| view.maps.iter().map(|map| of(map).get()).sum::<u64>();
    let (spilled, output) = (sum(|map| map.attempt.spilled), sum(|map| map.attempt.output));
    if output == 0 {
        return None;
    }
    let ratio = spilled as f64 / output as f64;
    let most = Severity::rising(ratio, SPILLED)?;
    // Spills run beside the map function: what they hold up is the disk. Of all that, one pass remains.
    let on_path = |map: &Task<'_>| {
        view.path_in_phases(map.row, &[Phase::Merge], |_| true)
            + view.path_in_phases(map.row, &[Phase::Spill], |segment| segment.waiting == Waiting::Disk)
    };
    let cost = view.maps.iter().map(on_path).sum::<Time>().mul_f64(1.0 - 1.0 / ratio);
    let worst = view.maps.iter().max_by_key(|map| (map.attempt.spilled, std::cmp::Reverse(map.row)))?;
    let settings = &view.scenario.mapreduce;
    let largest = view.maps.iter().map(|map| map.attempt.output.get()).max().unwrap_or(0);
    let buffer = Bytes::new((largest as f64 / settings.spill_percent) as u64);
    let texts = Texts {
        summary: format!("Maps write each byte of their output to disk {ratio:.2} times."),
        evidence: format!(
            "{} written by spills and merges for {} of map output; {} wrote {} for {}",
            size(Bytes::new(spilled)),
            size(Bytes::new(output)),
            view.named(worst.row),
            size(worst.attempt.spilled),
            size(worst.attempt.output)
        ),
        advice: format!(
            "{} (now {}); {} streams merge at once. At most about {} less.",
            // What fills the buffer is what maps collect, before a combiner has made it less.
            if buffer > settings.io_sort {
                format!("A sort buffer above {} holds the largest output in one spill", size(buffer))
            } else {
                "The sort buffer fills before the combiner has run: a larger one spills less often".to_owned()
            },
            crate::page::size(settings.io_sort),
            settings.sort_factor,
            seconds(cost)
        ),
        property: "mapreduce.task.io.sort.mb, mapreduce.task.io.sort.factor",
        key: "mapreduce.io-sort, mapreduce.sort-factor",
    };
    let found = view.finding(Rule::Spills, most, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

fn size(bytes: Bytes) -> String {
    format!("{bytes:.1}")
}

/// The most tasks of a kind that ran at once, those counted that came to nothing.
fn most_at_once(view: &JobView<'_>, kind: TaskKind) -> usize {
    let tasks = view.attempts.iter().map(|row| view.attempt(*row)).filter(|attempt| attempt.kind == kind);
    let mut changes: Vec<(Time, bool)> = tasks.flat_map(|task| [(task.start, true), (task.finish, false)]).collect();
    // At one instant ends come before starts.
    changes.sort_unstable();
    let (mut running, mut most) = (0_usize, 0);
    for (_, starts) in changes {
        running = if starts { running + 1 } else { running.saturating_sub(1) };
        most = most.max(running);
    }
    most
}

/// Maps in waves of which the last leaves at least half of the slots idle.
pub fn slot_waves(view: &JobView<'_>) -> Option<Finding> {
    let at_once = most_at_once(view, TaskKind::Map);
    let (all, rest) = (view.maps.len(), view.maps.len().checked_rem(at_once)?);
    if all <= at_once || rest == 0 || 2 * rest > at_once {
        return None;
    }
    // From the last start on nothing is left to fill a slot that becomes free: idle slots times time, over all slots.
    let last_start = view.maps.iter().map(|map| map.attempt.start).max()?;
    let worked: Time =
        view.maps.iter().map(|map| map.attempt.finish.saturating_sub(map.attempt.start.max(last_start))).sum();
    let tail = view.maps_done.saturating_sub(last_start);
    let cost = tail.saturating_sub(Time::from_ps(worked.as_ps() / at_once as u64));
    let waves = all.div_ceil(at_once);
    let last = view.maps.iter().max_by_key(|map| (map.attempt.finish, map.row))?;
    let texts = Texts {
        summary: format!("{} run in {waves} waves, and the last one has work for {rest} of {at_once} slots.", {
            many(all, "map")
        }),
        evidence: format!(
            "At most {at_once} maps ran at once, a map takes {} in the mean; the last one, {}, ended {} after the \
             last start",
            seconds(mean(view.maps.iter().map(|map| map.took))),
            view.named(last.row),
            seconds(tail)
        ),
        advice: format!(
            "A multiple of {at_once} maps (larger or smaller splits), or a few slots more. At most about {} less.",
            seconds(cost)
        ),
        property: if view.is_yarn() {
            "mapreduce.input.fileinputformat.split.maxsize, yarn.nodemanager.resource.memory-mb"
        } else {
            "mapreduce.input.fileinputformat.split.maxsize, mapreduce.tasktracker.map.tasks.maximum"
        },
        key: if view.is_yarn() { "hdfs.block, mapreduce.node-memory" } else { "hdfs.block, mapreduce.map-slots" },
    };
    let found = view.finding(Rule::SlotWaves, Severity::Critical, cost, texts)?;
    Some(Finding { attempt: Some(last.row), ..found })
}

/// Fewer tasks than half of the workers, while they are what the job waits for.
pub fn idle_slots(view: &JobView<'_>) -> Vec<Finding> {
    [TaskKind::Map, TaskKind::Reduce].into_iter().filter_map(|kind| idle(view, kind)).collect()
}

fn idle(view: &JobView<'_>, kind: TaskKind) -> Option<Finding> {
    let tasks = view.tasks(kind);
    let workers = view.workers() as usize;
    if tasks.is_empty() || 2 * tasks.len() > workers {
        return None;
    }
    let (one, property, key) = match kind {
        TaskKind::Map => ("map", "mapreduce.input.fileinputformat.split.maxsize", "hdfs.block, job.splits"),
        TaskKind::Reduce => ("reducer", "mapreduce.job.reduces", "mapreduce.reducers, job.reducers"),
    };
    // What the tasks do, not how they are started: that would not be less if there were more of them.
    let work = |task: &Task<'_>, segment: &CriticalSegment| {
        segment.attempt == Some(task.row) && !matches!(segment.waiting, Waiting::StartUp | Waiting::Timeout)
    };
    let until = if kind == TaskKind::Reduce { view.maps_done } else { Time::ZERO };
    // More tasks do not share what was waited for at another node's link: they all wait there.
    let mut busy = Time::ZERO;
    let mut elsewhere: BTreeMap<String, Time> = BTreeMap::new();
    let links = crate::page::links(&view.job.critical_path, view.run);
    for (segment, link) in view.job.critical_path.iter().zip(links) {
        let Some(task) = tasks.iter().find(|task| work(task, segment)) else { continue };
        let own = |end: LinkEnd| end == LinkEnd::Node(task.attempt.node);
        let time = segment.finish.saturating_sub(segment.start.max(until));
        match link.filter(|link| !own(link.from) && !own(link.to)) {
            Some(link) => *elsewhere.entry(crate::page::link_words(link, view.run)).or_default() += time,
            None => busy += time,
        }
    }
    let elsewhere = elsewhere.into_iter().max_by_key(|(_, time)| *time);
    let elsewhere = elsewhere.filter(|(_, time)| view.stake(*time).is_some());
    let elsewhere = elsewhere
        .map(|(place, time)| format!("; {} more for {place}, which more {}s would share", seconds(time), one))
        .unwrap_or_default();
    // More tasks are worth it while each works some times as long as its start takes.
    let starting = mean(tasks.iter().map(start)).as_secs_f64();
    let worth = (busy.as_secs_f64() / (WORTH * starting).max(1e-3)).min(workers as f64);
    let cost = busy.mul_f64((1.0 - tasks.len() as f64 / worth.max(1.0)).max(0.0));
    let worst = tasks.iter().max_by_key(|task| (view.on_path(task.row), std::cmp::Reverse(task.row)))?;
    let texts = Texts {
        summary: format!("{} for {workers} workers: most of the cluster is idle meanwhile.", many(tasks.len(), one)),
        evidence: format!(
            "The job waited {} for them{elsewhere}; {} took {}; {} slots for such tasks",
            seconds(busy),
            view.named(worst.row),
            seconds(worst.took),
            view.slots(kind)
        ),
        advice: format!(
            "Some {:.0} {one}s would still be worth their start. At most about {} less.",
            worth,
            seconds(cost)
        ),
        property,
        key,
    };
    let found = view.finding(Rule::IdleSlots, Severity::Critical, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

/// How long the start of a task takes.
fn start(task: &Task<'_>) -> Time {
    start_after(task, Time::ZERO)
}

/// How long it takes from a time on.
fn start_after(task: &Task<'_>, from: Time) -> Time {
    let starts = task.attempt.intervals.iter().filter(|interval| interval.phase == Phase::Start);
    starts.map(|interval| interval.finish.saturating_sub(interval.start.max(from))).sum()
}

/// Many reducers, each so short that starting them is a large part of their phase. As many start at once as run at once
/// and have a core each: JVMs that start share a node's cores, and those of later waves start anew.
pub fn short_reducers(view: &JobView<'_>) -> Option<Finding> {
    let usual = mean(view.reduces.iter().map(|task| task.took));
    let short = Severity::falling(usual.as_secs_f64() / 60.0, SHORT_MINUTES)?;
    let all = view.reduces.len();
    let most = short.min(Severity::rising(all as f64, MANY_TASKS)?);
    let starts: Time = view.reduces.iter().map(|task| start_after(task, view.maps_done)).sum();
    let starting = starts / all as u64;
    let part = (starting.as_secs_f64() / usual.as_secs_f64().max(1e-9)).min(1.0);
    let (at_once, cores) = (most_at_once(view, TaskKind::Reduce), view.cores() as usize);
    let enough = at_once.min(cores).max(1);
    // One after the other in the slots, the starts take this long. Of that the part remains which no more reducers than
    // enough have in it.
    let in_slots = starts / at_once.max(1) as u64;
    let done = view.reduces.iter().map(|task| task.attempt.finish).max()?;
    let cost = in_slots.min(done.saturating_sub(view.maps_done)).mul_f64((1.0 - enough as f64 / all as f64).max(0.0));
    let worst = view.reduces.iter().max_by_key(|task| (view.on_path(task.row), std::cmp::Reverse(task.row)))?;
    let fetched: u64 = view.reduces.iter().map(|task| task.attempt.input.get()).sum();
    let texts = Texts {
        summary: format!(
            "{} of {} each: {:.0} % of that is starting them.",
            many(all, "reducer"),
            seconds(usual),
            part * 100.0
        ),
        evidence: format!(
            "Start-up {} of {} in the mean; a reducer gets {:.1}; at most {at_once} ran at once, on {}; {} took {}",
            seconds(starting),
            seconds(usual),
            Bytes::new(fetched / all as u64),
            many(cores, "core"),
            view.named(worst.row),
            seconds(worst.took)
        ),
        advice: format!(
            "No more than {enough} reducers, {}. At most about {} less.",
            if cores < at_once { "which is one for each core" } else { "so that all run at once" },
            seconds(cost)
        ),
        property: "mapreduce.job.reduces",
        key: "mapreduce.reducers, job.reducers",
    };
    let found = view.finding(Rule::ShortTasks, most, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

/// Many maps, each so short that starting them is a large part of the job.
pub fn short_tasks(view: &JobView<'_>) -> Option<Finding> {
    let usual = mean(view.maps.iter().map(|map| map.took));
    let short = Severity::falling(usual.as_secs_f64() / 60.0, SHORT_MINUTES)?;
    let most = short.min(Severity::rising(view.maps.len() as f64, MANY_TASKS)?);
    let starting = mean(view.maps.iter().map(start));
    // The path has but some of the maps; while one of them starts, the slot does nothing else.
    let part = starting.as_secs_f64() / usual.as_secs_f64().max(1e-9);
    let first = view.maps.iter().map(|map| map.attempt.start).min()?;
    let cost = view.maps_done.saturating_sub(first).mul_f64(part.min(1.0));
    let block = view.scenario.hdfs.block;
    let read: u64 = view.maps.iter().map(|map| map.attempt.input.get()).sum();
    let each = Bytes::new(read / view.maps.len().max(1) as u64);
    let job = view.scenario.job.get(view.number as usize);
    // A map has one file at most, whatever the size of blocks and splits.
    let small_files = each > Bytes::ZERO && each.get() < block.get() / 2;
    let splits_are_given = job.is_some_and(|job| !job.splits.is_empty());
    let combined = "mapreduce.job.inputformat.class, mapreduce.input.fileinputformat.split.maxsize";
    let (remedy, property, key) = match (small_files, view.is_yarn()) {
        (true, _) if splits_are_given => ("Files joined, or several of them in a map", combined, "job.splits"),
        (true, _) => ("Files joined, or several of them in a map", combined, "job.packing.kind"),
        (false, true) => {
            ("Larger splits", "mapreduce.input.fileinputformat.split.minsize, dfs.blocksize", "hdfs.block")
        }
        (false, false) => (
            "Larger splits, or JVMs that run several maps",
            "mapreduce.input.fileinputformat.split.minsize, dfs.blocksize, mapreduce.job.jvm.numtasks",
            "hdfs.block, mapreduce.jvm-tasks",
        ),
    };
    let texts = Texts {
        summary: format!(
            "{} of {} each: {:.0} % of that is starting them.",
            many(view.maps.len(), "map"),
            { seconds(usual) },
            part * 100.0
        ),
        evidence: format!(
            "Start-up {} of {} in the mean; {}, where blocks have {}",
            seconds(starting),
            seconds(usual),
            if each > Bytes::ZERO { format!("a map reads {each:.1}") } else { "maps read nothing".to_owned() },
            crate::page::size(block)
        ),
        advice: format!("{remedy}. At most about {} less.", seconds(cost)),
        property,
        key,
    };
    view.finding(Rule::ShortTasks, most, cost, texts)
}
