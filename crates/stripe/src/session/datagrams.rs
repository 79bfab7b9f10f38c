//! Flows of datagrams with their queues: fair between flows, with a deadline per datagram, bounded in memory.
//!
//! Flows compete by start-time fair queueing on bytes (Goyal, Vin and Cheng, SIGCOMM 1996). A flow may hold as much as
//! is free

use super::{Exhausted, code};
use crate::wire::{Datagram, Destination, Frame, MAX_DATAGRAM};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::Time;

/// Bytes held of all flows together, each way, and of one.
const HELD: u64 = 8 << 20;
const HELD_OF_ONE: u64 = 1 << 20;
/// What a datagram costs beyond its bytes, however short it is.
const OVERHEAD: u64 = 64;
/// Silence after which a flow is over (P-45): the least that RFC 4787, section 4.3, allows a NAT. The far end waits a
/// little longer, so that it does not forget first.
const IDLE: Time = Time::from_secs(120);
const IDLE_FAR: Time = Time::from_secs(150);
/// The least time between two notes that a flow is alive.
const NOTED: Time = Time::from_secs(1);

/// How datagrams are carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carriage {
    /// How long a datagram may wait here for a stream that takes it.
    pub wait: Time,
    /// The most flows at once.
    pub flows: u32,
}

/// What has been counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Datagrams that streams have taken.
    pub sent: u64,
    /// Datagrams of the peer's that have come.
    pub received: u64,
    /// Datagrams dropped here because no stream took them in time.
    pub late: u64,
    /// Datagrams dropped here, of either direction, for lack of room, or because they were too long.
    pub full: u64,
    /// Datagrams dropped here because their flow's destination could not be reached, or was not allowed.
    pub refused: u64,
}

/// What a flow has for its owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// The next datagram.
    Datagram(Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// Nothing any more: the flow is over, for this reason (an error's number, 0 for none).
    Over(u32),
}

#[derive(Clone, Debug, Default)]
struct Flow {
    /// Where it leads, as long as the far end may not know.
    to: Option<Destination>,
    /// What waits for a stream, by number, and the bytes of it.
    waiting: VecDeque<u64>,
    waiting_bytes: u64,
    /// Its place among the turns, if something waits; else where it would be at least.
    turn: u64,
    /// What has come and was not taken.
    arrived: VecDeque<Vec<u8>>,
    arrived_bytes: u64,
    active_at: Time,
    /// The reason for which the flow is over.
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
    /// Without it, nothing of all this is there.
    pub carriage: Option<Carriage>,
    is_far: bool,
    /// How many flows the peer takes, once it has said so.
    pub peer_flows: Option<u32>,
    flows: BTreeMap<u32, Flow>,
    next_flow: u32,
    /// Flows that are not over, by when they were last used.
    idle: BTreeSet<(Time, u32)>,
    /// What waits, by the order in which it came: the first is the first whose time is over.
    queue: BTreeMap<u64, Waiting>,
    next_number: u64,
    /// The flows with something that waits, by turn; and how far turns have got.
    turns: BTreeSet<(u64, u32)>,
    turn: u64,
    waiting_bytes: u64,
    arrived_bytes: u64,
    pub tally: Tally,
    /// What the peer is to be told of flows.
    pub news: Vec<(u32, Frame)>,
    /// When streams are to be looked at again, which do not take what waits.
    pub look_at: Option<Time>,
    /// Bytes that are reported to the session's memory.
    pub counted: u64,
}

fn cost(payload: &[u8]) -> u64 {
    OVERHEAD + payload.len() as u64
}
/// Whether a flow that holds `own` bytes may hold so many more while all together hold `all`.
fn fits(own: u64, all: u64, more: u64) -> bool {
    own + more <= HELD_OF_ONE.min(HELD.saturating_sub(all))
}

impl Datagrams {
    pub fn new(carriage: Option<Carriage>, is_far: bool) -> Self {
        Self { carriage, is_far, next_flow: 1, ..Self::default() }
    }

    // === Flows ===

    /// Opens a flow from this end. At the limit the flow that was silent for longest is closed for it.
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
    /// Whether a flow is over, or never was.
    pub fn is_over(&self, flow: u32) -> bool {
        self.flows.get(&flow).is_none_or(|flow| flow.ended.is_some())
    }
    /// Whether the limit of flows is reached; with flows that are over and whose owners have not seen it, twice the
    /// limit.
    fn is_full(&self, most: usize) -> bool {
        self.idle.len() >= most || self.flows.len() >= 2 * most
    }
    /// How many are not over.
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
    /// A flow is over: what waits in it is void, what has come may be taken. Says whether it was there.
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
    /// All are over; says which there were.
    pub fn end_all(&mut self, code: u32) -> impl Iterator<Item = u32> {
        for flow in self.flows.keys().copied().collect::<Vec<_>>() {
            self.end(flow, code);
        }
        self.flows.keys().copied()
    }
    /// The owner has done with a flow; the peer is told why, if it does not know.
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

    /// Takes a datagram to be sent, if there is room for it.
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
    /// Since when the next datagram waits, and its length on a stream; `None` without one, or while the peer accepts
    /// none.
    pub fn head(&self) -> Option<(Time, u64)> {
        self.peer_flows?;
        let flow = &self.flows.get(&self.turns.first()?.1)?;
        let waiting = self.queue.get(flow.waiting.front()?)?;
        Some((waiting.since, crate::wire::HEADER as u64 + waiting.payload.len() as u64))
    }
    /// The next datagram, for a stream; what is late has been [dropped](Self::drop_late) before.
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
    /// What has waited for longer than it may is of no use to anyone (P-43).
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

    /// A datagram has come. Says where its flow leads, if it is a new one.
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
            // P-46.
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
    /// The far end knows where a flow leads.
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

    /// When something is due.
    pub fn deadline(&self) -> Time {
        let silent = self.idle.first().map_or(Time::MAX, |(since, _)| since.saturating_add(self.patience()));
        self.first_late().min(silent).min(self.look_at.unwrap_or(Time::MAX))
    }
    fn patience(&self) -> Time {
        if self.is_far { IDLE_FAR } else { IDLE }
    }
    /// Ends the flows that were silent for too long, and says which.
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
