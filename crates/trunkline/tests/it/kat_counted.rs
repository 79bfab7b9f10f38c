//! What placement removes, counted and not assumed: the program plans a file, `kat load` writes it by that plan, and
//! what a job sends is counted record by record (`kat_count`), before and after.

use crate::kat::{Scratch, said};
use crate::kat_count::{Job, Sent, in_turn, natively, partition_of_text, partition_of_user, placed, sent};
use std::fmt::Write as _;
use std::fs;

/// Users, of whom there are as many as Hadoop has printed partitions of.
const USERS: usize = 5000;
/// Visits of a file, some twelve megabytes.
const VISITS: u32 = 300_000;

/// Visits of users by Zipf's law; with exponent 0 all users are as frequent.
fn visits(exponent: f64) -> Vec<u8> {
    let mut sum = 0.0;
    let up_to: Vec<f64> = (1..=USERS)
        .map(|rank| {
            sum += libm::pow(rank as f64, -exponent);
            sum
        })
        .collect();
    let (mut text, mut draw) = (String::new(), 1_u64);
    for visit in 0..VISITS {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let even = (draw >> 11) as f64 / (1_u64 << 53) as f64;
        let user = up_to.partition_point(|weight| *weight <= even * sum) + 1;
        let _ = writeln!(text, "user-{user}\t/page/{}\t{visit:012}", visit % 97);
    }
    text.into_bytes()
}

/// Visits by their user, whole.
const BY_USER: Job = Job {
    keys: |record| record.split(|byte| *byte == b'\t').take(1).collect(),
    value: |record| record.len() as u64 + 1,
    partition: partition_of_user,
    combines: false,
};

/// What the plan says, and what is counted.
#[derive(Debug)]
struct Counted {
    /// The bytes that the plan says a run saves.
    planned: f64,
    /// Keys that are split.
    splits: usize,
    native: Sent,
    by_key: Sent,
}

impl Counted {
    /// Of a file in blocks of so many bytes.
    fn of(name: &str, text: &[u8], options: &[&str], block: usize, job: &Job) -> Self {
        let scratch = Scratch::new(name);
        scratch.file("data", text);
        let question = [&["data", "--nodes", "8"], options].concat();
        let found = scratch.json(&question);
        let output = scratch.plan(&[&question[..], &["-o", "plan.json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let placed = placed(&scratch, "plan.json", "data", block, job);
        Self {
            planned: found["saved_bytes"].as_f64().expect("bytes"),
            splits: found["split_keys"].as_array().expect("a list").len(),
            native: sent(&natively(text, block), &in_turn(), job),
            by_key: sent(&placed.files, &placed.reducers, job),
        }
    }

    fn saved(&self) -> f64 {
        self.native.remote() as f64 - self.by_key.remote() as f64
    }

    /// 99 % of what the job exchanged, and of what its maps read from the next block of another node, are gone, and the
    /// plan said within 2 % how many bytes that would be.
    fn holds(&self) {
        assert!(self.saved() >= 0.99 * self.native.remote() as f64, "{self:?}");
        assert!((self.planned / self.saved() - 1.0).abs() <= 0.02, "{self:?}, saved {}", self.saved());
    }
}

/// Each record has one key, and stands where Hadoop's partitioner has its reducer. The plan has seen one record in a
/// hundred.
#[test]
fn a_run_saves_the_bytes_that_a_sample_said() {
    for (name, exponent) in [("even", 0.0), ("uneven", 0.5), ("zipf", 1.2)] {
        let counted = Counted::of(name, &visits(exponent), &["--sample", "0.01"], 64 << 10, &BY_USER);
        println!("{name}: {counted:?}");
        assert!(counted.native.exchanged > 9_000_000 && counted.native.read_remotely > 1000, "{counted:?}");
        counted.holds();
    }
}

/// A job with a combiner, whose heaviest users are split. All records are read, since a part of them does not say how
/// many users a map has.
#[test]
fn a_run_with_a_combiner_saves_the_bytes_that_the_plan_says() {
    let job = Job { value: |_| 8, combines: true, ..BY_USER };
    let options = ["--combiner", "--value", "8", "--block", "1 MB"];
    let counted = Counted::of("combiner", &visits(1.2), &options, 1_000_000, &job);
    println!("{counted:?}");
    assert!(counted.splits > 10 && counted.by_key.exchanged > 0, "{counted:?}");
    counted.holds();
}

/// Spark's hash is not Hadoop's: a layout by it saves a job of MapReduce next to nothing.
#[test]
fn a_layout_by_another_engines_hash_saves_nothing() {
    let counted = Counted::of("spark", &visits(0.0), &["--sample", "0.01", "--engine", "spark"], 64 << 10, &BY_USER);
    assert!(counted.saved().abs() < 0.02 * counted.native.remote() as f64, "{counted:?}");
}

/// The words of a real text, each a record of its own in the layout.
#[test]
#[ignore = "reads the text that TRUNKLINE_TEXT names"]
fn a_word_count_of_real_text_saves_the_bytes_that_a_sample_said() {
    let job = Job {
        keys: |record| record.split(|byte| b" \t\n\r\x0c".contains(byte)).filter(|word| !word.is_empty()).collect(),
        value: |_| 4,
        partition: partition_of_text,
        combines: false,
    };
    let text = fs::read(std::env::var_os("TRUNKLINE_TEXT").expect("TRUNKLINE_TEXT")).expect("a text");
    let options = ["--key", "tokens", "--layout", "projected", "--value", "4", "--sample", "0.01"];
    let counted = Counted::of("words", &text, &options, 64 << 10, &job);
    println!("{counted:?}");
    counted.holds();
}

/// The formula is that of Hadoop's class.
#[test]
fn partitions_by_the_formula_are_those_that_hadoop_has_printed() {
    for user in 1..=USERS {
        let key = format!("user-{user}");
        assert_eq!(partition_of_text(key.as_bytes()), partition_of_user(key.as_bytes()), "{key}");
    }
}
