//! Which file system a job reads from and writes to, and what a task asks of it: HDFS, or the object store through S3A.

use super::job::JobSpec;
use super::request::{Reader, Writer};
use super::split::{Piece, Split};
use super::task::Env;
use super::{JobId, MapReduce};
use crate::ids::{AttemptId, NodeId, ObjectId, Process, ReadId, WriteId};
use crate::object_store::{Before, ObjectStore};
use crate::platform::Platform;
use crate::record::JobState;
use crate::workload::Source;
use units::Bytes;

/// A key in a list of partitions, as `Text` writes it: its length and ten bytes.
const PARTITION_KEY: Bytes = Bytes::new(11);

/// Where a job's input or output is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FileSystem {
    /// In HDFS.
    #[default]
    Hdfs,
    /// In the object store.
    ObjectStore,
}

impl JobSpec {
    /// Whether its input is in the object store.
    pub(super) fn reads_objects(&self) -> bool {
        self.input_store == FileSystem::ObjectStore && self.workload.source == Source::File
    }
    /// Whether its output goes there.
    pub(super) fn writes_objects(&self) -> bool {
        self.output_store == FileSystem::ObjectStore
    }
    /// What is in its output before it. A sample of the input becomes the keys at which one reducer's part ends and the
    /// next one's begins (`TeraInputFormat.writePartitionFile`).
    pub(super) fn before(&self) -> Before {
        match self.sample {
            Bytes::ZERO => Before::Nothing,
            _ => Before::Partitions(PARTITION_KEY * u64::from(self.reducers.saturating_sub(1))),
        }
    }
}

/// A range of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectRange {
    pub object: ObjectId,
    pub offset: Bytes,
    pub length: Bytes,
}

/// The splits of objects, in Hadoop's order: as long as S3A says that a block is, or each a whole object.
pub(super) fn object_splits(
    store: &mut ObjectStore,
    lengths: impl IntoIterator<Item = Bytes>,
    whole: bool,
) -> Vec<ObjectRange> {
    let block = store.config().block_size.max(Bytes::new(1));
    let mut ranges = Vec::new();
    for length in lengths {
        let object = store.add_object(length);
        let size = if whole { length } else { block };
        let mut offset = Bytes::ZERO;
        while offset < length {
            let part = size.min(length - offset);
            ranges.push(ObjectRange { object, offset, length: part });
            offset += part;
        }
    }
    ranges
}

impl Env<'_> {
    /// Reads a piece of the split, counted from 0, its index first; none if there are no more.
    pub fn read_piece(&mut self, number: usize) -> Option<ReadId> {
        let reader = Reader::Split(self.id);
        if let Some(ObjectRange { object, offset, length }) = self.split.object {
            return (number == 0).then(|| {
                let range = (offset, length);
                self.store.read(self.ctx, self.process, object, range, self.spec.stride, reader)
            });
        }
        let Split { index, blocks, .. } = self.split;
        let &Piece { block, offset, length } = index.iter().chain(blocks).nth(number)?;
        let read = self.hdfs.read(self.ctx, self.process, block, offset, length, reader);
        if self.split.next.is_some() && number + 1 == index.len() + blocks.len() {
            self.hdfs.hold(read);
        }
        Some(read)
    }
    /// The stream of the split's last piece goes on in the next block, to the end of the last record.
    pub fn read_on(&mut self, read: ReadId) {
        if let Some(next) = self.split.next {
            self.hdfs.read_on(self.ctx, read, self.process, next, Reader::Split(self.id));
        }
    }
    /// Takes bytes of a read.
    pub fn take(&mut self, read: ReadId, bytes: Bytes) {
        if ObjectStore::has_read(read) {
            self.store.take(self.ctx, read, bytes);
        } else {
            self.hdfs.take(self.ctx, read, bytes);
        }
    }
    /// Stops a read.
    pub fn cancel_read(&mut self, read: ReadId) {
        if ObjectStore::has_read(read) {
            self.store.cancel_read(self.ctx, read);
        } else {
            self.hdfs.cancel_read(self.ctx, read);
        }
    }
    /// Counts bytes that were read from a node.
    pub fn count_read(&mut self, source: NodeId, bytes: Bytes) {
        let counted = &mut self.record.bytes;
        if self.split.object.is_some() {
            counted.read_store += bytes;
            return;
        }
        match self.ctx.nodes.distance(self.node, source) {
            0 => counted.read_node += bytes,
            2 => counted.read_rack += bytes,
            _ => counted.read_remote += bytes,
        }
    }
    /// Opens an output stream of the task.
    pub fn create_output(&mut self, owner: Writer) -> WriteId {
        if self.spec.writes_objects() {
            return self.store.create(self.ctx, self.process, self.spec.before(), owner);
        }
        let config = self.hdfs.config();
        let replication = self.spec.workload.output_replication.map_or(config.replication, u32::from);
        self.hdfs.create_output(self.ctx, self.process, config.block_size, replication, owner)
    }
    /// Commits a task without output of a job whose output is in the object store; none where nothing is asked for.
    pub fn commit_nothing(&mut self, owner: Writer) -> Option<WriteId> {
        self.spec.writes_objects().then(|| self.store.commit_nothing(self.ctx, self.process, owner)).flatten()
    }
    /// Appends bytes to an output stream.
    pub fn append(&mut self, write: WriteId, bytes: Bytes) {
        if ObjectStore::has_write(write) {
            self.store.append(self.ctx, write, bytes);
        } else {
            self.hdfs.append(self.ctx, write, bytes);
        }
    }
    /// Ends an output stream.
    pub fn close(&mut self, write: WriteId) {
        if ObjectStore::has_write(write) {
            self.store.close(self.ctx, write);
        } else {
            self.hdfs.close(self.ctx, write);
        }
    }
    /// Drops an output stream.
    pub fn abort_write(&mut self, write: WriteId) {
        if ObjectStore::has_write(write) {
            self.store.abort_write(self.ctx, write);
        } else {
            self.hdfs.abort_write(self.ctx, write);
        }
    }
}

impl MapReduce {
    /// An attempt's output stream is closed: an object is noted for the job's commit.
    pub(super) fn note_object(&mut self, platform: &mut Platform, id: AttemptId, write: WriteId) {
        if let Some(length) = platform.store.take_length(write) {
            self.attempts[id.0 as usize].object = Some(length);
        }
    }
    /// All tasks of a job are done. Whether its output in the object store is still to be committed: its AppMaster does
    /// so now.
    pub(super) fn commits_objects(&mut self, platform: &mut Platform, id: JobId) -> bool {
        let job = &mut self.jobs[id.0 as usize];
        if !job.spec.writes_objects() || job.committed {
            return false;
        }
        let Some(process) = platform.yarn.master_process(job.application) else {
            return true; // the next AppMaster does
        };
        if !platform.store.commits(id) {
            job.record.commit.get_or_insert(platform.ctx.now);
            let done = job.maps.iter().chain(&job.reduces).filter_map(|task| task.done);
            let files: Vec<Bytes> = done.filter_map(|id| self.attempts[id.0 as usize].object).collect();
            let tasks = job.maps.len() + job.reduces.len();
            platform.store.commit(platform.ctx, id, process, tasks, &files);
        }
        true
    }
    /// A client is about to submit a job: it looks at what the job reads and writes in the object store.
    pub(super) fn look_at_objects(&mut self, platform: &mut Platform, id: JobId, client: Process) {
        let spec = &self.jobs[id.0 as usize].spec;
        let output = spec.writes_objects().then(|| spec.before());
        platform.store.look_before_submission(platform.ctx, client, spec.reads_objects(), output);
        if let Some(Before::Partitions(bytes)) = output {
            self.files[id.0 as usize].partitions = Some(platform.store.add_object(bytes));
        }
    }
    /// A job's AppMaster makes the folders of the job's output in the object store. Whether the job's tasks wait for
    /// that: those of a recorded plan begin when they did.
    pub(super) fn sets_up_objects(&mut self, platform: &mut Platform, id: JobId) -> bool {
        let job = &mut self.jobs[id.0 as usize];
        let process = platform.yarn.master_process(job.application).filter(|_| job.spec.writes_objects());
        let Some(process) = process else { return false };
        job.set_up = Some(platform.store.set_up(platform.ctx, process, job.spec.before(), Writer::SetUp(id)));
        !self.config.replays.contains_key(&id)
    }
    /// The folders of a job's output are there, or could not be made.
    pub(super) fn on_set_up(&mut self, platform: &mut Platform, id: JobId, done: bool) {
        let job = &mut self.jobs[id.0 as usize];
        job.set_up = None;
        if job.is_over() {
            return;
        }
        if done {
            return self.begin_tasks(platform, id);
        }
        self.finish_job(platform, id, JobState::Failed, "the folders of its output could not be made".to_owned());
    }
    /// The AppMaster is lost, and what it made of the output's folders with it.
    pub(super) fn drop_set_up(&mut self, platform: &mut Platform, id: JobId) {
        if let Some(write) = self.jobs[id.0 as usize].set_up.take() {
            platform.store.abort_write(platform.ctx, write);
        }
    }
    /// The commit of a job's output is over.
    pub(crate) fn on_job_committed(&mut self, platform: &mut Platform, id: JobId, done: bool) {
        let job = &self.jobs[id.0 as usize];
        if job.is_over() || !job.is_complete() {
            return;
        }
        self.drop_set_up(platform, id);
        let job = &self.jobs[id.0 as usize];
        if let Some(process) = platform.yarn.master_process(job.application) {
            platform.store.exit(platform.ctx, process);
        }
        let job = &mut self.jobs[id.0 as usize];
        if done {
            job.committed = true;
            return self.after(platform, id);
        }
        self.finish_job(platform, id, JobState::Failed, "its output could not be committed".to_owned());
    }
}
