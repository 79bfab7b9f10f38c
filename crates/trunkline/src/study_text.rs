//! A study's verdicts as text.

use crate::estimates::plus_minus;
use crate::screen::Screen;
use crate::table::Table;
use std::fmt::Write;
use study::{CurveOutcome, FigureOutcome, StudyOutcome, Verdict};

/// A study.
pub fn of(outcome: &StudyOutcome, screen: &Screen) -> String {
    let form = if outcome.quick { ", quick form" } else { "" };
    let title = format!("{}{form}: {}", outcome.name, outcome.title);
    let mut text = format!("{}\n{}\n", screen.heading(&screen.wrapped(&title, 0)), screen.wrapped(&outcome.source, 2));
    for figure in &outcome.figures {
        of_figure(&mut text, figure, screen);
    }
    let _ = writeln!(text, "\n{}", screen.wrapped(&format!("{}: {}", outcome.name, tally(outcome)), 0));
    text
}

/// Several studies, a row each.
pub fn of_all(outcomes: &[StudyOutcome], screen: &Screen) -> String {
    let mut table = Table::new(["study", "claims"]).of_texts();
    for outcome in outcomes {
        table.row([outcome.name.clone(), tally(outcome)]);
    }
    table.shown(screen)
}

/// How many claims came to which verdict.
fn tally(outcome: &StudyOutcome) -> String {
    let findings = || outcome.figures.iter().flat_map(|figure| &figure.findings);
    let count = |verdict| findings().filter(|finding| finding.verdict == verdict).count();
    let mut text = format!(
        "{} reproduced, {} not reproduced, {} cannot tell",
        count(Some(Verdict::Reproduced)),
        count(Some(Verdict::NotReproduced)),
        count(Some(Verdict::CannotTell))
    );
    let left = count(None);
    if left > 0 {
        let _ = write!(text, ", {left} not judged in this form");
    }
    text
}

fn of_figure(text: &mut String, figure: &FigureOutcome, screen: &Screen) {
    let title = format!("{} ({})", figure.title, figure.place);
    let _ = writeln!(text, "\n{}", screen.heading(&screen.wrapped(&title, 0)));
    values(text, figure, screen);
    for finding in &figure.findings {
        let verdict = finding.verdict.map_or("not judged", Verdict::name).to_uppercase();
        let paint = match finding.verdict {
            Some(Verdict::Reproduced) => Screen::good,
            Some(Verdict::NotReproduced) => Screen::bad,
            Some(Verdict::CannotTell) => Screen::doubtful,
            None => Screen::aside,
        };
        let _ = writeln!(text, "{}", screen.wrapped_after(&verdict, paint, &format!(": {}", finding.text), 2));
        if !finding.detail.is_empty() {
            let _ = writeln!(text, "{}", screen.wrapped(&finding.detail, 6));
        }
        let _ = writeln!(text, "{}", screen.wrapped(&format!("rule: {}", finding.rule), 6));
        for under in &finding.under {
            let line = format!("{}: {}; {}", under.assumption, under.verdict.name(), under.detail);
            let _ = writeln!(text, "{}", screen.wrapped(&line, 8));
        }
    }
}

/// Columns of a value and the blanks before it.
const VALUE_COLUMNS: usize = 14;
/// Columns of a series' name.
const NAME_COLUMNS: usize = 24;

/// The curves as tables, a column for each x, in as many parts as the screen needs; series over time and dots are for
/// the page.
fn values(text: &mut String, figure: &FigureOutcome, screen: &Screen) {
    if figure.kind != "sweep" {
        return;
    }
    let unit = if figure.unit.is_empty() { String::new() } else { format!(", {}", figure.unit) };
    let part_size = (screen.width.saturating_sub(NAME_COLUMNS) / VALUE_COLUMNS).clamp(1, 8);
    let Some(first) = figure.curves.first() else { return };
    for (part, columns) in first.x.chunks(part_size).enumerate() {
        let mut heads = vec![format!("{}{unit}", figure.label)];
        if let Some(axis) = &figure.x {
            let over = screen.wrapped(&format!("over {}", axis.label), 2);
            let _ = writeln!(text, "{}", screen.aside(&over));
            heads.extend(columns.iter().map(|x| {
                let category = axis.categories.as_ref().and_then(|names| names.get(*x as usize).cloned());
                category.unwrap_or_else(|| number(*x))
            }));
        } else {
            heads.extend(columns.iter().map(|_| String::new()));
        }
        let mut table = Table::new(heads).indented(2);
        for curve in &figure.curves {
            let values = (part * part_size..part * part_size + columns.len()).map(|index| {
                match (curve.mean[index], curve.low[index], curve.high[index]) {
                    (Some(mean), Some(low), Some(high)) if high > low => {
                        plus_minus(mean, (high - low) / 2.0).replace(' ', "")
                    }
                    (Some(mean), ..) => number(mean),
                    _ => "-".to_owned(),
                }
            });
            table.row([name(curve)].into_iter().chain(values));
        }
        text.push_str(&table.shown(screen));
    }
}

fn name(curve: &CurveOutcome) -> String {
    match &curve.assumption {
        Some(assumption) => format!("{} [{assumption}]", curve.series),
        None => curve.series.clone(),
    }
}

/// Three significant digits, no fewer than the whole part has.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.1 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
