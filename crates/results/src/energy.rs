//! Energy of nodes and their radios.

use super::disk_power::{DISKS_ENERGY, DisksEnergy};
use super::metrics::{Metrics, figure};
use super::value::Value;
use units::{Energy, Time};

/// Energy of a run, where the scenario says what its hardware draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyUse {
    /// Nodes whose power is known.
    pub nodes: Vec<NodeEnergy>,
    /// Energy of all of them from the submission of a job to its end, by job; `None` for a job that has not ended.
    /// Exact to a step of the sampled series.
    pub jobs: Vec<Option<Energy>>,
    /// The disks, where the scenario says what they draw.
    pub disks: Option<DisksEnergy>,
}

/// Energy of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeEnergy {
    /// The node: a row of `nodes`.
    pub node: u32,
    /// Energy for being on, screen aside.
    pub idle: Energy,
    /// Energy of the screen.
    pub screen: Energy,
    /// Energy of busy cores.
    pub processor: Energy,
    /// Energy of the radio.
    pub radio: Energy,
    /// Energy of its disks, where the scenario says what they draw; else it is part of `idle`. Disks that nodes share
    /// count for the first of these.
    pub disks: Option<Energy>,
    /// Efficiency of its power supply, 0 to 1.
    pub supply: f64,
    /// Capacity of the battery, and its charge at the end.
    pub battery: Option<(Energy, Energy)>,
    /// Time at which the battery was empty and the node went down for good.
    pub empty: Option<Time>,
    /// Time for which the processor was throttled, and how often throttling began.
    pub throttled: (Time, u32),
}

/// Time that a node's radio spent in each state. The times add up to the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioUse {
    /// Sending.
    pub transmit: Time,
    /// Receiving a frame.
    pub receive: Time,
    /// Awake, neither sending nor receiving.
    pub listen: Time,
    /// Asleep between beacons.
    pub sleep: Time,
    /// Off, with its node down.
    pub off: Time,
}

impl NodeEnergy {
    /// Energy of the whole node.
    pub fn total(&self) -> Energy {
        self.idle + self.screen + self.processor + self.radio + self.disks.unwrap_or_default()
    }
    /// Energy that its power supply drew at the wall.
    pub fn wall(&self) -> Energy {
        if self.supply < 1.0 { Energy::from_joules(self.total().as_joules() / self.supply) } else { self.total() }
    }
}

impl EnergyUse {
    /// Energy of all nodes.
    pub fn total(&self) -> Energy {
        match self.disks {
            // Disks are all that is known.
            Some(disks) if self.nodes.is_empty() => disks.drawn,
            _ => self.nodes.iter().map(NodeEnergy::total).sum(),
        }
    }
    /// When the first battery was empty.
    pub fn first_empty(&self) -> Option<Time> {
        self.nodes.iter().filter_map(|node| node.empty).min()
    }
}

/// Energy of a run.
pub static ENERGY: Metrics<EnergyUse> = Metrics {
    name: "energy",
    what: "What nodes have drawn; null where no hardware in the scenario says it.",
    file: None,
    metrics: &[
        figure("total_j", "Drawn by all nodes in the whole run.").energy(|all| all.total()),
        figure(
            "jobs_j",
            "Drawn by all nodes between a job's submission and its end, for each job; null if it has not ended.",
        )
        .entries("J", |all| Value::List(all.jobs.iter().map(|job| job.map(Energy::as_joules).into()).collect())),
        figure(
            "power_time_js",
            "Energy times time (PowerTime of Yang 2012, Eq. 4.2), for each job; null if it has not ended.",
        )
        .may_be_absent()
        .entries("J s", |all| {
            let time =
                |number: usize| all.run.jobs.get(number).and_then(|job| Some((job.finish? - job.submit).as_secs_f64()));
            let of = |(number, job): (usize, &Option<Energy>)| Some(job.as_ref()?.as_joules() * time(number)?);
            let list = all.jobs.iter().enumerate().map(|job| of(job).into());
            if all.disks.is_some() { Value::List(list.collect()) } else { Value::Null }
        }),
        figure("wall_j", "Drawn at the wall by all nodes, losses of their power supplies included.")
            .may_be_absent()
            .optional_energy(|all| all.disks.map(|_| all.nodes.iter().map(NodeEnergy::wall).sum())),
        figure("disks", "What the disks drew, where the scenario says it.")
            .may_be_absent()
            .inner(&DISKS_ENERGY, |all| DISKS_ENERGY.maybe(all.run, all.disks.as_ref())),
        figure("first_empty_s", "When the first battery was empty.").optional_time(|all| all.first_empty()),
        figure("nodes", "Each node whose draw is known.")
            .inner(&NODE_ENERGY, |all| NODE_ENERGY.list(all.run, &all.nodes)),
    ],
};

/// Energy of nodes.
pub static NODE_ENERGY: Metrics<NodeEnergy> = Metrics {
    name: "energy of a node",
    what: "What a node has drawn.",
    file: None,
    metrics: &[
        figure("name", "The node.").text(|drawn| drawn.node(drawn.node)),
        figure("total_j", "Drawn in all.").energy(|drawn| drawn.total()),
        figure("idle_j", "Drawn for being on.").energy(|drawn| drawn.idle),
        figure("screen_j", "Drawn by its screen.").energy(|drawn| drawn.screen),
        figure("cpu_j", "Drawn for the work of its cores.").energy(|drawn| drawn.processor),
        figure("radio_j", "Drawn by its radio.").energy(|drawn| drawn.radio),
        figure(
            "disks_j",
            "Drawn by its disks, where the scenario says what these draw; else that is part of `idle_j`.",
        )
        .may_be_absent()
        .optional_energy(|drawn| drawn.disks),
        figure("wall_j", "Drawn at the wall, the losses of its power supply included.")
            .may_be_absent()
            .optional_energy(|drawn| drawn.disks.map(|_| drawn.wall())),
        figure("battery_j", "What its battery holds when it is full.")
            .optional_energy(|drawn| drawn.battery.map(|(whole, _)| whole)),
        figure("battery_left_j", "What its battery held at the end.")
            .optional_energy(|drawn| drawn.battery.map(|(_, left)| left)),
        figure("empty_s", "When its battery was empty, and the node went down for good.")
            .optional_time(|drawn| drawn.empty),
        figure("throttled_s", "How long its processor ran slower, hot or low on charge.")
            .time(|drawn| drawn.throttled.0),
        figure("throttled_times", "How often its processor began to run slower.")
            .count("times", |drawn| drawn.throttled.1.into()),
    ],
};

/// Figures of a radio's time by state.
pub static RADIO: Metrics<RadioUse> = Metrics {
    name: "radio",
    what: "For how long a node's radio did what; together, the run.",
    file: None,
    metrics: &[
        figure("transmit", "Time sending.").time(|radio| radio.transmit),
        figure("receive", "Time receiving a frame.").time(|radio| radio.receive),
        figure("listen", "Time awake, neither sending nor receiving.").time(|radio| radio.listen),
        figure("sleep", "Time asleep between beacons.").time(|radio| radio.sleep),
        figure("off", "Time off, with its node down.").time(|radio| radio.off),
    ],
};
