//! Power of disks: profiles, policies and limits as `storage::power` has them.

use super::disks::disk_spec;
use crate::chores::{ChoresSpec, Work};
use crate::hosts::MachinePower;
use crate::manager::ManagerSpec;
use hadoop::NodeId;
use hadoop::hdfs::ReadOrder;
use scenario::{
    BackgroundWork, Check, Disk, DriveProfile, Job, NodeSpec, Power, PowerPolicy, RaidLevel, RestDepth, Scenario,
    StartCost, Storage,
};
use storage::DiskSpec;
use storage::power::figures::backup_capacity;
use storage::power::{
    Budget, DRIVES, Depth, Drive, GearsSpec, GuardSpec, Policy, Profile, Rest, Settings, StartEstimate, Transition,
};
use units::{Bytes, Energy, Power as Watts, Time};

/// Something wrong: the key below `[power]`, what, and what would be right.
pub type Wrong = (&'static str, String, String);

/// The profiles of a primary and of a backup disk; `None` where a scenario says nothing of its drives.
pub fn profiles(power: &Power) -> Result<Option<(Profile, Profile)>, Wrong> {
    let named = |key: &'static str, name: &str| {
        Drive::named(name).map(|drive| drive.profile(estimate(power))).ok_or_else(|| {
            let (message, help) = no_drive(name);
            (key, message, help)
        })
    };
    let primary = match (&power.profile, &power.drive) {
        (Some(_), Some(_)) => {
            return Err(("profile", "a drive by name and a profile are given".to_owned(), "one of them".to_owned()));
        }
        (Some(own), None) => {
            let profile = own_profile(own);
            let help = "idle at most as much as active, each deeper state at most as much as the one above";
            profile.check().map_err(|error| ("profile", error.to_string(), help.to_owned()))?;
            Some(profile)
        }
        (None, Some(name)) => Some(named("drive", name)?),
        (None, None) => None,
    };
    let backup = power.backup_drive.as_ref().map(|name| named("backup-drive", name)).transpose()?;
    match (primary, backup) {
        (Some(primary), backup) => Ok(Some((primary, backup.unwrap_or(primary)))),
        (None, None) => Ok(None),
        (None, Some(_)) => {
            let message = "backup disks have a drive, and primary disks have none";
            Err(("backup-drive", message.to_owned(), "`drive` or `profile` for the primary disks".to_owned()))
        }
    }
}

fn no_drive(name: &str) -> (String, String) {
    let names: Vec<_> = DRIVES.iter().map(|drive| drive.name).collect();
    let help = match units::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of: {}", names.join(", ")),
    };
    (format!("`{name}` is not a drive here"), help)
}

/// The policy and its limits.
pub fn settings(power: &Power) -> Settings {
    let policy = match power.policy {
        PowerPolicy::AlwaysOn => Policy::AlwaysOn,
        PowerPolicy::Timeout => Policy::Timeout(power.timeout),
        PowerPolicy::Adaptive => Policy::Adaptive,
        PowerPolicy::AsPrinted => Policy::AsPrinted,
        PowerPolicy::Predicted => Policy::Predicted { margin: power.margin },
        PowerPolicy::ByPhase => Policy::Phased { timeout: power.timeout },
        PowerPolicy::Gears => Policy::Gears,
    };
    Settings {
        policy,
        primaries: depth(power.primaries),
        backups: depth(power.backups),
        spin_ups: Budget::per_day(power.spin_ups),
        loads: Budget::per_day(power.loads),
        stagger: power.stagger,
    }
}

/// What is wrong with the keys together.
pub fn wrong(power: &Power) -> Option<Wrong> {
    if let Err(wrong) = profiles(power) {
        return Some(wrong);
    }
    let error = settings(power).check().err()?;
    let standby = [power.primaries, power.backups].contains(&RestDepth::Standby);
    let key = if standby && power.spin_ups < 2 { "spin-ups" } else { "loads" };
    Some((key, error.to_string(), "2 or more, or depths and a policy that need none".to_owned()))
}

/// When writes are many, where it matters.
pub fn guard(power: &Power) -> Option<GuardSpec> {
    power.guard.as_ref().map(|guard| GuardSpec { on: guard.on, off: guard.off, window: guard.window })
}

/// What is wrong with that.
pub fn wrong_guard(power: &Power) -> Option<Wrong> {
    let guard = power.guard.as_ref().filter(|guard| guard.off >= guard.on)?;
    let message = format!("writes are many above {} and few below {}: the two would alternate", guard.on, guard.off);
    Some(("guard.off", message, "an `off` below `on`".to_owned()))
}

const fn depth(depth: RestDepth) -> Option<Depth> {
    match depth {
        RestDepth::Never => None,
        RestDepth::IdleB => Some(Depth::IdleB),
        RestDepth::IdleC => Some(Depth::IdleC),
        RestDepth::Standby => Some(Depth::Standby),
    }
}

fn own_profile(own: &DriveProfile) -> Profile {
    let up = |time: Time, energy: Option<Energy>, power: Watts| Transition {
        time,
        energy: energy.unwrap_or_else(|| power.over(time)),
    };
    let light = |power: Option<Watts>, time: Time, energy: Option<Energy>| {
        Some(Rest { power: power?, down: Transition::default(), up: up(time, energy, own.read) })
    };
    let standby = own.standby.map(|power| Rest {
        power,
        down: up(own.spin_down_time, own.spin_down_energy, power),
        up: up(own.spin_up_time, own.spin_up_energy, own.read),
    });
    Profile {
        read: own.read,
        write: own.write,
        idle: own.idle,
        rests: [
            light(own.idle_b, own.idle_b_time, None),
            light(own.idle_c, own.idle_c_time, own.idle_c_energy),
            standby,
        ],
        start_limit: None,
        load_limit: None,
    }
}

/// The power of a machine's disks; none where the scenario says it of none of them.
pub(super) fn machine(scenario: &Scenario, power: &Power, disks: &[Disk]) -> Option<MachinePower> {
    let settings = settings(power);
    let gears = gears(scenario, disks);
    let profile = |(disk, gear)| Some((profile_of(scenario, power, disk)?, gear));
    let profiles: Vec<_> = disks.iter().zip(gears).map(profile).collect();
    profiles.iter().any(Option::is_some).then_some(MachinePower {
        settings,
        profiles,
        offload: scenario.storage.offload,
    })
}

/// By disk of a node: its gear, 0 of those that are no backup disks.
fn gears(scenario: &Scenario, disks: &[Disk]) -> Vec<u32> {
    let backups = units::count(disks.iter().filter(|disk| disk.is_backup()).count());
    let mut number = 0;
    let gear = |disk: &Disk| {
        if !disk.is_backup() {
            return 0;
        }
        number += 1;
        gear_of(number - 1, backups, scenario.hdfs.replication)
    };
    disks.iter().map(gear).collect()
}

/// Under policy `gears`, by disk of a node's machine, the further replica that it holds; empty under others, where each
/// backup disk holds any.
pub(super) fn gears_of_disks(scenario: &Scenario, node: &NodeSpec) -> Vec<u32> {
    if scenario.power.as_ref().is_none_or(|power| power.policy != PowerPolicy::Gears) {
        return Vec::new();
    }
    let others = std::iter::repeat_n(0, node.first_disk as usize);
    others.chain(gears(scenario, &node.disks)).collect()
}

/// The gear of a backup disk of a node: these are dealt to the further replicas in equal runs.
pub(crate) fn gear_of(disk: u32, backups: u32, replicas: u32) -> u32 {
    let gears = u64::from(replicas.saturating_sub(1).max(1));
    1 + units::word(u64::from(disk) * gears / u64::from(backups.max(1)))
}

/// What a disk draws: by its own drive, else, if it rotates, by that of `[power]`.
fn profile_of(scenario: &Scenario, power: &Power, disk: &Disk) -> Option<Profile> {
    if let Some(name) = &disk.drive {
        return Drive::named(name).map(|drive| drive.profile(estimate(power)));
    }
    let rotates = matches!(disk_spec(disk, &scenario.storage), DiskSpec::Rotating(_));
    let (primary, backup) = profiles(power).ok().flatten().filter(|_| rotates)?;
    Some(if disk.is_backup() { backup } else { primary })
}

const fn estimate(power: &Power) -> StartEstimate {
    match power.start {
        StartCost::Typical => StartEstimate::Typical,
        StartCost::Worst => StartEstimate::Worst,
    }
}

/// Which replica is read.
pub(super) fn read_order(scenario: &Scenario) -> ReadOrder {
    let rests = scenario.power.as_ref().is_some_and(|power| power.policy != PowerPolicy::AlwaysOn);
    match scenario.hdfs.read_order {
        Some(scenario::ReadOrder::Awake) => ReadOrder::Awake,
        None if rests => ReadOrder::Awake,
        Some(scenario::ReadOrder::Nearest) | None => ReadOrder::Nearest,
    }
}

/// What tells the disks' policies in the course of a run; none where disks have no power.
pub(super) fn manager(scenario: &Scenario) -> Option<ManagerSpec> {
    let power = scenario.power.as_ref()?;
    let gears = (power.policy == PowerPolicy::Gears).then(|| GearsSpec::of(scenario.hdfs.replication));
    let slowest = |profile: Profile| profile.rests.iter().flatten().map(|rest| rest.up.time).max().unwrap_or_default();
    let disks = scenario.nodes().into_iter().flat_map(|node| node.disks);
    let times = disks.filter_map(|disk| profile_of(scenario, power, &disk)).map(slowest);
    let slowest = times.max().unwrap_or_default();
    Some(ManagerSpec {
        guard: guard(power),
        gears,
        failing: failing(scenario, power),
        horizon: slowest.saturating_mul(2).saturating_add(power.margin),
        interval: scenario.hdfs.heartbeat,
    })
}

/// What disks do besides jobs; none where they have no power, or nothing to do.
pub(super) fn chores(scenario: &Scenario, seed: u64) -> Option<ChoresSpec> {
    scenario.power.as_ref()?;
    let Storage { window, background, .. } = &scenario.storage;
    let work = |work: &BackgroundWork| Work {
        every: work.every,
        jitter: work.jitter,
        bytes: work.bytes,
        deferrable: work.deferrable,
    };
    let spec = ChoresSpec { window: *window, works: background.iter().map(work).collect(), seed };
    (spec.window.is_some() || !spec.works.is_empty()).then_some(spec)
}

/// What disks are to do besides jobs takes `[power]`, and what waits takes a window.
fn check_chores(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let Storage { window, offload, background, .. } = &scenario.storage;
    let first = [("offload", *offload), ("window", window.is_some()), ("background", !background.is_empty())];
    if let (None, Some((key, _))) = (&scenario.power, first.iter().find(|(_, set)| *set)) {
        let message = "without [power] disks are always ready, and what they do besides jobs is not simulated";
        return check.says(&format!("storage.{key}"), message, "[power] with a `drive`, or leave it out");
    }
    if *offload && window.is_none() {
        let message = "a disk that is not woken for it might never get what logs have for it";
        check.says("storage.offload", message, "`storage.window`, \"1 h\" say");
    }
    if background.len() > usize::from(u8::MAX) {
        check.says("storage.background", format!("{} works", background.len()), "at most 255");
    }
    for (number, work) in background.iter().enumerate().filter(|(_, work)| work.jitter > work.every) {
        let message = format!("a jitter of {} is more than the {} between two times", work.jitter, work.every);
        check.says(&format!("storage.background.{number}.jitter"), message, "less");
    }
}

/// Disks of workers that are expected to fail.
fn failing(scenario: &Scenario, power: &Power) -> Vec<(NodeId, u32)> {
    let Some(least) = power.failing_rate else { return Vec::new() };
    let of_node = |(number, node): (u32, NodeSpec)| {
        let disks = (node.first_disk..).zip(node.disks);
        let fails = move |disk: &Disk| disk.failure_rate.is_some_and(|rate| rate >= least);
        disks.filter(move |(_, disk)| fails(disk)).map(move |(disk, _)| (NodeId(number), disk))
    };
    (0..).zip(scenario.nodes()).skip(1).flat_map(of_node).collect()
}

/// What cannot be about a scenario's power.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let nodes = scenario.nodes();
    let path = |key: &str| format!("power.{key}");
    drives_of_disks(check);
    check_chores(check);
    let Some(power) = &scenario.power else { return };
    if let Some((key, message, help)) = wrong(power) {
        return check.says(&path(key), message, help);
    }
    if let Some((key, message, help)) = wrong_guard(power) {
        check.says(&path(key), message, help);
    }
    if !scenario.has_cluster() {
        return check.says(
            "power",
            "disks are in use by jobs alone, and there is none",
            "a [job], or leave [power] out",
        );
    }
    let known = nodes.iter().flat_map(|node| &node.disks).filter_map(|disk| profile_of(scenario, power, disk));
    let known: Vec<Profile> = known.collect();
    if known.is_empty() {
        let help = "`drive` or `profile`; for flash, `drive` of [[node.disk]]";
        return check.says(&path("drive"), "no disk of this cluster has a drive: what they draw is not known", help);
    }
    if power.policy == PowerPolicy::AlwaysOn {
        return;
    }
    let policy = power.policy.word();
    if [power.primaries, power.backups] == [RestDepth::Never; 2] {
        let message = format!("policy `{policy}` puts disks to rest, and neither primary nor backup disks may");
        return check.says(&path("backups"), message, "a depth, or the policy `always-on`");
    }
    let backups: Vec<&Disk> =
        nodes.iter().skip(1).flat_map(|node| &node.disks).filter(|disk| disk.is_backup()).collect();
    capacity(check, &backups);
    let of_backups = !matches!(power.policy, PowerPolicy::Timeout | PowerPolicy::Adaptive);
    if backups.is_empty() && (of_backups || power.primaries == RestDepth::Never) {
        let message = format!("policy `{policy}` puts backup disks to rest, and no worker has one");
        let help = "[[node.disk]] with `role = \"backup\"`, beside one for the first replicas";
        return check.says(&path("policy"), message, help);
    }
    let mut disks = nodes.iter().skip(1).flat_map(|node| &node.disks);
    let rests = |disk: &Disk| {
        let rest = if disk.is_backup() { power.backups } else { power.primaries };
        rest != RestDepth::Never && profile_of(scenario, power, disk).is_some()
    };
    if !disks.any(rests) {
        let message = format!("policy `{policy}` puts disks to rest, and what those of the workers draw is not known");
        let help = "`drive` of [[node.disk]] for flash, or disks that rotate";
        return check.says(&path("policy"), message, help);
    }
    for (key, rest, backup) in [("backups", power.backups, true), ("primaries", power.primaries, false)] {
        let Some(deepest) = depth(rest) else { continue };
        let mut disks = nodes.iter().skip(1).flat_map(|node| &node.disks).filter(|disk| disk.is_backup() == backup);
        let lacks = |disk: &&Disk| {
            let profile = profile_of(scenario, power, disk);
            profile.is_some_and(|profile| !Depth::ALL.iter().any(|own| *own <= deepest && profile.rest(*own).is_some()))
        };
        if disks.any(|disk| lacks(&disk)) {
            let message = format!("`{key}` may rest as deep as `{}`, and their drive has no such state", rest.word());
            check.says(&path(key), message, "a depth that their drive has, `never`, or another drive");
        }
    }
}

/// Backup disks hold all further replicas of the input: (n - 1) : 1 (Yang 2012, 4.4.4).
fn capacity(check: &mut Check<'_>, backups: &[&Disk]) {
    let scenario = check.scenario;
    let of = |disk: &&Disk| {
        let one = disk_spec(disk, &scenario.storage).capacity();
        let members = disk.array.as_ref().map_or(1, |array| match array.level {
            RaidLevel::Raid0 => array.members,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid5 => array.members.saturating_sub(1),
        });
        one * u64::from(members)
    };
    let room: Bytes = backups.iter().map(of).sum();
    let jobs = scenario.job.iter().filter(|job| !job.generated);
    let of_job = |job: &Job| if job.splits.is_empty() { job.input } else { job.splits.iter().copied().sum() };
    let input = jobs.map(of_job).sum::<Bytes>().mul_f64(scenario.mapreduce.data_scale);
    let replicas = scenario.hdfs.replication;
    let needed = backup_capacity(input.get() as f64, replicas);
    if !backups.is_empty() && needed > room.get() as f64 {
        let message = format!(
            "{replicas} replicas of {input:.1} leave {:.1} to the backup disks, and these hold {room:.1}",
            Bytes::new(units::whole(needed))
        );
        check.says(
            "hdfs.replication",
            message,
            "backup disks of n - 1 times the primaries' capacity (4.4.4), or fewer replicas",
        );
    }
}

/// Drives of single disks have names.
fn drives_of_disks(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let own =
        [("node".to_owned(), Some(&scenario.node)), ("cluster.master".to_owned(), scenario.cluster.master.as_ref())];
    let groups = scenario.cluster.group.iter().enumerate();
    let groups = groups.map(|(i, group)| (format!("cluster.group.{i}.node"), group.node.as_ref()));
    for (path, node) in own.into_iter().chain(groups) {
        for (i, disk) in node.iter().flat_map(|node| node.disk.iter().enumerate()) {
            let Some(name) = &disk.drive else { continue };
            let path = format!("{path}.disk.{i}.drive");
            if Drive::named(name).is_none() {
                let (message, help) = no_drive(name);
                check.says(&path, message, help);
            } else if scenario.power.is_none() {
                check.says(&path, "what this drive draws is not asked for", "a [power], or leave `drive` out");
            }
        }
    }
}
