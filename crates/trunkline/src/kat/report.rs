//! What a plan has found, as text.

use super::import_cost;
use crate::screen::Screen;
use crate::table::Table;
use ::kat::{Pending, Planned, SecondFile, Verdict, names};
use placement::{Layout, Profile, Repair};
use std::fmt::Write as _;

/// Split keys that a text lists.
const LISTED: usize = 8;

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
pub fn text(found: &Planned, screen: &Screen) -> String {
    let (asked, profile, plan, saving) = (&found.asked, &found.profile, &found.placed.plan, &found.saving);
    let nodes = plan.nodes().len();
    let mut text = screen.heading(&names(&asked.files));
    text.push('\n');
    let mut line = |sentence: &str| {
        text.push_str(&screen.wrapped(sentence, 2));
        text.push('\n');
    };
    let read =
        if found.factor > 1.0 { format!(", of which {:.2} % were read", 100.0 / found.factor) } else { String::new() };
    let records = profile.records as f64 * found.factor;
    line(&format!("{} of {}, {} records{read}", bytes(found.scanned.bytes as f64), found.format, count(records)));
    let distinct = profile.distinct();
    let seen = if found.factor > 1.0 { " in what was read" } else { "" };
    line(&format!(
        "key {} ({}): about {} different{seen}, {}{}",
        found.rule,
        plan.bucketing().key_type(),
        count(distinct),
        per_record(profile),
        unkeyed(profile.unkeyed, profile.records),
    ));
    line(&format!(
        "{} buckets by {} of {}, on {nodes} nodes with {} copies",
        plan.bucketing().buckets(),
        plan.bucketing().hash(),
        asked.engine,
        plan.parts().first().map_or(0, |part| part.group.len()),
    ));
    text.push('\n');
    let mut table = Table::new(["each run", "native", "by key"]).indented(2);
    let shuffled = format!("bytes between nodes in the shuffle{}", if asked.combiner { ", combined" } else { "" });
    table.row([shuffled, bytes(saving.native), bytes(saving.placed)]);
    table.row([
        "fullest node, of the mean".to_owned(),
        format!("{:.2}", found.by_hash),
        format!("{:.2}", found.placed.imbalance),
    ]);
    let [native, placed] = found.scan_bytes();
    table.row(["bytes between nodes in a scan by buckets".to_owned(), bytes(native), bytes(placed)]);
    if let Some(pairs) = &found.pairs {
        table.row([
            "pairs after a combiner, in what was read".to_owned(),
            count(pairs.native as f64),
            count(if asked.layout == Layout::Whole { pairs.first } else { pairs.split } as f64),
        ]);
    }
    text.push_str(&table.shown(screen));
    text.push('\n');
    let mut line = |sentence: &str| {
        text.push_str(&screen.wrapped(sentence, 2));
        text.push('\n');
    };
    let saved = if saving.saved() < 0.0 {
        format!("each run exchanges {} more than natively", bytes(-saving.saved()))
    } else {
        let (saved, share) = (bytes(saving.saved()), saving.share() * 100.0);
        format!("saved each run: {saved} of {} ({share:.1} %)", bytes(saving.native))
    };
    line(&format!("{saved}; the import sends {} more than a native one", bytes(saving.import)));
    if let Some(previous) = &asked.previous {
        let copies: f64 = plan.parts().iter().map(|part| part.bytes as f64 * part.group.len() as f64).sum();
        let moved = found.placed.moved as f64;
        line(&format!(
            "since {}: {:.2} % of all copies move (1/N is {:.2} %)",
            previous.display(),
            100.0 * moved / copies.max(1.0),
            100.0 / nodes as f64
        ));
    }
    line(&split(found));
    if let Some(pending) = found.modified() {
        line(&modifications(&pending));
    }
    if let Some(second) = &found.second {
        for sentence in of_second(second, asked.replicas) {
            line(&sentence);
        }
    }
    // Who would not import has no use for its cost.
    if matches!(found.verdict, Verdict::Pays(_)) {
        text.push('\n');
        text.push_str(&import_cost::table(found).shown(screen));
        text.push_str(&screen.wrapped(&import_cost::crossover(found), 2));
        text.push_str("\n\n");
    }
    if let Some(uneven) = &found.uneven {
        text.push_str(&screen.wrapped_after("warning", Screen::doubtful, &format!(": {}", uneven.why), 2));
        text.push('\n');
    }
    match &found.verdict {
        Verdict::Pays(runs) => {
            let runs =
                if *runs <= 1 { "after one run".to_owned() } else { format!("after {} runs", count(*runs as f64)) };
            let said = match found.uneven.as_ref().and_then(|uneven| uneven.maps_above) {
                None => format!(" {runs}"),
                Some(rate) => format!(
                    " {runs} in bytes between nodes; in time where a node's maps take more than {} a second: below \
                     that the fullest node's last longer by more than the network saves at {}",
                    bytes(rate),
                    asked.rate
                ),
            };
            let paint = if found.uneven.is_some() { Screen::doubtful } else { Screen::good };
            text.push_str(&screen.wrapped_after("it pays", paint, &said, 2));
        }
        Verdict::No(why) => {
            text.push_str(&screen.wrapped_after("does not pay", Screen::doubtful, &format!(": {why}"), 2));
        }
    }
    text.push('\n');
    text
}

/// What becomes of records that were modified since the earlier plan.
fn modifications(pending: &Pending) -> String {
    let text = format!(
        "{} modified records stand where they were written: a run exchanges {} for them",
        count(pending.records as f64),
        bytes(pending.exchanged)
    );
    if pending.is_due {
        format!("{text}. Redistribute them: {} between nodes", bytes(pending.moved))
    } else {
        format!("{text}. They wait until there are {}", count(pending.due_after as f64))
    }
}

/// What is said of a second file.
fn of_second(second: &SecondFile, replicas: u32) -> Vec<String> {
    let saving = format!(
        "a second file by {}, of {} copies {}: a run by that key saves {} of {} ({:.1} %), the fullest node \
         has {:.2} of the mean",
        second.rule,
        count(f64::from(replicas)),
        second.copies,
        bytes(second.saving.saved()),
        bytes(second.saving.native),
        second.saving.share() * 100.0,
        second.planned.imbalance,
    );
    let said = |repair: &Option<Repair>| {
        repair.map_or_else(
            || "nothing repairs it".to_owned(),
            |repair| format!("{} read, {} between nodes", bytes(repair.read), bytes(repair.transfer)),
        )
    };
    let repair = format!(
        "a lost node is repaired by {}{}; with all copies in one order by {}",
        said(&second.repair),
        if second.copies == 1 || replicas - second.copies == 1 {
            ": blocks of a file with one copy are found again by reading all of the other"
        } else {
            ""
        },
        said(&second.repair_of_one_order)
    );
    let moved = second.moved.map(|moved| format!("of its second file {} move since then", bytes(moved as f64)));
    [saving, repair].into_iter().chain(moved).collect()
}

fn split(found: &Planned) -> String {
    let plan = &found.placed.plan;
    if plan.split().is_empty() {
        return if found.asked.combiner {
            "no key is too heavy for a node".to_owned()
        } else {
            "each key stands whole, as one reducer gets it".to_owned()
        };
    }
    let whole = plan.loads().iter().sum::<u64>().max(1) as f64;
    let mut text = format!(
        "{} split, what a combiner leaves of their parts is merged by their reducer:",
        plural(plan.split().len(), "key is", "keys are")
    );
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

/// Keys per record: the mean, and if they differ what half of the records, 99 % of them and all have at most.
fn per_record(profile: &Profile<placement::KeyRule>) -> String {
    let mean = keys(profile.keys_per_record());
    let [half, most] = [0.5, 0.99].map(|part| profile.per_record.at_most(part).min(profile.most_keys));
    if half == profile.most_keys {
        return format!("{mean} per record (at most {half})");
    }
    let all = count(profile.most_keys as f64);
    format!(
        "{mean} per record (at most {} in half of them, {} in 99 %, {all} in all)",
        count(half as f64),
        count(most as f64)
    )
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
pub fn count(number: f64) -> String {
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
