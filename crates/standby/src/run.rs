//! The daemon: threads, files and programs around [`Machine`].
//!
//! The machine and all counters belong to one thread. Each disk has a thread that waits for its programs; the socket's
//! threads hand their lines in.

use super::Failure;
use super::ask::Ask;
use super::counters::Counters;
use super::device::{DeviceSpec, find};
use super::driver::Driver;
use super::event::{Effect, Event, Seen};
use super::host::{clock, folder, in_words, notify, read_journal, since_1970};
use super::journal::Journal;
use super::lock::Lock;
use super::machine::{Machine, Spec, wants};
use super::privileges::{self, Needs};
use super::simulated::SimulatedDisk;
use super::socket::{self, Allowed, Asked};
use super::status::{DiskStatus, Status};
use nix::unistd::geteuid;
use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
use units::Time;

/// Simulated time ends after 213 days; the daemon begins anew, from its journal, before that.
const LIFE: Time = Time::from_secs(100 * 86_400);
/// Between two journals that nothing has asked for: what a killed daemon forgets of its refilled budgets.
const KEEP: Time = Time::from_secs(600);
/// How long disks have to start at the end.
const END: Time = Time::from_secs(90);
/// A wish to stop is seen within so long.
const STEP: Time = Time::from_ms(200);
/// Events that a status has.
const TOLD: usize = 50;
/// The file of all events.
const EVENTS: &str = "events.jsonl";

/// Everything that a daemon is told.
#[derive(Clone, Debug)]
pub struct DaemonSpec {
    /// Policy, limits and disks.
    pub spec: Spec,
    /// The same disks' devices, in the same order.
    pub devices: Vec<DeviceSpec>,
    /// The policy's name, for the status.
    pub policy: String,
    /// Where it listens.
    pub socket: PathBuf,
    /// The folder of its journal.
    pub state: PathBuf,
    /// Between two readings of the counters.
    pub sample: Time,
    /// Whom it becomes where it is started as root.
    pub user: Option<String>,
    /// Users who may give hints: names or numbers.
    pub hints: Vec<String>,
}

/// What comes from other threads.
enum Message {
    Looked(usize, Seen),
    Done(usize, Result<(), String>),
    Asked(Asked),
}

/// What a disk's thread is to do.
#[derive(Clone, Copy)]
enum Errand {
    Look,
    Rest,
    Wake,
}

/// A disk as the daemon's thread reaches it.
enum Reach {
    Simulated(Box<SimulatedDisk>),
    Real { errands: Sender<Errand>, stat: PathBuf, inflight: Option<PathBuf> },
}

/// Runs until `stop` says so. `say` gets a line for each thing that happens.
pub fn run(spec: &DaemonSpec, stop: &dyn Fn() -> bool, say: &dyn Fn(&str)) -> Result<(), Failure> {
    let to = spec.user.as_deref().map(privileges::user).transpose().map_err(Failure::Input)?;
    let hinters: Result<Vec<u32>, String> =
        spec.hints.iter().map(|name| privileges::user(name).map(|(uid, _)| uid.as_raw())).collect();
    let hinters = hinters.map_err(|why| Failure::Input(format!("hints: {why}")))?;
    let mut needs = Needs::default();
    let mut found = Vec::new();
    for (disk, device) in spec.spec.disks.iter().zip(&spec.devices) {
        let one = find(device, &mut needs, &|line| say(&format!("{}: {line}", disk.name)));
        found.push(one.map_err(|failure| failure.of(&disk.name))?);
    }
    let owner = to.filter(|_| geteuid().is_root());
    folder(&spec.state, owner, "state")?;
    let _lock =
        Lock::take(&spec.state).map_err(|why| Failure::Input(format!("the folder {}: {why}", spec.state.display())))?;
    folder(spec.socket.parent().unwrap_or(Path::new("/")), owner, "socket")?;
    privileges::drop(to, &needs).map_err(Failure::Missing)?;

    let kept = read_journal(&spec.state)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
    let listener = socket::bind(&spec.socket).map_err(Failure::Output)?;
    let (sender, messages) = channel();
    let own = geteuid().as_raw();
    let asked = sender.clone();
    socket::serve(listener, Allowed { hinters, own }, move |line| asked.send(Message::Asked(line)).is_ok());

    let mut locks = Vec::new();
    let start = clock();
    let mut disks = Vec::new();
    for (number, (found, disk)) in found.into_iter().zip(&spec.spec.disks).enumerate() {
        locks.extend(found.lock);
        disks.push(match (found.driver, found.stat) {
            (Some(driver), Some(stat)) => {
                let errands = worker(number, driver, sender.clone());
                Reach::Real { errands, stat, inflight: found.inflight }
            }
            _ => Reach::Simulated(Box::new(SimulatedDisk::new(disk.profile, Time::ZERO))),
        });
    }
    let mut daemon = Daemon {
        machine: machine(spec, &kept, &boot)?,
        spec,
        disks,
        boot,
        start,
        born: start,
        say,
        told: VecDeque::new(),
        journal_error: None,
        kept_at: Time::ZERO,
    };
    daemon.keep(Time::ZERO);
    if let Some(why) = &daemon.journal_error {
        return Err(Failure::Output(why.clone()));
    }
    say(&format!("{} disks, policy {}, listens on {}", spec.devices.len(), spec.policy, spec.socket.display()));
    notify("READY=1");
    daemon.live(&messages, stop)?;
    notify("STOPPING=1");
    let _ = fs::remove_file(&spec.socket);
    Ok(())
}

struct Daemon<'a> {
    machine: Machine,
    spec: &'a DaemonSpec,
    disks: Vec<Reach>,
    boot: String,
    /// When the machine's time began, and the daemon's.
    start: Duration,
    born: Duration,
    say: &'a dyn Fn(&str),
    told: VecDeque<(f64, Event)>,
    journal_error: Option<String>,
    kept_at: Time,
}

impl Daemon<'_> {
    fn now(&self) -> Time {
        Time::from_ns(u64::try_from(clock().saturating_sub(self.start).as_nanos()).unwrap_or(u64::MAX / 1_000))
    }

    fn live(&mut self, messages: &Receiver<Message>, stop: &dyn Fn() -> bool) -> Result<(), Failure> {
        let mut sample_at = Time::ZERO;
        let mut ends_at = None;
        loop {
            let now = self.now();
            if ends_at.is_none() && stop() {
                ends_at = Some(now + END);
                notify("STOPPING=1");
                self.machine.end(now);
                self.perform(now);
            }
            if let Some(end) = ends_at
                && (self.machine.has_ended() || now > end)
            {
                self.keep(now);
                return self.journal_error.take().map_or(Ok(()), |why| Err(Failure::Output(why)));
            }
            if sample_at <= now {
                sample_at = now + self.spec.sample;
                for disk in 0..self.disks.len() {
                    let counters = self.counters(disk);
                    self.machine.sampled(now, disk, counters);
                }
            }
            for disk in 0..self.disks.len() {
                if let Reach::Simulated(simulated) = &mut self.disks[disk]
                    && simulated.on_timer(now)
                {
                    self.machine.done(now, disk, Ok(()));
                }
            }
            self.machine.on_timer(now);
            self.perform(now);
            if self.kept_at + KEEP <= now {
                self.keep(now);
            }
            if now >= LIFE && self.machine.is_quiet() && ends_at.is_none() {
                self.begin_anew()?;
                sample_at = Time::ZERO;
                continue;
            }
            let next = sample_at.min(self.machine.deadline()).min(self.simulated_deadline()).min(now + STEP);
            let wait = Duration::from_micros(next.saturating_sub(now).as_us().max(1_000));
            match messages.recv_timeout(wait) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
    fn simulated_deadline(&self) -> Time {
        let of = |reach: &Reach| if let Reach::Simulated(disk) = reach { disk.deadline() } else { Time::MAX };
        self.disks.iter().map(of).min().unwrap_or(Time::MAX)
    }
    /// From its own journal, as after a start.
    fn begin_anew(&mut self) -> Result<(), Failure> {
        let kept = self.machine.journal(self.now());
        self.machine = machine(self.spec, &kept, &self.boot)?;
        (self.start, self.kept_at) = (clock(), Time::ZERO);
        for (reach, disk) in self.disks.iter_mut().zip(&self.spec.spec.disks) {
            if let Reach::Simulated(simulated) = reach {
                **simulated = SimulatedDisk::new(disk.profile, Time::ZERO);
            }
        }
        Ok(())
    }
    fn counters(&self, disk: usize) -> Result<Counters, String> {
        match &self.disks[disk] {
            Reach::Simulated(simulated) => Ok(simulated.counters()),
            Reach::Real { stat, inflight, .. } => {
                let read = |path: &PathBuf| {
                    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
                };
                let inflight = inflight.as_ref().map(read).transpose()?;
                let wrong = |error| format!("{}: {error}", stat.display());
                Counters::parse(&read(stat)?, inflight.as_deref()).map_err(wrong)
            }
        }
    }
    fn take(&mut self, message: Message) {
        let now = self.now();
        match message {
            Message::Looked(disk, seen) => {
                let counters = self.counters(disk);
                self.machine.looked(now, disk, seen, counters);
            }
            Message::Done(disk, result) => self.machine.done(now, disk, result),
            Message::Asked(asked) => {
                let answer = match self.answer(now, &asked) {
                    Ok(answer) => answer,
                    Err(why) => serde_json::json!({ "error": why }),
                };
                // Whoever has asked may have gone.
                let _ = asked.answer.send(answer.to_string());
            }
        }
        self.perform(now);
    }
    fn answer(&mut self, now: Time, asked: &Asked) -> Result<serde_json::Value, String> {
        let number = |machine: &Machine, disk: &str| {
            let names: Vec<&str> = machine.names().collect();
            let place = names.iter().position(|name| *name == disk);
            place.ok_or_else(|| format!("there is no disk `{disk}`: {}", names.join(", ")))
        };
        match &asked.ask {
            Ask::Status {} => return Ok(serde_json::json!({ "status": self.status(now) })),
            Ask::Wake { disk } => {
                let disk = number(&self.machine, disk)?;
                self.machine.wake(now, disk, asked.who);
            }
            Ask::Use { disk, what } => match &mut self.disks[number(&self.machine, disk)?] {
                Reach::Simulated(simulated) => simulated.used(now, *what),
                Reach::Real { .. } => return Err(format!("{disk} is a real disk: use it")),
            },
            hint => {
                if let Some(hint) = hint.hint() {
                    self.machine.hint(now, hint, asked.who)?;
                }
            }
        }
        Ok(serde_json::json!({ "ok": true }))
    }
    fn status(&self, now: Time) -> Status {
        let disks = self.machine.names().enumerate().map(|(number, name)| {
            let seen = self.machine.seen(number);
            let why = if let Some(Seen::Unknown(why)) = seen { Some(why.clone()) } else { None };
            let state = match seen {
                Some(Seen::Awake) => "awake",
                Some(Seen::Standby) => "standby",
                Some(Seen::Unknown(_)) | None => "unknown",
            };
            let place = units::count(number);
            let left = self.machine.controller().starts_left(now, place);
            DiskStatus {
                name: name.to_owned(),
                state: state.to_owned(),
                why,
                wants: wants(self.machine.controller().disk(place).state()).to_owned(),
                rests_for_s: self.machine.rests_for(now, number).map(Time::as_secs_f64),
                starts_left: left.map(|left| left as f64 / 1e6),
                ledger: self.machine.ledger(number).clone(),
            }
        });
        Status {
            policy: self.spec.policy.clone(),
            starts_per_day: self.spec.spec.settings.spin_ups.map(storage::power::Budget::most),
            up_s: clock().saturating_sub(self.born).as_secs_f64(),
            journal_error: self.journal_error.clone(),
            disks: disks.collect(),
            events: self.told.iter().cloned().collect(),
        }
    }

    /// Carries out what the machine wants, and what it wants because of that.
    fn perform(&mut self, now: Time) {
        loop {
            let effects = self.machine.effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    Effect::Keep => self.keep(now),
                    Effect::Tell(event) => self.tell(event),
                    Effect::Look(disk) => self.errand(now, disk, Errand::Look),
                    Effect::Wake(disk) => self.errand(now, disk, Errand::Wake),
                    Effect::Rest(disk) => match self.journal_error.clone() {
                        Some(why) => self.machine.done(now, disk, Err(why)),
                        None => self.errand(now, disk, Errand::Rest),
                    },
                }
            }
        }
    }
    fn errand(&mut self, now: Time, disk: usize, errand: Errand) {
        match &mut self.disks[disk] {
            // A thread ends with the process alone.
            Reach::Real { errands, .. } => {
                let _ = errands.send(errand);
            }
            Reach::Simulated(simulated) => match errand {
                Errand::Look => {
                    let (seen, counters) = (simulated.seen(), simulated.counters());
                    self.machine.looked(now, disk, seen, Ok(counters));
                }
                Errand::Rest => {
                    let result = simulated.rest(now);
                    self.machine.done(now, disk, result);
                }
                Errand::Wake => {
                    if simulated.wake(now) {
                        self.machine.done(now, disk, Ok(()));
                    }
                }
            },
        }
    }
    fn keep(&mut self, now: Time) {
        self.kept_at = now;
        let written = self.machine.journal(now).write(&self.spec.state);
        let error = written.err().map(|error| {
            format!("the journal in {} cannot be written: {error}; no disk is put to rest", self.spec.state.display())
        });
        if error.is_some() && error != self.journal_error {
            (self.say)(error.as_deref().unwrap_or_default());
        }
        self.journal_error = error;
    }
    fn tell(&mut self, event: Event) {
        (self.say)(&in_words(&event));
        let at = since_1970();
        let line = serde_json::to_value(&event).map(|mut line| {
            line["at"] = serde_json::json!(at);
            format!("{line}\n")
        });
        // The log is for people; what has to be kept is in the journal.
        let file = OpenOptions::new().create(true).append(true).open(self.spec.state.join(EVENTS));
        if let (Ok(mut file), Ok(line)) = (file, line) {
            let _ = file.write_all(line.as_bytes());
        }
        if self.told.len() == TOLD {
            self.told.pop_front();
        }
        self.told.push_back((at, event));
    }
}

fn machine(spec: &DaemonSpec, kept: &Journal, boot: &str) -> Result<Machine, Failure> {
    Machine::new(spec.spec.clone(), kept, boot, Time::ZERO).map_err(|error| Failure::Input(error.to_string()))
}

/// A thread that does a disk's errands, one after the other.
fn worker(disk: usize, mut driver: Driver, messages: Sender<Message>) -> Sender<Errand> {
    let (sender, errands) = channel::<Errand>();
    thread::spawn(move || {
        while let Ok(errand) = errands.recv() {
            let message = match errand {
                Errand::Look => Message::Looked(disk, driver.look()),
                Errand::Rest => Message::Done(disk, driver.rest()),
                Errand::Wake => Message::Done(disk, driver.wake()),
            };
            if messages.send(message).is_err() {
                return;
            }
        }
    });
    sender
}
