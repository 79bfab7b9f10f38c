//! The buckets of many keys at once. Each step is done for all keys before the next one begins: then no step waits for
//! memory that the one before was not sure to need, and a loop writes down which keys the next step has, where a branch
//! for each key would often be guessed wrong.

use super::Profile;
use std::ops::Range;

/// Keys behind one another, and what is found of them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub hashes: Vec<u64>,
    /// Bytes that the layout stores for each.
    pub stored: Vec<u64>,
    /// In the end the bucket of each.
    pub buckets: Vec<u32>,
    /// Numbers of those that have no place among the keys that come often.
    rare: Vec<u32>,
}

impl<H> Profile<H> {
    /// Finds the buckets of keys, and adds what is stored for them to their weights; the number of the first that is no
    /// value of the type, if there is one.
    pub(super) fn find_buckets<'a>(
        &mut self,
        batch: &mut Batch,
        key: impl Fn(usize) -> (&'a [u8], Range<usize>),
    ) -> Result<(), usize> {
        let Batch { hashes, stored, buckets, rare } = batch;
        self.recent.add_all(hashes, stored, buckets, rare);
        for number in &*rare {
            let number = *number as usize;
            self.distinct.add(hashes[number]);
            let (text, range) = key(number);
            buckets[number] = self.bucketing.bucket_of_part(text, range).ok_or(number)?;
        }
        let mut left = 0;
        for at in 0..rare.len() {
            let number = rare[at] as usize;
            let (hash, weight) = (hashes[number], stored[number]);
            // It may have got a place by an earlier one of these.
            if self.recent.add(hash, weight).is_none() {
                let (text, range) = key(number);
                let key = text.get(range).unwrap_or_default();
                let is_in = self.recent.admit(hash, key, buckets[number], weight, &mut self.heavy);
                rare[left] = number as u32;
                left += usize::from(!is_in && weight > 0);
            }
        }
        self.heavy.add_all(&rare[..left], hashes, stored, |number| {
            let (text, range) = key(number);
            text.get(range).unwrap_or_default()
        });
        Ok(())
    }
}
