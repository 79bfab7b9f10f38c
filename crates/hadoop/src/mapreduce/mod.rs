//! MapReduce.

use crate::context::Context;
use crate::effect::Input;
use crate::event::Event;
use crate::hdfs::Hdfs;

/// Settings of MapReduce.
#[derive(Debug, Clone, Default)]
pub struct MapReduceConfig {}

/// Masters, workers and tasks.
#[derive(Debug)]
pub struct MapReduce {}

impl MapReduce {
    pub(crate) fn new(_config: MapReduceConfig, _ctx: &mut Context, _hdfs: &mut Hdfs, _seed: u64) -> Self {
        Self {}
    }
    pub(crate) fn on_input(&mut self, _ctx: &mut Context, _hdfs: &mut Hdfs, _input: Input) {}
    pub(crate) fn on_event(&mut self, _ctx: &mut Context, _hdfs: &mut Hdfs, _event: Event) {}
}
