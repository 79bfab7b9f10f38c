//! What is wrong with applications of Spark, what is too much for a machine, and what has no effect.

use crate::support::{parse, refused, warnings};
use scenario::Nodes;
use units::Bytes;

const START: &str = "[[spark.stage]]\nname = \"a\"\ntasks = 2\nshuffle-write = \"1 MB\"\n";

#[test]
fn stages_that_contradict_themselves_are_refused() {
    let next = |keys: &str| format!("{START}[[spark.stage]]\nname = \"b\"\ntasks = 2\n{keys}\n");
    let cases = [
        ("parents = [\"a\", \"a\"]", "`a` is named twice"),
        ("parents = [\"c\"]", "there is no stage `c` before this one"),
        ("parents = [\"b\"]", "there is no stage `b` before this one"),
        ("work = \"1 s\"\nworks = [\"1 s\", \"2 s\"]", "it is said twice: 1 s here, and task by task in `works`"),
        ("input = \"1 MB\"\ninputs = [\"1 MB\", \"1 MB\"]", "it is said twice: 1 MB here"),
        ("parents = [\"a\"]\nshares = [0, 0.0]", "all shares are zero"),
        ("works = [\"1 s\"]", "1 values are for 2 tasks"),
    ];
    for (keys, expected) in cases {
        refused(&next(keys), &[], &[expected]);
    }
    parse(&next("parents = [\"a\"]\nshares = [0, 1]"), &[]).expect("one of two reads all");
}

/// Each of so many stages reads what the one before has kept, and keeps its own.
fn iterations(count: u32) -> String {
    let stage = |number: u32| {
        let reads = number.checked_sub(1).map_or(String::new(), |before| format!("reads = \"i{before}\"\n"));
        format!(
            "[[spark.stage]]\nname = \"i{number}\"\njob = {number}\npersist = \"disk-only\"\nkept-size = \"1 MB\"\n{reads}"
        )
    };
    (0..=count).map(stage).collect()
}

/// 200 data sets, each computed from the one before, may be behind a stage.
#[test]
fn iterations_have_a_bounded_lineage() {
    parse(&iterations(200), &[]).unwrap_or_else(|error| panic!("{error}"));
    refused(&iterations(201), &[], &["computed from 201 kept data sets", "at most 200"]);
}

/// A stage reads what one of an earlier job has kept, partition by partition, and nothing else.
#[test]
fn a_stage_reads_what_is_kept() {
    let with = |first: &str, second: &str| {
        let keeps = "persist = \"memory-only\"\nkept-size = \"1 MB\"";
        let second = format!("[[spark.stage]]\nname = \"b\"\njob = 1\ntasks = 2\nreads = \"a\"\n{second}\n");
        format!("{START}{}\n{second}", if first.is_empty() { keeps } else { first })
    };
    assert_eq!(warnings(&with("", "streamed = 0.5\nwork-per-mb = \"1 s\""), &["spark.locality-wait-process=1 s"]), "");
    let cases = [
        ("job = 0", "", "the stage `a` keeps nothing"),
        ("", "input = \"1 MB\"", "it reads files, and what `a` has kept"),
        (
            "",
            "[[spark.stage]]\nname = \"c\"\njob = 2\ntasks = 2\nreads = \"aa\"",
            "there is no stage `aa` before this one",
        ),
    ];
    for (first, second, expected) in cases {
        refused(&with(first, second), &[], &[expected]);
    }
    refused(&with("", "").replace("job = 1", "job = 0"), &[], &["`a` is not of an earlier job"]);
    refused(
        &with("", "").replace("job = 1\ntasks = 2", "job = 1\ntasks = 3"),
        &[],
        &["its 3 tasks read", "`a` keeps 2"],
    );
    refused(&with("", ""), &["spark.executor-memory=449 MiB"], &["450 MiB"]);
    let idle = [
        (START.to_owned(), "spark.storage-memory=1 MB", "no stage has a `persist` in memory"),
        (START.to_owned(), "spark.locality-wait-process=1 s", "no stage `reads`"),
        (with("", ""), "spark.memory-fraction=0.5", "`storage-memory` says it"),
        (format!("{START}persist = \"disk-only\"\n"), "spark.executors=1", "the stage has no `kept-size`"),
        (format!("{START}kept-size = \"1 MB\"\n"), "spark.executors=1", "does not `persist`"),
    ];
    for (text, set, expected) in idle {
        let storage = if expected.contains("says it") { "spark.storage-memory=1 MB" } else { set };
        let warning = warnings(&text, &[set, storage]);
        assert!(warning.contains("it has no effect") && warning.contains(expected), "{set}: {warning}");
    }
}

/// No application takes all memory that a machine has, and no sum of its bytes wraps.
#[test]
fn what_is_too_much_is_refused() {
    refused(START, &["spark.executors=1000", "cluster.workers=101"], &["101 workers are 101000 executors"]);
    let stages = |count: usize, keys: &str| -> String {
        let stages: Vec<_> = (0..count).map(|i| format!("[[spark.stage]]\nname = \"{i}\"\n{keys}\n")).collect();
        stages.concat()
    };
    refused(&stages(2, "tasks = 600000"), &[], &["all stages have 1200000 tasks"]);
    // Each pair of stages is within the bound, eleven are not.
    let readers = format!(
        "[[spark.stage]]\nname = \"maps\"\ntasks = 10000\n{}",
        stages(11, "tasks = 1000\nparents = [\"maps\"]")
    );
    refused(&readers, &[], &["110000000 blocks of shuffles are more than memory holds"]);
    let hdfs = "[[spark.stage]]\nname = \"scan\"\ntasks = 1000\ninput = \"1 TB\"\ninput-from = \"hdfs\"\n";
    refused(hdfs, &["hdfs.block=64 KiB"], &["input in blocks of 64 KiB is 15259789 blocks"]);
    let files = format!("{hdfs}input-files = 20000\n");
    refused(&files, &[], &["input in blocks of 128 MiB is 20007450 blocks"]);
    let broadcast = stages(1, "broadcast = \"40 GiB\"");
    let many = ["cluster.workers=1000"];
    refused(&broadcast, &many, &["what 1000 executors get of broadcasts in pieces of 4 MiB is 10240000 pieces"]);
    parse(&broadcast, &[many[0], "spark.broadcast-block-size=5 MiB"]).expect("8,192,000 pieces");
    let most = "1048576 GiB";
    let twice = format!("{START}shuffle-writes = [\"{most}\", \"{most}\"]\n").replace("shuffle-write = \"1 MB\"\n", "");
    refused(&twice, &[], &["they are 2048 TiB together"]);
    refused(&stages(1025, &format!("input = \"{most}\"")), &[], &["all stages read and write 1049600 TiB"]);
}

/// A node may go down, and so may an access point; a disk with shuffle files may not.
#[test]
fn faults_of_nodes_can_run_and_those_of_disks_cannot() {
    let wifi = "[network]\ntopology = \"wifi\"\n[network.wifi]\nmode = \"infrastructure\"\n[cluster]\nworkers = 2\n";
    let fault = |node: &str| format!("{START}{wifi}[[faults]]\nat = \"1 s\"\ndown-for = \"1 s\"\nnode = \"{node}\"\n");
    for node in ["ap-1", "worker-1"] {
        parse(&fault(node), &[]).unwrap_or_else(|error| panic!("{node}: {error}"));
    }
    let disk = format!("{START}[[faults]]\nat = \"1 s\"\nnode = \"worker-1\"\ndisk = 0\n");
    refused(&disk, &[], &["loses a disk with shuffle files"]);
}

#[test]
fn a_parent_is_of_the_same_job_or_an_earlier_one() {
    let jobs = |parent: u32, child: u32| {
        let child = format!("[[spark.stage]]\nname = \"b\"\ntasks = 2\nparents = [\"a\"]\njob = {child}\n");
        format!("{START}job = {parent}\n{child}")
    };
    for (parent, child) in [(0, 0), (0, 1)] {
        parse(&jobs(parent, child), &[]).unwrap_or_else(|error| panic!("{error}"));
    }
    refused(&jobs(1, 0), &[], &["a parent is of a later job"]);
}

#[test]
fn keys_without_effect_are_named() {
    let cases = [
        ("input-from = \"hdfs\"", "the stage has no `input`"),
        ("input-format = \"binary\"", "the stage has no `input` from HDFS"),
        ("input-files = 3", "the stage has no `input` from HDFS"),
        ("output-to = \"hdfs\"", "the stage has no `output`"),
        ("shares = [1, 2]", "no `parents` whose output it could divide"),
        ("reduce-locality = false", "the stage has no `parents`"),
        ("streamed = 0.5", "the stage reads nothing"),
        ("work-per-mb = \"1 s\"", "the stage reads nothing"),
    ];
    for (key, expected) in cases {
        let warning = warnings(&format!("{START}{key}\n"), &[]);
        assert!(warning.contains("it has no effect") && warning.contains(expected), "{key}: {warning}");
    }
    let waits = "[spark]\nlocality-wait = \"1 s\"\nlocality-wait-node = \"2 s\"\n";
    let warning = warnings(&format!("{waits}{START}"), &[]);
    assert!(warning.contains("`locality-wait-node` says the rest"), "{warning}");
    let copies = format!("[spark]\nspeculation = true\n{START}");
    assert_eq!(warnings(&copies, &[]), "");
    let cases = [
        ("spark.speculation=false", "spark.speculation-multiplier=2", "`speculation` is off"),
        ("spark.speculation=true", "cluster.workers=1", "there is one worker"),
        ("spark.speculation=true", "spark.stage.0.tasks=1", "each stage has one"),
        ("spark.speculation=true", "spark.speculation-quantile=1", "all tasks of a stage are done"),
        ("spark.broadcast-block-size=1 MiB", "spark.executors=1", "no stage has a `broadcast`"),
    ];
    for (one, other, expected) in cases {
        let warning = warnings(&copies, &[one, other]);
        assert!(warning.contains("it has no effect") && warning.contains(expected), "{other}: {warning}");
    }
    let broadcast = format!("{START}broadcast = \"1 MB\"\n");
    assert_eq!(warnings(&broadcast, &["spark.broadcast-block-size=1 MiB"]), "");
    for keys in ["output = \"1 MB\"\noutput-to = \"hdfs\"", "input = \"1 MB\"\ninput-from = \"hdfs\""] {
        assert_eq!(warnings(&format!("{START}{keys}\n"), &[]), "", "{keys}");
    }
    let heeded = format!("{START}[[spark.stage]]\nname = \"b\"\ntasks = 2\nparents = [\"a\"]\nshares = [1, 2]\n");
    for text in [START, &format!("{heeded}reduce-locality = false\nstreamed = 0.5\nwork-per-mb = \"1 s\"\n")] {
        assert_eq!(warnings(text, &[]), "", "{text}");
    }
}

#[test]
fn settings_of_adaptive_execution_that_defeat_each_other_are_named() {
    let query = |keys: &str| format!("{START}[[spark.stage]]\nname = \"b\"\nparents = [\"a\"]\ntasks = 200\n{keys}\n");
    let sql = query("sql = true");
    for sets in [&[][..], &["spark.adaptive=false"], &["spark.adaptive-min-partition-size=1 KB"]] {
        assert_eq!(warnings(&sql, sets), "", "{sets:?}");
    }
    let off = "spark.adaptive-coalesce-partitions=false";
    let cases: [(&str, &[&str], &str); 8] = [
        (&query(""), &["spark.adaptive=true"], "no stage with `parents` says `sql`"),
        (&query(""), &["spark.adaptive-parallelism-first=false"], "no stage with `parents` says `sql`"),
        (&sql, &["spark.adaptive=false", off], "`adaptive` is off"),
        (&sql, &["spark.adaptive=false", "spark.adaptive-min-partition-size=2 MB"], "`adaptive` is off"),
        (&sql, &[off, "spark.adaptive-advisory-partition-size=2 MB"], "`adaptive-coalesce-partitions` is off"),
        (&sql, &["spark.adaptive-advisory-partition-size=512 KiB"], "a task reads 1 MiB at least"),
        (&query("sql = true\ninput = \"1 MB\""), &[], "it reads files, too"),
        (&sql.replace("shuffle-write", "output"), &[], "one task reads all of its partitions, which are empty"),
    ];
    for (text, sets, expected) in cases {
        let warning = warnings(text, sets);
        assert!(warning.contains(expected), "{sets:?}: {warning}");
    }
    let join = |keys: &str| {
        let side = START.replace("\"a\"", "\"side\"");
        format!("{side}{}", sql.replace("[\"a\"]", &format!("[\"a\", \"side\"]\n{keys}")))
    };
    let split = join("skew-join = [\"a\", \"side\"]");
    let factor = "spark.adaptive-skewed-partition-factor=2";
    assert_eq!(warnings(&split, &[factor, off, "spark.adaptive-advisory-partition-size=512 KiB"]), "");
    let cases: [(&str, &[&str], &str); 4] = [
        (&sql, &["spark.adaptive-skew-join=false"], "no stage of SQL says `skew-join`"),
        (&split, &["spark.adaptive-skew-join=false", factor], "`adaptive-skew-join` is off"),
        (&split, &["spark.adaptive=false", factor], "`adaptive` is off"),
        (&split.replace("sql = true", ""), &[], "stage `b` is not of SQL"),
    ];
    for (text, sets, expected) in cases {
        let warning = warnings(text, sets);
        assert!(warning.contains(expected), "{sets:?}: {warning}");
    }
    refused(&join("skew-join = [\"sid\"]"), &[], &["`sid` is no parent of the stage", "did you mean `side`?"]);
    refused(&query("sql = true\nskew-join = [\"a\"]"), &[], &["of a join of two parents, and the stage has 1"]);
    for size in ["advisory", "min"] {
        refused(&sql, &[&format!("spark.adaptive-{size}-partition-size=0 B")], &["\"0 B\" is out of range: from 1 B"]);
    }
}

/// On YARN an executor asks for its memory and 384 MiB or a tenth, whichever is more, rounded up to the least
/// allocation.
#[test]
fn containers_on_yarn() {
    let container = |memory: &str, sets: &[&str]| {
        let sets = [sets, &["spark.yarn.instances=1", memory]].concat();
        let scenario = parse(START, &sets).expect("a scenario");
        let spark = scenario.spark.as_ref().expect("an application");
        (spark.executor_container(), spark.yarn.as_ref().expect("on YARN").am_container())
    };
    let mib = Bytes::from_mib;
    assert_eq!(container("spark.executor-memory=1 GiB", &[]), (mib(1_408), mib(896)));
    assert_eq!(container("spark.executor-memory=6 GiB", &["spark.yarn.am-memory=5 GiB"]), (mib(6_758), mib(5_632)));
    let said = ["spark.yarn.executor-memory-overhead=0 B", "spark.yarn.am-memory-overhead=1 MiB"];
    assert_eq!(container("spark.executor-memory=1 GiB", &said), (mib(1_024), mib(513)));
}

#[test]
fn what_is_wrong_on_yarn() {
    let on = "spark.yarn.instances=2";
    let large = &["the container of an executor", "9 GiB", "fits on no worker", "8 GiB", "mapreduce.node-memory"];
    refused(START, &[on, "spark.executor-memory=8 GiB"], large);
    let cores = &["the container of an executor", "vcores: 9", "vcores: 8", "node-vcores"];
    refused(START, &[on, "spark.executor-cores=9"], cores);
    refused(START, &[on, "spark.yarn.am-memory=8 GiB"], &["the ApplicationMaster", "9 GiB", "spark.yarn.am-memory"]);
    refused(START, &[on, "cluster.generation=hadoop1"], &["Hadoop 1 has no YARN", "standalone"]);
    let alone = ["cluster.workers=1", "mapreduce.node-memory=2 GiB", "mapreduce.map-memory=1 GiB"];
    refused(START, &[&alone[..], &[on]].concat(), &["beside the ApplicationMaster's container", "more workers"]);
    for (sets, expected) in [
        (&["spark.executors=2"][..], "on YARN there are `spark.yarn.instances` executors"),
        (&["mapreduce.io-sort=50 MiB"], "it is of jobs of MapReduce"),
        (&["cluster.workers=4", "spark.yarn.instances=16"], "at most 15 fit: the others never come"),
        (&["cluster.workers=4", "spark.yarn.instances=19"], "at most 15 fit: it begins without the others after 30 s"),
    ] {
        let found = warnings(START, &[&[on], sets].concat());
        assert!(found.contains(expected), "{sets:?}: {found}");
    }
    let heeded = ["mapreduce.node-memory=8 GiB", "mapreduce.jvm-start=1 s", "spark.executor-memory=2 GiB"];
    assert_eq!(warnings(START, &[&[on][..], &heeded[..]].concat()), "");
    let waits = ["spark.locality-wait=1 s", "spark.locality-wait-node=2 s"];
    assert_eq!(warnings(START, &[&[on][..], &waits[..]].concat()), "");
    let all = [on, waits[0], waits[1], "spark.yarn.locality-wait-rack=1 s"];
    assert!(warnings(START, &all).contains("`locality-wait-rack` say all of it"));
}

/// Executors that are listed are on workers, go after they have come, and are no affair of YARN's.
#[test]
fn executors_that_are_listed() {
    let with = |keys: &str| format!("{START}[[spark.executor]]\n{keys}\n");
    let cases = [
        ("node = \"worker-9\"", "there is no worker `worker-9`"),
        ("node = \"master\"", "there is no worker `master`"),
        ("from = \"5 s\"\nuntil = \"5 s\"", "it would go before it is there, at 5 s"),
        ("lost = true", "it does not say when"),
        ("job = 2\nuntil = \"5 s\"\nuntil-job = 1", "it would go before it is there"),
        ("until-job = 1", "it does not say when after its submission"),
    ];
    for (keys, expected) in cases {
        refused(&with(keys), &[], &[expected]);
    }
    refused(&format!("{}[spark.yarn]\n", with("")), &[], &["on YARN the ResourceManager says where executors are"]);
    parse(&with("from = \"5 s\"\nuntil = \"6 s\"\nlost = true"), &[]).expect("one that comes and is lost");
    parse(&with("from = \"5 s\"\njob = 1\nuntil = \"4 s\"\nuntil-job = 2"), &[]).expect("of a later job");
    let warning = warnings(&with(""), &["spark.executors=2"]);
    assert!(warning.contains("[[spark.executor]] says which there are"), "{warning}");
}

/// Attempts that do not succeed are of a stage's tasks; one that cannot fetch is of a stage that reads a shuffle.
#[test]
fn attempts_that_do_not_succeed() {
    let next = "[[spark.stage]]\nname = \"b\"\ntasks = 2\nparents = [\"a\"]\n";
    let with = |before: &str, keys: &str| format!("{before}[[spark.stage.attempt]]\n{keys}\n");
    let both = format!("{START}{next}");
    let cases = [
        (START, "task = 2", "the stage has 2 tasks, and this is none of them"),
        (START, "end = \"fetch-failed\"", "the stage reads no shuffle"),
        (&both, "end = \"fetch-failed\"\nnode = \"worker-9\"", "there is no worker `worker-9`"),
        (&both, "node = \"worker-1\"", "it says whose shuffle files are lost"),
    ];
    for (before, keys, expected) in cases {
        refused(&with(before, keys), &[], &[expected]);
    }
    let text = with(&both, "task = 1\nafter = \"2 s\"\nend = \"fetch-failed\"\nnode = \"worker-1\"");
    let scenario = parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    // An attempt is a line, and what it does not say is left out.
    let short = scenario.to_short_toml();
    let line = "    { task = 1, end = \"fetch-failed\", after = \"2 s\", node = \"worker-1\" },\n";
    assert!(short.contains(line), "{short}");
    assert_eq!(parse(&short, &[]).expect("it can be read again").to_toml(), scenario.to_toml());
}

/// Attempts that fail on some workers alone.
#[test]
fn attempts_that_fail_on_some_workers() {
    let with = |keys: &str| format!("{START}[[spark.stage.attempt]]\n{keys}\n");
    let cases = [
        ("only-on = []", "no node is named"),
        ("only-on = [\"worker-2\", \"worker-9\"]", "there is no `worker-9`"),
        ("only-on = \"worker-9\"", "the last worker is worker-8"),
        ("only-on = [\"wroker-2\"]", "did you mean `worker-1`?"),
        ("only-on = \"\"", "a node or a set of nodes"),
        ("only-on = 2", "a list of names"),
        ("only-on = \"master\"", "the master has no executor"),
        ("only-on = [\"master\", \"worker-1\"]", "the master has no executor"),
        ("only-on = \"all\"", "the master has no executor"),
        ("only-on = \"worker-1\"\ntask = 2", "the stage has 2 tasks, and this is none of them"),
    ];
    for (keys, expected) in cases {
        refused(&with(keys), &["cluster.workers=8"], &[expected]);
    }
    // Executors that are listed are on worker-1.
    for (number, warns) in [(1, false), (2, true)] {
        let text = format!("[[spark.executor]]\n{}", with(&format!("only-on = \"worker-{number}\"")));
        assert_eq!(warnings(&text, &[]).contains("no [[spark.executor]] is on these workers"), warns);
    }
    // What a task is not said of is its stage's first, or, with workers, any.
    let read =
        |keys: &str| parse(&with(keys), &["cluster.workers=8"]).expect(keys).spark.unwrap().stage.remove(0).attempt;
    assert_eq!(read("after = \"1 s\"")[0].of_task(), Some(0));
    assert_eq!(read("only-on = \"worker-2..worker-3\"\ntask = 1")[0].of_task(), Some(1));
    let any = &read("only-on = [\"worker-2..worker-3\", \"worker-5\"]")[0];
    assert_eq!((any.of_task(), any.only_on.clone()), (None, Some(Nodes::List(vec![2, 3, 5]))));
    let many = with("only-on = \"workers\"").replace(
        "[[spark.stage.attempt]]\nonly-on = \"workers\"\n",
        &format!("attempt = [{}]\n", "{ only-on = \"workers\" }, ".repeat(101)),
    );
    refused(&many, &["cluster.workers=100000"], &["names 10100000 nodes"]);
}

/// Exclusion of executors: what Spark refuses (`HealthTracker.validateExcludeOnFailureConfs`), and what has no effect.
#[test]
fn exclusion_is_checked() {
    let of =
        |keys: &str| format!("[spark.exclude-on-failure]\n{keys}\n{START}[[spark.stage.attempt]]\nafter = \"1 s\"\n");
    assert_eq!(warnings(&of(""), &[]), "");
    // Two attempts on a node of two and of three before the job fails.
    for (most, refuses) in [(2, true), (3, false)] {
        let sets = [&*format!("spark.task-max-failures={most}")];
        if refuses {
            refused(&of(""), &sets, &["a node gets 2 attempts at a task, and the job fails with 2"]);
        } else {
            parse(&of(""), &sets).expect("as Spark has it");
        }
    }
    parse(&of("application = false"), &["spark.task-max-failures=2"]).expect("checked of the application alone");
    for key in ["task-attempts-per-executor", "stage-failed-executors-per-node"] {
        refused(&of(&format!("{key} = 0")), &[], &["out of range"]);
    }
    let idle = [
        (of("application = false\ntask-and-stage = false"), "neither `application` nor `task-and-stage` is on"),
        (of("application = false\ntimeout = \"1 min\""), "`application` is off"),
        (of("task-and-stage = false\nstage-failed-tasks-per-executor = 3"), "`task-and-stage` is off"),
        (format!("[spark.exclude-on-failure]\n{START}"), "no attempt at a task fails"),
    ];
    for (text, expected) in idle {
        assert!(warnings(&text, &[]).contains(expected), "{expected}: {}", warnings(&text, &[]));
    }
}

/// Executors that come and go: what Spark refuses (`ExecutorAllocationManager.validateSettings`), and what has no effect.
#[test]
fn dynamic_allocation_is_checked() {
    let of = |keys: &str| format!("[spark.dynamic-allocation]\n{keys}\n{START}");
    let yarn = |keys: &str| of(&format!("{keys}\n[spark.yarn]\n"));
    assert_eq!(warnings(&of("min-executors = 1\nmax-executors = 1"), &[]), "");
    refused(&of("min-executors = 2\nmax-executors = 1"), &[], &["no more than 1 executors, and no fewer than 2"]);
    for bad in ["max-executors = 0", "scheduler-backlog-timeout = \"0 s\"", "executor-allocation-ratio = 0.0"] {
        refused(&of(bad), &[], &["out of range"]);
    }
    refused(&of("shuffle-tracking = false"), &[], &["Spark refuses to start", "spark.shuffle-service = true"]);
    parse(&of("shuffle-tracking = false"), &["spark.shuffle-service=true"]).expect("a service keeps the files");
    refused(&of("[[spark.executor]]"), &[], &["[[spark.executor]] says when executors come and go"]);
    let idle = [
        (of("cached-executor-idle-timeout = \"1 min\""), "no stage has a `persist`"),
        (of("initial-executors = 3\nmax-executors = 2"), "3 executors are asked for at first, more than the most"),
        (of("min-executors = 500"), "500 executors are asked for at first, and at most 4 fit"),
        (
            yarn("").replace("[spark.yarn]\n", "[spark.yarn]\ninstances = 3\n"),
            "`spark.dynamic-allocation.initial-executors` says",
        ),
        (
            format!("[spark]\nshuffle-service = true\n{START}"),
            "executors keep their shuffle files as long as they live",
        ),
    ];
    for (text, expected) in idle {
        let text = text.replace("[spark.dynamic-allocation]", "[cluster]\nworkers = 4\n[spark.dynamic-allocation]");
        assert!(warnings(&text, &[]).contains(expected), "{expected}: {}", warnings(&text, &[]));
    }
    let served = of("shuffle-tracking-timeout = \"1 min\"");
    assert!(warnings(&served, &["spark.shuffle-service=true"]).contains("shuffle files are not tracked"));
}
