//! Scenarios side by side over the same seeds.

use crate::Summary;
use results::Estimate;
use serde_json::{Map, Value, json};

/// Scenarios that ran over the same seeds; the first is what the others are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The runs of each; not empty.
    pub summaries: &'a [Summary<'a>],
}

impl<'a> Comparison<'a> {
    /// Names and units of all figures, in the order of their first appearance.
    pub fn names(&self) -> Vec<(&'a str, &'a str)> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        for name in self.summaries.iter().flat_map(Summary::names) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The mean difference of a figure from the first scenario's, seed by seed: runs of one seed draw the same random
    /// numbers, so their differences vary less than they do.
    pub fn difference(&self, other: &Summary<'_>, name: &str) -> Option<Estimate> {
        let pairs = self.summaries.first()?.runs.iter().zip(other.runs);
        let differences: Vec<f64> =
            pairs.filter_map(|(base, other)| Some(other.get(name)? - base.get(name)?)).collect();
        Estimate::of(&differences)
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        let figures = self.names().into_iter().map(|(name, unit)| {
            let of = |summary: &Summary<'_>| {
                let mut value = Map::new();
                value.insert("scenario".to_owned(), summary.name.into());
                if let Some(estimate) = summary.estimate(name) {
                    value.insert("mean".to_owned(), json!(estimate.mean));
                    value.insert("half_width_95".to_owned(), json!(estimate.half_width));
                }
                if let Some(difference) = self.difference(summary, name) {
                    value.insert("difference".to_owned(), json!(difference.mean));
                    value.insert("difference_half_width_95".to_owned(), json!(difference.half_width));
                    value.insert("significant".to_owned(), json!(difference.excludes_zero()));
                }
                Value::Object(value)
            };
            json!({ "name": name, "unit": unit, "scenarios": self.summaries.iter().map(of).collect::<Vec<_>>() })
        });
        let comparison = json!({
            "schema": "trunkline-comparison/1",
            "runs": self.summaries.first().map_or(0, |summary| summary.runs.len()),
            "figures": figures.collect::<Vec<_>>(),
        });
        format!("{comparison:#}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, Figures};

    fn runs(values: [f64; 3]) -> Vec<Figures> {
        let figure = |value| Figure { name: "time".to_owned(), unit: "s".to_owned(), value };
        let run = |(seed, value)| Figures { seed, failure: None, values: vec![figure(value)], compared: Vec::new() };
        (1..).zip(values).map(run).collect()
    }

    /// Worked by hand: the differences 1, 2, 3 have mean 2 and deviation 1, so the half width is 4.302653 / sqrt(3).
    #[test]
    fn differences_are_taken_seed_by_seed() {
        let (first, second) = (runs([10.0, 120.0, 1400.0]), runs([11.0, 122.0, 1403.0]));
        let of = |runs| Summary { name: "x", digest: "", runs };
        let summaries = [of(&first), of(&second)];
        let comparison = Comparison { summaries: &summaries };
        let difference = comparison.difference(&summaries[1], "time").expect("three pairs");
        assert_eq!((difference.count, difference.mean), (3, 2.0));
        assert!((difference.half_width.expect("three pairs") - 2.484_138).abs() < 1e-5);
        assert!(!difference.excludes_zero());
        assert_eq!(comparison.difference(&summaries[1], "space"), None);
    }
}
