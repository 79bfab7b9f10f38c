//! State that all kinds of traffic share.

use super::aggregate::Aggregate;
use super::barrier::Barrier;
use super::coflow::Coflows;
use super::ping_pong::RoundTrips;
use super::sessions::Sessions;
use super::stripe::Striped;
use super::{
    ENDLESS, FIRST_PORT, FLOW_START, Flow, FlowIndex, Flows, PASSING, PassingIndex, SESSION, TrafficKind, TrafficSpec,
};
use des::{EventQueue, Histogram, RandomStream};
use transport::{Open, Owner};
use units::{Bytes, Time};

/// State of each kind of traffic.
#[derive(Debug)]
pub(super) enum Kind {
    /// Each flow sends once: long flows, all to all, flows of a list.
    Flows,
    Barrier(Barrier),
    Sessions(Sessions),
    PingPong(Vec<RoundTrips>),
    Aggregate(Box<Aggregate>),
    Striped(Box<Striped>),
    Coflows(Coflows),
}

impl Kind {
    /// State of traffic `number`. Its flows are appended to `flows`.
    fn new(number: u32, spec: &TrafficSpec, flows: &mut Flows) -> Self {
        let first = flows.len() as u32;
        let mut add = |from, to, bytes| flows.insert(Flow::new(number, from, to, bytes));
        if let TrafficKind::Poisson { persistent, .. } = &spec.kind {
            let sessions = Sessions::new(spec, *persistent);
            for (from, to) in sessions.connections() {
                add(from, to, Bytes::ZERO);
            }
            return Self::Sessions(sessions);
        }
        let pairs = spec.pairs();
        for (k, (from, to)) in pairs.iter().enumerate() {
            let bytes = match &spec.kind {
                TrafficKind::Flows(flows) => flows[k].bytes,
                TrafficKind::Long { bytes, .. } => bytes.unwrap_or(ENDLESS),
                TrafficKind::AllToAll { bytes } => *bytes,
                _ => Bytes::ZERO,
            };
            add(*from, *to, bytes);
        }
        match &spec.kind {
            TrafficKind::Barrier { .. } => Self::Barrier(Barrier::new(pairs.len() as u32)),
            TrafficKind::PingPong { exchanges, .. } => Self::PingPong(vec![RoundTrips::default(); exchanges.len()]),
            TrafficKind::Stripe(spec) => Self::Striped(Box::new(Striped::new(spec, &pairs, first))),
            TrafficKind::Coflows(coflows) => Self::Coflows(Coflows::new(coflows.len())),
            TrafficKind::PartitionAggregate { .. } => Self::Aggregate(Box::new(Aggregate::new(&pairs, first))),
            _ => Self::Flows,
        }
    }
}

/// Upper ends of the classes of size in which completion times are shown beside those of all (Alizadeh et al.,
/// "pFabric", SIGCOMM 2013, section 5).
pub(super) const CLASSES: [Bytes; 3] = [Bytes::new(100_000), Bytes::from_mb(10), Bytes::new(u64::MAX)];

/// Slowdowns are recorded in millionths.
pub(super) const SLOWDOWN_UNIT: f64 = 1e6;

/// Completion times in picoseconds, and slowdowns.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub completions: Histogram,
    pub slowdowns: Histogram,
}

/// Sums for Jain's index over values that are not kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }
    /// Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): the square of the sum over n times the sum of
    /// squares; 1 where nothing is shared.
    pub fn jain(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / (self.count * self.squares) } else { 1.0 }
    }
}

/// A traffic at run time.
#[derive(Debug)]
pub(super) struct State {
    pub number: u32,
    pub spec: TrafficSpec,
    pub random: RandomStream,
    pub kind: Kind,
    /// Flows that exist from the beginning.
    pub first: u32,
    pub count: u32,
    /// Origin of its times: zero, or the end of the traffic that it follows; `None` before that end.
    pub origin: Option<Time>,
    /// Its end has been seen.
    pub ended: bool,
    /// Traffic that begins when it has ended.
    pub followers: Vec<u32>,
    pub begun: u64,
    pub completed: u64,
    pub failed: u64,
    pub rounds: u64,
    pub began: Option<Time>,
    pub last: Option<Time>,
    pub times: Times,
    /// Completion times and slowdowns of flows and sessions by class of size.
    pub classes: [Times; 3],
    /// Payload rates of the sessions that are complete.
    pub rates: Moments,
    /// Bytes received by sessions that have been removed.
    pub received: u64,
    pub received_cold: u64,
}

impl State {
    pub fn new(number: u32, spec: &TrafficSpec, seed: u64, flows: &mut Flows) -> Self {
        let first = flows.len() as u32;
        let kind = Kind::new(number, spec, flows);
        Self {
            number,
            spec: spec.clone(),
            random: RandomStream::new(seed, "traffic", u64::from(number)),
            kind,
            first,
            count: flows.len() as u32 - first,
            origin: None,
            ended: false,
            followers: Vec::new(),
            begun: 0,
            completed: 0,
            failed: 0,
            rounds: 0,
            began: None,
            last: None,
            times: Times::default(),
            classes: Default::default(),
            rates: Moments::default(),
            received: 0,
            received_cold: 0,
        }
    }

    /// Sets the origin of its times to `now`, and schedules the starts of its flows.
    pub fn release(&mut self, now: Time, events: &mut EventQueue) {
        self.origin = Some(now);
        let start = now.saturating_add(self.spec.start);
        if let Kind::Sessions(sessions) = &mut self.kind {
            sessions.release(&self.spec, start, (self.number, self.first), &mut self.random, events);
            return;
        }
        if let TrafficKind::Coflows(coflows) = &self.spec.kind {
            for (k, coflow) in (0..).zip(coflows) {
                let start = start + coflow.start + self.spec.jitter.mul_f64(self.random.uniform());
                events.push(start, SESSION, self.number, k);
            }
            return;
        }
        for k in 0..self.count {
            let later = match &self.spec.kind {
                TrafficKind::Flows(flows) => flows[k as usize].start,
                _ => Time::ZERO,
            };
            let start = start + later + self.spec.jitter.mul_f64(self.random.uniform());
            events.push(start, FLOW_START, self.first + k, 0);
        }
    }

    /// Time after which nothing more begins.
    pub fn stops_at(&self) -> Option<Time> {
        Some(self.origin?.saturating_add(self.spec.stop?))
    }

    /// Schedules the next event of a Poisson process with this mean, at the node or aggregator `who`. Returns whether
    /// it falls before the stop.
    pub fn schedule(&mut self, mean: Time, who: u32, now: Time, events: &mut EventQueue) -> bool {
        let next = now + exponential(&mut self.random, mean);
        let before = self.stops_at().is_none_or(|stop| next < stop);
        if before {
            events.push(next, SESSION, self.number, who);
        }
        before
    }

    /// How to open a connection for a flow.
    pub fn open(&self, index: FlowIndex, flow: &Flow) -> Open {
        Open {
            owner: Owner::Traffic,
            user: index.0,
            from: flow.from,
            to: flow.to,
            port: self.port(),
            via: None,
            client: self.spec.tcp,
            server: self.spec.tcp,
        }
    }
    /// How to open a connection for a passing session.
    pub fn open_passing(&self, index: PassingIndex, from: u32, to: u32) -> Open {
        let (port, tcp) = (self.port(), self.spec.tcp);
        Open { owner: Owner::Traffic, user: index.0 | PASSING, from, to, port, via: None, client: tcp, server: tcp }
    }
    /// The port at which its receivers accept.
    pub fn port(&self) -> u16 {
        FIRST_PORT.wrapping_add(self.number as u16)
    }
    /// The flows that exist from the beginning.
    pub fn flows(&self) -> impl Iterator<Item = FlowIndex> + use<> {
        (self.first..self.first + self.count).map(FlowIndex)
    }
    /// Whether its flows count the bytes from the accepting end to the opening end.
    pub fn counts_answers(&self) -> bool {
        matches!(self.kind, Kind::PingPong(_))
    }

    pub fn begin(&mut self, now: Time) {
        self.began.get_or_insert(now);
    }
    /// Records a completion. `flow` has the size of a flow or session, and its ideal completion time.
    pub fn complete(&mut self, now: Time, began: Time, flow: Option<(Bytes, Option<Time>)>) {
        self.completed += 1;
        self.last = Some(now);
        let time = now - began;
        self.times.completions.record(time.as_ps());
        let Some((bytes, ideal)) = flow else { return };
        if time > Time::ZERO {
            self.rates.add(bytes.get() as f64 / time.as_secs_f64());
        }
        let class = CLASSES.iter().position(|end| bytes <= *end).unwrap_or(CLASSES.len() - 1);
        self.classes[class].completions.record(time.as_ps());
        if let Some(ideal) = ideal.filter(|ideal| *ideal > Time::ZERO) {
            let slowdown = (time.as_ps() as f64 / ideal.as_ps() as f64 * SLOWDOWN_UNIT).round() as u64;
            self.times.slowdowns.record(slowdown);
            self.classes[class].slowdowns.record(slowdown);
        }
    }

    pub fn is_finished(&self) -> bool {
        if self.origin.is_none() {
            return false;
        }
        match (&self.kind, &self.spec.kind) {
            (_, TrafficKind::Long { bytes: None, .. }) => self.count == 0,
            (Kind::Striped(_), TrafficKind::Stripe(spec)) if spec.bytes.is_none() => self.count == 0,
            (Kind::Flows | Kind::Striped(_), _) => self.completed + self.failed >= u64::from(self.count),
            (Kind::Barrier(_), TrafficKind::Barrier { rounds, .. }) => {
                self.rounds >= u64::from(*rounds) || self.failed > 0 || self.count == 0
            }
            (Kind::PingPong(_), TrafficKind::PingPong { exchanges, rounds }) => {
                let rounds = u64::from(*rounds) * exchanges.len() as u64;
                self.failed >= u64::from(self.count) || self.rounds >= rounds * u64::from(self.count)
            }
            (Kind::Sessions(sessions), _) => sessions.are_over(),
            (Kind::Coflows(coflows), _) => self.completed + self.failed >= coflows.count(),
            (Kind::Aggregate(aggregate), _) => aggregate.is_over(),
            _ => false,
        }
    }
}

impl Flow {
    pub(super) fn new(traffic: u32, from: u32, to: u32, bytes: Bytes) -> Self {
        Self {
            traffic,
            from,
            to,
            handle: None,
            bytes,
            began: Time::ZERO,
            finished: None,
            received: 0,
            received_cold: 0,
            rounds: 0,
            group: 0,
        }
    }
}

pub(super) fn exponential(random: &mut RandomStream, mean: Time) -> Time {
    Time::from_secs_f64(random.exponential(mean.as_secs_f64()))
}
