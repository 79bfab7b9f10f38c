//! What a program says into a file: followed while it comes, and its end. Of however much it is, little is held.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What is held of a text: its last bytes, up to twice as many.
const HELD: usize = 1 << 18;
const CHUNK: usize = 1 << 16;
/// Chunks that are read at once, so that whoever follows also looks elsewhere.
const MOST_CHUNKS: usize = 256;
/// The most identifiers of a kind that are kept.
const MOST_IDS: usize = 1_000;

/// The words of a client of Hadoop, or of a driver of Spark.
#[derive(Debug)]
pub struct Words<R> {
    from: R,
    held: Vec<u8>,
    /// Up to where identifiers were looked for: whole lines only, since a line may come in parts.
    scanned: usize,
    jobs: Vec<String>,
    applications: Vec<String>,
    /// Whether a driver of Spark has begun a job.
    has_spark_job: bool,
}

/// What a driver of Spark says when the program asks for its first job.
const SPARK_JOB: &str = "DAGScheduler: Got job 0 ";

impl<R: Read> Words<R> {
    /// Of a text that grows.
    pub const fn of(from: R) -> Self {
        Self { from, held: Vec::new(), scanned: 0, jobs: Vec::new(), applications: Vec::new(), has_spark_job: false }
    }

    /// Reads what has come; whether that is all there is by now.
    pub fn hear(&mut self) -> io::Result<bool> {
        let mut chunk = vec![0; CHUNK];
        for _ in 0..MOST_CHUNKS {
            let count = self.from.read(&mut chunk)?;
            if count == 0 {
                return Ok(true);
            }
            self.held.extend_from_slice(&chunk[..count]);
            if let Some(end) = self.held[self.scanned..].iter().rposition(|byte| *byte == b'\n') {
                self.scan(self.scanned + end + 1);
            }
            if self.held.len() > 2 * HELD {
                let dropped = self.held.len() - HELD;
                self.held.drain(..dropped);
                self.scanned = self.scanned.saturating_sub(dropped);
            }
        }
        Ok(false)
    }

    /// Reads the rest of a text that grows no more.
    pub fn hear_out(&mut self) -> io::Result<()> {
        while !self.hear()? {}
        self.scan(self.held.len());
        Ok(())
    }

    fn scan(&mut self, end: usize) {
        let text = String::from_utf8_lossy(&self.held[self.scanned..end]);
        find_ids(&text, "job_", &mut self.jobs);
        find_ids(&text, "application_", &mut self.applications);
        self.has_spark_job |= text.contains(SPARK_JOB);
        self.scanned = end;
    }

    /// The end of what was said.
    pub fn end(&self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }

    /// The jobs that were named, in their order.
    pub fn jobs(&self) -> Vec<String> {
        if self.jobs.is_empty() { renamed(&self.applications, "application", "job") } else { self.jobs.clone() }
    }

    /// Whether its first job has begun: a client names an application of YARN once it is submitted.
    pub fn has_begun(&self) -> bool {
        !self.applications.is_empty() || self.has_spark_job
    }

    /// The applications that were named, by themselves or as jobs.
    pub fn applications(&self) -> Vec<String> {
        let mut all = self.applications.clone();
        for id in renamed(&self.jobs, "job", "application") {
            if !all.contains(&id) {
                all.push(id);
            }
        }
        all
    }
}

fn renamed(ids: &[String], from: &str, to: &str) -> Vec<String> {
    ids.iter().map(|id| id.replacen(from, to, 1)).collect()
}

/// Adds the identifiers in a text that begin so: PREFIX, a number, `_`, a number.
fn find_ids(text: &str, prefix: &str, found: &mut Vec<String>) {
    for (at, _) in text.match_indices(prefix) {
        let rest = &text[at + prefix.len()..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
        let id = &rest[..length];
        let parts = id.split_once('_').filter(|(a, b)| !a.is_empty() && !b.is_empty() && !b.contains('_'));
        // Not the beginning of another word, as in `my_job_1_2`.
        let begins = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let id = format!("{prefix}{id}");
        if parts.is_some() && begins && !found.contains(&id) && found.len() < MOST_IDS {
            found.push(id);
        }
    }
}

/// The end of a file; nothing of one that cannot be read.
pub fn end_of(file: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(HELD as u64)))?;
        let mut end = Vec::new();
        file.take(2 * HELD as u64).read_to_end(&mut end)?;
        Ok(end)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO impl.YarnClientImpl: Submitted application application_1795427606570_0005\n\
        INFO mapreduce.Job: Running job: job_1795427606570_0005\n\
        INFO mapreduce.Job: Running job: job_1795427606570_0006, not my_job_1_2 nor job_12";

    fn heard(from: impl Read) -> (Vec<String>, Vec<String>, usize) {
        let mut words = Words::of(from);
        words.hear_out().expect("read");
        (words.jobs(), words.applications(), words.end().len())
    }

    /// Gives a byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut to[..1])
        }
    }

    #[test]
    fn jobs_are_found_however_their_names_come() {
        let jobs = ["job_1795427606570_0005", "job_1795427606570_0006"].map(str::to_owned);
        let applications = ["application_1795427606570_0005", "application_1795427606570_0006"].map(str::to_owned);
        for (found, ran, _) in [heard(LOG.as_bytes()), heard(Slow(LOG.as_bytes()))] {
            assert_eq!((found, ran), (jobs.to_vec(), applications.to_vec()));
        }
        let (silent, ..) = heard(LOG.lines().next().expect("a line").as_bytes());
        assert_eq!(silent, ["job_1795427606570_0005"]);
    }

    #[test]
    fn a_driver_s_first_job_is_heard() {
        let mut words = Words::of(&b"INFO DAGScheduler: Got job 0 (sortBy at SparkJobs.java:58) with 4 output\n"[..]);
        assert!(!words.has_begun());
        words.hear_out().expect("read");
        assert!(words.has_begun() && words.jobs().is_empty());
    }

    #[test]
    fn a_program_that_says_gigabytes_is_held_by_its_end() {
        let noise = io::repeat(b'x').take(40 << 20);
        let (jobs, _, length) = heard(LOG.as_bytes().chain(&b"\n"[..]).chain(noise).chain(&b"\njob_7_1"[..]));
        assert_eq!(jobs, ["job_1795427606570_0005", "job_1795427606570_0006", "job_7_1"]);
        assert!((HELD..=2 * HELD).contains(&length), "{length}");
    }
}
