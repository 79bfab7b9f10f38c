//! A scenario's faults as a testbed makes them, and those that it cannot make.

use scenario::{Check, Fault, Scenario, node_name, node_number};
use units::{BitRate, Time};

/// A fault that a testbed makes.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// When it begins, after the job's submission.
    pub at: Time,
    /// How long it lasts; `None` for as long as the job.
    pub length: Option<Time>,
    /// What happens.
    pub what: What,
}

/// What a fault does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum What {
    /// All processes of a worker end, and its link goes down; with the fault's end its daemons start again.
    Crash {
        /// The host, from 0, the master.
        host: usize,
    },
    /// A worker's disk goes at a part of its rate.
    SlowDisk {
        /// The host.
        host: usize,
        /// The part.
        part: f64,
    },
    /// A host's link carries nothing.
    LinkDown {
        /// The host.
        host: usize,
    },
    /// A host's link goes at a part of its rate.
    SlowLink {
        /// The host.
        host: usize,
        /// The part.
        part: f64,
        /// The rate of a link that the kernel makes as fast as it can.
        nominal: BitRate,
    },
}

impl What {
    /// The host that it concerns.
    pub const fn host(self) -> usize {
        match self {
            Self::Crash { host }
            | Self::LinkDown { host }
            | Self::SlowDisk { host, .. }
            | Self::SlowLink { host, .. } => host,
        }
    }

    /// What it does, in words.
    pub fn words(self) -> String {
        let name = node_name(u32::try_from(self.host()).unwrap_or(u32::MAX));
        match self {
            Self::Crash { .. } => format!("{name} is killed"),
            Self::SlowDisk { part, .. } => format!("the disk of {name} goes at {part} of its rate"),
            Self::LinkDown { .. } => format!("the link of {name} is down"),
            Self::SlowLink { part, .. } => format!("the link of {name} goes at {part} of its rate"),
        }
    }
}

/// The faults of a scenario, in its order. What [`check`] refuses is left out.
pub fn planned(scenario: &Scenario) -> Vec<Planned> {
    let nominal = scenario.network.rate;
    let plan = |fault: &Fault| {
        let host = host_of(fault)?;
        let what = match (fault.slow, fault.disk, &fault.link) {
            (None, None, None) => What::Crash { host },
            (Some(part), Some(_), None) => What::SlowDisk { host, part },
            (None, None, Some(_)) => What::LinkDown { host },
            (Some(part), None, Some(_)) => What::SlowLink { host, part, nominal },
            _ => return None,
        };
        let length = if fault.slow.is_some() { fault.slow_for } else { fault.down_for };
        Some(Planned { at: fault.at, length, what })
    };
    scenario.faults.iter().filter_map(plan).collect()
}

/// Hosts that have a disk of their own, as it becomes slow.
pub fn slow_disks(scenario: &Scenario) -> Vec<usize> {
    let mut hosts: Vec<usize> = Vec::new();
    for planned in planned(scenario) {
        if let What::SlowDisk { host, .. } = planned.what
            && !hosts.contains(&host)
        {
            hosts.push(host);
        }
    }
    hosts
}

/// The host that a fault names, by itself or by its link.
fn host_of(fault: &Fault) -> Option<usize> {
    let name = match &fault.link {
        Some(link) => link_of(link)?,
        None => fault.node.as_deref()?,
    };
    node_number(name).map(|number| number as usize)
}

/// The node whose link a name means: "worker-3", or that and its switch.
fn link_of(name: &str) -> Option<&str> {
    let ends = name.split_once("--").map_or([name, ""], |(a, b)| [a, b]);
    ends.into_iter().map(str::trim).find(|end| node_number(end).is_some())
}

/// Says which faults of a scenario a testbed cannot make, each with its place.
pub fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    for (i, fault) in scenario.faults.iter().enumerate() {
        let mut says = |key: &str, message: &str, help: &str| check.says(&format!("faults.{i}.{key}"), message, help);
        let simulate = "leave it out, or simulate it by `trunkline run`";
        if let Some(link) = &fault.link {
            if link.contains("->") || link.contains('#') {
                says("link", "a link of the testbed fails both ways and whole", "a node's name");
            } else if link_of(link).is_none() {
                says("link", "the testbed's links are those of nodes", "a node's name, `worker-1` say");
            }
            continue;
        }
        let name = fault.node.as_deref().unwrap_or_default();
        if fault.member.is_some() {
            says("member", "the testbed's disks are no arrays", simulate);
        }
        match (fault.disk, fault.slow) {
            (Some(_), None) => says("disk", "a disk of the testbed becomes slow, and is not lost", "`slow`"),
            (Some(1..), _) => says("disk", "a node of the testbed has one disk", "`disk = 0`"),
            (Some(_), Some(_)) if !has_own_disk(scenario) => says(
                "disk",
                "nodes of the testbed share the disk of this machine: all would be slow",
                "`cluster.host = { own-disks = true, ... }`",
            ),
            (None, Some(_)) => says("slow", "nodes of the testbed share the cores of this machine", simulate),
            (None, None) if name == "master" => {
                says("node", "without its master the testbed has neither HDFS nor YARN", "a worker");
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

/// Whether each node has a disk of its own.
fn has_own_disk(scenario: &Scenario) -> bool {
    scenario.cluster.host.as_ref().is_none_or(|host| host.own_disks || host.nodes == Some(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Result<Vec<Planned>, String> {
        let text = format!("{text}\n[cluster]\nhost = {{ own-disks = true }}\n[job]\n");
        let read = Scenario::parse_with("s.toml", &text, &[], check);
        read.map(|(scenario, _)| planned(&scenario)).map_err(|error| error.to_string())
    }

    #[test]
    fn faults_of_a_scenario_are_planned_in_its_words() {
        let all = faults(
            "[[faults]]\nat = \"5 s\"\nnode = \"worker-2\"\ndown-for = \"20 s\"\n\
             [[faults]]\nat = \"1 s\"\nnode = \"worker-1\"\ndisk = 0\nslow = 0.1\nslow-for = \"3 s\"\n\
             [[faults]]\nlink = \"worker-4 -- switch\"\ndown-for = \"4 s\"\n\
             [[faults]]\nlink = \"master\"\nslow = 0.5\n",
        )
        .expect("a testbed can make them");
        let what: Vec<What> = all.iter().map(|planned| planned.what).collect();
        let nominal = BitRate::from_gbps(1);
        assert_eq!(
            what,
            [
                What::Crash { host: 2 },
                What::SlowDisk { host: 1, part: 0.1 },
                What::LinkDown { host: 4 },
                What::SlowLink { host: 0, part: 0.5, nominal },
            ]
        );
        let lengths: Vec<Option<Time>> = all.iter().map(|planned| planned.length).collect();
        assert_eq!(lengths, [20, 3, 4].map(|s| Some(Time::from_secs(s))).into_iter().chain([None]).collect::<Vec<_>>());
    }

    #[test]
    fn what_a_testbed_cannot_make_is_refused_at_its_key() {
        for (fault, place) in [
            ("node = \"master\"", "s.toml:2:8: without its master"),
            ("node = \"worker-1\"\nslow = 0.5", "s.toml:3:8: nodes of the testbed share the cores"),
            ("node = \"worker-1\"\ndisk = 0", "s.toml:3:8: a disk of the testbed becomes slow"),
            ("node = \"worker-1\"\ndisk = 1\nslow = 0.5", "s.toml:3:8: a node of the testbed has one disk"),
            ("node = \"worker-1\"\ndisk = 0\nmember = 1\nslow = 0.5", "s.toml:4:10: the testbed's disks are no arrays"),
            ("link = \"worker-1 -> switch\"\nsilent = true", "s.toml:2:8: a link of the testbed fails both ways"),
            ("link = \"rack-1 -- core\"", "s.toml:2:8: the testbed's links are those of nodes"),
        ] {
            let said = faults(&format!("[[faults]]\n{fault}")).expect_err(fault);
            assert!(said.contains(place), "{fault}: {said}");
        }
        let shared = "[[faults]]\nnode = \"worker-1\"\ndisk = 0\nslow = 0.5\n[cluster.host]\ncores = 2\n[job]\n";
        let said = Scenario::parse_with("s.toml", shared, &[], check).expect_err("one disk of all").to_string();
        assert!(said.contains("s.toml:3:8: nodes of the testbed share the disk"), "{said}");
        let spark = "[[faults]]\nnode = \"worker-1\"\ndown-for = \"9 s\"\n[spark]\n[[spark.stage]]\nname = \"a\"\n";
        for text in [spark.to_owned(), spark.replace("[spark]\n", "[spark.yarn]\n")] {
            assert!(Scenario::parse_with("s.toml", &text, &[], check).is_ok(), "Workers and NodeManagers come back");
        }
    }
}
