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
    /// By disk: the further replica that alone it holds of each block, from 1; 0 of a disk that holds any. Empty where
    /// none holds one alone.
    gears: Vec<u32>,
}

impl Disks {
    /// So many disks, each of which holds everything.
    pub fn alike(count: u32) -> Self {
        let count = count.max(1);
        Self { count, lists: std::array::from_fn(|_| (0..count).collect()), gears: Vec::new() }
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
        Self { count: count.max(1), lists, gears: Vec::new() }
    }
    /// Each further replica of a block is on disks of its own, so that one such gear of all nodes holds one replica of
    /// everything: by disk, the replica's number; 0 of a disk that may hold any.
    pub fn with_gears(self, gears: Vec<u32>) -> Self {
        Self { gears, ..self }
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
    /// The gear that takes a further replica by its number, and its disks. Where there is none for it the last one takes
    /// it; 0 where none has a gear: all that hold further replicas.
    fn gear_of(&self, data: Data, replica: u32) -> (u32, Vec<u32>) {
        let list = self.of(data);
        let gear = |disk: &u32| self.gears.get(*disk as usize).copied().unwrap_or(0);
        let last = list.iter().map(gear).max().unwrap_or(0);
        let taking = replica.min(last);
        let own: Vec<u32> = list.iter().copied().filter(|disk| [0, taking].contains(&gear(disk))).collect();
        if own.is_empty() { (0, list.to_vec()) } else { (taking, own) }
    }
}

/// Whose turn it is to take new data (`RoundRobinVolumeChoosingPolicy`, which keeps a turn for each storage type): kinds
/// of data that are on the same disks share one.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    next: [u32; Data::ALL.len()],
    /// By gear.
    gears: Vec<u32>,
}

impl Turns {
    /// The disk for a new replica of a block, by its number.
    pub fn take_replica(&mut self, disks: &Disks, written: bool, replica: u32) -> u32 {
        let data = Data::replica(written, replica == 0);
        if replica == 0 || disks.gears.is_empty() {
            return self.take(disks, data);
        }
        let (gear, list) = disks.gear_of(data, replica);
        let gear = gear as usize;
        if self.gears.len() <= gear {
            self.gears.resize(gear + 1, 0);
        }
        let place = self.gears[gear] % units::count(list.len());
        self.gears[gear] = place + 1;
        list[place as usize]
    }
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

    /// A primary disk, three for further replicas: two of the first gear, one of the second. A fourth replica is with the
    /// third; with the disk of its gear lost, the third is on any.
    #[test]
    fn each_further_replica_is_on_disks_of_its_own() {
        let (first, backup) = (
            &[Data::InputPrimary, Data::OutputPrimary, Data::Intermediate][..],
            &[Data::InputBackup, Data::OutputBackup][..],
        );
        let mut disks = Disks::new([first, backup, backup, backup]).with_gears(vec![0, 1, 1, 2]);
        let mut turns = Turns::default();
        let mut taken = |disks: &Disks, replicas: &[u32]| {
            replicas.iter().map(|replica| turns.take_replica(disks, false, *replica)).collect::<Vec<_>>()
        };
        assert_eq!(taken(&disks, &[0, 1, 2, 0, 1, 2, 3, 1]), [0, 1, 3, 0, 2, 3, 3, 1]);
        disks.lose(3);
        assert_eq!(taken(&disks, &[2, 1]), [2, 1], "the first gear is all that is left, and its turn goes on");
    }
}
