//! The earliest of many times: a tree in which each node holds the least time of sixteen below it. A time that is not
//! the least of its sixteen costs one step to change, however many there are.

/// How many are below a node.
const WIDTH: usize = 16;

/// A time for each of the numbers 0, 1, 2...; infinite for none. Ties go to the lower number.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// The times; the least of each sixteen of them; and so on, up to one tier of at most sixteen.
    tiers: Vec<Vec<f64>>,
}

/// The place of the least, the first of equal ones.
fn least(times: &[f64]) -> Option<(usize, f64)> {
    times.iter().copied().enumerate().reduce(|least, next| if next.1 < least.1 { next } else { least })
}

impl Agenda {
    /// The earliest time and its number.
    pub fn first(&self) -> Option<(f64, u32)> {
        let (mut place, time) = least(self.tiers.last()?)?;
        for tier in self.tiers.iter().rev().skip(1) {
            let below = tier.chunks(WIDTH).nth(place)?;
            place = place * WIDTH + below.iter().position(|known| *known <= time)?;
        }
        (time < f64::INFINITY).then_some((time, place as u32))
    }

    /// Sets the time of a number; an infinite one takes it out.
    pub fn set(&mut self, number: u32, time: f64) {
        let mut place = number as usize;
        if self.tiers.first().is_none_or(|times| times.len() <= place) {
            if time == f64::INFINITY {
                return;
            }
            self.grow(place + 1);
        }
        let mut time = time;
        for tier in 0..self.tiers.len() {
            let old = std::mem::replace(&mut self.tiers[tier][place], time);
            let above = place / WIDTH;
            let Some(known) = self.tiers.get(tier + 1).map(|tier| tier[above]) else { return };
            if time > known {
                if old > known {
                    return;
                }
                // It was the least one: another is now, or it still is.
                let below = self.tiers[tier].chunks(WIDTH).nth(above).and_then(least);
                time = below.map_or(f64::INFINITY, |(_, time)| time);
            }
            if time == known {
                return;
            }
            place = above;
        }
    }

    /// Makes room for so many numbers.
    fn grow(&mut self, numbers: usize) {
        let mut len = numbers.next_power_of_two();
        for tier in 0.. {
            if self.tiers.len() <= tier {
                // The only node of the tier below is the first below this one.
                let below = self.tiers.last().and_then(|times| least(times));
                self.tiers.push(below.map(|(_, time)| time).into_iter().collect());
            }
            self.tiers[tier].resize(len, f64::INFINITY);
            if len <= WIDTH {
                return;
            }
            len = len.div_ceil(WIDTH);
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
                agenda.set(number, time.map_or(f64::INFINITY, f64::from));
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
