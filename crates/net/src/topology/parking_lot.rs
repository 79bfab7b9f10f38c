//! The parking lot: a chain of bottlenecks, each with traffic of its own beside what passes through all (as in Floyd,
//! "Connections with Multiple Congested Gateways in Packet-Switched Networks", 1991, figure 4).

use super::Topology;
use crate::LinkSpec;

/// On which routers, from 0, the ends of a pair of hosts stand in a parking lot of so many hops: pair 0 goes all the
/// way, the others cross one hop each in turn.
pub const fn parking_lot_pair(pair: usize, hops: usize) -> (usize, usize) {
    if pair == 0 {
        return (0, hops);
    }
    let hop = (pair - 1) % hops;
    (hop, hop + 1)
}

impl Topology {
    /// `hops` bottlenecks in a row. Hosts 0 and 1 are the sender and receiver of what goes all the way, hosts 2i and
    /// 2i + 1 of what crosses the i-th bottleneck only. The bottlenecks are the first cables, their loaded directions
    /// the links 0, 2 and so on.
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
