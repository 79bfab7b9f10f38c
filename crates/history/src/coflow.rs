//! Traces in the format of coflow-benchmark (Chowdhury, Zhong and Stoica, SIGCOMM 2014).
//!
//! The first line has the number of the fabric's ports and of coflows. Each line that follows is a coflow: its name,
//! its arrival in milliseconds, the number of its mappers and their ports, the number of its reducers, and port and
//! megabytes of each reducer as `port:megabytes`. Ports count from 0. A megabyte is 2^20 bytes, as in CoflowSim, the
//! simulator of the format's authors (`CoflowBenchmarkTraceProducer`).

use crate::HistoryError as Error;
use crate::error::Problem;
use crate::swim::{lines, name, shown};
use units::{Bytes, Time};

/// Most ports of a fabric, and most ends of all coflows together: what a scenario and memory hold.
const MAX_PORTS: u64 = 100_000;
const MAX_ENDS: usize = 10_000_000;
/// Latest arrival, in milliseconds.
const LATEST_MS: u64 = 200 * 86_400_000;
/// Bytes of a megabyte.
const MEGABYTE: f64 = 1_048_576.0;

/// A trace: a fabric, and the coflows that cross it.
#[derive(Clone, PartialEq, Debug)]
pub struct CoflowTrace {
    /// Ports of the fabric.
    pub ports: u32,
    /// The coflows, in the order of their arrival.
    pub coflows: Vec<Coflow>,
}

/// Flows that belong together: each mapper sends every reducer the same part of what it receives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coflow {
    /// Its name.
    pub id: String,
    /// Its arrival.
    pub arrival: Time,
    /// The ports of its mappers, from 0.
    pub mappers: Vec<u32>,
    /// The ports of its reducers, from 0, and what each receives.
    pub reducers: Vec<(u32, Bytes)>,
}

/// Whether a file begins like a trace of coflows: two whole numbers, then a line with `port:megabytes`.
pub fn is_coflow(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes).map(|(at, line)| words(at, line));
    let first: Vec<_> = lines.next().map(|words| words.take(3).collect()).unwrap_or_default();
    let whole = |(_, word): &(usize, &[u8])| integer(word).is_some();
    first.len() == 2
        && first.iter().all(whole)
        && lines.next().is_none_or(|words| words.skip(4).any(|(_, word)| word.contains(&b':')))
}

/// Reads a trace.
pub fn read(bytes: &[u8]) -> Result<CoflowTrace, Error> {
    let mut lines = lines(bytes);
    let end = bytes.len();
    let Some((at, first)) = lines.next() else {
        return Err(Error::malformed(0, "the number of ports and of coflows", "an empty file"));
    };
    let mut words = words(at, first);
    let (ports_at, ports) = whole(&mut words, "the number of ports", end)?;
    if ports == 0 || ports > MAX_PORTS {
        let what = format!("a fabric of {ports} ports; 1 to {MAX_PORTS} are read");
        return Err(Error::new(ports_at, Problem::Limit(what)));
    }
    let (count_at, count) = whole(&mut words, "the number of coflows", end)?;
    let (mut coflows, mut ends) = (Vec::new(), 0);
    for (at, line) in lines {
        let coflow = coflow(at, line, ports)?;
        ends += coflow.mappers.len() + coflow.reducers.len();
        few(at, ends)?;
        coflows.push(coflow);
    }
    if coflows.len() as u64 != count {
        let what = format!("the first line counts {count} coflows, and {} follow", coflows.len());
        return Err(Error::inconsistent(count_at, what));
    }
    coflows.sort_by_key(|coflow| coflow.arrival);
    Ok(CoflowTrace { ports: ports as u32, coflows })
}

/// Whether there are no more mappers and reducers than are read.
fn few(at: usize, ends: usize) -> Result<(), Error> {
    let what = || Problem::Limit(format!("more than {MAX_ENDS} mappers and reducers"));
    if ends > MAX_ENDS { Err(Error::new(at, what())) } else { Ok(()) }
}

fn coflow(at: usize, line: &[u8], ports: u64) -> Result<Coflow, Error> {
    let end = at + line.len();
    let mut words = words(at, line);
    let id = words.next().map(|(_, word)| name(word)).unwrap_or_default();
    let (arrival_at, arrival) = whole(&mut words, "an arrival in milliseconds", end)?;
    if arrival > LATEST_MS {
        return Err(Error::malformed(arrival_at, "an arrival of 200 days, in milliseconds", format!("`{arrival}`")));
    }
    let port = |(at, word): (usize, &[u8])| {
        let port = integer(word).filter(|port| *port < ports);
        let expected = || format!("a port, 0 to {}", ports - 1);
        port.map(|port| port as u32).ok_or_else(|| Error::malformed(at, expected(), shown(word)))
    };
    let mut next = |what: &'static str| words.next().ok_or_else(|| Error::malformed(end, what, "the end of the line"));
    let count = |(at, word): (usize, &[u8]), what: &'static str| {
        integer(word).filter(|count| *count > 0).ok_or_else(|| Error::malformed(at, what, shown(word)))
    };
    let mut mappers = Vec::new();
    for _ in 0..count(next("the number of mappers")?, "a number of mappers above 0")? {
        mappers.push(port(next("the port of a mapper")?)?);
        few(at, mappers.len())?;
    }
    let mut reducers = Vec::new();
    for _ in 0..count(next("the number of reducers")?, "a number of reducers above 0")? {
        let (at, word) = next("the port of a reducer and its megabytes")?;
        let wrong = || Error::malformed(at, "`port:megabytes` of a reducer", shown(word));
        let colon = word.iter().position(|byte| *byte == b':').ok_or_else(wrong)?;
        let megabytes = std::str::from_utf8(&word[colon + 1..]).ok().and_then(|text| text.parse::<f64>().ok());
        let megabytes = megabytes.filter(|number| (0.0..=1e12).contains(number)).ok_or_else(wrong)?;
        reducers.push((port((at, &word[..colon]))?, Bytes::new((megabytes * MEGABYTE).round() as u64)));
        few(at, mappers.len() + reducers.len())?;
    }
    if let Some((at, word)) = words.next() {
        return Err(Error::malformed(at, "the end of the line", shown(word)));
    }
    Ok(Coflow { id, arrival: Time::from_ms(arrival), mappers, reducers })
}

/// The words of a line that begins at byte `at`, and where each stands.
fn words(at: usize, line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let word = rest.split(u8::is_ascii_whitespace).next().filter(|word| !word.is_empty())?;
        let at = at + line.len() - rest.len();
        rest = &rest[word.len()..];
        Some((at, word))
    })
}

fn integer(word: &[u8]) -> Option<u64> {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| digits)?.parse().ok()
}

fn whole<'a>(
    words: &mut impl Iterator<Item = (usize, &'a [u8])>,
    what: &'static str,
    end: usize,
) -> Result<(usize, u64), Error> {
    let (at, word) = words.next().ok_or_else(|| Error::malformed(end, what, "the end of the line"))?;
    integer(word).map(|number| (at, number)).ok_or_else(|| Error::malformed(at, what, shown(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_coflow() {
        let text = b"4 2\nlater 70 1 3 1 0:0.5\nfirst 20 2 0 1 2 2:3.0 3:1\n";
        assert!(is_coflow(text));
        let trace = read(text).unwrap();
        let first = Coflow {
            id: "first".to_owned(),
            arrival: Time::from_ms(20),
            mappers: vec![0, 1],
            reducers: vec![(2, Bytes::from_mib(3)), (3, Bytes::from_mib(1))],
        };
        assert_eq!((trace.ports, trace.coflows.len()), (4, 2));
        assert_eq!(trace.coflows[0], first);
        assert_eq!(trace.coflows[1].reducers, [(0, Bytes::from_mib(1) / 2)]);
    }

    #[test]
    fn what_is_no_coflow_is_named_with_its_place() {
        for (text, expected) in [
            ("", "at byte 0: expected the number of ports and of coflows, found an empty file"),
            ("4 3\na 0 1 0 1 1:1\n", "at byte 2: the first line counts 3 coflows, and 1 follow"),
            ("4 1\na 0 1 4 1 1:1\n", "at byte 10: expected a port, 0 to 3, found `4`"),
            ("4 1\na 0 2 0 1\n", "at byte 13: expected the number of reducers, found the end of the line"),
            ("4 1\na 0 1 0 1 1=1\n", "at byte 14: expected `port:megabytes` of a reducer, found `1=1`"),
            ("4 1\na 0 1 0 1 1:-1\n", "at byte 14: expected `port:megabytes` of a reducer, found `1:-1`"),
            ("4 1\na 0 1 0 1 1:1 7\n", "at byte 18: expected the end of the line, found `7`"),
            ("4 1\na soon 1 0 1 1:1\n", "at byte 6: expected an arrival in milliseconds, found `soon`"),
            ("4 1\na 0 18446744073709551615 0 1 1:1\n", "at byte 33: expected a port, 0 to 3, found `1:1`"),
            ("0 1\na 0 1 0 1 1:1\n", "at byte 0: a fabric of 0 ports; 1 to 100000 are read"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn other_files_are_not_traces_of_coflows() {
        for text in ["", "job0\t1\t1\t2\t3\t4\n", "{}", "1 2 3\n", "3 1\n1 2 3 4 5\n"] {
            assert!(!is_coflow(text.as_bytes()), "{text}");
        }
    }
}
