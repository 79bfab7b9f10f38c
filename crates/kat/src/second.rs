//! Another key for the same data: one of the copies is a second file, laid out by it.
//!
//! HDFS keeps the same bytes in all copies of a block, so a second order of the records is a second file: of r copies
//! r1 are in the first order and r2 in the second, r1 + r2 = r.

use crate::asked::{Asked, Tell};
use crate::plan::saving;
use crate::plan_file::Previous;
use crate::scan::Sources;
use placement::{Bucketing, KeyRule, Node, Plan, Planned, Profile, Repair, Saving, SecondLayout};
use runs::{Error, Stop};
use serde_json::{Value, json};

/// The same files, open once more.
pub struct Second {
    sources: Sources,
    bucketing: Bucketing,
    /// Where its buckets stand by an earlier plan.
    before: Option<Plan>,
}

/// What the second file is good for, and what it costs.
#[derive(Debug)]
pub struct SecondFile {
    /// How its keys are found.
    pub rule: KeyRule,
    /// How many of the copies it takes.
    pub copies: u32,
    /// Where its buckets stand.
    pub planned: Planned,
    /// What a job by its key saves.
    pub saving: Saving,
    /// What repairs a lost node; none if nothing does.
    pub repair: Option<Repair>,
    /// What repairs a lost node where all copies are in one order; none if nothing does.
    pub repair_of_one_order: Option<Repair>,
    /// Bytes that move since the earlier plan, if that has a second file.
    pub moved: Option<u64>,
}

impl Second {
    /// Opens the files once more, for another key.
    pub fn open(
        asked: &Asked,
        rule: &KeyRule,
        nodes: usize,
        first: &Sources,
        previous: Option<&Previous>,
    ) -> Result<Self, Error> {
        if !first.can_be_read_again() {
            return Err(Error::Input("--second reads the records twice: name files, not standard input".to_owned()));
        }
        let sources = Sources::open(&asked.files, Some(rule))?;
        let bucketing = asked.bucketing(asked.second_type.or(asked.key_type), sources.of, nodes)?;
        asked.check(bucketing)?;
        let before = match previous {
            None => None,
            Some(previous) => previous.second(rule, bucketing, asked)?,
        };
        Ok(Self { sources, bucketing, before })
    }

    /// Reads the files by the second key, and plans their second file.
    pub fn plan(
        self,
        asked: &Asked,
        stop: &Stop,
        tell: Tell<'_>,
        nodes: Vec<Node>,
        first: &Profile<KeyRule>,
        factor: f64,
    ) -> Result<SecondFile, Error> {
        let rule = self.sources.rule.clone();
        let mut profile = asked.profile(rule.clone(), self.bucketing);
        self.sources.scan(asked.part(), stop, tell, &mut profile)?;
        if profile.pairs == 0 {
            return Err(Error::Input(format!("--second {rule} matches no record")));
        }
        let count = nodes.len() as u32;
        let copies = asked.second_copies;
        let planned = asked.place(self.before.as_ref(), &profile, nodes, copies)?;
        let saving = saving(asked, &profile, &planned.plan, factor, copies);
        let stored = first.stored as f64 * factor;
        let layout = |first, second| SecondLayout { bytes: stored, nodes: count, first, second };
        let repair = layout(asked.replicas - copies, copies).repair();
        let moved = self.before.is_some().then_some((planned.moved as f64 * factor) as u64);
        let repair_of_one_order = layout(asked.replicas, 0).repair();
        Ok(SecondFile { rule, copies, planned, saving, repair, repair_of_one_order, moved })
    }
}

impl SecondFile {
    /// What is said of it, as figures.
    pub fn json(&self) -> Value {
        let repair = |repair: &Option<Repair>| {
            repair.map(|repair| json!({ "read_bytes": repair.read as u64, "transfer_bytes": repair.transfer as u64 }))
        };
        json!({ "key": self.rule.to_string(), "key_type": self.planned.plan.bucketing().key_type().name(),
                "copies": self.copies, "remote_bytes_native": self.saving.native as u64,
                "saved_bytes": self.saving.saved() as i64, "saved_share": self.saving.share(),
                "import_bytes": self.saving.import as u64, "imbalance": self.planned.imbalance,
                "moved_bytes": self.moved,
                "repair": repair(&self.repair), "repair_of_one_order": repair(&self.repair_of_one_order) })
    }
}
