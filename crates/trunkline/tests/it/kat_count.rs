//! Counts what a job would send between nodes, from files: those that `kat load` has written, and the same data as HDFS
//! has them natively.
//!
//! Nothing is asked of the planner. A record's partition is the one that Hadoop's own class has printed. Where it
//! stands is what the file's name says, as `KeyAwareBlockPlacementPolicy` reads it. Who maps and reduces it is the rule
//! of `JobLayout`. Which map reads a record that crosses the end of a block is that of `LineRecordReader`.

use crate::kat::{Scratch, said};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

/// Nodes of the cluster that is played.
pub const NODES: usize = 8;
/// Partitions of the job: 64 a node, the buckets of a plan where nobody says how many.
pub const PARTITIONS: usize = 512;
/// Copies of each block.
const COPIES: usize = 3;

/// Partitions of `user-1`, `user-2`, ... of 512, printed by Hadoop's `HashPartitioner`
/// (`crates/placement/tests/vectors/HadoopPartitions.java`).
const USERS: &str = include_str!("../../../placement/tests/vectors/users-512.txt");

/// The partition of a user.
pub fn partition_of_user(key: &[u8]) -> usize {
    thread_local!(static TABLE: Vec<usize> = USERS.lines().map(|line| line.parse().expect("a number")).collect());
    let number = key.strip_prefix(b"user-").and_then(|number| std::str::from_utf8(number).ok()?.parse::<usize>().ok());
    TABLE.with(|table| table[number.expect("a user") - 1])
}

/// The partition of any key of type Text, by Hadoop's formula.
pub fn partition_of_text(key: &[u8]) -> usize {
    let hash = key.iter().fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8)));
    (hash & i32::MAX) as usize % PARTITIONS
}

/// A job: what its map function emits for a record, and where its keys go.
#[derive(Clone, Copy)]
pub struct Job {
    /// The keys of a record.
    pub keys: fn(&[u8]) -> Vec<&[u8]>,
    /// Bytes of the value of a record, without its line end.
    pub value: fn(&[u8]) -> u64,
    /// The partition of a key.
    pub partition: fn(&[u8]) -> usize,
    /// Each map emits one pair for each of its keys.
    pub combines: bool,
}

/// A file in HDFS, block by block.
pub struct Stored {
    bytes: Vec<u8>,
    /// Bytes of a block.
    block: usize,
    /// The nodes that keep each block, the first of which maps it.
    blocks: Vec<Vec<usize>>,
}

/// Bytes of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Of all pairs.
    pub pairs: u64,
    /// Of pairs whose reducer is on another node than their map.
    pub exchanged: u64,
    /// Of records that maps read from blocks of other nodes.
    pub read_remotely: u64,
}

impl Sent {
    pub fn remote(&self) -> u64 {
        self.exchanged + self.read_remotely
    }
}

/// One file whose blocks are mapped by the nodes in turn. The other copies are on nodes at random.
pub fn natively(bytes: &[u8], block: usize) -> Vec<Stored> {
    let mut draw = 1_u64;
    let mut below = |limit: usize| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as usize % limit
    };
    let mut copies = |first: usize| {
        let mut nodes = vec![first];
        while nodes.len() < COPIES {
            let node = below(NODES);
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes
    };
    let blocks = (0..bytes.len().div_ceil(block)).map(|number| copies(number % NODES)).collect();
    vec![Stored { bytes: bytes.to_vec(), block, blocks }]
}

/// Reducers as a stock scheduler spreads them, which knows nothing of where their data are.
pub fn in_turn() -> Vec<usize> {
    (0..PARTITIONS).map(|partition| partition % NODES).collect()
}

/// What `kat load` has written, and where reducers follow it: the node that maps most bytes of a partition's buckets,
/// by the lighter keys where maps combine those that are split.
pub struct Placed {
    pub files: Vec<Stored>,
    pub reducers: Vec<usize>,
}

/// A cluster that keeps what its client writes: eight nodes, each of which takes what is asked of it. The writer's
/// answer has a line for each file.
const CLUSTER: &str = r"#!/bin/sh
case $2 in
  look) for node in 1 2 3 4 5 6 7 8; do printf 'node\tworker-%s\t/default-rack\t9\n' $node; done ;;
  probe) shift 3; for node; do printf 'probe\t%s\t%s\n' $node $node; done ;;
  write) cat >> frames; seq 1000 ;;
  *) cat > /dev/null ;;
esac
";

/// Loads a file by a plan for a job.
pub fn placed(scratch: &Scratch, plan: &str, file: &str, block: usize, job: &Job) -> Placed {
    let _ = fs::remove_file(scratch.0.join("frames"));
    scratch.file("hadoop", CLUSTER);
    fs::set_permissions(scratch.0.join("hadoop"), fs::Permissions::from_mode(0o755)).expect("made a program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(["kat", "load", plan, file, "--to", "/data", "--hadoop", "./hadoop"]).current_dir(&scratch.0);
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let frames = fs::read(scratch.0.join("frames")).expect("what was written");
    let mut files = Vec::new();
    let mut bytes_of = vec![[[0_u64; NODES]; 2]; PARTITIONS];
    for (name, bytes) in written(&frames) {
        // bucket-00012-of-00512@worker-1+worker-3, or with -key-3-part-1 before the @.
        let (part, nodes) = name.split_once('@').expect("a placed file's name");
        let bucket: usize = part["bucket-".len()..][..5].parse().expect("a bucket");
        let nodes: Vec<usize> = nodes
            .split('+')
            .map(|node| node.strip_prefix("worker-").expect("a node").parse::<usize>().expect("its number") - 1)
            .collect();
        let combined = usize::from(job.combines && part.contains("-key-"));
        bytes_of[bucket % PARTITIONS][combined][nodes[0]] += bytes.len() as u64;
        let blocks = vec![nodes; bytes.len().div_ceil(block)];
        files.push(Stored { bytes, block, blocks });
    }
    let heaviest = |[travelling, combined]: &[[u64; NODES]; 2]| {
        let bytes = if travelling.iter().all(|bytes| *bytes == 0) { combined } else { travelling };
        (0..NODES).max_by_key(|node| bytes[*node]).expect("nodes")
    };
    Placed { files, reducers: bytes_of.iter().map(heaviest).collect() }
}

/// Names and bytes of files, from the frames that `trunkline.hadoop.PlacedWriter` takes.
fn written(frames: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    let mut rest = frames;
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at_checked(length)?;
        rest = left;
        Some(taken)
    };
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
    while let Some(kind) = take(1) {
        match kind[0] {
            b'F' => {
                let file = number(take(4).expect("a number"));
                let length = take(2).expect("a length");
                let name = take(usize::from(length[0]) << 8 | usize::from(length[1])).expect("a name");
                names.insert(file, String::from_utf8(name.to_vec()).expect("text"));
                take(8).expect("bucket and buckets");
            }
            b'R' => {
                let file = number(take(4).expect("a number"));
                let key = number(take(4).expect("a length")) as usize;
                take(key).expect("a key");
                let record = number(take(4).expect("a length")) as usize;
                let bytes = files.entry(names[&file].clone()).or_default();
                bytes.extend_from_slice(take(record).expect("a record"));
                bytes.push(b'\n');
            }
            kind => assert_eq!(kind, b'C'),
        }
    }
    files
}

/// What a run of a job sends.
pub fn sent(files: &[Stored], reducers: &[usize], job: &Job) -> Sent {
    let mut sent = Sent::default();
    for file in files {
        // Keys for which the present map has emitted a pair.
        let mut combined: BTreeSet<&[u8]> = BTreeSet::new();
        let (mut at, mut of_block) = (0_usize, 0);
        for line in file.bytes.split_inclusive(|byte| *byte == b'\n') {
            // A map reads one record more than begin in its block: the next one leaves out the first that it finds.
            let block = at.max(1).div_ceil(file.block) - 1;
            if block != of_block {
                combined.clear();
                of_block = block;
            }
            let map = file.blocks[block][0];
            for number in at / file.block..=(at + line.len() - 1) / file.block {
                if !file.blocks[number].contains(&map) {
                    let (begin, end) = (at.max(number * file.block), (at + line.len()).min((number + 1) * file.block));
                    sent.read_remotely += (end - begin) as u64;
                }
            }
            at += line.len();
            let record = line.strip_suffix(b"\n").unwrap_or(line);
            for key in (job.keys)(record) {
                if job.combines && !combined.insert(key) {
                    continue;
                }
                let pair = key.len() as u64 + (job.value)(record);
                sent.pairs += pair;
                if reducers[(job.partition)(key)] != map {
                    sent.exchanged += pair;
                }
            }
        }
    }
    sent
}
