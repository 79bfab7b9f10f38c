//! The wireless part of a scenario: stations, propagation, MAC.

use super::mobility::{area, of_nodes, place};
use super::phy::{mode, settings};
use super::wrong;
use crate::RunError;
use crate::air::{AirSpec, Routing};
use scenario::{
    Driver, DriverScheduling, ErrorKind, FadingKind, Mobility as Moves, PathLossKind, RateControlKind, ReceiverKind,
    RoutingKind, Scenario, ShadowingKind, Wifi, WifiDrop, WifiMode, WifiNode, WifiQueue, WifiQueueKind, WifiStandard,
};
use units::{Distance, Frequency, Time};
use wifi::mac::{
    AccessPointSpec, Aggregation, Budget, ClientSpec, DriverSpec, DropPolicy, FairSpec, MacConfig, RetryLimits,
    Scheduling,
};
use wifi::medium::{Role, StationSpec, WireSpec};
use wifi::mobility::{Mobility, Position};
use wifi::phy::{ErrorModel, ReceiverModel, ReceptionSpec, Thresholds};
use wifi::propagation::{Dbm, Fading, PathLoss, Propagation, Radio, Shadowing};
use wifi::rate::RateSpec;

/// The air of a scenario of topology wifi; none of another.
pub(super) fn air(scenario: &Scenario) -> Result<Option<AirSpec>, RunError> {
    let (Some(wifi), Some(moves)) = (&scenario.network.wifi, &scenario.mobility) else { return Ok(None) };
    let (workers, seed) = (scenario.cluster.workers, scenario.run.seed);
    let (propagation, area) = (propagation(wifi, seed)?, area(moves)?);
    let (own, points) = (radio(wifi), points(wifi, moves));
    let infrastructure = wifi.mode == WifiMode::Infrastructure;
    let mut stations = Vec::new();
    for (node, mobility) in (0..=workers).zip(of_nodes(moves, workers + 1, area, seed)?) {
        let parts: Vec<&WifiNode> = wifi.node.iter().filter(|part| part.nodes.contains(node)).collect();
        let mac = mac(wifi, last(&parts, |part| part.queue.as_ref()), last(&parts, |part| part.aggregation.as_ref()))?;
        stations.push(StationSpec {
            radio: with_differences(own, &parts),
            role: if infrastructure { Role::Client(client(wifi)) } else { Role::AdHoc },
            driver: last(&parts, |part| part.driver.as_ref()).or(wifi.driver.as_ref()).map(driver_spec),
            ..StationSpec::new(mobility, mac)
        });
    }
    for (point, (place, radio)) in points.into_iter().enumerate() {
        let given = wifi.access_point.get(point);
        let mac = mac(
            wifi,
            given.and_then(|point| point.queue.as_ref()),
            given.and_then(|point| point.aggregation.as_ref()),
        )?;
        let mobility = Mobility::fixed(place, &area).map_err(wrong)?;
        let role = Role::AccessPoint(AccessPointSpec { max_inactivity: wifi.max_inactivity });
        stations.push(StationSpec { radio, role, ..StationSpec::new(mobility, mac) });
    }
    for station in &mut stations {
        let radio = &mut station.radio;
        if let Some(range) = wifi.range {
            radio.sensitivity = propagation.threshold_for(range.as_metres(), &own, &own).map_err(wrong)?;
            radio.cca_signal = wifi.radio.carrier_sense.map_or(radio.sensitivity, |level| Dbm(level.dbm()));
        }
        station.receiver = match wifi.receiver {
            ReceiverKind::Interference => {
                ReceiverModel::Interference(ReceptionSpec { errors: errors(wifi), ..ReceptionSpec::default() })
            }
            ReceiverKind::Threshold => {
                let (reception, carrier_sense) = (radio.sensitivity, radio.cca_signal);
                ReceiverModel::Threshold(Thresholds { reception, carrier_sense, capture_db: CAPTURE_DB })
            }
        };
    }
    let wire = infrastructure.then_some(WireSpec { rate: wifi.wire.rate, delay: wifi.wire.delay });
    Ok(Some(AirSpec {
        stations,
        propagation,
        area,
        wire,
        routing: match wifi.routing {
            RoutingKind::None => Routing::None,
            RoutingKind::Aodv => Routing::Aodv,
            RoutingKind::Olsr => Routing::Olsr,
        },
        range: wifi.range,
        frames_from: wifi.frames_from,
    }))
}

/// By so much, in decibels, a frame must be stronger than another to be received in spite of it, where receivers go by
/// thresholds (ns-2's CPThresh).
const CAPTURE_DB: f64 = 10.0;

fn propagation(wifi: &Wifi, seed: u64) -> Result<Propagation, RunError> {
    let spec = &wifi.propagation;
    let path_loss = match spec.model {
        PathLossKind::FreeSpace => PathLoss::FreeSpace,
        PathLossKind::TwoRay => PathLoss::TwoRayGround,
        PathLossKind::LogDistance => {
            let (exponent, reference_m) = (spec.exponent, spec.reference.as_metres());
            PathLoss::LogDistance { exponent, reference_m, reference_db: None }
        }
    };
    let shadowing = match (spec.shadowing.map(|sigma| sigma.0), spec.shadowing_kind) {
        (None, _) => Shadowing::None,
        (Some(sigma_db), ShadowingKind::Frame) => Shadowing::PerFrame { sigma_db },
        (Some(sigma_db), ShadowingKind::Link) => Shadowing::PerLink { sigma_db },
        (Some(sigma_db), ShadowingKind::Correlated) => Shadowing::Correlated {
            sigma_db,
            distance_m: spec.decorrelation.as_metres(),
            time: spec.decorrelation_time.unwrap_or(Time::MAX),
        },
    };
    let fading = match spec.fading {
        FadingKind::None => Fading::None,
        FadingKind::Rayleigh => Fading::PerFrame { m: 1.0 },
        FadingKind::Nakagami => Fading::PerFrame { m: spec.m },
        FadingKind::Correlated => {
            let m = units::word(units::whole(spec.m));
            Fading::Correlated { m, around_mps: spec.around.as_metres_per_s() }
        }
    };
    let hz = frequency(wifi).as_hz() as f64;
    Propagation::new(seed, hz, path_loss, shadowing, fading).map_err(wrong)
}

/// The middle of the channel.
fn frequency(wifi: &Wifi) -> Frequency {
    wifi.radio.frequency.unwrap_or(match wifi.standard {
        WifiStandard::A | WifiStandard::N => Frequency::from_mhz(5180),
        WifiStandard::B | WifiStandard::G | WifiStandard::N24 => Frequency::from_mhz(2437),
    })
}

/// The radio of a node of which nothing else is said.
fn radio(wifi: &Wifi) -> Radio {
    let radio = &wifi.radio;
    Radio {
        transmit_power: Dbm(radio.transmit_power.dbm()),
        gain_db: radio.gain.0,
        height_m: radio.height.as_metres(),
        noise_figure_db: radio.noise_figure.0,
        sensitivity: Dbm(radio.sensitivity.dbm()),
        cca_signal: Dbm(radio.carrier_sense.unwrap_or(radio.sensitivity).dbm()),
        cca_energy: Dbm(radio.energy_detect.dbm()),
    }
}

/// How a node behaves towards access points.
fn client(wifi: &Wifi) -> ClientSpec {
    ClientSpec { listen_interval: wifi.power_save.as_ref().map(|save| save.listen_interval), ..ClientSpec::default() }
}

/// Where access points stand, and their radios.
fn points(wifi: &Wifi, moves: &Moves) -> Vec<(Position, Radio)> {
    let own = radio(wifi);
    let given = wifi.access_point.iter().map(|point| {
        let height_m = point.height.map_or(own.height_m, Distance::as_metres);
        let transmit_power = point.transmit_power.map_or(own.transmit_power, |level| Dbm(level.dbm()));
        (place(&point.at), Radio { height_m, transmit_power, ..own })
    });
    let mut points: Vec<_> = given.collect();
    if wifi.mode == WifiMode::Infrastructure && points.is_empty() {
        let corner = place(&moves.area);
        points.push((Position::ground(corner.x / 2.0, corner.y / 2.0), own));
    }
    points
}

/// The MAC of a station, with a queue and an aggregation of its own where it has them.
fn mac(
    wifi: &Wifi,
    queue: Option<&WifiQueue>,
    aggregation: Option<&scenario::Aggregation>,
) -> Result<MacConfig, RunError> {
    let (queue, aggregation) = (queue.unwrap_or(&wifi.queue), aggregation.unwrap_or(&wifi.aggregation));
    let mode = mode(wifi).ok_or_else(|| wrong("the standard has no such rate"))?;
    let plain = MacConfig::new(settings(wifi), mode);
    let drop_policy = match (queue.kind, queue.drop) {
        (WifiQueueKind::FqCodel, _) => DropPolicy::Fair(FairSpec::default()),
        (WifiQueueKind::Fifo, WifiDrop::Head) => DropPolicy::Head,
        (WifiQueueKind::Fifo, WifiDrop::Tail) => DropPolicy::Tail,
    };
    let rate = match wifi.rate_control {
        RateControlKind::Fixed => RateSpec::Fixed(mode),
        RateControlKind::Arf => RateSpec::Arf,
        RateControlKind::Aarf => RateSpec::Aarf,
        RateControlKind::Minstrel => RateSpec::Minstrel,
        RateControlKind::Ideal => RateSpec::Ideal,
    };
    let aggregates = match plain.aggregation.mpdus {
        1 => Aggregation::NONE,
        _ => Aggregation {
            mpdus: aggregation.frames,
            bytes: units::word(aggregation.bytes.get()),
            amsdu: aggregation.amsdu.map_or(0, |bytes| units::word(bytes.get())),
        },
    };
    let retry_limits = RetryLimits { short: units::byte(wifi.short_retries), long: units::byte(wifi.long_retries) };
    let mac = MacConfig {
        rts_threshold: wifi.rts_threshold.map_or(u32::MAX, |bytes| units::word(bytes.get())),
        retry_limits,
        queue_limit: queue.packets,
        drop_policy,
        mark_above: queue.mark_above,
        rate,
        errors: errors(wifi),
        aggregation: aggregates,
        ..plain
    };
    mac.check().map_err(wrong)?;
    Ok(mac)
}

/// The error rates of receivers.
const fn errors(wifi: &Wifi) -> ErrorModel {
    match wifi.errors {
        ErrorKind::Link => ErrorModel::Link,
        ErrorKind::Nist => ErrorModel::Nist,
        ErrorKind::Yans => ErrorModel::Yans,
    }
}

/// What is said last of what differs at a node.
fn last<'a, T>(parts: &[&'a WifiNode], of: impl Fn(&'a WifiNode) -> Option<T>) -> Option<T> {
    parts.iter().rev().find_map(|part| of(part))
}

/// A radio with what differs from it.
fn with_differences(own: Radio, parts: &[&WifiNode]) -> Radio {
    Radio {
        transmit_power: last(parts, |part| part.transmit_power).map_or(own.transmit_power, |level| Dbm(level.dbm())),
        gain_db: last(parts, |part| part.gain).map_or(own.gain_db, |gain| gain.0),
        height_m: last(parts, |part| part.height).map_or(own.height_m, Distance::as_metres),
        ..own
    }
}

fn driver_spec(driver: &Driver) -> DriverSpec {
    DriverSpec {
        scheduling: match driver.scheduling {
            DriverScheduling::ReceiveFirst => Scheduling::ReceiveFirst,
            DriverScheduling::QueueLevel => Scheduling::QueueLevel,
        },
        max_frames: driver.max_frames,
        tx_min: driver.least_frames,
        rx_bound: driver.receive_frames,
        round: driver.round,
        frame: driver.frame,
        chip: driver.chip,
        rx_queue: driver.receive_queue,
        budget: budget(driver),
    }
}

/// What the chip is given.
fn budget(driver: &Driver) -> Budget {
    match (driver.chip_bytes, driver.chip_time) {
        (_, Some(time)) => Budget::Airtime(time),
        (Some(bytes), None) => Budget::Bytes(units::word(bytes.get())),
        (None, None) => Budget::Frames,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the scenario says of fading is what the air has.
    #[test]
    fn fading_is_as_the_scenario_has_it() {
        let fading = |keys: &str| {
            let text = format!(
                "network = {{ topology = 'wifi', wifi = {{ propagation = {{ {keys} }} }} }}\ntraffic = [{{ kind = 'long' }}]"
            );
            let scenario = Scenario::parse("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
            format!("{:?}", air(&scenario).unwrap().unwrap().propagation)
        };
        for (keys, expected) in [
            ("", "fading: None"),
            ("fading = 'rayleigh'", "fading: PerFrame { m: 1.0 }"),
            ("fading = 'nakagami', m = 1.5", "fading: PerFrame { m: 1.5 }"),
            ("fading = 'correlated', m = 2.0, around = '500 mm/s'", "fading: Correlated { m: 2, around_mps: 0.5 }"),
        ] {
            let found = fading(keys);
            assert!(found.contains(expected), "{keys}: {found}");
        }
    }
}
