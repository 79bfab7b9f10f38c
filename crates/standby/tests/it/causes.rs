//! Causes of wakes, drawn at random and told to nobody: each is logged as what it was.

use super::world::{Request, S, World, spec};
use proptest::prelude::*;
use standby::Who;
use storage::power::{Hint, Phase, Policy};
use units::Time;

const KINDS: [&str; 7] = ["read", "write", "discard", "flush", "outside", "import", "window"];

fn wake(world: &mut World, kind: &str) {
    let who = Who { uid: 1, pid: 1 };
    match kind {
        "read" => world.request(Request::Read),
        "write" => world.request(Request::Write),
        "discard" => world.request(Request::Discard),
        "flush" => world.request(Request::Flush),
        "outside" => world.request(Request::Start),
        "import" => world.machine.hint(world.now, Hint::Phase(Phase::Import), who).expect("counts"),
        _ => world.machine.wake(world.now, 0, who),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Drives from 0 to 40 s to start, drivers from 0.1 to 5 s to answer, commands counted as reads or not, pages of
    /// SMART in between: 24 times 12 wakes.
    #[test]
    fn every_wake_has_its_cause(
        kinds in prop::collection::vec((0..KINDS.len(), 0u64..900, prop::bool::ANY), 12),
        start in 0u64..400,
        latency in 1u64..50,
        counted: bool,
    ) {
        // A budget of no concern: this is not about wear.
        let mut world = World::new(spec(Policy::Phased { timeout: Some(S * 60) }));
        (world.start, world.latency, world.counted) = (Time::from_ms(100 * start), Time::from_ms(100 * latency), counted);
        let mut expected = Vec::new();
        for (kind, after, page) in kinds {
            let rests = world.until(S * 20_000, |world| world.stands() && world.machine.rests_for(world.now, 0).is_some());
            assert!(rests, "{:?}", world.told);
            world.run(Time::from_ms(100 * after));
            if page {
                world.request(Request::Page);
                world.run(Time::from_ms(100 * (after % 13)));
            }
            wake(&mut world, KINDS[kind]);
            expected.push(KINDS[kind]);
            prop_assert!(world.until(S * 200, |world| world.causes().len() >= expected.len()), "{:?}", world.told);
            // And what comes behind the cause is not it.
            world.request(Request::Write);
            world.run(S * 5);
            if KINDS[kind] == "import" {
                world.machine.hint(world.now, Hint::Phase(Phase::Jobs), Who { uid: 1, pid: 1 }).expect("counts");
            }
            prop_assert_eq!(world.causes(), expected.clone());
        }
    }
}
