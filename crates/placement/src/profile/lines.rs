//! Lines whose keys are their words: found, hashed and looked up some kilobytes of text at a time, because a line of
//! prose is too short for a loop of its own over each.

use super::{Profile, ScanError};
use crate::histogram::hash_of_part;
use crate::key::Hint;
use crate::record::{each_line, without_return};
use crate::words::Bounds;
use memchr::{memchr, memrchr};

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
        let (mut bounds, mut hashes) = (std::mem::take(&mut self.bounds), std::mem::take(&mut self.hashes));
        bounds.find(text);
        let words = bounds.words();
        hashes.clear();
        hashes.extend(words.iter().map(|[begin, end]| hash_of_part(text, *begin as usize, *end as usize)));
        self.recent.fetch(&hashes);
        let (mut begin, mut first) = (0, 0);
        for line in bounds.lines() {
            let record = without_return(&text[begin..line.end - 1]);
            let length = (line.end - begin) as u64;
            let words = &words[first..line.words];
            self.take_note(record, words.len(), length);
            if !words.is_empty() {
                let word = |number: usize| (text, words[number][0] as usize..words[number][1] as usize);
                self.some_keys(&mut None, &hashes[first..line.words], word, record, length)?;
                self.sample.end();
            }
            (begin, first) = (line.end, line.words);
        }
        (self.bounds, self.hashes) = (bounds, hashes);
        Ok(())
    }
}
