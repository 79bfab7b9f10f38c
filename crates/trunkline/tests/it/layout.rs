//! How output looks: it fits the screen, has colours on terminals only, and long names keep what is said of them.

use crate::support::{Scratch, code, json, names, printed, said, traces};
use std::process::{Command, Stdio};

const LONG: &str = "transfers-between-all-pairs-of-workers-of-the-second-rack";

/// A job, traffic with a long name, faults, and figures of energy.
fn scenario() -> String {
    format!(
        "name = \"a-cluster-with-a-name-that-is-longer-than-most-of-them\"\n\
         [cluster]\nworkers = 4\n[node]\nidle-power = \"100 W\"\n[hdfs]\nblock = \"8 MiB\"\nreplication = 2\n\
         [tcp]\nabc-limit = 1\nhystart = \"off\"\n\
         [mapreduce]\nreducers = 2\n[job]\nworkload = \"terasort\"\ninput = \"32 MB\"\n\
         [[traffic]]\nname = \"{LONG}\"\nkind = \"all-to-all\"\nbytes = \"200 KB\"\njitter = \"1 ms\"\n\
         [[faults]]\nat = \"5 s\"\nnode = \"worker-3\"\ndown-for = \"3 s\"\n"
    )
}

/// No line is wider, but those that name a path.
fn fits(text: &str, width: usize) {
    for line in text.lines().filter(|line| !line.contains("results/") && !line.contains("--out")) {
        assert!(line.chars().count() <= width, "{} of {width} columns: {line}\n{text}", line.chars().count());
    }
}

#[test]
fn output_fits_the_screen_and_long_names_keep_their_figures() {
    let scratch = Scratch::new("width");
    scratch.file("a.toml", &scenario());
    scratch.file("b.toml", &scenario().replace("a-cluster", "b-cluster"));
    for width in [60, 80, 120] {
        let print = |args: &[&str]| {
            let output = scratch.command(args).env("COLUMNS", width.to_string()).output().expect("it starts");
            assert_eq!(code(&output), 0, "{args:?}: {}", said(&output));
            let text = printed(&output);
            assert!(!text.contains('\u{1b}'), "no colours without a terminal: {text}");
            fits(&text, width);
            text
        };
        let one = print(&["run", "a.toml"]);
        assert!(one.contains("SUCCEEDED") && one.contains("critical path") && one.contains("energy in J"), "{one}");
        let several = print(&["run", "a.toml", "--runs", "2", "--out", "several"]);
        // Names may be wrapped; what was measured stands at their end, whole.
        for word in ["goodput,", "Mbit/s", "finish,", "completion,", "shuffled", "retransmissions"] {
            assert!(several.contains(word), "{width}, {word}: {several}");
        }
        let compared = print(&["compare", "a.toml", "b.toml", "--runs", "2"]);
        assert!(compared.contains("not significant"), "{compared}");
        let levels = print(&["compare", "a.toml", "--fidelity", "packet,flow", "--runs", "2", "--out", "levels"]);
        assert!(levels.lines().any(|line| line.starts_with("retransmissions")), "{levels}");
        print(&["study", "list"]);
    }
}

/// Three nodes of 100 W, whatever they do: 300 W over the job's time.
#[test]
fn energy_of_nodes_is_among_the_figures_of_several_runs() {
    let scratch = Scratch::new("energy");
    scratch.file(
        "a.toml",
        "cluster.workers = 2\nnode.idle-power = \"100 W\"\nhdfs.replication = 1\n\
         [job]\nname = \"j\"\nworkload = \"wordcount\"\ninput = \"8 MB\"\n",
    );
    let output = scratch.trunkline(&["run", "a.toml", "--runs", "2", "--json"]);
    let runs = json(&printed(&output));
    let values = |name: &str| -> Vec<f64> {
        let mut figures = runs["figures"].as_array().expect("a list").iter();
        let figure = figures.find(|figure| figure["name"] == name).unwrap_or_else(|| panic!("{name}: {runs}"));
        figure["values"].as_array().expect("a list").iter().filter_map(serde_json::Value::as_f64).collect()
    };
    let (seconds, energy) = (values("j: submission to finish"), values("j: energy of nodes"));
    assert_eq!((seconds.len(), energy.len()), (2, 2));
    for (seconds, energy) in seconds.iter().zip(&energy) {
        assert!((energy - 300.0 * seconds / 3600.0).abs() < 1e-6, "{seconds} s, {energy} Wh");
    }
}

#[test]
fn the_usual_width_is_eighty() {
    let scratch = Scratch::new("eighty");
    let usual = printed(&scratch.trunkline(&["study", "list"]));
    let eighty = scratch.command(&["study", "list"]).env("COLUMNS", "80").output().expect("it starts");
    assert_eq!(usual, printed(&eighty));
    let wide = scratch.command(&["study", "list"]).env("COLUMNS", "120").output().expect("it starts");
    assert!(usual.lines().count() > printed(&wide).lines().count());
}

/// What a command prints on a terminal of that many columns: one that script(1) makes.
fn on_a_terminal(scratch: &Scratch, args: &str, columns: u16, no_colour: Option<&str>) -> String {
    let line = format!("stty cols {columns}; exec '{}' {args}", env!("CARGO_BIN_EXE_trunkline"));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(&scratch.0);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("COLUMNS").stdin(Stdio::null());
    if let Some(value) = no_colour {
        command.env("NO_COLOR", value);
    }
    let output = command.output().expect("script(1), of Debian's bsdutils");
    assert_eq!(code(&output), 0, "{}{}", printed(&output), said(&output));
    printed(&output).replace("\r\n", "\n")
}

#[test]
fn a_terminal_says_its_width_and_has_colours() {
    let scratch = Scratch::new("terminal");
    scratch.file("a.toml", &scenario());
    let painted = on_a_terminal(&scratch, "run a.toml --quiet", 60, None);
    assert!(painted.contains("\u{1b}[32mjob terasort: SUCCEEDED\u{1b}[0m"), "{painted:?}");
    for value in ["", "1"] {
        let text = on_a_terminal(&scratch, "run a.toml --quiet", 60, Some(value));
        // <https://no-color.org>: when present and not an empty string.
        assert_eq!(text.contains('\u{1b}'), value.is_empty(), "{value:?}");
        if !value.is_empty() {
            fits(&text, 60);
            // Colours change nothing but colours.
            let mut plain = String::new();
            let mut rest = painted.as_str();
            while let Some(start) = rest.find("\u{1b}[") {
                plain.push_str(&rest[..start]);
                rest = &rest[start + rest[start..].find('m').expect("a colour") + 1..];
            }
            assert_eq!(plain + rest, text);
        }
    }
}

#[test]
fn the_list_of_studies_is_json_when_asked() {
    let scratch = Scratch::new("list");
    let list = json(&printed(&scratch.trunkline(&["study", "list", "--json"])));
    let list = list.as_array().expect("a list");
    let one = list.iter().find(|study| study["name"] == "incast-barrier").expect("a study");
    assert!(one["title"].as_str().is_some_and(|title| !title.is_empty()));
    let plain = printed(&scratch.trunkline(&["study", "list"]));
    for study in list {
        let name = study["name"].as_str().expect("a name");
        assert!(plain.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {plain}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new("man");
    let output = scratch.trunkline(&["man", "--out", "man1"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let pages = names(&scratch.0.join("man1"));
    // What `--help` lists, command by command, has a page each.
    let mut waiting = vec![Vec::<String>::new()];
    let mut count = 0;
    while let Some(words) = waiting.pop() {
        let page = format!("{}.1", [&["trunkline".to_owned()][..], &words].concat().join("-"));
        assert!(pages.contains(&page), "{page}: {pages:?}");
        let text = scratch.read(&format!("man1/{page}"));
        assert!(text.contains(&format!(".TH {}", page.trim_end_matches(".1"))), "{text}");
        assert!(text.contains(concat!("\"trunkline ", env!("CARGO_PKG_VERSION"), "\"")), "{text}");
        let args: Vec<&str> = ["man"].into_iter().chain(words.iter().map(String::as_str)).collect();
        assert_eq!(printed(&scratch.trunkline(&args)), text);
        let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = printed(&scratch.trunkline(&args));
        let listed = help.split_once("Commands:\n").map_or("", |(_, rest)| rest);
        let listed = listed.lines().take_while(|line| !line.trim().is_empty());
        // Names stand at two blanks, what is wrapped further in.
        let names = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
            waiting.push(words.iter().cloned().chain([name.to_owned()]).collect());
        }
        count += 1;
    }
    assert_eq!(count, pages.len(), "{pages:?}");
    assert!(pages.contains(&"trunkline-run.1".to_owned()));
    if cfg!(feature = "testbed") {
        assert!(pages.contains(&"trunkline-testbed-link-up.1".to_owned()));
    }
    let output = scratch.trunkline(&["man", "rum"]);
    assert!(code(&output) == 2 && said(&output).contains("did you mean `run`?"), "{}", said(&output));
}

/// The names of jobs and their files are long; a comparison with what was recorded fits as well.
#[test]
fn a_replay_fits_the_screen() {
    let scratch = Scratch::new("replay");
    let folder = traces().join("wordcount-combine-unshaped");
    let (history, run) = (folder.join("job_1795217314114_0003.jhist"), folder.join("run.toml"));
    let (history, run) = (history.display().to_string(), run.display().to_string());
    let cluster = traces().join("cluster.toml").display().to_string();
    let import = ["import", "jhist", &history, "--cluster", &cluster, "--run", &run, "-o", "a.toml"];
    assert_eq!(code(&scratch.trunkline(&import)), 0);
    for width in ["60", "80", "120"] {
        let words = ["run", "a.toml", "--replay", &history, "--run", &run];
        let output = scratch.command(&words).env("COLUMNS", width).output().expect("it starts");
        let text = printed(&output);
        fits(&text, width.parse().expect("a number"));
        assert!(text.contains("predicted") && text.contains("recorded"), "{text}");
    }
}
