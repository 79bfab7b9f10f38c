//! A station's MAC: frame exchanges by DCF or EDCA (IEEE Std 802.11-2012, 9.3 and 9.19), pure: it is handed the time
//! and one input.

mod exchange;
mod reply;

use super::backoff::Contention;
use super::channel::Channel;
use super::config::MacConfig;
use super::frame::{Kind, Offer, PacketId, Ppdu, StationId};
use super::inbound::Inbound;
use super::output::Output;
use super::queue::TransmitQueue;
use crate::phy::{AccessCategory, Mode, Timing};
use crate::rate::RateControl;
use des::RandomStream;
use std::sync::Arc;
use units::{BitRate, Time};

/// One access category: its queue and its contention.
#[derive(Debug)]
struct Access {
    queue: TransmitQueue,
    contention: Contention,
}

/// Where the exchange that this station has begun stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exchange {
    /// None: it contends.
    None,
    /// Its PPDU is on the air.
    Sending(Step),
    /// The answer must begin by then ([`Time::MAX`] once something has).
    Awaiting(Answer, Time),
    /// The data goes then, SIFS after what announced it.
    Announced(Time),
    /// The station holds the medium (TXOP) and continues then.
    Holding(Time),
}

/// The step after the PPDU on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// An answer.
    Answer(Answer),
    /// The data that it announced.
    Data,
    /// Nothing: it went to everyone.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Cts,
    Ack,
    BlockAck,
}

/// An answer that this station owes.
#[derive(Clone, Copy, Debug)]
struct Response {
    at: Time,
    to: StationId,
    kind: Kind,
    category: AccessCategory,
    mode: Mode,
    reserved: Time,
}

/// Counters of a station.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// PPDUs put on the air, answers included.
    pub ppdus: u64,
    /// PPDUs of data.
    pub data_ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs of these that had been sent before.
    pub retries: u64,
    /// RTS frames.
    pub rts: u64,
    /// Exchanges without the answer they wanted.
    pub unanswered: u64,
    /// Time on the air.
    pub airtime: Time,
}

/// A station's MAC.
#[derive(Debug)]
pub struct Station {
    id: StationId,
    config: MacConfig,
    timing: Timing,
    channel: Channel,
    random: RandomStream,
    access: Vec<Access>,
    exchange: Exchange,
    /// The category and the TID queue that the exchange is for.
    current: (usize, usize),
    /// What the exchange is to carry, while it is only announced.
    data: Ppdu,
    /// In what mode the data last sent went, and how many MPDUs they were; 0 if it was none whose fate tells of the
    /// mode.
    attempt: (Mode, u32),
    /// Rate control towards each receiver.
    rates: Vec<Option<Box<RateControl>>>,
    /// Spatial streams of the other stations; one's own where none are given.
    streams: Arc<[u8]>,
    seed: u64,
    /// Until when the medium may be held.
    txop_end: Time,
    response: Option<Response>,
    /// An answer of this station is on the air.
    responding: bool,
    /// A frame is being received.
    receiving: bool,
    /// Per sender, per category.
    inbound: Vec<[Inbound; 4]>,
    /// When some reorder buffer is due at the earliest.
    reorder: Time,
    counters: Counters,
}

impl Station {
    /// Station `id`, its queues empty; backoff is drawn from `seed`.
    pub fn new(id: StationId, config: MacConfig, seed: u64) -> Self {
        let timing = config.phy.timing();
        let categories = if config.qos { 4 } else { 1 };
        let access = config.access[..categories]
            .iter()
            .map(|parameters| Access { queue: TransmitQueue::new(&config), contention: Contention::new(*parameters) });
        Self {
            id,
            timing,
            channel: Channel::new(timing.eifs - timing.difs),
            random: RandomStream::new(seed, "wifi/backoff", u64::from(id.0)),
            access: access.collect(),
            exchange: Exchange::None,
            current: (0, 0),
            data: Ppdu::new(config.broadcast_mode),
            attempt: (config.broadcast_mode, 0),
            rates: Vec::new(),
            streams: Arc::from([]),
            seed,
            txop_end: Time::ZERO,
            response: None,
            responding: false,
            receiving: false,
            inbound: Vec::new(),
            reorder: Time::MAX,
            counters: Counters::default(),
            config,
        }
    }

    /// Sets the spatial streams of all stations, by their numbers.
    pub fn among(mut self, streams: Arc<[u8]>) -> Self {
        self.streams = streams;
        self
    }

    /// The station's number.
    pub const fn id(&self) -> StationId {
        self.id
    }
    /// The station's settings.
    pub const fn config(&self) -> &MacConfig {
        &self.config
    }
    /// Counters of the station.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
    /// The transmit queue of a category.
    pub fn queue(&self, category: AccessCategory) -> &TransmitQueue {
        &self.access[self.index(category)].queue
    }
    /// The transmit queue of a category.
    pub fn queue_mut(&mut self, category: AccessCategory) -> &mut TransmitQueue {
        let index = self.index(category);
        &mut self.access[index].queue
    }
    /// Packets in all its queues.
    pub fn queued(&self) -> usize {
        self.access.iter().map(|access| access.queue.len()).sum()
    }

    /// When it wants [`Station::on_timer`] to be called; [`Time::MAX`] for never. It may lie in the past: then at once.
    pub fn deadline(&self) -> Time {
        if self.responding {
            return self.reorder;
        }
        let exchange = match self.exchange {
            _ if self.response.is_some() => Time::MAX,
            Exchange::None => {
                let free = self.channel.free_from();
                let due = self.access.iter().filter_map(|access| access.contention.due(free));
                due.min().unwrap_or(Time::MAX)
            }
            Exchange::Sending(_) => Time::MAX,
            Exchange::Awaiting(_, at) | Exchange::Announced(at) | Exchange::Holding(at) => at,
        };
        exchange.min(self.response.map_or(Time::MAX, |response| response.at)).min(self.reorder)
    }

    /// A packet to send.
    pub fn enqueue(&mut self, now: Time, offer: &Offer, out: &mut Output) {
        let index = self.index(offer.category);
        let access = &mut self.access[index];
        access.queue.enqueue(now, offer, out);
        if access.queue.is_ready() {
            access.contention.want(now, &self.channel, &mut self.random);
        }
    }
    /// A management frame to send, `bytes` with header and FCS: at a basic rate, in the highest category.
    pub fn manage(&mut self, now: Time, packet: PacketId, to: StationId, bytes: u32, out: &mut Output) {
        if let Some(access) = self.access.last_mut() {
            access.queue.manage(now, packet, to, bytes, out);
            access.contention.want(now, &self.channel, &mut self.random);
        }
    }
    /// A neighbour is gone, or comes anew: data for it are given back, what it has sent out of order is delivered,
    /// sequence numbers begin again.
    pub fn forget(&mut self, now: Time, neighbour: StationId, out: &mut Output) {
        for access in &mut self.access {
            access.queue.abandon(now, neighbour, out);
        }
        for category in AccessCategory::ALL {
            self.inbound(neighbour, category).forget(out);
        }
    }
    /// A neighbour was switched off and is back: data for it are kept, sequence numbers begin again in both directions.
    pub fn renew(&mut self, now: Time, neighbour: StationId, out: &mut Output) {
        // What is announced would go by its former number.
        if self.data.to == neighbour {
            match self.exchange {
                Exchange::Sending(Step::Data) => self.exchange = Exchange::Sending(Step::Nothing),
                Exchange::Announced(_) => self.conclude(now, false),
                _ => {}
            }
        }
        for access in &mut self.access {
            access.queue.renew(neighbour);
        }
        for category in AccessCategory::ALL {
            self.inbound(neighbour, category).forget(out);
        }
    }
    /// Switches the station off. Returns the packets that it had to send; packets received out of order are lost, and
    /// all peers are forgotten.
    pub fn switch_off(&mut self, now: Time, out: &mut Output) -> Vec<PacketId> {
        for access in &mut self.access {
            access.queue.clear(now, out);
            access.contention = Contention::new(*access.contention.parameters());
        }
        self.channel = Channel::new(self.timing.eifs - self.timing.difs);
        (self.exchange, self.response, self.responding, self.receiving) = (Exchange::None, None, false, false);
        (self.reorder, self.txop_end) = (Time::MAX, Time::ZERO);
        self.rates.clear();
        self.inbound.drain(..).flatten().flat_map(Inbound::into_waiting).collect()
    }
    /// Switches the station on, with the medium `busy` or not.
    pub fn switch_on(&mut self, now: Time, busy: bool) {
        // A medium of which nothing is known was taken up to now.
        self.channel.sense(now, true);
        self.channel.sense(now, busy);
    }
    /// A neighbour dozes, or does not any more: while it does, data for it wait.
    pub fn doze(&mut self, now: Time, neighbour: StationId, dozing: bool) {
        for access in &mut self.access {
            access.queue.doze(neighbour, dozing);
        }
        self.want_again(now);
    }
    /// A neighbour that dozes asks for one MPDU; false if there is none.
    pub fn release(&mut self, now: Time, neighbour: StationId) -> bool {
        let holder = self.access.iter_mut().rev().find(|access| access.queue.queued_for(neighbour) > 0);
        let Some(access) = holder else { return false };
        access.queue.release(neighbour);
        self.want_again(now);
        true
    }
    /// Packets for a neighbour, all categories.
    pub fn queued_for(&self, neighbour: StationId) -> usize {
        self.access.iter().map(|access| access.queue.queued_for(neighbour)).sum()
    }
    /// The rate of its last frame of data.
    pub const fn rate_used(&self) -> BitRate {
        self.attempt.0.rate()
    }
    /// Whether it is receiving a frame.
    pub const fn is_receiving(&self) -> bool {
        self.receiving
    }
    /// Whether its own PPDU is on the air.
    pub fn is_transmitting(&self) -> bool {
        self.responding || matches!(self.exchange, Exchange::Sending(_))
    }
    /// Whether it has nothing under way: it may doze.
    pub fn is_quiet(&self) -> bool {
        self.exchange == Exchange::None && self.response.is_none() && !self.responding && self.queued() == 0
    }
    /// The radio goes off, or on again with the medium `busy` or not.
    pub fn power(&mut self, now: Time, busy: bool) {
        self.receiving = false;
        self.sense(now, busy);
    }
    fn want_again(&mut self, now: Time) {
        for access in &mut self.access {
            if access.queue.is_ready() {
                access.contention.want(now, &self.channel, &mut self.random);
            }
        }
    }
    /// The PHY senses a signal, or does not any more.
    pub fn sense(&mut self, now: Time, busy: bool) {
        if busy {
            self.freeze(now);
        }
        self.channel.sense(now, busy);
    }
    /// The PHY has recognised a preamble: a frame is being received.
    pub fn reception_begins(&mut self) {
        self.receiving = true;
    }
    /// The frame that is being received has ended. `understood` has a bit for each of its MPDUs without errors (bit 0
    /// for a control frame).
    /// `snr` is its ratio of signal to noise.
    pub fn received(&mut self, now: Time, ppdu: &Ppdu, understood: u64, snr: f64, out: &mut Output) {
        self.receiving = false;
        self.channel.on_frame_end(understood != 0);
        let for_me = ppdu.to == self.id && understood != 0;
        if for_me && let Some(rate) = self.rates.get_mut(ppdu.from.0 as usize).and_then(Option::as_mut) {
            rate.observe(snr);
        }
        if let Exchange::Awaiting(answer, _) = self.exchange {
            if for_me && ppdu.from == self.data.to && self.answered(now, answer, ppdu.kind, out) {
                return;
            }
            self.unanswered(now, answer, out);
        }
        if understood == 0 {
            return;
        }
        if !for_me {
            if ppdu.to.is_unicast() {
                self.defer(now, ppdu);
            } else {
                self.take(now, ppdu, understood, out);
            }
            return;
        }
        match ppdu.kind {
            Kind::Rts if self.channel.nav() <= now => self.respond(now, ppdu, Kind::Cts),
            Kind::Data | Kind::Management => {
                self.take(now, ppdu, understood, out);
                let answer = if ppdu.mpdus.len() > 1 { self.block_ack(ppdu) } else { Kind::Ack };
                self.respond(now, ppdu, answer);
            }
            Kind::BlockAckRequest { start } => {
                self.inbound(ppdu.from, ppdu.category).request(now, start, out);
                self.watch_reorder(ppdu.from, ppdu.category);
                let answer = self.block_ack(ppdu);
                self.respond(now, ppdu, answer);
            }
            _ => {}
        }
    }
    /// The station's own PPDU has ended.
    pub fn transmitted(&mut self, now: Time, out: &mut Output) {
        self.channel.transmit(now, false);
        if self.responding {
            self.responding = false;
            return;
        }
        if let Exchange::Sending(step) = self.exchange {
            match step {
                Step::Answer(answer) => {
                    let timeout = self.config.phy.response_timeout(self.config.phy.response(self.data.mode));
                    self.exchange = Exchange::Awaiting(answer, now + timeout);
                }
                Step::Data => self.exchange = Exchange::Announced(now + self.timing.sifs),
                Step::Nothing => self.succeed(now, out),
            }
        }
    }
    /// Time has come to [`Station::deadline`]. At most one PPDU goes; call again if the deadline has not moved on.
    pub fn on_timer(&mut self, now: Time, out: &mut Output) {
        if self.reorder <= now {
            self.release_reordered(now, out);
        }
        if self.responding {
            return;
        }
        if let Some(response) = self.response.take_if(|response| response.at <= now) {
            self.send_response(now, response, out);
            return;
        }
        match self.exchange {
            _ if self.response.is_some() => {}
            Exchange::None => self.contend(now, out),
            Exchange::Awaiting(answer, at) if at <= now => {
                if self.receiving {
                    self.exchange = Exchange::Awaiting(answer, Time::MAX);
                } else {
                    self.unanswered(now, answer, out);
                }
            }
            Exchange::Announced(at) if at <= now => self.send_data(now, out),
            Exchange::Holding(at) if at <= now => self.begin(now, true, out),
            _ => {}
        }
    }

    fn transmit(&mut self, now: Time, out: &mut Output) {
        self.freeze(now);
        self.channel.transmit(now, true);
        self.receiving = false;
        self.counters.ppdus += 1;
        self.counters.airtime += out.ppdu.duration();
        out.transmit = true;
    }
    fn freeze(&mut self, now: Time) {
        if self.channel.is_busy() {
            return;
        }
        let free = self.channel.free_from();
        let contends = self.exchange == Exchange::None && self.response.is_none() && !self.responding;
        for access in &mut self.access {
            access.contention.freeze(now, free, contends, &mut self.random);
        }
    }

    fn index(&self, category: AccessCategory) -> usize {
        if self.config.qos { category as usize } else { 0 }
    }
}
