//! The keys of a job's map output.

use super::Scenario;
use super::check::Check;
use super::hadoop::{Job, PlacementKind, WorkloadKind};
use super::key::section;

section! {
    /// Which keys the map output has. Hadoop's `HashPartitioner` then gives each its reducer, so that the reducers' shares
    /// follow from the keys and from how many reducers there are. With `hdfs.placement.kind = "by-key"` the planner of
    /// `trunkline kat plan` puts each reducer's keys on a node, and splits heavy keys if the job has a combiner; each node
    /// has as much of the input as stands there.
    pub struct JobKeys {
        /// Number of distinct keys.
        distinct: Option<u64> = None, 1..=1_000_000_000_000;
        /// Zipf exponent: the k-th key comes in proportion to k^-exponent; 0 for equal ones.
        exponent: f64 = 0.0, 0.0..=10.0;
        /// A plan that `trunkline kat plan -o` has written for MapReduce, its path relative to the scenario's: buckets and
        /// split keys have the weights that were counted there, and stand where it has them. Its buckets are as many as
        /// the job's reducers, or a multiple. Of the keys that it does not split a combiner needs to know how many they
        /// are: `distinct` and `exponent`, else `combine-keys` and `combine-exponent`.
        plan: String = String::new();
        /// Content of that file; filled in when the scenario is read.
        plan_text: String = String::new();
    }
}

impl Scenario {
    /// The plans that jobs name and the scenario does not hold yet: which job, and the path relative to the scenario's own
    /// file.
    pub fn plan_files(&self) -> Vec<(usize, String)> {
        let unread = |keys: &JobKeys| !keys.plan.is_empty() && keys.plan_text.is_empty();
        let of_jobs = self.job.iter().enumerate().filter_map(|(number, job)| Some((number, job.keys.as_ref()?)));
        of_jobs.filter(|(_, keys)| unread(keys)).map(|(number, keys)| (number, keys.plan.clone())).collect()
    }

    /// Takes in the text of a job's plan. What is wrong with it is said before the run.
    pub fn take_plan(&mut self, job: usize, text: &str) {
        if let Some(keys) = self.job.get_mut(job).and_then(|job| job.keys.as_mut()) {
            text.clone_into(&mut keys.plan_text);
        }
    }
}

/// Keys that contradict what else is said of the job.
pub(super) fn check(check: &mut Check<'_>, path: &str, job: &Job) {
    let Some(keys) = &job.keys else { return };
    let has_law = keys.distinct.is_some();
    if !has_law && (keys.plan.is_empty() || keys.exponent > 0.0) {
        check.says(&format!("{path}.keys"), "it does not say how many keys there are", "`distinct = 100000`, say");
    }
    let at = format!("{path}.keys.{}", if has_law { "distinct" } else { "plan" });
    let twice = [
        ("combine-keys", has_law && job.combine_keys.is_some(), "the combiner folds the keys of `keys`"),
        ("combine-exponent", has_law && job.combine_exponent.is_some(), "the combiner folds the keys of `keys`"),
        ("skew", job.skew > 0.0, "the reducers' shares follow from `keys`"),
        ("shares", !job.shares.is_empty(), "the reducers' shares follow from `keys`"),
    ];
    for (key, _, why) in twice.into_iter().filter(|(_, said, _)| *said) {
        check.says(&format!("{path}.{key}"), why, format!("leave `{key}` out, or `keys`"));
    }
    match job.workload {
        WorkloadKind::Terasort => {
            let message = "terasort's partitioner cuts the keys into ranges of equal weight, and hashes none";
            check.says(&at, message, "leave `keys` out, or `workload = \"sort\"`");
        }
        WorkloadKind::Teragen | WorkloadKind::DfsioRead | WorkloadKind::DfsioWrite => {
            let message = format!("the maps of {} have no output with keys", job.workload.word());
            check.says(&at, message, "leave `keys` out");
        }
        _ => {}
    }
    let by_key = check.scenario.hdfs.placement.kind == PlacementKind::ByKey;
    if by_key && !job.splits.is_empty() && job.split_hosts.is_empty() {
        let message = "the splits are given one by one, and placement by key makes its own";
        check.says(&format!("{path}.splits"), message, "`input`, in place of `splits`");
    }
}

/// Keys that can be had, but will not do what their writer may expect.
pub(super) fn warn(check: &mut Check<'_>, path: &str, job: &Job) {
    let Some(keys) = &job.keys else { return };
    let settings = &check.scenario.mapreduce;
    let reducers = match (job.reducers, settings.bytes_per_reducer) {
        (Some(reducers), _) => reducers,
        (None, None) => settings.reducers,
        (None, Some(_)) => return,
    };
    let at = format!("{path}.keys.{}", if keys.plan.is_empty() { "distinct" } else { "plan" });
    let workers = check.scenario.cluster.workers;
    if reducers == 0 {
        check.says(&at, "it has no effect: no reducer takes a key", "`reducers` above 0, or leave `keys` out");
    } else if let Some(distinct) = keys.distinct.filter(|distinct| *distinct < u64::from(reducers)) {
        let message = format!("{distinct} keys leave some of {reducers} reducers without any");
        check.says(&at, message, "fewer `reducers`");
    } else if keys.plan.is_empty() && reducers < workers && check.scenario.hdfs.placement.kind == PlacementKind::ByKey {
        let message = format!("the keys of a reducer stand on one node, and {reducers} nodes are not all of {workers}");
        check.says(&at, message, "several `reducers` for each worker");
    }
    let combines = job.combiner.unwrap_or(matches!(job.workload, WorkloadKind::Wordcount | WorkloadKind::Grep));
    if !keys.plan.is_empty() && keys.distinct.is_some() && !combines {
        let message = "it has no effect: a plan has the weights of its buckets, and no combiner folds keys";
        check.says(&format!("{path}.keys.distinct"), message, "leave it out");
    }
}
