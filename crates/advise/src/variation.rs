//! Other days of the same cluster, on which a set of remedies must not hurt: without losses, with a crash, at other
//! rates.

use crate::keys::Keys;
use crate::setting::multiplied;
use units::Time;

/// A change to the scenario that no remedy makes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    /// What differs, in words; empty for the scenario as it is.
    pub name: String,
    /// The factor on all rates, if that is what differs.
    pub rate: Option<f64>,
    /// Assignments `section.key=value`.
    pub assignments: Vec<String>,
}

/// Keys of the probability of a loss, and of rates.
const LOSSES: [&str; 3] = ["network.loss", "network.core.loss", "network.link.*.loss"];
const RATES: [&str; 5] =
    ["network.rate", "network.core.rate", "network.shape.*.rate", "network.link.*.rate", "network.bond.*.rate"];
/// Factors on rates.
const FACTORS: [f64; 4] = [0.25, 0.5, 2.0, 4.0];
/// A crashed worker is back after this time.
const DOWN: Time = Time::from_secs(60);

/// The days on which a set is tried, for a scenario whose jobs take that long.
pub fn variations(keys: &Keys, job_s: f64) -> Vec<Variation> {
    let mut all = vec![Variation::default()];
    let lossy = |path: &str| keys.get(path).and_then(|loss| loss.parse::<f64>().ok()).is_some_and(|loss| loss > 0.0);
    let losses: Vec<String> = LOSSES.iter().flat_map(|path| keys.expand(path)).filter(|path| lossy(path)).collect();
    if !losses.is_empty() {
        let assignments = losses.iter().map(|path| format!("{path}=0")).collect();
        all.push(Variation { name: "without losses".to_owned(), assignments, ..Variation::default() });
    }
    let has_job = !keys.expand("job.*.name").is_empty();
    if keys.expand("faults.*.at").is_empty() && has_job {
        let at = Time::from_secs_f64(job_s / 2.0);
        let fault = format!(
            "faults=[{{ at = \"{} ms\", node = \"worker-1\", down-for = \"{} s\" }}]",
            at.as_us() / 1_000,
            DOWN.as_us() / 1_000_000
        );
        let name = format!("with worker-1 down for {DOWN} in the middle of it");
        all.push(Variation { name, assignments: vec![fault], ..Variation::default() });
    }
    for factor in FACTORS {
        let assignments: Vec<String> = RATES
            .iter()
            .flat_map(|path| keys.expand(path))
            .filter_map(|path| Some(format!("{path}={}", multiplied(&keys.get(&path)?, factor)?)))
            .collect();
        if !assignments.is_empty() {
            let name = format!("at {factor} times the network's rates");
            all.push(Variation { name, rate: Some(factor), assignments });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Scenario;

    fn of(text: &str) -> Vec<Variation> {
        variations(&Keys::of(&Scenario::parse("s.toml", text, &[]).expect("valid")), 40.0)
    }

    #[test]
    fn days_are_those_that_the_scenario_is_not() {
        let shaped = "[[network.shape]]\nrate = \"10 Mbit/s\"\n[job]\n";
        let days = of(shaped);
        let names: Vec<&str> = days.iter().map(|day| day.name.as_str()).collect();
        assert_eq!(names.len(), 6, "{names:?}");
        assert!(days[1].assignments[0].contains("at = \"20000 ms\""), "{:?}", days[1]);
        assert_eq!(days[2].assignments, ["network.rate=250 Mbit/s", "network.shape.0.rate=2500 Kbit/s"]);
        let lossy = of("[network]\nloss = 0.01\n[[faults]]\nat = \"1 s\"\nnode = \"worker-1\"\n[job]\n");
        assert_eq!(lossy[1].name, "without losses");
        assert!(lossy.iter().all(|day| !day.name.contains("down for")), "it has a fault of its own");
        assert!(of("[[traffic]]\n").iter().all(|day| !day.name.contains("down for")), "no job is to survive one");
    }
}
