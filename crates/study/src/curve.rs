//! The values of a curve with their intervals over seeds, from the records of its runs.

use super::file::{Figure, FigureKind, OverSeeds, Reduce, Series};
use super::plan::{PlannedCurve, PlannedPoint, measured_by};
use super::record::{Measured, Record};
use super::sample::Sample;

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub label: String,
    /// None where no seed gave a value.
    pub y: Option<Sample>,
}

/// A curve of one series under one assumption.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub series: usize,
    pub assumption: Option<usize>,
    pub points: Vec<Point>,
}

/// The curve, one of all of its figure, from the records in the order of the plan's runs.
pub fn curve(figure: &Figure, planned: &PlannedCurve, all: &[PlannedCurve], records: &[Record]) -> Curve {
    let series = &figure.series[planned.series];
    let points = match figure.kind {
        FigureKind::Weighed => weighed(figure, planned, all, records),
        FigureKind::Sweep => planned.points.iter().map(|point| swept(figure, series, point, records)).collect(),
        FigureKind::Time => {
            planned.points.first().map(|point| timed(figure, series, point, records)).unwrap_or_default()
        }
        FigureKind::Scatter => {
            planned.points.first().map(|point| dots(figure, series, point, records)).unwrap_or_default()
        }
    };
    Curve { series: planned.series, assumption: planned.assumption, points }
}

fn swept(figure: &Figure, series: &Series, point: &PlannedPoint, records: &[Record]) -> Point {
    let value = |run: &usize| match measured(figure, series, &records[*run])? {
        Measured::Number(value) => Some(value),
        Measured::List(_) | Measured::Missing(()) => None,
    };
    let by_seed = point.runs.iter().map(value).collect();
    Point { x: point.x, label: point.label.clone(), y: Sample::of(by_seed, figure.over_seeds) }
}

/// A point for each step of the samples that every seed has; a step's x is its end.
fn timed(figure: &Figure, series: &Series, point: &PlannedPoint, records: &[Record]) -> Vec<Point> {
    let lists = lists(figure, series, point, records);
    let steps = lists.iter().map(Vec::len).min().unwrap_or_default();
    let step = point.runs.first().map_or(0.0, |run| records[*run].step_s);
    let at = |step_number: usize| {
        let values = lists.iter().map(|list| Some(list[step_number])).collect();
        Point { x: (step_number + 1) as f64 * step, label: String::new(), y: Sample::of(values, OverSeeds::Mean) }
    };
    (0..steps).map(at).collect()
}

/// A series' shares in two measures of a pair of series, weighed by x.
fn weighed(figure: &Figure, planned: &PlannedCurve, all: &[PlannedCurve], records: &[Record]) -> Vec<Point> {
    let pair: Vec<&PlannedCurve> = all.iter().filter(|curve| curve.assumption == planned.assumption).collect();
    let number = |value: Option<Measured>| match value? {
        Measured::Number(value) => Some(value),
        Measured::List(_) | Measured::Missing(()) => None,
    };
    let both = |curve: &PlannedCurve, point: usize, seed: usize| {
        let record = &records[*curve.points.get(point)?.runs.get(seed)?];
        let other = record.values.get(figure.x_metric.as_ref()?)?.clone();
        Some((number(measured(figure, &figure.series[curve.series], record))?, number(Some(other))?))
    };
    let at = |(place, point): (usize, &PlannedPoint)| {
        let value = |seed: usize| {
            let (own, other) = both(planned, place, seed)?;
            let sums = pair.iter().map(|curve| both(curve, place, seed)).collect::<Option<Vec<_>>>()?;
            let (sum, sum_other) = sums.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
            (sum > 0.0 && sum_other > 0.0).then(|| point.x * own / sum + (1.0 - point.x) * other / sum_other)
        };
        let by_seed = (0..point.runs.len()).map(value).collect();
        Point { x: point.x, label: point.label.clone(), y: Sample::of(by_seed, OverSeeds::Mean) }
    };
    planned.points.iter().enumerate().map(at).collect()
}

/// The dots of every seed, one after the other.
fn dots(figure: &Figure, series: &Series, point: &PlannedPoint, records: &[Record]) -> Vec<Point> {
    let mut dots = Vec::new();
    for run in &point.runs {
        let xs = figure.x_metric.as_ref().and_then(|metric| records[*run].values.get(metric));
        if let (Some(Measured::List(xs)), Some(Measured::List(ys))) = (xs, measured(figure, series, &records[*run])) {
            let pair = |(x, y): (&f64, f64)| Point {
                x: x * figure.scale,
                label: String::new(),
                y: Sample::of(vec![Some(y)], OverSeeds::Mean),
            };
            dots.extend(xs.iter().zip(ys).map(pair));
        }
    }
    dots
}

fn lists(figure: &Figure, series: &Series, point: &PlannedPoint, records: &[Record]) -> Vec<Vec<f64>> {
    let list = |run: &usize| match measured(figure, series, &records[*run])? {
        Measured::List(list) => Some(list),
        Measured::Number(_) | Measured::Missing(()) => None,
    };
    point.runs.iter().filter_map(list).collect()
}

/// A run's value of a series in the figure's unit; none where it is missing or divided by nothing.
fn measured(figure: &Figure, series: &Series, record: &Record) -> Option<Measured> {
    let (metric, per) = measured_by(figure, series);
    let divisor = match per {
        None => 1.0,
        Some(per) => match reduced(Reduce::Mean, record.values.get(per)?) {
            Measured::Number(value) if value != 0.0 => value,
            _ => return None,
        },
    };
    let factor = figure.scale / divisor;
    Some(match reduced(figure.reduce, record.values.get(metric)?) {
        Measured::Number(value) => Measured::Number(value * factor),
        Measured::List(list) => Measured::List(list.into_iter().map(|value| value * factor).collect()),
        Measured::Missing(()) => return None,
    })
}

/// How often a list stands still between its first growth and its last.
fn pauses(list: &[f64]) -> f64 {
    let grows: Vec<bool> = list.windows(2).map(|pair| pair[1] > pair[0]).collect();
    let (first, last) = (grows.iter().position(|grows| *grows), grows.iter().rposition(|grows| *grows));
    let (Some(first), Some(last)) = (first, last) else { return 0.0 };
    grows[first..=last].windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64
}

/// How often a list leaves its greatest value. Two levels, so that a dip with a notch in it is one dip.
fn dips(list: &[f64]) -> f64 {
    let greatest = list.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut at_top, mut dips) = (false, 0.0);
    for value in list {
        if at_top && *value < 0.95 * greatest {
            (at_top, dips) = (false, dips + 1.0);
        }
        at_top |= *value >= 0.99 * greatest;
    }
    dips
}

fn reduced(how: Reduce, value: &Measured) -> Measured {
    let Measured::List(list) = value else { return value.clone() };
    let count = list.len() as f64;
    let mean = list.iter().sum::<f64>() / count;
    match how {
        _ if list.is_empty() => Measured::Missing(()),
        Reduce::Value => value.clone(),
        Reduce::Mean => Measured::Number(mean),
        Reduce::Sum => Measured::Number(list.iter().sum()),
        Reduce::Peak => Measured::Number(list.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        Reduce::Least => Measured::Number(list.iter().copied().fold(f64::INFINITY, f64::min)),
        Reduce::Zeros => Measured::Number(list.iter().filter(|value| **value == 0.0).count() as f64),
        Reduce::Falls => Measured::Number(list.windows(2).filter(|pair| pair[1] < 0.9 * pair[0]).count() as f64),
        Reduce::Pauses => Measured::Number(pauses(list)),
        Reduce::Dips => Measured::Number(dips(list)),
        Reduce::Variation if mean == 0.0 => Measured::Missing(()),
        Reduce::Variation => {
            let squares: f64 = list.iter().map(|value| (value - mean) * (value - mean)).sum();
            Measured::Number(libm::sqrt(squares / count) / mean)
        }
        Reduce::Cumulative => {
            let add = |sum: &mut f64, value: &f64| {
                *sum += value;
                Some(*sum)
            };
            Measured::List(list.iter().scan(0.0, add).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{dips, pauses};

    #[test]
    fn a_list_pauses_between_its_first_growth_and_its_last() {
        assert_eq!(pauses(&[0.0, 0.0, 0.1, 0.2, 0.2, 0.2, 0.3, 0.3, 0.4, 0.4, 0.4]), 2.0);
        assert_eq!(pauses(&[0.0, 0.5, 1.0, 1.0]), 0.0, "what has ended does not pause");
        assert_eq!(pauses(&[1.0, 1.0]), 0.0);
        assert_eq!(pauses(&[]), 0.0);
    }

    #[test]
    fn a_list_dips_where_it_leaves_its_greatest_value() {
        assert_eq!(dips(&[0.2, 0.9, 1.0, 1.0, 0.8, 1.0, 0.5, 0.0]), 2.0, "the way up is no dip, the end is one");
        assert_eq!(dips(&[1.0, 0.9, 0.97, 0.8, 1.0, 0.96, 1.0]), 1.0, "a notch, and less than a twentieth");
        assert_eq!(dips(&[3.0, 3.0, 2.0, 3.0]), 1.0);
        assert_eq!(dips(&[]), 0.0);
    }
}
