//! What the daemon of `trunkline power daemon` is told: disks, drivers, policy, who may give hints.

use super::file_kind::FileKind;
use super::key::{choice, section};
use super::power::{Contradiction, Power, read_file};
use super::problem::ScenarioError;
use std::collections::BTreeSet;
use units::Time;

choice! {
    /// How the daemon talks to a disk.
    pub enum PowerDriver {
        /// A disk in the daemon, by the drive's profile: to try policy, socket and log.
        Simulated = "simulated",
        /// Programs of your own: `rest`, `wake`, `state`.
        Command = "command",
        /// ATA disks, by hdparm.
        Ata = "ata",
        /// SCSI and SAS disks, by sg3-utils.
        Scsi = "scsi",
    }
}

choice! {
    /// What becomes of disks at rest when the daemon ends.
    pub enum PowerEnd {
        /// They are woken.
        Wake = "wake",
        /// They stay as they are.
        Stay = "stay",
    }
}

section! {
    /// A backup disk.
    pub struct PowerDisk {
        /// Its name, in the log and in the journal.
        name: String = String::new();
        /// How the daemon talks to it.
        driver: PowerDriver = PowerDriver::Simulated;
        /// The whole disk, best by its name in /dev/disk/by-id.
        device: Option<String> = None;
        /// Which of the further replicas it holds: the second replica is 1 (policy `gears`).
        gear: u32 = 1, 1..=100;
        /// Stops the unit in place of the power condition standby (driver `scsi`); needs `allow_restart`.
        stop: bool = false;
        /// Words of the program that puts the disk to rest (driver `command`); there is no shell.
        rest: Vec<String> = Vec::new();
        /// Words of the program that starts it and returns when it is ready (driver `command`).
        wake: Vec<String> = Vec::new();
        /// Words of the program that prints `awake` or `standby` (driver `command`).
        state: Vec<String> = Vec::new();
        /// A file with the disk's counters, as /sys/block/DISK/stat (driver `command`). Left out: those of `device`.
        stat: Option<String> = None;
    }
}

section! {
    /// A daemon that puts backup disks into standby.
    pub struct PowerDaemon {
        /// Its socket. Left out: power.sock in $RUNTIME_DIRECTORY, else in /run/trunkline-power.
        socket: Option<String> = None;
        /// The folder of its journal. Left out: $STATE_DIRECTORY, else /var/lib/trunkline-power.
        state: Option<String> = None;
        /// Between two readings of the disks' counters.
        sample: Time = Time::from_secs(1), Time::from_ms(100)..=Time::from_secs(60);
        /// Between two looks at the state of a disk that is in no use: how late a wake is seen that no request made.
        check: Time = Time::from_secs(30), Time::from_ms(100)..=Time::from_secs(3_600);
        /// What becomes of disks at rest when the daemon ends.
        at_end: PowerEnd = PowerEnd::Wake;
        /// The user that the daemon becomes where it is started as root. Left out: root without capabilities that no
        /// driver needs.
        user: Option<String> = None;
        /// Users who may give hints and wake disks, by name or number. Left out: nobody.
        hints: Vec<String> = Vec::new();
        /// How long a hint holds that is not given again.
        lapse: Time = Time::from_secs(3_600), Time::from_secs(1)..=Time::from_secs(86_400 * 30);
        /// Drives, policy and limits. The daemon knows of the states of rest `standby` alone, and of backup disks.
        power: Power = Power::default();
        /// The backup disks of this machine.
        disk: Vec<PowerDisk> = Vec::new();
    }
}

impl PowerDaemon {
    /// Reads a configuration. `further` says what an engine finds wrong with it.
    pub fn parse(
        file: &str,
        text: &str,
        further: impl FnOnce(&Self) -> Vec<Contradiction>,
    ) -> Result<Self, ScenarioError> {
        read_file(file, text, FileKind::PowerDaemon, |daemon: &Self| {
            daemon.contradictions().into_iter().chain(further(daemon)).collect()
        })
    }
    /// What no single key shows.
    fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        let mut says = |path: String, message: String, help: &str| found.push((path, message, help.to_owned()));
        if self.disk.is_empty() {
            says("disk".to_owned(), "no disk is given".to_owned(), "add a [[disk]]");
        }
        let mut names = BTreeSet::new();
        for (number, disk) in self.disk.iter().enumerate() {
            let path = |key: &str| format!("disk.{number}.{key}");
            let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if disk.name.is_empty() || disk.name.len() > 64 || !disk.name.chars().all(is_name) {
                let message = format!("\"{}\" is not a name of a disk", disk.name);
                says(path("name"), message, "letters, digits, `.`, `_`, `-`; at most 64");
            } else if !names.insert(&disk.name) {
                says(path("name"), format!("two disks have the name `{}`", disk.name), "a name for each");
            }
            let own = disk.driver == PowerDriver::Command;
            for (key, words) in [("rest", &disk.rest), ("wake", &disk.wake), ("state", &disk.state)] {
                if own != (words.first().is_some_and(|word| !word.is_empty())) {
                    let message = if own {
                        format!("driver `command` needs the words of a program, `{key}`")
                    } else {
                        format!("`{key}` is for driver `command`, and this is `{}`", disk.driver.word())
                    };
                    says(path(key), message, "such as [\"/usr/local/sbin/disk\", \"rest\", \"sdb\"], or leave it out");
                }
            }
            if disk.stat.is_some() && !own {
                says(path("stat"), "the kernel has the counters of such a disk".to_owned(), "leave it out");
            }
            if disk.stop && disk.driver != PowerDriver::Scsi {
                says(path("stop"), "`stop` is for driver `scsi`".to_owned(), "leave it out");
            }
            match (disk.driver, &disk.device) {
                (PowerDriver::Simulated, Some(_)) => {
                    says(
                        path("device"),
                        "a simulated disk has no device".to_owned(),
                        "another driver, or leave it out",
                    );
                }
                (PowerDriver::Ata | PowerDriver::Scsi, None) => {
                    let message = format!("driver `{}` needs a `device`", disk.driver.word());
                    says(path("device"), message, "such as \"/dev/disk/by-id/ata-...\"");
                }
                (PowerDriver::Command, None) if disk.stat.is_none() => {
                    let message = "nothing says when this disk is used".to_owned();
                    says(path("device"), message, "`device`, or `stat` with its counters");
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/power-daemon.md");
        let page = crate::power_daemon_reference();
        if std::env::var_os("TRUNKLINE_WRITE_DOCS").is_some() {
            std::fs::write(&path, &page).expect("written");
        }
        let written = std::fs::read_to_string(path).expect("docs/reference/power-daemon.md is part of the tree");
        assert!(written == page, "docs/reference/power-daemon.md is out of date: TRUNKLINE_WRITE_DOCS=1 writes it");
    }

    #[test]
    fn what_is_wrong_with_a_configuration_is_said_with_its_place() {
        let parse = |text: &str| PowerDaemon::parse("d.toml", text, |_| Vec::new()).map_err(|e| e.to_string());
        let right = parse("[[disk]]\nname = \"a\"\n").unwrap();
        assert_eq!((right.disk.len(), right.check, right.at_end), (1, Time::from_secs(30), PowerEnd::Wake));
        let disk = "[[disk]]\nname = \"a\"\n";
        let own = "driver = \"command\"\nrest = [\"a\"]\nwake = [\"a\"]\nstate = [\"a\"]\n";
        parse(&format!("{disk}{own}stat = \"/run/a.stat\"\n")).expect("counters of its own");
        for (text, expected) in [
            (String::new(), "no disk is given; add a [[disk]]"),
            ("[[disk]]\n".to_owned(), "\"\" is not a name of a disk"),
            ("[[disk]]\nname = \"a/b\"\n".to_owned(), "d.toml:2:8: \"a/b\" is not a name of a disk"),
            (format!("{disk}{disk}"), "two disks have the name `a`"),
            (format!("{disk}driver = \"ata\"\n"), "driver `ata` needs a `device`"),
            (format!("{disk}driver = \"sas\"\n"), "`sas` is not a value here"),
            (format!("{disk}device = \"/dev/sdb\"\n"), "a simulated disk has no device"),
            (format!("{disk}rest = [\"x\"]\n"), "`rest` is for driver `command`"),
            (format!("{disk}stop = true\n"), "`stop` is for driver `scsi`"),
            (format!("{disk}stat = \"x\"\n"), "the kernel has the counters"),
            (format!("{disk}driver = \"command\"\nrest = [\"a\"]\nwake = [\"\"]\nstate = [\"a\"]\n"), "`wake`"),
            (format!("{disk}{own}"), "nothing says when this disk is used"),
            (format!("sample = \"1 ms\"\n{disk}"), "d.toml:1:10: \"1 ms\" is out of range"),
            (format!("user = 5\n{disk}"), "this must be a text"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
