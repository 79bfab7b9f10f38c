//! What the daemon does, without I/O: the policy decides, what the disks are found to do overrules it.
//!
//! The owner hands in counters ([`Machine::sampled`]), what a disk's driver says of its state ([`Machine::looked`]),
//! what became of a command ([`Machine::done`]), hints, and the time. It carries out the [`Effect`]s, in their order.
//!
//! A disk whose state is not known is in use for the policy, and is told nothing. A disk is put to rest only if it has
//! just been found ready with nothing to do. Each disk has at most one errand with its driver at a time.

use super::counters::{Counters, Io};
use super::event::{Effect, Event, Seen, Who};
use super::journal::{Journal, KeptDisk, KeptRest, Ledger};
use storage::Op;
use storage::power::{
    Cause, Controller, GuardSpec, Hint, Phase, PolicyError, PowerState, Profile, Settings, WriteGuard,
};
use units::{Bytes, Time};

/// After a command that failed, the next one waits.
const RETRY: Time = Time::from_secs(10);
/// A disk that starts has requests in flight; what they are shows when they are done, for so long at most.
const PATIENCE: Time = Time::from_secs(120);
/// A disk that is on its way is looked at so often.
const SOON: Time = Time::from_secs(1);

/// The cause of a wake by a start of the machine.
const BOOT: &str = "boot";

/// A disk under the daemon.
#[derive(Clone, PartialEq, Debug)]
pub struct DiskSpec {
    /// Its name, in the journal too.
    pub name: String,
    /// What its drive draws and how long it takes to start.
    pub profile: Profile,
    /// Which replica it holds, less one: 1 or more.
    pub gear: u32,
}

/// What the daemon is to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    /// The policy and its limits.
    pub settings: Settings,
    /// When backups stay ready because writes are many.
    pub guard: Option<GuardSpec>,
    /// Between two looks at the state of a disk that nothing else has shown.
    pub check: Time,
    /// How long hints hold that are not given again; a failed primary's holds until recovery is over.
    pub lapse: Time,
    /// Disks are woken at the end.
    pub wake_at_end: bool,
    /// The disks.
    pub disks: Vec<DiskSpec>,
}

/// An errand of a disk with its driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Errand {
    /// To see what it does.
    Look,
    /// To see that it is ready and has nothing to do, before it is put to rest.
    Confirm,
    /// It is being put to rest.
    Rest,
    /// To see whether it rests now.
    Settle,
    /// It is being woken.
    Wake,
}

/// A rest.
#[derive(Clone, Debug)]
struct Rest {
    own: bool,
    /// Requests that these count have not woken it.
    base: Counters,
    since: Time,
    /// Of an earlier life, and not seen since.
    away: bool,
    /// It was told to, and nobody has seen whether it did.
    unsure: bool,
    /// Something has come to it, first seen then.
    stirred: Option<Time>,
    /// The policy takes it for awake, because it seemed to be used.
    touched: bool,
    /// What was in flight then: reads, writes.
    first: (bool, bool),
    /// What the daemon wakes it for.
    waking: Option<(String, Option<Who>)>,
}

#[derive(Debug)]
struct Disk {
    name: String,
    seen: Option<Seen>,
    rest: Option<Rest>,
    errand: Option<Errand>,
    /// The counters when they were last read.
    last: Option<Counters>,
    /// The counters that were known when the driver was last asked for the state.
    asked: Option<Counters>,
    /// In use, as the policy was told.
    busy: bool,
    /// Requests are in flight or have come since the sample before.
    active: bool,
    look_at: Time,
    /// No command before.
    command_at: Time,
    ledger: Ledger,
}

/// The daemon.
#[derive(Debug)]
pub struct Machine {
    spec: Spec,
    controller: Controller,
    disks: Vec<Disk>,
    guard: Option<WriteGuard>,
    boot: String,
    /// Who gave the last hint, by the kind of what it wakes for.
    hinted: [Option<Who>; Cause::KINDS],
    lapses: Time,
    ending: bool,
    effects: Vec<Effect>,
    ready: Vec<u32>,
}

impl Machine {
    /// With what an earlier life has kept. `boot` names this start of the machine.
    pub fn new(spec: Spec, kept: &Journal, boot: &str, now: Time) -> Result<Self, PolicyError> {
        let disks: Vec<(Profile, u32)> = spec.disks.iter().map(|disk| (disk.profile, disk.gear)).collect();
        let mut controller = Controller::new(spec.settings, &disks, now)?;
        let same_boot = kept.boot == boot;
        let mut own = Vec::new();
        for (number, disk) in (0..).zip(&spec.disks) {
            // In use until it is known what it does.
            controller.begin(now, number, Op::Read, Cause::Read);
            let kept = kept.disks.get(&disk.name).cloned().unwrap_or_default();
            if let Some(left) = kept.starts_left {
                controller.limit_starts(now, number, left);
            }
            let rest = kept.rest.map(|rest| {
                let boot = (!same_boot).then(|| (BOOT.to_owned(), None));
                let waking = boot.or_else(|| rest.waking.map(|cause| (cause, None)));
                Rest { away: true, touched: true, unsure: rest.unsure, waking, ..Rest::new(rest.own, rest.base, now) }
            });
            own.push(Disk {
                name: disk.name.clone(),
                seen: None,
                rest,
                errand: None,
                last: None,
                asked: None,
                busy: true,
                active: false,
                look_at: now,
                command_at: now,
                ledger: kept.ledger,
            });
        }
        let guard = spec.guard.and_then(|guard| WriteGuard::new(guard, now));
        let boot = boot.to_owned();
        Ok(Self {
            spec,
            controller,
            disks: own,
            guard,
            boot,
            hinted: [None; Cause::KINDS],
            lapses: Time::MAX,
            ending: false,
            effects: Vec::new(),
            ready: Vec::new(),
        })
    }

    /// What is to be done. The owner carries it out before it calls again.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
    /// When [`Machine::on_timer`] is next due.
    pub fn deadline(&self) -> Time {
        let looks = self.disks.iter().filter(|disk| disk.errand.is_none()).map(|disk| disk.look_at);
        let guard = self.guard.as_ref().map_or(Time::MAX, WriteGuard::deadline);
        looks.min().unwrap_or(Time::MAX).min(guard).min(self.lapses).min(self.controller.deadline())
    }
    /// The time has come.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(many) = self.guard.as_mut().and_then(|guard| guard.on_timer(now)) {
            self.controller.hint(now, Hint::WriteIntensive(many));
        }
        if self.lapses <= now {
            self.lapses = Time::MAX;
            if self.guard.is_none() {
                self.controller.hint(now, Hint::WriteIntensive(false));
            }
            if self.controller.phase() == Phase::Import {
                self.controller.hint(now, Hint::Phase(Phase::Jobs));
            }
            self.controller.hint(now, Hint::Gears(1));
            self.controller.hint(now, Hint::JobOver);
        }
        self.controller.on_timer(now, &mut self.ready);
        self.ready.clear();
        self.step(now);
    }
    /// A disk's counters were read, or could not be.
    pub fn sampled(&mut self, now: Time, disk: usize, counters: Result<Counters, String>) {
        self.count(now, disk, counters);
        self.step(now);
    }
    /// The driver has said what a disk does, and its counters were read after that.
    pub fn looked(&mut self, now: Time, disk: usize, seen: Seen, counters: Result<Counters, String>) {
        let errand = self.disks[disk].errand.take();
        let seen = counters.as_ref().err().map_or(seen, |why| Seen::Unknown(why.clone()));
        // What it did before this is told by the state that it had.
        self.count(now, disk, counters);
        let own = &mut self.disks[disk];
        own.look_at = now + self.spec.check;
        let before = own.seen.replace(seen.clone());
        match seen {
            Seen::Unknown(why) => {
                if !matches!(&before, Some(Seen::Unknown(_))) {
                    let disk = own.name.clone();
                    self.effects.push(Effect::Tell(Event::Unknown { disk, why }));
                }
            }
            Seen::Standby => self.found_at_rest(now, disk, errand == Some(Errand::Settle)),
            Seen::Awake => self.found_awake(now, disk, errand),
        }
        self.use_of(now, disk);
        self.step(now);
    }
    /// A command to a disk has come to its end.
    pub fn done(&mut self, now: Time, disk: usize, result: Result<(), String>) {
        let own = &mut self.disks[disk];
        let errand = own.errand.take();
        if let Err(why) = result {
            let what = if errand == Some(Errand::Rest) { "rest" } else { "wake" };
            let failed = Event::Failed { disk: own.name.clone(), what: what.to_owned(), why };
            own.command_at = now + RETRY;
            self.effects.push(Effect::Tell(failed));
        }
        // Whatever it said: what counts is what the disk does.
        self.look(disk, if errand == Some(Errand::Rest) { Errand::Settle } else { Errand::Look });
        self.step(now);
    }
    /// Somebody who may has told something of the node's work. An error says why it counts for nothing here.
    pub fn hint(&mut self, now: Time, hint: Hint, who: Who) -> Result<(), &'static str> {
        if self.guard.is_some() && matches!(hint, Hint::WriteIntensive(_)) {
            return Err("the guard counts writes itself");
        }
        if let Some(cause) = wakes_for(hint) {
            self.hinted[cause.kind()] = Some(who);
            if !matches!(hint, Hint::PrimaryFailed | Hint::FailureExpected) {
                self.lapses = now.saturating_add(self.spec.lapse);
            }
        }
        self.controller.hint(now, hint);
        self.step(now);
        Ok(())
    }
    /// Somebody who may wants a disk awake, as for a window of background work. It rests again when it is idle.
    pub fn wake(&mut self, now: Time, disk: usize, who: Who) {
        self.hinted[Cause::Window.kind()] = Some(who);
        self.controller.wake_ahead(now, disk as u32, Cause::Window);
        self.step(now);
    }
    /// The daemon is to end: no disk goes to rest any more; those at rest are woken, if they are to be.
    pub fn end(&mut self, now: Time) {
        self.ending = true;
        self.step(now);
    }
    /// Whether nothing is left to do before the end.
    pub fn has_ended(&self) -> bool {
        let over = |disk: &Disk| disk.errand.is_none() && !(self.spec.wake_at_end && disk.seen == Some(Seen::Standby));
        self.ending && self.disks.iter().all(over)
    }
    /// Whether no disk has an errand.
    pub fn is_quiet(&self) -> bool {
        self.disks.iter().all(|disk| disk.errand.is_none())
    }
    /// What is to be kept for the next life.
    pub fn journal(&self, now: Time) -> Journal {
        let mut journal = Journal::new(&self.boot);
        for (number, disk) in (0..).zip(&self.disks) {
            let rest = disk.rest.as_ref().map(|rest| KeptRest {
                own: rest.own,
                unsure: rest.unsure,
                base: rest.base,
                waking: rest.waking.as_ref().map(|(cause, _)| cause.clone()),
            });
            // A disk that is told to rest may do so although nobody comes back to see it.
            let told = disk.errand == Some(Errand::Rest) || disk.errand == Some(Errand::Settle);
            let base = disk.last.unwrap_or_default();
            let told = told.then_some(KeptRest { own: true, unsure: true, base, waking: None });
            let starts_left = self.controller.starts_left(now, number);
            let kept = KeptDisk { starts_left, rest: rest.or(told), ledger: disk.ledger.clone() };
            journal.disks.insert(disk.name.clone(), kept);
        }
        journal
    }
    /// The disks' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.disks.iter().map(|disk| disk.name.as_str())
    }
    /// What a disk was last seen to do.
    pub fn seen(&self, disk: usize) -> Option<&Seen> {
        self.disks[disk].seen.as_ref()
    }
    /// What a disk did so far, the present rest not counted.
    pub fn ledger(&self, disk: usize) -> &Ledger {
        &self.disks[disk].ledger
    }
    /// For how long a disk rests.
    pub fn rests_for(&self, now: Time, disk: usize) -> Option<Time> {
        self.disks[disk].rest.as_ref().map(|rest| now.saturating_sub(rest.since))
    }
    /// The policy, with its view of the disks.
    pub const fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Counters have come.
    fn count(&mut self, now: Time, disk: usize, counters: Result<Counters, String>) {
        let own = &mut self.disks[disk];
        let counters = match counters {
            Ok(counters) => counters,
            Err(why) => {
                if !matches!(own.seen.replace(Seen::Unknown(why.clone())), Some(Seen::Unknown(_))) {
                    let disk = own.name.clone();
                    self.effects.push(Effect::Tell(Event::Unknown { disk, why }));
                }
                own.last = None;
                return self.use_of(now, disk);
            }
        };
        // Without counters of before, or with those of another machine's life, nothing is known to have come.
        let io = own.last.and_then(|last| counters.since(&last)).unwrap_or_default();
        // The driver's own commands are in flight, too.
        own.active = io.any() || counters.in_flight() && own.errand.is_none();
        own.last = Some(counters);
        if let Some(rest) = own.rest.as_mut().filter(|rest| rest.stirred.is_none() && own.active) {
            rest.stirred = Some(now);
            rest.first = (counters.reading > 0, counters.writing > 0);
            own.look_at = now;
        }
        if let Some(guard) = &mut self.guard {
            guard.wrote(Bytes::new(io.written_bytes));
        }
        self.use_of(now, disk);
    }
    /// Tells the policy whether a disk is in use.
    fn use_of(&mut self, now: Time, disk: usize) {
        let own = &mut self.disks[disk];
        let known = matches!(own.seen, Some(Seen::Awake | Seen::Standby));
        // What was last seen at rest may be so still: the policy goes on from there.
        let busy = own.active || !known && own.rest.is_none();
        if busy != own.busy {
            own.busy = busy;
            let writes = own.last.is_some_and(|last| last.writing > 0);
            let (op, cause) = if writes { (Op::Write, Cause::Write) } else { (Op::Read, Cause::Read) };
            if busy {
                if let Some(rest) = &mut own.rest {
                    rest.touched = true;
                }
                self.controller.begin(now, disk as u32, op, cause);
            } else {
                self.controller.end(now, disk as u32);
            }
        }
    }
    fn found_at_rest(&mut self, now: Time, disk: usize, settles: bool) {
        self.missed(now, disk);
        match &self.disks[disk].rest {
            Some(rest) if !rest.unsure => self.still_at_rest(now, disk),
            // It has been told to: now, or by an earlier life, which has paid.
            told => {
                let own = settles || told.is_some();
                self.comes_to_rest(now, disk, own);
            }
        }
    }
    /// A disk of an earlier life is at rest, and may have been woken and put to rest again meanwhile.
    fn missed(&mut self, now: Time, disk: usize) {
        let own = &mut self.disks[disk];
        let last = own.last.unwrap_or_default();
        let Some(rest) = own.rest.as_mut().filter(|rest| rest.away) else { return };
        rest.away = false;
        // Whether the earlier life's command to start has reached it, nobody knows: it counts for nothing.
        let boot = rest.waking.take().map(|(cause, _)| cause).filter(|cause| cause == BOOT);
        let used = || last.since(&rest.base).filter(Io::any).map(|io| cause_of(&io, &last, rest.first));
        if let Some(cause) = boot.or_else(used).filter(|_| !rest.unsure) {
            self.woken(now, disk, cause, None, true);
        }
    }
    fn comes_to_rest(&mut self, now: Time, disk: usize, told: bool) {
        let own = &mut self.disks[disk];
        let last = own.last.unwrap_or_default();
        let base = own.asked.unwrap_or(last);
        let moved = last.in_flight() || last.since(&base).is_some_and(|io| io.any());
        own.rest = Some(Rest { stirred: moved.then_some(now), ..Rest::new(told, base, now) });
        own.ledger.rests += 1;
        let rest = Event::Rest { disk: own.name.clone(), own: told };
        self.effects.extend([Effect::Tell(rest), Effect::Keep]);
        self.controller.found_in_standby(now, disk as u32, told);
    }
    fn still_at_rest(&mut self, now: Time, disk: usize) {
        let own = &mut self.disks[disk];
        let last = own.last.unwrap_or_default();
        let Some(rest) = &mut own.rest else { return };
        // What was counted before it was seen at rest has not woken it.
        rest.base = own.asked.unwrap_or(last);
        let quiet = !own.active && !last.since(&rest.base).is_some_and(|io| io.any());
        if quiet {
            rest.stirred = None;
        } else if rest.stirred.is_some_and(|since| now.saturating_sub(since) < PATIENCE) {
            own.look_at = now + SOON;
        }
        let wanted = !self.controller.disk(disk as u32).is_resting();
        if rest.waking.is_some() {
            if wanted || self.ending {
                own.command_at = now + RETRY;
                let why = "it was told to, and it rests still".to_owned();
                let failed = Event::Failed { disk: own.name.clone(), what: "wake".to_owned(), why };
                self.effects.push(Effect::Tell(failed));
            } else {
                rest.waking = None;
            }
        } else if quiet && std::mem::take(&mut rest.touched) && !self.controller.is_held(disk as u32) {
            // The policy took it for used. What it holds awake for a reason of its own is woken instead.
            self.controller.found_in_standby(now, disk as u32, true);
        }
    }
    fn found_awake(&mut self, now: Time, disk: usize, errand: Option<Errand>) {
        let own = &mut self.disks[disk];
        if own.rest.as_ref().is_some_and(|rest| rest.unsure) {
            // It never did.
            own.rest = None;
        }
        if let Some(rest) = &own.rest {
            let last = own.last.unwrap_or_default();
            let io = last.since(&rest.base).unwrap_or_default();
            let patient = rest.stirred.is_some_and(|since| now.saturating_sub(since) < PATIENCE);
            if rest.waking.is_none() && !io.any() && last.in_flight() && patient {
                // What has woken it is still to be done.
                own.look_at = now + SOON;
            } else {
                let (cause, by) = rest.waking.clone().unwrap_or_else(|| (cause_of(&io, &last, rest.first), None));
                let away = rest.away;
                self.woken(now, disk, cause, by, away);
            }
            return self.controller.found_ready(now, disk as u32);
        }
        let wanted = self.controller.disk(disk as u32).is_resting() && !self.ending;
        match errand {
            Some(Errand::Confirm | Errand::Look) if wanted && !own.active && own.command_at <= now => {
                own.errand = Some(Errand::Rest);
                return self.effects.extend([Effect::Keep, Effect::Rest(disk)]);
            }
            Some(Errand::Settle) => {
                own.command_at = now + RETRY;
                let why = "it was told to, and its motor turns".to_owned();
                let failed = Event::Failed { disk: own.name.clone(), what: "rest".to_owned(), why };
                self.effects.push(Effect::Tell(failed));
            }
            _ => {}
        }
        self.controller.found_ready(now, disk as u32);
    }
    /// A rest is over.
    fn woken(&mut self, now: Time, disk: usize, cause: String, by: Option<Who>, away: bool) {
        let own = &mut self.disks[disk];
        let Some(rest) = own.rest.take() else { return };
        let io = own.last.and_then(|last| last.since(&rest.base)).unwrap_or_default();
        let rested_s = now.saturating_sub(rest.since).as_secs_f64();
        *own.ledger.wakes.entry(cause.clone()).or_default() += 1;
        own.ledger.rested_s += rested_s;
        let woken = Event::Wake { disk: own.name.clone(), cause, by, io, rested_s, away };
        self.effects.extend([Effect::Tell(woken), Effect::Keep]);
    }
    /// Asks what a disk does.
    fn look(&mut self, disk: usize, errand: Errand) {
        let own = &mut self.disks[disk];
        (own.errand, own.asked) = (Some(errand), own.last);
        self.effects.push(Effect::Look(disk));
    }

    /// Disks do what the policy has decided.
    fn step(&mut self, now: Time) {
        for disk in 0..self.disks.len() {
            let (own, power) = (&mut self.disks[disk], self.controller.disk(disk as u32));
            if own.errand.is_some() {
                continue;
            }
            let stirred = own.rest.as_ref().is_some_and(|rest| rest.stirred.is_some());
            let errand = match &own.seen {
                Some(Seen::Awake) if power.is_resting() && !self.ending => Errand::Confirm,
                Some(Seen::Standby) if own.command_at > now || stirred => Errand::Look,
                Some(Seen::Standby) if self.ending && self.spec.wake_at_end => Errand::Wake,
                Some(Seen::Standby) if !power.is_resting() && !own.busy && !self.ending => Errand::Wake,
                _ => Errand::Look,
            };
            match errand {
                Errand::Wake => {
                    let cause = power.woken_for().filter(|_| !self.ending);
                    if let Some(rest) = own.rest.as_mut().filter(|rest| rest.waking.is_none()) {
                        rest.waking = Some(match cause {
                            Some(cause) => (cause.name().to_owned(), self.hinted[cause.kind()]),
                            None => ("end".to_owned(), None),
                        });
                    }
                    own.errand = Some(errand);
                    self.effects.extend([Effect::Keep, Effect::Wake(disk)]);
                }
                Errand::Look if own.look_at > now || self.ending => {}
                _ => self.look(disk, errand),
            }
        }
    }
}

impl Rest {
    /// One that begins.
    const fn new(own: bool, base: Counters, now: Time) -> Self {
        Self {
            own,
            base,
            since: now,
            away: false,
            unsure: false,
            stirred: None,
            touched: false,
            first: (false, false),
            waking: None,
        }
    }
}

/// What a hint may wake disks for.
const fn wakes_for(hint: Hint) -> Option<Cause> {
    match hint {
        Hint::Progress { .. } => Some(Cause::Predicted),
        Hint::LastBlock => Some(Cause::LastBlock),
        Hint::Phase(Phase::Import) => Some(Cause::Import),
        Hint::Phase(Phase::Recovery) => Some(Cause::Recovery),
        Hint::Gears(_) => Some(Cause::Gear),
        Hint::PrimaryFailed => Some(Cause::PrimaryFailed),
        Hint::FailureExpected => Some(Cause::FailureExpected),
        Hint::WriteIntensive(true) => Some(Cause::WriteIntensive),
        Hint::JobOver | Hint::Phase(Phase::Jobs) | Hint::WriteIntensive(false) => None,
    }
}

/// What has woken a disk, if the daemon has not.
fn cause_of(io: &Io, last: &Counters, first: (bool, bool)) -> String {
    match first {
        // What was first in flight has woken it, whatever came behind.
        (true, false) if io.reads > 0 => "read".to_owned(),
        (false, true) if io.writes > 0 => "write".to_owned(),
        _ if io.any() => io.name(),
        _ if last.writing > 0 => "write".to_owned(),
        _ if last.reading > 0 => "read".to_owned(),
        _ => "outside".to_owned(),
    }
}

/// Unused states of the policy's model have names for a status.
pub(crate) const fn wants(state: PowerState) -> &'static str {
    match state {
        PowerState::Rest(_) | PowerState::Down(_) => "rest",
        _ => "ready",
    }
}
