//! How long the calling thread takes to wake, measured by its own timers: tens of microseconds on a virtual machine,
//! more under load.
//!
//! Both ends of a sleep are corrected by it. A thread with a deadline sleeps that much less, and polls the clock for
//! the rest. A frame that woke the thread is taken to have arrived that much earlier.

use super::clock::Clock;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use std::time::Duration;
use units::Time;

/// Number of recent wake-ups that count.
const KEPT: usize = 15;
/// A longer delay is no wake-up latency but a wait for a processor. It counts as lateness and is not corrected.
const MOST: Time = Time::from_us(200);
/// A thread that sleeps for less does not wake early; otherwise it would poll the clock all the time.
const PAUSE: Time = Time::from_us(300);
const TRIAL: Time = Time::from_us(200);

/// The recent wake-ups.
#[derive(Debug)]
pub struct Waking {
    late: [Time; KEPT],
    next: usize,
    /// The last deadline for which it woke early.
    watched: Time,
}

impl Waking {
    /// Measures some wake-ups, in a few milliseconds.
    pub fn measured(clock: Clock) -> Self {
        let mut waking = Self { late: [Time::ZERO; KEPT], next: 0, watched: Time::MAX };
        for _ in 0..KEPT {
            let due = clock.now() + TRIAL;
            let _ = ppoll(&mut [], Some(timeout(TRIAL)), None);
            waking.note(due, clock.now());
        }
        waking
    }

    /// A timer due at `due` woke the thread at `now`.
    fn note(&mut self, due: Time, now: Time) {
        self.late[self.next] = now.saturating_sub(due);
        self.next = (self.next + 1) % KEPT;
    }

    /// The median wake-up latency.
    pub fn usual(&self) -> Time {
        let mut late = self.late;
        late.sort_unstable();
        late[KEPT / 2].min(MOST)
    }

    /// Sleeps until a descriptor is ready or, with `until`, until shortly before that time.
    pub fn sleep(&mut self, clock: Clock, descriptors: &mut [PollFd], until: Option<Time>) {
        let now = clock.now();
        let longest = until.map(|until| {
            let left = until.saturating_sub(now);
            if left > PAUSE {
                self.watched = until;
                left.saturating_sub(self.most())
            } else if until == self.watched {
                Time::ZERO
            } else {
                left
            }
        });
        // A signal ends the sleep early, which does no harm.
        let woken = ppoll(descriptors, longest.map(timeout), None);
        if let (Ok(0), Some(longest)) = (woken, longest.filter(|longest| *longest > Time::ZERO)) {
            self.note(now + longest, clock.now());
        }
    }

    /// The second longest wake-up latency, plus a margin: the first steps after a wake-up are slow.
    fn most(&self) -> Time {
        let mut late = self.late;
        late.sort_unstable();
        late[KEPT - 2].min(MOST) + Time::from_us(20)
    }
}

fn timeout(time: Time) -> TimeSpec {
    TimeSpec::from_duration(Duration::from_nanos(time.as_ps() / 1_000))
}
