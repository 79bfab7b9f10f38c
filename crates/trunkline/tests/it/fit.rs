//! `trunkline fit` as its users meet it, on the recorded matrix.

use crate::support::{Scratch, code, json, printed, said, traces};
use std::fs;

#[test]
fn real_histories_give_rates_errors_predictions_and_the_next_run() {
    let scratch = Scratch::new("fit");
    let matrix = traces().join("matrix").display().to_string();
    let args = ["fit", &matrix, "--job", "terasort", "--predict", "size=256MB,rate=10Mbit/s"];
    let output = scratch.trunkline(&args);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    let folders = fs::read_dir(&matrix).expect("the matrix").map(|entry| entry.expect("a folder").path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("runs"));
    let histories = files.filter(|file| file.as_ref().expect("a file").path().extension().is_some_and(|e| e == "gz"));
    let runs = format!("{} runs of 7 jobs", histories.count());
    for part in [
        runs.as_str(),
        "maps, network",
        "within the runs",
        "repetitions differ by",
        "the next run",
        "grep: grep-search",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let report = json(&printed(&scratch.trunkline(&[&args[..], &["--json"]].concat())));
    assert_eq!(report["schema"], "trunkline-fit/1");
    let rates = report["rates"].as_array().expect("rates");
    let expected = |stage: &str, term: &str| {
        let is = |rate: &&serde_json::Value| rate["stage"] == stage && rate["term"] == term;
        rates.iter().find(is).map(|rate| rate["expected"].clone())
    };
    assert_eq!(expected("maps", "network"), Some(1.0.into()));
    assert_eq!(expected("maps", "input disks"), Some(serde_json::Value::Null));
    // It shuffles its 256 MB: three quarters leave four nodes at 10 Mbit/s each, which is 38 s at least.
    let one = &report["predictions"][0];
    let total = one["total_s"].as_f64().expect("a time");
    assert!(total > 38.0 && total < 400.0, "{one}");
    assert_eq!(report["proposals"].as_array().map(Vec::len), Some(5));
}

/// Histories at one rate alone predict those at another, which have no part in the fit.
#[test]
fn unseen_histories_are_predicted() {
    let scratch = Scratch::new("fit-against");
    let of = |rate: &str| traces().join("matrix").join(rate).display().to_string();
    let output = scratch.trunkline(&["fit", &of("unshaped"), "--against", &of("10Mbit"), "--json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let report = json(&printed(&output));
    let against = report["against"].as_array().expect("a list");
    assert_eq!(against.len(), 7);
    for one in against {
        let (recorded, placed) = (one["recorded_s"].as_f64().expect("s"), one["placed_s"].as_f64().expect("s"));
        assert!(placed > 0.5 * recorded && placed < 2.0 * recorded, "{one}");
    }
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let scratch = Scratch::new("fit-wrong");
    let matrix = traces().join("matrix/unshaped");
    let lone = scratch.0.join("lone.jhist.gz");
    fs::copy(matrix.join("terasort-64MB.jhist.gz"), &lone).expect("copied");
    let matrix = matrix.display().to_string();
    for (args, says) in [
        (&["fit", "lone.jhist.gz"][..], "name a scenario with its machines and network as --cluster"),
        (&["fit", "absent"], "absent"),
        (&["fit", &matrix, "--job", "terasor"], "did you mean `terasort`?"),
        (&["fit", &matrix, "--predict", "sise=1GB"], "did you mean `size`?"),
        (&["fit", &matrix, "--predict", "size=1"], "has no unit"),
        (&["fit", &matrix, "--predict", "workers=0"], "is not a number of workers"),
        (&["fit", &matrix, "--predict", "rate=0 bit/s"], "a rate of nothing"),
        (&["fit", &matrix, "--predict", "size=0 B"], "a size of nothing"),
        (&["fit", &matrix, "--predict", "size=1GB,size=2GB"], "`size` is there twice"),
        (&["fit", &matrix, "--predict", "absent.toml"], "absent.toml"),
    ] {
        let output = scratch.trunkline(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(said(&output).contains(says), "{args:?}: {}", said(&output));
    }
    let cluster = traces().join("matrix/unshaped/cluster.toml").display().to_string();
    let output = scratch.trunkline(&["fit", "lone.jhist.gz", "--cluster", &cluster]);
    assert!(code(&output) == 0 && printed(&output).contains("no run is repeated"), "{}", said(&output));
    assert!(printed(&output).starts_with("1 run of 1 job\n"), "{}", printed(&output));
    // No map of this one read from another node: its network's rate is what is expected, not what was seen.
    assert!(printed(&output).contains("so as expected: maps, network"), "{}", printed(&output));
}

/// A file that is there twice is one run, and a run that rates were fitted to is none to try them on.
#[test]
fn a_copy_is_no_repetition() {
    let scratch = Scratch::new("fit-copy");
    let matrix = traces().join("matrix/unshaped");
    for (from, to) in [
        ("terasort-64MB.jhist.gz", "a.jhist.gz"),
        ("terasort-64MB.jhist.gz", "b.jhist.gz"),
        ("terasort-64MB-2.jhist.gz", "c.jhist.gz"),
        ("grep-64MB.1.jhist.gz", "d.jhist.gz"),
    ] {
        fs::copy(matrix.join(from), scratch.0.join(to)).expect("copied");
    }
    let cluster = matrix.join("cluster.toml").display().to_string();
    let output = scratch.trunkline(&["fit", "a.jhist.gz", "b.jhist.gz", "--cluster", &cluster]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    assert!(text.contains("left out: b.jhist.gz: it is the same job as a.jhist.gz"), "{text}");
    assert!(text.starts_with("1 run of 1 job\n") && text.contains("no run is repeated"), "{text}");
    let args = ["fit", "a.jhist.gz", "--cluster", &cluster, "--against"];
    let output = scratch.trunkline(&[&args[..], &["b.jhist.gz"]].concat());
    assert_eq!(code(&output), 2, "{}", printed(&output));
    assert!(said(&output).contains("b.jhist.gz: it is the same job as a.jhist.gz"), "{}", said(&output));
    let output = scratch.trunkline(&[&args[..], &["c.jhist.gz", "--against", "d.jhist.gz"]].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    assert!(text.contains("no history of the fit is of its job, grep-search"), "{text}");
    assert!(text.contains("1 run: "), "{text}");
}

/// Histories that cannot be of the cluster that is described are left out, each job by its identifier: of a JobTracker,
/// or on more hosts than there are workers.
#[test]
fn histories_of_other_clusters_are_left_out() {
    let scratch = Scratch::new("fit-other");
    let cluster = traces().join("matrix/unshaped/cluster.toml");
    let text = fs::read_to_string(&cluster).expect("a cluster");
    let with = |name: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        fs::write(scratch.0.join(name), text.replace(old, new)).expect("written");
    };
    with("two.toml", "workers = 4", "workers = 2");
    with("old.toml", "generation = \"yarn\"", "generation = \"hadoop1\"");
    let history = traces().join("matrix/unshaped/grep-64MB.1.jhist.gz");
    fs::copy(history, scratch.0.join("grep.jhist.gz")).expect("copied");
    for (cluster, says) in [
        ("two.toml", "its tasks ran on 4 hosts, and the cluster that is described has 2 workers"),
        ("old.toml", "the job is of YARN, and the cluster that is described of Hadoop 1"),
    ] {
        let output = scratch.trunkline(&["fit", "grep.jhist.gz", "--cluster", cluster]);
        assert_eq!(code(&output), 2, "{}", printed(&output));
        assert!(said(&output).contains(&format!("no history is left: grep.jhist.gz: {says}")), "{}", said(&output));
    }
}

/// Rates are those of one kind of machine: a history from machines of another speed is left out of a fit, and of what it
/// is tried on, whichever file is named first. More workers of the same kind are no other machines.
#[test]
fn histories_of_other_machines_are_left_out() {
    let scratch = Scratch::new("fit-machines");
    let matrix = traces().join("matrix/unshaped");
    let text = fs::read_to_string(matrix.join("cluster.toml")).expect("a cluster");
    for (folder, history, old, new) in [
        ("a", "grep-64MB.1.jhist.gz", "speed = 1.0", "speed = 2.0"),
        ("b", "terasort-64MB.jhist.gz", "workers = 4", "workers = 5"),
        ("c", "terasort-64MB-2.jhist.gz", "[node]", "[node]"),
    ] {
        assert!(text.contains(old), "{old}");
        fs::create_dir(scratch.0.join(folder)).expect("made");
        fs::write(scratch.0.join(folder).join("cluster.toml"), text.replacen(old, new, 1)).expect("written");
        fs::copy(matrix.join(history), scratch.0.join(folder).join("job.jhist.gz")).expect("copied");
    }
    let output = scratch.trunkline(&["fit", "a", "b", "c"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let shown = printed(&output);
    assert!(shown.starts_with("2 runs of 1 job\n"), "{shown}");
    let plain = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("left out: a/job.jhist.gz: its cluster has other machines ("), "{shown}");
    assert!(plain.contains("of speed 2, "), "{shown}");
    let output = scratch.trunkline(&["fit", "b", "c", "--against", "a"]);
    assert_eq!(code(&output), 2, "{}", printed(&output));
    assert!(said(&output).contains("a/job.jhist.gz: its cluster has other machines ("), "{}", said(&output));
}
