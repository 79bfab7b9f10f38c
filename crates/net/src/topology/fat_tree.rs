//! Fat-trees of equal switches: Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network
//! Architecture", SIGCOMM 2008, section 2.2. ECMP chooses paths here, not the paper's two-level tables.

use super::{Topology, TopologyError, VertexId};
use crate::LinkSpec;

impl Topology {
    /// The switches of a fat-tree of `ports`-port switches, connected by links of `fabric`. A pod has `ports` / 2 edge
    /// switches under as many aggregation switches. (`ports` / 2)^2 core switches connect to every pod. Returns the
    /// edge switches, pod by pod; each has room for `ports` / 2 hosts.
    pub fn add_fat_tree(&mut self, ports: u32, fabric: &LinkSpec) -> Result<Vec<VertexId>, TopologyError> {
        if ports < 2 || !ports.is_multiple_of(2) {
            return Err(TopologyError::FatTree(ports));
        }
        let half = ports as usize / 2;
        let cores: Vec<_> = (1..=half * half).map(|core| self.add_switch(format!("core-{core}"))).collect();
        let mut edges = Vec::new();
        for pod in 1..=ports {
            // The i-th aggregation switch of each pod connects to the i-th group of core switches.
            let above: Vec<_> = cores
                .chunks(half)
                .enumerate()
                .map(|(i, group)| {
                    let switch = self.add_switch(format!("pod-{pod}/agg-{}", i + 1));
                    for core in group {
                        self.connect(switch, *core, fabric);
                    }
                    switch
                })
                .collect();
            for edge in 1..=half {
                let switch = self.add_switch(format!("pod-{pod}/edge-{edge}"));
                for agg in &above {
                    self.connect(switch, *agg, fabric);
                }
                edges.push(switch);
            }
        }
        Ok(edges)
    }

    /// A full fat-tree: `ports`^3 / 4 hosts.
    pub fn fat_tree(ports: u32, link: &LinkSpec) -> Result<Self, TopologyError> {
        let mut topology = Self::new();
        for edge in topology.add_fat_tree(ports, link)? {
            topology.add_hosts(ports as usize / 2, edge, link);
        }
        Ok(topology)
    }
}
