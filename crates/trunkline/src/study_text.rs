//! A study's verdicts in a hundred columns.

use crate::compare::fit;
use sim::study::{CurveOutcome, FigureOutcome, Outcome, Verdict};
use std::fmt::Write;

/// A study.
pub fn of(outcome: &Outcome) -> String {
    let form = if outcome.quick { ", quick form" } else { "" };
    let mut text = format!("{}{form}: {}\n{}\n", outcome.name, outcome.title, wrapped(&outcome.source, 2));
    for figure in &outcome.figures {
        of_figure(&mut text, figure);
    }
    let _ = writeln!(text, "\n{}: {}", outcome.name, tally(outcome));
    text
}

/// Several studies, one line each.
pub fn of_all(outcomes: &[Outcome]) -> String {
    let lines: Vec<_> = outcomes.iter().map(|outcome| format!("{:<18} {}", outcome.name, tally(outcome))).collect();
    format!("{}\n", lines.join("\n"))
}

/// How many claims came to which verdict.
fn tally(outcome: &Outcome) -> String {
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

fn of_figure(text: &mut String, figure: &FigureOutcome) {
    let _ = writeln!(text, "\n{} ({})", figure.title, figure.place);
    values(text, figure);
    for finding in &figure.findings {
        let verdict = finding.verdict.map_or("not judged", Verdict::name).to_uppercase();
        let _ = writeln!(text, "{}", wrapped(&format!("{verdict}: {}", finding.text), 2));
        if !finding.detail.is_empty() {
            let _ = writeln!(text, "{}", wrapped(&finding.detail, 6));
        }
        let _ = writeln!(text, "{}", wrapped(&format!("rule: {}", finding.rule), 6));
        for under in &finding.under {
            let line = format!("{}: {}; {}", under.assumption, under.verdict.name(), under.detail);
            let _ = writeln!(text, "{}", wrapped(&line, 8));
        }
    }
}

/// The curves as a table, a column for each x; series over time and dots are for the page.
fn values(text: &mut String, figure: &FigureOutcome) {
    if figure.kind != "sweep" {
        return;
    }
    let unit = if figure.unit.is_empty() { String::new() } else { format!(", {}", figure.unit) };
    let longest = figure.curves.iter().map(|curve| name(curve).chars().count()).max().unwrap_or(0).clamp(20, 40);
    for (part, columns) in figure.curves.first().map(|curve| curve.x.chunks(6)).into_iter().flatten().enumerate() {
        if let Some(axis) = &figure.x {
            let _ = write!(text, "  {:<longest$}", fit(&format!("{}{unit}", figure.label), longest));
            for x in columns {
                let category = axis.categories.as_ref().and_then(|names| names.get(*x as usize).cloned());
                let _ = write!(text, " {:>12}", category.unwrap_or_else(|| number(*x)));
            }
            let _ = writeln!(text, "  {}", axis.label);
        } else {
            let _ = writeln!(text, "  {}{unit}", figure.label);
        }
        for curve in &figure.curves {
            let _ = write!(text, "  {:<longest$}", fit(&name(curve), longest));
            for index in part * 6..part * 6 + columns.len() {
                let value = match (curve.mean[index], curve.low[index], curve.high[index]) {
                    (Some(mean), Some(low), Some(high)) if high > low => {
                        format!("{}±{}", number(mean), number((high - low) / 2.0))
                    }
                    (Some(mean), ..) => number(mean),
                    _ => "-".to_owned(),
                };
                let _ = write!(text, " {value:>12}");
            }
            text.push('\n');
        }
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

/// Lines of at most a hundred columns, all after so many blanks.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > 100 {
            lines.push(format!("{blanks}{line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(format!("{blanks}{line}"));
    lines.join("\n")
}
