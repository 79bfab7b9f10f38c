//! Histories and configurations with parts that are changed, cut, lost, repeated or out of all range: each is read or
//! refused, and none brings the reader down. The changes are the same on every run.

use crate::samples::{FAILED, load};
use history::import::{Settings, Sources, cluster, import};
use history::{Properties, read};

const SAMPLES: [&str; 12] = [
    "hadoop-0.20.log",
    "hadoop-1.2-killed.log",
    "hadoop-0.18.log",
    FAILED,
    "sls-hadoop3.json",
    "rumen-escaped.json",
    "job_1700000000000_0007_conf.xml",
    "job_201307011200_0003_conf.xml",
    "compressed/killed.gz",
    "compressed/killed.zst",
    "compressed/killed.bz2",
    "../traces/teragen-unshaped/job_1795217314114_0001.jhist",
];

/// Numbers that parsers and sums trip over.
const NUMBERS: [&str; 8] = [
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
    "-1",
    "0",
    "1e308",
    "4294967296",
];

/// Marsaglia's xorshift: the same numbers on every machine.
pub struct Draw(pub u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

pub fn mutate(bytes: &[u8], how: usize, draw: &mut Draw) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let lines = || bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    match how {
        0 => (0..=draw.below(8)).for_each(|_| {
            let at = draw.below(out.len());
            out[at] ^= 1 << draw.below(8);
        }),
        1 => out.truncate(draw.below(bytes.len())),
        2 => {
            let mut lines = lines();
            lines.remove(draw.below(lines.len()));
            out = lines.concat();
        }
        3 => {
            let mut lines = lines();
            let line = lines[draw.below(lines.len())].clone();
            lines.insert(draw.below(lines.len()), line);
            out = lines.concat();
        }
        4 => {
            // A number, wherever one is.
            let from = draw.below(bytes.len());
            let Some(start) = (from..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) else { return out };
            let end = (start..bytes.len()).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(bytes.len());
            out.splice(start..end, NUMBERS[draw.below(NUMBERS.len())].bytes());
        }
        5 => {
            let (a, b) = (draw.below(bytes.len()), draw.below(bytes.len()));
            drop(out.drain(a.min(b)..a.max(b).min(a.min(b) + 40)));
        }
        _ => {
            let (at, from) = (draw.below(bytes.len()), draw.below(bytes.len()));
            let piece = bytes[from..(from + 200).min(bytes.len())].to_vec();
            out.splice(at..at, piece);
        }
    }
    out
}

#[test]
fn mutated_histories_are_read_or_refused() {
    let (mut read_on, mut refused) = (0, 0);
    for (number, sample) in SAMPLES.iter().enumerate() {
        let bytes = load(sample);
        let mut draw = Draw(0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 1));
        for round in 0..210 {
            let mutated = mutate(&bytes, round % 7, &mut draw);
            let outcome = if sample.ends_with("_conf.xml") {
                let properties = Properties::read(&mutated, "conf.xml");
                properties.is_ok_and(|properties| {
                    let _ = cluster("c", |name| Ok((name == "core-site.xml").then(|| mutated.clone())));
                    let _ = properties.job_id();
                    Settings::of_job(&properties).is_ok()
                })
            } else {
                match read(&mutated) {
                    // What is read makes sense: no sum of it leaves the range, and what is made of it is a scenario or
                    // an error.
                    Ok((_, jobs)) => jobs.iter().all(|job| {
                        let _ = import(job, &Sources::default());
                        job.finish_ms.is_none_or(|finish| finish - job.launch_ms >= 0)
                            && job.maps.iter().chain(&job.reduces).flat_map(|t| &t.attempts).all(|attempt| {
                                attempt.start_ms.zip(attempt.finish_ms).is_none_or(|(start, finish)| finish >= start)
                            })
                    }),
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        false
                    }
                }
            };
            if outcome { read_on += 1 } else { refused += 1 }
        }
    }
    // Neither is everything taken nor nothing.
    assert!(read_on > 300 && refused > 600, "{read_on} read, {refused} refused");
}
