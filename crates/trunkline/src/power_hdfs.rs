//! `trunkline power hdfs`: what HDFS has to be told so that backup disks may rest.

use crate::args::PowerHdfs;
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::screen::Screen;
use runs::Inputs;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use storage::power::figures::backup_capacity;
use units::{Bytes, Power};

/// A cluster's disks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Cluster {
    /// Replicas of a block.
    #[serde(default = "three")]
    replication: u32,
    /// Folders of HDFS whose first replicas alone stay on disks that turn.
    paths: Vec<String>,
    /// Bytes that these will hold, before replication.
    data: Option<String>,
    /// What a disk draws when it idles, and in standby.
    idle: Option<String>,
    standby: Option<String>,
    datanode: Vec<Group>,
}

/// DataNodes that are alike.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Group {
    name: String,
    #[serde(default = "one")]
    count: u32,
    primary: Vec<Folder>,
    #[serde(default)]
    backup: Vec<Folder>,
}

/// A folder of `dfs.datanode.data.dir`, with a disk of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Folder {
    folder: String,
    size: String,
}

const fn one() -> u32 {
    1
}
const fn three() -> u32 {
    3
}

/// A property of HDFS: name, what it is in Hadoop 3.5 without a word (hdfs-default.xml, core-default.xml), what
/// it is to be, why.
struct Setting(&'static str, &'static str, &'static str, &'static str);

/// What keeps a DataNode from its backup disks.
const QUIET: [Setting; 4] = [
    Setting(
        "fs.getspaceused.classname",
        "du of each volume every ten minutes (fs.du.interval)",
        "org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.ReplicaCachingGetSpaceUsed",
        "the space that is used is counted from the replicas in memory",
    ),
    Setting(
        "dfs.datanode.directoryscan.interval",
        "21600",
        "-1",
        "folders are not compared with memory; do it in a window",
    ),
    Setting(
        "dfs.block.scanner.volume.bytes.per.second",
        "1048576",
        "0",
        "blocks are not read to find rotten ones, nor is the scanner's place kept; do it in a window",
    ),
    Setting("dfs.datanode.scan.period.hours", "504", "-1", "the same scanner"),
];

/// What the NameNode has to know.
const READS: [Setting; 2] = [
    Setting(
        "dfs.namenode.read.considerStorageType",
        "false",
        "true",
        "of replicas at the same distance readers get the one on [DISK]",
    ),
    Setting(
        "dfs.namenode.read.considerLoad",
        "false",
        "false",
        "only one of the two orders replicas; a reader on the node of a backup replica gets that all the same",
    ),
];

/// What a cluster's disks come to.
struct Totals {
    nodes: u64,
    primary: Bytes,
    backup: Bytes,
    disks: u64,
    backups: u64,
    data: Option<Bytes>,
    draws: Option<(Power, Power)>,
}

/// Prints it, and writes the files where a folder is given.
pub fn hdfs(args: &PowerHdfs) -> Result<(), Failure> {
    let text = Inputs::new(&STOP).text(&args.cluster)?;
    let file = args.cluster.display();
    let wrong = |why: &dyn std::fmt::Display| Failure::Input(format!("{file}: {why}"));
    let cluster: Cluster = toml::from_str(&text).map_err(|error| wrong(&error))?;
    let totals = totals(&cluster).map_err(|why| wrong(&why))?;
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::Output(format!("cannot make {}: {error}", folder.display())))?;
        let files = cluster.datanode.iter().map(|group| (format!("{}.xml", group.name), datanode(group)));
        for (name, text) in files.chain([("namenode.xml".to_owned(), site(READS.iter().map(property)))]) {
            runs::write_whole(&folder.join(name), text.as_bytes())?;
        }
    }
    emit(&shown(&cluster, &totals, &Screen::of_output()))
}

fn totals(cluster: &Cluster) -> Result<Totals, String> {
    let size = |what: String, text: &str| {
        text.parse::<Bytes>().map_err(|error| format!("{what}: {error}")).and_then(|size| {
            if size == Bytes::ZERO { Err(format!("{what}: nothing fits into {text}")) } else { Ok(size) }
        })
    };
    let power = |what: &str, text: &Option<String>| {
        text.as_ref().map(|text| text.parse::<Power>().map_err(|error| format!("{what}: {error}"))).transpose()
    };
    if !(2..=10).contains(&cluster.replication) {
        return Err(format!(
            "replication is {}: without further replicas no disk may rest; 2 to 10",
            cluster.replication
        ));
    }
    if cluster.paths.is_empty() || cluster.paths.iter().any(|path| !path.starts_with('/') || !is_plain(path)) {
        return Err("paths: folders of HDFS, such as [\"/data\"]".to_owned());
    }
    let data = cluster.data.as_deref().map(|text| size("data".to_owned(), text)).transpose()?;
    let (idle, standby) = (power("idle", &cluster.idle)?, power("standby", &cluster.standby)?);
    let draws = match (idle, standby) {
        (Some(idle), Some(standby)) if standby < idle => Some((idle, standby)),
        (None, None) => None,
        _ => return Err("idle and standby: both, and standby draws less".to_owned()),
    };
    let mut totals = Totals { nodes: 0, primary: Bytes::ZERO, backup: Bytes::ZERO, disks: 0, backups: 0, data, draws };
    let mut with_backups = 0;
    for group in &cluster.datanode {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if group.name.is_empty() || !group.name.chars().all(is_name) || group.name == "namenode" {
            return Err(format!(
                "a datanode's name is \"{}\": letters, digits, `.`, `_`, `-`; not `namenode`",
                group.name
            ));
        }
        let alike = cluster.datanode.iter().filter(|other| other.name == group.name).count();
        if alike > 1 || group.count == 0 || group.count > 100_000 || group.primary.is_empty() {
            let rule = "a name of its own, a `count` from 1 to 100000, and a primary disk";
            return Err(format!("datanode {}: it needs {rule}", group.name));
        }
        let mut seen = std::collections::BTreeSet::new();
        for (folders, sum, role) in
            [(&group.primary, &mut totals.primary, "primary"), (&group.backup, &mut totals.backup, "backup")]
        {
            for folder in folders {
                let what = format!("datanode {}, {role} {}", group.name, folder.folder);
                if !folder.folder.starts_with('/') || !is_plain(&folder.folder) || !seen.insert(&folder.folder) {
                    return Err(format!("{what}: a folder has an absolute path without commas, and is named once"));
                }
                let size = size(what, &folder.size)?;
                let all = size.get().checked_mul(u64::from(group.count)).and_then(|all| all.checked_add(sum.get()));
                *sum = Bytes::new(all.ok_or("the disks hold more than can be counted")?);
            }
        }
        let count = u64::from(group.count);
        totals.nodes += count;
        with_backups += if group.backup.is_empty() { 0 } else { count };
        totals.disks += count * (group.primary.len() + group.backup.len()) as u64;
        totals.backups += count * group.backup.len() as u64;
    }
    let further = u64::from(cluster.replication) - 1;
    if totals.nodes <= further || with_backups < further {
        return Err(format!(
            "{} replicas are on as many DataNodes: there are {}, of which {with_backups} have backup disks, and {further} \
             must",
            cluster.replication, totals.nodes
        ));
    }
    if let Some(data) = data {
        let needed = backup_capacity(data.get() as f64, cluster.replication);
        if data > totals.primary || needed > totals.backup.get() as f64 {
            return Err(format!(
                "{data} of data with {} replicas need {data} of primary and {} of backup disks, and there are \
                 {} and {}: (n - 1) : 1",
                cluster.replication,
                Bytes::new(units::whole(needed)),
                totals.primary,
                totals.backup
            ));
        }
    }
    Ok(totals)
}

/// Of what stands in a property between commas.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| !c.is_control() && !c.is_whitespace() && !",[]<>&".contains(c))
}

fn property(setting: &Setting) -> (String, String) {
    (setting.0.to_owned(), setting.2.to_owned())
}

fn site(properties: impl Iterator<Item = (String, String)>) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<configuration>\n".to_owned();
    for (name, value) in properties {
        let _ = write!(text, "  <property>\n    <name>{name}</name>\n    <value>{value}</value>\n  </property>\n");
    }
    text + "</configuration>\n"
}

/// What goes into hdfs-site.xml of such a DataNode.
fn datanode(group: &Group) -> String {
    let folders = |tag: &'static str, folders: &[Folder]| -> Vec<String> {
        folders.iter().map(|folder| format!("[{tag}]{}", folder.folder)).collect()
    };
    let folders = [folders("DISK", &group.primary), folders("ARCHIVE", &group.backup)].concat().join(",");
    site(std::iter::once(("dfs.datanode.data.dir".to_owned(), folders)).chain(QUIET.iter().map(property)))
}

fn shown(cluster: &Cluster, totals: &Totals, screen: &Screen) -> String {
    let mut text = String::new();
    let mut say = |line: &str, indent: usize| {
        text.push_str(&screen.wrapped(line, indent));
        text.push('\n');
    };
    let replicas = cluster.replication;
    let room = totals.primary.get().min(totals.backup.get() / u64::from(replicas - 1));
    let data = totals.data.map_or_else(String::new, |data| format!("; {data} are to be there"));
    let line = format!(
        "{} DataNodes, {} disks, {} of them for further replicas. With {replicas} replicas they hold {} of data{data}: {} of \
         primary disks, {} of backup disks, which is to be {} : 1.",
        totals.nodes,
        totals.disks,
        totals.backups,
        Bytes::new(room),
        totals.primary,
        totals.backup,
        replicas - 1
    );
    say(&line, 0);
    let share = totals.backups as f64 / totals.disks as f64;
    let further = f64::from(replicas - 1) / f64::from(replicas);
    let claim = format!(
        "At rest, backup disks are {:.1} % of all; with disks alike it would be (n - 1) / n = {:.1} %.",
        100.0 * share,
        100.0 * further
    );
    say(&claim, 0);
    if let Some((idle, standby)) = totals.draws {
        let part = (idle.as_watts() - standby.as_watts()) / idle.as_watts() * share;
        let watts = (idle.as_watts() - standby.as_watts()) * totals.backups as f64;
        let line = format!(
            "Standby of all of them saves {:.1} % of what the disks draw when idle, {watts:.0} W, and no more; of the \
             nodes' power it is less.",
            100.0 * part
        );
        say(&line, 0);
    }
    for (title, settings) in [("DataNodes", &QUIET[..]), ("NameNode", &READS[..])] {
        say("", 0);
        say(&format!("hdfs-site.xml of the {title}:"), 0);
        if title == "DataNodes" {
            for group in &cluster.datanode {
                let own = datanode(group);
                let folders =
                    own.lines().find_map(|line| line.trim().strip_prefix("<value>")?.strip_suffix("</value>"));
                say(&format!("dfs.datanode.data.dir = {} ({})", folders.unwrap_or_default(), group.name), 2);
            }
        }
        for Setting(name, default, value, why) in settings {
            say(&format!("{name} = {value} (default: {default}): {why}"), 2);
        }
    }
    say("", 0);
    say("Once, when these are in force:", 0);
    for path in &cluster.paths {
        say(&format!("hdfs storagepolicies -setStoragePolicy -path {path} -policy WARM"), 2);
    }
    for path in &cluster.paths {
        say(&format!("hdfs mover -p {path}"), 2);
    }
    text
}
