//! The power states of one disk, what it has drawn, and what woke it.

use super::profile::{Depth, Profile};
use crate::disk::Op;
use units::{Energy, Power, Time};

/// Why a disk was woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// A read of a replica that only sleeping disks had.
    Read,
    /// A write of a replica.
    Write,
    /// A read by a node that helps a slower one.
    Helping,
    /// The prediction: the node's primary blocks are about to be used up.
    Predicted,
    /// The last primary block was fetched.
    LastBlock,
    /// A primary disk has failed.
    PrimaryFailed,
    /// A primary disk is expected to fail.
    FailureExpected,
    /// Data are imported.
    Import,
    /// Lost replicas are made again.
    Recovery,
    /// More gears are needed.
    Gear,
    /// The writes are many.
    WriteIntensive,
    /// The off-load log is emptied.
    Flush,
    /// A planned window for background work.
    Window,
    /// Background work at a time of its own, by the place of its description.
    Background(u8),
    /// The node, or the disk in place of one that had failed, is switched on.
    PowerOn,
}

impl Cause {
    /// How many kinds there are, background work counted once.
    pub const KINDS: usize = 15;
    /// Its kind, below [`Cause::KINDS`].
    pub const fn kind(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Helping => 2,
            Self::Predicted => 3,
            Self::LastBlock => 4,
            Self::PrimaryFailed => 5,
            Self::FailureExpected => 6,
            Self::Import => 7,
            Self::Recovery => 8,
            Self::Gear => 9,
            Self::WriteIntensive => 10,
            Self::Flush => 11,
            Self::Window => 12,
            Self::Background(_) => 13,
            Self::PowerOn => 14,
        }
    }
    /// The name of a kind.
    pub const fn kind_name(kind: usize) -> &'static str {
        match kind {
            0 => "read",
            1 => "write",
            2 => "helping",
            3 => "predicted",
            4 => "last block",
            5 => "primary failed",
            6 => "failure expected",
            7 => "import",
            8 => "recovery",
            9 => "gear",
            10 => "write-intensive",
            11 => "flush",
            12 => "window",
            13 => "background",
            _ => "power on",
        }
    }
    /// Its name.
    pub const fn name(self) -> &'static str {
        Self::kind_name(self.kind())
    }
}

/// A state that a disk draws power in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PowerState {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Ready, with nothing to do.
    Idle,
    /// On the way down to a depth.
    Down(Depth),
    /// At rest.
    Rest(Depth),
    /// On the way up from a depth.
    Up(Depth),
    /// Without power: its node is down, or it has failed.
    Off,
}

impl PowerState {
    /// How many there are.
    pub const COUNT: usize = 13;
    /// All of them, by [`PowerState::index`].
    pub const ALL: [Self; Self::COUNT] = [
        Self::Read,
        Self::Write,
        Self::Idle,
        Self::Down(Depth::IdleB),
        Self::Down(Depth::IdleC),
        Self::Down(Depth::Standby),
        Self::Rest(Depth::IdleB),
        Self::Rest(Depth::IdleC),
        Self::Rest(Depth::Standby),
        Self::Up(Depth::IdleB),
        Self::Up(Depth::IdleC),
        Self::Up(Depth::Standby),
        Self::Off,
    ];
    /// Place in [`PowerState::ALL`].
    pub const fn index(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Idle => 2,
            Self::Down(depth) => 3 + depth.index(),
            Self::Rest(depth) => 6 + depth.index(),
            Self::Up(depth) => 9 + depth.index(),
            Self::Off => 12,
        }
    }
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Idle => "idle",
            Self::Down(_) => "down",
            Self::Rest(depth) => depth.name(),
            Self::Up(_) => "up",
            Self::Off => "off",
        }
    }
    /// What a drive draws in it.
    pub fn power(self, profile: &Profile) -> Power {
        let rest = |depth| profile.rest(depth);
        match self {
            Self::Read => profile.read,
            Self::Write => profile.write,
            Self::Idle => profile.idle,
            Self::Down(depth) => rest(depth).map(|rest| rest.down.power()).unwrap_or_default(),
            Self::Rest(depth) => rest(depth).map(|rest| rest.power).unwrap_or_default(),
            Self::Up(depth) => rest(depth).map(|rest| rest.up.power()).unwrap_or_default(),
            Self::Off => Power::default(),
        }
    }
}

/// A move between being ready and at rest, for a page and for whoever asks who woke a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The state from then on; use is counted as idle.
    pub state: PowerState,
    /// Why it was woken, if it was.
    pub cause: Option<Cause>,
}

/// Changes that are kept of one disk. Beyond it they are counted only.
const KEPT: usize = 20_000;

/// The energy of a disk that stays in its state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Drawn {
    /// Energy of the times of all states but the present one.
    others: Energy,
    /// What it draws in the present state.
    power: Power,
    /// How long it had been in it, in all, before `since`.
    before: Time,
    /// Since when times are not counted.
    since: Time,
}

impl Drawn {
    /// Energy up to `now`: the sum over the states of power times time.
    pub fn at(&self, now: Time) -> Energy {
        self.others + self.power.over(self.before + now.saturating_sub(self.since))
    }
}

/// The power of one disk.
#[derive(Clone, Debug)]
pub struct DiskPower {
    profile: Profile,
    state: PowerState,
    /// The end of a move.
    until: Time,
    /// Wanted awake while still on the way down.
    wanted: Option<Cause>,
    /// What it was last woken for.
    woken_for: Option<Cause>,
    times: [Time; PowerState::COUNT],
    drawn: Drawn,
    wakes: [[u32; Cause::KINDS]; 3],
    changes: Vec<Change>,
}

impl DiskPower {
    /// A disk that is ready.
    pub fn new(profile: Profile, now: Time) -> Self {
        Self {
            profile,
            state: PowerState::Idle,
            until: Time::MAX,
            wanted: None,
            woken_for: None,
            times: [Time::ZERO; PowerState::COUNT],
            drawn: Drawn { power: profile.idle, since: now, ..Drawn::default() },
            wakes: [[0; Cause::KINDS]; 3],
            changes: Vec::new(),
        }
    }
    /// Its profile.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }
    /// What it does.
    pub const fn state(&self) -> PowerState {
        self.state
    }
    /// Whether it can serve a request at once.
    pub const fn is_ready(&self) -> bool {
        matches!(self.state, PowerState::Read | PowerState::Write | PowerState::Idle)
    }
    /// Whether it rests and nobody has asked for it.
    pub const fn is_resting(&self) -> bool {
        match self.state {
            PowerState::Rest(_) => true,
            PowerState::Down(_) => self.wanted.is_none(),
            _ => false,
        }
    }
    /// Whether its motor is on the way up.
    pub const fn is_starting(&self) -> bool {
        matches!(self.state, PowerState::Up(Depth::Standby))
    }
    /// Serves from now on; only where it is ready.
    pub fn serve(&mut self, now: Time, op: Op) {
        if self.is_ready() {
            self.become_state(now, if op == Op::Read { PowerState::Read } else { PowerState::Write });
        }
    }
    /// Has nothing to serve any more.
    pub fn stop(&mut self, now: Time) {
        if self.is_ready() {
            self.become_state(now, PowerState::Idle);
        }
    }
    /// Goes to a depth; false where it is not idle, deeper already, or has no such depth.
    pub fn rest(&mut self, now: Time, depth: Depth) -> bool {
        let Some(rest) = self.profile.rest(depth).copied() else { return false };
        let allowed = match self.state {
            PowerState::Idle => true,
            PowerState::Rest(from) => from < depth,
            _ => false,
        };
        if allowed {
            self.note(now, PowerState::Down(depth), None);
            self.until = now + rest.down.time;
            self.on_timer(now);
        }
        allowed
    }
    /// Loses its power, whatever it does.
    pub fn switch_off(&mut self, now: Time) {
        if self.state != PowerState::Off {
            (self.until, self.wanted) = (Time::MAX, None);
            self.note(now, PowerState::Off, None);
        }
    }
    /// Gets its power back: it is in standby, or ready at once if it has none.
    pub fn switch_on(&mut self, now: Time) {
        if self.state == PowerState::Off {
            if self.profile.rest(Depth::Standby).is_some() {
                self.note(now, PowerState::Rest(Depth::Standby), None);
            } else {
                self.note(now, PowerState::Idle, Some(Cause::PowerOn));
            }
        }
    }
    /// Is wanted; returns whether that was news to it.
    pub fn wake(&mut self, now: Time, cause: Cause) -> bool {
        match self.state {
            PowerState::Rest(depth) => {
                self.rise(now, depth, cause);
                true
            }
            PowerState::Down(_) if self.wanted.is_none() => {
                self.wanted = Some(cause);
                true
            }
            _ => false,
        }
    }
    /// Was found ready, whenever its move was to end.
    pub fn found_ready(&mut self, now: Time) {
        if !self.is_ready() {
            (self.until, self.wanted) = (Time::MAX, None);
            self.note(now, PowerState::Idle, None);
        }
    }
    /// Was found at rest, without having been told to.
    pub fn found_at_rest(&mut self, now: Time, depth: Depth) {
        if self.state != PowerState::Rest(depth) && self.profile.rest(depth).is_some() {
            (self.until, self.wanted) = (Time::MAX, None);
            self.note(now, PowerState::Rest(depth), None);
        }
    }
    /// What it was last woken for, of all that was told of.
    pub const fn woken_for(&self) -> Option<Cause> {
        self.woken_for
    }
    /// When a move ends; never while it makes none.
    pub const fn deadline(&self) -> Time {
        self.until
    }
    /// Ends a move that is over; returns whether the disk has become ready.
    pub fn on_timer(&mut self, now: Time) -> bool {
        if now < self.until {
            return false;
        }
        self.until = Time::MAX;
        match self.state {
            PowerState::Down(depth) => {
                self.note(now, PowerState::Rest(depth), None);
                if let Some(cause) = self.wanted.take() {
                    self.rise(now, depth, cause);
                }
                self.is_ready()
            }
            PowerState::Up(_) => {
                self.note(now, PowerState::Idle, None);
                true
            }
            _ => false,
        }
    }
    fn rise(&mut self, now: Time, depth: Depth, cause: Cause) {
        self.wakes[depth.index()][cause.kind()] += 1;
        self.woken_for = Some(cause);
        self.note(now, PowerState::Up(depth), Some(cause));
        self.until = now + self.profile.rest(depth).map_or(Time::ZERO, |rest| rest.up.time);
        self.on_timer(now);
    }
    fn note(&mut self, now: Time, state: PowerState, cause: Option<Cause>) {
        self.become_state(now, state);
        if self.changes.len() < KEPT {
            self.changes.push(Change { at: now, state, cause });
        }
    }
    fn become_state(&mut self, now: Time, state: PowerState) {
        let Drawn { others, power, before, since } = &mut self.drawn;
        self.times[self.state.index()] += now.saturating_sub(*since);
        *since = now.max(*since);
        if state != self.state {
            let left = power.over(self.times[self.state.index()]);
            (self.state, *power) = (state, state.power(&self.profile));
            *others = (*others + left).saturating_sub(power.over(self.times[state.index()]));
        }
        *before = self.times[self.state.index()];
    }
    /// Time in each state up to `now`, by [`PowerState::index`]; together, the time since the start.
    pub fn times(&self, now: Time) -> [Time; PowerState::COUNT] {
        let mut times = self.times;
        times[self.state.index()] += now.saturating_sub(self.drawn.since);
        times
    }
    /// Energy up to `now`.
    pub fn energy(&self, now: Time) -> Energy {
        self.drawn.at(now)
    }
    /// Its energy as long as it stays in its state.
    pub const fn drawn(&self) -> Drawn {
        self.drawn
    }
    /// How often it was woken out of a depth, by kind of cause.
    pub const fn wakes(&self, depth: Depth) -> &[u32; Cause::KINDS] {
        &self.wakes[depth.index()]
    }
    /// How often its motor was started.
    pub fn starts(&self) -> u32 {
        self.wakes[Depth::Standby.index()].iter().sum()
    }
    /// Its moves, oldest first; the first 20,000.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}
