//! A job's files: its program and configuration, and its history.
//!
//! The client puts the program and the configuration into HDFS. Every node that runs a part of the job [fetches
//! them](super::localise) once. The AppMaster writes the history.
//!
//! The order is Hadoop's (`JobSubmitter.submitJobInternal`, `JobHistoryEventHandler`; in Hadoop 1 `JobClient`, with the
//! history on the JobTracker's own disk).

use super::client::Sample;
use super::localise::Localised;
use super::{MapReduce, Request, Writer};
use crate::context::Context;
use crate::hdfs::Hdfs;
use crate::ids::{BlockId, FileId, JobId, NodeId, ObjectId, Process, WriteId};
use crate::numbers::count;
use crate::platform::Platform;
use des::Index;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A map's part of `job.split` and `job.splitmetainfo`: the name of its file, where it begins, how long it is, and its
/// hosts.
const SPLIT: u64 = 170;
/// A history: its schema and the events of the job, and the events of an attempt and its task (recorded histories of
/// Hadoop 3.5: 20,009 bytes with two attempts, 33,713 with five, 64,520 with twelve).
const HISTORY: u64 = 11_100;
const HISTORY_ATTEMPT: u64 = 4_450;
/// The client's process number on the master node.
pub(super) const CLIENT_PROCESS: u32 = 2;
/// Before something that failed is tried again.
pub(super) const AGAIN: Time = Time::from_secs(1);

/// A job's files.
#[derive(Debug)]
pub(crate) struct JobFiles {
    client: Client,
    pub sample: Sample,
    /// Files that are in HDFS, and the one that is on its way there.
    stored: usize,
    upload: Option<FileId>,
    /// How often storing one has failed, and how long it has been tried.
    failed: u32,
    since: Time,
    /// What a node fetches: a list of partitions in the object store, and blocks.
    pub partitions: Option<ObjectId>,
    pub blocks: Vec<BlockId>,
    pub nodes: Vec<Localised>,
    /// Files that the AppMaster has yet to write, and the one that it writes.
    due: VecDeque<Bytes>,
    writing: Option<WriteId>,
    /// The AppMaster finishes when they are written.
    leaving: bool,
}

/// Whether the client has S3A at work, where it looks at objects.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Client {
    #[default]
    No,
    Starting,
    Started,
}

impl JobFiles {
    pub fn new(nodes: usize) -> Self {
        Self {
            client: Client::No,
            sample: Sample::default(),
            stored: 0,
            upload: None,
            failed: 0,
            since: Time::MAX,
            partitions: None,
            blocks: Vec::new(),
            nodes: (0..nodes).map(|_| Localised::No).collect(),
            due: VecDeque::new(),
            writing: None,
            leaving: false,
        }
    }
}

impl MapReduce {
    /// What the client uploads, in order, each with whether the nodes fetch it: the program, the splits, the
    /// configuration (which the splits go with).
    fn uploads(&self, job: JobId) -> [(Bytes, bool); 3] {
        let splits = match self.config.job_conf {
            Bytes::ZERO => Bytes::ZERO,
            _ => Bytes::new(SPLIT * self.jobs[job.0 as usize].maps.len() as u64),
        };
        [(self.config.job_jar, true), (splits, false), (self.config.job_conf, true)]
    }

    /// The client begins, or begins again: it takes its sample, files that are not in HDFS yet go there, one after the
    /// other, and the job is submitted.
    pub(crate) fn bring(&mut self, platform: &mut Platform, job: JobId) {
        let master = platform.ctx.nodes.master();
        if !platform.ctx.nodes.is_up(master) {
            return platform.ctx.timer_in(AGAIN, Request::SubmitDue(job));
        }
        if !self.client_is_up(platform, job) || self.takes_sample(platform, job) {
            return;
        }
        let uploads = self.uploads(job);
        let replication = self.config.submit_replication.min(count(platform.ctx.nodes.worker_count()));
        let files = &mut self.files[job.0 as usize];
        while uploads.get(files.stored).is_some_and(|(bytes, _)| *bytes == Bytes::ZERO) {
            files.stored += 1;
        }
        let Some(&(bytes, _)) = uploads.get(files.stored) else {
            self.look_at_objects(platform, job, Process { node: master, id: CLIENT_PROCESS });
            return self.submit(platform, job);
        };
        if files.upload.is_none() {
            let client = Process { node: master, id: CLIENT_PROCESS };
            let write = platform.hdfs.create(
                platform.ctx,
                client,
                platform.hdfs.config().block_size,
                replication,
                Writer::Upload(job),
            );
            files.upload = platform.hdfs.file_of(write);
            files.since = files.since.min(platform.ctx.now);
            platform.hdfs.append(platform.ctx, write, bytes);
        }
    }
    /// Whether the client can go on: before it touches objects it starts S3A.
    fn client_is_up(&mut self, platform: &mut Platform, job: JobId) -> bool {
        let spec = &self.jobs[job.0 as usize].spec;
        let touches = spec.reads_objects() || spec.writes_objects();
        let client = &mut self.files[job.0 as usize].client;
        *client = match *client {
            Client::No if touches => Client::Starting,
            Client::No | Client::Starting | Client::Started => Client::Started,
        };
        if *client == Client::Starting {
            let work = platform.store.config().start_cpu;
            platform.ctx.compute(platform.ctx.nodes.master(), work, Request::SubmitDue(job));
        }
        *client == Client::Started
    }
    /// The client's node is back: what was under way begins again.
    pub(crate) fn bring_again(&mut self, ctx: &mut Context) {
        for (job, files) in self.files.iter_mut().enumerate() {
            let starting = files.client == Client::Starting;
            if files.upload.take().is_some() | files.sample.drop_reads() | starting {
                files.client = Client::No;
                ctx.timer(ctx.now, Request::SubmitDue(JobId::from_usize(job)));
            }
        }
    }

    /// The AppMaster is up: it writes the job's configuration beside the history to come.
    pub(crate) fn open_history(&mut self, platform: &mut Platform, job: JobId) {
        let files = &mut self.files[job.0 as usize];
        files.due = VecDeque::from([self.config.job_conf]);
        files.writing = None;
        self.write_next(platform, job);
    }
    /// The AppMaster is lost, and what it was writing with it.
    pub(crate) fn drop_history(&mut self, platform: &mut Platform, job: JobId) {
        let files = &mut self.files[job.0 as usize];
        files.due.clear();
        if let Some(write) = files.writing.take() {
            platform.hdfs.abort_write(platform.ctx, write);
        }
    }
    /// The job is over: the AppMaster writes its history, copies it and the configuration to the history server's
    /// folder, and leaves.
    pub(crate) fn close_history(&mut self, platform: &mut Platform, job: JobId) {
        let launched = |attempt: &&super::Attempt| attempt.record.job == job && attempt.record.start > Time::ZERO;
        let attempts = self.attempts.iter().filter(launched).count() as u64;
        let history = Bytes::new(HISTORY + HISTORY_ATTEMPT * attempts);
        let files = &mut self.files[job.0 as usize];
        if self.config.job_conf > Bytes::ZERO {
            files.due.extend([history, self.config.job_conf, history]);
        }
        files.leaving = true;
        self.write_next(platform, job);
    }
    fn write_next(&mut self, platform: &mut Platform, job: JobId) {
        let Some(writer) = platform.yarn.master_process(self.application(job)) else {
            let files = &mut self.files[job.0 as usize];
            files.due.clear();
            if std::mem::take(&mut files.leaving) {
                self.finish_application(platform, job);
            }
            return;
        };
        let files = &mut self.files[job.0 as usize];
        if files.writing.is_some() {
            return;
        }
        match files.due.pop_front() {
            Some(bytes) => {
                let (block, replication) = (platform.hdfs.config().block_size, platform.hdfs.config().replication);
                let write = platform.hdfs.create(platform.ctx, writer, block, replication, Writer::History(job));
                files.writing = Some(write);
                platform.hdfs.append(platform.ctx, write, bytes);
            }
            None if std::mem::take(&mut files.leaving) => self.finish_application(platform, job),
            None => {}
        }
    }

    /// A file of the history is written. One that cannot be is lost; the job is not.
    pub(crate) fn history_written(&mut self, platform: &mut Platform, job: JobId, write: WriteId) {
        self.files[job.0 as usize].writing.take_if(|writing| *writing == write);
        self.write_next(platform, job);
    }
    /// The client's file is in HDFS, or could not be stored.
    pub(crate) fn uploaded(&mut self, platform: &mut Platform, job: JobId, closed: bool) {
        let fetched = self.uploads(job)[self.files[job.0 as usize].stored].1;
        let files = &mut self.files[job.0 as usize];
        let Some(file) = files.upload.take() else { return };
        if !closed {
            files.failed += 1;
            return platform.ctx.timer_in(AGAIN, Request::SubmitDue(job));
        }
        if fetched {
            files.blocks.extend(&platform.hdfs.namespace().file(file).blocks);
        }
        files.stored += 1;
        (files.failed, files.since) = (0, Time::MAX);
        self.bring(platform, job);
    }

    /// What a job's client waits for before it submits the job, and since when; none if it does not.
    pub(super) fn client_waits(&self, hdfs: &Hdfs, job: JobId) -> Option<(String, Time)> {
        let files = &self.files[job.0 as usize];
        let since = self.jobs[job.0 as usize].spec.submit;
        if files.client == Client::Starting {
            return Some(("its client's S3A to start".to_owned(), since));
        }
        if files.sample.is_under_way() {
            return Some(("its client's sample of the input".to_owned(), since));
        }
        let uploads = self.uploads(job);
        if files.stored >= uploads.len() {
            return None;
        }
        let tried = match files.failed {
            0 => String::new(),
            1 => ", which has failed once".to_owned(),
            failed => format!(", which has failed {failed} times"),
        };
        let what = format!("its client to store file {} of {} in HDFS{tried}", files.stored + 1, uploads.len());
        let Some(file) = files.upload else { return Some((what, files.since.min(since))) };
        let Some(pipeline) = hdfs.pipeline_of(file) else {
            let workers = 1..files.nodes.len();
            let alive = workers.clone().filter(|node| hdfs.is_alive(NodeId::from_usize(*node))).count();
            let what = format!("{what}: the NameNode, to which {alive} of {} DataNodes are alive", workers.len());
            return Some((what, files.since));
        };
        let nodes: Vec<String> = pipeline.nodes.iter().map(|node| super::stall::name(*node)).collect();
        let stuck = super::stall::name(pipeline.stuck);
        let ready = if pipeline.ready { "" } else { " to be set up" };
        Some((format!("{what}: a pipeline over {}{ready}, {stuck} having to answer", nodes.join(", ")), pipeline.since))
    }
}
