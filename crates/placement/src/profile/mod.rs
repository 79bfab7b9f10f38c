//! What a scan of records finds: keys per record, weights of buckets and of heavy keys, bytes that a job would
//! exchange.

mod batch;
mod lines;

use crate::combined::Combiner;
use crate::distinct::Distinct;
use crate::hash::Bucketing;
use crate::histogram::{HeavyKey, HeavyKeys, hash_of_part};
use crate::key::{Hint, Keys};
use crate::pairs::PairSample;
use crate::per_record::KeysPerRecord;
use crate::recent::Recent;
use crate::record::TooLong;
use crate::words::Bounds;
use batch::Batch;
use std::ops::Range;
use thiserror::Error;

/// Counters for heavy keys: four times the keys that could each weigh a 1/16 of the mean of 64 nodes.
const COUNTERS: usize = 4096;
/// Keys of a record that are looked up together.
const TOGETHER: usize = 1024;
/// Bytes of a record that a message shows.
const SHOWN: usize = 160;

/// A record that does not fit the question.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScanError {
    /// A key that is no value of the type.
    #[error("key `{key}` is no value of type {of}; its record: {record}")]
    Type {
        /// The key.
        key: String,
        /// The type.
        of: crate::KeyType,
        /// The record.
        record: String,
    },
    /// No line ends.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// What is stored where data are placed by key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Whole records, by their first key.
    #[default]
    Whole,
    /// A record of its own for each key, with the value that the job emits for it.
    Split,
    /// The keys alone, each by itself.
    Projected,
}

impl Layout {
    /// The layouts in the order in which they are listed for users.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Split, Self::Projected];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Split => "split",
            Self::Projected => "projected",
        }
    }
}

/// What the records of a scan, or of a sample, have shown. Its memory does not depend on how many there were.
#[derive(Clone, Debug)]
pub struct Profile<H> {
    hint: H,
    bucketing: Bucketing,
    layout: Layout,
    /// Bytes of a pair's value; `None` is those of the whole record.
    value: Option<u64>,
    keys: Keys,
    batch: Batch,
    bounds: Bounds,
    /// Records read.
    pub records: u64,
    /// Their bytes, with line ends.
    pub bytes: u64,
    /// Records without a key.
    pub unkeyed: u64,
    /// Records with more than one key.
    pub several: u64,
    /// The most keys of a record.
    pub most_keys: u64,
    /// Keys of all records: pairs that a map function emits.
    pub pairs: u64,
    /// Bytes of these pairs.
    pub exchange: u64,
    /// Of them, bytes of pairs whose bucket is that of the record's place.
    pub at_home: u64,
    /// Bytes that the layout stores.
    pub stored: u64,
    /// Bytes that the layout stores for each bucket.
    pub weights: Vec<u64>,
    /// Records by how many keys they have.
    pub per_record: KeysPerRecord,
    /// What a combiner leaves, if the job has one.
    pub combiner: Option<Combiner>,
    /// The first record without a key.
    pub without_key: Option<String>,
    heavy: HeavyKeys,
    recent: Recent,
    distinct: Distinct,
    sample: PairSample,
}

impl<H: Hint> Profile<H> {
    /// Of no record yet. `value` is the length of a pair's value; `None` for jobs whose pairs carry the whole record.
    pub fn new(hint: H, bucketing: Bucketing, layout: Layout, value: Option<u64>) -> Self {
        Self {
            hint,
            bucketing,
            layout,
            value,
            keys: Keys::new(),
            batch: Batch::default(),
            bounds: Bounds::default(),
            records: 0,
            bytes: 0,
            unkeyed: 0,
            several: 0,
            most_keys: 0,
            pairs: 0,
            exchange: 0,
            at_home: 0,
            stored: 0,
            weights: vec![0; bucketing.buckets() as usize],
            per_record: KeysPerRecord::new(),
            combiner: None,
            without_key: None,
            heavy: HeavyKeys::new(COUNTERS),
            recent: Recent::new(),
            distinct: Distinct::new(),
            sample: PairSample::new(),
        }
    }

    /// Counts what a combiner leaves, too. Records are then those of the whole data, from first to last: of a part of
    /// them nothing is known of how many different keys a block has.
    #[must_use]
    pub fn with_combiner(self, combiner: Option<Combiner>) -> Self {
        Self { combiner, ..self }
    }

    /// Takes a record, in which the hint finds the keys, and which takes so many bytes in its file.
    ///
    /// # Errors
    ///
    /// If a key is no value of the type.
    #[inline]
    pub fn record(&mut self, record: &[u8], length: u64) -> Result<(), ScanError> {
        let mut keys = std::mem::take(&mut self.keys);
        self.hint.keys(record, &mut keys);
        let done = self.keyed(record, &keys, length);
        keys.shrink();
        self.keys = keys;
        done
    }

    /// Takes a record whose keys are known. Keys that are parts of it are those of `record`.
    ///
    /// # Errors
    ///
    /// If a key is no value of the type.
    #[inline]
    pub fn keyed(&mut self, record: &[u8], keys: &Keys, length: u64) -> Result<(), ScanError> {
        self.take_note(record, keys.len(), length);
        match keys.len() {
            0 => Ok(()),
            1 => self.one_key(record, keys, length),
            _ => self.several_keys(record, keys, length),
        }
    }

    /// Counts a record of so many keys.
    #[inline]
    fn take_note(&mut self, record: &[u8], keys: usize, length: u64) {
        let keys = keys as u64;
        self.records += 1;
        self.bytes += length;
        self.pairs += keys;
        self.most_keys = self.most_keys.max(keys);
        self.per_record.add(keys);
        self.several += u64::from(keys > 1);
        if keys == 0 {
            self.unkeyed += 1;
            if self.without_key.is_none() {
                self.without_key = Some(shown(record));
            }
        }
    }

    #[inline]
    fn one_key(&mut self, record: &[u8], keys: &Keys, length: u64) -> Result<(), ScanError> {
        let (text, range) = keys.part(0, record);
        let hash = hash_of_part(text, range.start, range.end);
        let own = range.len() as u64;
        let pair = self.bucketing.key_type().fixed_bytes().unwrap_or(own) + self.value.unwrap_or(length);
        let stored = match self.layout {
            Layout::Whole => length,
            Layout::Split => self.split(own, length),
            Layout::Projected => own + 1,
        };
        let bucket = self.bucket(hash, stored, || (text, range), record)?;
        self.sample.record(&[hash]);
        self.exchange += pair;
        self.at_home += pair;
        if self.combiner.is_some() {
            self.combine(&[hash], |_| pair, length);
        }
        self.store(bucket, stored);
        Ok(())
    }

    fn several_keys(&mut self, record: &[u8], keys: &Keys, length: u64) -> Result<(), ScanError> {
        let mut batch = std::mem::take(&mut self.batch);
        let mut home = None;
        for begin in (0..keys.len()).step_by(TOGETHER) {
            let key = |number: usize| keys.part(begin + number, record);
            let some = 0..TOGETHER.min(keys.len() - begin);
            batch.hashes.clear();
            batch.stored.clear();
            batch.hashes.extend(some.clone().map(|number| {
                let (text, range) = key(number);
                hash_of_part(text, range.start, range.end)
            }));
            let stored = self.stored_for(length, begin == 0);
            batch.stored.extend(some.map(|number| stored(number, key(number).1.len())));
            self.find_buckets(&mut batch, key).map_err(|number| {
                let (text, range) = key(number);
                self.no_value(text.get(range).unwrap_or_default(), record)
            })?;
            let pair = self.pair_of(length);
            self.place_keys(
                &mut home,
                &batch.hashes,
                &batch.stored,
                &batch.buckets,
                |number| pair(key(number).1.len()),
                length,
            );
        }
        self.sample.end();
        self.batch = batch;
        Ok(())
    }

    /// What is stored for a key of a record of several, by its number among them, if the first is among them, and its
    /// length.
    #[inline]
    fn stored_for(&self, length: u64, with_first: bool) -> impl Fn(usize, usize) -> u64 + use<H> {
        let (layout, value) = (self.layout, self.value.map_or(length, |value| value + 1));
        move |number, own| match layout {
            Layout::Whole if number == 0 && with_first => length,
            Layout::Whole => 0,
            Layout::Split => own as u64 + 1 + value,
            Layout::Projected => own as u64 + 1,
        }
    }

    /// The bytes of a pair, by those of its key.
    #[inline]
    fn pair_of(&self, length: u64) -> impl Fn(usize) -> u64 + use<H> {
        let (fixed, value) = (self.bucketing.key_type().fixed_bytes(), self.value.unwrap_or(length));
        move |own| fixed.unwrap_or(own as u64) + value
    }

    /// Takes some keys of a record, behind one another. `home` is the bucket of the record's first key.
    #[inline]
    fn place_keys(
        &mut self,
        home: &mut Option<u32>,
        hashes: &[u64],
        stored: &[u64],
        buckets: &[u32],
        pair: impl Fn(usize) -> u64,
        length: u64,
    ) {
        let exchange: u64 = (0..hashes.len()).map(&pair).sum();
        self.sample.keys(hashes);
        self.exchange += exchange;
        if self.combiner.is_some() {
            self.combine(hashes, &pair, length);
        }
        if self.layout != Layout::Whole {
            self.at_home += exchange;
            buckets.iter().zip(stored).for_each(|(bucket, stored)| self.store(*bucket, *stored));
            return;
        }
        if home.is_none() {
            self.store(buckets[0], length);
        }
        let at = *home.get_or_insert(buckets[0]);
        let at_home = |(number, bucket): (usize, &u32)| if *bucket == at { pair(number) } else { 0 };
        self.at_home += buckets.iter().enumerate().map(at_home).sum::<u64>();
        if let Some(combiner) = &mut self.combiner {
            // The record has been stored there last.
            let begin = self.weights[at as usize] - length;
            for number in (0..hashes.len()).filter(|number| buckets[*number] != at) {
                combiner.add_away(hashes[number], at, begin, pair(number));
            }
        }
    }

    /// The map task of the block that the record began in emits pairs of these keys.
    fn combine(&mut self, hashes: &[u64], pair: impl Fn(usize) -> u64, length: u64) {
        let begin = self.bytes - length;
        if let Some(combiner) = &mut self.combiner {
            hashes.iter().enumerate().for_each(|(number, hash)| combiner.add(*hash, begin, pair(number)));
        }
    }

    /// Bytes of a record of its own for a key of so many: key, tab, and its value's line or that of the whole record.
    #[inline]
    fn split(&self, key: u64, length: u64) -> u64 {
        key + 1 + self.value.map_or(length, |value| value + 1)
    }

    #[inline]
    fn store(&mut self, bucket: u32, bytes: u64) {
        self.stored += bytes;
        self.weights[bucket as usize] += bytes;
    }

    /// The bucket of a key that gets some weight.
    #[inline]
    fn bucket<'a>(
        &mut self,
        hash: u64,
        weight: u64,
        key: impl FnOnce() -> (&'a [u8], Range<usize>),
        record: &[u8],
    ) -> Result<u32, ScanError> {
        if let Some(bucket) = self.recent.add(hash, weight) {
            return Ok(bucket);
        }
        let (text, range) = key();
        match self.rare(hash, text, range.clone(), weight) {
            Some(bucket) => Ok(bucket),
            None => Err(self.no_value(text.get(range).unwrap_or_default(), record)),
        }
    }

    /// Adds weight to a key that does not come often, or has not yet; its bucket, if it is a value of the type.
    #[inline(never)]
    fn rare(&mut self, hash: u64, text: &[u8], range: Range<usize>, weight: u64) -> Option<u32> {
        self.distinct.add(hash);
        let bucket = self.bucketing.bucket_of_part(text, range.clone())?;
        let key = text.get(range).unwrap_or_default();
        if !self.recent.admit(hash, key, bucket, weight, &mut self.heavy) && weight > 0 {
            self.heavy.add(hash, key, weight);
        }
        Some(bucket)
    }

    #[cold]
    fn no_value(&self, key: &[u8], record: &[u8]) -> ScanError {
        ScanError::Type { key: shown(key), of: self.bucketing.key_type(), record: shown(record) }
    }

    /// From keys to buckets.
    pub const fn bucketing(&self) -> Bucketing {
        self.bucketing
    }

    /// The heaviest keys.
    pub fn heaviest(&self) -> Vec<HeavyKey> {
        let mut heavy = self.heavy.clone();
        self.recent.give(&mut heavy);
        heavy.heaviest()
    }

    /// About how many different keys there are.
    pub fn distinct(&self) -> f64 {
        self.distinct.count()
    }

    /// Keys record by record, of as many records as there is room for.
    pub const fn sample(&self) -> &PairSample {
        &self.sample
    }

    /// Keys per record, of those that have one.
    pub fn keys_per_record(&self) -> f64 {
        let keyed = self.records - self.unkeyed;
        if keyed == 0 { 0.0 } else { self.pairs as f64 / keyed as f64 }
    }
}

/// The beginning of a record as text for a message.
fn shown(record: &[u8]) -> String {
    let text = String::from_utf8_lossy(&record[..record.len().min(SHOWN)]);
    let text: String = text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
    if record.len() > SHOWN { format!("{text}...") } else { text }
}
