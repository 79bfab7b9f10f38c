//! `trunkline testbed study` as its users meet it. As root, with TUN/TAP, network namespaces, nftables, nginx and curl:
//! without them the last ones fail, and say what is missing.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const STUDY: &str = r#"
title = "one"
buffers = ["64 KiB"]
controls = ["cubic"]
[grid]
rate = "100 Mbit/s"
round-trips = ["40 ms"]
losses = ["0 %"]
[[program]]
name = "curl"
tool = "curl"
size = "2 MB"
limit = "60 s"
ways = ["plain", "jet"]
row = "Firefox"
speedup = 5.4
"#;

/// A folder with a study, gone at the test's end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, text: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("testbed-study-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("scratch")).expect("made");
        fs::write(folder.join("testbed.toml"), text).expect("written");
        Self(folder)
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.args(["testbed", "study"]).arg(&self.0).args(arguments);
        command.arg("--out").arg(self.at("out")).arg("--scratch").arg(self.at("scratch"));
        command
    }
    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program is built")
    }
    fn records(&self) -> PathBuf {
        self.at("out").join(self.0.file_name().expect("it has a name")).join("cells")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("it is there").next().is_none()
}

#[test]
fn bad_input_is_refused_before_anything_is_made() {
    let folder = Folder::new("wrong", &STUDY.replace("\"curl\"\nsize", "\"culr\"\nsize"));
    let output = folder.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("unknown variant `culr`"), "{}", text(&output.stderr));
    let folder = Folder::new("choice", STUDY);
    for (arguments, says) in [
        (&["--only", "way=jett"][..], "there are jet, plain"),
        (&["--only", "speed=1"], "path, program, way"),
        (&["--redo", "--keep-late"], "cannot be used with"),
    ] {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(says), "{arguments:?}: {}", text(&output.stderr));
    }
    assert!(!folder.at("out").exists() && is_empty(&folder.at("scratch")));
}

#[test]
fn the_studies_that_are_built_in_are_listed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    let output = command.args(["testbed", "study", "list"]).output().expect("the program is built");
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let first: Vec<&str> = shown.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["study", "jet-grid", "jet-programs", "jet-strangers"] {
        assert!(first.contains(&name) || shown.starts_with(name), "{name}: {shown}");
    }
}

#[test]
fn a_list_says_what_there_is_to_do() {
    let folder = Folder::new("list", STUDY);
    let shown = text(&folder.run(&["--list"]).stdout);
    let id = format!("r40ms-l0/curl/64KiB/cubic/plain{} -", " ".repeat(60 - 31));
    assert!(shown.contains(&id) && shown.contains("2 cells; to be measured, about "), "{shown}");
}

#[test]
fn a_download_is_measured_by_itself_and_through_gateways_and_kept() {
    let folder = Folder::new("one", STUDY);
    let output = folder.run(&["--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (cell, way) in results["cells"].as_array().expect("a list").iter().zip(["plain", "jet"]) {
        let outcome = &cell["outcome"];
        assert_eq!((&cell["asked"]["way"], &outcome["ended"]), (&way.into(), &"whole".into()), "{cell:#}");
        assert_eq!(outcome["bytes"], 2_000_000, "{cell:#}");
    }
    let bps = |index: usize| results["cells"][index]["outcome"]["goodput_bps"].as_f64().expect("a rate");
    // A window of 64 KiB in 40 ms is 13.1 Mbit/s, of which the kernel keeps part for itself.
    assert!((3e6..13.2e6).contains(&bps(0)), "{}", bps(0));
    assert!(bps(1) > bps(0), "{} and {}", bps(0), bps(1));
    assert_eq!((&results["rows"][0]["row"], &results["rows"][0]["published"]), (&"Firefox".into(), &5.4.into()));
    let table = fs::read_to_string(folder.records().with_file_name("table.md")).expect("written");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(is_empty(&folder.at("scratch")));
    // The same command has nothing left to do, and what is kept is what it tells.
    let before = fs::metadata(folder.records().join("r40ms-l0_curl_64KiB_cubic_jet.json")).expect("kept");
    let again = folder.run(&["--json", "--keep-late"]);
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).expect("JSON"), results);
    let after = fs::metadata(folder.records().join("r40ms-l0_curl_64KiB_cubic_jet.json")).expect("kept");
    assert_eq!(before.modified().expect("a time"), after.modified().expect("a time"));
}

/// Processes whose command line has this in it.
fn processes(word: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("mounted").filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| text(&line).replace('\0', " ")).filter(|line| line.contains(word)).collect()
}

#[test]
fn one_that_is_interrupted_or_killed_leaves_nothing_running() {
    for (signal, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let long = STUDY.replace("size = \"2 MB\"\nlimit = \"60 s\"", "time = \"60 s\"");
        let folder = Folder::new(if code.is_some() { "interrupted" } else { "killed" }, &long);
        let mut child =
            folder.command(&["--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("built");
        let scratch = folder.at("scratch").display().to_string();
        let runs = |name: &str| processes(&scratch).iter().any(|line| line.starts_with(name));
        let began = (0..300).any(|_| {
            sleep(Duration::from_millis(100));
            runs("nginx")
        });
        assert!(began, "{:?}", processes(&scratch));
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.expect("kill is there").success());
        assert_eq!(child.wait().expect("a child").code(), code);
        let ended = (0..300).any(|_| {
            sleep(Duration::from_millis(100));
            processes(&scratch).is_empty()
        });
        assert!(ended, "{:?}", processes(&scratch));
        // The killed one could not take its folder away: the next call does.
        assert_eq!(is_empty(&folder.at("scratch")), code.is_some());
        fs::write(folder.at("testbed.toml"), STUDY).expect("written");
        let next = folder.run(&["--only", "way=plain", "--quiet"]);
        assert!(next.status.success(), "{}", text(&next.stderr));
        assert!(is_empty(&folder.at("scratch")));
    }
}
