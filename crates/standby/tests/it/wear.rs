//! The wear budget: no 24 hours see more rests than it allows, whatever comes, through kills and restarts.

use super::world::{Request, S, World, spec};
use proptest::prelude::*;
use standby::Spec;
use storage::power::{Budget, Policy, Settings};
use units::Time;

const DAY: Time = Time::from_secs(86_400);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_day_has_more_rests_than_the_budget(
        per_day in 2u32..12,
        happens in prop::collection::vec((60u64..4_000, 0u8..10), 60),
    ) {
        let policy = Policy::Timeout(Some(S * 30));
        let settings = Settings { spin_ups: Budget::per_day(per_day), ..Settings::of(policy) };
        let mut world = World::new(Spec { settings, ..spec(policy) });
        (world.start, world.step) = (S * 2, S);
        for (after, what) in happens {
            world.run(S * after);
            match what {
                0 => {
                    world.kill(true);
                    world.start_again("boot-1");
                }
                1 => {
                    world.kill(false);
                    world.pass(S * 3_000);
                    world.start_again("boot-1");
                }
                2 => {
                    world.kill(true);
                    world.boot();
                    world.start_again("boot-2");
                }
                _ => world.request(Request::Read),
            }
        }
        for (first, at) in world.rests.iter().enumerate() {
            let within = world.rests[first..].iter().filter(|rest| rest.saturating_sub(*at) < DAY).count();
            prop_assert!(within <= per_day as usize, "{within} from {at} on: {:?}", world.rests);
        }
        prop_assert!(!world.rests.is_empty());
    }
}
