//! Hadoop's properties and the scenario keys that stand for them.

use super::settings::{Codec, Settings, SettingsError, Uber};
use crate::properties::{Properties, Property};
use scenario::JobCodec;

/// Who says what the properties are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// A person, or a file of the cluster: all holds.
    ByPerson,
    /// A job's configuration: what it says of daemons may be the client's default.
    ByJob,
}

#[derive(Clone, Copy)]
enum Unit {
    Number,
    /// A number of which -1 is no limit, and what no scenario takes; 0 is it there.
    Limit,
    Mebibytes,
    Bytes,
    Milliseconds,
    Seconds,
    Switch,
}

/// Whose property it is.
#[derive(Clone, Copy)]
enum Of {
    /// The job's, or a client's: its configuration holds what it ran with, be it a default.
    Job,
    /// A daemon's, with Hadoop's default.
    Daemon(&'static str),
}

use Of::{Daemon, Job};

/// A property by its current name, its key, the unit in which it is written, and whose it is.
type Row = (&'static str, &'static str, Unit, Of);

/// Properties with one key each.
const ROWS: [Row; 40] = [
    ("dfs.blocksize", "hdfs.block", Unit::Bytes, Job),
    ("dfs.replication", "hdfs.replication", Unit::Number, Job),
    ("dfs.client-write-packet-size", "hdfs.packet", Unit::Bytes, Job),
    ("dfs.client.socket-timeout", "hdfs.socket-timeout", Unit::Milliseconds, Job),
    ("dfs.heartbeat.interval", "hdfs.heartbeat", Unit::Seconds, Daemon("3")),
    ("dfs.blockreport.intervalMsec", "hdfs.block-report", Unit::Milliseconds, Daemon("21600000")),
    ("dfs.namenode.heartbeat.recheck-interval", "hdfs.recheck", Unit::Milliseconds, Daemon("300000")),
    ("dfs.namenode.handler.count", "hdfs.handlers", Unit::Number, Daemon("10")),
    ("mapreduce.task.io.sort.mb", "mapreduce.io-sort", Unit::Mebibytes, Job),
    ("mapreduce.task.io.sort.factor", "mapreduce.sort-factor", Unit::Number, Job),
    ("mapreduce.map.sort.spill.percent", "mapreduce.spill-percent", Unit::Number, Job),
    ("mapreduce.reduce.shuffle.parallelcopies", "mapreduce.parallel-copies", Unit::Number, Job),
    ("mapreduce.reduce.shuffle.input.buffer.percent", "mapreduce.shuffle-buffer-percent", Unit::Number, Job),
    ("mapreduce.reduce.shuffle.merge.percent", "mapreduce.shuffle-merge-percent", Unit::Number, Job),
    ("mapreduce.reduce.merge.inmem.threshold", "mapreduce.merge-in-memory-threshold", Unit::Number, Job),
    ("mapreduce.reduce.input.buffer.percent", "mapreduce.reduce-buffer-percent", Unit::Number, Job),
    ("mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.slowstart", Unit::Number, Job),
    ("mapreduce.job.jvm.numtasks", "mapreduce.jvm-tasks", Unit::Limit, Job),
    ("mapreduce.map.memory.mb", "mapreduce.map-memory", Unit::Mebibytes, Job),
    ("mapreduce.reduce.memory.mb", "mapreduce.reduce-memory", Unit::Mebibytes, Job),
    ("mapreduce.task.timeout", "mapreduce.task-timeout", Unit::Milliseconds, Job),
    ("mapreduce.map.maxattempts", "mapreduce.max-attempts", Unit::Number, Job),
    ("mapreduce.job.maxtaskfailures.per.tracker", "mapreduce.node-failures", Unit::Number, Job),
    ("mapreduce.client.submit.file.replication", "mapreduce.submit-replication", Unit::Number, Job),
    ("yarn.app.mapreduce.am.resource.mb", "mapreduce.am-memory", Unit::Mebibytes, Job),
    ("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "mapreduce.am-heartbeat", Unit::Milliseconds, Job),
    (
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms",
        "mapreduce.heartbeat",
        Unit::Milliseconds,
        Daemon("1000"),
    ),
    ("mapreduce.jobtracker.heartbeat.interval.min", "mapreduce.heartbeat", Unit::Milliseconds, Daemon("300")),
    ("yarn.nm.liveness-monitor.expiry-interval-ms", "mapreduce.node-expiry", Unit::Milliseconds, Daemon("600000")),
    ("mapreduce.jobtracker.expire.trackers.interval", "mapreduce.node-expiry", Unit::Milliseconds, Daemon("600000")),
    ("yarn.nodemanager.resource.memory-mb", "mapreduce.node-memory", Unit::Mebibytes, Daemon("8192")),
    ("yarn.nodemanager.resource.cpu-vcores", "mapreduce.node-vcores", Unit::Number, Daemon("8")),
    ("yarn.scheduler.minimum-allocation-mb", "mapreduce.minimum-allocation", Unit::Mebibytes, Daemon("1024")),
    ("yarn.scheduler.capacity.schedule-asynchronously.enable", "mapreduce.asynchronous", Unit::Switch, Daemon("false")),
    (
        "yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments",
        "mapreduce.containers-per-heartbeat",
        Unit::Limit,
        Daemon("100"),
    ),
    (
        "yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments",
        "mapreduce.off-switch-per-heartbeat",
        Unit::Number,
        Daemon("1"),
    ),
    ("yarn.scheduler.capacity.node-locality-delay", "mapreduce.locality-delay", Unit::Number, Daemon("40")),
    ("mapred.fairscheduler.locality.delay", "mapreduce.locality-wait", Unit::Milliseconds, Daemon("4500")),
    ("mapreduce.tasktracker.map.tasks.maximum", "mapreduce.map-slots", Unit::Number, Daemon("2")),
    ("mapreduce.tasktracker.reduce.tasks.maximum", "mapreduce.reduce-slots", Unit::Number, Daemon("2")),
];

/// Whether a heartbeat may be given more than one container: the capacity scheduler's property, and the fair one's.
const MULTIPLE_ASSIGNMENTS: &str = "yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled";
const ASSIGN_MULTIPLE: &str = "yarn.scheduler.fair.assignmultiple";
/// Whether half of what a node has free is the limit, or a number.
const DYNAMIC_ASSIGNMENTS: &str = "yarn.scheduler.fair.dynamic.max.assign";
const MOST_ASSIGNMENTS: &str = "yarn.scheduler.fair.max.assign";
/// The largest limit that a scenario takes: what is above it, such as Java's largest number, limits nothing.
const LARGEST_LIMIT: u32 = 1_000_000;
/// The class of the scheduler, of both generations.
const SCHEDULERS: [&str; 2] = ["yarn.resourcemanager.scheduler.class", "mapred.jobtracker.taskScheduler"];

/// Properties that become keys together with others, or have no key.
const FURTHER: [&str; 22] = [
    MULTIPLE_ASSIGNMENTS,
    ASSIGN_MULTIPLE,
    DYNAMIC_ASSIGNMENTS,
    MOST_ASSIGNMENTS,
    SCHEDULERS[0],
    SCHEDULERS[1],
    "mapreduce.map.speculative",
    "mapreduce.reduce.speculative",
    "mapreduce.map.java.opts",
    "mapreduce.reduce.java.opts",
    "mapred.child.java.opts",
    "mapreduce.job.heap.memory-mb.ratio",
    "mapreduce.map.output.compress",
    "mapreduce.map.output.compress.codec",
    "mapreduce.output.fileoutputformat.compress",
    "mapreduce.output.fileoutputformat.compress.codec",
    "mapreduce.output.fileoutputformat.compress.type",
    "mapreduce.job.combine.class",
    "mapreduce.job.ubertask.enable",
    "mapreduce.job.ubertask.maxmaps",
    "mapreduce.job.ubertask.maxreduces",
    "mapreduce.job.ubertask.maxbytes",
];

/// Whether a property, by its current name, means something here.
pub fn is_known(name: &str) -> bool {
    FURTHER.contains(&name) || ROWS.iter().any(|(known, ..)| *known == name)
}

/// The settings that properties say.
pub fn settings(properties: &Properties, said: Said) -> Result<Settings, SettingsError> {
    let mut settings = Settings::default();
    let reader = Reader(properties);
    // Neither scheduler reads the other's properties.
    let fair = is_fair(properties).is_some();
    if let Some((false, property)) = reader.boolean(MULTIPLE_ASSIGNMENTS)?.filter(|_| !fair) {
        settings.keys.push(("mapreduce.containers-per-heartbeat", "1".to_owned(), property.written.clone()));
    }
    fair_scheduler(&reader, &mut settings)?;
    for (name, key, unit, of) in ROWS {
        let Some((property, written)) = reader.get(name) else { continue };
        let is_unknown = match of {
            Daemon(default) => said == Said::ByJob && (property.is_default() || written == default),
            Job => false,
        };
        let of_another = fair && name.starts_with("yarn.scheduler.capacity.");
        // A negative number says that another rule holds, such as a container as large as its heap needs.
        if is_unknown || of_another || (is_negative(&written) && !matches!(unit, Unit::Limit)) {
            continue;
        }
        let value = unit.toml(&written).ok_or_else(|| wrong(property, &written, unit.expects()))?;
        if !settings.keys.iter().any(|(known, ..)| *known == key) {
            settings.keys.push((key, value, property.written.clone()));
        }
    }
    memory(&reader, &mut settings)?;
    speculation(&reader, &mut settings)?;
    settings.map_compression = reader.codec("mapreduce.map.output.compress")?;
    settings.output_compression = reader.codec("mapreduce.output.fileoutputformat.compress")?;
    settings.combiner = reader.get("mapreduce.job.combine.class").map(|(_, class)| class);
    settings.uber = uber(&reader)?;
    Ok(settings)
}

/// The property that says so, if the scheduler is the FairScheduler.
pub fn is_fair(properties: &Properties) -> Option<&'static str> {
    SCHEDULERS.into_iter().find(|name| properties.get(name).is_some_and(|class| class.ends_with("FairScheduler")))
}

/// That the scheduler is the fair one, and how many containers it gives a heartbeat.
fn fair_scheduler(reader: &Reader, settings: &mut Settings) -> Result<(), SettingsError> {
    let (multiple, dynamic) = (reader.boolean(ASSIGN_MULTIPLE)?, reader.boolean(DYNAMIC_ASSIGNMENTS)?);
    // Zero and less are no limit, as zero is in a scenario, and so is more than a scenario takes.
    let most = match reader.get(MOST_ASSIGNMENTS) {
        None => None,
        Some((property, written)) => match written.parse::<i32>() {
            Ok(most) => Some((u32::try_from(most).ok().filter(|most| *most <= LARGEST_LIMIT).unwrap_or(0), property)),
            Err(_) => return Err(wrong(property, &written, "a whole number, or -1 for no limit")),
        },
    };
    let Some(class) = is_fair(reader.0) else { return Ok(()) };
    settings.keys.push(("mapreduce.scheduler", "\"fair\"".to_owned(), class.to_owned()));
    let Some((true, by)) = multiple else { return Ok(()) };
    settings.keys.push(if let Some((false, _)) = dynamic {
        let (most, by) = most.unwrap_or((0, by));
        ("mapreduce.containers-per-heartbeat", most.to_string(), by.written.clone())
    } else {
        ("mapreduce.half-per-heartbeat", "true".to_owned(), by.written.clone())
    });
    Ok(())
}

/// Heaps, and containers that follow from them (MAPREDUCE-5785).
fn memory(reader: &Reader, settings: &mut Settings) -> Result<(), SettingsError> {
    let ratio = match reader.get("mapreduce.job.heap.memory-mb.ratio") {
        None => 0.8,
        Some((property, written)) => {
            let ratio = number(&written).filter(|ratio| *ratio > 0.0 && *ratio <= 1.0);
            ratio.ok_or_else(|| wrong(property, &written, "a number up to 1"))?
        }
    };
    for (kind, options, container) in [
        ("map", "mapreduce.map.java.opts", "mapreduce.map-memory"),
        ("reduce", "mapreduce.reduce.java.opts", "mapreduce.reduce-memory"),
    ] {
        let own = reader.get(options).filter(|(_, written)| written.contains("-Xmx"));
        // Without options of its own a task gets those of both kinds.
        let Some((property, written)) = own.or_else(|| reader.get("mapred.child.java.opts")) else { continue };
        if !written.contains("-Xmx") {
            continue; // The JVM chooses its heap, or Hadoop does by the container.
        }
        let heap = heap(&written).ok_or_else(|| wrong(property, &written, "a JVM's options, with -Xmx and a size"))?;
        if kind == "reduce" {
            settings.keys.push(("mapreduce.reduce-heap", format!("\"{}\"", size(heap)), property.written.clone()));
        }
        let is_set = settings.keys.iter().any(|(key, ..)| *key == container);
        let asked = reader.get(&format!("mapreduce.{kind}.memory.mb"));
        if !is_set && asked.is_some_and(|(_, written)| is_negative(&written)) {
            let mebibytes = libm::ceil(heap as f64 / f64::from(1 << 20) / ratio);
            settings.keys.push((container, format!("\"{mebibytes} MiB\""), property.written.clone()));
        }
    }
    Ok(())
}

/// One key stands for maps and reduces: either may be speculated about.
fn speculation(reader: &Reader, settings: &mut Settings) -> Result<(), SettingsError> {
    let mut said: Option<(bool, &Property)> = None;
    for name in ["mapreduce.map.speculative", "mapreduce.reduce.speculative"] {
        if let Some((value, property)) = reader.boolean(name)?
            && said.is_none_or(|(known, _)| value && !known)
        {
            said = Some((value, property));
        }
    }
    if let Some((value, property)) = said {
        settings.keys.push(("mapreduce.speculative", value.to_string(), property.written.clone()));
    }
    Ok(())
}

fn uber(reader: &Reader) -> Result<Option<Uber>, SettingsError> {
    let Some((enabled, _)) = reader.boolean("mapreduce.job.ubertask.enable")? else { return Ok(None) };
    let whole = |name: &str| match reader.get(name) {
        None => Ok(None),
        Some((property, written)) => match written.parse::<u64>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(wrong(property, &written, "a whole number")),
        },
    };
    let most = |name: &str, default: u32| Ok(whole(name)?.map_or(default, |n| u32::try_from(n).unwrap_or(u32::MAX)));
    Ok(Some(Uber {
        enabled,
        maps: most("mapreduce.job.ubertask.maxmaps", 9)?,
        reduces: most("mapreduce.job.ubertask.maxreduces", 1)?,
        bytes: whole("mapreduce.job.ubertask.maxbytes")?,
    }))
}

// === values ===

struct Reader<'a>(&'a Properties);

impl<'a> Reader<'a> {
    fn get(&self, name: &str) -> Option<(&'a Property, String)> {
        self.0.property(name).zip(self.0.get(name))
    }

    fn boolean(&self, name: &str) -> Result<Option<(bool, &'a Property)>, SettingsError> {
        let Some((property, written)) = self.get(name) else { return Ok(None) };
        match written.to_ascii_lowercase().parse() {
            Ok(value) => Ok(Some((value, property))),
            Err(_) => Err(wrong(property, &written, "true or false")),
        }
    }

    /// The codec of a property that says whether there is one, and of the one beside it that names its class.
    fn codec(&self, name: &str) -> Result<Option<Codec>, SettingsError> {
        let Some((compress, _)) = self.boolean(name)? else { return Ok(None) };
        if !compress {
            return Ok(Some(Codec::Known(JobCodec::None)));
        }
        let class = self.get(&format!("{name}.codec"));
        Ok(Some(class.map_or(Codec::Known(JobCodec::Deflate), |(_, class)| Codec::of_class(&class))))
    }
}

fn wrong(property: &Property, found: &str, expected: &str) -> SettingsError {
    let found: String = found.chars().take(80).collect();
    let message = format!("`{}` is \"{found}\", expected {expected}", property.written);
    SettingsError { line: property.line as usize, message }
}

fn is_negative(written: &str) -> bool {
    written.starts_with('-') && number(&written[1..]).is_some()
}

/// A number as Java reads it: `0.75f` is one.
fn number(written: &str) -> Option<f64> {
    let digits = written.trim_end_matches(['f', 'F', 'd', 'D']);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    digits.parse::<f64>().ok().filter(|n| plain && n.is_finite())
}

/// A number in the smallest unit, from one with an ending of `units`, the longest first, or without any.
fn scaled(written: &str, units: &[(&str, u64)]) -> Option<String> {
    let lower = written.to_ascii_lowercase();
    let ending = units.iter().find_map(|(ending, unit)| Some((lower.strip_suffix(ending)?, *unit)));
    match ending {
        Some((digits, unit)) => digits.trim().parse::<u64>().ok()?.checked_mul(unit).map(|n| n.to_string()),
        None => number(written).map(|_| written.to_owned()),
    }
}

/// `StringUtils.TraditionalBinaryPrefix`.
const SIZES: [(&str, u64); 6] =
    [("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40), ("p", 1 << 50), ("e", 1 << 60)];

/// The size of the heap in a JVM's options, in bytes. Of several the last holds.
fn heap(options: &str) -> Option<u64> {
    let size = options.split_whitespace().rev().find_map(|o| o.strip_prefix("-Xmx"))?;
    scaled(size, &SIZES[..4])?.parse().ok()
}

/// A size for a person to read.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

impl Unit {
    /// The value as a scenario states it; `None` if it does not have this unit.
    fn toml(self, written: &str) -> Option<String> {
        Some(match self {
            Self::Number => {
                number(written)?;
                written.trim_end_matches(['f', 'F', 'd', 'D']).to_owned()
            }
            Self::Limit if written == "-1" => "0".to_owned(),
            Self::Limit => match written.parse::<u32>().ok()? {
                0 => return None,
                most if most > LARGEST_LIMIT => "0".to_owned(),
                most => most.to_string(),
            },
            Self::Mebibytes => format!("\"{} MiB\"", number(written).map(|_| written)?),
            Self::Bytes => format!("\"{} B\"", scaled(written, &SIZES)?),
            Self::Milliseconds => {
                let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
                format!("\"{} ms\"", scaled(written, &units)?)
            }
            Self::Seconds => match written.strip_suffix("ms") {
                Some(ms) => format!("\"{} ms\"", scaled(ms, &[])?),
                None => format!("\"{} s\"", scaled(written, &[("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)])?),
            },
            Self::Switch => written.to_ascii_lowercase().parse::<bool>().ok()?.to_string(),
        })
    }

    fn expects(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Limit => "a number from 1, or -1 for no limit",
            Self::Mebibytes => "a number of mebibytes",
            Self::Bytes => "a number of bytes",
            Self::Milliseconds => "a number of milliseconds",
            Self::Seconds => "a number of seconds",
            Self::Switch => "true or false",
        }
    }
}
