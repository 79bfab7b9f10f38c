//! The wireless network of a run: stations, propagation, mobility, routing.

use results::Field;
use results::field::{MOST_FRAMES, Station};
use scenario::{node_name, point_name};
use transport::Wireless;
use units::{Distance, Time};
use wifi::medium::{Medium, MediumError, StationSpec, WireSpec};
use wifi::mesh::Mesh;
use wifi::mobility::Area;
use wifi::propagation::Propagation;
use wifi::routing::{Aodv, AodvSettings, Olsr, OlsrSettings, Router};

/// Multi-hop routing between stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// No routing: packets go one hop, or by way of an access point.
    None,
    /// Ad hoc on-demand distance vector (RFC 3561).
    Aodv,
    /// Optimized link state (RFC 3626).
    Olsr,
}

/// Specification of a wireless network. Stations are the nodes in order, then the access points.
#[derive(Clone, Debug)]
pub struct AirSpec {
    /// The stations.
    pub stations: Vec<StationSpec>,
    /// Path loss, shadowing and fading between stations.
    pub propagation: Propagation,
    /// Where they are.
    pub area: Area,
    /// The wire between access points, if there is one.
    pub wire: Option<WireSpec>,
    /// Multi-hop routing.
    pub routing: Routing,
    /// Reception range, if one distance holds for all stations.
    pub range: Option<Distance>,
    /// Start of the sample of frames that results keep.
    pub frames_from: Time,
}

impl AirSpec {
    /// Builds the medium with its stations and their routers.
    pub(crate) fn wireless(&self, seed: u64) -> Result<Wireless, MediumError> {
        Ok(match self.routing {
            Routing::None => Wireless::Direct(Box::new(self.medium(seed)?)),
            Routing::Aodv => Wireless::Routed(Box::new(Mesh::new(self.medium(seed)?, |node| {
                Router::Aodv(Box::new(Aodv::new(seed, node, AodvSettings::default())))
            }))),
            Routing::Olsr => Wireless::Routed(Box::new(Mesh::new(self.medium(seed)?, |node| {
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
    /// Positions of stations up to `end`. The first `nodes` stations are nodes.
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
            Station { name: station_name(index, nodes), node: (index < nodes).then_some(units::count(index)), way }
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

/// The name of a station in results.
pub(crate) fn station_name(station: usize, nodes: usize) -> String {
    match station.checked_sub(nodes) {
        Some(point) => point_name(units::count(point)),
        None => node_name(units::count(station)),
    }
}
