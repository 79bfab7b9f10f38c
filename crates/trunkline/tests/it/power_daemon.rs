//! `trunkline power daemon`, `status` and `tell`: the daemon as a process, with simulated disks and with disks whose
//! programs are a test's.

use crate::support::{Scratch, code, json, printed, said, signal};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::thread;
use std::time::Duration;

/// Rests at once, wakes within a tenth of a second.
const DRIVE: &str = "profile = { read = \"10 W\", write = \"10 W\", idle = \"8 W\", standby = \"1 W\", \
                     spin-up-time = \"100 ms\" }";

/// A daemon that is ended with its test.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Daemon {
    fn start(scratch: &Scratch, config: &str) -> Self {
        scratch.file("d.toml", config);
        let log = fs::File::options().create(true).append(true).open(scratch.0.join("log")).expect("a log");
        let mut command = scratch.command(&["power", "daemon", "d.toml"]);
        let daemon = Self(command.stderr(log).spawn().expect("it starts"));
        until(|| UnixStream::connect(scratch.0.join("run/power.sock")).is_ok(), || scratch.read("log"));
        daemon
    }
    fn kill(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }
    /// Ends it as a service manager does.
    fn end(mut self) -> i32 {
        signal(&self.0, "-TERM");
        self.0.wait().expect("it ends").code().expect("by itself")
    }
}

/// Waits until something holds, for 20 s at most.
fn until(holds: impl Fn() -> bool, why: impl Fn() -> String) {
    let clock = runs::Clock::start();
    while !holds() {
        assert!(clock.elapsed() < Duration::from_secs(20), "{}", why());
        thread::sleep(Duration::from_millis(20));
    }
}

/// A configuration with its own folder; root's number is the tests' own.
fn config(scratch: &Scratch, keys: &str, power: &str, disk: &str) -> String {
    let folder = scratch.0.display();
    format!(
        "socket = \"{folder}/run/power.sock\"\nstate = \"{folder}/state\"\nsample = \"100 ms\"\ncheck = \"200 ms\"\n\
         {keys}\n[power]\n{power}\n{DRIVE}\n[[disk]]\nname = \"one\"\n{disk}\n"
    )
}

fn status(scratch: &Scratch) -> Value {
    let socket = scratch.0.join("run/power.sock").display().to_string();
    let output = scratch.trunkline(&["power", "status", "--json", "--socket", &socket]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    json(&printed(&output))
}

fn tell(scratch: &Scratch, line: &str) -> Result<(), String> {
    let socket = scratch.0.join("run/power.sock").display().to_string();
    let output = scratch.trunkline(&["power", "tell", line, "--socket", &socket]);
    if code(&output) == 0 { Ok(()) } else { Err(said(&output)) }
}

fn is(scratch: &Scratch, state: &str) {
    until(|| status(scratch)["disks"][0]["state"] == state, || format!("{:#}", status(scratch)));
}

fn wakes(scratch: &Scratch) -> Value {
    status(scratch)["disks"][0]["ledger"]["wakes"].clone()
}

/// Whoever runs the tests.
fn me() -> u32 {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").expect("a process"))
}

#[test]
fn a_simulated_disk_rests_and_says_who_woke_it() {
    let scratch = Scratch::new("power-simulated");
    let keys = format!("hints = [\"{}\"]", me());
    let power = "policy = \"timeout\"\ntimeout = \"300 ms\"\nspin-ups = 90";
    let daemon = Daemon::start(&scratch, &config(&scratch, &keys, power, ""));
    for what in ["read", "write", "flush", "discard", "start"] {
        is(&scratch, "standby");
        tell(&scratch, &format!(r#"{{"ask": "use", "disk": "one", "what": "{what}"}}"#)).expect("it may");
        let cause = if what == "start" { "outside" } else { what };
        until(|| wakes(&scratch)[cause] == 1, || format!("{what}: {:#}", status(&scratch)));
    }
    is(&scratch, "standby");
    tell(&scratch, r#"{"ask": "wake", "disk": "one"}"#).expect("it may");
    until(|| wakes(&scratch)["window"] == 1, || format!("{:#}", status(&scratch)));
    let events = status(&scratch)["events"].clone();
    let by = events.as_array().expect("a list").iter().find_map(|event| event[1].get("by").cloned());
    assert_eq!(by.expect("who asked")["uid"], me(), "{events:#}");
    // In words, too.
    let socket = scratch.0.join("run/power.sock").display().to_string();
    let text = printed(&scratch.trunkline(&["power", "status", "--socket", &socket]));
    for part in
        ["Policy timeout; 90 starts a disk", "one: woken for 1 discard, 1 flush, 1 outside, 1 read, 1 window, 1 write"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    is(&scratch, "standby");
    assert_eq!(daemon.end(), 0);
    let log = scratch.read("log");
    assert!(log.contains("one: woken for read (1 reads) after "), "{log}");
    assert!(log.contains("one: woken for end"), "disks are awake at the end: {log}");
    assert!(!scratch.has("run/power.sock"));
    let lines = scratch.read("state/events.jsonl");
    let causes: Vec<String> =
        lines.lines().map(json).filter_map(|line| Some(line["cause"].as_str()?.to_owned())).collect();
    assert_eq!(causes, ["read", "write", "flush", "discard", "outside", "window", "end"]);
}

/// A disk whose programs are these scripts: its state is a file, its counters another.
struct Fake<'a>(&'a Scratch);

impl Fake<'_> {
    const DISK: &'static str = "driver = \"command\"\n";

    fn new(scratch: &Scratch) -> Fake<'_> {
        let fake = Fake(scratch);
        let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1\" >> asked\ncase $1 in\n\
                      rest) echo standby > disk ;;\nwake) sleep 0.3; echo awake > disk ;;\nstate) cat disk ;;\nesac\n";
        let path = scratch.file("disk.sh", script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
        scratch.file("disk", "awake\n");
        scratch.file("asked", "");
        fake.counters(0, 0);
        fake
    }
    fn counters(&self, reads: u64, writes: u64) {
        let text = format!("{reads} 0 {} 0 {writes} 0 {} 0 0 0 0 0 0 0 0 0 0\n", reads * 8, writes * 8);
        // As the kernel's: whole at any time.
        self.0.file("stat.new", &text);
        fs::rename(self.0.0.join("stat.new"), self.0.0.join("stat")).expect("renamed");
    }
    fn config(&self, keys: &str, power: &str) -> String {
        let folder = self.0.0.display();
        let words = |what: &str| format!("{what} = [\"{folder}/disk.sh\", \"{what}\"]\n");
        let disk =
            format!("{}stat = \"{folder}/stat\"\n{}{}{}", Self::DISK, words("rest"), words("wake"), words("state"));
        config(self.0, keys, power, &disk)
    }
    fn asked(&self, what: &str) -> usize {
        self.0.read("asked").lines().filter(|line| *line == what).count()
    }
}

const SOON: &str = "policy = \"timeout\"\ntimeout = \"300 ms\"";

#[test]
fn a_disk_with_programs_of_its_own_survives_kills_with_its_budget() {
    let scratch = Scratch::new("power-command");
    let fake = Fake::new(&scratch);
    // Of 6 starts a day 2 may be used at once.
    let config = fake.config("at-end = \"stay\"", &format!("{SOON}\nspin-ups = 6"));
    let daemon = Daemon::start(&scratch, &config);
    is(&scratch, "standby");
    assert_eq!((fake.asked("rest"), scratch.read("disk").as_str()), (1, "standby\n"));
    daemon.kill();
    // While no daemon runs somebody writes, which starts it.
    scratch.file("disk", "awake\n");
    fake.counters(0, 1);
    let daemon = Daemon::start(&scratch, &config);
    until(|| wakes(&scratch)["write"] == 1, || format!("{:#}", status(&scratch)));
    let events = scratch.read("state/events.jsonl");
    let event = events.lines().map(json).find(|event| event["event"] == "wake").expect("it was woken");
    assert_eq!((event["cause"].as_str(), event["away"].as_bool()), (Some("write"), Some(true)), "{event}");
    // The second start of the budget, and there is no third: not by waiting, not after a kill.
    is(&scratch, "standby");
    scratch.file("disk", "awake\n");
    until(|| wakes(&scratch)["outside"] == 1, || format!("{:#}", status(&scratch)));
    daemon.kill();
    let daemon = Daemon::start(&scratch, &config);
    thread::sleep(Duration::from_millis(1_500));
    let status = status(&scratch);
    assert_eq!((status["disks"][0]["state"].as_str(), fake.asked("rest")), (Some("awake"), 2), "{status:#}");
    assert!(status["disks"][0]["starts_left"].as_f64().is_some_and(|left| left < 0.01), "{status:#}");
    assert_eq!(daemon.end(), 0);
    assert_eq!(fake.asked("wake"), 0);
}

#[test]
fn two_daemons_of_one_disk_or_one_folder_are_refused() {
    let scratch = Scratch::new("power-two");
    let fake = Fake::new(&scratch);
    let config = fake.config("", SOON);
    let daemon = Daemon::start(&scratch, &config);
    // Another folder and another socket, the same disk.
    let other = config.replace("/run/power.sock", "/other/power.sock").replace("/state\"\nsample", "/other\"\nsample");
    scratch.file("other.toml", &other);
    let output = scratch.trunkline(&["power", "daemon", "other.toml"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("disk one: another daemon has it"), "{}", said(&output));
    // Another disk, the same folder.
    scratch.file("other.toml", &config.replace("/stat\"", "/disk\""));
    let output = scratch.trunkline(&["power", "daemon", "other.toml"]);
    assert!(code(&output) == 2 && said(&output).contains("state: another daemon has it"), "{}", said(&output));
    drop(daemon);
}

/// Nothing is done with a disk whose state is not known, and none is put to rest whose rest cannot be accounted for.
#[test]
fn a_disk_is_left_alone_in_doubt() {
    let scratch = Scratch::new("power-doubt");
    let fake = Fake::new(&scratch);
    scratch.file("disk", "asleep?\n");
    let config = fake.config("", SOON);
    let daemon = Daemon::start(&scratch, &config);
    until(|| fake.asked("state") > 3, || scratch.read("log"));
    let unknown = status(&scratch);
    assert_eq!(unknown["disks"][0]["state"], "unknown");
    assert!(unknown["disks"][0]["why"].as_str().is_some_and(|why| why.contains("neither awake nor standby")));
    assert_eq!((fake.asked("rest"), fake.asked("wake")), (0, 0));
    // The journal's folder goes.
    fs::rename(scratch.0.join("state"), scratch.0.join("gone")).expect("moved");
    scratch.file("disk", "awake\n");
    until(|| scratch.read("log").contains("no disk is put to rest"), || scratch.read("log"));
    thread::sleep(Duration::from_millis(500));
    assert_eq!(fake.asked("rest"), 0);
    assert!(status(&scratch)["journal_error"].is_string());
    fs::rename(scratch.0.join("gone"), scratch.0.join("state")).expect("moved");
    // Its counters go: what is not watched is not put to rest.
    fs::rename(scratch.0.join("stat"), scratch.0.join("stat.gone")).expect("moved");
    is(&scratch, "unknown");
    fs::rename(scratch.0.join("stat.gone"), scratch.0.join("stat")).expect("moved");
    until(|| status(&scratch)["disks"][0]["state"] != "unknown", || format!("{:#}", status(&scratch)));
    drop(daemon);
}

#[test]
fn what_is_said_over_the_socket_is_checked() {
    let scratch = Scratch::new("power-socket");
    let fake = Fake::new(&scratch);
    // Hints are for somebody else.
    let daemon = Daemon::start(&scratch, &fake.config("hints = [\"54321\"]", "policy = \"by-phase\""));
    let refused = tell(&scratch, r#"{"ask": "phase", "phase": "import"}"#).expect_err("it may not");
    assert!(refused.contains(&format!("user {} may not say this", me())), "{refused}");
    drop(daemon);
    let scratch = Scratch::new("power-hints");
    let fake = Fake::new(&scratch);
    let config = fake.config(&format!("hints = [\"{}\"]", me()), "policy = \"by-phase\"\ntimeout = \"300 ms\"");
    let daemon = Daemon::start(&scratch, &config);
    is(&scratch, "standby");
    tell(&scratch, r#"{"ask": "phase", "phase": "import"}"#).expect("it may");
    is(&scratch, "awake");
    assert_eq!((fake.asked("wake"), wakes(&scratch)["import"].as_u64()), (1, Some(1)));
    for (line, said) in [
        ("{\"ask\": \"phase\"}", "missing field"),
        ("{\"ask\": \"sleep\"}", "unknown variant"),
        ("nothing", "a line is like"),
        (r#"{"ask": "wake", "disk": "two"}"#, "there is no disk `two`: one"),
        (r#"{"ask": "use", "disk": "one", "what": "read"}"#, "is a real disk"),
        (r#"{"ask": "progress", "left": 3, "each_s": -1, "helping": true}"#, "number of seconds"),
    ] {
        let refused = tell(&scratch, line).expect_err(line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
    // One that says too much, one that says nothing, and one that goes in the middle: the next is answered.
    let connect = || UnixStream::connect(scratch.0.join("run/power.sock")).expect("it listens");
    let _ = connect().write_all(&vec![b'x'; 100_000]);
    let _silent = connect();
    connect().write_all(b"{\"ask\"").expect("it reads");
    is(&scratch, "awake");
    drop(daemon);
}

#[test]
fn a_configuration_that_cannot_be_is_refused() {
    let scratch = Scratch::new("power-config");
    let good = config(&scratch, "", SOON, "");
    let command =
        "driver = \"command\"\nrest = [\"x-y-z\"]\nwake = [\"true\"]\nstate = [\"true\"]\nstat = \"/proc/uptime\"";
    for (text, exit, message) in [
        (good.replace("timeout\"", "timeot\""), 2, "did you mean `timeout`?"),
        (good.replace("standby = \"1 W\"", "standby = \"1\""), 2, "has no unit"),
        (format!("user = \"no such user\"\n{good}"), 2, "there is no user `no such user`"),
        (format!("hints = [\"no such user\"]\n{good}"), 2, "hints: there is no user"),
        (config(&scratch, "", SOON, "driver = \"scsi\"\ndevice = \"/dev/null\""), 2, "disk one: /dev/null is no block"),
        (config(&scratch, "", SOON, "driver = \"ata\"\ndevice = \"/dev/no-disk\""), 2, "disk one: /dev/no-disk: "),
        (config(&scratch, "", SOON, command), 4, "disk one: the program x-y-z is not there"),
        (good.replace("/state\"", "/d.toml\""), 5, "d.toml"),
    ] {
        scratch.file("d.toml", &text);
        let output = scratch.trunkline(&["power", "daemon", "d.toml"]);
        assert!(code(&output) == exit && said(&output).contains(message), "{message}: {}", said(&output));
    }
    scratch.file("d.toml", &good);
    let output = scratch.trunkline(&["power", "daemon", "d.toml", "--check"]);
    assert!(code(&output) == 0 && printed(&output).contains("nothing is wrong"), "{}", said(&output));
    fs::create_dir_all(scratch.0.join("state")).expect("made");
    scratch.file("state/journal.json", "{\"version\": 1, \"boot\": \"\"");
    let output = scratch.trunkline(&["power", "daemon", "d.toml"]);
    assert!(code(&output) == 2 && said(&output).contains("Move it away"), "{}", said(&output));
    let output = scratch.trunkline(&["power", "status", "--socket", "nowhere.sock"]);
    assert!(code(&output) == 2 && said(&output).contains("no daemon answers on nowhere.sock"), "{}", said(&output));
}

/// Started as root the daemon becomes the user, with no capability that its driver does not need.
#[test]
fn rights_are_given_up() {
    assert_eq!(me(), 0, "as the tests of namespaces this needs root");
    let scratch = Scratch::new("power-rights");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o755)).expect("ours");
    for (keys, uid) in [("user = \"nobody\"", "65534"), ("", "0")] {
        let daemon = Daemon::start(&scratch, &config(&scratch, keys, SOON, ""));
        is(&scratch, "standby");
        let status = fs::read_to_string(format!("/proc/{}/status", daemon.0.id())).expect("it runs");
        let value = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(":\t"));
            line.unwrap_or_default().to_owned()
        };
        assert!(value("Uid").split('\t').all(|one| one == uid), "{status}");
        for set in ["CapEff", "CapPrm", "CapBnd", "CapAmb"] {
            assert_eq!(u64::from_str_radix(&value(set), 16), Ok(0), "{set}: {status}");
        }
        assert_eq!(value("NoNewPrivs"), "1");
        assert_eq!(daemon.end(), 0);
        fs::remove_dir_all(scratch.0.join("state")).expect("there");
        fs::remove_dir_all(scratch.0.join("run")).expect("there");
    }
}
