//! A plan's parts as files: their names, and which record belongs to which.

use super::cluster::Look;
use crate::failure::Failure;
use crate::interrupt::STOP;
use ::kat::{Kept, open_plan};
use placement::{Engine, Filled, Hint, KeyRule, Keys, Layout, Part, Plan};
use runs::Inputs;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The longest name of a file that HDFS takes by default (`dfs.namenode.fs-limits.max-component-length`).
const LONGEST_NAME: usize = 255;

/// A plan, and its parts as files.
pub struct Placed {
    /// The plan.
    pub plan: Plan,
    /// What is written of a record.
    pub layout: Layout,
    /// How keys are found in what is loaded.
    pub rule: KeyRule,
    /// The type of keys for Hadoop's own partitioner, or "none" where another engine runs the jobs.
    pub judged_type: &'static str,
    /// The names of the parts' files.
    pub names: Vec<String>,
    /// The first part of each split key.
    first_of_key: Vec<usize>,
    /// By which the plan is known again.
    digest: String,
}

impl Placed {
    /// A plan's file.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let text = Inputs::new(&STOP).text(path)?;
        let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
        Self::of(open_plan(path, &text)?, path, digest)
    }

    /// A plan that is known, whose file is that path, by its digest.
    pub fn of(kept: Kept, path: &Path, digest: String) -> Result<Self, Failure> {
        let Kept { rule, engine, layout, value, plan } = kept;
        if let (Layout::Split, Some(value)) = (layout, value) {
            return Err(Failure::Input(format!(
                "{} is a plan by layout split with values of {value} bytes, which the job's own map makes. Without \
                 --value whole records stand with each key; --layout projected has the keys alone",
                path.display()
            )));
        }
        if matches!(rule, KeyRule::Own | KeyRule::Field(_)) {
            return Err(Failure::Input(format!(
                "{} finds keys by {rule}: what is loaded is text, a record a line",
                path.display()
            )));
        }
        let names = (0..plan.parts().len()).map(|place| name(&plan, place)).collect::<Result<Vec<_>, _>>()?;
        let mut first = plan.bucketing().buckets() as usize;
        let first_of_key = plan.split().iter().map(|key| {
            let of_key = first;
            first += key.parts as usize;
            of_key
        });
        let first_of_key = first_of_key.collect();
        let judged_type = if engine == Engine::MapReduce { plan.bucketing().key_type().name() } else { "none" };
        Ok(Self { plan, layout, rule, judged_type, names, first_of_key, digest })
    }

    /// A plan that was just made, and its file's text.
    #[cfg(feature = "testbed")]
    pub fn made(kept: Kept) -> Result<(Self, String), Failure> {
        let text = kept.text();
        let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
        Ok((Self::of(kept, Path::new("the plan"), digest)?, text))
    }

    /// The place of a part in the list of all.
    pub fn place(&self, part: &Part) -> usize {
        match part.of_key {
            None => part.bucket as usize,
            Some((key, number)) => self.first_of_key[key as usize] + number as usize,
        }
    }

    /// The names of the nodes that a part's replicas are to stand on.
    pub fn nodes_of(&self, place: usize) -> Vec<&str> {
        let group = self.plan.parts()[place].group.iter();
        group.map(|node| self.plan.nodes()[*node as usize].name.as_str()).collect()
    }

    /// Hands out what is to be written of a record: the place of its part, its key, and its bytes. A record without a
    /// key goes to the bucket of that number, modulo theirs, since it must stand somewhere. Records come from the first
    /// on, in their order: that decides which part of a split key has which of its records. Those that are laid out
    /// already are written as they are.
    pub fn of_record<'a>(
        &self,
        record: &'a [u8],
        is_laid_out: bool,
        number: u64,
        keys: &'a mut Keys,
        filled: &mut Filled,
        mut take: impl FnMut(usize, &[u8], &[u8]),
    ) -> Result<(), Failure> {
        let (rule, layout) = if is_laid_out { (self.written_rule(), Layout::Whole) } else { (&self.rule, self.layout) };
        rule.keys(record, keys);
        let mut of_key = |key: &[u8], bytes: usize| {
            self.plan.part_of(key, bytes as u64 + 1, filled).map(|part| self.place(part)).ok_or_else(|| {
                let (key, of) = (String::from_utf8_lossy(key), self.plan.bucketing().key_type());
                Failure::Input(format!("key `{key}` is no value of type {of}; its record: {}", shown(record)))
            })
        };
        match layout {
            Layout::Whole => match keys.iter(record).next() {
                Some(key) => take(of_key(key, record.len())?, key, record),
                None => take((number % u64::from(self.plan.bucketing().buckets())) as usize, b"", record),
            },
            Layout::Projected => {
                for key in keys.iter(record) {
                    take(of_key(cut(key, b"\r\n", record)?, key.len())?, key, key);
                }
            }
            Layout::Split => {
                let mut pair = Vec::new();
                for key in keys.iter(record) {
                    pair.clear();
                    pair.extend_from_slice(cut(key, b"\t\r\n", record)?);
                    pair.push(b'\t');
                    pair.extend_from_slice(record);
                    take(of_key(key, pair.len())?, key, &pair);
                }
            }
        }
        Ok(())
    }

    /// How keys are found in what is written.
    pub const fn written_rule(&self) -> &KeyRule {
        match self.layout {
            Layout::Whole => &self.rule,
            Layout::Projected => &KeyRule::Line,
            Layout::Split => &KeyRule::FirstTab,
        }
    }

    /// Whether the cluster is the plan's: all nodes are there, and groups keep to HDFS's rule for racks.
    pub fn check(&self, look: &Look) -> Result<(), Failure> {
        let nodes = self.plan.nodes();
        let absent: Vec<&str> =
            nodes.iter().map(|node| node.name.as_str()).filter(|name| !look.nodes.contains_key(*name)).collect();
        let there: Vec<&str> = look.nodes.keys().map(String::as_str).collect();
        if absent.len() == nodes.len() {
            return Err(Failure::Input(format!(
                "the plan is of another cluster: none of its nodes ({}) is a DataNode of this one ({})",
                few(&absent),
                few(&there)
            )));
        }
        if !absent.is_empty() {
            return Err(Failure::Input(format!(
                "{} of the plan's nodes are no living DataNodes: {}; `kat plan --previous` plans for those that are there ({})",
                absent.len(),
                few(&absent),
                few(&there)
            )));
        }
        let racks = |part: &Part| {
            let mut racks: Vec<&str> = part
                .group
                .iter()
                .filter_map(|node| look.nodes.get(&nodes[*node as usize].name))
                .map(String::as_str)
                .collect();
            racks.sort_unstable();
            racks.dedup();
            racks.len()
        };
        let mut all: Vec<&String> = look.nodes.values().collect();
        all.sort_unstable();
        all.dedup();
        let narrow = self.plan.parts().iter().find(|part| part.group.len() > 1 && racks(part) < 2);
        if let (true, Some(part)) = (all.len() > 1, narrow) {
            return Err(Failure::Input(format!(
                "bucket {} has all copies on one rack, and HDFS would move one: plan with the cluster's racks, as \
                 --nodes {}",
                part.bucket,
                nodes
                    .iter()
                    .take(2)
                    .map(|node| format!("{}@{}", node.name, look.nodes[&node.name]))
                    .collect::<Vec<_>>()
                    .join(",")
            )));
        }
        Ok(())
    }

    /// What a load of these files is known by. The schema is raised when the same records come to stand in other parts.
    pub fn manifest(&self, files: &[String]) -> Value {
        json!({ "schema": 2, "plan": self.digest, "layout": self.layout.name(), "files": files })
    }

    /// Whether a manifest in HDFS is of this plan.
    pub fn is_of(&self, manifest: &Value) -> bool {
        manifest["plan"].as_str() == Some(self.digest.as_str())
    }

    /// Places of parts by the names of their files.
    pub fn by_name(&self) -> BTreeMap<&str, usize> {
        self.names.iter().map(String::as_str).zip(0..).collect()
    }
}

/// The key, if none of these bytes is in it: what is written would be cut there.
fn cut<'a>(key: &'a [u8], at: &[u8], record: &[u8]) -> Result<&'a [u8], Failure> {
    if key.iter().any(|byte| at.contains(byte)) {
        return Err(Failure::Input(format!(
            "key {:?} has a tab or an end of line in it, where readers of what is written would cut it; its record: {}",
            String::from_utf8_lossy(key),
            shown(record)
        )));
    }
    Ok(key)
}

/// The name of a part's file, which says on which nodes its blocks belong.
fn name(plan: &Plan, place: usize) -> Result<String, Failure> {
    let part = &plan.parts()[place];
    let mut nodes = Vec::new();
    for node in &part.group {
        let name = plan.nodes()[*node as usize].name.as_str();
        if name.contains(['+', '@', '/', ':']) {
            return Err(Failure::Input(format!(
                "node {name}: names of files name it, where + @ / : mean something else"
            )));
        }
        nodes.push(name);
    }
    let of_key = part.of_key.map_or_else(String::new, |(key, number)| format!("-key-{key}-part-{number}"));
    let buckets = plan.bucketing().buckets();
    let name = format!("bucket-{:05}-of-{buckets:05}{of_key}@{}", part.bucket, nodes.join("+"));
    if name.len() > LONGEST_NAME {
        return Err(Failure::Input(format!(
            "a file that names its {} nodes has a name of {} characters, and HDFS takes {LONGEST_NAME}: fewer replicas, or \
             hosts' short names",
            nodes.len(),
            name.len()
        )));
    }
    Ok(name)
}

/// The first of a list.
pub fn few(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", "))
}

/// The beginning of a record.
pub fn shown(record: &[u8]) -> String {
    const SHOWN: usize = 160;
    String::from_utf8_lossy(&record[..record.len().min(SHOWN)]).into_owned()
}
