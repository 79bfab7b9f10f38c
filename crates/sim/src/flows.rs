//! The connections of a run, handed out while it goes on where there are too many to hold.

use crate::harvest::flow;
use crate::world::World;
use des::RandomStream;
use results::{Flow, RunResult};
use scenario::Scenario;
use transport::{FlowRecord, Transport};

/// So many connections a run holds; of more it keeps a sample.
pub const MOST_FLOWS: usize = 1 << 17;
/// So many are drawn.
pub const SAMPLE: usize = 10_000;
/// So many are handed out together.
const BATCH: usize = 1 << 16;

/// Takes rows of the table of connections, in the order in which they ended, those still open last.
pub type TakeFlows<'a> = &'a mut dyn FnMut(&[Flow]);

/// Keeps the connections of a run without jobs: all, or a sample of which every connection is a member with the same
/// chance.
pub(crate) struct FlowKeeper<'a> {
    names: Vec<String>,
    /// Not handed out yet.
    held: Vec<Flow>,
    take: Option<TakeFlows<'a>>,
    /// Those with the least of independent random keys: a sample without replacement, whatever their number.
    sample: Vec<(u64, Flow)>,
    /// A key from which on none is kept.
    limit: u64,
    random: RandomStream,
    handed_out: u64,
    /// So many are held before the first are handed out.
    most: usize,
}

impl<'a> FlowKeeper<'a> {
    /// For a world before its run. One with jobs has not too many, and its report asks all of them where the time went.
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

    /// Takes the connections that have ended, if they are many.
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

    /// Takes the rest, and gives the result its connections.
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
