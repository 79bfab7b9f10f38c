//! A store's disks under a power policy: requests to a disk at rest wait for it, and everything that it draws is
//! counted.
//!
//! After each step of the store [`StorePower::settle`] compares what each disk does with what the policy knows of it.
//! So the disks' models know nothing of power but that what they are asked for may have to wait, and the policies
//! nothing of queues. A disk's time in use is by both: the ledger of a run sets one against the other.

use crate::disk::{Op, Stream};
use crate::power::oracle::{self, Limits, Visit, Visits};
use crate::power::{Cause, Controller, DiskPower, Drawn, Hint, PolicyError, PowerState, Profile, Settings};
use crate::volume::Volume;
use std::collections::BTreeMap;
use units::{Energy, Time};

/// A disk of the store that has a profile.
#[derive(Clone, Debug)]
struct Seat {
    member: usize,
    /// It has requests, since then; and how long it had read and written by then.
    wanted: bool,
    since: Time,
    before: (Time, Time),
    /// It loses its power when it has ended what it is about.
    leaves: bool,
    /// How long it has had none or has started with it, and since when.
    off: Time,
    off_since: Option<Time>,
    /// What it had drawn when its power came back, until it is ready.
    starts_from: Option<Energy>,
    /// Energy of such starts, which no policy could have saved.
    started: Energy,
    visits: Visits,
    late: Lateness,
}

/// How requests had to wait for a disk at rest, or on its way from there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lateness {
    /// How often the disk was not ready when it was asked for the first of some requests.
    pub times: u32,
    /// From the first request until the disk was ready, in all.
    pub sum: Time,
    /// The longest of these.
    pub most: Time,
}

/// What a disk of a store drew, and what it could have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Energy that it drew.
    pub energy: Energy,
    /// What it would have drawn for the same requests, had it never rested.
    pub always_on: Energy,
    /// The least that it could have drawn for them ([`oracle::least`]).
    pub least: Energy,
}

/// The power of a store's disks.
#[derive(Clone, Debug)]
pub struct StorePower {
    controller: Controller,
    seats: Vec<Seat>,
    /// By volume and member: the seat of a disk with a profile.
    places: Vec<Vec<Option<u32>>>,
    /// Why a file is read or written, where it is not for the usual reason.
    causes: BTreeMap<Stream, Cause>,
    deadline: Time,
    /// The policy has been told something since `deadline` was asked for.
    stale: bool,
    /// How often it has been, `stale` times in a row counted once.
    steps: u64,
    ready: Vec<u32>,
}

impl StorePower {
    /// The disks of volumes, each volume with its number of members, and with the profile and the gear of these if they
    /// have one.
    pub fn new(
        settings: Settings,
        volumes: &[(usize, Option<(Profile, u32)>)],
        now: Time,
    ) -> Result<Self, PolicyError> {
        let (mut disks, mut seats, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for &(members, profile) in volumes {
            let mut of_members = vec![None; members];
            for (member, place) in of_members.iter_mut().enumerate() {
                let Some(profile) = profile else { continue };
                *place = Some(units::count(seats.len()));
                disks.push(profile);
                seats.push(Seat::new(member));
            }
            places.push(of_members);
        }
        let controller = Controller::new(settings, &disks, now)?;
        let deadline = controller.deadline();
        Ok(Self {
            controller,
            seats,
            places,
            causes: BTreeMap::new(),
            deadline,
            stale: false,
            steps: 0,
            ready: Vec::new(),
        })
    }

    /// The policy and its disks' states.
    pub const fn controller(&self) -> &Controller {
        &self.controller
    }
    /// The seat of a disk: a volume, and its member. None if it has no profile.
    pub fn seat(&self, volume: usize, member: usize) -> Option<u32> {
        self.places.get(volume)?.get(member).copied().flatten()
    }
    /// The power of the disk on a seat.
    pub fn disk(&self, seat: u32) -> &DiskPower {
        self.controller.disk(seat)
    }
    /// How deep the disks of a volume rest: 0 where all are ready or start, else the deepest, from 1.
    pub fn depth(&self, volume: usize) -> u8 {
        let of = |seat: u32| match self.disk(seat).state() {
            PowerState::Rest(depth) | PowerState::Down(depth) => 1 + u8::try_from(depth.index()).unwrap_or(0),
            PowerState::Off => u8::MAX,
            _ => 0,
        };
        self.places[volume].iter().flatten().map(|seat| of(*seat)).max().unwrap_or(0)
    }
    /// A number that changes whenever a disk may have gone to another depth.
    pub const fn steps(&self) -> u64 {
        self.steps
    }
    /// The energy of a disk: a volume, and its member. None if it has no profile.
    pub fn drawn(&self, volume: usize, member: usize) -> Option<Drawn> {
        self.seat(volume, member).map(|seat| self.disk(seat).drawn())
    }
    /// How requests had to wait for the disk on a seat.
    pub fn lateness(&self, seat: u32) -> Lateness {
        self.seats[seat as usize].late
    }
    /// What the disk on a seat drew until now, and what it could have drawn for the requests that it has served.
    pub fn bounds(&self, seat: u32, now: Time) -> Bounds {
        let (own, power) = (&self.seats[seat as usize], self.disk(seat));
        let mut visits = own.visits.clone();
        if own.wanted {
            // What it is about at the end counts as far as it has come.
            visits.add(own.visit(power, now), own.clock(now));
        }
        let settings = self.controller.settings();
        let limits = Limits {
            deepest: settings.deepest(self.controller.gear(seat)),
            spin_ups: settings.spin_ups,
            stagger: self.controller.waited_most(),
            patient: true,
        };
        let end = own.clock(now);
        let energy = power.energy(now);
        let started = own.started + own.starts_from.map_or(Energy::default(), |from| energy.saturating_sub(from));
        Bounds {
            energy,
            always_on: started + oracle::always_on(power.profile(), visits.all(), end),
            least: started + oracle::least(power.profile(), visits.all(), &limits, end),
        }
    }

    /// A file is asked for at a volume; `cause` says why if it is not for the usual reason.
    pub(crate) fn asked(&mut self, stream: Stream, cause: Option<Cause>) {
        match cause {
            Some(cause) => {
                self.causes.insert(stream.file(), cause);
            }
            None if self.causes.is_empty() => {}
            None => {
                self.causes.remove(&stream.file());
            }
        }
    }
    /// What the policy is told.
    pub(crate) fn hint(&mut self, now: Time, hint: Hint) {
        self.controller.hint(now, hint);
        self.stale = true;
    }
    /// A disk loses its power, or gets it back.
    pub(crate) fn switch(&mut self, now: Time, (volume, member): (usize, usize), on: bool) {
        let Some(number) = self.seat(volume, member) else { return };
        let seat = &mut self.seats[number as usize];
        seat.leaves = !on;
        self.stale = true;
        if on && seat.off_since.is_some() && seat.starts_from.is_none() {
            self.controller.switch_on(now, number);
            seat.starts_from = Some(self.controller.disk(number).energy(now));
        }
    }
    /// Whether all disks of a volume can serve at once.
    pub(crate) fn is_ready(&self, volume: usize) -> bool {
        self.places[volume].iter().flatten().all(|seat| self.disk(*seat).is_ready())
    }
    /// Whether a volume holds further replicas only.
    pub(crate) fn is_backup(&self, volume: usize) -> bool {
        self.places[volume].iter().flatten().any(|seat| self.controller.gear(*seat) > 0)
    }
    /// When [`StorePower::on_timer`] is next due.
    pub(crate) const fn deadline(&self) -> Time {
        self.deadline
    }
    /// Moves between states end, and idle disks go to rest. [`StorePower::settle`] must follow.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.deadline <= now {
            self.controller.on_timer(now, &mut self.ready);
            self.stale = true;
            self.ready.clear();
        }
    }

    /// Disks of `touched` volumes have done something, or the policy has: requests begin and end, and wait where a disk
    /// rests. What else it changes is touched, too.
    pub(crate) fn settle<T: Copy>(&mut self, now: Time, volumes: &mut [Volume<T>], touched: &mut Vec<usize>) {
        if self.stale {
            touched.clear();
            touched.extend(0..volumes.len());
        }
        touched.sort_unstable();
        let Self { controller, seats, places, causes, stale, .. } = self;
        for volume in touched.iter().copied() {
            for number in places[volume].iter().flatten().copied() {
                let seat = &mut seats[number as usize];
                *stale |= seat.settle(now, (number, controller), &mut volumes[volume], causes);
            }
        }
        if std::mem::take(&mut self.stale) {
            self.steps += 1;
            self.deadline = self.controller.deadline();
        }
    }
}

impl Seat {
    fn new(member: usize) -> Self {
        Self {
            member,
            wanted: false,
            since: Time::ZERO,
            before: (Time::ZERO, Time::ZERO),
            leaves: false,
            off: Time::ZERO,
            off_since: None,
            starts_from: None,
            started: Energy::default(),
            visits: Visits::default(),
            late: Lateness::default(),
        }
    }
    /// Tells the policy what its disk has begun and ended, and the disk whether it rests; whether that was news to the
    /// policy.
    fn settle<T: Copy>(
        &mut self,
        now: Time,
        (number, controller): (u32, &mut Controller),
        volume: &mut Volume<T>,
        causes: &BTreeMap<Stream, Cause>,
    ) -> bool {
        let wanted = volume.is_wanted(self.member);
        let still = !wanted && !self.wanted && !self.leaves;
        if still && volume.is_resting(self.member) != controller.disk(number).is_ready() {
            return false;
        }
        if let Some(from) = self.starts_from.filter(|_| self.leaves || controller.disk(number).is_ready()) {
            self.started += controller.disk(number).energy(now).saturating_sub(from);
            self.off += now.saturating_sub(self.off_since.take().unwrap_or(now));
            self.starts_from = None;
        }
        let mut news = false;
        if wanted && !self.wanted {
            (self.wanted, self.since, news) = (true, now, true);
            self.before = used(controller.disk(number), now);
            let first = volume.first_held(self.member);
            let op = first.map(|(op, _)| op).or(volume.serving(self.member).0).unwrap_or(Op::Read);
            let cause = first.and_then(|(_, stream)| causes.get(&stream).copied());
            controller.begin(now, number, op, cause.unwrap_or_else(|| usual(op, stream_of(first))));
        } else if !wanted && self.wanted {
            self.visits.add(self.visit(controller.disk(number), now), self.clock(now));
            (self.wanted, news) = (false, true);
            controller.end(now, number);
        }
        let ready = controller.disk(number).is_ready();
        if ready && volume.is_resting(self.member) && self.wanted {
            let waited = now.saturating_sub(self.since);
            self.late.times += 1;
            self.late.sum += waited;
            self.late.most = self.late.most.max(waited);
        }
        volume.set_resting(now, self.member, !ready);
        if ready && self.wanted {
            let state = controller.disk(number).state();
            match volume.serving(self.member).0 {
                Some(Op::Read) if state != PowerState::Read => controller.turn(now, number, Op::Read),
                Some(Op::Write) if state != PowerState::Write => controller.turn(now, number, Op::Write),
                None if state != PowerState::Idle => controller.pause(now, number),
                _ => {}
            }
        }
        if self.leaves && self.off_since.is_none() && volume.serving(self.member).1 {
            controller.switch_off(now, number);
            volume.set_resting(now, self.member, true);
            self.off_since = Some(now);
            return true;
        }
        news
    }
    /// Time with power: a clock that stands while there is none, as a disk without power can save nothing, and until
    /// the disk is ready with it.
    fn clock(&self, now: Time) -> Time {
        let until = self.off_since.map_or(now, |since| since.min(now));
        until.saturating_sub(self.off)
    }
    /// What it has been asked for since it had nothing to do.
    fn visit(&self, power: &DiskPower, now: Time) -> Visit {
        let (read, write) = used(power, now);
        let (read, write) = (read.saturating_sub(self.before.0), write.saturating_sub(self.before.1));
        let profile = power.profile();
        let energy = profile.read.over(read) + profile.write.over(write);
        Visit { at: self.clock(self.since), service: read + write, energy }
    }
}

/// How long a disk has read and written.
fn used(power: &DiskPower, now: Time) -> (Time, Time) {
    let times = power.times(now);
    (times[PowerState::Read.index()], times[PowerState::Write.index()])
}

fn stream_of(first: Option<(Op, Stream)>) -> Option<Stream> {
    first.map(|(_, stream)| stream)
}

/// The usual reason of a request. What belongs to no node is an array's own: a spare is filled.
fn usual(op: Op, stream: Option<Stream>) -> Cause {
    match op {
        _ if stream.is_some_and(|stream| stream.node == u32::MAX) => Cause::Recovery,
        Op::Read => Cause::Read,
        Op::Write => Cause::Write,
    }
}
