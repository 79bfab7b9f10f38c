//! `trunkline import`: whatever a cluster left, as it lies.

use crate::support::{Scratch, code, printed, said, traces};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ID: &str = "job_1795217314114_0003";

fn history() -> PathBuf {
    traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist")
}

fn samples() -> PathBuf {
    traces().join("../samples")
}

/// What another program makes of bytes: gzip, bzip2, zstd.
fn through(program: &str, bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}, of Debian's packages: {error}"));
    let mut input = child.stdin.take().expect("piped");
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &bytes));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads");
    output.stdout
}

/// A configuration of a job, as Hadoop writes it.
fn configuration(job: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n<property><name>mapreduce.job.jar\
         </name><value>/user/root/.staging/{job}/job.jar</value><source>programmatically</source><source>job.xml\
         </source></property>\n<property><name>dfs.blocksize</name><value>33554432</value><source>hdfs-site.xml\
         </source><source>job.xml</source></property>\n<property><name>dfs.replication</name><value>2</value><source>\
         hdfs-site.xml</source><source>job.xml</source></property>\n</configuration>\n"
    )
}

#[test]
fn a_compressed_history_makes_the_scenario_of_the_plain_one() {
    let scratch = Scratch::new("import-packed");
    let bytes = fs::read(history()).expect("a recorded job");
    let plain = scratch.trunkline(&["import", history().to_str().expect("text"), "--run", &run()]);
    assert_eq!(code(&plain), 0, "{}", said(&plain));
    for program in ["gzip", "bzip2", "zstd"] {
        // The name says nothing.
        fs::write(scratch.0.join("job"), through(program, &bytes)).expect("written");
        let packed = scratch.trunkline(&["import", "job", "--run", &run()]);
        assert_eq!((code(&packed), printed(&packed)), (0, printed(&plain)), "{program}: {}", said(&packed));
    }
    let input = fs::File::open(history()).expect("a recorded job");
    let piped = scratch.command(&["import", "-", "--run", &run()]).stdin(input).output().expect("it starts");
    assert_eq!((code(&piped), printed(&piped)), (0, printed(&plain)), "{}", said(&piped));
}

fn run() -> String {
    traces().join("wordcount-combine-unshaped/run.toml").display().to_string()
}

/// A history server's folder: by day and serial number, each history with its configuration.
fn done(scratch: &Scratch) -> PathBuf {
    let day = scratch.0.join("done/2026/11/22/000000");
    fs::create_dir_all(&day).expect("a folder");
    let name =
        format!("{ID}-1795217400000-root-wordcount-1795217450000-8-4-SUCCEEDED-root.default-1795217405000.jhist");
    fs::write(day.join(&name), fs::read(history()).expect("a recorded job")).expect("written");
    fs::write(day.join(format!(".{name}.crc")), "crc").expect("written");
    fs::write(day.join(format!("{ID}_conf.xml")), configuration(ID)).expect("written");
    fs::write(day.join(format!("{ID}.summary")), "jobId=...").expect("written");
    let other = scratch.0.join("done/2026/11/22/000001");
    fs::create_dir_all(&other).expect("a folder");
    let teragen = fs::read(traces().join("teragen-unshaped/job_1795217314114_0001.jhist")).expect("a recorded job");
    fs::write(other.join("job_1795217314114_0001-1-root-TeraGen.jhist.gz"), through("gzip", &teragen))
        .expect("written");
    let packed = through("gzip", configuration("job_1795217314114_0001").as_bytes());
    fs::write(other.join("job_1795217314114_0001_conf.xml.gz"), packed).expect("written");
    day
}

#[test]
fn a_history_servers_folder_is_searched_for_the_job_and_its_configuration() {
    let scratch = Scratch::new("import-done");
    let day = done(&scratch);
    for (job, words) in [(ID, "replication = 2  # dfs.replication"), ("job_1795217314114_0001", "block = \"32 MiB\"")] {
        let output = scratch.trunkline(&["import", "done", "--job", job]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        assert!(
            printed(&output).contains(&format!("# The recorded durations and volumes of {job}")),
            "{}",
            printed(&output)
        );
        assert!(printed(&output).contains(words), "{}", printed(&output));
    }
    let output = scratch.trunkline(&["import", "done"]);
    assert_eq!(code(&output), 2);
    let words = format!(
        "done has several jobs: name one with --job, or take --all of them; its jobs: {ID}, job_1795217314114_0001"
    );
    assert!(said(&output).contains(&words), "{}", said(&output));
    let output = scratch.trunkline(&["import", "done", "--job", "job_1_1"]);
    assert!(code(&output) == 2 && said(&output).contains("has no job job_1_1"), "{}", said(&output));
    // Beside a file that is named, the configuration is found too.
    let file = fs::read_dir(&day).expect("a folder").map(|e| e.expect("an entry").path());
    let file = file.filter(|f| f.extension().is_some_and(|e| e == "jhist")).min().expect("a history");
    let output = scratch.trunkline(&["import", file.to_str().expect("text")]);
    assert!(printed(&output).contains("replication = 2  # dfs.replication"), "{}", said(&output));
    // The run's description precedes it.
    scratch.file("run.toml", "[configuration]\n\"dfs.replication\" = \"4\"\n");
    let output = scratch.trunkline(&["import", file.to_str().expect("text"), "--run", "run.toml"]);
    assert!(printed(&output).contains("replication = 4  # dfs.replication"), "{}", said(&output));
    fs::create_dir(scratch.0.join("empty")).expect("a folder");
    let output = scratch.trunkline(&["import", "empty"]);
    assert!(code(&output) == 2 && said(&output).contains("empty holds no history: expected"), "{}", said(&output));
}

#[test]
fn the_configuration_of_another_job_is_refused() {
    let scratch = Scratch::new("import-other");
    let other = "job_1795217314114_0004";
    fs::copy(history(), scratch.0.join("job.jhist")).expect("copied");
    scratch.file(&format!("{other}_conf.xml"), &configuration(other));
    let words = format!("{other}_conf.xml is the configuration of {other}, and the history is of {ID}");
    let output = scratch.trunkline(&["import", "job.jhist", &format!("{other}_conf.xml")]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains(&words), "{}", said(&output));
    assert!(said(&output).contains(&format!("name {ID}_conf.xml, or leave it out")), "{}", said(&output));
    // One that is named as the job's own and says otherwise, found beside the history.
    scratch.file(&format!("{ID}_conf.xml"), &configuration(other));
    let output = scratch.trunkline(&["import", "job.jhist"]);
    assert!(code(&output) == 2 && said(&output).contains("is the configuration of"), "{}", said(&output));
    // One without any name is the only job's.
    scratch.file("conf.xml", &configuration("none"));
    fs::remove_file(scratch.0.join(format!("{ID}_conf.xml"))).expect("removed");
    let output = scratch.trunkline(&["import", "conf.xml", "job.jhist"]);
    assert!(printed(&output).contains("replication = 2"), "{}", said(&output));
}

#[test]
fn two_jobs_of_one_identifier_are_told_apart() {
    let scratch = Scratch::new("import-twice");
    let text = fs::read_to_string(traces().join("samples/rumen.json")).expect("a trace");
    let first = text.lines().next().expect("a job");
    let (id, submit) = ("job_1795217314114_0004", 1_795_217_459_010_i64);
    // The same job again, submitted a second before.
    let later = first.replacen(&submit.to_string(), &(submit - 1000).to_string(), 1);
    scratch.file("trace.json", &format!("{first}\n{later}\n"));
    let output = scratch.trunkline(&["import", "trace.json", "--job", id]);
    assert_eq!(code(&output), 2);
    for words in [
        format!("has 2 jobs {id}: name one with --job '{id}#1'"),
        format!("{id}#1 (submitted at {submit} ms), {id}#2 (submitted at {} ms)", submit - 1000),
    ] {
        assert!(said(&output).contains(&words), "{words}: {}", said(&output));
    }
    scratch.file("run.toml", "[configuration]\n\"dfs.replication\" = \"2\"\n");
    for number in ["1", "2"] {
        let job = format!("{id}#{number}");
        let output = scratch.trunkline(&["import", "rumen", "trace.json", "--job", &job, "--run", "run.toml"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    let output = scratch.trunkline(&["import", "trace.json", "--job", &format!("{id}#3")]);
    assert!(code(&output) == 2 && said(&output).contains("has 2 jobs"), "{}", said(&output));
}

#[test]
fn a_clusters_configuration_becomes_a_scenario_that_runs() {
    let scratch = Scratch::new("import-cluster");
    let folder = samples().join("conf").display().to_string();
    let output = scratch.trunkline(&["import", "cluster", &folder, "-o", "cluster.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let scenario = sim::parse("cluster.toml", &scratch.read("cluster.toml"), &[]).expect("right");
    assert_eq!((scenario.cluster.workers, scenario.network.racks), (4, 2));
    // It describes the cluster of a history.
    let output = scratch.trunkline(&["import", history().to_str().expect("text"), "--cluster", "cluster.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(printed(&output).contains("slowstart = 0.8"), "{}", printed(&output));
    let output = scratch.trunkline(&["import", "cluster", &folder, "-o", "cluster.toml"]);
    assert_eq!(code(&output), 5, "{}", said(&output));
    for (folder, words) in [("none", "none is no folder"), (".", ". has none of core-site.xml")] {
        let output = scratch.trunkline(&["import", "cluster", folder]);
        assert!(code(&output) == 2 && said(&output).contains(words), "{folder}: {}", said(&output));
    }
    fs::create_dir(scratch.0.join("conf")).expect("a folder");
    scratch.file(
        "conf/hdfs-site.xml",
        "<configuration>\n<property><name>dfs.blocksize</name><value>big</value></property>\n</configuration>",
    );
    let output = scratch.trunkline(&["import", "cluster", "conf"]);
    let words = "conf/hdfs-site.xml: line 2: `dfs.blocksize` is \"big\", expected a number of bytes";
    assert!(code(&output) == 2 && said(&output).contains(words), "{}", said(&output));
}

/// Runs it with at most 1 GiB of address space.
fn within_a_gibibyte(scratch: &Scratch, file: &Path) -> (i32, String) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 1048576 && exec \"$0\" import \"$1\"", env!("CARGO_BIN_EXE_trunkline")])
        .arg(file)
        .current_dir(&scratch.0)
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    (code(&output), said(&output))
}

#[test]
fn bad_input_is_refused_with_what_is_wrong_where_and_what_to_do() {
    let scratch = Scratch::new("import-bad");
    let bytes = fs::read(history()).expect("a recorded job");
    let packed = through("gzip", &bytes);
    fs::write(scratch.0.join("cut.jhist.gz"), &packed[..packed.len() / 2]).expect("written");
    let other = fs::read(traces().join("teragen-unshaped/job_1795217314114_0001.jhist")).expect("a recorded job");
    fs::write(scratch.0.join("two.jhist"), [bytes.clone(), other].concat()).expect("written");
    let text = fs::read_to_string(samples().join("hadoop-0.20.log")).expect("a sample");
    scratch.file("backwards.log", &text.replace("FINISH_TIME=\"1240335976000\"", "FINISH_TIME=\"1240335900000\""));
    scratch.file("open.log", &text.replace("FINISH_TIME=\"1240335976000\"", ""));
    scratch.file("nameless.log", &text.replace("node1\\.example\\.org", ""));
    let length = bytes.len();
    let cases: [(&str, &[&str]); 5] = [
        ("cut.jhist.gz", &["cut.jhist.gz: at byte ", "ends within compressed data: fetch it again, it is truncated"]),
        ("two.jhist", &[&format!("at byte {length} (event "), "a second history begins here: put each into a file"]),
        ("backwards.log", &["attempt 0 of map 0 finished at 1240335900000 ms, before its start", "cannot be used"]),
        ("open.log", &["attempt 0 of map 0 succeeded, and has no finish time", "fetch it again"]),
        ("nameless.log", &["attempt 0 of map 0 names no host", "give it its host"]),
    ];
    for (file, words) in cases {
        let output = scratch.trunkline(&["import", file]);
        assert_eq!(code(&output), 2, "{file}: {}", said(&output));
        for words in words {
            assert!(said(&output).contains(words), "{words}: {}", said(&output));
        }
    }
}

#[test]
fn no_input_takes_more_than_a_gibibyte() {
    let scratch = Scratch::new("import-memory");
    let mut tasks = String::new();
    for task in 0..1_500_000 {
        let _ = write!(tasks, "{{\"taskID\":\"task_1_1_m_{task}\"}},");
    }
    scratch.file("tasks.json", &format!("{{\"jobID\":\"job_1_1\",\"submitTime\":1,\"mapTasks\":[{tasks}"));
    scratch.file("closed.json", &format!("{{\"jobID\":\"job_1_1\",\"submitTime\":1,\"mapTasks\":[{tasks}0]}}"));
    // The largest file that is read, as one text, and as events without an end.
    let long = " ".repeat(250 << 20);
    scratch.file("long.json", &format!("{{\"jobID\":\"{long}\",\"job.tasks\":[]}}"));
    scratch.file("long.jhist", &format!("Avro-Json\n{{\"type\":\"string\"}}\n{{\"a\":\"{long}\"}}"));
    scratch.file("long.log", &format!("Meta VERSION=\"1\" .\nJob JOBID=\"job_1_1\" JOBNAME=\"{long}"));
    // A line with more words, and one with more fields, than there is memory for a place of each.
    scratch.file("words.txt", &"1 ".repeat(64 << 20));
    scratch.file("fields.txt", &format!("job{}", "\t".repeat(80 << 20)));
    let bombs =
        ["bomb.bz2", "bomb.zst"].map(|bomb| (samples().join("compressed").join(bomb), "become more than 256 MiB"));
    let files = [
        ("tasks.json", "the file ends within a JSON value"),
        ("closed.json", "more than 448 MiB of memory"),
        ("long.json", "a text of 262144000 bytes; up to 4194304 are read"),
        ("long.jhist", "(event 1): a text of 262144000 bytes"),
        ("long.log", "a record of more than"),
        ("words.txt", "not a job history"),
        ("fields.txt", "not a job history"),
    ];
    for (file, words) in bombs.into_iter().chain(files.map(|(file, words)| (scratch.0.join(file), words))) {
        let (code, said) = within_a_gibibyte(&scratch, &file);
        assert_eq!(code, 2, "{}: {said}", file.display());
        assert!(said.contains(words) && said.len() < 1000, "{said}");
    }
}
