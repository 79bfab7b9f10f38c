//! One direction of a link: a transmitter with its queue, then a wire.
//!
//! A plain FIFO link costs one event per packet. Its departure is known when it is queued: transmission starts when the
//! packets before it are out and the token bucket allows it. So queue, transmitter and wire are one ring of packets in
//! order, and only the ring's head has a pending event. (Csg-htsim's pipes keep such a ring for the wire; here it
//! includes the queue.)

mod counters;
mod faults;
mod fifo;
mod loss;
mod managed;
mod spec;
mod watch;

pub use counters::Counters;
pub(crate) use fifo::Fate;
pub use loss::{GilbertElliott, Loss, Losses};
pub use spec::{LinkSpec, SpecError};

use crate::packet::Transit;
use crate::queue::{Discipline, Limit};
use crate::shaper::TokenBucket;
use des::Occupancy;
use managed::Managed;
use std::collections::VecDeque;
use units::{BitRate, Time};

/// A packet between its acceptance and its arrival. Two fit in a cache line.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    start: Time,
    arrival: Time,
    item: Transit,
}

const _: () = assert!(size_of::<InFlight>() == 32);

/// One direction of a link at run time. A packet of a plain link touches only the first two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link {
    ring: VecDeque<InFlight>,
    /// When the transmitter has finished all accepted packets.
    free_at: Time,
    delay: Time,
    /// Picoseconds per byte of a plain link. Zero for the slow path: the link is shaped, managed, lossy, watched or
    /// down, or its rate makes no whole number.
    plain_ps_per_byte: u32,
    generation: u32,
    /// How many packets at the front of the ring are known to have begun transmission. Updated when needed.
    begun: u32,
    longest_queue: u32,
    /// Integral of the queue length over time, in packet-picoseconds, of all accepted packets. By Little's law it is
    /// the sum of their waits.
    waits: u128,
    limit: Limit,
    /// Bytes of the packets not known to have begun transmission.
    waiting_bytes: u64,
    packets: u64,
    bytes: u64,
    /// Transmission times of all accepted packets, in picoseconds.
    busy: u64,
    rate: BitRate,
    up: bool,
    captured: bool,
    /// Nothing arrives although the carrier is present.
    silent: bool,
    /// The end of a bond ignores what arrives.
    ignored: bool,
    drops: u64,
    lost: u64,
    lost_down: u64,
    losses: Option<Losses>,
    shaper: Option<TokenBucket>,
    managed: Option<Box<Managed>>,
    /// How long the queue had each length, if that is watched.
    occupancy: Option<Box<Occupancy>>,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, seed: u64, index: u64) -> Self {
        let losses = (spec.loss != Loss::default()).then(|| Losses::new(spec.loss, seed, index));
        let mut link = Self {
            ring: VecDeque::new(),
            free_at: Time::ZERO,
            delay: spec.delay,
            plain_ps_per_byte: 0,
            generation: 0,
            begun: 0,
            longest_queue: 0,
            waits: 0,
            limit: spec.limit,
            waiting_bytes: 0,
            packets: 0,
            bytes: 0,
            busy: 0,
            rate: spec.rate,
            up: true,
            captured: false,
            silent: false,
            ignored: false,
            drops: 0,
            lost: 0,
            lost_down: 0,
            losses,
            shaper: spec.shaper.map(TokenBucket::new),
            managed: None,
            occupancy: None,
        };
        if spec.discipline != Discipline::DropTail {
            link.managed = Some(Box::new(Managed::new(spec.queue(seed, index))));
        }
        link.choose_path();
        link
    }

    /// Chooses the fast or the slow path. Called whenever a condition of the choice changes.
    fn choose_path(&mut self) {
        const PS: u64 = 8_000_000_000_000;
        let odd = self.captured || self.silent || self.ignored || self.occupancy.is_some();
        let special = !self.up || odd || self.losses.is_some() || self.shaper.is_some() || self.managed.is_some();
        let ps_per_byte =
            if self.rate.as_bps() > 0 && PS.is_multiple_of(self.rate.as_bps()) { PS / self.rate.as_bps() } else { 0 };
        self.plain_ps_per_byte = if special { 0 } else { u32::try_from(ps_per_byte).unwrap_or(0) };
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }
}
