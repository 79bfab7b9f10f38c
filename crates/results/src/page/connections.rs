//! Which connections the page shows, and which of them carried what a critical path waited for.

use crate::{CriticalSegment, Flow, RunResult, Waiting};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use units::Time;

/// The largest connections that the page can sort.
const LARGEST: usize = 500;
/// The most that stand there beside these because a critical path waited for them.
const ON_PATHS: usize = 500;

/// The connections on the page.
pub struct Carried {
    /// Rows of the result's `flows`, in the page's order: the largest first.
    pub rows: Vec<usize>,
    /// Places in `rows`, by row.
    places: BTreeMap<usize, usize>,
    /// Connections between two nodes, the lower one first.
    between: BTreeMap<(u32, u32), Vec<usize>>,
    /// Connections with an end at a node.
    at: BTreeMap<u32, Vec<usize>>,
}

fn payload(flow: &Flow) -> u64 {
    flow.bytes.get() + flow.bytes_back.get()
}

impl Carried {
    /// The largest connections, and those that critical paths waited for longest.
    pub fn new(result: &RunResult) -> Self {
        let mut carried =
            Self { rows: Vec::new(), places: BTreeMap::new(), between: BTreeMap::new(), at: BTreeMap::new() };
        let data = |flow: &Flow| matches!(flow.service.as_str(), "shuffle" | "data");
        for (row, flow) in result.flows.iter().enumerate().filter(|(_, flow)| data(flow) && flow.from != flow.to) {
            carried.between.entry((flow.from.min(flow.to), flow.from.max(flow.to))).or_default().push(row);
            carried.at.entry(flow.from).or_default().push(row);
            carried.at.entry(flow.to).or_default().push(row);
        }
        let mut waited: BTreeMap<usize, Time> = BTreeMap::new();
        for segment in result.jobs.iter().flat_map(|job| &job.critical_path) {
            if let Some(row) = carried.of(segment, result) {
                *waited.entry(row).or_default() += segment.finish - segment.start;
            }
        }
        let mut largest: Vec<usize> = (0..result.flows.len()).collect();
        let size = |row: &usize| (Reverse(payload(&result.flows[*row])), *row);
        largest.sort_by_key(size);
        largest.truncate(LARGEST);
        let mut waited: Vec<(usize, Time)> = waited.into_iter().collect();
        waited.sort_by_key(|(row, time)| (Reverse(*time), *row));
        largest.extend(waited.into_iter().take(ON_PATHS).map(|(row, _)| row));
        largest.sort_by_key(size);
        largest.dedup();
        carried.places = largest.iter().enumerate().map(|(place, row)| (*row, place)).collect();
        carried.rows = largest;
        carried
    }

    /// The place on the page of the connection that a stretch of a critical path waited for, or -1.
    pub fn row(&self, segment: &CriticalSegment, result: &RunResult) -> i64 {
        let place = self.of(segment, result).and_then(|row| self.places.get(&row));
        place.map_or(-1, |place| *place as i64)
    }

    /// Of the connections to the attempt's node, from the source where that is known, the one that was open longest in
    /// the stretch; of equals the one that moved more.
    fn of(&self, segment: &CriticalSegment, result: &RunResult) -> Option<usize> {
        let network = [Waiting::Transfer, Waiting::Queueing, Waiting::Recovery, Waiting::TcpTimeout];
        if !network.contains(&segment.waiting) {
            return None;
        }
        let node = result.attempts.get(segment.attempt? as usize)?.node;
        let rows = match segment.source {
            Some(source) => self.between.get(&(source.min(node), source.max(node))),
            None => self.at.get(&node),
        };
        let overlap = |row: &usize| {
            let flow = &result.flows[*row];
            let end = flow.finish.unwrap_or(result.ended_at);
            end.min(segment.finish).saturating_sub(flow.start.max(segment.start))
        };
        let candidates = rows?.iter().copied().filter(|row| overlap(row) > Time::ZERO);
        candidates.max_by_key(|row| (overlap(row), payload(&result.flows[*row]), Reverse(*row)))
    }
}
