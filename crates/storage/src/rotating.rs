//! A disk with platters and a head: its queue.
//!
//! Where bytes are and what it takes to get there is in [`crate::mechanics`]. A file is in one piece, and files stand
//! anywhere on the disk, as on a file system that has been in use for long; or what is written goes to the end of a log
//! ([`crate::log`]).
//!
//! Two schedulers. Linux's CFQ, the default of the 2000s, gives turns to streams: a stream keeps the head for a slice
//! (`slice_sync` = 100 ms for reads, `slice_async` = 40 ms for writes); within a reader's slice the disk waits for the
//! reader's next request (`slice_idle` = 8 ms: anticipation, Iyer and Druschel, SOSP 2001), because that probably
//! continues where the head is. Native command queueing leaves the order to the disk, which has up to 32 commands and
//! takes the one that it reaches first (shortest positioning time first: Seltzer, Chen and Ousterhout, USENIX 1990;
//! Jacobson and Wilkes, HPL-CSP-91-7), unless one has waited for too long.
//!
//! The disk's own memory reads ahead of a reader while nobody else asks, and takes writes before they are on the
//! platters as long as it has room.

use crate::disk::{DiskCounters, Op, Request, Stream};
use crate::log::Log;
use crate::mechanics::{Mechanics, MediaRate, SeekCurve, Spot};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Time};

/// Who decides what is served next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskScheduler {
    /// The operating system: turns for streams (Linux's CFQ).
    Turns {
        /// How long a stream that reads keeps the head while others wait.
        read_slice: Time,
        /// How long a stream that writes keeps the head while others wait.
        write_slice: Time,
        /// How long the disk waits, within a reader's slice, for the reader's next request.
        anticipation: Time,
    },
    /// The disk: what it reaches first (NCQ).
    Nearest {
        /// Commands among which it chooses.
        depth: u32,
        /// A command that has waited for longer goes first.
        patience: Time,
    },
}

impl DiskScheduler {
    /// CFQ's defaults.
    pub const CFQ: Self =
        Self::Turns { read_slice: Time::from_ms(100), write_slice: Time::from_ms(40), anticipation: Time::from_ms(8) };
    /// SATA's queue of 32 commands; half a second is mq-deadline's `read_expire`.
    pub const NCQ: Self = Self::Nearest { depth: 32, patience: Time::from_ms(500) };
}

/// After so many bytes of a request a disk that orders its commands serves another that waits: what stands for several
/// commands does not keep the others waiting for longer than they would.
const COMMAND: Bytes = Bytes::from_mib(4);

/// Where a file system puts what is written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Layout {
    /// Each file has a place of its own, in one piece.
    #[default]
    InPlace,
    /// At the end of a log, with what else is written at the time.
    Log,
}

/// A rotating disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RotatingSpec {
    /// Its size.
    pub capacity: Bytes,
    /// Seek times.
    pub seek: SeekCurve,
    /// One revolution; half of it is waited for on average.
    pub revolution: Time,
    /// From a command's arrival until the head moves.
    pub overhead: Time,
    /// Media rate of reads.
    pub read: MediaRate,
    /// Media rate of writes.
    pub write: MediaRate,
    /// Rate between the host and the disk's memory.
    pub interface: BitRate,
    /// How far it reads ahead while nobody asks for anything else.
    pub read_ahead: Bytes,
    /// Writes that its memory takes before they are on the platters; none with the write cache disabled.
    pub write_back: Bytes,
    /// Who decides what is served next.
    pub scheduler: DiskScheduler,
    /// Where what is written goes.
    pub layout: Layout,
}

impl RotatingSpec {
    /// A disk without geometry: another place is always as far, the rates are the same everywhere, and it has no
    /// memory.
    pub const fn flat(position: Time, read: BitRate, write: BitRate) -> Self {
        Self {
            capacity: Bytes::new(1 << 40),
            seek: SeekCurve::flat(position),
            revolution: Time::ZERO,
            overhead: Time::ZERO,
            read: MediaRate::flat(read),
            write: MediaRate::flat(write),
            interface: read,
            read_ahead: Bytes::ZERO,
            write_back: Bytes::ZERO,
            scheduler: DiskScheduler::CFQ,
            layout: Layout::InPlace,
        }
    }
    /// One revolution at a speed in rotations a minute.
    pub const fn revolution(rpm: u64) -> Time {
        Time::from_ps(60_000_000_000_000 / rpm)
    }
    const fn slice(&self, op: Op) -> Time {
        match self.scheduler {
            DiskScheduler::Turns { read_slice, write_slice, .. } => match op {
                Op::Read => read_slice,
                Op::Write => write_slice,
            },
            DiskScheduler::Nearest { .. } => Time::MAX,
        }
    }
    const fn anticipation(&self) -> Time {
        match self.scheduler {
            DiskScheduler::Turns { anticipation, .. } => anticipation,
            DiskScheduler::Nearest { .. } => Time::ZERO,
        }
    }
}

/// Where a stream's byte is on the disk: each file begins anywhere, at a multiple of 4 KiB.
fn place(stream: Stream, offset: Bytes) -> u64 {
    // SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014).
    let mut z = stream.id.wrapping_add(u64::from(stream.node) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 2 & !0xFFF) + offset.get()
}

/// A request and how much of it has been moved.
#[derive(Debug, Clone)]
struct Progress<T> {
    request: Request<T>,
    since: Time,
    moved: Bytes,
    /// Nobody has been told, and someone wants to know.
    reported: bool,
    /// It is in the disk's memory.
    in_memory: bool,
}

/// The requests of one stream and direction, in order; with NCQ one request.
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

/// Where the head is.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// The stream that was served last, and the byte after the last one that was moved.
    stream: Stream,
    offset: Bytes,
    op: Op,
    /// That byte's place on the disk.
    place: u64,
    spot: Spot,
    /// When the media passed that byte: before the transfer's end if it came out of what was read ahead.
    passed: Time,
}

/// What it takes to reach a byte.
#[derive(Debug, Clone, Copy)]
struct Reach {
    time: Time,
    /// The byte's place on the disk, and how many of the request's bytes follow it there.
    place: u64,
    run: Bytes,
    spot: Spot,
    /// Where the disk began to read ahead, if it has.
    ahead: Option<Head>,
}

#[derive(Debug, Clone)]
pub(crate) struct Rotating<T> {
    spec: RotatingSpec,
    mechanics: Mechanics,
    /// Where files are, on a disk that is written as a log.
    log: Option<Log>,
    /// Streams with requests; the first has the head.
    turns: VecDeque<Turn<T>>,
    state: State,
    head: Option<Head>,
    /// Writes that its memory has taken, by when that is reported.
    taken: VecDeque<(Time, Request<T>)>,
    /// Bytes in its memory that are not on the platters.
    unwritten: Bytes,
    /// Of what moves, or moved last, a command's length is served, and more of the request is to come.
    cut: bool,
    /// The stream and direction that has the slice, and its end.
    slice: Option<(Stream, Op, Time)>,
    queued: usize,
    /// How much longer everything takes than by its specification.
    slowness: f64,
    pub counters: DiskCounters,
}

impl<T: Copy> Rotating<T> {
    pub fn new(spec: RotatingSpec) -> Self {
        let RotatingSpec { capacity, read, write, revolution, seek, overhead, .. } = spec;
        Self {
            spec,
            log: (spec.layout == Layout::Log).then(Log::default),
            mechanics: Mechanics::new(capacity, (read, write), revolution, seek, overhead),
            turns: VecDeque::new(),
            state: State::Idle,
            head: None,
            taken: VecDeque::new(),
            unwritten: Bytes::ZERO,
            cut: false,
            slice: None,
            queued: 0,
            slowness: 1.0,
            counters: DiskCounters::default(),
        }
    }

    pub fn submit(&mut self, now: Time, request: Request<T>) {
        self.queued += 1;
        self.counters.queue_max = self.counters.queue_max.max(self.queued as u32);
        let (stream, op) = (request.stream, request.op);
        let in_memory = op == Op::Write && self.unwritten + request.bytes <= self.spec.write_back;
        if in_memory {
            self.unwritten += request.bytes;
            let begin = self.taken.back().map_or(now, |(at, _)| now.max(*at));
            self.taken.push_back((begin + self.spec.interface.transmission_time(request.bytes), request));
        }
        let progress = Progress { request, since: now, moved: Bytes::ZERO, reported: !in_memory, in_memory };
        let turns = matches!(self.spec.scheduler, DiskScheduler::Turns { .. });
        let mine = self.turns.iter_mut().find(|turn| turns && turn.stream == stream && turn.op == op);
        if let Some(turn) = mine {
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
        let taken = self.taken.front().map_or(Time::MAX, |(at, _)| *at);
        self.service_deadline().min(taken)
    }

    const fn service_deadline(&self) -> Time {
        match self.state {
            State::Idle => Time::MAX,
            State::Moving { until, .. } | State::Anticipating { until } => until,
        }
    }

    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        while let Some((_, request)) = self.taken.pop_front_if(|(at, _)| *at <= now) {
            done.push(request.tag);
        }
        if self.service_deadline() > now {
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

    pub fn retain(&mut self, mut keep: impl FnMut(&Request<T>) -> bool) {
        self.taken.retain(|(_, request)| keep(request));
        let mut first = matches!(self.state, State::Moving { .. });
        for turn in &mut self.turns {
            turn.requests.retain_mut(|progress| {
                let in_service = std::mem::take(&mut first);
                // What is in its memory will be written whoever has crashed.
                let kept = progress.in_memory || keep(&progress.request);
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

    /// What begins from now on takes so much longer.
    pub const fn set_slowness(&mut self, slowness: f64) {
        self.slowness = slowness;
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

    /// What the head does.
    pub fn serving(&self) -> Option<Op> {
        match self.state {
            State::Moving { .. } => self.turns.front().map(|turn| turn.op),
            State::Idle | State::Anticipating { .. } => None,
        }
    }

    /// A piece of the first request has been moved.
    fn moved(&mut self, now: Time, bytes: Bytes, done: &mut Vec<T>) {
        let Some(turn) = self.turns.front_mut() else { return };
        let Some(progress) = turn.requests.front_mut() else { return };
        progress.moved += bytes;
        self.counters.count(turn.op, bytes);
        if progress.moved >= progress.request.bytes {
            self.cut = false;
            if progress.reported {
                done.push(progress.request.tag);
            }
            if progress.in_memory {
                self.unwritten -= progress.request.bytes;
            }
            turn.requests.pop_front();
            self.queued -= 1;
            self.counters.requests += 1;
        }
        let slice_over = self.slice.is_none_or(|(_, _, end)| now >= end);
        if turn.requests.is_empty() {
            let op = turn.op;
            self.turns.pop_front();
            let anticipation = self.spec.anticipation();
            if op == Op::Read && !slice_over && !self.turns.is_empty() && anticipation > Time::ZERO {
                self.state = State::Anticipating { until: now.saturating_add(anticipation) };
            }
        } else if slice_over || self.cut {
            self.turns.rotate_left(1);
        }
    }

    /// With NCQ the request that the head reaches first becomes the first, or the oldest that has waited for too long;
    /// not the one whose command has just ended, if another waits.
    fn choose(&mut self, now: Time) {
        let DiskScheduler::Nearest { depth, patience } = self.spec.scheduler else { return };
        let others = self.turns.len().saturating_sub(usize::from(std::mem::take(&mut self.cut)));
        let waited = |turn: &Turn<T>| turn.requests.front().map_or(Time::ZERO, |first| now.saturating_sub(first.since));
        if self.turns.len() < 2 || self.turns.front().is_some_and(|oldest| waited(oldest) > patience) {
            return;
        }
        let reach = |turn: &Turn<T>| {
            let Progress { request, moved, .. } = turn.requests.front()?;
            let (offset, rest) = (request.offset + *moved, request.bytes - *moved);
            Some(self.reach(now, (request.stream, request.op), offset, rest).time)
        };
        let nearest = self.turns.iter().take(others.min(depth.max(1) as usize)).enumerate();
        let nearest = nearest.filter_map(|(index, turn)| Some((reach(turn)?, index))).min();
        if let Some(turn) = nearest.and_then(|(_, index)| self.turns.remove(index)) {
            self.turns.push_front(turn);
        }
    }

    /// Where `bytes` of a stream are or will be written, and how many of them are there.
    fn locate(&self, stream: Stream, op: Op, offset: Bytes, bytes: Bytes) -> (u64, Bytes) {
        match (&self.log, op) {
            (None, _) => (place(stream, offset), bytes),
            (Some(log), Op::Write) => (log.end(), bytes),
            (Some(log), Op::Read) => match log.find(stream, offset) {
                Some((at, run)) => (at, run.min(bytes)),
                // It was there when the run began.
                None => (place(stream, offset), log.gap(stream, offset, bytes)),
            },
        }
    }

    /// How long it takes to reach bytes of a stream. Nothing, if the head is there or the disk has read them ahead.
    fn reach(&self, now: Time, (stream, op): (Stream, Op), offset: Bytes, bytes: Bytes) -> Reach {
        let (place, run) = self.locate(stream, op, offset, bytes);
        let goes_on = |head: &Head| head.stream.file() == stream.file() && head.offset == offset;
        // A log goes on whatever file is written to it.
        let continues = self.head.filter(|head| head.place == place && (self.log.is_some() || goes_on(head)));
        let spot = continues.map_or_else(|| self.mechanics.spot(place), |head| head.spot);
        let ahead = continues.filter(|head| {
            op == Op::Read && head.op == Op::Read && head.passed < now && self.spec.read_ahead > Bytes::ZERO
        });
        let time = match continues {
            Some(head) if head.passed == now || ahead.is_some() => Time::ZERO,
            // The head is on the track; the data have to come round again.
            Some(_) => self.mechanics.rotation(now, &spot),
            None => self.mechanics.positioning(now, self.head.map(|head| head.spot), &spot),
        };
        Reach { time, place, run, spot, ahead }
    }

    /// The first turn's first request goes on: to its end, or to the end of the slice if others wait.
    fn start(&mut self, now: Time) {
        self.choose(now);
        let Some(turn) = self.turns.front() else { return };
        let Some(progress) = turn.requests.front() else { return };
        let (stream, op, offset) = (turn.stream, turn.op, progress.request.offset + progress.moved);
        let rest = progress.request.bytes - progress.moved;
        let reach = self.reach(now, (stream, op), offset, rest);
        // Further places are taken to be as far apart as this one was.
        let places = if progress.moved == Bytes::ZERO { progress.request.places.max(1) } else { 1 };
        let positioning = slowed(reach.time * u64::from(places), self.slowness);
        let start = now + positioning;
        let slice_end = match self.slice {
            Some((owner, owner_op, end)) if owner == stream && owner_op == op && now < end => end,
            _ => start.saturating_add(self.spec.slice(op)),
        };
        let rate = reach.spot.rate(op);
        // What is elsewhere is reached anew.
        let rest = rest.min(reach.run);
        // A slice also cuts a lone stream's request: another stream may arrive meanwhile.
        let in_slice = rate.bytes_in(slice_end.saturating_sub(start)).max(Bytes::new(1));
        let ordered_by_disk = matches!(self.spec.scheduler, DiskScheduler::Nearest { .. });
        self.cut = ordered_by_disk && rest > COMMAND;
        let bytes = rest.min(in_slice).min(if self.cut { COMMAND } else { rest });
        let (until, passed) = self.transfer(start, op, bytes, &reach);
        let late = slowed(until - start, self.slowness).saturating_sub(until - start);
        let (until, passed) = (until.saturating_add(late), passed.saturating_add(late));
        let slice_end = if bytes < rest { until } else { slice_end };
        self.slice = Some((stream, op, slice_end));
        self.counters.busy += until - now;
        self.counters.positioning += positioning;
        self.counters.switches += u64::from(positioning > Time::ZERO);
        if let (Some(log), Op::Write) = (&mut self.log, op) {
            log.append(stream, offset, bytes);
        }
        let place = reach.place + bytes.get();
        let spot = self.mechanics.spot(place);
        self.head = Some(Head { stream, offset: offset + bytes, op, place, spot, passed });
        self.state = State::Moving { until, bytes };
    }

    /// When bytes that the head reaches at `start` have been moved, and when the media passed the last of them:
    /// earlier, where the disk went on reading since the transfer before.
    fn transfer(&self, now: Time, op: Op, bytes: Bytes, reach: &Reach) -> (Time, Time) {
        let (rate, interface) = (reach.spot.rate(op), self.spec.interface);
        let Some(head) = reach.ahead else {
            let until = now.saturating_add(rate.transmission_time(bytes));
            return (until, until);
        };
        // What the media have passed since then is in the disk's memory, as far as that reaches.
        let room = self.spec.read_ahead;
        let from_memory = now.saturating_add(interface.transmission_time(bytes));
        let full = head.passed.saturating_add(rate.transmission_time(room));
        if now < full {
            let passed = head.passed.saturating_add(rate.transmission_time(bytes));
            return (passed.max(from_memory), passed);
        }
        if bytes <= room {
            // The rest of the memory is still full; reading goes on behind it.
            let until = from_memory;
            return (until, until.saturating_sub(rate.transmission_time(room - bytes)));
        }
        let first = now.saturating_add(interface.transmission_time(room));
        let again = now + self.mechanics.rotation(now, &self.mechanics.spot(head.place + room.get()));
        let until = first.max(again).saturating_add(rate.transmission_time(bytes - room));
        (until, until)
    }
}

/// A time on a disk that takes longer than it should; exact on one that does not.
fn slowed(time: Time, slowness: f64) -> Time {
    if slowness > 1.0 { time.mul_f64(slowness) } else { time }
}
