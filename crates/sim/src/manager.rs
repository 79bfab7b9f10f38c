//! What tells the policies of disks' power how a run goes: remaining primary blocks, phases, failures, writes, gears.
//!
//! It looks as often as DataNodes send heartbeats, by which daemons on the nodes would hear of the same.

use crate::hosts::Hosts;
use des::EventQueue;
use hadoop::mapreduce::Primaries;
use hadoop::{Cluster, NodeId};
use std::collections::BTreeSet;
use storage::power::{Gears, GearsSpec, GuardSpec, Hint, Phase, WriteGuard};
use units::{Bytes, Time};

/// Event kind: the manager looks.
pub(crate) const LOOK: u8 = 19;

/// What a scenario wants the policies to be told.
#[derive(Clone, Debug)]
pub(crate) struct ManagerSpec {
    /// What many writes are, if backup disks stay up for them.
    pub guard: Option<GuardSpec>,
    pub gears: Option<GearsSpec>,
    /// Disks that are expected to fail, by their failure rates.
    pub failing: Vec<(NodeId, u32)>,
    /// Remaining times of primary blocks that matter: somewhat more than any disk needs to be ready.
    pub horizon: Time,
    /// Between two looks.
    pub interval: Time,
}

/// The manager of the disks' power.
#[derive(Debug)]
pub(crate) struct Manager {
    spec: ManagerSpec,
    primaries: Primaries,
    phase: Phase,
    runs: bool,
    alive: Vec<bool>,
    /// By machine, with the bytes that its guard has seen.
    guards: Vec<(Option<WriteGuard>, Bytes)>,
    /// With the time in use that it has seen.
    gears: Option<(Gears, Time)>,
    hints: Vec<(NodeId, Hint)>,
    /// Machines that keep their backups ready for disks that are expected to fail.
    expecting: BTreeSet<usize>,
}

impl Manager {
    pub fn new(spec: ManagerSpec, cluster: &Cluster, hosts: &Hosts) -> Self {
        let nodes = cluster.context().nodes.len();
        let guard = || spec.guard.and_then(|guard| WriteGuard::new(guard, Time::ZERO));
        let guards = (0..hosts.machine_count()).map(|_| (guard(), Bytes::ZERO)).collect();
        let gears = spec.gears.map(|gears| (Gears::new(gears, hosts.primary_disks(), Time::ZERO), Time::ZERO));
        Self {
            spec,
            primaries: Primaries::new(nodes),
            phase: Phase::Jobs,
            runs: false,
            alive: vec![true; nodes],
            guards,
            gears,
            hints: Vec::new(),
            expecting: BTreeSet::new(),
        }
    }

    /// The replicas that are there were made before: an import is over, and backup disks may rest.
    pub fn start(&self, now: Time, hosts: &mut Hosts, events: &mut EventQueue) {
        tell_all(now, hosts, Hint::Phase(Phase::Import), events);
        tell_all(now, hosts, Hint::Phase(Phase::Jobs), events);
        if self.gears.is_some() {
            tell_all(now, hosts, Hint::Gears(1), events);
        }
        events.push(now + self.spec.interval, LOOK, 0, 0);
    }

    /// Looks at the cluster, and tells the policies.
    pub fn look(&mut self, now: Time, cluster: &Cluster, hosts: &mut Hosts, events: &mut EventQueue) {
        self.primaries.look(cluster.mapreduce(), cluster.hdfs(), self.spec.horizon, &mut self.hints);
        for (node, hint) in self.hints.drain(..) {
            hosts.hint(now, hosts.machine_of(node), hint, events);
        }
        self.look_at_nodes(now, cluster, hosts, events);
        let phase = match () {
            () if cluster.hdfs().is_recovering() => Phase::Recovery,
            () if cluster.mapreduce().imports() => Phase::Import,
            () => Phase::Jobs,
        };
        let before = std::mem::replace(&mut self.phase, phase);
        if before != phase {
            tell_all(now, hosts, Hint::Phase(phase), events);
        }
        if before == Phase::Recovery && phase != before {
            self.expecting.clear();
        }
        self.expect_failures(now, cluster, hosts, events);
        let runs = cluster.mapreduce().runs();
        if std::mem::replace(&mut self.runs, runs) && !runs {
            tell_all(now, hosts, Hint::JobOver, events);
        }
        for (machine, (guard, seen)) in self.guards.iter_mut().enumerate() {
            let Some(guard) = guard else { continue };
            let written = hosts.replicas_written(machine);
            guard.wrote(written - std::mem::replace(seen, written));
            if let Some(many) = guard.on_timer(now) {
                hosts.hint(now, machine, Hint::WriteIntensive(many), events);
            }
        }
        if let Some((gears, seen)) = &mut self.gears {
            let used = hosts.disks_used(now);
            gears.asked(used.saturating_sub(std::mem::replace(seen, used)));
            if let Some(number) = gears.on_timer(now) {
                tell_all(now, hosts, Hint::Gears(number), events);
            }
        }
        events.push(now + self.spec.interval, LOOK, 0, 0);
    }

    /// DataNodes that the NameNode has given up: their first replicas are gone.
    fn look_at_nodes(&mut self, now: Time, cluster: &Cluster, hosts: &mut Hosts, events: &mut EventQueue) {
        for node in cluster.context().nodes.workers() {
            let alive = cluster.hdfs().is_alive(node);
            if std::mem::replace(&mut self.alive[node.0 as usize], alive) && !alive {
                let disks = cluster.context().nodes.info(node).disks.count();
                let backups: BTreeSet<_> = (0..disks).flat_map(|disk| cluster.hdfs().backups_of(node, disk)).collect();
                Self::primary_failed(now, backups, hosts, events);
            }
        }
    }
    /// Nodes with further replicas of what disks hold that are expected to fail.
    fn expect_failures(&mut self, now: Time, cluster: &Cluster, hosts: &mut Hosts, events: &mut EventQueue) {
        let backups = self.spec.failing.iter().flat_map(|(node, disk)| cluster.hdfs().backups_of(*node, *disk));
        let machines: BTreeSet<usize> = backups.map(|node| hosts.machine_of(node)).collect();
        for machine in machines {
            if self.expecting.insert(machine) {
                hosts.hint(now, machine, Hint::FailureExpected, events);
            }
        }
    }
    /// First replicas are lost; these nodes have further ones.
    pub fn primary_failed(
        now: Time,
        backups: impl IntoIterator<Item = NodeId>,
        hosts: &mut Hosts,
        events: &mut EventQueue,
    ) {
        let machines: BTreeSet<usize> = backups.into_iter().map(|node| hosts.machine_of(node)).collect();
        for machine in machines {
            hosts.hint(now, machine, Hint::PrimaryFailed, events);
        }
    }
}

fn tell_all(now: Time, hosts: &mut Hosts, hint: Hint, events: &mut EventQueue) {
    for machine in 0..hosts.machine_count() {
        hosts.hint(now, machine, hint, events);
    }
}
