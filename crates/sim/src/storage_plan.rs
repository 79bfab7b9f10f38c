//! A workload's day on the disks of a cluster, without network and processors: what each policy would save.
//!
//! A workload says when jobs come and what they read and write, not which files. Here files are as popular as Zipf's
//! law has them, and the blocks of each file lie on disks drawn at random: the first replica on a primary disk of one
//! node, each further replica on a backup disk of its gear on another. A job reads its file from the beginning, `slots`
//! blocks of each node at a time, the next ones after `block-time`.

use crate::lower::power;
use des::RandomStream;
use scenario::{ErasureCoding, Power, ReplicaOrder, StoragePlan};
use std::collections::BTreeSet;
use storage::Op;
use storage::power::day::{Access, Day, DayError, DaySpec, ReadOrder, replay};
use storage::power::{Cause, Depth, GearsSpec, Profile};
use units::{Bytes, Energy, Time};

const DAY: Time = Time::from_secs(86_400);
/// Between the last request and the end, at least.
const REST: Time = Time::from_secs(3_600);
/// Most requests that a plan makes.
const MOST: u64 = 20_000_000;

/// A job of a workload, as far as disks are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanJob {
    /// When it comes.
    pub at: Time,
    /// Bytes that it reads.
    pub input: Bytes,
    /// Bytes that it writes, before replication.
    pub output: Bytes,
}

/// What a workload came to on these disks.
#[derive(Clone, Debug)]
pub struct Requests {
    /// All requests, in order.
    pub accesses: Vec<Access>,
    /// The end of the day: 24 hours, or an hour behind the last request.
    pub end: Time,
    /// Jobs that read.
    pub readers: usize,
    /// Files that are read.
    pub files: usize,
    /// Bytes read by jobs.
    pub read: Bytes,
    /// Bytes written by jobs, all replicas.
    pub written: Bytes,
}

/// The outcome of one policy.
#[derive(Clone, Debug)]
pub struct PolicyDay {
    /// What it was.
    pub power: Power,
    /// The day.
    pub day: Day,
    /// Energy of all disks.
    pub energy: Energy,
    /// What they would have drawn without ever resting.
    pub always_on: Energy,
    /// The least that they could have drawn, by the oracle of each disk.
    pub least: Energy,
    /// The part of the idle power of all disks that standby of the backups alone can save.
    pub ceiling: f64,
    /// The part that rest of all disks, each as deep as it may, can save.
    pub ceiling_of_depths: f64,
    /// By erasure code: the part of the idle power of disks like the backups that standby of the parity's can save, if
    /// parity has disks of its own.
    pub ceilings_of_codes: Vec<(ErasureCoding, f64)>,
}

impl PolicyDay {
    /// The part of the energy that was saved.
    pub fn saved(&self) -> f64 {
        1.0 - self.energy.as_joules() / self.always_on.as_joules().max(f64::MIN_POSITIVE)
    }
    /// What was saved as a part of what the oracle saves; `None` where that is nothing.
    pub fn of_oracle(&self) -> Option<f64> {
        let most = self.always_on.as_joules() - self.least.as_joules();
        (most > 1e-6).then(|| (self.always_on.as_joules() - self.energy.as_joules()) / most)
    }
    /// Starts of a motor per disk and 24 hours: the mean over the disks that had one, and the most of any disk.
    pub fn starts(&self, end: Time) -> (f64, u32) {
        let starts: Vec<u32> = self.day.disks.iter().map(|disk| disk.starts.iter().sum()).collect();
        let days = end.as_secs_f64() / DAY.as_secs_f64();
        let mean = starts.iter().map(|starts| f64::from(*starts)).sum::<f64>() / starts.len().max(1) as f64 / days;
        (mean, self.day.disks.iter().map(|disk| disk.starts_most).max().unwrap_or(0))
    }
    /// Loads of the heads other than at starts, per disk and 24 hours.
    pub fn loads(&self, end: Time) -> f64 {
        let loads: f64 = self.day.disks.iter().map(|disk| f64::from(disk.loads)).sum();
        loads / self.day.disks.len().max(1) as f64 / (end.as_secs_f64() / DAY.as_secs_f64())
    }
    /// Starts by kind of cause.
    pub fn causes(&self) -> [u32; Cause::KINDS] {
        let mut sum = [0; Cause::KINDS];
        for disk in &self.day.disks {
            for (kind, starts) in disk.starts.iter().enumerate() {
                sum[kind] += starts;
            }
        }
        sum
    }
    /// Wait of a request for its disk that this part of all requests does not exceed.
    pub fn wait(&self, part: f64) -> Time {
        let mut waits = self.day.waits.clone();
        waits.sort_unstable();
        let last = waits.len().saturating_sub(1);
        let place = units::word(units::whole((waits.len() as f64 * part).ceil()).saturating_sub(1)) as usize;
        waits.get(place.min(last)).copied().unwrap_or_default()
    }
}

/// What an engine finds wrong with a plan: the key, what, and what would be right.
pub fn check(plan: &StoragePlan) -> Vec<(String, String, String)> {
    let wrong = plan.power.iter().enumerate().filter_map(|(number, one)| {
        let (key, message, help) = match power::profiles(one) {
            Ok(None) => {
                ("drive", "the plan does not say what its disks draw".to_owned(), "`drive` or `profile`".to_owned())
            }
            _ => power::wrong(one)?,
        };
        Some((format!("power.{number}.{key}"), message, help))
    });
    wrong.collect()
}

/// The requests of a workload. An error says what is too much.
pub fn requests(plan: &StoragePlan, jobs: &[PlanJob]) -> Result<Requests, String> {
    let scale = f64::from(plan.nodes) / f64::from(plan.recorded_nodes.unwrap_or(plan.nodes));
    let blocks = |bytes: Bytes| bytes.mul_f64(scale).get().div_ceil(plan.block.get());
    let all = |job: &PlanJob| blocks(job.input).saturating_add(if plan.writes { blocks(job.output) } else { 0 });
    let total = jobs.iter().map(all).fold(0, u64::saturating_add);
    let last = jobs.iter().map(|job| job.at).max().unwrap_or_default();
    let disks = u64::from(plan.nodes) * u64::from(plan.primary_disks + plan.backup_disks);
    let works = plan.background.iter().map(|work| disks.saturating_mul(DAY.max(last) / work.every));
    let total = works.fold(total, u64::saturating_add);
    if total > MOST {
        return Err(format!("{total} requests of the disks are more than {MOST}: larger blocks or fewer nodes"));
    }
    let readers: Vec<usize> = (0..jobs.len()).filter(|job| jobs[*job].input > Bytes::ZERO).collect();
    let files = plan.files.map_or(readers.len(), |files| files as usize).max(1);
    let popularity = Zipf::new(files, plan.zipf);
    let mut draw = RandomStream::new(plan.seed, "power/popularity", 0);
    let places = Places::new(plan);
    let mut found = Requests {
        accesses: Vec::new(),
        end: DAY,
        readers: readers.len(),
        files: 0,
        read: Bytes::ZERO,
        written: Bytes::ZERO,
    };
    let mut used = BTreeSet::new();
    let at_once = u64::from(plan.nodes) * u64::from(plan.slots);
    for (number, job) in jobs.iter().enumerate() {
        let count = blocks(job.input);
        let wave = |block: u64| job.at.saturating_add(plan.block_time.saturating_mul(block / at_once));
        if count > 0 {
            let file = popularity.draw(&mut draw) as u64;
            used.insert(file);
            let mut left = job.input.mul_f64(scale);
            for block in 0..count {
                let bytes = left.min(plan.block);
                left = left.saturating_sub(bytes);
                found.read += bytes;
                found.accesses.push(places.access(wave(block), Op::Read, bytes, places.of(0, file, block)));
            }
        }
        if plan.writes {
            let written = wave(count).saturating_add(plan.block_time);
            let mut left = job.output.mul_f64(scale);
            for block in 0..blocks(job.output) {
                let bytes = left.min(plan.block);
                left = left.saturating_sub(bytes);
                let homes = places.of(1, number as u64, block);
                found.written += bytes * homes.len() as u64;
                let at = written.saturating_add(plan.block_time.saturating_mul(block / at_once));
                found.accesses.push(places.access(at, Op::Write, bytes, homes));
            }
        }
    }
    found.files = used.len();
    let last = found.accesses.iter().map(|access| access.at).max().unwrap_or_default();
    found.end = DAY.max(last.saturating_add(REST));
    for (number, work) in plan.background.iter().enumerate() {
        for disk in 0..units::word(disks) {
            let mut random = RandomStream::new(plan.seed, "power/background", (number as u64) << 32 | u64::from(disk));
            let mut due = work.every.mul_f64(random.uniform());
            while due < found.end.saturating_sub(REST) {
                let jitter = work.jitter.mul_f64(random.uniform() * 2.0);
                let at = due.saturating_add(jitter).saturating_sub(work.jitter);
                let cause = Cause::Background(u8::try_from(number).unwrap_or(u8::MAX));
                let access = places.access(at, Op::Read, work.bytes, vec![disk]);
                found.accesses.push(Access { cause, deferrable: work.deferrable, ..access });
                due = due.saturating_add(work.every);
            }
        }
    }
    found.accesses.sort_by_key(|access| access.at);
    Ok(found)
}

/// Replays requests under one of the plan's policies.
pub fn run(plan: &StoragePlan, power: &Power, requests: &Requests) -> Result<PolicyDay, String> {
    let Ok(Some((primary, backup))) = power::profiles(power) else {
        return Err("a plan whose disks have no profile".to_owned());
    };
    let settings = power::settings(power);
    let node = |_| {
        let primaries = (0..plan.primary_disks).map(|_| (primary, 0));
        let backups = (0..plan.backup_disks).map(|disk| (backup, gear(plan, disk)));
        primaries.chain(backups).collect::<Vec<_>>()
    };
    let spec = DaySpec {
        nodes: (0..plan.nodes).map(node).collect(),
        settings,
        order: match plan.order {
            ReplicaOrder::Awake => ReadOrder::Awake,
            ReplicaOrder::Blind => ReadOrder::Blind,
        },
        gears: GearsSpec::of(plan.replication),
        windows: plan.window,
        offload: plan.offload,
        end: requests.end,
    };
    let day = replay(&spec, &requests.accesses).map_err(|error: DayError| error.to_string())?;
    let sum = |of: fn(&storage::power::day::DiskDay) -> Energy| day.disks.iter().map(of).sum::<Energy>();
    let (energy, always_on, least) = (sum(|disk| disk.energy), sum(|disk| disk.always_on), sum(|disk| disk.least));
    let (firsts, others) = (f64::from(plan.primary_disks), f64::from(plan.backup_disks));
    let rest = |profile: &Profile, deepest: Option<Depth>| {
        let mut depths = Depth::ALL.into_iter().rev().filter(|depth| deepest.is_some_and(|deepest| *depth <= deepest));
        depths.find_map(|depth| profile.rest(depth)).map_or(profile.idle, |rest| rest.power).as_watts()
    };
    let idle = firsts * primary.idle.as_watts() + others * backup.idle.as_watts();
    let part = |first: f64, other: f64| 1.0 - (firsts * first + others * other) / idle.max(f64::MIN_POSITIVE);
    Ok(PolicyDay {
        power: power.clone(),
        energy,
        always_on,
        least,
        ceiling: part(primary.idle.as_watts(), rest(&backup, Some(Depth::Standby))),
        ceiling_of_depths: part(rest(&primary, settings.primaries), rest(&backup, settings.backups)),
        ceilings_of_codes: [ErasureCoding::Rs32, ErasureCoding::Rs63, ErasureCoding::Rs104]
            .into_iter()
            .filter_map(|code| {
                let (data, parity) = code.parts();
                Some((code, backup.ceiling(Depth::Standby, data, data + parity)?))
            })
            .collect(),
        day,
    })
}

fn gear(plan: &StoragePlan, disk: u32) -> u32 {
    power::gear_of(disk, plan.backup_disks, plan.replication)
}

/// Where blocks lie.
struct Places<'a> {
    plan: &'a StoragePlan,
    /// The backup disks of a node, by gear.
    gears: Vec<Vec<u32>>,
}

impl<'a> Places<'a> {
    fn new(plan: &'a StoragePlan) -> Self {
        let of = |wanted: u32| (0..plan.backup_disks).filter(|disk| gear(plan, *disk) == wanted).collect();
        Self { plan, gears: (1..plan.replication).map(of).collect() }
    }
    fn access(&self, at: Time, op: Op, bytes: Bytes, homes: Vec<u32>) -> Access {
        let service = self.plan.position.saturating_add(self.plan.rate.transmission_time(bytes));
        let cause = if op == Op::Read { Cause::Read } else { Cause::Write };
        Access { at, op, service, homes, cause, deferrable: false }
    }
    /// The disks of a block, each on another node.
    fn of(&self, kind: u64, file: u64, block: u64) -> Vec<u32> {
        let plan = self.plan;
        let each = plan.primary_disks + plan.backup_disks;
        let mut random = RandomStream::new(plan.seed, "power/places", kind << 63 | file << 32 | block);
        let mut nodes: Vec<u32> = Vec::new();
        while nodes.len() < plan.replication as usize {
            let node = units::word(random.below(u64::from(plan.nodes)));
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        let mut pick = |number: u32| units::word(random.below(u64::from(number.max(1))));
        let disk = |replica: usize| match replica.checked_sub(1) {
            None => pick(plan.primary_disks),
            Some(gear) => {
                let disks = &self.gears[gear];
                plan.primary_disks + disks[pick(units::count(disks.len())) as usize]
            }
        };
        let disks: Vec<u32> = (0..nodes.len()).map(disk).collect();
        nodes.iter().zip(disks).map(|(node, disk)| node * each + disk).collect()
    }
}

/// Zipf's law over so many ranks.
struct Zipf {
    /// Sums of the weights up to each rank.
    sums: Vec<f64>,
}

impl Zipf {
    fn new(ranks: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weights = (1..=ranks).map(|rank| {
            sum += libm::pow(rank as f64, -exponent);
            sum
        });
        Self { sums: weights.collect() }
    }
    /// A rank, from 0.
    fn draw(&self, random: &mut RandomStream) -> usize {
        let at = random.uniform() * self.sums.last().copied().unwrap_or(0.0);
        self.sums.partition_point(|sum| *sum <= at).min(self.sums.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Time = Time::from_secs(1);

    fn plan(text: &str) -> StoragePlan {
        StoragePlan::parse("plan.toml", text, check).unwrap_or_else(|error| panic!("{error}"))
    }

    /// No request at all. A disk idles for its break-even time of each depth (Idle_B after 0.65 x (0.6 x 29.07 - 6.56)
    /// / 1.41 seconds), then rests: nothing but the first seconds is lost against the ceiling, and the oracle loses
    /// nothing.
    #[test]
    fn a_day_without_requests_saves_what_the_ceiling_allows() {
        let plan = plan("nodes = 3\n[[power]]\ndrive = \"constellation-es3-4tb\"\npolicy = \"timeout\"\n");
        let requests = requests(&plan, &[]).unwrap();
        assert_eq!((requests.end, requests.accesses.len()), (S * 86_400, 0));
        let day = run(&plan, &plan.power[0], &requests).unwrap();
        let always_on = 9.0 * 7.97 * 86_400.0;
        assert!((day.always_on.as_joules() - always_on).abs() < 1e-3);
        let least = 3.0 * 7.97 * 86_400.0 + 6.0 * 1.2 * 86_400.0;
        assert!((day.least.as_joules() - least).abs() < 1e-3, "{}", day.least.as_joules());
        assert!((day.ceiling - (7.97 - 1.2) * 2.0 / (3.0 * 7.97)).abs() < 1e-9);
        assert!(day.saved() < day.ceiling && day.saved() > day.ceiling - 0.001);
        assert_eq!((day.starts(requests.end), day.wait(0.99)), ((0.0, 0), Time::ZERO));
    }

    /// 600 machines' bytes on 60 nodes: a tenth, in whole blocks on a primary and two backup disks of other nodes.
    #[test]
    fn requests_are_the_workloads_scaled() {
        let plan = plan(
            "nodes = 60\nrecorded-nodes = 600\nblock = \"64 MB\"\nwrites = true\nbackup-disks = 4\n\
             [power]\ndrive = \"diamondmax-21\"\n",
        );
        let job = PlanJob { at: S * 50, input: Bytes::from_mb(1_600), output: Bytes::from_mb(10) };
        let late = PlanJob { at: S * 90_000, input: Bytes::from_mb(10), output: Bytes::ZERO };
        let requests = requests(&plan, &[job, late]).unwrap();
        assert_eq!((requests.read, requests.written, requests.readers), (Bytes::from_mb(161), Bytes::from_mb(3), 2));
        assert_eq!(requests.end, S * 93_600);
        let reads = requests.accesses.iter().filter(|access| access.op == Op::Read);
        assert_eq!(reads.count(), 4, "160 MB are three blocks");
        for access in &requests.accesses {
            let nodes: BTreeSet<u32> = access.homes.iter().map(|disk| disk / 5).collect();
            assert_eq!(nodes.len(), 3, "each on another node");
            let places: Vec<u32> = access.homes.iter().map(|disk| disk % 5).collect();
            assert!(places[0] == 0 && [1, 2].contains(&places[1]) && [3, 4].contains(&places[2]), "{places:?}");
        }
    }

    /// 1 / rank over three ranks: 6, 3 and 2 of 11.
    #[test]
    fn files_are_popular_as_zipf_has_it() {
        let (zipf, mut random) = (Zipf::new(3, 1.0), RandomStream::new(1, "test", 0));
        let mut drawn = [0.0; 3];
        for _ in 0..110_000 {
            drawn[zipf.draw(&mut random)] += 1.0;
        }
        for (found, expected) in drawn.into_iter().zip([60_000.0_f64, 30_000.0, 20_000.0]) {
            // Four standard deviations are below 700.
            assert!((found - expected).abs() < 700.0, "{drawn:?}");
        }
    }

    /// Every ten minutes a disk is asked how full it is, which no disk at rest survives; planned windows gather that.
    #[test]
    fn planned_windows_let_disks_rest() {
        let text = |window: &str| {
            format!(
                "nodes = 3\n{window}\n[[background]]\nname = \"du\"\nevery = \"600 s\"\njitter = \"60 s\"\n\
                 [power]\ndrive = \"constellation-es3-4tb\"\npolicy = \"timeout\"\n"
            )
        };
        let day = |window: &str| {
            let plan = plan(&text(window));
            let requests = requests(&plan, &[]).unwrap();
            let day = run(&plan, &plan.power[0], &requests).unwrap();
            (day.starts(requests.end), day.saved(), day.causes())
        };
        let (at_once, windows) = (day(""), day("window = \"1 d\""));
        assert!(at_once.0.1 <= 24 && at_once.0.1 > 20, "up to the budget: {at_once:?}");
        assert_eq!(at_once.2[Cause::Background(0).kind()], at_once.2.iter().sum::<u32>());
        // Six of nine disks may rest; each has one window.
        assert_eq!((windows.0, windows.2[Cause::Window.kind()]), ((6.0 / 9.0, 1), 6));
        assert!(windows.1 > 0.56, "{windows:?}");
        // 24 rests of about 571 s (600 s less the time to standby) save 56.6 % of 0.16 of the day; for the rest of it
        // the budget leaves Idle_C, which saves 2 / 3 x 46.7 % less its own seconds at idle: 33 % together.
        assert!((at_once.1 - 0.33).abs() < 0.02, "{at_once:?}");
    }

    #[test]
    fn drives_and_budgets_that_cannot_be_are_refused() {
        let error = |power: &str| {
            let text = format!("nodes = 3\n[[power]]\n{power}\n");
            StoragePlan::parse("plan.toml", &text, check).unwrap_err().to_string()
        };
        for (power, expected) in [
            ("policy = \"timeout\"", "the plan does not say what its disks draw; `drive` or `profile`"),
            (
                "drive = \"diamondmax-12\"",
                "plan.toml:3:9: `diamondmax-12` is not a drive here; did you mean `diamondmax-21`?",
            ),
            (
                "drive = \"diamondmax-21\"\npolicy = \"gears\"\nspin-ups = 0",
                "plan.toml:5:12: the policy puts disks into standby",
            ),
            (
                "profile = { read = \"9 W\", write = \"9 W\", idle = \"5 W\", standby = \"6 W\" }",
                "standby (6 W) draws more than idle (5 W)",
            ),
            ("drive = \"diamondmax-21\"\nbackup-drive = \"x\"", "`x` is not a drive here"),
            ("backup-drive = \"diamondmax-21\"", "backup disks have a drive, and primary disks have none"),
        ] {
            let found = error(power);
            assert!(found.contains(expected), "{found}");
        }
    }
}
