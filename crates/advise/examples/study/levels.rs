//! The times of the scenarios that ship, by packets and at flow level.

use crate::runs_of::{at_flow_level, difference, mean, times, with};
use scenario::Scenario;
use std::fs;
use std::path::Path;

/// First seed and seeds.
const SEEDS: (u64, u64) = (1, 5);
/// Not run: too long for a study of levels, or without an end to time.
const LEFT_OUT: [(&str, &str); 4] = [
    ("hadoop1-racks", "40 GB by packets"),
    ("terasort-1tb", "ten minutes by packets"),
    ("incast-short", "two thousand clients that overload a link for ever"),
    ("dumbbell", "streams without an end"),
];

/// Prints the table.
pub fn print(only: Option<&str>) {
    println!("| scenario | packets | flows | off |\n|---|---|---|---|");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    for path in paths {
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        if only.is_some_and(|only| only != name) {
            continue;
        }
        if let Some((_, why)) = LEFT_OUT.iter().find(|(other, _)| *other == name) {
            println!("| `{name}` | | | not run: {why} |");
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let base = sim::parse(&name, &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        row(&base);
    }
}

fn row(base: &Scenario) {
    let name = &base.name;
    let flows = sim::parse(name, &base.to_toml(), &["run.fidelity=flow".to_owned()]);
    if let Err(error) = flows {
        let why = error.problems.first().map_or_else(String::new, |problem| problem.message.clone());
        println!("| `{name}` | | | {why} |");
        return;
    }
    let packets = with(base, &["run.fidelity=packet".to_owned()]);
    let all = times(&[packets, at_flow_level(base)], SEEDS.0, SEEDS.1);
    let level = mean(&all[0]);
    let off = difference(&all[1], &all[0]);
    println!(
        "| `{name}` | {level:.3} s | {:.3} s | {:+.1} ± {:.1} % |",
        mean(&all[1]),
        100.0 * off.mean / level,
        100.0 * off.half_width.unwrap_or(0.0) / level,
    );
}
