//! Cohorts of map outputs: where a job has more outputs to fetch than can be followed one by one, one fetch stands for
//! several.
//!
//! A job of 10 TB with 10,000 reducers has 745 million outputs to fetch. Maps that end one after another are a cohort.
//! Each reducer fetches from one map of a cohort what it would fetch from all of them: reducer `r` from the member
//! `r mod n` of `n`. So `n` reducers and `n` maps exchange what they would, in `n` fetches and not in `n²`, from every
//! node as much as before and to every reducer each of its bytes. A reducer whose share of the keys is several times
//! the mean fetches from as many members. A member's output is known when the last of its cohort is.
//!
//! An output belongs to its map: if it is lost, those that were to fetch from it wait until the map has run again.

use super::config::FetchLimit;
use crate::ids::AttemptId;
use crate::numbers::{count, whole};
use crate::workload::{Partitions, records_of};
use units::{Bytes, word};

/// Reducers that a member of a cohort has at the least, so that no fetch asks a map for more than it has.
const READERS: u32 = 2;
/// Cohorts that a job has at the least, so that the last map of one is not waited for long.
const FEWEST: u32 = 100;

/// A cohort: its maps, and the length of all their outputs.
#[derive(Debug, Clone, Copy, Default)]
struct Cohort {
    members: u32,
    bytes: Bytes,
    plain: Bytes,
}

/// Which member of which cohort a map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    cohort: u32,
    member: u32,
}

/// What a reducer fetches from one map, for itself and for other maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// Where it begins in the map's output.
    pub start: Bytes,
    /// Its length as fetched, and before compression.
    pub bytes: Bytes,
    pub plain: Bytes,
    /// What of that are records, and how much of these the reducers before have.
    pub records: Bytes,
    pub before: Bytes,
    /// How many outputs it stands for.
    pub outputs: u32,
}

/// The cohorts of a job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cohorts {
    /// Maps to a cohort; 1 if each is fetched for itself.
    size: u32,
    maps: u32,
    /// By map; none before its cohort is whole.
    places: Vec<Option<Place>>,
    whole: Vec<Cohort>,
    open: Vec<Member>,
}

/// A map that has ended, and the length of its output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub map: u32,
    pub attempt: AttemptId,
    pub bytes: Bytes,
    pub plain: Bytes,
}

impl Cohorts {
    /// Cohorts such that a job's reducers fetch as often as the limit says.
    pub fn new(maps: u32, reducers: u32, limit: Option<FetchLimit>) -> Self {
        let outputs = u64::from(maps) * u64::from(reducers);
        let limit = limit.filter(|limit| outputs > limit.above);
        let size = limit.map_or(1, |limit| outputs.div_ceil(limit.about.max(1)));
        let size = size.min(u64::from(maps / FEWEST)).min(u64::from(reducers / READERS)).max(1);
        let size = word(size);
        let places = if size > 1 { vec![None; maps as usize] } else { Vec::new() };
        Self { size, maps, places, whole: Vec::new(), open: Vec::new() }
    }
    /// How many outputs a fetch stands for.
    pub fn size(&self) -> u32 {
        self.size
    }
    /// Whether every output is fetched for itself.
    pub fn are_single(&self) -> bool {
        self.size == 1
    }

    /// A map has ended, the last of all with `last`. Returns the attempts whose outputs can be told of now.
    pub fn add(&mut self, member: Member, last: bool) -> Vec<AttemptId> {
        if self.are_single() || self.places[member.map as usize].is_some() {
            return vec![member.attempt];
        }
        // A map that ran again before its cohort was whole is in it once.
        self.open.retain(|other| other.map != member.map);
        self.open.push(member);
        if count(self.open.len()) < self.size && !last {
            return Vec::new();
        }
        let cohort = count(self.whole.len());
        self.whole.push(Cohort {
            members: count(self.open.len()),
            bytes: self.open.iter().map(|member| member.bytes).sum(),
            plain: self.open.iter().map(|member| member.plain).sum(),
        });
        for (number, member) in (0..).zip(&self.open) {
            self.places[member.map as usize] = Some(Place { cohort, member: number });
        }
        self.open.drain(..).map(|member| member.attempt).collect()
    }

    /// From how many members of a cohort a reducer fetches: as many as its share is means, at least one.
    fn fetches(members: u32, partitions: &Partitions, reducer: usize) -> u32 {
        let mean = 1.0 / partitions.len().max(1) as f64;
        let times = whole((partitions.share(reducer) / mean).round());
        word(times).clamp(1, members)
    }
    /// The number, of a reducer's fetches from a cohort, of the one from this member, if it fetches from it.
    fn number_of(members: u32, fetches: u32, reducer: usize, member: u32) -> Option<u32> {
        let first = count(reducer % members as usize);
        let distance = (member + members - first) % members;
        // The k-th of f is `k n / f` members on, rounded down.
        let [distance, fetches, members] = [distance, fetches, members].map(u64::from);
        let number = (distance * fetches).div_ceil(members);
        (number < fetches && number * members / fetches == distance).then(|| word(number))
    }
    /// The cohort of a map, how many times a reducer fetches from it, and the number of its fetch from this map; none if
    /// it fetches from others.
    fn fetch(&self, map: u32, partitions: &Partitions, reducer: usize) -> Option<(Cohort, u32, u32)> {
        let Place { cohort, member } = self.places.get(map as usize).copied().flatten()?;
        let cohort = self.whole[cohort as usize];
        let fetches = Self::fetches(cohort.members, partitions, reducer);
        Some((cohort, fetches, Self::number_of(cohort.members, fetches, reducer, member)?))
    }
    /// What a reducer fetches from a map whose output has a length; none if it fetches from others of the cohort, or each
    /// output for itself.
    pub fn share(&self, map: u32, whole: Bytes, partitions: &Partitions, reducer: usize) -> Option<Share> {
        let (Cohort { members, bytes, plain }, fetches, number) = self.fetch(map, partitions, reducer)?;
        let of_fetch = |all: Bytes| {
            let upto = |number: u32| all.get() * u64::from(number) / u64::from(fetches);
            Bytes::new(upto(number + 1) - upto(number))
        };
        let part = |total: Bytes| of_fetch(partitions.part(total, reducer));
        let bytes = part(bytes);
        // The partitions of neighbouring reducers stand one after another, and each reads as many of them.
        let first = reducer - reducer % members as usize;
        let start = partitions.start(whole, first).min(whole.saturating_sub(bytes));
        let all = records_of(plain, members, partitions.len());
        let before = of_fetch(partitions.start(all, reducer));
        Some(Share { start, bytes, plain: part(plain), records: part(all), before, outputs: members.div_ceil(fetches) })
    }
    /// Whether a reducer fetches from a map.
    pub fn fetches_from(&self, map: u32, partitions: &Partitions, reducer: usize) -> bool {
        self.are_single() || self.fetch(map, partitions, reducer).is_some()
    }
    /// How many times a reducer fetches in all.
    pub fn expected(&self, partitions: &Partitions, reducer: usize) -> u32 {
        if self.are_single() {
            return self.maps;
        }
        let (full, rest) = (self.maps / self.size, self.maps % self.size);
        let of_rest = if rest > 0 { Self::fetches(rest, partitions, reducer) } else { 0 };
        full * Self::fetches(self.size, partitions, reducer) + of_rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps with outputs of these lengths end in this order.
    fn cohorts(lengths: &[u64], reducers: u32, about: u64) -> Cohorts {
        let mut cohorts = Cohorts::new(count(lengths.len()), reducers, Some(FetchLimit { above: 0, about }));
        for (map, bytes) in (0..).zip(lengths) {
            let bytes = Bytes::new(*bytes);
            let last = map as usize + 1 == lengths.len();
            cohorts.add(Member { map, attempt: AttemptId(map), bytes, plain: bytes * 2 }, last);
        }
        cohorts
    }

    /// 1,003 maps and 40 reducers in at most 8,000 fetches: six outputs to a fetch, 167 whole cohorts and one of a
    /// single map. Whatever the shares: a reducer has what it would have of each map by itself but for rounding, and
    /// nothing goes to nobody.
    #[test]
    fn every_reducer_has_its_bytes_whatever_its_share() {
        let lengths: Vec<u64> = (0..1_003).map(|map| 1_000_000 + 7_919 * (map % 13)).collect();
        let total: u64 = lengths.iter().sum();
        let even = vec![1.0; 40];
        let steep: Vec<f64> = (1..=40).map(|rank| 1.0 / f64::from(rank)).collect();
        let mut one = vec![0.001; 40];
        one[17] = 10.0;
        for weights in [even, steep, one] {
            let partitions = Partitions::new(&weights);
            let cohorts = cohorts(&lengths, 40, 8_000);
            assert_eq!(cohorts.size(), 6);
            let (mut all, mut before) = (0, 0);
            for reducer in 0..40 {
                let shares = (0..1_003).filter_map(|map| {
                    let whole = Bytes::new(lengths[map as usize]);
                    let share = cohorts.share(map, whole, &partitions, reducer);
                    assert_eq!(share.is_some(), cohorts.fetches_from(map, &partitions, reducer));
                    share
                });
                let shares: Vec<Share> = shares.collect();
                let fetched: u64 = shares.iter().map(|share| share.bytes.get()).sum();
                let plain: u64 = shares.iter().map(|share| share.plain.get()).sum();
                let each: u64 = lengths.iter().map(|length| partitions.part(Bytes::new(*length), reducer).get()).sum();
                assert!(fetched.abs_diff(each) <= 1_003, "{fetched} and one by one {each}");
                assert!(plain.abs_diff(2 * each) <= 2 * 1_003, "{plain} and one by one {}", 2 * each);
                // Of each map 40 partitions take 6 bytes by themselves: a reducer's part of them.
                let records: u64 = shares.iter().map(|share| share.records.get()).sum();
                let overhead = partitions.part(Bytes::new(1_003 * 40 * 6), reducer).get();
                assert!(plain.abs_diff(records + overhead) <= 2 * 1_003, "{plain}, {records} and {overhead}");
                assert_eq!(count(shares.len()), cohorts.expected(&partitions, reducer));
                // So much have the reducers before it.
                assert_eq!(shares.iter().map(|share| share.before.get()).sum::<u64>(), before);
                before += records;
                all += fetched;
            }
            assert_eq!(all, total);
        }
    }

    /// Sixteen reducers with equal shares and cohorts of eight: each map is fetched from by two of them, which read what
    /// lies side by side, and all of it.
    #[test]
    fn of_equal_shares_every_map_serves_all_that_it_has() {
        let cohorts = cohorts(&[1_600_000; 800], 16, 1_600);
        assert_eq!(cohorts.size(), 8);
        let partitions = Partitions::new(&[1.0; 16]);
        for map in 0..800 {
            let whole = Bytes::new(1_600_000);
            let mut read: Vec<(u64, u64)> = (0..16)
                .filter_map(|reducer| cohorts.share(map, whole, &partitions, reducer))
                .map(|share| (share.start.get(), share.bytes.get()))
                .collect();
            read.sort_unstable();
            assert_eq!(read, [(0, 800_000), (800_000, 800_000)]);
        }
    }

    /// A map that ran again before its cohort was whole is in it once, with the later output; one that runs again
    /// afterwards is told of at once.
    #[test]
    fn a_map_that_runs_again_keeps_its_place() {
        let mut cohorts = Cohorts::new(400, 8, Some(FetchLimit { above: 0, about: 1_600 }));
        assert_eq!(cohorts.size(), 2);
        let member = |map, attempt| Member { map, attempt: AttemptId(attempt), bytes: Bytes::ZERO, plain: Bytes::ZERO };
        assert!(cohorts.add(member(5, 0), false).is_empty());
        assert!(cohorts.add(member(5, 1), false).is_empty());
        assert_eq!(cohorts.add(member(9, 2), false), [AttemptId(1), AttemptId(2)]);
        assert_eq!(cohorts.add(member(9, 3), false), [AttemptId(3)]);
        assert!(cohorts.add(member(7, 4), false).is_empty());
        assert_eq!(cohorts.add(member(8, 5), true), [AttemptId(4), AttemptId(5)]);
    }

    #[test]
    fn few_outputs_are_fetched_one_by_one() {
        let limit = Some(FetchLimit { above: 10_000_000, about: 1_000_000 });
        assert!(Cohorts::new(7_451, 400, limit).are_single());
        assert!(Cohorts::new(74_506, 10_000, None).are_single());
        assert_eq!(Cohorts::new(74_506, 10_000, limit).size(), 745);
        // A single reducer has nobody to share with.
        assert!(Cohorts::new(20_000_000, 1, limit).are_single());
    }
}
