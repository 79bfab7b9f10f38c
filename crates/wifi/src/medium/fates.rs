//! Results of packets: the effects of stations' inputs on them.

use super::node::Content;
use super::{Dropped, Medium};
use crate::mac::{Output, PacketId, Reason, StationId};
use des::{Ecn, EventQueue, Index};
use units::Time;

impl<P: Copy> Medium<P> {
    /// Carries out what a station wants after an input.
    pub(super) fn effects(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        if std::mem::take(&mut self.out.transmit) {
            self.begin(now, station, events);
        }
        if self.out.has_packets() {
            let blank = Output::new(self.out.ppdu.mode);
            let mut out = std::mem::replace(&mut self.out, blank);
            self.packet_effects(now, StationId(station), &mut out, events);
            self.out = out;
        }
        self.rearm(now, station);
    }
    pub(super) fn packet_effects(&mut self, now: Time, at: StationId, out: &mut Output, events: &mut EventQueue) {
        let node = &mut self.nodes[at.as_usize()];
        if let Some(driver) = &mut node.driver {
            let dropped = out.dropped.iter().map(|(id, _)| id);
            let gone = out.acknowledged.iter().chain(dropped).chain(&out.returned);
            let held = gone.filter_map(|id| self.packets.get(*id));
            let packets = held.filter(|held| matches!(held.content, Content::Packet(_)));
            let (count, bytes) = packets.fold((0, 0), |(count, bytes), held| (count + 1, bytes + held.traffic.bytes));
            driver.done(now, count, bytes, node.station.rate_used());
        }
        for id in out.marked.drain(..) {
            self.mark(at, id);
        }
        for id in out.held.drain(..) {
            if let Some(held) = self.packets.get_mut(id) {
                held.reordered = true;
            }
        }
        for id in out.delivered.drain(..) {
            self.arrive(now, at, id, events);
        }
        for id in out.acknowledged.drain(..) {
            let Some(held) = self.packets.get_mut(id) else { continue };
            held.queued = false;
            if let (Some(departed), Content::Packet(packet)) = (&mut self.departed, held.content)
                && held.origin == at
            {
                departed.push((at, packet));
            }
            if !held.to.is_unicast() && !std::mem::replace(&mut held.ended, true) {
                self.ledger.broadcast += u64::from(matches!(held.content, Content::Packet(_)));
            }
            match held.content {
                Content::Management(frame) => {
                    let to = held.to;
                    self.sent(now, (at, to), frame, true);
                }
                // Acknowledged, but neither passed up nor kept: the reorder buffer had given up waiting for it.
                Content::Packet(_) if !held.ended && !held.is_received() => {
                    self.lose(now, at, id, Reason::Late);
                    continue;
                }
                Content::Packet(_) => {}
            }
            self.let_go(id);
        }
        for (id, reason) in out.dropped.drain(..) {
            self.lose(now, at, id, reason);
        }
        for id in out.returned.drain(..) {
            self.reroute(now, at, id, events);
        }
    }
    /// A station's queue marks a packet.
    pub(super) fn mark(&mut self, at: StationId, id: PacketId) {
        if let Some(held) = self.packets.get_mut(id) {
            held.traffic.ecn = Ecn::Ce;
            self.nodes[at.as_usize()].marks += 1;
        }
    }
    /// A packet is given up by who had it.
    pub(super) fn lose(&mut self, now: Time, at: StationId, id: PacketId, reason: Reason) {
        let Some(held) = self.packets.get_mut(id) else { return };
        held.queued = false;
        let arrived = held.is_received() || std::mem::replace(&mut held.ended, true);
        match held.content {
            Content::Packet(packet) => {
                // What was acknowledged too late has departed already.
                if let Some(departed) = self.departed.as_mut().filter(|_| held.origin == at && reason != Reason::Late) {
                    departed.push((at, packet));
                }
                self.dropped.push(Dropped { packet, at, to: held.destination, reason, arrived });
                if arrived {
                    self.ledger.unacknowledged += 1;
                } else {
                    self.ledger.dropped[reason as usize] += 1;
                }
            }
            Content::Management(frame) => {
                let to = held.to;
                self.sent(now, (at, to), frame, false);
            }
        }
        self.let_go(id);
    }
    /// Frees the place of a packet that nobody keeps.
    pub(super) fn let_go(&mut self, id: PacketId) {
        if self.packets.get(id).is_some_and(|held| !held.queued && !held.is_received() && held.flying == 0)
            && let Some(held) = self.packets.remove(id)
            && let (Content::Packet(packet), false) = (held.content, held.to.is_unicast())
        {
            self.released.push(packet);
        }
    }
}
