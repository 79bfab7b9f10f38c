//! `trunkline testbed hadoop` as its users meet it. As root, with Java's development kit, Maven and iproute2: without
//! them these fail, and say what is missing (`scripts/need` installs them).

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

fn hadoop(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(["testbed", "hadoop"]).args(arguments).output().expect("it starts")
}

/// What it printed, and on standard error; it must have ended with this code.
fn ended(arguments: &[&str], code: i32) -> (String, String) {
    let output = hadoop(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}{err}");
    (out, err)
}

/// Processes that name a folder among their arguments.
fn processes_with(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let lines = fs::read_dir("/proc").expect("readable").flatten().filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains("java") && line.contains(folder.as_ref())).collect()
}

/// Takes a cluster down, whatever becomes of the test.
struct Down<'a>(&'a str);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        hadoop(&["down", self.0]);
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let scratch = std::env::temp_dir().join(format!("trunkline-hadoop-input-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("made");
    let tree = scratch.join("tree.toml");
    fs::write(&tree, "[network]\ntopology = \"tree\"\n[tcp]\nrecovery = \"rack\"\n[job]\n").expect("written");
    let tree = tree.to_str().expect("a text");
    let cases: [(&[&str], i32, &str); 18] = [
        (&["up", "--set", "faults=[{ node = \"master\" }]"], 2, "without its master"),
        (&["up", "--set", "hdfs.erasure-coding=\"rs-6-3\""], 2, "do not fit on 4 workers"),
        (&["up", tree], 2, "tree.toml:2:12"),
        (&["up", tree], 2, "the testbed's TCP is the kernel's"),
        (&["up", "absent.toml"], 2, "cannot read absent.toml"),
        (&["up", "--workers", "0"], 2, "it must be a whole number from 1 to"),
        (&["up", "--rate", "10Mbps"], 2, "did you mean `Mbit/s`?"),
        (&["up", "--disk", "10MB"], 2, "a worker's disk has 256 MiB to"),
        (&["up", "--links", "veth", "--delay", "5ms"], 2, "leave out --links veth"),
        (&["up", "--name", "../up"], 2, "cannot name a cluster"),
        (&["up", "--workers", "90"], 4, "fewer --workers"),
        (&["up", "--spark", "--workers", "90"], 4, "fewer spark.executors"),
        (&["up", "--spark", tree], 2, "cannot be used with"),
        (&["up", "--spark", "--set", "spark.yarn={}", "--workers", "90"], 4, "fewer spark.yarn.instances"),
        (&["up", "--spark", "--set", "spark.yarn={ am-memory = \"8 GiB\" }"], 2, "fits on no worker"),
        (&["run", "spark-jion"], 2, "did you mean `spark-join`?"),
        (&["run", "wordcont"], 2, "did you mean `wordcount`?"),
        (&["run", "pi", "--name", "not-there"], 2, "there is no cluster named not-there"),
    ];
    for (arguments, code, part) in cases {
        let (out, err) = ended(arguments, code);
        assert!(out.is_empty() && err.contains(part), "{arguments:?}: {err}");
    }
    fs::remove_dir_all(&scratch).expect("removed");
}

/// A cluster on emulated links runs a job rightly, its history is predicted, a job that fails is told from one that
/// does not end, and whatever ends the supervisor, nothing is left.
#[test]
fn a_cluster_runs_jobs_and_leaves_nothing() {
    let name = format!("t{}", std::process::id());
    let results = std::env::temp_dir().join(format!("trunkline-hadoop-results-{name}"));
    let out = results.to_str().expect("a text");
    let _down = Down(&name);
    // A disk can be slow where the kernel limits one; elsewhere `up` says so.
    let limit = Path::new("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device");
    let slow = ", { at = \"500 ms\", node = \"worker-1\", disk = 0, slow = 0.5 }";
    let more = if limit.exists() { slow } else { "" };
    let faults = format!("faults=[{{ at = \"1 s\", link = \"worker-2\", slow = 0.5, slow-for = \"2 s\" }}{more}]");
    let up =
        ["up", "--workers", "2", "--rate", "50Mbit/s", "--delay", "2ms", "--name", &name, "--set", faults.as_str()];
    ended(&[&up[..], &["--disk", "3GB"]].concat(), 0);
    let (text, _) = ended(&["status", &name, "--json"], 0);
    let status: Value = serde_json::from_str(&text).expect("JSON");
    let (cluster, gone) = (&status[0]["cluster"], &status[0]["gone"]);
    assert_eq!((&cluster["links"], gone.as_array().map(Vec::len)), (&"emulated".into(), Some(0)), "{status:#}");
    assert_eq!(cluster["daemons"].as_array().map(Vec::len), Some(7), "three of the master, two of each worker");
    let folder = PathBuf::from(status[0]["folder"].as_str().expect("a folder"));
    let daemons = processes_with(&folder);
    assert_eq!(daemons.len(), 7, "{daemons:?}");
    let disks = fs::read_dir(folder.join("disks")).expect("disks").flatten();
    let mut disks: Vec<_> = disks.map(|disk| (disk.file_name(), disk.metadata().expect("a file").len())).collect();
    disks.sort_unstable();
    assert_eq!(disks, [("worker-1.img".into(), 3_000_000_000), ("worker-2.img".into(), 3_000_000_000)]);

    let job = "wordcount-nocombine";
    let (text, _) = ended(&["run", job, "--kat", "--input", "2MB", "--name", &name, "--out", out, "--predict"], 0);
    assert!(text.contains("the output is right") && text.contains("simulated (predicted) beside real"), "{text}");
    // Laid out by key, checked, and counted where the words stand: no pair travels. A reducer that is not where its
    // words are fetches pairs of 1.8 MB. What is left, 1.7 MB, are the jobs' own files and replicas of the output. The
    // stock run is no measure: where YARN has put its reducers beside its only map, nothing travelled either.
    assert!(text.contains("both outputs are the counts of the same words"), "{text}");
    let figures: Value = serde_json::from_slice(&fs::read(results.join("kat.json")).expect("left")).expect("JSON");
    let into_workers = |of: &str| figures[of]["into_workers_bytes"].as_u64().expect("bytes");
    assert!(into_workers("placed") < 2_200_000 && into_workers("stock") > 1_000_000, "{figures}");
    // From here on in the folder of one run, which others replace.
    let both = results.clone();
    let results = both.join("stock");
    let out = results.to_str().expect("a text");
    let result: Value = serde_json::from_slice(&fs::read(results.join("result.json")).expect("left")).expect("JSON");
    assert_eq!(result["check"]["verdict"], "right", "{result:#}");
    assert!(result["links"]["frames"].as_u64().is_some_and(|frames| frames > 100), "{}", result["links"]);
    let made = result["faults"].as_array().expect("faults");
    assert_eq!(made.len(), if limit.exists() { 2 } else { 1 });
    let at = |key: &str| made[0][key].as_f64().expect("it began and ended");
    // The client tells of the submission after it; the link is slow for 2 s.
    assert!(at("began_s") > 1.0 && (at("ended_s") - at("began_s") - 2.0).abs() < 0.5, "{made:#?}");
    assert!(made.iter().all(|fault| fault["failed"].is_null() && fault["ended_s"].is_f64()), "{made:#?}");
    assert!(text.contains("simulated, as it was: the link of worker-2 at 0.5 of its rate"), "{text}");
    let phase = |name: &str| {
        let phases = result["jobs"][0]["phases"].as_array().expect("phases");
        phases.iter().find(|phase| phase["phase"] == name).cloned().unwrap_or_default()
    };
    assert!(phase("job")["load"]["cluster_s"].as_f64().is_some_and(|spent| spent > 1.0), "{}", phase("job"));
    assert!(phase("maps")["s"].as_f64() < phase("job")["s"].as_f64());
    let worker = |name: &str| {
        let interfaces = result["interfaces"].as_array().expect("interfaces");
        let found = interfaces.iter().find(|interface| interface["host"] == name).expect("it is there");
        found["received"].as_u64().expect("bytes")
    };
    assert!(worker("worker-1") + worker("worker-2") > 500_000, "a counted shuffle and replicas: {result:#}");
    assert!(results.join("predicted/report.html").is_file());

    let lock = fs::File::create(folder.join("run.lock")).expect("made");
    lock.lock().expect("locked");
    let (_, err) = ended(&["run", "pi", "--name", &name, "--out", out], 2);
    assert!(err.contains("a job runs on cluster"), "{err}");
    drop(lock);

    let jar = examples_jar();
    let failing = ["run", &jar, "--name", &name, "--out", out, "--", "wordcount", "/absent", "/out"];
    let (_, err) = ended(&failing, 3);
    assert!(err.contains("Input path does not exist"), "{err}");
    let (_, err) = ended(&["run", "spark-sort", "--name", &name, "--out", out], 2);
    assert!(err.contains("spark-sort does not run on this cluster, which has YARN and no Spark"), "{err}");
    let (_, err) = ended(&["run", "pi", "--name", &name, "--out", out, "--limit", "2s"], 3);
    assert!(err.contains("did not end within 2 s"), "{err}");
    assert!(results.join("result.json").is_file(), "a job that fails leaves earlier results as they are");

    let record = format!("/run/trunkline/hadoop/{name}.json");
    let record: Value = serde_json::from_slice(&fs::read(&record).expect("on record")).expect("JSON");
    let supervisor = record["supervisor"]["pid"].as_u64().expect("it runs").to_string();
    assert!(Command::new("kill").args(["-KILL", &supervisor]).status().expect("run").success());
    // The first process of a namespace has ended once all others have; until then it is there, and ending.
    let is_there = || {
        let stat = fs::read_to_string(format!("/proc/{supervisor}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with('Z'))
    };
    for _ in 0..200 {
        if !is_there() && processes_with(&folder).is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(processes_with(&folder), [] as [String; 0], "the kernel ends a namespace with its first process");
    let (out, _) = ended(&["down", &name], 0);
    assert!(out.contains("it had ended before"), "{out}");
    assert!(!folder.exists());
    let loops = Command::new("losetup").arg("-a").output().expect("run").stdout;
    assert!(!String::from_utf8_lossy(&loops).contains(&name), "loop devices");
    let mounts = fs::read_to_string("/proc/self/mounts").expect("readable");
    assert!(!mounts.contains(&name), "{mounts}");
    ended(&["status", &name], 2);
    fs::remove_dir_all(&both).expect("removed");
}

/// The jar of Hadoop's examples in the user's cache.
fn examples_jar() -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("a home")).join(".cache"));
    let jars = fs::read_dir(cache.join("trunkline/hadoop-3.5.0/lib")).expect("installed");
    let mut paths = jars.flatten().map(|entry| entry.path().to_string_lossy().into_owned());
    paths.find(|path| path.contains("hadoop-mapreduce-examples")).expect("it is among the jars")
}
