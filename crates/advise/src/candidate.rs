//! Scenarios that a search compares: the one as it is, and it with remedies.

use crate::search::Level;
use crate::setting::Setting;
use crate::variation::Variation;
use scenario::Scenario;

/// Remedies of a set, each with its setting. The empty set is the scenario as it is.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// The remedies by their positions in the file, ascending, and what each sets.
    pub parts: Vec<(usize, Setting)>,
}

impl Candidate {
    /// All assignments, in the order of the remedies.
    pub fn assignments(&self) -> Vec<String> {
        self.parts.iter().flat_map(|(_, setting)| setting.assignments.clone()).collect()
    }

    /// This set with one more.
    pub fn with(&self, part: &(usize, Setting)) -> Self {
        let mut parts = self.parts.clone();
        parts.push(part.clone());
        parts.sort_by_key(|(remedy, _)| *remedy);
        Self { parts }
    }

    /// The scenario: the one as it is, with what the set and a variation change. The error is in words.
    pub fn scenario(&self, base: &Scenario, variation: &Variation, level: Level) -> Result<Scenario, String> {
        let mut assignments = [self.assignments(), variation.assignments.clone()].concat();
        if level == Level::Flow {
            assignments.push("run.fidelity=flow".to_owned());
        }
        if assignments.is_empty() {
            return Ok(base.clone());
        }
        let changed = sim::parse(&base.name, &base.to_toml(), &assignments).map_err(|error| {
            let said = error.problems.first();
            said.map_or_else(|| error.to_string(), |problem| problem.message.clone())
        })?;
        Ok(changed)
    }
}

/// The keys that assignments set.
pub fn keys(assignments: &[String]) -> impl Iterator<Item = &str> {
    assignments.iter().map(|assignment| assignment.split('=').next().unwrap_or_default())
}

/// Whether two lists of assignments set the same key, or one a part of what the other sets.
pub fn clash(a: &[String], b: &[String]) -> bool {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    keys(a).any(|a| keys(b).any(|b| within(a, b) || within(b, a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_that_set_the_same_clash() {
        let of = |text: &str| vec![format!("{text}=1")];
        assert!(clash(&of("tcp.control"), &of("tcp.control")));
        assert!(clash(&of("network.queue"), &of("network.queue.limit")));
        assert!(!clash(&of("network.queue"), &of("network.queued")));
        assert!(!clash(&of("tcp.ecn"), &of("tcp.control")));
    }
}
