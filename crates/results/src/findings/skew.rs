//! Tasks of a kind that are not alike: by their bytes, by their time, by their node.

use super::job::{JobView, Task, Texts, mean, seconds};
use super::{Finding, Rule, Severity};
use crate::TaskKind;
use units::{Bytes, Time, many};

/// How far apart the means of two groups are, in parts of the lesser: Dr. Elephant's `deviation_severity`.
const DEVIATION: [f64; 4] = [2.0, 4.0, 8.0, 16.0];
/// The mean size of the larger group in parts of a block: Dr. Elephant's `files_severity`.
const FILES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
/// An outlier takes this many times the median (Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce
/// Clusters using Mantri", OSDI 2010, section 2).
const OUTLIER: f64 = 1.5;
/// A node with this many times its share of the tasks is crowded.
const CROWDED: f64 = 2.0;

/// Two groups of values, as Dr. Elephant compares them.
struct Groups {
    least: f64,
    most: f64,
    /// Positions of the values of the upper group.
    upper: Vec<usize>,
    deviation: f64,
}

/// Splits values at the middle between the means of two groups, until that does not change: two-means in one dimension.
fn two_groups(values: &[f64], floor: f64) -> Option<Groups> {
    let mean = |of: &[usize]| of.iter().map(|at| values[*at]).sum::<f64>() / of.len() as f64;
    let mut middle = values.iter().sum::<f64>() / values.len() as f64;
    for _ in 0..values.len().max(1) {
        let (upper, lower): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(|at| values[*at] > middle);
        if upper.is_empty() || lower.is_empty() {
            return None;
        }
        let (least, most) = (mean(&lower), mean(&upper));
        let next = f64::midpoint(least, most);
        let settled = (0..values.len()).all(|at| (values[at] > middle) == (values[at] > next));
        if settled {
            return Some(Groups { least, most, upper, deviation: (most - least) / least.max(floor) });
        }
        middle = next;
    }
    None
}

/// What the path would save if these tasks took no longer than `usual`.
fn excess(view: &JobView<'_>, tasks: &[&Task<'_>], usual: Time) -> Time {
    let of = |task: &&Task<'_>| {
        let over = 1.0 - usual.as_secs_f64() / task.took.as_secs_f64().max(1e-9);
        view.on_path(task.row).min(task.took).mul_f64(over.clamp(0.0, 1.0))
    };
    tasks.iter().map(of).sum()
}

/// The task of the longest time on the path.
fn worst<'a, 'b>(view: &JobView<'_>, tasks: &[&'b Task<'a>]) -> Option<&'b Task<'a>> {
    tasks.iter().copied().max_by_key(|task| (view.on_path(task.row), task.took, std::cmp::Reverse(task.row)))
}

/// Skew and stragglers of maps and reducers; of each kind the first that explains it.
pub fn skew(view: &JobView<'_>) -> Vec<Finding> {
    let kinds = [TaskKind::Map, TaskKind::Reduce];
    let of = |kind| bytes_skew(view, kind).or_else(|| stragglers(view, kind)).or_else(|| time_skew(view, kind));
    kinds.into_iter().filter_map(of).collect()
}

fn words(kind: TaskKind) -> (&'static str, &'static str) {
    match kind {
        TaskKind::Map => ("map", "maps"),
        TaskKind::Reduce => ("reducer", "reducers"),
    }
}

fn bytes_skew(view: &JobView<'_>, kind: TaskKind) -> Option<Finding> {
    let tasks = view.tasks(kind);
    let bytes: Vec<f64> = tasks.iter().map(|task| task.attempt.input.get() as f64).collect();
    let groups = two_groups(&bytes, 1.0)?;
    let block = view.scenario.hdfs.block.get() as f64;
    let most = Severity::rising(groups.deviation, DEVIATION)?.min(Severity::rising(groups.most / block, FILES)?);
    // Few large ones are skew; one that is small, as what remains of a file after its full blocks, is none.
    if 2 * groups.upper.len() >= tasks.len() {
        return None;
    }
    let upper: Vec<&Task<'_>> = groups.upper.iter().map(|at| &tasks[*at]).collect();
    let cost = excess(view, &upper, mean(tasks.iter().map(|task| task.took)));
    let worst = worst(view, &upper)?;
    let (one, all) = words(kind);
    let size = |bytes: f64| format!("{:.1}", Bytes::new(bytes as u64));
    let (property, key, advice) = match kind {
        TaskKind::Map => (
            "mapreduce.input.fileinputformat.split.maxsize, mapreduce.input.fileinputformat.split.minsize",
            "job.splits, hdfs.block",
            "Splits of one size: a splittable format, small files combined, large ones cut at their blocks.",
        ),
        TaskKind::Reduce => (
            "mapreduce.job.partitioner.class, mapreduce.job.reduces",
            "job.shares, job.skew, mapreduce.reducers",
            "A partitioner that knows the keys' frequencies (sampled ranges, salted keys), or a combiner.",
        ),
    };
    let texts = Texts {
        summary: format!(
            "{} of {} {all} {} {:.1} times the bytes of the others.",
            upper.len(),
            tasks.len(),
            if upper.len() == 1 { "gets" } else { "get" },
            groups.most / groups.least.max(1.0)
        ),
        evidence: format!(
            "{} with {} each in the mean, {} with {}; {} got {} and worked {}",
            many(tasks.len() - upper.len(), one),
            size(groups.least),
            upper.len(),
            size(groups.most),
            view.named(worst.row),
            size(worst.attempt.input.get() as f64),
            seconds(worst.took)
        ),
        advice: format!("{advice} With equal shares at most about {} less.", seconds(cost)),
        property,
        key,
    };
    let rule = if kind == TaskKind::Map { Rule::MapBytesSkew } else { Rule::ReduceBytesSkew };
    let found = view.finding(rule, most, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// How many of a node's tasks were slow.
fn slow_there_words(slow: usize, all: usize, one: &str) -> String {
    match (slow, all) {
        (1, 1) => format!("the only {one} there was slow"),
        (1, all) => format!("1 of the {} there was slow", many(all, one)),
        (slow, all) => format!("{slow} of the {} there were slow", many(all, one)),
    }
}

/// Tasks with no more bytes than the others that take much longer, all on one node.
fn stragglers(view: &JobView<'_>, kind: TaskKind) -> Option<Finding> {
    let tasks = view.tasks(kind);
    if tasks.len() < 4 {
        return None;
    }
    let usual = median(tasks.iter().map(|task| task.took.as_secs_f64()).collect());
    let bytes = median(tasks.iter().map(|task| task.attempt.input.get() as f64).collect());
    let slow = |task: &&Task<'_>| {
        task.took.as_secs_f64() > OUTLIER * usual && task.attempt.input.get() as f64 <= OUTLIER * bytes.max(1.0)
    };
    let slow: Vec<&Task<'_>> = tasks.iter().filter(slow).collect();
    let worst = worst(view, &slow)?;
    let node = worst.attempt.node;
    let there = |task: &&&Task<'_>| task.attempt.node == node;
    let on_node = slow.iter().filter(there).count();
    // Slow tasks all over are not a slow node.
    if 2 * on_node <= slow.len() {
        return None;
    }
    let slow_there: Vec<&Task<'_>> = slow.iter().copied().filter(|task| task.attempt.node == node).collect();
    let all_there = tasks.iter().filter(|task| task.attempt.node == node).count();
    let usual = Time::from_secs_f64(usual);
    let cost = excess(view, &slow_there, usual);
    let (one, all) = words(kind);
    let speculative = view.scenario.mapreduce.speculative;
    // A node with far more than its share of the tasks is slow for that reason, and no worse than the others.
    let crowd = all_there as f64 * f64::from(view.workers()) / tasks.len() as f64;
    let crowded = crowd >= CROWDED;
    let texts = Texts {
        summary: if crowded {
            format!("{} runs {all_there} of {} {all}, {crowd:.1} times its share.", view.node(node), tasks.len())
        } else {
            format!("{} slows its {all} down: they take more than {OUTLIER} times the median.", view.node(node))
        },
        evidence: format!(
            "{} worked {}, the median {one} {}; {}, {} elsewhere",
            view.named(worst.row),
            seconds(worst.took),
            seconds(usual),
            slow_there_words(on_node, all_there, one),
            slow.len() - on_node
        ),
        advice: format!(
            "{}; speculative execution is {}. Without the delay at most about {} less.",
            match (crowded, view.is_yarn()) {
                (true, true) => "Containers of more memory spread them",
                (true, false) => "Fewer slots on each node spread them",
                (false, _) => "Look at that node",
            },
            if speculative { "on and did not win the time back" } else { "off, and would start them elsewhere too" },
            seconds(cost)
        ),
        property: match (kind, crowded, view.is_yarn()) {
            (TaskKind::Map, true, true) => "mapreduce.map.memory.mb",
            (TaskKind::Reduce, true, true) => "mapreduce.reduce.memory.mb",
            (TaskKind::Map, true, false) => "mapreduce.tasktracker.map.tasks.maximum",
            (TaskKind::Reduce, true, false) => "mapreduce.tasktracker.reduce.tasks.maximum",
            (TaskKind::Map, false, _) => "mapreduce.map.speculative, mapreduce.job.maxtaskfailures.per.tracker",
            (TaskKind::Reduce, false, _) => "mapreduce.reduce.speculative, mapreduce.job.maxtaskfailures.per.tracker",
        },
        key: match (kind, crowded, view.is_yarn()) {
            (TaskKind::Map, true, true) => "mapreduce.map-memory",
            (TaskKind::Reduce, true, true) => "mapreduce.reduce-memory",
            (TaskKind::Map, true, false) => "mapreduce.map-slots",
            (TaskKind::Reduce, true, false) => "mapreduce.reduce-slots",
            (_, false, _) => "mapreduce.speculative, mapreduce.node-failures",
        },
    };
    let found = view.finding(Rule::Stragglers, Severity::Critical, cost, texts)?;
    Some(Finding { node: Some(node), attempt: Some(worst.row), ..found })
}

fn time_skew(view: &JobView<'_>, kind: TaskKind) -> Option<Finding> {
    let tasks = view.tasks(kind);
    let times: Vec<f64> = tasks.iter().map(|task| task.took.as_secs_f64()).collect();
    // Below a second a ratio of times says nothing: Dr. Elephant counts whole seconds.
    let groups = two_groups(&times, 1.0)?;
    let most = Severity::rising(groups.deviation, DEVIATION)?;
    let upper: Vec<&Task<'_>> = groups.upper.iter().map(|at| &tasks[*at]).collect();
    let cost = excess(view, &upper, mean(tasks.iter().map(|task| task.took)));
    let worst = worst(view, &upper)?;
    let (one, all) = words(kind);
    let texts = Texts {
        summary: format!(
            "{} of {} {all} {} {:.1} times as long as the others.",
            upper.len(),
            tasks.len(),
            if upper.len() == 1 { "takes" } else { "take" },
            groups.most / groups.least.max(1e-9)
        ),
        evidence: format!(
            "{} of {} in the mean, {} of {}; the longest on the path is {}, {}",
            many(tasks.len() - upper.len(), one),
            seconds(Time::from_secs_f64(groups.least)),
            upper.len(),
            seconds(Time::from_secs_f64(groups.most)),
            view.named(worst.row),
            seconds(worst.took)
        ),
        advice: format!(
            "Their bytes are alike: what differs is the work of a record or where they read from. At most about \
             {} less.",
            seconds(cost)
        ),
        property: match kind {
            TaskKind::Map => "mapreduce.map.speculative, mapreduce.input.fileinputformat.split.maxsize",
            TaskKind::Reduce => "mapreduce.reduce.speculative, mapreduce.job.reduces",
        },
        key: match kind {
            TaskKind::Map => "mapreduce.speculative, hdfs.block",
            TaskKind::Reduce => "mapreduce.speculative, mapreduce.reducers",
        },
    };
    let rule = if kind == TaskKind::Map { Rule::MapTimeSkew } else { Rule::ReduceTimeSkew };
    let found = view.finding(rule, most, cost, texts)?;
    Some(Finding { attempt: Some(worst.row), ..found })
}

#[cfg(test)]
mod tests {
    use super::{slow_there_words, two_groups};

    /// By hand: 1, 2, 3 and 30, 34 have the means 2 and 32, 15 times the lesser apart.
    #[test]
    fn two_groups_are_those_that_one_sees() {
        let groups = two_groups(&[2.0, 30.0, 1.0, 34.0, 3.0], 1.0).expect("two groups");
        assert_eq!((groups.least, groups.most, groups.deviation), (2.0, 32.0, 15.0));
        assert_eq!(groups.upper, [1, 3]);
        assert!(two_groups(&[5.0, 5.0, 5.0], 1.0).is_none(), "equal values are one group");
        assert!(two_groups(&[], 1.0).is_none());
    }

    #[test]
    fn one_task_is_no_plural() {
        let said = [(1, 1), (1, 3), (2, 3)].map(|(slow, all)| slow_there_words(slow, all, "map"));
        let expected =
            ["the only map there was slow", "1 of the 3 maps there was slow", "2 of the 3 maps there were slow"];
        assert_eq!(said, expected);
    }
}
