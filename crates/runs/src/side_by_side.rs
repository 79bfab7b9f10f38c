//! Scenarios run over the same seeds.

use crate::{Effort, Error, Figures, Summary, run_all, seeds};
use scenario::Scenario;

/// Scenarios that ran over the same seeds.
#[derive(Clone, Debug)]
pub struct SideBySide {
    /// Their names.
    pub names: Vec<String>,
    digests: Vec<String>,
    /// The runs of each, one scenario after the other.
    pub figures: Vec<Figures>,
    runs: usize,
}

impl SideBySide {
    /// Runs each scenario with so many seeds, from the first one's on.
    pub fn run(
        mut scenarios: Vec<Scenario>,
        names: Vec<String>,
        runs: u32,
        effort: &Effort<'_>,
    ) -> Result<Self, Error> {
        let first = scenarios.first().map_or(0, |scenario| scenario.run.seed);
        for scenario in &mut scenarios {
            scenario.run.seed = first;
        }
        let all: Vec<_> = scenarios.iter().flat_map(|scenario| seeds(scenario, runs)).collect();
        let figures = run_all(&all, effort, |result| Ok(Figures::of(&result)))?;
        let digests = scenarios.iter().map(Scenario::digest).collect();
        Ok(Self { names, digests, figures, runs: runs as usize })
    }

    /// The runs of each scenario, for a [`crate::Comparison`].
    pub fn summaries(&self) -> Vec<Summary<'_>> {
        let named = self.names.iter().zip(&self.digests).zip(self.figures.chunks(self.runs.max(1)));
        named.map(|((name, digest), runs)| Summary { name, digest, runs }).collect()
    }
}
