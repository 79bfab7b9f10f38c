//! Records of connections.

use crate::packets::Connection;
use crate::{Looks, Owner};
use tcp::Endpoint;
use units::Time;

/// Sums over connections, or over the two ends of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Segments that arrived although their data was already there.
    pub duplicates: u64,
    /// Duplicate acknowledgements that senders took.
    pub duplicate_acks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Window reductions because of ECN-Echo.
    pub ecn_reductions: u64,
    /// Zero windows announced by receivers.
    pub zero_windows: u64,
    /// Time in fast recovery.
    pub recovery_time: Time,
    /// Time lost to timeouts.
    pub timeout_time: Time,
}

impl Totals {
    /// Adds an end of a connection.
    pub(crate) fn add_end(&mut self, endpoint: &Endpoint) {
        let counters = endpoint.counters();
        self.add(&Self {
            retransmissions: counters.retransmissions,
            duplicates: counters.duplicate_segments,
            duplicate_acks: counters.duplicate_acks,
            timeouts: u64::from(counters.timeouts),
            fast_recoveries: u64::from(counters.fast_recoveries),
            ecn_reductions: endpoint.ecn().map_or(0, |ecn| ecn.reductions),
            zero_windows: u64::from(counters.zero_windows_announced),
            recovery_time: counters.recovery_time,
            timeout_time: counters.timeout_time,
        });
    }
    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.retransmissions += other.retransmissions;
        self.duplicates += other.duplicates;
        self.duplicate_acks += other.duplicate_acks;
        self.timeouts += other.timeouts;
        self.fast_recoveries += other.fast_recoveries;
        self.ecn_reductions += other.ecn_reductions;
        self.zero_windows += other.zero_windows;
        self.recovery_time += other.recovery_time;
        self.timeout_time += other.timeout_time;
    }
}

/// The record of a connection, kept when it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRecord {
    /// The owner of the connection.
    pub owner: Owner,
    /// The owner's own name for it.
    pub user: u32,
    /// The node that opened it.
    pub from: u32,
    /// The node that accepted it.
    pub to: u32,
    /// The port of the accepting end.
    pub port: u16,
    /// Whether an end was reset, gave up, or vanished when its node crashed.
    pub reset: bool,
    /// When it was opened.
    pub opened: Time,
    /// When its handshake was done at the client.
    pub connected: Option<Time>,
    /// When both ends were done; none while it is open.
    pub ended: Option<Time>,
    /// Payload delivered in order at the accepting end.
    pub bytes: u64,
    /// Payload delivered in order at the opening end.
    pub bytes_back: u64,
    /// Its packets that queues have dropped, both ways, data and acknowledgements; of an open connection, up to the
    /// last pause of the run.
    pub drops: u32,
    /// Final smoothed round-trip time of the end that sent more.
    pub rtt: Option<Time>,
    /// Least round-trip time of that end: an estimate of the path without queueing.
    pub least_rtt: Option<Time>,
    /// What looks have shown of that end.
    pub looks: Looks,
    /// Retransmissions and the like of both ends together.
    pub totals: Totals,
}

/// Sums over the connections that a node has opened for a traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of connections.
    pub connections: u64,
    /// Payload delivered in order, both ways.
    pub bytes: u64,
    /// Packets that queues have dropped, both ways.
    pub drops: u64,
    /// TCP counters of both ends of all of them.
    pub totals: Totals,
}

impl Tally {
    /// Adds a connection.
    pub(crate) fn add(&mut self, record: &FlowRecord) {
        self.connections += 1;
        self.bytes += record.bytes + record.bytes_back;
        self.drops += u64::from(record.drops);
        self.totals.add(&record.totals);
    }
}

impl FlowRecord {
    pub(crate) fn new(connection: &Connection, ended: Option<Time>, client: &Endpoint, server: &Endpoint) -> Self {
        let busier = if client.sent() >= server.sent() { client } else { server };
        let forgotten = connection.forgotten();
        let mut totals = forgotten.totals;
        totals.add_end(client);
        totals.add_end(server);
        Self {
            owner: connection.owner,
            user: connection.user,
            from: connection.from,
            to: connection.to,
            port: connection.to_port,
            reset: connection.reset,
            opened: connection.opened,
            connected: (connection.connected < Time::MAX).then_some(connection.connected),
            ended,
            bytes: server.received() + forgotten.bytes[1],
            bytes_back: client.received() + forgotten.bytes[0],
            drops: connection.drops,
            rtt: busier.rtt().smoothed(),
            least_rtt: busier.rtt().min(),
            looks: Looks::default(),
            totals,
        }
    }
}
