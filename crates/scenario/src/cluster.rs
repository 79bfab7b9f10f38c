//! The machines: how many, of what kind, where they stand, what they share.

use super::disk::{Array, Disk, DiskPreset, DiskRole};
use super::key::{choice, preset_base, section};
use super::problem::Problems;
use super::tree::Tree;
use units::{BitRate, Bytes, Energy, Power, Time};

choice! {
    /// The generation of Hadoop.
    pub enum Generation {
        /// ResourceManager, NodeManagers, an AppMaster per job.
        Yarn = "yarn",
        /// JobTracker and TaskTrackers with slots.
        Hadoop1 = "hadoop1",
    }
}

section! {
    /// The cluster: one master and its workers.
    pub struct Cluster {
        /// Number of workers. With `group` leave it out: it is the sum of the groups.
        workers: u32 = 4, 1..=100_000;
        /// The generation of MapReduce.
        generation: Generation = Generation::Yarn;
        /// Groups of equal workers. Workers are numbered in the order of the groups.
        group: Vec<Group> = Vec::new();
        /// A physical machine that several nodes share, as containers or virtual machines do.
        host: Option<Host> = None;
        /// The master's hardware. Left out: as `[node]`.
        master: Option<Node> = None;
    }
}

section! {
    /// Equal workers.
    pub struct Group {
        /// Workers in the group.
        count: u32 = 1, 1..=100_000;
        /// The workers' hardware: a preset's name, or a table as `[node]`, which says its own `preset`. Left out: as
        /// `[node]`.
        node: Option<Node> = None;
        /// The workers' rack, from 1. Left out: workers fill the racks of the topology in equal consecutive runs.
        rack: Option<u32> = None, 1..=10_000;
    }
}

section! {
    /// A physical machine on which several nodes run.
    pub struct Host {
        /// Nodes on one machine, in the order of their numbers. Left out: all nodes are on one machine.
        nodes: Option<u32> = None, 1..=100_000;
        /// Whether the master is on the first machine.
        master: bool = true;
        /// Cores of the machine, shared by its nodes.
        cores: u32 = 2, 1..=4096;
        /// Disks of the machine, shared by its nodes: how many there are of each entry of the first node's `disk` that
        /// does not say so itself.
        disks: u32 = 1, 1..=1000;
        /// Each node has its own of these disks: `disks` is how many a node has.
        own_disks: bool = false;
        /// Rate of the machine's network card, shared by its nodes. Left out: each node has its own link.
        rate: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
    }
}

choice! {
    /// Hardware of the documents, of the machine on which the recorded jobs ran, and of this decade.
    pub enum NodePreset {
        /// A small virtual machine on a recent server: 2 cores, 24 GiB, a virtual disk whose page cache holds the job's
        /// data. Its speed is 1 by definition.
        EpycVm = "epyc-vm",
        /// Intel Xeon quad-core 2.4 GHz, 2 GiB, a SATA disk of 160 GB (yang2012, Table 3.2).
        Xeon2009 = "xeon-2009",
        /// Intel dual-core 3.0 GHz, 2 GiB, a SATA disk (yang2012, Table 2.2, type I).
        YangI = "yang2012-i",
        /// Intel dual-core 3.0 GHz, 4 GiB, a SATA disk (yang2012, Table 2.2, type II, and Node1 of Table 3.1).
        YangII = "yang2012-ii",
        /// Intel quad-core 2.4 GHz, 2 GiB, a SATA disk (yang2012, Table 2.2, type III, and the other nodes of Table 3.1).
        YangIII = "yang2012-iii",
        /// Intel quad-core 2.4 GHz, 4 GiB, a SATA disk (yang2012, Table 2.2, type IV).
        YangIV = "yang2012-iv",
        /// Intel dual-core 3.0 GHz, 2 GiB, a flash disk Corsair F40A (yang2012, Table 2.2, type V).
        YangV = "yang2012-v",
        /// Intel quad-core 2.4 GHz, 2 GiB, a flash disk Corsair F40A (yang2012, Table 2.2, type VI).
        YangVI = "yang2012-vi",
        /// Intel dual-core 3.0 GHz, 2 GiB, a Corsair F40A for HDFS and a SATA disk for intermediate data (yang2012, Table
        /// 2.2, type VII, and 2.3.3).
        YangVII = "yang2012-vii",
        /// A data node of yang2012's chapter 4 (Table 4.1): as `xeon-2009`, with a SATA disk of 500 GB for first replicas
        /// and intermediate data and an external RAID 5 of four, 1.5 TB, for the other replicas.
        YangEnergy = "yang2012-energy",
        /// Two six-core AMD Opteron 2425 HE 2.1 GHz, 32 GiB, as in a ProLiant DL385 G6 (rista2017, IV-A).
        Opteron2425 = "opteron-2425",
        /// Two 96-core AMD EPYC 9654 2.4 GHz, 384 GiB, an NVMe disk: Lenovo ThinkSystem SR665 V3 of 2022, with the power
        /// that SPECpower_ssj2008 measured.
        Epyc9654 = "epyc-9654",
        /// Two 56-core Intel Xeon Platinum 8480+ 2.0 GHz, 512 GiB, an NVMe disk: xFusion FusionServer 2288H V7 of 2023,
        /// with the power that SPECpower_ssj2008 measured.
        Xeon8480 = "xeon-8480",
        /// NVIDIA Tegra 3 quad-core 1.6 GHz, 1 GiB, NAND flash (lee2014, Table 3.2).
        Nexus7 = "nexus7",
    }
}

const WATTS: std::ops::RangeInclusive<Power> = Power::from_nw(0)..=Power::from_nw(1_000_000_000_000_000);

section! {
    /// A node's hardware: a preset, and what differs from it.
    pub struct Node from node_base {
        /// The hardware that the other keys override.
        preset: NodePreset = NodePreset::EpycVm;
        /// Number of cores.
        cores: u32 = 2, 1..=4096;
        /// Speed of one core, relative to the machine on which the workloads' costs were measured (`epyc-vm`).
        speed: f64 = 1.0, 0.001..=1000.0;
        /// Other work on the machine: threads that are always ready to run, for each core. They share the cores with
        /// the tasks. Of nodes on one machine the largest load counts.
        load: f64 = 0.0, 0.0..=1000.0;
        /// Variation of the machine's speed from run to run: the relative standard deviation. Neighbours of a virtual
        /// machine cause it.
        variation: f64 = 0.0, 0.0..=0.3;
        /// Main memory. The page cache uses it, and it bounds the default of `mapreduce.node-memory`.
        memory: Bytes = Bytes::from_mib(24 << 10), Bytes::from_mib(1)..=Bytes::from_mib(1 << 30);
        /// How many there are of each entry of `disk` that does not say so itself.
        disks: u32 = 1, 1..=1000;
        /// The disks: a preset's name, or a table for each kind of disk with what it holds (`[[node.disk]]`).
        disk: Vec<Disk> = vec![Disk::default()];
        /// Price of an hour of the node, in `cost.currency`: its rent, or what its purchase and care come to in an hour of
        /// its life. Left out: it is not known.
        price: Option<f64> = None, 0.0..=1e6;
        /// Power of the idle node, screen off; with its disks, but for those whose power `[power]` says. Left out: its
        /// energy is not counted.
        idle_power: Option<Power> = None, WATTS;
        /// Efficiency of its power supply: at the wall it draws what its parts draw divided by this. Left out: 1, as
        /// where `idle-power` was read from a meter at the wall.
        supply: Option<f64> = None, 0.1..=1.0;
        /// Additional power of each busy core.
        core_power: Power = Power::from_nw(0), WATTS;
        /// Additional power of the screen.
        screen_power: Power = Power::from_nw(0), WATTS;
        /// Whether the screen is on.
        screen: bool = false;
        /// Additional power while the radio sends.
        radio_transmit_power: Power = Power::from_nw(0), WATTS;
        /// Additional power while the radio receives a frame.
        radio_receive_power: Power = Power::from_nw(0), WATTS;
        /// Additional power while the radio is awake and neither sends nor receives.
        radio_listen_power: Power = Power::from_nw(0), WATTS;
        /// Additional power while the radio sleeps between beacons.
        radio_sleep_power: Power = Power::from_nw(0), WATTS;
        /// Capacity of the battery. When it is empty the node is down for good. Left out: the node is plugged in.
        battery: Option<Energy> = None, Energy::from_nj(1)..=Energy::from_nj(3_600_000_000_000_000_000);
        /// State of charge at the start of the run, as a part of `battery`.
        charge: f64 = 1.0, 0.0001..=1.0;
        /// Throttling: the processor runs slower when it is hot or the battery is low. Left out: never.
        throttle: Option<Throttle> = None;
    }
}

section! {
    /// A processor that runs slower while the node is hot, or has little charge left.
    pub struct Throttle {
        /// Power that the case dissipates in the steady state. The node is hot when its mean power over `time` exceeds
        /// this. Left out: it is never hot.
        sustained: Option<Power> = None, Power::from_nw(1)..=Power::from_nw(1_000_000_000_000_000);
        /// Thermal time constant (resistance times capacity): after this time 1 - 1/e of a change of temperature is
        /// done.
        time: Time = Time::from_secs(120), Time::from_secs(1)..=Time::from_secs(86_400);
        /// The node is cool again when its mean power falls below this part of `sustained`.
        resume: f64 = 0.9, 0.01..=1.0;
        /// State of charge below which the processor is throttled too. Left out: the charge does not matter. Android's
        /// battery saver: 0.15.
        low_battery: Option<f64> = None, 0.0001..=1.0;
        /// Speed while throttled, as a part of the node's own. Default: Tegra 3 at 480 MHz against 1.3 GHz (NVIDIA).
        speed: f64 = 0.48, 0.01..=1.0;
        /// Power of a busy core while throttled, as a part of `core-power`. Default: as for `speed`.
        power: f64 = 0.46, 0.0..=1.0;
    }
}

impl NodePreset {
    /// What the documents say of the machine. Speeds are estimates from single-thread benchmark ratings relative to
    /// `epyc-vm`.
    pub fn node(self) -> Node {
        let (cores, speed, memory) = match self {
            Self::EpycVm => (2, 1.0, 24 << 10),
            Self::Xeon2009 | Self::YangIII | Self::YangVI | Self::YangEnergy => (4, XEON_2009, 2 << 10),
            Self::YangIV => (4, XEON_2009, 4 << 10),
            Self::YangI | Self::YangV | Self::YangVII => (2, DUO_2009, 2 << 10),
            Self::YangII => (2, DUO_2009, 4 << 10),
            Self::Opteron2425 => (12, 0.31, 32 << 10),
            Self::Epyc9654 => (192, SSJ_9654 / SSJ_7763, 384 << 10),
            Self::Xeon8480 => (112, SSJ_8480 / SSJ_7763, 512 << 10),
            Self::Nexus7 => (4, 0.1, 1 << 10),
        };
        let disk = self.disks();
        let node = Node { preset: self, cores, speed, memory: Bytes::from_mib(memory), disk, ..Node::default() };
        match self {
            Self::Epyc9654 => return measured(node, 115, 630),
            Self::Xeon8480 => return measured(node, 147, 836),
            Self::Nexus7 => {}
            _ => return node,
        }
        // Battery: 4,325 mAh, 16 Wh (ASUS). A core: NVIDIA's 1,261 mW for CoreMark on all four at 1.3 GHz. Awake with
        // the screen off: three days of music from one charge; with the screen at half its brightness it is empty after
        // 10 h 22 min (bitsandchips.it, 2012), the difference is the screen. The radio:
        // `wifi::energy::RadioPower::tablet` has the sources; a test holds both alike.
        Node {
            idle_power: Some(Power::from_mw(220)),
            core_power: Power::from_mw(315),
            screen_power: Power::from_mw(1_320),
            radio_transmit_power: Power::from_mw(851),
            radio_receive_power: Power::from_mw(278),
            radio_listen_power: Power::from_mw(278),
            radio_sleep_power: Power::from_nw(10_730_000),
            battery: Some(Energy::from_joules(57_600.0)),
            ..node
        }
    }
}

/// Speed of a core of the documents' Intel quad-cores at 2.4 GHz; those of the dual-cores of the same generation have
/// 3.0 GHz.
const XEON_2009: f64 = 0.42;
const DUO_2009: f64 = XEON_2009 * 3.0 / 2.4;

// Published results of SPECpower_ssj2008: operations a second at full load, for each core. `epyc-vm` runs on EPYC 7763 by
// its family, model and clock (Lenovo ThinkSystem SR645, March 2021).
const SSJ_7763: f64 = 12_386_273.0 / 128.0;
/// Lenovo ThinkSystem SR665 V3, November 2022: 27,501 operations a joule overall.
const SSJ_9654: f64 = 21_464_632.0 / 192.0;
/// xFusion FusionServer 2288H V7, January 2023: 16,653 operations a joule overall.
const SSJ_8480: f64 = 13_687_130.0 / 112.0;

/// A node whose watts SPECpower_ssj2008 measured at the wall: active idle, and all cores at full load. Power grows with
/// the load in between.
fn measured(node: Node, idle: u64, full: u64) -> Node {
    let core_power = Power::from_mw((full - idle) * 1_000 / u64::from(node.cores));
    Node { idle_power: Some(Power::from_mw(idle * 1_000)), core_power, ..node }
}

impl NodePreset {
    fn disks(self) -> Vec<Disk> {
        let one = |preset| Disk { preset, ..Disk::default() };
        match self {
            Self::EpycVm => vec![one(DiskPreset::Virtual)],
            Self::Xeon2009 | Self::Opteron2425 | Self::YangI | Self::YangII | Self::YangIII | Self::YangIV => {
                vec![one(DiskPreset::Sata2009)]
            }
            Self::Epyc9654 | Self::Xeon8480 => vec![one(DiskPreset::Nvme)],
            Self::YangV | Self::YangVI => vec![one(DiskPreset::Ssd)],
            Self::YangVII => vec![
                Disk { role: vec![DiskRole::Hdfs], ..one(DiskPreset::Ssd) },
                Disk { role: vec![DiskRole::Intermediate], ..one(DiskPreset::Sata2009) },
            ],
            Self::YangEnergy => vec![
                Disk { role: vec![DiskRole::Primary, DiskRole::Intermediate], ..one(DiskPreset::Sata500) },
                Disk { role: vec![DiskRole::Backup], array: Some(Array::default()), ..one(DiskPreset::Sata500) },
            ],
            Self::Nexus7 => vec![one(DiskPreset::NandFlash)],
        }
    }
}

/// The preset that a node's table or text names, else the default.
fn node_base(tree: &Tree, problems: &mut Problems) -> Option<Node> {
    preset_base(tree, problems, NodePreset::node)
}
