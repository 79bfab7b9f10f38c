//! Time and energy of scenarios side by side, and those that no other beats in both.

use serde::Serialize;

/// A scenario by what it takes and draws, as means over its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TradeOff {
    /// The scenario.
    pub name: String,
    /// Seconds.
    pub time_s: f64,
    /// Joules.
    pub energy_j: f64,
    /// Whether no other is at most as long and draws at most as much, and less of one of them (the Pareto front).
    pub on_front: bool,
}

impl TradeOff {
    /// Of names with their seconds and joules, in the same order.
    pub fn of(scenarios: &[(String, f64, f64)]) -> Vec<Self> {
        let beaten = |(_, time, energy): &(String, f64, f64)| {
            scenarios.iter().any(|(_, t, e)| t <= time && e <= energy && (t < time || e < energy))
        };
        let one = |scenario: &(String, f64, f64)| {
            let (name, time_s, energy_j) = scenario.clone();
            Self { name, time_s, energy_j, on_front: !beaten(scenario) }
        };
        scenarios.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: b is shorter than a and draws more, so neither beats the other; c is beaten by a; d equals a in time and
    /// draws more; e is a again.
    #[test]
    fn what_another_beats_in_both_is_not_on_the_front() {
        let of = |name: &str, time: f64, energy: f64| (name.to_owned(), time, energy);
        let all = [of("a", 10.0, 5.0), of("b", 8.0, 7.0), of("c", 11.0, 6.0), of("d", 10.0, 5.5), of("e", 10.0, 5.0)];
        let front: Vec<String> =
            TradeOff::of(&all).into_iter().filter(|one| one.on_front).map(|one| one.name).collect();
        assert_eq!(front, ["a", "b", "e"]);
    }
}
