//! `trunkline kat load` and `verify` before a cluster that is only played: a script answers as the Java class does.
//! What the class itself does is tested in `hadoop/`, and both together by `testbed hadoop run --kat`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

struct Scratch(PathBuf);

impl Scratch {
    /// A folder with two records and their plan for nodes a and b, by a number of copies and more options.
    fn new(name: &str, plan: &[&str]) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-kat-cluster-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        let scratch = Self(path);
        fs::write(scratch.0.join("in.tsv"), "be\t1\nto\t2\n").expect("written");
        let planned =
            scratch.kat(&[&["plan", "in.tsv", "--nodes", "a,b", "--buckets", "3", "-o", "plan.json"], plan].concat());
        assert_eq!(planned.status.code(), Some(0), "{}", said(&planned));
        scratch
    }

    /// Plays the cluster: a script whose first argument is the class, its second the command.
    fn cluster(&self, script: &str) {
        let path = self.0.join("hadoop");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made a program");
    }

    fn kat(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.arg("kat").args(arguments).current_dir(&self.0);
        command.env("NO_COLOR", "1").stdin(Stdio::null()).output().expect("it starts")
    }

    /// Plays a cluster that holds these files, of so many records, each on the node of its name, and verifies them.
    fn verify(&self, files: &[(String, &[u8])], records: u32) -> Output {
        let (mut look, mut read) = (NODES.trim_end_matches(";;").to_owned() + "; ", Vec::new());
        for (name, content) in files {
            let node = name.split('@').next_back().expect("a node");
            let _ = write!(look, "printf 'file\\t{name}\\t{}\\t1\\t{node}\\n'; ", content.len());
            read.extend_from_slice(&(name.len() as u16).to_be_bytes());
            read.extend_from_slice(name.as_bytes());
            read.extend_from_slice(&(content.len() as u64).to_be_bytes());
            read.extend_from_slice(content);
        }
        fs::write(self.0.join("read"), read).expect("written");
        let digest = blake3::hash(&fs::read(self.0.join("plan.json")).expect("a plan")).to_hex();
        let _ =
            write!(look, "printf 'manifest\\t{{\"plan\":\"{digest}\"}}\\nloaded\\t{{\"stored\":{records}}}\\n' ;; ");
        self.cluster(&format!("{look} read) cat read ;; judge) cat >/dev/null ;; esac"));
        self.kat(&["verify", "plan.json", "/data/x", "--hadoop", "./hadoop", "--quiet"])
    }

    fn load(&self, code: i32) -> String {
        let output = self.kat(&["load", "plan.json", "in.tsv", "--to", "/data/x", "--hadoop", "./hadoop"]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        said(&output)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

const NODES: &str = "case $2 in look) printf 'node\\ta\\t/default-rack\\t9\\nnode\\tb\\t/default-rack\\t9\\n' ;;";

#[test]
fn another_cluster_and_racks_that_the_plan_does_not_know_are_refused() {
    let scratch = Scratch::new("other", &["--replicas", "2"]);
    scratch.cluster("printf 'node\\tc\\t/default-rack\\t9\\n'");
    let error = scratch.load(2);
    assert!(error.contains("of another cluster") && error.contains("(a, b)") && error.contains("(c)"), "{error}");
    scratch.cluster("printf 'node\\ta\\t/r1\\t9\\nnode\\tc\\t/r1\\t9\\n'");
    let error = scratch.load(2);
    assert!(
        error.contains("1 of the plan's nodes are no living DataNodes: b") && error.contains("--previous"),
        "{error}"
    );
    scratch.cluster("printf 'node\\ta\\t/r1\\t9\\nnode\\tb\\t/r1\\t9\\nnode\\tc\\t/r2\\t9\\n'");
    let error = scratch.load(2);
    assert!(error.contains("all copies on one rack") && error.contains("a@/r1,b@/r1"), "{error}");
}

#[test]
fn a_name_node_without_the_policy_and_a_path_without_the_class_are_named() {
    let scratch = Scratch::new("policy", &["--replicas", "1"]);
    // All probes stand on b, where the client is.
    let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\tb\\n' $node; done ;; esac";
    scratch.cluster(&format!("{NODES} {probe}"));
    // That is half of two nodes: as though a took no blocks. It goes on, and fails where the player does.
    let error = scratch.load(3);
    assert!(error.contains("a take no blocks now"), "{error}");
    // It takes all there is to write, and says nothing of it.
    let silent =
        "probe) shift 3; for node; do printf 'probe\\t%s\\t%s\\n' $node $node; done ;; *) cat >/dev/null ;; esac";
    scratch.cluster(&format!("{NODES} {silent}"));
    let error = scratch.load(3);
    assert!(error.contains("ended without a word on 2 of 2 files"), "{error}");
    let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\tc\\n' $node; done ;; esac";
    scratch.cluster(&format!("{NODES} {probe}"));
    let error = scratch.load(3);
    assert!(error.contains("dfs.block.replicator.classname") && error.contains("trunkline-hadoop.jar"), "{error}");
    scratch.cluster("echo 'Error: Could not find or load main class trunkline.hadoop.Kat' >&2; exit 1");
    assert!(scratch.load(4).contains("--jar names trunkline-hadoop.jar"));
    scratch.cluster("echo 'a log line' >&2; echo 'kat: Connection refused' >&2; exit 1");
    assert!(scratch.load(3).contains("failed: Connection refused"));
    fs::remove_file(scratch.0.join("hadoop")).expect("removed");
    assert!(scratch.load(4).contains("there is no program ./hadoop"));
}

#[test]
fn a_folder_that_holds_something_else_is_refused() {
    let scratch = Scratch::new("folder", &["--replicas", "1"]);
    let nodes = "printf 'node\\ta\\t/d\\t9\\nnode\\tb\\t/d\\t9\\n';";
    scratch.cluster(&format!("{nodes} printf 'file\\tpart-0\\t5\\t1\\ta\\n'"));
    assert!(scratch.load(2).contains("holds files already (part-0)"));
    scratch.cluster(&format!("{nodes} printf 'manifest\\t{{\"plan\":\"another\"}}\\n'"));
    assert!(scratch.load(2).contains("holds a load by another plan"));
    let verified = scratch.kat(&["verify", "plan.json", "/data/x", "--hadoop", "./hadoop"]);
    assert_eq!(verified.status.code(), Some(2));
    assert!(said(&verified).contains("was loaded by another plan"), "{}", said(&verified));
}

/// Forty records that are alike, in two parts of their key: either part may have each of them, and no other key's.
#[test]
fn records_of_a_split_key_may_stand_in_any_part_of_it() {
    let scratch = Scratch::new("parts", &["--replicas", "1"]);
    fs::write(scratch.0.join("in.tsv"), format!("to\t2\n{}", "be\t1\n".repeat(40))).expect("written");
    let planned = scratch.kat(&[
        "plan",
        "in.tsv",
        "--nodes",
        "a,b",
        "--buckets",
        "3",
        "--replicas",
        "1",
        "--combiner",
        "-o",
        "plan.json",
        "--force",
    ]);
    assert_eq!(planned.status.code(), Some(0), "{}", said(&planned));
    let text = fs::read(scratch.0.join("plan.json")).expect("a plan");
    let plan: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let split = &plan["split"][0];
    assert_eq!(split["text"], "be");
    let digest = blake3::hash(&text).to_hex();
    let nodes = "printf 'node\\ta\\t/d\\t9\\nnode\\tb\\t/d\\t9\\n';";
    scratch.cluster(&format!("{nodes} printf 'manifest\\t{{\"schema\":1,\"plan\":\"{digest}\"}}\\n'"));
    assert!(scratch.load(2).contains("a part of a load by an earlier version"));
    let file = |part: usize, content: &'static str| {
        let node = ["a", "b"][split["parts"][part]["nodes"][0].as_u64().expect("a node") as usize];
        let bucket = split["bucket"].as_u64().expect("a bucket");
        (format!("bucket-{bucket:05}-of-00003-key-0-part-{part}@{node}"), content.as_bytes())
    };
    let uneven = scratch.verify(&[file(0, "be\t1\n"), file(1, "be\t1\nbe\t1\nbe\t1\n")], 4);
    assert_eq!(uneven.status.code(), Some(0), "{}", said(&uneven));
    let astray = scratch.verify(&[file(0, "be\t1\nto\t2\n")], 2);
    assert!(
        astray.status.code() == Some(3) && said(&astray).contains("1 records are in another bucket"),
        "{}",
        said(&astray)
    );
}

/// What the writer is told, as files: frames of their names (F), of records with their keys (R), and of the end (C).
fn written(mut frames: &[u8]) -> BTreeMap<String, Vec<u8>> {
    fn take<'a>(frames: &mut &'a [u8], bytes: usize) -> &'a [u8] {
        let (taken, rest) = frames.split_at(bytes);
        *frames = rest;
        taken
    }
    fn number(frames: &mut &[u8], bytes: usize) -> usize {
        take(frames, bytes).iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }
    let (mut names, mut files) = (BTreeMap::new(), BTreeMap::<String, Vec<u8>>::new());
    while let [tag, ..] = take(&mut frames, 1) {
        let file = if *tag == b'C' { break } else { number(&mut frames, 4) };
        if *tag == b'F' {
            let length = number(&mut frames, 2);
            names.insert(file, String::from_utf8_lossy(take(&mut frames, length)).into_owned());
            take(&mut frames, 8);
        } else {
            let key = number(&mut frames, 4);
            take(&mut frames, key);
            let length = number(&mut frames, 4);
            let content = files.entry(names[&file].clone()).or_default();
            content.extend_from_slice(take(&mut frames, length));
            content.push(b'\n');
        }
    }
    files
}

/// Each key of a record gets a line of its own: key, tab, the record. The first tab parts them again.
#[test]
fn a_layout_of_split_records_has_each_record_with_each_of_its_keys() {
    let scratch = Scratch::new("split", &["--replicas", "1", "--layout", "split", "--key", "tokens"]);
    let said_of = "printf 'w\\tx\\t0\\t1\\t1\\t0\\n%.0s' 1 2 3";
    let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\t%s\\n' $node $node; done ;;";
    scratch.cluster(&format!("{NODES} {probe} write) cat > written; {said_of} ;; *) cat >/dev/null ;; esac"));
    scratch.load(0);
    let files = written(&fs::read(scratch.0.join("written")).expect("frames"));
    let mut lines: Vec<&str> = Vec::new();
    for content in files.values() {
        lines.extend(std::str::from_utf8(content).expect("text").lines());
    }
    lines.sort_unstable();
    assert_eq!(lines, ["1\tbe\t1", "2\tto\t2", "be\tbe\t1", "to\tto\t2"]);

    let files: Vec<(String, &[u8])> = files.iter().map(|(name, content)| (name.clone(), content.as_slice())).collect();
    let verified = scratch.verify(&files, 4);
    assert_eq!(verified.status.code(), Some(0), "{}", said(&verified));
}

/// A folder of a split layout is loaded by a plan for other nodes: its lines have one key each, before the first tab.
#[test]
fn a_layout_of_split_records_is_not_split_again() {
    let scratch = Scratch::new("again", &["--replicas", "1", "--layout", "split", "--key", "tokens"]);
    let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\t%s\\n' $node $node; done ;;";
    let said_of = "printf 'w\\tx\\t0\\t1\\t1\\t0\\n%.0s' 1 2 3";
    let load = |manifest: &str| {
        let nodes = NODES.trim_end_matches(";;");
        let look = format!("{nodes}; case $3 in hdfs:*) printf 'manifest\\t{manifest}\\n'; esac ;;");
        let cat = "cat) printf 'be\\tbe\\t1\\n1\\tbe\\t1\\n' ;;";
        scratch.cluster(&format!("{look} {probe} {cat} write) cat > written; {said_of} ;; *) cat >/dev/null ;; esac"));
        scratch.kat(&["load", "plan.json", "hdfs:/old", "--to", "/data/x", "--hadoop", "./hadoop"])
    };
    let output = load(r#"{"layout":"split"}"#);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let files = written(&fs::read(scratch.0.join("written")).expect("frames"));
    let mut lines: Vec<&[u8]> =
        files.values().flat_map(|content| content.split_inclusive(|byte| *byte == b'\n')).collect();
    lines.sort_unstable();
    assert_eq!(lines, [&b"1\tbe\t1\n"[..], b"be\tbe\t1\n"]);
    for (manifest, of) in [(r#"{"layout":"projected"}"#, "projected"), ("{}", "an earlier version")] {
        let output = load(manifest);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(of) && said(&output).contains("layout split"), "{}", said(&output));
    }
}

/// What a load goes on by must outlive the nodes that the layout outlives.
#[test]
fn the_manifest_is_written_with_the_layouts_replicas() {
    let scratch = Scratch::new("replicas", &["--replicas", "2"]);
    let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\t%s\\n' $node $node; done ;;";
    let put = "put) echo $3 $4 >> puts; cat >/dev/null ;;";
    let said_of = "printf 'w\\tx\\t0\\t1\\t1\\t0\\n%.0s' 1 2";
    scratch.cluster(&format!("{NODES} {probe} {put} write) cat >/dev/null; {said_of} ;; esac"));
    scratch.load(0);
    let puts = fs::read_to_string(scratch.0.join("puts")).expect("it was written");
    assert_eq!(puts, "/data/x/_trunkline/manifest 2\n/data/x/_trunkline/loaded 2\n");
}

/// Of two files one has a block elsewhere: it alone is written anew. Whether it came to stand better is for the client to
/// say.
#[test]
fn files_with_blocks_elsewhere_are_written_anew() {
    let scratch = Scratch::new("redistribute", &["--replicas", "1"]);
    let text = fs::read(scratch.0.join("plan.json")).expect("a plan");
    let plan: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let node = |bucket: usize| ["a", "b"][plan["buckets"][bucket]["nodes"][0].as_u64().expect("a node") as usize];
    let names = [0, 2].map(|bucket| format!("bucket-{bucket:05}-of-00003@{}", node(bucket)));
    let digest = blake3::hash(&text).to_hex();
    let redistribute = |hosts: [&str; 2], client: &str| {
        let mut look = NODES.trim_end_matches(";;").to_owned();
        for (name, host) in names.iter().zip(hosts) {
            let _ = write!(look, "; printf 'file\\t{name}\\t5\\t1\\t{host}\\n'");
        }
        let _ = write!(look, "; printf 'manifest\\t{{\"plan\":\"{digest}\"}}\\n' ;;");
        let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\t%s\\n' $node $node; done ;;";
        scratch.cluster(&format!("{look} {probe} redistribute) echo $* >> asked; {client} ;; esac"));
        let args = ["redistribute", "plan.json", "/data/x", "--hadoop", "./hadoop", "--limit", "8 Mbit/s"];
        let output = scratch.kat(&[&args[..], &["--patience", "7"]].concat());
        (output.status.code(), said(&output))
    };
    let answers = |after: u32| {
        format!(
            "while read name; do echo $name >> asked; printf 'bytes\\t5\\nfile\\t%s\\t2\\t2\\t{after}\\n' $name; done"
        )
    };
    let (code, said) = redistribute([node(0), "c"], &answers(0));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 of 1 files with blocks elsewhere were written anew, 5 B; 2 blocks are back"), "{said}");
    // The class, the command, the folder, replicas, seconds of patience, bytes a second.
    let asked = fs::read_to_string(scratch.0.join("asked")).expect("it was asked");
    assert_eq!(asked, format!("trunkline.hadoop.Kat redistribute /data/x 1 7 1000000\n{}\n", names[1]));

    let (code, said) = redistribute(["c", "c"], &answers(1));
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("2 blocks are back") && said.contains("2 blocks still have replicas elsewhere"), "{said}");
    assert!(names.iter().all(|name| said.contains(name.as_str())), "{said}");
    let (code, said) = redistribute([node(0), node(2)], "false");
    assert_eq!((code, said.trim_end()), (Some(0), "/data/x: each block stands on the plan's nodes already"));
    let (code, said) = redistribute(["c", "c"], "read name; echo 'kat: Connection refused' >&2; exit 1");
    assert_eq!((code, said.trim_end()), (Some(3), "failed: Connection refused"));
    let (code, said) = redistribute(["c", "c"], "true");
    assert!(code == Some(3) && said.contains("without a word on 2 of 2 files"), "{code:?} {said}");
    let (code, said) = redistribute(["c", "c"], "read name; kill -9 $$");
    let killed = "failed: a client of HDFS ended with signal: 9 (SIGKILL); the same command may be given again";
    assert_eq!((code, said.trim_end()), (Some(3), killed));
    // A file that one that was killed has left aside is for the client to remove, and no other's.
    for (left, asked) in [(&names[0], true), (&"bucket-00001-of-00003@a".to_owned(), false)] {
        let _ = fs::remove_file(scratch.0.join("asked"));
        let (code, said) = redistribute([node(0), &format!("{}\\naside\\t{left}", node(2))], "cat >> asked");
        assert_eq!((code, said.trim_end()), (Some(0), "/data/x: each block stands on the plan's nodes already"));
        assert_eq!(scratch.0.join("asked").exists(), asked, "{left}");
    }
    fs::write(scratch.0.join("plan.json"), [text, b"\n".to_vec()].concat()).expect("written");
    let (code, said) = redistribute(["c", "c"], "true");
    assert!(code == Some(2) && said.contains("kat load NEW hdfs:/data/x --to"), "{code:?} {said}");
}

#[test]
fn what_cannot_be_loaded_is_refused_before_a_cluster_is_asked() {
    let scratch = Scratch::new("input", &["--replicas", "1", "--layout", "split", "--value", "4"]);
    let error = scratch.load(2);
    assert!(error.contains("by layout split with values of 4 bytes") && error.contains("projected"), "{error}");
    // A key that the reader of what is written would cut.
    let scratch = Scratch::new("cut", &["--replicas", "1", "--layout", "split", "--key", "regex:.*"]);
    let probe = "probe) shift 3; for node; do printf 'probe\\t%s\\t%s\\n' $node $node; done ;;";
    scratch.cluster(&format!("{NODES} {probe} *) cat >/dev/null ;; esac"));
    let error = scratch.load(2);
    assert!(error.contains(r#"key "be\t1" has a tab"#), "{error}");
    let scratch = Scratch::new("binary", &["--replicas", "1"]);
    fs::write(scratch.0.join("in.tsv"), b"PAR1\0\0\0\0PAR1").expect("written");
    let error = scratch.load(2);
    assert!(error.contains("in.tsv"), "{error}");
    fs::write(scratch.0.join("plan.json"), "{}").expect("written");
    assert!(scratch.load(2).contains("is no plan of `trunkline kat plan`"));
}
