//! The driver of a tablet's radio: between the host, which has the transmit queue, and the chip, whose MAC holds a few
//! frames only. One thread moves frames both ways over one bus, in rounds: first what has been received, then what is
//! to be sent.
//!
//! Source: S. Lee, Adaptive TCP Flow Control for Improving Performance of Mobile Cloud Clusters (2014), 4.2 and 5.1:
//! while data come in, such a driver sends only as many frames as acknowledge them; the scheduling part of its
//! algorithm 1 takes that limit off. The printed lines 11-17 set `tx_bound` to half of `max_frames` where `tx_qlen = 0`
//! inside `tx_qlen > 0`, which is never: `rx_qlen = 0` is meant, that is, data come in but none wait. Rounds, bounds
//! and the minimum of one frame are those of the driver's like in Linux (brcmfmac: rxbound 50, txbound 20, txminmax 1).

use super::frame::{Offer, PacketId};
use super::queue::DropPolicy;
use des::{Ecn, Occupancy};
use std::collections::VecDeque;
use units::{BitRate, Bytes, Time};

/// How many frames a round sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduling {
    /// While something is received, `tx_min`; else `max_frames`.
    #[default]
    ReceiveFirst,
    /// While something is received and waits, `tx_min`; received but none waits, half of `max_frames`; else
    /// `max_frames`.
    QueueLevel,
}

/// A driver, its bus and its chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriverSpec {
    /// How many frames a round sends.
    pub scheduling: Scheduling,
    /// The most frames sent in a round (`max_frames`).
    pub max_frames: u32,
    /// Frames sent in a round while receiving.
    pub tx_min: u32,
    /// The most frames received in a round.
    pub rx_bound: u32,
    /// Time that a round costs by itself: the thread is woken, the chip is asked.
    pub round: Time,
    /// Time that a frame costs on the bus.
    pub frame: Time,
    /// Frames that the chip takes.
    pub chip: u32,
    /// Received frames that the chip keeps for the host: what comes beyond is not acknowledged.
    pub rx_queue: u32,
    /// Bound on what the driver gives the chip.
    pub budget: Budget,
}

/// Limit of the data in the chip. With a low one packets wait in the host's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Budget {
    /// Only the chip's capacity.
    #[default]
    Frames,
    /// At most this many bytes (byte queue limits, Linux 3.3, with a constant limit).
    Bytes(u32),
    /// At most this airtime at the rate of the last frame sent (airtime queue limits, Linux 5.5: 5 to 12 ms).
    Airtime(Time),
}

impl Default for DriverSpec {
    /// The bounds of brcmfmac; 0.1 ms a round and a frame of 1500 bytes at 100 Mbit/s (SDIO, 25 MHz, 4 bits); room for
    /// all of a received A-MPDU.
    fn default() -> Self {
        Self {
            scheduling: Scheduling::ReceiveFirst,
            max_frames: 20,
            tx_min: 1,
            rx_bound: 50,
            round: Time::from_us(100),
            frame: Time::from_us(120),
            chip: 32,
            rx_queue: 64,
            budget: Budget::Frames,
        }
    }
}

/// Effects of the driver's inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// The chip's MAC gets this.
    Down(Offer),
    /// The layer above gets this.
    Up(PacketId),
    /// The transmit queue was full.
    Drop(PacketId),
    /// The transmit queue was longer than its marking threshold.
    Mark(PacketId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Job {
    /// Nothing to do.
    Idle,
    /// A round begins.
    Round,
    Receive(PacketId),
    Send(Offer),
}

/// The state of a driver.
#[derive(Debug)]
pub struct Driver {
    spec: DriverSpec,
    limit: u32,
    policy: DropPolicy,
    mark_above: Option<u32>,
    tx: VecDeque<Offer>,
    rx: VecDeque<PacketId>,
    job: Job,
    until: Time,
    /// Frames that this round may still receive, and send once it has begun to.
    rx_left: u32,
    tx_left: Option<u32>,
    /// Something has been received in this round.
    received: bool,
    /// Frames and bytes in the chip.
    in_chip: u32,
    bytes_in_chip: u32,
    /// The rate of the last frame sent.
    rate: BitRate,
    occupancy: Occupancy,
}

impl Driver {
    /// Idle, with a transmit queue for `limit` packets that marks those which find `mark_above` in it.
    pub fn new(spec: DriverSpec, limit: u32, policy: DropPolicy, mark_above: Option<u32>) -> Self {
        Self {
            spec,
            limit,
            policy,
            mark_above,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            job: Job::Idle,
            until: Time::MAX,
            rx_left: 0,
            tx_left: None,
            received: false,
            in_chip: 0,
            bytes_in_chip: 0,
            rate: BitRate::default(),
            occupancy: Occupancy::new(Time::ZERO, 0),
        }
    }
    /// Packets in the transmit queue (`tx_qlen`).
    pub fn tx_qlen(&self) -> usize {
        self.tx.len()
    }
    /// Received packets that wait to be processed (`rx_qlen`).
    pub fn rx_qlen(&self) -> usize {
        self.rx.len()
    }
    /// Time that the transmit queue has spent at each length.
    pub const fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }
    /// When [`Driver::on_timer`] is wanted.
    pub const fn deadline(&self) -> Time {
        self.until
    }

    /// A packet to send.
    pub fn enqueue(&mut self, now: Time, item: Offer, moves: &mut Vec<Move>) {
        if self.tx.len() >= self.limit as usize {
            let gone = match self.policy {
                DropPolicy::Head => self.tx.pop_front(),
                DropPolicy::Tail | DropPolicy::Fair(_) => None,
            };
            let Some(gone) = gone else {
                moves.push(Move::Drop(item.packet));
                return;
            };
            moves.push(Move::Drop(gone.packet));
        }
        if item.ecn != Ecn::NotEct && self.mark_above.is_some_and(|most| self.tx.len() >= most as usize) {
            moves.push(Move::Mark(item.packet));
        }
        self.tx.push_back(item);
        self.occupancy.set(now, self.tx.len());
        self.wake(now);
    }
    /// Of MPDUs that have come through, by bits, those that the chip has room for: the first ones.
    pub fn room_for(&self, understood: u64) -> u64 {
        let room = (self.spec.rx_queue as usize).saturating_sub(self.rx.len());
        let (mut left, mut kept) = (understood, 0);
        for _ in 0..room.min(64) {
            let first = left & left.wrapping_neg();
            kept |= first;
            left ^= first;
        }
        kept
    }
    /// The chip has received a packet.
    pub fn received(&mut self, now: Time, packet: PacketId) {
        self.rx.push_back(packet);
        self.wake(now);
    }
    /// The chip has done with packets, sent or given up: their number, their bytes, and the rate of its last frame of
    /// data.
    pub fn done(&mut self, now: Time, packets: u32, bytes: u32, rate: BitRate) {
        self.in_chip = self.in_chip.saturating_sub(packets);
        self.bytes_in_chip = self.bytes_in_chip.saturating_sub(bytes);
        self.rate = rate;
        self.wake(now);
    }
    /// A frame is over the bus, or a round has begun.
    pub fn on_timer(&mut self, now: Time, moves: &mut Vec<Move>) {
        if now < self.until {
            return;
        }
        match std::mem::replace(&mut self.job, Job::Idle) {
            Job::Receive(packet) => moves.push(Move::Up(packet)),
            Job::Send(item) => moves.push(Move::Down(item)),
            Job::Idle | Job::Round => {}
        }
        self.next(now);
    }

    /// Switches the driver off. Returns the packets that it was to send and those that it had received.
    pub fn switch_off(&mut self, now: Time) -> (Vec<PacketId>, Vec<PacketId>) {
        let mut to_send: Vec<PacketId> = self.tx.drain(..).map(|offer| offer.packet).collect();
        let mut received: Vec<PacketId> = self.rx.drain(..).collect();
        match self.job {
            Job::Send(offer) => to_send.push(offer.packet),
            Job::Receive(packet) => received.push(packet),
            Job::Idle | Job::Round => {}
        }
        (self.job, self.until, self.tx_left, self.received) = (Job::Idle, Time::MAX, None, false);
        (self.in_chip, self.bytes_in_chip) = (0, 0);
        self.occupancy.set(now, 0);
        (to_send, received)
    }

    /// The next action of this round.
    fn next(&mut self, now: Time) {
        if self.tx_left.is_none() {
            if self.rx_left > 0
                && let Some(packet) = self.rx.pop_front()
            {
                self.rx_left -= 1;
                self.received = true;
                self.start(now, Job::Receive(packet));
                return;
            }
            self.tx_left = Some(self.tx_bound());
        }
        if self.tx_left > Some(0)
            && self.has_budget()
            && let Some(item) = self.tx.pop_front()
        {
            self.tx_left = self.tx_left.map(|left| left - 1);
            self.in_chip += 1;
            self.bytes_in_chip += item.bytes;
            self.occupancy.set(now, self.tx.len());
            self.start(now, Job::Send(item));
            return;
        }
        self.until = Time::MAX;
        self.wake(now);
    }
    /// How many frames this round may send.
    fn tx_bound(&self) -> u32 {
        let rx_pending = self.received || !self.rx.is_empty();
        match self.spec.scheduling {
            _ if !rx_pending => self.spec.max_frames,
            Scheduling::QueueLevel if self.rx.is_empty() => (self.spec.max_frames / 2).max(self.spec.tx_min),
            Scheduling::ReceiveFirst | Scheduling::QueueLevel => self.spec.tx_min,
        }
    }
    /// Begins a round if it is idle and there is something to do.
    fn wake(&mut self, now: Time) {
        let can_send = !self.tx.is_empty() && self.has_budget();
        if self.until == Time::MAX && (can_send || !self.rx.is_empty()) {
            (self.rx_left, self.tx_left, self.received) = (self.spec.rx_bound, None, false);
            self.job = Job::Round;
            self.until = now + self.spec.round;
        }
    }
    /// Whether the chip may have another frame; an empty one always.
    fn has_budget(&self) -> bool {
        let within = match self.spec.budget {
            _ if self.in_chip == 0 => true,
            Budget::Frames => true,
            Budget::Bytes(bytes) => self.bytes_in_chip < bytes,
            Budget::Airtime(time) => {
                self.rate == BitRate::default()
                    || self.rate.transmission_time(Bytes::new(self.bytes_in_chip.into())) < time
            }
        };
        within && self.in_chip < self.spec.chip
    }
    fn start(&mut self, now: Time, job: Job) {
        self.job = job;
        self.until = now + self.spec.frame;
    }
}
