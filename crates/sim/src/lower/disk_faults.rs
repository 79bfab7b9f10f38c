//! Faults of disks: what they name exists, and what is lost with a disk has another to go to.

use super::disks::{data, fill_time, name, never_filled};
use hadoop::Data;
use scenario::{Check, Disk, Fault, NodeSpec, RaidLevel, node_number};
use units::Time;

/// The failure of a disk or of a member of an array, by the number of its fault.
#[derive(Clone, Copy)]
struct Failure<'a> {
    number: usize,
    fault: &'a Fault,
    node: &'a NodeSpec,
    disk: u32,
}

impl<'a> Failure<'a> {
    fn spec(&self) -> &'a Disk {
        &self.node.disks[self.disk as usize]
    }
}

/// Says what is wrong with the faults of disks.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let nodes = scenario.nodes();
    let mut failures = Vec::new();
    for (number, fault) in scenario.faults.iter().enumerate() {
        let Some(disk) = fault.disk else { continue };
        let found = find(check, &nodes, (number, fault), disk);
        failures.extend(found.map(|node| Failure { number, fault, node, disk }));
    }
    failures.retain(|failure| failure.fault.slow.is_none());
    for failure in &failures {
        check_return(check, failure);
    }
    failures.sort_by_key(|failure| failure.fault.at);
    check_losses(check, &failures);
}

/// The node whose disk and member the fault names.
fn find<'a>(
    check: &mut Check<'_>,
    nodes: &'a [NodeSpec],
    (number, fault): (usize, &Fault),
    disk: u32,
) -> Option<&'a NodeSpec> {
    let path = format!("faults.{number}");
    let Some(node) = fault.node.as_deref().and_then(node_number).and_then(|node| nodes.get(node as usize)) else {
        check.says(&format!("{path}.disk"), "it does not say whose disk", "`node`");
        return None;
    };
    let Some(spec) = node.disks.get(disk as usize) else {
        let (name, last) = (&node.name, node.disks.len() - 1);
        check.says(&format!("{path}.disk"), format!("{name} has no disk {disk}"), format!("0 to {last}"));
        return None;
    };
    let members = spec.array.as_ref().map_or(1, |array| array.members);
    if fault.member.unwrap_or(0) >= members {
        let message = format!("disk {disk} of {} has {members} members", node.name);
        check.says(&format!("{path}.member"), message, format!("0 to {}", members - 1));
        return None;
    }
    Some(node)
}

/// Whether what comes back after a failure can be filled.
fn check_return(check: &mut Check<'_>, failure: &Failure<'_>) {
    if failure.fault.down_for.is_none() {
        return;
    }
    let path = format!("faults.{}.down-for", failure.number);
    if spares(failure.spec()) == 0 {
        let message = "what was on this disk does not come back: no spare can be filled";
        check.says(&path, message, "leave it out; an array with parity or mirrors has spares");
    } else if let Some(message) = never_filled(failure.spec(), &check.scenario.storage) {
        check.says(&path, message, "leave it out, or a `preset` with a size");
    }
}

/// Members that may be lost at the same time.
fn spares(disk: &Disk) -> u32 {
    disk.array.as_ref().map_or(0, |array| match array.level {
        RaidLevel::Raid0 => 0,
        RaidLevel::Raid1 => array.members - 1,
        RaidLevel::Raid5 => 1,
    })
}

/// A disk that is lost leaves others of its node that hold the same kinds of data, whatever was lost before it.
fn check_losses(check: &mut Check<'_>, failures: &[Failure<'_>]) {
    let mut lost: Vec<(&str, u32)> = Vec::new();
    for (place, failure) in failures.iter().enumerate() {
        let Failure { number, node, disk, .. } = *failure;
        let disk_of_node = (node.name.as_str(), disk);
        if lost.contains(&disk_of_node) || !is_lost(check, &failures[..=place]) {
            continue;
        }
        lost.push(disk_of_node);
        let left = (0..).zip(&node.disks).filter(|(other, _)| !lost.contains(&(node.name.as_str(), *other)));
        let held: Vec<Data> = left.flat_map(|(_, disk)| data(disk)).collect();
        let Some(missing) = data(failure.spec()).into_iter().find(|data| !held.contains(data)) else { continue };
        let earlier = lost.iter().filter(|(name, other)| *name == node.name && *other != disk);
        let before: Vec<String> = earlier.map(|(_, disk)| format!("disk {disk}")).collect();
        let after = if before.is_empty() { String::new() } else { format!(" after {} failed", before.join(", ")) };
        let message = format!("no other disk of {} holds {}{after}", node.name, name(missing));
        let help = "another disk; without `disk` the whole node fails";
        check.says(&format!("faults.{number}.disk"), message, help);
    }
}

/// Whether a disk is lost with the last of some failures: of an array, whether more of its members are away than it has
/// spares, each at least until a spare can have been filled.
fn is_lost(check: &Check<'_>, failures: &[Failure<'_>]) -> bool {
    let Some(last) = failures.last() else { return false };
    let of_disk = |other: &&Failure<'_>| other.node.name == last.node.name && other.disk == last.disk;
    let fill = fill_time(last.spec(), &check.scenario.storage);
    let is_away = |failure: &&Failure<'_>| {
        let back = failure.fault.down_for.map(|away| failure.fault.at.saturating_add(away).saturating_add(fill));
        back.unwrap_or(Time::MAX) > last.fault.at
    };
    let away = failures.iter().filter(of_disk).filter(is_away);
    let mut members: Vec<u32> = away.map(|failure| failure.fault.member.unwrap_or(0)).collect();
    members.sort_unstable();
    members.dedup();
    members.len() > spares(last.spec()) as usize
}
