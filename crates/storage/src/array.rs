//! Several disks as one: requests go to the members, and are done when these are.
//!
//! A write that ends within a row keeps its last part in the controller's stripe cache for a moment, as the next
//! request of the stream probably fills the row (Linux md holds such stripes back). After a member's failure its data
//! are read from all others; a spare is filled in the background, window by window, as a stream beside the others.

use crate::disk::{Disk, DiskCounters, DiskSpec, Op, Request, Stream};
use crate::stripes::{Piece, Plan, RaidLevel, Spans, Stripes};
use std::collections::{BTreeMap, VecDeque};
use units::{BitRate, Bytes, Time};

/// How disks make one volume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArraySpec {
    /// How they share the data.
    pub level: RaidLevel,
    /// Their number.
    pub members: u32,
    /// Bytes on a member before the next one's turn.
    pub unit: Bytes,
    /// The highest rate at which a spare is filled (`sync_speed_max` of Linux md: 200 MB/s).
    pub rebuild: BitRate,
}

impl ArraySpec {
    /// How fast Linux md fills a spare by default.
    pub const SYNC_SPEED: BitRate = BitRate::from_bps(200 * 8_000_000);
}

/// Bytes of each member that a rebuild reads and writes at a time (Linux md: 256 stripes of 4 KiB).
const WINDOW: u64 = 1 << 20;

/// Windows under way: one is written while the next is read, as md's stripes go their ways by themselves.
const WINDOWS: u32 = 2;

/// How long the last part of a write waits for what fills its row, as a plugged queue of Linux does.
const HELD: Time = Time::from_ms(3);

/// A member's part of a piece of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    work: u64,
    piece: Piece,
}

/// A request, or what the array does by itself.
#[derive(Debug)]
struct Work<T> {
    /// None for a held part and for a rebuild.
    request: Option<Request<T>>,
    stream: Stream,
    /// Parts that the members owe.
    left: u32,
    /// What follows then.
    then: Vec<Piece>,
    /// A window of the rebuild.
    rebuilds: bool,
}

/// The last part of a write, which does not fill its row.
#[derive(Debug, Clone, Copy)]
struct Held {
    from: u64,
    to: u64,
    due: Time,
}

/// A spare that is being filled.
#[derive(Debug, Clone, Copy)]
struct Rebuild {
    member: u32,
    /// Bytes of it that are filled.
    at: u64,
    /// Where the next window begins, and when it may.
    begun: u64,
    next: Time,
    /// Windows under way.
    under_way: u32,
}

impl Rebuild {
    /// When the next window begins, if one may.
    fn due(&self, capacity: u64) -> Time {
        if self.under_way < WINDOWS && self.begun < capacity { self.next } else { Time::MAX }
    }
}

#[derive(Debug)]
pub(crate) struct Array<T> {
    stripes: Stripes,
    disks: Vec<Disk<Part>>,
    lost: Vec<bool>,
    works: BTreeMap<u64, Work<T>>,
    held: BTreeMap<Stream, Held>,
    /// Of mirrors, by member: the file that it was last asked for, and the byte that follows there.
    follows: Vec<Option<(Stream, u64)>>,
    rebuild: Option<Rebuild>,
    /// Spares that are filled after that one.
    spares: VecDeque<u32>,
    rate: BitRate,
    capacity: u64,
    next: u64,
    /// Requests that are done, and since when.
    ready: Vec<T>,
    ready_since: Time,
    done: Vec<Part>,
}

impl<T: Copy> Array<T> {
    pub fn new(disk: DiskSpec, spec: ArraySpec) -> Self {
        let members = spec.members.max(spec.level.least());
        Self {
            stripes: Stripes { level: spec.level, members: u64::from(members), unit: spec.unit.get().max(1) },
            disks: (0..members).map(|_| Disk::new(disk)).collect(),
            lost: vec![false; members as usize],
            works: BTreeMap::new(),
            held: BTreeMap::new(),
            follows: vec![None; members as usize],
            rebuild: None,
            spares: VecDeque::new(),
            rate: spec.rebuild,
            capacity: disk.capacity().get(),
            next: 0,
            ready: Vec::new(),
            ready_since: Time::ZERO,
            done: Vec::new(),
        }
    }

    pub fn submit(&mut self, now: Time, request: Request<T>) {
        let file = request.stream.file();
        let (mut from, mut to) = (request.offset.get(), (request.offset + request.bytes).get());
        let plan = if request.op == Op::Read {
            Plan { first: self.stripes.read(from..to), then: Vec::new() }
        } else {
            if let Some(held) = self.held.get(&file).copied() {
                if held.to == from {
                    from = held.from;
                    self.held.remove(&file);
                } else if held.from < to && from < held.to {
                    // Overwritten before it was written.
                    self.held.remove(&file);
                    (from, to) = (from.min(held.from), to.max(held.to));
                }
            }
            let row = self.stripes.row();
            let whole = to / row * row;
            if self.stripes.level == RaidLevel::Raid5 && from.div_ceil(row) * row < whole && whole < to {
                self.held.insert(file, Held { from: whole, to, due: Time::MAX });
                to = whole;
            }
            self.stripes.write(from..to)
        };
        self.begin(now, Some(request), request.stream, plan, false);
    }

    /// Sends the first pieces of a plan to the members.
    fn begin(&mut self, now: Time, request: Option<Request<T>>, stream: Stream, plan: Plan, rebuilds: bool) {
        self.next += 1;
        let id = self.next;
        self.works.insert(id, Work { request, stream, left: 0, then: plan.then, rebuilds });
        self.send(now, id, &plan.first);
    }

    /// Sends pieces to the members; what a lost one would have to read, the others read. Nothing left to do ends the
    /// work.
    fn send(&mut self, now: Time, id: u64, pieces: &[Piece]) {
        let mut reads = Spans::new(self.stripes.members);
        let mut all = Vec::with_capacity(pieces.len());
        let Some(file) = self.works.get(&id).map(|work| work.stream.file()) else { return };
        for &piece in pieces {
            let spare = self.rebuild.is_some_and(|rebuild| rebuild.member == piece.member);
            match (self.lost[piece.member as usize], piece.write) {
                (_, false) if self.stripes.level == RaidLevel::Raid1 => {
                    reads.cover(u64::from(self.mirror(file, piece)), piece.from, piece.to);
                }
                (false, true) => all.push(piece),
                (true, true) if spare => all.push(piece),
                (true, true) => {}
                (false, false) => reads.cover(u64::from(piece.member), piece.from, piece.to),
                (true, false) => {
                    for other in self.stripes.instead(piece) {
                        if !self.lost[other.member as usize] {
                            reads.cover(u64::from(other.member), other.from, other.to);
                        }
                    }
                }
            }
        }
        all.extend(reads.pieces(false));
        let Some(work) = self.works.get_mut(&id) else { return };
        work.left += all.len() as u32;
        let (stream, is_over) = (work.stream, work.left == 0);
        for piece in all {
            let op = if piece.write { Op::Write } else { Op::Read };
            let (offset, bytes) = (Bytes::new(piece.from), Bytes::new(piece.to - piece.from));
            let places = self.works[&id].request.as_ref().map_or(1, |request| request.places_in(bytes));
            let request = Request { op, stream, offset, bytes, places, tag: Part { work: id, piece } };
            self.disks[piece.member as usize].submit(now, request);
        }
        if is_over {
            self.advance(now, id);
        }
    }

    /// Which mirror reads: the one that has just read what lies before, else the one with the least to do, as Linux md's
    /// `read_balance` has it. So a stream stays on its disk, and two streams do not share one.
    fn mirror(&mut self, file: Stream, piece: Piece) -> u32 {
        let up = (0..self.disks.len()).filter(|member| !self.lost[*member]);
        let goes_on = |member: usize| self.follows[member] == Some((file, piece.from));
        let best = up.min_by_key(|member| (!goes_on(*member), self.disks[*member].queued()));
        let member = best.unwrap_or(piece.member as usize);
        self.follows[member] = Some((file, piece.to));
        member as u32
    }

    /// The members owe nothing more of this work: what follows, or its end.
    fn advance(&mut self, now: Time, id: u64) {
        let Some(work) = self.works.get_mut(&id) else { return };
        let then = std::mem::take(&mut work.then);
        if !then.is_empty() {
            return self.send(now, id, &then);
        }
        let Some(work) = self.works.remove(&id) else { return };
        if let Some(held) = self.held.get_mut(&work.stream.file()) {
            held.due = held.due.min(now.saturating_add(HELD));
        }
        if work.rebuilds {
            self.window_is_done(now);
        }
        self.ready.extend(work.request.map(|request| request.tag));
        self.ready_since = now;
    }

    pub fn deadline(&self) -> Time {
        if !self.ready.is_empty() {
            return self.ready_since;
        }
        let disks = self.disks.iter().map(Disk::deadline).min().unwrap_or(Time::MAX);
        let held = self.held.values().map(|held| held.due).min().unwrap_or(Time::MAX);
        let rebuild = self.rebuild.map_or(Time::MAX, |rebuild| rebuild.due(self.capacity));
        disks.min(held).min(rebuild)
    }

    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        let mut parts = std::mem::take(&mut self.done);
        for member in 0..self.disks.len() {
            self.disks[member].on_timer(now, &mut parts);
        }
        for part in parts.drain(..) {
            self.part_is_done(now, part.work);
        }
        self.done = parts;
        while let Some((&stream, &held)) = self.held.iter().find(|(_, held)| held.due <= now) {
            self.held.remove(&stream);
            let plan = self.stripes.write(held.from..held.to);
            self.begin(now, None, stream, plan, false);
        }
        while self.rebuild.is_some_and(|rebuild| rebuild.due(self.capacity) <= now) {
            self.rebuild_window(now);
        }
        done.append(&mut self.ready);
    }

    fn part_is_done(&mut self, now: Time, id: u64) {
        let Some(work) = self.works.get_mut(&id) else { return };
        work.left -= 1;
        if work.left == 0 {
            self.advance(now, id);
        }
    }

    /// A member fails: what it owed is read from the others, or need not be written. False if the data are lost.
    pub fn fail(&mut self, now: Time, member: u32) -> bool {
        let index = member as usize % self.disks.len();
        if self.is_lost(index) {
            return self.is_whole();
        }
        self.lost[index] = true;
        self.give_up_spare(now, index as u32);
        let mut owed = Vec::new();
        self.disks[index].retain(|request| {
            owed.push(request.tag);
            false
        });
        if !self.is_whole() {
            self.works.clear();
            self.held.clear();
            self.spares.clear();
            self.rebuild = None;
            return false;
        }
        for part in owed {
            let Some(work) = self.works.get_mut(&part.work) else { continue };
            work.left -= 1;
            let again: Vec<Piece> = if part.piece.write { Vec::new() } else { vec![part.piece] };
            self.send(now, part.work, &again);
        }
        true
    }

    /// Whether the members that are left have all data.
    pub fn is_whole(&self) -> bool {
        let lost = self.lost.iter().filter(|lost| **lost).count();
        match self.stripes.level {
            RaidLevel::Raid0 => lost == 0,
            RaidLevel::Raid1 => lost < self.disks.len(),
            RaidLevel::Raid5 => lost <= 1,
        }
    }

    /// A spare takes the place of a member that has failed; it is filled from the others.
    pub fn replace(&mut self, now: Time, member: u32) {
        let index = member as usize % self.disks.len();
        if self.is_lost(index) && self.is_whole() && self.capacity > 0 {
            self.spares.push_back(index as u32);
            self.fill_next(now);
        }
    }
    /// The next spare is filled, unless one is.
    fn fill_next(&mut self, now: Time) {
        if self.rebuild.is_none() {
            let fill = |member| Rebuild { member, at: 0, begun: 0, next: now, under_way: 0 };
            self.rebuild = self.spares.pop_front().map(fill);
        }
    }
    /// The spare of a member, if it has one, is filled no further.
    fn give_up_spare(&mut self, now: Time, member: u32) {
        self.spares.retain(|spare| *spare != member);
        if self.rebuild.is_some_and(|rebuild| rebuild.member == member) {
            self.rebuild = None;
            self.works.retain(|_, work| !work.rebuilds);
            self.fill_next(now);
        }
    }

    /// The part of the spare that is filled; none if nothing is being rebuilt.
    pub fn rebuilt(&self) -> Option<f64> {
        self.rebuild.map(|rebuild| rebuild.at as f64 / self.capacity.max(1) as f64)
    }

    fn rebuild_window(&mut self, now: Time) {
        let Some(rebuild) = &mut self.rebuild else { return };
        let (from, to) = (rebuild.begun, (rebuild.begun + WINDOW).min(self.capacity));
        rebuild.begun = to;
        rebuild.under_way += 1;
        rebuild.next = now.saturating_add(self.rate.transmission_time(Bytes::new(to - from)));
        let spare = Piece { member: rebuild.member, write: true, from, to };
        let sources = match self.stripes.level {
            RaidLevel::Raid1 => vec![Piece { member: 0, write: false, from, to }],
            _ => self.stripes.instead(Piece { write: false, ..spare }),
        };
        // A stream of its own, from the disk's beginning to its end.
        let stream = Stream { node: u32::MAX, id: u64::MAX, part: 0 };
        self.begin(now, None, stream, Plan { first: sources, then: vec![spare] }, true);
    }

    fn window_is_done(&mut self, now: Time) {
        let Some(rebuild) = &mut self.rebuild else { return };
        rebuild.at = (rebuild.at + WINDOW).min(self.capacity);
        rebuild.under_way -= 1;
        if rebuild.at >= self.capacity {
            self.lost[rebuild.member as usize] = false;
            self.rebuild = None;
            self.fill_next(now);
        } else {
            rebuild.next = rebuild.next.max(now);
        }
    }

    /// Whether a member has failed and no spare has taken its place.
    pub fn is_lost(&self, member: usize) -> bool {
        let is_spare = |spare: u32| spare as usize == member;
        let has_spare = self.rebuild.is_some_and(|rebuild| is_spare(rebuild.member));
        self.lost[member] && !has_spare && !self.spares.iter().any(|spare| is_spare(*spare))
    }

    /// Drops the requests for which `keep` is false; what they have under way occupies the members to its end.
    pub fn retain(&mut self, mut keep: impl FnMut(&Request<T>) -> bool) {
        for work in self.works.values_mut() {
            if work.request.as_ref().is_some_and(|request| !keep(request)) {
                work.request = None;
            }
        }
    }

    /// What a member begins from now on takes so much longer.
    pub fn set_slowness(&mut self, member: u32, slowness: f64) {
        let index = member as usize % self.disks.len();
        self.disks[index].set_slowness(slowness);
    }

    pub fn queued(&self) -> usize {
        self.works.values().filter(|work| work.request.is_some()).count() + self.ready.len()
    }

    /// One of its disks.
    pub fn member(&self, member: usize) -> &Disk<Part> {
        &self.disks[member]
    }
    /// One of its disks, to be put to rest or released.
    pub fn member_mut(&mut self, member: usize) -> &mut Disk<Part> {
        &mut self.disks[member]
    }

    pub fn members(&self) -> usize {
        self.disks.len()
    }

    pub fn member_counters(&self, now: Time, member: usize) -> DiskCounters {
        self.disks[member].counters(now)
    }
}
