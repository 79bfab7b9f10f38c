//! Stations that are switched off and on: their nodes crash, come back, or have no charge left.

use super::Medium;
use super::infrastructure::RoleState;
use crate::mac::{PacketId, Reason, StationId};
use des::{EventQueue, Index};
use units::Time;

impl<P: Copy> Medium<P> {
    /// Whether a station is switched on.
    pub fn is_on(&self, id: StationId) -> bool {
        !self.nodes[id.as_usize()].off
    }
    /// Switches a station off, or on again.
    ///
    /// Off, it neither hears nor sends, and what it is sending breaks off. Packets that it had to send, or had received
    /// and not passed up, end with [`Reason::Off`]. Nobody is told: others send to it until their retries are used up,
    /// an access point until it is back or has been silent for too long. On again, it knows nobody: a client looks for
    /// an access point, which has forgotten it by then; an access point tells the clients that have not missed it yet
    /// that they are none of its own; and between ad hoc stations agreements of block ACK begin anew.
    pub fn set_power(&mut self, now: Time, id: StationId, on: bool, events: &mut EventQueue) {
        let node = &self.nodes[id.as_usize()];
        if node.off != on {
            return;
        }
        if on {
            self.switch_on(now, id, events);
        } else {
            self.switch_off(now, id, events);
        }
        self.alarms.arm(now, super::ALARM, events);
    }

    fn switch_off(&mut self, now: Time, id: StationId, events: &mut EventQueue) {
        self.cut(now, id.0, events);
        let node = &mut self.nodes[id.as_usize()];
        (node.off, node.asleep) = (true, false);
        node.receiver.send(true);
        let mut received = node.station.switch_off(now, &mut self.out);
        let mut to_send = std::mem::take(&mut self.out.returned);
        if let Some(driver) = &mut node.driver {
            let (waiting, up) = driver.switch_off(now);
            to_send.extend(waiting);
            for packet in &up {
                if let Some(held) = self.packets.get_mut(*packet) {
                    held.waiting -= 1;
                }
            }
            received.extend(up);
        }
        // An access point forgets its clients when it begins anew; till then nothing asks for them.
        if let RoleState::Client(client) = &mut node.role {
            if client.access_point().is_some() {
                self.moves.push((id, None));
            }
            *client = client.restarted(now);
        }
        node.note_radio(now);
        for packet in to_send {
            self.lose(now, id, packet, Reason::Off);
        }
        for packet in received {
            self.lose_received(now, id, packet);
        }
        self.rearm(now, id.0);
    }
    /// A station that had received a packet and not passed it up does not have it any more. Who has sent it may still
    /// have it, and sends it again.
    fn lose_received(&mut self, now: Time, at: StationId, packet: PacketId) {
        let Some(held) = self.packets.get_mut(packet) else { return };
        held.reordered = false;
        if held.queued || held.ended || held.is_received() {
            self.let_go(packet);
        } else {
            self.lose(now, at, packet, Reason::Off);
        }
    }

    fn switch_on(&mut self, now: Time, id: StationId, events: &mut EventQueue) {
        let node = &mut self.nodes[id.as_usize()];
        node.off = false;
        node.receiver.send(false);
        node.station.switch_on(now, node.receiver.busy());
        match &mut node.role {
            RoleState::AdHoc => {}
            RoleState::AccessPoint(ap) => ap.restart(now),
            RoleState::Client(client) => *client = client.restarted(now),
        }
        node.note_radio(now);
        for other in (0..self.nodes.len()).filter(|other| *other != id.as_usize()) {
            let node = &mut self.nodes[other];
            if let RoleState::AccessPoint(ap) = &mut node.role {
                ap.leave(id);
                node.station.forget(now, id, &mut self.out);
            } else {
                node.station.renew(now, id, &mut self.out);
            }
            self.effects(now, other as u32, events);
        }
        self.rearm(now, id.0);
    }
}
