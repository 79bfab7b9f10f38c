//! Flash memory behind parallel channels.
//!
//! A request waits for the first byte of its data (the access latency; up to `channels` requests do so at the same
//! time), then moves over the one interface in order of arrival. A large sequential request thus moves at the
//! interface's rate, and k outstanding small random ones get min(k, channels) / latency operations a second until the
//! interface is full: the two limits that data sheets state (Agrawal et al., "Design tradeoffs for SSD performance",
//! USENIX ATC 2008). Writes are slower than reads. There is no positioning.

use crate::disk::{DiskCounters, Op, Request};
use std::collections::VecDeque;
use units::{BitRate, Time};

/// A solid state disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashSpec {
    /// Time to the first byte of a read.
    pub read_latency: Time,
    /// Time to the first byte of a write.
    pub write_latency: Time,
    /// Sequential read rate.
    pub read_rate: BitRate,
    /// Sequential write rate.
    pub write_rate: BitRate,
    /// Requests whose access may overlap.
    pub channels: u32,
}

impl FlashSpec {
    const fn latency(&self, op: Op) -> Time {
        match op {
            Op::Read => self.read_latency,
            Op::Write => self.write_latency,
        }
    }
    /// The interface's rate.
    pub const fn rate(&self, op: Op) -> BitRate {
        match op {
            Op::Read => self.read_rate,
            Op::Write => self.write_rate,
        }
    }
}

#[derive(Debug, Clone)]
struct Service<T> {
    request: Request<T>,
    done: Time,
    reported: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Flash<T> {
    spec: FlashSpec,
    waiting: VecDeque<Request<T>>,
    /// In service, in order of completion.
    service: VecDeque<Service<T>>,
    /// When the interface is next free.
    interface_free: Time,
    /// The time up to which `busy` counts.
    busy_until: Time,
    pub counters: DiskCounters,
}

impl<T: Copy> Flash<T> {
    pub fn new(spec: FlashSpec) -> Self {
        Self {
            spec,
            waiting: VecDeque::new(),
            service: VecDeque::new(),
            interface_free: Time::ZERO,
            busy_until: Time::ZERO,
            counters: DiskCounters::default(),
        }
    }

    pub fn submit(&mut self, now: Time, request: Request<T>) {
        self.waiting.push_back(request);
        self.counters.queue_max = self.counters.queue_max.max(self.queued() as u32);
        self.start(now);
    }

    pub fn deadline(&self) -> Time {
        self.service.front().map_or(Time::MAX, |service| service.done)
    }

    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        while let Some(service) = self.service.pop_front_if(|service| service.done <= now) {
            if service.reported {
                done.push(service.request.tag);
            }
            self.counters.requests += 1;
            self.counters.count(service.request.op, service.request.bytes);
            self.start(service.done);
        }
    }

    pub fn retain(&mut self, keep: impl Fn(&Request<T>) -> bool) {
        self.waiting.retain(&keep);
        for service in &mut self.service {
            service.reported &= keep(&service.request);
        }
    }

    /// The end of the part of `busy` that is counted in advance.
    pub const fn busy_until(&self) -> Time {
        self.busy_until
    }

    pub fn queued(&self) -> usize {
        self.waiting.len() + self.service.len()
    }

    /// Waiting requests take free channels.
    fn start(&mut self, now: Time) {
        while self.service.len() < self.spec.channels.max(1) as usize {
            let Some(request) = self.waiting.pop_front() else { return };
            let transfer = (now + self.spec.latency(request.op)).max(self.interface_free);
            let done = transfer.saturating_add(self.spec.rate(request.op).transmission_time(request.bytes));
            let from = now.max(self.busy_until);
            self.counters.busy += done - from;
            self.counters.positioning += transfer.saturating_sub(from.max(self.interface_free));
            self.busy_until = done;
            self.interface_free = done;
            self.service.push_back(Service { request, done, reported: true });
        }
    }
}
