//! What a plan has, and what is refused before anything runs.

use crate::support::{STOP, Scratch};
use std::collections::BTreeSet;
use std::fs;
use sweep::{Changes, Plan, Sweep};

fn points(plan: &Plan) -> Vec<String> {
    (0..plan.points()).map(|point| plan.words(point)).collect()
}

#[test]
fn a_grid_has_every_combination_and_every_seed() {
    let scratch = Scratch::new("grid");
    let text =
        "seeds = [3, 9]\n[sweep]\nnetwork.rate = [\"10 Mbit/s\", \"1 Gbit/s\"]\ntcp.control = [\"cubic\", \"bbr\"]\n";
    let plan = scratch.plan(text).expect("a plan");
    assert_eq!(
        points(&plan),
        [
            "network.rate = 10 Mbit/s, tcp.control = cubic",
            "network.rate = 10 Mbit/s, tcp.control = bbr",
            "network.rate = 1 Gbit/s, tcp.control = cubic",
            "network.rate = 1 Gbit/s, tcp.control = bbr",
        ]
    );
    let of: Vec<_> = plan.runs.iter().map(|run| (run.point, run.seed)).collect();
    assert_eq!(of, [(0, 3), (0, 9), (1, 3), (1, 9), (2, 3), (2, 9), (3, 3), (3, 9)]);
    let names: BTreeSet<_> = plan.runs.iter().map(|run| run.name.clone()).collect();
    assert_eq!(names.len(), 8, "each run has a name of its own");
    assert_eq!(plan.runs, scratch.plan(text).expect("a plan").runs, "and the same the next time");
    let scenario = plan.scenario_of(&plan.runs[5], &STOP).expect("read");
    assert_eq!((scenario.network.rate.as_bps(), scenario.run.seed), (1_000_000_000, 9));
    assert_eq!(plan.metrics, ["traffic.0.completion_mean_s", "traffic.0.goodput_bps"], "nothing was asked for");
    let one =
        scratch.plan_with(text, &Changes { seeds: Some(1), set: vec!["run.until=5 s".to_owned()] }).expect("a plan");
    assert_eq!((one.runs.len(), one.seeds.clone()), (4, vec![1]), "the scenario's own");
    assert!(one.runs.iter().all(|run| !names.contains(&run.name)), "another end of the run makes other runs");
}

#[test]
fn keys_that_go_together_are_one_axis() {
    let scratch = Scratch::new("zip");
    let text = "seeds = 1\nzip = [[\"traffic.0.bytes\", \"run.until\"]]\n[sweep]\ntcp.control = [\"cubic\", \"bbr\"]\n\
        [sweep.traffic.0]\nbytes = [\"1 MB\", \"2 MB\", \"4 MB\"]\n\
        [sweep.run]\nuntil = { from = \"10 s\", to = \"30 s\", step = \"10 s\" }\n";
    let plan = scratch.plan(text).expect("a plan");
    assert_eq!(plan.points(), 6);
    assert_eq!(points(&plan)[5], "tcp.control = bbr, traffic.0.bytes = 4 MB, run.until = 30 s");
    let axis = &plan.axes[1];
    assert_eq!(
        (axis.key.as_str(), axis.unit.as_str(), axis.with.as_slice()),
        ("traffic.0.bytes", "MB", &["run.until".to_owned()][..])
    );
    assert_eq!(axis.numbers.as_deref(), Some(&[1.0, 2.0, 4.0][..]));
    assert!(plan.axes[0].numbers.is_none(), "words");
}

/// What is wrong stands beside its place: line and column of the sweep's file.
#[test]
fn what_is_wrong_is_said_with_its_place_before_anything_runs() {
    let scratch = Scratch::new("wrong");
    fs::write(scratch.path("groups.toml"), "[[cluster.group]]\ncount = 3\n[[traffic]]\nkind = \"long\"\n")
        .expect("written");
    fs::write(scratch.path("broken.toml"), "[network]\nrat = 1\n[[traffic]]\n").expect("written");
    for (text, says) in [
        (
            "[sweep]\nnetwork.rat = [\"1 Mbit/s\"]\n",
            "s.toml:3:9: `network.rat` is not a key of a scenario: `network` has no `rat`; \
             did you mean `network.rate`?",
        ),
        ("[sweep]\nreducers = [1]\n", "did you mean `mapreduce.reducers` or `job.reducers`?"),
        ("[sweep]\nnetwrk.rate = [\"1 Mbit/s\"]\n", "it has no `netwrk`; did you mean `network`?"),
        (
            "[sweep]\nnetwork.rate = [\"1 Mbps\"]\n",
            "s.toml:3:17: `Mbps` is not a unit of a rate (did you mean `Mbit/s`?)",
        ),
        ("[sweep]\nnetwork.rate = \"1 Mbit/s\"\n", "write `rate = [\"1 Mbit/s\"]`, or put it into `set`"),
        ("[sweep]\nnetwork.rate = []\n", "at least one value"),
        ("[sweep]\nnetwork.rate = [\"1 Mbit/s\", \"1 Mbit/s\"]\n", "1 Mbit/s is there twice"),
        (
            "[sweep]\nnetwork.rate = [\"1 Mbit/s\", \"1000 Kbit/s\"]\n",
            "`network.rate` changes nothing: 1 Mbit/s and 1000 Kbit/s make the same scenario",
        ),
        (
            "scenario = \"groups.toml\"\n[sweep]\ncluster.workers = [2, 4]\n",
            "s.toml:3:20: the groups have 3 workers together",
        ),
        (
            "[sweep]\n\"network.queue\" = [{ limit = \"64 packets\" }]\n\"network.queue.limit\" = [\"1 KB\"]\n",
            "`network.queue` and `network.queue.limit` defeat each other: one holds the other",
        ),
        (
            "set = [\"network.rate=1 Mbit/s\"]\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n",
            "`network.rate` and `network.rate`, which the sweep varies, defeat each other",
        ),
        ("[sweep]\nrun.seed = [1, 2]\n", "write `seeds = 5`"),
        ("seeds = [1, 1]\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "each once"),
        ("seeds = 0\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "0 is out of range: from 1 to 10000"),
        ("[sweep]\n", "varies at least one key"),
        ("seeds = 2\n", "a table [sweep]"),
        (
            "zip = [[\"network.rate\", \"network.dely\"]]\n\
             [sweep]\nnetwork.rate = [\"2 Mbit/s\"]\nnetwork.delay = [\"1 ms\"]\n",
            "did you mean `network.delay`?",
        ),
        (
            "zip = [[\"network.rate\", \"network.delay\"]]\n\
             [sweep]\nnetwork.rate = [\"2 Mbit/s\"]\nnetwork.delay = [\"1 ms\", \"2 ms\"]\n",
            "`network.rate` has 1, `network.delay` has 2",
        ),
        ("zip = [[\"network.rate\"]]\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "at least two keys"),
        ("metrics = [\"network.dorps\"]\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "no figure is called `dorps`"),
        ("swep = 1\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "did you mean `sweep`?"),
        ("scenario = \"broken.toml\"\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "did you mean `rate`?"),
        ("scenario = \"absent.toml\"\n[sweep]\nnetwork.rate = [\"2 Mbit/s\"]\n", "s.toml:1:12: cannot read "),
        ("[sweep]\ntraffic.0.kind = [\"all-to-all\", \"al-to-all\"]\n", "s.toml:3:33: `al-to-all` is not a value here"),
        ("[sweep]\ntraffic.1.bytes = [\"1 MB\"]\n", "`1` is not an entry"),
    ] {
        let error = scratch.plan(text).expect_err(text);
        assert!(error.contains(says), "{text}\n{error}");
    }
}

/// Replication of 3 does not fit one worker: that is wrong of one point of four, which is named.
#[test]
fn what_only_some_points_have_is_said_with_the_point() {
    let scratch = Scratch::new("some");
    fs::write(scratch.path("small.toml"), "[cluster]\nworkers = 4\n[job]\ninput = \"1 MB\"\n").expect("written");
    let text = "[sweep]\ncluster.workers = [1, 4]\nhdfs.replication = [1, 3]\n";
    let error = scratch.plan(text).expect_err("too many replicas");
    assert!(error.contains("cluster.workers = 1, hdfs.replication = 3"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn a_plan_that_is_too_large_is_said_with_its_count() {
    let scratch = Scratch::new("large");
    let text = "seeds = 5\n[sweep]\nnetwork.delay = { from = \"1 us\", to = \"1 ms\", steps = 500 }\n\
        network.rate = { from = \"1 Mbit/s\", to = \"1 Gbit/s\", steps = 300, log = true }\n";
    let error = scratch.plan(text).expect_err("too large");
    assert!(
        error.contains("this plan has 750000 runs (500 of network.delay x 300 of network.rate values, 5 seeds)"),
        "{error}"
    );
}

#[test]
fn a_line_of_the_plan_says_all_that_makes_the_run() {
    let scratch = Scratch::new("lines");
    let plan = scratch
        .plan("seeds = 2\nset = [\"run.until=5 s\"]\n[sweep]\nnetwork.rate = [\"10 Mbit/s\"]\n")
        .expect("a plan");
    let line = plan.line(1).expect("two runs");
    let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(value["run"], plan.runs[1].name.as_str());
    assert_eq!((&value["position"], &value["of"], &value["seed"]), (&2.into(), &2.into(), &2.into()));
    assert_eq!(value["values"]["network.rate"], "10 Mbit/s");
    assert_eq!(value["set"], serde_json::json!(["run.until=5 s", "network.rate=\"10 Mbit/s\""]));
    assert!(plan.line(2).is_none());
}

/// Whatever becomes of a right file, cut or with a character changed: it is read, or refused at places within it.
#[test]
fn a_damaged_file_is_read_or_refused_at_a_place_of_its_own() {
    let text = "scenario = \"s.toml\"\nseeds = [1, 7]\nset = [\"run.until=5 s\"]\nmetrics = [\"job.finish_s\"]\n\
        zip = [[\"cluster.workers\", \"job.input\"]]\n\
        [sweep]\ncluster.workers = [8, 16]\njob.input = [\"4 GB\", \"8 GB\"]\n\
        network.rate = { from = \"10 Mbit/s\", to = \"1 Gbit/s\", steps = 5, log = true }\n\
        mapreduce.reducers = { from = 2, to = 64, factor = 2 }\nnetwork.queue = [{ limit = \"64 packets\" }]\n\
        tcp.min-rto = { from = \"1 ms\", to = \"9 ms\", step = \"2 ms\" }\n";
    let mut refused = 0;
    let mut look = |text: &str| {
        if let Err(error) = Sweep::read("s.toml", text) {
            assert!(!error.problems.is_empty());
            for problem in &error.problems {
                let range = &problem.span.range;
                assert!(range.start <= range.end && range.end <= text.len(), "{problem:?}: {text}");
                assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end), "{problem:?}: {text}");
            }
            refused += 1;
        }
    };
    for at in 0..text.len() {
        look(&text[..at]);
        for other in ["\"", "{", "}", "[", "-", "9", "e9", ".", "=", "\u{0431}", ""] {
            look(&format!("{}{other}{}", &text[..at], &text[at + 1..]));
        }
    }
    assert!(refused > 1_000, "{refused}");
}
