//! Which of a node's disks holds which kind of data.
//!
//! A DataNode's volumes (`dfs.datanode.data.dir`, of which each may have a storage type) and the folders of local files
//! (`mapreduce.cluster.local.dir`) are lists of disks. Blocks are told apart as HDFS's storage policies do: by the file
//! that they are of, and the first replica from the others (`WARM`: one replica on `DISK`, the others on `ARCHIVE`;
//! `ONE_SSD`: one on `SSD`, the others on `DISK`).

/// A kind of data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Data {
    /// The first replica of a block of a file that is there when the run begins.
    InputPrimary,
    /// Its other replicas.
    InputBackup,
    /// The first replica of a block that the run writes.
    OutputPrimary,
    /// Its other replicas.
    OutputBackup,
    /// Spills, merges, map outputs.
    Intermediate,
}

impl Data {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::InputPrimary, Self::InputBackup, Self::OutputPrimary, Self::OutputBackup, Self::Intermediate];

    /// A replica of a block.
    pub const fn replica(written: bool, first: bool) -> Self {
        match (written, first) {
            (false, true) => Self::InputPrimary,
            (false, false) => Self::InputBackup,
            (true, true) => Self::OutputPrimary,
            (true, false) => Self::OutputBackup,
        }
    }
}

/// A node's disks, by the kinds of data that they hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disks {
    count: u32,
    /// By kind of data: the numbers of the disks that hold it, in order.
    lists: [Vec<u32>; Data::ALL.len()],
}

impl Disks {
    /// So many disks, each of which holds everything.
    pub fn alike(count: u32) -> Self {
        let count = count.max(1);
        Self { count, lists: std::array::from_fn(|_| (0..count).collect()) }
    }
    /// One disk for each entry: what it holds. A kind of data that none would hold goes to the first.
    pub fn new<'a>(disks: impl IntoIterator<Item = &'a [Data]>) -> Self {
        let mut lists: [Vec<u32>; Data::ALL.len()] = Default::default();
        let mut count = 0;
        for (number, held) in (0..).zip(disks) {
            count = number + 1;
            for data in held {
                let list = &mut lists[*data as usize];
                if list.last() != Some(&number) {
                    list.push(number);
                }
            }
        }
        for list in lists.iter_mut().filter(|list| list.is_empty()) {
            list.push(0);
        }
        Self { count: count.max(1), lists }
    }
    /// A disk is gone: new data go to the others that hold such. What only it would hold has nowhere else to go.
    pub fn lose(&mut self, disk: u32) {
        for list in self.lists.iter_mut().filter(|list| list.len() > 1) {
            list.retain(|other| *other != disk);
        }
    }
    /// How many there are.
    pub const fn count(&self) -> u32 {
        self.count
    }
    /// The disks that hold a kind of data; at least one.
    pub fn of(&self, data: Data) -> &[u32] {
        &self.lists[data as usize]
    }
}

/// Whose turn it is to take new data (`RoundRobinVolumeChoosingPolicy`, which keeps a turn for each storage type): kinds
/// of data that are on the same disks share one.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    next: [u32; Data::ALL.len()],
}

impl Turns {
    /// The disk for new data of a kind.
    pub fn take(&mut self, disks: &Disks, data: Data) -> u32 {
        let list = disks.of(data);
        let shared = disks.lists.iter().position(|other| other == list).unwrap_or(data as usize);
        let turn = &mut self.next[shared];
        let place = *turn % units::count(list.len());
        *turn = place + 1;
        list[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two disks for blocks, one for local files: the blocks of all files take turns on the two.
    #[test]
    fn kinds_on_the_same_disks_share_a_turn() {
        let blocks = &Data::ALL[..4];
        let disks = Disks::new([blocks, &[Data::Intermediate], blocks]);
        let mut turns = Turns::default();
        let taken =
            [Data::InputPrimary, Data::OutputPrimary, Data::InputBackup, Data::Intermediate, Data::OutputBackup]
                .map(|data| turns.take(&disks, data));
        assert_eq!(taken, [0, 2, 0, 1, 2]);
    }

    /// One fast disk for input, two others for output: blocks read and written in alternation use both of the two.
    #[test]
    fn kinds_on_other_disks_have_turns_of_their_own() {
        let input = &Data::ALL[..2];
        let rest = &Data::ALL[2..];
        let disks = Disks::new([input, rest, rest]);
        let mut turns = Turns::default();
        let taken: Vec<u32> = (0..3)
            .flat_map(|_| [Data::InputPrimary, Data::OutputPrimary])
            .map(|data| turns.take(&disks, data))
            .collect();
        assert_eq!(taken, [0, 1, 0, 2, 0, 1]);
    }
}
