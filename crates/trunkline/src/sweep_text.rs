//! A sweep's surface as text.

use crate::estimates::{label, number, plus_minus};
use crate::screen::Screen;
use crate::table::Table;
use std::fmt::Write;
use sweep::{Point, Spread, Surface};

/// The most points that are shown.
const MOST_POINTS: usize = 40;
/// Figures after the first are left out, the last of them first, where the screen is too narrow.
const OPTIONAL: [usize; 7] = [8, 7, 6, 5, 4, 3, 2];

/// The points with the mean of each figure, then where the first figure is least and greatest.
pub fn of(surface: &Surface, screen: &Screen) -> String {
    let lengths: Vec<String> = surface.axes.iter().map(|axis| axis.values.len().to_string()).collect();
    let title = format!(
        "{}: {} runs, {} points, {} seeds each",
        surface.title,
        surface.runs,
        lengths.join(" x "),
        surface.seeds.len()
    );
    let mut text = format!("{}\n", screen.heading(&screen.wrapped(&title, 0)));
    if surface.failures > 0 {
        let _ = writeln!(text, "{}", screen.bad(&format!("in {} of them a job failed", surface.failures)));
    }
    text.push('\n');
    let keys: Vec<&str> = surface.axes.iter().map(|axis| axis.key.as_str()).collect();
    let units: Vec<(&str, f64)> = (0..surface.metrics.len()).map(|metric| unit(surface, metric)).collect();
    let heads = surface.metrics.iter().zip(&units).map(|(metric, (unit, _))| label(&metric.path, unit));
    let mut table = Table::new(std::iter::once(keys.join(", ")).chain(heads)).optional(&OPTIONAL);
    for point in surface.points.iter().take(MOST_POINTS) {
        table.row(
            std::iter::once(place(surface, point))
                .chain(point.figures.iter().zip(&units).map(|(spread, (_, factor))| value(spread, *factor))),
        );
    }
    text.push_str(&table.shown(screen));
    if surface.points.len() > MOST_POINTS {
        let _ = writeln!(text, "and {} more points in the table and on the page", surface.points.len() - MOST_POINTS);
    }
    if let (Some((least, greatest)), Some(metric), Some((unit, factor))) =
        (surface.extremes(0), surface.metrics.first(), units.first())
    {
        let mean = |point: &Point| point.figures.first().map(|spread| value(spread, *factor)).unwrap_or_default();
        let at = |point: &Point| format!("{} at {}", mean(point), words(surface, point));
        let partial = surface.points.iter().filter(|point| point.figures.first().is_some_and(|one| !one.is_whole()));
        let left_out = match partial.count() {
            0 => String::new(),
            points => format!(", of the points where all runs have it ({points} left out)"),
        };
        let name = label(&metric.path, unit);
        let sentence = format!("{name}{left_out}: least {}; greatest {}", at(least), at(greatest));
        let _ = writeln!(text, "\n{}", screen.wrapped(&sentence, 0));
    }
    text
}

/// A point by its values alone, in the order of the axes.
fn place(surface: &Surface, point: &Point) -> String {
    let each = surface.axes.iter().zip(&point.at).filter_map(|(axis, at)| axis.values.get(*at).cloned());
    each.collect::<Vec<_>>().join(", ")
}

fn words(surface: &Surface, point: &Point) -> String {
    let each = surface.axes.iter().zip(&point.at).filter_map(|(axis, at)| {
        let value = axis.values.get(*at)?;
        Some(format!("{} = {value}", axis.key))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The unit in which the greatest mean of a figure has a digit before the point, and what a value is multiplied by.
fn unit(surface: &Surface, metric: usize) -> (&str, f64) {
    let means = surface.points.iter().filter_map(|point| point.figures.get(metric)?.mean);
    let most = means.fold(0.0, |most: f64, mean| most.max(mean.abs()));
    let steps: &[(f64, &str)] = match surface.metrics[metric].unit.as_str() {
        "s" => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")],
        "B" => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")],
        "bit/s" => &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "Kbit/s")],
        _ => &[],
    };
    let step = steps.iter().find(|(size, _)| most >= *size);
    step.map_or((surface.metrics[metric].unit.as_str(), 1.0), |(size, name)| (*name, 1.0 / size))
}

fn value(spread: &Spread, factor: f64) -> String {
    match (spread.mean, spread.half_width_95) {
        (Some(mean), Some(half_width)) => plus_minus(mean * factor, half_width * factor),
        (Some(mean), None) if !spread.is_whole() => {
            format!("{} in {} of {}", number(mean * factor), spread.count(), spread.values.len())
        }
        (Some(mean), None) => number(mean * factor),
        (None, _) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sweep::{Axis, MetricOf};

    /// Of a job that the run's end cuts with most seeds, the one that ends is a short one: its time is no mean of the
    /// point, and the point not the greatest of the sweep.
    #[test]
    fn a_point_that_ends_with_some_seeds_is_no_extreme() {
        let spread =
            |values: [Option<f64>; 2], mean, half_width_95| Spread { values: values.to_vec(), mean, half_width_95 };
        let point =
            |at, figure| Point { at: vec![at], set: Vec::new(), failures: 0, failure: None, figures: vec![figure] };
        let rates = ["10 Mbit/s", "20 Mbit/s", "1 Gbit/s"].map(str::to_owned).to_vec();
        let surface = Surface {
            schema: sweep::SCHEMA,
            name: String::new(),
            title: "s".to_owned(),
            scenario: String::new(),
            build: String::new(),
            set: Vec::new(),
            seeds: vec![1, 2],
            runs: 6,
            failures: 1,
            axes: vec![Axis {
                key: "network.rate".to_owned(),
                unit: "Mbit/s".to_owned(),
                values: rates,
                numbers: None,
                log: false,
                with: Vec::new(),
            }],
            metrics: vec![MetricOf { path: "job.finish_s".to_owned(), unit: "s".to_owned() }],
            points: vec![
                point(0, spread([None, Some(60.0)], Some(60.0), None)),
                point(1, spread([Some(49.0), Some(51.0)], Some(50.0), Some(12.7))),
                point(2, spread([Some(19.0), Some(21.0)], Some(20.0), Some(12.7))),
            ],
        };
        let text = of(&surface, &Screen::plain(160));
        assert!(text.contains("60.00 in 1 of 2\n"), "{text}");
        let expected = "job.finish_s, s, of the points where all runs have it (1 left out): least 20 ± 13 at network.rate = \
                        1 Gbit/s; greatest 50 ± 13 at network.rate = 20 Mbit/s";
        assert!(text.contains(expected), "{text}");
    }
}
