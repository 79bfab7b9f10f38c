//! Where an array keeps a file's bytes: stripe units, rows and parity.
//!
//! Patterson, Gibson and Katz, "A case for redundant arrays of inexpensive disks (RAID)" (SIGMOD 1988). Parity rotates
//! left-symmetrically, Linux md's default: the data of a row begin behind its parity.

use std::ops::Range;

/// How the members of an array share its data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RaidLevel {
    /// Striped; the loss of a member is the loss of all.
    Raid0,
    /// Mirrored.
    Raid1,
    /// Striped, with a parity unit in each row.
    Raid5,
}

impl RaidLevel {
    /// The fewest members that make sense.
    pub const fn least(self) -> u32 {
        match self {
            Self::Raid0 | Self::Raid1 => 2,
            Self::Raid5 => 3,
        }
    }
}

/// The bytes of one member that a request touches, in one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub member: u32,
    pub write: bool,
    pub from: u64,
    pub to: u64,
}

/// What a request makes of the members: these pieces first, then those.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub first: Vec<Piece>,
    pub then: Vec<Piece>,
}

/// A layout over members.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stripes {
    pub level: RaidLevel,
    pub members: u64,
    /// Bytes on a member before the next one's turn.
    pub unit: u64,
}

impl Stripes {
    /// Bytes of data in a row.
    pub const fn row(&self) -> u64 {
        match self.level {
            RaidLevel::Raid0 => self.members * self.unit,
            RaidLevel::Raid1 => self.unit,
            RaidLevel::Raid5 => (self.members - 1) * self.unit,
        }
    }

    /// The member with a row's parity.
    const fn parity(&self, row: u64) -> u64 {
        self.members - 1 - row % self.members
    }

    /// The member and the row of a data unit.
    const fn member(&self, unit: u64) -> (u64, u64) {
        match self.level {
            RaidLevel::Raid1 => (0, unit),
            RaidLevel::Raid0 => (unit % self.members, unit / self.members),
            RaidLevel::Raid5 => {
                let (row, column) = (unit / (self.members - 1), unit % (self.members - 1));
                ((self.parity(row) + 1 + column) % self.members, row)
            }
        }
    }

    /// For each member the bytes from the first to the last that a range of data has there. What of another range lies
    /// between (parity, say) passes under the head too.
    pub fn read(&self, range: Range<u64>) -> Vec<Piece> {
        let mut spans = Spans::new(self.members);
        self.units(range, |member, from, to| spans.cover(member, from, to));
        spans.pieces(false)
    }

    fn units(&self, range: Range<u64>, mut each: impl FnMut(u64, u64, u64)) {
        let mut at = range.start;
        while at < range.end {
            let unit = at / self.unit;
            let end = ((unit + 1) * self.unit).min(range.end);
            let (member, row) = self.member(unit);
            let base = row * self.unit;
            each(member, base + at % self.unit, base + at % self.unit + (end - at));
            at = end;
        }
    }

    /// What a write of a range takes. Whole rows are written with their parity. Of the others either the old data and
    /// parity are read (read-modify-write) or what the write leaves untouched (reconstruct), whatever is less, and then
    /// data and parity written.
    pub fn write(&self, range: Range<u64>) -> Plan {
        match self.level {
            RaidLevel::Raid0 => {
                let pieces = self.read(range).into_iter().map(|piece| Piece { write: true, ..piece });
                Plan { first: pieces.collect(), then: Vec::new() }
            }
            RaidLevel::Raid1 => {
                let to_all = (0..self.members as u32)
                    .map(|member| Piece { member, write: true, from: range.start, to: range.end })
                    .collect();
                Plan { first: to_all, then: Vec::new() }
            }
            RaidLevel::Raid5 => self.write_with_parity(range),
        }
    }

    fn write_with_parity(&self, range: Range<u64>) -> Plan {
        let row_bytes = self.row();
        let (first_whole, end_whole) = (range.start.div_ceil(row_bytes), range.end / row_bytes);
        let mut plan = Plan::default();
        if first_whole < end_whole {
            let (from, to) = (first_whole * self.unit, end_whole * self.unit);
            plan.first.extend((0..self.members as u32).map(|member| Piece { member, write: true, from, to }));
        }
        let head = range.start..range.end.min(first_whole * row_bytes);
        let tail = range.start.max(end_whole * row_bytes)..range.end;
        let parts = if first_whole > end_whole { vec![range] } else { vec![head, tail] };
        for part in parts.into_iter().filter(|part| part.start < part.end) {
            self.part_of_a_row(part, &mut plan);
        }
        plan
    }

    fn part_of_a_row(&self, range: Range<u64>, plan: &mut Plan) {
        let row = range.start / self.row();
        let (mut touched, mut low, mut high) = (Vec::new(), u64::MAX, 0);
        self.units(range, |member, from, to| {
            touched.push(Piece { member: member as u32, write: true, from, to });
            (low, high) = (low.min(from), high.max(to));
        });
        let parity = Piece { member: self.parity(row) as u32, write: true, from: low, to: high };
        let whole = |piece: &Piece| (piece.from, piece.to) == (low, high);
        let untouched = self.members as usize - 1 - touched.iter().filter(|piece| whole(piece)).count();
        if touched.len() < untouched {
            plan.first.extend(touched.iter().chain([&parity]).map(|piece| Piece { write: false, ..*piece }));
        } else {
            let covered = |member: u32| touched.iter().any(|piece| piece.member == member && whole(piece));
            let others = (0..self.members as u32).filter(|member| *member != parity.member && !covered(*member));
            plan.first.extend(others.map(|member| Piece { member, write: false, from: low, to: high }));
        }
        plan.then.extend(touched);
        plan.then.push(parity);
    }

    /// What has to be read to reconstruct a piece of a lost member by parity.
    pub fn instead(&self, lost: Piece) -> Vec<Piece> {
        match self.level {
            RaidLevel::Raid0 | RaidLevel::Raid1 => Vec::new(),
            RaidLevel::Raid5 => (0..self.members as u32)
                .filter(|member| *member != lost.member)
                .map(|member| Piece { member, ..lost })
                .collect(),
        }
    }
}

/// One stretch of bytes for each member.
pub(crate) struct Spans(Vec<(u64, u64)>);

impl Spans {
    pub fn new(members: u64) -> Self {
        Self(vec![(u64::MAX, 0); members as usize])
    }
    pub fn cover(&mut self, member: u64, from: u64, to: u64) {
        let span = &mut self.0[member as usize];
        *span = (span.0.min(from), span.1.max(to));
    }
    pub fn pieces(&self, write: bool) -> Vec<Piece> {
        (0..)
            .zip(&self.0)
            .filter(|(_, (from, to))| from < to)
            .map(|(member, &(from, to))| Piece { member, write, from, to })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raid5(members: u64) -> Stripes {
        Stripes { level: RaidLevel::Raid5, members, unit: 64 }
    }
    fn bytes(pieces: &[Piece], write: bool) -> u64 {
        pieces.iter().filter(|piece| piece.write == write).map(|piece| piece.to - piece.from).sum()
    }

    /// md(4), left-symmetric, five disks: rows 0 to 4 have their parity on disks 4, 3, 2, 1, 0, and data go on round from
    /// there: 0 1 2 3 P / 5 6 7 P 4 / 10 11 P 8 9 / 15 P 12 13 14 / P 16 17 18 19.
    #[test]
    fn the_layout_is_left_symmetric() {
        let layout = raid5(5);
        let expected: [[i32; 5]; 5] =
            [[0, 1, 2, 3, -1], [5, 6, 7, -1, 4], [10, 11, -1, 8, 9], [15, -1, 12, 13, 14], [-1, 16, 17, 18, 19]];
        for (row, line) in (0_u64..).zip(expected) {
            for (disk, unit) in (0_u64..).zip(line) {
                if unit < 0 {
                    assert_eq!(layout.parity(row), disk);
                } else {
                    assert_eq!(layout.member(unit as u64), (disk, row));
                }
            }
        }
    }

    /// Patterson et al., 3.5: a small write is two reads and two writes; a whole row is written without a read.
    #[test]
    fn small_writes_take_four_accesses_and_whole_rows_none_to_read() {
        let layout = raid5(5);
        let small = layout.write(10..14);
        assert_eq!((small.first.len(), small.then.len()), (2, 2));
        assert_eq!((bytes(&small.first, false), bytes(&small.then, true)), (8, 8));
        let rows = layout.write(256..768);
        assert_eq!((bytes(&rows.first, false), bytes(&rows.first, true), rows.then.len()), (0, 640, 0));
        // Three of four units: the fourth is read rather than the three and the parity.
        let most = layout.write(0..192);
        assert_eq!((bytes(&most.first, false), bytes(&most.then, true)), (64, 256));
    }

    /// All members share a long read; each passes over its parity.
    #[test]
    fn a_long_read_spans_all_members() {
        let pieces = raid5(4).read(0..64 * 3 * 4 * 10);
        assert_eq!(pieces.len(), 4);
        assert!(pieces.iter().all(|piece| piece.to - piece.from >= 64 * 39));
        let striped = Stripes { level: RaidLevel::Raid0, members: 4, unit: 64 }.read(0..64 * 40);
        assert_eq!(bytes(&striped, false), 64 * 40);
    }
}
