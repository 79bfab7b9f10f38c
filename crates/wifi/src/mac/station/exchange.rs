//! Exchanges that a station begins: from the slot it has won to the answer or its absence.

use super::{Answer, Exchange, Station, Step};
use crate::mac::frame::{Kind, Ppdu, StationId};
use crate::mac::output::Output;
use crate::mac::tid_queue::Room;
use crate::phy::{AccessCategory, ErrorTable, Mode, Settings};
use crate::rate::{Choice, RateControl};
use des::RandomStream;
use units::Time;

impl Station {
    /// Categories whose slot has come: the highest sends, the others collide with it inside the station (9.19.2.3).
    pub(super) fn contend(&mut self, now: Time, out: &mut Output) {
        let free = self.channel.free_from();
        let mut winner = None;
        for (index, access) in self.access.iter_mut().enumerate().rev() {
            if access.contention.due(free).is_none_or(|due| due > now) {
                continue;
            }
            if winner.is_none() {
                winner = Some(index);
            } else {
                access.contention.fail(now, &mut self.random);
            }
        }
        if let Some(index) = winner {
            let contention = &mut self.access[index].contention;
            contention.win();
            self.current.0 = index;
            self.txop_end = now + contention.parameters().txop_limit;
            self.begin(now, false, out);
        }
    }
    /// Begins an exchange for the category that has won the medium, or that holds it: then it must end within the TXOP.
    pub(super) fn begin(&mut self, now: Time, holding: bool, out: &mut Output) {
        self.exchange = Exchange::None;
        let index = self.current.0;
        let queue = &mut self.access[index].queue;
        if self.config.lifetime < Time::MAX {
            queue.expire(now, now.saturating_sub(self.config.lifetime), out);
        }
        let Some(at) = queue.next() else {
            self.abstain(now, index);
            return;
        };
        self.current.1 = at;
        let tid_queue = queue.tid_queue_mut(at);
        let basic = tid_queue.management || !tid_queue.to.is_unicast();
        let (to, transmission) = (tid_queue.to, tid_queue.failures());
        let choice = if basic {
            Choice { mode: self.config.broadcast_mode, probe: false, announced: false }
        } else {
            self.rate(to).select(now, transmission)
        };
        let mode = choice.mode;
        let mut room = self.room(index, mode, now);
        if choice.probe {
            room.bytes = 0;
        }
        let tid_queue = self.access[index].queue.tid_queue_mut(at);
        let data = &mut self.data;
        (data.from, data.to, data.category, data.mode) = (self.id, tid_queue.to, AccessCategory::ALL[index], mode);
        if tid_queue.must_request() {
            data.mode = self.config.phy.response(mode);
            data.kind = Kind::BlockAckRequest { start: tid_queue.start() };
            data.bytes = data.kind.control_bytes();
            data.mpdus.clear();
            data.packets.clear();
            self.send_data(now, out);
            return;
        }
        let expired = tid_queue.fill(now, &room, data, out);
        self.access[index].queue.leave(now, self.current.1, expired);
        let data = &self.data;
        if data.mpdus.is_empty() {
            // All that waited was dropped on the way: what is left contends anew.
            self.abstain(now, index);
            return;
        }
        if holding && now + self.data.duration() + self.answer_time(&self.data) > self.txop_end {
            self.access[index].contention.draw(now, &mut self.random);
            return;
        }
        let announced = choice.announced || (data.to.is_unicast() && data.bytes > self.config.rts_threshold);
        let protected = self.config.phy.needs_protection(mode);
        if announced || protected {
            self.announce(now, announced, out);
        } else {
            self.send_data(now, out);
        }
    }
    /// The station has won the medium and has nothing to send.
    pub(super) fn abstain(&mut self, now: Time, index: usize) {
        let access = &mut self.access[index];
        access.contention.draw(now, &mut self.random);
        if !access.queue.is_ready() {
            access.contention.rest();
        }
    }
    /// Limits of a PPDU of a category in a mode.
    pub(super) fn room(&self, index: usize, mode: Mode, now: Time) -> Room {
        let room = Room {
            mpdus: 1,
            bytes: self.config.aggregation.bytes,
            amsdu: self.config.aggregation.amsdu,
            qos: self.config.qos,
        };
        let aggregation = &self.config.aggregation;
        if aggregation.mpdus == 1 {
            return room;
        }
        let answer = self.timing.sifs + self.config.phy.response(mode).duration(32);
        let txop = match self.access[index].contention.parameters().txop_limit {
            Time::ZERO => Time::MAX,
            _ => self.txop_end.saturating_sub(now + answer),
        };
        let bytes = aggregation.bytes.min(mode.max_psdu());
        Room { mpdus: aggregation.mpdus, bytes: longest_psdu(mode, mode.max_duration().min(txop), bytes), ..room }
    }

    /// An RTS to the receiver, or a CTS to oneself that older stations understand.
    pub(super) fn announce(&mut self, now: Time, rts: bool, out: &mut Output) {
        let phy = &self.config.phy;
        let (sifs, data) = (self.timing.sifs, self.data.duration());
        let mode = phy.request(self.data.mode);
        let kind = if rts { Kind::Rts } else { Kind::Cts };
        let answer = if rts { phy.response(mode).duration(Kind::Cts.control_bytes()) + sifs } else { Time::ZERO };
        let after = self.answer_time(&self.data);
        let ppdu = &mut out.ppdu;
        ppdu.from = self.id;
        ppdu.to = if rts { self.data.to } else { self.id };
        (ppdu.kind, ppdu.category, ppdu.mode) = (kind, self.data.category, mode);
        ppdu.bytes = kind.control_bytes();
        ppdu.reserved = answer + sifs + data + after;
        ppdu.mpdus.clear();
        ppdu.packets.clear();
        self.counters.rts += u64::from(rts);
        self.exchange = Exchange::Sending(if rts { Step::Answer(Answer::Cts) } else { Step::Data });
        self.transmit(now, out);
    }
    pub(super) fn send_data(&mut self, now: Time, out: &mut Output) {
        self.data.reserved = self.answer_time(&self.data);
        let step = match self.data.kind {
            _ if !self.data.to.is_unicast() => Step::Nothing,
            kind if kind.is_queued() && self.data.mpdus.len() == 1 => Step::Answer(Answer::Ack),
            _ => Step::Answer(Answer::BlockAck),
        };
        if self.data.kind.is_queued() {
            self.counters.data_ppdus += 1;
            self.counters.mpdus += self.data.mpdus.len() as u64;
            self.counters.retries += self.data.mpdus.iter().filter(|mpdu| mpdu.retry).count() as u64;
            let airtime = self.data.duration();
            let queue = &mut self.access[self.current.0].queue;
            queue.tid_queue_mut(self.current.1).on_air();
            queue.charge(self.current.1, airtime);
        }
        let tells = self.data.kind == Kind::Data && self.data.to.is_unicast();
        self.attempt = (self.data.mode, if tells { self.data.mpdus.len() as u32 } else { 0 });
        // The addressee is still needed here; what it carries goes.
        let (to, mode, kind, bytes) = (self.data.to, self.data.mode, self.data.kind, self.data.bytes);
        std::mem::swap(&mut self.data, &mut out.ppdu);
        (self.data.to, self.data.mode, self.data.kind, self.data.bytes) = (to, mode, kind, bytes);
        self.exchange = Exchange::Sending(step);
        self.transmit(now, out);
    }
    /// How long after a PPDU of data or a request its answer lasts, SIFS included.
    pub(super) fn answer_time(&self, ppdu: &Ppdu) -> Time {
        if !ppdu.to.is_unicast() {
            return Time::ZERO;
        }
        let single = ppdu.kind.is_queued() && ppdu.mpdus.len() == 1;
        let answer = if single { Kind::Ack } else { Kind::BlockAck { start: 0, received: 0 } };
        self.timing.sifs + self.config.phy.response(ppdu.mode).duration(answer.control_bytes())
    }

    /// A frame from the addressee of the exchange: is it the answer?
    pub(super) fn answered(&mut self, now: Time, awaited: Answer, kind: Kind, out: &mut Output) -> bool {
        match (awaited, kind) {
            (Answer::Cts, Kind::Cts) => self.exchange = Exchange::Announced(now + self.timing.sifs),
            (Answer::Ack, Kind::Ack) => {
                self.report(self.attempt.1);
                self.succeed(now, out);
            }
            (Answer::BlockAck, Kind::BlockAck { start, received }) => {
                let (index, at) = self.current;
                let queue = &mut self.access[index].queue;
                let (arrived, left) = queue.tid_queue_mut(at).block_ack(start, received, self.config.retry_limits, out);
                queue.leave(now, at, left);
                self.report(arrived);
                self.go_on(now);
            }
            _ => return false,
        }
        true
    }
    /// All that was sent has arrived, or went to everyone.
    pub(super) fn succeed(&mut self, now: Time, out: &mut Output) {
        let (index, at) = self.current;
        let queue = &mut self.access[index].queue;
        let left = queue.tid_queue_mut(at).succeed(out);
        queue.leave(now, at, left);
        self.go_on(now);
    }
    /// The awaited answer has not come.
    pub(super) fn unanswered(&mut self, now: Time, awaited: Answer, out: &mut Output) {
        self.counters.unanswered += 1;
        if awaited != Answer::Cts {
            self.report(0);
        }
        let (index, at) = self.current;
        let (limits, long) = (self.config.retry_limits, self.data.bytes > self.config.rts_threshold);
        let queue = &mut self.access[index].queue;
        let tid_queue = queue.tid_queue_mut(at);
        let left = match awaited {
            Answer::Cts => tid_queue.fail(false, limits, out),
            Answer::Ack => tid_queue.fail(long, limits, out),
            Answer::BlockAck => tid_queue.unanswered(limits, out),
        };
        queue.leave(now, at, left);
        self.conclude(now, left > 0);
    }
    /// The exchange has succeeded: hold the medium if that is allowed, else contend anew.
    pub(super) fn go_on(&mut self, now: Time) {
        let hold = self.access[self.current.0].contention.parameters().txop_limit > Time::ZERO;
        self.conclude(now, true);
        if hold && now + self.timing.sifs < self.txop_end {
            self.exchange = Exchange::Holding(now + self.timing.sifs);
        }
    }
    /// The exchange is over, and its packet's series of attempts too, if `last`.
    pub(super) fn conclude(&mut self, now: Time, last: bool) {
        self.exchange = Exchange::None;
        let access = &mut self.access[self.current.0];
        let contention = &mut access.contention;
        if last {
            contention.succeed(now, &mut self.random);
        } else {
            contention.fail(now, &mut self.random);
        }
        if !access.queue.is_ready() {
            contention.rest();
        }
    }

    /// The rate control towards a receiver.
    pub(super) fn rate(&mut self, to: StationId) -> &mut RateControl {
        let at = to.0 as usize;
        if at >= self.rates.len() {
            self.rates.resize_with(at + 1, || None);
        }
        let (phy, streams) = (&self.config.phy, self.streams.get(at).copied());
        self.rates[at].get_or_insert_with(|| {
            let peer = Settings { streams: streams.unwrap_or(phy.streams), ..*phy };
            let random = RandomStream::new(self.seed, "wifi/rate", u64::from(self.id.0) << 32 | u64::from(to.0));
            Box::new(RateControl::new(self.config.rate, phy, &peer, ErrorTable::of(self.config.errors), random))
        })
    }
    /// Tells rate control how the last attempt went.
    pub(super) fn report(&mut self, successes: u32) {
        let (mode, attempts) = (self.attempt.0, std::mem::take(&mut self.attempt.1));
        if attempts > 0
            && let Some(rate) = self.rates.get_mut(self.data.to.0 as usize).and_then(Option::as_mut)
        {
            rate.report(mode, attempts, successes.min(attempts));
        }
    }
}

/// The longest PSDU up to `bytes` that a mode sends within `time`.
fn longest_psdu(mode: Mode, time: Time, bytes: u32) -> u32 {
    if mode.duration(bytes) <= time {
        return bytes;
    }
    let (mut fits, mut too_long) = (0, bytes);
    while too_long - fits > 1 {
        let middle = fits.midpoint(too_long);
        if mode.duration(middle) <= time {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    fits
}
