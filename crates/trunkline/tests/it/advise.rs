//! `trunkline advise` as its users meet it.

use crate::support::{Scratch, printed, said};
use serde_json::Value;
use std::process::Command;

/// A barrier of sixteen answers over a small buffer.
const INCAST: &str = r#"
[cluster]
workers = 17
[network]
queue = { limit = "32 KB" }
[[traffic]]
kind = "barrier"
from = "worker-2..worker-17"
to = "worker-1"
bytes = "64 KB"
rounds = 20
"#;

fn error(scratch: &Scratch, args: &[&str]) -> (Option<i32>, String) {
    let output = scratch.trunkline(args);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_answer_names_the_remedy_and_what_to_type() {
    let scratch = Scratch::new("advise");
    scratch.file("incast.toml", INCAST);
    let args = ["advise", "incast.toml", "--runs", "2", "--only", "min-rto", "--only", "buffer", "--only", "uber"];
    let output = scratch.trunkline(&args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in
        ["min-rto: a shorter minimum", "the best together", "what to type", "tcp_rto_min_us", "costs:", "x 0.25"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(scratch.has("results/advise-incast/report.html"));
    let json = scratch.trunkline(&[&args[..], &["--json"]].concat());
    let advice: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(advice["schema"], "trunkline-advice/1");
    assert_eq!(advice["remedies"][0]["verdict"], "helps");
    assert_eq!(scratch.read("results/advise-incast/advice.json").as_bytes(), json.stdout);
}

/// The scenario runs as it is however short the time; what was not tried is not called of no use.
#[test]
fn without_time_nothing_is_advised() {
    let scratch = Scratch::new("advise-no-time");
    scratch.file("incast.toml", INCAST);
    let text = printed(&scratch.trunkline(&["advise", "incast.toml", "--runs", "2", "--budget", "1 us"]));
    assert!(text.contains("no remedy was tried to its end: the time was up"), "{text}");
    assert!(text.contains("goes on from here") && !text.contains("leave it"), "{text}");
}

#[test]
fn what_is_asked_wrongly_is_said_before_anything_runs() {
    let scratch = Scratch::new("advise-wrong");
    scratch.file("incast.toml", INCAST);
    scratch.file(
        "mine.toml",
        "[[remedy]]\nid = \"a\"\nname = \"A\"\nset = [\"tcp.ecn=true\"]\nwhen = [\"share.disc > 1\"]\n",
    );
    for (args, says) in [
        (&["--only", "min-rt"][..], "did you mean `min-rto`?"),
        (&["--without", "nothing"], "there is no remedy `nothing`"),
        (&["--objective", "speed"], "there are time, energy, cost, and ptc:ALPHA"),
        (&["--budget", "0 s"], "--budget is not more than nothing"),
        (&["--keep", "hdfs.replicas"], "has no such key"),
        (&["--remedies", "mine.toml"], "no share is called `disc`: did you mean `disk`?"),
        (&["--remedies", "absent.toml"], "absent.toml"),
        (&["--objective", "energy"], "node.idle-power"),
        (&["--objective", "cost"], "set node.price"),
    ] {
        let args = [&["advise", "incast.toml", "--runs", "2", "--quiet"], args].concat();
        let (code, says_it) = error(&scratch, &args);
        assert!(code == Some(2) && says_it.contains(says), "{args:?}: {code:?} {says_it}");
    }
    let list = scratch.trunkline(&["advise", "--list"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("compress-snappy"));
}

/// What is advised is accepted as it is printed, whether the scenario has one job in a table or a list of jobs.
#[test]
fn what_to_set_may_be_pasted() {
    let table = "[cluster]\nworkers = 3\n[run]\nfidelity = \"flow\"\n[network]\nrate = \"20 Mbit/s\"\n\
        [hdfs]\nblock = \"8 MB\"\n[job]\nworkload = \"wordcount\"\ncombiner = false\ninput = \"32 MB\"\nreducers = 2\n";
    for (form, text) in [("table", table.to_owned()), ("list", table.replace("[job]", "[[job]]"))] {
        let scratch = Scratch::new(&format!("advise-{form}"));
        scratch.file("job.toml", &text);
        let only = ["reducers", "compress-snappy", "combiner", "output-once", "am-heartbeat"];
        let only: Vec<&str> = only.iter().flat_map(|id| ["--only", *id]).collect();
        let args = [&["advise", "job.toml", "--runs", "2"], &only[..]].concat();
        let output = scratch.trunkline(&args);
        assert!(output.status.success(), "{form}: {}: {}", output.status, said(&output));
        let printed = printed(&output);
        let pasted: Vec<&str> = printed.lines().filter(|line| line.trim_start().starts_with("--set '")).collect();
        assert!(pasted.iter().any(|line| line.contains("'job.0.combiner=true'")), "{form}: {printed}");
        let shell = format!("\"$0\" run job.toml --quiet \\\n{}", pasted.join("\n"));
        let words = ["-c", &shell, env!("CARGO_BIN_EXE_trunkline")];
        let output = Command::new("sh").args(words).current_dir(&scratch.0).output().expect("it starts");
        assert!(output.status.success(), "{form}: {shell}\n{}", String::from_utf8_lossy(&output.stderr));

        let advice: Value = serde_json::from_str(&scratch.read("results/advise-job/advice.json")).expect("JSON");
        let remedies = advice["remedies"].as_array().expect("a list");
        let sets = |remedy: &Value| -> Vec<String> {
            let all = remedy["set"].as_array().expect("a list").iter();
            all.map(|set| set.as_str().expect("a text").to_owned()).collect()
        };
        let sets: Vec<Vec<String>> = remedies.iter().map(sets).filter(|set| !set.is_empty()).collect();
        assert!(sets.len() >= 4, "{form}: {sets:?}");
        for set in sets {
            let words = set.iter().flat_map(|set| ["--set", set.as_str()]);
            let args: Vec<&str> = ["run", "job.toml", "--quiet"].into_iter().chain(words).collect();
            assert_eq!(error(&scratch, &args).0, Some(0), "{form}: {set:?}: {}", error(&scratch, &args).1);
        }
    }
}
