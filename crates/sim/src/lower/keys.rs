//! The keys of a job's map output: crate `placement` hashes them to reducers, as the engine does, and plans where they
//! stand; the job then has the reducers' shares, and each node's part of the input.

use super::hadoop::{job_spec, keyed, mapreduce};
use hadoop::NodeId;
use hadoop::mapreduce::{KeyFile, KeyHome, KeyLayout, joined_splits, records_at_once};
use hadoop::workload::{KeyGroups, Workload, met};
use placement::{Bucketing, Engine, KeyClass, KeyClasses, KeyLaw, KeyType, Node, Part, Plan};
use scenario::{Check, Job, JobKeys, Scenario};
use std::collections::BTreeMap;
use units::Bytes;

/// What keys say of a job.
pub(super) struct Keys {
    /// The reducers' shares of a map's output where any map has any key, in any unit.
    pub shares: Vec<f64>,
    /// Where they stand, if they are placed by key.
    pub layout: Option<KeyLayout>,
}

/// The weight of all keys in a plan.
const WHOLE: u64 = 1 << 50;

/// The keys of a job whose scenario says them.
pub(super) fn keys(
    scenario: &Scenario,
    job: &Job,
    workload: &Workload,
    files: &[Bytes],
    reducers: u32,
) -> Option<Keys> {
    let said = job.keys.as_ref().filter(|_| reducers > 0)?;
    let merges = workload.combiner.is_some();
    let part = keyed(scenario, job).map(|keyed| keyed.at_home);
    let (crowd, places) = if said.plan.is_empty() {
        by_law(scenario, KeyLaw::new(said.distinct?, said.exponent), reducers, merges, part.is_some())?
    } else {
        let plan = kept(scenario, said, reducers).ok()?;
        (crowd_of(&plan, workload, reducers), Some(Places::of(&plan, reducers, |number| Some(u64::from(number) + 1))))
    };
    // A combiner leaves a record of each key that a spill has: reducers' shares are by different keys.
    let config = merges.then(|| mapreduce(scenario));
    let records = |input| config.as_ref().map(|config| records_at_once(config, workload, input) as f64);
    let block = scenario.hdfs.block;
    let layout = part.zip(places).map(|(part, places)| {
        let shelf = Shelf { input: files.iter().copied().sum(), block, records: &records };
        layout(&crowd, &places, part, &shelf)
    });
    let longest = files.iter().copied().max().unwrap_or_default();
    Some(Keys { shares: crowd.shares(records(block.min(longest))), layout })
}

/// Keys by a law, and where the planner puts them if they are placed. Heavy keys are split if their partial results can
/// be merged, which a combiner can.
fn by_law(
    scenario: &Scenario,
    law: KeyLaw,
    reducers: u32,
    merges: bool,
    placed: bool,
) -> Option<(Crowd, Option<Places>)> {
    let bucketing = Bucketing::new(Engine::MapReduce, None, KeyType::Text, reducers).ok()?;
    let classes = law.classes(bucketing);
    let places = placed.then(|| {
        let nodes = scenario.nodes().into_iter().skip(1);
        let nodes = nodes.map(|node| Node { rack: format!("rack-{}", node.rack), ..Node::named(node.name) }).collect();
        let in_whole = |part: &f64| units::whole((part * WHOLE as f64).round());
        let weights: Vec<u64> = classes.weights(reducers).iter().map(in_whole).collect();
        let heavy = if merges { law.heaviest(WHOLE) } else { Vec::new() };
        let rank_of: BTreeMap<&[u8], u64> = heavy.iter().map(|key| key.key.as_slice()).zip(1..).collect();
        let copies = scenario.hdfs.replication as usize;
        let plan = Plan::place(bucketing, nodes, copies, &weights, &heavy).ok()?.plan;
        Some(Places::of(&plan, reducers, |number| rank_of.get(plan.split()[number as usize].key.as_slice()).copied()))
    });
    let KeyClasses { head, tail } = classes;
    let spread = vec![1.0 / f64::from(reducers); reducers as usize];
    Some((Crowd { head, tail, spread, reducers: reducers as usize }, places.flatten()))
}

/// Says which plan of a job is none, or not for the job's cluster.
///
/// # Errors
///
/// Which plan, what is wrong with it, and what would be right.
pub fn check_plans(scenario: &Scenario) -> Result<(), String> {
    scenario.job.iter().try_for_each(|job| wrong_plan(scenario, job).map_or(Ok(()), Err))
}

/// As [`check_plans`], of plans that have been read: where a scenario is changed that holds them.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    for (number, job) in scenario.job.iter().enumerate() {
        if job.keys.as_ref().is_some_and(|keys| !keys.plan_text.is_empty())
            && let Some(what) = wrong_plan(scenario, job)
        {
            check.says(&format!("job.{number}.keys.plan"), what, "a plan for this job and these workers");
        }
    }
}

/// What is wrong with the plan that a job names, if anything is.
fn wrong_plan(scenario: &Scenario, job: &Job) -> Option<String> {
    let keys = job.keys.as_ref().filter(|keys| !keys.plan.is_empty())?;
    let reducers = job_spec(scenario, job).reducers;
    let what = kept(scenario, keys, reducers).err().filter(|_| reducers > 0)?;
    Some(format!("job.keys.plan, {}: {what}", keys.plan))
}

/// The plan that a job names, on the scenario's workers.
fn kept(scenario: &Scenario, keys: &JobKeys, reducers: u32) -> Result<Plan, String> {
    let none = |what: String| format!("it is no plan of `trunkline kat plan`: {what}");
    let value = serde_json::from_str(&keys.plan_text).map_err(|error| none(error.to_string()))?;
    let (engine, plan) = Plan::of_json(&value).map_err(none)?;
    if engine != Engine::MapReduce {
        return Err(format!("it is a plan for {engine}, and MapReduce hashes otherwise; `--engine mapreduce`"));
    }
    let buckets = plan.bucketing().buckets();
    if !buckets.is_multiple_of(reducers) {
        return Err(format!("its {buckets} buckets are no multiple of {reducers} reducers; `--buckets {reducers}`"));
    }
    if plan.parts().iter().all(|part| part.bytes == 0) {
        return Err("its buckets have no bytes".to_owned());
    }
    let workers: Vec<String> = scenario.nodes().into_iter().skip(1).map(|node| node.name).collect();
    let by_name = |node: &Node| workers.iter().position(|worker| *worker == node.name);
    let places: Option<Vec<usize>> = plan.nodes().iter().map(by_name).collect();
    // Names of another cluster stand for the workers in their order.
    let places = places.or_else(|| (plan.nodes().len() == workers.len()).then(|| (0..workers.len()).collect()));
    let Some(places) = places else {
        let nodes = plan.nodes().len();
        let help = format!("a plan for worker-1 to worker-{0}, or for {0} nodes of any names", workers.len());
        return Err(format!("it is for {nodes} nodes, not all of which are among {} workers; {help}", workers.len()));
    };
    let moved = |part: &Part| {
        let group = part.group.iter().filter_map(|node| places.get(*node as usize)).map(|place| units::count(*place));
        Part { group: group.collect(), ..part.clone() }
    };
    let parts = plan.parts().iter().map(moved).collect();
    let nodes = workers.into_iter().map(Node::named).collect();
    Ok(Plan::of_parts(plan.bucketing(), nodes, plan.replicas(), plan.split().to_vec(), parts))
}

/// The keys that a plan knows: those that it splits one by one, the others by their buckets' bytes.
fn crowd_of(plan: &Plan, workload: &Workload, reducers: u32) -> Crowd {
    let whole: f64 = plan.parts().iter().map(|part| part.bytes as f64).sum();
    let head: Vec<KeyClass> = (1..)
        .zip(plan.split())
        .map(|(rank, key)| KeyClass { rank, bucket: key.bucket, keys: 1, weight: key.bytes as f64 / whole })
        .collect();
    let light = plan.parts().iter().filter(|part| part.of_key.is_none());
    let light: Vec<f64> = light.map(|part| part.bytes as f64 / whole).collect();
    let sum: f64 = light.iter().sum();
    let spread: Vec<f64> = light.iter().map(|weight| if sum > 0.0 { weight / sum } else { 0.0 }).collect();
    // Which keys they are matters to a combiner alone: as many as it folds, behind those that are split.
    let keys = workload.combiner.as_ref().map(|combiner| &combiner.keys);
    let behind = keys.map(|keys| KeyLaw::new(keys.distinct(), keys.exponent()).behind(plan.split().len() as u64));
    let buckets = light.len() as f64;
    let behind = behind.filter(|keys| !keys.is_empty()).unwrap_or_else(|| vec![(buckets, 1.0 / buckets)]);
    let tail = behind.into_iter().map(|(keys, weight)| (keys, weight * sum)).collect();
    Crowd { head, tail, spread, reducers: reducers as usize }
}

/// All keys of a job.
struct Crowd {
    /// Those whose bucket is known, by rank.
    head: Vec<KeyClass>,
    /// The others: how many, and the weight of each.
    tail: Vec<(f64, f64)>,
    /// Each bucket's part of the others.
    spread: Vec<f64>,
    /// A reducer has the buckets that have its number as their remainder by this.
    reducers: usize,
}

impl Crowd {
    /// The reducers' shares: of all records, or of the different keys among so many.
    fn shares(&self, records: Option<f64>) -> Vec<f64> {
        let counted = |weight: f64| records.map_or(weight, |records| met(weight, records));
        let mut shares = vec![0.0; self.reducers];
        let tail: f64 = self.tail.iter().map(|(keys, weight)| keys * counted(*weight)).sum();
        for (bucket, part) in self.spread.iter().enumerate() {
            shares[bucket % self.reducers] += part * tail;
        }
        for class in &self.head {
            shares[class.bucket as usize % self.reducers] += class.keys as f64 * counted(class.weight);
        }
        shares
    }
}

/// Where keys stand, by the places of nodes in their list.
struct Places {
    /// The light keys of each bucket.
    of_bucket: Vec<usize>,
    /// Of each split key, by its rank: which part of it is on which node.
    of_split: BTreeMap<u64, Vec<(usize, f64)>>,
    /// The nodes of the copies of each bucket.
    copies: Vec<Vec<NodeId>>,
    /// Those of each part of a split key, with the key's rank and the part's share of the key.
    of_parts: Vec<(u64, f64, Vec<NodeId>)>,
    /// Of each reducer.
    of_reducer: Vec<u32>,
    nodes: usize,
}

impl Places {
    /// Of a plan. `rank`: that of a split key, by its place among these.
    fn of(plan: &Plan, reducers: u32, rank: impl Fn(u32) -> Option<u64>) -> Self {
        let first = |part: &Part| part.group.first().copied().unwrap_or(0) as usize;
        let light = plan.parts().iter().filter(|part| part.of_key.is_none());
        let copies = |part: &Part| part.group.iter().map(|node| NodeId(1 + node)).collect::<Vec<_>>();
        let mut of_split: BTreeMap<u64, Vec<(usize, f64)>> = BTreeMap::new();
        let mut of_parts = Vec::new();
        for part in plan.parts() {
            let Some((number, _)) = part.of_key else { continue };
            let Some(rank) = rank(number) else { continue };
            let share = part.bytes as f64 / plan.split()[number as usize].bytes.max(1) as f64;
            of_parts.push((rank, share, copies(part)));
            let nodes = of_split.entry(rank).or_default();
            match nodes.iter_mut().find(|(node, _)| *node == first(part)) {
                Some((_, sum)) => *sum += share,
                None => nodes.push((first(part), share)),
            }
        }
        Self {
            of_bucket: light.clone().map(first).collect(),
            copies: light.map(copies).collect(),
            of_split,
            of_parts,
            of_reducer: plan.reducers(reducers),
            nodes: plan.nodes().len(),
        }
    }
}

/// What stands on a node.
#[derive(Clone, Default)]
struct Standing {
    /// The part of all records.
    input: f64,
    /// The files that they stand in.
    files: Vec<KeyFile>,
    /// The buckets whose light keys are here, and their parts of the keys whose bucket is not known one by one.
    buckets: Vec<(usize, f64)>,
    /// Keys whose bucket is known: rank, bucket, how many, and the part of all records that each has here.
    head: Vec<(u64, usize, f64, f64)>,
}

/// The input that is cut into blocks.
struct Shelf<'a> {
    input: Bytes,
    block: Bytes,
    /// How many records the combiner has before it at a time, of a map of so much input; none without a combiner.
    records: &'a dyn Fn(Bytes) -> Option<f64>,
}

/// Where the keys stand, and what each node's maps make of them. `part`: the part of a map's output whose keys belong
/// to its node.
fn layout(crowd: &Crowd, places: &Places, part: f64, shelf: &Shelf) -> KeyLayout {
    let mut nodes = vec![Standing::default(); places.nodes];
    let tail: f64 = crowd.tail.iter().map(|(keys, weight)| keys * weight).sum();
    let mut of_buckets: Vec<f64> = crowd.spread.iter().map(|spread| spread * tail).collect();
    let mut of_keys = BTreeMap::new();
    for (bucket, (home, spread)) in places.of_bucket.iter().zip(&crowd.spread).enumerate() {
        nodes[*home].buckets.push((bucket, *spread));
        nodes[*home].input += spread * tail;
    }
    for KeyClass { rank, bucket, keys, weight } in &crowd.head {
        let bucket = *bucket as usize;
        if places.of_split.contains_key(rank) {
            of_keys.insert(*rank, *weight);
        } else {
            of_buckets[bucket] += *keys as f64 * weight;
        }
        let whole = [(places.of_bucket[bucket], 1.0)];
        for (home, share) in places.of_split.get(rank).map_or(&whole[..], Vec::as_slice) {
            let each = weight * share;
            nodes[*home].input += *keys as f64 * each;
            nodes[*home].head.push((*rank, bucket, *keys as f64, each));
        }
    }
    for ((home, copies), input) in places.of_bucket.iter().zip(&places.copies).zip(of_buckets) {
        nodes[*home].files.push(KeyFile { input, nodes: copies.clone() });
    }
    for (rank, share, copies) in &places.of_parts {
        let input = of_keys.get(rank).copied().unwrap_or(0.0) * share;
        let home = copies.first().map_or(0, |node| node.0 as usize - 1);
        nodes[home].files.push(KeyFile { input, nodes: copies.clone() });
    }
    KeyLayout {
        homes: nodes.iter().map(|node| node.home(crowd, part, shelf)).collect(),
        of_reducer: places.of_reducer.iter().map(|home| NodeId(1 + home)).collect(),
    }
}

impl Standing {
    fn home(&self, crowd: &Crowd, part: f64, shelf: &Shelf) -> KeyHome {
        let bytes = shelf.input.mul_f64(self.input);
        let split = bytes / joined_splits(bytes, shelf.block).max(1);
        let shares = self.shares(crowd, part, (shelf.records)(split));
        KeyHome { files: self.files.clone(), shares, keys: self.groups(crowd) }
    }

    /// The reducers' shares of a map's output. `part`: as in [`layout`]; the rest has any key. `records`: those that
    /// the combiner has before it at a time.
    fn shares(&self, crowd: &Crowd, part: f64, records: Option<f64>) -> Vec<f64> {
        let mut shares = match records {
            Some(records) => crowd.shares(Some(records * (1.0 - part))),
            None => crowd.shares(None).into_iter().map(|share| share * (1.0 - part)).collect(),
        };
        if self.input <= 0.0 {
            return shares;
        }
        let counted = |weight: f64| {
            let chance = weight / self.input;
            records.map_or(chance * part, |records| met(chance, records * part))
        };
        for (_, bucket, keys, weight) in &self.head {
            shares[bucket % crowd.reducers] += keys * counted(*weight);
        }
        let others: f64 = crowd.tail.iter().map(|(keys, weight)| keys * counted(*weight)).sum();
        for (bucket, spread) in &self.buckets {
            shares[bucket % crowd.reducers] += spread * others;
        }
        shares
    }

    /// How many keys there are, and how often each comes.
    fn groups(&self, crowd: &Crowd) -> KeyGroups {
        let input = self.input.max(f64::MIN_POSITIVE);
        let mut groups: Vec<(u64, f64, f64)> = Vec::new();
        for (rank, _, keys, weight) in &self.head {
            match groups.last_mut() {
                Some((last, sum, _)) if last == rank => *sum += keys,
                _ => groups.push((*rank, *keys, weight / input)),
            }
        }
        let here: f64 = self.buckets.iter().map(|(_, spread)| spread).sum();
        let others = crowd.tail.iter().map(|(keys, weight)| (keys * here, weight / input));
        KeyGroups::new(groups.into_iter().map(|(_, keys, chance)| (keys, chance)).chain(others))
    }
}
