//! A gateway's log on standard error: each line once, until a while has passed.

use crate::refusals::Counts;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Repetitions of a log line within this time are not written.
const SILENCE: Duration = Duration::from_mins(1);
/// The number of lines that are remembered.
const REMEMBERED: usize = 1000;
/// Lines written at once, and the time for one more: endless new errors fill neither memory nor disk.
const BURST: u32 = 100;
const EACH: Duration = Duration::from_secs(1);

/// Writes lines of JSON to standard error: each at most once a minute, and in the long run at most one a second. A log
/// that cannot be written is given up silently: there is nowhere to report it.
#[derive(Clone, Debug, Default)]
pub struct Log {
    seen: Arc<Mutex<Seen>>,
    /// What was refused, by cause.
    refusals: Arc<Mutex<Counts>>,
    /// Whether decisions are logged too.
    explain: bool,
}

#[derive(Debug, Default)]
struct Seen {
    lines: BTreeMap<String, Instant>,
    /// Fill level of the limit on lines, and when it was computed.
    level: u32,
    at: Option<Instant>,
    left_out: u64,
}

impl Log {
    /// A log that also gets the reasons for the number of streams.
    pub fn explaining(explain: bool) -> Self {
        Self { explain, ..Self::default() }
    }
    /// Whether decisions are logged.
    pub(crate) fn explains(&self) -> bool {
        self.explain
    }
    /// The lines written of late.
    pub fn lines(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).lines.keys().cloned().collect()
    }
    /// Counts a refusal.
    pub(crate) fn count(&self, cause: &'static str) {
        *self.refusals.lock().unwrap_or_else(PoisonError::into_inner).entry(cause).or_default() += 1;
    }
    /// What was refused, by cause.
    pub(crate) fn refusals(&self) -> Counts {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Logs something that the owner may want to know, and why.
    pub fn note(&self, what: &str, why: &str) {
        self.write(&json!({ "event": what, "reason": why }));
    }
    /// A note on a session with this peer.
    pub(crate) fn note_of(&self, peer: &str, what: &str, why: &str) {
        self.write(&json!({ "event": what, "reason": why, "peer": peer }));
    }
    /// Writes an event: an object whose `event` names it.
    pub fn write(&self, line: &Value) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for line in seen.admit(Instant::now(), line.to_string()) {
            let _ = whole(&mut std::io::stderr().lock(), line);
        }
    }
}

/// A line and its end in one write: standard error is unbuffered, and a process being replaced shares its log with the
/// next.
fn whole(out: &mut impl Write, line: String) -> std::io::Result<()> {
    out.write_all((line + "\n").as_bytes())
}

impl Seen {
    /// The lines to write now, given another one.
    fn admit(&mut self, now: Instant, line: String) -> Vec<String> {
        if self.lines.get(&line).is_some_and(|at| now.duration_since(*at) < SILENCE) {
            return Vec::new();
        }
        let passed = self.at.map_or(0, |at| (now.duration_since(at).as_secs() / EACH.as_secs()) as u32);
        if passed > 0 || self.at.is_none() {
            self.level = self.level.saturating_sub(passed);
            self.at = Some(now);
        }
        if self.level >= BURST {
            self.left_out += 1;
            return Vec::new();
        }
        self.level += 1;
        if self.lines.len() >= REMEMBERED {
            self.lines.clear();
        }
        self.lines.insert(line.clone(), now);
        let left_out = std::mem::take(&mut self.left_out);
        let gap = (left_out > 0).then(|| json!({ "event": "lines left out", "lines": left_out }).to_string());
        gap.into_iter().chain([line]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that remembers each write.
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_and_its_end_are_one_write() {
        let mut out = Writes(Vec::new());
        whole(&mut out, r#"{"event":"serving"}"#.to_owned()).expect("memory");
        assert_eq!(out.0, [b"{\"event\":\"serving\"}\n"]);
    }

    #[test]
    fn a_line_is_written_once_a_minute() {
        let (mut seen, began) = (Seen::default(), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(seen.admit(at(0), "a".to_owned()), ["a"]);
        assert!(seen.admit(at(59), "a".to_owned()).is_empty());
        assert_eq!(seen.admit(at(61), "a".to_owned()), ["a"]);
    }

    #[test]
    fn what_a_peer_brings_is_its_own_line() {
        let log = Log::default();
        for peer in ["laptop", "laptop", "phone"] {
            log.note_of(peer, "db:3306 is not allowed", "no --allow rule has it");
        }
        let line =
            |peer| format!(r#"{{"event":"db:3306 is not allowed","peer":"{peer}","reason":"no --allow rule has it"}}"#);
        assert_eq!(log.lines(), ["laptop", "phone"].map(line));
    }

    #[test]
    fn a_flood_of_different_lines_is_cut_and_its_length_said() {
        let (mut seen, began) = (Seen::default(), Instant::now());
        let mut written = 0;
        for number in 0..100_000 {
            // A hundred seconds of lines.
            written += seen.admit(began + Duration::from_millis(number), format!("line {number}")).len();
        }
        assert!((150..=400).contains(&written), "{written}");
        assert!(seen.lines.len() <= REMEMBERED);
        let later = seen.admit(began + Duration::from_mins(10), "after".to_owned());
        assert!(later[0].contains("lines left out") && later[1] == "after", "{later:?}");
    }
}
