//! Handling of received frames: pass packets up, answer, defer.

use super::{Response, Station};
use crate::mac::frame::{Kind, Ppdu, StationId};
use crate::mac::inbound::{Inbound, WINDOW};
use crate::mac::output::Output;
use crate::phy::AccessCategory;
use units::Time;

impl Station {
    /// Delivers what was understood.
    pub(super) fn take(&mut self, now: Time, ppdu: &Ppdu, understood: u64, out: &mut Output) {
        if !ppdu.to.is_unicast() {
            out.delivered.extend(ppdu.packets.iter());
            return;
        }
        let windowed = ppdu.agreed && ppdu.kind == Kind::Data;
        let inbound = self.inbound(ppdu.from, ppdu.category);
        for (place, mpdu) in ppdu.mpdus.iter().enumerate().take(usize::from(WINDOW)) {
            if understood >> place & 1 == 0 {
                continue;
            }
            if ppdu.kind == Kind::Management {
                inbound.management(ppdu, mpdu, out);
            } else if windowed {
                inbound.windowed(now, ppdu, mpdu, out);
            } else {
                inbound.single(ppdu, mpdu, out);
            }
        }
        if windowed {
            self.watch_reorder(ppdu.from, ppdu.category);
        }
    }
    pub(super) fn block_ack(&mut self, ppdu: &Ppdu) -> Kind {
        let (start, received) = self.inbound(ppdu.from, ppdu.category).scoreboard();
        Kind::BlockAck { start, received }
    }
    pub(super) fn respond(&mut self, now: Time, ppdu: &Ppdu, kind: Kind) {
        let mode = self.config.phy.response(ppdu.mode);
        let answer = self.timing.sifs + mode.duration(kind.control_bytes());
        let reserved = ppdu.reserved.saturating_sub(answer);
        let (at, to, category) = (now + self.timing.sifs, ppdu.from, ppdu.category);
        self.response = Some(Response { at, to, kind, category, mode, reserved });
    }
    /// A frame for someone else reserves the medium.
    pub(super) fn defer(&mut self, now: Time, ppdu: &Ppdu) {
        let silent = (ppdu.kind == Kind::Rts).then(|| {
            let cts = self.config.phy.response(ppdu.mode);
            let answer = cts.duration(Kind::Cts.control_bytes()) + cts.preamble();
            now + (self.timing.sifs + self.timing.slot) * 2 + answer
        });
        self.channel.reserve(now + ppdu.reserved, silent);
    }
    pub(super) fn send_response(&mut self, now: Time, response: Response, out: &mut Output) {
        let ppdu = &mut out.ppdu;
        (ppdu.from, ppdu.to) = (self.id, response.to);
        (ppdu.kind, ppdu.category, ppdu.mode) = (response.kind, response.category, response.mode);
        (ppdu.bytes, ppdu.reserved) = (response.kind.control_bytes(), response.reserved);
        ppdu.mpdus.clear();
        ppdu.packets.clear();
        self.responding = true;
        self.transmit(now, out);
    }
    pub(super) fn inbound(&mut self, from: StationId, category: AccessCategory) -> &mut Inbound {
        let at = from.0 as usize;
        if at >= self.inbound.len() {
            self.inbound.resize_with(at + 1, Default::default);
        }
        &mut self.inbound[at][category as usize]
    }
    pub(super) fn watch_reorder(&mut self, from: StationId, category: AccessCategory) {
        self.reorder = self.reorder.min(self.inbound(from, category).deadline());
    }
    pub(super) fn release_reordered(&mut self, now: Time, out: &mut Output) {
        self.reorder = Time::MAX;
        for inbound in self.inbound.iter_mut().flatten() {
            inbound.on_timer(now, out);
            self.reorder = self.reorder.min(inbound.deadline());
        }
    }
}
