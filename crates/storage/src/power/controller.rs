//! The disks of a node under a policy: what asks for them, when they rest, when they are ready.
//!
//! The owner says when a disk has requests ([`Controller::begin`]) and when it has none left ([`Controller::end`]), and
//! hands on what it knows of the node's work ([`Hint`]). A request for a disk at rest wakes it; the owner holds the
//! request until [`Controller::on_timer`] reports the disk.

use super::budget::Bucket;
use super::machine::{Cause, DiskPower, PowerState};
use super::policy::{Hint, Ladder, Phase, Policy, PolicyError, Settings, envelope};
use super::profile::{Depth, Profile};
use crate::disk::Op;
use std::collections::VecDeque;
use units::{Energy, Time};

/// Share of the break-even time from which, and multiple up to which, the adaptive timeout moves.
const ADAPTS: u64 = 8;

/// A disk under a policy.
#[derive(Clone, Debug)]
struct Seat {
    power: DiskPower,
    /// 0 for a primary disk, else the replica that it holds.
    gear: u32,
    ladder: Ladder,
    /// Since when it has had no request; `None` while it has.
    idle: Option<Time>,
    /// Must not rest, for this cause.
    held: bool,
    /// Rests as soon as it is idle.
    dismissed: bool,
    starts: Option<Bucket>,
    loads: Option<Bucket>,
    /// When the present or last rest began.
    rested: Time,
    /// The adaptive timeout.
    timeout: Time,
    /// Waits for its turn to start.
    waits: bool,
}

/// The disks of a group, such as a node, under a policy.
#[derive(Clone, Debug)]
pub struct Controller {
    settings: Settings,
    seats: Vec<Seat>,
    /// Disks that wait until fewer motors start.
    waiting: VecDeque<(u32, Cause)>,
    phase: Phase,
    write_intensive: bool,
    /// Backups are up for a primary that has failed, until recovery is over.
    alarmed: bool,
    /// Backups are up for a primary that is expected to fail, until it has failed and recovery is over.
    expecting: bool,
    /// Gears in use; the primaries alone are one.
    gears: u32,
    /// Longest wait for other motors.
    waited_most: Time,
    since: Vec<Time>,
}

impl Controller {
    /// Disks that are ready, each with its gear: 0 for primaries, n for backups of the n-th further replica.
    pub fn new(settings: Settings, disks: &[(Profile, u32)], now: Time) -> Result<Self, PolicyError> {
        settings.check()?;
        let seats: Vec<Seat> = disks.iter().map(|(profile, gear)| Seat::new(&settings, *profile, *gear, now)).collect();
        let since = vec![Time::ZERO; seats.len()];
        Ok(Self {
            settings,
            seats,
            waiting: VecDeque::new(),
            phase: Phase::Jobs,
            write_intensive: false,
            alarmed: false,
            expecting: false,
            gears: 1,
            waited_most: Time::ZERO,
            since,
        })
    }
    /// Disks of the group.
    pub fn disk_count(&self) -> usize {
        self.seats.len()
    }
    /// The power of a disk.
    pub fn disk(&self, disk: u32) -> &DiskPower {
        &self.seats[disk as usize].power
    }
    /// Its gear: 0 for a primary disk.
    pub fn gear(&self, disk: u32) -> u32 {
        self.seats[disk as usize].gear
    }
    /// Energy of all disks.
    pub fn energy(&self, now: Time) -> Energy {
        self.seats.iter().map(|seat| seat.power.energy(now)).sum()
    }
    /// A disk has a request. True if it may start at once; else it is woken, and reported when it is ready.
    pub fn begin(&mut self, now: Time, disk: u32, op: Op, cause: Cause) -> bool {
        let seat = &mut self.seats[disk as usize];
        if seat.idle.take().is_some() {
            seat.adapt(now, self.settings.policy);
        }
        if seat.power.is_ready() {
            seat.power.serve(now, op);
            return true;
        }
        self.wake(now, disk, cause);
        self.seats[disk as usize].power.is_ready()
    }
    /// The direction of what a disk is doing changes.
    pub fn turn(&mut self, now: Time, disk: u32, op: Op) {
        self.seats[disk as usize].power.serve(now, op);
    }
    /// A disk has requests and serves none for a moment.
    pub fn pause(&mut self, now: Time, disk: u32) {
        self.seats[disk as usize].power.stop(now);
    }
    /// A disk loses its power: its node is down, or it has failed. What it has to do waits, and what keeps it up does so
    /// when its power is back.
    pub fn switch_off(&mut self, now: Time, disk: u32) {
        let seat = &mut self.seats[disk as usize];
        seat.power.switch_off(now);
        seat.dismissed = false;
        self.forget_turn(disk);
        self.start_waiting(now);
    }
    /// A disk gets its power back, and starts when it is its motor's turn.
    pub fn switch_on(&mut self, now: Time, disk: u32) {
        let seat = &mut self.seats[disk as usize];
        seat.power.switch_on(now);
        if seat.idle.is_some() {
            seat.idle = Some(now);
        }
        self.wake(now, disk, Cause::PowerOn);
    }
    /// A real disk was found ready, whatever it was thought to do. Its idle time begins anew.
    pub fn found_ready(&mut self, now: Time, disk: u32) {
        self.forget_turn(disk);
        let seat = &mut self.seats[disk as usize];
        if seat.power.is_ready() {
            return;
        }
        seat.power.found_ready(now);
        if seat.idle.is_some() {
            seat.idle = Some(now);
        }
    }
    /// A real disk was found in standby. That costs a token, whoever has put it there, because a start will follow;
    /// unless it is `paid`, by an earlier life of a daemon.
    pub fn found_in_standby(&mut self, now: Time, disk: u32, paid: bool) {
        let seat = &mut self.seats[disk as usize];
        if seat.resting() == Some(Depth::Standby) {
            return;
        }
        if let Some(starts) = seat.starts.as_mut().filter(|_| !paid) {
            starts.spend(now);
        }
        seat.power.found_at_rest(now, Depth::Standby);
        (seat.rested, seat.dismissed) = (now, false);
    }
    /// Whether a disk must not rest, whatever its requests.
    pub fn is_held(&self, disk: u32) -> bool {
        self.seats[disk as usize].held
    }
    /// The starts that a disk's wear budget has left, in millionths; `None` without a budget.
    pub fn starts_left(&self, now: Time, disk: u32) -> Option<u64> {
        self.seats[disk as usize].starts.map(|bucket| bucket.millionths(now))
    }
    /// A disk has at most so many millionths of a start left: what an earlier life of a daemon has not used.
    pub fn limit_starts(&mut self, now: Time, disk: u32, millionths: u64) {
        if let Some(starts) = &mut self.seats[disk as usize].starts {
            starts.limit(now, millionths);
        }
    }
    /// The settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
    /// What goes on in the cluster, as far as it was told.
    pub const fn phase(&self) -> Phase {
        self.phase
    }
    /// Longest that a start was put off for other motors.
    pub const fn waited_most(&self) -> Time {
        self.waited_most
    }
    /// A disk has no request left.
    pub fn end(&mut self, now: Time, disk: u32) {
        let seat = &mut self.seats[disk as usize];
        if seat.idle.is_none() {
            seat.power.stop(now);
            seat.idle = Some(now);
            self.settle(now, disk);
        }
    }

    /// The node's work goes on.
    pub fn hint(&mut self, now: Time, hint: Hint) {
        if self.settings.policy == Policy::AlwaysOn {
            return;
        }
        match (hint, self.settings.policy) {
            (Hint::Progress { left, each, helping: true }, Policy::Predicted { margin }) => {
                let left = each.saturating_mul(u64::from(left));
                for disk in self.backups() {
                    let rest =
                        self.seats[disk as usize].resting().and_then(|depth| self.disk(disk).profile().rest(depth));
                    if rest.is_some_and(|rest| left <= rest.up.time.saturating_add(margin)) {
                        self.hold(now, disk, Cause::Predicted);
                    }
                }
            }
            (Hint::LastBlock, Policy::AsPrinted) => self.hold_backups(now, Cause::LastBlock),
            (Hint::JobOver, Policy::AsPrinted | Policy::Predicted { .. }) => self.dismiss_backups(now),
            (Hint::Phase(phase), _) => {
                let before = std::mem::replace(&mut self.phase, phase);
                let by_hand = self.is_by_hand();
                if phase == Phase::Jobs && before == Phase::Recovery {
                    let expecting = std::mem::take(&mut self.expecting);
                    if (std::mem::take(&mut self.alarmed) || expecting) && !by_hand {
                        self.dismiss_backups(now);
                    }
                }
                if by_hand && phase != before {
                    match phase {
                        Phase::Import => self.hold_backups(now, Cause::Import),
                        Phase::Recovery => self.hold_backups(now, Cause::Recovery),
                        Phase::Jobs => self.dismiss_backups(now),
                    }
                }
            }
            (Hint::Gears(gears), Policy::Gears) => {
                self.gears = gears;
                for disk in self.backups() {
                    if self.gear(disk) < gears {
                        self.hold(now, disk, Cause::Gear);
                    }
                }
                self.dismiss_backups(now);
            }
            (Hint::PrimaryFailed, _) => {
                self.alarmed = true;
                self.hold_backups(now, Cause::PrimaryFailed);
            }
            (Hint::FailureExpected, _) => {
                self.expecting = true;
                self.hold_backups(now, Cause::FailureExpected);
            }
            (Hint::WriteIntensive(many), _) if many != self.write_intensive => {
                self.write_intensive = many;
                if many { self.hold_backups(now, Cause::WriteIntensive) } else { self.dismiss_backups(now) }
            }
            _ => {}
        }
    }
    /// Wakes a disk ahead of its requests, as for a planned window; it may rest again when it is idle.
    pub fn wake_ahead(&mut self, now: Time, disk: u32, cause: Cause) {
        let seat = &mut self.seats[disk as usize];
        if seat.idle.is_some() {
            seat.idle = Some(now);
        }
        self.wake(now, disk, cause);
    }

    /// When [`Controller::on_timer`] is next due.
    pub fn deadline(&self) -> Time {
        self.seats.iter().map(Seat::deadline).min().unwrap_or(Time::MAX)
    }
    /// Moves end and idle disks step down. Appends the disks that have become ready.
    pub fn on_timer(&mut self, now: Time, ready: &mut Vec<u32>) {
        for disk in 0..self.seats.len() {
            if self.seats[disk].power.on_timer(now) {
                ready.push(units::count(disk));
                let seat = &mut self.seats[disk];
                if seat.idle.is_some() {
                    seat.idle = Some(now);
                }
            }
        }
        self.start_waiting(now);
        for disk in 0..self.seats.len() {
            self.settle(now, units::count(disk));
        }
    }

    /// Whether import and recovery keep backup disks up.
    const fn is_by_hand(&self) -> bool {
        matches!(self.settings.policy, Policy::Phased { .. } | Policy::AsPrinted | Policy::Predicted { .. })
    }
    fn backups(&self) -> Vec<u32> {
        (0..units::count(self.seats.len())).filter(|disk| self.gear(*disk) > 0).collect()
    }
    fn hold_backups(&mut self, now: Time, cause: Cause) {
        for disk in self.backups() {
            self.hold(now, disk, cause);
        }
    }
    /// Backup disks may rest, but for those of gears in use; none as long as something else keeps them up.
    fn dismiss_backups(&mut self, now: Time) {
        let by_phase = self.is_by_hand() && self.phase != Phase::Jobs;
        if by_phase || self.write_intensive || self.alarmed || self.expecting {
            return;
        }
        for disk in self.backups() {
            if self.gear(disk) >= self.gears {
                self.dismiss(now, disk);
            }
        }
    }
    fn hold(&mut self, now: Time, disk: u32, cause: Cause) {
        let seat = &mut self.seats[disk as usize];
        (seat.held, seat.dismissed) = (true, false);
        self.wake(now, disk, cause);
    }
    fn dismiss(&mut self, now: Time, disk: u32) {
        let seat = &mut self.seats[disk as usize];
        (seat.held, seat.dismissed) = (false, true);
        self.settle(now, disk);
    }

    fn wake(&mut self, now: Time, disk: u32, cause: Cause) {
        let full = self.starting() >= self.settings.stagger;
        let seat = &mut self.seats[disk as usize];
        if !seat.power.is_resting() || seat.waits {
            return;
        }
        if full && seat.resting() == Some(Depth::Standby) {
            seat.waits = true;
            self.since[disk as usize] = now;
            self.waiting.push_back((disk, cause));
        } else {
            seat.power.wake(now, cause);
        }
    }
    /// A disk waits no more for its turn to start.
    fn forget_turn(&mut self, disk: u32) {
        self.seats[disk as usize].waits = false;
        self.waiting.retain(|(waiting, _)| *waiting != disk);
    }
    fn starting(&self) -> u32 {
        units::count(self.seats.iter().filter(|seat| seat.power.is_starting()).count())
    }
    fn start_waiting(&mut self, now: Time) {
        while self.starting() < self.settings.stagger {
            let Some((disk, cause)) = self.waiting.pop_front() else { return };
            self.waited_most = self.waited_most.max(now.saturating_sub(self.since[disk as usize]));
            let seat = &mut self.seats[disk as usize];
            seat.waits = false;
            seat.power.wake(now, cause);
        }
    }

    /// An idle disk takes the steps down that are due and have a token.
    fn settle(&mut self, now: Time, disk: u32) {
        let seat = &mut self.seats[disk as usize];
        while let Some((at, depth)) = seat.next_step() {
            if at > now || !seat.is_settled() {
                return;
            }
            let free = seat.is_free(depth);
            if !free && !seat.bucket(depth).is_some_and(|bucket| bucket.take(now)) {
                return;
            }
            seat.power.rest(now, depth);
            (seat.rested, seat.dismissed) = (now, false);
        }
    }
}

impl Seat {
    fn new(settings: &Settings, profile: Profile, gear: u32, now: Time) -> Self {
        let deepest = settings.deepest(gear).and_then(|deepest| reach(&profile, deepest));
        let ladder = match (settings.policy, deepest) {
            (Policy::AlwaysOn, _) | (_, None) => Ladder::new(),
            (Policy::Timeout(Some(after)) | Policy::Phased { timeout: Some(after) }, Some(deepest)) => {
                vec![(after, deepest)]
            }
            (Policy::Adaptive, Some(deepest)) => {
                vec![(profile.break_even(deepest).unwrap_or(Time::MAX), deepest)]
            }
            (_, Some(deepest)) => envelope(&profile, deepest),
        };
        let ladder: Ladder = ladder.into_iter().filter(|(_, depth)| settings.budget(*depth).is_some()).collect();
        let timeout = ladder.last().map_or(Time::MAX, |(at, _)| *at);
        Self {
            power: DiskPower::new(profile, now),
            gear,
            ladder,
            idle: Some(now),
            held: false,
            dismissed: false,
            starts: settings.spin_ups.map(|budget| Bucket::new(budget, now)),
            loads: settings.loads.map(|budget| Bucket::new(budget, now)),
            rested: now,
            timeout,
            waits: false,
        }
    }
    /// The depth that it is in or on the way to.
    const fn resting(&self) -> Option<Depth> {
        match self.power.state() {
            PowerState::Rest(depth) | PowerState::Down(depth) => Some(depth),
            _ => None,
        }
    }
    /// Neither in use nor on the move.
    const fn is_settled(&self) -> bool {
        matches!(self.power.state(), PowerState::Idle | PowerState::Rest(_))
    }
    /// Going there wears nothing: the heads are parked already.
    const fn is_free(&self, depth: Depth) -> bool {
        !matches!(depth, Depth::Standby) && matches!(self.power.state(), PowerState::Rest(_))
    }
    const fn bucket(&mut self, depth: Depth) -> Option<&mut Bucket> {
        match depth {
            Depth::Standby => self.starts.as_mut(),
            Depth::IdleB | Depth::IdleC => self.loads.as_mut(),
        }
    }
    /// When an idle disk's next step down is due, and to where.
    fn next_step(&self) -> Option<(Time, Depth)> {
        let since = self.idle.filter(|_| !self.held && !self.waits)?;
        let deeper = |step: &&(Time, Depth)| self.resting().is_none_or(|from| from < step.1);
        if self.dismissed {
            // At once, and as deep as it may.
            return self.ladder.last().filter(deeper).map(|(_, depth)| (since, *depth));
        }
        let (after, depth) = self.ladder.iter().find(deeper)?;
        let after = if self.ladder.len() == 1 { self.timeout } else { *after };
        Some((since.saturating_add(after), *depth))
    }
    fn deadline(&self) -> Time {
        let step = self.next_step().filter(|_| self.is_settled()).map_or(Time::MAX, |(at, depth)| {
            if self.is_free(depth) {
                return at;
            }
            // Not before there is a token.
            let bucket = if depth == Depth::Standby { self.starts } else { self.loads };
            bucket.map_or(Time::MAX, |mut bucket| bucket.next(at))
        });
        step.min(self.power.deadline())
    }
    /// A request has come after an idle interval.
    fn adapt(&mut self, now: Time, policy: Policy) {
        if policy != Policy::Adaptive {
            return;
        }
        let Some((even, _)) = self.ladder.first().copied() else { return };
        if self.resting().is_some() {
            let paid = now.saturating_sub(self.rested) >= even;
            let next = if paid { self.timeout / 2 } else { self.timeout.saturating_mul(2) };
            self.timeout = next.clamp(even / ADAPTS, even.saturating_mul(ADAPTS));
        }
    }
}

/// The deepest depth that the drive has and that is not below `deepest`.
fn reach(profile: &Profile, deepest: Depth) -> Option<Depth> {
    Depth::ALL.into_iter().rev().find(|depth| *depth <= deepest && profile.rest(*depth).is_some())
}
