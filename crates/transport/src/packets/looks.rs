//! Looks at Hadoop's connections at each sample: what keeps their senders from sending more, and their windows.

use super::PacketTransport;
use crate::Owner;
use des::Index;
use tcp::Limit;
use units::Time;

/// Looks at one end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// How often each of [`Limit::ALL`] was what kept it from sending more.
    pub limits: [u32; Limit::ALL.len()],
    /// The largest cwnd seen, in bytes.
    pub window_max: u32,
}

impl Looks {
    /// How often it was looked at.
    pub fn count(&self) -> u32 {
        self.limits.iter().sum()
    }
}

impl PacketTransport {
    /// Looks at all connections of the cluster. Returns for each node the sum of cwnd, in bytes, over its ends with
    /// data in flight, and their number.
    pub fn look(&mut self) -> Vec<(u64, u32)> {
        let mut windows = vec![(0, 0); self.nodes.len()];
        self.looks.resize(self.endpoints.len(), Looks::default());
        for (index, connection) in self.connections.iter() {
            if connection.owner != Owner::Cluster || connection.connected == Time::MAX {
                continue;
            }
            let client = 2 * index.as_usize();
            for (at, node) in [(client, connection.from), (client + 1, connection.to)] {
                let endpoint = &self.endpoints[at];
                let (window, in_flight) = endpoint.window_in_use();
                let looks = &mut self.looks[at];
                looks.limits[endpoint.limit() as usize] += 1;
                if in_flight {
                    looks.window_max = looks.window_max.max(u32::try_from(window).unwrap_or(u32::MAX));
                    let (sum, count) = &mut windows[node as usize];
                    *sum += window;
                    *count += 1;
                }
            }
        }
        windows
    }

    /// What was seen of the end of a connection that sent more.
    pub(super) fn looks_at(&self, client: usize) -> Looks {
        let busier =
            if self.endpoints[client].sent() >= self.endpoints[client + 1].sent() { client } else { client + 1 };
        self.looks.get(busier).copied().unwrap_or_default()
    }

    /// A new connection takes this place: nothing has been seen of it.
    pub(super) fn forget_looks(&mut self, client: usize) {
        for looks in self.looks.iter_mut().skip(client).take(2) {
            *looks = Looks::default();
        }
    }
}
