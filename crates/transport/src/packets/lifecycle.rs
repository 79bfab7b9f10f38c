//! Opening and removing connections.

use super::connection::Connection;
use super::{ConnectionIndex, FlowRecord, Handle, Happened, Open, Owner, PacketTransport, Port, Upcall};
use des::{EventQueue, Index};
use net::FlowKey;
use std::sync::Arc;
use tcp::{Config, Endpoint, State};
use units::Time;

/// Distinct settings that endpoints share. Beyond this many, each endpoint has a copy of its own.
const MOST_CONFIGS: usize = 32;

impl PacketTransport {
    /// Opens a connection: the client sends its SYN now.
    pub fn open(&mut self, now: Time, open: &Open, events: &mut EventQueue) -> Handle {
        let from_port = self.ephemeral_port(open.from);
        self.open_from(now, open, from_port, events)
    }
    /// [`Self::open`], from this port.
    pub(crate) fn open_from(&mut self, now: Time, open: &Open, from_port: u16, events: &mut EventQueue) -> Handle {
        let (client_tcp, server_tcp) = (self.config_at(open.from, open.client), self.config_at(open.to, open.server));
        let peer = Endpoint::listen_as(&self.shared(&server_tcp));
        let own = Endpoint::connect_as(&self.shared(&client_tcp));
        let index = self.place(now, open, from_port, [own, peer]);
        let client = 2 * index.as_usize();
        let handle = Handle { index: index.0, generation: self.ports[client].generation };
        if self.ports[client].done {
            self.retire_if_done(now, client / 2);
        } else {
            self.endpoints[client].open(now, &mut self.out);
            self.after_call(now, client, events);
        }
        handle
    }

    /// Gives a connection and its endpoints, client and server, a place. An end on a node that is down is done.
    pub(super) fn place(
        &mut self,
        now: Time,
        open: &Open,
        from_port: u16,
        [own, peer]: [Endpoint; 2],
    ) -> ConnectionIndex {
        let index = self.connections.insert(Connection::new(now, open, from_port));
        let client = 2 * index.as_usize();
        let (client_up, server_up) = (self.nodes[open.from as usize].up, self.nodes[open.to as usize].up);
        if client == self.ports.len() {
            self.ports.extend([Port::default(), Port::default()]);
            self.endpoints.extend([own, peer]);
        } else {
            self.endpoints[client] = own;
            self.endpoints[client + 1] = peer;
        }
        self.forget_looks(client);
        self.ports[client].renew(client_up, self.counted.covers(open.from, open.to));
        self.ports[client + 1].renew(server_up, self.counted.covers(open.to, open.from));
        if !server_up {
            // A closed endpoint, which answers with resets when the node is up again.
            self.endpoints[client + 1] = Endpoint::connect_as(self.endpoints[client + 1].config());
        }
        self.find_routes(index);
        if let Some(classes) = &self.classes {
            let class = classes.of(open.owner, open.port);
            // The network names a flow by its receiving endpoint.
            self.network.set_class(client as u32, class);
            self.network.set_class(client as u32 + 1, class);
        }
        index
    }

    /// The shared copy of these settings.
    pub(super) fn shared(&mut self, config: &Config) -> Arc<Config> {
        // A linear search will do: a run has one or two settings per kind of connection.
        if let Some(known) = self.configs.iter().find(|known| ***known == *config) {
            return Arc::clone(known);
        }
        let config = Arc::new(*config);
        if self.configs.len() < MOST_CONFIGS {
            self.configs.push(Arc::clone(&config));
        }
        config
    }

    fn ephemeral_port(&mut self, node: u32) -> u16 {
        let next = &mut self.nodes[node as usize].next_port;
        let port = *next;
        // Linux's default ip_local_port_range: 32768 to 60999.
        *next = if port >= 60_999 { 32_768 } else { port + 1 };
        port
    }

    pub(super) fn find_routes(&mut self, index: ConnectionIndex) {
        let Some(connection) = self.connections.get(index) else { return };
        let (client, server) = (2 * index.as_usize(), 2 * index.as_usize() + 1);
        let key = FlowKey {
            from: self.nodes[connection.from as usize].vertex,
            to: self.nodes[connection.to as usize].vertex,
            from_port: connection.from_port,
            to_port: connection.to_port,
        };
        for (at, key) in [(client, key), (server, key.reverse())] {
            let route = match connection.via() {
                Some(via) => self.network.route_via(key, via),
                None => self.network.route(key),
            };
            self.ports[at].set_route(route);
        }
    }

    /// An end vanishes with its node. A closed endpoint takes its place, which answers with resets when the node is up
    /// again.
    pub(super) fn forget(&mut self, at: usize) {
        self.stop_writing(at);
        let Some(connection) = self.connections.get_mut(ConnectionIndex(at as u32 / 2)) else { return };
        connection.reset = true;
        let forgotten = &mut connection.rare.get_or_insert_default().forgotten;
        forgotten.totals.add_end(&self.endpoints[at]);
        forgotten.bytes[at % 2] += self.endpoints[at].received();
        self.endpoints[at] = Endpoint::connect_as(self.endpoints[at].config());
        let port = &mut self.ports[at];
        port.done = true;
        port.timer = port.timer.wrapping_add(1);
        port.armed = Time::MAX;
    }

    /// Removes a connection both of whose ends are done. Its packets and events are stale from now on.
    pub(super) fn retire_if_done(&mut self, now: Time, connection: usize) {
        let index = ConnectionIndex(connection as u32);
        let (client, server) = (2 * connection, 2 * connection + 1);
        // A server that no SYN has reached has nothing to finish.
        let server_done = self.ports[server].done || self.endpoints[server].state() == State::Listen;
        if !(self.ports[client].done && server_done) {
            return;
        }
        self.resolve_captured();
        self.resolve_dropped();
        self.forget_flows(index);
        let Some(connection) = self.connections.remove(index) else { return };
        let handle = Handle { index: index.0, generation: self.ports[client].generation };
        let record = FlowRecord::new(&connection, Some(now), &self.endpoints[client], &self.endpoints[server]);
        let record = FlowRecord { looks: self.looks_at(client), ..record };
        let what = Happened::Gone { bytes: record.bytes, bytes_back: record.bytes_back };
        self.upcalls.push(Upcall { owner: connection.owner, user: connection.user, handle, what });
        self.ended.add(&record.totals);
        if record.owner == Owner::Traffic {
            self.tallies.entry((record.port, record.from)).or_default().add(&record);
        }
        self.records.push(record);
        for at in [client, server] {
            self.stop_writing(at);
            self.ports[at].retire();
            // Frees the memory that the endpoint had allocated.
            self.endpoints[at] = Endpoint::connect_as(self.endpoints[at].config());
        }
    }
}
