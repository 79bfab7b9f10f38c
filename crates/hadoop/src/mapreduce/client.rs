//! A job's client: the sample that it takes of the input before it submits the job, and how it learns of the end.
//!
//! TeraSort's client reads the first records of up to ten splits at once, each by a thread of its own
//! (`TeraInputFormat.writePartitionFile`). It does not close what it has opened. So each DataNode goes on sending until
//! the client's receive buffer is full, and the connections live until the client exits. `Job.monitorAndPrintJob` asks
//! once a second whether the job is complete.

use super::file_system::ObjectRange;
use super::files::CLIENT_PROCESS;
use super::split::Piece;
use super::{Generation, MapReduce, Reader, Request};
use crate::context::Context;
use crate::event::ReadNews;
use crate::hdfs::Hdfs;
use crate::ids::{JobId, Process, ReadId};
use crate::object_store::ObjectStore;
use crate::platform::Platform;
use units::{Bytes, Time};

/// Splits from which a sample is taken at most (`TeraInputFormat.writePartitionFile`).
const SAMPLED: usize = 10;
/// Before a part of the sample that could not be read is tried again.
const AGAIN: Time = Time::from_secs(1);

/// The client's sample of its job's input.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// One for each split that it reads of, once it has begun.
    parts: Vec<Part>,
    begun: bool,
}

#[derive(Debug)]
struct Part {
    /// The read, which stays open when the client has what it wants.
    read: Option<ReadId>,
    missing: Bytes,
}

impl Sample {
    /// Whether the client reads and waits.
    pub fn is_under_way(&self) -> bool {
        self.parts.iter().any(|part| part.missing > Bytes::ZERO)
    }
    /// The client is gone with its node: a sample that was not whole begins again. Whether there was one.
    pub fn drop_reads(&mut self) -> bool {
        let under_way = self.is_under_way();
        if under_way {
            *self = Self::default();
        }
        under_way
    }
    /// The client exits: its connections to DataNodes are reset.
    fn close(&mut self, ctx: &mut Context, hdfs: &mut Hdfs, store: &mut ObjectStore) {
        for read in self.parts.iter_mut().filter_map(|part| part.read.take()) {
            if ObjectStore::has_read(read) {
                store.cancel_read(ctx, read);
            } else {
                hdfs.cancel_read(ctx, read);
            }
        }
    }
}

impl MapReduce {
    /// Whether the client has parts of its sample still to read, each from the beginning of another split.
    pub(super) fn takes_sample(&mut self, platform: &mut Platform, job: JobId) -> bool {
        let owner = &self.jobs[job.0 as usize];
        let sample = &mut self.files[job.0 as usize].sample;
        let parts = SAMPLED.min(owner.splits.len());
        if owner.spec.sample == Bytes::ZERO || parts == 0 {
            return false;
        }
        if !std::mem::replace(&mut sample.begun, true) {
            let wanted = |part: usize| {
                let split = &owner.splits[owner.splits.len() / parts * part];
                let length = split.first_piece();
                Part { read: None, missing: (owner.spec.sample / parts as u64).min(length) }
            };
            sample.parts = (0..parts).map(wanted).collect();
        }
        let client = Process { node: platform.ctx.nodes.master(), id: CLIENT_PROCESS };
        for (number, part) in sample.parts.iter_mut().enumerate() {
            let split = &owner.splits[owner.splits.len() / parts * number];
            if part.read.is_some() || part.missing == Bytes::ZERO {
                continue;
            }
            // It asks for the whole split, and stops reading when it has its records.
            let reader = Reader::Sample(job);
            if let Some(ObjectRange { object, offset, length }) = split.object {
                part.read = Some(platform.store.read(platform.ctx, client, object, (offset, length), None, reader));
            } else if let Some(&Piece { block, offset, length }) = split.blocks.first() {
                part.read = Some(platform.hdfs.read(platform.ctx, client, block, offset, length, reader));
            }
        }
        sample.is_under_way()
    }
    /// News of the client's read of a part of its sample.
    pub(crate) fn on_sample(&mut self, platform: &mut Platform, read: ReadId, news: ReadNews, job: JobId) {
        let sample = &mut self.files[job.0 as usize].sample;
        let Some(part) = sample.parts.iter_mut().find(|part| part.read == Some(read)) else { return };
        match news {
            ReadNews::Progress { bytes, .. } => {
                let taken = bytes.min(part.missing);
                if taken == Bytes::ZERO {
                    return;
                }
                part.missing -= taken;
                if ObjectStore::has_read(read) {
                    platform.store.take(platform.ctx, read, taken);
                } else {
                    platform.hdfs.take(platform.ctx, read, taken);
                }
                if !sample.is_under_way() {
                    self.bring(platform, job);
                }
            }
            ReadNews::Done => part.read = None,
            ReadNews::Failed => {
                part.read = None;
                if part.missing > Bytes::ZERO {
                    platform.ctx.timer_in(AGAIN, Request::SubmitDue(job));
                }
            }
        }
    }

    /// The job has left the cluster. Its client sees so when it asks next, and exits.
    pub(super) fn client_leaves(&mut self, platform: &mut Platform, job: JobId) {
        self.files[job.0 as usize].sample.close(platform.ctx, platform.hdfs, platform.store);
        let record = &mut self.jobs[job.0 as usize].record;
        // The ResourceManager's first answer to `finishApplicationMaster` is that it is about to; the AppMaster asks
        // again a heartbeat later, and only then tells clients that the job is over (`RMCommunicator`).
        let shown = match self.config.generation {
            Generation::Yarn => self.config.app_master.heartbeat,
            Generation::Hadoop1 => Time::ZERO,
        };
        let waited = platform.ctx.now.saturating_add(shown).saturating_sub(record.submit);
        let polls = waited.as_ps().div_ceil(self.config.client_poll.as_ps().max(1));
        let told = record.submit.saturating_add(self.config.client_poll * polls);
        let began = self.jobs[job.0 as usize].spec.submit;
        let wall = told.saturating_sub(began).saturating_add(self.config.client_start);
        self.jobs[job.0 as usize].record.client_wall.get_or_insert(wall);
    }
}
