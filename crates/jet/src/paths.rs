//! Which of several paths the next stream takes, and which gives one up. Without I/O.
//!
//! Each path has one stream at least, or nobody would know what it carries. Any other stream goes where it brings most, by what was measured: the difference that one more has made there, or, where that
//! was never tried, what each has on the average, as if windows or random losses held them back. A stream that would bring more elsewhere is exchanged.

use std::collections::BTreeMap;
use stripe::StreamId;
use units::Time;

/// Between two measurements.
pub(crate) const INTERVAL: Time = Time::from_secs(1);
/// What all paths together carry in an interval that says something; bytes.
const BULK: u64 = 256 << 10;
/// Intervals that are compared, after one that is not: streams begin slowly.
const MEASURED: u32 = 3;
/// A path whose rate changes by this factor with as many streams as before has changed itself.
const CHANGED: f64 = 1.5;
/// An exchange has to promise so many times what it costs.
const PROFIT: f64 = 1.2;
/// A gain or loss below this part of the proportional one is none: rates vary.
const NOTHING: f64 = 0.1;
/// Between attempts at a path on which streams fail: at first, and at most.
const RETRY: [Time; 2] = [Time::from_ms(100), Time::from_secs(5)];

/// What is known of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub id: StreamId,
    pub path: u32,
    /// It delivers, or nobody has found that it does not.
    pub usable: bool,
    /// Bytes that it has carried both ways.
    pub moved: u64,
}

/// One path.
#[derive(Clone, Debug, Default)]
struct Path {
    /// Streams, of which none may be usable; and those that are being opened.
    streams: u32,
    usable: u32,
    dialling: u32,
    /// Bytes carried in this interval.
    moved: u64,
    /// Bulk intervals since the number of streams changed, and the bytes per second of those that count.
    intervals: u32,
    sum: f64,
    /// Bytes per second, measured last; and with which number of streams they were how many.
    rate: f64,
    known: BTreeMap<u32, f64>,
    /// Streams have failed: when it is tried again, and how long it waits after the next failure.
    retry_at: Time,
    pause: Option<Time>,
}

impl Path {
    /// What one stream more would bring, in bytes per second. What was never tried brings no more than the last one did: gains diminish.
    fn gain(&self) -> f64 {
        let streams = self.streams + self.dialling;
        let each = self.rate / f64::from(streams.max(1));
        let last = self.difference(streams).unwrap_or(each);
        self.difference(streams + 1).unwrap_or(last.min(each))
    }
    /// What one stream less would cost. Where that was never tried, it is something between what one more brought and what each has.
    fn cost(&self) -> f64 {
        let each = self.rate / f64::from(self.streams.max(1));
        let next = self.difference(self.streams + 1).unwrap_or(each);
        self.difference(self.streams).unwrap_or(f64::midpoint(next, each))
    }
    /// What the last of so many streams brings.
    fn difference(&self, streams: u32) -> Option<f64> {
        let (less, more) = (self.known.get(&(streams.checked_sub(1)?))?, self.known.get(&streams)?);
        let nothing = NOTHING * more / f64::from(streams);
        Some(if more - less < nothing { 0.0 } else { more - less })
    }
    /// Streams that count: on a path that has died none does, so that others are opened elsewhere.
    fn count(&self) -> u32 {
        self.dialling + if self.usable > 0 { self.streams } else { 0 }
    }
    fn is_dead(&self) -> bool {
        self.streams > 0 && self.usable == 0
    }
    /// An interval with `rate` is over.
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
    fn set_streams(&mut self, streams: u32) {
        if streams != self.streams {
            (self.intervals, self.sum) = (0, 0.0);
        }
        self.streams = streams;
    }
}

/// The paths of a session.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    list: Vec<Path>,
    /// Of each stream, what it had carried.
    moved: BTreeMap<StreamId, u64>,
    /// When the interval began.
    since: Time,
    /// Where a stream goes that was taken from another path for its sake.
    promised: Option<u32>,
}

impl Paths {
    pub fn new(count: usize) -> Self {
        Self { list: vec![Path::default(); count.max(1)], moved: BTreeMap::new(), since: Time::ZERO, promised: None }
    }
    /// How the streams stand now that are not being closed.
    pub fn see(&mut self, now: Time, streams: &[Standing]) {
        for (path, known) in (0..).zip(&mut self.list) {
            let of = || streams.iter().filter(|stream| stream.path == path);
            known.usable = of().filter(|stream| stream.usable).count() as u32;
            known.set_streams(of().count() as u32);
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
                let moved = std::mem::take(&mut path.moved);
                if bulk {
                    path.measure(moved as f64 / time.as_secs_f64());
                }
            }
        }
    }
    /// A stream is being opened on a path; that has ended, well or badly.
    pub fn dial(&mut self, path: u32) {
        if let Some(path) = self.list.get_mut(path as usize) {
            path.dialling += 1;
        }
    }
    pub fn dialled(&mut self, now: Time, path: u32, well: bool, jitter: f64) {
        let Some(path) = self.list.get_mut(path as usize) else { return };
        path.dialling -= 1;
        if well {
            (path.pause, path.retry_at) = (None, Time::ZERO);
        } else if path.retry_at <= now {
            let pause = path.pause.map_or(RETRY[0], |pause| (pause * 2).min(RETRY[1]));
            path.pause = Some(pause);
            path.retry_at = now.saturating_add(Time::from_secs_f64(pause.as_secs_f64() * jitter));
        }
    }
    /// The path on which a stream is to be opened now, where there are to be `want` and at most `most` in all.
    pub fn next(&mut self, now: Time, want: u32, most: u32) -> Option<u32> {
        let have: u32 = self.list.iter().map(Path::count).sum();
        let all: u32 = self.list.iter().map(|path| path.streams + path.dialling).sum();
        let open = || (0..).zip(&self.list).filter(|(_, path)| path.retry_at <= now && !path.is_dead());
        if all >= most {
            return None;
        }
        if let Some((number, _)) = open().find(|(_, path)| path.streams + path.dialling == 0) {
            return Some(number);
        }
        if have >= want {
            return None;
        }
        if let Some((number, _)) =
            self.promised.take().and_then(|promised| open().find(|(number, _)| *number == promised))
        {
            return Some(number);
        }
        // The first of equals: with fewer streams, and then by number.
        let best = open().min_by(|(_, a), (_, b)| b.gain().total_cmp(&a.gain()).then(a.count().cmp(&b.count())));
        best.map(|(number, _)| number)
    }
    /// The path that is to give up a stream, where there are to be `want`: it has one too many, or one that would be worth more elsewhere.
    pub fn surplus(&mut self, now: Time, want: u32) -> Option<u32> {
        let have: u32 = self.list.iter().map(Path::count).sum();
        let spare = (0..).zip(&self.list).filter(|(_, path)| path.usable > 1 && path.dialling == 0);
        // The last of equals: with more streams, and then by number.
        let least = spare.min_by(|(_, a), (_, b)| a.cost().total_cmp(&b.cost()).then(b.count().cmp(&a.count())));
        let (from, worst) = least?;
        if have > want.max(self.list.len() as u32) {
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
    /// When something may be due though nothing has happened.
    pub fn due(&self, now: Time) -> Time {
        let retries = self.list.iter().map(|path| path.retry_at).filter(|at| *at > now);
        let interval = if self.list.len() > 1 { self.since.saturating_add(INTERVAL) } else { Time::MAX };
        retries.min().unwrap_or(Time::MAX).min(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Paths as a model has them: each stream carries `each` bytes per second, all of a path at most `most`.
    struct Model {
        most: f64,
        each: f64,
    }

    impl Model {
        fn rate(&self, streams: u32) -> f64 {
            self.most.min(self.each * f64::from(streams))
        }
    }

    /// A session between gateways with those paths.
    struct World {
        models: Vec<Model>,
        paths: Paths,
        streams: Vec<Standing>,
        next: u32,
        now: Time,
    }

    impl World {
        fn new(models: Vec<Model>) -> Self {
            Self { paths: Paths::new(models.len()), models, streams: Vec::new(), next: 1, now: Time::ZERO }
        }
        fn on(&self, path: u32) -> u32 {
            self.streams.iter().filter(|stream| stream.path == path).count() as u32
        }
        fn counts(&self) -> Vec<u32> {
            (0..self.models.len() as u32).map(|path| self.on(path)).collect()
        }
        fn rate(&self) -> f64 {
            (0..).zip(&self.models).map(|(path, model)| model.rate(self.on(path))).sum()
        }
        /// A second in which all is carried that can be.
        fn step(&mut self, want: u32) {
            self.now += INTERVAL;
            let counts = self.counts();
            for stream in self.streams.iter_mut().filter(|stream| stream.usable) {
                let path = stream.path as usize;
                stream.moved += (self.models[path].rate(counts[path]) / f64::from(counts[path])) as u64;
            }
            self.act(want);
        }
        fn act(&mut self, want: u32) {
            self.paths.see(self.now, &self.streams);
            loop {
                while let Some(path) = self.paths.surplus(self.now, want) {
                    let last = self.streams.iter().rposition(|stream| stream.path == path).expect("it has one");
                    self.streams.remove(last);
                    self.paths.see(self.now, &self.streams);
                }
                let Some(path) = self.paths.next(self.now, want, 128) else { return };
                self.paths.dial(path);
                self.paths.dialled(self.now, path, true, 1.0);
                self.streams.push(Standing { id: StreamId(self.next), path, usable: true, moved: 0 });
                self.next += 1;
                self.paths.see(self.now, &self.streams);
            }
        }
    }

    #[test]
    fn every_path_has_a_stream_and_equal_ones_as_many() {
        let same = || Model { most: 1e9, each: 1e6 };
        let mut world = World::new(vec![same(), same(), same()]);
        world.step(1);
        assert_eq!(world.counts(), [1, 1, 1], "though one would do");
        world.step(12);
        assert_eq!(world.counts(), [4, 4, 4]);
        world.step(5);
        assert_eq!(world.counts().iter().sum::<u32>(), 5);
    }

    #[test]
    fn streams_go_where_they_bring_most() {
        // Windows limit them: ten times as much comes of a stream on the first path.
        let mut world = World::new(vec![Model { most: 1e9, each: 1e7 }, Model { most: 1e9, each: 1e6 }]);
        (0..60).for_each(|_| world.step(8));
        assert_eq!(world.counts(), [7, 1]);
        // One that is full with a stream needs no more, however fast that one is.
        let mut world = World::new(vec![Model { most: 2e7, each: 2e7 }, Model { most: 1e9, each: 7e6 }]);
        (0..120).for_each(|_| world.step(8));
        assert!(world.rate() >= 2e7 + 6.0 * 7e6, "{:?}", world.counts());
    }

    #[test]
    fn a_path_that_dies_is_left_and_comes_back() {
        let same = || Model { most: 1e9, each: 1e6 };
        let mut world = World::new(vec![same(), same()]);
        world.step(8);
        assert_eq!(world.counts(), [4, 4]);
        world.streams.iter_mut().filter(|stream| stream.path == 1).for_each(|stream| stream.usable = false);
        world.step(8);
        assert_eq!(world.counts(), [8, 4], "what is dead does not count");
        world.streams.retain(|stream| stream.path == 0);
        world.paths.see(world.now, &world.streams);
        // It is tried again, after ever longer pauses.
        let mut tries = 0;
        for _ in 0..1000 {
            world.now += Time::from_ms(100);
            world.paths.see(world.now, &world.streams);
            if world.paths.next(world.now, 8, 128) == Some(1) {
                world.paths.dial(1);
                world.paths.dialled(world.now, 1, false, 1.0);
                tries += 1;
            }
        }
        assert!((20..30).contains(&tries), "{tries}");
        world.now += RETRY[1];
        (0..60).for_each(|_| world.step(8));
        assert!(world.on(1) >= 1 && world.streams.len() == 8, "{:?}", world.counts());
    }

    #[test]
    fn most_is_most() {
        let mut paths = Paths::new(4);
        assert_eq!(paths.next(Time::ZERO, 4, 2), Some(0));
        paths.dial(0);
        assert_eq!(paths.next(Time::ZERO, 4, 2), Some(1));
        paths.dial(1);
        assert_eq!(paths.next(Time::ZERO, 4, 2), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        /// Never below the best single path with as many streams, but for the one that each other path keeps.
        #[test]
        fn never_below_the_best_alone(
            models in proptest::collection::vec((1e5_f64..1e8, 1e5_f64..1e7), 1..5),
            want in 4_u32..32,
        ) {
            let models: Vec<Model> = models.into_iter().map(|(most, each)| Model { most, each }).collect();
            let others = models.len() as u32 - 1;
            let best = models.iter().map(|model| model.rate(want.saturating_sub(others).max(1))).fold(0.0, f64::max);
            let mut world = World::new(models);
            (0..600).for_each(|_| world.step(want));
            prop_assert!(world.rate() >= best / PROFIT, "{} of {best}: {:?}", world.rate(), world.counts());
        }
    }
}
