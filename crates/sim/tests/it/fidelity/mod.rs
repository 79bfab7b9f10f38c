//! Every set-up of the reference tables, run here too. `docs/fidelity.md` holds the results; the test fails if the page
//! is not what the code gives.
//!
//!     TRUNKLINE_WRITE_DOCS=1 cargo test -p sim --test it fidelity
//!
//! writes the page again from `page.md.in`, the reasons, the tables and `traces.md.in`. A disagreement larger than that
//! of ns-2 and ns-3 with each other needs a reason in `reasons.rs`. The test also fails if a reason explains nothing
//! any more.

pub mod cases;
mod reasons;

use self::cases::{Case, Found};
use self::reasons::{REASONS, reason_for};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far apart two numbers are, as a share of the smaller.
fn apart(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    if high == low {
        0.0
    } else if low <= 0.0 {
        f64::INFINITY
    } else {
        high / low - 1.0
    }
}

/// A reference number, or the range over its seeds.
fn range_of(values: &[f64]) -> Option<(f64, f64)> {
    let (first, rest) = values.split_first()?;
    Some(rest.iter().fold((*first, *first), |(low, high), v| (low.min(*v), high.max(*v))))
}

fn text(value: f64) -> String {
    match value.abs() {
        v if v >= 1_000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        v if v >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.5}"),
    }
}

fn range_text(range: Option<(f64, f64)>) -> String {
    match range {
        None => "-".to_owned(),
        Some((low, high)) if text(low) == text(high) => text(low),
        Some((low, high)) => format!("{} .. {}", text(low), text(high)),
    }
}

/// A paragraph in lines of at most 118 columns; those after the first are indented by the length of `bullet`.
fn wrapped(bullet: &str, text: &str) -> String {
    let mut paragraph = String::new();
    let mut line = bullet.to_owned();
    for word in text.split(' ') {
        if line.len() > bullet.len() {
            if line.len() + 1 + word.len() > 118 {
                paragraph.push_str(&line);
                paragraph.push('\n');
                line = " ".repeat(bullet.len());
            } else {
                line.push(' ');
            }
        }
        line.push_str(word);
    }
    paragraph + &line + "\n"
}

/// How ours stands to the references.
#[derive(PartialEq)]
enum Standing {
    /// Within what the references span, or 1 % of it.
    Within,
    /// Outside by this share, which is no more than the references differ by.
    AsNear(f64),
    /// Outside by this share, which the tables' page calls normal.
    Claimed(f64),
    /// Outside by this share.
    Apart(f64),
}

fn standing(ours: f64, ns2: &[f64], ns3: &[f64], resolution: f64, claim: f64) -> Standing {
    let all: Vec<f64> = ns2.iter().chain(ns3).copied().collect();
    let Some((low, high)) = range_of(&all) else { return Standing::Within };
    if ours >= low * 0.99 - resolution && ours <= high * 1.01 + resolution {
        return Standing::Within;
    }
    let off = if ours < low { apart(ours, low) } else { apart(ours, high) };
    let theirs = if ns2.is_empty() || ns3.is_empty() { 0.0 } else { apart(low, high) };
    match off {
        off if off <= theirs => Standing::AsNear(off),
        off if off <= claim => Standing::Claimed(off),
        off => Standing::Apart(off),
    }
}

/// Runs every case on two threads; the order of the results is that of the cases.
fn run_all(cases: &[Case]) -> Vec<Vec<Found>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Vec::new(); cases.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { return };
                    let found = case.run();
                    results.lock().unwrap_or_else(PoisonError::into_inner)[at] = found;
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_page_says_what_the_code_gives() {
    let cases = cases::all();
    let results = run_all(&cases);
    let mut used = vec![false; REASONS.len()];
    let mut unexplained = String::new();
    let (mut within, mut as_near, mut claimed, mut explained) = (0, 0, 0, 0);
    let mut tables = String::new();
    let mut family = "";
    for (case, found) in cases.iter().zip(&results) {
        if case.family != family {
            family = case.family;
            let heading = cases::heading(family);
            write!(tables, "\n### {heading}\n\n").unwrap();
            tables.push_str("| set-up | quantity | ns-2 | ns-3 | ours | |\n|---|---|---|---|---|---|\n");
        }
        let mut set_up = case.name.as_str();
        for Found { quantity, ours } in found {
            let (ns2, ns3) = (case.reference("ns2", quantity.column), case.reference("ns3", quantity.column));
            let verdict = match standing(*ours, &ns2, &ns3, quantity.resolution, case.claim(quantity.column)) {
                Standing::Within => {
                    within += 1;
                    String::new()
                }
                Standing::AsNear(off) => {
                    as_near += 1;
                    format!("{:.0} % off, less than they", off * 100.0)
                }
                Standing::Claimed(off) => {
                    claimed += 1;
                    format!("{:.0} % off, normal spread", off * 100.0)
                }
                Standing::Apart(off) => {
                    let off = if off.is_finite() { format!("{:.0} % off", off * 100.0) } else { "off".to_owned() };
                    if let Some(reason) = reason_for(case, quantity.column) {
                        used[reason] = true;
                        explained += 1;
                        format!("{off} [{}]", reason + 1)
                    } else {
                        let row =
                            format!("{family} {}: {} {ours}, ns-2 {ns2:?}, ns-3 {ns3:?}", case.name, quantity.name);
                        writeln!(unexplained, "{row}").unwrap();
                        format!("{off} [?]")
                    }
                }
            };
            let (ns2, ns3) = (range_text(range_of(&ns2)), range_text(range_of(&ns3)));
            let ours = text(*ours);
            writeln!(tables, "| {set_up} | {} | {ns2} | {ns3} | {ours} | {verdict} |", quantity.name).unwrap();
            set_up = "";
        }
    }
    let mut page = include_str!("page.md.in").to_owned();
    let quantities = within + as_near + claimed + explained;
    let sums = format!(
        "Of {quantities} numbers {within} lie within what the references span (or 1 % of it), {as_near} outside by \
         less than the two differ, {claimed} by no more than is normal for them, and {explained} further away, each \
         for a reason:"
    );
    page.push_str(&wrapped("", &sums));
    page.push('\n');
    for (number, reason) in REASONS.iter().enumerate() {
        page.push_str(&wrapped(&format!("{}. ", number + 1), reason.text));
    }
    page.push_str(&tables);
    page.push('\n');
    page.push_str(include_str!("traces.md.in"));

    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fidelity.md");
    if std::env::var_os("TRUNKLINE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(unexplained.is_empty(), "no reason for\n{unexplained}");
    let stale: Vec<&str> = REASONS.iter().zip(&used).filter(|(_, used)| !**used).map(|(r, _)| r.text).collect();
    assert!(stale.is_empty(), "these reasons explain nothing: {stale:#?}");
    let written = std::fs::read_to_string(&path).expect("docs/fidelity.md is part of the tree");
    assert!(
        written == page,
        "docs/fidelity.md is out of date: TRUNKLINE_WRITE_DOCS=1 cargo test -p sim --test it fidelity"
    );
}
