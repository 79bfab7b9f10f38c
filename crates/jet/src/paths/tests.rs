//! Paths as a model has them, and what becomes of their streams.

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
    /// Paths that swallow everything.
    silent: Vec<u32>,
    /// How many streams there may be at most.
    most: u32,
}

impl World {
    fn new(models: Vec<Model>) -> Self {
        let (paths, now) = (Paths::new(models.len()), Time::ZERO);
        Self { paths, models, streams: Vec::new(), next: 1, now, silent: Vec::new(), most: 128 }
    }
    /// Like these, with equal streams on each.
    fn of(count: usize) -> Self {
        Self::new((0..count).map(|_| Model { most: 1e9, each: 1e6 }).collect())
    }
    /// Whether a path's streams are usable.
    fn set(&mut self, path: u32, usable: bool) {
        self.streams.iter_mut().filter(|stream| stream.path == path).for_each(|stream| stream.usable = usable);
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
    fn remove_last(&mut self, path: u32) {
        let last = self.streams.iter().rposition(|stream| stream.path == path).expect("it has one");
        self.streams.remove(last);
        self.paths.see(self.now, &self.streams);
    }
    fn act(&mut self, want: u32) {
        self.paths.see(self.now, &self.streams);
        loop {
            while let Some(path) = self.paths.hopeless(want, self.most) {
                self.remove_last(path);
            }
            while let Some(path) = self.paths.surplus(self.now, want) {
                self.remove_last(path);
            }
            let Some(path) = self.paths.next(self.now, want, self.most) else { return };
            self.paths.dial(self.now, path);
            if self.silent.contains(&path) {
                continue;
            }
            self.paths.dialled(self.now, path, true, 1.0);
            self.streams.push(Standing { id: StreamId(self.next), path, usable: true, moved: 0 });
            self.next += 1;
            self.paths.see(self.now, &self.streams);
        }
    }
}

#[test]
fn every_path_has_a_stream_and_equal_ones_as_many() {
    let mut world = World::of(3);
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
fn where_there_may_be_no_more_a_dead_path_makes_room_and_keeps_one_place() {
    let mut world = World::of(2);
    world.most = 8;
    (0..3).for_each(|_| world.step(8));
    assert_eq!(world.counts(), [4, 4]);
    world.set(1, false);
    world.silent = vec![1];
    world.act(8);
    assert_eq!(world.counts(), [7, 1], "the last one in its place may recover");
    world.remove_last(1);
    world.act(8);
    assert_eq!((world.counts(), world.paths.list[1].dialling), (vec![7, 0], 1), "another asks");
    // Its place stays its own while nobody asks, or it would never be asked again.
    for _ in 0..20 {
        let now = world.now;
        world.paths.dialled(now, 1, false, 1.0);
        world.act(8);
        assert_eq!((world.counts(), world.paths.list[1].dialling), (vec![7, 0], 0));
        world.now = world.paths.list[1].retry_at;
        world.act(8);
        assert_eq!((world.counts(), world.paths.list[1].dialling), (vec![7, 0], 1));
    }
    // It answers, and has again what it had.
    world.silent.clear();
    world.paths.dialled(world.now, 1, true, 1.0);
    world.streams.push(Standing { id: StreamId(world.next), path: 1, usable: true, moved: 0 });
    world.next += 1;
    world.act(8);
    assert_eq!(world.counts(), [4, 4]);
}

/// Nobody has anything to give where all paths are dead: a moment's silence of everything costs no stream.
#[test]
fn where_no_path_answers_none_makes_room() {
    let mut world = World::of(2);
    world.most = 8;
    (0..3).for_each(|_| world.step(8));
    (0..2).for_each(|path| world.set(path, false));
    world.act(8);
    assert_eq!(world.counts(), [4, 4]);
    world.set(0, true);
    world.set(1, true);
    world.act(8);
    assert_eq!(world.counts(), [4, 4]);
}

#[test]
fn a_path_that_dies_is_left_and_has_its_streams_again_when_it_answers() {
    let mut world = World::of(2);
    (0..3).for_each(|_| world.step(8));
    assert_eq!(world.counts(), [4, 4]);
    world.set(1, false);
    world.act(8);
    assert_eq!(world.counts(), [8, 4], "at once: what is dead does not count");
    // It has only been away for a moment.
    world.set(1, true);
    world.act(8);
    assert_eq!(world.counts(), [4, 4]);
    // This time for so long that its streams are given up.
    world.set(1, false);
    world.act(8);
    world.streams.retain(|stream| stream.path == 0);
    world.paths.see(world.now, &world.streams);
    // It is tried again, after ever longer pauses, while nothing changes on the other.
    let mut tries = 0;
    for _ in 0..1000 {
        world.now += Time::from_ms(100);
        world.paths.see(world.now, &world.streams);
        if let Some(path) = world.paths.next(world.now, 8, 128) {
            assert_eq!(path, 1);
            world.paths.dial(world.now, path);
            assert_eq!((world.paths.next(world.now, 8, 128), world.paths.surplus(world.now, 8)), (None, None));
            world.paths.dialled(world.now, path, false, 1.0);
            tries += 1;
        }
    }
    assert!((20..30).contains(&tries), "{tries}");
    world.now += RETRY[1];
    world.act(8);
    assert_eq!(world.counts(), [4, 4]);
    (0..60).for_each(|_| world.step(8));
    assert_eq!(world.counts(), [4, 4]);
}

#[test]
fn nobody_waits_for_a_path_that_says_nothing() {
    let mut world = World::of(2);
    world.silent.push(1);
    world.act(8);
    assert_eq!(world.counts(), [4, 0], "its share is left to it, for a while");
    assert_eq!(world.paths.due(world.now), PROMPT);
    world.now += PROMPT;
    world.act(8);
    assert_eq!(world.counts(), [8, 0]);
    // Not even as many as are opened at the same time.
    world.act(128);
    assert_eq!((world.counts(), world.paths.dialling()), (vec![127, 0], 0), "one of 128 is still being opened");
    // Late, and welcome.
    world.silent.clear();
    world.paths.dialled(world.now, 1, true, 1.0);
    world.streams.push(Standing { id: StreamId(1000), path: 1, usable: true, moved: 0 });
    world.step(8);
    assert!(world.on(1) >= 1 && world.streams.len() == 8, "{:?}", world.counts());
}

#[test]
fn what_cannot_be_given_back_is_not_owed() {
    let mut world = World::of(2);
    (0..3).for_each(|_| world.step(8));
    world.set(1, false);
    world.act(8);
    world.streams.retain(|stream| stream.path == 0);
    (world.silent, world.now) = (vec![1], world.now + RETRY[1]);
    world.act(8);
    // Fewer are to be by the time it answers.
    world.act(3);
    world.silent.clear();
    world.paths.dialled(world.now, 1, true, 1.0);
    world.streams.push(Standing { id: StreamId(1000), path: 1, usable: true, moved: 0 });
    world.act(3);
    assert_eq!(world.counts(), [1, 2]);
    (0..20).for_each(|_| world.step(4));
    assert_eq!(world.streams.len(), 4, "{:?}", world.counts());
}

#[test]
fn an_only_path_is_tried_with_all_streams_at_once() {
    let mut paths = Paths::new(1);
    for _ in 0..4 {
        assert_eq!(paths.next(Time::ZERO, 4, 128), Some(0));
        paths.dial(Time::ZERO, 0);
    }
    assert_eq!((paths.next(Time::ZERO, 4, 128), paths.dialling()), (None, 4));
}

/// After failures, while nothing works, one stream at a time; at most 0.2 s between two, so that a path that is back is
/// found within a second.
#[test]
fn in_an_outage_each_path_is_asked_by_one_stream_and_soon_again() {
    for count in [1, 2] {
        let mut world = World::of(count);
        world.act(8);
        (0..count as u32).for_each(|path| world.set(path, false));
        world.silent = (0..count as u32).collect();
        world.paths.see(world.now, &world.streams);
        let mut asked = vec![Vec::new(); count];
        for _ in 0..600 {
            world.now += Time::from_ms(100);
            let mut dials = Vec::new();
            while let Some(path) = world.paths.next(world.now, 8, 128) {
                world.paths.dial(world.now, path);
                dials.push(path);
            }
            for path in dials {
                asked[path as usize].push(world.now);
                world.paths.dialled(world.now, path, false, 1.0);
            }
        }
        for times in asked {
            let late = &times[20..];
            assert!(late.windows(2).all(|pair| (100..=200).contains(&(pair[1] - pair[0]).as_ms())), "{late:?}");
            assert!(late.len() > 150, "for as long as it lasts");
        }
    }
}

#[test]
fn most_is_most() {
    let mut paths = Paths::new(4);
    assert_eq!(paths.next(Time::ZERO, 4, 2), Some(0));
    paths.dial(Time::ZERO, 0);
    assert_eq!(paths.next(Time::ZERO, 4, 2), Some(1));
    paths.dial(Time::ZERO, 1);
    assert_eq!(paths.next(Time::ZERO, 4, 2), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Never below the best single path with as many streams, less the one that each other path keeps.
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
