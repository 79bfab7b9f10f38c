//! The movement scripts that ns-2's setdest writes, and many other tools after it:
//!
//! ```text
//! $node_(0) set X_ 150.0
//! $node_(0) set Y_ 93.98
//! $ns_ at 2.0 "$node_(0) setdest 250.0 111.9 1.5"
//! ```
//!
//! At that time the node sets out from where it is, straight to (250, 111.9) at 1.5 m/s, and rests there; a later
//! command may come before it has arrived. With speed 0 it rests where it is. What the script tells ns-2's optimal
//! router (`$god_`), comments and `Z_` do not move a node on the ground and are passed over.

use super::{Extent, TraceError, TraceProblem, known, number, shortened, time};
use crate::mobility::waypoint::towards;
use crate::mobility::{Area, Leg, Mobility, Position};
use units::Time;

/// What the script has said so far about one node.
#[derive(Debug, Clone, Default)]
struct Node {
    x: Option<f64>,
    y: Option<f64>,
    /// The line of the latter of the two.
    line: usize,
    /// Commands in order of time: when (also in seconds), where to, how fast.
    commands: Vec<Command>,
}

#[derive(Debug, Clone, Copy)]
struct Command {
    at: Time,
    at_s: f64,
    goal: Position,
    speed: f64,
}

/// The movements of `nodes` nodes in `area`, node 0 first.
pub fn read_setdest(text: &str, nodes: usize, area: &Area) -> Result<Vec<Mobility>, TraceError> {
    let mut read = vec![Node::default(); nodes];
    let mut extent = Extent::new(*area);
    let mut last_line = 1;
    for (index, line) in text.lines().enumerate() {
        last_line = index + 1;
        statement(last_line, line, &mut read, &mut extent).map_err(|problem| problem.at(last_line))?;
    }
    let mut starts = Vec::with_capacity(nodes);
    for (node, number) in read.iter().zip(0..) {
        let (Some(x), Some(y)) = (node.x, node.y) else { return Err(TraceProblem::NoPlace(number).at(last_line)) };
        starts.push(extent.place(node.line, number, x, y));
    }
    extent.check()?;
    Ok(read.iter().zip(starts).map(|(node, start)| Mobility::itinerary(node.legs(start))).collect())
}

fn statement(line: usize, text: &str, nodes: &mut [Node], extent: &mut Extent) -> Result<(), TraceProblem> {
    let unknown = || TraceProblem::Unknown(shortened(text.trim()));
    // Quotes only group what the words already say.
    let words: Vec<&str> =
        text.split(|c: char| c.is_ascii_whitespace() || c == '"').filter(|word| !word.is_empty()).collect();
    match *words {
        [] => Ok(()),
        [first, ..] if first.starts_with('#') || first.starts_with("$god_") => Ok(()),
        [first, ..] if first.starts_with('<') => Err(TraceProblem::Xml),
        ["$ns_", "at", _, god, ..] if god.starts_with("$god_") => Ok(()),
        [node, "set", axis @ ("X_" | "Y_" | "Z_"), value] => {
            let node = known(index(node).ok_or_else(unknown)?, nodes.len())?;
            let (value, node_) = (number(value)?, &mut nodes[node as usize]);
            let coordinate = match axis {
                "X_" => &mut node_.x,
                "Y_" => &mut node_.y,
                _ => return Ok(()),
            };
            *coordinate = Some(value);
            node_.line = line;
            Ok(())
        }
        ["$ns_", "at", at, node, "setdest", x, y, speed] => {
            let node = known(index(node).ok_or_else(unknown)?, nodes.len())?;
            let (at_s, speed) = (number(at)?, number(speed)?);
            let (at, goal) = (time(at_s)?, extent.place(line, node, number(x)?, number(y)?));
            if speed < 0.0 {
                return Err(TraceProblem::Speed(speed));
            }
            let commands = &mut nodes[node as usize].commands;
            if let Some(before) = commands.last().filter(|before| at < before.at) {
                return Err(TraceProblem::RunsBack { what: "a command", node, time_s: at_s, before_s: before.at_s });
            }
            commands.push(Command { at, at_s, goal, speed });
            Ok(())
        }
        _ => Err(unknown()),
    }
}

/// N of `$node_(N)`.
fn index(word: &str) -> Option<u64> {
    word.strip_prefix("$node_(")?.strip_suffix(')')?.parse().ok()
}

impl Node {
    fn legs(&self, start: Position) -> Vec<Leg> {
        let mut legs = vec![Leg::rest(start, Time::ZERO, Time::MAX)];
        for command in &self.commands {
            // What was under way ends here; legs that would have come later do not come.
            while legs.len() > 1 && legs.last().is_some_and(|leg| leg.from >= command.at) {
                legs.pop();
            }
            let here = legs.last_mut().map_or(start, |leg| {
                leg.until = command.at.max(leg.from);
                leg.position(leg.until)
            });
            let resting = Leg::rest(here, command.at, Time::MAX);
            if command.speed == 0.0 || here == command.goal {
                legs.push(resting);
                continue;
            }
            let leg = towards(here, command.goal, command.speed, command.at);
            legs.extend([leg, Leg::rest(command.goal, leg.until, Time::MAX)]);
        }
        legs
    }
}
