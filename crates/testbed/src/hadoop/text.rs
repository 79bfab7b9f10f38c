//! Text for jobs, the same for everyone, with the counts that a job over it must come to.

use des::RandomStream;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Lines of words of a language: which words there are and how often each comes follows from a seed.
#[derive(Clone, Debug)]
pub struct Text {
    words: Vec<String>,
    /// For each word, the sum of all weights up to its own.
    sums: Vec<u64>,
    bytes: u64,
    per_line: usize,
}

/// How often each word comes.
pub type Counts = BTreeMap<String, u64>;

/// Different words.
const WORDS: usize = 50_000;
/// Letters of a word.
const LETTERS: std::ops::RangeInclusive<u64> = 3..=10;
/// Words of a line.
const PER_LINE: usize = 12;
/// The weight of the most frequent word. That of word n is an n-th of it (Zipf's law, exponent 1).
const WEIGHT: u64 = 1 << 40;
const SEED: u64 = 7;

impl Text {
    /// A text of at least so many bytes, and less than a line more.
    pub fn of(bytes: u64) -> Self {
        Self::with_lines_of(PER_LINE, bytes)
    }

    /// The same words in the same order, one on each line.
    pub fn of_words(bytes: u64) -> Self {
        Self::with_lines_of(1, bytes)
    }

    fn with_lines_of(per_line: usize, bytes: u64) -> Self {
        let mut random = RandomStream::new(SEED, "testbed/words", 0);
        let mut known = std::collections::BTreeSet::new();
        let (mut words, mut sums, mut sum) = (Vec::with_capacity(WORDS), Vec::with_capacity(WORDS), 0);
        while words.len() < WORDS {
            let length = LETTERS.start() + random.below(LETTERS.end() - LETTERS.start() + 1);
            let word: String = (0..length).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
            if known.insert(word.clone()) {
                words.push(word);
                sum += WEIGHT / words.len() as u64;
                sums.push(sum);
            }
        }
        Self { words, sums, bytes, per_line }
    }

    /// Writes the text; the counts of its words, and its length.
    pub fn write(&self, to: &mut impl Write) -> io::Result<(Counts, u64)> {
        let mut random = RandomStream::new(SEED, "testbed/text", 0);
        let total = self.sums.last().copied().unwrap_or(1);
        let mut counts = vec![0_u64; self.words.len()];
        let (mut length, mut line) = (0, String::new());
        while length < self.bytes {
            line.clear();
            for place in 0..self.per_line {
                let at = random.below(total);
                let index = self.sums.partition_point(|sum| *sum <= at);
                counts[index] += 1;
                line.push_str(&self.words[index]);
                line.push(if place + 1 == self.per_line { '\n' } else { ' ' });
            }
            to.write_all(line.as_bytes())?;
            length += line.len() as u64;
        }
        let counts = self.words.iter().cloned().zip(counts).filter(|(_, count)| *count > 0).collect();
        Ok((counts, length))
    }
}

/// Categories of words.
const CATEGORIES: usize = 100;

impl Text {
    /// A table with a category for each word: `word`, a tab, `c17`.
    pub fn table(&self) -> String {
        self.categories().fold(String::new(), |text, (word, category)| text + word + "\t" + &category + "\n")
    }

    /// How many of the words that are counted each category of the table has.
    pub fn by_category(&self, counts: &Counts) -> Counts {
        let mut sums = Counts::new();
        for (word, category) in self.categories() {
            if let Some(count) = counts.get(word) {
                *sums.entry(category).or_default() += count;
            }
        }
        sums
    }

    fn categories(&self) -> impl Iterator<Item = (&str, String)> {
        self.words.iter().enumerate().map(|(number, word)| (word.as_str(), format!("c{}", number % CATEGORIES)))
    }
}

/// Takes text that is written: its lines, and the sum of their hashes (FNV-1a with 64 bits, by Fowler, Noll and Vo),
/// which does not depend on their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    count: u64,
    sum: u64,
    begun: Option<u64>,
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

impl Lines {
    /// The lines and the sum, as `validate` of `SparkJobs` says them.
    pub fn said(&self) -> String {
        format!("{} lines, sum {:x}", self.count, self.sum)
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            let hash = self.begun.unwrap_or(FNV_OFFSET);
            self.begun = if *byte == b'\n' {
                self.count += 1;
                self.sum = self.sum.wrapping_add(hash);
                None
            } else {
                Some((hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
            };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The regular expression that `grep` looks for.
pub const PATTERN: &str = "a[a-z]+";

/// How often each text that matches [`PATTERN`] is found: in each word, from its first `a` that has a letter after it
/// to the word's end.
pub fn matches(words: &Counts) -> Counts {
    let mut found = Counts::new();
    for (word, count) in words {
        if let Some(at) = word.find('a').filter(|at| at + 1 < word.len()) {
            *found.entry(word[at..].to_owned()).or_default() += count;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_text_that_is_written() {
        let text = Text::of(100_000);
        let mut written = Vec::new();
        let (counts, length) = text.write(&mut written).expect("written");
        assert_eq!(written.len() as u64, length);
        assert!((100_000..100_200).contains(&length));
        let mut counted = Counts::new();
        let written = String::from_utf8(written).expect("letters");
        for word in written.split_whitespace() {
            *counted.entry(word.to_owned()).or_default() += 1;
        }
        assert_eq!(counts, counted);
        assert_eq!(text.write(&mut io::sink()).expect("written"), (counts, length), "the same each time");
    }

    #[test]
    fn the_most_frequent_word_comes_as_often_as_zipf_s_law_has_it() {
        let (counts, _) = Text::of(2_000_000).write(&mut io::sink()).expect("written");
        let total: u64 = counts.values().sum();
        // One over the harmonic number of 50,000: 1 / 11.397.
        let share = *counts.values().max().expect("words") as f64 / total as f64;
        assert!((share * 11.397 - 1.0).abs() < 0.02, "{share}");
    }

    #[test]
    fn lines_are_summed_in_any_order() {
        let lines = |text: &[u8]| {
            let mut lines = Lines::default();
            lines.write_all(text).expect("taken");
            lines
        };
        // FNV-1a's published test vectors: "a" is af63dc4c8601ec8c, "foobar" 85944171f73967e8; their sum wraps.
        assert_eq!(lines(b"a\n").said(), "1 lines, sum af63dc4c8601ec8c");
        assert_eq!(lines(b"foobar\na\n").said(), "2 lines, sum 34f81dbe7d3b5474");
        assert_eq!(lines(b"a\nfoobar\n"), lines(b"foobar\na\n"));
    }

    #[test]
    fn categories_have_their_words() {
        let text = Text::of(50_000);
        let (counts, _) = text.write(&mut io::sink()).expect("written");
        let table = text.table();
        let category: BTreeMap<&str, &str> = table.lines().filter_map(|line| line.split_once('\t')).collect();
        assert_eq!(category.len(), 50_000);
        let of_c7: u64 =
            counts.iter().filter(|(word, _)| category[word.as_str()] == "c7").map(|(_, count)| count).sum();
        let sums = text.by_category(&counts);
        assert_eq!(sums["c7"], of_c7);
        assert_eq!(sums.values().sum::<u64>(), counts.values().sum::<u64>());
    }

    #[test]
    fn matches_are_what_a_greedy_search_finds() {
        let counts = Counts::from(
            [("banana", 3), ("bba", 5), ("a", 2), ("anana", 1), ("xyz", 9)].map(|(w, n)| (w.to_owned(), n)),
        );
        // As `grep -o 'a[a-z]\+'` says of these words.
        assert_eq!(matches(&counts), Counts::from([("anana".to_owned(), 4)]));
    }
}
