//! Disks: their kinds, their figures, and what each holds.

use super::key::{choice, preset_base, section};
use super::problem::Problems;
use super::tree::Tree;
use units::{BitRate, Time};

choice! {
    /// Kinds of disk.
    pub enum DiskPreset {
        /// A SATA disk of 2009, 7,200 rotations a minute.
        Sata2009 = "sata-2009",
        /// A SATA flash disk.
        Ssd = "ssd",
        /// The flash of a tablet.
        NandFlash = "nand-flash",
        /// A virtual disk behind a page cache that holds the job's data.
        Virtual = "virtual",
    }
}

choice! {
    /// What a disk holds.
    pub enum DiskRole {
        /// Everything.
        All = "all",
        /// Blocks of HDFS.
        Hdfs = "hdfs",
        /// Blocks of files that are in HDFS when the run begins.
        Input = "input",
        /// Blocks that the run writes to HDFS.
        Output = "output",
        /// The first replica of each block, as storage policies tell it apart: `DISK` of the policy `WARM`, `SSD` of
        /// `ONE_SSD`.
        Primary = "primary",
        /// The other replicas of each block: `ARCHIVE` of the policy `WARM`.
        Backup = "backup",
        /// Spills, merges and map outputs: `mapreduce.cluster.local.dir`.
        Intermediate = "intermediate",
    }
}

const POSITIONS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(10);
const RATES: std::ops::RangeInclusive<BitRate> = BitRate::from_bps(1)..=BitRate::from_gbps(1_000);

section! {
    /// Disks of a node that are alike.
    pub struct Disk from disk_base {
        /// The model of disk that the other keys override.
        preset: DiskPreset = DiskPreset::Virtual;
        /// How many there are. Left out: `disks` of the node, or of the host that it shares.
        count: Option<u32> = None, 1..=1000;
        /// What they hold: a word, or several for what any of them names. Disks that hold the same take turns.
        role: Vec<DiskRole> = vec![DiskRole::All];
        /// Mean positioning time: seek and rotation. Left out: `storage.position`, or the preset's.
        position: Option<Time> = None, POSITIONS;
        /// Rate of sequential reads. Left out: `storage.read`, or the preset's.
        read: Option<BitRate> = None, RATES;
        /// Rate of sequential writes. Left out: `storage.write`, or the preset's.
        write: Option<BitRate> = None, RATES;
    }
}

/// The preset that a disk's table or text names, else the default.
fn disk_base(tree: &Tree, problems: &mut Problems) -> Option<Disk> {
    preset_base(tree, problems, |preset| Disk { preset, ..Disk::default() })
}

section! {
    /// Overrides of what the disk presets say, for every disk of the cluster that does not say it itself.
    pub struct Storage {
        /// Mean positioning time: seek and rotation.
        position: Option<Time> = None, POSITIONS;
        /// Rate of sequential reads.
        read: Option<BitRate> = None, RATES;
        /// Rate of sequential writes.
        write: Option<BitRate> = None, RATES;
    }
}
