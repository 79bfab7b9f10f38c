//! Workloads of SWIM, the Statistical Workload Injector for MapReduce (Chen and others, MASCOTS 2011).
//!
//! A line is a job, with six fields separated by tabs: the job, its submission in seconds from the workload's start,
//! the gap to the submission before, and the bytes of map input, of shuffle and of output (`README` of SWIM's
//! `workloadSuite`). Further fields (paths of the input, in some files) are not read.

use crate::HistoryError as Error;
use crate::error::Problem;
use memchr::{memchr, memchr_iter};
use units::{Bytes, Time};

/// Most jobs of one workload: what memory holds.
pub const MAX_JOBS: usize = 1_000_000;
/// Latest submission, in seconds from the start.
const LATEST: f64 = 200.0 * 86_400.0;
/// Fields of a line that are read.
const FIELDS: usize = 6;

/// A job of a workload: when it comes, and what it moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwimJob {
    /// Its name in the workload, such as `job17`.
    pub id: String,
    /// Submission, from the workload's start.
    pub submit: Time,
    /// Bytes that its maps read.
    pub input: Bytes,
    /// Bytes from maps to reducers.
    pub shuffle: Bytes,
    /// Bytes of output, of the reducers or, without shuffle, of the maps.
    pub output: Bytes,
}

/// Whether a file begins like a workload of SWIM: a first line of a name and five numbers, separated by tabs.
pub fn is_swim(bytes: &[u8]) -> bool {
    let first = lines(bytes).next().map(|(_, line)| line);
    first.is_some_and(|line| {
        let fields = fields(line);
        fields.len() >= FIELDS && fields[1..FIELDS].iter().all(|field| number(field).is_some())
    })
}

/// Its fields that are read, and the rest of the line as one more: a line may be as long as a file.
fn fields(line: &[u8]) -> Vec<&[u8]> {
    let (mut fields, mut rest) = (Vec::new(), line);
    while fields.len() < FIELDS
        && let Some(tab) = memchr(b'\t', rest)
    {
        fields.push(&rest[..tab]);
        rest = &rest[tab + 1..];
    }
    fields.push(rest);
    fields
}

/// Reads a workload. Its jobs are in the order of their submission.
pub fn read(bytes: &[u8]) -> Result<Vec<SwimJob>, Error> {
    let mut jobs: Vec<SwimJob> = Vec::new();
    for (at, line) in lines(bytes) {
        if jobs.len() == MAX_JOBS {
            return Err(Error::new(at, Problem::Limit(format!("more than {MAX_JOBS} jobs in one workload"))));
        }
        jobs.push(job(at, line)?);
    }
    jobs.sort_by_key(|job| job.submit);
    Ok(jobs)
}

/// The lines that hold something, and the byte at which each begins.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    let placed = memchr_iter(b'\n', bytes).chain(Some(bytes.len())).map(move |end| {
        let at = std::mem::replace(&mut next, end + 1);
        let line = &bytes[at..end];
        (at, line.strip_suffix(b"\r").unwrap_or(line))
    });
    placed.filter(|(_, line)| !line.trim_ascii_start().is_empty() && line[0] != b'#')
}

fn job(at: usize, line: &[u8]) -> Result<SwimJob, Error> {
    let fields = fields(line);
    if fields.len() < FIELDS {
        let expected = "a job, its submission and gap in seconds, bytes of input, shuffle and output, between tabs";
        return Err(Error::malformed(at, expected, format!("{} fields", fields.len())));
    }
    let place = |field: usize| at + fields[..field].iter().map(|before| before.len() + 1).sum::<usize>();
    let bytes = |field: usize| match number(fields[field]) {
        Some(value) if value <= MOST_BYTES => Ok(Bytes::new(value as u64)),
        _ => Err(Error::malformed(place(field), "a number of bytes", shown(fields[field]))),
    };
    let seconds = number(fields[1]).filter(|seconds| *seconds <= LATEST);
    let seconds =
        seconds.ok_or_else(|| Error::malformed(place(1), "a submission in seconds, of 200 days", shown(fields[1])))?;
    Ok(SwimJob {
        id: name(fields[0].trim_ascii()),
        submit: Time::from_secs_f64(seconds),
        input: bytes(3)?,
        shuffle: bytes(4)?,
        output: bytes(5)?,
    })
}

/// An exbibyte: what a size in a scenario may be.
const MOST_BYTES: f64 = (1_u64 << 60) as f64;

/// A number that is not negative.
fn number(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+'));
    text.parse::<f64>().ok().filter(|number| digits && number.is_finite())
}

/// A name without control characters, cut where it is very long.
pub(crate) fn name(field: &[u8]) -> String {
    let kept = &field[..field.len().min(1000)];
    String::from_utf8_lossy(kept).chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The beginning of a field, for a message.
pub(crate) fn shown(field: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned();
    format!("`{}`", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] = b"b\t90\t30\t200\t0\t7\r\n\n# a comment\na\t60.5\t1\t1000\t50\t25\t/a/path\n";

    #[test]
    fn a_line_is_a_job() {
        assert!(is_swim(TWO));
        let jobs = read(TWO).unwrap();
        assert_eq!(jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), ["a", "b"], "by submission");
        let a = SwimJob {
            id: "a".to_owned(),
            submit: Time::from_ms(60_500),
            input: Bytes::new(1_000),
            shuffle: Bytes::new(50),
            output: Bytes::new(25),
        };
        assert_eq!(jobs[0], a);
    }

    #[test]
    fn what_is_no_job_is_named_with_its_place() {
        for (text, expected) in [
            ("a\t1\t1\t5\t5\t5\nb\t2\t1\t5\t5\n", "at byte 12: expected a job, its submission and gap"),
            ("a\t1\t1\tmuch\t5\t5\n", "at byte 6: expected a number of bytes, found `much`"),
            ("a\t-1\t1\t5\t5\t5\n", "at byte 2: expected a submission in seconds, of 200 days, found `-1`"),
            ("a\t1\t1\t5\t5\t1e30\n", "at byte 10: expected a number of bytes, found `1e30`"),
            ("a\t1\t1\t5\t5\tNaN\n", "at byte 10: expected a number of bytes, found `NaN`"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn other_files_are_not_workloads() {
        for text in ["", "\n\n", "{\"jobID\": 1}", "Avro-Json\n", "150 526\n1 0 1 2 1 3:4.0\n", "a b c d e f\n"] {
            assert!(!is_swim(text.as_bytes()), "{text}");
        }
    }
}
