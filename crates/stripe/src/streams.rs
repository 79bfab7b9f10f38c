//! The streams of a session: what their transports measure, and the choice of the stream for a segment.

use crate::optimizer::has_queue;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Time};

/// Delay that a busy host may add to a round trip. Below it a queue cannot be told from the host.
const BUSY: Time = Time::from_ms(10);
/// A path that has lost a segment by chance is taken to lose more for this time. Programs that wait for each answer
/// send little, so that a loss in a thousand segments may show once in minutes.
const LOSSES_LAST: Time = Time::from_secs(600);

/// A stream's number in its session. Numbers are never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub u32);

/// Measurements of a stream: of a TCP socket from `TCP_INFO` and `SIOCOUTQ`, of a simulated connection from its
/// endpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// Smoothed round-trip time.
    pub rtt: Time,
    /// Minimum round-trip time of the last minutes: the path's without a queue.
    pub rtt_min: Time,
    /// Retransmission timeout (RTO) without back-off. With back-off a stalled stream would be given more and more time.
    pub rto: Time,
    /// Rate: the larger of delivery rate and congestion window over round-trip time.
    pub rate: BitRate,
    /// Congestion window; zero if segments are paced, since a paced stream sends no window at once.
    pub window: Bytes,
    /// Bytes handed to the stream so far.
    pub handed: u64,
    /// Bytes acknowledged by TCP. This shows that the transport lives, and not that the peer has read them.
    pub acknowledged: u64,
    /// Room: bytes that the stream accepts. It takes a segment while its room is not zero. A stream with no byte in
    /// flight must have room.
    pub room: Bytes,
}

/// Health of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// It takes segments.
    Usable,
    /// It has made no progress for too long. It gets nothing new, and what it carries also goes on others.
    Suspect,
    /// It is being closed. It gets nothing new.
    Draining,
}

/// A stream of the session.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    id: StreamId,
    path: u32,
    measured: Measured,
    health: Health,
    /// Open but unused: fewer streams are being tried. It may be needed again.
    resting: bool,
    /// When it last made progress, or had nothing in flight.
    alive_at: Time,
    /// It has made no progress for too long, and is used because there is no other.
    stalled: bool,
    /// The longest round-trip times of this round and of the last. The smoothed time is no measure of the queue: small
    /// segments meet none and lower it.
    longest: [Time; 2],
}

impl Stream {
    /// The stream's number.
    pub const fn id(&self) -> StreamId {
        self.id
    }
    /// The number of its path, as the owner counts paths.
    pub const fn path(&self) -> u32 {
        self.path
    }
    /// The last measurement, with the bytes handed over since.
    pub const fn measured(&self) -> &Measured {
        &self.measured
    }
    /// Its health.
    pub const fn health(&self) -> Health {
        self.health
    }
    /// Whether it is usable, and not only for want of another.
    pub fn delivers(&self) -> bool {
        self.health == Health::Usable && !self.stalled
    }
    /// Whether it is in use: usable and not resting.
    pub fn is_used(&self) -> bool {
        self.health == Health::Usable && !self.resting
    }
    /// Bytes handed over and not acknowledged.
    pub const fn backlog(&self) -> Bytes {
        Bytes::new(self.measured.handed.saturating_sub(self.measured.acknowledged))
    }
    /// Whether it takes a segment now.
    pub fn has_room(&self) -> bool {
        self.is_used() && self.measured.room > Bytes::ZERO
    }
    /// Whether its path has a queue, or had one in the last round. Then no other stream of that path delivers sooner.
    pub(crate) fn has_queue(&self) -> bool {
        let longest = self.longest[0].max(self.longest[1]);
        self.measured.window > Bytes::ZERO && has_queue(longest, self.measured.rtt_min)
    }
    /// Whether the congestion window takes `bytes` more at once.
    pub(crate) fn has_window(&self, bytes: u64) -> bool {
        self.backlog() + Bytes::new(bytes) <= self.measured.window
    }
    /// Whether it has nothing in flight, and a congestion window below these bytes.
    fn must_grow(&self, bytes: u64) -> bool {
        self.backlog() == Bytes::ZERO && (1..bytes).contains(&self.measured.window.get())
    }
    /// Expected time until `bytes` more have arrived: half a round trip, and the transmission time of the backlog and
    /// these bytes.
    pub fn eta(&self, bytes: u64) -> Time {
        let queued = self.measured.rate.transmission_time(self.backlog() + Bytes::new(bytes));
        (self.measured.rtt / 2).saturating_add(queued)
    }
    /// Time without progress after which a stream is suspect: two RTOs, at least 0.5 s.
    pub(crate) fn patience(&self) -> Time {
        self.measured.rto.saturating_mul(2).max(Time::from_ms(500))
    }
    fn stalls_at(&self) -> Time {
        if self.health == Health::Suspect || self.backlog() == Bytes::ZERO {
            Time::MAX
        } else {
            self.alive_at.saturating_add(self.patience())
        }
    }
}

/// The streams of a session.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    /// By ascending number.
    list: Vec<Stream>,
    /// Minimum round-trip time of the path, if all streams take the same one.
    floor: Option<Time>,
    /// Application-limited: the application gives less than the streams could carry, because it waits for answers or
    /// for its disk.
    app_limited: bool,
    /// Until when the path is taken to lose single segments.
    loses_until: Time,
}

impl Streams {
    /// Adds a stream that is ready. No other stream has had its number. Numbers need not come in order. A stream that
    /// stands still and was the last is due to become suspect.
    pub fn add(&mut self, now: Time, id: StreamId, path: u32, measured: Measured) {
        self.list.iter_mut().filter(|stream| stream.stalled).for_each(|stream| stream.alive_at = Time::ZERO);
        let place = self.list.partition_point(|stream| stream.id < id);
        let (health, longest) = (Health::Usable, [measured.rtt; 2]);
        self.list.insert(
            place,
            Stream { id, path, measured, health, resting: false, alive_at: now, stalled: false, longest },
        );
        self.find_floor();
    }
    /// Removes a stream. The owner must also tell each connection by
    /// [`Connection::on_stream_lost`](crate::Connection::on_stream_lost).
    pub fn remove(&mut self, id: StreamId) -> bool {
        let removed = self.place(id).map(|place| self.list.remove(place)).is_some();
        self.find_floor();
        removed
    }
    /// Marks a stream as being closed: it gets nothing new.
    pub fn drain(&mut self, id: StreamId) {
        if let Some(stream) = self.get_mut(id) {
            stream.health = Health::Draining;
        }
    }
    /// Uses the first `count` usable streams. The others rest until one is missing or more are wanted.
    pub fn rest_beyond(&mut self, count: u32) {
        let mut used = 0;
        for stream in &mut self.list {
            let usable = stream.health == Health::Usable;
            stream.resting = usable && used >= count;
            used += u32::from(usable);
        }
    }
    /// Notes at the end of a round trip whether the session was application-limited.
    pub fn on_round(&mut self, app_limited: bool) {
        self.app_limited = app_limited;
        for stream in &mut self.list {
            stream.longest = [stream.measured.rtt, stream.longest[0]];
        }
    }
    pub(crate) fn are_app_limited(&self) -> bool {
        self.app_limited
    }
    /// Notes that a segment was lost, though no queue is there that could have dropped it.
    pub fn on_random_loss(&mut self, now: Time) {
        self.loses_until = now.saturating_add(LOSSES_LAST);
    }
    /// Whether a stream's path has a queue, or had one in the last round.
    pub(crate) fn have_queues(&self) -> bool {
        self.list.iter().any(|stream| stream.is_used() && stream.has_queue())
    }
    /// Takes in a new measurement of a stream.
    pub fn update(&mut self, now: Time, id: StreamId, measured: Measured) {
        if let Some(stream) = self.get_mut(id) {
            let progress = measured.acknowledged > stream.measured.acknowledged;
            if progress || stream.backlog() == Bytes::ZERO {
                (stream.alive_at, stream.stalled) = (now, false);
                if stream.health == Health::Suspect {
                    stream.health = Health::Usable;
                }
            }
            stream.longest[0] = stream.longest[0].max(measured.rtt);
            let before = std::mem::replace(&mut stream.measured, measured);
            if before.rtt_min != measured.rtt_min {
                self.find_floor();
            }
        }
    }
    /// Counts a frame of `bytes` bytes that is handed to a stream.
    pub(crate) fn hand(&mut self, now: Time, id: StreamId, bytes: u64) {
        if let Some(stream) = self.get_mut(id) {
            if stream.backlog() == Bytes::ZERO {
                stream.alive_at = now;
            }
            stream.measured.handed += bytes;
            stream.measured.room = stream.measured.room.saturating_sub(Bytes::new(bytes));
        }
    }

    /// When the next stream becomes suspect. The owner updates all measurements before it calls [`check`](Self::check).
    pub fn deadline(&self) -> Time {
        self.list.iter().map(Stream::stalls_at).min().unwrap_or(Time::MAX)
    }
    /// Marks streams without progress as suspect, and lists them in `suspects` with those that are being closed and
    /// make none. The owner must tell each connection of them. The last usable stream does not become suspect: there is
    /// nowhere else to go. Returns whether it was found to stand still.
    pub fn check(&mut self, now: Time, suspects: &mut Vec<StreamId>) -> bool {
        let mut usable = self.usable();
        let mut stalls = false;
        for stream in self.list.iter_mut().filter(|stream| stream.stalls_at() <= now) {
            stream.alive_at = now;
            match stream.health {
                Health::Usable if usable > 1 => {
                    usable -= 1;
                    (stream.health, stream.stalled) = (Health::Suspect, false);
                    suspects.push(stream.id);
                }
                Health::Usable => {
                    stalls |= !stream.stalled;
                    stream.stalled = true;
                }
                Health::Draining => suspects.push(stream.id),
                Health::Suspect => {}
            }
        }
        stalls
    }

    /// All streams by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.list.iter()
    }
    /// Mean of the smoothed round-trip times; zero without streams.
    fn rtt(&self) -> Time {
        let sum = self.list.iter().fold(Time::ZERO, |sum, stream| sum.saturating_add(stream.measured.rtt));
        sum / (self.list.len() as u64).max(1)
    }
    /// Round-trip time for credit; zero without streams. On one path: the minimum, or the smoothed time up to 10 ms,
    /// since below 10 ms a queue cannot be told from busy hosts. On several paths: the mean of the smoothed times,
    /// since what one path brings waits for the queue of another.
    pub(crate) fn window_rtt(&self) -> Time {
        match self.floor {
            Some(floor) => floor.max(self.rtt().min(BUSY)),
            None => self.rtt(),
        }
    }
    fn find_floor(&mut self) {
        let floors = self.floors();
        self.floor = floors.first_key_value().map(|(_, floor)| *floor).filter(|_| floors.len() == 1);
    }
    /// Minimum round-trip time of each path.
    pub(crate) fn floors(&self) -> BTreeMap<u32, Time> {
        let mut floors = BTreeMap::new();
        for stream in &self.list {
            let floor = floors.entry(stream.path).or_insert(stream.measured.rtt_min);
            *floor = stream.measured.rtt_min.min(*floor);
        }
        floors
    }
    /// Whether the streams take more than one path.
    pub(crate) fn take_several_paths(&self) -> bool {
        self.floor.is_none() && !self.list.is_empty()
    }
    /// Number of usable streams, resting ones included.
    pub fn usable(&self) -> usize {
        self.list.iter().filter(|stream| stream.health == Health::Usable).count()
    }
    /// A stream by its number.
    pub fn get(&self, id: StreamId) -> Option<&Stream> {
        self.place(id).map(|place| &self.list[place])
    }
    fn get_mut(&mut self, id: StreamId) -> Option<&mut Stream> {
        self.place(id).map(|place| &mut self.list[place])
    }
    fn place(&self, id: StreamId) -> Option<usize> {
        self.list.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    // === Choice ===

    /// The stream on which a small frame arrives first, whether it has room or not. A stream that is not in use is
    /// chosen only if there is no other.
    pub(crate) fn soonest(&self, bytes: u64) -> Option<StreamId> {
        let order = |stream: &&Stream| (stream.health != Health::Usable, stream.resting, stream.eta(bytes), stream.id);
        self.list.iter().min_by_key(order).map(Stream::id)
    }
    /// The stream with room, other than `not`, on which a segment arrives first.
    pub(crate) fn soonest_with_room(&self, bytes: u64, not: Option<StreamId>) -> Option<&Stream> {
        self.list
            .iter()
            .filter(|stream| stream.has_room() && Some(stream.id) != not)
            .min_by_key(|stream| (stream.eta(bytes), stream.id))
    }
    /// The stream on which a short message goes as well as on the `first`: none unless the path loses segments now and
    /// then, and the application gives little to send. Where bytes queue, or wait for a window, a copy would be in the
    /// way of others. Paced streams have no window: on them it may wait for a tenth of a round trip.
    pub(crate) fn second(&self, now: Time, bytes: u64, first: StreamId) -> Option<StreamId> {
        let second = self.soonest_with_room(bytes, Some(first))?;
        let waits = second.eta(bytes).saturating_sub(second.measured.rtt / 2);
        let is_free = second.has_window(bytes) || waits <= second.measured.rtt / 10;
        (now < self.loses_until && self.app_limited && is_free && !second.has_queue()).then_some(second.id)
    }
    /// Chooses the stream for a segment of `bytes` bytes; `None` means that it is better to wait. `remaining` is all
    /// that is left to send, if no more is to come. `credit` is what the peer still accepts.
    ///
    /// The stream with the earliest delivery gets the segment if it has room. Otherwise another stream with room gets
    /// it, except in three cases:
    /// - ECF (Lim et al., CoNEXT 2017, section 4): the first stream would deliver all that remains before the other
    ///   stream delivers this segment.
    /// - BLEST (Ferlin et al., IFIP Networking 2016): the peer's credit does not cover this segment and what the other
    ///   streams deliver meanwhile, so that they would wait for it. A stream of another path is not trusted to be in
    ///   time: the credit must last until its segment is found late, after twice its time.
    /// - The other stream takes the same path and would deliver more than a round trip later. Credit that suffices for
    ///   one stream that has just begun does not suffice for many. An idle stream whose window is less than the segment
    ///   is excepted: a lost SYN, a timeout or an early loss leaves a window of a few packets, which grows only where it
    ///   is used.
    pub(crate) fn earliest(&self, bytes: u64, remaining: Option<u64>, credit: u64) -> Option<StreamId> {
        let other = self.soonest_with_room(bytes, None)?;
        let best = self
            .list
            .iter()
            .filter(|stream| stream.is_used() && (stream.has_room() || stream.backlog() > Bytes::ZERO))
            .min_by_key(|stream| (stream.eta(bytes), !stream.has_room(), stream.id))?;
        if best.has_room() {
            return Some(best.id);
        }
        let (soon, late) = (best.eta(bytes), other.eta(bytes));
        if remaining.is_some_and(|remaining| best.eta(remaining) <= late) {
            return None;
        }
        let same_path = other.path == best.path;
        if same_path && !other.must_grow(bytes) && late.saturating_sub(soon) > other.measured.rtt {
            return None;
        }
        let until = if same_path { late } else { late.saturating_mul(2) };
        let meanwhile: u64 = self
            .list
            .iter()
            .filter(|stream| stream.is_used() && stream.id != other.id)
            .map(|stream| stream.measured.rate.bytes_in(until.saturating_sub(soon)).get())
            .sum();
        (bytes.saturating_add(meanwhile) <= credit).then_some(other.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The round-trip time for credit in ms. Each stream is given by its path, its smoothed and its minimum round-trip
    /// time in ms.
    fn window_rtt(streams: &[(u32, u64, u64)]) -> u64 {
        let mut all = Streams::default();
        for (id, (path, rtt, rtt_min)) in (1..).zip(streams) {
            let measured = Measured {
                rtt: Time::from_ms(*rtt),
                rtt_min: Time::from_ms(*rtt_min),
                rto: Time::from_ms(200),
                rate: BitRate::from_mbps(100),
                window: Bytes::ZERO,
                handed: 0,
                acknowledged: 0,
                room: Bytes::ZERO,
            };
            all.add(Time::ZERO, StreamId(id), *path, measured);
        }
        all.window_rtt().as_ms()
    }

    #[test]
    fn a_queue_counts_up_to_ten_milliseconds() {
        assert_eq!(window_rtt(&[]), 0);
        assert_eq!(window_rtt(&[(0, 4, 2)]), 4);
        assert_eq!(window_rtt(&[(0, 30, 2)]), 10);
        assert_eq!(window_rtt(&[(0, 30, 10)]), 10);
        assert_eq!(window_rtt(&[(0, 200, 50), (0, 100, 60)]), 50);
        // Of several paths the mean of the smoothed times.
        assert_eq!(window_rtt(&[(0, 200, 50), (1, 100, 60)]), 150);
    }
}
