//! BonnMotion's own format (`.movements`): one line for each node, on it waypoints as `time x y` in order of time;
//! lines that begin with `#` are comments. A node is at its first waypoint before that time, and stays at its last.

use super::{Extent, TraceError, TraceProblem, known, number, time};
use crate::mobility::{Area, Leg, Mobility, Position};
use units::Time;

/// The movements of `nodes` nodes in `area`, the first line's node first.
pub fn read_bonnmotion(text: &str, nodes: usize, area: &Area) -> Result<Vec<Mobility>, TraceError> {
    let mut movements = Vec::new();
    let mut extent = Extent::new(*area);
    let mut last_line = 1;
    for (index, line) in text.lines().enumerate() {
        last_line = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let read = known(movements.len() as u64, nodes).and_then(|node| legs(last_line, node, line, &mut extent));
        movements.push(Mobility::itinerary(read.map_err(|problem| problem.at(last_line))?));
    }
    if movements.len() < nodes {
        return Err(TraceProblem::NoPlace(movements.len() as u32).at(last_line));
    }
    extent.check()?;
    Ok(movements)
}

fn legs(line: usize, node: u32, text: &str, extent: &mut Extent) -> Result<Vec<Leg>, TraceProblem> {
    let numbers = text.split_ascii_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    if !numbers.len().is_multiple_of(3) {
        return Err(TraceProblem::Triples(numbers.len()));
    }
    let mut legs: Vec<Leg> = Vec::new();
    let mut last: Option<(f64, Time, Position)> = None;
    for waypoint in numbers.chunks_exact(3) {
        let [time_s, x, y] = [waypoint[0], waypoint[1], waypoint[2]];
        let (now, to) = (time(time_s)?, extent.place(line, node, x, y));
        match last {
            None if now > Time::ZERO => legs.push(Leg::rest(to, Time::ZERO, now)),
            None => {}
            Some((before_s, before, _)) if now < before => {
                return Err(TraceProblem::RunsBack { what: "a waypoint", node, time_s, before_s });
            }
            Some((_, before, from)) if now == before && from != to => {
                return Err(TraceProblem::Jump { node, from, to, time_s });
            }
            Some((_, before, _)) if now == before => {}
            Some((_, before, from)) => legs.push(Leg::between(before, from, now, to)),
        }
        last = Some((time_s, now, to));
    }
    let (_, from, rests) = last.ok_or(TraceProblem::NoPlace(node))?;
    legs.push(Leg::rest(rests, from, Time::MAX));
    Ok(legs)
}
