//! What can run, but will not do what its writer may expect.

use super::check::Check;
use super::problem::Problems;
use super::tree::{Tree, Value};
use super::{
    Array, Control, Disk, Fidelity, Generation, Job, JobCodec, Network, Node, Packing, PackingKind, RaidLevel,
    Recovery, Scenario, Tcp, TopologyKind,
};
use units::{Quantity, Time};

/// A mean year.
const YEAR_S: f64 = 365.25 * 86_400.0;

/// Keys of `[network]` that say something of queues.
const OF_PACKETS: [&str; 6] = [
    "network.queue",
    "network.host-queue",
    "network.core.queue",
    "network.port",
    "network.shared-buffer",
    "network.priority",
];
/// Keys of `[tcp]` that flows heed: what makes windows, the laws of controls under losses, timeouts.
const OF_FLOWS: [&str; 23] = [
    "control",
    "cubic-c",
    "cubic-beta",
    "fast-alpha",
    "scalable-rule",
    "sack",
    "recovery",
    "receive-buffer",
    "window-scaling",
    "initial-window",
    "max-window",
    "abc-limit",
    "idle-restart",
    "idle-rule",
    "timestamps",
    "count-options",
    "delayed-ack",
    "min-rto",
    "initial-rto",
    "max-rto",
    "retries",
    "syn-retries",
    "node",
];

/// Says what a scenario that is right will do against expectation.
pub(super) fn warn(scenario: &Scenario, tree: &Tree, warnings: &mut Problems) {
    let mut check = Check { scenario, tree, problems: warnings };
    check.timeouts("tcp", &scenario.tcp);
    for (i, part) in scenario.tcp.node.iter().enumerate().filter(|(_, part)| part.min_rto.is_some()) {
        if let Some(node) = part.nodes.numbers(scenario.cluster.workers).first() {
            check.timeouts(&format!("tcp.node.{i}"), &scenario.tcp.of(*node));
        }
    }
    check.ignored_sack();
    check.rack_without_sack();
    check.slow_start_at_ssthresh();
    check.units_of_mirrors();
    check.repairs_without_failures();
    check.long_repairs();
    check.late_faults();
    super::scheduling::warn(&mut check);
    check.hardware_of_another_preset();
    for (i, job) in scenario.job.iter().enumerate() {
        let section = format!("job.{i}");
        check.compression(&section, job);
        check.uber(&section, job);
        check.input_format(&section, job);
        check.unused_packing(&section, &job.packing);
        super::job_keys::warn(&mut check, &section, job);
    }
    check.unheeded_by_flows();
    check.unheeded_by_topology();
    check.unheeded_disks();
    super::object_store::warn(&mut check);
    super::cost::warn(&mut check);
    super::power_warn::warn(&mut check);
    super::spark_check::warn(&mut check);
}

impl Check<'_> {
    /// Timeouts that contradict each other, or the receiver.
    fn timeouts(&mut self, section: &str, tcp: &Tcp) {
        let path = format!("{section}.min-rto");
        if tcp.initial_rto < tcp.min_rto {
            let initial = "tcp.initial-rto";
            let at = if self.tree.get(&path).is_some() { path.as_str() } else { initial };
            let message = format!(
                "`initial-rto`, {}, is below `min-rto`, {}: a SYN is sent again sooner than any data",
                tcp.initial_rto.exact(),
                tcp.min_rto.exact()
            );
            self.says(at, message, "an `initial-rto` of at least `min-rto`; RFC 6298 has 1 s");
        }
        let delay = tcp.delayed_ack_timeout;
        if tcp.delayed_ack && tcp.min_rto < delay {
            let message = format!(
                "it is below the {} for which receivers delay an acknowledgement: a last segment may be sent again \
                 without a loss",
                delay.exact()
            );
            self.says(&path, message, "`delayed-ack = false`, or a shorter `delayed-ack-timeout`");
        }
    }

    /// A control that decides about SACK by itself, whatever `sack` says.
    fn ignored_sack(&mut self) {
        let Tcp { control, sack, .. } = self.scenario.tcp;
        let forced = match control {
            Control::NewReno | Control::Tahoe => false,
            Control::SackReno => true,
            _ => return,
        };
        if self.tree.get("tcp.sack").is_some() && sack != forced {
            let (verb, other) = if forced { ("on", "newreno") } else { ("off", "sack-reno") };
            let message = format!("control {} turns SACK {verb}, whatever `sack` says", control.word());
            self.says("tcp.sack", message, format!("leave `sack` out, or `control = \"{other}\"`"));
        }
    }

    /// RACK learns from SACK what has arrived.
    fn rack_without_sack(&mut self) {
        let tcp = &self.scenario.tcp;
        if self.tree.get("tcp.recovery").is_some() && tcp.recovery == Recovery::Rack && !tcp.uses_sack() {
            let message = "it has no effect without SACK: losses are repaired as by NewReno (RFC 6582)";
            self.says("tcp.recovery", message, "leave it out, or take a control that leaves SACK on, as `sack-reno`");
        }
    }

    /// Where slow start counts every byte it ends at ssthresh, so that nothing of it is left there.
    fn slow_start_at_ssthresh(&mut self) {
        if self.scenario.tcp.start_at_ssthresh && self.scenario.tcp.abc_limit == 0 {
            let message = "it has no effect without `abc-limit`: slow start takes no more than is left to ssthresh";
            self.says("tcp.start-at-ssthresh", message, "`abc-limit = 1`, as the hosts had that it is of");
        }
    }

    /// A stripe's part of a disk where nothing is striped.
    fn units_of_mirrors(&mut self) {
        for (path, node) in self.scenario.described() {
            for (i, disk) in node.disk.iter().enumerate() {
                let Some(array) = &disk.array else { continue };
                if array.level == RaidLevel::Raid1 && array.unit != Array::default().unit {
                    let message = "it has no effect: each disk of a RAID 1 has the whole";
                    self.says(&format!("{path}.disk.{i}.array.unit"), message, "leave it out");
                }
            }
        }
    }

    /// Times of repair of what is not said to fail.
    fn repairs_without_failures(&mut self) {
        let without = |disk: &Disk| disk.failure_rate.is_none();
        let help = "`failure-rate = 0.01` for 1 % a year, or leave it out";
        let described = self.scenario.described();
        for (path, node) in &described {
            for (i, _) in node.disk.iter().enumerate().filter(|(_, disk)| without(disk)) {
                let path = format!("{path}.disk.{i}.array.replace");
                if self.tree.get(&path).is_some() {
                    self.says(&path, "it has no effect: the array's disks have no `failure-rate`", help);
                }
            }
        }
        let none_fails = described.iter().flat_map(|(_, node)| &node.disk).all(without);
        if none_fails && self.tree.get("hdfs.repair").is_some() {
            self.says("hdfs.repair", "it has no effect: no disk has a `failure-rate`", help);
        }
    }

    /// Repairs that are not short against the times between failures, as the formula of losses takes them to be.
    fn long_repairs(&mut self) {
        let rate = |disk: &Disk| disk.failure_rate.unwrap_or_default();
        let said = |rate: f64, repair: Time, places: u32, fatal: u32| {
            let down = rate * repair.as_secs_f64() / YEAR_S;
            let over = overstated(places, fatal, down);
            (over > 0.1).then(|| {
                format!(
                    "a disk that fails {rate} times a year is under repair for {:.1} % of its life: losses are said {:.0} % \
                     too often",
                    100.0 * down,
                    100.0 * over
                )
            })
        };
        let help = "a shorter time, or a lower `failure-rate`";
        let described = self.scenario.described();
        for (path, node) in &described {
            for (i, disk) in node.disk.iter().enumerate() {
                let Some(array) = &disk.array else { continue };
                let fatal = match array.level {
                    RaidLevel::Raid0 => continue,
                    RaidLevel::Raid1 => array.members,
                    RaidLevel::Raid5 => 2,
                };
                if let Some(message) = said(rate(disk), array.replace, array.members, fatal) {
                    self.says(&format!("{path}.disk.{i}.array.replace"), message, help);
                }
            }
        }
        let Some(repair) = self.scenario.hdfs.repair else { return };
        let (places, fatal) = match self.scenario.hdfs.erasure_coding {
            None => (self.scenario.hdfs.replication, self.scenario.hdfs.replication),
            Some(coding) => {
                let (data, parity) = coding.parts();
                (data + parity, parity + 1)
            }
        };
        // A single replica is lost with its disk, however long that is.
        let highest = described.iter().flat_map(|(_, node)| &node.disk).map(rate).fold(0.0, f64::max);
        if let Some(message) = said(highest, repair, places, fatal).filter(|_| fatal > 1) {
            self.says("hdfs.repair", message, help);
        }
    }

    /// Settings of compression where nothing is compressed.
    fn compression(&mut self, section: &str, job: &Job) {
        let compresses = |codec: Option<JobCodec>| codec.is_some_and(|codec| codec != JobCodec::None);
        let reducers = job.reducers.unwrap_or(self.scenario.mapreduce.reducers);
        if compresses(job.map_compression) && reducers == 0 {
            let message = "a job without reducers has no map outputs on disk: nothing is compressed";
            self.says(&format!("{section}.map-compression"), message, "`output-compression`");
        }
        if compresses(job.output_compression) && job.workload.writes_as_it_is() {
            let message = format!("workload {} writes its output uncompressed in any case", job.workload.word());
            self.says(&format!("{section}.output-compression"), message, "leave it out");
        }
        let idle = [
            ("map-compression-ratio", job.map_compression_ratio.is_some(), "map-compression", job.map_compression),
            ("map-compress-cpu", job.map_compress_cpu.is_some(), "map-compression", job.map_compression),
            ("map-decompress-cpu", job.map_decompress_cpu.is_some(), "map-compression", job.map_compression),
            (
                "output-compression-ratio",
                job.output_compression_ratio.is_some(),
                "output-compression",
                job.output_compression,
            ),
            ("output-compress-cpu", job.output_compress_cpu.is_some(), "output-compression", job.output_compression),
        ];
        for (key, _, codec, _) in idle.into_iter().filter(|(_, set, _, codec)| *set && !compresses(*codec)) {
            let message = format!("it has no effect without a codec in `{codec}`");
            self.says(&format!("{section}.{key}"), message, format!("`{codec} = \"snappy\"`, or leave it out"));
        }
    }

    /// What only another kind of packing has.
    fn unused_packing(&mut self, section: &str, packing: &Packing) {
        let usual = Packing::default();
        let keys = [
            ("split", packing.split != usual.split, PackingKind::Combine),
            ("part", packing.part != usual.part, PackingKind::Archive),
            ("block", packing.block != usual.block, PackingKind::Archive),
            ("changed", packing.changed > usual.changed, PackingKind::Archive),
        ];
        for (key, _, kind) in keys.into_iter().filter(|(_, is_set, kind)| *is_set && *kind != packing.kind) {
            let help = format!("`packing.kind = \"{}\"`, or leave it out", kind.word());
            self.says(&format!("{section}.packing.{key}"), format!("`{}` has none", packing.kind.word()), help);
        }
    }

    /// A format of input that no split of a file of HDFS has.
    fn input_format(&mut self, section: &str, job: &Job) {
        let why = match job.packing.kind {
            _ if job.input_format.is_none() => return,
            _ if job.generated || job.workload.makes_its_input() => "the job makes its input",
            _ if job.workload.reads_named_files() => "its maps read files as a whole",
            _ if job.reads_objects() => "objects have no blocks",
            PackingKind::Combine | PackingKind::Archive => "packed files are read to their ends",
            PackingKind::SequenceFile => "packed files are a sequence file",
            PackingKind::None => return,
        };
        self.says(&format!("{section}.input-format"), format!("it has no effect: {why}"), "leave it out");
    }

    /// An uber job that its own settings keep from being one (`JobImpl.makeUberDecision`).
    fn uber(&mut self, section: &str, job: &Job) {
        let settings = &self.scenario.mapreduce;
        if !job.uber.unwrap_or(settings.uber.enable) {
            return;
        }
        let at = if job.uber.is_some() { format!("{section}.uber") } else { "mapreduce.uber.enable".to_owned() };
        if self.scenario.cluster.generation != Generation::Yarn {
            let message = "Hadoop 1 has no AppMaster in which tasks could run";
            return self.says(&at, message, "`cluster.generation = \"yarn\"`");
        }
        let reducers = job.reducers.unwrap_or(settings.reducers);
        let task = if reducers > 0 { settings.map_memory.max(settings.reduce_memory) } else { settings.map_memory };
        if task > settings.am_memory {
            let (task, master) = (task.exact(), settings.am_memory.exact());
            let message = format!("an AppMaster of {master} is too small for tasks of {task}: they get containers");
            self.says(&at, message, format!("`mapreduce.am-memory = \"{task}\"`"));
        }
        if reducers > settings.uber.max_reduces {
            let most = settings.uber.max_reduces;
            let message = format!("{reducers} reducers are more than {most}: tasks get containers");
            self.says(&at, message, "`mapreduce.uber.max-reduces`, or fewer reducers");
        }
        if job.workload.makes_its_input() {
            return;
        }
        let block = self.scenario.hdfs.block;
        let most = settings.uber.max_bytes.unwrap_or(block);
        let input = if job.splits.is_empty() { job.input } else { job.splits.iter().copied().sum() };
        if input > most && !job.workload.reads_named_files() {
            let message = format!("an input of {} is more than {}: tasks get containers", input.exact(), most.exact());
            self.says(&at, message, "`mapreduce.uber.max-bytes`");
        }
        let blocks = input.get().div_ceil(block.get()).max(u64::from(job.files));
        let maps = if job.splits.is_empty() { blocks } else { job.splits.len() as u64 };
        if maps > u64::from(settings.uber.max_maps) && !job.workload.reads_named_files() {
            let message = format!("{maps} maps are more than {}: tasks get containers", settings.uber.max_maps);
            self.says(&at, message, "`mapreduce.uber.max-maps`, or larger blocks");
        }
    }

    /// A group's or the master's hardware that names no preset is that of the default one, whatever `[node]` says.
    fn hardware_of_another_preset(&mut self) {
        let of_nodes = &self.scenario.node;
        if *of_nodes == Node::default() {
            return;
        }
        for (path, node) in self.scenario.described().into_iter().filter(|(path, _)| path != "node") {
            let is_table = self.tree.get(&path).is_some_and(|tree| matches!(tree.value, Value::Table(_)));
            if is_table && self.tree.get(&format!("{path}.preset")).is_none() {
                let message = format!("what it leaves out is as `{}` has it, not as `[node]`", node.preset.word());
                let help = format!("`preset = \"{}\"`, and what else of `[node]` is meant", of_nodes.preset.word());
                self.says(&path, message, help);
            }
        }
    }

    /// Faults that the run does not live to see.
    fn late_faults(&mut self) {
        let until = self.scenario.run.until;
        for (i, fault) in self.scenario.faults.iter().enumerate().filter(|(_, fault)| fault.at >= until) {
            let message = format!("the run ends at {}, before this fault, {}", until.exact(), fault.at.exact());
            self.says(&format!("faults.{i}.at"), message, "an earlier fault, or a later `run.until`");
        }
    }

    /// A number of disks, where each kind of disk has its own.
    fn unheeded_disks(&mut self) {
        let counted = |node: &Node| node.disk.iter().all(|disk| disk.count.is_some());
        let hosts = self.scenario.cluster.host.as_ref().map(|_| "cluster.host.disks");
        for path in ["node.disks"].into_iter().chain(hosts) {
            if self.tree.get(path).is_some() && counted(&self.scenario.node) {
                self.says(path, "it has no effect: each entry of `node.disk` has its `count`", "one of the two");
            }
        }
    }

    /// Settings of wires where there are none, and of a structure that another topology has. What a key has by default
    /// nobody has asked for: the text of a run has all keys.
    fn unheeded_by_topology(&mut self) {
        use TopologyKind as Kind;
        let (network, left_out) = (&self.scenario.network, Network::default());
        let kind = network.topology;
        let wired = kind != Kind::Wifi;
        let radio = "on the air `network.wifi` says it: `standard`, `width`, `streams`, and `rate` with a fixed one";
        let queue = "on the air it is `network.wifi.queue`";
        let keys = [
            ("rate", wired, network.rate != left_out.rate, radio),
            ("delay", wired, network.delay != left_out.delay, "on the air the way from node to node takes its time"),
            ("loss", wired, network.loss > 0.0, "on the air `network.wifi.propagation` and collisions make losses"),
            ("queue", wired, network.queue != left_out.queue, queue),
            ("host-queue", wired, network.host_queue != left_out.host_queue, queue),
            ("framing", wired, network.framing != left_out.framing, "frames of 802.11 are as long as they are"),
            (
                "core",
                wired && !matches!(kind, Kind::Star | Kind::Graph),
                network.core != left_out.core,
                "only topologies with links between switches have it; between access points it is `network.wifi.wire`",
            ),
            (
                "racks",
                matches!(kind, Kind::Tree | Kind::LeafSpine),
                network.racks != left_out.racks,
                "`topology = \"tree\"` or `\"leaf-spine\"`",
            ),
            ("spines", kind == Kind::LeafSpine, network.spines != left_out.spines, "`topology = \"leaf-spine\"`"),
            ("ports", kind == Kind::FatTree, network.ports != left_out.ports, "`topology = \"fat-tree\"`"),
            ("cell", kind == Kind::Dcell, network.cell != left_out.cell, "`topology = \"dcell\"`"),
            ("level", kind == Kind::Dcell, network.level != left_out.level, "`topology = \"dcell\"`"),
            ("hops", kind == Kind::ParkingLot, network.hops != left_out.hops, "`topology = \"parking-lot\"`"),
        ];
        for (key, heeded, given, help) in keys {
            if given && !heeded {
                let message = format!("it has no effect with topology {}", kind.word());
                self.says(&format!("network.{key}"), message, help);
            }
        }
    }

    /// Settings of packets, where messages go as flows.
    fn unheeded_by_flows(&mut self) {
        if self.scenario.run.fidelity == Fidelity::Packet {
            if self.scenario.run.most_fetches.is_some() {
                let message = "it has no effect: with packets each map output is fetched for itself";
                self.says("run.most-fetches", message, "`run.fidelity = \"flow\"`");
            }
            if self.scenario.run.grain.is_some() {
                let message = "it has no effect: with packets data moves in pieces as Hadoop's are";
                self.says("run.grain", message, "`run.fidelity = \"flow\"`");
            }
            return;
        }
        let tcp = match self.tree.get("tcp").map(|tree| &tree.value) {
            Some(Value::Table(entries)) => entries.as_slice(),
            _ => &[],
        };
        let tcp = tcp.iter().filter(|entry| !OF_FLOWS.contains(&entry.key.as_str()));
        let tcp = tcp.map(|entry| format!("tcp.{}", entry.key));
        let network = OF_PACKETS.iter().filter(|path| self.tree.get(path).is_some()).map(|path| (*path).to_owned());
        for path in network.chain(tcp).collect::<Vec<_>>() {
            let message = "it has an effect only where bursts overflow queues and so go by packets: flows have no \
                           queues, and of TCP only windows, rates and timeouts";
            self.says(&path, message, "`run.fidelity = \"packet\"`");
        }
    }
}

/// By which part losses are overstated where the product of `fatal` places' times under repair is taken for their rate.
/// Against the mean time to the first loss of a birth-death chain: each of `places` fails when it is up, is repaired
/// when it is down, and is down for the part `down` of a life.
fn overstated(places: u32, fatal: u32, down: f64) -> f64 {
    if down <= 0.0 {
        return 0.0;
    }
    // In mean times of repair: from i places down to i + 1, and as the formula has the rate.
    let (mut onward, mut total, mut rate) = (0.0, 0.0, 1.0);
    for i in 0..fatal {
        let fails = f64::from(places - i) * down;
        onward = (1.0 + f64::from(i) * onward) / fails;
        total += onward;
        rate *= fails / f64::from(i.max(1));
    }
    total * rate - 1.0
}
