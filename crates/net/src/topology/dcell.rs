//! DCell, a server-centric network: Guo, Wu, Tan, Shi, Zhang and Lu, "DCell: A Scalable and Fault-Tolerant Network
//! Structure for Data Centers", SIGCOMM 2008, section 3. Packets take shortest paths here, counted in links; the
//! paper's DCellRouting takes longer ones.

use super::{Topology, TopologyError, VertexId};
use crate::LinkSpec;

/// Largest number of servers.
const MOST: u64 = 200_000;

/// The servers of a DCell and the links between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dcell {
    /// Servers on a mini-switch, n: server s is on mini-switch s / n.
    pub per_switch: usize,
    /// How many servers there are.
    pub servers: usize,
    /// Pairs of directly connected servers, level by level.
    pub links: Vec<(usize, usize)>,
}

impl Dcell {
    /// DCell(n, k): `per_switch` servers on a mini-switch make a level-0 cell. A level-l cell consists of t + 1 cells
    /// of level l - 1, each of t servers, with one link between any two. For cells i < j it leads from server j - 1 of
    /// cell i to server i of cell j (figure 3).
    pub fn new(per_switch: u32, level: u32) -> Result<Self, TopologyError> {
        let too_large = TopologyError::Dcell { per_switch, level };
        if per_switch == 0 {
            return Err(too_large);
        }
        // Servers of a cell of each level.
        let mut sizes = vec![u64::from(per_switch)];
        for _ in 0..level {
            let t = *sizes.last().ok_or(too_large.clone())?;
            sizes.push(t.checked_mul(t + 1).filter(|servers| *servers <= MOST).ok_or(too_large.clone())?);
        }
        let sizes: Vec<usize> = sizes.into_iter().map(|size| size as usize).collect();
        let servers = sizes[level as usize];
        if servers as u64 > MOST {
            return Err(too_large);
        }
        let mut links = Vec::new();
        for pair in sizes.windows(2) {
            let (inner, outer) = (pair[0], pair[1]);
            for cell in (0..servers).step_by(outer) {
                for i in 0..=inner {
                    links.extend((i + 1..=inner).map(|j| (cell + i * inner + j - 1, cell + j * inner + i)));
                }
            }
        }
        Ok(Self { per_switch: per_switch as usize, servers, links })
    }
}

impl Topology {
    /// DCell(n, k) of forwarding hosts with equal links.
    pub fn dcell(per_switch: u32, level: u32, link: &LinkSpec) -> Result<Self, TopologyError> {
        let plan = Dcell::new(per_switch, level)?;
        let mut topology = Self::new();
        let mut switch = VertexId(0);
        for server in 0..plan.servers {
            if server % plan.per_switch == 0 {
                switch = topology.add_switch(format!("switch-{}", server / plan.per_switch));
            }
            topology.add_hosts(1, switch, link);
        }
        let hosts = topology.hosts().to_vec();
        for host in &hosts {
            topology.let_forward(*host);
        }
        for (a, b) in plan.links {
            topology.connect(hosts[a], hosts[b], link);
        }
        Ok(topology)
    }
}
