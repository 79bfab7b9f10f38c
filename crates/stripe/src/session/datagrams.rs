//! Flows of datagrams with their queues: fair between flows, with a deadline per datagram, bounded in memory.
//!
//! Flows compete by start-time fair queueing on bytes (Goyal, Vin and Cheng, SIGCOMM 1996). A flow may hold as much as
//! is free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998).

use super::{Exhausted, code};
use crate::wire::{Datagram, Destination, Frame, MAX_DATAGRAM};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::Time;

/// Limits in bytes of what all flows together hold in each direction, and of what one flow holds.
const HELD: u64 = 8 << 20;
const HELD_OF_ONE: u64 = 1 << 20;
/// Memory that a datagram costs beyond its bytes.
const OVERHEAD: u64 = 64;
/// Idle timeout of a flow (P-45): the minimum of RFC 4787, section 4.3, for a NAT. The far end waits a little longer,
/// so that it is not the first to forget.
const IDLE: Time = Time::from_secs(120);
const IDLE_FAR: Time = Time::from_secs(150);
/// Resolution of the time at which a flow was last active.
const NOTED: Time = Time::from_secs(1);

/// Settings of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carriage {
    /// Longest time that a datagram may wait for a stream.
    pub wait: Time,
    /// The most flows at once.
    pub flows: u32,
}

/// Counters of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Datagrams sent: streams have taken them.
    pub sent: u64,
    /// Datagrams received from the peer.
    pub received: u64,
    /// Datagrams dropped here after their deadline: no stream took them in time.
    pub late: u64,
    /// Datagrams of either direction dropped here because there was no room, or because they were too long.
    pub full: u64,
    /// Datagrams dropped here because their flow's destination was refused: it could not be reached, or was not
    /// allowed.
    pub refused: u64,
}

/// What a flow has for its owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// The next datagram.
    Datagram(Vec<u8>),
    /// Nothing has come.
    Nothing,
    /// The flow is over, with this code (an error number, 0 for none).
    Over(u32),
}

#[derive(Clone, Debug, Default)]
struct Flow {
    /// Its destination, until the far end is known to have it.
    to: Option<Destination>,
    /// Datagrams that wait for a stream, by number, and their bytes.
    waiting: VecDeque<u64>,
    waiting_bytes: u64,
    /// Start tag of the next datagram (fair queueing); of an empty flow, the least start tag that its next one may
    /// have.
    turn: u64,
    /// Received datagrams that the owner has not taken.
    arrived: VecDeque<Vec<u8>>,
    arrived_bytes: u64,
    active_at: Time,
    /// The code with which the flow is over.
    ended: Option<u32>,
}

#[derive(Clone, Debug)]
struct Waiting {
    flow: u32,
    since: Time,
    payload: Vec<u8>,
}

/// All flows of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Datagrams {
    /// Settings; `None` if the session carries no datagrams.
    pub carriage: Option<Carriage>,
    is_far: bool,
    /// The peer's limit of flows, once known.
    pub peer_flows: Option<u32>,
    flows: BTreeMap<u32, Flow>,
    next_flow: u32,
    /// Flows that are not over, by the time of their last use.
    idle: BTreeSet<(Time, u32)>,
    /// Waiting datagrams in the order of arrival, which is that of their deadlines.
    queue: BTreeMap<u64, Waiting>,
    next_number: u64,
    /// Flows with waiting datagrams by start tag, and the virtual time.
    turns: BTreeSet<(u64, u32)>,
    turn: u64,
    waiting_bytes: u64,
    arrived_bytes: u64,
    pub tally: Tally,
    /// Frames about flows that are due to the peer.
    pub news: Vec<(u32, Frame)>,
    /// When the next stream is to be asked to take the waiting datagram.
    pub look_at: Option<Time>,
    /// Bytes reported to the session's pool.
    pub counted: u64,
}

fn cost(payload: &[u8]) -> u64 {
    OVERHEAD + payload.len() as u64
}
/// Whether a flow that holds `own` bytes may hold `more`, while all flows hold `all`.
fn fits(own: u64, all: u64, more: u64) -> bool {
    own + more <= HELD_OF_ONE.min(HELD.saturating_sub(all))
}

impl Datagrams {
    pub fn new(carriage: Option<Carriage>, is_far: bool) -> Self {
        Self { carriage, is_far, next_flow: 1, ..Self::default() }
    }

    // === Flows ===

    /// Opens a flow from this end. At the limit it closes the flow that was silent for longest.
    pub fn open(&mut self, now: Time, to: Destination) -> Result<u32, Exhausted> {
        let Some(carriage) = self.carriage.filter(|_| self.next_flow < u32::MAX) else { return Err(Exhausted) };
        let most = carriage.flows.min(self.peer_flows.unwrap_or(u32::MAX)) as usize;
        if self.is_full(most)
            && let Some((_, silent)) = self.idle.first().copied()
        {
            self.end(silent, 0);
            self.news.push((silent, Frame::Forget { code: 0 }));
        }
        if self.is_full(most) {
            return Err(Exhausted);
        }
        let flow = self.next_flow;
        self.next_flow += 1;
        self.insert(now, flow, Some(to));
        Ok(flow)
    }
    fn insert(&mut self, now: Time, flow: u32, to: Option<Destination>) {
        self.flows.insert(flow, Flow { to, turn: self.turn, active_at: now, ..Flow::default() });
        self.idle.insert((now, flow));
    }
    /// Whether a flow is over or never was.
    pub fn is_over(&self, flow: u32) -> bool {
        self.flows.get(&flow).is_none_or(|flow| flow.ended.is_some())
    }
    /// Whether the limit of flows is reached. With flows that are over and not yet closed by their owners, the limit is
    /// twice as high.
    fn is_full(&self, most: usize) -> bool {
        self.idle.len() >= most || self.flows.len() >= 2 * most
    }
    /// Number of flows that are not over.
    pub fn count(&self) -> usize {
        self.idle.len()
    }
    fn live(&mut self, flow: u32) -> Option<&mut Flow> {
        self.flows.get_mut(&flow).filter(|flow| flow.ended.is_none())
    }
    fn touch(&mut self, now: Time, flow: u32) {
        if let Some(known) = self.flows.get_mut(&flow)
            && now.saturating_sub(known.active_at) >= NOTED
        {
            self.idle.remove(&(known.active_at, flow));
            known.active_at = now;
            self.idle.insert((now, flow));
        }
    }
    /// Ends a flow. Waiting datagrams are void. Received ones may still be taken. Returns whether the flow was open.
    fn end(&mut self, flow: u32, code: u32) -> bool {
        let Some(known) = self.flows.get_mut(&flow).filter(|flow| flow.ended.is_none()) else { return false };
        known.ended = Some(code);
        self.idle.remove(&(known.active_at, flow));
        self.turns.remove(&(known.turn, flow));
        self.waiting_bytes -= std::mem::take(&mut known.waiting_bytes);
        if code::is_refusal(code) {
            self.tally.refused += known.waiting.len() as u64;
        }
        for number in std::mem::take(&mut known.waiting) {
            self.queue.remove(&number);
        }
        true
    }
    /// Ends all flows, and returns them.
    pub fn end_all(&mut self, code: u32) -> impl Iterator<Item = u32> {
        for flow in self.flows.keys().copied().collect::<Vec<_>>() {
            self.end(flow, code);
        }
        self.flows.keys().copied()
    }
    /// The owner closes a flow. The peer is told the reason unless it has ended the flow itself.
    pub fn close(&mut self, flow: u32, code: u32) {
        if self.end(flow, code) {
            self.news.push((flow, Frame::Forget { code }));
        }
        if let Some(gone) = self.flows.remove(&flow) {
            self.arrived_bytes -= gone.arrived_bytes;
            if gone.ended.is_some_and(code::is_refusal) {
                self.tally.refused += gone.arrived.len() as u64;
            }
        }
    }

    // === Datagrams from here ===

    /// Queues a datagram to be sent, if there is room. Returns whether there was.
    pub fn send(&mut self, now: Time, flow: u32, payload: &[u8], room: u64) -> bool {
        let (all, number, turn) = (self.waiting_bytes, self.next_number, self.turn);
        let Some(known) = self.flows.get_mut(&flow) else { return false };
        if let Some(code) = known.ended {
            self.tally.refused += u64::from(code::is_refusal(code));
            return false;
        }
        let cost = cost(payload);
        if payload.len() > MAX_DATAGRAM || cost > room || !fits(known.waiting_bytes, all, cost) {
            self.tally.full += 1;
            return false;
        }
        known.waiting_bytes += cost;
        if known.waiting.is_empty() {
            known.turn = known.turn.max(turn);
        }
        known.waiting.push_back(number);
        let turn = known.turn;
        self.turns.insert((turn, flow));
        self.waiting_bytes += cost;
        self.next_number += 1;
        self.queue.insert(number, Waiting { flow, since: now, payload: payload.to_vec() });
        self.touch(now, flow);
        true
    }
    /// The time since which the next datagram waits, and its length as a frame. `None` without one, or before the peer
    /// accepts datagrams.
    pub fn head(&self) -> Option<(Time, u64)> {
        self.peer_flows?;
        let flow = &self.flows.get(&self.turns.first()?.1)?;
        let waiting = self.queue.get(flow.waiting.front()?)?;
        Some((waiting.since, crate::wire::HEADER as u64 + waiting.payload.len() as u64))
    }
    /// Takes the next datagram for a stream. The caller has called [`Self::drop_late`] before.
    pub fn pop(&mut self) -> Option<(u32, Datagram)> {
        self.peer_flows?;
        let (turn, flow) = self.turns.pop_first()?;
        let known = self.flows.get_mut(&flow)?;
        let payload = self.queue.remove(&known.waiting.pop_front()?)?.payload;
        let cost = cost(&payload);
        known.waiting_bytes -= cost;
        self.waiting_bytes -= cost;
        self.turn = turn;
        known.turn = turn + cost;
        if !known.waiting.is_empty() {
            self.turns.insert((known.turn, flow));
        }
        self.tally.sent += 1;
        Some((flow, Datagram { to: known.to.clone(), payload }))
    }
    /// Drops datagrams that have waited for too long (P-43).
    pub fn drop_late(&mut self, now: Time) {
        while self.first_late() <= now
            && let Some((_, late)) = self.queue.pop_first()
        {
            self.tally.late += 1;
            let cost = cost(&late.payload);
            self.waiting_bytes -= cost;
            let Some(flow) = self.flows.get_mut(&late.flow) else { continue };
            flow.waiting_bytes -= cost;
            flow.waiting.pop_front();
            if flow.waiting.is_empty() {
                self.turns.remove(&(flow.turn, late.flow));
            }
        }
    }
    fn first_late(&self) -> Time {
        let wait = self.carriage.map_or(Time::ZERO, |carriage| carriage.wait);
        self.queue.first_key_value().map_or(Time::MAX, |(_, first)| first.since.saturating_add(wait))
    }
    /// Whether any datagram waits for a stream.
    pub fn is_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    // === What the peer says ===

    /// Takes in a datagram. Returns the destination of its flow if that is new.
    pub fn on_datagram(&mut self, now: Time, flow: u32, datagram: &Datagram, room: u64) -> Option<Destination> {
        let carriage = self.carriage?;
        let mut opened = None;
        if !self.flows.contains_key(&flow) {
            // P-44, and P-41: a near end has opened all that there are.
            let to = datagram.to.clone().filter(|_| self.is_far);
            let full = self.is_full(carriage.flows as usize);
            if to.is_none() || full {
                let code = if to.is_some() { code::NO_ROOM } else { 0 };
                self.news.push((flow, Frame::Forget { code }));
                return None;
            }
            self.insert(now, flow, None);
            opened = to;
        }
        if datagram.to.is_some() {
            self.news.push((flow, Frame::Known));
        }
        let all = self.arrived_bytes;
        if let Some(known) = self.live(flow) {
            let cost = cost(&datagram.payload);
            // P-46: without room the datagram is dropped.
            if cost <= room && fits(known.arrived_bytes, all, cost) {
                known.arrived.push_back(datagram.payload.clone());
                known.arrived_bytes += cost;
                self.arrived_bytes += cost;
            } else {
                self.tally.full += 1;
            }
            self.tally.received += 1;
            self.touch(now, flow);
        }
        opened
    }
    /// The far end knows the destination of a flow.
    pub fn on_known(&mut self, flow: u32) {
        if let Some(flow) = self.live(flow) {
            flow.to = None;
        }
    }
    /// The peer has forgotten a flow.
    pub fn on_forget(&mut self, flow: u32, code: u32) {
        self.end(flow, code);
    }
    /// What a flow has for its owner.
    pub fn take(&mut self, flow: u32) -> Arrived {
        let Some(known) = self.flows.get_mut(&flow) else { return Arrived::Over(0) };
        match (known.arrived.pop_front(), known.ended) {
            (Some(payload), _) => {
                known.arrived_bytes -= cost(&payload);
                self.arrived_bytes -= cost(&payload);
                Arrived::Datagram(payload)
            }
            (None, Some(code)) => Arrived::Over(code),
            (None, None) => Arrived::Nothing,
        }
    }

    // === Time ===

    /// The next deadline of a flow or datagram.
    pub fn deadline(&self) -> Time {
        let silent = self.idle.first().map_or(Time::MAX, |(since, _)| since.saturating_add(self.patience()));
        self.first_late().min(silent).min(self.look_at.unwrap_or(Time::MAX))
    }
    fn patience(&self) -> Time {
        if self.is_far { IDLE_FAR } else { IDLE }
    }
    /// Ends idle flows, and returns them.
    pub fn end_silent(&mut self, now: Time) -> Vec<u32> {
        let mut ended = Vec::new();
        while let Some((since, flow)) = self.idle.first().copied()
            && since.saturating_add(self.patience()) <= now
        {
            self.end(flow, 0);
            self.news.push((flow, Frame::Forget { code: 0 }));
            ended.push(flow);
        }
        ended
    }
    /// Bytes held, of both directions.
    pub fn held(&self) -> u64 {
        self.waiting_bytes + self.arrived_bytes
    }
}
