//! Every set-up of the reference tables, run here too. `docs/fidelity.md` holds the results; the test fails if the page
//! is not what the code gives. `cargo test` runs a sample of the set-ups, `scripts/study` all of them.
//!
//!     TRUNKLINE_WRITE_DOCS=1 cargo test -p sim --test it fidelity
//!
//! runs all, and writes the page again from `page.md.in`, the causes, the tables and `traces.md.in`. A number further
//! than 10 % from all that the references say needs a cause in `causes.rs`. Where a cause names a setting, the set-up
//! runs again with it, for numbers more than 5 % off too, and the test fails if the number does not come to the
//! references. It also fails if a cause explains nothing any more.

pub mod cases;
mod causes;

use self::cases::{Case, Found};
use self::causes::{CAUSES, cause_of};
use std::collections::{BTreeMap, BTreeSet};
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

/// References that are further apart than this say too little of what is right.
const AGREE: f64 = 1.5;
/// Ours agrees within this share of the nearer end of what the references say.
const NEAR: f64 = 0.05;
/// Beyond this a number needs a cause.
const FAR: f64 = 0.1;

/// How ours stands to the references.
struct Standing {
    /// The references and ours are zero, or below what the quantity resolves.
    nothing: bool,
    /// Distance to the nearer end of what the references say over their seeds, as a share.
    off: f64,
    /// The largest of what the references say over the smallest.
    apart: f64,
}

impl Standing {
    fn new(ours: f64, references: &[f64], resolution: f64) -> Option<Self> {
        let (low, high) = range_of(references)?;
        let off = if ours < low {
            apart(ours, low)
        } else if ours > high {
            apart(ours, high)
        } else {
            0.0
        };
        Some(Self { nothing: high.max(ours) <= resolution, off, apart: apart(low, high) + 1.0 })
    }
}

/// How many numbers stand how.
#[derive(Default)]
struct Tally {
    nothing: u32,
    disputed: u32,
    disputed_far: u32,
    near: u32,
    off: u32,
    far: u32,
}

impl Tally {
    fn take(&mut self, standing: &Standing) {
        let kind = if standing.nothing {
            &mut self.nothing
        } else if standing.apart > AGREE {
            self.disputed_far += u32::from(standing.off > FAR);
            &mut self.disputed
        } else if standing.off <= NEAR {
            &mut self.near
        } else if standing.off <= FAR {
            &mut self.off
        } else {
            &mut self.far
        };
        *kind += 1;
    }
    fn row(&self, name: &str) -> String {
        let Self { nothing, disputed, disputed_far, near, off, far } = self;
        let compared = near + off + far;
        let share = f64::from(*near) / f64::from(compared.max(1)) * 100.0;
        let all = compared + nothing + disputed;
        let apart = format!("{disputed} ({disputed_far})");
        format!("| {name} | {all} | {nothing} | {apart} | {compared} | {near} | **{share:.0} %** | {off} | {far} |\n")
    }
}

/// Calls `run` for each of so many jobs, on two threads; the order of the results is that of the jobs.
fn on_two_threads<R: Send>(jobs: usize, run: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new((0..jobs).map(|_| None).collect::<Vec<Option<R>>>());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= jobs {
                        return;
                    }
                    let result = run(at);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// Each case again with the setting of each cause that claims a number of it that is not near.
fn experiments(cases: &[Case], results: &[Vec<Found>]) -> BTreeMap<(usize, usize), Vec<Found>> {
    let mut jobs = BTreeSet::new();
    for (at, (case, found)) in cases.iter().zip(results).enumerate() {
        for Found { quantity, ours } in found {
            let off = Standing::new(*ours, &case.references(quantity.column), quantity.resolution)
                .is_some_and(|standing| !standing.nothing && standing.off > NEAR);
            if let Some(cause) = cause_of(case, quantity.column).filter(|cause| off && CAUSES[*cause].with.is_some()) {
                jobs.insert((at, cause));
            }
        }
    }
    let jobs: Vec<_> = jobs.into_iter().collect();
    let found = on_two_threads(jobs.len(), |job| {
        let (case, cause) = jobs[job];
        CAUSES[cause].with.map_or_else(Vec::new, |change| cases[case].run_with(&change))
    });
    jobs.into_iter().zip(found).collect()
}

/// What was found, set-up by set-up.
struct Judged {
    given: Tally,
    /// The same set-ups beside the tables' own seeds alone.
    alone: Tally,
    later: Tally,
    /// Beside a Linux host's own TCP.
    hosts: Tally,
    /// Of each cause, whether it explains anything.
    used: Vec<bool>,
    /// The rows of each set-up.
    tables: Vec<String>,
    unexplained: String,
    unproven: String,
}

impl Judged {
    /// Runs the set-ups, and those again whose numbers a cause's setting is to bring to the references.
    fn of(cases: &[Case]) -> Self {
        let results = on_two_threads(cases.len(), |at| cases[at].run());
        let again = experiments(cases, &results);
        let mut judged = Self {
            given: Tally::default(),
            alone: Tally::default(),
            later: Tally::default(),
            hosts: Tally::default(),
            used: vec![false; CAUSES.len()],
            tables: Vec::new(),
            unexplained: String::new(),
            unproven: String::new(),
        };
        for (at, (case, found)) in cases.iter().zip(&results).enumerate() {
            let rows = judged.rows(at, case, found, &again);
            judged.tables.push(rows);
        }
        judged
    }

    fn rows(
        &mut self,
        at: usize,
        case: &Case,
        found: &[Found],
        again: &BTreeMap<(usize, usize), Vec<Found>>,
    ) -> String {
        let mut rows = String::new();
        let mut set_up = format!("{}{}", case.name, if case.given { "" } else { " +" });
        for Found { quantity, ours } in found {
            let column = quantity.column;
            let Some(standing) = Standing::new(*ours, &case.references(column), quantity.resolution) else { continue };
            let tally = match (case.family, case.given) {
                ("hosts", _) => &mut self.hosts,
                (_, true) => &mut self.given,
                (_, false) => &mut self.later,
            };
            tally.take(&standing);
            let alone = Standing::new(*ours, &case.references_given(column), quantity.resolution);
            if let Some(alone) = alone {
                self.alone.take(&alone);
            }
            let mut remarks = Vec::new();
            if standing.nothing {
                remarks.push("nothing".to_owned());
            } else {
                if standing.apart.is_infinite() {
                    remarks.push("references disagree".to_owned());
                } else if standing.apart > AGREE {
                    remarks.push(format!("references {:.1} x apart", standing.apart));
                }
                if standing.off > NEAR {
                    let far = standing.off.is_finite();
                    remarks.push(if far { format!("{:.0} % off", standing.off * 100.0) } else { "off".to_owned() });
                    let (family, name) = (case.family, quantity.name);
                    let row = format!("{family} {}: {name} {ours}, not {:?}", case.name, case.references(column));
                    if let Some(cause) = cause_of(case, column) {
                        self.used[cause] = true;
                        let other = again.get(&(at, cause)).into_iter().flatten();
                        let other = other.into_iter().find(|other| other.quantity.column == column);
                        remarks.push(match other {
                            None => format!("[{}]", cause + 1),
                            Some(other) => format!("{} by [{}]", text(other.ours), cause + 1),
                        });
                        let enough = if standing.off > FAR { FAR } else { NEAR };
                        if let Some(other) = other
                            && Standing::new(other.ours, &case.references(column), quantity.resolution)
                                .is_some_and(|standing| standing.off > enough)
                        {
                            writeln!(self.unproven, "{row}: {} with the setting of cause {}", other.ours, cause + 1)
                                .unwrap();
                        }
                    } else if standing.off > FAR {
                        writeln!(self.unexplained, "{row}").unwrap();
                        remarks.push("[?]".to_owned());
                    }
                }
            }
            let said = cases::simulators(case.family).iter();
            let said: Vec<String> =
                said.map(|(simulator, _)| range_text(range_of(&case.reference(simulator, column)))).collect();
            let (said, ours, remarks) = (said.join(" | "), text(*ours), remarks.join(", "));
            writeln!(rows, "| {set_up} | {} | {said} | {ours} | {remarks} |", quantity.name).unwrap();
            set_up.clear();
        }
        rows
    }

    /// Every far number has a cause, and every cause with a setting shows it.
    fn check(&self) {
        assert!(self.unexplained.is_empty(), "no cause for\n{}", self.unexplained);
        assert!(self.unproven.is_empty(), "these experiments do not show their cause:\n{}", self.unproven);
    }
}

const OUT_OF_DATE: &str =
    "docs/fidelity.md is out of date: TRUNKLINE_WRITE_DOCS=1 cargo test -p sim --test it fidelity";

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fidelity.md")
}

fn written() -> String {
    std::fs::read_to_string(path()).expect("docs/fidelity.md is part of the tree")
}

/// Of so many set-ups one is run whenever tests are.
const SAMPLED: usize = 4;

/// A sample of all families; `scripts/study` runs the whole. Asked to write the page, it runs the whole too.
#[test]
fn the_page_says_what_the_code_gives() {
    if std::env::var_os("TRUNKLINE_WRITE_DOCS").is_some() {
        return the_whole_page_says_what_the_code_gives();
    }
    let cases: Vec<Case> = cases::all().into_iter().step_by(SAMPLED).collect();
    let judged = Judged::of(&cases);
    judged.check();
    let page = written();
    for rows in &judged.tables {
        assert!(page.contains(rows), "{OUT_OF_DATE}; now there would be\n{rows}");
    }
}

/// Runs everything, and compares the page; writes it first if asked to.
#[test]
#[ignore = "every set-up over its seeds: a minute of a core, in scripts/study"]
fn the_whole_page_says_what_the_code_gives() {
    let cases = cases::all();
    let judged = Judged::of(&cases);
    let mut page = include_str!("page.md.in").to_owned();
    page.push_str(&judged.given.row("tables as given, with more seeds"));
    page.push_str(&judged.alone.row("the same, by the tables' own seeds alone"));
    page.push_str(&judged.later.row("measured later (+)"));
    page.push_str(&judged.hosts.row("a Linux host's own TCP (+)"));
    page.push_str("\n### Causes\n\n");
    for (number, cause) in CAUSES.iter().enumerate() {
        page.push_str(&wrapped(&format!("{}. ", number + 1), cause.text));
    }
    let mut family = "";
    for (case, rows) in cases.iter().zip(&judged.tables) {
        if case.family != family {
            family = case.family;
            write!(page, "\n### {}\n\n", cases::heading(family)).unwrap();
            let names = cases::simulators(family).iter().map(|(_, name)| *name);
            let names = names.collect::<Vec<_>>().join(" | ");
            let rule = "---|".repeat(4 + cases::simulators(family).len());
            write!(page, "| set-up | quantity | {names} | ours | |\n|{rule}\n").unwrap();
        }
        page.push_str(rows);
    }
    page.push('\n');
    page.push_str(include_str!("traces.md.in"));
    if std::env::var_os("TRUNKLINE_WRITE_DOCS").is_some() {
        std::fs::write(path(), &page).unwrap();
    }
    judged.check();
    let stale: Vec<&str> = CAUSES.iter().zip(&judged.used).filter(|(_, used)| !**used).map(|(c, _)| c.text).collect();
    assert!(stale.is_empty(), "these causes explain nothing: {stale:#?}");
    assert!(written() == page, "{OUT_OF_DATE}");
}
