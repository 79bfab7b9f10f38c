//! One end of a bond at run time: what it sends, and over which member.

use super::{Distribution, EndCounters, EndSpec, Group, Info, LacpRate, Lacpdu, State};
use crate::packet::Transit;
use crate::topology::VertexId;
use std::collections::VecDeque;
use units::Time;

/// Packets that may wait for an end's processor (Linux's `netdev_max_backlog`); more are dropped.
const BACKLOG: usize = 1_000;

/// What an end does at once with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sent {
    /// Sent over the link with this index.
    Over(u32),
    /// First in the backlog; the processor finishes it at this time.
    First(Time),
    /// In the backlog behind others.
    Waits,
    /// Dropped at a full backlog.
    Dropped,
    /// Lost: no member is usable.
    Lost,
}

/// One end of a bond.
#[derive(Debug)]
pub(crate) struct End {
    spec: EndSpec,
    /// The vertex of the end.
    pub(crate) at: VertexId,
    system: [u8; 6],
    /// The vertex is down: its LACP neither sends nor receives.
    pub(crate) halted: bool,
    /// The members, in the direction from this end.
    pub(crate) members: Vec<u32>,
    pub(crate) carrier: Vec<bool>,
    /// Members over which packets may be sent now, in order.
    usable: Vec<u32>,
    turn: u32,
    backlog: VecDeque<(Time, u32, Transit)>,
    free_at: Time,
    pub(crate) lacp: Option<Group>,
    /// When the next LACP timer event is due.
    pub(crate) armed: Time,
    pub(crate) counters: EndCounters,
}

impl End {
    /// An end whose members all have carrier. With LACP it uses none before it agrees with its partner.
    pub(crate) fn new(spec: EndSpec, at: VertexId, members: Vec<u32>, system: [u8; 6]) -> Self {
        let mut end = Self {
            spec,
            at,
            system,
            halted: false,
            carrier: vec![true; members.len()],
            usable: if spec.lacp.is_some() { Vec::new() } else { members.clone() },
            turn: 0,
            backlog: VecDeque::new(),
            free_at: Time::ZERO,
            lacp: None,
            armed: Time::MAX,
            counters: EndCounters::default(),
            members,
        };
        end.lacp = end.new_group();
        end
    }
    /// LACP's state at the start of the system.
    fn new_group(&self) -> Option<Group> {
        let rate = self.spec.lacp?;
        let timeout = if rate == LacpRate::Fast { State::SHORT_TIMEOUT } else { State::default() };
        let port = |number: usize| Info {
            system_priority: 65_535,
            system: self.system,
            key: 1,
            port_priority: 255,
            port: number as u16 + 1,
            state: State::ACTIVITY.with(State::AGGREGATION).with(timeout),
        };
        Some(Group::new((0..self.members.len()).map(port)))
    }

    /// Halts the system, and its LACP state is lost; or restarts it, and LACP begins anew on the members that have
    /// carrier.
    pub(crate) fn set_halted(&mut self, now: Time, halted: bool, out: &mut Vec<(usize, Lacpdu)>) {
        if self.halted == halted {
            return;
        }
        self.halted = halted;
        if halted {
            self.counters = self.counters();
            self.lacp = self.new_group();
        } else if let Some(group) = &mut self.lacp {
            for (member, _) in self.carrier.iter().enumerate().filter(|(_, carrier)| **carrier) {
                group.set_carrier(now, member, true, out);
            }
        }
    }

    pub(crate) fn usable(&self) -> &[u32] {
        &self.usable
    }
    /// Packets that wait for the processor.
    pub(crate) fn waiting(&self) -> u64 {
        self.backlog.len() as u64
    }

    /// Sends a packet whose flow hash has the remainder `class`.
    pub(crate) fn send(&mut self, now: Time, class: u32, item: Transit) -> Sent {
        if self.spec.overhead == Time::ZERO {
            return self.distribute(class);
        }
        if self.backlog.len() >= BACKLOG {
            self.counters.drops += 1;
            return Sent::Dropped;
        }
        self.free_at = self.free_at.max(now) + self.spec.overhead;
        self.backlog.push_back((self.free_at, class, item));
        if self.backlog.len() == 1 { Sent::First(self.free_at) } else { Sent::Waits }
    }

    /// The processor has finished the first packet: what becomes of it, and when the next one is finished.
    pub(crate) fn processed(&mut self) -> Option<(Transit, Sent, Option<Time>)> {
        let (_, class, item) = self.backlog.pop_front()?;
        let next = self.backlog.front().map(|(done, ..)| *done);
        Some((item, self.distribute(class), next))
    }

    fn distribute(&mut self, class: u32) -> Sent {
        let count = self.usable.len() as u32;
        if count == 0 {
            self.counters.lost += 1;
            return Sent::Lost;
        }
        let choice = match self.spec.distribution {
            Distribution::Hash(_) => class % count,
            Distribution::RoundRobin => {
                self.turn = self.turn.wrapping_add(1);
                self.turn.wrapping_sub(1) % count
            }
        };
        self.counters.packets += 1;
        Sent::Over(self.usable[choice as usize])
    }

    /// Updates the usable members; returns those that changed.
    pub(crate) fn refresh(&mut self) -> Vec<(usize, bool)> {
        let usable =
            |member: &usize| self.carrier[*member] && self.lacp.as_ref().is_none_or(|group| group.distributes(*member));
        let now: Vec<u32> = (0..self.members.len()).filter(usable).map(|member| self.members[member]).collect();
        let before = std::mem::replace(&mut self.usable, now);
        let changed = |(member, link): (usize, &u32)| {
            let (was, is) = (before.contains(link), self.usable.contains(link));
            (was != is).then_some((member, is))
        };
        self.members.iter().enumerate().filter_map(changed).collect()
    }

    /// Whether this end takes in what arrives on a member.
    pub(crate) fn collects(&self, member: usize) -> bool {
        self.lacp.as_ref().is_none_or(|group| group.collects(member))
    }

    /// The counters, including LACP's.
    pub(crate) fn counters(&self) -> EndCounters {
        let mut counters = self.counters;
        for port in self.lacp.iter().flat_map(Group::ports) {
            counters.lacpdus_sent += port.counters().sent;
            counters.lacpdus_received += port.counters().received;
            counters.churns += port.counters().actor_churns;
        }
        counters
    }
}
