//! A scan's memory is bounded, whatever the text is like. A process of its own, because a process's peak is all that
//! Linux tells.

use placement::{Bucketing, Engine, KeyRule, KeyType, Layout, Profile};
use records::{Sample, read_stream};
use std::io::{self, Cursor, Read};

/// What is promised (docs/models/placement.md), for the process as a whole.
const PROMISED: u64 = 256_000_000;
/// The longest line: 16 MiB.
const LONGEST: u64 = 16 << 20;

/// Text that is made while it is read: so many bytes of pieces by their numbers.
struct Made<F> {
    piece: F,
    number: u64,
    some: Cursor<Vec<u8>>,
}

impl<F: Fn(u64) -> String> Read for Made<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.some.position() as usize == self.some.get_ref().len() {
            let next = self.number + 1000;
            self.some = Cursor::new((self.number..next).map(&self.piece).collect::<String>().into_bytes());
            self.number = next;
        }
        self.some.read(buffer)
    }
}

fn made(bytes: u64, piece: impl Fn(u64) -> String) -> impl Read {
    Made { piece, number: 0, some: Cursor::default() }.take(bytes)
}

/// As short as different words can be, but for a few.
fn different(number: u64) -> String {
    format!("{number:x} ")
}

/// The most that this process has held.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("kilobytes")
}

/// Scans text, and counts its pairs as a plan does; how many keys it has.
fn scan(text: impl Read, rule: &str, layout: Layout) -> u64 {
    let buckets = Bucketing::new(Engine::MapReduce, None, KeyType::Text, 1024).expect("a bucketing");
    let mut profile = Profile::new(rule.parse::<KeyRule>().expect("a rule"), buckets, layout, Some(4));
    read_stream(text, None, Sample::WHOLE, &mut profile, &mut |_| true).expect("text");
    assert!(profile.sample().count(16).native > 0);
    profile.pairs
}

#[test]
fn a_scan_holds_what_is_promised() {
    for layout in [Layout::Whole, Layout::Split] {
        // The longest line, of words of one letter.
        assert_eq!(scan(made(LONGEST, |_| "a ".to_owned()), "tokens", layout), LONGEST / 2);
        // The longest line, of words that are all different.
        assert!(scan(made(LONGEST, different), "tokens", layout) > 2_000_000);
    }
    // As many different keys as a count of pairs has room for, in short lines, and then the longest line, in which each
    // letter is a key: more than a line of words has.
    let short = made(30 << 20, |number| if number % 8 == 7 { "\n".to_owned() } else { different(number) });
    let long = made(LONGEST, |_| "x".to_owned());
    let both = short.chain(&b"\n"[..]).chain(long);
    assert!(scan(both, "regex:[0-9a-f]+|x", Layout::Whole) > LONGEST + (4 << 20));
    // Keys of JSON that do not stand in their record as they are.
    let array = (&b"["[..]).chain(made(5 * 3_000_000, |_| r#""\n","#.to_owned())).chain(&b"\"\"]"[..]);
    assert_eq!(scan(array, "json:$[*]", Layout::Whole), 3_000_001);
    assert!(peak() < PROMISED, "{} MB", peak() / 1_000_000);
}
