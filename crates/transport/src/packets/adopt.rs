//! Connections that were opened elsewhere: flow level hands them over while queues may overflow.

use super::{End, Handle, Open, PacketTransport};
use des::{EventQueue, Index};
use tcp::{Endpoint, Output};
use units::Time;

impl PacketTransport {
    /// A connection from port `from_port` whose client knew at `connected` that it was there, a round trip of `rtt`
    /// after its SYN. Its endpoints agree on TCP's options aside of the network. The settings in `open` are taken as
    /// they are.
    pub(crate) fn adopt(
        &mut self,
        now: Time,
        open: &Open,
        from_port: u16,
        (connected, rtt): (Time, Time),
        events: &mut EventQueue,
    ) -> Handle {
        let mut own = Endpoint::connect_as(&self.shared(&open.client));
        let mut peer = Endpoint::listen_as(&self.shared(&open.server));
        let mut out = Output::default();
        own.open(connected.saturating_sub(rtt), &mut out);
        // SYN, SYN-ACK, ACK.
        for (to, at) in [(&mut peer, connected.saturating_sub(rtt / 2)), (&mut own, connected)] {
            for segment in std::mem::take(&mut out.segments) {
                to.on_segment(at, &segment, &mut out);
            }
        }
        let last = std::mem::take(&mut out.segments);
        if connected < now {
            for segment in &last {
                peer.on_segment(now.min(connected.saturating_add(rtt / 2)), segment, &mut out);
            }
        }
        let index = self.place(now, open, from_port, [own, peer]);
        if let Some(connection) = self.connections.get_mut(index) {
            connection.connected = connected;
        }
        let client = 2 * index.as_usize();
        if connected == now {
            // The last acknowledgement still is to go.
            self.out.segments.extend(last);
            self.after_call(now, client, events);
        }
        Handle { index: index.0, generation: self.ports[client].generation }
    }

    /// Data from an end was sent elsewhere until `active`, and cwnd is `cwnd` bytes at least.
    pub(crate) fn catch_up(&mut self, handle: Handle, end: End, cwnd: u64, active: Time) {
        if let Some(at) = self.end(handle, end) {
            self.endpoints[at].catch_up(cwnd, active);
        }
    }

    /// Drops an adopted connection without a word to its peer. Its packets and events are stale from now on.
    pub(crate) fn drop_adopted(&mut self, now: Time, handle: Handle) {
        let Some(client) = self.end(handle, End::Client) else { return };
        self.ports[client].done = true;
        self.ports[client + 1].done = true;
        self.retire_if_done(now, client / 2);
        // Who adopted it keeps its record.
        self.records.clear();
    }
}
