//! A record of PPDUs for pictures: what went on the air, and what became of it.

use super::Medium;
use super::air::OnAir;
use super::node::Content;
use crate::mac::{Kind, Management, Ppdu, StationId};
use units::Time;

/// Result of a PPDU at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameFate {
    /// Received, in part at least; a broadcast, by at least one station.
    Received,
    /// Not received, with another PPDU on the air at the receiver meanwhile.
    Collided,
    /// Not received: too weak, or the receiver was off or sending.
    Lost,
}

/// A PPDU that was on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameRecord {
    /// When its preamble began.
    pub at: Time,
    /// How long it lasted.
    pub duration: Time,
    /// The transmitter.
    pub from: StationId,
    /// The receiver.
    pub to: StationId,
    /// Kind of its content.
    pub kind: Kind,
    /// Whether it was a beacon.
    pub beacon: bool,
    /// Packets in it.
    pub packets: u32,
    /// Its result at the receiver.
    pub fate: FrameFate,
}

/// The record.
#[derive(Debug)]
pub(super) struct Frames {
    from: Time,
    most: usize,
    records: Vec<FrameRecord>,
}

impl Frames {
    /// Nothing is recorded.
    pub const fn off() -> Self {
        Self { from: Time::MAX, most: 0, records: Vec::new() }
    }
    pub fn wanted(&self, at: Time) -> bool {
        at >= self.from && self.records.len() < self.most
    }
}

impl<P: Copy> Medium<P> {
    /// Keeps a record of PPDUs that begin from `from` on, the first `most` of them.
    pub fn record_frames(&mut self, from: Time, most: usize) {
        self.frames = Frames { from, most, records: Vec::new() };
    }
    /// The record, in the order in which PPDUs ended.
    pub fn frames(&self) -> &[FrameRecord] {
        &self.frames.records
    }

    /// A PPDU begins: notes whom it disturbs, and who disturbs it.
    pub(super) fn note_overlap(&mut self, now: Time, place: u32) {
        if !self.frames.wanted(now) {
            return;
        }
        let reaches = |hearers: &[(u32, f64)], to: StationId| hearers.iter().any(|(hearer, _)| *hearer == to.0);
        for other in (0..self.air.len()).filter(|other| *other != place as usize) {
            if self.air[other].on {
                let (new, old) = (&self.air[place as usize], &self.air[other]);
                let (spoils_old, spoils_new) = (reaches(&new.hearers, old.ppdu.to), reaches(&old.hearers, new.ppdu.to));
                self.air[other].disturbed |= spoils_old;
                self.air[place as usize].disturbed |= spoils_new;
            }
        }
    }
    /// A PPDU has ended: `received` where it was to be.
    pub(super) fn note_frame(&mut self, now: Time, place: u32, ppdu: &Ppdu, received: bool) {
        let OnAir { began: at, disturbed, .. } = self.air[place as usize];
        if !self.frames.wanted(at) {
            return;
        }
        let first = ppdu.packets.first().and_then(|id| self.packets.get(*id));
        let beacon = first.is_some_and(|held| matches!(held.content, Content::Management(Management::Beacon)));
        let fate = match (received, disturbed) {
            (true, _) => FrameFate::Received,
            (false, true) => FrameFate::Collided,
            (false, false) => FrameFate::Lost,
        };
        let (from, to, kind, packets) = (ppdu.from, ppdu.to, ppdu.kind, ppdu.packets.len() as u32);
        let duration = now.saturating_sub(at);
        self.frames.records.push(FrameRecord { at, duration, from, to, kind, beacon, packets, fate });
    }
}
