//! Data sets that are kept (`RDD.persist`): the tasks of a stage leave its partitions with their executors, later stages read
//! them there, from another executor, or compute them anew where nobody has them (`BlockManager.getOrElseUpdate`).

use crate::application::{Errand, Spark};
use crate::blocks::{NamedBlock, Pull, Sent};
use crate::config::Level;
use crate::driver::MESSAGE;
use crate::stage::Ancestor;
use crate::store::{Found, KeptPartition, Store};
use crate::task::{Arrived, Task};
use hadoop::{Data, DiskOp, DiskTransfer, End, Platform};
use std::collections::{BTreeMap, VecDeque};
use units::Bytes;

/// Where a task has the partition from that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Its executor has asked for it.
    Asked,
    /// Its executor has it.
    Own(Found),
    /// It has come from another executor.
    Other,
}

/// What became of a data set that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The stage that keeps it.
    pub stage: usize,
    /// What tasks have computed of it to be kept.
    pub computed: Bytes,
    /// Of that, what is in memory,
    pub in_memory: Bytes,
    /// what is on disk and not in memory,
    pub on_disk: Bytes,
    /// what had no room,
    pub no_room: Bytes,
    /// what went for other data sets,
    pub evicted: Bytes,
    /// and what was lost with its executor.
    pub lost: Bytes,
    /// What tasks began to read.
    pub wanted: Bytes,
    /// Of that, what was in the memory of their own executor,
    pub own_memory: Bytes,
    /// what was on its disk,
    pub own_disk: Bytes,
    /// what came from other executors,
    pub remote: Bytes,
    /// what was computed anew,
    pub recomputed: Bytes,
    /// and what is under way, or was when its task ended.
    pub not_read: Bytes,
    /// What executors have sent of it to others.
    pub sent: Sent,
}

/// What executors keep.
#[derive(Debug, Default)]
pub struct Cache {
    /// By executor.
    stores: Vec<Store>,
    books: BTreeMap<usize, Kept>,
}

impl Cache {
    /// An executor with so much memory for it.
    pub fn add(&mut self, memory: Bytes) {
        self.stores.push(Store::new(memory));
    }

    /// The books of what a stage keeps.
    pub fn books(&mut self, stage: usize) -> &mut Kept {
        self.books.entry(stage).or_default()
    }

    /// Where an executor has a partition.
    pub fn find(&self, executor: usize, partition: KeptPartition) -> Option<Found> {
        self.stores.get(executor).and_then(|store| store.find(partition))
    }

    /// Whether an executor keeps anything.
    pub fn keeps(&self, executor: usize) -> bool {
        self.stores.get(executor).is_some_and(|store| store.all().next().is_some())
    }

    /// A partition in an executor's memory is read.
    pub fn touch(&mut self, executor: usize, partition: KeptPartition) {
        self.stores[executor].touch(partition);
    }

    /// An executor's process is gone.
    pub fn lose(&mut self, executor: usize) {
        let lost: Vec<_> = self.stores[executor].all().collect();
        for (partition, bytes, _) in lost {
            self.books(partition.stage).lost += bytes;
        }
        self.stores[executor].clear();
    }

    /// A partition has come from another executor.
    pub fn came(&mut self, stage: usize, bytes: Bytes) {
        let books = self.books(stage);
        books.remote += bytes;
        books.not_read = books.not_read.saturating_sub(bytes);
    }

    /// The books, stage by stage.
    pub fn kept(&self) -> Vec<Kept> {
        let mut books = self.books.clone();
        for (partition, bytes, in_memory) in self.stores.iter().flat_map(Store::all) {
            let books = books.entry(partition.stage).or_default();
            *(if in_memory { &mut books.in_memory } else { &mut books.on_disk }) += bytes;
        }
        books.into_iter().map(|(stage, kept)| Kept { stage, ..kept }).collect()
    }
}

impl Spark {
    /// The executors that have what a task reads, as the driver knows (`getCacheLocs`), or else the nearest of what that is
    /// computed from; none where it reads no data set.
    pub(crate) fn keepers(&self, number: usize, index: usize) -> &[usize] {
        let mut all = self.stages[number].lineage.iter().map(|ancestor| self.holders(ancestor, index));
        all.find(|holders| !holders.is_empty()).unwrap_or_default()
    }

    /// The executors that have an ancestor's partition, as the driver knows.
    fn holders(&self, ancestor: &Ancestor, number: usize) -> &[usize] {
        self.held.of(NamedBlock::Kept(KeptPartition { stage: ancestor.stage, number }))
    }

    /// The parents whose output a stage needs: those of ancestors only where a partition of these is not kept, nor all of
    /// an ancestor before (`getMissingParentStages`).
    pub(crate) fn parents_wanted(&self, number: usize) -> &[usize] {
        let stage = &self.stages[number];
        let tasks = stage.spec.tasks.len();
        let all = |ancestor: &Ancestor| (0..tasks).all(|index| !self.holders(ancestor, index).is_empty());
        stage.parents_behind(stage.lineage.iter().position(all).unwrap_or(stage.lineage.len()))
    }

    /// How large a partition is.
    fn kept_bytes(&self, partition: KeptPartition) -> Bytes {
        self.stages[partition.stage].spec.tasks[partition.number].kept
    }

    /// The partition that a task reads.
    fn partition_read(&self, id: usize) -> Option<KeptPartition> {
        let task = &self.tasks[id];
        let stage = self.stages[task.record.stage].lineage.get(task.missing)?.stage;
        Some(KeptPartition { stage, number: task.record.index })
    }

    /// A task looks for the partition that it reads: with its own executor, else with others.
    pub(crate) fn look_up(&mut self, platform: &mut Platform, id: usize, partition: KeptPartition) {
        let (executor, bytes) = (self.tasks[id].record.executor, self.kept_bytes(partition));
        let books = self.cache.books(partition.stage);
        books.wanted += bytes;
        books.not_read += bytes;
        self.tasks[id].record.start.get_or_insert(platform.ctx.now);
        if let Some(found) = self.cache.find(executor, partition) {
            self.tasks[id].kept = Some(Source::Own(found));
            return self.on_launched(platform, id);
        }
        self.tasks[id].kept = Some(Source::Asked);
        self.tasks[id].idle = Some(platform.ctx.now);
        self.pull(platform, executor, NamedBlock::Kept(partition), (bytes, Some(id)));
    }

    /// A task has its partition from another executor; or nobody has it, and it looks for what that is computed from.
    pub(crate) fn on_looked_up(&mut self, platform: &mut Platform, pull: &Pull, has_come: bool) {
        let Some(id) = pull.task else { return };
        let task = &mut self.tasks[id];
        if has_come {
            task.kept = Some(Source::Other);
            task.record.cached_remote += pull.bytes;
        } else {
            (task.missing, task.kept) = (task.missing + 1, None);
        }
        if let Some(since) = task.idle.take() {
            task.record.input_wait += platform.ctx.now.saturating_sub(since);
        }
        self.on_launched(platform, id);
    }

    /// A task begins with the partition that it reads, if somebody has it.
    pub(crate) fn read_kept(&mut self, platform: &mut Platform, id: usize) {
        let (Some(source), Some(partition)) = (self.tasks[id].kept, self.partition_read(id)) else { return };
        let (bytes, record) = (self.kept_bytes(partition), self.tasks[id].record);
        match source {
            Source::Own(Found::Memory) => {
                self.cache.touch(record.executor, partition);
                self.on_kept_read(platform, id, false);
            }
            Source::Own(Found::Disk(disk, file)) => {
                let errand = self.errands.send(Errand::KeptRead(id));
                let transfer = DiskTransfer::new(disk, DiskOp::Read, file, Bytes::ZERO, bytes);
                platform.ctx.drive_disk(record.node, transfer, errand);
            }
            Source::Other => self.arrive(platform, id, Arrived::Kept(bytes)),
            Source::Asked => {}
        }
    }

    /// A task has its partition from its own executor.
    pub(crate) fn on_kept_read(&mut self, platform: &mut Platform, id: usize, from_disk: bool) {
        let Some(partition) = self.partition_read(id) else { return };
        let bytes = self.kept_bytes(partition);
        let books = self.cache.books(partition.stage);
        *(if from_disk { &mut books.own_disk } else { &mut books.own_memory }) += bytes;
        books.not_read = books.not_read.saturating_sub(bytes);
        let task = &mut self.tasks[id];
        if from_disk {
            task.disk_waited(platform.ctx.now);
        }
        task.record.cached_local += bytes;
        self.arrive(platform, id, Arrived::Kept(bytes));
    }

    /// A task's partition is computed: its executor keeps it, writes to disk what belongs there, one after the other, and
    /// tells the driver. Until then the task waits.
    pub(crate) fn keep(&mut self, platform: &mut Platform, id: usize) {
        if !std::mem::replace(&mut self.tasks[id].keeping, true) {
            self.tasks[id].to_keep = self.computed(id);
        }
        let task = &mut self.tasks[id];
        let (node, executor) = (task.record.node, task.record.executor);
        if let Some(transfer) = task.writes.pop_front() {
            (task.busy, task.since) = (true, platform.ctx.now);
            let errand = self.errands.send(Errand::Written(id));
            platform.ctx.drive_disk(node, transfer, errand);
        } else if let Some(partition) = task.to_tell.take() {
            task.busy = true;
            let message = self.errands.send(Errand::Kept(id, partition));
            platform.ctx.drive_send(self.executors[executor].driver, End::Client, Bytes::new(MESSAGE), message);
        } else if let Some(partition) = task.to_keep.pop_front() {
            self.make_room(platform, id, partition);
        } else {
            task.keeping = false;
        }
    }

    /// The partitions that a task has computed and its executor keeps, what the others are computed from first.
    fn computed(&self, id: usize) -> VecDeque<KeptPartition> {
        let Task { record, missing, .. } = &self.tasks[id];
        let again = self.stages[record.stage].lineage[..*missing].iter().rev().map(|ancestor| ancestor.stage);
        let keep = |stage: &usize| self.stages[*stage].spec.persist.is_some();
        let number = record.index;
        again.chain([record.stage]).filter(keep).map(|stage| KeptPartition { stage, number }).collect()
    }

    /// Finds a place for a partition that a task has computed.
    fn make_room(&mut self, platform: &mut Platform, id: usize, partition: KeptPartition) {
        let record = self.tasks[id].record;
        let (stage, executor) = (partition.stage, record.executor);
        let Some(level) = self.stages[stage].spec.persist else { return };
        let bytes = self.kept_bytes(partition);
        if stage != record.stage {
            let books = self.cache.books(stage);
            books.recomputed += bytes;
            books.not_read = books.not_read.saturating_sub(bytes);
        }
        if bytes == Bytes::ZERO || self.cache.find(executor, partition).is_some() {
            // Another attempt has left it here.
            return;
        }
        self.cache.books(stage).computed += bytes;
        let in_memory = level != Level::DiskOnly;
        // What the task reads, or has computed the partition from, is locked until it ends (`BlockInfoManager`).
        let used: Vec<usize> =
            self.stages[record.stage].lineage.iter().take(self.tasks[id].missing + 1).map(|of| of.stage).collect();
        let is_locked = |other: KeptPartition| other.number == record.index && used.contains(&other.stage);
        let store = &mut self.cache.stores[executor];
        let evicted = if in_memory { store.put((partition, bytes), level, is_locked) } else { None };
        let mut to_disk = Vec::new();
        match evicted {
            Some(evicted) => {
                for (other, bytes, level) in evicted {
                    if level == Level::MemoryOnly {
                        self.cache.books(other.stage).evicted += bytes;
                        let message = self.errands.send(Errand::Dropped(executor, other));
                        let conn = self.executors[executor].driver;
                        platform.ctx.drive_send(conn, End::Client, Bytes::new(MESSAGE), message);
                    } else {
                        to_disk.push((other, bytes, level));
                    }
                }
            }
            None if level == Level::MemoryOnly => {
                self.cache.books(stage).no_room += bytes;
                return;
            }
            None => to_disk.push((partition, bytes, level)),
        }
        for (partition, bytes, level) in to_disk {
            let disk = self.executors[executor].disk(&platform.ctx.nodes, Data::Intermediate);
            let file = platform.ctx.drive_file();
            self.cache.stores[executor].put_on_disk(partition, bytes, level, (disk, file));
            self.tasks[id].writes.push_back(DiskTransfer::new(disk, DiskOp::Write, file, Bytes::ZERO, bytes));
        }
        self.tasks[id].to_tell = Some(partition);
    }

    /// The driver hears that an executor keeps a partition, and answers.
    pub(crate) fn on_kept(&mut self, platform: &mut Platform, id: usize, partition: KeptPartition) {
        let executor = self.tasks[id].record.executor;
        if !self.executors[executor].is_lost {
            self.held.add(NamedBlock::Kept(partition), executor);
            self.tell(platform, executor, Bytes::new(MESSAGE), Errand::KeptKnown(id));
        }
    }
}
