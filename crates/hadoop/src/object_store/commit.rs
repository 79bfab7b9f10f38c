//! How the output of tasks and of a job becomes visible, as chains of requests.
//!
//! `FileOutputCommitter` renames; the store has no rename, and S3A copies each object and deletes it
//! (`RenameOperation`). S3A's own committers leave uploads incomplete until the job's commit, which completes them
//! (committers.md and committer_architecture.md of hadoop-aws). A job is committed by its AppMaster: with algorithm 1
//! one file after the other (`FileOutputCommitter.mergePaths`), by S3A's committers `fs.s3a.committer.threads` at once.
//!
//! Which requests an operation is made of is what a server logged of Hadoop 3.5.0's
//! (`crates/hadoop/tests/recorded/s3a`).

use super::client::{Ask, Owner};
use super::config::{ObjectStoreConfig, OutputCommitter};
use super::request::Method;
use super::{ObjectStore, wire};
use crate::context::Context;
use crate::event::Event;
use crate::ids::{JobId, Process};
use std::collections::VecDeque;
use units::Bytes;

/// Objects that one request deletes (`fs.s3a.bulk.delete.page.size`).
const DELETED_AT_ONCE: usize = 250;

/// Requests that are made at once; the next step follows when all have answers.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub asks: Vec<Ask>,
    /// Its body is the object itself, from the buffer.
    pub whole: bool,
}

impl From<Ask> for Step {
    fn from(ask: Ask) -> Self {
        Self { asks: vec![ask], whole: false }
    }
}

const fn head() -> Ask {
    Ask::plain(Method::Head)
}
const fn list() -> Ask {
    Ask::plain(Method::List).with_down(wire::LISTING)
}
const fn post() -> Ask {
    Ask::plain(Method::Post).with_up(wire::XML).with_down(wire::XML)
}
const fn get_manifest() -> Ask {
    Ask::plain(Method::Get).with_down(wire::MANIFEST)
}
const fn put_manifest() -> Ask {
    Ask::plain(Method::Put).with_up(wire::MANIFEST)
}

/// A folder's marker: an object of no length.
const fn put_marker() -> Ask {
    Ask::plain(Method::Put)
}
/// A path that may be an object or a folder is looked for as one, then as the other (`s3GetFileStatus`).
fn look() -> [Step; 2] {
    [head().into(), list().into()]
}
/// Steps of several operations, one after the other.
macro_rules! steps {
    ($($part:expr),* $(,)?) => {{
        let mut all: Vec<Step> = Vec::new();
        $(all.extend($part);)*
        all
    }};
}

/// Copies an object: whole, or from the threshold on in parts, all at once.
fn copy(config: &ObjectStoreConfig, length: Bytes) -> Vec<Step> {
    let part = |copied: Bytes| Ask { copied, ..Ask::plain(Method::Copy).with_down(wire::XML) };
    if length < config.multipart_threshold {
        return vec![part(length).into()];
    }
    let size = config.multipart_size.max(Bytes::new(1));
    let parts = length.get().div_ceil(size.get());
    let asks = (0..parts).map(|turn| part(size.min(length - size * turn))).collect();
    // The transfer manager asks for the length again.
    vec![head().into(), post().into(), Step { asks, whole: false }, post().into()]
}

/// Renames an object: looks at both ends and at the new one's folder, copies, deletes; the folder in which it was is
/// empty then, and gets a marker.
fn rename(config: &ObjectStoreConfig, length: Bytes) -> Vec<Step> {
    steps![
        [head().into()],
        look(),
        [head().into(), head().into()],
        copy(config, length),
        [Ask::plain(Method::Delete).into(), list().into(), put_marker().into()],
    ]
}

/// Renames the folder of a task with the one object in it. Other tasks' stand beside it, so that no marker is needed.
fn rename_folder(config: &ObjectStoreConfig, length: Bytes) -> Vec<Step> {
    let delete = Ask::plain(Method::Delete);
    steps![look(), look(), look(), [head().into()], copy(config, length), [delete.into(), list().into()]]
}

/// Merges a task's file into the output folder (`FileOutputCommitter.mergePaths`): the folders are looked at and
/// listed, then the file's place, then it is renamed.
fn merge(config: &ObjectStoreConfig, length: Bytes) -> Vec<Step> {
    steps![look(), [list().into()], look(), rename(config, length)]
}

/// What of a job's output is there before the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing: a task's file must not be there (`FileOutputFormat`).
    Nothing,
    /// A list of partitions of so many bytes, which its client has put there; tasks write over what they find
    /// (`TeraOutputFormat`).
    Partitions(Bytes),
}

/// Looks for the output's folder, and for the one above it if that is not there, before folders are made.
fn look_for_folder(before: Before) -> Vec<Step> {
    match before {
        Before::Nothing => steps![[list().into(), head().into(), list().into(), head().into()]],
        Before::Partitions(_) => steps![[list().into()]],
    }
}
/// Makes the output's folder, if it is not there.
fn make_folder(before: Before) -> Vec<Step> {
    steps![look_for_folder(before), (before == Before::Nothing).then(|| put_marker().into())]
}

/// Before a task's first byte: whether its file is there, or a folder of its name; the magic committer makes the
/// task's folder anew. A staging file is local.
pub(super) fn create_steps(config: &ObjectStoreConfig, before: Before) -> VecDeque<Step> {
    match config.committer {
        OutputCommitter::FileV1 | OutputCommitter::FileV2 => match before {
            Before::Nothing => look().into(),
            Before::Partitions(_) => VecDeque::from([list().into()]),
        },
        OutputCommitter::Directory => VecDeque::new(),
        OutputCommitter::Magic => steps![look(), [list().into(), put_marker().into()]].into(),
    }
}

/// What a task without output asks for: the file committer looks whether it has some; the magic one makes its folder,
/// lists it, notes that there is nothing, and deletes it.
pub(super) fn nothing_steps(config: &ObjectStoreConfig) -> VecDeque<Step> {
    match config.committer {
        OutputCommitter::FileV1 | OutputCommitter::FileV2 => look().into(),
        OutputCommitter::Directory => VecDeque::new(),
        OutputCommitter::Magic => {
            let listed = [list().into(), head().into(), list().into(), put_marker().into()];
            let deleted = [list().into(), Ask::plain(Method::Delete).into()];
            steps![create_steps(config, Before::Nothing), listed, look(), deleted].into()
        }
    }
}

/// What an AppMaster asks for before its job's tasks: it makes the folder in which they will write, and looks whether
/// a list of partitions is still the one that was submitted.
pub(super) fn setup_steps(config: &ObjectStoreConfig, before: Before) -> VecDeque<Step> {
    let mut steps: VecDeque<_> = match config.committer {
        // Two folders below the output's.
        OutputCommitter::FileV1 | OutputCommitter::FileV2 => {
            let above = look_for_folder(before);
            steps![[list().into(), head().into(), list().into(), head().into()], above, [put_marker().into()]].into()
        }
        // A marker of an earlier job is deleted; the output's folder is made; uploads that are left are listed.
        OutputCommitter::Directory => steps![look(), look(), make_folder(before), [list().into()]].into(),
        OutputCommitter::Magic => {
            let below = [list().into(), list().into(), put_marker().into()];
            steps![look(), make_folder(before), below].into()
        }
    };
    steps.extend(matches!(before, Before::Partitions(_)).then(|| head().into()));
    steps
}

/// What a client asks for before it submits a job: whether the output is there, and what the input consists of. One
/// that sorts stores the list of partitions, sees that nothing else is there (`TeraOutputFormat.checkOutputSpecs`), and
/// asks for the list's time and rights (`ClientDistributedCacheManager`).
pub(super) fn submit_steps(input: bool, output: Option<Before>) -> VecDeque<Step> {
    let output = match output {
        None => Vec::new(),
        Some(Before::Nothing) => look().to_vec(),
        Some(Before::Partitions(bytes)) => {
            let put = Ask::plain(Method::Put).with_up(bytes);
            steps![[list().into(), put.into(), list().into()], [head().into(), head().into(), head().into()]]
        }
    };
    let input = if input { steps![look(), [list().into()]] } else { Vec::new() };
    steps![output, input].into()
}

/// What follows the last part of a stream: the upload's completion, and the commit of its task. `single` is the length
/// of an object of one PUT.
pub(super) fn task_steps(config: &ObjectStoreConfig, length: Bytes, single: Option<Bytes>) -> VecDeque<Step> {
    let end = match single {
        Some(bytes) => Step { asks: vec![Ask::plain(Method::Put).with_up(bytes)], whole: true },
        None => post().into(),
    };
    let steps = match config.committer {
        // Whether there is something to commit; where it is; and with algorithm 1 whether its place is taken.
        OutputCommitter::FileV1 => steps![[end], look(), look(), look(), rename_folder(config, length)],
        OutputCommitter::FileV2 => steps![[end], look(), look(), merge(config, length)],
        // The list of uploads goes to HDFS.
        OutputCommitter::Directory => Vec::new(),
        // A marker, and what is pending; then the task's list of that, and its folder is deleted.
        OutputCommitter::Magic => steps![
            [put_marker().into(), put_manifest().into()],
            [list().into(), head().into(), get_manifest().into(), put_manifest().into()],
            look(),
            [list().into(), post().into(), Ask::plain(Method::Delete).into()],
        ],
    };
    steps.into()
}

/// A part of a job's commit: requests in a row, of which several rows are under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain {
    pub job: JobId,
    number: u32,
}

#[derive(Debug)]
struct Row {
    number: u32,
    /// Requests of its present step without an answer.
    open: usize,
    steps: VecDeque<Step>,
}

/// Rows that may be under way at once; the next stage follows when all are done.
#[derive(Debug)]
struct Stage {
    rows: VecDeque<VecDeque<Step>>,
    at_once: usize,
}

impl Stage {
    fn one(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { rows: VecDeque::from([steps.into_iter().collect()]), at_once: 1 }
    }
}

/// A job's commit under way.
#[derive(Debug)]
pub(super) struct Commit {
    pub process: Process,
    stages: VecDeque<Stage>,
    running: Vec<Row>,
    next: u32,
}

/// The requests of the commit of a job of so many tasks, with the lengths of its tasks' files.
fn stages(config: &ObjectStoreConfig, tasks: usize, files: &[Bytes]) -> VecDeque<Stage> {
    let threads = config.committer_threads.max(1) as usize;
    let for_each = |step: &dyn Fn(&Bytes) -> Vec<Step>, at_once: usize| Stage {
        rows: files.iter().map(|file| step(file).into()).collect(),
        at_once,
    };
    // The temporary folder with what is in it: an object or a marker for each task.
    let pages = files.len().div_ceil(DELETED_AT_ONCE).max(1);
    let page = || [list().into(), post().into()];
    let clean = || Stage::one(steps![look(), (0..pages).flat_map(|_| page()), [list().into()]]);
    let success = || Stage::one(steps![[list().into(), put_marker().into()]]);
    let summary = Stage::one([Ask::plain(Method::Put).with_up(wire::SUMMARY).into()]);
    // S3A's committers list uploads that are left, and look for folders of other committers.
    let stages = match config.committer {
        OutputCommitter::FileV1 => {
            vec![Stage::one([list().into()]), for_each(&|length| merge(config, *length), 1), clean(), success()]
        }
        OutputCommitter::FileV2 => vec![clean(), success()],
        OutputCommitter::Directory => {
            vec![for_each(&|_| vec![post().into()], threads), summary, Stage::one(steps![look(), [list().into()]])]
        }
        OutputCommitter::Magic => vec![
            Stage::one([list().into()]),
            // Tasks without output have noted that, too.
            Stage { rows: vec![VecDeque::from([get_manifest().into()]); tasks].into(), at_once: threads },
            for_each(&|_| vec![post().into()], threads),
            summary,
            Stage::one(steps![
                [list().into()],
                look(),
                (0..pages).flat_map(|_| page()),
                [Ask::plain(Method::Delete).into(), list().into()],
                look(),
            ]),
        ],
    };
    stages.into()
}

impl ObjectStore {
    /// Commits the output of a job of so many tasks, which is files of these lengths, from a process.
    /// [`Event::JobCommitted`] follows.
    pub fn commit(&mut self, ctx: &mut Context, job: JobId, process: Process, tasks: usize, files: &[Bytes]) {
        let commit = Commit { process, stages: stages(&self.config, tasks, files), running: Vec::new(), next: 0 };
        self.commits.insert(job, commit);
        self.go_on(ctx, job);
    }
    /// Whether a job's commit is under way.
    pub fn commits(&self, job: JobId) -> bool {
        self.commits.contains_key(&job)
    }
    /// Drops a job's commit: its AppMaster is gone.
    pub fn abort_commit(&mut self, ctx: &mut Context, job: JobId) {
        if self.commits.remove(&job).is_none() {
            return;
        }
        let of = |owner: &Owner| matches!(owner, Owner::Commit(chain) if chain.job == job);
        let own: Vec<_> = self.https.iter().filter(|(_, http)| of(&http.owner)).map(|(id, _)| *id).collect();
        for id in own {
            self.drop_http(ctx, id);
        }
    }

    /// Starts rows as long as their stage has some and they may run, then the next stage.
    fn go_on(&mut self, ctx: &mut Context, job: JobId) {
        loop {
            let Some(commit) = self.commits.get_mut(&job) else { return };
            let Some(stage) = commit.stages.front_mut() else {
                if commit.running.is_empty() {
                    self.commits.remove(&job);
                    ctx.raise(Event::JobCommitted { job, done: true });
                }
                return;
            };
            if stage.rows.is_empty() {
                if !commit.running.is_empty() {
                    return;
                }
                commit.stages.pop_front();
                continue;
            }
            if commit.running.len() >= stage.at_once {
                return;
            }
            let Some(steps) = stage.rows.pop_front() else { return };
            let number = commit.next;
            commit.next += 1;
            commit.running.push(Row { number, open: 0, steps });
            self.step(ctx, Chain { job, number });
        }
    }
    /// A row's next step.
    fn step(&mut self, ctx: &mut Context, chain: Chain) {
        let Some(commit) = self.commits.get_mut(&chain.job) else { return };
        let process = commit.process;
        let Some(place) = commit.running.iter().position(|row| row.number == chain.number) else { return };
        let Some(step) = commit.running[place].steps.pop_front() else {
            commit.running.remove(place);
            return;
        };
        commit.running[place].open = step.asks.len();
        for ask in step.asks {
            // Each row is about a file of its own.
            let key = u64::from(chain.number) << 32 | u64::from(chain.job.0);
            self.send(ctx, process, ask, key, Owner::Commit(chain));
        }
    }
    /// A request of a job's commit has its answer, or has failed too often.
    pub(super) fn commit_answered(&mut self, ctx: &mut Context, chain: Chain, answered: bool) {
        let Some(commit) = self.commits.get_mut(&chain.job) else { return };
        self.counters.committed += u64::from(answered);
        if !answered {
            self.abort_commit(ctx, chain.job);
            return ctx.raise(Event::JobCommitted { job: chain.job, done: false });
        }
        let Some(row) = commit.running.iter_mut().find(|row| row.number == chain.number) else { return };
        row.open = row.open.saturating_sub(1);
        if row.open == 0 {
            self.step(ctx, chain);
            self.go_on(ctx, chain.job);
        }
    }
}
