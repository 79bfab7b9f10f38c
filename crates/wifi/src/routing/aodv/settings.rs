//! Settings of AODV.

use units::Time;

/// Section 10's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AodvSettings {
    /// How long a route lives without use.
    pub active_route: Time,
    /// A careful estimate of one hop with its queueing.
    pub node_traversal: Time,
    /// `NET_DIAMETER`: no route has more hops than this.
    pub net_diameter: u8,
    /// `TTL_START`: TTL of the first RREQ of an expanding ring search (section 6.4).
    pub ttl_start: u8,
    /// `TTL_INCREMENT`: growth of the TTL from ring to ring.
    pub ttl_increment: u8,
    /// The widest ring before the whole network is asked.
    pub ttl_threshold: u8,
    /// How often the whole network is asked again.
    pub retries: u32,
    /// Requests that a node may begin, and errors that it may send, in one second.
    pub rate_limit: usize,
    /// Interval of Hello messages (section 6.9). A neighbour is lost when two are missed. `None`: links break when the
    /// MAC gives up a frame.
    pub hello: Option<Time>,
    /// How many packets wait for routes at most.
    pub buffer: usize,
    /// A request is passed on after a random wait below this, so that neighbours do not all do so at once.
    pub jitter: Time,
}

impl Default for AodvSettings {
    /// The RFC's values; ns-3's buffer (64 packets) and jitter (10 ms), on which the RFC is silent.
    fn default() -> Self {
        Self {
            active_route: Time::from_secs(3),
            node_traversal: Time::from_ms(40),
            net_diameter: 35,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            retries: 2,
            rate_limit: 10,
            hello: None,
            buffer: 64,
            jitter: Time::from_ms(10),
        }
    }
}

impl AodvSettings {
    pub(super) fn net_traversal(&self) -> Time {
        self.node_traversal * (2 * u64::from(self.net_diameter))
    }
    /// How long a request is remembered.
    pub(super) fn path_discovery(&self) -> Time {
        self.net_traversal() * 2
    }
}
