//! Conditions under which a remedy may help.

use crate::keys::Keys;
use crate::outcome::Outcome;
use results::Waiting;
use units::{BitRate, Bytes, Energy, Power, Quantity, Time};

/// A comparison of something about a run with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    subject: Subject,
    relation: Relation,
    /// A number, a quantity with its unit, or a word; `none` for a key that is left out.
    value: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Subject {
    /// The part of the jobs' critical paths that waits for one of these.
    Share(Vec<Waiting>),
    /// A key of the scenario; any entry of a list for `*`.
    Scenario(String),
    /// A figure of `result.json`.
    Metric(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    More,
    Least,
    Less,
    Most,
    Equal,
    Other,
}

const RELATIONS: [(&str, Relation); 6] = [
    (" >= ", Relation::Least),
    (" <= ", Relation::Most),
    (" == ", Relation::Equal),
    (" != ", Relation::Other),
    (" > ", Relation::More),
    (" < ", Relation::Less),
];

/// The names of shares.
const SHARES: [(&str, &[Waiting]); 11] = [
    ("cpu", &[Waiting::Cpu]),
    ("disk", &[Waiting::Disk]),
    ("transfer", &[Waiting::Transfer]),
    ("queueing", &[Waiting::Queueing]),
    ("recovery", &[Waiting::Recovery]),
    ("tcp-timeout", &[Waiting::TcpTimeout]),
    ("network", &[Waiting::Transfer, Waiting::Queueing, Waiting::Recovery, Waiting::TcpTimeout]),
    ("heartbeat", &[Waiting::Timeout]),
    ("second-attempt", &[Waiting::SecondAttempt]),
    ("slot", &[Waiting::Slot]),
    ("start-up", &[Waiting::StartUp]),
];

impl Condition {
    /// Reads one; the error says what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let split = RELATIONS.iter().find_map(|(sign, relation)| Some((text.split_once(sign)?, *relation)));
        let Some(((subject, value), relation)) = split else {
            return Err("a condition is written \"share.disk >= 0.05\", with one of > >= < <= == !=".to_owned());
        };
        let (subject, value) = (subject.trim(), value.trim().to_owned());
        let subject = match subject.split_once('.') {
            Some(("share", name)) => {
                let known = SHARES.iter().find(|(known, _)| *known == name);
                let (_, parts) = known.ok_or_else(|| unknown_share(name))?;
                Subject::Share(parts.to_vec())
            }
            Some(("scenario", key)) => Subject::Scenario(key.to_owned()),
            _ => {
                study::check_metric(subject)?;
                Subject::Metric(subject.to_owned())
            }
        };
        if matches!(subject, Subject::Share(_) | Subject::Metric(_)) && value.parse::<f64>().is_err() {
            return Err(format!("`{value}` is not a number"));
        }
        Ok(Self { subject, relation, value })
    }

    /// The figure of a run that it names.
    pub fn metric(&self) -> Option<&str> {
        if let Subject::Metric(path) = &self.subject { Some(path) } else { None }
    }

    /// Whether it holds for a scenario and a run of it. What a run does not have equals nothing.
    pub fn holds(&self, keys: &Keys, run: &Outcome) -> bool {
        let wanted = self.value.parse::<f64>().ok();
        match &self.subject {
            Subject::Share(parts) => {
                let share = parts.iter().map(|part| run.share(*part)).sum();
                wanted.is_some_and(|wanted| self.relation.of(share, wanted))
            }
            Subject::Metric(path) => match (run.metrics.get(path).copied(), wanted) {
                (Some(value), Some(wanted)) => self.relation.of(value, wanted),
                _ => self.relation == Relation::Other,
            },
            Subject::Scenario(key) => keys.all(key).iter().any(|value| self.of_key(value.as_deref())),
        }
    }

    fn of_key(&self, value: Option<&str>) -> bool {
        let wanted = self.value.as_str();
        let Some(value) = value else { return (wanted == "none") == (self.relation == Relation::Equal) };
        if let (Ok(value), Ok(wanted)) = (value.parse::<f64>(), wanted.parse::<f64>()) {
            return self.relation.of(value, wanted);
        }
        let compared = quantities::<Time>(value, wanted)
            .or_else(|| quantities::<Bytes>(value, wanted))
            .or_else(|| quantities::<BitRate>(value, wanted))
            .or_else(|| quantities::<Power>(value, wanted))
            .or_else(|| quantities::<Energy>(value, wanted));
        match (compared, self.relation) {
            (Some((value, wanted)), relation) => relation.of(value, wanted),
            (None, Relation::Equal) => value == wanted,
            (None, Relation::Other) => value != wanted,
            // Words have no order.
            (None, _) => false,
        }
    }
}

impl Relation {
    fn of(self, value: f64, wanted: f64) -> bool {
        match self {
            Self::More => value > wanted,
            Self::Least => value >= wanted,
            Self::Less => value < wanted,
            Self::Most => value <= wanted,
            Self::Equal => value == wanted,
            Self::Other => value != wanted,
        }
    }
}

fn quantities<Q: Quantity>(value: &str, wanted: &str) -> Option<(f64, f64)> {
    let of = |text: &str| Some(text.parse::<Q>().ok()?.base() as f64);
    Some((of(value)?, of(wanted)?))
}

fn unknown_share(name: &str) -> String {
    let known = || SHARES.iter().map(|(known, _)| *known);
    let near = units::nearest(name, known());
    let near = near.map_or_else(|| known().collect::<Vec<_>>().join(", "), |near| format!("did you mean `{near}`?"));
    format!("no share is called `{name}`: {near}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Scenario;

    fn holds(text: &str) -> bool {
        let scenario = "[tcp]\ncontrol = \"bbr\"\nmin-rto = \"10 ms\"\n[[job]]\n[[job]]\nworkload = \"wordcount\"\ncombiner = true\n";
        let scenario = Scenario::parse("s.toml", scenario, &[]).unwrap_or_else(|error| panic!("{error}"));
        let shares = Waiting::ALL.map(|part| match part {
            Waiting::Disk => 0.2,
            Waiting::TcpTimeout => 0.1,
            Waiting::Queueing => 0.3,
            _ => 0.0,
        });
        let metrics = [("network.timeouts".to_owned(), 3.0)].into();
        let run = Outcome { shares: shares.to_vec(), metrics, ..Outcome::default() };
        let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        condition.holds(&Keys::of(&scenario), &run)
    }

    #[test]
    fn shares_figures_and_keys_are_compared() {
        for (text, expected) in [
            ("share.disk >= 0.2", true),
            ("share.disk > 0.2", false),
            // Queues and timeouts together.
            ("share.network > 0.39", true),
            ("share.cpu > 0", false),
            ("network.timeouts > 2", true),
            ("network.timeouts < 2", false),
            // The run has no such figure.
            ("network.marks > 0", false),
            ("network.marks != 0", true),
            ("scenario.tcp.control != bbr", false),
            ("scenario.tcp.control == bbr", true),
            ("scenario.tcp.min-rto > 1 ms", true),
            ("scenario.tcp.min-rto > 10000 us", false),
            ("scenario.hdfs.replication > 2", true),
            ("scenario.tcp.queue-threshold == none", true),
            ("scenario.tcp.queue-threshold != none", false),
            ("scenario.job.*.combiner == true", true),
            ("scenario.job.0.combiner == none", true),
            ("scenario.network.shape.*.rate != none", false),
            ("scenario.network.shape.*.rate == none", true),
            // Words have no order.
            ("scenario.tcp.control > a", false),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for (text, says) in [
            ("share.disk", "is written"),
            ("share.disc > 1", "did you mean `disk`?"),
            ("network.timeout > 0", "did you mean `timeouts`?"),
            ("share.disk > much", "`much` is not a number"),
        ] {
            let error = Condition::parse(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
