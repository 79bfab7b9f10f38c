//! Erasure coding: how the bytes of a block group lie in its parts.
//!
//! A group is up to k blocks of data. Its bytes go cell by cell, in turns, to k data parts; the cells of one turn are a
//! row, from which as many parity cells are computed as there are parity parts. Any k cells of a row give the others
//! (Reed and Solomon 1960; HDFS Erasure Coding, "Striped layout"). Parts are named by their number: data first.

use units::{Bytes, Time};

/// An erasure coding policy of HDFS (`RS-3-2-1024k` and so on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureCode {
    /// Data parts of a group: k.
    pub data: usize,
    /// Parity parts: as many parts may be lost.
    pub parity: usize,
    /// Bytes that go to a part before it is the next one's turn.
    pub cell: Bytes,
}

impl ErasureCode {
    /// A Reed-Solomon code with HDFS's cells of 1 MiB.
    pub const fn reed_solomon(data: usize, parity: usize) -> Self {
        Self { data, parity, cell: Bytes::from_mib(1) }
    }
    /// All parts of a group.
    pub const fn parts(&self) -> usize {
        self.data + self.parity
    }
    /// Data bytes of a row.
    pub fn row(&self) -> Bytes {
        self.cell * self.data as u64
    }
    /// Bytes in a part once the first `bytes` of a group are there (`StripedBlockUtil.getInternalBlockLength`). A
    /// parity cell is as long as the first cell of its row.
    pub fn in_part(&self, bytes: Bytes, part: usize) -> Bytes {
        let row = self.row().get();
        let (rows, rest) = (bytes.get() / row, bytes.get() % row);
        let before = if part < self.data { self.cell.get() * part as u64 } else { 0 };
        Bytes::new(rows * self.cell.get() + rest.saturating_sub(before).min(self.cell.get()))
    }
    /// Rows that hold the first `bytes` of a group, the last one perhaps in part.
    pub fn rows(&self, bytes: Bytes) -> u64 {
        bytes.get().div_ceil(self.row().get())
    }
    /// Processor time of computing `made` cells of `length` bytes from the k others of their row; `cost` is that of one
    /// byte of one cell in one other: computing a cell takes each byte of k cells once.
    pub fn work(&self, made: usize, length: Bytes, cost: f64) -> Time {
        Time::from_secs_f64(cost * (made * self.data) as f64 * length.get() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HDFS's own example of a striped file (HDFS-7285, design document, section 2.1): cells go to the parts in turns.
    #[test]
    fn cells_go_to_the_parts_in_turns() {
        let code = ErasureCode { data: 3, parity: 2, cell: Bytes::new(10) };
        let lengths = |bytes| (0..5).map(|part| code.in_part(Bytes::new(bytes), part).get()).collect::<Vec<_>>();
        assert_eq!(lengths(0), [0; 5]);
        // Part of a cell: the parity cells are as long as it.
        assert_eq!(lengths(7), [7, 0, 0, 7, 7]);
        assert_eq!(lengths(25), [10, 10, 5, 10, 10]);
        assert_eq!(lengths(30), [10; 5]);
        assert_eq!(lengths(44), [20, 14, 10, 20, 20]);
        assert_eq!((code.rows(Bytes::new(30)), code.rows(Bytes::new(31))), (1, 2));
    }

    /// Whole rows take (k + m) / k times their bytes: 1.67, 1.5 and 1.4 for the policies that HDFS has.
    #[test]
    fn a_group_takes_its_bytes_and_parity() {
        for (data, parity, times) in [(3, 2, 5.0 / 3.0), (6, 3, 1.5), (10, 4, 1.4)] {
            let code = ErasureCode::reed_solomon(data, parity);
            let bytes = code.row() * 7;
            let all: Bytes = (0..code.parts()).map(|part| code.in_part(bytes, part)).sum();
            assert!((all.get() as f64 / bytes.get() as f64 - times).abs() < 1e-12);
        }
    }
}
