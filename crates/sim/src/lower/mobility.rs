//! Where nodes are, and how they move.

use super::wrong;
use crate::RunError;
use des::RandomStream;
use scenario::{Mobility as Moves, MobilityKind, PlaceKind, node_name};
use units::{Distance, Speed};
use wifi::mobility::{Area, GaussMarkov, Group, Mobility, Position, RandomWaypoint, Start};
use wifi::mobility::{TraceProblem, read_bonnmotion, read_setdest};

/// A place on the ground, from its two coordinates.
pub(super) fn place(at: &[Distance]) -> Position {
    let metres = |i: usize| at.get(i).copied().unwrap_or_default().as_metres();
    Position::ground(metres(0), metres(1))
}

/// The area of a scenario's movements.
pub(super) fn area(moves: &Moves) -> Result<Area, RunError> {
    let corner = place(&moves.area);
    Area::new(corner.x, corner.y).map_err(wrong)
}

/// What a scenario's keys have to do with it.
fn remedy(problem: &TraceProblem, nodes: u32) -> String {
    match problem {
        TraceProblem::Outside { least, .. } if least.x < 0.0 || least.y < 0.0 => {
            "; coordinates begin at 0: move the whole trace".to_owned()
        }
        TraceProblem::Outside { area, greatest, .. } => {
            let side = |side: f64, greatest: f64| side.max(libm::ceil(greatest));
            format!(
                "; `mobility.area = [\"{} m\", \"{} m\"]` holds all of them",
                side(area.width_m(), greatest.x),
                side(area.height_m(), greatest.y)
            )
        }
        TraceProblem::UnknownNode { .. } | TraceProblem::NoPlace(_) => {
            format!("; node 0 is the master, so that `cluster.workers = {}` takes {nodes} nodes", nodes - 1)
        }
        _ => String::new(),
    }
}

/// The movement of each node.
pub(super) fn of_nodes(moves: &Moves, nodes: u32, area: Area, seed: u64) -> Result<Vec<Mobility>, RunError> {
    if moves.model == MobilityKind::Trace {
        let bonnmotion = moves.file.ends_with(".movements");
        let read = if bonnmotion { read_bonnmotion } else { read_setdest };
        let read = read(&moves.trace, nodes as usize, &area);
        return read.map_err(|error| wrong(format!("{}: {error}{}", moves.file, remedy(&error.problem, nodes))));
    }
    let given = |node: u32| moves.node.iter().rfind(|place| place.node == node_name(node)).map(|at| place(&at.at));
    let first = first_places(moves, nodes, &area, seed);
    let way = |(node, first): (u32, Position)| {
        let start = given(node).unwrap_or(first);
        if node == 0 && !moves.master_moves {
            return Mobility::fixed(start, &area).map_err(wrong);
        }
        let metres = |speed: &Speed| speed.as_metres_per_s();
        let waypoint = RandomWaypoint {
            speed_mps: (moves.speed.first().map_or(1.0, metres), moves.speed.get(1).map_or(1.0, metres)),
            pause: moves.pause,
            start: match given(node) {
                Some(place) => Start::At(place),
                None if moves.steady => Start::Stationary,
                None => Start::Uniform,
            },
        };
        let moved = match moves.model {
            MobilityKind::Static | MobilityKind::Trace => Mobility::fixed(start, &area),
            MobilityKind::RandomWaypoint => Mobility::random_waypoint(seed, node, area, &waypoint),
            MobilityKind::GaussMarkov => {
                let spec = GaussMarkov {
                    memory: moves.memory,
                    drift_mps: metres(&moves.drift),
                    deviation_mps: metres(&moves.deviation),
                    step: moves.step,
                };
                Mobility::gauss_markov(seed, node, area, &spec)
            }
            MobilityKind::Group => {
                let spec = Group { centre: waypoint, radius_m: moves.spread.as_metres(), step: moves.step };
                let group = u64::from(node) * u64::from(moves.groups) / u64::from(nodes);
                Mobility::group(seed, node, units::word(group), area, &spec)
            }
        };
        moved.map_err(|error| wrong(format!("{}: {error}", node_name(node))))
    };
    (0..nodes).zip(first).map(way).collect()
}

/// Where nodes stand at first, one after the other.
fn first_places(moves: &Moves, nodes: u32, area: &Area, seed: u64) -> Vec<Position> {
    let (width, height) = (area.width_m(), area.height_m());
    let place = |node: u32| match moves.place {
        PlaceKind::Random => {
            let mut stream = RandomStream::new(seed, "mobility/place", u64::from(node));
            Position::ground(width * stream.uniform(), height * stream.uniform())
        }
        PlaceKind::Grid => {
            // As many columns as make cells nearest to square.
            let columns = libm::ceil(libm::sqrt(f64::from(nodes) * width / height)).max(1.0);
            let columns = units::word(units::whole(columns));
            let rows = nodes.div_ceil(columns);
            let at = |index: u32, of: u32, side: f64| (f64::from(index) + 0.5) * side / f64::from(of);
            Position::ground(at(node % columns, columns, width), at(node / columns, rows, height))
        }
        PlaceKind::Circle => {
            let (x, y) = (width / 2.0, height / 2.0);
            let Some(worker) = node.checked_sub(1) else { return Position::ground(x, y) };
            let angle = std::f64::consts::TAU * f64::from(worker) / f64::from((nodes - 1).max(1));
            let radius = moves.radius.as_metres();
            Position::ground(x + radius * libm::cos(angle), y + radius * libm::sin(angle))
        }
    };
    (0..nodes).map(place).collect()
}
