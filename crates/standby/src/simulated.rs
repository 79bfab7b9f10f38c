//! A disk in the daemon, by its drive's profile: to try a policy, the socket and the log without any disk.

use super::ask::Use;
use super::counters::Counters;
use super::event::Seen;
use storage::power::{Cause, Depth, DiskPower, PowerState, Profile};
use units::Time;

/// A disk that is simulated.
#[derive(Debug)]
pub struct SimulatedDisk {
    power: DiskPower,
    counters: Counters,
    /// Requests that wait until it is ready.
    waiting: Vec<Use>,
    /// A command to start waits for its end.
    starting: bool,
}

impl SimulatedDisk {
    /// One that is ready.
    pub fn new(profile: Profile, now: Time) -> Self {
        let power = DiskPower::new(profile, now);
        Self { power, counters: Counters::default(), waiting: Vec::new(), starting: false }
    }
    /// Its counters.
    pub const fn counters(&self) -> Counters {
        self.counters
    }
    /// Its state.
    pub const fn seen(&self) -> Seen {
        match self.power.state() {
            PowerState::Read | PowerState::Write | PowerState::Idle => Seen::Awake,
            _ => Seen::Standby,
        }
    }
    /// Is told to rest.
    pub fn rest(&mut self, now: Time) -> Result<(), String> {
        if self.seen() == Seen::Awake && !self.power.rest(now, Depth::Standby) {
            return Err("its drive has no standby".to_owned());
        }
        Ok(())
    }
    /// Is told to start; [`SimulatedDisk::on_timer`] says when it has. True if it is ready.
    pub fn wake(&mut self, now: Time) -> bool {
        self.power.wake(now, Cause::Window);
        self.starting = !self.power.is_ready();
        !self.starting
    }
    /// Is used by somebody.
    pub fn used(&mut self, now: Time, what: Use) {
        match what {
            Use::Read => self.counters.reading += 1,
            Use::Write => self.counters.writing += 1,
            Use::Discard | Use::Flush | Use::Start => {}
        }
        self.waiting.push(what);
        self.power.wake(now, Cause::Read);
        self.serve();
    }
    /// When a move of it ends.
    pub const fn deadline(&self) -> Time {
        self.power.deadline()
    }
    /// Ends a move. True if a command to start has come to its end.
    pub fn on_timer(&mut self, now: Time) -> bool {
        self.power.on_timer(now);
        self.serve();
        self.power.is_ready() && std::mem::take(&mut self.starting)
    }
    fn serve(&mut self) {
        if !self.power.is_ready() {
            return;
        }
        let own = &mut self.counters;
        for what in self.waiting.drain(..) {
            match what {
                Use::Read => (own.reading, own.reads, own.read_sectors) = (0, own.reads + 1, own.read_sectors + 8),
                Use::Write => {
                    (own.writing, own.writes, own.written_sectors) = (0, own.writes + 1, own.written_sectors + 8);
                }
                Use::Discard => own.discards += 1,
                Use::Flush => own.flushes += 1,
                Use::Start => {}
            }
        }
    }
}
