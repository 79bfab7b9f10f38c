//! The parking lot: a chain of bottlenecks, each with local traffic beside the traffic that crosses all (as in Floyd,
//! "Connections with Multiple Congested Gateways in Packet-Switched Networks", 1991, figure 4).

use super::Topology;
use crate::LinkSpec;

/// The routers, from 0, at the two ends of a pair of hosts in a parking lot of `hops` hops. Pair 0 crosses all hops;
/// the others cross one hop each, in turn.
pub const fn parking_lot_pair(pair: usize, hops: usize) -> (usize, usize) {
    if pair == 0 {
        return (0, hops);
    }
    let hop = (pair - 1) % hops;
    (hop, hop + 1)
}

impl Topology {
    /// `hops` bottlenecks in a row. Hosts 0 and 1 are the sender and receiver across all of them; hosts 2i and 2i + 1
    /// cross only the i-th. The bottlenecks are the first cables; their loaded directions are links 0, 2 and so on.
    pub fn parking_lot(hops: usize, access: &LinkSpec, bottleneck: &LinkSpec) -> Self {
        let mut topology = Self::new();
        let routers: Vec<_> = (0..=hops).map(|i| topology.add_switch(format!("router-{i}"))).collect();
        for ends in routers.windows(2) {
            topology.connect(ends[0], ends[1], bottleneck);
        }
        for pair in 0..=hops {
            let (from, to) = parking_lot_pair(pair, hops.max(1));
            topology.add_hosts(1, routers[from], access);
            topology.add_hosts(1, routers[to.min(hops)], access);
        }
        topology
    }
}
