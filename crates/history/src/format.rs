//! Which format a file has, found by looking at its content.

use super::error::{HistoryError as Error, Problem};
use super::json::Objects;
use super::text;
use super::unpack::Compression;
use memchr::memchr;
use scenario::FileKind;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// The format of a history file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Hadoop's job history in the binary encoding of Avro, its default.
    AvroBinary,
    /// Hadoop's job history in the JSON encoding of Avro.
    AvroJson,
    /// The text history of Hadoop 0.20 to 1.x.
    Text,
    /// Rumen's JSON trace: one object per job.
    Rumen,
    /// The JSON trace of the scheduler load simulator: one object per job.
    Sls,
}

/// The answer of `mapred job -history`, as text or as JSON.
const OF_HISTORY_COMMAND: &str = "what `mapred job -history` prints of one: name the `.jhist` file, which is beside \
                                  `JobConf`";
/// That of a history server or a ResourceManager to a program.
const OF_REST: &str = "an answer of a server of Hadoop: of a job its history is read, the `.jhist` file below \
                       `mapreduce.jobhistory.done-dir`";
const OF_TIMELINE: &str = "events of YARN's timeline, as Tez logs them: histories of MapReduce and event logs of Spark \
                           are read";
const OF_SPARK: &str = "an event log of Spark, which `trunkline import` reads";
/// Of other JSON.
const OF_JSON: &str = "JSON without a job of Rumen (with `jobID`) or of SLS (with `job.tasks`)";

/// First bytes of files that are something else, and what they are.
const FOREIGN: [(&[u8], &str); 10] = [
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\xfd7zXZ\0", "compressed by xz: uncompress it first (gzip, Zstandard and bzip2 are read as they are)"),
    (b"\x04\x22\x4d\x18", "compressed by lz4: uncompress it first (gzip, Zstandard and bzip2 are read as they are)"),
    (b"Obj\x01", "an Avro container file, which job histories are not"),
    (b"PAR1", "a Parquet table"),
    (b"SEQ", "a sequence file of Hadoop"),
    (b"\x7fELF", "a program"),
    (b"Hadoop job: ", OF_HISTORY_COMMAND),
    (b"<?xml", "XML: a configuration (`job_*_conf.xml`) is read beside the history of its job"),
    (b"<configuration", "a configuration (`job_*_conf.xml`), which is read beside the history of its job"),
];

/// The longest file that may be one of Trunkline's own.
const LONGEST_OWN: usize = 1 << 20;

/// Which of Trunkline's own files it is, in words. They are TOML, which may begin as a list of JSON does.
fn own_file(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST_OWN)?;
    FileKind::of(text).map(FileKind::described)
}

impl Format {
    /// Looks at uncompressed content.
    pub fn detect(bytes: &[u8]) -> Result<Self, Error> {
        let first_line = memchr(b'\n', bytes).map_or(bytes, |end| &bytes[..end]);
        match first_line.trim_ascii() {
            b"Avro-Binary" => return Ok(Self::AvroBinary),
            b"Avro-Json" => return Ok(Self::AvroJson),
            _ => {}
        }
        let content = bytes.trim_ascii_start();
        if text::begins(content) {
            return Ok(Self::Text);
        }
        let own = own_file(bytes);
        if own.is_none() && matches!(content.first(), Some(b'{' | b'[')) {
            return Self::of_json(bytes);
        }
        let start: String = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).chars().take(24).collect();
        let start = start.escape_debug().to_string();
        let foreign = FOREIGN.iter().find(|(first, _)| content.starts_with(first)).map(|(_, what)| *what);
        let tar = bytes.get(257..262) == Some(b"ustar");
        let what = match (content.is_empty(), tar) {
            (true, _) => Some("a file without content".to_owned()),
            (_, true) => Some("a tar archive: unpack it, and name the folder".to_owned()),
            _ => foreign.map(str::to_owned).or(own),
        };
        Err(Error::new(0, Problem::UnknownFormat { start, what }))
    }

    /// Whether a file that begins so may be a history, compressed or not: JSON may turn out to be something else.
    pub fn may_be(start: &[u8]) -> bool {
        if Compression::detect(start).is_some() {
            return true;
        }
        let content = start.trim_ascii_start();
        content.starts_with(b"Avro-Binary")
            || content.starts_with(b"Avro-Json")
            || text::begins(content)
            || matches!(content.first(), Some(b'{' | b'['))
    }

    /// By the keys of the first object that is a job.
    fn of_json(bytes: &[u8]) -> Result<Self, Error> {
        let mut objects = Objects::new(bytes, 0);
        while let Some(object) = objects.next()? {
            match object.read::<Keys>()? {
                Keys { rumen: true, .. } => return Ok(Self::Rumen),
                Keys { sls: true, .. } => return Ok(Self::Sls),
                // `num.nodes` and `num.racks` stand alone before the jobs of SLS.
                Keys { cluster: true, .. } => {}
                Keys { foreign, .. } => {
                    let what = Some(foreign.unwrap_or(OF_JSON).to_owned());
                    return Err(Error::new(object.offset, Problem::UnknownFormat { start: "{".into(), what }));
                }
            }
        }
        Err(Error::malformed(bytes.len(), "at least one job", "the end of the file"))
    }

    /// The format's name, as the command line has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AvroBinary | Self::AvroJson => "jhist",
            Self::Text => "text",
            Self::Rumen => "rumen",
            Self::Sls => "sls",
        }
    }
}

/// Which keys an object has; their values are skipped.
#[derive(Default)]
struct Keys {
    rumen: bool,
    sls: bool,
    cluster: bool,
    /// What it is, where it is none of these but known.
    foreign: Option<&'static str>,
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Look;
        impl<'de> Visitor<'de> for Look {
            type Value = Keys;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Keys::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "jobID" => keys.rumen = true,
                        "job.tasks" => keys.sls = true,
                        "num.nodes" | "num.racks" => keys.cluster = true,
                        "hadoopJob" => keys.foreign = Some(OF_HISTORY_COMMAND),
                        "job" | "jobs" | "app" | "apps" => keys.foreign = Some(OF_REST),
                        "Event" => keys.foreign = Some(OF_SPARK),
                        "entitytype" | "entityType" => keys.foreign = Some(OF_TIMELINE),
                        _ => {}
                    }
                    map.next_value::<IgnoredAny>()?;
                }
                Ok(keys)
            }
        }
        deserializer.deserialize_map(Look)
    }
}
