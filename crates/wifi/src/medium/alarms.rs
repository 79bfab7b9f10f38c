//! The next deadline of all stations: a tournament, so that one pending event serves them all.

use des::{Event, EventQueue};
use units::Time;

/// One deadline per station. The earliest is at hand; changing one costs as many steps as the number of stations has
/// bits at most.
#[derive(Debug)]
pub(crate) struct Alarms {
    /// `winners[1]` is the station with the earliest deadline; the two below `i` are `2 i` and `2 i + 1`; leaves are
    /// the stations in order.
    winners: Vec<u32>,
    deadlines: Vec<Time>,
    /// When the pending event comes, and its generation: one that an earlier one has replaced is stale.
    armed: Time,
    generation: u32,
}

impl Alarms {
    /// Creates the tournament for this many stations, without a deadline.
    pub fn new(stations: usize) -> Self {
        let leaves = stations.next_power_of_two().max(1);
        let mut winners = vec![0; 2 * leaves];
        for (station, winner) in winners[leaves..].iter_mut().enumerate() {
            *winner = station as u32;
        }
        for at in (1..leaves).rev() {
            winners[at] = winners[2 * at];
        }
        Self { winners, deadlines: vec![Time::MAX; leaves], armed: Time::MAX, generation: 0 }
    }
    /// The station that is due first, the lower number first, and when.
    pub fn earliest(&self) -> (u32, Time) {
        let station = self.winners[1];
        (station, self.deadlines[station as usize])
    }
    /// The station whose time has come, if there is one.
    pub fn due(&self, now: Time) -> Option<u32> {
        let (station, at) = self.earliest();
        (at <= now).then_some(station)
    }
    /// A station's deadline is `at` from now on.
    pub fn set(&mut self, station: u32, at: Time) {
        if self.deadlines[station as usize] == at {
            return;
        }
        self.deadlines[station as usize] = at;
        let leaf = self.deadlines.len() + station as usize;
        let mut place = leaf / 2;
        while place > 0 {
            let (left, right) = (self.winners[2 * place], self.winners[2 * place + 1]);
            let later = self.deadlines[right as usize] < self.deadlines[left as usize];
            let winner = if later { right } else { left };
            // Who has lost here before and loses now changes nothing above.
            if winner == self.winners[place] && winner != station {
                return;
            }
            self.winners[place] = winner;
            place /= 2;
        }
    }
    /// Sees to it that an event of `kind` comes when the first one is due.
    pub fn arm(&mut self, now: Time, kind: u8, events: &mut EventQueue) {
        let at = self.earliest().1.max(now);
        if at < self.armed {
            self.armed = at;
            self.generation = self.generation.wrapping_add(1);
            events.push(at, kind, 0, self.generation);
        }
    }
    /// An event of that kind has come: false if it is stale.
    pub fn ring(&mut self, event: &Event) -> bool {
        let rings = event.arg == self.generation;
        if rings {
            self.armed = Time::MAX;
        }
        rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use des::RandomStream;

    /// Against a look at all of them, the lower number first among equals.
    #[test]
    fn the_earliest_is_at_hand_whatever_changes() {
        let mut random = RandomStream::new(1, "test", 0);
        for stations in [1, 2, 3, 11, 41] {
            let mut alarms = Alarms::new(stations);
            let mut deadlines = vec![Time::MAX; stations];
            for _ in 0..2_000 {
                let station = random.below(stations as u64) as usize;
                let at = if random.chance(0.3) { Time::MAX } else { Time::from_us(random.below(20)) };
                deadlines[station] = at;
                alarms.set(station as u32, at);
                let earliest = (0..).zip(&deadlines).min_by_key(|(number, at)| (**at, *number)).expect("a station");
                assert_eq!(alarms.earliest(), (earliest.0, *earliest.1));
            }
        }
    }
}
