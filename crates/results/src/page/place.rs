//! Which resource a stretch of the critical path waited for, in words.

use crate::{CriticalSegment, Link, LinkEnd, RunResult, SparkApplication, SparkTask, Waiting};
use units::{Bytes, Time};

/// The resource of each stretch of a path, empty where there is none to name.
pub fn places(path: &[CriticalSegment], result: &RunResult) -> Vec<String> {
    let links = links(path, result);
    path.iter()
        .zip(links)
        .map(|(segment, link)| link.map_or_else(|| place(segment, result), |link| link_words(link, result)))
        .collect()
}

/// The link that each stretch of a path waited for; none where that was no link.
pub fn links<'a>(path: &[CriticalSegment], result: &'a RunResult) -> Vec<Option<&'a Link>> {
    let mut out = Vec::with_capacity(path.len());
    // What the network did to one transfer is told in several stretches, by cause and not by time: its link is one.
    for transfer in path.chunk_by(|a, b| {
        a.waiting.is_network() && b.waiting.is_network() && (a.attempt, &a.detail) == (b.attempt, &b.detail)
    }) {
        let (first, last) = (&transfer[0], &transfer[transfer.len() - 1]);
        let node = first.attempt.and_then(|row| result.attempts.get(row as usize)).map(|attempt| attempt.node);
        let link =
            first.waiting.is_network().then(|| busiest_link(first.source, (first.start, last.finish), node, result));
        out.extend(transfer.iter().map(|_| link.flatten()));
    }
    out
}

/// The resource of each stretch of an application's path in Spark, empty where there is none to name.
pub fn places_of_spark(app: &SparkApplication, result: &RunResult) -> Vec<String> {
    let mut out = Vec::with_capacity(app.critical_path.len());
    // The network's part of a task stands in several stretches, by cause and not by time.
    for part in app.critical_path.chunk_by(|a, b| a.waiting.is_network() && b.waiting.is_network() && a.task == b.task)
    {
        let (first, last) = (&part[0], &part[part.len() - 1]);
        let task = first.task.map(|row| &app.tasks[row]);
        let who = task.map(|task| (task.node.0, format!("task {} of {}", task.index, app.stages[task.stage].name)));
        // What a task waited for changed many times while it ran.
        let whole = task.and_then(|task| Some((task.told?, task.end?)));
        let span = whole.unwrap_or((first.start, last.finish));
        let node = task.map(|task| task.node.0);
        let link = match task.filter(|task| reads_far(task)) {
            _ if !first.waiting.is_network() => None,
            Some(task) => busiest_inward(span, task.node.0, result),
            None => busiest_link(None, span, node, result),
        };
        let place = link.map_or_else(|| named(first.waiting, who, result), |link| link_words(link, result));
        out.extend(part.iter().map(|_| place.clone()));
    }
    out
}

fn reads_far(task: &SparkTask) -> bool {
    task.shuffle_remote + task.input_remote + task.cached_remote > Bytes::ZERO
}

/// A link in use for so much of the time is full.
const FULL: f64 = 0.9;

/// What many nodes send to one at once: the link into that where it is full; else, of those that lead there, the one in
/// most use.
fn busiest_inward((start, finish): (Time, Time), node: u32, result: &RunResult) -> Option<&Link> {
    let leads = |link: &&Link| {
        !link.is_loopback() && link.from != LinkEnd::Node(node) && !matches!(link.to, LinkEnd::Node(to) if to != node)
    };
    let used = |link: &Link| mean_use(link, start, finish, result.sample_interval);
    let own = result.links.iter().filter(leads).find(|link| link.to == LinkEnd::Node(node));
    own.filter(|link| used(link) >= FULL).or_else(|| {
        let all = result.links.iter().filter(leads).map(|link| (used(link), link)).filter(|(used, _)| *used > 0.0);
        all.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, link)| link)
    })
}

/// What a stretch waited for that is no link.
fn place(segment: &CriticalSegment, result: &RunResult) -> String {
    let attempt = segment.attempt.and_then(|row| result.attempts.get(row as usize));
    named(segment.waiting, attempt.map(|attempt| (attempt.node, attempt.title())), result)
}

/// What the attempt of this name on a node waited for that is no link.
fn named(waiting: Waiting, who: Option<(u32, String)>, result: &RunResult) -> String {
    let node = who.as_ref().and_then(|(node, _)| result.nodes.get(*node as usize));
    let name = node.map(|node| node.name.as_str());
    // Nodes on one host share its processor.
    let machine = node.map(|node| node.host.map_or_else(|| node.name.clone(), |host| format!("host-{host}")));
    match (waiting, machine) {
        (Waiting::Cpu, Some(machine)) => format!("{machine}'s processor"),
        (Waiting::Disk, Some(machine)) => format!("{machine}'s disk"),
        // Whoever is waited for has a name; where nobody is, there is nothing to look at.
        (Waiting::Timeout | Waiting::SecondAttempt, Some(_)) => {
            let title = who.map(|(_, title)| title).unwrap_or_default();
            format!("{title} on {}", name.unwrap_or_default())
        }
        (Waiting::StartUp, Some(_)) => format!("a process on {}", name.unwrap_or_default()),
        _ => String::new(),
    }
}

/// Of the links that the transfer may have crossed, the one in most use meanwhile.
fn busiest_link(
    source: Option<u32>,
    (start, finish): (Time, Time),
    node: Option<u32>,
    result: &RunResult,
) -> Option<&Link> {
    // A transfer crosses its own node's links and what lies between; who is not at its end is not on its way.
    let passes = |end: LinkEnd, own: Option<u32>| match end {
        LinkEnd::Node(at) => Some(at) == own,
        LinkEnd::Switch | LinkEnd::Air => true,
    };
    let crossed = |link: &Link| {
        if source.is_some() && source == node {
            return link.is_loopback() && passes(link.from, source);
        }
        passes(link.from, source.or(node)) && passes(link.to, node) && !link.is_loopback()
    };
    let mut best: Option<(f64, &Link)> = None;
    let mut elsewhere: Option<(f64, &Link)> = None;
    for link in &result.links {
        let of = match crossed(link) {
            true => &mut best,
            false if link.is_loopback() || source.is_some() => continue,
            false => &mut elsewhere,
        };
        let used = mean_use(link, start, finish, result.sample_interval);
        if used > of.map_or(0.0, |(most, _)| most) {
            *of = Some((used, link));
        }
    }
    // The other end of what HDFS reads and writes has no name here, and a pipeline goes on from there: where the links
    // that are known had little to do, the one that holds it up is among the others.
    let hidden = elsewhere.filter(|(used, _)| *used > ELSEWHERE * best.map_or(0.0, |(most, _)| most));
    hidden.or(best).map(|(_, link)| link)
}

/// How many times busier a link elsewhere is than those at the task's node, where it is what HDFS waits for.
const ELSEWHERE: f64 = 2.0;

/// The names in a text: what letters, digits, dots and dashes make.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).map(|word| word.trim_matches('.'))
}

/// The mean share of the steps from `start` to `finish` in which a link transmitted.
fn mean_use(link: &Link, start: Time, finish: Time, step: Time) -> f64 {
    let step = step.as_ps().max(1);
    let last = (finish.as_ps().div_ceil(step) as usize).min(link.utilisation.len());
    let first = ((start.as_ps() / step) as usize).min(last);
    let steps = &link.utilisation[first..last];
    steps.iter().copied().map(f64::from).sum::<f64>() / steps.len().max(1) as f64
}

/// A link in words.
pub fn link_words(link: &Link, result: &RunResult) -> String {
    let rate = link.rate;
    let name = |node: u32| result.nodes.get(node as usize).map_or("", |node| node.name.as_str());
    match (link.from, link.to) {
        (LinkEnd::Node(node), _) if link.is_loopback() => format!("{}'s loopback", name(node)),
        (LinkEnd::Node(node), LinkEnd::Air) => format!("the air, {} sending", name(node)),
        (LinkEnd::Switch | LinkEnd::Air, LinkEnd::Node(node)) => format!("the {rate} link into {}", name(node)),
        (LinkEnd::Node(node), LinkEnd::Switch) => format!("the {rate} link out of {}", name(node)),
        _ => format!("the {rate} link {}", link.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attempt, AttemptState, Node, TaskKind};
    use units::BitRate;

    fn link(from: LinkEnd, to: LinkEnd, utilisation: &[f32]) -> Link {
        Link { from, to, rate: BitRate::from_mbps(100), utilisation: utilisation.to_vec(), ..Link::default() }
    }

    fn run() -> RunResult {
        let node = |name: &str| Node { name: name.to_owned(), ..Node::default() };
        let attempt = Attempt {
            job: 0,
            kind: TaskKind::Reduce,
            task: 0,
            attempt: 0,
            node: 1,
            speculative: false,
            locality: None,
            state: AttemptState::Succeeded,
            reason: String::new(),
            start: Time::ZERO,
            finish: Time::from_secs(4),
            output_lost: None,
            intervals: Vec::new(),
            input: Bytes::ZERO,
            output: Bytes::ZERO,
            remote: Bytes::ZERO,
            spilled: Bytes::ZERO,
        };
        RunResult {
            nodes: ["master", "worker-1", "worker-2", "worker-10"].map(node).to_vec(),
            attempts: vec![attempt],
            sample_interval: Time::from_secs(1),
            links: vec![
                link(LinkEnd::Switch, LinkEnd::Node(1), &[0.9, 0.9, 0.1, 0.1]),
                link(LinkEnd::Node(2), LinkEnd::Switch, &[0.2, 0.2, 0.6, 0.6]),
                link(LinkEnd::Node(3), LinkEnd::Switch, &[1.0, 1.0, 1.0, 1.0]),
                link(LinkEnd::Node(1), LinkEnd::Node(1), &[1.0, 1.0, 1.0, 1.0]),
            ],
            ..RunResult::default()
        }
    }

    fn segment(waiting: Waiting, from: u64, to: u64, source: Option<u32>) -> CriticalSegment {
        let (start, finish) = (Time::from_secs(from), Time::from_secs(to));
        CriticalSegment { start, finish, waiting, attempt: Some(0), source, detail: String::new() }
    }

    fn one(waiting: Waiting, from: u64, to: u64, source: Option<u32>) -> String {
        places(&[segment(waiting, from, to, source)], &run()).remove(0)
    }

    #[test]
    fn transfer_is_charged_to_the_busiest_link_that_it_crossed() {
        let fetch = Some(2);
        assert_eq!(one(Waiting::Transfer, 0, 2, fetch), "the 100 Mbit/s link into worker-1");
        assert_eq!(one(Waiting::Transfer, 2, 4, fetch), "the 100 Mbit/s link out of worker-2");
        assert_eq!(one(Waiting::Transfer, 2, 4, Some(1)), "worker-1's loopback");
    }

    /// Of a pipeline only the first node is known. Its link has little to do in the last two seconds (0.1), in which that
    /// out of worker-10 is full; before that it is nearly as busy (0.9 for 1.0).
    #[test]
    fn a_pipeline_may_wait_for_a_link_further_on() {
        assert_eq!(one(Waiting::Queueing, 0, 2, None), "the 100 Mbit/s link into worker-1");
        assert_eq!(one(Waiting::Queueing, 2, 4, None), "the 100 Mbit/s link out of worker-10");
    }

    #[test]
    fn what_the_network_did_to_one_transfer_has_one_place() {
        let fetch = Some(2);
        let path = [segment(Waiting::Transfer, 0, 2, fetch), segment(Waiting::Queueing, 2, 3, fetch)];
        assert_eq!(places(&path, &run()), ["the 100 Mbit/s link into worker-1", "the 100 Mbit/s link into worker-1"]);
    }

    #[test]
    fn work_is_charged_to_the_machine_of_the_attempt() {
        assert_eq!(one(Waiting::Disk, 0, 1, None), "worker-1's disk");
        assert_eq!(one(Waiting::Slot, 0, 1, None), "");
        assert_eq!(one(Waiting::Timeout, 0, 1, None), "r_000000_0 on worker-1");
        let mut shared = run();
        shared.nodes[1].host = Some(0);
        assert_eq!(places(&[segment(Waiting::Cpu, 0, 1, None)], &shared), ["host-0's processor"]);
    }
}
