//! Disks: their kinds, their figures, and what each holds.

use super::key::{choice, preset_base, section};
use super::power::BackgroundWork;
use super::problem::Problems;
use super::tree::Tree;
use units::{BitRate, Bytes, Time};

choice! {
    /// Kinds of disk.
    pub enum DiskPreset {
        /// A SATA disk of 2009: 160 GB, 7,200 rotations a minute (yang2012, Table 3.2).
        Sata2009 = "sata-2009",
        /// A SATA disk of 2009 of 500 GB (yang2012, Table 4.1).
        Sata500 = "sata-500",
        /// A SAS disk of 2009, 10,000 rotations a minute.
        Sas10k = "sas-10k",
        /// A SATA flash disk of 2010: Corsair Force F40A, 40 GB (yang2012, Table 2.2).
        Ssd = "ssd",
        /// A SATA disk of 16 TB: Seagate Exos X16.
        Hdd16Tb = "hdd-16tb",
        /// A SATA disk of 22 TB: Western Digital Ultrastar DC HC570.
        Hdd22Tb = "hdd-22tb",
        /// A SATA flash disk of the 2020s: Micron 5300 PRO, 960 GB.
        SataSsd = "sata-ssd",
        /// An NVMe flash disk of the 2020s: Samsung PM9A3, 3.84 TB.
        Nvme = "nvme",
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

choice! {
    /// Who decides which request a rotating disk serves next.
    pub enum DiskScheduler {
        /// Linux's CFQ: turns for streams, and a wait for the reader whose turn it is.
        Cfq = "cfq",
        /// The disk: what it reaches first of 32 commands (native command queueing).
        Ncq = "ncq",
    }
}

choice! {
    /// Where a file system puts what is written to a rotating disk.
    pub enum DiskLayout {
        /// Each file in one piece, at a place of its own.
        InPlace = "in-place",
        /// At the end of one log (Rosenblum and Ousterhout 1992): writes do not seek, and a file that was written
        /// beside others is in pieces.
        Log = "log",
    }
}

choice! {
    /// How the disks of an array share its data.
    pub enum RaidLevel {
        /// Striped.
        Raid0 = "raid-0",
        /// Mirrored.
        Raid1 = "raid-1",
        /// Striped, with parity for the loss of one disk.
        Raid5 = "raid-5",
    }
}

section! {
    /// Several disks that are one volume.
    pub struct Array {
        /// How they share the data.
        level: RaidLevel = RaidLevel::Raid5;
        /// Their number.
        members: u32 = 4, 2..=64;
        /// Bytes on a disk before the next one's turn. Default: Linux md's of the 2000s.
        unit: Bytes = Bytes::new(64 << 10), Bytes::new(512)..=Bytes::from_mib(1 << 10);
        /// From a member's failure until a spare takes its place and is filled. Matters to the losses that results
        /// expect (`failure-rate`). Default: a spare stands by.
        replace: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 180);
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
        /// Each of them is an array of disks. Left out: each is one disk.
        array: Option<Array> = None;
        /// The drive whose manual says what each draws, by its name in `power.drive`. Left out: a rotating disk has the
        /// drive of `[power]`, and what a flash disk draws is part of `idle-power`. Matters with `[power]` alone.
        drive: Option<String> = None;
        /// Failures a year of one such disk (annual failure rate): 0.01 for 1 %. With it results say how often data are
        /// to be expected lost; none fails in the run for it (`[[faults]]`). Left out: it is not known.
        failure_rate: Option<f64> = None, 0.0..=100.0;
        /// Who decides which request a rotating disk serves next. Left out: as the preset's time had it, `cfq` until
        /// the 2010s.
        scheduler: Option<DiskScheduler> = None;
        /// Where its file system puts what is written.
        layout: DiskLayout = DiskLayout::InPlace;
        /// Positioning time, the same wherever the head goes, in place of seeks and rotation. Left out:
        /// `storage.position`, or the preset's geometry.
        position: Option<Time> = None, POSITIONS;
        /// Rate of sequential reads, the same on the whole disk. Left out: `storage.read`, or the preset's zones.
        read: Option<BitRate> = None, RATES;
        /// Rate of sequential writes, the same on the whole disk. Left out: `storage.write`, or the preset's zones.
        write: Option<BitRate> = None, RATES;
    }
}

impl Disk {
    /// Whether it holds further replicas and nothing else.
    pub fn is_backup(&self) -> bool {
        !self.role.is_empty() && self.role.iter().all(|role| *role == DiskRole::Backup)
    }
}

/// The preset that a disk's table or text names, else the default.
fn disk_base(tree: &Tree, problems: &mut Problems) -> Option<Disk> {
    preset_base(tree, problems, |preset| Disk { preset, ..Disk::default() })
}

section! {
    /// Overrides of what the disk presets say, for every disk of the cluster that does not say it itself, and what disks
    /// do besides jobs.
    pub struct Storage {
        /// Positioning time, the same wherever the head goes, in place of seeks and rotation.
        position: Option<Time> = None, POSITIONS;
        /// Rate of sequential reads.
        read: Option<BitRate> = None, RATES;
        /// Rate of sequential writes.
        write: Option<BitRate> = None, RATES;
        /// Between two planned windows of a disk, in which deferrable work is done. Left out: it wakes its disk.
        window: Option<Time> = None, Time::from_secs(60)..=Time::from_secs(86_400 * 30);
        /// Writes for backup disks at rest go to logs on their node's other disks, and home when the disk is ready
        /// for another reason, else in its window.
        offload: bool = false;
        /// Work of DataNodes' disks besides jobs.
        background: Vec<BackgroundWork> = Vec::new();
    }
}
