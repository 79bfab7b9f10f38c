//! What imports of many jobs, or of traffic, have in common: the part of the trace that is taken, the cluster, what is
//! assumed, and the scenario's text.

use super::{Assumption, ImportError, Record, annotated};
use scenario::Scenario;
use std::collections::BTreeMap;
use std::fmt::Write;
use units::{Bytes, Quantity, Time};

/// The part of a trace that is taken, and the cluster on which it is to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent<'a> {
    /// Name and text of a scenario with the cluster's machines, network and settings. Its jobs and traffic are
    /// replaced.
    pub cluster: Option<(&'a str, &'a str)>,
    /// Workers of the cluster, in place of those of `cluster`.
    pub nodes: Option<u32>,
    /// Machines on which the trace was recorded. Bytes are scaled by the workers over these.
    pub recorded_nodes: Option<u32>,
    /// Where the part begins, in the trace's own time. It becomes the start of the run.
    pub from: Time,
    /// How long it is. Without it the part goes to the end of the trace.
    pub length: Option<Time>,
}

impl Extent<'_> {
    /// Whether a moment of the trace is in it.
    pub fn contains(&self, at: Time) -> bool {
        at >= self.from && self.length.is_none_or(|length| at < self.from.saturating_add(length))
    }

    /// Its bounds in words.
    pub(super) fn text(&self) -> String {
        match self.length {
            Some(length) => {
                let [from, to] = self.from.exact_ends(self.from.saturating_add(length));
                format!("from {from} to {to}")
            }
            None => format!("from {} on", self.from.exact()),
        }
    }
}

/// An imported trace: a scenario of many jobs, or of traffic.
#[derive(Clone, Debug)]
pub struct ImportedMany {
    /// The scenario.
    pub scenario: Scenario,
    /// What it is, in sentences.
    pub heading: Vec<String>,
    /// What the trace does not say.
    pub assumptions: Vec<Assumption>,
    /// The jobs on their masters' clocks, in the order of the scenario's, where recorded durations are their costs:
    /// their plans wait to be fitted. Empty where jobs have no plans.
    pub records: Vec<Record>,
    /// Source of a key's value, by the key's path.
    notes: BTreeMap<String, String>,
}

impl ImportedMany {
    /// What is written must run: a value out of range is reported here, not when the scenario runs.
    pub(super) fn new(
        scenario: Scenario,
        heading: Vec<String>,
        assumptions: Vec<Assumption>,
        notes: BTreeMap<String, String>,
    ) -> Result<Self, ImportError> {
        let mut imported = Self { scenario, heading, assumptions, records: Vec::new(), notes };
        let name = imported.scenario.name.clone();
        imported.scenario = Scenario::parse(&name, &imported.to_toml(), &[]).map_err(ImportError::Scenario)?;
        Ok(imported)
    }

    /// The scenario for a person to read.
    pub fn to_toml(&self) -> String {
        let mut heading = String::new();
        for sentence in &self.heading {
            let _ = writeln!(heading, "# {sentence}");
        }
        for Assumption { key, value, why } in &self.assumptions {
            let _ = writeln!(heading, "# Assumed: {key}: {value} ({why}).");
        }
        heading.push('\n');
        annotated(&heading, &self.scenario, &self.notes)
    }
}

/// A sum, or the greatest size.
pub(super) fn total(sizes: impl Iterator<Item = Bytes>) -> Bytes {
    Bytes::new(sizes.fold(0, |sum: u64, size| sum.saturating_add(size.get())))
}

/// The cluster on which a trace is to run, without jobs and traffic, and what is assumed of it.
pub(super) fn cluster_of(name: &str, extent: &Extent) -> Result<(Scenario, Vec<Assumption>), ImportError> {
    // A scenario needs something to run to be valid; it is replaced by the trace.
    let mut assignments = vec!["job=[{ workload = \"generic\" }]".to_owned(), "traffic=[]".to_owned()];
    let workers = extent.nodes.or(if extent.cluster.is_none() { extent.recorded_nodes } else { None });
    assignments.extend(workers.map(|workers| format!("cluster.workers={workers}")));
    if let (None, None) = (extent.cluster, workers) {
        return Err(ImportError::Nodes);
    }
    let (file, text) = extent.cluster.unwrap_or((name, ""));
    let mut scenario = Scenario::parse(file, text, &assignments).map_err(ImportError::Scenario)?;
    name.clone_into(&mut scenario.name);
    scenario.job.clear();
    let mut assumed = Vec::new();
    if extent.cluster.is_none() {
        let why = "not in the file: --cluster FILE names your own";
        let node = format!("{} cores, {}, preset epyc-vm", scenario.node.cores, scenario.node.memory.exact());
        assumed.push(Assumption::new("machines", node, why));
        let rate = format!("one switch, links of {}", scenario.network.rate.exact());
        assumed.push(Assumption::new("network", rate, why));
    }
    Ok((scenario, assumed))
}
