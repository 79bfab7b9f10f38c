//! The air of a run: stations, propagation, where they are, and how packets find each other.

use results::Field;
use results::field::{MOST_FRAMES, Station};
use scenario::{node_name, point_name};
use transport::Carrier;
use units::{Distance, Time};
use wifi::medium::{Medium, MediumError, StationSpec, WireSpec};
use wifi::mesh::Mesh;
use wifi::mobility::Area;
use wifi::propagation::Propagation;
use wifi::routing::{Aodv, AodvSettings, Olsr, OlsrSettings, Router};

/// How packets find a station that is not in range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// Not at all: only stations that hear each other, or an access point, exchange packets.
    None,
    /// Ad hoc on-demand distance vector (RFC 3561).
    Aodv,
    /// Optimized link state (RFC 3626).
    Olsr,
}

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
    pub routing: Routing,
    /// How far a frame is received, where one distance says it for all.
    pub range: Option<Distance>,
    /// From when on a sample of frames is kept.
    pub frames_from: Time,
}

impl AirSpec {
    /// The medium with all its stations, and their routers.
    pub(crate) fn carrier(&self, seed: u64) -> Result<Carrier, MediumError> {
        Ok(match self.routing {
            Routing::None => Carrier::Direct(Box::new(self.medium(seed)?)),
            Routing::Aodv => Carrier::Routed(Box::new(Mesh::new(self.medium(seed)?, |node| {
                Router::Aodv(Box::new(Aodv::new(seed, node, AodvSettings::default())))
            }))),
            Routing::Olsr => Carrier::Routed(Box::new(Mesh::new(self.medium(seed)?, |node| {
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

/// A name for each station.
pub(crate) fn station_name(station: usize, nodes: usize) -> String {
    match station.checked_sub(nodes) {
        Some(point) => point_name(point as u32),
        None => node_name(station as u32),
    }
}
