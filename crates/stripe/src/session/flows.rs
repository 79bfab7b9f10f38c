//! What the owners of flows of datagrams do, and what the peer says of them.

use super::datagrams::{Arrived, Tally};
use super::{Exhausted, Role, Session, code};
use crate::connection::Violation;
use crate::wire::{Destination, Frame};
use units::Time;

impl Session {
    /// A program wants to send datagrams somewhere. What it sends before the peer has said that it takes them (P-40)
    /// waits, as long as it may.
    pub fn open_flow(&mut self, now: Time, to: Destination) -> Result<u32, Exhausted> {
        if self.role != Role::Near || self.over {
            return Err(Exhausted);
        }
        let opened = self.datagrams.open(now, to);
        self.effects.flows.extend(self.datagrams.news.iter().map(|(flow, _)| *flow));
        opened
    }
    /// A datagram for the other end of a flow. Says whether it was taken, which is no promise.
    pub fn send_datagram(&mut self, now: Time, flow: u32, payload: &[u8]) -> bool {
        self.datagrams.drop_late(now);
        let sent = self.datagrams.send(now, flow, payload, self.credit.room());
        self.count_datagrams();
        sent
    }
    /// What a flow has for its owner, who is told in [`Effects`](super::Effects) when that may have changed.
    pub fn take_datagram(&mut self, flow: u32) -> Arrived {
        let arrived = self.datagrams.take(flow);
        self.count_datagrams();
        arrived
    }
    /// The owner has done with a flow, for this reason (an error's number, 0 for none).
    pub fn close_flow(&mut self, flow: u32, code: u32) {
        self.datagrams.close(flow, code);
        self.count_datagrams();
    }
    /// Whether a flow is over.
    pub fn is_flow_over(&self, flow: u32) -> bool {
        self.datagrams.is_over(flow)
    }
    /// Flows that are not over.
    pub fn flow_count(&self) -> usize {
        self.datagrams.count()
    }
    /// How many flows the peer takes, once it has said that it takes any (P-40).
    pub fn peer_flows(&self) -> Option<u32> {
        self.datagrams.peer_flows
    }
    /// What has become of datagrams.
    pub fn tally(&self) -> Tally {
        self.datagrams.tally
    }

    pub(super) fn on_flow_frame(&mut self, now: Time, flow: u32, frame: &Frame) -> Result<(), Violation> {
        match (frame, self.role) {
            (Frame::Datagram(datagram), role) if role == Role::Far || datagram.to.is_none() => {
                let opened = self.datagrams.on_datagram(now, flow, datagram, self.credit.room());
                if let Some(to) = opened {
                    self.effects.flow_openings.push((flow, to));
                }
            }
            (Frame::Known, Role::Near) => self.datagrams.on_known(flow),
            (Frame::Forget { code }, _) => self.datagrams.on_forget(flow, *code),
            _ => return Err(Violation::Misplaced),
        }
        self.effects.flows.insert(flow);
        self.count_datagrams();
        Ok(())
    }
    /// Datagrams held are part of what the session may hold.
    pub(super) fn count_datagrams(&mut self) {
        let held = self.datagrams.held();
        let counted = std::mem::replace(&mut self.datagrams.counted, held);
        if held > counted {
            self.credit.hold(held - counted);
        } else {
            self.credit.let_go(counted - held);
        }
    }
    /// What the peer is to know of flows. It may be lost with its stream: then a flow is silent for a while, or its
    /// destination is said once more than needed.
    pub(super) fn tell_flows(&mut self) {
        if std::mem::take(&mut self.tell_carriage)
            && let Some(carriage) = self.datagrams.carriage
        {
            self.say(0, Frame::Flows { most: carriage.flows });
        }
        // P-40.
        let takes = self.datagrams.peer_flows.is_some();
        for (flow, frame) in std::mem::take(&mut self.datagrams.news).into_iter().filter(|_| takes) {
            self.say(flow, frame);
        }
    }
    /// Does what is due.
    pub(super) fn on_datagram_timer(&mut self, now: Time) {
        self.datagrams.drop_late(now);
        self.effects.flows.extend(self.datagrams.end_silent(now));
        self.count_datagrams();
    }
    pub(super) fn end_flows(&mut self) {
        self.effects.flows.extend(self.datagrams.end_all(code::RESET));
        self.count_datagrams();
    }
}
