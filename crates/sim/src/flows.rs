//! The table of connections of a run. Where they are too many for memory, rows are written during the run.

use crate::run_result::flow;
use crate::world::World;
use des::RandomStream;
use results::{Flow, RunResult};
use scenario::Scenario;
use transport::{FlowRecord, Transport};

/// The most connections that a result holds. A run with more keeps a sample.
pub const MOST_FLOWS: usize = 1 << 17;
/// Size of the sample.
pub const SAMPLE: usize = 10_000;
/// Rows that are written together.
const BATCH: usize = 1 << 16;

/// Writes rows of the table of connections: ended ones in the order of their ends, then those still open.
pub type TakeFlows<'a> = &'a mut dyn FnMut(&[Flow]);

/// Keeps the connections of a run without jobs: all, or a uniform random sample.
pub(crate) struct FlowKeeper<'a> {
    names: Vec<String>,
    /// Rows that are not written yet.
    held: Vec<Flow>,
    take: Option<TakeFlows<'a>>,
    /// The rows with the least random keys, one independent key per row: a uniform sample without replacement.
    sample: Vec<(u64, Flow)>,
    /// Rows with this key or a greater one are not in the sample.
    limit: u64,
    random: RandomStream,
    handed_out: u64,
    /// Rows held before any is written.
    most: usize,
}

impl<'a> FlowKeeper<'a> {
    /// For a world before its run. A run with jobs holds all connections: the analysis of its critical path needs them.
    pub fn new(scenario: &Scenario, world: &World, take: Option<TakeFlows<'a>>) -> Self {
        Self {
            names: world.traffic_outcomes().into_iter().map(|traffic| traffic.name).collect(),
            held: Vec::new(),
            take,
            sample: Vec::new(),
            limit: u64::MAX,
            random: RandomStream::new(scenario.run.seed, "flows/sample", 0),
            handed_out: 0,
            most: if world.driver().is_some() { usize::MAX } else { MOST_FLOWS },
        }
    }

    /// Takes the records of ended connections from the transport, once there are many.
    pub fn collect(&mut self, transport: &mut Transport) {
        if self.most < usize::MAX && transport.ended_connections() >= BATCH {
            for record in transport.take_ended() {
                self.add(&record);
            }
        }
    }

    fn add(&mut self, record: &FlowRecord) {
        self.held.push(flow(record, &self.names));
        if self.held.len() >= if self.handed_out > 0 { BATCH } else { self.most } {
            self.hand_out();
        }
    }

    fn hand_out(&mut self) {
        if let Some(take) = &mut self.take {
            take(&self.held);
        }
        self.handed_out += self.held.len() as u64;
        for flow in self.held.drain(..) {
            let key = self.random.next_u64();
            if key < self.limit {
                self.sample.push((key, flow));
            }
            if self.sample.len() >= 2 * SAMPLE {
                self.sample.select_nth_unstable_by_key(SAMPLE, |(key, _)| *key);
                self.limit = self.sample[SAMPLE].0;
                self.sample.truncate(SAMPLE);
            }
        }
    }

    /// Takes the remaining records, and puts all or the sample into the result.
    pub fn finish(mut self, world: &World, result: &mut RunResult) {
        for record in world.transport().flows() {
            self.add(&record);
        }
        if self.handed_out == 0 {
            result.flow_count = self.held.len() as u64;
            result.flows = self.held;
        } else {
            self.hand_out();
            result.flow_count = self.handed_out;
            self.sample.sort_unstable_by_key(|(key, _)| *key);
            result.flows = self.sample.into_iter().take(SAMPLE).map(|(_, flow)| flow).collect();
        }
        result.flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
    }
}
