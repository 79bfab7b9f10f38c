//! Neighbour search: a grid over the nodes' places, so that a frame's cost grows with neighbours, not with nodes.
//!
//! The grid knows each node's place to within `SLACK` of the range. A node is placed anew when its leg ends or its
//! speed may have carried it that far, which is looked for when somebody asks: nodes that rest cost nothing, and no
//! event is needed.

use crate::mobility::{Area, Leg, Mobility, Position};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// How far, in parts of the range, a node may be from where the grid has it.
const SLACK: f64 = 0.05;
/// At most so many cells along one side of the area.
const CELLS: f64 = 256.0;

/// All nodes and where they are. Times it is asked for must not run back.
#[derive(Debug, Clone)]
pub struct Space {
    range_m: f64,
    slack_m: f64,
    cell_m: f64,
    columns: usize,
    cells: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    /// When which node has to be placed anew.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    /// Counts how often a node was placed.
    generation: u64,
}

#[derive(Debug, Clone)]
struct Node {
    mobility: Mobility,
    /// Where the grid has it.
    place: Position,
    cell: usize,
    /// Nodes that may be within range, and the generation of this list.
    neighbours: Vec<u32>,
    listed: u64,
}

impl Space {
    /// Nodes that move as `mobility` says in `area`; `range_m` is the farthest at which one matters to another:
    /// infinite if all matter to all.
    pub fn new(mobility: Vec<Mobility>, area: &Area, range_m: f64) -> Self {
        let longest = area.width_m().max(area.height_m());
        let range_m = if range_m.is_nan() { f64::INFINITY } else { range_m.max(0.0) };
        let slack_m = (SLACK * range_m).min(longest);
        let cell_m = (range_m + 2.0 * slack_m).clamp(longest / CELLS, longest);
        let across = |side: f64| (side / cell_m) as usize + 1;
        let (columns, rows) = (across(area.width_m()), across(area.height_m()));
        let nodes = mobility.into_iter().map(|mobility| Node {
            mobility,
            place: Position::default(),
            cell: 0,
            neighbours: Vec::new(),
            listed: 0,
        });
        let nodes: Vec<Node> = nodes.collect();
        let mut cells = vec![Vec::new(); columns * rows];
        cells[0].extend(0..nodes.len() as u32);
        let due = (0..nodes.len() as u32).map(|node| Reverse((Time::ZERO, node))).collect();
        Self { range_m, slack_m, cell_m, columns, cells, nodes, due, generation: 0 }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Where a node is now.
    pub fn position(&mut self, now: Time, node: u32) -> Position {
        self.nodes[node as usize].mobility.position(now)
    }
    /// The leg a node is on now.
    pub fn leg(&mut self, now: Time, node: u32) -> Leg {
        self.nodes[node as usize].mobility.leg(now)
    }
    /// A number that grows with every node placed: while it is the same, [`Space::neighbours`] are the same, and who
    /// rests has not moved.
    pub fn generation(&mut self, now: Time) -> u64 {
        self.advance(now);
        self.generation
    }

    /// Who may be within range of `node` now, in order of number: everyone who is, and some who are up to a fifth of
    /// the range farther.
    pub fn neighbours(&mut self, now: Time, node: u32) -> &[u32] {
        self.advance(now);
        let here = &mut self.nodes[node as usize];
        if here.listed != self.generation {
            here.listed = self.generation;
            let (place, mut list) = (here.place, std::mem::take(&mut here.neighbours));
            let reach = self.range_m + 2.0 * self.slack_m;
            list.clear();
            self.scan(
                place,
                reach,
                |other| other != node && self.nodes[other as usize].place.distance_on_ground(place) <= reach,
                &mut list,
            );
            self.nodes[node as usize].neighbours = list;
        }
        &self.nodes[node as usize].neighbours
    }

    /// Appends to `out` who is within `radius_m` of `node` now, whatever the range, in order of number.
    pub fn within(&mut self, now: Time, node: u32, radius_m: f64, out: &mut Vec<u32>) {
        self.advance(now);
        let here = self.position(now, node);
        let first = out.len();
        self.scan(here, radius_m + self.slack_m, |other| other != node, out);
        let mut kept = first;
        for index in first..out.len() {
            if self.position(now, out[index]).distance(here) <= radius_m {
                out.swap(kept, index);
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// Appends the nodes of all cells that a square of half side `reach` around `place` touches, as far as wanted, in
    /// order of number.
    fn scan(&self, place: Position, reach: f64, wanted: impl Fn(u32) -> bool, out: &mut Vec<u32>) {
        let first = out.len();
        let rows = self.cells.len() / self.columns;
        let (left, right) = (self.along(place.x - reach, self.columns), self.along(place.x + reach, self.columns));
        for row in self.along(place.y - reach, rows)..=self.along(place.y + reach, rows) {
            for cell in &self.cells[row * self.columns + left..=row * self.columns + right] {
                out.extend(cell.iter().copied().filter(|node| wanted(*node)));
            }
        }
        out[first..].sort_unstable();
    }

    fn along(&self, metres: f64, cells: usize) -> usize {
        ((metres / self.cell_m).max(0.0) as usize).min(cells - 1)
    }

    /// Places anew whoever may have moved by more than the slack.
    fn advance(&mut self, now: Time) {
        while let Some(&Reverse((due, number))) = self.due.peek()
            && due <= now
        {
            self.due.pop();
            self.generation += 1;
            let leg = self.nodes[number as usize].mobility.leg(now);
            let place = leg.position(now);
            let rows = self.cells.len() / self.columns;
            let cell = self.along(place.y, rows) * self.columns + self.along(place.x, self.columns);
            let node = &mut self.nodes[number as usize];
            node.place = place;
            if node.cell != cell {
                self.cells[node.cell].retain(|other| *other != number);
                self.cells[cell].push(number);
                node.cell = cell;
            }
            let speed = leg.velocity.speed();
            let strays = if speed > 0.0 {
                now.saturating_add(Time::from_secs_f64(self.slack_m / speed).max(Time::from_ps(1)))
            } else {
                Time::MAX
            };
            let next = leg.until.min(strays);
            if next < Time::MAX {
                self.due.push(Reverse((next, number)));
            }
        }
    }
}
