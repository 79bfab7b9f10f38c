//! What placement saves a job, what it costs to have it, and after how many runs that has paid.

use crate::histogram::mixed;

/// What a job exchanges, and what placement needs to know of it. Bytes of the whole data, not of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// Bytes that its map tasks send out natively: of all pairs, or of those that a combiner leaves.
    pub bytes: f64,
    /// Bytes that they send out by key, of pairs whose record does not stand where their key belongs.
    pub away: f64,
    /// Bytes of partial results of split keys, which by key come from other nodes than their reducer's.
    pub partials: f64,
    /// Bytes that are laid out.
    pub stored: f64,
    /// Copies of each record.
    pub replicas: usize,
    /// Nodes over which maps and reducers spread evenly.
    pub nodes: usize,
    /// The data stand in HDFS already, and are written anew.
    pub present: bool,
}

/// Bytes between nodes, with and without placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// What a run exchanges between nodes with native placement: any pair's reducer is on another node with
    /// probability (N - 1) / N.
    pub native: f64,
    /// What a run exchanges where data are placed by key and reducers follow.
    pub placed: f64,
    /// What the layout adds to the import: each record once to its node, from a node that is another one with
    /// probability (N - 1) / N. Where the data are present, the further copies too.
    pub import: f64,
    /// Runs after which the import is paid; `None` is never.
    pub runs: Option<u64>,
}

impl Saving {
    /// Of a job.
    pub fn of(exchange: &Exchange) -> Self {
        let nodes = exchange.nodes.max(1) as f64;
        let elsewhere = (nodes - 1.0) / nodes;
        let native = exchange.bytes * elsewhere;
        let placed = exchange.away * elsewhere + exchange.partials;
        let copies = if exchange.present { exchange.replicas.saturating_sub(1) as f64 } else { 0.0 };
        let import = exchange.stored * (elsewhere + copies);
        let saved = native - placed;
        let runs = (saved > 0.0).then(|| (import / saved).ceil() as u64);
        Self { native, placed, import, runs }
    }

    /// Bytes that a run saves; below zero where it exchanges more.
    pub fn saved(&self) -> f64 {
        self.native - self.placed
    }

    /// Of a run's bytes between nodes, the part that is saved.
    pub fn share(&self) -> f64 {
        if self.native > 0.0 { self.saved() / self.native } else { 0.0 }
    }
}

/// The part of a file's blocks that the best node has, where each block has its copies on nodes at random, as HDFS
/// places them: what a scan of a bucket finds on one node without placement. The mean of a thousand draws.
pub fn best_host_share(blocks: u32, replicas: u32, nodes: u32) -> f64 {
    const DRAWS: u64 = 1000;
    let (nodes, replicas) = (nodes.max(1), replicas.clamp(1, nodes.max(1)));
    let mut held = vec![0_u32; nodes as usize];
    let (mut best, mut draw) = (0_u64, 0_u64);
    let mut below = |limit: u32| {
        draw += 1;
        ((u128::from(mixed(draw.wrapping_mul(0x9e37_79b9_7f4a_7c15))) * u128::from(limit)) >> 64) as u32
    };
    for _ in 0..DRAWS {
        held.fill(0);
        for _ in 0..blocks {
            let mut taken: Vec<u32> = Vec::new();
            while taken.len() < replicas as usize {
                let node = below(nodes);
                if !taken.contains(&node) {
                    taken.push(node);
                    held[node as usize] += 1;
                }
            }
        }
        best += u64::from(held.iter().copied().max().unwrap_or(0));
    }
    best as f64 / (DRAWS * u64::from(blocks.max(1))) as f64
}
