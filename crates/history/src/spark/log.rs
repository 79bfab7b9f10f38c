//! How a log's files are known: by name within a folder, by content elsewhere.

/// A file of a rolling log, by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LogPart {
    /// Its number, from 1: they follow one another in its order.
    pub number: u64,
    /// The history server has taken ended jobs out of it: it stands for all before it.
    pub compact: bool,
}

/// What follows `eventlog` in a name of Databricks.
const DATE: &str = "-2021-06-15--15-00";

impl LogPart {
    /// Of a name such as `events_2_app-20261126165157-0000.zstd`.
    ///
    /// Databricks names the files of an application `eventlog-2021-06-15--15-00.gz`, by when each ended, and `eventlog`.
    pub fn of(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("eventlog") {
            let date = rest.split('.').next().unwrap_or_default();
            let digits: String = date.chars().filter(char::is_ascii_digit).collect();
            let is_date = date.len() == DATE.len() && date.starts_with('-') && digits.len() == 12;
            let number = if date.is_empty() { Some(u64::MAX) } else { digits.parse().ok().filter(|_| is_date) };
            return number.map(|number| Self { number, compact: false });
        }
        let (number, rest) = name.strip_prefix("events_")?.split_once('_')?;
        Some(Self { number: number.parse().ok()?, compact: rest.ends_with(".compact") })
    }
}

/// Whether a file, uncompressed, that begins so is an event log.
pub fn looks_like_log(start: &[u8]) -> bool {
    let mut rest = start.trim_ascii_start();
    for word in [&b"{"[..], b"\"Event\"", b":", b"\""] {
        let Some(after) = rest.strip_prefix(word) else { return false };
        // Within the quotes white space counts.
        rest = if word == b"\"" { after } else { after.trim_ascii_start() };
    }
    // Databricks begins with an event of its own, `DBCEventLoggingListenerMetadata`.
    let name = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
    name.windows(8).any(|part| part == b"Listener") || name.starts_with(b"org.apache.spark.")
}
