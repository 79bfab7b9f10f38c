//! Which resource a stretch of the critical path waited for, in words.

use super::series::{ends, is_loopback};
use crate::results::{CriticalSegment, Link, RunResult, Waiting};
use units::Time;

/// The resource of each stretch of a path, empty where there is none to name.
pub fn places(path: &[CriticalSegment], result: &RunResult) -> Vec<String> {
    let mut out = Vec::with_capacity(path.len());
    // What the network did to one transfer is told in several stretches, by cause and not by time: its link is one.
    for transfer in
        path.chunk_by(|a, b| is_network(a) && is_network(b) && (a.attempt, &a.detail) == (b.attempt, &b.detail))
    {
        let place = place(transfer, result);
        out.extend(transfer.iter().map(|_| place.clone()));
    }
    out
}

const fn is_network(segment: &CriticalSegment) -> bool {
    matches!(segment.waiting, Waiting::Transfer | Waiting::Queueing | Waiting::Recovery | Waiting::TcpTimeout)
}

fn place(stretches: &[CriticalSegment], result: &RunResult) -> String {
    let first = &stretches[0];
    let attempt = first.attempt.and_then(|row| result.attempts.get(row as usize));
    let node = attempt.and_then(|attempt| result.nodes.get(attempt.node as usize));
    let name = node.map(|node| node.name.as_str());
    // Nodes on one host share its processor.
    let machine = node.map(|node| node.host.map_or_else(|| node.name.clone(), |host| format!("host-{host}")));
    match (first.waiting, machine) {
        (Waiting::Cpu, Some(machine)) => format!("{machine}'s processor"),
        (Waiting::Disk, Some(machine)) => format!("{machine}'s disk"),
        (Waiting::Timeout, Some(_)) => format!("an attempt on {}", name.unwrap_or_default()),
        (Waiting::StartUp, Some(_)) => format!("a process on {}", name.unwrap_or_default()),
        _ if is_network(first) => {
            let span = (first.start, stretches[stretches.len() - 1].finish);
            busiest_link(&first.detail, span, name, result).map(|link| link_words(link, result)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Of the links that the transfer may have crossed, the one in most use meanwhile.
fn busiest_link<'a>(
    detail: &str,
    (start, finish): (Time, Time),
    node: Option<&str>,
    result: &'a RunResult,
) -> Option<&'a Link> {
    let is_node = |name: &str| result.nodes.iter().any(|node| node.name == name);
    let source = detail.rsplit_once(" from ").and_then(|(_, rest)| words(rest).next()).filter(|name| is_node(name));
    let crossed = |link: &&Link| {
        let (from, to) = ends(&link.name);
        match (source, node) {
            (Some(source), Some(node)) if source == node => from == source && to == node,
            (Some(source), _) => {
                (from == source || !is_node(from)) && (Some(to) == node || !is_node(to)) && !is_loopback(link)
            }
            (None, _) => {
                (Some(from) == node || !is_node(from)) && (Some(to) == node || !is_node(to)) && !is_loopback(link)
            }
        }
    };
    let mut best: Option<(f64, &Link)> = None;
    for link in result.links.iter().filter(crossed) {
        let used = mean_use(link, start, finish, result.sample_interval);
        if used > best.map_or(0.0, |(most, _)| most) {
            best = Some((used, link));
        }
    }
    best.map(|(_, link)| link)
}

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

fn link_words(link: &Link, result: &RunResult) -> String {
    let rate = link.rate;
    let is_node = |name: &str| result.nodes.iter().any(|node| node.name == name);
    match ends(&link.name) {
        (from, to) if from == to => format!("{from}'s loopback"),
        (from, "air") => format!("the air, {from} sending"),
        (from, to) if is_node(to) && !is_node(from) => format!("the {rate} link into {to}"),
        (from, to) if is_node(from) && !is_node(to) => format!("the {rate} link out of {from}"),
        (from, to) => format!("the {rate} link from {from} to {to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Attempt, AttemptState, Node, TaskKind};
    use units::BitRate;

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
                link("worker-1 -> worker-1", &[1.0, 1.0, 1.0, 1.0]),
            ],
            ..RunResult::default()
        }
    }

    fn segment(waiting: Waiting, from: u64, to: u64, detail: &str) -> CriticalSegment {
        let (start, finish) = (Time::from_secs(from), Time::from_secs(to));
        CriticalSegment { start, finish, waiting, attempt: Some(0), detail: detail.to_owned() }
    }

    fn one(waiting: Waiting, from: u64, to: u64, detail: &str) -> String {
        places(&[segment(waiting, from, to, detail)], &run()).remove(0)
    }

    #[test]
    fn transfer_is_charged_to_the_busiest_link_that_it_crossed() {
        let fetch = "reduce 0 on worker-1, map 3 from worker-2";
        assert_eq!(one(Waiting::Transfer, 0, 2, fetch), "the 100 Mbit/s link into worker-1");
        assert_eq!(one(Waiting::Transfer, 2, 4, fetch), "the 100 Mbit/s link out of worker-2");
        assert_eq!(one(Waiting::Transfer, 2, 4, "reduce 0, map 3 from worker-1"), "worker-1's loopback");
    }

    #[test]
    fn what_the_network_did_to_one_transfer_has_one_place() {
        let fetch = "map 3 from worker-2";
        let path = [segment(Waiting::Transfer, 0, 2, fetch), segment(Waiting::Queueing, 2, 3, fetch)];
        assert_eq!(places(&path, &run()), ["the 100 Mbit/s link into worker-1", "the 100 Mbit/s link into worker-1"]);
    }

    #[test]
    fn work_is_charged_to_the_machine_of_the_attempt() {
        assert_eq!(one(Waiting::Disk, 0, 1, ""), "worker-1's disk");
        assert_eq!(one(Waiting::Slot, 0, 1, ""), "");
        assert_eq!(one(Waiting::Timeout, 0, 1, ""), "an attempt on worker-1");
        let mut shared = run();
        shared.nodes[1].host = Some(0);
        assert_eq!(places(&[segment(Waiting::Cpu, 0, 1, "")], &shared), ["host-0's processor"]);
    }
}
