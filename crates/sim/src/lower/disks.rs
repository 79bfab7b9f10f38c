//! Disks: their models, and what each holds.

use hadoop::{Data, Disks};
use scenario::{Array, Check, Disk, DiskLayout, DiskPreset, DiskRole, DiskScheduler, Node, RaidLevel, Storage};
use storage::{ArraySpec, DiskSpec, MediaRate, SeekCurve, VolumeSpec};
use units::{Bytes, Time};

/// The model of a disk, or of an array of them.
pub(super) fn volume(disk: &Disk, overrides: &Storage) -> VolumeSpec {
    VolumeSpec { disk: disk_spec(disk, overrides), array: disk.array.as_ref().map(array) }
}

fn array(array: &Array) -> ArraySpec {
    ArraySpec { level: level(array.level), members: array.members, unit: array.unit, rebuild: ArraySpec::SYNC_SPEED }
}

const fn level(level: RaidLevel) -> storage::RaidLevel {
    match level {
        RaidLevel::Raid0 => storage::RaidLevel::Raid0,
        RaidLevel::Raid1 => storage::RaidLevel::Raid1,
        RaidLevel::Raid5 => storage::RaidLevel::Raid5,
    }
}

/// A disk's own figures come before the cluster's, and these before those of its preset.
pub(super) fn disk_spec(disk: &Disk, overrides: &Storage) -> DiskSpec {
    let spec = match disk.preset {
        DiskPreset::Sata2009 => DiskSpec::st3160318as(),
        DiskPreset::Sata500 => DiskSpec::sata_500(),
        DiskPreset::Sas10k => DiskSpec::sas_10k(),
        DiskPreset::Ssd => DiskSpec::f40a(),
        DiskPreset::Hdd16Tb => DiskSpec::exos_x16(),
        DiskPreset::Hdd22Tb => DiskSpec::ultrastar_hc570(),
        DiskPreset::SataSsd => DiskSpec::micron_5300(),
        DiskPreset::Nvme => DiskSpec::nvme(),
        DiskPreset::NandFlash => DiskSpec::nexus7_flash(),
        DiskPreset::Virtual => DiskSpec::virtual_disk(),
    };
    let position = disk.position.or(overrides.position);
    let (read, write) = (disk.read.or(overrides.read), disk.write.or(overrides.write));
    match spec {
        DiskSpec::Rotating(mut rotating) => {
            if let Some(position) = position {
                rotating.seek = SeekCurve::flat(position);
                (rotating.revolution, rotating.overhead) = (Time::ZERO, Time::ZERO);
            }
            rotating.read = read.map_or(rotating.read, MediaRate::flat);
            rotating.write = write.map_or(rotating.write, MediaRate::flat);
            rotating.interface = rotating.interface.max(rotating.read.outer).max(rotating.write.outer);
            rotating.scheduler = match disk.scheduler {
                None => rotating.scheduler,
                Some(DiskScheduler::Cfq) => storage::DiskScheduler::CFQ,
                Some(DiskScheduler::Ncq) => storage::DiskScheduler::NCQ,
            };
            rotating.layout = match disk.layout {
                DiskLayout::InPlace => storage::Layout::InPlace,
                DiskLayout::Log => storage::Layout::Log,
            };
            DiskSpec::Rotating(rotating)
        }
        DiskSpec::Flash(mut flash) => {
            flash.read_latency = position.unwrap_or(flash.read_latency);
            flash.write_latency = position.unwrap_or(flash.write_latency);
            flash.read_rate = read.unwrap_or(flash.read_rate);
            flash.write_rate = write.unwrap_or(flash.write_rate);
            DiskSpec::Flash(flash)
        }
    }
}

/// What a disk, or an array of them, can store of HDFS's blocks.
pub(super) fn room_for_blocks(disk: &Disk, overrides: &Storage) -> Bytes {
    if data(disk) == [Data::Intermediate] {
        return Bytes::ZERO;
    }
    let disks = disk.array.as_ref().map_or(1, |array| match array.level {
        RaidLevel::Raid0 => array.members,
        RaidLevel::Raid1 => 1,
        RaidLevel::Raid5 => array.members - 1,
    });
    disk_spec(disk, overrides).capacity() * u64::from(disks)
}

/// How long a spare for a member of an array takes to be filled: at the array's rate, or as fast as its disk writes.
pub fn fill_time(disk: &Disk, overrides: &Storage) -> Time {
    let spec = disk_spec(disk, overrides);
    let written = match spec {
        // Tracks take equally long, whatever zone they are in.
        DiskSpec::Rotating(rotating) => u64::midpoint(rotating.write.outer.as_bps(), rotating.write.inner.as_bps()),
        DiskSpec::Flash(flash) => flash.write_rate.as_bps(),
    };
    let rate = written.min(ArraySpec::SYNC_SPEED.as_bps());
    Time::from_secs_f64(spec.capacity().get() as f64 * 8.0 / rate.max(1) as f64)
}

/// The level of an array, in the engine's words.
pub const fn raid(array: &Array) -> storage::RaidLevel {
    level(array.level)
}

/// What a disk holds.
pub(super) fn data(disk: &Disk) -> Vec<Data> {
    let mut held: Vec<Data> = disk.role.iter().flat_map(|role| held_by(*role)).copied().collect();
    held.sort_unstable();
    held.dedup();
    held
}

const fn held_by(role: DiskRole) -> &'static [Data] {
    match role {
        DiskRole::All => &Data::ALL,
        DiskRole::Hdfs => &[Data::InputPrimary, Data::InputBackup, Data::OutputPrimary, Data::OutputBackup],
        DiskRole::Input => &[Data::InputPrimary, Data::InputBackup],
        DiskRole::Output => &[Data::OutputPrimary, Data::OutputBackup],
        DiskRole::Primary => &[Data::InputPrimary, Data::OutputPrimary],
        DiskRole::Backup => &[Data::InputBackup, Data::OutputBackup],
        DiskRole::Intermediate => &[Data::Intermediate],
    }
}

/// Which of its machine's disks holds what of a node: nothing of it is on those before its own first one.
pub(super) fn places(disks: &[Disk], first: u32) -> Disks {
    let others = std::iter::repeat_n(Vec::new(), first as usize);
    let held: Vec<Vec<Data>> = others.chain(disks.iter().map(data)).collect();
    Disks::new(held.iter().map(Vec::as_slice))
}

/// A disk's role as results name it: "hdfs", "input, intermediate".
pub(super) fn role(disk: &Disk) -> String {
    let words: Vec<&str> = disk.role.iter().map(|role| role.word()).collect();
    words.join(", ")
}

/// Every kind of data has a disk, and every disk has something to hold.
pub(super) fn check(check: &mut Check<'_>) {
    let scenario = check.scenario;
    let own =
        [("node".to_owned(), Some(&scenario.node)), ("cluster.master".to_owned(), scenario.cluster.master.as_ref())];
    let groups = scenario.cluster.group.iter().enumerate();
    let groups = groups.map(|(i, group)| (format!("cluster.group.{i}.node"), group.node.as_ref()));
    for (path, node) in own.into_iter().chain(groups) {
        if let Some(node) = node {
            check_node(check, &path, node);
        }
    }
}

/// What is wrong with a spare of an array whose disks have no size.
pub(super) fn never_filled(disk: &Disk, overrides: &Storage) -> Option<String> {
    let unknown = disk_spec(disk, overrides).capacity() == Bytes::ZERO;
    unknown.then(|| format!("the size of a `{}` is not known, so a spare is never filled", disk.preset.word()))
}

fn check_node(check: &mut Check<'_>, path: &str, node: &Node) {
    if node.disk.is_empty() {
        return check.says(&format!("{path}.disk"), "a node without a disk holds nothing", "at least one");
    }
    for (i, disk) in node.disk.iter().enumerate().filter(|(_, disk)| disk.role.is_empty()) {
        let message = format!("a disk `{}` holds nothing", disk.preset.word());
        check.says(&format!("{path}.disk.{i}.role"), message, "leave `role` out: it holds everything");
    }
    for (i, disk) in node.disk.iter().enumerate() {
        check_disk(check, &format!("{path}.disk.{i}"), disk);
    }
    let held: Vec<Data> = node.disk.iter().flat_map(data).collect();
    let missing: Vec<Data> = Data::ALL.into_iter().filter(|data| !held.contains(data)).collect();
    // What is missing, and the narrowest word that names all of it.
    let words = [
        DiskRole::Intermediate,
        DiskRole::Primary,
        DiskRole::Backup,
        DiskRole::Input,
        DiskRole::Output,
        DiskRole::Hdfs,
        DiskRole::All,
    ];
    let names_all = |role: &DiskRole| missing.iter().all(|data| held_by(*role).contains(data));
    if let (Some(role), false) = (words.into_iter().find(names_all), missing.is_empty()) {
        let names: Vec<&str> = missing.into_iter().map(name).collect();
        let help = format!("a disk whose `role` names \"{}\", or one without `role`", role.word());
        check.says(&format!("{path}.disk"), format!("no disk of this node holds {}", names.join(", ")), help);
    }
}

fn check_disk(check: &mut Check<'_>, path: &str, disk: &Disk) {
    if let Some(array) = &disk.array {
        let least = level(array.level).least();
        if array.members < least {
            let message = format!("{} of {} disks is no array", array.level.word(), array.members);
            let help = format!("at least {least} `members`; parity of one disk is a mirror: `raid-1`");
            check.says(&format!("{path}.array.members"), message, help);
        }
        let lacks_time = array.level != RaidLevel::Raid0 && array.replace == Time::ZERO;
        if let (Some(_), true, Some(message)) =
            (disk.failure_rate, lacks_time, never_filled(disk, &check.scenario.storage))
        {
            let help = "`array.replace` with the time until it is, or a `preset` with a size";
            check.says(&format!("{path}.failure-rate"), message, help);
        }
    }
    let rotates = matches!(disk_spec(disk, &check.scenario.storage), DiskSpec::Rotating(_));
    if disk.layout == DiskLayout::Log {
        let path = format!("{path}.layout");
        if !rotates {
            let message = format!(
                "a `{}` writes wherever it has erased cells, whatever its file system does",
                disk.preset.word()
            );
            check.says(&path, message, "leave it out, or take a rotating disk, `sata-2009` say");
        } else if disk.array.is_some() {
            let message = "an array's members do not see the log that is written to it";
            check.says(&path, message, "leave it out, or single disks in place of the array");
        }
    }
    if disk.scheduler.is_some() && !rotates {
        let message = format!("a `{}` has no head whose way the order could shorten", disk.preset.word());
        check.says(&format!("{path}.scheduler"), message, "leave it out, or take a rotating disk, `sata-2009` say");
    }
}

/// A kind of data in messages.
pub(super) const fn name(data: Data) -> &'static str {
    match data {
        Data::InputPrimary => "first replicas of input",
        Data::InputBackup => "other replicas of input",
        Data::OutputPrimary => "first replicas of output",
        Data::OutputBackup => "other replicas of output",
        Data::Intermediate => "intermediate data",
    }
}
