//! How a node gets a job's files before it runs a part of the job: the program and the configuration from HDFS, the
//! list of partitions of a job that sorts from the object store (`ResourceLocalizationService`; in Hadoop 1
//! `TaskTracker.localizeJob`). The NodeManager fetches them, one after the other; what starts meanwhile waits.

use super::files::AGAIN;
use super::{MapReduce, MasterRequest, Reader, Request, TaskRequest};
use crate::context::Context;
use crate::event::ReadNews;
use crate::ids::{AttemptId, ContainerId, JobId, NodeId, Process, ReadId};
use crate::object_store::ObjectStore;
use crate::platform::Platform;
use crate::yarn::NODE_PROCESS;
use des::Index;
use units::Bytes;

/// Whether a node has a job's files.
#[derive(Debug, Default)]
pub(super) enum Localised {
    #[default]
    No,
    /// This file is next.
    Fetching(usize, Vec<Waiter>),
    Yes,
}

/// What waits for a job's files on its node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Waiter {
    Task(AttemptId),
    /// The container of an AppMaster.
    Master(ContainerId),
}

/// Whether a NodeManager has S3A at work, which its first file from the object store starts.
#[derive(Debug, Default, Clone, Copy)]
pub(super) enum NodeS3a {
    #[default]
    No,
    Starting,
    Started,
}

impl MapReduce {
    /// A container of the job is to start on a node. It waits for the job's files.
    pub(crate) fn localise(&mut self, platform: &mut Platform, job: JobId, node: NodeId, waiter: Waiter) {
        match &mut self.files[job.0 as usize].nodes[node.0 as usize] {
            Localised::Yes => self.is_local(platform.ctx, job, waiter),
            Localised::Fetching(_, waiting) => waiting.push(waiter),
            state @ Localised::No => {
                *state = Localised::Fetching(0, vec![waiter]);
                self.fetch_next(platform, job, node);
            }
        }
    }
    fn fetch_next(&mut self, platform: &mut Platform, job: JobId, node: NodeId) {
        let files = &mut self.files[job.0 as usize];
        let Localised::Fetching(next, waiting) = &mut files.nodes[node.0 as usize] else { return };
        let (process, reader) = (Process { node, id: NODE_PROCESS }, Reader::Localise { job, node });
        let of_store = usize::from(files.partitions.is_some());
        if let Some(list) = files.partitions.filter(|_| *next == 0) {
            let s3a = &mut self.s3a[node.0 as usize];
            match s3a {
                NodeS3a::Started => {
                    *next += 1;
                    platform.store.download(platform.ctx, process, list, reader);
                }
                NodeS3a::Starting => {}
                NodeS3a::No => {
                    *s3a = NodeS3a::Starting;
                    platform.ctx.compute(node, platform.store.config().start_cpu, Request::NodeStartedS3a(node));
                }
            }
        } else if let Some(&block) = files.blocks.get(*next - of_store) {
            *next += 1;
            let length = platform.hdfs.namespace().block(block).length;
            platform.hdfs.read(platform.ctx, process, block, Bytes::ZERO, length, reader);
        } else {
            let waiting = std::mem::take(waiting);
            files.nodes[node.0 as usize] = Localised::Yes;
            for waiter in waiting {
                self.is_local(platform.ctx, job, waiter);
            }
        }
    }
    /// A NodeManager has S3A at work: lists of partitions that were to be its next files can be fetched.
    pub(super) fn node_started_s3a(&mut self, platform: &mut Platform, node: NodeId) {
        self.s3a[node.0 as usize] = NodeS3a::Started;
        for job in 0..self.files.len() {
            let waits = matches!(self.files[job].nodes[node.0 as usize], Localised::Fetching(0, _));
            if waits && self.files[job].partitions.is_some() {
                self.fetch_next(platform, JobId::from_usize(job), node);
            }
        }
    }
    fn is_local(&self, ctx: &mut Context, job: JobId, waiter: Waiter) {
        let request = match waiter {
            Waiter::Task(id) => Request::Task(id, TaskRequest::Launched),
            Waiter::Master(container) => Request::Master(job, container, MasterRequest::Launched),
        };
        ctx.timer_in(self.config.launch_latency, request);
    }
    /// A job's file could not be read: the tasks that waited for it fail, an AppMaster tries again.
    fn not_localised(&mut self, platform: &mut Platform, job: JobId, node: NodeId) {
        let state = std::mem::take(&mut self.files[job.0 as usize].nodes[node.0 as usize]);
        let Localised::Fetching(_, waiting) = state else { return };
        for waiter in waiting {
            match waiter {
                Waiter::Task(id) => self.fail_on_node(platform, id, "the job's files could not be fetched"),
                Waiter::Master(container) => {
                    let again = Request::Master(job, container, MasterRequest::LocaliseDue);
                    platform.ctx.timer_in(AGAIN, again);
                }
            }
        }
    }
    /// A crashed node has lost the files of all jobs, and its NodeManager S3A.
    pub(crate) fn files_node_down(&mut self, node: NodeId) {
        self.s3a[node.0 as usize] = NodeS3a::No;
        for files in &mut self.files {
            files.nodes[node.0 as usize] = Localised::No;
        }
    }
    /// News of a node's read of a job's files.
    pub(crate) fn on_localise(
        &mut self,
        platform: &mut Platform,
        read: ReadId,
        news: ReadNews,
        job: JobId,
        node: NodeId,
    ) {
        match news {
            ReadNews::Progress { bytes, .. } if ObjectStore::has_read(read) => {
                platform.store.take(platform.ctx, read, bytes);
            }
            ReadNews::Progress { bytes, .. } => platform.hdfs.take(platform.ctx, read, bytes),
            ReadNews::Done => self.fetch_next(platform, job, node),
            ReadNews::Failed => self.not_localised(platform, job, node),
        }
    }
}
