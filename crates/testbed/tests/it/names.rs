//! Links with names: their records, taking them down, and what a killed emulator leaves. As root, like `paths.rs`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use testbed::link::{LinkError, Path, Registry};
use units::{BitRate, Time};

/// A folder of records, and a name no other test process uses.
struct Scratch {
    folder: PathBuf,
    name: String,
}

impl Scratch {
    fn new(test: char) -> Self {
        let name = format!("t{test}{}", std::process::id());
        let folder = std::env::temp_dir().join(format!("trunkline-links-{name}"));
        Self { folder, name }
    }
    fn registry(&self) -> Registry {
        Registry::at(&self.folder)
    }
    fn has_namespaces(&self) -> Vec<bool> {
        ["near", "far"]
            .iter()
            .map(|side| FilePath::new("/run/netns").join(format!("{}-{side}", self.name)).exists())
            .collect()
    }
    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(&self.folder).expect("a folder").map(|entry| entry.expect("readable").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn paths() -> [Path; 1] {
    [Path::new("wan", BitRate::from_mbps(10), Time::from_ms(10))]
}

const FOLDER: &str = "TRUNKLINE_TEST_FOLDER";
const NAME: &str = "TRUNKLINE_TEST_NAME";

/// Not a test of its own: with these variables set this program is an emulator that stays until it is killed.
#[test]
fn emulator() {
    let (Some(folder), Ok(name)) = (std::env::var_os(FOLDER), std::env::var(NAME)) else { return };
    let link = Registry::at(folder).up(&name, &paths(), 1).unwrap_or_else(|error| panic!("{error}"));
    link.publish().expect("published");
    println!("up");
    thread::sleep(Duration::from_mins(1));
}

/// An emulator in a process of its own, whose link is up.
fn start(scratch: &Scratch) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "names::emulator", "--nocapture"])
        .env(FOLDER, &scratch.folder)
        .env(NAME, &scratch.name)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    assert!(output.lines().map_while(Result::ok).any(|line| line.ends_with("up")), "the link is up");
    child
}

#[test]
fn a_link_is_on_record_while_it_is_up() {
    let scratch = Scratch::new('a');
    let registry = scratch.registry();
    let link = registry.up(&scratch.name, &paths(), 1).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scratch.has_namespaces(), [true, true]);
    let records = registry.links().expect("read");
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].name.as_str(), records[0].pid), (scratch.name.as_str(), std::process::id()));
    assert_eq!(records[0].paths[0].addresses, link.pair.addresses()[0]);
    link.publish().expect("published");
    assert_eq!(registry.report(&scratch.name).expect("published")["paths"][0]["name"], "wan");
    let again = registry.up(&scratch.name, &paths(), 1);
    assert!(matches!(&again, Err(LinkError::Input(message)) if message.contains("is up")), "{again:?}");
    drop(link);
    assert_eq!(scratch.has_namespaces(), [false, false]);
    assert_eq!(scratch.files(), ["lock"]);
    let gone = registry.down(&scratch.name);
    assert!(matches!(&gone, Err(LinkError::Input(message)) if message.contains("no link named")), "{gone:?}");
}

#[test]
fn a_running_emulator_is_ended_by_down() {
    let scratch = Scratch::new('b');
    let mut emulator = start(&scratch);
    assert_eq!(scratch.has_namespaces(), [true, true]);
    assert!(scratch.registry().down(&scratch.name).expect("down"), "it ran");
    assert!(!emulator.wait().expect("ended").success());
    assert_eq!(scratch.has_namespaces(), [false, false]);
    assert_eq!(scratch.files(), ["lock"]);
}

#[test]
fn what_a_killed_emulator_leaves_is_cleaned_away() {
    for by_down in [true, false] {
        let scratch = Scratch::new('c');
        let mut emulator = start(&scratch);
        emulator.kill().and_then(|()| emulator.wait()).expect("killed");
        assert_eq!(scratch.has_namespaces(), [true, true], "named namespaces outlast it");
        assert!(scratch.registry().links().expect("read").is_empty(), "it is not up");
        if by_down {
            assert!(!scratch.registry().down(&scratch.name).expect("down"), "it did not run");
        } else {
            // The next link cleans up after any, and may have the same name.
            drop(scratch.registry().up(&scratch.name, &paths(), 1).unwrap_or_else(|error| panic!("{error}")));
        }
        assert_eq!(scratch.has_namespaces(), [false, false]);
        assert_eq!(scratch.files(), ["lock"]);
    }
}

#[test]
fn namespaces_of_others_are_left_alone() {
    let scratch = Scratch::new('d');
    let near = format!("{}-near", scratch.name);
    let ip = |verb: &str| Command::new("ip").args(["netns", verb, &near]).status().expect("ip runs").success();
    assert!(ip("add"));
    let refused = scratch.registry().up(&scratch.name, &paths(), 1);
    assert!(matches!(&refused, Err(LinkError::Input(message)) if message.contains("exists")), "{refused:?}");
    assert!(ip("delete"), "it is still there");

    // One that took a killed link's name since is not that link's.
    let mut emulator = start(&scratch);
    emulator.kill().and_then(|()| emulator.wait()).expect("killed");
    assert!(ip("delete") && ip("add"));
    assert!(!scratch.registry().down(&scratch.name).expect("down"));
    assert_eq!(scratch.has_namespaces(), [true, false]);
    assert!(ip("delete"));
}
