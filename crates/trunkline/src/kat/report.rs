//! What a plan has found, as text and as JSON.

use super::{Found, Verdict};
use crate::screen::Screen;
use crate::table::Table;
use placement::best_host_share;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Split keys that a text lists.
const LISTED: usize = 8;
/// Blocks of a bucket for which the scan without placement is told.
const BUCKET_BLOCKS: u32 = 16;

/// Files for a message.
pub fn names(files: &[PathBuf]) -> String {
    let name = |path: &Path| {
        if path.as_os_str() == runs::STANDARD_INPUT { "standard input".to_owned() } else { path.display().to_string() }
    };
    match files {
        [one] => name(one),
        [first, ..] => format!("{} and {} more", name(first), files.len() - 1),
        [] => "nothing".to_owned(),
    }
}

/// Bytes with three digits.
pub fn bytes(bytes: f64) -> String {
    for (unit, size) in [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)] {
        if bytes >= size {
            let value = bytes / size;
            let digits = if value >= 100.0 {
                0
            } else if value >= 10.0 {
                1
            } else {
                2
            };
            return format!("{value:.digits$} {unit}");
        }
    }
    format!("{bytes:.0} B")
}

/// The text for a terminal.
pub fn text(found: &Found<'_>, screen: &Screen) -> String {
    let (args, profile, plan, saving) = (found.args, &found.profile, &found.planned.plan, &found.saving);
    let nodes = plan.nodes().len();
    let mut text = screen.heading(&names(&args.files));
    text.push('\n');
    let mut line = |sentence: &str| {
        text.push_str(&screen.wrapped(sentence, 2));
        text.push('\n');
    };
    let read =
        if found.factor > 1.0 { format!(", of which {:.2} % were read", 100.0 / found.factor) } else { String::new() };
    let records = profile.records as f64 * found.factor;
    line(&format!("{}, {} records{read}", bytes(found.scanned.bytes as f64), count(records)));
    let distinct = profile.distinct();
    let seen = if found.factor > 1.0 { " in what was read" } else { "" };
    line(&format!(
        "key {} ({}): about {} different{seen}, {} per record (at most {}){}",
        found.rule,
        args.key_type,
        count(distinct),
        keys(profile.keys_per_record()),
        profile.most_keys,
        unkeyed(profile.unkeyed, profile.records),
    ));
    line(&format!(
        "{} buckets by {} of {}, on {nodes} nodes with {} copies",
        plan.bucketing().buckets(),
        plan.bucketing().hash(),
        found.engine,
        plan.parts().first().map_or(0, |part| part.group.len()),
    ));
    text.push('\n');
    let mut table = Table::new(["each run", "native", "by key"]).indented(2);
    table.row(["bytes between nodes in the shuffle".to_owned(), bytes(saving.native), bytes(saving.placed)]);
    table.row([
        "fullest node, of the mean".to_owned(),
        format!("{:.2}", found.by_hash),
        format!("{:.2}", found.planned.imbalance),
    ]);
    let local = best_host_share(BUCKET_BLOCKS, args.replicas, nodes as u32);
    table.row([
        format!("a bucket of {BUCKET_BLOCKS} blocks read on one node"),
        format!("{:.0} %", local * 100.0),
        "100 %".to_owned(),
    ]);
    if let Some(pairs) = &found.pairs {
        table.row([
            "pairs after a combiner, in what was read".to_owned(),
            count(pairs.native as f64),
            count(if args.layout == "whole" { pairs.first } else { pairs.split } as f64),
        ]);
    }
    text.push_str(&table.shown(screen));
    text.push('\n');
    let mut line = |sentence: &str| {
        text.push_str(&screen.wrapped(sentence, 2));
        text.push('\n');
    };
    line(&format!(
        "saved each run: {} of {} ({:.1} %); the import sends {} more than a native one",
        bytes(saving.saved()),
        bytes(saving.native),
        saving.share() * 100.0,
        bytes(saving.import)
    ));
    if let Some(previous) = &args.previous {
        let copies: f64 = plan.parts().iter().map(|part| part.bytes as f64 * part.group.len() as f64).sum();
        let moved = found.planned.moved as f64;
        line(&format!(
            "since {}: {:.2} % of all copies move (1/N is {:.2} %)",
            previous.display(),
            100.0 * moved / copies.max(1.0),
            100.0 / nodes as f64
        ));
    }
    line(&split(found));
    match &found.verdict {
        Verdict::Pays(runs) => {
            let runs =
                if *runs <= 1 { "after one run".to_owned() } else { format!("after {} runs", count(*runs as f64)) };
            text.push_str(&screen.wrapped_after("it pays", Screen::good, &format!(" {runs}"), 2));
        }
        Verdict::No(why) => {
            text.push_str(&screen.wrapped_after("does not pay", Screen::doubtful, &format!(": {why}"), 2));
        }
    }
    text.push('\n');
    text
}

fn split(found: &Found<'_>) -> String {
    let plan = &found.planned.plan;
    if plan.split().is_empty() {
        return "no key is too heavy for a node".to_owned();
    }
    let whole = plan.loads().iter().sum::<u64>().max(1) as f64;
    let mut text = format!("{} split, their partial results merged:", plural(plan.split().len(), "key is", "keys are"));
    for key in plan.split().iter().take(LISTED) {
        let name = String::from_utf8_lossy(&key.key);
        let _ = write!(text, " {} ({:.1} %, {} parts)", shortened(&name), key.bytes as f64 / whole * 100.0, key.parts);
    }
    if plan.split().len() > LISTED {
        let _ = write!(text, " and {} more", plan.split().len() - LISTED);
    }
    text
}

fn plural(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

fn shortened(name: &str) -> String {
    const LONGEST: usize = 24;
    let clean: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if clean.chars().count() <= LONGEST { clean } else { clean.chars().take(LONGEST - 3).collect::<String>() + "..." }
}

fn keys(keys: f64) -> String {
    if (keys - 1.0).abs() < 5e-4 { "1".to_owned() } else { format!("{keys:.2}") }
}

fn unkeyed(unkeyed: u64, records: u64) -> String {
    if unkeyed == 0 {
        String::new()
    } else {
        format!("; {:.2} % of the records have none and stand anywhere", unkeyed as f64 / records.max(1) as f64 * 100.0)
    }
}

/// A number with its thousands apart.
fn count(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The figures as JSON, one object with fields of the same meaning whatever was found.
pub fn json(found: &Found<'_>) -> String {
    let (profile, plan, saving) = (&found.profile, &found.planned.plan, &found.saving);
    let (pays, why) = match &found.verdict {
        Verdict::Pays(_) => (true, Value::Null),
        Verdict::No(why) => (false, json!(why)),
    };
    let split = plan.split().iter().map(|key| {
        json!({ "key": String::from_utf8_lossy(&key.key), "bucket": key.bucket,
                "bytes": (key.bytes as f64 * found.factor) as u64, "parts": key.parts })
    });
    let pairs = found.pairs.as_ref().map(|pairs| {
        json!({ "native": pairs.native, "first_key": pairs.first, "rarest_key": pairs.rarest, "split": pairs.split })
    });
    let value = json!({
        "schema": 1,
        "files": found.args.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "bytes": found.scanned.bytes,
        "bytes_read": profile.bytes,
        "records_read": profile.records,
        "records_without_key": profile.unkeyed,
        "key": found.rule.to_string(),
        "key_type": found.args.key_type,
        "engine": found.engine.name(),
        "hash": plan.bucketing().hash().name(),
        "buckets": plan.bucketing().buckets(),
        "nodes": plan.nodes().len(),
        "replicas": plan.replicas(),
        "layout": found.args.layout,
        "keys_distinct_read": profile.distinct().round() as u64,
        "keys_per_record": profile.keys_per_record(),
        "keys_per_record_most": profile.most_keys,
        "exchange_bytes": (profile.exchange as f64 * found.factor) as u64,
        "remote_bytes_native": saving.native as u64,
        "remote_bytes_by_key": saving.placed as u64,
        "saved_bytes": saving.saved() as u64,
        "saved_share": saving.share(),
        "import_bytes": saving.import as u64,
        "stored_bytes": (profile.stored as f64 * found.factor) as u64,
        "runs_to_break_even": saving.runs,
        "pays": pays,
        "why_not": why,
        "imbalance_by_hash": found.by_hash,
        "imbalance": found.planned.imbalance,
        "moved_bytes": found.args.previous.as_ref().map(|_| (found.planned.moved as f64 * found.factor) as u64),
        "pairs_read": pairs,
        "split_keys": split.collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}
