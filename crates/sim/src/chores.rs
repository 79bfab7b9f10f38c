//! What DataNodes' disks do besides jobs: scanners and the like, and the planned windows of disks at rest.

use crate::hosts::Hosts;
use des::{Event, EventQueue, RandomStream};
use storage::power::Cause;
use units::{Bytes, Time};

/// Event kind: a disk's window, or its turn for a work.
pub(crate) const CHORE: u8 = 20;

/// What is done besides jobs.
#[derive(Clone, Debug)]
pub(crate) struct ChoresSpec {
    /// Between two planned windows of a disk.
    pub window: Option<Time>,
    pub works: Vec<Work>,
    pub seed: u64,
}

/// A work that comes again and again on each disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub every: Time,
    /// Each time comes earlier or later by up to this.
    pub jitter: Time,
    pub bytes: Bytes,
    /// It may wait for the disk's window.
    pub deferrable: bool,
}

/// A disk's turns for a work.
#[derive(Debug)]
struct Turns {
    random: RandomStream,
    /// The next one, but for its jitter.
    due: Time,
    /// Where it goes on.
    offset: Bytes,
}

/// A disk of a DataNode, by its machine and its number there, with its turns by work.
#[derive(Debug)]
struct Place {
    machine: usize,
    disk: usize,
    turns: Vec<Turns>,
}

#[derive(Debug)]
pub(crate) struct Chores {
    spec: ChoresSpec,
    places: Vec<Place>,
}

impl Chores {
    /// Of the disks that have a power.
    pub fn new(spec: ChoresSpec, hosts: &Hosts) -> Self {
        let disks = hosts.disks_of_workers().into_iter();
        let place = |(number, (machine, disk)): (u64, (usize, usize))| {
            let turns = |(work, of): (u64, &Work)| {
                let mut random = RandomStream::new(spec.seed, "disks/background", work << 32 | number);
                let due = of.every.mul_f64(random.uniform());
                Turns { random, due, offset: Bytes::ZERO }
            };
            Place { machine, disk, turns: (0..).zip(&spec.works).map(turns).collect() }
        };
        let places = (0..).zip(disks).map(place).collect();
        Self { spec, places }
    }

    /// Windows of the disks are spread over the period.
    pub fn start(&mut self, now: Time, events: &mut EventQueue) {
        let count = self.places.len() as u64;
        for place in 0..units::count(self.places.len()) {
            if let Some(every) = self.spec.window {
                let at = Time::from_ps(units::scaled(every.as_ps(), u64::from(place) + 1, count + 1));
                events.push(now + at, CHORE, place, 0);
            }
            for work in 0..self.spec.works.len() {
                self.arm(now, place, work, events);
            }
        }
    }

    /// A window begins, or a work's turn has come.
    pub fn on_event(&mut self, event: &Event, hosts: &mut Hosts, events: &mut EventQueue) {
        let (now, number) = (event.time(), event.index);
        let place = &mut self.places[number as usize];
        let disk = (place.machine, place.disk);
        let Some(work) = event.arg.checked_sub(1) else {
            hosts.window(now, disk, events);
            if let Some(every) = self.spec.window {
                events.push(now + every, CHORE, number, 0);
            }
            return;
        };
        let Work { every, bytes, deferrable, .. } = self.spec.works[work as usize];
        let turns = &mut place.turns[work as usize];
        let from = turns.offset;
        turns.offset += bytes;
        turns.due = turns.due.saturating_add(every);
        let cause = Cause::Background(u8::try_from(work).unwrap_or(u8::MAX));
        let waits = deferrable && self.spec.window.is_some();
        hosts.chore(now, disk, (work, from, bytes), cause, waits, events);
        self.arm(now, number, work as usize, events);
    }

    fn arm(&mut self, now: Time, place: u32, work: usize, events: &mut EventQueue) {
        let jitter = self.spec.works[work].jitter;
        let turns = &mut self.places[place as usize].turns[work];
        let late = jitter.mul_f64(turns.random.uniform() * 2.0);
        let at = turns.due.saturating_add(late).saturating_sub(jitter);
        events.push(at.max(now), CHORE, place, units::count(work) + 1);
    }
}
