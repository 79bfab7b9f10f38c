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

/// Copies of the second file.
pub const SECOND_COPIES: u32 = 1;

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
        if asked.replicas <= SECOND_COPIES {
            return Err(Error::Input(
                "--second takes one of the copies, and there is but one: --replicas 2 or more has another".to_owned(),
            ));
        }
        if !first.can_be_read_again() {
            return Err(Error::Input("--second reads the records twice: name files, not standard input".to_owned()));
        }
        let sources = Sources::open(&asked.files, Some(rule))?;
        let bucketing = asked.bucketing(asked.second_type.or(asked.key_type), sources.of, nodes)?;
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
        let mut profile = Profile::new(rule.clone(), self.bucketing, asked.layout, asked.value);
        self.sources.scan(asked.sample, stop, tell, &mut profile)?;
        if profile.pairs == 0 {
            return Err(Error::Input(format!("--second {rule} matches no record")));
        }
        let count = nodes.len() as u32;
        let planned = match &self.before {
            Some(plan) => plan.on(nodes),
            None => Plan::place(self.bucketing, nodes, SECOND_COPIES as usize, &profile.weights, &profile.heaviest()),
        };
        let planned = planned.map_err(|error| Error::Input(error.to_string()))?;
        let saving = saving(asked, &profile, &planned.plan, factor, SECOND_COPIES as usize);
        let stored = first.stored as f64 * factor;
        let layout = |first, second| SecondLayout { bytes: stored, nodes: count, first, second };
        let repair = layout(asked.replicas - SECOND_COPIES, SECOND_COPIES).repair();
        let moved = self.before.is_some().then_some((planned.moved as f64 * factor) as u64);
        let repair_of_one_order = layout(asked.replicas, 0).repair();
        Ok(SecondFile { rule, planned, saving, repair, repair_of_one_order, moved })
    }
}

impl SecondFile {
    /// What is said of it, as figures.
    pub fn json(&self) -> Value {
        let repair = |repair: &Option<Repair>| {
            repair.map(|repair| json!({ "read_bytes": repair.read as u64, "transfer_bytes": repair.transfer as u64 }))
        };
        json!({ "key": self.rule.to_string(), "key_type": self.planned.plan.bucketing().key_type().name(),
                "copies": SECOND_COPIES, "remote_bytes_native": self.saving.native as u64,
                "saved_bytes": self.saving.saved() as u64, "saved_share": self.saving.share(),
                "import_bytes": self.saving.import as u64, "imbalance": self.planned.imbalance,
                "moved_bytes": self.moved,
                "repair": repair(&self.repair), "repair_of_one_order": repair(&self.repair_of_one_order) })
    }
}
