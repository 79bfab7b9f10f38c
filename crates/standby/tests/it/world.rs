//! A disk and its driver as they really are, around a machine that knows nothing of it but what it is told.

use standby::{Counters, DiskSpec, Effect, Event, Journal, Machine, Seen, Spec};
use std::collections::VecDeque;
use storage::power::{Depth, Drive, Policy, Profile, Settings, StartEstimate};
use units::Time;

pub const S: Time = Time::from_secs(1);

pub fn profile() -> Profile {
    let mut profile = Drive::named("constellation-es3-4tb").expect("a drive").profile(StartEstimate::Typical);
    // No driver reaches the states above standby.
    (profile.rests[Depth::IdleB.index()], profile.rests[Depth::IdleC.index()]) = (None, None);
    profile
}

pub fn spec(policy: Policy) -> Spec {
    Spec {
        settings: Settings::of(policy),
        guard: None,
        check: S * 30,
        lapse: S * 3_600,
        wake_at_end: true,
        disks: vec![DiskSpec { name: "backup".to_owned(), profile: profile(), gear: 1 }],
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Motor {
    Turns,
    Stands,
    Starts(Time),
}

/// A request of a program, or a command past the block layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    Read,
    Write,
    Flush,
    Discard,
    /// START STOP UNIT by another program.
    Start,
    /// A page of SMART, which a disk in standby answers.
    Page,
}

pub struct World {
    pub now: Time,
    pub machine: Machine,
    pub counters: Counters,
    motor: Motor,
    waiting: Vec<Request>,
    /// How long a start takes, and an answer of the driver.
    pub start: Time,
    pub latency: Time,
    /// The driver's own commands count as reads, as on Linux before 6.13.
    pub counted: bool,
    errands: VecDeque<(Time, Effect)>,
    pub kept: Journal,
    pub told: Vec<Event>,
    /// When the disk was really put to rest by the machine.
    pub rests: Vec<Time>,
    sample_at: Time,
    spec: Spec,
    /// The driver cannot say what the disk does.
    pub blind: bool,
    /// Since when this life's time counts.
    born: Time,
    /// How finely time passes.
    pub step: Time,
}

impl World {
    pub fn new(spec: Spec) -> Self {
        let kept = Journal::new("boot-1");
        let machine = Machine::new(spec.clone(), &kept, "boot-1", Time::ZERO).expect("settings");
        Self {
            now: Time::ZERO,
            machine,
            counters: Counters::default(),
            motor: Motor::Turns,
            waiting: Vec::new(),
            start: S * 8,
            latency: Time::from_ms(200),
            counted: true,
            errands: VecDeque::new(),
            kept,
            told: Vec::new(),
            rests: Vec::new(),
            sample_at: Time::ZERO,
            spec,
            blind: false,
            born: Time::ZERO,
            step: Time::from_ms(100),
        }
    }
    pub fn stands(&self) -> bool {
        self.motor == Motor::Stands
    }
    pub fn turns(&self) -> bool {
        self.motor == Motor::Turns
    }
    /// Put to rest by somebody else, or by a timer of its own.
    pub fn stop_outside(&mut self) {
        if self.motor == Motor::Turns && self.waiting.is_empty() {
            self.motor = Motor::Stands;
        }
    }
    pub fn request(&mut self, request: Request) {
        if request == Request::Page {
            (self.counters.reads, self.counters.read_sectors) =
                (self.counters.reads + 1, self.counters.read_sectors + 1);
            return;
        }
        self.waiting.push(request);
        self.in_flight();
        self.rise();
        self.serve();
    }
    fn in_flight(&mut self) {
        let count = |what: &[Request]| self.waiting.iter().filter(|one| what.contains(one)).count() as u64;
        // A command of another program is in flight as a read.
        let (reading, writing) = (count(&[Request::Read, Request::Start]), count(&[Request::Write]));
        (self.counters.reading, self.counters.writing) = (reading, writing);
    }
    fn rise(&mut self) {
        if self.motor == Motor::Stands {
            self.motor = Motor::Starts(self.now + self.start);
        }
    }
    fn serve(&mut self) {
        if matches!(self.motor, Motor::Starts(until) if until <= self.now) {
            self.motor = Motor::Turns;
        }
        if self.motor != Motor::Turns {
            return;
        }
        for request in std::mem::take(&mut self.waiting) {
            let own = &mut self.counters;
            match request {
                Request::Read => (own.reads, own.read_sectors) = (own.reads + 1, own.read_sectors + 256),
                Request::Write => (own.writes, own.written_sectors) = (own.writes + 1, own.written_sectors + 8),
                Request::Flush => own.flushes += 1,
                Request::Discard => own.discards += 1,
                Request::Start => own.reads += 1,
                Request::Page => {}
            }
        }
        self.in_flight();
    }
    fn since(&self) -> Time {
        self.now.saturating_sub(self.born)
    }
    fn effects(&mut self) {
        loop {
            let effects = self.machine.effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    Effect::Keep => self.kept = self.machine.journal(self.since()),
                    Effect::Tell(event) => self.told.push(event),
                    effect => self.errands.push_back((self.now + self.latency, effect)),
                }
            }
        }
    }
    fn errand(&mut self, effect: &Effect) -> bool {
        if self.counted {
            self.counters.reads += 1;
        }
        let now = self.since();
        match effect {
            Effect::Look(disk) => {
                let seen = match self.motor {
                    _ if self.blind => Seen::Unknown("no answer".to_owned()),
                    Motor::Turns => Seen::Awake,
                    Motor::Stands | Motor::Starts(_) => Seen::Standby,
                };
                self.machine.looked(now, *disk, seen, Ok(self.counters));
            }
            Effect::Rest(disk) => {
                self.rests.push(self.now);
                self.stop_outside();
                self.machine.done(now, *disk, Ok(()));
            }
            Effect::Wake(disk) => {
                self.rise();
                // The program waits until the disk is ready.
                if self.motor != Motor::Turns {
                    return false;
                }
                self.machine.done(now, *disk, Ok(()));
            }
            _ => {}
        }
        true
    }
    pub fn step(&mut self) {
        self.now += self.step;
        self.serve();
        while let Some((at, effect)) = self.errands.front().cloned() {
            if at > self.now || !self.errand(&effect) {
                break;
            }
            self.errands.pop_front();
            self.effects();
        }
        if self.sample_at <= self.now {
            self.sample_at = self.now + S;
            self.machine.sampled(self.since(), 0, Ok(self.counters));
        }
        self.machine.on_timer(self.since());
        self.effects();
    }
    pub fn run(&mut self, time: Time) {
        let until = self.now + time;
        while self.now < until {
            self.step();
        }
    }
    /// Runs until something holds, for so long at most.
    pub fn until(&mut self, most: Time, holds: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + most;
        while self.now < end && !holds(self) {
            self.step();
        }
        holds(self)
    }
    /// Kills the daemon. What it has told a driver is done all the same, if it is `reached`.
    pub fn kill(&mut self, reached: bool) {
        for (_, effect) in std::mem::take(&mut self.errands) {
            match effect {
                Effect::Rest(_) if reached => {
                    self.rests.push(self.now);
                    self.stop_outside();
                }
                Effect::Wake(_) if reached => self.rise(),
                _ => {}
            }
        }
    }
    /// Starts another, some time after.
    pub fn start_again(&mut self, boot: &str) {
        self.born = self.now;
        self.sample_at = self.now;
        self.machine = Machine::new(self.spec.clone(), &self.kept, boot, Time::ZERO).expect("settings");
        self.effects();
    }
    /// The machine was switched off and on: counters begin anew, motors turn.
    pub fn boot(&mut self) {
        self.counters = Counters::default();
        (self.motor, self.waiting) = (Motor::Turns, Vec::new());
    }
    /// Time without a daemon.
    pub fn pass(&mut self, time: Time) {
        self.now += time;
        self.serve();
    }
    /// The causes of all wakes that were told.
    pub fn causes(&self) -> Vec<&str> {
        let told = self.told.iter();
        told.filter_map(|event| if let Event::Wake { cause, .. } = event { Some(cause.as_str()) } else { None })
            .collect()
    }
    pub fn seen(&self) -> Option<&Seen> {
        self.machine.seen(0)
    }
}
