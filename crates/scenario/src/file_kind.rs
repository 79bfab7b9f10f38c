//! Which of Trunkline's files a text is, by the keys that only one of them has. Who gives a sweep where a scenario
//! belongs is told so, in place of an unknown key for each of its tables.

use super::problem::Problems;
use super::tree::{Tree, Value};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// What a run is of.
    Scenario,
    /// A scenario over values of its keys.
    Sweep,
    /// A published experiment.
    Study,
    /// Further remedies of `trunkline advise`.
    Remedies,
    /// Disks of a cluster, for a day.
    PowerPlan,
    /// The configuration of the daemon for disks.
    PowerDaemon,
    /// What a recorded run of a real job was.
    RecordedRun,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Scenario,
        Self::Sweep,
        Self::Study,
        Self::Remedies,
        Self::PowerPlan,
        Self::PowerDaemon,
        Self::RecordedRun,
    ];

    /// Keys at the top that no other kind has.
    pub const fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::Scenario => &[
                "cluster",
                "node",
                "storage",
                "network",
                "mobility",
                "tcp",
                "hdfs",
                "object-store",
                "master",
                "mapreduce",
                "job",
                "spark",
                "traffic",
                "faults",
                "run",
            ],
            Self::Sweep => &["sweep", "zip", "metrics"],
            Self::Study => &["figure", "model", "unknown", "quick"],
            Self::Remedies => &["remedy"],
            Self::PowerPlan => &["nodes", "primary-disks", "backup-disks", "replication", "recorded-nodes"],
            Self::PowerDaemon => &["disk", "socket", "hints", "at-end"],
            Self::RecordedRun => &["histories", "interface_bytes", "client_wall_s"],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "a scenario",
            Self::Sweep => "the file of a sweep",
            Self::Study => "the file of a study",
            Self::Remedies => "a file of remedies",
            Self::PowerPlan => "a plan of disks",
            Self::PowerDaemon => "a configuration of the daemon for disks",
            Self::RecordedRun => "the description of a recorded run",
        }
    }

    /// What such a file holds.
    const fn holds(self) -> &'static str {
        match self {
            Self::Scenario => "tables such as [cluster], [network] and [job]",
            Self::Sweep => "`scenario = \"FILE.toml\"` and, below [sweep], the keys to vary with their values",
            Self::Study => "`scenario = \"FILE.toml\"` and [[figure]]",
            Self::Remedies => "[[remedy]]",
            Self::PowerPlan => "`nodes`, `primary-disks`, `backup-disks` and [[power]]",
            Self::PowerDaemon => "[power] and [[disk]]",
            Self::RecordedRun => "`histories` and [configuration]",
        }
    }

    /// The commands that take such a file.
    const fn taken_by(self) -> &'static str {
        match self {
            Self::Scenario => "`trunkline run`, `compare`, `estimate` and `advise` take",
            Self::Sweep => "`trunkline sweep` takes",
            Self::Study => "`trunkline study`, with the name of its folder, takes",
            Self::Remedies => "`trunkline advise --remedies` takes",
            Self::PowerPlan => "`trunkline power plan` takes",
            Self::PowerDaemon => "`trunkline power daemon` takes",
            Self::RecordedRun => "`trunkline import --run` takes",
        }
    }

    /// The kind of a text, if it is TOML and has keys of one.
    pub fn of(text: &str) -> Option<Self> {
        let mut problems = Problems::default();
        let tree = Tree::parse(text, 0, &mut problems);
        let Value::Table(entries) = &tree.value else { return None };
        let is = |kind: &Self| entries.iter().any(|entry| kind.own_keys().contains(&entry.key.as_str()));
        Self::ALL.into_iter().find(|kind| problems.is_empty() && is(kind))
    }

    /// What it is and who takes it, in words.
    pub fn described(self) -> String {
        format!("{}: {} this one", self.name(), self.taken_by())
    }

    /// Says it where a text is to be of this kind, has none of its own keys, and has those of another kind.
    pub fn expect(self, tree: &Tree, problems: &mut Problems) {
        let Value::Table(entries) = &tree.value else { return };
        let first = |kind: Self| entries.iter().find(|entry| kind.own_keys().contains(&entry.key.as_str()));
        if !problems.is_empty() || first(self).is_some() {
            return;
        }
        let Some((other, entry)) = Self::ALL.iter().find_map(|kind| Some((*kind, first(*kind)?))) else { return };
        let message = format!("this is {}, not {}", other.name(), self.name());
        let help = format!("{} has {}; {} this one", self.name(), self.holds(), other.taken_by());
        problems.add_with_help(&entry.key_span, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::FileKind;
    use crate::key::Section;
    use crate::{PowerDaemon, Scenario, StoragePlan};

    #[test]
    fn own_keys_are_keys_of_their_kind_alone() {
        let kinds = [
            (FileKind::Scenario, Scenario::key_names()),
            (FileKind::PowerPlan, StoragePlan::key_names()),
            (FileKind::PowerDaemon, PowerDaemon::key_names()),
        ];
        for kind in FileKind::ALL {
            for key in kind.own_keys() {
                for (other, keys) in &kinds {
                    assert_eq!(keys.iter().any(|known| known == key), kind == *other, "{kind:?} {other:?} {key}");
                }
            }
        }
    }
}
