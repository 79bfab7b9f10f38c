//! Which of several paths gets the next stream, and which gives one up. Without I/O.
//!
//! Each path has at least one stream, or its rate would be unknown. Any other stream goes where it brings most by
//! measurement: the gain that one stream more has brought there, or, where that was never tried, the mean of a stream
//! there, as if windows or random losses limited them. A stream that would bring more elsewhere is moved.
//!
//! A path without a usable stream counts for nothing, whatever is being opened on it. Its share is opened on the others
//! at once, and returned when it answers again. One stream at a time probes it. Where the limit of streams is reached,
//! the dead path's streams make room, and a place is kept for the probe.

use std::collections::BTreeMap;
use stripe::StreamId;
use units::Time;

/// Interval between two measurements.
pub(crate) const INTERVAL: Time = Time::from_secs(1);
/// Bytes that all paths together must carry in an interval for its measurement to count.
const BULK: u64 = 256 << 10;
/// Intervals that are compared, after one that is skipped: streams begin slowly.
const MEASURED: u32 = 3;
/// A change of rate by this factor with the same number of streams is a change of the path.
const CHANGED: f64 = 1.5;
/// Moving a stream must promise this many times its cost.
const PROFIT: f64 = 1.2;
/// A gain or loss below this share of the proportional one counts as none: rates vary.
const NOTHING: f64 = 0.1;
/// The others wait this long for a path's first stream before they take its share.
const PROMPT: Time = Time::from_secs(1);
/// Pause between attempts at a path on which streams fail: the first, and the longest.
const RETRY: [Time; 2] = [Time::from_ms(100), Time::from_secs(5)];
/// A stream that is not open after this time does not keep another from being tried while none works.
const HANGING: Time = Time::from_ms(500);
/// The longest pause while no path has a stream that works: programs wait for the first.
const RETRY_ALONE: Time = Time::from_ms(200);

/// The state of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub id: StreamId,
    pub path: u32,
    /// The stream delivers, or has not been found not to.
    pub usable: bool,
    /// Bytes that the stream has carried, both ways.
    pub moved: u64,
}

/// A path and its measurements.
#[derive(Clone, Debug, Default)]
struct Path {
    /// Whether this is the only path.
    only: bool,
    /// Streams, usable or not; and streams being opened, with the time since when.
    streams: u32,
    usable: u32,
    dialling: u32,
    dialled_at: Time,
    /// Streams that the path had while it was well; and those to return to it, which went to the others when it died.
    held: u32,
    owed: u32,
    /// Bytes carried in this interval.
    moved: u64,
    /// Bulk intervals since the number of streams changed, and the rates, in bytes per second, of those that count.
    intervals: u32,
    sum: f64,
    /// The last measured rate in bytes per second; and the rates measured by number of streams.
    rate: f64,
    known: BTreeMap<u32, f64>,
    /// After failures: when the path is tried again, and the pause after the next failure.
    retry_at: Time,
    pause: Option<Time>,
}

impl Path {
    /// Expected gain of one stream more, in bytes per second. An untried one brings no more than the last one did:
    /// gains diminish.
    fn gain(&self) -> f64 {
        let streams = self.all();
        let each = self.rate / f64::from(streams.max(1));
        let last = self.difference(streams).unwrap_or(each);
        self.difference(streams + 1).unwrap_or(last.min(each))
    }
    /// Expected loss of one stream less. If untried, between what one more brought and what each has on average.
    fn cost(&self) -> f64 {
        let each = self.rate / f64::from(self.streams.max(1));
        let next = self.difference(self.streams + 1).unwrap_or(each);
        self.difference(self.streams).unwrap_or(f64::midpoint(next, each))
    }
    /// The measured contribution of the last of `streams` streams.
    fn difference(&self, streams: u32) -> Option<f64> {
        let (less, more) = (self.known.get(&(streams.checked_sub(1)?))?, self.known.get(&streams)?);
        let nothing = NOTHING * more / f64::from(streams);
        Some(if more - less < nothing { 0.0 } else { more - less })
    }
    /// Streams that the path has or will have.
    fn all(&self) -> u32 {
        self.streams + self.dialling
    }
    /// Streams that count: none while the path does not answer.
    fn count(&self) -> u32 {
        match self.usable {
            0 if self.only => self.dialling,
            0 => 0,
            _ => self.all(),
        }
    }
    fn answers(&self) -> bool {
        self.usable > 0 || self.only
    }
    /// Whether the path's first stream is being opened, and may be there at any moment.
    fn is_promising(&self, now: Time) -> bool {
        let first = self.all() == self.dialling && self.dialling > 0 && self.owed == 0 && self.pause.is_none();
        first && now < self.dialled_at.saturating_add(PROMPT)
    }
    /// Places that others may not take: one is always the path's own.
    fn places(&self) -> u32 {
        self.all().max(1)
    }
    /// Whether the path answers again and has not got its streams back.
    fn lacks(&self, now: Time) -> bool {
        self.usable > 0 && self.retry_at <= now && self.all() < self.owed
    }
    /// Takes in the rate of an interval that is over.
    fn measure(&mut self, rate: f64) {
        self.intervals += 1;
        if self.intervals == 1 {
            return;
        }
        self.sum += rate;
        if self.intervals <= MEASURED {
            return;
        }
        let mean = self.sum / f64::from(MEASURED);
        let changed = |before: &f64| mean > CHANGED * before || *before > CHANGED * mean;
        if self.known.get(&self.streams).is_some_and(changed) {
            self.known.clear();
        }
        self.known.insert(self.streams, mean);
        (self.rate, self.intervals, self.sum) = (mean, 1, 0.0);
    }
    /// Records the number of streams, and how many of them are usable.
    fn stand(&mut self, streams: u32, usable: u32) {
        if streams != self.streams {
            (self.intervals, self.sum) = (0, 0.0);
        }
        if usable == 0 && self.usable > 0 {
            self.owed = self.owed.max(self.held);
        }
        (self.streams, self.usable) = (streams, usable);
        if usable > 0 && self.all() >= self.owed {
            self.owed = 0;
        }
    }
}

/// The paths of a session.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    list: Vec<Path>,
    /// What each stream had carried, in bytes.
    moved: BTreeMap<StreamId, u64>,
    /// When the interval began.
    since: Time,
    /// The path for which a stream was taken from another one.
    promised: Option<u32>,
}

impl Paths {
    pub fn new(count: usize) -> Self {
        let path = Path { only: count <= 1, ..Path::default() };
        Self { list: vec![path; count.max(1)], moved: BTreeMap::new(), since: Time::ZERO, promised: None }
    }
    /// Takes in the state of all streams that are not being closed.
    pub fn see(&mut self, now: Time, streams: &[Standing]) {
        for (path, known) in (0..).zip(&mut self.list) {
            let of = || streams.iter().filter(|stream| stream.path == path);
            known.stand(of().count() as u32, of().filter(|stream| stream.usable).count() as u32);
        }
        if self.list.len() == 1 {
            return;
        }
        for stream in streams {
            let before = self.moved.insert(stream.id, stream.moved).unwrap_or(0);
            if let Some(path) = self.list.get_mut(stream.path as usize) {
                path.moved += stream.moved.saturating_sub(before);
            }
        }
        self.moved.retain(|id, _| streams.iter().any(|stream| stream.id == *id));
        let time = now.saturating_sub(self.since);
        if time >= INTERVAL {
            self.since = now;
            let bulk = self.list.iter().map(|path| path.moved).sum::<u64>() >= BULK;
            for path in &mut self.list {
                if path.usable == path.streams {
                    path.held = path.streams;
                }
                let moved = std::mem::take(&mut path.moved);
                if bulk {
                    path.measure(moved as f64 / time.as_secs_f64());
                }
            }
        }
    }
    /// Notes that a stream is being opened on a path, and how that ended.
    pub fn dial(&mut self, now: Time, path: u32) {
        if let Some(path) = self.list.get_mut(path as usize) {
            path.dialled_at = now;
            path.dialling += 1;
        }
    }
    pub fn dialled(&mut self, now: Time, path: u32, well: bool, jitter: f64) {
        let longest = if self.list.iter().any(|path| path.usable > 0) { RETRY[1] } else { RETRY_ALONE };
        let Some(path) = self.list.get_mut(path as usize) else { return };
        path.dialling -= 1;
        if well {
            (path.pause, path.retry_at) = (None, Time::ZERO);
        } else if path.retry_at <= now {
            let pause = path.pause.map_or(RETRY[0], |pause| (pause * 2).min(longest));
            path.pause = Some(pause);
            path.retry_at = now.saturating_add(Time::from_secs_f64(pause.as_secs_f64() * jitter));
        }
    }
    /// Streams that are being opened on paths that answer.
    pub fn dialling(&self) -> usize {
        self.list.iter().filter(|path| path.answers()).map(|path| path.dialling as usize).sum()
    }
    /// The path on which to open a stream now, where `want` are wanted and at most `most` may exist.
    pub fn next(&mut self, now: Time, want: u32, most: u32) -> Option<u32> {
        let have: u32 = self.list.iter().map(Path::count).sum();
        let all: u32 = self.list.iter().map(Path::all).sum();
        let open = || (0..).zip(&self.list).filter(|(_, path)| path.retry_at <= now);
        if all >= most {
            return None;
        }
        if let Some((number, _)) = open().find(|(_, path)| path.all() == 0) {
            return Some(number);
        }
        let tried = |path: &Path| path.streams > 0 || path.pause.is_some();
        if self.list.iter().all(|path| path.usable == 0) && self.list.iter().any(tried) {
            // One stream at a time asks whether a path is there again.
            // A handshake that the outage caught waits for TCP's timer, so another may pass it.
            let hangs = |path: &Path| now >= path.dialled_at.saturating_add(HANGING);
            return open().find(|(_, path)| path.dialling == 0 || hangs(path)).map(|(number, _)| number);
        }
        let places: u32 = self.list.iter().map(Path::places).sum();
        if have >= want || places >= most {
            return None;
        }
        let promised = self.promised.take();
        let due = |(number, path): &(u32, &Path)| path.lacks(now) || path.answers() && Some(*number) == promised;
        if let Some((number, _)) = open().find(due) {
            return Some(number);
        }
        // The first of equals: with fewer streams, then by number. A path that may answer at any moment keeps its
        // share.
        let mut candidates: Vec<(u32, &Path, u32)> = open()
            .filter(|(_, path)| path.answers() || path.is_promising(now))
            .map(|(number, path)| (number, path, path.all()))
            .collect();
        let promising: u32 = candidates.iter().filter(|(_, path, _)| !path.answers()).map(|(_, _, all)| all).sum();
        for _ in have + promising..want {
            let best = candidates
                .iter_mut()
                .min_by(|(_, a, all_a), (_, b, all_b)| b.gain().total_cmp(&a.gain()).then(all_a.cmp(all_b)))?;
            if best.1.answers() {
                return Some(best.0);
            }
            best.2 += 1;
        }
        None
    }
    /// The path that gives up an unusable stream for one elsewhere at the limit of streams: none of its streams is
    /// usable.
    pub fn hopeless(&self, want: u32, most: u32) -> Option<u32> {
        let have: u32 = self.list.iter().map(Path::count).sum();
        let places: u32 = self.list.iter().map(Path::places).sum();
        let room = most.saturating_sub(places);
        if have.saturating_add(room) >= want || !self.list.iter().any(Path::answers) {
            return None;
        }
        let dead = |path: &Path| !path.answers() && path.streams > 0 && path.places() > 1;
        (0..).zip(&self.list).find(|(_, path)| dead(path)).map(|(number, _)| number)
    }
    /// The path that gives up a stream where `want` are wanted: it has one too many, or one that would bring more
    /// elsewhere.
    pub fn surplus(&mut self, now: Time, want: u32) -> Option<u32> {
        let have: u32 = self.list.iter().map(Path::count).sum();
        let lacking = have == want && self.list.iter().any(|path| path.lacks(now));
        if lacking && !self.list.iter().any(|path| path.usable > 1 && !path.lacks(now)) {
            // No other path has a stream to give back.
            self.list.iter_mut().for_each(|path| path.owed = 0);
            return None;
        }
        let spare = (0..).zip(&self.list).filter(|(_, path)| path.usable > 1 && path.dialling == 0);
        let spare = spare.filter(|(_, path)| !lacking || !path.lacks(now));
        // The last of equals: with more streams, and then by number.
        let least = spare.min_by(|(_, a), (_, b)| a.cost().total_cmp(&b.cost()).then(b.count().cmp(&a.count())));
        let (from, worst) = least?;
        if have > want.max(self.list.len() as u32) || lacking {
            return Some(from);
        }
        let is_known = |path: &Path| path.dialling == 0 && path.known.contains_key(&path.streams);
        let alive = || (0..).zip(&self.list).filter(|(_, path)| path.usable > 0 && path.retry_at <= now);
        if have != want || !alive().all(|(_, path)| is_known(path)) {
            return None;
        }
        let others = alive().filter(|(number, _)| *number != from);
        let (to, best) = others.max_by(|(_, a), (_, b)| a.gain().total_cmp(&b.gain()))?;
        if best.gain() <= PROFIT * worst.cost() {
            return None;
        }
        self.promised = Some(to);
        Some(from)
    }
    /// When something may be due although nothing has happened.
    pub fn due(&self, now: Time) -> Time {
        let dialling = self.list.iter().filter(|path| path.dialling > 0);
        let patience = if self.list.iter().all(|path| path.usable == 0) { HANGING } else { PROMPT };
        let hopes = dialling.map(|path| path.dialled_at.saturating_add(patience));
        let retries = self.list.iter().map(|path| path.retry_at).chain(hopes).filter(|at| *at > now);
        let interval = if self.list.len() > 1 { self.since.saturating_add(INTERVAL) } else { Time::MAX };
        retries.min().unwrap_or(Time::MAX).min(interval)
    }
}

#[cfg(test)]
mod tests;
