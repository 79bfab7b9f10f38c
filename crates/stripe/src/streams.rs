//! The streams of a session: what their transports measure, and the choice of the stream for a segment.

use crate::optimizer::has_queue;
use std::collections::BTreeMap;
use units::{BitRate, Bytes, Time};

/// How long a busy end may take to answer.
const BUSY: Time = Time::from_ms(10);

/// A stream's number in its session. Numbers are never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub u32);

/// Measurements of a stream. A TCP socket's come from `TCP_INFO` and `SIOCOUTQ`, a simulated connection's from its
/// endpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// Smoothed round-trip time.
    pub rtt: Time,
    /// Minimum round-trip time of late: the path's without a queue.
    pub rtt_min: Time,
    /// The transport's retransmission timeout without back-off. With back-off a stalled stream would be given more and
    /// more time.
    pub rto: Time,
    /// Rate: the larger of delivery rate and congestion window over round-trip time.
    pub rate: BitRate,
    /// Congestion window. Zero where segments are paced: then none leaves at once.
    pub window: Bytes,
    /// Bytes handed to it in all.
    pub handed: u64,
    /// Bytes acknowledged by the far end's kernel. This proves that the stream lives, not that the peer has read them.
    pub acknowledged: u64,
    /// Bytes that the stream accepts. A segment may be handed over while this is not zero. A stream with no byte in
    /// flight must have room.
    pub room: Bytes,
}

/// Whether a stream is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// Takes segments.
    Usable,
    /// Without progress for too long: it gets nothing new, and what is on it also goes on others.
    Suspect,
    /// Being closed: it gets nothing new.
    Draining,
}

/// One stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    id: StreamId,
    path: u32,
    measured: Measured,
    health: Health,
    /// Open but unused: fewer streams are being tried, and it may be needed again.
    resting: bool,
    /// When it last made progress, or was found idle.
    alive_at: Time,
    /// The longest round-trip times of this round and the last. Small segments meet no queue and make the smoothed time
    /// fall.
    longest: [Time; 2],
}

impl Stream {
    /// Its number.
    pub const fn id(&self) -> StreamId {
        self.id
    }
    /// The path that it takes, in the owner's count.
    pub const fn path(&self) -> u32 {
        self.path
    }
    /// The last measurement, with what was handed over since.
    pub const fn measured(&self) -> &Measured {
        &self.measured
    }
    /// Whether it is used.
    pub const fn health(&self) -> Health {
        self.health
    }
    /// Whether it takes segments: it is usable and not resting.
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
    /// Whether its path has or lately had a queue. Then other streams of that path deliver no sooner.
    pub(crate) fn has_queue(&self) -> bool {
        let longest = self.longest[0].max(self.longest[1]);
        self.measured.window > Bytes::ZERO && has_queue(longest, self.measured.rtt_min)
    }
    /// Whether the congestion window takes `bytes` more at once.
    pub(crate) fn has_window(&self, bytes: u64) -> bool {
        self.backlog() + Bytes::new(bytes) <= self.measured.window
    }
    /// Expected time until `bytes` more are at the far end: half a round trip, and all that is on the stream at its
    /// rate.
    pub fn eta(&self, bytes: u64) -> Time {
        let queued = self.measured.rate.transmission_time(self.backlog() + Bytes::new(bytes));
        (self.measured.rtt / 2).saturating_add(queued)
    }
    /// Time without progress after which it is suspect: two timeouts, at least half a second.
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
    /// The least round-trip time of their path, if all take the same.
    floor: Option<Time>,
    /// Application-limited: the application gives less than the streams could carry. It waits for answers, or for its
    /// disk.
    app_limited: bool,
}

impl Streams {
    /// A stream is ready. Its number is one that no other has had; they need not come in order.
    pub fn add(&mut self, now: Time, id: StreamId, path: u32, measured: Measured) {
        let place = self.list.partition_point(|stream| stream.id < id);
        let (health, longest) = (Health::Usable, [measured.rtt; 2]);
        self.list.insert(place, Stream { id, path, measured, health, resting: false, alive_at: now, longest });
        self.find_floor();
    }
    /// A stream is gone. Each connection has to be told as well:
    /// [`Connection::on_stream_lost`](crate::Connection::on_stream_lost).
    pub fn remove(&mut self, id: StreamId) -> bool {
        let removed = self.place(id).map(|place| self.list.remove(place)).is_some();
        self.find_floor();
        removed
    }
    /// A stream gets nothing new any more.
    pub fn drain(&mut self, id: StreamId) {
        if let Some(stream) = self.get_mut(id) {
            stream.health = Health::Draining;
        }
    }
    /// The first `number` usable streams take segments; the others rest until one is missing or more are wanted.
    pub fn rest_beyond(&mut self, count: u32) {
        let mut used = 0;
        for stream in &mut self.list {
            let usable = stream.health == Health::Usable;
            stream.resting = usable && used >= count;
            used += u32::from(usable);
        }
    }
    /// Notes after a round trip whether the session was application-limited.
    pub fn on_round(&mut self, app_limited: bool) {
        self.app_limited = app_limited;
        for stream in &mut self.list {
            stream.longest = [stream.measured.rtt, stream.longest[0]];
        }
    }
    pub(crate) fn are_app_limited(&self) -> bool {
        self.app_limited
    }
    /// Takes in the present measurement of a stream.
    pub fn update(&mut self, now: Time, id: StreamId, measured: Measured) {
        if let Some(stream) = self.get_mut(id) {
            let progress = measured.acknowledged > stream.measured.acknowledged;
            if progress || stream.backlog() == Bytes::ZERO {
                stream.alive_at = now;
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
    /// Counts a frame of `bytes` that is handed to a stream.
    pub(crate) fn hand(&mut self, now: Time, id: StreamId, bytes: u64) {
        if let Some(stream) = self.get_mut(id) {
            if stream.backlog() == Bytes::ZERO {
                stream.alive_at = now;
            }
            stream.measured.handed += bytes;
            stream.measured.room = stream.measured.room.saturating_sub(Bytes::new(bytes));
        }
    }

    /// When the next stream becomes suspect. Update all measurements before calling [`check`](Self::check) then.
    pub fn deadline(&self) -> Time {
        self.list.iter().map(Stream::stalls_at).min().unwrap_or(Time::MAX)
    }
    /// Makes streams without progress suspect; each connection has to be told of the `suspects`. The last usable stream
    /// never becomes suspect: there is nowhere else to go.
    pub fn check(&mut self, now: Time, suspects: &mut Vec<StreamId>) {
        let mut usable = self.usable();
        for stream in self.list.iter_mut().filter(|stream| stream.stalls_at() <= now) {
            stream.alive_at = now;
            match stream.health {
                Health::Usable if usable > 1 => {
                    usable -= 1;
                    stream.health = Health::Suspect;
                    suspects.push(stream.id);
                }
                Health::Draining => suspects.push(stream.id),
                _ => {}
            }
        }
    }

    /// All of them, by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.list.iter()
    }
    /// Their mean round-trip time; zero without any.
    fn rtt(&self) -> Time {
        let sum = self.list.iter().fold(Time::ZERO, |sum, stream| sum.saturating_add(stream.measured.rtt));
        sum / (self.list.len() as u64).max(1)
    }
    /// Round-trip time for credit; zero without streams. On one path the minimum, at least 10 ms where the smoothed
    /// time reaches that: below, a queue cannot be told from busy ends. On several paths the mean of the smoothed
    /// times, since what one path brings waits for another's queue.
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
    /// The least round-trip time of each path.
    pub(crate) fn floors(&self) -> BTreeMap<u32, Time> {
        let mut floors = BTreeMap::new();
        for stream in &self.list {
            let floor = floors.entry(stream.path).or_insert(stream.measured.rtt_min);
            *floor = stream.measured.rtt_min.min(*floor);
        }
        floors
    }
    /// Whether there is more than one path.
    pub(crate) fn take_several_paths(&self) -> bool {
        self.floor.is_none() && !self.list.is_empty()
    }
    /// How many take segments.
    pub fn usable(&self) -> usize {
        self.list.iter().filter(|stream| stream.health == Health::Usable).count()
    }
    /// One of them.
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

    /// The stream on which a small frame arrives first, whatever its room. Streams that take no segments are chosen
    /// only if there is no other.
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
    /// Chooses the stream that delivers a segment of `bytes` first; `None` means waiting for it. `remaining` is all
    /// that there is to send, if no more is to come; `credit` what the peer still accepts.
    ///
    /// If the stream with the earliest delivery has no room, another one with room gets the segment unless
    /// - the first would have delivered all that remains before the other this one segment (ECF: Lim et al., CoNEXT
    ///   2017, section 4), or
    /// - what the others deliver meanwhile does not fit the peer's credit, so that it would hold them up (BLEST: Ferlin
    ///   et al., IFIP Networking 2016). Of another path it is not expected to be in time: the others must be able to go
    ///   on until it is found late, after twice its time. Or
    /// - it is of the same path and would take a round trip longer: credit that would do for one such stream does not
    ///   for all that have just begun.
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
        if same_path && late.saturating_sub(soon) > other.measured.rtt {
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

    /// The round-trip time for credit, in ms, of streams with a path, a smoothed and a least round-trip time.
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
