//! A binary heap of times with the position of each entry known, so that a time can be changed in place.

const NOWHERE: u32 = u32::MAX;

/// At most one time for each of the numbers 0, 1, 2... Ties go to the lower number.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: Vec<(f64, u32)>,
    /// The place of each number in the heap.
    places: Vec<u32>,
}

impl Agenda {
    /// The earliest time and its number.
    pub fn first(&self) -> Option<(f64, u32)> {
        self.heap.first().copied()
    }

    /// Sets the time of a number, or takes it out.
    pub fn set(&mut self, number: u32, time: Option<f64>) {
        if self.places.len() <= number as usize {
            if time.is_none() {
                return;
            }
            self.places.resize(number as usize + 1, NOWHERE);
        }
        let place = self.places[number as usize];
        match (time, place) {
            (None, NOWHERE) => {}
            (None, _) => self.remove(place as usize),
            (Some(time), NOWHERE) => {
                self.heap.push((time, number));
                self.places[number as usize] = self.heap.len() as u32 - 1;
                self.rise(self.heap.len() - 1);
            }
            (Some(time), _) => {
                self.heap[place as usize].0 = time;
                self.rise(place as usize);
                self.sink(self.places[number as usize] as usize);
            }
        }
    }

    fn remove(&mut self, place: usize) {
        let last = self.heap.len() - 1;
        self.swap(place, last);
        if let Some((_, number)) = self.heap.pop() {
            self.places[number as usize] = NOWHERE;
        }
        if place < last {
            let moved = self.heap[place].1;
            self.rise(place);
            self.sink(self.places[moved as usize] as usize);
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.places[self.heap[a].1 as usize] = a as u32;
        self.places[self.heap[b].1 as usize] = b as u32;
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.heap[a], self.heap[b]);
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt()
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut least = at;
            for child in [left, right] {
                if child < self.heap.len() && self.is_before(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.swap(at, least);
            at = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a plain map from numbers to times.
        #[test]
        fn the_first_is_the_least(changes in prop::collection::vec((0_u32..40, prop::option::of(0_u32..100)), 0..300)) {
            let (mut agenda, mut plain) = (Agenda::default(), BTreeMap::new());
            for (number, time) in changes {
                agenda.set(number, time.map(f64::from));
                match time {
                    Some(time) => plain.insert(number, time),
                    None => plain.remove(&number),
                };
                let least = plain.iter().map(|(number, time)| (*time, *number)).min();
                prop_assert_eq!(agenda.first(), least.map(|(time, number)| (f64::from(time), number)));
            }
        }
    }
}
