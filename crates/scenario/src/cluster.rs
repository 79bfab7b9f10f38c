//! The machines: how many, of what kind, where they stand, what they share.

use super::key::{choice, preset_base, section};
use super::problem::Problems;
use super::tree::Tree;
use units::{BitRate, Bytes, Energy, Power, Time};

choice! {
    /// Which generation of Hadoop runs.
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
        /// Workers. With groups, leave it out: it is their sum.
        workers: u32 = 4, 1..=100_000;
        /// The generation of MapReduce.
        generation: Generation = Generation::Yarn;
        /// Groups of equal workers, numbered through in the order of the file.
        group: Vec<Group> = Vec::new();
        /// The physical machine that nodes share, where they are containers or virtual machines.
        host: Option<Host> = None;
        /// The master's hardware, where it is not that of `[node]`.
        master: Option<Node> = None;
    }
}

section! {
    /// Equal workers.
    pub struct Group {
        /// How many.
        count: u32 = 1, 1..=100_000;
        /// Their hardware: a preset's name or a table as `[node]`; that of `[node]` where it is left out.
        node: Option<Node> = None;
        /// The rack they stand in, from 1; left out, workers are spread over the racks of the topology in equal runs.
        rack: Option<u32> = None, 1..=10_000;
    }
}

section! {
    /// A physical machine on which several nodes run.
    pub struct Host {
        /// Nodes on one machine, in the order of their numbers; left out, all are on one.
        nodes: Option<u32> = None, 1..=100_000;
        /// Whether the master is on the first of them.
        master: bool = true;
        /// Cores that its nodes share.
        cores: u32 = 2, 1..=4096;
        /// Disks that its nodes share.
        disks: u32 = 1, 1..=1000;
        /// Rate of the network card that its nodes share towards the outside; left out, each node keeps its own.
        rate: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
    }
}

choice! {
    /// Hardware of the documents, and of the machine on which the recorded jobs ran.
    pub enum NodePreset {
        /// A core of a recent server as in a small virtual machine: 2 cores, 24 GiB, a virtual disk behind an ample
        /// page cache; speed 1 by definition.
        EpycVm = "epyc-vm",
        /// Intel Xeon quad-core 2.4 GHz, 2 GiB, a SATA disk of 160 GB (yang2012, Table 3.2).
        Xeon2009 = "xeon-2009",
        /// Two six-core AMD Opteron 2425 HE 2.1 GHz, 32 GiB, as in a ProLiant DL385 G6 (rista2017, IV-A).
        Opteron2425 = "opteron-2425",
        /// NVIDIA Tegra 3 quad-core 1.6 GHz, 1 GiB, NAND flash (lee2014, Table 3.2).
        Nexus7 = "nexus7",
    }
}

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

const WATTS: std::ops::RangeInclusive<Power> = Power::from_nw(0)..=Power::from_nw(1_000_000_000_000_000);

section! {
    /// A node's hardware: a preset, and what differs from it.
    pub struct Node from node_base {
        /// The hardware that the other keys start from.
        preset: NodePreset = NodePreset::EpycVm;
        /// Cores.
        cores: u32 = 2, 1..=4096;
        /// Speed of one core, relative to one of the machine on which the workloads' costs were measured (`epyc-vm`).
        speed: f64 = 1.0, 0.001..=1000.0;
        /// How much the speed of the machine differs from run to run: the standard deviation, relative. Virtual
        /// machines have neighbours.
        variation: f64 = 0.0, 0.0..=0.3;
        /// Memory.
        memory: Bytes = Bytes::from_mib(24 << 10), Bytes::from_mib(1)..=Bytes::from_mib(1 << 30);
        /// Disks that hold HDFS blocks and intermediate data.
        disks: u32 = 1, 1..=1000;
        /// The kind of each.
        disk: DiskPreset = DiskPreset::Virtual;
        /// Power that the node draws while it is on and idle, its screen off, its disks included; left out, its energy
        /// is not counted.
        idle_power: Option<Power> = None, WATTS;
        /// What each core at work adds to it.
        core_power: Power = Power::from_nw(0), WATTS;
        /// What the screen adds to it.
        screen_power: Power = Power::from_nw(0), WATTS;
        /// Whether the screen is on.
        screen: bool = false;
        /// What its radio adds while it sends.
        radio_transmit_power: Power = Power::from_nw(0), WATTS;
        /// What it adds while it receives a frame.
        radio_receive_power: Power = Power::from_nw(0), WATTS;
        /// What it adds while it is awake and does neither.
        radio_listen_power: Power = Power::from_nw(0), WATTS;
        /// What it adds while it sleeps between beacons.
        radio_sleep_power: Power = Power::from_nw(0), WATTS;
        /// What its battery holds when it is full; when that is used the node is down for good. Left out, the node is
        /// plugged in.
        battery: Option<Energy> = None, Energy::from_nj(1)..=Energy::from_nj(3_600_000_000_000_000_000);
        /// How full its battery is when the run begins.
        charge: f64 = 1.0, 0.0001..=1.0;
        /// When its processor runs slower, hot or with little charge left; left out, never.
        throttle: Option<Throttle> = None;
    }
}

section! {
    /// A processor that runs slower while the node is hot, or has little charge left.
    pub struct Throttle {
        /// Power that the node's case gives off for good: when the mean of what it draws, over `time`, is more, it is
        /// hot; left out, it never is.
        sustained: Option<Power> = None, Power::from_nw(1)..=Power::from_nw(1_000_000_000_000_000);
        /// How long it takes to warm up or cool down by 1 - 1/e of the way (thermal resistance times capacity).
        time: Time = Time::from_secs(120), Time::from_secs(1)..=Time::from_secs(86_400);
        /// At this part of `sustained` it is no longer hot.
        resume: f64 = 0.9, 0.01..=1.0;
        /// Below this part of its battery's charge it runs slower too; left out, it does not.
        low_battery: Option<f64> = None, 0.0001..=1.0;
        /// Its speed then, as a part of its own.
        speed: f64 = 0.48, 0.01..=1.0;
        /// What a core at work draws then, as a part of its own.
        power: f64 = 0.46, 0.0..=1.0;
    }
}

impl NodePreset {
    /// What the documents say of the machine. Speeds are estimates from single-thread benchmark ratings relative to
    /// `epyc-vm`.
    pub fn node(self) -> Node {
        let (cores, speed, memory, disk) = match self {
            Self::EpycVm => (2, 1.0, 24 << 10, DiskPreset::Virtual),
            Self::Xeon2009 => (4, 0.42, 2 << 10, DiskPreset::Sata2009),
            Self::Opteron2425 => (12, 0.31, 32 << 10, DiskPreset::Sata2009),
            Self::Nexus7 => (4, 0.1, 1 << 10, DiskPreset::NandFlash),
        };
        let node = Node { preset: self, cores, speed, memory: Bytes::from_mib(memory), disk, ..Node::default() };
        if self != Self::Nexus7 {
            return node;
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

/// The preset that a node's table or text names, else the default.
fn node_base(tree: &Tree, problems: &mut Problems) -> Option<Node> {
    preset_base(tree, problems, NodePreset::node)
}

section! {
    /// Overrides of what the disk presets say, for every disk of the cluster.
    pub struct Storage {
        /// Time to position, by seek and rotation.
        position: Option<Time> = None, Time::ZERO..=Time::from_secs(10);
        /// Rate of sequential reading.
        read: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(1_000);
        /// Rate of sequential writing.
        write: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(1_000);
    }
}
