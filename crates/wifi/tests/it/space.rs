//! The grid against looking at every pair.

use proptest::prelude::*;
use units::Time;
use wifi::mobility::{Area, GaussMarkov, Group, Mobility, Position, RandomWaypoint, Start};
use wifi::space::Space;

/// Nodes of all kinds, some fast.
fn crowd(seed: u64, nodes: u32, area: Area, speed: f64) -> Vec<Mobility> {
    let waypoint = RandomWaypoint { speed_mps: (0.1, speed), pause: Time::from_secs(1), start: Start::Stationary };
    let gauss = GaussMarkov { memory: 0.8, drift_mps: 1.0, deviation_mps: speed / 4.0, step: Time::from_ms(900) };
    let group =
        Group { centre: waypoint, radius_m: area.width_m().min(area.height_m()) / 10.0, step: Time::from_secs(2) };
    let place = |node: u32| Position::ground(area.width_m() * f64::from(node) / f64::from(nodes), area.height_m());
    let one = |node: u32| match node % 4 {
        0 => Mobility::random_waypoint(seed, node, area, &waypoint),
        1 => Mobility::gauss_markov(seed, node, area, &gauss),
        2 => Mobility::group(seed, node, 0, area, &group),
        _ => Mobility::fixed(place(node), &area),
    };
    (0..nodes).map(|node| one(node).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_grid_finds_whom_a_look_at_every_pair_finds(
        seed in 0..1000_u64,
        nodes in 1..40_u32,
        width in 1.0..900.0_f64,
        height in 1.0..900.0_f64,
        range in prop_oneof![0.0..300.0_f64, Just(f64::INFINITY), Just(1e-9)],
        speed in 0.2..80.0_f64,
        pauses in prop::collection::vec(0.0..20.0_f64, 1..12),
    ) {
        let area = Area::new(width, height).unwrap();
        let mut space = Space::new(crowd(seed, nodes, area, speed), &area, range);
        let mut alone = crowd(seed, nodes, area, speed);
        let mut now = Time::ZERO;
        for (turn, pause) in pauses.iter().enumerate() {
            let places: Vec<Position> = alone.iter_mut().map(|node| node.position(now)).collect();
            for node in (0..nodes).filter(|node| (node + turn as u32).is_multiple_of(3)) {
                let here = places[node as usize];
                let expect = |radius: f64| -> Vec<u32> {
                    (0..nodes).filter(|other| *other != node && places[*other as usize].distance(here) <= radius).collect()
                };
                let list = space.neighbours(now, node).to_vec();
                prop_assert!(list.is_sorted() && !list.contains(&node));
                for other in expect(range) {
                    prop_assert!(list.contains(&other), "{other} is within {range} m of {node}");
                }
                for other in &list {
                    let distance = places[*other as usize].distance(here);
                    prop_assert!(distance <= 1.2 * range + 1e-6, "{other} is {distance} m from {node}, range {range} m");
                }
                for radius in [range, 50.0] {
                    let mut found = vec![7];
                    space.within(now, node, radius, &mut found);
                    prop_assert_eq!(&found[1..], expect(radius));
                }
                prop_assert_eq!(space.position(now, node), here);
            }
            now += Time::from_secs_f64(*pause);
        }
    }
}

#[test]
fn nodes_that_rest_are_placed_once() {
    let area = Area::new(1000.0, 1000.0).unwrap();
    let nodes =
        (0..100).map(|node| Mobility::fixed(Position::ground(f64::from(node) * 10.0, 5.0), &area).unwrap()).collect();
    let mut space = Space::new(nodes, &area, 100.0);
    let placed = space.generation(Time::ZERO);
    assert_eq!(space.neighbours(Time::from_secs(5), 50).len(), 22);
    assert_eq!(space.generation(Time::from_secs(100_000)), placed);
}
