//! Rules of claims, in three-valued logic: the intervals over seeds say yes, no, or leave it open.

use super::file::{Claim, Rule};
use super::sample::{Interval, Sample, Truth, value};

/// The judged points of a curve: x and value.
pub type Points = Vec<(f64, Sample)>;

/// Applies the rule of a claim to a curve, or to a curve and the one it is compared with. Returns the truth, and the
/// deciding point as text.
pub fn decide(claim: &Claim, points: &Points, than: Option<&Points>) -> (Truth, String) {
    let (least, most) = (claim.least.unwrap_or(f64::NEG_INFINITY), claim.most.unwrap_or(f64::INFINITY));
    if let Some(than) = than.filter(|_| claim.rule.is_of_ratios()) {
        return match ratios(points, than) {
            Ok(ratios) if ratios.len() > usize::from(claim.rule != Rule::Greatest) => decide(claim, &ratios, None),
            Ok(_) => (Truth::Unsure, "too few points have both".to_owned()),
            Err(detail) => (Truth::Unsure, detail),
        };
    }
    match claim.rule {
        Rule::Between => worst(points.iter().map(|(x, y)| (y.interval.within(least, most), at(*x, y.interval)))),
        Rule::Rises => worst(points.windows(2).map(|pair| {
            let ((x0, y0), (x1, y1)) = (&pair[0], &pair[1]);
            let (truth, between) = y1.at_least(y0, 1.0 - claim.slack);
            (truth, format!("{}, then {}: {between}", at(*x0, y0.interval), at(*x1, y1.interval)))
        })),
        Rule::Falls => worst(points.windows(2).map(|pair| {
            let ((x0, y0), (x1, y1)) = (&pair[0], &pair[1]);
            let (truth, between) = y0.at_least(y1, 1.0 / (1.0 + claim.slack));
            (truth, format!("{}, then {}: the first {between}", at(*x0, y0.interval), at(*x1, y1.interval)))
        })),
        Rule::Above => worst(matched(points, than).map(|(x, y, other)| {
            let (truth, between) = y.at_least(other, claim.factor);
            (truth, format!("{} against {}: {between}", at(x, y.interval), value(other.interval)))
        })),
        Rule::Ratio => worst(matched(points, than).map(|(x, y, other)| {
            let ratio = y.ratio(other).map(|ratio| ratio.interval);
            let truth = ratio.map_or(Truth::Unsure, |ratio| ratio.within(least, most));
            let ratio = ratio.map_or_else(|| "no number".to_owned(), value);
            (truth, format!("{} / {} = {ratio}", at(x, y.interval), value(other.interval)))
        })),
        Rule::Greatest => greatest(points, least, most),
        Rule::Crosses => crosses(points, than, least, most),
        Rule::Peak => peak(points, least, most),
        Rule::Knee => knee(points, claim.part, least, most),
        Rule::NoKnee => no_knee(points, claim.part),
        Rule::Correlation => correlation(points, least, most),
    }
}

/// A curve divided by another, where both have an x; else what is no number.
pub fn ratios(points: &Points, than: &Points) -> Result<Points, String> {
    let ratio = |(x, y, other): (f64, &Sample, &Sample)| match y.ratio(other) {
        Some(ratio) => Ok((x, ratio)),
        None => Err(format!("{} / {} is no number", at(x, y.interval), value(other.interval))),
    };
    matched(points, Some(than)).map(ratio).collect()
}

/// The deciding comparison: one that fails, else one that is unsure, else the last.
fn worst(comparisons: impl Iterator<Item = (Truth, String)>) -> (Truth, String) {
    let mut worst: Option<(Truth, String)> = None;
    for (truth, detail) in comparisons {
        if worst.as_ref().is_none_or(|(least, _)| truth < *least || (truth == *least && truth == Truth::Yes)) {
            worst = Some((truth, detail));
        }
    }
    worst.unwrap_or_else(|| (Truth::Unsure, "nothing to compare".to_owned()))
}

fn matched<'a>(points: &'a Points, than: Option<&'a Points>) -> impl Iterator<Item = (f64, &'a Sample, &'a Sample)> {
    points.iter().filter_map(move |(x, y)| {
        let (_, other) = than?.iter().find(|(other_x, _)| other_x == x)?;
        Some((*x, y, other))
    })
}

/// The greatest value. It is no less than the greatest lower end, and no more than the greatest upper end.
fn greatest(points: &Points, least: f64, most: f64) -> (Truth, String) {
    let most_of =
        |of: fn(Interval) -> f64| points.iter().map(|(_, y)| of(y.interval)).fold(f64::NEG_INFINITY, f64::max);
    let all = Interval { low: most_of(|y| y.low), mean: most_of(|y| y.mean), high: most_of(|y| y.high) };
    let place = points.iter().max_by(|a, b| a.1.interval.mean.total_cmp(&b.1.interval.mean));
    (all.within(least, most), place.map_or_else(String::new, |(x, y)| format!("greatest {}", at(*x, y.interval))))
}

/// Where a curve comes below another, to stay there: seed by seed, on straight lines between the points.
fn crosses(points: &Points, than: Option<&Points>, least: f64, most: f64) -> (Truth, String) {
    let all: Vec<_> = matched(points, than).map(|(x, y, other)| (x, y.differences(other))).collect();
    let seeds = all.iter().map(|(_, differences)| differences.len()).min().unwrap_or(0);
    let crossing = |seed: usize| {
        let above = all.iter().filter_map(|(x, differences)| Some((*x, (*differences.get(seed)?)?)));
        let above: Vec<(f64, f64)> = above.collect();
        let last = above.iter().rposition(|(_, above)| *above >= 0.0)?;
        let ((x0, y0), (x1, y1)) = (above[last], *above.get(last + 1)?);
        Some(x0 + (x1 - x0) * y0 / (y0 - y1))
    };
    let found: Vec<f64> = (0..seeds).filter_map(crossing).collect();
    match Interval::of(&found) {
        None => (Truth::No, "does not come below that and stay there".to_owned()),
        Some(at) if found.len() < seeds => {
            (at.within(least, most).min(Truth::Unsure), format!("comes below that at {} with some seeds", value(at)))
        }
        Some(at) => (at.within(least, most), format!("comes below that at {}", value(at))),
    }
}

/// Position of the maximum. Every x whose value may be the greatest counts.
fn peak(points: &Points, least: f64, most: f64) -> (Truth, String) {
    let intervals = || points.iter().map(|(x, y)| (x, y.interval));
    let bar = intervals().map(|(_, y)| y.low).fold(f64::NEG_INFINITY, f64::max);
    let greatest = intervals().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let detail = greatest.map_or_else(String::new, |(x, y)| format!("greatest {}", at(*x, y)));
    let mut inside = intervals().filter(|(_, y)| y.high >= bar).map(|(x, _)| (least..=most).contains(x));
    let first = inside.next();
    let truth = match first {
        Some(first) if inside.all(|other| other == first) => {
            if first {
                Truth::Yes
            } else {
                Truth::No
            }
        }
        _ => Truth::Unsure,
    };
    (truth, detail)
}

/// For each point after the first, whether it lies below a part of the greatest before it.
fn below(points: &Points, part: f64) -> impl Iterator<Item = (f64, Interval, Truth)> {
    let mut greatest: Option<Interval> = None;
    points.iter().map(|(x, y)| (*x, y.interval)).map(move |(x, y)| {
        let truth = match greatest {
            Some(greatest) if y.high < greatest.low * part => Truth::Yes,
            Some(greatest) if y.low < greatest.high * part => Truth::Unsure,
            _ => Truth::No,
        };
        greatest = Some(greatest.filter(|greatest| greatest.mean >= y.mean).unwrap_or(y));
        (x, y, truth)
    })
}

fn knee(points: &Points, part: f64, least: f64, most: f64) -> (Truth, String) {
    // The knee is at the first x that is surely below, or at an earlier one that may be below.
    let mut candidates = Vec::new();
    let mut sure = None;
    for (x, y, truth) in below(points, part) {
        if truth > Truth::No {
            candidates.push(x);
        }
        if truth == Truth::Yes {
            sure = Some((x, y));
            break;
        }
    }
    let last = points.last().map_or(f64::INFINITY, |(x, _)| *x);
    let detail = match sure {
        Some((x, y)) => format!("knee {}", at(x, y)),
        None => format!("no knee for sure up to {}", number(last)),
    };
    let inside = candidates.iter().filter(|x| (least..=most).contains(*x)).count();
    let truth = match (inside, candidates.len()) {
        (some, all) if some == all && sure.is_some() => Truth::Yes,
        // It may lie beyond the measured points.
        (0, _) if sure.is_some() || last >= most => Truth::No,
        _ => Truth::Unsure,
    };
    (truth, detail)
}

fn no_knee(points: &Points, part: f64) -> (Truth, String) {
    worst(below(points, part).map(|(x, y, truth)| {
        let truth = match truth {
            Truth::Yes => Truth::No,
            Truth::Unsure => Truth::Unsure,
            Truth::No => Truth::Yes,
        };
        (truth, at(x, y))
    }))
}

/// Pearson's correlation, with the 95 % interval by Fisher's transformation.
fn correlation(points: &Points, least: f64, most: f64) -> (Truth, String) {
    let n = points.len() as f64;
    let mean = |value: fn(&(f64, Sample)) -> f64| points.iter().map(value).sum::<f64>() / n;
    let (mx, my) = (mean(|(x, _)| *x), mean(|(_, y)| y.interval.mean));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - mx, y.interval.mean - my)).sum::<f64>();
    let r = sum(&|x, y| x * y) / libm::sqrt(sum(&|x, _| x * x) * sum(&|_, y| y * y));
    if !r.is_finite() || n < 4.0 {
        return (Truth::Unsure, "too few dots, or no spread".to_owned());
    }
    let (z, half_width) = (libm::atanh(r.clamp(-0.999_999, 0.999_999)), 1.96 / libm::sqrt(n - 3.0));
    let ours = Interval { low: libm::tanh(z - half_width), mean: r, high: libm::tanh(z + half_width) };
    (ours.within(least, most), format!("r = {} over {n} dots", value(ours)))
}

/// "at 8: 43.1 ± 3.2".
fn at(x: f64, y: Interval) -> String {
    format!("at {}: {}", number(x), value(y))
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
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::OverSeeds;

    /// Of one seed.
    fn exactly(value: f64) -> Sample {
        seeds(&[value])
    }

    fn seeds(values: &[f64]) -> Sample {
        Sample::of(values.iter().copied().map(Some).collect(), OverSeeds::Mean).expect("values")
    }

    /// Two seeds whose 95 % interval that is: half its width is t = 12.706 times half of what lies between them.
    fn spread(low: f64, high: f64) -> Sample {
        let (mean, off) = (f64::midpoint(low, high), (high - low) / 2.0 / 12.706_205);
        let sample = seeds(&[mean - off, mean + off]);
        assert!((sample.interval.low - low).abs() < 1e-6 && (sample.interval.high - high).abs() < 1e-6);
        sample
    }

    fn claim(rule: Rule) -> Claim {
        Claim { rule, ..Claim::default() }
    }

    fn truth(claim: &Claim, points: &[(f64, Sample)]) -> Truth {
        decide(claim, &points.to_vec(), None).0
    }

    #[test]
    fn an_interval_meets_a_bound_wholly_not_at_all_or_in_part() {
        let spread = |low: f64, high: f64| Interval { low, mean: f64::midpoint(low, high), high };
        assert_eq!(spread(9.0, 11.0).within(8.0, 12.0), Truth::Yes);
        assert_eq!(spread(9.0, 11.0).within(9.0, 11.0), Truth::Yes, "the bounds belong to it");
        assert_eq!(spread(9.0, 11.0).within(10.0, 20.0), Truth::Unsure);
        assert_eq!(spread(9.0, 11.0).within(12.0, 20.0), Truth::No);
        assert_eq!(spread(9.0, 30.0).within(10.0, 20.0), Truth::Unsure);
    }

    #[test]
    fn a_rise_is_sure_where_seeds_agree_on_it() {
        let rises = claim(Rule::Rises);
        let (low, high) = (spread(1.0, 2.0), spread(3.0, 4.0));
        assert_eq!(truth(&rises, &[(1.0, low.clone()), (2.0, high.clone())]), Truth::Yes);
        assert_eq!(truth(&rises, &[(1.0, high), (2.0, low)]), Truth::No);
        // Two of three seeds rise.
        assert_eq!(truth(&rises, &[(1.0, seeds(&[1.0, 2.0, 3.0])), (2.0, seeds(&[2.0, 3.0, 2.0]))]), Truth::Unsure);
        // Seeds are far apart, and rise alike: by 1, 2 and 1.5, whose mean is 1.5 and whose interval is 4.3027 x 0.5 /
        // sqrt(3) = 1.242 to each side.
        let (before, after) = (seeds(&[100.0, 200.0, 300.0]), seeds(&[101.0, 202.0, 301.5]));
        assert!(after.interval.low < before.interval.mean, "the intervals themselves say nothing");
        let (truth_of, detail) = decide(&rises, &vec![(1.0, before), (2.0, after)], None);
        assert_eq!(truth_of, Truth::Yes);
        assert!(detail.ends_with("1.5 ± 1.242 more than that"), "{detail}");
        // A tenth of the value before is forgiven, not more.
        let slack = Claim { slack: 0.1, ..claim(Rule::Rises) };
        assert_eq!(truth(&slack, &[(1.0, exactly(10.0)), (2.0, exactly(9.0))]), Truth::Yes);
        assert_eq!(truth(&slack, &[(1.0, exactly(10.0)), (2.0, exactly(8.9))]), Truth::No);
        let slack = Claim { slack: 0.1, ..claim(Rule::Falls) };
        assert_eq!(truth(&slack, &[(1.0, exactly(10.0)), (2.0, exactly(10.9))]), Truth::Yes);
        assert_eq!(truth(&slack, &[(1.0, exactly(10.0)), (2.0, exactly(11.1))]), Truth::No);
    }

    #[test]
    fn seeds_without_a_value_pair_with_nothing() {
        let above = |ours: Vec<Option<f64>>, other: Vec<Option<f64>>| {
            let of = |values| Sample::of(values, OverSeeds::Mean).expect("a value");
            let (ours, other) = (of(ours), of(other));
            decide(&claim(Rule::Above), &vec![(1.0, ours)], Some(&vec![(1.0, other)])).0
        };
        // The first seed alone has both.
        assert_eq!(above(vec![Some(2.0), None, Some(1.0)], vec![Some(1.0), Some(9.0), None]), Truth::Yes);
        assert_eq!(above(vec![Some(2.0), None], vec![None, Some(1.0)]), Truth::Unsure);
    }

    #[test]
    fn a_knee_stands_where_the_curve_first_falls_below_its_part() {
        let curve = [(1.0, 900.0), (2.0, 950.0), (4.0, 480.0), (8.0, 40.0), (16.0, 60.0)];
        let curve: Vec<_> = curve.into_iter().map(|(x, y)| (x, exactly(y))).collect();
        let knee = |part, least, most| {
            truth(&Claim { part, least: Some(least), most: Some(most), ..claim(Rule::Knee) }, &curve)
        };
        // 480 is above half of 950, 40 is below a tenth of it.
        assert_eq!(knee(0.5, 8.0, 8.0), Truth::Yes);
        assert_eq!(knee(0.6, 4.0, 4.0), Truth::Yes);
        assert_eq!(knee(0.1, 8.0, 16.0), Truth::Yes);
        assert_eq!(knee(0.1, 1.0, 4.0), Truth::No);
        assert_eq!(knee(0.01, 1.0, 16.0), Truth::No, "never so low");
        assert_eq!(knee(0.01, 1.0, 32.0), Truth::Unsure, "32 was not measured");
        assert_eq!(truth(&Claim { part: 0.04, ..claim(Rule::NoKnee) }, &curve), Truth::Yes);
        assert_eq!(truth(&Claim { part: 0.5, ..claim(Rule::NoKnee) }, &curve), Truth::No);
        // At 4 it may be below half already: 2 to 3 is unsure, 4 alone too, both are sure.
        let mut unsure = curve;
        unsure[2].1 = spread(400.0, 560.0);
        let knee = |least, most| {
            truth(&Claim { part: 0.5, least: Some(least), most: Some(most), ..claim(Rule::Knee) }, &unsure)
        };
        assert_eq!((knee(8.0, 8.0), knee(4.0, 4.0), knee(4.0, 8.0)), (Truth::Unsure, Truth::Unsure, Truth::Yes));
    }

    #[test]
    fn a_peak_is_sure_where_no_other_value_may_be_greater() {
        let curve = [(1.0, spread(1.0, 2.0)), (2.0, spread(5.0, 6.0)), (4.0, spread(4.0, 5.5))];
        let peak = |least, most| truth(&Claim { least: Some(least), most: Some(most), ..claim(Rule::Peak) }, &curve);
        assert_eq!((peak(2.0, 4.0), peak(2.0, 2.0), peak(1.0, 1.0)), (Truth::Yes, Truth::Unsure, Truth::No));
    }

    #[test]
    fn ratios_are_taken_seed_by_seed() {
        // 1.96, 2.02 and 2: mean 1.9933, half width 4.3027 x 0.030551 / sqrt(3) = 0.0759.
        let (ours, other) = (vec![(1.0, seeds(&[9.8, 20.2, 40.0]))], vec![(1.0, seeds(&[5.0, 10.0, 20.0]))]);
        let ratio = |least, most| {
            let claim = Claim { least: Some(least), most: Some(most), ..claim(Rule::Ratio) };
            decide(&claim, &ours, Some(&other))
        };
        assert!(ratio(1.9, 2.1).1.ends_with("= 1.993 ± 0.07589"), "{}", ratio(1.9, 2.1).1);
        assert_eq!((ratio(1.9, 2.1).0, ratio(1.95, 2.1).0, ratio(2.1, 3.0).0), (Truth::Yes, Truth::Unsure, Truth::No));
        // Less 1.9 times the other 1.683 ± 1.471, less twice 0.667 ± 1.434, less 2.5 times -4.417 ± 1.29.
        let (ours, other) = (vec![(1.0, seeds(&[20.0, 22.0, 21.0]))], vec![(1.0, seeds(&[10.0, 10.5, 10.0]))]);
        let above = |factor| decide(&Claim { factor, ..claim(Rule::Above) }, &ours, Some(&other)).0;
        assert_eq!((above(1.9), above(2.0), above(2.5)), (Truth::Yes, Truth::Unsure, Truth::No));
        let nothing = vec![(1.0, seeds(&[0.0, 0.0, 0.0]))];
        assert_eq!(decide(&Claim { least: Some(1.0), ..claim(Rule::Ratio) }, &ours, Some(&nothing)).0, Truth::Unsure);
    }

    /// 4 - 2 x comes below 1 + x at 1: between the points 0 and 2, where it is 4 against 1 and 0 against 3.
    #[test]
    fn a_crossing_lies_on_straight_lines_between_the_points() {
        let line = |of: &dyn Fn(f64) -> f64| -> Points { [0.0, 2.0, 3.0].map(|x| (x, exactly(of(x)))).to_vec() };
        let (falling, rising) = (line(&|x| 4.0 - 2.0 * x), line(&|x| 1.0 + x));
        let crosses = |ours: &Points, other: &Points, least, most| {
            let claim = Claim { least: Some(least), most: Some(most), ..claim(Rule::Crosses) };
            decide(&claim, ours, Some(other)).0
        };
        assert_eq!(
            (crosses(&falling, &rising, 0.9, 1.1), crosses(&falling, &rising, 1.2, 2.0)),
            (Truth::Yes, Truth::No)
        );
        assert_eq!(crosses(&rising, &falling, 0.0, 3.0), Truth::No, "it does not stay below");
    }

    /// Anscombe's first set: r = 0.816, and Fisher's interval over 11 points is 0.42 to 0.95.
    #[test]
    fn a_correlation_is_pearsons_with_fishers_interval() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Points = x.into_iter().zip(y).map(|(x, y)| (x, exactly(y))).collect();
        let least = |least| decide(&Claim { least: Some(least), ..claim(Rule::Correlation) }, &points, None);
        assert!(least(0.42).1.starts_with("r = 0.816"), "{}", least(0.42).1);
        assert_eq!((least(0.42).0, least(0.44).0, least(0.96).0), (Truth::Yes, Truth::Unsure, Truth::No));
    }

    /// The first curve gains 10 of 110, then 30 of 110: its ratio to the other falls from 1.1 to 0.8, though both rise.
    #[test]
    fn rises_falls_and_greatest_may_be_of_ratios() {
        let of = |values: [f64; 2]| -> Points { vec![(1.0, exactly(values[0])), (2.0, exactly(values[1]))] };
        let (ours, other) = (of([110.0, 120.0]), of([100.0, 150.0]));
        let decide = |rule, than: Option<&Points>| decide(&claim(rule), &ours, than).0;
        assert_eq!(decide(Rule::Falls, Some(&other)), Truth::Yes);
        assert_eq!(decide(Rule::Falls, None), Truth::No);
        assert_eq!(decide(Rule::Rises, Some(&other)), Truth::No);
        let greatest = |least, most, than| {
            let claim = Claim { least: Some(least), most: Some(most), ..claim(Rule::Greatest) };
            super::decide(&claim, &ours, than).0
        };
        assert_eq!(greatest(1.05, 1.15, Some(&other)), Truth::Yes);
        assert_eq!(greatest(0.7, 0.9, Some(&other)), Truth::No, "0.8 is not the greatest");
        assert_eq!(greatest(120.0, 120.0, None), Truth::Yes);
        // Nothing to divide by, and nothing left to compare.
        assert_eq!(decide(Rule::Rises, Some(&vec![(1.0, exactly(100.0))])), Truth::Unsure);
        assert_eq!(decide(Rule::Rises, Some(&of([0.0, 0.0]))), Truth::Unsure);
    }
}
