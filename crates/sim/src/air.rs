//! The wireless part of a scenario: stations, propagation, movements.

use crate::RunError;
use crate::results::Field;
use crate::results::field::{MOST_FRAMES, Station};
use crate::scenario::{
    self, Driver, DriverScheduling, FadingKind, Mobility as Moves, MobilityKind, PathLossKind, PlaceKind,
    RateControlKind, ReceiverKind, RoutingKind, Scenario, ShadowingKind, Wifi, WifiDrop, WifiMode, WifiNode, WifiQueue,
    WifiQueueKind, WifiStandard, node_name, point_name,
};
use crate::transport::Carrier;
use des::RandomStream;
use units::{Distance, Frequency, Speed, Time};
use wifi::mac::{
    AccessPointSpec, Aggregation, Budget, ClientSpec, DriverSpec, DropPolicy, FairSpec, MacConfig, RetryLimits,
    Scheduling,
};
use wifi::medium::{Medium, MediumError, Role, StationSpec, WireSpec};
use wifi::mesh::Mesh;
use wifi::mobility::{Area, GaussMarkov, Group, Mobility, Position, RandomWaypoint, Start};
use wifi::mobility::{read_bonnmotion, read_setdest};
use wifi::phy::{ReceiverModel, Thresholds};
use wifi::propagation::{Dbm, Fading, PathLoss, Propagation, Radio, Shadowing};
use wifi::rate::RateSpec;
use wifi::routing::{Aodv, AodvSettings, Olsr, OlsrSettings, Router};

/// What the air of a run is made of: a station for each node, in their order, then the access points.
#[derive(Clone, Debug)]
pub struct AirSpec {
    /// The stations.
    pub stations: Vec<StationSpec>,
    /// The air between them.
    pub propagation: Propagation,
    /// Where they are.
    pub area: Area,
    /// What joins access points.
    pub wire: Option<WireSpec>,
    /// How packets find a station that is not in range.
    pub routing: RoutingKind,
    /// How far a frame is received, where one distance says it for all.
    pub range: Option<Distance>,
    /// From when on a sample of frames is kept.
    pub frames_from: Time,
}

/// A part that cannot be as described, in the scenario's words.
fn wrong(error: impl std::fmt::Display) -> RunError {
    RunError::Scenario(error.to_string())
}

impl AirSpec {
    /// The air of a scenario of topology wifi; none of another.
    pub(crate) fn new(scenario: &Scenario) -> Result<Option<Self>, RunError> {
        let (Some(wifi), Some(moves)) = (&scenario.network.wifi, &scenario.mobility) else { return Ok(None) };
        let (workers, seed) = (scenario.cluster.workers, scenario.run.seed);
        let (propagation, area) = (wifi.propagation(seed)?, moves.field()?);
        let (own, points) = (wifi.radio(), wifi.points(moves));
        let infrastructure = wifi.mode == WifiMode::Infrastructure;
        let mut stations = Vec::new();
        for (node, mobility) in (0..=workers).zip(moves.of_nodes(workers + 1, area, seed)?) {
            let parts: Vec<&WifiNode> = wifi.node.iter().filter(|part| part.nodes.contains(node)).collect();
            let mac =
                wifi.mac(last(&parts, |part| part.queue.as_ref()), last(&parts, |part| part.aggregation.as_ref()))?;
            stations.push(StationSpec {
                radio: with_differences(own, &parts),
                role: if infrastructure { Role::Client(wifi.client()) } else { Role::AdHoc },
                driver: last(&parts, |part| part.driver.as_ref()).or(wifi.driver.as_ref()).map(driver_spec),
                ..StationSpec::new(mobility, mac)
            });
        }
        for (point, (place, radio)) in points.into_iter().enumerate() {
            let given = wifi.access_point.get(point);
            let mac = wifi.mac(
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
            if wifi.receiver == ReceiverKind::Threshold {
                let (reception, carrier_sense) = (radio.sensitivity, radio.cca_signal);
                station.receiver =
                    ReceiverModel::Threshold(Thresholds { reception, carrier_sense, capture_db: CAPTURE_DB });
            }
        }
        let wire = infrastructure.then_some(WireSpec { rate: wifi.wire.rate, delay: wifi.wire.delay });
        Ok(Some(Self {
            stations,
            propagation,
            area,
            wire,
            routing: wifi.routing,
            range: wifi.range,
            frames_from: wifi.frames_from,
        }))
    }

    /// The medium with all its stations, and their routers.
    pub(crate) fn carrier(&self, seed: u64) -> Result<Carrier, MediumError> {
        Ok(match self.routing {
            RoutingKind::None => Carrier::Direct(Box::new(self.medium(seed)?)),
            RoutingKind::Aodv => Carrier::Routed(Box::new(Mesh::new(self.medium(seed)?, |node| {
                Router::Aodv(Box::new(Aodv::new(seed, node, AodvSettings::default())))
            }))),
            RoutingKind::Olsr => Carrier::Routed(Box::new(Mesh::new(self.medium(seed)?, |node| {
                Router::Olsr(Box::new(Olsr::new(seed, node, OlsrSettings::default())))
            }))),
        })
    }

    fn medium<P: Copy>(&self, seed: u64) -> Result<Medium<P>, MediumError> {
        let mut medium = Medium::new(&self.stations, &self.area, self.propagation.clone(), seed)?;
        medium.record_frames(self.frames_from, MOST_FRAMES);
        match self.wire {
            Some(wire) => medium.with_wire(wire),
            None => Ok(medium),
        }
    }
}

impl AirSpec {
    /// Where stations were until `end`; `nodes` of them are nodes.
    pub(crate) fn field(&self, nodes: usize, end: Time) -> Field {
        let station = |(index, spec): (usize, &StationSpec)| {
            let mut mobility = spec.mobility.clone();
            let (mut way, mut at) = (Vec::new(), Time::ZERO);
            loop {
                let leg = mobility.leg(at);
                let mut note = |at: Time| {
                    let place = leg.position(at);
                    way.push((at, place.x, place.y));
                };
                note(at);
                if leg.until >= end {
                    note(end);
                    break;
                }
                at = leg.until;
            }
            Station { name: station_name(index, nodes), node: (index < nodes).then_some(index as u32), way }
        };
        let metres = Distance::from_metres_f64;
        Field {
            width: metres(self.area.width_m()),
            height: metres(self.area.height_m()),
            range: self.range,
            stations: self.stations.iter().enumerate().map(station).collect(),
            frames: Vec::new(),
        }
    }
}

/// By so much, in decibels, a frame must be stronger than another to be received in spite of it, where receivers go by thresholds (ns-2's CPThresh).
const CAPTURE_DB: f64 = 10.0;

/// A name for each station.
pub(crate) fn station_name(station: usize, nodes: usize) -> String {
    match station.checked_sub(nodes) {
        Some(point) => point_name(point as u32),
        None => node_name(station as u32),
    }
}

impl Wifi {
    fn propagation(&self, seed: u64) -> Result<Propagation, RunError> {
        let spec = &self.propagation;
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
                Fading::Correlated { m: spec.m as u32, around_mps: spec.around.as_metres_per_s() }
            }
        };
        let hz = self.frequency().as_hz() as f64;
        Propagation::new(seed, hz, path_loss, shadowing, fading).map_err(wrong)
    }

    /// The middle of the channel.
    fn frequency(&self) -> Frequency {
        self.radio.frequency.unwrap_or(match self.standard {
            WifiStandard::A | WifiStandard::N => Frequency::from_mhz(5180),
            WifiStandard::B | WifiStandard::G | WifiStandard::N24 => Frequency::from_mhz(2437),
        })
    }

    /// The radio of a node of which nothing else is said.
    fn radio(&self) -> Radio {
        let radio = &self.radio;
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
    fn client(&self) -> ClientSpec {
        ClientSpec {
            listen_interval: self.power_save.as_ref().map(|save| save.listen_interval),
            ..ClientSpec::default()
        }
    }

    /// Where access points stand, and their radios.
    fn points(&self, moves: &Moves) -> Vec<(Position, Radio)> {
        let own = self.radio();
        let given = self.access_point.iter().map(|point| {
            let height_m = point.height.map_or(own.height_m, Distance::as_metres);
            let transmit_power = point.transmit_power.map_or(own.transmit_power, |level| Dbm(level.dbm()));
            (place(&point.at), Radio { height_m, transmit_power, ..own })
        });
        let mut points: Vec<_> = given.collect();
        if self.mode == WifiMode::Infrastructure && points.is_empty() {
            let corner = place(&moves.area);
            points.push((Position::ground(corner.x / 2.0, corner.y / 2.0), own));
        }
        points
    }

    /// The MAC of a station, with a queue and an aggregation of its own where it has them.
    fn mac(
        &self,
        queue: Option<&WifiQueue>,
        aggregation: Option<&scenario::Aggregation>,
    ) -> Result<MacConfig, RunError> {
        let (queue, aggregation) = (queue.unwrap_or(&self.queue), aggregation.unwrap_or(&self.aggregation));
        let mode = self.mode().ok_or_else(|| wrong("the standard has no such rate"))?;
        let plain = MacConfig::new(self.settings(), mode);
        let drop_policy = match (queue.kind, queue.drop) {
            (WifiQueueKind::FqCodel, _) => DropPolicy::Fair(FairSpec::default()),
            (WifiQueueKind::Fifo, WifiDrop::Head) => DropPolicy::Head,
            (WifiQueueKind::Fifo, WifiDrop::Tail) => DropPolicy::Tail,
        };
        let rate = match self.rate_control {
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
                bytes: aggregation.bytes.get() as u32,
                amsdu: aggregation.amsdu.map_or(0, |bytes| bytes.get() as u32),
            },
        };
        let retry_limits = RetryLimits { short: self.short_retries as u8, long: self.long_retries as u8 };
        let mac = MacConfig {
            rts_threshold: self.rts_threshold.map_or(u32::MAX, |bytes| bytes.get() as u32),
            retry_limits,
            queue_limit: queue.packets,
            drop_policy,
            mark_above: queue.mark_above,
            rate,
            aggregation: aggregates,
            ..plain
        };
        mac.check().map_err(wrong)?;
        Ok(mac)
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
        budget: driver.budget(),
    }
}

impl Driver {
    /// What the chip is given.
    fn budget(&self) -> Budget {
        match (self.chip_bytes, self.chip_time) {
            (_, Some(time)) => Budget::Airtime(time),
            (Some(bytes), None) => Budget::Bytes(bytes.get() as u32),
            (None, None) => Budget::Frames,
        }
    }
}

fn place(at: &[Distance]) -> Position {
    let metres = |i: usize| at.get(i).copied().unwrap_or_default().as_metres();
    Position::ground(metres(0), metres(1))
}

impl Moves {
    fn field(&self) -> Result<Area, RunError> {
        let corner = place(&self.area);
        Area::new(corner.x, corner.y).map_err(wrong)
    }

    /// The movement of each node.
    fn of_nodes(&self, nodes: u32, area: Area, seed: u64) -> Result<Vec<Mobility>, RunError> {
        if self.model == MobilityKind::Trace {
            let bonnmotion = self.file.ends_with(".movements");
            let read = if bonnmotion { read_bonnmotion } else { read_setdest };
            return read(&self.trace, nodes as usize, &area).map_err(|error| wrong(format!("{}: {error}", self.file)));
        }
        let given = |node: u32| self.node.iter().rfind(|place| place.node == node_name(node)).map(|at| place(&at.at));
        let first = self.first_places(nodes, &area, seed);
        let way = |(node, first): (u32, Position)| {
            let start = given(node).unwrap_or(first);
            if node == 0 && !self.master_moves {
                return Mobility::fixed(start, &area).map_err(wrong);
            }
            let metres = |speed: &Speed| speed.as_metres_per_s();
            let waypoint = RandomWaypoint {
                speed_mps: (self.speed.first().map_or(1.0, metres), self.speed.get(1).map_or(1.0, metres)),
                pause: self.pause,
                start: match given(node) {
                    Some(place) => Start::At(place),
                    None if self.steady => Start::Stationary,
                    None => Start::Uniform,
                },
            };
            let moved = match self.model {
                MobilityKind::Static | MobilityKind::Trace => Mobility::fixed(start, &area),
                MobilityKind::RandomWaypoint => Mobility::random_waypoint(seed, node, area, &waypoint),
                MobilityKind::GaussMarkov => {
                    let spec = GaussMarkov {
                        memory: self.memory,
                        drift_mps: metres(&self.drift),
                        deviation_mps: metres(&self.deviation),
                        step: self.step,
                    };
                    Mobility::gauss_markov(seed, node, area, &spec)
                }
                MobilityKind::Group => {
                    let spec = Group { centre: waypoint, radius_m: self.spread.as_metres(), step: self.step };
                    let group = u64::from(node) * u64::from(self.groups) / u64::from(nodes);
                    Mobility::group(seed, node, group as u32, area, &spec)
                }
            };
            moved.map_err(|error| wrong(format!("{}: {error}", node_name(node))))
        };
        (0..nodes).zip(first).map(way).collect()
    }

    /// Where nodes stand at first, one after the other.
    fn first_places(&self, nodes: u32, area: &Area, seed: u64) -> Vec<Position> {
        let (width, height) = (area.width_m(), area.height_m());
        let place = |node: u32| match self.place {
            PlaceKind::Random => {
                let mut stream = RandomStream::new(seed, "mobility/place", u64::from(node));
                Position::ground(width * stream.uniform(), height * stream.uniform())
            }
            PlaceKind::Grid => {
                // As many columns as make cells nearest to square.
                let columns = libm::ceil(libm::sqrt(f64::from(nodes) * width / height)).max(1.0) as u32;
                let rows = nodes.div_ceil(columns);
                let at = |index: u32, of: u32, side: f64| (f64::from(index) + 0.5) * side / f64::from(of);
                Position::ground(at(node % columns, columns, width), at(node / columns, rows, height))
            }
            PlaceKind::Circle => {
                let (x, y) = (width / 2.0, height / 2.0);
                let Some(worker) = node.checked_sub(1) else { return Position::ground(x, y) };
                let angle = std::f64::consts::TAU * f64::from(worker) / f64::from((nodes - 1).max(1));
                let radius = self.radius.as_metres();
                Position::ground(x + radius * libm::cos(angle), y + radius * libm::sin(angle))
            }
        };
        (0..nodes).map(place).collect()
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
            format!("{:?}", AirSpec::new(&scenario).unwrap().unwrap().propagation)
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
