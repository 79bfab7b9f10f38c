//! What is packaged is what systemd and the program understand. Where the machine has no systemd-analyze, these fail
//! and say so; a service manager need not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_trunkline");
/// Where the units expect it.
const INSTALLED: &str = "/usr/local/bin/trunkline";
/// Sends the signal of a reload. Hosts with systemd have it; where these tests run, nobody needs it.
const KILL: &str = "/bin/kill";
/// Targets that every service needs, and those that ours name. They stand beside the units, so that no unit of the
/// host is read.
const TARGETS: [&str; 4] = ["basic", "network-online", "shutdown", "sysinit"];
/// Of 10, as `systemd-analyze security` counts what a service could do to its host; 2 and less it calls well protected.
const EXPOSURE: &str = "20";

fn packaged(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(path)
}
/// The units, with the program as it was built, in a folder that has all that they name.
fn units(folder: &Path) -> Vec<PathBuf> {
    let packaged = packaged("systemd");
    let mut units = Vec::new();
    for name in ["trunkline-jet-gateway.service", "trunkline-jet-serve.service", "trunkline-power.service"] {
        let text = fs::read_to_string(packaged.join(name)).expect("packaged");
        assert!(text.contains(INSTALLED), "{name}");
        units.push(folder.join(name));
        fs::write(folder.join(name), text.replace(INSTALLED, PROGRAM).replace(KILL, PROGRAM))
            .expect("a scratch folder");
    }
    for target in TARGETS {
        fs::write(folder.join(format!("{target}.target")), "[Unit]\nDescription=Stub\n").expect("a scratch folder");
    }
    for (unit, more) in
        [("trunkline-jet-gateway", "trunkline-jet-redirect"), ("trunkline-power", "trunkline-power-ata")]
    {
        let place = folder.join(format!("{unit}.service.d"));
        fs::create_dir_all(&place).expect("a scratch folder");
        fs::copy(packaged.join(format!("{more}.conf")), place.join("more.conf")).expect("packaged");
    }
    units
}
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}
/// Judges a unit by what stands in its folder alone: a broken unit of the host is not ours.
fn analyze(arguments: &[&str], unit: &Path) -> Output {
    let mut command = Command::new("systemd-analyze");
    command.args(arguments).arg(unit).env("SYSTEMD_UNIT_PATH", unit.parent().expect("it lies in a folder"));
    command.output().expect("systemd-analyze (Debian: systemd) is there")
}
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
/// A directive's value.
fn value<'a>(unit: &'a str, directive: &str) -> &'a str {
    let found = unit.lines().find_map(|line| line.strip_prefix(directive)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("{directive}: {unit}"))
}

#[test]
fn systemd_understands_the_units_and_finds_them_well_protected() {
    for unit in units(&scratch("units")) {
        let verified = analyze(&["verify", "--man=no"], &unit);
        // It warns of what it does not know, and goes on.
        assert!(verified.status.success() && verified.stderr.is_empty(), "{}", text(&verified.stderr));
        let secured = analyze(&["security", "--offline=true", "--no-pager", "--threshold", EXPOSURE], &unit);
        assert!(secured.status.success(), "{}", text(&secured.stdout));
    }
}

/// What the units of the gateways and the examples of their settings say to the program it takes: all that it lacks
/// are peers.
#[test]
fn the_program_understands_the_units() {
    let keys = scratch("keys");
    for unit in units(&scratch("told")).into_iter().filter(|unit| unit.to_string_lossy().contains("-jet-")) {
        let unit = fs::read_to_string(unit).expect("just written");
        let settings = value(&unit, "EnvironmentFile").strip_prefix("/etc/").expect("an absolute path");
        let settings = fs::read_to_string(packaged(settings)).expect("packaged");
        let example = settings.lines().find_map(|line| line.strip_prefix("#OPTIONS=")).expect("it has an example");
        let started = value(&unit, "ExecStart");
        let state = format!("%S/{}", value(&unit, "StateDirectory"));
        assert!(started.contains(&format!("--keys {state} ")), "{started}");
        let started = started.replace(&state, &keys.display().to_string()).replace("$OPTIONS", example);
        let mut words = started.split_whitespace();
        assert_eq!(words.next(), Some(PROGRAM));
        let ran = Command::new(PROGRAM).args(words).output().expect("the program is built");
        let said = text(&ran.stderr);
        assert!(ran.status.code() == Some(2) && said.contains("no peer is known"), "{started}: {said}");
    }
}

/// So it takes the words of the unit of backup disks, and the configuration that is packaged with it.
#[test]
fn the_program_understands_the_configuration_of_power() {
    let folder = scratch("power");
    let unit = units(&folder).into_iter().find(|unit| unit.ends_with("trunkline-power.service")).expect("it is one");
    let unit = fs::read_to_string(unit).expect("just written");
    let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/power.toml");
    let started = value(&unit, "ExecStart").replace("/etc/trunkline/power.toml", &packaged.display().to_string());
    let ran = Command::new(PROGRAM).args(started.split_whitespace().skip(1)).arg("--check").output();
    let ran = ran.expect("the program is built");
    assert!(ran.status.success(), "{started}: {}", text(&ran.stderr));
    // The disks of the example are nobody's.
    let ran = Command::new(PROGRAM).args(started.split_whitespace().skip(1)).output().expect("the program is built");
    assert!(ran.status.code() == Some(2) && text(&ran.stderr).contains("disk backup-1"), "{}", text(&ran.stderr));
}
