//! A TID queue: the packets of one access category for one receiver, in the order of transmission. (mac80211 has a
//! queue per station and TID, too.) Packets in flight have sequence numbers and are in a window, which moves as they
//! are acknowledged or given up (IEEE Std 802.11-2012, 9.21). Without block ACK the window is one MPDU wide.

use super::fair::{FairQueue, FairSpec, Late};
use super::frame::{DELIMITER_BYTES, Kind, Mpdu, PacketId, Ppdu, SEQUENCES, StationId, ahead, mpdu_bytes};
use super::output::{Output, Reason};
use std::collections::VecDeque;
use units::Time;

/// A packet that waits or is on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Msdu {
    pub packet: PacketId,
    /// Its length.
    pub bytes: u32,
    /// Its flow.
    pub flow: u32,
    /// ECN-capable: it can be marked.
    pub markable: bool,
    /// When the MAC accepted it.
    pub arrived: Time,
    /// Its place among all packets of the queue.
    pub order: u64,
}

/// Limits of one PPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// MPDUs, and sequence numbers from the first one that is not acknowledged.
    pub mpdus: u32,
    /// Bytes of PSDU.
    pub bytes: u32,
    /// Bytes of an A-MSDU; zero: packets go one by one.
    pub amsdu: u32,
    /// QoS data, whose header is longer.
    pub qos: bool,
}

/// Attempts after which a packet is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryLimits {
    /// For frames up to the RTS threshold, and for RTS (dot11ShortRetryLimit).
    pub short: u8,
    /// For frames above the RTS threshold (dot11LongRetryLimit).
    pub long: u8,
}

/// An MPDU with a sequence number.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    sequence: u16,
    /// Packets in it, from the front of what is in flight.
    msdus: u32,
    bytes: u32,
    /// Times it has been on the air.
    attempts: u32,
    /// Failed attempts by kind.
    short: u8,
    long: u8,
    /// In the PPDU that is being sent.
    sent: bool,
    /// Acknowledged or given up.
    done: bool,
}

/// Packets of one category for one receiver.
#[derive(Debug)]
pub(super) struct TidQueue {
    pub to: StationId,
    /// Carries management frames.
    pub management: bool,
    /// The receiver dozes: the number of MPDUs that it has asked for and not received yet.
    pub dozing: Option<u32>,
    /// Packets not sent yet. With fair queueing, packets that have left `fair` to be sent next.
    waiting: VecDeque<Msdu>,
    fair: Option<Box<FairQueue>>,
    /// Airtime deficit with fair queueing: what it may still use in its turn, in ps.
    pub airtime: i64,
    flight: VecDeque<Msdu>,
    window: VecDeque<Outgoing>,
    next_sequence: u16,
    /// There is a block ACK agreement.
    block_ack: bool,
    /// Consecutive PPDUs of which nothing arrived; 0 again when a packet is given up.
    failures: u32,
    /// A block ACK request is due before more data: how often it has failed.
    request: Option<u8>,
}

/// Length in the aggregate with its delimiter; all but the last are padded to four bytes.
const fn subframe(bytes: u32) -> u32 {
    DELIMITER_BYTES + bytes.next_multiple_of(4)
}

impl TidQueue {
    pub fn new(to: StationId, management: bool, block_ack: bool, fair: Option<FairSpec>) -> Self {
        let (waiting, flight, window) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self {
            to,
            management,
            dozing: None,
            waiting,
            fair: fair.map(|spec| Box::new(FairQueue::new(spec))),
            airtime: 0,
            flight,
            window,
            next_sequence: 0,
            block_ack: block_ack && !management,
            failures: 0,
            request: None,
        }
    }

    pub fn push(&mut self, msdu: Msdu) {
        match &mut self.fair {
            Some(fair) => fair.push(msdu),
            None => self.waiting.push_back(msdu),
        }
    }
    /// Takes the oldest packet that has not been sent yet; with fair queueing one of those in turn.
    pub fn pop_waiting(&mut self) -> Option<Msdu> {
        self.waiting.pop_front().or_else(|| self.fair.as_mut()?.pop(Time::ZERO, &mut Late::default()))
    }
    /// The oldest packet that has not been sent yet.
    pub fn oldest_waiting(&self) -> Option<&Msdu> {
        self.waiting.front().or_else(|| self.fair.as_ref()?.oldest())
    }
    /// The oldest packet.
    pub fn first(&self) -> Option<&Msdu> {
        self.flight.front().or_else(|| self.oldest_waiting())
    }
    /// Bytes of its longest flow, from which a full queue drops a packet.
    pub fn fattest(&self) -> u64 {
        self.fair.as_ref().map_or(0, |fair| fair.fattest())
    }
    pub fn drop_from_fattest(&mut self) -> Option<PacketId> {
        self.fair.as_mut()?.drop_from_fattest()
    }
    /// Whether there is anything to send or to ask.
    pub fn is_empty(&self) -> bool {
        self.first().is_none() && self.request.is_none()
    }
    /// Whether its receiver is awake, or has asked for an MPDU.
    pub fn is_ready(&self) -> bool {
        self.dozing != Some(0)
    }
    /// How many packets there are that can still go.
    pub fn len(&self) -> usize {
        self.flight.len() + self.waiting.len() + self.fair.as_ref().map_or(0, |fair| fair.len())
    }
    /// Whether a block ACK request is due before more data.
    pub const fn must_request(&self) -> bool {
        self.request.is_some()
    }
    /// Failed attempts before the next PPDU, for rate control. MPDUs that a block ACK reports missing do not count.
    pub const fn failures(&self) -> u32 {
        self.failures
    }
    /// First sequence number of the window.
    pub fn start(&self) -> u16 {
        self.window.front().map_or(self.next_sequence, |first| first.sequence)
    }

    /// Fills `ppdu`: retransmissions first, then new packets, within the limits of `room`. Returns how many packets
    /// fair queueing has dropped meanwhile; these may be all. Else the PPDU has at least one MPDU.
    pub fn fill(&mut self, now: Time, room: &Room, ppdu: &mut Ppdu, out: &mut Output) -> u32 {
        let mut late = Late::default();
        ppdu.kind = if self.management { Kind::Management } else { Kind::Data };
        ppdu.agreed = self.block_ack;
        let alone = self.management || self.dozing.is_some();
        let room = &if alone { Room { mpdus: 1, amsdu: 0, ..*room } } else { *room };
        ppdu.mpdus.clear();
        ppdu.packets.clear();
        let (mut total, mut padding, mut at) = (0, 0, 0);
        let fits = |ppdu: &Ppdu, total: u32, bytes: u32| {
            let count = ppdu.mpdus.len() as u32;
            count == 0 || (count < room.mpdus && total + DELIMITER_BYTES + bytes <= room.bytes)
        };
        for outgoing in &mut self.window {
            outgoing.sent = !outgoing.done && fits(ppdu, total, outgoing.bytes);
            if outgoing.sent {
                let packets = self.flight.range(at..at + outgoing.msdus as usize).map(|msdu| msdu.packet);
                outgoing.put(ppdu, packets);
                total += subframe(outgoing.bytes);
                padding = outgoing.bytes.next_multiple_of(4) - outgoing.bytes;
            }
            at += outgoing.msdus as usize;
        }
        while u32::from(ahead(self.start(), self.next_sequence)) < room.mpdus
            && let Some((msdus, bytes)) = self.next_mpdu(now, room, &mut late)
            && fits(ppdu, total, bytes)
        {
            let first = self.flight.len();
            self.flight.extend(self.waiting.drain(..msdus as usize));
            let mut outgoing = Outgoing::new(self.next_sequence, msdus, bytes);
            outgoing.put(ppdu, self.flight.range(first..).map(|msdu| msdu.packet));
            self.window.push_back(outgoing);
            self.next_sequence = (self.next_sequence + 1) % SEQUENCES;
            total += subframe(bytes);
            padding = bytes.next_multiple_of(4) - bytes;
        }
        ppdu.bytes = match &ppdu.mpdus[..] {
            [single] => single.bytes,
            _ => total - padding,
        };
        out.dropped.extend(late.dropped.iter().map(|packet| (*packet, Reason::Delay)));
        out.marked.extend(late.marked);
        late.dropped.len() as u32
    }
    /// How many of the waiting packets make the next MPDU, and its length.
    fn next_mpdu(&mut self, now: Time, room: &Room, late: &mut Late) -> Option<(u32, u32)> {
        let first = self.waiting_at(0, now, late)?.bytes;
        if self.management {
            return Some((1, first));
        }
        // In an A-MSDU each packet has LLC/SNAP and a header of 14 bytes, and all but the last are padded to four.
        let inner = |bytes: u32| bytes + 8 + 14;
        let (mut total, mut count) = (inner(first), 1);
        while total < room.amsdu
            && let Some(msdu) = self.waiting_at(count as usize, now, late)
        {
            let grown = total.next_multiple_of(4) + inner(msdu.bytes);
            if grown > room.amsdu {
                break;
            }
            (total, count) = (grown, count + 1);
        }
        Some(if count == 1 { (1, mpdu_bytes(first, room.qos)) } else { (count, mpdu_bytes(total, room.qos) - 8) })
    }
    /// The packet at a place among those that wait.
    fn waiting_at(&mut self, place: usize, now: Time, late: &mut Late) -> Option<Msdu> {
        if place == self.waiting.len()
            && let Some(fair) = &mut self.fair
        {
            self.waiting.extend(fair.pop(now, late));
        }
        self.waiting.get(place).copied()
    }

    /// The PPDU went on the air.
    pub fn on_air(&mut self) {
        for outgoing in self.window.iter_mut().filter(|outgoing| outgoing.sent) {
            outgoing.attempts += 1;
        }
        if let Some(asked) = &mut self.dozing {
            *asked = asked.saturating_sub(1);
        }
    }
    /// All MPDUs of the PPDU were received, or need no acknowledgement. Returns how many packets leave.
    pub fn succeed(&mut self, out: &mut Output) -> u32 {
        self.failures = 0;
        self.acknowledge(out, |outgoing| outgoing.sent)
    }
    /// Takes in a block ACK. Returns how many MPDUs of the last PPDU arrived, and how many packets leave.
    pub fn block_ack(&mut self, start: u16, received: u64, limits: RetryLimits, out: &mut Output) -> (u32, u32) {
        self.request = None;
        let mut arrived = 0;
        let left = self.acknowledge(out, |outgoing| {
            let place = ahead(start, outgoing.sequence);
            let has = place >= SEQUENCES / 2 || (place < 64 && received >> place & 1 == 1);
            arrived += u32::from(has && outgoing.sent);
            has && outgoing.attempts > 0
        });
        let given_up = self.fail_sent(false, limits, out);
        if arrived > 0 {
            self.failures = 0;
        }
        (arrived, left + given_up)
    }
    /// The attempt has failed. Returns how many packets leave.
    pub fn fail(&mut self, long: bool, limits: RetryLimits, out: &mut Output) -> u32 {
        self.fail_sent(long, limits, out)
    }
    /// An A-MPDU or a request was not answered. A (further) request is due; after too many, all MPDUs count as lost.
    /// Returns how many packets leave.
    pub fn unanswered(&mut self, limits: RetryLimits, out: &mut Output) -> u32 {
        let failures = self.request.map_or(0, |failures| failures + 1);
        if failures < limits.short {
            self.request = Some(failures);
            return 0;
        }
        self.request = None;
        self.fail_sent(false, limits, out)
    }
    /// The receiver is gone: hands all packets back to the owner, oldest first. Returns how many.
    pub fn clear(&mut self, out: &mut Output) -> u32 {
        let before = out.returned.len();
        let mut flight = self.flight.drain(..);
        for outgoing in self.window.drain(..) {
            let msdus = flight.by_ref().take(outgoing.msdus as usize).filter(|_| !outgoing.done);
            out.returned.extend(msdus.map(|msdu| msdu.packet));
        }
        drop(flight);
        let fair = self.fair.as_mut().map(|fair| fair.clear()).into_iter().flatten();
        out.returned.extend(self.waiting.drain(..).chain(fair).map(|msdu| msdu.packet));
        (self.request, self.next_sequence, self.dozing, self.failures) = (None, 0, None, 0);
        (out.returned.len() - before) as u32
    }

    /// The receiver has restarted: packets in flight wait again, and sequence numbers begin with 0.
    pub fn renew(&mut self) {
        let mut waiting = VecDeque::with_capacity(self.flight.len() + self.waiting.len());
        let mut flight = self.flight.drain(..);
        for outgoing in self.window.drain(..) {
            waiting.extend(flight.by_ref().take(outgoing.msdus as usize).filter(|_| !outgoing.done));
        }
        drop(flight);
        waiting.append(&mut self.waiting);
        (self.waiting, self.request, self.next_sequence, self.dozing) = (waiting, None, 0, None);
        self.failures = 0;
    }

    fn acknowledge(&mut self, out: &mut Output, mut done: impl FnMut(&Outgoing) -> bool) -> u32 {
        let (mut at, mut left) = (0, 0);
        for outgoing in &mut self.window {
            let next = at + outgoing.msdus as usize;
            if !outgoing.done && done(outgoing) {
                (outgoing.done, outgoing.sent) = (true, false);
                out.acknowledged.extend(self.flight.range(at..next).map(|msdu| msdu.packet));
                left += outgoing.msdus;
            }
            at = next;
        }
        self.advance();
        left
    }
    fn fail_sent(&mut self, long: bool, limits: RetryLimits, out: &mut Output) -> u32 {
        let (mut at, mut left, mut hole, mut failed) = (0, 0, false, false);
        for outgoing in &mut self.window {
            let next = at + outgoing.msdus as usize;
            if outgoing.sent && !outgoing.done {
                failed = true;
                outgoing.sent = false;
                *(if long { &mut outgoing.long } else { &mut outgoing.short }) += 1;
                if outgoing.short >= limits.short || outgoing.long >= limits.long {
                    outgoing.done = true;
                    let dropped = self.flight.range(at..next).map(|msdu| (msdu.packet, Reason::RetryLimit));
                    out.dropped.extend(dropped);
                    left += outgoing.msdus;
                    hole = true;
                }
            }
            at = next;
        }
        self.failures = if hole { 0 } else { self.failures + u32::from(failed) };
        // The receiver may hold later packets back for one that was given up.
        if hole && self.block_ack {
            self.request = Some(0);
        }
        self.advance();
        left
    }
    /// The window moves past what is done.
    fn advance(&mut self) {
        while let Some(first) = self.window.front().filter(|first| first.done) {
            self.flight.drain(..first.msdus as usize);
            self.window.pop_front();
        }
    }
}

impl Outgoing {
    const fn new(sequence: u16, msdus: u32, bytes: u32) -> Self {
        Self { sequence, msdus, bytes, attempts: 0, short: 0, long: 0, sent: true, done: false }
    }
    fn put(&mut self, ppdu: &mut Ppdu, packets: impl Iterator<Item = PacketId>) {
        self.sent = true;
        let first = ppdu.packets.len() as u32;
        ppdu.packets.extend(packets);
        let (sequence, bytes, retry) = (self.sequence, self.bytes, self.attempts > 0);
        ppdu.mpdus.push(Mpdu { sequence, retry, bytes, first, count: self.msdus });
    }
}
