//! What the emulator's threads ask of the scheduler, and what they get from it.

use super::lateness::Lateness;
use std::fs::File;
use std::os::unix::fs::FileExt;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use units::Time;

/// The real-time priority: above ordinary threads, below the kernel's own (50 and up).
const PRIORITY: u8 = 20;

/// Gives the calling thread real-time priority (`SCHED_FIFO`): ordinary threads wait while it has work.
pub fn raise_priority() -> Result<(), String> {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::try_from(PRIORITY)?;
    set_thread_priority_and_policy(thread_native_id(), priority, policy)
        .map_err(|error| format!("SCHED_FIFO is refused: {error}"))
}

/// How long the calling thread waited on a run queue, by the kernel's count.
pub struct ProcessorWaits {
    file: Option<File>,
    looked: Time,
    waited_ns: u64,
}

/// Smallest interval between two queries of the kernel.
const EVERY: Time = Time::from_ms(10);

impl ProcessorWaits {
    /// Kernels without scheduler statistics report nothing.
    pub fn open() -> Self {
        let file = File::open("/proc/thread-self/schedstat").ok();
        let mut waits = Self { file, looked: Time::ZERO, waited_ns: 0 };
        waits.waited_ns = waits.read().unwrap_or(0);
        waits
    }

    /// Records the wait since the last call.
    pub fn look(&mut self, now: Time, into: &mut Lateness) {
        if now.saturating_sub(self.looked) < EVERY {
            return;
        }
        self.looked = now;
        if let Some(waited) = self.read() {
            into.record(Time::from_ns(waited.saturating_sub(self.waited_ns)));
            self.waited_ns = waited;
        }
    }

    /// The second number: nanoseconds spent waiting on a run queue.
    fn read(&self) -> Option<u64> {
        let mut text = [0; 64];
        let length = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}
