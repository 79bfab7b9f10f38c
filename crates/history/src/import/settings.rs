//! A job's configuration: Hadoop's properties as scenario keys.

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

/// The description of a run: `[configuration]` with Hadoop's properties, `network_rate_per_worker`, `job_jar_bytes`,
/// and `[interface_bytes]` with `received` and `sent` of each host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Scenario keys, their values as TOML, and the property that each comes from.
    pub keys: Vec<(&'static str, String, String)>,
    /// The rate to which each worker's link is shaped.
    pub shaped: Option<String>,
    /// The bytes counted at the interfaces.
    pub interfaces: Vec<Interface>,
}

/// A description that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The line, from 1.
    pub line: usize,
    /// The problem, in words for the user.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SettingsError {}

#[derive(Clone, Copy)]
enum Unit {
    Number,
    Mebibytes,
    Bytes,
    Milliseconds,
    Seconds,
    Boolean,
    /// The heap size in a JVM's options.
    Heap,
}

/// Hadoop's properties and their scenario keys.
const PROPERTIES: [(&str, &str, Unit); 29] = [
    ("dfs.blocksize", "hdfs.block", Unit::Bytes),
    ("dfs.replication", "hdfs.replication", Unit::Number),
    ("dfs.heartbeat.interval", "hdfs.heartbeat", Unit::Seconds),
    ("dfs.client-write-packet-size", "hdfs.packet", Unit::Bytes),
    ("mapreduce.task.io.sort.mb", "mapreduce.io-sort", Unit::Mebibytes),
    ("mapreduce.task.io.sort.factor", "mapreduce.sort-factor", Unit::Number),
    ("mapreduce.map.sort.spill.percent", "mapreduce.spill-percent", Unit::Number),
    ("mapreduce.reduce.shuffle.parallelcopies", "mapreduce.parallel-copies", Unit::Number),
    ("mapreduce.reduce.shuffle.input.buffer.percent", "mapreduce.shuffle-buffer-percent", Unit::Number),
    ("mapreduce.reduce.shuffle.merge.percent", "mapreduce.shuffle-merge-percent", Unit::Number),
    ("mapreduce.reduce.merge.inmem.threshold", "mapreduce.merge-in-memory-threshold", Unit::Number),
    ("mapreduce.reduce.input.buffer.percent", "mapreduce.reduce-buffer-percent", Unit::Number),
    ("mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.slowstart", Unit::Number),
    ("mapreduce.map.speculative", "mapreduce.speculative", Unit::Boolean),
    ("mapreduce.map.memory.mb", "mapreduce.map-memory", Unit::Mebibytes),
    ("mapreduce.reduce.memory.mb", "mapreduce.reduce-memory", Unit::Mebibytes),
    ("mapreduce.reduce.java.opts", "mapreduce.reduce-heap", Unit::Heap),
    ("mapreduce.task.timeout", "mapreduce.task-timeout", Unit::Milliseconds),
    ("mapreduce.map.maxattempts", "mapreduce.max-attempts", Unit::Number),
    ("mapreduce.job.maxtaskfailures.per.tracker", "mapreduce.node-failures", Unit::Number),
    ("yarn.app.mapreduce.am.resource.mb", "mapreduce.am-memory", Unit::Mebibytes),
    ("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "mapreduce.am-heartbeat", Unit::Milliseconds),
    ("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "mapreduce.heartbeat", Unit::Milliseconds),
    ("yarn.nodemanager.resource.memory-mb", "mapreduce.node-memory", Unit::Mebibytes),
    ("yarn.nodemanager.resource.cpu-vcores", "mapreduce.node-vcores", Unit::Number),
    ("yarn.scheduler.minimum-allocation-mb", "mapreduce.minimum-allocation", Unit::Mebibytes),
    ("yarn.scheduler.capacity.node-locality-delay", "mapreduce.locality-delay", Unit::Number),
    ("mapreduce.client.submit.file.replication", "mapreduce.submit-replication", Unit::Number),
    ("dfs.namenode.handler.count", "hdfs.handlers", Unit::Number),
];

impl Settings {
    /// Reads a description. Properties without a scenario key are skipped.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|e| SettingsError {
            line: line(e.span().map_or(0, |s| s.start)),
            message: e.message().lines().collect::<Vec<_>>().join("; "),
        })?;
        let table = table.into_inner();
        let mut settings = Self::default();
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
            settings.interfaces = interfaces(hosts)
                .map_err(|at| SettingsError { line: line(at), message: INTERFACE_BYTES.to_owned() })?;
        }
        let Some(DeValue::Table(configuration)) = table.get("configuration").map(Spanned::get_ref) else {
            let message = "no table [configuration] with Hadoop's properties".to_owned();
            return Err(SettingsError { line: 1, message });
        };
        for (property, key, unit) in PROPERTIES {
            let Some(value) = configuration.get(property) else { continue };
            let wrong = |found: &str| SettingsError {
                line: line(value.span().start),
                message: format!("`{property}` is {found}, expected {}", unit.expects()),
            };
            let DeValue::String(written) = value.get_ref() else { return Err(wrong("not a text")) };
            if matches!(unit, Unit::Heap) && !written.contains("-Xmx") {
                continue; // The JVM chooses its heap.
            }
            let value = unit.toml(written).ok_or_else(|| wrong(&format!("\"{written}\"")))?;
            settings.keys.push((key, value, property.to_owned()));
        }
        Ok(settings)
    }
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

impl Unit {
    /// The value as a scenario states it; `None` if it does not have this unit.
    fn toml(self, written: &str) -> Option<String> {
        let written = written.trim();
        let number = || written.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).map(|_| written);
        Some(match self {
            Self::Number => number()?.to_owned(),
            Self::Mebibytes => format!("\"{} MiB\"", number()?),
            Self::Bytes => format!("\"{} B\"", number()?),
            Self::Milliseconds => format!("\"{} ms\"", number()?),
            Self::Seconds => format!("\"{} s\"", number()?),
            Self::Boolean => written.parse::<bool>().ok()?.to_string(),
            Self::Heap => {
                let heap = written.split_whitespace().find_map(|o| o.strip_prefix("-Xmx"))?;
                let (digits, unit) =
                    heap.split_at(heap.len() - heap.trim_start_matches(|c: char| c.is_ascii_digit()).len());
                let unit = match unit {
                    "" => "B",
                    "k" | "K" => "KiB",
                    "m" | "M" => "MiB",
                    "g" | "G" => "GiB",
                    _ => return None,
                };
                digits.parse::<u64>().ok()?;
                format!("\"{digits} {unit}\"")
            }
        })
    }

    fn expects(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Mebibytes => "a number of mebibytes",
            Self::Bytes => "a number of bytes",
            Self::Milliseconds => "a number of milliseconds",
            Self::Seconds => "a number of seconds",
            Self::Boolean => "true or false",
            Self::Heap => "a JVM's options, with -Xmx and a size",
        }
    }
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
