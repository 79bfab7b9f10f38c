//! `trunkline advise` as its users meet it.

use crate::support::Scratch;
use serde_json::Value;

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
        let (code, said) = error(&scratch, &args);
        assert!(code == Some(2) && said.contains(says), "{args:?}: {code:?} {said}");
    }
    let list = scratch.trunkline(&["advise", "--list"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("compress-snappy"));
}
