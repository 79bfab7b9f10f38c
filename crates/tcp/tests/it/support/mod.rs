//! Two endpoints joined by a scripted wire: a delay and a rate each way, and a script that may drop, delay or double
//! any segment.

pub mod control;

use std::collections::{BTreeMap, VecDeque};
use tcp::control::ControlKind;
use tcp::{Config, Endpoint, Flags, Notice, Output, Recovery, ReductionBase, RtoEstimator, Segment, StartRule};
use units::{BitRate, Bytes, Time};

/// Which end a segment comes from, or a call is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Side {
    Client,
    Server,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What the wire does with a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Deliver,
    Drop,
    /// Delivered this much later than otherwise, so that others overtake it.
    Late(Time),
    /// Delivered twice.
    Twice,
    /// Delivered with the mark of congestion, if it is ECN-capable.
    Mark,
}

type Script = Box<dyn FnMut(Side, u64, &Segment) -> Fate>;

/// A segment as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub from: Side,
    pub segment: Segment,
}

/// The pair and the wire between them.
pub struct Wire {
    pub now: Time,
    pub client: Endpoint,
    pub server: Endpoint,
    pub delay: Time,
    /// Rate of each direction; `None` takes no time.
    pub rate: Option<BitRate>,
    /// Packets that wait behind the one in transmission, at most.
    pub queue: usize,
    /// An ECN-capable packet that finds this many waiting is marked.
    pub mark_at: usize,
    pub log: Vec<Sent>,
    pub keep_log: bool,
    pub notices: Vec<(Time, Side, Notice)>,
    pub drops: u64,
    pub marks: u64,
    script: Script,
    arrivals: BTreeMap<(Time, u64), (Side, Segment)>,
    order: u64,
    numbered: [u64; 2],
    free_at: [Time; 2],
    departures: [VecDeque<Time>; 2],
    out: Output,
}

impl Wire {
    pub fn new(client: &Config, server: &Config, delay: Time) -> Self {
        Self {
            now: Time::ZERO,
            client: Endpoint::connect(client),
            server: Endpoint::listen(server),
            delay,
            rate: None,
            queue: usize::MAX,
            mark_at: usize::MAX,
            log: Vec::new(),
            keep_log: true,
            notices: Vec::new(),
            drops: 0,
            marks: 0,
            script: Box::new(|_, _, _| Fate::Deliver),
            arrivals: BTreeMap::new(),
            order: 0,
            numbered: [0; 2],
            free_at: [Time::ZERO; 2],
            departures: [VecDeque::new(), VecDeque::new()],
            out: Output::default(),
        }
    }
    /// The script is asked for every segment: who sends it, the how manyth of that side it is (from 0), and the
    /// segment.
    pub fn script(mut self, script: impl FnMut(Side, u64, &Segment) -> Fate + 'static) -> Self {
        self.script = Box::new(script);
        self
    }
    pub fn set_script(&mut self, script: impl FnMut(Side, u64, &Segment) -> Fate + 'static) {
        self.script = Box::new(script);
    }
    /// Loses these numbers of the client's segments, counted as sent.
    pub fn lose(&mut self, numbers: &'static [u64]) {
        self.fate_of(numbers, Fate::Drop);
    }
    /// Marks them.
    pub fn mark(&mut self, numbers: &'static [u64]) {
        self.fate_of(numbers, Fate::Mark);
    }
    fn fate_of(&mut self, numbers: &'static [u64], fate: Fate) {
        self.set_script(
            move |side, number, _| {
                if side == Side::Client && numbers.contains(&number) { fate } else { Fate::Deliver }
            },
        );
    }
    pub fn bottleneck(mut self, rate: BitRate, queue: usize) -> Self {
        self.rate = Some(rate);
        self.queue = queue;
        self
    }
    pub fn marking(mut self, at: usize) -> Self {
        self.mark_at = at;
        self
    }
    pub fn side(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
    /// Calls one endpoint and puts what it sends on the wire.
    pub fn with(&mut self, side: Side, call: impl FnOnce(&mut Endpoint, Time, &mut Output)) {
        let mut out = std::mem::take(&mut self.out);
        let now = self.now;
        call(self.side(side), now, &mut out);
        self.carry(side, &out);
        out.clear();
        self.out = out;
    }
    fn carry(&mut self, side: Side, out: &Output) {
        let now = self.now;
        self.notices.extend(out.notices.iter().map(|notice| (now, side, *notice)));
        for segment in &out.segments {
            let lane = side as usize;
            let number = self.numbered[lane];
            self.numbered[lane] += 1;
            let fate = (self.script)(side, number, segment);
            while self.departures[lane].front().is_some_and(|start| *start <= now) {
                self.departures[lane].pop_front();
            }
            let waiting = self.departures[lane].len();
            let full = waiting >= self.queue.max(1);
            let dropped = fate == Fate::Drop || full;
            self.drops += u64::from(dropped);
            if self.keep_log {
                self.log.push(Sent { at: now, from: side, segment: *segment });
            }
            if full {
                continue;
            }
            // Random loss happens behind the bottleneck: the packet takes its time there.
            let start = self.free_at[lane].max(now);
            let length = Bytes::new(u64::from(segment.wire_bytes()));
            let sent = start + self.rate.map_or(Time::ZERO, |rate| rate.transmission_time(length));
            self.free_at[lane] = sent;
            if self.rate.is_some() {
                self.departures[lane].push_back(start);
            }
            let mut carried = *segment;
            if (fate == Fate::Mark || waiting >= self.mark_at) && segment.flags.contains(Flags::ECT) {
                carried.flags |= Flags::CE;
                self.marks += 1;
            }
            let mut deliver = |at: Time| {
                self.order += 1;
                self.arrivals.insert((at, self.order), (side.other(), carried));
            };
            match fate {
                Fate::Drop => {}
                Fate::Deliver | Fate::Mark => deliver(sent + self.delay),
                Fate::Late(more) => deliver(sent + self.delay + more),
                Fate::Twice => {
                    deliver(sent + self.delay);
                    deliver(sent + self.delay);
                }
            }
        }
    }
    /// Packets of `side` that wait behind the one in transmission.
    pub fn queued(&self, side: Side) -> usize {
        self.departures[side as usize].iter().filter(|start| **start > self.now).count()
    }
    /// When the next thing happens.
    pub fn next_at(&self) -> Time {
        let arrival = self.arrivals.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
        arrival.min(self.client.deadline()).min(self.server.deadline())
    }
    /// The next thing happens; false when nothing is pending.
    pub fn step(&mut self) -> bool {
        let at = self.next_at();
        if at == Time::MAX {
            return false;
        }
        assert!(at >= self.now, "a deadline lies in the past");
        self.now = at;
        if let Some(entry) = self.arrivals.first_entry()
            && entry.key().0 <= at
        {
            let (side, segment) = entry.remove();
            self.with(side, |endpoint, now, out| endpoint.on_segment(now, &segment, out));
        } else {
            let side = if self.client.deadline() <= at { Side::Client } else { Side::Server };
            self.with(side, Endpoint::on_timer);
        }
        true
    }
    /// Everything up to and including `until` happens.
    pub fn run_until(&mut self, until: Time) {
        while self.next_at() <= until && self.step() {}
        self.now = self.now.max(until);
    }
    /// Until nothing is pending any more.
    pub fn run(&mut self) {
        let mut steps = 0_u64;
        while self.step() {
            steps += 1;
            assert!(steps < 20_000_000, "no end in sight");
        }
    }
    /// The handshake, so that a test begins with an open connection and an empty log.
    pub fn established(mut self) -> Self {
        self.with(Side::Client, Endpoint::open);
        while self.client.state() != tcp::State::Established || self.server.state() != tcp::State::Established {
            assert!(self.step(), "the handshake stalled");
        }
        self.run_until(self.now + self.delay);
        self.log.clear();
        self.notices.clear();
        self.numbered = [0; 2];
        self
    }
    pub fn write(&mut self, side: Side, bytes: u64) {
        self.with(side, |endpoint, now, out| endpoint.write(now, bytes, true, out).unwrap());
    }
    pub fn close(&mut self, side: Side) {
        self.with(side, Endpoint::close);
    }
    /// The data segments that `side` sent: (time, first position, length).
    pub fn data(&self, side: Side) -> Vec<(Time, u64, u32)> {
        let sent = self.log.iter().filter(|sent| sent.from == side && sent.segment.len > 0);
        sent.map(|sent| (sent.at, sent.segment.seq, sent.segment.len)).collect()
    }
    /// The segments without data that `side` sent.
    pub fn pure_acks(&self, side: Side) -> Vec<Sent> {
        self.log.iter().filter(|sent| sent.from == side && sent.segment.len == 0).copied().collect()
    }
}

/// The reference simulators' settings: every segment acknowledged, 40-byte headers, no timestamps, two segments of
/// initial window, ns-2's timeout and slow start, RFC 5681's ssthresh, no undo.
pub fn plain() -> Config {
    Config {
        timestamps: false,
        count_options: false,
        delayed_ack: None,
        initial_window: 2,
        mss: 1000,
        nagle: false,
        control: ControlKind::Reno,
        rto_estimator: RtoEstimator::Ns2,
        abc_limit: Some(1),
        hystart: StartRule::Off,
        reduction_base: ReductionBase::Flight,
        undo_spurious: false,
        recovery: Recovery::Rfc6675,
        ..Config::default()
    }
}
