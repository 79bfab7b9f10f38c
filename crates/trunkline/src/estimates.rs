//! Figures over several runs as tables for a person.

use crate::screen::Screen;
use crate::table::Table;
use results::Estimate;
use runs::{Comparison, Summary};
use std::fmt::Write;
use storage::power::figures::{Wins, crossover, energy_delay};
use units::many;

/// The runs of one scenario.
pub fn of(summary: &Summary<'_>, screen: &Screen) -> String {
    let failed = summary.runs.iter().filter(|run| run.failure.is_some()).count();
    let title = format!("{}: {} runs", summary.name, summary.runs.len());
    let mut text = format!("{}\n", screen.heading(&screen.wrapped(&title, 0)));
    if failed > 0 {
        let _ = writeln!(text, "{}", screen.bad(&format!("in {failed} of them a job failed")));
    }
    text.push('\n');
    let mut table = Table::new(["figure", "mean ± 95 %", "90 % of the runs"]).optional(&[2]);
    for (name, unit) in summary.names() {
        if let Some(estimate) = summary.estimate(name) {
            let (least, greatest) = estimate.nine_tenths;
            let runs = format!("{} to {}", number(least), number(greatest));
            table.row([label(name, unit), interval(&estimate, summary.runs.len()), runs]);
        }
    }
    text + &table.shown(screen)
}

/// Scenarios side by side.
pub fn side_by_side(comparison: &Comparison<'_>, screen: &Screen) -> String {
    let [base, ..] = comparison.summaries else { return String::new() };
    let title = format!("{} each; differences are from {}, seed by seed", many(base.runs.len(), "run"), base.name);
    let mut text = format!("{}\n", screen.wrapped(&title, 0));
    for (name, unit) in comparison.names() {
        let mut table = Table::new(["", "mean ± 95 %", "change", ""]).indented(2);
        for (i, summary) in comparison.summaries.iter().enumerate() {
            let runs = summary.runs.len();
            let mean = summary.estimate(name).map_or_else(|| "-".to_owned(), |estimate| interval(&estimate, runs));
            let difference = (i > 0).then(|| comparison.difference(summary, name)).flatten();
            let (percent, verdict) = difference.map_or_else(Default::default, |difference| {
                let base = base.estimate(name).map_or(0.0, |estimate| estimate.mean);
                let percent =
                    if base == 0.0 { String::new() } else { format!("{:+.1} %", 100.0 * difference.mean / base) };
                let verdict = match (difference.half_width, difference.excludes_zero()) {
                    (None, _) if difference.count < runs => format!("{} of {runs} seeds", difference.count),
                    (None, _) => "one run".to_owned(),
                    (_, true) => "significant".to_owned(),
                    (_, false) => "not significant".to_owned(),
                };
                (percent, verdict)
            });
            table.row([summary.name.to_owned(), mean, percent, verdict]);
        }
        let _ = write!(text, "\n{}\n{}", screen.heading(&screen.wrapped(&label(name, unit), 0)), table.shown(screen));
    }
    weighed(&mut text, comparison, screen);
    text
}

/// Where energy is known: for which weight of it against time each of two settings wins (Yang 2012, Eq. 4.3 and 4.4.4).
fn weighed(text: &mut String, comparison: &Comparison<'_>, screen: &Screen) {
    let [base, others @ ..] = comparison.summaries else { return };
    let names = comparison.names();
    let Some((energy, job)) = names.iter().find_map(|(name, _)| Some((*name, name.strip_suffix(": energy of nodes")?)))
    else {
        return;
    };
    let time = format!("{job}: submission to finish");
    let both = |summary: &Summary<'_>| Some((summary.estimate(energy)?.mean, summary.estimate(&time)?.mean));
    let Some(first) = both(base) else { return };
    let _ = writeln!(text, "\n{}", screen.heading("energy against time"));
    let wins = |name: &str, range: &str| format!("{name} wins {range}");
    for other in others {
        let Some(second) = both(other) else { continue };
        let (a, b) = (base.name, other.name);
        // What the seeds do not tell apart, no weight decides.
        let told = |name: &str| {
            let difference = comparison.difference(other, name);
            difference.is_none_or(|difference| difference.half_width.is_none() || difference.excludes_zero())
        };
        if !told(energy) && !told(&time) {
            let sentence = format!("{b} differs significantly from {a} in neither");
            let _ = writeln!(text, "{}", screen.wrapped(&sentence, 2));
            continue;
        }
        let verdict = match crossover(second, first) {
            Wins::First => wins(b, "whatever alpha"),
            Wins::Second => wins(a, "whatever alpha"),
            Wins::FirstAbove(alpha) => format!("{}, {}", wins(b, &format!("above alpha {alpha:.3}")), wins(a, "below")),
            Wins::FirstBelow(alpha) => format!("{}, {}", wins(b, &format!("below alpha {alpha:.3}")), wins(a, "above")),
        };
        let product = energy_delay(second.0, second.1) / energy_delay(first.0, first.1) - 1.0;
        let sentence = format!(
            "by Ptc (alpha of energy, 1 - alpha of time) {verdict}; energy times time of {b} is \
            {:+.1} % of that of {a}",
            product * 100.0
        );
        let _ = writeln!(text, "{}", screen.wrapped(&sentence, 2));
    }
}

/// Versions of one scenario, by their names: how far each figure of the others is from that of the first.
pub fn disagreement(comparison: &Comparison<'_>, versions: &[String], screen: &Screen) -> String {
    let ([base, others @ ..], [first, further @ ..]) = (comparison.summaries, versions) else { return String::new() };
    let mut heads = vec!["figure".to_owned(), first.clone()];
    heads.extend(further.iter().flat_map(|version| [version.clone(), "off".to_owned()]));
    let mut table = Table::new(heads);
    for (name, unit) in comparison.names() {
        let shown = |summary: &Summary<'_>| {
            let estimate = summary.estimate(name);
            estimate.map_or_else(|| "-".to_owned(), |estimate| interval(&estimate, summary.runs.len()))
        };
        let mut row = vec![label(name, unit), shown(base)];
        for other in others {
            let mean = |summary: &Summary<'_>| summary.estimate(name).map(|estimate| estimate.mean);
            let off = mean(base).zip(mean(other)).filter(|(base, _)| *base != 0.0);
            let off =
                off.map_or_else(|| "-".to_owned(), |(base, other)| format!("{:+.1} %", 100.0 * (other / base - 1.0)));
            row.extend([shown(other), off]);
        }
        table.row(row);
    }
    format!(
        "{}\n\n{}",
        screen.wrapped(&format!("{} runs each; -: it has none, or it is not modelled", base.runs.len()), 0),
        table.shown(screen)
    )
}

/// A figure's name with its unit.
pub fn label(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}, {unit}") }
}

/// The mean of so many runs, with its interval; with how many have the figure, where not all do.
fn interval(estimate: &Estimate, runs: usize) -> String {
    match estimate.half_width {
        _ if estimate.count < runs => format!("{} in {} of {runs}", number(estimate.mean), estimate.count),
        Some(half_width) => plus_minus(estimate.mean, half_width),
        None => number(estimate.mean),
    }
}

/// A mean and half the width of its interval, both with as many decimals as show two digits of the latter.
pub fn plus_minus(mean: f64, half_width: f64) -> String {
    if half_width == 0.0 {
        return format!("{} ± 0", number(mean));
    }
    let (mut decimals, mut digits) = (0, half_width);
    while digits < 9.95 && decimals < 6 {
        (decimals, digits) = (decimals + 1, digits * 10.0);
    }
    format!("{mean:.decimals$} ± {half_width:.decimals$}")
}

/// Four significant digits, no fewer than the whole part has.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 1000.0 || v == 0.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 0.1 => 3,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use runs::{Figure, Figures};

    fn run(seconds: f64, wh: f64) -> Figures {
        let figure = |name: &str, unit: &str, value| Figure { name: name.to_owned(), unit: unit.to_owned(), value };
        let values = vec![
            figure("wordcount: submission to finish", "s", seconds),
            figure("wordcount: energy of nodes", "Wh", wh),
        ];
        Figures { seed: 1, failure: None, values, compared: Vec::new() }
    }

    /// Yang 2012, 4.4.3: 0.32 kWh in 153 min against 0.26 kWh in 162 min. Their Ptc are equal at alpha = 0.216 (the
    /// document has "larger than 0.2"), and 48.96 kWh min against 42.12 are 13.97 % less.
    #[test]
    fn settings_win_in_the_ranges_of_alpha_that_chapter_4_has() {
        let (native, resting) = ([run(153.0 * 60.0, 320.0)], [run(162.0 * 60.0, 260.0)]);
        let said = |first: (&str, &[Figures]), second: (&str, &[Figures])| {
            let of = |(name, runs)| Summary { name, digest: "", runs };
            side_by_side(&Comparison { summaries: &[of(first), of(second)] }, &Screen::plain(200))
        };
        let text = said(("native", &native), ("resting", &resting));
        let expected = "by Ptc (alpha of energy, 1 - alpha of time) resting wins above alpha 0.216, native wins below; \
                        energy times time of resting is -14.0 % of that of native";
        assert!(text.contains(expected), "{text}");
        // The other way round, and where one is better in both.
        let text = said(("resting", &resting), ("native", &native));
        assert!(text.contains("native wins below alpha 0.216, resting wins above"), "{text}");
        let better = [run(9_000.0, 250.0)];
        let text = said(("native", &native), ("better", &better));
        assert!(text.contains("better wins whatever alpha"), "{text}");
        let text = said(("better", &better), ("native", &native));
        assert!(text.contains("better wins whatever alpha"), "{text}");
        // Two seeds that point in either direction tell nothing: the interval of a difference holds zero.
        let (one, two) = ([run(9_000.0, 250.0), run(9_100.0, 260.0)], [run(9_100.0, 260.0), run(9_010.0, 251.0)]);
        let text = said(("one", &one), ("two", &two));
        assert!(text.contains("two differs significantly from one in neither"), "{text}");
    }
}
