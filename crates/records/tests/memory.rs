//! A scan's memory is bounded, whatever the text is like. Each scan has a process of its own, because a process's peak is
//! what Linux tells.

use placement::{Bucketing, Engine, KeyRule, KeyType, Layout, Profile};
use records::{Sample, read_stream};
use std::io::{self, Cursor, Read};
use std::process::Command;

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

/// Says to a process of this test which scan is its.
const SCAN: &str = "TRUNKLINE_SCAN";

/// The scans: their keys, and at least how many they have.
fn scans() -> [(&'static str, fn() -> u64, u64); 5] {
    [
        ("the longest line, of words of one letter", || scan(one_letter(), "tokens", Layout::Whole), LONGEST / 2),
        ("the same, a record for each key", || scan(one_letter(), "tokens", Layout::Split), LONGEST / 2),
        ("the longest line, of words that are all different", different_words, 2_000_000),
        ("as many different keys as pairs are counted of, then the most keys a line has", the_most_keys, 20_000_000),
        ("keys of JSON that do not stand in their record as they are", keys_of_json, 3_000_001),
    ]
}

fn one_letter() -> impl Read {
    made(LONGEST, |_| "a ".to_owned())
}

fn different_words() -> u64 {
    scan(made(LONGEST, different), "tokens", Layout::Whole)
}

fn the_most_keys() -> u64 {
    let short = made(30 << 20, |number| if number % 8 == 7 { "\n".to_owned() } else { different(number) });
    let long = made(LONGEST, |_| "x".to_owned());
    scan(short.chain(&b"\n"[..]).chain(long), "regex:[0-9a-f]+|x", Layout::Whole)
}

fn keys_of_json() -> u64 {
    let array = (&b"["[..]).chain(made(5 * 3_000_000, |_| r#""\n","#.to_owned())).chain(&b"\"\"]"[..]);
    scan(array, "json:$[*]", Layout::Whole)
}

#[test]
fn a_scan_holds_what_is_promised() {
    if let Ok(mine) = std::env::var(SCAN) {
        let (_, scan, least) = scans()[mine.parse::<usize>().expect("a number")];
        let keys = scan();
        assert!(keys >= least, "{keys} keys");
        assert!(peak() < PROMISED, "{} MB", peak() / 1_000_000);
        return;
    }
    for (number, (what, ..)) in scans().into_iter().enumerate() {
        let mut process = Command::new(std::env::current_exe().expect("a path"));
        process.args(["--exact", "a_scan_holds_what_is_promised"]).env(SCAN, number.to_string());
        let output = process.output().expect("it starts");
        assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
