//! What a study's file may say, and what it makes of it.

use testbed::study::{Only, Study, Way};

const RIGHT: &str = r#"
title = "one"
buffers = ["64 KiB", "default"]
controls = ["cubic", "reno"]
[grid]
rate = "155 Mbit/s"
round-trips = ["0 ms", "40 ms"]
losses = ["0 %", "0.1 %"]
[[program]]
name = "curl"
tool = "curl"
time = "20 s"
ways = ["plain", "jet", "bbr", "aria2"]
once = ["aria2"]
[quick]
only = ["path=r40ms-l0-1", "way=plain,jet"]
time = "2 s"
"#;

#[test]
fn every_combination_is_a_cell_and_none_is_one_twice() {
    let study = Study::parse("one", RIGHT).expect("it is right");
    let ids: Vec<String> = study.cells(false).iter().map(testbed::study::Cell::id).collect();
    // Four paths, each with two buffers x (plain and jet under two controls, aria2 under one), and one of BBR.
    assert_eq!(ids.len(), 4 * (2 * 5 + 1), "{ids:#?}");
    assert!(ids.contains(&"r40ms-l0-1/curl/64KiB/reno/jet".to_owned()), "{ids:#?}");
    assert!(ids.contains(&"r0ms-l0/curl/64MiB/bbr/bbr".to_owned()), "{ids:#?}");
    assert!(!ids.iter().any(|id| id.ends_with("reno/aria2")), "{ids:#?}");
    let quick = study.cells(true);
    assert_eq!(quick.len(), 8);
    assert_eq!(quick[0].asked()["measured_s"], 2.0);
    assert!(quick.iter().all(|cell| cell.path.name == "r40ms-l0-1" && (cell.expected_s() - 6.48).abs() < 1e-9));
}

#[test]
fn what_a_path_carries_is_its_rate_in_full_segments_less_what_is_lost() {
    let study = Study::parse("one", RIGHT).expect("it is right");
    let capacity = |name: &str| {
        let cell = study.cells(false).iter().find(|cell| cell.path.name == name).expect("there is one");
        (cell.capacity_bps().expect("it has a rate") / 1e3).round()
    };
    assert_eq!((capacity("r40ms-l0"), capacity("r40ms-l0-1")), (148_243.0, 148_095.0));
}

#[test]
fn a_program_on_files_is_also_measured_without_a_path_and_counts_what_it_reads_and_what_it_writes() {
    let text = r#"
title = "files"
paths = ["metro"]
buffers = ["64 KiB", "default"]
controls = ["cubic", "reno"]
[[program]]
name = "open"
tool = "vi-open"
size = "16 MB"
ways = ["plain", "local"]
[[program]]
name = "open-and-save"
tool = "soffice"
size = "16 MB"
ways = ["plain", "local"]
"#;
    let study = Study::parse("files", text).expect("it is right");
    let cell = |id: &str| study.cells(false).iter().find(|cell| cell.id() == id).unwrap_or_else(|| panic!("{id}"));
    // Two buffers x two controls over the path, and one without.
    assert_eq!(study.cells(false).len(), 2 * (4 + 1));
    assert_eq!(cell("metro/open/default/cubic/local").capacity_bps(), None);
    let (one, both) = (cell("metro/open/default/cubic/plain"), cell("metro/open-and-save/default/cubic/plain"));
    let capacity = one.capacity_bps().expect("the path has a rate");
    assert!((both.capacity_bps().expect("the path has a rate") / capacity - 1.0).abs() < 1e-12);
    let crossing_s = 16e6 * 8.0 / capacity;
    assert!((both.expected_s() - one.expected_s() - crossing_s).abs() < 1e-9);
    let mut slower_there = both.clone();
    slower_there.path.forth.rate = slower_there.path.back.rate.map(|rate| units::BitRate::from_bps(rate.as_bps() / 3));
    // Of four parts of the time one is for what comes, and three for what goes.
    assert!((slower_there.capacity_bps().expect("it has one") / capacity - 0.5).abs() < 1e-6);
}

#[test]
fn a_benchmark_runs_for_a_time_with_answers_of_a_size_and_a_program_can_be_kept_to_some_paths() {
    let text = r#"
title = "both"
paths = ["metro", "satellite"]
buffers = ["default"]
controls = ["cubic"]
floor = "95 %"
[[program]]
name = "answers"
tool = "redis"
size = "1 KB"
time = "3 s"
ways = ["plain", "bbr"]
[[program]]
name = "transfer"
tool = "git-clone"
paths = ["metro"]
size = "100 MB"
ways = ["plain"]
[quick]
size = "1 MB"
time = "1 s"
"#;
    let study = Study::parse("both", text).expect("it is right");
    assert_eq!(study.floor, Some(0.95));
    let asked = |quick: bool, key: &str| -> Vec<_> {
        study.cells(quick).iter().map(|cell| (cell.id(), cell.asked()[key].as_f64())).collect()
    };
    let ids = [
        "metro/answers/default/cubic/plain",
        "metro/answers/64MiB/bbr/bbr",
        "metro/transfer/default/cubic/plain",
        "satellite/answers/default/cubic/plain",
        "satellite/answers/64MiB/bbr/bbr",
    ];
    let of = |values: [f64; 5]| ids.into_iter().map(str::to_owned).zip(values.map(Some)).collect::<Vec<_>>();
    assert_eq!(asked(false, "bytes"), of([1e3, 1e3, 1e8, 1e3, 1e3]));
    // The short form shortens what is transferred and how long a benchmark runs, and leaves its answers alone.
    assert_eq!(asked(true, "bytes"), of([1e3, 1e3, 1e6, 1e3, 1e3]));
    let times: Vec<_> = asked(true, "measured_s").into_iter().map(|(_, time)| time).collect();
    assert_eq!(times, [Some(1.0), Some(1.0), None, Some(1.0), Some(1.0)]);
    // Twelve round trips of 600 ms, and 4 s of preparation.
    assert!((study.cells(false)[3].expected_s() - (3.0 + 7.2 + 4.0)).abs() < 1e-9);
    let wrong = [
        ("size = \"1 KB\"\n", "", "its answers have a size"),
        ("size = \"1 KB\"", "size = \"17 MB\"", "1 B to 16 MB"),
        ("size = \"1 KB\"\ntime = \"3 s\"", "size = \"1 KB\"", "a benchmark has a time"),
        ("tool = \"redis\"", "tool = \"iperf3\"", "this benchmark has no size"),
        ("paths = [\"metro\"]\nsize", "paths = [\"mars\"]\nsize", "there is no path mars"),
        ("floor = \"95 %\"", "floor = \"195 %\"", "not a share"),
    ];
    for (right, wrong, says) in wrong {
        assert!(text.contains(right), "{right}");
        let error = Study::parse("both", &text.replacen(right, wrong, 1)).expect_err(wrong).to_string();
        assert!(error.contains(says), "{wrong}: {error}");
    }
}

#[test]
fn a_choice_keeps_what_it_names() {
    let study = Study::parse("one", RIGHT).expect("it is right");
    let choose = |texts: &[&str]| {
        let only: Result<Vec<Only>, String> = texts.iter().map(|text| text.parse()).collect();
        only.and_then(|only| Only::choose(&only, study.cells(false).to_vec())).map(|cells| cells.len())
    };
    assert_eq!(choose(&[]), Ok(44));
    assert_eq!(choose(&["way=jet,plain", "buffers=64 KiB", "control=reno"]), Ok(8));
    assert!(choose(&["way=jett"]).is_err_and(|error| error.contains("there are aria2, bbr, jet, plain")));
    assert!(choose(&["speed=1"]).is_err_and(|error| error.contains("path, program, way, buffers, control")));
    assert!(choose(&["way"]).is_err_and(|error| error.contains("KEY=VALUE")));
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("rate = \"155 Mbit/s\"", "rate = \"155 Mbps\"", "did you mean `Mbit/s`?"),
        ("\"0.1 %\"", "\"110 %\"", "not a share"),
        ("\"40 ms\"", "\"40\"", "grid.round-trips"),
        ("\"64 KiB\"", "\"64\"", "buffers"),
        ("\"64 KiB\"", "\"1 KiB\"", "4 KiB to 1 GiB"),
        ("[\"cubic\", \"reno\"]", "[]", "no congestion control"),
        ("[\"cubic\", \"reno\"]", "[\"cubic; reboot\"]", "cannot be a name"),
        ("tool = \"curl\"", "tool = \"curly\"", "unknown variant `curly`"),
        ("tool = \"curl\"", "tool = \"scp\"", "cut off by time"),
        ("time = \"20 s\"\nways", "size = \"1 MB\"\ntime = \"1 s\"\nways", "either a size"),
        ("time = \"20 s\"\nways", "size = \"1 KB\"\nways", "64 KB to 20 GB"),
        ("once = [\"aria2\"]", "once = [\"lftp\"]", "lftp stands in once"),
        ("\"bbr\", \"aria2\"]", "\"local\", \"aria2\"]", "local is for what works on files"),
        ("once = [\"aria2\"]", "row = \"MySQL\"", "has a speedup"),
        ("title = \"one\"", "title = \"one\"\npaths = [\"mars\"]", "cannot read mars"),
        ("title = \"one\"", "titel = \"one\"", "unknown field `titel`"),
        ("path=r40ms-l0-1", "path=r41ms", "no cell has path=r41ms"),
    ];
    for (right, wrong, says) in cases {
        assert!(RIGHT.contains(right), "{right}");
        let error = Study::parse("one", &RIGHT.replacen(right, wrong, 1)).expect_err(wrong).to_string();
        assert!(error.starts_with("one: ") && error.contains(says), "{wrong}: {error}");
    }
    let unknown = Study::read("jet-gird").expect_err("there is none").to_string();
    assert!(unknown.contains("did you mean `jet-grid`?"), "{unknown}");
}

/// Those that come with the program.
#[test]
fn the_studies_are_whole() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let paths = std::fs::read_dir(folder).expect("part of the tree").map(|entry| entry.expect("readable").path());
    let mut folders: Vec<_> = paths.filter(|path| path.join("testbed.toml").exists()).collect();
    folders.sort();
    let names = folders.iter().filter_map(|path| path.file_name()?.to_str());
    assert!(names.eq(Study::built_in_names()), "every folder is in the program: {folders:?}");
    let grid = Study::read("jet-grid").expect("it is right");
    // 24 paths: two buffers x (plain and jet under three controls, four ways under one), and one of BBR.
    assert_eq!(grid.cells(false).len(), 24 * (2 * (6 + 4) + 1));
    let strangers = Study::read("jet-strangers").expect("it is right");
    // Twenty programs over three paths in three ways; the short form over one path in two ways.
    assert_eq!((strangers.cells(false).len(), strangers.cells(true).len()), (180, 40));
    let programs = Study::read("jet-programs").expect("it is right");
    let mut rows: Vec<_> = programs.cells(false).iter().filter_map(|cell| cell.program.published.clone()).collect();
    let has =
        |name: &str, way: Way| programs.cells(false).iter().any(|cell| cell.program.name == name && cell.way == way);
    assert!(has("libreoffice", Way::Jet) && has("libreoffice", Way::Plain), "that row's own program is measured");
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows.dedup();
    let table =
        [("Firefox", 5.4), ("Google Earth", 7.6), ("MPlayer", 1.8), ("MySQL", 5.9), ("OpenOffice", 6.5), ("vi", 10.4)];
    assert_eq!(rows, table.map(|(row, speedup)| (row.to_owned(), speedup)));
    assert!(!grid.cells(true).is_empty() && !programs.cells(true).is_empty());
}
