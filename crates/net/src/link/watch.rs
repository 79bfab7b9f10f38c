//! Recording of packets and queue lengths. A watched link takes the slow path.

use super::Link;
use des::Occupancy;
use units::Time;

impl Link {
    /// From now on records the packets that are transmitted.
    pub(crate) fn capture(&mut self) {
        self.captured = true;
        self.choose_path();
    }

    /// From `now` on records how long the queue has each length.
    pub(crate) fn watch(&mut self, now: Time) {
        self.see_begun(now);
        self.occupancy = Some(Box::new(Occupancy::new(now, self.waiting(now))));
        self.choose_path();
    }
    /// Picoseconds for which 0, 1, 2 packets and so on waited, from the start of the watch to `now`, which must not
    /// precede the last packet's acceptance. More than 65,535 packets count as 65,535.
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
    /// Brings a watched plain queue up to date: packets may have begun transmission.
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
