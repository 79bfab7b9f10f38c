//! A cluster's configuration, the folder that `HADOOP_CONF_DIR` names, as the part of a scenario that describes it.

use super::mapping::{self, Said};
use crate::properties::Properties;
use scenario::Generation;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::str::SplitWhitespace;

/// The files of properties, in the order in which Hadoop reads them.
const SITES: [&str; 5] = ["core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml", CAPACITY];

/// The one of the CapacityScheduler.
const CAPACITY: &str = "capacity-scheduler.xml";

/// Lists of hosts beside them: of Hadoop 3, and before.
const LISTS: [&str; 2] = ["workers", "slaves"];

/// Tables of racks that scripts read.
const TABLES: [&str; 3] = ["topology.data", "topology.table", "rack_topology.data"];

/// Most hosts, as many as a scenario has workers.
const MOST_HOSTS: usize = 100_000;

/// Why a configuration cannot be read: the file, and what is wrong in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterError {
    /// The file; empty if it is the whole folder.
    pub file: String,
    /// The problem, in words for the user, with its line.
    pub message: String,
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => f.write_str(&self.message),
            file => write!(f, "{file}: {}", self.message),
        }
    }
}

impl std::error::Error for ClusterError {}

/// Turns a configuration into a scenario. `read` gives the content of a file of the folder, or of a path that a
/// property names, and `None` if there is none.
pub fn cluster(
    folder: &str,
    mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>, ClusterError>,
) -> Result<String, ClusterError> {
    let mut properties = Properties::default();
    let mut sites = Vec::new();
    for site in SITES {
        // Hadoop ships it, whichever scheduler a cluster has.
        if site == CAPACITY && mapping::is_fair(&properties).is_some() {
            continue;
        }
        let Some(bytes) = read(site)? else { continue };
        let wrong = |message: String| ClusterError { file: site.to_owned(), message };
        let own = Properties::read(&bytes, site).map_err(|error| wrong(error.to_string()))?;
        // By itself, so that a wrong value is reported with its file.
        mapping::settings(&own, Said::ByPerson).map_err(|error| wrong(error.to_string()))?;
        properties.extend(own);
        sites.push(site);
    }
    if sites.is_empty() {
        let message = format!("{folder} has none of {}: name the folder that HADOOP_CONF_DIR names", SITES.join(", "));
        return Err(ClusterError { file: String::new(), message });
    }
    let mut unknown = vec![
        "machines: cores, speed, memory and disks are those of the preset below; set [node]".to_owned(),
        "network: rate, delay and queues are defaults; set [network]".to_owned(),
    ];
    let table = table(&properties, &mut read, &mut unknown)?;
    let hosts = hosts(&properties, &table, &mut read, &mut unknown)?;
    let mut text = format!("# The cluster of {}, by its {}.\n", printable(folder), sites.join(", "));
    write_hosts(&mut text, &hosts);
    for what in &unknown {
        let _ = writeln!(text, "# Not known, the {what}.");
    }
    let generation = write_cluster(&mut text, &properties, &hosts);
    write_keys(&mut text, &properties, &hosts, generation)?;
    Ok(text)
}

/// A worker's name and its rack.
type Hosts = Vec<(String, Option<String>)>;

/// The racks of hosts and addresses, by the table that `TableMapping` reads, or one under a usual name.
fn table(
    properties: &Properties,
    read: &mut impl FnMut(&str) -> Result<Option<Vec<u8>>, ClusterError>,
    unknown: &mut Vec<String>,
) -> Result<BTreeMap<String, String>, ClusterError> {
    let named = properties.get("net.topology.table.file.name");
    for file in named.iter().map(String::as_str).chain(TABLES) {
        let Some(bytes) = read(file)? else {
            if named.as_deref() == Some(file) {
                unknown
                    .push(format!("racks: net.topology.table.file.name names {}, which is not there", printable(file)));
            }
            continue;
        };
        let mut racks = BTreeMap::new();
        for (line, mut words) in lines(&bytes, file)? {
            let (Some(host), Some(rack), None) = (words.next(), words.next(), words.next()) else {
                let message = format!("line {line}: expected a host and its rack, two words");
                return Err(ClusterError { file: file.to_owned(), message });
            };
            racks.insert(host.to_owned(), rack.to_owned());
            few(racks.len(), file)?;
        }
        return Ok(racks);
    }
    if let Some(script) = properties.get("net.topology.script.file.name") {
        unknown.push(format!(
            "racks: the script {} gives them; write its answers as lines `host rack` into {}",
            printable(&script),
            TABLES[0]
        ));
    }
    Ok(BTreeMap::new())
}

/// The workers, in the order in which an imported history numbers hosts: by the name's text, then by its number.
fn hosts(
    properties: &Properties,
    table: &BTreeMap<String, String>,
    read: &mut impl FnMut(&str) -> Result<Option<Vec<u8>>, ClusterError>,
    unknown: &mut Vec<String>,
) -> Result<Hosts, ClusterError> {
    let named = ["dfs.hosts", "yarn.resourcemanager.nodes.include-path"].map(|name| properties.get(name));
    let mut names = BTreeSet::new();
    for file in LISTS.into_iter().chain(named.iter().flatten().map(String::as_str)) {
        if let Some(bytes) = read(file)? {
            names = listed(&bytes, file)?;
            if !names.is_empty() {
                break;
            }
        }
    }
    if let Some(file) = properties.get("dfs.hosts.exclude")
        && let Some(bytes) = read(&file)?
    {
        for name in listed(&bytes, &file)? {
            names.remove(&name);
        }
    }
    if names.is_empty() {
        names = table.keys().cloned().collect();
    }
    if names.is_empty() {
        unknown.push("hosts: no list of them (workers, slaves, dfs.hosts); set cluster.workers".to_owned());
    }
    let mut hosts: Hosts = names.into_iter().map(|name| (name.clone(), table.get(&name).cloned())).collect();
    hosts.sort_by_cached_key(|(name, _)| super::hosts::order(name));
    if !table.is_empty() && hosts.iter().any(|(_, rack)| rack.is_none()) {
        let bare = hosts.iter().filter(|(_, rack)| rack.is_none()).count();
        unknown.push(format!("racks of {bare} hosts, which the table does not name"));
    }
    Ok(hosts)
}

/// The hosts of a list: names between white space, or the JSON of `CombinedHostsFileReader`.
fn listed(bytes: &[u8], file: &str) -> Result<BTreeSet<String>, ClusterError> {
    if matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{')) {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Entry {
            host_name: String,
            admin_state: Option<String>,
        }
        let mut names = BTreeSet::new();
        let mut objects = crate::json::Objects::new(bytes, 0);
        let wrong = |error: crate::HistoryError| ClusterError { file: file.to_owned(), message: error.to_string() };
        while let Some(object) = objects.next().map_err(wrong)? {
            let entry: Entry = object.read().map_err(wrong)?;
            if entry.admin_state.is_none_or(|state| state != "DECOMMISSIONED") {
                names.insert(entry.host_name);
                few(names.len(), file)?;
            }
        }
        return Ok(names);
    }
    let mut names = BTreeSet::new();
    for name in lines(bytes, file)?.flat_map(|(_, words)| words) {
        names.insert(name.to_owned());
        few(names.len(), file)?;
    }
    Ok(names)
}

/// Whether a file names no more hosts than a cluster may have.
fn few(hosts: usize, file: &str) -> Result<(), ClusterError> {
    let message = || format!("more than {MOST_HOSTS} hosts");
    if hosts > MOST_HOSTS { Err(ClusterError { file: file.to_owned(), message: message() }) } else { Ok(()) }
}

/// The words of each line that has any, without comments, with the lines' numbers.
fn lines<'a>(bytes: &'a [u8], file: &str) -> Result<impl Iterator<Item = (usize, SplitWhitespace<'a>)>, ClusterError> {
    let text = str::from_utf8(bytes).map_err(|_| ClusterError { file: file.to_owned(), message: "not text".into() })?;
    let words = |line: &'a str| line.split('#').next().unwrap_or_default().split_whitespace();
    let lines = text.lines().enumerate().map(move |(index, line)| (index + 1, words(line)));
    Ok(lines.filter(|(_, words)| words.clone().next().is_some()))
}

// === writing ===

fn write_hosts(text: &mut String, hosts: &Hosts) {
    const NAMED: usize = 200;
    let names = hosts.iter().zip(1..).take(NAMED);
    let names: Vec<_> = names.map(|((name, _), number)| format!("{} is worker-{number}", printable(name))).collect();
    if !names.is_empty() {
        let more = if hosts.len() > NAMED { ", ..." } else { "" };
        let _ = writeln!(text, "# Hosts: {}{more}.", names.join(", "));
    }
}

fn write_cluster(text: &mut String, properties: &Properties, hosts: &Hosts) -> Generation {
    let (generation, by) = match properties.get("mapreduce.framework.name").as_deref() {
        Some("yarn") => (Generation::Yarn, "mapreduce.framework.name"),
        Some("classic") => (Generation::Hadoop1, "mapreduce.framework.name"),
        _ if properties.get("mapreduce.jobtracker.address").is_some_and(|address| address != "local") => {
            (Generation::Hadoop1, "mapreduce.jobtracker.address")
        }
        _ => (Generation::Yarn, "no JobTracker is named"),
    };
    let _ = writeln!(text, "\n[cluster]");
    let racks: Vec<&String> =
        hosts.iter().filter_map(|(_, rack)| rack.as_ref()).collect::<BTreeSet<_>>().into_iter().collect();
    if racks.len() < 2 && !hosts.is_empty() {
        let _ = writeln!(text, "workers = {}", hosts.len());
    }
    let _ = writeln!(text, "generation = \"{}\"  # {by}", generation.word());
    if racks.len() < 2 {
        return generation;
    }
    // Runs of hosts of one rack, in the order of the hosts.
    let number = |rack: &Option<String>| rack.as_ref().and_then(|rack| racks.binary_search(&rack).ok());
    for run in hosts.chunk_by(|a, b| a.1 == b.1) {
        let rack = &run[0].1;
        let named = rack.as_ref().map_or_else(|| "a rack that the table does not name".to_owned(), |r| printable(r));
        let _ = writeln!(text, "\n[[cluster.group]]  # {named}");
        let _ = writeln!(text, "count = {}", run.len());
        let _ = writeln!(text, "rack = {}", number(rack).map_or(1, |index| index + 1));
    }
    let _ = writeln!(text, "\n[network]\ntopology = \"tree\"  # a switch for each rack, and one between them: assumed");
    let _ = writeln!(text, "racks = {}  # of the topology table", racks.len());
    generation
}

fn write_keys(
    text: &mut String,
    properties: &Properties,
    hosts: &Hosts,
    generation: Generation,
) -> Result<(), ClusterError> {
    let settings = mapping::settings(properties, Said::ByPerson)
        .map_err(|error| ClusterError { file: String::new(), message: error.to_string() })?;
    let mut sections: BTreeMap<&str, Vec<(String, String, String)>> = BTreeMap::new();
    for (key, value, property) in settings.keys {
        if !generation.heeds(key) {
            continue;
        }
        let Some((section, key)) = key.split_once('.') else { continue };
        let most = hosts.len().max(1);
        let (value, note) = match (key, value.parse::<usize>()) {
            // A scenario places all replicas.
            ("replication", Ok(replicas)) if !hosts.is_empty() && replicas > most => {
                (most.to_string(), format!("{property} is {replicas}, on fewer hosts"))
            }
            _ => (value, property),
        };
        sections.entry(section).or_default().push((key.to_owned(), value, note));
    }
    let hdfs = sections.entry("hdfs").or_default();
    if !hdfs.iter().any(|(key, ..)| key == "replication") && (1..3).contains(&hosts.len()) {
        hdfs.push(("replication".into(), hosts.len().to_string(), "dfs.replication is 3, on fewer hosts".into()));
    }
    if let Some(reducers) = properties.get("mapreduce.job.reduces").filter(|n| n.parse::<u32>().is_ok()) {
        let entry = ("reducers".to_owned(), reducers, "mapreduce.job.reduces".to_owned());
        sections.entry("mapreduce").or_default().push(entry);
    }
    for (section, keys) in sections.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        let _ = writeln!(text, "\n[{section}]");
        for (key, value, note) in keys {
            let _ = writeln!(text, "{key} = {value}  # {}", printable(&note));
        }
    }
    text.push_str("\n[job]  # replaced by an imported one\nworkload = \"generic\"\n");
    Ok(())
}

/// A name without line breaks or other control characters.
fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}
