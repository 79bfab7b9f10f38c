//! Several seeds through the library, as a caller without a command line uses it.

use runs::{Change, Effort, Error, Figures, Inputs, Stop, many, single};
use scenario::Scenario;
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A folder of its own for a test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-runs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn scenario() -> Scenario {
    let text = "[cluster]\nworkers = 4\n[[traffic]]\nkind = \"all-to-all\"\nbytes = \"200 KB\"\njitter = \"1 ms\"\n";
    sim::parse("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_finished_is_reused_and_told_as_progress() {
    let scratch = Scratch::new("reuse");
    let (stop, out) = (Stop::new(), scratch.0.join("out"));
    let told = Mutex::new(BTreeSet::new());
    let progress = |run: usize, progress: &sim::Progress| {
        if progress.done == 1.0 && progress.events == 0 {
            told.lock().expect("no panic").insert(run);
        }
    };
    let effort = Effort { threads: Some(2), stop: &stop, progress: &progress };
    let first = many(&scenario(), 3, None, &out, false, &effort).expect("three runs");
    assert_eq!((first.runs.len(), first.reused), (3, 0));
    assert!(told.lock().expect("no panic").is_empty());
    let second = many(&scenario(), 4, None, &out, false, &effort).expect("four runs");
    assert_eq!((second.runs.len(), second.reused), (4, 3));
    assert_eq!(second.runs[..3], first.runs[..]);
    assert_eq!(*told.lock().expect("no panic"), BTreeSet::from([0, 1, 2]));
    // A seed whose record is damaged is made again.
    fs::write(out.join("seed-2/figures.json"), "{").expect("written");
    let third = many(&scenario(), 4, None, &out, false, &effort).expect("four runs");
    assert_eq!((third.reused, &third.runs), (3, &second.runs));
    assert_eq!(scratch.names(), ["out"]);
}

/// What links lose is told of several runs as of one.
#[test]
fn packets_lost_on_links_are_a_figure() {
    let mut lossy = scenario();
    for (loss, is_lost) in [(0.0, false), (0.05, true)] {
        lossy.network.loss = loss;
        let result = sim::run(&lossy, &mut |_| ControlFlow::Continue(())).expect("a run");
        let lost = result.network.as_ref().expect("packets").lost;
        assert_eq!((Figures::of(&result).get("packets lost on links"), lost > 0), (Some(lost as f64), is_lost));
    }
}

#[test]
fn a_wish_to_stop_is_heard_before_the_first_event() {
    let scratch = Scratch::new("stop");
    let stop = Stop::new();
    stop.request();
    let effort = Effort { threads: None, stop: &stop, progress: &|_, _| {} };
    let out = scratch.0.join("out");
    assert!(matches!(single(&scenario(), None, None, &out, &effort), Err(Error::Interrupted)));
    assert!(matches!(many(&scenario(), 2, None, &out, false, &effort), Err(Error::Interrupted)));
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    let inputs = Inputs::new(&stop);
    let read = inputs.scenario(Path::new("none.toml"), &Change::default());
    assert!(read.is_err());
}

#[test]
fn errors_have_the_class_of_their_exit_code() {
    let inputs =
        Inputs::new(&Stop::new()).scenario(Path::new("none.toml"), &Change::default()).expect_err("nothing there");
    assert_eq!(
        (inputs.exit_code(), inputs.to_string()),
        (2, "cannot read none.toml: no such file or directory".to_owned())
    );
    let stop = Stop::new();
    let effort = Effort { threads: None, stop: &stop, progress: &|_, _| {} };
    let error = single(&scenario(), None, None, Path::new("/proc/out"), &effort).expect_err("nobody can write there");
    assert_eq!(error.exit_code(), 5, "{error}");
    assert_eq!((Error::Interrupted.exit_code(), Error::Kept(String::new()).exit_code()), (130, 130));
    assert_eq!(Error::Internal(String::new()).exit_code(), 1);
}
