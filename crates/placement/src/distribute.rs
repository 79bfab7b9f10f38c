//! Records on their way to their nodes: the data distribution module of Yang 2012 (3.4.3), at the level of the system
//! and at that of the application.

use crate::filled::Filled;
use crate::key::{Hint, Keys};
use crate::plan::Plan;
use crate::profile::ScanError;
use crate::record::Records;

/// The node of the next record, as an application that writes its own files asks for it; `None` for a record without a
/// key.
#[inline]
pub fn node_of_record(
    plan: &Plan,
    hint: &impl Hint,
    record: &[u8],
    keys: &mut Keys,
    filled: &mut Filled,
) -> Option<u32> {
    hint.keys(record, keys);
    let first = keys.iter(record).next()?;
    plan.part_of(first, record.len() as u64 + 1, filled)?.group.first().copied()
}

/// A block that is full, or the last one of its node.
#[derive(Debug)]
pub struct Packed<'a> {
    /// The node.
    pub node: u32,
    /// Its records.
    pub bytes: &'a [u8],
}

/// The system's side: takes the bytes of a file as a client writes them, in packets that end anywhere, finds the keys
/// of the records in them, and packs a block whenever the queue of a node is full. Records stay whole within a block.
#[derive(Debug)]
pub struct Distributor<'a, H> {
    plan: &'a Plan,
    hint: H,
    block: usize,
    records: Records,
    keys: Keys,
    filled: Filled,
    queues: Vec<Vec<u8>>,
    /// The node of the next record without a key: they go round.
    next: u32,
}

impl<'a, H: Hint> Distributor<'a, H> {
    /// With queues of a block of so many bytes.
    pub fn new(plan: &'a Plan, hint: H, block: usize) -> Self {
        let queues = vec![Vec::new(); plan.nodes().len()];
        let filled = Filled::new(plan);
        Self { plan, hint, block, records: Records::new(), keys: Keys::new(), filled, queues, next: 0 }
    }

    /// Takes the next packet.
    ///
    /// # Errors
    ///
    /// If no line ends in it for too long.
    pub fn packet(&mut self, bytes: &[u8], mut packed: impl FnMut(&Packed<'_>)) -> Result<(), ScanError> {
        let mut records = std::mem::take(&mut self.records);
        let done = records.feed::<ScanError>(bytes, |record, _| {
            self.queue(record, &mut packed);
            Ok(())
        });
        self.records = records;
        done
    }

    /// The file has ended: packs what is in the queues, also if it is less than a block.
    pub fn end(mut self, mut packed: impl FnMut(&Packed<'_>)) {
        let mut records = std::mem::take(&mut self.records);
        let done: Result<(), ScanError> = records.end(|record, _| {
            self.queue(record, &mut packed);
            Ok(())
        });
        debug_assert!(done.is_ok(), "a queue takes every record");
        for (node, queue) in (0..).zip(&self.queues) {
            if !queue.is_empty() {
                packed(&Packed { node, bytes: queue });
            }
        }
    }

    #[inline]
    fn queue(&mut self, record: &[u8], packed: &mut impl FnMut(&Packed<'_>)) {
        let node = node_of_record(self.plan, &self.hint, record, &mut self.keys, &mut self.filled);
        let node = node.unwrap_or_else(|| {
            self.next = (self.next + 1) % self.queues.len() as u32;
            self.next
        });
        let queue = &mut self.queues[node as usize];
        if !queue.is_empty() && queue.len() + record.len() + 1 > self.block {
            packed(&Packed { node, bytes: queue });
            queue.clear();
        }
        queue.extend_from_slice(record);
        queue.push(b'\n');
    }
}
