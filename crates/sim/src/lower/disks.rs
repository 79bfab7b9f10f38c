//! Disks: their models, and what each holds.

use hadoop::{Data, Disks};
use scenario::{Check, Disk, DiskPreset, DiskRole, Node, Storage};
use storage::DiskSpec;
use units::Time;

/// The model of a disk: its own figures before the cluster's, before those of its preset.
pub(super) fn disk_spec(disk: &Disk, overrides: &Storage) -> DiskSpec {
    let spec = match disk.preset {
        DiskPreset::Sata2009 => DiskSpec::st3160318as(),
        DiskPreset::Ssd => DiskSpec::f40a(),
        DiskPreset::NandFlash => DiskSpec::nexus7_flash(),
        DiskPreset::Virtual => DiskSpec::virtual_disk(),
    };
    let position = disk.position.or(overrides.position);
    let (read, write) = (disk.read.or(overrides.read), disk.write.or(overrides.write));
    match spec {
        DiskSpec::Rotating(mut rotating) => {
            rotating.seek = position.unwrap_or(rotating.seek);
            rotating.revolution = if position.is_some() { Time::ZERO } else { rotating.revolution };
            rotating.read_rate = read.unwrap_or(rotating.read_rate);
            rotating.write_rate = write.unwrap_or(rotating.write_rate);
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

/// What a disk holds.
fn data(disk: &Disk) -> Vec<Data> {
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

/// Which of a node's disks holds what.
pub(super) fn places(disks: &[Disk]) -> Disks {
    let held: Vec<Vec<Data>> = disks.iter().map(data).collect();
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

fn check_node(check: &mut Check<'_>, path: &str, node: &Node) {
    if node.disk.is_empty() {
        return check.says(&format!("{path}.disk"), "a node without a disk holds nothing", "at least one");
    }
    for (i, disk) in node.disk.iter().enumerate().filter(|(_, disk)| disk.role.is_empty()) {
        let message = format!("a disk `{}` holds nothing", disk.preset.word());
        check.says(&format!("{path}.disk.{i}.role"), message, "leave `role` out: it holds everything");
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

const fn name(data: Data) -> &'static str {
    match data {
        Data::InputPrimary => "first replicas of input",
        Data::InputBackup => "other replicas of input",
        Data::OutputPrimary => "first replicas of output",
        Data::OutputBackup => "other replicas of output",
        Data::Intermediate => "intermediate data",
    }
}
