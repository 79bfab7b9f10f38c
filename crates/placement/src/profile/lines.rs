//! Lines whose keys are their words: found, hashed and looked up some kilobytes of text at a time, because a line of
//! prose is too short for a loop of its own over each.

use super::{Profile, ScanError};
use crate::histogram::hash_of_part;
use crate::key::Hint;
use crate::record::{each_line, without_return};
use crate::words::{Bounds, Line};
use memchr::{memchr, memrchr};
use std::ops::Range;

impl<H: Hint> Profile<H> {
    /// Takes whole lines, each a record, as [`Records::feed_lines`](crate::Records::feed_lines) hands them out.
    ///
    /// # Errors
    ///
    /// If a key is no value of the type.
    pub fn lines(&mut self, mut lines: &[u8]) -> Result<(), ScanError> {
        if !self.hint.is_words() {
            return each_line(lines, |record, length| self.record(record, length));
        }
        while !lines.is_empty() {
            let fit = memrchr(b'\n', &lines[..lines.len().min(Bounds::ROOM)]);
            let end = fit.or_else(|| memchr(b'\n', lines)).map_or(lines.len(), |end| end + 1);
            let (some, rest) = lines.split_at(end);
            if fit.is_some() {
                self.words_of(some)?;
            } else {
                each_line(some, |record, length| self.record(record, length))?;
            }
            lines = rest;
        }
        Ok(())
    }

    /// Takes lines that the bounds of words have room for.
    fn words_of(&mut self, text: &[u8]) -> Result<(), ScanError> {
        let (mut bounds, mut batch) = (std::mem::take(&mut self.bounds), std::mem::take(&mut self.batch));
        bounds.find(text);
        let (lines, words) = (bounds.lines(), bounds.words());
        let word = |number: usize| (text, words[number][0] as usize..words[number][1] as usize);
        batch.hashes.clear();
        batch.hashes.extend(words.iter().map(|[begin, end]| hash_of_part(text, *begin as usize, *end as usize)));
        batch.stored.clear();
        for (begin, first, line) in each(lines) {
            let stored = self.stored_for((line.end - begin) as u64, true);
            let words = words[first..line.words].iter().enumerate();
            batch.stored.extend(words.map(|(number, [begin, end])| stored(number, (end - begin) as usize)));
        }
        if let Err(number) = self.find_buckets(&mut batch, word) {
            return Err(self.no_word(text, lines, number, word(number).1));
        }
        for (begin, first, line) in each(lines) {
            let record = without_return(&text[begin..line.end - 1]);
            let length = (line.end - begin) as u64;
            self.take_note(record, line.words - first, length);
            if first < line.words {
                let some = first..line.words;
                let pair = self.pair_of(length);
                self.place_keys(
                    &mut None,
                    &batch.hashes[some.clone()],
                    &batch.stored[some.clone()],
                    &batch.buckets[some],
                    |number| pair(word(first + number).1.len()),
                    length,
                );
                self.sample.end();
            }
        }
        (self.bounds, self.batch) = (bounds, batch);
        Ok(())
    }

    /// The word of this number is no value of the type. The records up to its own are counted.
    #[cold]
    fn no_word(&mut self, text: &[u8], lines: &[Line], number: usize, word: Range<usize>) -> ScanError {
        let mut its: &[u8] = &[];
        for (begin, first, line) in each(lines).take_while(|(_, first, _)| *first <= number) {
            its = without_return(&text[begin..line.end - 1]);
            self.take_note(its, line.words - first, (line.end - begin) as u64);
            if number < line.words {
                break;
            }
        }
        self.no_value(&text[word], its)
    }
}

/// Lines, each behind where it begins and how many words stand before it.
fn each(lines: &[Line]) -> impl Iterator<Item = (usize, usize, &Line)> {
    let mut before = (0, 0);
    lines.iter().map(move |line| {
        let (begin, first) = std::mem::replace(&mut before, (line.end, line.words));
        (begin, first, line)
    })
}
