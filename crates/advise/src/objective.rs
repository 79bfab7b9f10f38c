//! What is to become less.

use crate::outcome::Outcome;
use scenario::Scenario;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// What a remedy is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// The time of jobs from submission to finish, their mean where there are several; without jobs the mean completion
    /// time of traffic. In seconds.
    Time,
    /// Energy of all nodes: between a single job's submission and its end, else of the whole run. In joules.
    Energy,
    /// What it costs by the scenario's prices: of a single job between its submission and its end, else of the whole run.
    Cost,
    /// Yang 2012, equation 4.3: alpha times energy plus 1 - alpha times time, each as a part of the sum of both systems
    /// that are compared.
    Ptc(f64),
}

impl Objective {
    /// The unit of a saving in a scenario.
    pub fn unit(self, scenario: &Scenario) -> String {
        match self {
            Self::Time => "s".to_owned(),
            Self::Energy => "J".to_owned(),
            Self::Cost => scenario.prices().currency,
            Self::Ptc(_) => String::new(),
        }
    }

    /// All names.
    pub const NAMES: [&str; 4] = ["time", "energy", "cost", "ptc"];

    /// Its name without a weight.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Energy => "energy",
            Self::Cost => "cost",
            Self::Ptc(_) => "ptc",
        }
    }

    /// What a run needs to say for this.
    pub const fn needs_energy(self) -> bool {
        matches!(self, Self::Energy | Self::Ptc(_))
    }

    /// The value of a run, for tables; none for a run in which a job failed. Of Ptc it is the run beside itself.
    pub fn value(self, run: &Outcome) -> Option<f64> {
        match self {
            Self::Time => run.time_s,
            Self::Energy => run.time_s.and(run.energy_j),
            Self::Cost => run.time_s.and(run.cost),
            Self::Ptc(_) => run.time_s.and(run.energy_j).map(|_| 0.5),
        }
    }

    /// Whether more comes to its end in the second run than in the first: its jobs, or a hundredth more of the same
    /// flows of traffic.
    pub fn ends(self, base: &Outcome, other: &Outcome) -> Ordering {
        let ends = |run| self.value(run).is_some();
        ends(other).cmp(&ends(base)).then(base.completions(other))
    }

    /// How much less it is in the second run than in the first; none where more comes to its end in one of them.
    pub fn saving(self, base: &Outcome, other: &Outcome) -> Option<f64> {
        if self.ends(base, other) != Ordering::Equal {
            return None;
        }
        let (time, energy) = ((base.time_s?, other.time_s?), base.energy_j.zip(other.energy_j));
        match self {
            Self::Time => Some(time.0 - time.1),
            Self::Energy => energy.map(|(base, other)| base - other),
            Self::Cost => base.cost.zip(other.cost).map(|(base, other)| base - other),
            Self::Ptc(alpha) => {
                let part = |(base, other): (f64, f64)| (base - other) / (base + other);
                Some(alpha * part(energy?) + (1.0 - alpha) * part(time))
            }
        }
    }
}

impl FromStr for Objective {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no objective: there are time, energy, cost, and ptc:ALPHA with ALPHA from 0 to 1");
        match text {
            "time" => Ok(Self::Time),
            "energy" => Ok(Self::Energy),
            "cost" => Ok(Self::Cost),
            _ => {
                let alpha = text.strip_prefix("ptc:").and_then(|alpha| alpha.parse::<f64>().ok());
                alpha.filter(|alpha| (0.0..=1.0).contains(alpha)).map(Self::Ptc).ok_or_else(wrong)
            }
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ptc(alpha) => write!(f, "ptc:{alpha}"),
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(time_s: f64, energy_j: f64) -> Outcome {
        Outcome { time_s: Some(time_s), energy_j: Some(energy_j), ..Outcome::default() }
    }

    /// Yang 2012, section 4.4.3: 153 min and 0.32 kWh natively, 162 min and 0.26 kWh with standby. The document says
    /// that standby has the lower Ptc for alpha above 0.2; its own figures give 0.216.
    #[test]
    fn the_crossover_of_ptc_is_where_the_document_s_figures_put_it() {
        let (native, standby) = (run(153.0 * 60.0, 0.32 * 3.6e6), run(162.0 * 60.0, 0.26 * 3.6e6));
        let saving = |alpha| Objective::Ptc(alpha).saving(&native, &standby).expect("both known");
        assert!(saving(0.21) < 0.0 && saving(0.22) > 0.0);
        assert!((Objective::Time.saving(&native, &standby).expect("known") + 540.0).abs() < 1e-9);
    }

    /// 100 flows, of which the first run completes 40, of 1 s each, and the second 90, of 2 s in the mean: it has the
    /// longer mean, and is no slower. One of a thousand more is as good as none.
    #[test]
    fn a_run_that_completes_more_of_the_same_flows_is_not_slower() {
        let run = |begun, completed, time_s| Outcome { begun, completed, time_s: Some(time_s), ..Outcome::default() };
        let (few, most) = (run(100, 40, 1.0), run(100, 90, 2.0));
        let of =
            |base: &Outcome, other: &Outcome| (Objective::Time.ends(base, other), Objective::Time.saving(base, other));
        assert_eq!(of(&few, &most), (Ordering::Greater, None));
        assert_eq!(of(&most, &few), (Ordering::Less, None));
        assert_eq!(of(&run(1_000, 900, 2.0), &run(1_000, 901, 1.5)), (Ordering::Equal, Some(0.5)));
        assert_eq!(of(&run(1_000, 990, 2.0), &run(1_000, 1_000, 1.5)), (Ordering::Greater, None));
        // One flow after the other: the faster run has more of them.
        assert_eq!(of(&run(40, 40, 2.0), &run(80, 80, 1.0)), (Ordering::Equal, Some(1.0)));
        assert_eq!(of(&few, &Outcome { time_s: None, ..most }).0, Ordering::Less);
    }

    #[test]
    fn words_name_objectives() {
        assert_eq!("ptc:0.3".parse(), Ok(Objective::Ptc(0.3)));
        assert!(
            Objective::NAMES
                .iter()
                .all(|name| format!("{name}:0.5").parse().or(name.parse()).map(Objective::name) == Ok(*name))
        );
        for wrong in ["ptc:2", "ptc", "speed"] {
            assert!(wrong.parse::<Objective>().expect_err(wrong).contains("ptc:ALPHA"));
        }
        assert_eq!(Objective::Energy.saving(&run(1.0, 5.0), &run(2.0, 3.0)), Some(2.0));
        assert_eq!(Objective::Energy.saving(&run(1.0, 5.0), &Outcome::default()), None, "a job that failed");
    }
}
