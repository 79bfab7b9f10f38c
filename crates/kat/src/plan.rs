//! The plan itself: files are read into a profile, its buckets placed, and what that saves is judged.

use crate::asked::{Asked, Tell, nodes};
use crate::json;
use crate::plan_file::{self, Previous};
use crate::scan::{Scanned, Sources};
use crate::second::{Second, SecondFile};
use placement::{Exchange, KeyRule, Layout, PairCount, Plan, Profile, Saving, best_host_share};
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
    /// Whether it pays.
    pub verdict: Verdict,
    /// The second file, if one is asked for.
    pub second: Option<SecondFile>,
}

/// Whether placement pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// After so many runs.
    Pays(u64),
    /// It does not, because of this.
    No(String),
}

/// Plans the placement of records by key: reads the files, or a part of them.
pub fn plan(asked: Asked, inputs: &Inputs<'_>, tell: Tell<'_>) -> Result<Planned, Error> {
    let nodes = nodes(inputs, &asked.nodes)?;
    let sources = Sources::open(&asked.files, asked.key.as_ref())?;
    let bucketing = asked.bucketing(asked.key_type, sources.of, nodes.len())?;
    let previous = match &asked.previous {
        None => None,
        Some(path) => Some(Previous::open(path, &inputs.text(path)?)?),
    };
    let copies = asked.replicas as usize - usize::from(asked.second.is_some() && asked.replicas > 1);
    let before = previous.as_ref().map(|previous| previous.first(bucketing, copies, &asked)).transpose()?;
    // Before anything is read: what cannot be had is told at once.
    let second = match &asked.second {
        None => None,
        Some(rule) => Some(Second::open(&asked, rule, nodes.len(), &sources, previous.as_ref())?),
    };
    let (rule, format) = (sources.rule.clone(), sources.format);
    let mut profile = Profile::new(rule.clone(), bucketing, asked.layout, asked.value);
    let scanned = sources.scan(asked.sample, inputs.stop(), tell, &mut profile)?;
    sensible(&asked, &rule, &profile, &scanned)?;
    let placed = match &before {
        Some(plan) => plan.on(nodes.clone()),
        None => Plan::place(bucketing, nodes.clone(), copies, &profile.weights, &profile.heaviest()),
    };
    let placed = placed.map_err(|error| Error::Input(error.to_string()))?;
    let factor = scanned.bytes as f64 / profile.bytes.max(1) as f64;
    let saving = saving(&asked, &profile, &placed.plan, factor, copies);
    let count = placed.plan.nodes().len();
    let pairs = (profile.several > 0).then(|| profile.sample().count(count as u32));
    let verdict = judge(&asked, &profile, &saving, pairs.as_ref(), count);
    let by_hash = by_hash(&profile.weights, count);
    let second = second.map(|second| second.plan(&asked, inputs.stop(), tell, nodes, &profile, factor)).transpose()?;
    Ok(Planned { asked, rule, format, scanned, profile, placed, factor, saving, by_hash, pairs, verdict, second })
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
pub(crate) fn saving(asked: &Asked, profile: &Profile<KeyRule>, plan: &Plan, factor: f64, copies: usize) -> Saving {
    Saving::of(&Exchange {
        bytes: profile.exchange as f64 * factor,
        at_home: profile.at_home as f64 * factor,
        partials: plan.partials(),
        partial_bytes: profile.exchange as f64 / profile.pairs.max(1) as f64,
        stored: profile.stored as f64 * factor,
        replicas: copies,
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

fn judge(
    asked: &Asked,
    profile: &Profile<KeyRule>,
    saving: &Saving,
    pairs: Option<&PairCount>,
    nodes: usize,
) -> Verdict {
    /// Records with this many keys on average have a few exceptions at most.
    const ONE: f64 = 1.01;
    if nodes < 2 {
        return Verdict::No("one node exchanges nothing with itself".to_owned());
    }
    let keys = profile.keys_per_record();
    if asked.layout == Layout::Whole && keys > ONE {
        let removed = pairs.map_or(0.0, PairCount::removed_by_rarest) * 100.0;
        return Verdict::No(format!(
            "a record has {keys:.1} keys and can stand with one of them. Whole records by their first key save {:.1} % \
             of the exchange; after a combiner, by their rarest key, they save {removed:.0} % of its pairs at best. \
             --layout split gives each key a record of its own",
            saving.share() * 100.0
        ));
    }
    match saving.runs {
        None => Verdict::No("a run exchanges no less with it".to_owned()),
        Some(_) if saving.share() < 0.01 => {
            Verdict::No(format!("it saves {:.1} % of the exchange, which no run would show", saving.share() * 100.0))
        }
        Some(runs) => Verdict::Pays(runs),
    }
}
