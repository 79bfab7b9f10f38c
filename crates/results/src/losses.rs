//! How often data are to be expected lost, by the annual failure rates of disks.

use super::metrics::{Metrics, figure};
use super::value::Value;
use units::Time;

/// Losses to be expected, where the scenario says how often disks fail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// Arrays whose disks' failure rate is known.
    pub arrays: Vec<ArrayLosses>,
    /// Blocks of HDFS, where that of all disks that hold some is known.
    pub blocks: Option<BlockLosses>,
}

/// Losses of an array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayLosses {
    /// Its name, as of `disks`.
    pub name: String,
    /// Its disks.
    pub members: u32,
    /// From the failure of a disk until a spare is filled.
    pub repair: Time,
    /// Losses of its data a year.
    pub losses_per_year: f64,
}

/// Losses of blocks of HDFS, as they stood when the run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockLosses {
    /// Blocks; a block group is one.
    pub blocks: u64,
    /// Sets of disks that hold all of a block.
    pub sets: u64,
    /// From the failure of a disk until HDFS has made its replicas again: the longest.
    pub repair: Time,
    /// Losses of one or more blocks a year.
    pub losses_per_year: f64,
    /// Blocks lost a year.
    pub blocks_per_year: f64,
}

/// Figures of losses.
pub static LOSSES: Metrics<Losses> = Metrics {
    name: "losses",
    what: "How often data are to be expected lost, where the scenario says how often disks fail \
           (`node.disk.failure-rate`). Nothing of it happens in the run.",
    file: None,
    metrics: &[
        figure("arrays", "Each array whose disks' failure rate is known.")
            .inner(&ARRAY_LOSSES, |losses| ARRAY_LOSSES.list(losses.run, &losses.arrays)),
        figure("blocks", "Blocks of HDFS; null where the failure rate of a disk that holds some is not known.")
            .inner(&BLOCK_LOSSES, |losses| {
                losses.blocks.as_ref().map_or(Value::Null, |blocks| BLOCK_LOSSES.maybe(losses.run, Some(blocks)))
            }),
    ],
};

/// Figures of the losses of arrays.
pub static ARRAY_LOSSES: Metrics<ArrayLosses> = Metrics {
    name: "losses of arrays",
    what: "How often an array is to be expected lost: n (n - 1) r^2 MTTR with parity (Patterson et al. 1988).",
    file: None,
    metrics: &[
        figure("name", "The array.").text(|array| array.name.clone()),
        figure("members", "Its disks.").count("number", |array| array.members.into()),
        figure("repair_s", "MTTR: from the failure of a disk until a spare is filled.").time(|array| array.repair),
        figure("losses_per_year", "Losses of its data a year.").number("per year", |array| array.losses_per_year),
    ],
};

/// Figures of the losses of blocks.
pub static BLOCK_LOSSES: Metrics<BlockLosses> = Metrics {
    name: "losses of blocks",
    what: "How often blocks of HDFS, as they stood when the run ended, are to be expected lost.",
    file: None,
    metrics: &[
        figure("blocks", "Blocks; a block group is one.").count("blocks", |all| all.blocks),
        figure("sets", "Sets of disks that hold all replicas of a block, or all parts of a group.")
            .count("number", |all| all.sets),
        figure("repair_s", "From the failure of a disk until HDFS has made its replicas again: the longest.")
            .time(|all| all.repair),
        figure("losses_per_year", "How often a year one or more blocks are lost.")
            .number("per year", |all| all.losses_per_year),
        figure("blocks_per_year", "Blocks lost a year.").number("blocks per year", |all| all.blocks_per_year),
    ],
};
