//! The event queue against a sorted list.

use des::EventQueue;
use proptest::prelude::*;
use std::collections::BTreeSet;
use units::Time;

#[test]
fn ties_go_by_insertion_order() {
    let mut queue = EventQueue::new();
    for index in 0..100 {
        queue.push(Time::from_ps(u64::from(index) % 3), 7, index, index + 1);
    }
    let mut previous = (Time::ZERO, 0);
    let mut seen = 0;
    while let Some(event) = queue.pop() {
        let at = (event.time(), event.index);
        assert!(seen == 0 || at > previous, "{at:?} after {previous:?}");
        assert_eq!((event.kind(), event.arg), (7, event.index + 1));
        previous = at;
        seen += 1;
    }
    assert_eq!(seen, 100);
}

proptest! {
    /// Any mix of pushes, pops and looks agrees with an ordered set of (time, order).
    #[test]
    fn agrees_with_an_ordered_set(steps in prop::collection::vec((0_u8..5, prop_oneof![0_u64..50, (0_u64..50).prop_map(|ms| ms * 1_000_000_000)]), 1..400)) {
        let mut queue = EventQueue::new();
        let mut model = BTreeSet::new();
        let mut order = 0;
        for (what, time) in steps {
            match what {
                0..=2 => {
                    queue.push(Time::from_ps(time), 0, order, 0);
                    model.insert((time, order));
                    order += 1;
                }
                3 => prop_assert_eq!(queue.pop().map(|e| (e.time().as_ps(), e.index)), model.pop_first()),
                _ => prop_assert_eq!(queue.next_time().map(Time::as_ps), model.first().map(|(time, _)| *time)),
            }
            prop_assert_eq!(queue.len(), model.len());
            prop_assert_eq!(queue.is_empty(), model.is_empty());
        }
        while let Some(expected) = model.pop_first() {
            prop_assert_eq!(queue.pop().map(|e| (e.time().as_ps(), e.index)), Some(expected));
        }
        prop_assert!(queue.pop().is_none());
    }
}
