//! `trunkline kat`: placement by key on real files.

mod cluster;
mod history;
mod import_cost;
mod json;
mod load;
mod placed;
mod plan_file;
mod report;
mod scan;
mod second;
mod verify;

use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::{Kat, KatPlan};
use crate::screen::Screen;
use placement::{
    Bucketing, Engine, Exchange, Hash, KeyRule, KeyType, Layout, Node, PairCount, Plan, Planned, Profile, Saving,
    parse_nodes,
};
use records::Format;
use runs::{Error, Inputs, write_whole};
use scan::Sources;
use std::path::Path;

/// Buckets for each node where nobody says how many: enough that a node comes or goes with little moved.
const BUCKETS_A_NODE: usize = 64;
/// More than this part of the records without a key: the rule is not for these records.
const UNKEYED: f64 = 0.01;

#[cfg(feature = "testbed")]
pub use cluster::Cluster;
#[cfg(feature = "testbed")]
pub use load::{Wanted, load_into};
#[cfg(feature = "testbed")]
pub use placed::Placed;
#[cfg(feature = "testbed")]
pub use verify::verify_folder;

/// Runs a command of `kat`.
pub fn kat(command: &Kat) -> Result<(), Failure> {
    match command {
        Kat::Plan(args) if args.history.is_empty() => plan(args),
        Kat::Plan(args) => history::plan(args),
        Kat::Load(args) => load::load(args),
        Kat::Verify(args) => verify::verify(args),
    }
}

/// What a plan of files has found.
struct Found<'a> {
    args: &'a KatPlan,
    rule: &'a KeyRule,
    format: Format,
    engine: Engine,
    scanned: scan::Scanned,
    profile: Profile<KeyRule>,
    planned: Planned,
    /// Of all records over those that were read.
    factor: f64,
    saving: Saving,
    /// Load of the fullest node where keys are hashed to nodes, over the mean.
    by_hash: f64,
    /// Pairs after a combiner, where records have several keys.
    pairs: Option<PairCount>,
    verdict: Verdict,
    second: Option<second::SecondFile>,
}

/// Whether placement pays.
enum Verdict {
    /// After so many runs.
    Pays(u64),
    /// It does not, because of this.
    No(String),
}

fn plan(args: &KatPlan) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    if let Some(output) = &args.output {
        crate::import::writable(Some(output), args.force)?;
    }
    let nodes = nodes(&inputs, &args.nodes)?;
    let sources = Sources::open(&args.files, args.key.as_ref())?;
    let engine = engine(args)?;
    let bucketing = bucketing(args, engine, args.key_type.as_deref(), sources.of, nodes.len())?;
    let layout = layout(args);
    let previous = match &args.previous {
        None => None,
        Some(path) => Some(plan_file::Previous::open(path, &inputs.text(path)?)?),
    };
    let copies = args.replicas as usize - usize::from(args.second.is_some() && args.replicas > 1);
    let before = previous.as_ref().map(|previous| previous.first(bucketing, copies, args)).transpose()?;
    // Before anything is read: what cannot be had is told at once.
    let second = match &args.second {
        None => None,
        Some(rule) => Some(second::Second::open(args, rule, engine, nodes.len(), &sources, previous.as_ref())?),
    };
    let (rule, format) = (sources.rule.clone(), sources.format);
    let mut profile = Profile::new(rule.clone(), bucketing, layout, args.value);
    let scanned = sources.scan(args.sample, args.quiet, &mut profile)?;
    sensible(args, &rule, &profile, &scanned)?;
    let planned = match &before {
        Some(plan) => plan.on(nodes.clone()),
        None => Plan::place(bucketing, nodes.clone(), copies, &profile.weights, &profile.heaviest()),
    };
    let planned = planned.map_err(|error| Failure::Input(error.to_string()))?;
    let factor = scanned.bytes as f64 / profile.bytes.max(1) as f64;
    let saving = saving(args, &profile, &planned.plan, factor, copies);
    let count = planned.plan.nodes().len();
    let pairs = (profile.several > 0).then(|| profile.sample().count(count as u32));
    let verdict = judge(args, &profile, &saving, pairs.as_ref(), count);
    let by_hash = by_hash(&profile.weights, count);
    let second = second.map(|second| second.plan(args, nodes, &profile, factor)).transpose()?;
    let found = Found {
        args,
        rule: &rule,
        format,
        engine,
        scanned,
        profile,
        planned,
        factor,
        saving,
        by_hash,
        pairs,
        verdict,
        second,
    };
    if let Some(output) = &args.output {
        write_whole(output, plan_file::text(&found).as_bytes())?;
    }
    if args.json { emit(&json::text(&found)) } else { emit(&report::text(&found, &Screen::of_output())) }
}

/// What a layout saves a job that reduces the profile's keys.
fn saving(args: &KatPlan, profile: &Profile<KeyRule>, plan: &Plan, factor: f64, copies: usize) -> Saving {
    Saving::of(&Exchange {
        bytes: profile.exchange as f64 * factor,
        at_home: profile.at_home as f64 * factor,
        partials: plan.partials(),
        partial_bytes: profile.exchange as f64 / profile.pairs.max(1) as f64,
        stored: profile.stored as f64 * factor,
        replicas: copies,
        nodes: plan.nodes().len(),
        present: args.present,
    })
}

fn engine(args: &KatPlan) -> Result<Engine, Failure> {
    Engine::ALL
        .into_iter()
        .find(|engine| engine.name() == args.engine)
        .ok_or_else(|| Failure::Internal("a word that the command line let through".to_owned()))
}

fn layout(args: &KatPlan) -> Layout {
    match args.layout.as_str() {
        "split" => Layout::Split,
        "projected" => Layout::Projected,
        _ => Layout::Whole,
    }
}

/// The engine's buckets of keys of a type that is said, or of the one that they have in their files.
fn bucketing(
    args: &KatPlan,
    engine: Engine,
    said: Option<&str>,
    in_files: KeyType,
    nodes: usize,
) -> Result<Bucketing, Failure> {
    let hash = args.hash.as_ref().and_then(|name| Hash::ALL.into_iter().find(|hash| hash.name() == name));
    let said = said.and_then(|name| KeyType::ALL.into_iter().find(|of| of.name() == name));
    let buckets = args.buckets.unwrap_or((nodes * BUCKETS_A_NODE) as u32);
    Bucketing::new(engine, hash, said.unwrap_or(in_files), buckets).map_err(|error| {
        let hint = if said.is_none() && in_files != KeyType::Text { "; --type says another, as text" } else { "" };
        Failure::Input(format!("{error}{hint}"))
    })
}

/// Nodes from a number, from names, or from a file of names.
fn nodes(inputs: &Inputs, text: &str) -> Result<Vec<Node>, Failure> {
    let path = Path::new(text);
    let named = |error: placement::NodesError| Failure::Input(format!("--nodes {text}: {error}"));
    if text.parse::<u64>().is_err() && path.is_file() {
        return parse_nodes(&inputs.text(path)?).map_err(named);
    }
    parse_nodes(text).map_err(named)
}

/// Refuses what cannot be planned: no records, and a rule that is not for these records.
fn sensible(
    args: &KatPlan,
    rule: &KeyRule,
    profile: &Profile<KeyRule>,
    scanned: &scan::Scanned,
) -> Result<(), Failure> {
    let names = report::names(&args.files);
    if profile.records == 0 {
        let why = if scanned.bytes == 0 {
            "there are no bytes".to_owned()
        } else {
            format!("the sample of {} found none in {} bytes; a larger --sample does", scanned.sample, scanned.bytes)
        };
        return Err(Failure::Input(format!("{names} has no records to plan from: {why}")));
    }
    let keyless = profile.unkeyed as f64 / profile.records as f64;
    let record = profile.without_key.as_deref().unwrap_or_default();
    if profile.unkeyed == profile.records {
        let advice = match rule {
            KeyRule::Field(_) => {
                return Err(Failure::Input(format!(
                    "{names}: {rule} is null in every record: another column has keys"
                )));
            }
            _ if args.key.is_none() => {
                "no record has a tab, before which a key stands by default; --key says where it is"
            }
            _ => "it matches no record",
        };
        return Err(Failure::Input(format!("{names}: key {rule}: {advice}. The first record is\n  {record}")));
    }
    if args.key.is_none() && keyless > UNKEYED {
        let part = keyless * 100.0;
        return Err(Failure::Input(format!(
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
    args: &KatPlan,
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
    if args.layout == "whole" && keys > ONE {
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

/// A file that cannot be read.
fn reading(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Runs(Error::reading(path, error))
}
