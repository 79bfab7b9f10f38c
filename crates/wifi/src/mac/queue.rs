//! The transmit queue of one access category: bounded in packets, its occupancy exact in time, watched by those who
//! fill it.
//!
//! A packet belongs to it from its acceptance until it is acknowledged or given up: what is on its way takes a place
//! too, as in drivers.

use super::config::MacConfig;
use super::fair::FairSpec;
use super::frame::{Offer, PacketId, StationId};
use super::output::{Output, Reason};
use super::tid_queue::{Msdu, TidQueue};
use crate::phy::AccessCategory;
use des::{Ecn, Occupancy};
use units::Time;

/// The packet that a full queue drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DropPolicy {
    /// The one that comes.
    #[default]
    Tail,
    /// The oldest that has not been sent yet.
    Head,
    /// The oldest of the fattest flow: flows take turns, are kept short, and receivers share the time on the air
    /// ([`FairSpec`]).
    Fair(FairSpec),
}

/// Packets of one access category, in a TID queue per receiver. The TID queue with the oldest packet is served first.
#[derive(Debug)]
pub struct TransmitQueue {
    limit: u32,
    policy: DropPolicy,
    /// A packet that makes it longer than this is marked.
    mark_above: Option<u32>,
    /// Block ACK is in use.
    block_ack: bool,
    tid_queues: Vec<TidQueue>,
    /// The TID queue of a receiver, by its number, for data and for management; `u32::MAX` for none.
    tid_queue_of: Vec<u32>,
    /// TID queues that are not empty.
    active: Vec<u32>,
    accepted: u64,
    occupancy: Occupancy,
}

impl TransmitQueue {
    /// Empty, as a station's settings have it.
    pub fn new(config: &MacConfig) -> Self {
        let (tid_queues, tid_queue_of, active) = (Vec::new(), Vec::new(), Vec::new());
        let occupancy = Occupancy::new(Time::ZERO, 0);
        Self {
            limit: config.queue_limit,
            policy: config.drop_policy,
            mark_above: config.mark_above,
            block_ack: config.block_ack(),
            tid_queues,
            tid_queue_of,
            active,
            accepted: 0,
            occupancy,
        }
    }

    /// How many packets there are, those on their way included.
    pub const fn len(&self) -> usize {
        self.occupancy.length()
    }
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many packets it takes.
    pub const fn limit(&self) -> u32 {
        self.limit
    }
    /// Time that the queue has spent at each length.
    pub const fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }
    /// Starts the occupancy anew.
    pub fn reset_occupancy(&mut self, now: Time) {
        self.occupancy = Occupancy::new(now, self.len());
    }

    /// Takes a packet in, or drops one if it is full.
    pub(super) fn enqueue(&mut self, now: Time, offer: &Offer, out: &mut Output) {
        let at = self.tid_queue(offer.to, false);
        self.push(now, at, offer, out);
    }
    /// Takes a management frame in, or drops one if it is full; `bytes` is the whole MPDU.
    pub(super) fn manage(&mut self, now: Time, packet: PacketId, to: StationId, bytes: u32, out: &mut Output) {
        let at = self.tid_queue(to, true);
        let (category, flow, ecn) = (AccessCategory::Voice, 0, Ecn::NotEct);
        self.push(now, at, &Offer { packet, to, bytes, category, flow, ecn }, out);
    }
    fn push(&mut self, now: Time, at: usize, offer: &Offer, out: &mut Output) {
        let Offer { packet, bytes, flow, ecn, .. } = *offer;
        if self.len() >= self.limit as usize {
            let Some((tid_queue, gone)) = self.make_room() else {
                out.dropped.push((packet, Reason::QueueFull));
                return;
            };
            out.dropped.push((gone, Reason::QueueFull));
            self.occupancy.leave(now);
            self.check_idle(tid_queue);
        }
        let markable = ecn != Ecn::NotEct;
        if markable && self.mark_above.is_some_and(|most| self.len() >= most as usize) {
            out.marked.push(packet);
        }
        self.tid_queues[at].push(Msdu { packet, bytes, flow, markable, arrived: now, order: self.accepted });
        self.activate(at);
        self.accepted += 1;
        self.occupancy.enter(now);
    }
    /// Drops a packet for one that comes; none if that is the one that has to go.
    fn make_room(&mut self) -> Option<(usize, PacketId)> {
        let waiting = |at: &u32| Some((self.tid_queues[*at as usize].oldest_waiting()?.order, *at as usize));
        match self.policy {
            DropPolicy::Tail => None,
            DropPolicy::Head => {
                let (_, tid_queue) = self.active.iter().filter_map(waiting).min()?;
                Some((tid_queue, self.tid_queues[tid_queue].pop_waiting()?.packet))
            }
            DropPolicy::Fair(_) => {
                let fattest = self.active.iter().max_by_key(|at| (self.tid_queues[**at as usize].fattest(), **at));
                let tid_queue = *fattest? as usize;
                Some((tid_queue, self.tid_queues[tid_queue].drop_from_fattest()?))
            }
        }
    }
    /// Packets have left: acknowledged or given up.
    pub(super) fn leave(&mut self, now: Time, tid_queue: usize, packets: u32) {
        if packets > 0 {
            self.occupancy.set(now, self.len().saturating_sub(packets as usize));
        }
        self.check_idle(tid_queue);
    }
    /// Packets not sent yet that arrived before `before` are given up.
    pub(super) fn expire(&mut self, now: Time, before: Time, out: &mut Output) {
        for place in (0..self.active.len()).rev() {
            let at = self.active[place] as usize;
            let tid_queue = &mut self.tid_queues[at];
            while tid_queue.oldest_waiting().is_some_and(|msdu| msdu.arrived < before)
                && let Some(msdu) = tid_queue.pop_waiting()
            {
                out.dropped.push((msdu.packet, Reason::Lifetime));
                self.occupancy.leave(now);
            }
            self.check_idle(at);
        }
    }
    /// All data for a receiver are given back.
    pub(super) fn abandon(&mut self, now: Time, to: StationId, out: &mut Output) {
        let at = self.tid_queue(to, false);
        let left = self.tid_queues[at].clear(out);
        self.leave(now, at, left);
    }
    /// Everything is given back.
    pub(super) fn clear(&mut self, now: Time, out: &mut Output) {
        for tid_queue in &mut self.tid_queues {
            tid_queue.clear(out);
            tid_queue.airtime = 0;
        }
        self.active.clear();
        self.occupancy.set(now, 0);
    }
    /// A receiver has begun anew.
    pub(super) fn renew(&mut self, to: StationId) {
        for management in [false, true] {
            let at = self.tid_queue(to, management);
            self.tid_queues[at].renew();
            self.check_idle(at);
        }
    }
    /// A receiver dozes, or does not any more.
    pub(super) fn doze(&mut self, to: StationId, dozing: bool) {
        let at = self.tid_queue(to, false);
        self.tid_queues[at].dozing = dozing.then_some(0);
    }
    /// A receiver that dozes asks for one MPDU.
    pub(super) fn release(&mut self, to: StationId) {
        let at = self.tid_queue(to, false);
        if let Some(asked) = &mut self.tid_queues[at].dozing {
            *asked = 1;
        }
    }
    /// How many packets there are for a receiver.
    pub fn queued_for(&self, to: StationId) -> usize {
        let place = 2 * to.0.wrapping_add(1) as usize;
        let at = self.tid_queue_of.get(place).filter(|at| **at != u32::MAX);
        at.map_or(0, |at| self.tid_queues[*at as usize].len())
    }
    /// Whether some TID queue can go.
    pub(super) fn is_ready(&self) -> bool {
        self.active.iter().any(|at| self.tid_queues[*at as usize].is_ready())
    }
    /// The TID queue that goes next: the one with the oldest packet; by fair queueing the next one in turn that has not
    /// used up its time on the air.
    pub(super) fn next(&mut self) -> Option<usize> {
        let DropPolicy::Fair(spec) = self.policy else {
            // A TID queue with only a block ACK request precedes all packets.
            let order = |at: &u32| self.tid_queues[*at as usize].first().map_or(0, |msdu| msdu.order);
            let ready = self.active.iter().filter(|at| self.tid_queues[**at as usize].is_ready());
            return ready.min_by_key(|at| order(at)).map(|at| *at as usize);
        };
        if !self.is_ready() {
            return None;
        }
        loop {
            let at = self.active[0] as usize;
            let tid_queue = &mut self.tid_queues[at];
            if tid_queue.is_ready() && tid_queue.airtime >= 0 {
                return Some(at);
            }
            if tid_queue.airtime < 0 {
                tid_queue.airtime += spec.airtime.as_ps() as i64;
            }
            self.active.rotate_left(1);
        }
    }
    /// Charges a TID queue for airtime.
    pub(super) fn charge(&mut self, at: usize, airtime: Time) {
        if let DropPolicy::Fair(spec) = self.policy {
            // Unused airtime is not saved up.
            let tid_queue = &mut self.tid_queues[at];
            tid_queue.airtime = tid_queue.airtime.min(spec.airtime.as_ps() as i64) - airtime.as_ps() as i64;
        }
    }
    /// A TID queue.
    pub(super) fn tid_queue_mut(&mut self, at: usize) -> &mut TidQueue {
        &mut self.tid_queues[at]
    }

    /// The TID queue of a receiver.
    fn tid_queue(&mut self, to: StationId, management: bool) -> usize {
        // Everyone comes first, the stations after it.
        let place = 2 * to.0.wrapping_add(1) as usize + usize::from(management);
        if place >= self.tid_queue_of.len() {
            self.tid_queue_of.resize(place + 1, u32::MAX);
        }
        if self.tid_queue_of[place] == u32::MAX {
            self.tid_queue_of[place] = self.tid_queues.len() as u32;
            let fair = match self.policy {
                DropPolicy::Fair(spec) if !management => Some(spec),
                _ => None,
            };
            self.tid_queues.push(TidQueue::new(to, management, self.block_ack && to.is_unicast(), fair));
        }
        self.tid_queue_of[place] as usize
    }
    fn activate(&mut self, at: usize) {
        if !self.active.contains(&(at as u32)) {
            self.active.push(at as u32);
        }
    }
    fn check_idle(&mut self, at: usize) {
        if self.tid_queues[at].is_empty() {
            self.active.retain(|active| *active as usize != at);
        }
    }
}
