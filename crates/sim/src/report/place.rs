//! Which resource a stretch of the critical path waited for, in words.

use super::series::{ends, lasting_rate};
use crate::results::{CriticalSegment, Link, RunResult, Waiting};
use crate::scenario::Scenario;
use units::{BitRate, Time};

/// The resource, empty if there is none to name.
pub fn place(segment: &CriticalSegment, result: &RunResult, scenario: Option<&Scenario>) -> String {
    let attempt = segment.attempt.and_then(|i| result.attempts.get(i as usize));
    let node = attempt.and_then(|attempt| result.nodes.get(attempt.node as usize)).map(|node| node.name.as_str());
    match (segment.waiting, node) {
        (Waiting::Cpu, Some(node)) => format!("{node}'s processor"),
        (Waiting::Disk, Some(node)) => format!("{node}'s disk"),
        (Waiting::StartUp, Some(node)) => format!("a process on {node}"),
        (Waiting::Transfer | Waiting::Queueing | Waiting::Recovery | Waiting::TcpTimeout, _) => {
            busiest_link(segment, node, result, scenario)
                .map(|link| link_words(link, result, scenario))
                .unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Of the links at the nodes that took part, and those between switches, the one in most use during the stretch.
fn busiest_link<'a>(
    segment: &CriticalSegment,
    node: Option<&str>,
    result: &'a RunResult,
    scenario: Option<&Scenario>,
) -> Option<&'a Link> {
    let named = |name: &str| node == Some(name) || words(&segment.detail).any(|word| word == name);
    let is_node = |name: &str| result.nodes.iter().any(|node| node.name == name);
    let took_part = |end: &str| !is_node(end) || named(end);
    let mut best: Option<(f64, &Link)> = None;
    for link in &result.links {
        let (from, to) = ends(&link.name);
        if !(took_part(from) && took_part(to)) {
            continue;
        }
        let used = mean_use(link, segment.start, segment.finish, result.sample_interval) * link.rate.as_bps() as f64;
        let used = used / lasting_rate(link, result, scenario);
        if used > best.map_or(0.0, |(most, _)| most) {
            best = Some((used, link));
        }
    }
    best.map(|(_, link)| link)
}

/// The names in a text: what letters, digits, dots and dashes make.
fn words(text: &str) -> impl Iterator<Item = &str> {
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

fn link_words(link: &Link, result: &RunResult, scenario: Option<&Scenario>) -> String {
    let rate = BitRate::from_bps(lasting_rate(link, result, scenario) as u64);
    let is_node = |name: &str| result.nodes.iter().any(|node| node.name == name);
    match ends(&link.name) {
        (from, to) if from == to => format!("{from}'s loopback"),
        (from, to) if is_node(to) && !is_node(from) => format!("the {rate} link into {to}"),
        (from, to) if is_node(from) && !is_node(to) => format!("the {rate} link out of {from}"),
        (from, to) => format!("the {rate} link from {from} to {to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Attempt, AttemptState, Node, TaskKind};

    fn link(name: &str, utilisation: &[f32]) -> Link {
        Link {
            name: name.to_owned(),
            rate: BitRate::from_mbps(100),
            utilisation: utilisation.to_vec(),
            ..Link::default()
        }
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
            intervals: Vec::new(),
            input: units::Bytes::ZERO,
            output: units::Bytes::ZERO,
            remote: units::Bytes::ZERO,
            spilled: units::Bytes::ZERO,
        };
        RunResult {
            nodes: ["master", "worker-1", "worker-2", "worker-10"].map(node).to_vec(),
            attempts: vec![attempt],
            sample_interval: Time::from_secs(1),
            links: vec![
                link("switch -> worker-1", &[0.9, 0.9, 0.1, 0.1]),
                link("worker-2 -> switch", &[0.2, 0.2, 0.6, 0.6]),
                link("worker-10 -> switch", &[1.0, 1.0, 1.0, 1.0]),
            ],
            ..RunResult::default()
        }
    }

    fn segment(waiting: Waiting, from: u64, to: u64) -> CriticalSegment {
        CriticalSegment {
            start: Time::from_secs(from),
            finish: Time::from_secs(to),
            waiting,
            attempt: Some(0),
            detail: "fetch of map 3 from worker-2".to_owned(),
        }
    }

    #[test]
    fn transfer_is_charged_to_the_busiest_link_of_those_that_took_part() {
        let run = run();
        assert_eq!(place(&segment(Waiting::Transfer, 0, 2), &run, None), "the 100 Mbit/s link into worker-1");
        assert_eq!(place(&segment(Waiting::Transfer, 2, 4), &run, None), "the 100 Mbit/s link out of worker-2");
    }

    #[test]
    fn work_is_charged_to_the_node_of_the_attempt() {
        assert_eq!(place(&segment(Waiting::Disk, 0, 1), &run(), None), "worker-1's disk");
        assert_eq!(place(&segment(Waiting::Slot, 0, 1), &run(), None), "");
    }
}
