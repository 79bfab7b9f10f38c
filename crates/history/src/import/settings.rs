//! What is known of a job's configuration: Hadoop's properties as scenario keys, and what has no key.

use super::mapping;
use crate::properties::{Properties, Property, current_name};
use scenario::JobCodec;
use std::borrow::Cow;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes through a host's interface during a recorded run, with headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The host.
    pub host: String,
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
}

/// What was counted of a recorded run beside its job's history; what was not is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The bytes at hosts' interfaces.
    pub interfaces: Vec<Interface>,
    /// Requests to the object store, by what they do (`get`, `head`, `list`, `put`, `post`, `copy`, `delete`).
    pub store_requests: Vec<(String, u64)>,
}

/// The settings of a run: those of a job's configuration, and those of a description, a TOML file with Hadoop's
/// properties in `[configuration]`, `network_rate_per_worker`, `job_jar_bytes`, `[interface_bytes]` with `received` and
/// `sent` of each host, and `[store_requests]` with how many requests of each kind an object store had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Scenario keys, their values as TOML, and the property that each comes from.
    pub keys: Vec<(&'static str, String, String)>,
    /// How map outputs are compressed; `None` if the configuration does not say.
    pub map_compression: Option<Codec>,
    /// How the job's output is compressed; `None` if the configuration does not say.
    pub output_compression: Option<Codec>,
    /// The combiner's class, if the configuration names one.
    pub combiner: Option<String>,
    /// Whether a small job may run within its AppMaster, and what small is.
    pub uber: Option<Uber>,
    /// The rate to which each worker's link is shaped.
    pub shaped: Option<String>,
    /// What was counted beside the history.
    pub counted: Counted,
}

/// What compresses, by the class that a configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codec {
    /// A codec of Hadoop, or none.
    Known(JobCodec),
    /// A class that is none of them.
    Unknown(String),
}

impl Codec {
    /// The codec of that class.
    pub fn of_class(class: &str) -> Self {
        Self::Known(match class.rsplit('.').next().unwrap_or(class) {
            "DefaultCodec" | "DeflateCodec" => JobCodec::Deflate,
            "GzipCodec" => JobCodec::Gzip,
            "SnappyCodec" => JobCodec::Snappy,
            "Lz4Codec" => JobCodec::Lz4,
            "LzoCodec" | "LzopCodec" => JobCodec::Lzo,
            "BZip2Codec" => JobCodec::Bzip2,
            "ZStandardCodec" => JobCodec::Zstd,
            _ => return Self::Unknown(class.to_owned()),
        })
    }
}

/// `mapreduce.job.ubertask.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uber {
    /// Whether small jobs run so.
    pub enabled: bool,
    /// Most maps of a small job.
    pub maps: u32,
    /// Most reduces of a small job.
    pub reduces: u32,
    /// Most bytes of input of a small job; `None` for one block.
    pub bytes: Option<u64>,
}

/// A description or configuration with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The line, from 1; 0 for properties without one.
    pub line: usize,
    /// The problem, in words for the user.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Reads a description. Properties without a scenario key are skipped.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|e| SettingsError {
            line: line(e.span().map_or(0, |s| s.start)),
            message: e.message().lines().collect::<Vec<_>>().join("; "),
        })?;
        let table = table.into_inner();
        let Some(DeValue::Table(configuration)) = table.get("configuration").map(Spanned::get_ref) else {
            let message = "no table [configuration] with Hadoop's properties".to_owned();
            return Err(SettingsError { line: 1, message });
        };
        let mut properties = Properties::default();
        for (name, value) in configuration {
            let (written, line) = (name.get_ref().clone().into_owned(), line(value.span().start));
            match value.get_ref() {
                DeValue::String(value) => properties.enter(Property {
                    written,
                    value: value.clone().into_owned(),
                    line: u32::try_from(line).unwrap_or(0),
                    ..Property::default()
                }),
                _ if mapping::is_known(current_name(&written)) => {
                    return Err(SettingsError { line, message: format!("`{written}` is not a text") });
                }
                _ => {}
            }
        }
        let mut settings = mapping::settings(&properties, mapping::Said::ByPerson)?;
        if let Some(DeValue::String(rate)) = table.get("network_rate_per_worker").map(Spanned::get_ref)
            && rate != "unshaped"
        {
            settings.shaped = Some(rate.to_string());
        }
        if let Some(jar) = table.get("job_jar_bytes") {
            let DeValue::Integer(bytes) = jar.get_ref() else {
                let message = "`job_jar_bytes` is not a whole number".to_owned();
                return Err(SettingsError { line: line(jar.span().start), message });
            };
            settings.keys.push(("mapreduce.job-jar", format!("\"{} B\"", bytes.as_str()), "job_jar_bytes".to_owned()));
        }
        if let Some(hosts) = table.get("interface_bytes") {
            settings.counted.interfaces = interfaces(hosts)
                .map_err(|at| SettingsError { line: line(at), message: INTERFACE_BYTES.to_owned() })?;
        }
        if let Some(kinds) = table.get("store_requests") {
            settings.counted.store_requests =
                requests(kinds).map_err(|at| SettingsError { line: line(at), message: STORE_REQUESTS.to_owned() })?;
        }
        Ok(settings)
    }

    /// The settings of a job's configuration (`job_*_conf.xml`, Rumen's `jobProperties`). It holds the client's view of
    /// the daemons' properties: where that is Hadoop's default, the cluster's may be another, and none is taken.
    pub fn of_job(properties: &Properties) -> Result<Self, SettingsError> {
        mapping::settings(properties, mapping::Said::ByJob)
    }

    /// These settings, and what the later ones say beyond them.
    pub fn before(mut self, later: Self) -> Self {
        let known = |key: &str| self.keys.iter().any(|(known, ..)| *known == key);
        let further: Vec<_> = later.keys.into_iter().filter(|(key, ..)| !known(key)).collect();
        self.keys.extend(further);
        Self {
            keys: self.keys,
            map_compression: self.map_compression.or(later.map_compression),
            output_compression: self.output_compression.or(later.output_compression),
            combiner: self.combiner.or(later.combiner),
            uber: self.uber.or(later.uber),
            shaped: self.shaped.or(later.shaped),
            counted: if self.counted == Counted::default() { later.counted } else { self.counted },
        }
    }
}

const STORE_REQUESTS: &str = "[store_requests] needs `KIND = COUNT`";

/// The kinds of `[store_requests]`, or the offset of a malformed part.
fn requests(table: &Spanned<DeValue<'_>>) -> Result<Vec<(String, u64)>, usize> {
    let DeValue::Table(kinds) = table.get_ref() else { return Err(table.span().start) };
    let kind = |(kind, count): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| match count.get_ref() {
        DeValue::Integer(of) => {
            of.as_str().parse().map(|of| (kind.get_ref().clone().into_owned(), of)).map_err(|_| count.span().start)
        }
        _ => Err(count.span().start),
    };
    kinds.iter().map(kind).collect()
}

const INTERFACE_BYTES: &str = "[interface_bytes] needs `HOST = { received = BYTES, sent = BYTES }`";

/// The hosts of `[interface_bytes]`, or the offset of a malformed part.
fn interfaces(table: &Spanned<DeValue<'_>>) -> Result<Vec<Interface>, usize> {
    let DeValue::Table(hosts) = table.get_ref() else { return Err(table.span().start) };
    let host = |(host, counted): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let bytes = |key| match counted.get_ref().get(key).map(Spanned::get_ref) {
            Some(DeValue::Integer(bytes)) => bytes.as_str().parse().ok(),
            _ => None,
        };
        let interface = |(received, sent)| Interface { host: host.get_ref().clone().into_owned(), received, sent };
        bytes("received").zip(bytes("sent")).map(interface).ok_or(counted.span().start)
    };
    hosts.iter().map(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_become_keys_with_their_units() {
        let text = "network_rate_per_worker = \"10 Mbit/s\"\n[configuration]\n\"mapreduce.task.io.sort.mb\" = \"64\"\n\
                    \"mapreduce.reduce.java.opts\" = \"-server -Xmx300m -XX:+UseSerialGC\"\n\
                    \"of.no.interest\" = \"1\"\n";
        let settings = Settings::parse(text).unwrap();
        let keys: Vec<_> = settings.keys.iter().map(|(key, value, _)| (*key, value.as_str())).collect();
        assert_eq!(keys, [("mapreduce.io-sort", "\"64 MiB\""), ("mapreduce.reduce-heap", "\"300 MiB\"")]);
        assert_eq!(settings.shaped.as_deref(), Some("10 Mbit/s"));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        for (text, expected) in [
            (
                "[configuration]\n\n\"dfs.replication\" = \"many\"\n",
                "line 3: `dfs.replication` is \"many\", expected a number",
            ),
            ("name = \"a\"\n", "line 1: no table [configuration]"),
            ("[configuration]\n\"dfs.replication\" = 3\n", "line 2: `dfs.replication` is not a text"),
            ("[configuration\n", "line 1: "),
        ] {
            let error = Settings::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
