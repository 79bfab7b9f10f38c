//! The node of a scenario that each host of a history becomes.

use crate::JobHistory;
use std::collections::{BTreeMap, BTreeSet};

/// The hosts of a history as workers, numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    numbers: BTreeMap<String, u32>,
}

impl Hosts {
    /// All hosts that ran an attempt or an AppMaster, or hold a split.
    ///
    /// Hosts named `<prefix><number>` keep their numbers if these are numbers of the cluster's workers. Otherwise they
    /// are numbered in the order of their names, numbers in names compared as numbers.
    pub fn of(job: &JobHistory, workers: Option<u32>) -> Self {
        Self::of_all(&[job], workers)
    }
    /// The hosts of several jobs on one cluster.
    pub fn of_all(jobs: &[&JobHistory], workers: Option<u32>) -> Self {
        let tasks = || jobs.iter().flat_map(|job| job.maps.iter().chain(&job.reduces));
        let attempts = tasks().flat_map(|t| &t.attempts).map(|a| &a.host);
        // Of a file that is near no node (an object store's) Hadoop says that it is on `localhost`.
        let preferred = tasks().flat_map(|t| &t.preferred_hosts).filter(|name| *name != "localhost");
        let masters = jobs.iter().flat_map(|job| &job.masters).map(|master| &master.host);
        let names: BTreeSet<_> = attempts.chain(preferred).chain(masters).collect();
        let mut names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).cloned().collect();
        names.sort_by_cached_key(|name| order(name));

        let one_prefix = names.windows(2).all(|pair| split(&pair[0]).0 == split(&pair[1]).0);
        let last = workers.unwrap_or(names.len() as u32);
        let own: Option<Vec<u32>> = names.iter().map(|n| split(n).1.filter(|i| (1..=last).contains(i))).collect();
        let distinct = |numbers: &[u32]| numbers.windows(2).all(|pair| pair[0] != pair[1]);
        let numbers = match own {
            Some(numbers) if one_prefix && distinct(&numbers) => names.into_iter().zip(numbers).collect(),
            _ => names.into_iter().zip(1..).collect(),
        };
        Self { numbers }
    }

    /// The worker number of a host.
    pub fn number(&self, host: &str) -> Option<u32> {
        self.numbers.get(host).copied()
    }

    /// The number of workers that a cluster needs for these hosts.
    pub fn workers(&self) -> u32 {
        self.numbers.values().max().copied().unwrap_or(1)
    }

    /// Hosts with their numbers, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.numbers.iter().map(|(name, number)| (name.as_str(), *number))
    }
}

/// The order in which hosts are numbered: by the text of their names, then by the number in it.
pub fn order(name: &str) -> (String, Option<u32>, String) {
    let (prefix, number) = split(name);
    (prefix.to_owned(), number, name.to_owned())
}

/// A name's first label, split into prefix and final number: `("w", Some(3))` from `w3.example.org`.
fn split(name: &str) -> (&str, Option<u32>) {
    let label = name.split('.').next().unwrap_or(name);
    let prefix = label.trim_end_matches(|c: char| c.is_ascii_digit());
    (prefix, label[prefix.len()..].parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;

    fn job(hosts: &[&str]) -> JobHistory {
        let hosts = hosts.iter().map(|&h| h.to_owned()).collect();
        JobHistory { maps: vec![Task { preferred_hosts: hosts, ..Task::default() }], ..JobHistory::default() }
    }

    #[test]
    fn numbered_hosts_keep_their_numbers() {
        let hosts = Hosts::of(&job(&["w4.example.org", "w1.example.org"]), Some(4));
        assert_eq!(hosts.iter().collect::<Vec<_>>(), [("w1.example.org", 1), ("w4.example.org", 4)]);
        assert_eq!(hosts.workers(), 4);
    }

    #[test]
    fn others_are_numbered_in_the_order_of_their_names() {
        for names in [["node9", "node10"], ["ant", "bee"], ["a1", "b1"]] {
            let hosts = Hosts::of(&job(&names), None);
            assert_eq!((hosts.number(names[0]), hosts.number(names[1])), (Some(1), Some(2)), "{names:?}");
        }
    }
}
