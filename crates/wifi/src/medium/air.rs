//! PPDUs on the air: they begin and end at all who hear them.

use super::infrastructure::RoleState;
use super::{Medium, PPDU_ENDS};
use crate::mac::{DELIMITER_BYTES, Kind, Ppdu};
use crate::phy::{Ended, Receiver, Signal};
use des::{EventQueue, Index};
use units::Time;

/// A PPDU on the air.
#[derive(Debug)]
pub(super) struct OnAir {
    pub ppdu: Ppdu,
    /// Stations that it reaches, with its power there in mW.
    pub hearers: Vec<(u32, f64)>,
    pub began: Time,
    /// Still on the air.
    pub on: bool,
    /// Cut short: its sender was switched off during it.
    pub cut: bool,
    /// Another PPDU has reached its receiver meanwhile; known only while frames are recorded.
    pub disturbed: bool,
}

impl<P: Copy> Medium<P> {
    /// A station's PPDU goes on the air.
    pub(super) fn begin(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        let place = self.free.pop().unwrap_or_else(|| {
            let (ppdu, hearers) = (Ppdu::new(self.out.ppdu.mode), Vec::new());
            self.air.push(OnAir { ppdu, hearers, began: now, on: true, cut: false, disturbed: false });
            self.air.len() as u32 - 1
        });
        let on_air = &mut self.air[place as usize];
        std::mem::swap(&mut on_air.ppdu, &mut self.out.ppdu);
        on_air.hearers.clear();
        (on_air.began, on_air.on, on_air.cut, on_air.disturbed) = (now, true, false, false);
        events.push(now + on_air.ppdu.duration(), PPDU_ENDS, place, 0);
        let sender = &mut self.nodes[station as usize];
        sender.receiver.send(true);
        sender.note_radio(now);
        for id in &on_air.ppdu.packets {
            if let Some(held) = self.packets.get_mut(*id) {
                held.flying += 1;
            }
        }
        sender.links.hearers(now, station, &mut self.field, &mut on_air.hearers);
        for (hearer, power) in &on_air.hearers {
            let node = &mut self.nodes[*hearer as usize];
            let signal = Signal { id: place, milliwatts: *power, mode: on_air.ppdu.mode };
            let follows = node.receiver.begin(now, &signal);
            if node.is_deaf() {
                continue;
            }
            if follows {
                node.station.reception_begins();
            }
            if node.receiver.busy() {
                node.station.sense(now, true);
                self.alarms.set(*hearer, node.deadline());
            }
            node.note_radio(now);
        }
        self.note_overlap(now, place);
    }
    /// A PPDU ends.
    pub(super) fn end(&mut self, now: Time, place: u32, events: &mut EventQueue) {
        let ppdu = std::mem::replace(&mut self.air[place as usize].ppdu, Ppdu::new(self.out.ppdu.mode));
        let cut = self.air[place as usize].cut;
        if !cut {
            self.fade(now, place, &ppdu, events);
        }
        for id in &ppdu.packets {
            if let Some(held) = self.packets.get_mut(*id) {
                held.flying -= 1;
            }
        }
        if !cut {
            let node = &mut self.nodes[ppdu.from.as_usize()];
            node.receiver.send(false);
            node.station.sense(now, node.receiver.busy());
            node.station.transmitted(now, &mut self.out);
            node.note_radio(now);
            let sender = ppdu.from.0;
            self.effects(now, sender, events);
        }
        // What was abandoned while on the air.
        for id in &ppdu.packets {
            self.let_go(*id);
        }
        self.air[place as usize].ppdu = ppdu;
        self.air[place as usize].on = false;
        self.free.push(place);
    }
    /// The sender of what is on the air is switched off: all who hear it hear the end of it, and nobody can read it.
    pub(super) fn cut(&mut self, now: Time, station: u32, events: &mut EventQueue) {
        let sends = |on_air: &OnAir| on_air.on && !on_air.cut && on_air.ppdu.from.0 == station;
        let Some(place) = self.air.iter().position(sends) else { return };
        let ppdu = std::mem::replace(&mut self.air[place].ppdu, Ppdu::new(self.out.ppdu.mode));
        (self.air[place].cut, self.air[place].on) = (true, false);
        self.fade(now, place as u32, &ppdu, events);
        self.air[place].ppdu = ppdu;
    }
    /// The signal of a PPDU ends at all who hear it.
    fn fade(&mut self, now: Time, place: u32, ppdu: &Ppdu, events: &mut EventQueue) {
        let cut = self.air[place as usize].cut;
        let mut received = false;
        for at in 0..self.air[place as usize].hearers.len() {
            let (hearer, power) = self.air[place as usize].hearers[at];
            let node = &mut self.nodes[hearer as usize];
            let ended = node.receiver.end(now, place);
            if node.is_deaf() {
                continue;
            }
            let understood = match ended {
                Ended::Unheard => None,
                Ended::Payload if !cut => Some(understood(&mut node.receiver, ppdu, hearer)),
                Ended::Broken | Ended::Payload => Some(0),
            };
            let chip = node.driver.as_ref().filter(|_| ppdu.to.0 == hearer && ppdu.kind == Kind::Data);
            let understood = understood.map(|bits| chip.map_or(bits, |driver| driver.room_for(bits)));
            if let Some(understood) = understood {
                // A CTS to oneself is for everyone.
                let concerned = !ppdu.to.is_unicast() || ppdu.to.0 == hearer || ppdu.to == ppdu.from;
                received |= understood != 0 && concerned;
                let snr = node.receiver.snr();
                node.station.received(now, ppdu, understood, snr, &mut self.out);
                if let RoleState::AccessPoint(ap) = &mut node.role
                    && ppdu.to.0 == hearer
                    && understood != 0
                {
                    ap.refresh(now, ppdu.from);
                }
                self.power = power;
            }
            node.station.sense(now, node.receiver.busy());
            node.note_radio(now);
            self.effects(now, hearer, events);
        }
        self.note_frame(now, place, ppdu, received);
    }
}

/// Bits of the MPDUs of an ended PPDU that a station understands. For a station other than the receiver one bit is
/// enough: to read the reservation of the medium.
fn understood(receiver: &mut Receiver, ppdu: &Ppdu, hearer: u32) -> u64 {
    if ppdu.mpdus.len() <= 1 {
        return u64::from(receiver.mpdu(0, ppdu.bytes));
    }
    let concerned = ppdu.to.0 == hearer;
    let (mut offset, mut bits) = (0, 0);
    for (place, mpdu) in ppdu.mpdus.iter().enumerate() {
        let bytes = DELIMITER_BYTES + mpdu.bytes;
        bits |= u64::from(receiver.mpdu(offset, bytes)) << place;
        offset += bytes.next_multiple_of(4);
        if bits != 0 && !concerned {
            break;
        }
    }
    bits
}
