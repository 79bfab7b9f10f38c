//! Propagation against closed forms and against what ns-2 and ns-3 received (`data/propagation.csv`).

use units::Time;
use wifi::mobility::Position;
use wifi::propagation::{
    Dbm, Fading, PathLoss, Propagation, PropagationError, Radio, RadioError, Shadowing, WAVES, thermal_noise,
};

const FREQUENCY: f64 = 914e6;
const LOG_DISTANCE: PathLoss = PathLoss::LogDistance { exponent: 2.0, reference_m: 1.0, reference_db: None };

/// The radio of the references: 0.2818 W, unit gains, antennas at 1.5 m.
fn lucent() -> Radio {
    Radio {
        transmit_power: Dbm::from_milliwatts(281.838_15),
        sensitivity: Dbm::from_milliwatts(1.426_81e-5),
        ..Radio::default()
    }
}

fn air(path_loss: PathLoss, shadowing: Shadowing, fading: Fading) -> Propagation {
    Propagation::new(7, FREQUENCY, path_loss, shadowing, fading).unwrap()
}

fn calm(path_loss: PathLoss) -> Propagation {
    air(path_loss, Shadowing::None, Fading::None)
}

fn at(x: f64) -> Position {
    Position::ground(x, 0.0)
}

fn near(value: f64, expected: f64, relative: f64) {
    assert!((value / expected - 1.0).abs() <= relative, "{value} is not within {relative} of {expected}");
}

/// A row of the reference: simulator, model, exponent, sigma, and (distance, share received).
type Row = (String, String, f64, f64, Vec<(f64, f64)>);

fn references() -> Vec<Row> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/propagation.csv")).unwrap();
    let with_curve = text.lines().skip(1).filter_map(|line| {
        let (before, rest) = line.split_once('"')?;
        let (curve, _) = rest.split_once('"')?;
        let fields: Vec<_> = before.split(',').collect();
        let curve = curve.split(',').map(|point| {
            let (distance, share) = point.split_once(':').unwrap();
            (distance.parse().unwrap(), share.parse().unwrap())
        });
        Some((
            fields[1].into(),
            fields[6].into(),
            fields[8].parse().unwrap(),
            fields[9].parse().unwrap(),
            curve.collect(),
        ))
    });
    with_curve.collect()
}

/// P(normal > x).
fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

#[test]
fn two_ray_and_free_space_reach_what_the_references_reach() {
    let radio = lucent();
    let two_ray = calm(PathLoss::TwoRayGround);
    near(two_ray.mean((&radio, at(0.0)), (&radio, at(100.0))).milliwatts(), 1.426_81e-5, 1e-5);
    // The reference's 86.1 m is computed with light at 3e8 m/s, 0.07 % too fast.
    near(two_ray.crossover(&radio, &radio) * 299_792_458.0 / 3e8, 86.1, 1e-3);
    near(two_ray.distance(&radio, &radio, radio.sensitivity), 100.0, 1e-5);
    let mut compared = 0;
    for (_, model, _, _, curve) in references() {
        let path_loss = match &*model {
            "TwoRayGround" => PathLoss::TwoRayGround,
            "FreeSpace" => PathLoss::FreeSpace,
            _ => continue,
        };
        for (distance, share) in curve {
            let arrives = calm(path_loss).mean((&radio, at(0.0)), (&radio, at(distance))) >= radio.sensitivity;
            assert_eq!(f64::from(u8::from(arrives)), share, "{model} at {distance} m");
            compared += 1;
        }
    }
    assert_eq!(compared, 100);
}

#[test]
fn two_ray_is_continuous_at_the_crossover_and_falls_with_the_fourth_power() {
    let (radio, air) = (lucent(), calm(PathLoss::TwoRayGround));
    let power = |distance| air.mean((&radio, at(0.0)), (&radio, at(distance)));
    let crossover = air.crossover(&radio, &radio);
    assert!((power(crossover * (1.0 - 1e-9)) - power(crossover * (1.0 + 1e-9))).abs() < 1e-6);
    near(power(50.0) - power(80.0), 20.0 * libm::log10(1.6), 1e-12);
    near(power(200.0) - power(400.0), 40.0 * libm::log10(2.0), 1e-12);
    // Higher antennas move the crossover and strengthen what lies beyond by 20 log10 of the height.
    let mast = Radio { height_m: 3.0, ..radio };
    near(air.mean((&mast, at(0.0)), (&radio, at(400.0))) - power(400.0), 20.0 * libm::log10(2.0), 2e-4);
}

#[test]
fn friis_by_hand() {
    // 100 mW at 2.4 GHz over 10 m: 20 log10(4 pi 10 / 0.12491) = 60.05 dB; gains add on both sides.
    let air = Propagation::new(1, 2.4e9, PathLoss::FreeSpace, Shadowing::None, Fading::None).unwrap();
    let sender = Radio { transmit_power: Dbm(20.0), gain_db: 3.0, ..Radio::default() };
    let receiver = Radio { gain_db: 2.0, ..Radio::default() };
    let power = air.mean((&sender, at(0.0)), (&receiver, at(10.0)));
    assert!((power.0 - (20.0 + 5.0 - 60.05)).abs() < 0.01, "{power:?}");
    // What is closer than the formula holds loses nothing.
    assert_eq!(air.mean((&sender, at(0.0)), (&receiver, at(0.0))), Dbm(25.0));
}

#[test]
fn noise_is_k_t_b() {
    assert!((thermal_noise(1.0).0 + 173.98).abs() < 0.005);
    assert!((Radio::default().noise(20e6).0 + 93.97).abs() < 0.01);
}

#[test]
fn a_wanted_range_is_solved_under_every_model() {
    let (tablet, tall) = (Radio::default(), Radio { height_m: 4.0, gain_db: 6.0, ..Radio::default() });
    for path_loss in [PathLoss::FreeSpace, PathLoss::TwoRayGround, LOG_DISTANCE] {
        for range in [20.0, 100.0, 750.0] {
            let air = calm(path_loss);
            let threshold = air.threshold_for(range, &tablet, &tall).unwrap();
            near(air.distance(&tablet, &tall, threshold), range, 1e-9);
            let power = air.power_for(range, &tablet, &tall).unwrap();
            let set = Radio { transmit_power: power, ..tablet };
            near(air.distance(&set, &tall, tall.sensitivity), range, 1e-9);
            let equal = air.threshold_for(range, &tablet, &tablet).unwrap();
            let arrives = |distance| air.mean((&tablet, at(10.0)), (&tablet, at(10.0 + distance))) >= equal;
            assert!(arrives(range) && !arrives(range * 1.001), "{path_loss:?} {range}");
        }
    }
}

/// The share of `frames` at `distance` that arrive with at least the mean of 100 m.
fn share_received(air: &mut Propagation, distance: f64, frames: u64) -> f64 {
    let radio = lucent();
    let threshold = air.threshold_for(100.0, &radio, &radio).unwrap();
    let mut received = 0;
    for frame in 0..frames {
        let power = air.received(Time::from_ms(frame), (0, 1), (&radio, at(0.0)), (&radio, at(distance)));
        received += u64::from(power >= threshold);
    }
    received as f64 / frames as f64
}

#[test]
fn shadowed_reception_against_distance_is_within_a_hundredth_of_the_closed_form() {
    let mut compared = 0;
    for (simulator, model, exponent, sigma_db, curve) in references() {
        if sigma_db == 0.0 || model == "TwoRayGround" || model == "FreeSpace" {
            continue;
        }
        for (distance, share) in curve {
            let path_loss = PathLoss::LogDistance { exponent, reference_m: 1.0, reference_db: None };
            let mut air = air(path_loss, Shadowing::PerFrame { sigma_db }, Fading::None);
            let expected = q(10.0 * exponent * libm::log10(distance / 100.0) / sigma_db);
            let ours = share_received(&mut air, distance, 40_000);
            assert!(
                (ours - expected).abs() <= 0.01,
                "n {exponent} sigma {sigma_db} at {distance} m: {ours}, {expected}"
            );
            // The references lie within their own spread of the same form, so it is their set-up that is compared.
            assert!(
                (share - expected).abs() <= 0.03,
                "{simulator} n {exponent} sigma {sigma_db} at {distance} m: {share}, {expected}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 160);
}

#[test]
fn shadowing_per_link_stays_and_differs_between_links() {
    let sigma_db = 6.0;
    let mut air = air(LOG_DISTANCE, Shadowing::PerLink { sigma_db }, Fading::None);
    let deviations: Vec<f64> =
        (1..4000).map(|node| air.variation(Time::ZERO, (0, node), (at(0.0), at(10.0)))).collect();
    for node in 1..4000_u32 {
        assert_eq!(air.variation(Time::from_secs(5), (node, 0), (at(50.0), at(1.0))), deviations[node as usize - 1]);
    }
    let count = deviations.len() as f64;
    let mean = deviations.iter().sum::<f64>() / count;
    let variance = deviations.iter().map(|deviation| deviation * deviation).sum::<f64>() / count;
    assert!(mean.abs() < 4.0 * sigma_db / count.sqrt(), "{mean}");
    near(variance, sigma_db * sigma_db, 4.0 * (2.0 / count).sqrt());
}

/// Correlation of the shadowing of many links before and after both ends have moved and time has passed, in `steps`
/// steps.
fn shadow_correlation(moved: (f64, f64), passed: Time, steps: u32) -> f64 {
    let shadowing = Shadowing::Correlated { sigma_db: 8.0, distance_m: 20.0, time: Time::from_secs(30) };
    let mut air = air(LOG_DISTANCE, shadowing, Fading::None);
    let links = 20_000;
    let mut product = 0.0;
    for link in 0..links {
        let pair = (2 * link % 200, 201 + link);
        let first = air.variation(Time::ZERO, pair, (at(0.0), at(100.0)));
        let mut last = first;
        for step in 1..=steps {
            let part = f64::from(step) / f64::from(steps);
            last = air.variation(passed.mul_f64(part), pair, (at(moved.0 * part), at(100.0 + moved.1 * part)));
        }
        product += first * last;
    }
    product / f64::from(links) / 64.0
}

#[test]
fn correlated_shadowing_decays_exponentially_whatever_the_number_of_steps() {
    for (moved, passed, steps) in [
        ((10.0, 0.0), Time::ZERO, 1),
        ((10.0, 0.0), Time::ZERO, 25),
        ((8.0, 12.0), Time::ZERO, 3),
        ((0.0, 0.0), Time::from_secs(15), 7),
        ((5.0, 0.0), Time::from_secs(30), 1),
    ] {
        let expected = libm::exp(-(moved.0 + moved.1) / 20.0 - passed.as_secs_f64() / 30.0);
        let ours = shadow_correlation(moved, passed, steps);
        assert!((ours - expected).abs() < 0.03, "{moved:?} {passed:?} in {steps}: {ours}, {expected}");
    }
}

#[test]
fn nakagami_fading_has_its_moments() {
    for m in [0.5, 0.8, 1.0, 1.5, 3.0, 10.0] {
        let mut air = air(LOG_DISTANCE, Shadowing::None, Fading::PerFrame { m });
        let count = 200_000;
        let powers: Vec<f64> =
            (0..count).map(|_| Dbm(air.variation(Time::ZERO, (3, 9), (at(0.0), at(1.0)))).milliwatts()).collect();
        let mean = powers.iter().sum::<f64>() / f64::from(count);
        let variance = powers.iter().map(|power| (power - 1.0) * (power - 1.0)).sum::<f64>() / f64::from(count);
        let third = powers.iter().map(|power| libm::pow(power - 1.0, 3.0)).sum::<f64>() / f64::from(count);
        // Gamma with mean 1: variance 1/m, third central moment 2/m^2. Standard errors of the first two: sqrt(1/m / n),
        // sqrt((2/m^2 + 6/m^3) / n).
        let errors = 4.0 / f64::from(count).sqrt();
        assert!((mean - 1.0).abs() < errors / m.sqrt(), "m {m}: mean {mean}");
        assert!(
            (variance - 1.0 / m).abs() < errors * (2.0 / m / m + 6.0 / m / m / m).sqrt(),
            "m {m}: variance {variance}"
        );
        near(third, 2.0 / m / m, 0.15);
    }
}

#[test]
fn rayleigh_fading_receives_what_the_exponential_says() {
    // Reception at d with a threshold at 100 m's mean: exp(-(d/100)^n).
    for distance in [20.0, 60.0, 100.0, 150.0] {
        let mut air = air(LOG_DISTANCE, Shadowing::None, Fading::PerFrame { m: 1.0 });
        let expected = libm::exp(-libm::pow(distance / 100.0, 2.0));
        assert!((share_received(&mut air, distance, 40_000) - expected).abs() <= 0.01, "{distance}");
    }
}

/// Mean, variance and correlation of the fading powers of many links before and after.
fn fading_statistics(m: u32, moved: (f64, f64), passed: Time) -> (f64, f64, f64) {
    let mut air = air(LOG_DISTANCE, Shadowing::None, Fading::Correlated { m, around_mps: 0.5 });
    let links = 20_000;
    let (mut sum, mut squares, mut products) = (0.0, 0.0, 0.0);
    for link in 0..links {
        let pair = (link % 100, 100 + link / 100);
        let first = Dbm(air.variation(Time::ZERO, pair, (at(0.0), at(30.0)))).milliwatts();
        let last = Dbm(air.variation(passed, pair, (at(moved.0), at(30.0 + moved.1)))).milliwatts();
        sum += first;
        squares += (first - 1.0) * (first - 1.0);
        products += (first - 1.0) * (last - 1.0);
    }
    let count = f64::from(links);
    (sum / count, squares / count, products / squares)
}

#[test]
fn correlated_fading_follows_clarke_at_both_ends_and_around() {
    let wavelength = 299_792_458.0 / FREQUENCY;
    let j0 = |path: f64| libm::j0(std::f64::consts::TAU * path / wavelength);
    for (m, moved, passed) in [
        (1, (0.05, 0.0), Time::ZERO),
        (1, (0.05, 0.08), Time::ZERO),
        (1, (0.0, 0.0), Time::from_ms(150)),
        (1, (0.2, 0.0), Time::from_ms(50)),
        (3, (0.06, 0.0), Time::ZERO),
    ] {
        let (mean, variance, correlation) = fading_statistics(m, moved, passed);
        let gain = j0(moved.0) * j0(moved.1) * j0(0.5 * passed.as_secs_f64());
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        // N waves of equal strength: 1 - 1/N of a Rayleigh channel's variance, over m branches.
        near(variance, (1.0 - 1.0 / WAVES as f64) / f64::from(m), 0.06);
        // Powers of a complex Gaussian are correlated by the square of its gains' correlation.
        assert!((correlation - gain * gain).abs() < 0.03, "{m} {moved:?} {passed:?}: {correlation}, {}", gain * gain);
    }
}

#[test]
fn correlated_fading_is_smooth_in_time_and_the_same_both_ways() {
    let mut air = air(LOG_DISTANCE, Shadowing::None, Fading::Correlated { m: 1, around_mps: 0.333 });
    let mut last = None;
    for ms in 0..2000 {
        let power = Dbm(air.variation(Time::from_ms(ms), (4, 2), (at(3.0), at(40.0)))).milliwatts();
        assert_eq!(power, Dbm(air.variation(Time::from_ms(ms), (2, 4), (at(40.0), at(3.0)))).milliwatts());
        // Slope of |h|^2 is at most 2 |h| |dh/dt|, with |h| <= sqrt(N) and |dh/dt| <= sqrt(N) 2 pi v / lambda.
        let bound = 2.0 * WAVES as f64 * std::f64::consts::TAU * 0.333 / 0.328 * 1e-3;
        assert!(last.is_none_or(|last: f64| (power - last).abs() < bound));
        last = Some(power);
    }
}

#[test]
fn one_links_draws_do_not_depend_on_other_links() {
    for (shadowing, fading) in [
        (Shadowing::PerFrame { sigma_db: 4.0 }, Fading::PerFrame { m: 1.5 }),
        (
            Shadowing::Correlated { sigma_db: 4.0, distance_m: 5.0, time: Time::MAX },
            Fading::Correlated { m: 2, around_mps: 1.0 },
        ),
    ] {
        let (mut alone, mut among) = (air(LOG_DISTANCE, shadowing, fading), air(LOG_DISTANCE, shadowing, fading));
        for ms in 0..200_u64 {
            let (now, places) = (Time::from_ms(ms), (at(ms as f64), at(300.0)));
            for other in 5..8 {
                among.variation(now, (other, 1), places);
            }
            assert_eq!(alone.variation(now, (1, 2), places), among.variation(now, (1, 2), places));
        }
    }
}

#[test]
fn who_is_beyond_reach_is_hardly_ever_heard() {
    let radio = lucent();
    for (shadowing, fading) in [
        (Shadowing::PerFrame { sigma_db: 6.0 }, Fading::None),
        (Shadowing::None, Fading::PerFrame { m: 1.0 }),
        (Shadowing::None, Fading::PerFrame { m: 0.5 }),
        (Shadowing::PerFrame { sigma_db: 4.0 }, Fading::PerFrame { m: 3.0 }),
    ] {
        let mut air = air(LOG_DISTANCE, shadowing, fading);
        let reach = air.reach(&radio, &radio, radio.sensitivity);
        assert!(reach > air.distance(&radio, &radio, radio.sensitivity));
        let frames = 400_000;
        let heard = (0..frames)
            .filter(|_| air.received(Time::ZERO, (0, 1), (&radio, at(0.0)), (&radio, at(reach))) >= radio.sensitivity)
            .count();
        // Expected at most 40; five standard deviations above.
        assert!(heard <= 72, "{shadowing:?} {fading:?}: {heard}");
    }
}

#[test]
fn impossible_air_and_radios_are_refused() {
    let refused = |path_loss, shadowing, fading| Propagation::new(1, 2.4e9, path_loss, shadowing, fading).unwrap_err();
    let log = |exponent, reference_m, reference_db| {
        refused(PathLoss::LogDistance { exponent, reference_m, reference_db }, Shadowing::None, Fading::None)
    };
    let error = log(-2.0, 1.0, None);
    assert_eq!(error, PropagationError::Exponent(-2.0));
    assert!(error.to_string().contains("-2") && error.to_string().contains("above 0"), "{error}");
    assert!(matches!(log(f64::NAN, 1.0, None), PropagationError::Exponent(_)));
    assert_eq!(log(2.0, 0.0, None), PropagationError::ReferenceDistance(0.0));
    assert_eq!(log(2.0, 1.0, Some(-1.0)), PropagationError::ReferenceLoss(-1.0));
    let shade = |shadowing| refused(PathLoss::FreeSpace, shadowing, Fading::None);
    assert_eq!(shade(Shadowing::PerLink { sigma_db: -1.0 }), PropagationError::Sigma(-1.0));
    assert_eq!(
        shade(Shadowing::Correlated { sigma_db: 1.0, distance_m: 0.0, time: Time::MAX }),
        PropagationError::DecorrelationDistance(0.0)
    );
    assert_eq!(
        shade(Shadowing::Correlated { sigma_db: 1.0, distance_m: 1.0, time: Time::ZERO }),
        PropagationError::DecorrelationTime
    );
    let fade = |fading| refused(PathLoss::FreeSpace, Shadowing::None, fading);
    assert_eq!(fade(Fading::PerFrame { m: 0.4 }), PropagationError::Shape(0.4));
    assert_eq!(fade(Fading::Correlated { m: 0, around_mps: 0.0 }), PropagationError::Shape(0.0));
    assert_eq!(fade(Fading::Correlated { m: 1, around_mps: -1.0 }), PropagationError::SpeedAround(-1.0));
    assert!(Propagation::new(1, 0.0, PathLoss::FreeSpace, Shadowing::None, Fading::None).is_err());

    let two_ray = calm(PathLoss::TwoRayGround);
    let flat = Radio { height_m: 0.0, ..Radio::default() };
    assert_eq!(two_ray.check(&flat), Err(PropagationError::TwoRayHeight(0.0)));
    assert_eq!(calm(PathLoss::FreeSpace).check(&flat), Ok(()));
    assert_eq!(Radio { noise_figure_db: -1.0, ..Radio::default() }.check(), Err(RadioError::NoiseFigure(-1.0)));
    assert_eq!(Radio { height_m: -1.0, ..Radio::default() }.check(), Err(RadioError::Height(-1.0)));
    assert!(Radio { transmit_power: Dbm(f64::NAN), ..Radio::default() }.check().is_err());
    assert_eq!(two_ray.threshold_for(-5.0, &Radio::default(), &Radio::default()), Err(PropagationError::Range(-5.0)));
}
