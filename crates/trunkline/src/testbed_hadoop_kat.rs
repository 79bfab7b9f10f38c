//! `trunkline testbed hadoop run --kat`: a word count twice, over the same words. Once as they are, once laid out by key
//! and with tasks where these stand.

use crate::emit;
use crate::failure::Failure;
use crate::kat::{Cluster, Placed, Wanted, load_into, verify_folder};
use crate::screen::Screen;
use crate::table::Table;
use crate::testbed_hadoop::running;
use crate::testbed_hadoop_args::Run;
use crate::testbed_hadoop_run::{Outcome, one};
use ::kat::Kept;
use placement::{Bucketing, Engine, KeyRule, KeyType, Layout, Node, Plan, Profile, Records, ScanError};
use runs::Error;
use scenario::{PlacementKind, Scenario};
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use testbed::hadoop::{Input, Job, Kind, Running, Text, locality};
use units::{Bytes, Time};

/// How long tasks wait for their nodes. On a machine whose nodes share a few processors maps take long.
const FALLBACK: Time = Time::from_secs(60);
/// Files that are written at a time.
const OPEN: usize = 128;
/// Seconds that a file's blocks have to get their replicas.
const PATIENCE: u32 = 120;

/// Runs the job twice, and says one beside the other.
pub fn run(args: &Run, job: Job, cluster: &Running, scenario: &Scenario, target: &Path) -> Result<(), Failure> {
    if !matches!(job.kind, Kind::WordCount { .. }) {
        return Err(Failure::Input(format!(
            "--kat lays out words, which {} does not count: wordcount and wordcount-nocombine do",
            job.name()
        )));
    }
    let say = |what: &str| {
        if !args.quiet {
            eprintln!("{what}");
        }
    };
    let stock = one(args, &job, cluster, scenario.clone(), None, &target.join("stock"))?;
    let reducers = job.reducers.unwrap_or(scenario.mapreduce.reducers);
    let (placed, text) = plan(&job, cluster, scenario, reducers)?;
    let folder = format!("/trunkline/kat/words-{}-{reducers}", job.input.get());
    let from = format!("hdfs://master:8020{}", job.text_path());
    let client = Cluster::Testbed(Box::new(running(&args.name)?.1));
    let wanted = Wanted { files: &[from], to: &folder, limit: None, open: OPEN, patience: PATIENCE, quiet: args.quiet };
    say("laying the words out by key");
    load_into(&placed, &client, &wanted)?;
    let verdict = verify_folder(&placed, &client, &folder, args.quiet)?;
    if !verdict.wrong.is_empty() {
        return Err(Failure::RealJob(format!("the words are not laid out rightly: {}", verdict.wrong.join("; "))));
    }
    let mut of_layout = job;
    of_layout.text = Input::Placed(folder);
    of_layout.reducers = Some(reducers);
    of_layout.properties.extend(locality(scenario, FALLBACK));
    let mut by_key = scenario.clone();
    by_key.hdfs.placement.kind = PlacementKind::ByKey;
    by_key.hdfs.placement.patience = FALLBACK;
    let placed = one(args, &of_layout, cluster, by_key, Some(&text), &target.join("placed"))?;
    let text = format!("{:#}\n", json!({ "schema": 1, "stock": stock.json(), "placed": placed.json() }));
    let file = target.join("kat.json");
    fs::write(&file, &text).map_err(|error| Error::writing(&file, &error))?;
    if args.json { emit(&text) } else { emit(&summary(&stock, &placed, target)) }
}

/// The plan of a job's words, and its file's text: as many buckets as reducers, and no key split. Without a combiner each word of a part
/// would travel; with one each part would be a map of its own, which a few megabytes a node are too small for.
fn plan(job: &Job, cluster: &Running, scenario: &Scenario, reducers: u32) -> Result<(Placed, String), Failure> {
    let nodes: Vec<Node> = cluster.hosts().iter().skip(1).map(|host| Node::named(host.name())).collect();
    let bucketing = Bucketing::new(Engine::MapReduce, None, KeyType::Text, reducers)
        .map_err(|error| Failure::Input(error.to_string()))?;
    let mut scan =
        Scan { records: Records::new(), profile: Profile::new(KeyRule::Line, bucketing, Layout::Whole, None) };
    Text::of_words(job.input.get()).write(&mut scan).map_err(|error| Failure::Internal(error.to_string()))?;
    let replicas = (scenario.hdfs.replication as usize).min(nodes.len());
    let planned = Plan::place(bucketing, nodes, replicas, &scan.profile.weights, &[])
        .map_err(|error| Failure::Input(error.to_string()))?;
    let (rule, engine, layout) = (KeyRule::Line, Engine::MapReduce, Layout::Whole);
    Placed::made(Kept { rule, engine, layout, value: None, plan: planned.plan })
}

/// Text that is written, taken as records.
struct Scan {
    records: Records,
    profile: Profile<KeyRule>,
}

impl Write for Scan {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { records, profile } = self;
        let fed: Result<(), ScanError> = records.feed(bytes, |record, length| profile.record(record, length));
        fed.map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Outcome {
    fn json(&self) -> serde_json::Value {
        json!({
            "launch_to_finish_s": self.seconds,
            "into_workers_bytes": self.into_workers,
            "others_cpu_s": self.others_s,
            "predicted": self.predicted.as_ref().map(|predicted| json!({
                "launch_to_finish_s": predicted.seconds, "into_workers_bytes": predicted.into_workers,
            })),
        })
    }
}

fn summary(stock: &Outcome, placed: &Outcome, target: &Path) -> String {
    let screen = Screen::of_output();
    let mut table = Table::new(["", "stock", "by key", "change"]);
    let change = |before: f64, after: f64| {
        if before > 0.0 { format!("{:+.1} %", 100.0 * (after / before - 1.0)) } else { String::new() }
    };
    let mut row = |name: &str, values: [Option<f64>; 2], shown: fn(f64) -> String| {
        if let [Some(before), Some(after)] = values {
            table.row([name.to_owned(), shown(before), shown(after), change(before, after)]);
        }
    };
    let bytes: fn(f64) -> String = |value| format!("{:.1}", Bytes::new(value as u64));
    let seconds: fn(f64) -> String = |value| format!("{value:.1} s");
    let both = [stock, placed];
    row("bytes into workers", both.map(|of| Some(of.into_workers as f64)), bytes);
    let predicted = both.map(|of| of.predicted.as_ref());
    row("  simulated", predicted.map(|of| of.map(|of| of.into_workers as f64)), bytes);
    row("launch to finish", both.map(|of| Some(of.seconds)), seconds);
    row("  simulated", predicted.map(|of| of.map(|of| of.seconds)), seconds);
    row("processors, by others", both.map(|of| Some(of.others_s)), seconds);
    format!("\n{}both outputs are the counts of the same words; results: {}\n", table.shown(&screen), target.display())
}
