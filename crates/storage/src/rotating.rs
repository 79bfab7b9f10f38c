//! A disk with platters and a head.
//!
//! A request takes positioning (average seek plus half a revolution) whenever the head must move away from where the
//! last transfer ended, then transfer at the media rate: the model of Ruemmler and Wilkes, "An introduction to disk
//! drive modeling" (IEEE Computer 27(3), 1994), with the average seek in place of the seek curve, since streams have no
//! known distance.
//!
//! Requests of one stream are served in order. Among streams the disk takes turns like Linux's CFQ scheduler: a stream
//! keeps the head for a slice (`slice_sync` = 100 ms for reads, `slice_async` = 40 ms for writes). Within a reader's
//! slice the disk waits for the reader's next request (`slice_idle` = 8 ms: anticipation, Iyer and Druschel, SOSP
//! 2001), because that probably continues where the head is.

use crate::disk::{DiskCounters, Op, Request, Stream};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Time};

/// A rotating disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RotatingSpec {
    /// Average seek time.
    pub seek: Time,
    /// One revolution; half of it is waited for on average.
    pub revolution: Time,
    /// Media rate of reads.
    pub read_rate: BitRate,
    /// Media rate of writes.
    pub write_rate: BitRate,
    /// How long a stream that reads keeps the head while others wait.
    pub read_slice: Time,
    /// How long a stream that writes keeps the head while others wait.
    pub write_slice: Time,
    /// How long the disk waits, within a reader's slice, for the reader's next request.
    pub anticipation: Time,
}

impl RotatingSpec {
    /// A disk scheduled as Linux does by default.
    pub const fn new(seek: Time, rpm: u64, read_rate: BitRate, write_rate: BitRate) -> Self {
        Self {
            seek,
            revolution: Time::from_ps(60_000_000_000_000 / rpm),
            read_rate,
            write_rate,
            read_slice: Time::from_ms(100),
            write_slice: Time::from_ms(40),
            anticipation: Time::from_ms(8),
        }
    }
    /// Average time to reach another place.
    pub fn positioning(&self) -> Time {
        self.seek + self.revolution / 2
    }
    /// The media rate.
    pub const fn rate(&self, op: Op) -> BitRate {
        match op {
            Op::Read => self.read_rate,
            Op::Write => self.write_rate,
        }
    }
    const fn slice(&self, op: Op) -> Time {
        match op {
            Op::Read => self.read_slice,
            Op::Write => self.write_slice,
        }
    }
}

/// A request and how much of it has been moved.
#[derive(Debug, Clone)]
struct Progress<T> {
    request: Request<T>,
    moved: Bytes,
    reported: bool,
}

/// The requests of one stream and direction, in order.
#[derive(Debug, Clone)]
struct Turn<T> {
    stream: Stream,
    op: Op,
    requests: VecDeque<Progress<T>>,
}

#[derive(Debug, Clone)]
enum State {
    Idle,
    /// `bytes` of the first turn's first request are on their way until then.
    Moving {
        until: Time,
        bytes: Bytes,
    },
    /// The last reader is waited for until then.
    Anticipating {
        until: Time,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Rotating<T> {
    spec: RotatingSpec,
    /// Streams with requests; the first has the head.
    turns: VecDeque<Turn<T>>,
    state: State,
    /// Where the last transfer ended.
    head: Option<(Stream, Bytes)>,
    /// The stream and direction that has the slice, and its end.
    slice: Option<(Stream, Op, Time)>,
    queued: usize,
    pub counters: DiskCounters,
}

impl<T: Copy> Rotating<T> {
    pub fn new(spec: RotatingSpec) -> Self {
        Self {
            spec,
            turns: VecDeque::new(),
            state: State::Idle,
            head: None,
            slice: None,
            queued: 0,
            counters: DiskCounters::default(),
        }
    }

    pub fn submit(&mut self, now: Time, request: Request<T>) {
        self.queued += 1;
        self.counters.queue_max = self.counters.queue_max.max(self.queued as u32);
        let (stream, op) = (request.stream, request.op);
        let progress = Progress { request, moved: Bytes::ZERO, reported: true };
        if let Some(turn) = self.turns.iter_mut().find(|turn| turn.stream == stream && turn.op == op) {
            turn.requests.push_back(progress);
        } else {
            let turn = Turn { stream, op, requests: VecDeque::from([progress]) };
            let awaited = matches!(self.state, State::Anticipating { .. })
                && self.slice.is_some_and(|(awaited, awaited_op, _)| awaited == stream && awaited_op == op);
            if awaited {
                self.turns.push_front(turn);
                self.state = State::Idle;
            } else {
                self.turns.push_back(turn);
            }
        }
        if matches!(self.state, State::Idle) {
            self.start(now);
        }
    }

    pub fn deadline(&self) -> Time {
        match self.state {
            State::Idle => Time::MAX,
            State::Moving { until, .. } | State::Anticipating { until } => until,
        }
    }

    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        if self.deadline() > now {
            return;
        }
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {}
            State::Anticipating { .. } => self.slice = None,
            State::Moving { bytes, .. } => self.moved(now, bytes, done),
        }
        if matches!(self.state, State::Idle) {
            self.start(now);
        }
    }

    pub fn retain(&mut self, keep: impl Fn(&Request<T>) -> bool) {
        let moving = matches!(self.state, State::Moving { .. });
        let mut first = moving;
        for turn in &mut self.turns {
            turn.requests.retain_mut(|progress| {
                let in_service = std::mem::take(&mut first);
                let kept = keep(&progress.request);
                progress.reported &= kept || !in_service;
                if in_service && !kept {
                    // Cut to what is on its way.
                    if let State::Moving { bytes, .. } = self.state {
                        progress.request.bytes = progress.moved + bytes;
                    }
                }
                kept || in_service
            });
        }
        self.turns.retain(|turn| !turn.requests.is_empty());
        self.queued = self.turns.iter().map(|turn| turn.requests.len()).sum();
    }

    /// The end of the part of `busy` that is counted in advance.
    pub const fn busy_until(&self) -> Time {
        match self.state {
            State::Moving { until, .. } => until,
            _ => Time::ZERO,
        }
    }

    pub const fn queued(&self) -> usize {
        self.queued
    }

    /// A piece of the first request has been moved.
    fn moved(&mut self, now: Time, bytes: Bytes, done: &mut Vec<T>) {
        let Some(turn) = self.turns.front_mut() else { return };
        let Some(progress) = turn.requests.front_mut() else { return };
        progress.moved += bytes;
        self.counters.count(turn.op, bytes);
        if progress.moved >= progress.request.bytes {
            if progress.reported {
                done.push(progress.request.tag);
            }
            turn.requests.pop_front();
            self.queued -= 1;
            self.counters.requests += 1;
        }
        let slice_over = self.slice.is_none_or(|(_, _, end)| now >= end);
        if turn.requests.is_empty() {
            let op = turn.op;
            self.turns.pop_front();
            if op == Op::Read && !slice_over && !self.turns.is_empty() && self.spec.anticipation > Time::ZERO {
                self.state = State::Anticipating { until: now.saturating_add(self.spec.anticipation) };
            }
        } else if slice_over {
            self.turns.rotate_left(1);
        }
    }

    /// The first turn's first request goes on: to its end, or to the end of the slice if others wait.
    fn start(&mut self, now: Time) {
        let Some(turn) = self.turns.front() else { return };
        let Some(progress) = turn.requests.front() else { return };
        let place = progress.request.offset + progress.moved;
        let positioning = if self.head == Some((turn.stream, place)) { Time::ZERO } else { self.spec.positioning() };
        let start = now + positioning;
        let slice_end = match self.slice {
            Some((stream, op, end)) if stream == turn.stream && op == turn.op && now < end => end,
            _ => start + self.spec.slice(turn.op),
        };
        let rate = self.spec.rate(turn.op);
        let rest = progress.request.bytes - progress.moved;
        // A slice also cuts a lone stream's request: another stream may arrive meanwhile.
        let in_slice = rate.bytes_in(slice_end.saturating_sub(start)).max(Bytes::new(1));
        let bytes = rest.min(in_slice);
        let until = start.saturating_add(rate.transmission_time(bytes));
        let slice_end = if bytes < rest { until } else { slice_end };
        self.slice = Some((turn.stream, turn.op, slice_end));
        self.counters.busy += until - now;
        self.counters.positioning += positioning;
        self.counters.switches += u64::from(positioning > Time::ZERO);
        self.head = Some((turn.stream, place + bytes));
        self.state = State::Moving { until, bytes };
    }
}
