//! Packets and queue lengths that are kept for whoever watches, which costs a plain link its short way.

use super::Link;
use des::Occupancy;
use units::Time;

impl Link {
    /// From now on packets that are transmitted are to be kept for whoever watches.
    pub(crate) fn capture(&mut self) {
        self.captured = true;
        self.choose_path();
    }

    /// From `now` on keeps for how long the queue has each length, which costs a plain link its short way.
    pub(crate) fn watch(&mut self, now: Time) {
        self.see_begun(now);
        self.occupancy = Some(Box::new(Occupancy::new(now, self.waiting(now))));
        self.choose_path();
    }
    /// Picoseconds for which 0, 1, 2 packets and so on waited, from when it was watched to `now`, which must not lie
    /// before the last packet's acceptance; above 65,535 they count as so many.
    pub fn occupancy(&self, now: Time) -> Option<Vec<u64>> {
        let mut occupancy = self.occupancy.as_deref()?.clone();
        if self.managed.is_none() {
            for packet in self.ring.iter().skip(self.begun as usize).take_while(|packet| packet.start <= now) {
                occupancy.leave(packet.start);
            }
        }
        occupancy.set(now, 0);
        Some(occupancy.into_times())
    }
    /// Brings a watched plain queue up to date: packets have begun transmission since.
    pub(super) fn see_begun_watched(&mut self, now: Time) {
        if let Some(occupancy) = self.occupancy.as_deref_mut().filter(|_| self.managed.is_none()) {
            for packet in self.ring.iter().skip(self.begun as usize).take_while(|packet| packet.start <= now) {
                occupancy.leave(packet.start);
            }
            self.see_begun(now);
        }
    }
    /// A managed queue's length may have changed.
    pub(super) fn note_changed(&mut self, now: Time) {
        if let (Some(managed), Some(occupancy)) = (&self.managed, &mut self.occupancy) {
            occupancy.set(now, managed.queue.len());
        }
    }
}
