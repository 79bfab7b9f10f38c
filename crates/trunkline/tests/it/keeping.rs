//! What the command line keeps, replaces and removes: links, files that are there, finished seeds, what killed
//! processes leave, and what an interruption leaves.

use crate::support::{Scratch, code, ends_within, json, names, printed, said, signal, traces};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Eight flows through a small star: done in a moment.
const SMALL: &str = r#"
[cluster]
workers = 4
[[traffic]]
kind = "all-to-all"
from = "worker-1..worker-3"
to = "worker-2..worker-4"
bytes = "200 KB"
jitter = "1 ms"
[run]
until = "10 s"
"#;

/// About a second of work, and more of it the longer it is simulated.
const LOAD: &str = r#"
[[traffic]]
kind = "long"
[run]
until = "5 s"
"#;

#[test]
fn results_go_to_what_a_link_points_to() {
    let scratch = Scratch::new("link");
    scratch.file("small.toml", SMALL);
    fs::create_dir(scratch.0.join("disk")).expect("a folder");
    symlink("disk/place", scratch.0.join("first")).expect("a link");
    symlink("first", scratch.0.join("out")).expect("a link");
    for seed in ["1", "2"] {
        let output = scratch.trunkline(&["run", "small.toml", "--out", "out", "--seed", seed]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        assert!(scratch.0.join("out").is_symlink() && scratch.0.join("first").is_symlink());
        let result = json(&scratch.read("disk/place/result.json"));
        assert_eq!(result["seed"].to_string(), seed);
    }
    let output = scratch.trunkline(&["run", "small.toml", "--out", "out", "--runs", "2"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(scratch.has("disk/place/seed-2/result.json") && !scratch.has("disk/place/result.json"));
    assert_eq!(names(&scratch.0.join("disk")), ["place"]);
    assert_eq!(scratch.names(), ["disk", "first", "out", "small.toml"]);
}

#[test]
fn a_scenario_that_is_there_is_overwritten_by_force_only() {
    let scratch = Scratch::new("force");
    let history = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist").display().to_string();
    scratch.file("mine.toml", "years of work");
    symlink("mine.toml", scratch.0.join("link.toml")).expect("a link");
    for name in ["mine.toml", "link.toml"] {
        let output = scratch.trunkline(&["import", "jhist", &history, "-o", name]);
        assert_eq!(code(&output), 5);
        assert_eq!(said(&output), format!("error: {name} exists and is left as it is; --force overwrites it\n"));
        assert_eq!(scratch.read("mine.toml"), "years of work");
    }
    let output = scratch.trunkline(&["import", "jhist", &history, "-o", "link.toml", "--force"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(scratch.read("mine.toml").contains("[mapreduce]") && scratch.0.join("link.toml").is_symlink());
    assert_eq!(scratch.names(), ["link.toml", "mine.toml"]);
}

#[test]
fn a_device_is_read_to_the_limit_only() {
    let scratch = Scratch::new("device");
    for args in [&["import", "jhist", "/dev/zero"][..], &["run", "/dev/zero"]] {
        let output = scratch.trunkline(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(said(&output).contains("/dev/zero has more than 256 MiB"), "{}", said(&output));
    }
}

#[test]
fn finished_seeds_are_kept_and_the_same_command_goes_on() {
    let scratch = Scratch::new("seeds");
    scratch.file("load.toml", LOAD);
    let words = ["run", "load.toml", "--runs", "3", "--threads", "1", "--out", "out"];
    let mut command = scratch.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    scratch.wait_for(|scratch| scratch.has(".out.unfinished/seed-1/figures.json"));
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 130, "{}", said(&output));
    let kept = "runs are kept in .out.unfinished; the same command goes on from there";
    assert!(said(&output).contains(kept), "{}", said(&output));
    assert_eq!(scratch.names(), [".out.unfinished", "load.toml"], "only what is finished is left");
    let kept = names(&scratch.0.join(".out.unfinished"));
    assert!((1..3).contains(&kept.len()) && kept.iter().all(|name| name.starts_with("seed-")), "{kept:?}");

    // The second call makes the others, and comes to what a call without a break comes to.
    let output = scratch.trunkline(&words);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let reused = format!("{} of 3 runs were finished by an earlier call; --fresh makes them again", kept.len());
    assert!(said(&output).contains(&reused), "{}", said(&output));
    assert_eq!(scratch.names(), ["load.toml", "out"]);
    let whole = scratch.trunkline(&["run", "load.toml", "--runs", "3", "--out", "whole", "--quiet"]);
    assert_eq!((code(&whole), said(&whole)), (0, String::new()));
    for name in ["runs.json", "seed-1/result.json", "seed-1/flows.parquet", "seed-3/report.html"] {
        let read = |out: &str| fs::read(scratch.0.join(out).join(name)).expect("a result");
        assert!(read("out") == read("whole"), "{name}");
    }

    // A finished folder grows; another scenario, and --fresh, reuse nothing.
    let output = scratch.trunkline(&["run", "load.toml", "--runs", "4", "--out", "out"]);
    assert!(said(&output).contains("3 of 4 runs were finished by an earlier call"), "{}", said(&output));
    assert_eq!(json(&scratch.read("out/runs.json"))["seeds"], serde_json::json!([1, 2, 3, 4]));
    for change in [&["--fresh"][..], &["--set", "network.rate=90 Mbit/s"]] {
        let words = ["run", "load.toml", "--runs", "2", "--out", "out", "--set", "run.until=100 ms"];
        let output = scratch.trunkline(&[&words[..], change].concat());
        assert_eq!((code(&output), said(&output)), (0, String::new()), "{change:?}");
    }
    assert_eq!(scratch.names(), ["load.toml", "out", "whole"]);
    assert!(!scratch.has("out/seed-3"), "only what was asked for");
}

/// A file size limit stands in for a full disk.
#[test]
fn a_full_disk_keeps_finished_seeds() {
    let scratch = Scratch::new("full");
    scratch.file("small.toml", SMALL);
    assert_eq!(code(&scratch.trunkline(&["run", "small.toml", "--runs", "2", "--out", "out"])), 0);
    let script = format!(
        "ulimit -f 8; trap '' XFSZ; exec '{}' run small.toml --runs 3 --out out",
        env!("CARGO_BIN_EXE_trunkline")
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(&scratch.0).output().expect("bash");
    assert_eq!(code(&output), 5, "{}", said(&output));
    assert!(said(&output).contains("cannot write out/seed-3/report.html: file too large"), "{}", said(&output));
    assert!(said(&output).contains("2 of 3 runs are kept in .out.unfinished"), "{}", said(&output));
    assert_eq!(names(&scratch.0.join(".out.unfinished")), ["seed-1", "seed-2"]);
    assert!(scratch.has("out/seed-2/result.json"), "earlier results stay until there are new ones");
    let output = scratch.trunkline(&["run", "small.toml", "--runs", "3", "--out", "out"]);
    assert!(said(&output).contains("2 of 3 runs were finished by an earlier call"), "{}", said(&output));
    assert_eq!(scratch.names(), ["out", "small.toml"]);
}

#[test]
fn two_calls_do_not_write_the_same_seeds() {
    let scratch = Scratch::new("busy");
    scratch.file("load.toml", LOAD);
    let words = ["run", "load.toml", "--runs", "2", "--out", "out", "--set", "run.until=10 h"];
    let mut first = scratch.start(&words);
    scratch.wait_for(|scratch| scratch.has(".out.unfinished"));
    // It is locked a moment after it is there.
    std::thread::sleep(Duration::from_millis(100));
    let output = scratch.trunkline(&words);
    assert_eq!(code(&output), 5);
    assert!(said(&output).contains("another run is writing to out"), "{}", said(&output));
    signal(&first, "-TERM");
    assert_eq!(first.wait().expect("it ends").code(), Some(130));
    assert_eq!(scratch.names(), ["load.toml"]);
}

#[test]
fn what_a_killed_process_left_goes_with_the_next_run() {
    let scratch = Scratch::new("killed");
    scratch.file("load.toml", LOAD);
    scratch.file("small.toml", SMALL);
    let endless = ["run", "load.toml", "--out", "out", "--set", "run.until=10 h"];
    let mut killed = scratch.start(&endless);
    let of_killed = format!(".out.partial-{}", killed.id());
    scratch.wait_for(|scratch| scratch.has(&of_killed));
    signal(&killed, "-KILL");
    killed.wait().expect("it ends");
    assert!(scratch.has(&of_killed), "nobody could remove it");
    let mut living = scratch.start(&endless);
    let of_living = format!(".out.partial-{}", living.id());
    scratch.wait_for(|scratch| scratch.has(&of_living));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(code(&scratch.trunkline(&["run", "small.toml", "--out", "out"])), 0);
    assert!(!scratch.has(&of_killed), "its process is dead");
    assert!(scratch.has(&of_living), "its process lives");
    signal(&living, "-TERM");
    assert_eq!(living.wait().expect("it ends").code(), Some(130));
    assert_eq!(scratch.names(), ["load.toml", "out", "small.toml"]);
}

/// 20,000 workers for one simulated second: building, gathering and writing take longer than simulating.
#[test]
fn a_large_world_stops_within_a_second_wherever_it_is() {
    let scratch = Scratch::new("large");
    let traffic = "[[traffic]]\nkind = \"long\"\nfrom = \"worker-1\"\nto = \"worker-2\"\n";
    let job = "[job]\nworkload = \"terasort\"\ninput = \"1 GB\"\n";
    for (name, what) in [("traffic.toml", traffic), ("job.toml", job)] {
        scratch.file(name, &format!("[cluster]\nworkers = 20_000\n{what}[run]\nuntil = \"1 s\"\n"));
        let mut stopped = 0;
        for moment_ms in [100, 400, 1_000, 2_500, 6_000] {
            if !stops_within_a_second(&scratch, &["run", name, "--out", "out"], moment_ms) {
                break;
            }
            stopped += 1;
        }
        assert!(stopped > 0, "{name} ends before anybody can stop it");
        let _ = fs::remove_dir_all(scratch.0.join("out"));
    }
}

#[test]
fn an_interrupted_call_of_several_seeds_of_a_large_world_keeps_nothing_half() {
    let scratch = Scratch::new("large-seeds");
    let text = "[cluster]\nworkers = 20_000\n[[traffic]]\nkind = \"long\"\nfrom = \"worker-1\"\nto = \"worker-2\"\n";
    scratch.file("large.toml", &format!("{text}[run]\nuntil = \"1 s\"\n"));
    stops_within_a_second(&scratch, &["run", "large.toml", "--runs", "2", "--threads", "1", "--out", "out"], 700);
}

/// Sends SIGTERM that many milliseconds after the start: exit 130 within a second, and nothing is left. A busy machine
/// may take a process off its processors for longer than that, so the best of three counts; what is deaf is so three
/// times. False if the call comes to its end before it hears the signal: its results are there then, and whole.
fn stops_within_a_second(scratch: &Scratch, words: &[&str], moment_ms: u64) -> bool {
    for attempt in 1.. {
        let mut child = scratch.start(words);
        if ends_within(&mut child, Duration::from_millis(moment_ms)).is_some() {
            return false;
        }
        signal(&child, "-TERM");
        let in_time = ends_within(&mut child, Duration::from_secs(1)).is_some();
        assert!(in_time || attempt < 3, "{words:?}: deaf for a second after {moment_ms} ms");
        let status = child.wait().expect("it ends");
        if scratch.has("out") {
            // The signal came after the results had got their name: 3 is a job that the run's end cut off.
            assert!(matches!(status.code(), Some(0 | 3)), "{words:?}, {moment_ms} ms: {status}");
            let last = if words.contains(&"--runs") { "out/runs.json" } else { "out/result.json" };
            assert!(scratch.has(last), "{words:?}, {moment_ms} ms: half of the results");
            return false;
        }
        // At the first moment a busy machine may not have got as far as listening.
        assert!(status.code() == Some(130) || (moment_ms == 100 && status.code().is_none()), "{status}");
        let mut left: Vec<_> = scratch.names().into_iter().filter(|name| name.contains("out")).collect();
        if words.contains(&"--runs") && left == [".out.unfinished"] {
            // A seed that was finished by then is kept, and whole.
            for seed in fs::read_dir(scratch.0.join(".out.unfinished")).expect("a folder") {
                let seed = seed.expect("readable").path();
                let whole = ["result.json", "figures.json"].iter().all(|file| seed.join(file).exists());
                assert!(whole, "{words:?}, {moment_ms} ms: half of {}", seed.display());
            }
            left.clear();
            fs::remove_dir_all(scratch.0.join(".out.unfinished")).expect("removed");
        }
        assert!(left.is_empty(), "{words:?}, {moment_ms} ms: {left:?}");
        if in_time {
            break;
        }
    }
    true
}

#[test]
fn a_reader_that_waits_for_its_input_is_interrupted() {
    let scratch = Scratch::new("waiting");
    let mut child = scratch
        .command(&["run", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-INT");
    let status = ends_within(&mut child, Duration::from_secs(1)).expect("within a second");
    assert_eq!(status.code(), Some(130));
    assert!(scratch.names().is_empty());
}

#[test]
fn a_dash_is_standard_input() {
    let scratch = Scratch::new("dash");
    scratch.file("small.toml", SMALL);
    let from_file = scratch.trunkline(&["run", "small.toml", "--json", "--set", "name=x", "--out", "out"]);
    let from_input = scratch.fed(&["run", "-", "--json", "--set", "name=x"], SMALL);
    assert_eq!(code(&from_input), 0, "{}", said(&from_input));
    assert_eq!(printed(&from_file), printed(&from_input));
    assert!(scratch.has("results/x/result.json"));
    let output = scratch.fed(&["run", "-"], "[hdfs]\nblok = \"64 MB\"\n[job]\n");
    assert!(code(&output) == 2 && said(&output).contains("stdin:2:1"), "{}", said(&output));
    let output = scratch.fed(&["compare", "small.toml", "-", "--runs", "2"], SMALL);
    assert!(code(&output) == 0 && printed(&output).contains("2 runs each"), "{}", said(&output));
    let output = scratch.fed(&["compare", "-", "-"], SMALL);
    assert!(code(&output) == 2 && said(&output).contains("is named twice"), "{}", said(&output));

    let history = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist");
    let from_file = scratch.trunkline(&["import", "jhist", &history.display().to_string()]);
    let input = fs::File::open(history).expect("a recorded job");
    let from_input = scratch.command(&["import", "jhist", "-"]).stdin(input).output().expect("it starts");
    assert_eq!((code(&from_input), printed(&from_input)), (0, printed(&from_file)), "{}", said(&from_input));

    let study = "title = \"A\"\nsource = \"b\"\nseeds = 1\n[[figure]]\nid = \"drops\"\ntitle = \"Drops\"\n\
                 metric = \"network.drops\"\nlabel = \"drops\"\n[figure.x]\nlabel = \"senders\"\n\
                 set = [\"cluster.workers={x}\"]\nvalues = [4, 6]\n[[figure.series]]\nname = \"short\"\n\
                 [[figure.claim]]\ntext = \"None.\"\nrule = \"rises\"\n";
    scratch.file("scenario.toml", SMALL);
    fs::remove_file(scratch.0.join("small.toml")).expect("removed");
    let output = scratch.fed(&["study", "-", "--out", "out-of-study"], study);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(scratch.has("out-of-study/study/study.json"));
}
