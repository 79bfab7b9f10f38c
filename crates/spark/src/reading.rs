//! What tasks read: files of their node, input in HDFS, shuffle blocks of their node. A task takes what has come and works on
//! it; so much more is asked for.

use crate::application::{Errand, Spark};
use crate::running::{PIECE, process};
use crate::task::{Arrived, LineEnd};
use hadoop::{DiskOp, DiskTransfer, Platform, ReadNews, Reader};
use units::{Bytes, Time};

impl Spark {
    /// Bytes have come.
    pub(crate) fn arrive(&mut self, platform: &mut Platform, id: usize, arrived: Arrived) {
        let now = platform.ctx.now;
        let task = &mut self.tasks[id];
        task.expected = task.expected.saturating_sub(arrived.bytes());
        if let Some(since) = task.idle.take() {
            let waited = now.saturating_sub(since);
            match arrived {
                Arrived::File(_) | Arrived::Hdfs(_) | Arrived::Kept(_) => task.record.input_wait += waited,
                Arrived::Local(_) | Arrived::Remote { .. } => task.record.fetch_wait += waited,
            }
        }
        task.arrived.push_back(arrived);
        self.advance(platform, id);
    }

    /// A task takes bytes to work on them: more may be asked for.
    pub(crate) fn taken(&mut self, platform: &mut Platform, id: usize, arrived: Arrived) {
        match arrived {
            Arrived::File(_) => self.read_file(platform, id),
            Arrived::Hdfs(bytes) => {
                if let Some(read) = self.tasks[id].read {
                    platform.hdfs.take(platform.ctx, read, bytes);
                }
            }
            Arrived::Local(_) => self.read_local(platform, id),
            Arrived::Kept(_) => {}
            Arrived::Remote { address, bytes, last } => {
                if let Some(fetches) = &mut self.tasks[id].fetches {
                    fetches.taken(address, bytes, last);
                }
                self.fetch_more(platform, id);
            }
        }
    }

    /// Asks for the next piece of a task's file, one ahead of its work.
    pub(crate) fn read_file(&mut self, platform: &mut Platform, id: usize) {
        let task = &mut self.tasks[id];
        let waiting = task.arrived.iter().any(|arrived| matches!(arrived, Arrived::File(_)));
        let Some((disk, file, offset)) = task.file else { return };
        if task.reading || waiting || task.input_left == Bytes::ZERO {
            return;
        }
        let bytes = task.input_left.min(PIECE);
        task.input_left -= bytes;
        task.file = Some((disk, file, offset + bytes));
        task.reading = true;
        let transfer = DiskTransfer::new(disk, DiskOp::Read, file, offset, bytes);
        let errand = self.errands.send(Errand::FileRead(id, bytes));
        platform.ctx.drive_disk(task.record.node, transfer, errand);
    }

    pub(crate) fn on_file_read(&mut self, platform: &mut Platform, id: usize, bytes: Bytes) {
        let task = &mut self.tasks[id];
        task.reading = false;
        task.disk_waited(platform.ctx.now);
        task.record.input_local += bytes;
        self.arrive(platform, id, Arrived::File(bytes));
        self.read_file(platform, id);
    }

    /// Begins to read the next block of a task's input.
    pub(crate) fn read_hdfs(&mut self, platform: &mut Platform, id: usize) {
        let task = &mut self.tasks[id];
        let Some(block) = task.blocks.pop_front() else { return };
        let length = platform.hdfs.namespace().block(block).length;
        let process = process(task.record.executor, task.record.node);
        let number = self.errands.send(Errand::HdfsRead(id));
        let read = platform.hdfs.read(platform.ctx, process, block, Bytes::ZERO, length, Reader::Driver(number));
        let task = &mut self.tasks[id];
        task.read = Some(read);
        if task.blocks.is_empty() && task.line_end != LineEnd::Here {
            platform.hdfs.hold(read);
        }
    }

    /// Whether the end of a task's last line is to come. It is asked for when the task has worked on all before.
    pub(crate) fn awaits_line_end(&mut self, platform: &mut Platform, id: usize) -> bool {
        let task = &mut self.tasks[id];
        if task.line_end == LineEnd::Here {
            return false;
        }
        task.idle.get_or_insert(platform.ctx.now);
        if let (LineEnd::Due(next, Some(number)), Some(read)) = (task.line_end, task.read) {
            task.line_end = LineEnd::Reading;
            let process = process(task.record.executor, task.record.node);
            platform.hdfs.read_on(platform.ctx, read, process, (next, Bytes::ZERO), Reader::Driver(number));
        }
        true
    }

    pub(crate) fn on_hdfs_read(&mut self, platform: &mut Platform, (number, id): (u64, usize), news: ReadNews) {
        let task = &mut self.tasks[id];
        match news {
            ReadNews::Progress { source, bytes } => {
                let local = source == task.record.node;
                if local && task.line_end != LineEnd::Reading {
                    task.disk_waited(platform.ctx.now);
                }
                *(if local { &mut task.record.input_local } else { &mut task.record.input_remote }) += bytes;
                if task.line_end != LineEnd::Reading {
                    self.arrive(platform, id, Arrived::Hdfs(bytes));
                }
            }
            ReadNews::Done => match task.line_end {
                LineEnd::Due(next, None) if task.blocks.is_empty() => {
                    task.line_end = LineEnd::Due(next, Some(number));
                    self.advance(platform, id);
                }
                LineEnd::Reading => {
                    self.errands.answered(number);
                    (task.read, task.line_end) = (None, LineEnd::Here);
                    let waited = task.idle.take().map_or(Time::ZERO, |since| platform.ctx.now.saturating_sub(since));
                    task.record.input_wait += waited;
                    self.advance(platform, id);
                }
                LineEnd::Here | LineEnd::Due(..) => {
                    self.errands.answered(number);
                    task.read = None;
                    self.read_hdfs(platform, id);
                }
            },
            ReadNews::Failed => self.fail(platform, "no replica of a task's input could be read".to_owned()),
        }
    }

    /// Reads the next shuffle block of the task's own node, one ahead of its work.
    pub(crate) fn read_local(&mut self, platform: &mut Platform, id: usize) {
        let task = &mut self.tasks[id];
        let waiting = task.arrived.iter().any(|arrived| matches!(arrived, Arrived::Local(_)));
        let Some((_, _, transfer)) = task.locals.front().filter(|_| !task.reading_local && !waiting) else { return };
        task.reading_local = true;
        let errand = self.errands.send(Errand::LocalRead(id));
        platform.ctx.drive_disk(task.record.node, *transfer, errand);
    }

    pub(crate) fn on_local_read(&mut self, platform: &mut Platform, id: usize) {
        let task = &mut self.tasks[id];
        task.reading_local = false;
        task.disk_waited(platform.ctx.now);
        let Some((parent, map, transfer)) = task.locals.pop_front() else { return };
        task.record.shuffle_local += transfer.bytes;
        let (stage, index) = (task.record.stage, task.record.index);
        let stage = &mut self.stages[stage];
        let again = stage.got[parent].mark(map, index);
        if !again {
            stage.books[parent].local += transfer.bytes;
        }
        self.arrive(platform, id, Arrived::Local(transfer.bytes));
        self.read_local(platform, id);
    }
}
