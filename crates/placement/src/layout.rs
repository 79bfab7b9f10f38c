//! What becomes of a layout: modified records, and a second key for the same data.

/// Redistribution after modifications (Yang 2012, 3.4.3): records that are appended or changed stay where they are
/// written until there are enough of them to be worth a new plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistribution {
    after: u64,
    modified: u64,
}

impl Redistribution {
    /// Due after so many modified records.
    pub const fn after(modifications: u64) -> Self {
        Self { after: if modifications == 0 { 1 } else { modifications }, modified: 0 }
    }

    /// Due after as many modified records as fill a block on each node: fewer would leave blocks that are hardly
    /// filled, and each block costs its NameNode memory and a job a task.
    pub fn after_blocks(nodes: u32, block: f64, record: f64) -> Self {
        Self::after((f64::from(nodes.max(1)) * block / record.max(1.0)) as u64)
    }

    /// The number of modified records after which it is due.
    pub const fn due_after(&self) -> u64 {
        self.after
    }

    /// So many records were modified. Returns how many there are to redistribute, if that is due now.
    pub fn modify(&mut self, records: u64) -> Option<u64> {
        self.modified = self.modified.saturating_add(records);
        (self.modified >= self.after).then(|| std::mem::take(&mut self.modified))
    }

    /// Records that were modified and stand where they were written.
    pub const fn pending(&self) -> u64 {
        self.modified
    }
}

/// The same data as two files, each laid out by a key of its own: r1 copies of the one and r2 of the other.
///
/// HDFS keeps the same bytes in all copies of a block, so a second order of the records is a second file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondLayout {
    /// Bytes of the data, once.
    pub bytes: f64,
    /// Nodes over which the copies spread evenly.
    pub nodes: u32,
    /// Copies of the first file.
    pub first: u32,
    /// Copies of the second file.
    pub second: u32,
}

/// What it takes to have all copies again after a node was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repair {
    /// Bytes read from disks.
    pub read: f64,
    /// Bytes between nodes.
    pub transfer: f64,
}

impl SecondLayout {
    /// A node is lost. Of a file with another copy a lost block is copied. Of a file with one copy the lost records are
    /// found by their key in the other file: all of it is read, once for all lost blocks, and the records travel to
    /// their new node.
    ///
    /// `None` where a record has no second copy at all.
    pub fn repair(&self) -> Option<Repair> {
        if self.first + self.second < 2 {
            return None;
        }
        let nodes = f64::from(self.nodes.max(1));
        let lost = |copies: u32| self.bytes * f64::from(copies) / nodes;
        let mut repair = Repair { read: 0.0, transfer: 0.0 };
        for (copies, other) in [(self.first, self.second), (self.second, self.first)] {
            repair.transfer += lost(copies);
            repair.read += match (copies, other) {
                (0, _) => 0.0,
                (1, _) => self.bytes,
                _ => lost(copies),
            };
        }
        Some(repair)
    }
}
