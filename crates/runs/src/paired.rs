//! Scenarios side by side over the same seeds.

use crate::Summary;
use crate::figures::estimate_of_all;
use results::Estimate;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;

/// Scenarios that ran over the same seeds; the first is what the others are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The runs of each; not empty.
    pub summaries: &'a [Summary<'a>],
}

impl<'a> Comparison<'a> {
    /// Names and units of all figures, in the order of a scenario that has most of them.
    pub fn names(&self) -> Vec<(&'a str, &'a str)> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        let mut of_each: Vec<Vec<(&str, &str)>> = self.summaries.iter().map(Summary::names).collect();
        of_each.sort_by_key(|names| Reverse(names.len()));
        for name in of_each.into_iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The mean difference of a figure from the first scenario's, seed by seed: runs of one seed draw the same random
    /// numbers, so their differences vary less than they do. An interval only where both have it with all seeds.
    pub fn difference(&self, other: &Summary<'_>, name: &str) -> Option<Estimate> {
        let pairs = self.summaries.first()?.runs.iter().zip(other.runs);
        estimate_of_all(pairs.map(|(base, other)| Some(other.get(name)? - base.get(name)?)))
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
                    value.insert("count".to_owned(), json!(estimate.count));
                }
                if let Some(difference) = self.difference(summary, name) {
                    value.insert("difference".to_owned(), json!(difference.mean));
                    value.insert("difference_half_width_95".to_owned(), json!(difference.half_width));
                    value.insert("difference_count".to_owned(), json!(difference.count));
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

    /// The first seed was cut before its time: the time still stands first.
    #[test]
    fn a_run_that_was_cut_does_not_set_the_order() {
        let figure = |name: &str| Figure { name: name.to_owned(), unit: String::new(), value: 1.0 };
        let run = |seed, names: &[&str]| Figures {
            seed,
            failure: None,
            values: names.iter().map(|name| figure(name)).collect(),
            compared: Vec::new(),
        };
        let (cut, whole) = (run(1, &["drops"]), run(2, &["time", "drops"]));
        let (first, second) = ([cut.clone(), cut.clone()], [cut, whole]);
        let of = |runs| Summary { name: "x", digest: "", runs };
        let summaries = [of(&first), of(&second)];
        assert_eq!(summaries[1].names(), [("time", ""), ("drops", "")]);
        assert_eq!(Comparison { summaries: &summaries }.names(), [("time", ""), ("drops", "")]);
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

    /// Of three seeds the second does not end with the second scenario: what is left of it has a mean of 707, which is
    /// no figure of all its seeds.
    #[test]
    fn a_seed_that_did_not_end_leaves_no_interval() {
        let (first, mut second) = (runs([10.0, 120.0, 1400.0]), runs([11.0, 122.0, 1403.0]));
        second[1].values.clear();
        let of = |runs| Summary { name: "x", digest: "", runs };
        let summaries = [of(&first), of(&second)];
        let comparison = Comparison { summaries: &summaries };
        let both = [summaries[1].estimate("time"), comparison.difference(&summaries[1], "time")];
        let both = both.map(|estimate| estimate.map(|of| (of.count, of.mean, of.half_width, of.excludes_zero())));
        assert_eq!(both, [Some((2, 707.0, None, false)), Some((2, 2.0, None, false))]);
        assert!(summaries[0].estimate("time").is_some_and(|all| all.half_width.is_some()));
        let json: Value = serde_json::from_str(&comparison.to_json()).expect("JSON");
        let said = &json["figures"][0]["scenarios"][1];
        assert_eq!(
            (&said["count"], &said["difference_count"], &said["half_width_95"]),
            (&json!(2), &json!(2), &Value::Null)
        );
    }
}
