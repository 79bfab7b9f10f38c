//! `trunkline power daemon`, `status`, `tell`.

use crate::args::{PowerDaemon as Args, PowerStatus, PowerTell};
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::screen::Screen;
use crate::table::Table;
use runs::{Error, Inputs};
use scenario::{PowerDaemon, PowerDisk, PowerDriver, PowerEnd};
use sim::power_daemon::{check, lower};
use standby::{DaemonSpec, DeviceSpec, DiskSpec, DriverSpec, Event, Programs, Spec, Status};
use std::env;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use storage::power::Profile;
use units::Power;

/// Runs the daemon until a signal ends it.
pub fn daemon(args: &Args) -> Result<(), Failure> {
    let text = Inputs::new(&STOP).text(&args.config)?;
    let config = PowerDaemon::parse(&args.config.to_string_lossy(), &text, check).map_err(Error::Scenario)?;
    if args.check {
        return emit(&format!("{}: nothing is wrong\n", args.config.display()));
    }
    let say = |line: &str| {
        // A log that nobody takes keeps no disk from its rest.
        let _ = writeln!(io::stderr().lock(), "{line}");
    };
    standby::run(&spec(&config), &|| STOP.requested(), &say).map_err(|failure| match failure {
        standby::Failure::Input(why) => Failure::Input(why),
        standby::Failure::Missing(why) => Failure::Missing(why),
        standby::Failure::Output(why) => Failure::Output(why),
    })
}

/// Prints what the daemon says of itself.
pub fn status(args: &PowerStatus) -> Result<(), Failure> {
    let answer = ask(&args.socket, "{\"ask\": \"status\"}")?;
    let unknown = |error| Failure::Input(format!("{}: no daemon of this kind: {error}", args.socket.display()));
    let status: Status = serde_json::from_value(answer["status"].clone()).map_err(unknown)?;
    if args.json {
        return emit(&format!("{:#}\n", answer["status"]));
    }
    emit(&shown(&status, &Screen::of_output()))
}

/// Says a line to the daemon.
pub fn tell(args: &PowerTell) -> Result<(), Failure> {
    let line = args.line.replace('\n', " ");
    emit(&format!("{}\n", ask(&args.socket, &line)?))
}

fn ask(socket: &Path, line: &str) -> Result<serde_json::Value, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::Input(format!("no daemon answers on {}: {why}; `--socket` says where it listens", socket.display()))
    };
    let answer = standby::ask(socket, line).map_err(|error| failed(&error))?;
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(|error| failed(&error))?;
    match answer["error"].as_str() {
        Some(error) => Err(Failure::Input(format!("the daemon refuses: {error}"))),
        None => Ok(answer),
    }
}

fn spec(config: &PowerDaemon) -> DaemonSpec {
    let folder = |variable: &str, other: &str| {
        // systemd names several, with colons between them.
        let named = env::var(variable).ok().and_then(|folders| folders.split(':').next().map(PathBuf::from));
        named.filter(|folder| folder.is_absolute()).unwrap_or_else(|| PathBuf::from(other))
    };
    let socket = config.socket.as_ref().map(PathBuf::from);
    let state = config.state.as_ref().map(PathBuf::from);
    let power = lower(config);
    // Disks that never rest need no drive.
    let profile = power.map_or_else(|| Profile::constant(Power::default()), |power| power.profile);
    let disks = config.disk.iter().map(|disk| DiskSpec { name: disk.name.clone(), profile, gear: disk.gear });
    DaemonSpec {
        spec: Spec {
            settings: power.map_or_else(storage::power::Settings::always_on, |power| power.settings),
            guard: power.and_then(|power| power.guard),
            check: config.check,
            lapse: config.lapse,
            wake_at_end: config.at_end == PowerEnd::Wake,
            disks: disks.collect(),
        },
        devices: config.disk.iter().map(device).collect(),
        policy: config.power.policy.word().to_owned(),
        socket: socket.unwrap_or_else(|| folder("RUNTIME_DIRECTORY", "/run/trunkline-power").join("power.sock")),
        state: state.unwrap_or_else(|| folder("STATE_DIRECTORY", "/var/lib/trunkline-power")),
        sample: config.sample,
        user: config.user.clone(),
        hints: config.hints.clone(),
    }
}

fn device(disk: &PowerDisk) -> DeviceSpec {
    let driver = match disk.driver {
        PowerDriver::Simulated => DriverSpec::Simulated,
        PowerDriver::Command => DriverSpec::Command(Programs {
            rest: disk.rest.clone(),
            wake: disk.wake.clone(),
            state: disk.state.clone(),
        }),
        PowerDriver::Ata => DriverSpec::Ata,
        PowerDriver::Scsi => DriverSpec::Scsi { stop: disk.stop },
    };
    let path = |path: &Option<String>| path.as_ref().map(PathBuf::from);
    DeviceSpec { driver, device: path(&disk.device), stat: path(&disk.stat) }
}

fn shown(status: &Status, screen: &Screen) -> String {
    let mut text = format!("Policy {}", status.policy);
    if let Some(starts) = status.starts_per_day {
        let _ = write!(text, "; {starts} starts a disk in any 24 hours at most");
    }
    text.push_str(".\n");
    if let Some(error) = &status.journal_error {
        let _ = writeln!(text, "{}", screen.wrapped(error, 0));
    }
    text.push('\n');
    let heads = ["disk", "state", "for s", "starts left", "rests", "rested h", "wakes"];
    let mut table = Table::new(heads).optional(&[5, 4]);
    for disk in &status.disks {
        let ledger = &disk.ledger;
        table.row([
            disk.name.clone(),
            disk.state.clone(),
            disk.rests_for_s.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.0}")),
            disk.starts_left.map_or_else(|| "-".to_owned(), |left| format!("{left:.2}")),
            ledger.rests.to_string(),
            format!("{:.1}", (ledger.rested_s + disk.rests_for_s.unwrap_or(0.0)) / 3_600.0),
            ledger.wakes.values().sum::<u64>().to_string(),
        ]);
    }
    text.push_str(&table.shown(screen));
    text.push('\n');
    let mut say = |line: String| {
        text.push_str(&screen.wrapped(&line, 0));
        text.push('\n');
    };
    for disk in &status.disks {
        let wakes: Vec<_> = disk.ledger.wakes.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        if !wakes.is_empty() {
            say(format!("{}: woken for {}", disk.name, wakes.join(", ")));
        }
        if let Some(why) = &disk.why {
            say(format!("{}: its state is not known: {why}", disk.name));
        }
    }
    if let Some((_, Event::Failed { disk, what, why })) = status.events.last() {
        say(format!("{disk}: {what} failed: {why}"));
    }
    text
}
