//! `trunkline kat plan` as its users meet it.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of its own for a test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-kat-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }
    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), content).expect("written");
    }
    fn plan(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.args(["kat", "plan"]).args(args).current_dir(&self.0);
        command.env("NO_COLOR", "1").env("COLUMNS", "80").stdin(Stdio::null()).output().expect("it starts")
    }
    fn json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.plan(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
    fn refused(&self, args: &[&str]) -> String {
        let output = self.plan(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(output.stdout.is_empty());
        said(&output)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Five thousand visits of some hundred users, of whom user-0 makes every fourth.
fn visits() -> String {
    let mut text = String::new();
    for visit in 0..5000_u32 {
        let user = if visit % 4 == 0 { 0 } else { visit.wrapping_mul(2_654_435_761) % 997 };
        let _ = writeln!(text, "user-{user}\t/page/{}\t{visit}", visit % 31);
    }
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("in memory");
    gzip.finish().expect("in memory")
}

#[test]
fn a_keyed_file_pays_and_the_text_fits_the_terminal() {
    let scratch = Scratch::new("pays");
    scratch.file("visits.tsv", visits());
    let output = scratch.plan(&["visits.tsv", "--nodes", "8"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("it pays after one run") && text.contains("user-0 (2"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let found = scratch.json(&["visits.tsv", "--nodes", "8"]);
    // By hand: each record is emitted with its key before it, and 7 of 8 pairs are reduced elsewhere.
    let exchange: usize =
        visits().lines().map(|line| line.split('\t').next().map_or(0, str::len) + line.len() + 1).sum();
    assert_eq!(found["exchange_bytes"], exchange);
    assert_eq!(found["remote_bytes_native"], exchange as u64 * 7 / 8);
    assert_eq!(found["import_bytes"], visits().len() as u64 * 7 / 8);
    assert_eq!((&found["records_read"], &found["runs_to_break_even"]), (&5000.into(), &1.into()));
    assert!(found["saved_share"].as_f64().is_some_and(|share| share > 0.99), "{found}");
    assert!(found["imbalance"].as_f64().is_some_and(|load| load <= 1.05), "{found}");
    // A node with a quarter of the data, and its share of the rest.
    assert!(found["imbalance_by_hash"].as_f64().is_some_and(|load| load > 2.5), "{found}");
}

#[test]
fn gzip_and_standard_input_say_what_the_plain_file_says() {
    let scratch = Scratch::new("gzip");
    scratch.file("visits.tsv", visits());
    // Two members, as of files that were joined.
    let text = visits();
    let (first, second) = text.split_at(text.len() / 3);
    scratch.file("visits.gz", [gzip(first.as_bytes()), gzip(second.as_bytes())].concat());
    let plain = scratch.json(&["visits.tsv", "--nodes", "4"]);
    let mut packed = scratch.json(&["visits.gz", "--nodes", "4"]);
    packed["files"] = plain["files"].clone();
    assert_eq!(plain, packed);
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(["kat", "plan", "-", "--nodes", "4", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(visits().as_bytes()).expect("it reads");
    let mut piped: serde_json::Value =
        serde_json::from_slice(&child.wait_with_output().expect("it ends").stdout).expect("JSON");
    piped["files"] = plain["files"].clone();
    assert_eq!(plain, piped);
}

#[test]
fn lines_of_many_words_do_not_pay_unless_they_are_split() {
    let scratch = Scratch::new("words");
    let mut text = String::new();
    for line in 0..2000_u32 {
        let words: Vec<String> =
            (0..10).map(|word| format!("w{}", (line * 10 + word).wrapping_mul(2_654_435_761) % 5003)).collect();
        let _ = writeln!(text, "{}", words.join(" "));
    }
    scratch.file("book.txt", text);
    let question = ["book.txt", "--key", "tokens", "--value", "4", "--nodes", "8"];
    let whole = scratch.json(&question);
    assert_eq!((&whole["pays"], &whole["keys_per_record_most"]), (&false.into(), &10.into()));
    assert!(whole["why_not"].as_str().is_some_and(|why| why.contains("--layout split")), "{whole}");
    // One key of ten is at home.
    assert!(whole["saved_share"].as_f64().is_some_and(|share| (0.05..0.15).contains(&share)), "{whole}");
    let split = scratch.json(&[&question[..], &["--layout", "split"]].concat());
    assert_eq!(split["pays"], true);
    assert!(split["saved_share"].as_f64().is_some_and(|share| share > 0.9), "{split}");
}

#[test]
fn a_plan_goes_on_from_an_earlier_one_when_a_node_comes() {
    let scratch = Scratch::new("previous");
    scratch.file("visits.tsv", visits());
    let made = scratch.plan(&["visits.tsv", "--nodes", "8", "-o", "plan.json"]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    let same = scratch.json(&["visits.tsv", "--nodes", "8", "--previous", "plan.json"]);
    assert_eq!(same["moved_bytes"], 0);
    let more = scratch.json(&["visits.tsv", "--nodes", "9", "--previous", "plan.json"]);
    let copies = 3 * visits().len() as u64;
    let moved = more["moved_bytes"].as_u64().expect("bytes");
    assert!(moved > 0 && moved as f64 <= 1.1 / 8.0 * copies as f64, "{moved} of {copies}");
    assert!(more["imbalance"].as_f64().is_some_and(|load| load <= 1.05), "{more}");

    assert_eq!(scratch.plan(&["visits.tsv", "--nodes", "8", "-o", "plan.json"]).status.code(), Some(5), "it is there");
    let error = scratch.refused(&["visits.tsv", "--nodes", "x,y", "--previous", "plan.json"]);
    assert!(error.contains("worker-1") && error.contains("x, y"), "{error}");
    let error = scratch.refused(&["visits.tsv", "--nodes", "8", "--previous", "plan.json", "--engine", "spark"]);
    assert!(error.contains("hash-partitioner, not by murmur3"), "{error}");
    scratch.file("broken.json", "{\"trunkline_plan\": 1, \"buckets\": [");
    let error = scratch.refused(&["visits.tsv", "--nodes", "8", "--previous", "broken.json"]);
    assert!(error.contains("broken.json is no plan"), "{error}");
}

#[test]
fn what_cannot_be_planned_is_refused_with_its_reason() {
    let scratch = Scratch::new("refused");
    scratch.file("visits.tsv", visits());
    scratch.file("words.txt", "no tab here\nnor here\n");
    scratch.file("empty", "");
    scratch.file("image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    scratch.file("sequence", b"SEQ\x06\x19org.apache.hadoop.io.Text\0\0");
    scratch.file("endless", vec![b'x'; 17 << 20]);
    for (args, words) in [
        (&["words.txt", "--nodes", "4"][..], &["no record has a tab", "no tab here"][..]),
        (
            &["visits.tsv", "--nodes", "4", "--key", "regex:zebra"],
            &["regex:zebra", "matches no record", "user-0\t/page/0\t0"],
        ),
        (&["visits.tsv", "--nodes", "4", "--key", "regex:("], &["no regular expression"]),
        (&["visits.tsv", "--nodes", "4", "--type", "int"], &["`user-0`", "type int"]),
        (&["empty", "--nodes", "4"], &["no records", "no bytes"]),
        (&["image", "--nodes", "4"], &["binary", "byte 8 is 0"]),
        (&["sequence", "--nodes", "4"], &["a SequenceFile"]),
        (&["endless", "--nodes", "4"], &["no end of line within 16 MiB"]),
        (&["missing", "--nodes", "4"], &["cannot read missing"]),
        (&[".", "--nodes", "4"], &["is a folder"]),
        (&["visits.tsv", "--nodes", "4", "--engine", "spark", "--hash", "hive-v1"], &["spark", "hive-v1", "murmur3"]),
        (&["visits.tsv", "--nodes", "4", "--engine", "hive", "--type", "uuid"], &["no bucket", "uuid"]),
        (&["visits.tsv", "--nodes", "a,a"], &["node a stands twice"]),
        (&["visits.tsv", "--nodes", "4", "--sample", "0"], &["at most 1"]),
    ] {
        let error = scratch.refused(args);
        assert!(words.iter().all(|word| error.contains(word)), "{args:?}: {error}");
    }
    // A record without a key among many with one is counted, not refused.
    scratch.file("mixed.tsv", format!("no tab\n{}", visits()));
    assert_eq!(scratch.json(&["mixed.tsv", "--nodes", "4"])["records_without_key"], 1);
}

/// Histories of real jobs.
#[test]
fn a_history_says_which_shuffles_a_layout_would_save() {
    let scratch = Scratch::new("history");
    let history = |name: &str| format!("{}/../history/tests/traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let (words, grep) = (history("with-conf"), history("grep-unshaped"));
    let found = scratch.json(&["--history", &words, "--history", &grep, "--nodes", "8"]);
    let job = |end: &str| {
        let mut jobs = found["jobs"].as_array().expect("jobs").iter();
        jobs.find(|job| job["job"].as_str().is_some_and(|id| id.ends_with(end))).expect("the job").clone()
    };
    // A word count of lines of twelve words.
    let words = job("606570_0001");
    assert!(words["pairs_per_record"].as_f64().is_some_and(|keys| (keys - 12.0).abs() < 0.01), "{words}");
    assert_eq!(words["saved_bytes"], 0);
    assert!(words["files"] == "hdfs://m:8020/in" && words["why_not"].as_str().is_some_and(|why| why.contains("keys")));
    // Grep's second job inverts pairs of a count and a word: one key a record, and no partitioner in the history.
    let inverted = job("_0006");
    assert_eq!(inverted["saved_bytes"], inverted["shuffle_bytes"].as_u64().expect("bytes") * 7 / 8);
    assert!(inverted["key"].as_str().is_some_and(|key| key.contains("not recorded")), "{inverted}");
}
