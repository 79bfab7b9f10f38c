//! Mobility models against stationary distributions, autocorrelations, and the connectivity that ns-2 and ns-3 find
//! (`data/propagation.csv`).

use units::Time;
use wifi::mobility::{Area, GaussMarkov, Group, Mobility, MobilityError, Position, RandomWaypoint, Start};

fn square(side: f64) -> Area {
    Area::new(side, side).unwrap()
}

fn walkers(start: Start) -> RandomWaypoint {
    RandomWaypoint { speed_mps: (1.0, 10.0), pause: Time::from_secs(2), start }
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The shares of pairs connected, and of seconds in which all are connected over any number of hops: 10 nodes, 600 s,
/// 100 m.
fn connectivity(side: f64, seed: u64, start: Start) -> (f64, f64) {
    let mut nodes: Vec<_> =
        (0..10).map(|node| Mobility::random_waypoint(seed, node, square(side), &walkers(start)).unwrap()).collect();
    let (mut pairs, mut whole) = (0, 0);
    for second in 0..600 {
        let places: Vec<Position> = nodes.iter_mut().map(|node| node.position(Time::from_secs(second))).collect();
        let mut group: Vec<usize> = (0..10).collect();
        for a in 0..10 {
            for b in 0..a {
                if places[a].distance(places[b]) <= 100.0 {
                    pairs += 1;
                    let (from, to) = (group[a], group[b]);
                    group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
                }
            }
        }
        whole += u32::from(group.iter().all(|of| *of == group[0]));
    }
    (f64::from(pairs) / 45.0 / 600.0, f64::from(whole) / 600.0)
}

#[test]
fn random_waypoint_connects_as_many_pairs_as_in_ns2_and_ns3() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/propagation.csv")).unwrap();
    let mut compared = 0;
    for side in [100.0, 200.0, 400.0, 500.0] {
        let rows =
            text.lines().skip(1).filter(|line| !line.contains('"')).map(|line| line.split(',').collect::<Vec<_>>());
        let here = rows.filter(|fields| fields[12].parse() == Ok(side));
        let (pairs, whole): (Vec<f64>, Vec<f64>) =
            here.map(|fields| (fields[15].parse::<f64>().unwrap(), fields[16].parse::<f64>().unwrap())).unzip();
        assert_eq!(pairs.len(), 6);
        let ours: Vec<_> = (1..=30).map(|seed| connectivity(side, seed, Start::Uniform)).collect();
        for (ours, theirs) in [(mean(ours.iter().map(|of| of.0)), pairs), (mean(ours.iter().map(|of| of.1)), whole)] {
            let low = theirs.iter().copied().fold(f64::INFINITY, f64::min);
            let high = theirs.iter().copied().fold(0.0, f64::max);
            assert!((low..=high).contains(&ours), "{side} m: {ours} is outside the seeds' {low} to {high}");
            compared += 1;
        }
    }
    assert_eq!(compared, 8);
}

#[test]
fn stationary_random_waypoint_does_not_drift_and_uniform_does() {
    let area = square(500.0);
    let (pause, travel) = (2.0, 500.0 * 0.521_405_433 * libm::log(10.0) / 9.0);
    let slow = 9.0 / libm::log(10.0);
    let count = 8000;
    for (start, second, expected) in [
        (Start::Stationary, 0, slow),
        (Start::Stationary, 700, slow),
        // The first speeds are uniform; what is met later is not.
        (Start::Uniform, 3, 5.5),
        (Start::Uniform, 2000, slow),
    ] {
        let now = Time::from_secs(second);
        let legs = (0..count).map(|node| Mobility::random_waypoint(3, node, area, &walkers(start)).unwrap().leg(now));
        let speeds: Vec<f64> = legs.map(|leg| leg.velocity.speed()).collect();
        let moving: Vec<f64> = speeds.iter().copied().filter(|speed| *speed > 0.0).collect();
        near(mean(moving.iter().copied()), expected, 0.12);
        if second != 3 {
            near(1.0 - moving.len() as f64 / f64::from(count), pause / (pause + travel), 0.01);
        }
    }
}

/// Mean square distance from the middle of a unit square, along x, of a point on a way between uniform ends that is met
/// with probability proportional to the way's length: a sum over a lattice.
fn moment_on_ways() -> f64 {
    const STEPS: usize = 24;
    let at = |index: usize| (index as f64 + 0.5) / STEPS as f64 - 0.5;
    let (mut weighted, mut weights) = (0.0, 0.0);
    for (ax, bx) in (0..STEPS * STEPS).map(|index| (at(index % STEPS), at(index / STEPS))) {
        for (ay, by) in (0..STEPS * STEPS).map(|index| (at(index % STEPS), at(index / STEPS))) {
            let length = libm::hypot(ax - bx, ay - by);
            weighted += length * (ax * ax + ax * bx + bx * bx) / 3.0;
            weights += length;
        }
    }
    weighted / weights
}

#[test]
fn stationary_places_are_nearer_to_the_middle_than_uniform_ones() {
    let area = square(300.0);
    let spec = RandomWaypoint { pause: Time::ZERO, ..walkers(Start::Stationary) };
    let expected = moment_on_ways();
    assert!(expected < 0.9 / 12.0);
    for second in [0, 400] {
        let places = (0..40_000)
            .map(|node| Mobility::random_waypoint(9, node, area, &spec).unwrap().position(Time::from_secs(second)));
        let moment = mean(places.map(|place| (place.x / 300.0 - 0.5) * (place.x / 300.0 - 0.5)));
        near(moment, expected, 0.002);
    }
}

#[test]
fn gauss_markov_velocities_are_correlated_by_the_memory_to_the_power_of_the_steps() {
    let spec = GaussMarkov { memory: 0.75, drift_mps: 3.0, deviation_mps: 2.0, step: Time::from_secs(1) };
    let area = square(1e7);
    let nodes = 4000;
    let velocities: Vec<Vec<f64>> = (0..nodes)
        .map(|node| {
            let mut mobility = Mobility::gauss_markov(5, node, area, &spec).unwrap();
            (0..9).map(|second| mobility.leg(Time::from_secs(second)).velocity.x).collect()
        })
        .collect();
    // Within a node the mean velocity is a direction drawn once: remove it by differences between steps, whose variance
    // is 2 s^2 (1 - a^k).
    for steps in [1, 2, 4, 8] {
        let squares = velocities.iter().map(|of| (of[steps] - of[0]) * (of[steps] - of[0]));
        let expected = 2.0 * 4.0 * (1.0 - libm::pow(0.75, steps as f64));
        near(mean(squares) / expected, 1.0, 0.1);
    }
    // Variance around nothing: s^2 and half the square of the drift.
    near(mean(velocities.iter().flatten().map(|speed| speed * speed)), 4.0 + 4.5, 0.3);
}

#[test]
fn gauss_markov_stays_uniform_within_its_area() {
    let area = Area::new(60.0, 40.0).unwrap();
    let spec = GaussMarkov { memory: 0.9, drift_mps: 2.0, deviation_mps: 1.5, step: Time::from_ms(500) };
    let nodes = 4000;
    for second in [0, 30, 300] {
        let places: Vec<Position> = (0..nodes)
            .map(|node| Mobility::gauss_markov(8, node, area, &spec).unwrap().position(Time::from_secs(second)))
            .collect();
        assert!(
            places
                .iter()
                .all(|place| (-1e-6..=60.0 + 1e-6).contains(&place.x) && (-1e-6..=40.0 + 1e-6).contains(&place.y))
        );
        // Uniform on [0, 1]: mean 1/2 and mean square 1/3, with standard errors 0.289 and 0.298 over the root of the
        // count.
        for along in [|place: &Position| place.x / 60.0, |place: &Position| place.y / 40.0] {
            near(mean(places.iter().map(along)), 0.5, 0.02);
            near(mean(places.iter().map(|place| along(place) * along(place))), 1.0 / 3.0, 0.02);
        }
    }
    let wandering = GaussMarkov { drift_mps: 0.0, ..spec };
    let speeds = (0..nodes).map(|node| {
        Mobility::gauss_markov(8, node, area, &wandering).unwrap().leg(Time::from_secs(50)).velocity.speed()
    });
    near(mean(speeds), 1.5 * (std::f64::consts::PI / 2.0).sqrt(), 0.06);
}

#[test]
fn members_of_a_group_stay_together_and_move_apart_from_other_groups() {
    let area = square(400.0);
    let spec = Group { centre: walkers(Start::Stationary), radius_m: 25.0, step: Time::from_secs(5) };
    let mut members: Vec<_> = (0..12).map(|node| Mobility::group(2, node, node / 6, area, &spec).unwrap()).collect();
    let mut apart = 0.0_f64;
    for second in 0..2000 {
        let places: Vec<Position> = members.iter_mut().map(|member| member.position(Time::from_secs(second))).collect();
        assert!(places.iter().all(|place| area.contains(*place)));
        for a in 0..6 {
            assert!(places[a].distance(places[0]) <= 50.0 + 1e-6 && places[a + 6].distance(places[6]) <= 50.0 + 1e-6);
        }
        apart = apart.max(places[0].distance(places[6]));
    }
    assert!(apart > 200.0, "{apart}");
    // Ends of mean square radius r^2/2 and a point anywhere on the way between: r^2/2 ((1-u)^2 + u^2), on average
    // r^2/3.
    let rest = RandomWaypoint {
        start: Start::At(Position::ground(200.0, 200.0)),
        pause: Time::from_secs(10_000),
        ..spec.centre
    };
    let places = (0..4000).map(|node| {
        Mobility::group(2, node, 0, area, &Group { centre: rest, ..spec }).unwrap().position(Time::from_secs(7))
    });
    let square_radius =
        mean(places.map(|place| place.distance(Position::ground(200.0, 200.0))).map(|radius| radius * radius));
    near(square_radius / (25.0 * 25.0), 1.0 / 3.0, 0.02);
}

#[test]
fn ways_are_continuous_and_the_same_however_often_one_looks() {
    let area = square(150.0);
    let models = |node| {
        vec![
            Mobility::random_waypoint(4, node, area, &walkers(Start::Stationary)).unwrap(),
            Mobility::random_waypoint(4, node, area, &RandomWaypoint { pause: Time::ZERO, ..walkers(Start::Uniform) })
                .unwrap(),
            Mobility::gauss_markov(
                4,
                node,
                area,
                &GaussMarkov { memory: 0.5, drift_mps: 1.0, deviation_mps: 3.0, step: Time::from_ms(700) },
            )
            .unwrap(),
            Mobility::group(
                4,
                node,
                0,
                area,
                &Group { centre: walkers(Start::Stationary), radius_m: 10.0, step: Time::from_secs(3) },
            )
            .unwrap(),
            Mobility::fixed(Position::ground(1.0, 2.0), &area).unwrap(),
        ]
    };
    for node in 0..20 {
        for (mut often, mut seldom) in models(node).into_iter().zip(models(node)) {
            let mut last = often.position(Time::ZERO);
            for tick in 1..=20_000 {
                let now = Time::from_ms(10 * tick);
                let leg = often.leg(now);
                assert!(leg.from <= now && leg.until > now);
                let place = often.position(now);
                assert!(place.distance(last) < 0.01 * 30.0, "a jump to {place:?} at {now:?}");
                last = place;
                if tick % 4000 == 0 {
                    assert_eq!(seldom.position(now), place);
                }
            }
        }
    }
}

#[test]
fn impossible_movements_are_refused() {
    let area = square(100.0);
    assert!(matches!(Area::new(0.0, 5.0), Err(MobilityError::Area { .. })));
    assert!(matches!(Area::new(5.0, f64::NAN), Err(MobilityError::Area { .. })));
    let error = Mobility::fixed(Position::ground(120.0, 5.0), &area).unwrap_err();
    assert_eq!(error.to_string(), "(120, 5) m is outside the area of 100 m x 100 m");
    let speeds = |low, high| {
        Mobility::random_waypoint(1, 0, area, &RandomWaypoint { speed_mps: (low, high), ..walkers(Start::Uniform) })
            .unwrap_err()
    };
    assert_eq!(speeds(0.0, 10.0), MobilityError::Speeds { low: 0.0, high: 10.0 });
    assert_eq!(speeds(5.0, 1.0), MobilityError::Speeds { low: 5.0, high: 1.0 });
    assert!(matches!(speeds(1.0, f64::INFINITY), MobilityError::Speeds { .. }));
    let outside = walkers(Start::At(Position::ground(-1.0, 0.0)));
    assert!(matches!(Mobility::random_waypoint(1, 0, area, &outside), Err(MobilityError::Outside { .. })));
    let gauss = GaussMarkov { memory: 0.5, drift_mps: 1.0, deviation_mps: 1.0, step: Time::from_secs(1) };
    let refused = |spec| Mobility::gauss_markov(1, 0, area, &spec).unwrap_err();
    assert_eq!(refused(GaussMarkov { memory: 1.0, ..gauss }), MobilityError::Memory(1.0));
    assert_eq!(refused(GaussMarkov { deviation_mps: -1.0, ..gauss }), MobilityError::Speed(-1.0));
    assert_eq!(refused(GaussMarkov { step: Time::ZERO, ..gauss }), MobilityError::Step);
    let group = Group { centre: walkers(Start::Stationary), radius_m: 10.0, step: Time::from_secs(1) };
    let refused = |spec| Mobility::group(1, 0, 0, area, &spec).unwrap_err();
    assert_eq!(refused(Group { radius_m: 50.0, ..group }), MobilityError::Radius { radius_m: 50.0, area });
    assert_eq!(refused(Group { step: Time::ZERO, ..group }), MobilityError::Step);
    let edge = Position::ground(5.0, 50.0);
    let refused = refused(Group { centre: walkers(Start::At(edge)), ..group });
    assert_eq!(refused, MobilityError::Centre { place: edge, radius_m: 10.0 });
}
