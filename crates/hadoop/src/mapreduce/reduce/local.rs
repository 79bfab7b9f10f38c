//! How the reducer of an uber job gets map outputs: from its own node's disks, one after the other (`LocalFetcher`).

use super::ReduceTask;
use crate::context::DiskTransfer;
use crate::effect::DiskOp;
use crate::ids::{AttemptId, DiskStream};
use crate::mapreduce::map::TaskState;
use crate::mapreduce::request::TaskRequest;
use crate::mapreduce::task::Env;
use std::collections::VecDeque;
use units::Bytes;

/// The outputs that are still to be copied, and the one that is.
#[derive(Debug)]
pub(super) struct LocalFetcher {
    waiting: VecDeque<AttemptId>,
    reading: Option<Reading>,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    map: AttemptId,
    /// Where its partition begins, and how long that is.
    start: Bytes,
    bytes: Bytes,
    read: Bytes,
    asked: Bytes,
}

impl LocalFetcher {
    pub fn new(env: &Env) -> Self {
        Self { waiting: env.map_tasks.iter().filter_map(|task| task.done).collect(), reading: None }
    }
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }
}

impl ReduceTask {
    /// The next output, unless memory is full or being merged.
    pub(super) fn copy_next(&mut self, env: &mut Env) {
        let busy = !self.copying.is_empty() || self.memory_merge.is_some() || self.reserved > self.limit;
        let Some(local) = self.local.as_mut().filter(|local| !busy && !local.is_reading()) else { return };
        let Some(map) = local.waiting.pop_front() else { return };
        let share = env.share(map);
        local.reading =
            Some(Reading { map, start: share.start, bytes: share.bytes, read: Bytes::ZERO, asked: Bytes::ZERO });
        self.accept(env.node, share);
        self.read_on(env);
    }
    /// A piece of an output is read.
    pub fn on_local_read(&mut self, env: &mut Env) -> TaskState {
        if let Some(reading) = self.local.as_mut().and_then(|local| local.reading.as_mut()) {
            env.record.bytes.disk_read += reading.asked;
            reading.read += reading.asked;
            self.read_on(env);
        }
        self.proceed(env)
    }
    fn read_on(&mut self, env: &mut Env) {
        let Some(place) = self.local.as_mut().map(|local| &mut local.reading) else { return };
        let Some(reading) = place else { return };
        if reading.read == reading.bytes {
            let Reading { map, bytes, .. } = *reading;
            *place = None;
            env.shuffle.copied(env.application, bytes);
            return self.on_arrived(env, env.node, map, bytes);
        }
        reading.asked = env.config.chunk.min(reading.bytes - reading.read);
        let (disk, stream) = env.shuffle.place_of(env.output_of(reading.map));
        let transfer = DiskTransfer::new(
            disk,
            DiskOp::Read,
            DiskStream { part: env.id.0 + 1, ..stream },
            reading.start + reading.read,
            reading.asked,
        );
        env.disk(transfer, TaskRequest::LocalRead);
    }
}
