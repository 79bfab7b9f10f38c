//! The power of disks, and the storage of a cluster by itself (`trunkline power plan`).

use super::file_kind::FileKind;
use super::key::{Key, Section, choice, section};
use super::problem::{Problems, ScenarioError, Source};
use super::tree::Tree;
use units::{BitRate, Bytes, Energy, Power as Watts, Time};

const WATTS: std::ops::RangeInclusive<Watts> = Watts::from_nw(0)..=Watts::from_nw(1_000_000_000_000);
const JOULES: std::ops::RangeInclusive<Energy> = Energy::from_nj(0)..=Energy::from_nj(1_000_000_000_000_000);
const MOVES: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_secs(3_600);

choice! {
    /// When disks rest.
    pub enum PowerPolicy {
        /// Never.
        AlwaysOn = "always-on",
        /// After an idle time, `timeout`.
        Timeout = "timeout",
        /// After an idle time that follows what earlier rests have saved.
        Adaptive = "adaptive",
        /// Yang 2012, 4.3.3: backups start when the last primary block is fetched, and stay for the output's replicas.
        AsPrinted = "as-printed",
        /// Backups start when the remaining primary blocks take as long as the start and `margin`, if the node will
        /// help others.
        Predicted = "predicted",
        /// Yang 2012, 4.3.2: by hand during import and recovery, else after `timeout`.
        ByPhase = "by-phase",
        /// As many replicas' disks as the load needs.
        Gears = "gears",
    }
}

choice! {
    /// How deep a disk may rest.
    pub enum RestDepth {
        /// It stays ready.
        Never = "never",
        /// Heads parked.
        IdleB = "idle-b",
        /// Heads parked, fewer revolutions.
        IdleC = "idle-c",
        /// Motor stopped.
        Standby = "standby",
    }
}

choice! {
    /// What a start of a drive costs whose manual prints the peak current only.
    pub enum StartCost {
        /// 60 % of the peak for 12 s; for 3 s out of Idle_C.
        Typical = "typical",
        /// The peak for 20 s; for 15 s out of Idle_C.
        Worst = "worst",
    }
}

section! {
    /// What a drive draws by state. A depth without a power is one that it does not have.
    pub struct DriveProfile {
        /// Reading.
        read: Watts = Watts::from_nw(0), WATTS;
        /// Writing.
        write: Watts = Watts::from_nw(0), WATTS;
        /// Ready, with nothing to do.
        idle: Watts = Watts::from_nw(0), WATTS;
        /// At rest with heads parked.
        idle_b: Option<Watts> = None, WATTS;
        /// At rest with heads parked and fewer revolutions.
        idle_c: Option<Watts> = None, WATTS;
        /// At rest with the motor stopped.
        standby: Option<Watts> = None, WATTS;
        /// From Idle_B until it is ready.
        idle_b_time: Time = Time::from_ms(650), MOVES;
        /// From Idle_C until it is ready.
        idle_c_time: Time = Time::from_secs(3), MOVES;
        /// Energy of a start out of Idle_C. Left out: as long a read.
        idle_c_energy: Option<Energy> = None, JOULES;
        /// From standby until it is ready.
        spin_up_time: Time = Time::from_secs(12), MOVES;
        /// Energy of a start. Left out: as long a read.
        spin_up_energy: Option<Energy> = None, JOULES;
        /// Until the motor stands.
        spin_down_time: Time = Time::ZERO, MOVES;
        /// Energy of a stop. Left out: as long a standby.
        spin_down_energy: Option<Energy> = None, JOULES;
    }
}

section! {
    /// Backup disks stay ready while a node writes replicas at a high rate (Yang 2012, 4.4.4).
    pub struct PowerGuard {
        /// Above this rate over a window writes are many.
        on: BitRate = BitRate::from_bps(160_000_000), BitRate::from_bps(1)..=BitRate::from_gbps(1_000);
        /// Below this rate over a window they are not any more.
        off: BitRate = BitRate::from_bps(80_000_000), BitRate::from_bps(0)..=BitRate::from_gbps(999);
        /// The window.
        window: Time = Time::from_secs(30), Time::from_secs(1)..=Time::from_secs(86_400);
    }
}

section! {
    /// Power of disks: what drives draw and when they rest.
    pub struct Power {
        /// When disks rest.
        policy: PowerPolicy = PowerPolicy::AlwaysOn;
        /// The drive whose manual says what a disk draws: `ultrastar-36z15`, `constellation-es3-4tb`,
        /// `constellation-es3-2tb`, `constellation-es2-3tb`, `constellation-es1-1tb`, `barracuda-7200.7`,
        /// `diamondmax-21`, or `as-printed` (Table 2.1 of Yang 2012, which no drive is like). Left out, without
        /// `profile`: the power of disks is part of `node.idle-power`.
        drive: Option<String> = None;
        /// A drive's own figures, in place of `drive`.
        profile: Option<DriveProfile> = None;
        /// The drive of backup disks. Left out: as `drive`.
        backup_drive: Option<String> = None;
        /// What a start costs where the drive's manual prints the peak only.
        start: StartCost = StartCost::Typical;
        /// How deep primary disks may rest.
        primaries: RestDepth = RestDepth::Never;
        /// How deep backup disks may rest.
        backups: RestDepth = RestDepth::Standby;
        /// Idle time after which a disk rests (policies `timeout` and `by-phase`). Left out: the break-even time of
        /// each depth.
        timeout: Option<Time> = None, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// Added to the time to ready (policy `predicted`).
        margin: Time = Time::from_secs(5), Time::ZERO..=Time::from_secs(3_600);
        /// Wear budget: starts of a disk's motor in any 24 hours.
        spin_ups: u32 = 24, 0..=100_000;
        /// Wear budget: loads of a disk's heads out of Idle_B and Idle_C in any 24 hours. Those of starts are in `spin-ups`.
        loads: u32 = 329, 0..=1_000_000;
        /// Motors of a node that may start at the same time.
        stagger: u32 = 1, 1..=10_000;
        /// Backup disks stay ready while writes are many. Left out: they may rest however much is written.
        guard: Option<PowerGuard> = None;
        /// A primary disk whose `failure-rate` is as high as this is expected to fail: nodes with further replicas of
        /// its blocks wake their backup disks ahead and keep them ready (Yang 2012, 6.2). Left out: none is.
        failing_rate: Option<f64> = None, 0.0..=100.0;
    }
}

choice! {
    /// Which of a block's replicas is read.
    pub enum ReplicaOrder {
        /// One whose disk is ready, the least busy of them; else the one whose disk rests least deep.
        Awake = "awake",
        /// The least busy, ready or not.
        Blind = "blind",
    }
}

section! {
    /// Work of the disks besides jobs.
    pub struct BackgroundWork {
        /// What it is, in results: "du", "block scanner".
        name: String = String::new();
        /// Between two times on the same disk.
        every: Time = Time::from_secs(600), Time::from_secs(1)..=Time::from_secs(86_400 * 30);
        /// Each time comes earlier or later by up to this.
        jitter: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// Bytes read each time.
        bytes: Bytes = Bytes::new(1 << 20), Bytes::new(0)..=Bytes::new(1 << 40);
        /// Whether it may wait for the disk's planned window.
        deferrable: bool = true;
    }
}

section! {
    /// The disks of a cluster by themselves, for a day of requests.
    pub struct StoragePlan {
        /// DataNodes.
        nodes: u32 = 100, 1..=10_000;
        /// Primary disks of each, which hold the first replicas.
        primary_disks: u32 = 1, 1..=100;
        /// Backup disks of each, which hold the further replicas.
        backup_disks: u32 = 2, 0..=100;
        /// Replicas of a block, on disks of as many nodes.
        replication: u32 = 3, 1..=10;
        /// Length of a block.
        block: Bytes = Bytes::from_mib(128), Bytes::new(1 << 16)..=Bytes::new(1 << 40);
        /// Rate of a disk.
        rate: BitRate = BitRate::from_bps(1_200_000_000), BitRate::from_bps(1_000)..=BitRate::from_gbps(1_000);
        /// Positioning of a disk before each block.
        position: Time = Time::from_ms(12), Time::ZERO..=Time::from_secs(10);
        /// Machines on which the workload was recorded: its bytes are scaled by `nodes` over these. Left out: they are
        /// as many.
        recorded_nodes: Option<u32> = None, 1..=1_000_000;
        /// Blocks of a job that a node reads at the same time.
        slots: u32 = 2, 1..=1_000;
        /// Between two blocks of the same slot: what a map takes.
        block_time: Time = Time::from_secs(30), Time::ZERO..=Time::from_secs(86_400);
        /// Files. Left out: as many as jobs that read.
        files: Option<u32> = None, 1..=10_000_000;
        /// Exponent of the files' popularity (Zipf).
        zipf: f64 = 1.0, 0.0..=10.0;
        /// Jobs write their output, too: the day as published. If not, the day is read-only.
        writes: bool = false;
        /// Which replica is read.
        order: ReplicaOrder = ReplicaOrder::Awake;
        /// Between two planned windows of a disk, in which deferrable work is done. Left out: it wakes its disk.
        window: Option<Time> = None, Time::from_secs(60)..=Time::from_secs(86_400 * 30);
        /// Writes for disks at rest go to logs on primary disks, and home in the windows.
        offload: bool = false;
        /// Work of the disks besides jobs.
        background: Vec<BackgroundWork> = Vec::new();
        /// What drives draw and when they rest: one, or a list to set side by side.
        power: Vec<Power> = Vec::new();
        /// Seed of popularity, places and jitter.
        seed: u64 = 1, 0..=(i64::MAX as u64);
    }
}

/// Something wrong with keys together: the path of one, what, and what would be right.
pub type Contradiction = (String, String, String);

/// Reads a file that is one section, and says what is wrong with its keys and with what they are together.
pub(crate) fn read_file<S: Section>(
    file: &str,
    text: &str,
    kind: FileKind,
    contradictions: impl FnOnce(&S) -> Vec<Contradiction>,
) -> Result<S, ScenarioError> {
    let sources = vec![Source { name: file.to_owned(), text: text.to_owned() }];
    let mut problems = Problems::default();
    let tree = Tree::parse(text, 0, &mut problems);
    kind.expect(&tree, &mut problems);
    let read = if problems.is_empty() { S::read(&tree, None, &mut problems) } else { None };
    if let Some(read) = read.as_ref().filter(|_| problems.is_empty()) {
        for (path, message, help) in contradictions(read) {
            let mut span = tree.span_of(&path).clone();
            // Not the whole file for a key that is absent, only its first place.
            if span == tree.span {
                span.range.end = span.range.start;
            }
            problems.add_with_help(&span, message, help);
        }
    }
    problems.sort();
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ => Err(ScenarioError { sources, problems: problems.0 }),
    }
}

impl StoragePlan {
    /// Reads a plan's text. `further` says what an engine finds wrong with it, at a key's path, with what would be
    /// right.
    pub fn parse(
        file: &str,
        text: &str,
        further: impl FnOnce(&Self) -> Vec<Contradiction>,
    ) -> Result<Self, ScenarioError> {
        read_file(file, text, FileKind::PowerPlan, |plan: &Self| {
            plan.contradictions().into_iter().chain(further(plan)).collect()
        })
    }
    /// What no single key shows.
    fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        let mut says = |path: &str, message: String, help: &str| {
            found.push((path.to_owned(), message, help.to_owned()));
        };
        if self.replication > self.nodes {
            let message =
                format!("{} replicas of a block need as many nodes, and there are {}", self.replication, self.nodes);
            says("replication", message, "fewer replicas, or more nodes");
        }
        if self.replication > 1 && self.backup_disks < self.replication - 1 {
            let message = format!(
                "{} further replicas are to be on {} backup disks: each needs a disk of its own",
                self.replication - 1,
                self.backup_disks
            );
            says("backup-disks", message, "at least one for each replica but the first");
        }
        if self.offload && self.window.is_none() {
            says("offload", "what is off-loaded would never go home".to_owned(), "add `window`, such as \"1 d\"");
        }
        for (number, power) in self.power.iter().enumerate() {
            if let PowerPolicy::AsPrinted | PowerPolicy::Predicted | PowerPolicy::ByPhase = power.policy {
                let message =
                    format!("policy `{}` follows jobs, and a plan has their requests alone", power.policy.word());
                says(
                    &format!("power.{number}.policy"),
                    message,
                    "`timeout`, `adaptive` or `gears`, or a simulated run",
                );
            }
        }
        for (number, _) in self.power.iter().enumerate().filter(|(_, power)| power.guard.is_some()) {
            let message = "a guard watches what jobs write in a simulated run".to_owned();
            says(&format!("power.{number}.guard"), message, "leave it out of a plan");
        }
        for (number, _) in self.power.iter().enumerate().filter(|(_, power)| power.failing_rate.is_some()) {
            let message = "a plan's disks have no failure rates".to_owned();
            says(&format!("power.{number}.failing-rate"), message, "leave it out of a plan");
        }
        if self.power.is_empty() {
            says("power", "no drive and no policy are given".to_owned(), "add a [power] or [[power]] with `drive`");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TRUNKLINE_WRITE_DOCS=1 cargo test -p scenario --lib power` writes the page.
    #[test]
    fn the_reference_page_is_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/power.md");
        let page = crate::power_reference();
        if std::env::var_os("TRUNKLINE_WRITE_DOCS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).expect("docs/reference/power.md is part of the tree");
        assert!(written == page, "docs/reference/power.md is out of date: TRUNKLINE_WRITE_DOCS=1 writes it");
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said_with_its_place() {
        let parse = |text: &str| StoragePlan::parse("plan.toml", text, |_| Vec::new()).map_err(|e| e.to_string());
        let right = parse("nodes = 3\n[power]\ndrive = \"x\"\n").unwrap();
        assert_eq!((right.nodes, right.power.len(), right.power[0].spin_ups), (3, 1, 24));
        parse("nodes = 4\n[power]\n").expect("fewer replicas than nodes");
        for (text, expected) in [
            ("nodes = 2\n[power]\n", "plan.toml:1:1: 3 replicas of a block need as many nodes, and there are 2; "),
            ("nodes = 9\nreplication = 4\n[power]\n", "3 further replicas are to be on 2 backup disks"),
            ("nodes = 9\n", "no drive and no policy are given; add a [power]"),
            ("[power]\nfailing-rate = 0.1\n", "plan.toml:2:16: a plan's disks have no failure rates; leave it out"),
            (
                "[power]\npolicy = \"by-phase\"\n",
                "plan.toml:2:10: policy `by-phase` follows jobs, and a plan has their requests alone; `timeout`",
            ),
            ("[power]\npolicy = \"timeot\"\n", "plan.toml:2:10: `timeot` is not a value here; did you mean `timeout`?"),
            ("nodes = \"many\"\n", "plan.toml:1:9: this must be a whole number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
