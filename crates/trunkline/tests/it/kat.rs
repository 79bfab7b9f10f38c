//! `trunkline kat plan` as its users meet it.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of its own for a test, gone at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-kat-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), content).expect("written");
    }
    pub fn plan(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.args(["kat", "plan"]).args(args).current_dir(&self.0);
        command.env("NO_COLOR", "1").env("COLUMNS", "80").stdin(Stdio::null()).output().expect("it starts")
    }
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.plan(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
    pub fn refused(&self, args: &[&str]) -> String {
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

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Five thousand visits of some hundred users, of whom user-0 makes every fourth.
pub fn visits() -> String {
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
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("it pays after one run in bytes") && said.contains("warning: key user-0 (2"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let found = scratch.json(&["visits.tsv", "--nodes", "8"]);
    // By hand: each record is emitted with its key before it, and 7 of 8 pairs are reduced elsewhere.
    let exchange: usize =
        visits().lines().map(|line| line.split('\t').next().map_or(0, str::len) + line.len() + 1).sum();
    assert_eq!(found["exchange_bytes"], exchange);
    assert_eq!(found["remote_bytes_native"], exchange as u64 * 7 / 8);
    assert_eq!(found["import_bytes"], visits().len() as u64 * 7 / 8);
    assert_eq!((&found["records_read"], &found["runs_to_break_even"]), (&5000.into(), &1.into()));
    assert_eq!((&found["remote_bytes_by_key"], &found["split_keys"]), (&0.into(), &serde_json::json!([])));
    // Nothing merges what several reducers make of user-0, so it is whole, on a node that has it and few others.
    let of_user: usize = visits().lines().filter(|line| line.starts_with("user-0\t")).map(|line| line.len() + 1).sum();
    let alone = 8.0 * of_user as f64 / visits().len() as f64;
    let imbalance = found["imbalance"].as_f64().expect("a number");
    assert!((alone..1.05 * alone).contains(&imbalance), "{imbalance}, {alone}");
    // Natively the reducer of user-0 waits for its pairs; by key a node maps `imbalance` times its share.
    let [by_hash, above] =
        ["imbalance_by_hash", "pays_if_maps_above_bytes_per_s"].map(|key| found[key].as_f64().expect("a number"));
    assert!(by_hash > 2.5, "{by_hash}");
    let expected = 125e6 * (imbalance - 1.0) * visits().len() as f64 / (by_hash * exchange as f64 * 7.0 / 8.0);
    assert!((above / expected - 1.0).abs() < 1e-4, "{above}, {expected}");
}

/// What a combiner leaves, by hand: natively one pair for each user in a file of one block, by key one for each part of
/// user-0 that stands elsewhere than the other users of its bucket.
#[test]
fn a_combiner_leaves_less_and_lets_a_heavy_key_be_split() {
    let scratch = Scratch::new("combiner");
    scratch.file("visits.tsv", visits());
    let question = ["visits.tsv", "--nodes", "8", "--combiner", "--value", "8", "-o", "plan.json"];
    let found = scratch.json(&question);
    let users: std::collections::BTreeSet<String> =
        visits().lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect();
    let native: usize = users.iter().map(|user| user.len() + 8).sum();
    assert_eq!(found["remote_bytes_native"], native as u64 * 7 / 8);
    let plan: serde_json::Value =
        serde_json::from_slice(&fs::read(scratch.0.join("plan.json")).expect("a plan")).expect("JSON");
    let mut by_key = 0;
    for split in plan["split"].as_array().expect("split keys") {
        let light = &plan["buckets"][split["bucket"].as_u64().expect("a bucket") as usize];
        assert!(light["bytes"].as_u64() > Some(0), "the bucket has other users: {light}");
        let parts = split["parts"].as_array().expect("parts");
        let away = parts.iter().filter(|part| part["nodes"][0] != light["nodes"][0]).count();
        by_key += away * (split["text"].as_str().expect("text").len() + 8);
    }
    assert!(by_key > 0 && found["remote_bytes_by_key"] == by_key as u64, "{by_key}: {found}");
    assert_eq!((&found["warning"], &found["pays_if_maps_above_bytes_per_s"]), (&().into(), &().into()));
    assert!(found["imbalance"].as_f64().is_some_and(|load| load <= 1.05), "{found}");
    // Of a table in buckets a combiner is no remedy.
    let warning =
        |engine: &str| scratch.json(&["visits.tsv", "--nodes", "8", "--engine", engine])["warning"].to_string();
    assert!(warning("mapreduce").contains("--combiner") && !warning("iceberg").contains("--combiner"));
    // The import sends 7/8 of the file for each run's saving.
    let saved = (native * 7 / 8 - by_key) as f64;
    let runs = (visits().len() as f64 * 7.0 / 8.0 / saved).ceil();
    assert_eq!(found["runs_to_break_even"], runs as u64);
    // An earlier plan with split keys is none for a job that merges nothing.
    let error = scratch.refused(&["visits.tsv", "--nodes", "9", "--previous", "plan.json"]);
    assert!(error.contains("splits keys") && error.contains("--combiner"), "{error}");
}

/// Nodes without buckets have nothing to process: half of sixteen, if there are eight buckets.
#[test]
fn fewer_buckets_than_nodes_are_warned_of() {
    let scratch = Scratch::new("few-buckets");
    let mut text = String::new();
    for user in 0..4000_u32 {
        let _ = writeln!(text, "user-{user}\tx");
    }
    scratch.file("even.tsv", text);
    let found = scratch.json(&["even.tsv", "--nodes", "16", "--buckets", "8"]);
    let warning = found["warning"].as_str().expect("a warning");
    assert!(warning.contains("8 buckets") && warning.contains("16 nodes, of which 8 have nothing"), "{warning}");
    assert!(found["imbalance"].as_f64().is_some_and(|load| load >= 2.0), "{found}");
    assert!(found["pays_if_maps_above_bytes_per_s"].as_f64().is_some_and(|rate| rate > 1e6), "{found}");
    let found = scratch.json(&["even.tsv", "--nodes", "16", "--buckets", "24"]);
    assert!(found["warning"].as_str().is_some_and(|warning| warning.contains("do not spread evenly")), "{found}");
    assert_eq!(scratch.json(&["even.tsv", "--nodes", "16"])["warning"], serde_json::Value::Null);
}

/// Three records of one word, one of 40 and one without: counters below 32 are exact, 40 and 41 share one.
#[test]
fn keys_per_record_have_a_histogram() {
    let scratch = Scratch::new("per-record");
    scratch.file("words.txt", format!("a\nb\nc\n{}\n\n", "w ".repeat(40)));
    let question = ["words.txt", "--key", "tokens", "--nodes", "2"];
    let expected = serde_json::json!([
        { "keys": [0, 0], "records": 1 }, { "keys": [1, 1], "records": 3 }, { "keys": [40, 41], "records": 1 },
    ]);
    assert_eq!(scratch.json(&question)["keys_per_record_read"], expected);
    let text =
        String::from_utf8_lossy(&scratch.plan(&question).stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("10.75 per record (at most 1 in half of them, 40 in 99 %, 40 in all)"), "{text}");
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

/// Two nodes with eight lines each as they stand, each line with a word of its own and two that are its node's alone: 20
/// pairs of a word and a node. By their own words lines of either kind come to both nodes: 24.
#[test]
fn whole_lines_may_add_to_what_a_combiner_leaves() {
    let scratch = Scratch::new("adds");
    let lines = (0..16).map(|line| if line < 8 { format!("x{line} a c\n") } else { format!("x{line} b d\n") });
    scratch.file("words.txt", lines.collect::<String>());
    let output = scratch.plan(&["words.txt", "--nodes", "2", "--key", "tokens"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("by their rarest key, they add 20 % to its pairs"), "{text}");
}

/// Each record has a user and one of four groups. Natively each of two maps leaves 2,000 users and four groups, 7 in 8
/// of which travel. By key no user does, and the groups of eight buckets do, but for the one bucket that has the group.
#[test]
fn records_of_two_keys_pay_where_a_combiner_leaves_little_of_one() {
    let scratch = Scratch::new("two-keys");
    let mut text = String::new();
    for record in 0..160_000_u32 {
        let _ = writeln!(text, "user-{:04} g{}", record.wrapping_mul(2_654_435_761) % 2000, record % 4);
    }
    scratch.file("users.txt", text);
    let found = scratch.json(&[
        "users.txt",
        "--key",
        "tokens",
        "--value",
        "8",
        "--nodes",
        "8",
        "--buckets",
        "8",
        "--combiner",
        "--block",
        "1 MiB",
    ]);
    let native = 2.0 * (2000.0 * 17.0 + 4.0 * 10.0) * 7.0 / 8.0;
    assert!(found["remote_bytes_native"].as_f64().is_some_and(|bytes| (bytes / native - 1.0).abs() < 1e-4), "{found}");
    assert_eq!(found["remote_bytes_by_key"], 28 * 10 * 7 / 8, "{found}");
    assert_eq!((&found["pays"], found["saved_share"].as_f64().map(|share| share > 0.99)), (&true.into(), Some(true)));
}

#[test]
fn a_plan_goes_on_from_an_earlier_one_when_a_node_comes() {
    let scratch = Scratch::new("previous");
    scratch.file("visits.tsv", visits());
    let made = scratch.plan(&["visits.tsv", "--nodes", "8", "--combiner", "-o", "plan.json"]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    let same = scratch.json(&["visits.tsv", "--nodes", "8", "--previous", "plan.json", "--combiner"]);
    assert_eq!(same["moved_bytes"], 0);
    let more = scratch.json(&["visits.tsv", "--nodes", "9", "--previous", "plan.json", "--combiner"]);
    let copies = 3 * visits().len() as u64;
    let moved = more["moved_bytes"].as_u64().expect("bytes");
    assert!(moved > 0 && moved as f64 <= 1.1 / 8.0 * copies as f64, "{moved} of {copies}");
    assert!(more["imbalance"].as_f64().is_some_and(|load| load <= 1.05), "{more}");

    assert_eq!(
        scratch.plan(&["visits.tsv", "--nodes", "8", "--combiner", "-o", "plan.json"]).status.code(),
        Some(5),
        "it is there"
    );
    let error = scratch.refused(&["visits.tsv", "--nodes", "x,y", "--previous", "plan.json", "--combiner"]);
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
    // Bytes of chance, none of which is 0.
    let mut draw = 1_u64;
    let chance: Vec<u8> = (0..10_000)
        .map(|_| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((draw >> 33) % 255 + 1) as u8
        })
        .collect();
    scratch.file("chance", &chance);
    scratch.file("chance.gz", gzip(&chance));
    scratch.file("image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    // The head of a SequenceFile that ends within it: 4 bytes, a name of 25 behind its length, an empty name, and one
    // of the two flags at byte 31.
    scratch.file("sequence", b"SEQ\x06\x19org.apache.hadoop.io.Text\0\0");
    scratch.file("orc", b"ORC\0\0");
    fs::create_dir(scratch.0.join("folder")).expect("a folder");
    scratch.file("folder/_SUCCESS", "");
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
        (
            &["chance", "--nodes", "4"],
            &["chance: it is binary (byte", "not UTF-8", "control characters", "SequenceFile"],
        ),
        (&["chance", "--nodes", "4", "--key", "column:1"], &["it is binary"]),
        (&["chance.gz", "--nodes", "4", "--sample", "0.5"], &["chance.gz: it is binary"]),
        (&["sequence", "--nodes", "4"], &["sequence: it is broken at byte 31"]),
        (&["orc", "--nodes", "4"], &["an ORC file", "Parquet"]),
        (&["visits.tsv", "--nodes", "4", "--key", "column:user"], &["no column `user`", "column:2"]),
        (&["visits.tsv", "--nodes", "4", "--key", "key"], &["no key beside them", "first-tab"]),
        (&["visits.tsv", "--nodes", "4", "--second", "column:2", "--replicas", "1"], &["--replicas 2"]),
        (&["visits.tsv", "--nodes", "4", "--second", "regex:zebra"], &["--second", "matches no record"]),
        (&["visits.tsv", "--nodes", "4", "--modified", "5"], &["--previous"]),
        (&["visits.tsv", "--nodes", "4", "--redistribute-after", "5"], &["--modified"]),
        (&["visits.tsv", "--nodes", "4", "--second-copies", "2"], &["--second <RULE>"]),
        (
            &["visits.tsv", "--nodes", "4", "--second", "column:2", "--second-copies", "3"],
            &["--second-copies 3 of --replicas 3", "1 to 2 fit"],
        ),
        (&["visits.tsv", "--nodes", "4", "--combiner", "--sample", "0.5"], &["--combiner with --sample 0.5"]),
        (&["visits.tsv", "--nodes", "4", "--combiner", "--engine", "spark"], &["murmur3 of spark", "--hash rdd"]),
        (&["visits.tsv", "--nodes", "4", "--combiner", "--engine", "iceberg"], &["read by one task"]),
        (&["visits.tsv", "--nodes", "4", "--block", "1 KB"], &["128 MB"]),
        (&["endless", "--nodes", "4"], &["no end of line within 16 MiB"]),
        (&["missing", "--nodes", "4"], &["cannot read missing"]),
        (&["folder", "--nodes", "4"], &["a folder without files"]),
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

/// A piece of a file that has but its head, and no piece with records: 4 KiB of metadata stand before the first one.
#[test]
fn a_sample_without_records_says_that_a_larger_one_has_some() {
    let scratch = Scratch::new("empty-sample");
    let bytes = fs::read(engines("plain.seq")).expect("read");
    // SEQ and a version, two names of 25 letters behind their lengths, two flags, and the number of metadata.
    let (head, rest) = (&bytes[..4 + 2 * 26 + 2], &bytes[4 + 2 * 26 + 2 + 4..]);
    // Hadoop's length of 5000 as two bytes: -114, then the number.
    let metadata = [&[0, 0, 0, 1, 1, b'k', 0x8e, 0x13, 0x88][..], &[b'v'; 5000]].concat();
    scratch.file("records.seq", [head, &metadata, rest].concat());
    let error = scratch.refused(&["records.seq", "--nodes", "4", "--sample", "0.01"]);
    let size = fs::metadata(scratch.0.join("records.seq")).expect("a file").len();
    assert!(error.contains("records.seq has no records to plan from: the sample of 0.01 found none in"), "{error}");
    assert!(error.contains("a larger --sample does"), "{error}");
    assert!((20_000..50_000).contains(&size), "{size}");
    assert_eq!(scratch.json(&["records.seq", "--nodes", "4", "--sample", "1"])["records_read"], 600);
    // A folder of it and of a file whose sample has records knows of its bytes.
    fs::create_dir(scratch.0.join("both")).expect("a folder");
    for name in ["records.seq", "plain.seq"] {
        let from = if name == "plain.seq" { engines(name).into() } else { scratch.0.join(name) };
        fs::copy(from, scratch.0.join("both").join(name)).expect("copied");
    }
    let both = scratch.json(&["both", "--nodes", "4", "--sample", "0.01"]);
    let plain = scratch.json(&[&engines("plain.seq"), "--nodes", "4", "--sample", "0.01"]);
    let bytes = |found: &serde_json::Value| found["bytes"].as_u64().expect("bytes");
    assert!(bytes(&both) > bytes(&plain) + 20_000, "{both} {plain}");
}

/// A file that an engine's own library has written, of crate `records`.
fn engines(name: &str) -> String {
    format!("{}/../records/tests/files/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn files_of_the_engines_are_planned_by_their_keys_and_columns() {
    let scratch = Scratch::new("engines");
    let parquet = engines("snappy-1.parquet");
    let found = scratch.json(&[&parquet, "--key", "column:id", "--engine", "spark", "--nodes", "4"]);
    assert_eq!(
        (&found["format"], &found["key_type"], &found["records_read"]),
        (&"Parquet".into(), &"long".into(), &600.into())
    );
    // 600 keys of 64 bits beside their records.
    assert_eq!(found["exchange_bytes"].as_u64(), found["bytes"].as_u64().map(|bytes| bytes + 600 * 8));
    let found =
        scratch.json(&[&engines("deflate.avro"), "--key", "column:user.name", "--engine", "hive", "--nodes", "4"]);
    assert_eq!((&found["format"], &found["key"]), (&"Avro".into(), &"column:user.name".into()));
    let found = scratch.json(&[&engines("blocks-default.seq"), "--nodes", "4"]);
    assert_eq!(
        (&found["format"], &found["key"], &found["key_type"]),
        (&"SequenceFile".into(), &"key".into(), &"text".into())
    );
    assert!(found["keys_distinct_read"] == 37, "{found}");

    let error = scratch.refused(&[&parquet, "--nodes", "4"]);
    assert!(error.contains("which column has the keys") && error.contains("user.name (text)"), "{error}");
    let error = scratch.refused(&[&parquet, "--key", "column:at", "--nodes", "4"]);
    assert!(error.contains("no bucket for keys of type timestamp") && error.contains("--type"), "{error}");
    let error = scratch.refused(&[&parquet, &engines("plain.seq"), "--key", "column:1", "--nodes", "4"]);
    assert!(error.contains("data of one kind"), "{error}");
    // What a job leaves: parts, and a file that is none.
    fs::create_dir(scratch.0.join("out")).expect("a folder");
    scratch.file("out/_SUCCESS", "");
    scratch.file("out/part-r-00000", visits());
    scratch.file("out/part-r-00001.gz", gzip(visits().as_bytes()));
    assert_eq!(scratch.json(&["out", "--nodes", "4"])["records_read"], 10_000);
}

/// Of three copies one is a second file. A lost node of eight has an eighth of each copy, and the single copy of the
/// second file is found again by reading all of the first.
#[test]
fn another_key_has_a_second_file_and_its_repair() {
    let scratch = Scratch::new("second");
    scratch.file("visits.tsv", visits());
    let question = ["visits.tsv", "--nodes", "8", "--second", "column:2"];
    let found = scratch.json(&question);
    let bytes = visits().len() as u64;
    assert_eq!((&found["replicas"], &found["second"]["copies"]), (&2.into(), &1.into()));
    assert_eq!(found["second"]["repair"]["read_bytes"], bytes + 2 * bytes / 8);
    assert_eq!(found["second"]["repair"]["transfer_bytes"], 3 * bytes / 8);
    assert_eq!(found["second"]["repair_of_one_order"]["read_bytes"], 3 * bytes / 8);
    assert!(found["second"]["saved_share"].as_f64().is_some_and(|share| share > 0.95), "{found}");
    // Two of three copies are the second file, and the single copy of the first one is found again in it.
    let most = scratch.json(&[&question[..], &["--second-copies", "2"]].concat());
    assert_eq!((&most["replicas"], &most["second"]["copies"]), (&1.into(), &2.into()));
    assert_eq!(most["second"]["repair"]["read_bytes"], bytes + 2 * bytes / 8);
    let output = scratch.plan(&question);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("a second file by column:2") && text.contains("is repaired by"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Blocks of 1 MB on two nodes hold as many records as have 2 MB; an interface of 1 Mbit/s sends 125,000 bytes a
/// second.
#[test]
fn modified_records_wait_and_an_import_has_its_time() {
    let scratch = Scratch::new("modified");
    scratch.file("visits.tsv", visits());
    assert_eq!(scratch.plan(&["visits.tsv", "--nodes", "2", "-o", "plan.json"]).status.code(), Some(0));
    let text = |modified: u64| {
        let modified = modified.to_string();
        let question =
            ["visits.tsv", "--nodes", "2", "--previous", "plan.json", "--block", "1 MB", "--modified", &modified];
        String::from_utf8_lossy(&scratch.plan(&question).stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let due = 2_000_000 * 5000 / visits().len() as u64;
    assert!(text(due - 10).contains("They wait"), "{}", text(due - 10));
    assert!(text(due + 10).contains("Redistribute them"), "{}", text(due + 10));
    let goes_on = ["visits.tsv", "--nodes", "2", "--previous", "plan.json", "--modified", "70"];
    for (after, is_due) in [("70", true), ("71", false)] {
        let found = scratch.json(&[&goes_on[..], &["--redistribute-after", after]].concat());
        assert_eq!(found["modified"]["redistribute"], is_due, "{found}");
    }
    let found = scratch.json(&["visits.tsv", "--nodes", "2", "--replicas", "1", "--rate", "1 Mbit/s"]);
    // One client sends each byte, and opens two connections in a millisecond each.
    let time = visits().len() as f64 / 125_000.0 + 0.002;
    let central = found["import"]["central_queues"]["time_s"].as_f64().expect("a time");
    assert!((central - time).abs() < 1e-6, "{central}: {time}");
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
    // One layout of its files helps one job.
    assert_eq!(found["files"].as_array().map(Vec::len), Some(1));
    assert_eq!((&found["files"][0]["jobs"], &found["files"][0]["saved_bytes"]), (&1.into(), &inverted["saved_bytes"]));
}

/// A configuration says which of Hadoop's own maps a job has, and so by which key its files could be laid out.
#[test]
fn a_configuration_names_the_key() {
    let scratch = Scratch::new("configured");
    let traces = format!("{}/../history/tests/traces", env!("CARGO_MANIFEST_DIR"));
    scratch.file(
        "job_1795217314114_0006.jhist",
        fs::read(format!("{traces}/grep-unshaped/job_1795217314114_0006.jhist")).expect("a history"),
    );
    let configured = |properties: &[(&str, &str)]| {
        let property =
            |(name, value): &(&str, &str)| format!("<property><name>{name}</name><value>{value}</value></property>");
        let all = [
            &[("mapreduce.job.reduces", "1"), ("mapreduce.input.fileinputformat.inputdir", "hdfs://m/data")],
            properties,
        ]
        .concat();
        let text: String = all.iter().map(property).collect();
        scratch.file("job_1795217314114_0006_conf.xml", format!("<configuration>{text}</configuration>"));
        scratch.json(&["--history", ".", "--nodes", "8"])["jobs"][0].clone()
    };
    let sequence = "org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat";
    let job = configured(&[("mapreduce.job.inputformat.class", sequence)]);
    assert_eq!(
        (&job["key"], &job["key_is_rule"], &job["files"]),
        (&"key".into(), &true.into(), &"hdfs://m/data".into())
    );
    let job = configured(&[("mapreduce.job.map.class", "org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper")]);
    assert_eq!(job["key"], "tokens");
    let job = configured(&[(
        "mapreduce.job.partitioner.class",
        "org.apache.hadoop.mapreduce.lib.partition.TotalOrderPartitioner",
    )]);
    assert!(job["why_not"].as_str().is_some_and(|why| why.contains("TotalOrderPartitioner")), "{job}");
    let job = configured(&[]);
    assert!(job["why_not"].as_str().is_some_and(|why| why.contains("places of lines")), "{job}");
}
