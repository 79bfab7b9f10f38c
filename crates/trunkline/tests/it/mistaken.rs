//! Files and words that are right elsewhere: what is said to who gives them here.

use crate::support::{Scratch, code, printed, said, traces};

const SCENARIO: &str = "[cluster]\nworkers = 3\n[hdfs]\nblock = \"64 MB\"\n[job]\ninput = \"64 MB\"\n";
const SWEEP: &str = "scenario = \"a.toml\"\nseeds = 2\n[sweep]\ncluster.workers = [3, 4]\n";
const STUDY: &str = "title = \"A\"\nscenario = \"a.toml\"\n[[figure]]\nid = \"a\"\n";

#[test]
fn a_file_of_another_kind_is_named_in_one_problem_with_who_takes_it() {
    let scratch = Scratch::new("mistaken");
    scratch.file("a.toml", SCENARIO);
    scratch.file("sweep.toml", SWEEP);
    scratch.file("study.toml", STUDY);
    scratch.file("remedies.toml", "[[remedy]]\nid = \"a\"\n");
    let run = traces().join("wordcount-combine-unshaped/run.toml").display().to_string();
    let history = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist").display().to_string();
    let sweep_not_scenario = "this is the file of a sweep, not a scenario";
    let cases: [(&[&str], &str, &str); 13] = [
        (&["sweep", "a.toml"], "this is a scenario, not the file of a sweep", "keys to vary"),
        (&["run", "sweep.toml"], sweep_not_scenario, "`trunkline sweep` takes this one"),
        (&["estimate", "sweep.toml"], sweep_not_scenario, "[cluster]"),
        (&["advise", "sweep.toml"], sweep_not_scenario, "[cluster]"),
        (&["compare", "a.toml", "sweep.toml"], sweep_not_scenario, "[cluster]"),
        (&["run", "study.toml"], "this is the file of a study", "`trunkline study`"),
        (&["sweep", "study.toml"], "this is the file of a study", "`trunkline study`"),
        (&["run", "remedies.toml"], "this is a file of remedies", "`trunkline advise --remedies`"),
        (&["advise", "a.toml", "--remedies", "a.toml"], "this is a scenario, not a file of remedies", "[[remedy]]"),
        (&["run", &run], "this is the description of a recorded run", "`trunkline import --run`"),
        (&["import", "a.toml"], "not a job history, but a scenario", "`trunkline run`, `compare`"),
        (&["import", "sweep.toml"], "not a job history, but the file of a sweep", "`trunkline sweep` takes this one"),
        (&["power", "daemon", "--check", "a.toml"], "this is a scenario, not a configuration", "[[disk]]"),
    ];
    for (args, message, help) in cases {
        let output = scratch.trunkline(args);
        let text = said(&output);
        assert_eq!(code(&output), 2, "{args:?}: {text}");
        assert!(text.contains(message) && text.contains(help), "{args:?}: {text}");
        assert_eq!(text.matches("error: ").count(), 1, "{args:?}: {text}");
        assert!(printed(&output).is_empty(), "{args:?}");
    }
    std::fs::write(scratch.0.join("b.gz"), [0x1f, 0x8b, 8, 0, 0xff]).expect("written");
    for (args, message) in [
        (&["study", "study.toml"][..], "study.toml is a file: a study is named by its folder, ."),
        (&["run", &history], "is not text: it is a job's history, of which `trunkline import` makes a scenario"),
        (&["run", "b.gz"], "is not text: it is compressed by gzip"),
    ] {
        let output = scratch.trunkline(args);
        assert!(code(&output) == 2 && said(&output).contains(message), "{args:?}: {}", said(&output));
    }
    assert!(!scratch.has("results"));
}

#[test]
fn options_that_an_import_would_not_heed_are_refused() {
    let scratch = Scratch::new("import-options");
    scratch.file("w.tsv", "job0\t0\t0\t1000000\t0\t1000000\njob1\t60\t60\t1000000\t500\t1000000\n");
    let history = traces().join("wordcount-combine-unshaped/job_1795217314114_0003.jhist").display().to_string();
    let cases: [(&[&str], &str); 4] = [
        (&["import", &history, "--nodes", "5"], "--nodes is not for the history of one job"),
        (&["import", &history, "--for", "1h"], "--for is not for the history of one job"),
        (&["import", "w.tsv", "--nodes", "5", "--job", "job1"], "--job is not for a trace of many jobs"),
        (&["import", "w.tsv", "--nodes", "5", "--strict"], "--strict is not for a trace of many jobs"),
    ];
    for (args, message) in cases {
        let output = scratch.trunkline(args);
        assert!(code(&output) == 2 && said(&output).contains(message), "{args:?}: {}", said(&output));
        assert!(printed(&output).is_empty(), "{args:?}");
    }
}
