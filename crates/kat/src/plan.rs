//! The plan itself: files are read into a profile, its buckets placed, and what that saves is judged.

use crate::asked::{Asked, Modified, Tell, nodes};
use crate::json;
use crate::plan_file::{self, Previous};
use crate::scan::{Scanned, Sources};
use crate::second::{Second, SecondFile};
use crate::verdict::{Uneven, Verdict, judge};
use placement::{
    Engine, Exchange, KeyRule, PairCount, Part, Plan, Profile, Redistribution, Saving, best_host_share, pairs_of_a_key,
};
use records::Format;
use runs::{Error, Inputs, STANDARD_INPUT};
use std::path::{Path, PathBuf};

/// More than this part of the records without a key: the rule is not for these records.
const UNKEYED: f64 = 0.01;

/// What a plan of files has found.
#[derive(Debug)]
pub struct Planned {
    /// The question.
    pub asked: Asked,
    /// How keys are found.
    pub rule: KeyRule,
    /// The format of the files.
    pub format: Format,
    /// What was read.
    pub scanned: Scanned,
    /// What the records have shown.
    pub profile: Profile<KeyRule>,
    /// Where the buckets stand, and what of them moves since an earlier plan.
    pub placed: placement::Planned,
    /// Of all records over those that were read.
    pub factor: f64,
    /// What a job saves.
    pub saving: Saving,
    /// Load of the fullest node where keys are hashed to nodes, over the mean.
    pub by_hash: f64,
    /// Pairs after a combiner, where records have several keys.
    pub pairs: Option<PairCount>,
    /// Why the fullest node has much more than its share, if it has.
    pub uneven: Option<Uneven>,
    /// Whether it pays.
    pub verdict: Verdict,
    /// The second file, if one is asked for.
    pub second: Option<SecondFile>,
}

/// Records that were modified since an earlier plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pending {
    /// How many.
    pub records: u64,
    /// Bytes of their pairs that a run exchanges between nodes.
    pub exchanged: f64,
    /// Bytes of them that redistribution sends between nodes.
    pub moved: f64,
    /// From so many records on they are redistributed.
    pub due_after: u64,
    /// There are as many.
    pub is_due: bool,
}

/// Plans the placement of records by key: reads the files, or a part of them.
pub fn plan(asked: Asked, inputs: &Inputs<'_>, tell: Tell<'_>) -> Result<Planned, Error> {
    let nodes = nodes(inputs, &asked.nodes)?;
    let sources = Sources::open(&asked.files, asked.key.as_ref())?;
    let bucketing = asked.bucketing(asked.key_type, sources.of, nodes.len())?;
    asked.check(bucketing)?;
    let previous = match &asked.previous {
        None => None,
        Some(path) => Some(Previous::open(path, &inputs.text(path)?)?),
    };
    let copies = asked.replicas - if asked.second.is_some() { asked.second_copies } else { 0 };
    let before = previous.as_ref().map(|previous| previous.first(bucketing, copies, &asked)).transpose()?;
    // Before anything is read: what cannot be had is told at once.
    let second = match &asked.second {
        None => None,
        Some(rule) => Some(Second::open(&asked, rule, nodes.len(), &sources, previous.as_ref())?),
    };
    let (rule, format) = (sources.rule.clone(), sources.format);
    let mut profile = asked.profile(rule.clone(), bucketing);
    let scanned = sources.scan(asked.part(), inputs.stop(), tell, &mut profile)?;
    sensible(&asked, &rule, &profile, &scanned)?;
    let placed = asked.place(before.as_ref(), &profile, nodes.clone(), copies)?;
    let factor = scanned.bytes as f64 / profile.bytes.max(1) as f64;
    let saving = saving(&asked, &profile, &placed.plan, factor, copies);
    let count = placed.plan.nodes().len();
    let pairs = (profile.several > 0).then(|| profile.sample().count(count as u32));
    let by_hash = by_hash(&profile.weights, count);
    let uneven = Uneven::of(&asked, &profile, &placed, &saving, profile.stored as f64 * factor, by_hash);
    let verdict = judge(&asked, &profile, &saving, pairs.as_ref(), count);
    let second = second.map(|second| second.plan(&asked, inputs.stop(), tell, nodes, &profile, factor)).transpose()?;
    Ok(Planned {
        asked,
        rule,
        format,
        scanned,
        profile,
        placed,
        factor,
        saving,
        by_hash,
        pairs,
        uneven,
        verdict,
        second,
    })
}

impl Planned {
    /// What it has found: what `trunkline kat plan --json` prints.
    pub fn json(&self) -> String {
        json::text(self)
    }

    /// The plan, bucket by bucket: what `trunkline kat plan -o` writes.
    pub fn file(&self) -> String {
        plan_file::text(self)
    }

    /// What becomes of records that were modified since the earlier plan, if any are said to be.
    pub fn modified(&self) -> Option<Pending> {
        let Modified { records, after } = self.asked.modified?;
        let (profile, nodes) = (&self.profile, self.placed.plan.nodes().len());
        let of_each = |bytes: u64| bytes as f64 / profile.records.max(1) as f64;
        let elsewhere = (nodes as f64 - 1.0) / nodes as f64;
        let block = self.asked.block.get() as f64;
        let usual = || Redistribution::after_blocks(nodes as u32, block, of_each(profile.stored));
        let mut due = after.map_or_else(usual, Redistribution::after);
        Some(Pending {
            records,
            exchanged: records as f64 * of_each(profile.exchange) * elsewhere,
            moved: records as f64 * of_each(profile.stored) * elsewhere,
            due_after: due.due_after(),
            is_due: due.modify(records).is_some(),
        })
    }

    /// Bytes that tasks read from other nodes where each takes a bucket and runs on the node that has most of it:
    /// natively, and where the bucket's blocks have their copies on one group of nodes.
    pub fn scan_bytes(&self) -> [f64; 2] {
        /// Of more blocks the best node has hardly more than its share.
        const MOST_BLOCKS: f64 = 4096.0;
        let plan = &self.placed.plan;
        let stored = self.profile.stored as f64 * self.factor;
        let bucket = stored / f64::from(plan.bucketing().buckets());
        let blocks = (bucket / self.asked.block.get() as f64).ceil().clamp(1.0, MOST_BLOCKS) as u32;
        let local = best_host_share(blocks, plan.replicas() as u32, plan.nodes().len() as u32);
        [stored * (1.0 - local), 0.0]
    }
}

/// What a layout saves a job that reduces the profile's keys.
pub(crate) fn saving(asked: &Asked, profile: &Profile<KeyRule>, plan: &Plan, factor: f64, copies: u32) -> Saving {
    let value = asked.value.map_or(profile.bytes as f64 / profile.records.max(1) as f64, |value| value as f64);
    // A part of a split key is a file of its own, and each map of it leaves one pair, or one of each of two spills.
    let record = profile.stored as f64 / profile.records.max(1) as f64;
    let partials = |part: &Part| {
        let key = part.of_key.map_or(0, |(split, _)| plan.split()[split as usize].key.len() as u64);
        let pair = profile.bucketing().key_type().fixed_bytes().unwrap_or(key) as f64 + value;
        let (bytes, block) = (part.bytes as f64 * factor, asked.block.get() as f64);
        let records = bytes.min(block) / record.max(1.0);
        let left = if asked.engine == Engine::MapReduce { pairs_of_a_key(records * pair, records) } else { 1.0 };
        (bytes / block).ceil().max(1.0) * left * pair
    };
    let (bytes, away) = match &profile.combiner {
        Some(combiner) => (combiner.native().bytes(), combiner.away().bytes()),
        None => (profile.exchange as f64 * factor, (profile.exchange - profile.at_home) as f64 * factor),
    };
    Saving::of(&Exchange {
        bytes,
        away,
        partials: plan.away().map(partials).sum(),
        stored: profile.stored as f64 * factor,
        replicas: copies as usize,
        nodes: plan.nodes().len(),
        present: asked.present,
    })
}

/// A file for a message.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == STANDARD_INPUT { "standard input".to_owned() } else { path.display().to_string() }
}

/// Files for a message.
pub fn names(files: &[PathBuf]) -> String {
    match files {
        [one] => name(one),
        [first, ..] => format!("{} and {} more", name(first), files.len() - 1),
        [] => "nothing".to_owned(),
    }
}

/// Refuses what cannot be planned: no records, and a rule that is not for these records.
fn sensible(asked: &Asked, rule: &KeyRule, profile: &Profile<KeyRule>, scanned: &Scanned) -> Result<(), Error> {
    let names = names(&asked.files);
    if profile.records == 0 {
        let why = if scanned.bytes == 0 {
            "there are no bytes".to_owned()
        } else {
            format!("the sample of {} found none in {} bytes; a larger --sample does", scanned.sample, scanned.bytes)
        };
        return Err(Error::Input(format!("{names} has no records to plan from: {why}")));
    }
    let keyless = profile.unkeyed as f64 / profile.records as f64;
    let record = profile.without_key.as_deref().unwrap_or_default();
    if profile.unkeyed == profile.records {
        let advice = match rule {
            KeyRule::Field(_) => {
                return Err(Error::Input(format!("{names}: {rule} is null in every record: another column has keys")));
            }
            _ if asked.key.is_none() => {
                "no record has a tab, before which a key stands by default; --key says where it is"
            }
            _ => "it matches no record",
        };
        return Err(Error::Input(format!("{names}: key {rule}: {advice}. The first record is\n  {record}")));
    }
    if asked.key.is_none() && keyless > UNKEYED {
        let part = keyless * 100.0;
        return Err(Error::Input(format!(
            "{names}: {part:.1} % of the records have no tab, before which a key stands by default; --key says where \
             it is. The first of them is\n  {record}"
        )));
    }
    Ok(())
}

/// The load of the fullest node, over the mean, where reducer b has each bucket of remainder b.
fn by_hash(weights: &[u64], nodes: usize) -> f64 {
    let mut loads = vec![0.0; nodes];
    weights.iter().enumerate().for_each(|(bucket, bytes)| loads[bucket % nodes] += *bytes as f64);
    let whole: f64 = loads.iter().sum();
    if whole > 0.0 { loads.into_iter().fold(0.0, f64::max) * nodes as f64 / whole } else { 1.0 }
}
