//! What is worth a line on standard error: once, until a while has passed.

use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The same line is not written again for this long.
const SILENCE: Duration = Duration::from_mins(1);
/// Lines that are remembered: a peer that thinks of ever new ways to fail does not fill memory.
const REMEMBERED: usize = 1000;

/// Writes lines of JSON to standard error, each once a minute at most. A log that cannot be written is given up without a word: there is nowhere to say it.
#[derive(Clone, Debug, Default)]
pub struct Log {
    seen: Arc<Mutex<BTreeMap<String, Instant>>>,
    /// Whether decisions are written too.
    explain: bool,
}

impl Log {
    /// One that also writes why there are as many streams as there are.
    pub fn explaining(explain: bool) -> Self {
        Self { explain, ..Self::default() }
    }
    /// Whether it does.
    pub(crate) fn explains(&self) -> bool {
        self.explain
    }
    /// Something that an owner may want to know, and why.
    pub(crate) fn note(&self, what: &str, why: &str) {
        let now = Instant::now();
        let line = json!({ "event": what, "reason": why }).to_string();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.get(&line).is_some_and(|at| now.duration_since(*at) < SILENCE) {
            return;
        }
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        let _ = writeln!(std::io::stderr().lock(), "{line}");
        seen.insert(line, now);
    }
}
