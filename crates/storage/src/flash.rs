//! Flash memory behind parallel channels.
//!
//! A request waits for the first byte of its data (the access latency; up to `channels` requests do so at the same
//! time), then moves over the one interface in order of arrival. A large sequential request thus moves at the
//! interface's rate, and k outstanding small random ones get min(k, channels) / latency operations a second until the
//! interface is full: the two limits that data sheets state (Agrawal et al., "Design tradeoffs for SSD performance",
//! USENIX ATC 2008). Writes are slower than reads. There is no positioning.
//!
//! A page is written once and erased with its whole block, so what is still valid in a block moves before it is erased:
//! the cells take more bytes than the host writes. For pages overwritten at random, the emptiest block erased first and
//! a full disk, Xiang and Kurkoski ("An improved analytical expression for write amplification in NAND flash", ICNC
//! 2012, arXiv 1110.4245) have the factor in closed form, which depends on the spare cells alone; Desnoyers ("Analytic
//! modeling of SSD write performance", SYSTOR 2012) has the same limit. Whole blocks leave nothing to move. Between one
//! page and a block the excess falls with the root of the part that a write fills: ours, within 8 % of a translation
//! layer that maps pages.

use crate::disk::{DiskCounters, Op, Request};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Time};

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
    /// Its cells.
    pub cells: Cells,
}

/// The flash memory of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cells {
    /// The disk's size.
    pub capacity: Bytes,
    /// Flash memory beyond that.
    pub spare: Bytes,
    /// What is written at once.
    pub page: Bytes,
    /// What is erased at once.
    pub block: Bytes,
}

impl Cells {
    /// Cells of which nothing is known: the host's bytes are what is written.
    pub const UNKNOWN: Self =
        Self { capacity: Bytes::ZERO, spare: Bytes::ZERO, page: Bytes::new(1), block: Bytes::new(1) };

    /// Bytes written to the cells for each one that the host writes, in the steady state of a full disk whose pages are
    /// overwritten at random.
    pub fn amplification(&self) -> f64 {
        let whole = 1.0 + self.spare.get() as f64 / self.capacity.get().max(1) as f64;
        if self.block <= self.page || whole <= 1.0 {
            return 1.0;
        }
        // The valid part of a block that is erased is x / whole, where x e^-x = whole e^-whole and x < 1: a Lambert W.
        // Newton from below, where the left side is concave, does not overshoot.
        let wanted = whole * libm::exp(-whole);
        let mut x = 0.0;
        for _ in 0..60 {
            let power = libm::exp(-x);
            x += (wanted - x * power) / (power * (1.0 - x)).max(1e-12);
            x = x.min(1.0);
        }
        whole / (whole - x)
    }
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
    /// Of pages written at random.
    amplification: f64,
    /// How much longer everything takes than by its specification.
    slowness: f64,
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
            amplification: spec.cells.amplification(),
            slowness: 1.0,
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
            let Request { op, bytes, .. } = service.request;
            self.counters.count(op, bytes);
            if op == Op::Write {
                self.counters.programmed += self.programmed(bytes);
            }
            self.start(service.done);
        }
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&Request<T>) -> bool) {
        self.waiting.retain(&mut keep);
        for service in self.service.iter_mut().filter(|service| service.reported) {
            service.reported = keep(&service.request);
        }
    }

    /// What begins from now on takes so much longer.
    pub const fn set_slowness(&mut self, slowness: f64) {
        self.slowness = slowness;
    }

    /// The end of the part of `busy` that is counted in advance.
    pub const fn busy_until(&self) -> Time {
        self.busy_until
    }

    pub fn queued(&self) -> usize {
        self.waiting.len() + self.service.len()
    }

    /// What it does.
    pub fn serving(&self) -> Option<Op> {
        self.service.front().map(|service| service.request.op)
    }

    /// Bytes that a write of so many takes of the cells.
    fn programmed(&self, bytes: Bytes) -> Bytes {
        let Cells { page, block, .. } = self.spec.cells;
        let pages = Bytes::new(bytes.get().div_ceil(page.get().max(1)) * page.get().max(1));
        if self.amplification <= 1.0 || pages >= block {
            return pages;
        }
        let part = (pages - page).get() as f64 / (block - page).get() as f64;
        pages.mul_f64(1.0 + (self.amplification - 1.0) * (1.0 - part.sqrt()))
    }

    /// Waiting requests take free channels.
    fn start(&mut self, now: Time) {
        while self.service.len() < self.spec.channels.max(1) as usize {
            let Some(request) = self.waiting.pop_front() else { return };
            let late = |time: Time| if self.slowness > 1.0 { time.mul_f64(self.slowness) } else { time };
            let latency = late(self.spec.latency(request.op));
            let transfer = (now + latency).max(self.interface_free);
            // What garbage collection writes, the host's writes wait for.
            let amplified = request.op == Op::Write && self.amplification > 1.0;
            let moved = if amplified { self.programmed(request.bytes) } else { request.bytes };
            // While what one channel has found is transferred, the others look on.
            let further = (request.places.max(1) - 1) / self.spec.channels.max(1);
            let moving = late(self.spec.rate(request.op).transmission_time(moved)).max(latency * u64::from(further));
            let done = transfer.saturating_add(moving);
            let from = now.max(self.busy_until);
            self.counters.busy += done - from;
            self.counters.positioning += transfer.saturating_sub(from.max(self.interface_free));
            self.busy_until = done;
            self.interface_free = done;
            self.service.push_back(Service { request, done, reported: true });
        }
    }
}
