//! Another key for the same data: one of the copies is a second file, laid out by it.
//!
//! HDFS keeps the same bytes in all copies of a block, so a second order of the records is a second file: of r copies
//! r1 are in the first order and r2 in the second, r1 + r2 = r.

use super::plan_file::Previous;
use super::report::{bytes, count};
use super::scan::Sources;
use super::{bucketing, layout, saving};
use crate::failure::Failure;
use crate::kat_args::KatPlan;
use placement::{Bucketing, Engine, KeyRule, Node, Plan, Planned, Profile, Repair, Saving, SecondLayout};
use serde_json::{Value, json};

/// Copies of the second file.
const COPIES: u32 = 1;

/// The same files, open once more.
pub struct Second {
    sources: Sources,
    bucketing: Bucketing,
    /// Where its buckets stand by an earlier plan.
    before: Option<Plan>,
}

/// What the second file is good for, and what it costs.
pub struct SecondFile {
    /// How its keys are found.
    pub rule: KeyRule,
    /// Where its buckets stand.
    pub planned: Planned,
    saving: Saving,
    repair: Option<Repair>,
    repair_of_one_order: Option<Repair>,
    /// Bytes that move since the earlier plan, if that has a second file.
    moved: Option<u64>,
}

impl Second {
    /// Opens the files once more, for another key.
    pub fn open(
        args: &KatPlan,
        rule: &KeyRule,
        engine: Engine,
        nodes: usize,
        first: &Sources,
        previous: Option<&Previous>,
    ) -> Result<Self, Failure> {
        if args.replicas <= COPIES {
            return Err(Failure::Input(
                "--second takes one of the copies, and there is but one: --replicas 2 or more has another".to_owned(),
            ));
        }
        if !first.can_be_read_again() {
            return Err(Failure::Input("--second reads the records twice: name files, not standard input".to_owned()));
        }
        let sources = Sources::open(&args.files, Some(rule))?;
        let said = args.second_type.as_deref().or(args.key_type.as_deref());
        let bucketing = bucketing(args, engine, said, sources.of, nodes)?;
        let before = match previous {
            None => None,
            Some(previous) => previous.second(rule, bucketing, args)?,
        };
        Ok(Self { sources, bucketing, before })
    }

    /// Reads the files by the second key, and plans their second file.
    pub fn plan(
        self,
        args: &KatPlan,
        nodes: Vec<Node>,
        first: &Profile<KeyRule>,
        factor: f64,
    ) -> Result<SecondFile, Failure> {
        let rule = self.sources.rule.clone();
        let mut profile = Profile::new(rule.clone(), self.bucketing, layout(args), args.value);
        self.sources.scan(args.sample, args.quiet, &mut profile)?;
        if profile.pairs == 0 {
            return Err(Failure::Input(format!("--second {rule} matches no record")));
        }
        let count = nodes.len() as u32;
        let planned = match &self.before {
            Some(plan) => plan.on(nodes),
            None => Plan::place(self.bucketing, nodes, COPIES as usize, &profile.weights, &profile.heaviest()),
        };
        let planned = planned.map_err(|error| Failure::Input(error.to_string()))?;
        let saving = saving(args, &profile, &planned.plan, factor, COPIES as usize);
        let stored = first.stored as f64 * factor;
        let layout = |first, second| SecondLayout { bytes: stored, nodes: count, first, second };
        let repair = layout(args.replicas - COPIES, COPIES).repair();
        let moved = self.before.is_some().then_some((planned.moved as f64 * factor) as u64);
        let repair_of_one_order = layout(args.replicas, 0).repair();
        Ok(SecondFile { rule, planned, saving, repair, repair_of_one_order, moved })
    }
}

impl SecondFile {
    /// What is said of it.
    pub fn sentences(&self, args: &KatPlan) -> Vec<String> {
        let saving = format!(
            "a second file by {}, of {} copies {COPIES}: a run by that key saves {} of {} ({:.1} %), the fullest node \
             has {:.2} of the mean",
            self.rule,
            count(f64::from(args.replicas)),
            bytes(self.saving.saved()),
            bytes(self.saving.native),
            self.saving.share() * 100.0,
            self.planned.imbalance,
        );
        let said = |repair: &Option<Repair>| {
            repair.map_or_else(
                || "nothing repairs it".to_owned(),
                |repair| format!("{} read, {} between nodes", bytes(repair.read), bytes(repair.transfer)),
            )
        };
        let repair = format!(
            "a lost node is repaired by {}: its blocks of the second file, which has one copy, by reading all of the \
             first; with all copies in one order by {}",
            said(&self.repair),
            said(&self.repair_of_one_order)
        );
        let moved = self.moved.map(|moved| format!("of its second file {} move since then", bytes(moved as f64)));
        [saving, repair].into_iter().chain(moved).collect()
    }

    /// The same as figures.
    pub fn json(&self) -> Value {
        let repair = |repair: &Option<Repair>| {
            repair.map(|repair| json!({ "read_bytes": repair.read as u64, "transfer_bytes": repair.transfer as u64 }))
        };
        json!({ "key": self.rule.to_string(), "key_type": self.planned.plan.bucketing().key_type().name(),
                "copies": COPIES, "remote_bytes_native": self.saving.native as u64,
                "saved_bytes": self.saving.saved() as u64, "saved_share": self.saving.share(),
                "import_bytes": self.saving.import as u64, "imbalance": self.planned.imbalance,
                "moved_bytes": self.moved,
                "repair": repair(&self.repair), "repair_of_one_order": repair(&self.repair_of_one_order) })
    }
}
