//! How many primary blocks each node has left to read: what the policies of disks' power are told (Yang 2012, 4.3.3:
//! "Data nodes are aware of data being processed and data left over to be processed").
//!
//! The primary block of a map is its first block's first replica, on the node where the map is to run; the other
//! replicas back it. A block is fetched when its map gets a slot or container for the first time. The time between two
//! fetches of a node is measured from when its slots are filled.

use super::MapReduce;
use crate::hdfs::Hdfs;
use crate::ids::{AttemptId, NodeId};
use crate::record::{AttemptState, TaskKind};
use des::Index;
use storage::power::Hint;
use units::Time;

/// A node's blocks.
#[derive(Clone, Debug, Default)]
struct Own {
    /// Primary blocks that are not fetched, and blocks of other nodes that are not and of which it has a replica.
    left: u32,
    backed: u32,
    /// Fetches: the first of all, the last, how many, and how many before the first map that ended.
    first: Option<Time>,
    last: Time,
    fetched: u32,
    filled: u32,
    /// Its maps so far, as long as none has ended.
    filling: Vec<AttemptId>,
    /// It has had primary blocks and was not told yet that none is left.
    awaits_last: bool,
}

impl Own {
    fn fetch(&mut self, id: AttemptId, at: Time, mapreduce: &MapReduce) {
        let ended = |id: &AttemptId| mapreduce.attempts[id.0 as usize].record.state != AttemptState::Running;
        if self.filled == 0 {
            if self.filling.iter().any(ended) {
                self.filled = units::count(self.filling.len());
                self.filling = Vec::new();
            } else {
                self.filling.push(id);
            }
        }
        self.first.get_or_insert(at);
        self.last = at;
        self.fetched += 1;
    }
    /// Mean time between two fetches; unknown before the first map has ended.
    fn each(&self) -> Option<Time> {
        let more = self.fetched.saturating_sub(self.filled).min(self.fetched);
        let first = self.first.filter(|_| self.filled > 0 && more > 0)?;
        Some(self.last.saturating_sub(first) / u64::from(more))
    }
    /// How long its own blocks will last.
    fn lasts(&self) -> Option<Time> {
        if self.left == 0 { Some(Time::ZERO) } else { Some(self.each()?.saturating_mul(u64::from(self.left))) }
    }
}

/// The primary blocks of all nodes.
#[derive(Clone, Debug)]
pub struct Primaries {
    nodes: Vec<Own>,
    /// Attempts that are counted.
    seen: usize,
    /// By job: it is counted, and it is over.
    jobs: Vec<(bool, bool)>,
    running: usize,
}

impl Primaries {
    /// Of so many nodes, the master among them.
    pub fn new(nodes: usize) -> Self {
        Self { nodes: vec![Own::default(); nodes], seen: 0, jobs: Vec::new(), running: 0 }
    }
    /// Whether any job that reads runs.
    pub const fn any(&self) -> bool {
        self.running > 0
    }

    /// Looks at what has happened since it last did, and appends what the disks of each node are told. The remaining
    /// time of a node is told when it is at most `horizon`.
    pub fn look(&mut self, mapreduce: &MapReduce, hdfs: &Hdfs, horizon: Time, out: &mut Vec<(NodeId, Hint)>) {
        self.jobs.resize(mapreduce.jobs.len(), (false, false));
        for (number, job) in mapreduce.jobs.iter().enumerate() {
            let (counted, over) = self.jobs[number];
            if !counted && job.is_launched() {
                self.jobs[number].0 = true;
                self.running += 1;
                for map in 0..job.maps.len() {
                    self.count(mapreduce, hdfs, (number, map), 1);
                }
            } else if counted && !over && job.is_over() {
                self.jobs[number].1 = true;
                self.running -= 1;
                self.fetches(mapreduce, hdfs);
                for map in (0..job.maps.len()).filter(|map| job.maps[*map].attempts == 0) {
                    self.count(mapreduce, hdfs, (number, map), -1);
                }
            }
        }
        self.fetches(mapreduce, hdfs);
        for node in 0..self.nodes.len() {
            let Some(left) = self.nodes[node].lasts().filter(|left| *left <= horizon && self.nodes[node].awaits_last)
            else {
                continue;
            };
            let id = NodeId::from_usize(node);
            let own = &self.nodes[node];
            let hint = Hint::Progress {
                left: own.left,
                each: own.each().unwrap_or_default(),
                helping: self.will_help(node, left),
            };
            out.push((id, hint));
            if self.nodes[node].left == 0 {
                self.nodes[node].awaits_last = false;
                out.push((id, Hint::LastBlock));
            }
        }
    }

    /// Whether a node that is done with its own blocks after a time is then expected to find another's unread whose
    /// replica it has: one or more, if all go on as fast as they did.
    fn will_help(&self, node: usize, after: Time) -> bool {
        let others = || self.nodes.iter().enumerate().filter(|(other, _)| *other != node).map(|(_, own)| own);
        let all: f64 = others().map(|own| f64::from(own.left)).sum();
        let unread = |own: &Own| {
            let done = own.each().map_or(0.0, |each| after.as_secs_f64() / each.as_secs_f64().max(1e-9));
            (f64::from(own.left) - done).max(0.0)
        };
        let unread: f64 = others().map(unread).sum();
        unread * f64::from(self.nodes[node].backed) / all.max(1.0) >= 1.0
    }

    /// The attempts since the last look.
    fn fetches(&mut self, mapreduce: &MapReduce, hdfs: &Hdfs) {
        while let Some(attempt) = mapreduce.attempts.get(self.seen) {
            let (id, record) = (AttemptId::from_usize(self.seen), &attempt.record);
            self.seen += 1;
            if record.kind == TaskKind::Map && record.attempt == 0 && self.jobs[record.job.0 as usize].0 {
                self.count(mapreduce, hdfs, (record.job.0 as usize, record.task as usize), -1);
                self.nodes[record.node.0 as usize].fetch(id, record.allocated, mapreduce);
            }
        }
    }

    /// A map's block is to be read, or is not any more.
    fn count(&mut self, mapreduce: &MapReduce, hdfs: &Hdfs, (job, map): (usize, usize), by: i32) {
        let Some(piece) = mapreduce.jobs[job].splits[map].blocks.first() else { return };
        let replicas = &hdfs.namespace().block(piece.block).replicas;
        let home = mapreduce.jobs[job].splits[map].hosts.first().or(replicas.first()).copied();
        for node in replicas {
            let own = &mut self.nodes[node.0 as usize];
            if Some(*node) == home {
                own.left = own.left.saturating_add_signed(by);
                own.awaits_last |= by > 0;
            } else {
                own.backed = own.backed.saturating_add_signed(by);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(left: u32, backed: u32, each: Option<u64>) -> Own {
        // Two fetches fill the slots; of so many more the last came after as many times `each`.
        let (fetched, last) = each.map_or((0, Time::ZERO), |each| (12, Time::from_secs(each * 10)));
        Own { left, backed, first: each.map(|_| Time::ZERO), last, fetched, filled: 2, ..Own::default() }
    }

    /// Two slots of 60 s: fetches at 0, 0, 60, 60, 120, 120, ... are one in 30 s.
    #[test]
    fn the_time_between_fetches_does_not_count_those_that_fill_the_slots() {
        assert_eq!(own(7, 0, Some(30)).each(), Some(Time::from_secs(30)));
        assert_eq!(own(7, 0, Some(30)).lasts(), Some(Time::from_secs(210)));
        assert_eq!(own(7, 0, None).lasts(), None, "nothing is measured");
        assert_eq!(own(0, 0, None).lasts(), Some(Time::ZERO), "nothing is left");
    }

    /// A fast node (1 block in 10 s) beside slow ones (1 in 30 s), 30 blocks each: after its 300 s the others have 20
    /// each. Equal nodes leave each other nothing.
    #[test]
    fn help_is_expected_of_a_fast_node_alone() {
        let fast =
            Primaries { nodes: vec![own(30, 60, Some(10)), own(30, 60, Some(30)), own(30, 60, Some(30))], ..none() };
        assert!(fast.will_help(0, Time::from_secs(300)));
        assert!(!fast.will_help(1, Time::from_secs(900)));
        let equal = Primaries { nodes: vec![own(30, 60, Some(20)); 3], ..none() };
        assert!(!equal.will_help(0, Time::from_secs(600)));
        // No replica of theirs.
        let alone = Primaries { nodes: vec![own(30, 0, Some(10)), own(30, 0, Some(30))], ..none() };
        assert!(!alone.will_help(0, Time::from_secs(300)));
    }

    fn none() -> Primaries {
        Primaries::new(0)
    }
}
