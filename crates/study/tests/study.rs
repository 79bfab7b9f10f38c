//! Studies: what the program holds can be laid out, and verdicts are what closed forms say they must be.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use study::{Plan, Record, Study, StudyOutcome, Verdict, judge, names};

/// One flow whose window, 44 segments of 1460 bytes, is far below what the path holds: its rate is window over round
/// trip. The round trip is the propagation both ways and the transmission of a segment and its acknowledgement on two
/// links each.
const WINDOW: &str = r#"
[cluster]
workers = 1
[network]
rate = "1 Gbit/s"
delay = "10 ms"
framing = "none"
mss = "1460 B"
[tcp]
control = "newreno"
max-window = 44
delayed-ack = false
timestamps = false
count-options = false
[[traffic]]
name = "flow"
kind = "long"
[run]
until = "6 s"
warm-up = "2 s"
"#;

fn closed_form(delay_s: f64) -> f64 {
    let round_trip = 4.0 * delay_s + (1500.0 + 40.0) * 8e-9 * 2.0;
    44.0 * 1460.0 * 8.0 / round_trip / 1e6
}

fn study(rest: &str) -> Study {
    let text = format!("title = \"window\"\nsource = \"W / RTT\"\nseeds = 2\n{rest}");
    let texts = vec![("study.toml".to_owned(), text), ("scenario.toml".to_owned(), WINDOW.to_owned())];
    Study::read("window", texts).unwrap_or_else(|error| panic!("{error}"))
}

fn figure(rest: &str) -> String {
    format!(
        "[[figure]]\nid = \"rate\"\ntitle = \"rate\"\nmetric = \"traffic.flow.goodput_warm_bps\"\nscale = 1e-6\n{rest}"
    )
}

/// Runs a study's plan, each run as the command does.
fn run(study: &Study, quick: bool) -> StudyOutcome {
    let plan = Plan::new(study, quick, None).unwrap_or_else(|error| panic!("{error}"));
    let record = |planned: &study::PlannedRun| {
        let result = sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(())).expect("a run");
        let (text, record) = Record::of(planned, &result, "test").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Record::read(&text, planned, "test").as_ref(), Some(&record), "what is kept is what was made");
        assert_eq!(Record::read(&text, planned, "another build"), None);
        record
    };
    let records: Vec<_> = plan.runs.iter().map(record).collect();
    judge(study, &plan, &records)
}

fn verdicts(outcome: &StudyOutcome) -> Vec<Option<Verdict>> {
    outcome.figures.iter().flat_map(|figure| &figure.findings).map(|finding| finding.verdict).collect()
}

#[test]
fn every_study_of_the_program_can_be_laid_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<_> = fs::read_dir(root.join("studies"))
        .expect("the studies are part of the tree")
        .map(|entry| entry.expect("readable").path())
        // Folders with a testbed.toml run real programs: crates/testbed/tests/studies.rs.
        .filter(|path| path.is_dir() && !path.join("testbed.toml").exists())
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    folders.sort();
    let mut known = names();
    known.sort_unstable();
    assert_eq!(known, folders, "every folder is in the program");
    for name in names() {
        let study = Study::embedded(name).expect("its own name").unwrap_or_else(|error| panic!("{error}"));
        let full = Plan::new(&study, false, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        let quick = Plan::new(&study, true, None).unwrap_or_else(|error| panic!("{name}, quick: {error}"));
        assert!(quick.runs.len() < full.runs.len(), "{name}: quick {} of {}", quick.runs.len(), full.runs.len());
        assert!(!study.file.model.is_empty(), "{name} names its models");
        for model in &study.file.model {
            for path in [&model.code, &model.test] {
                assert!(root.join(path).exists(), "{name}: {} stands on {path}, which does not exist", model.name);
            }
        }
    }
}

#[test]
fn a_value_is_judged_by_its_tolerance() {
    let (right, wrong) = (closed_form(0.01), closed_form(0.01) * 1.2);
    let outcome = run(
        &study(&figure(&format!(
            "[[figure.series]]\nname = \"ours\"\n\
             [[figure.published]]\nseries = \"ours\"\nvalue = {right}\ntolerance = 0.01\n\
             [[figure.published]]\nseries = \"ours\"\nvalue = {wrong}\n\
             [[figure.published]]\nseries = \"ours\"\nvalue = 1\njudged = false\n"
        ))),
        false,
    );
    assert_eq!(verdicts(&outcome), [Some(Verdict::Reproduced), Some(Verdict::NotReproduced)]);
    assert_eq!(outcome.verdict, Some(Verdict::NotReproduced), "the least of them");
    assert_eq!(outcome.figures[0].published.len(), 3, "what is not judged is shown");
}

#[test]
fn curves_are_judged_by_their_claims() {
    // Twice the delay, half the rate.
    let sweep = "[figure.x]\nlabel = \"delay\"\nunit = \"ms\"\nset = [\"network.delay='{x} ms'\"]\nvalues = [5, 10, 20, 40]\nquick = [5, 10]\n\
                 [[figure.series]]\nname = \"44\"\n[[figure.series]]\nname = \"22\"\nset = [\"tcp.max-window=22\"]\n";
    let claims = "[[figure.claim]]\ntext = \"falls\"\nrule = \"falls\"\n\
                  [[figure.claim]]\ntext = \"rises\"\nrule = \"rises\"\n\
                  [[figure.claim]]\ntext = \"double\"\nrule = \"ratio\"\nseries = [\"44\"]\nthan = \"22\"\nleast = 1.98\nmost = 2.02\n\
                  [[figure.claim]]\ntext = \"thrice\"\nrule = \"above\"\nseries = [\"44\"]\nthan = \"22\"\nfactor = 3\n\
                  [[figure.claim]]\ntext = \"first below 30 %\"\nrule = \"knee\"\npart = 0.3\nleast = 20\nmost = 20\n\
                  [[figure.claim]]\ntext = \"greatest at 5\"\nrule = \"peak\"\nmost = 5\n\
                  [[figure.claim]]\ntext = \"far out\"\nrule = \"between\"\nleast = 1\nfrom = 40\n";
    let study = study(&figure(&format!("{sweep}{claims}")));
    let (yes, no) = (Some(Verdict::Reproduced), Some(Verdict::NotReproduced));
    assert_eq!(verdicts(&run(&study, false)), [yes, no, yes, no, yes, yes, yes]);
    // In the short form nobody has been at 20 or 40 ms: the knee is not found, and what lies there is not judged.
    assert_eq!(verdicts(&run(&study, true)), [yes, no, yes, no, Some(Verdict::CannotTell), yes, None]);
    let curve = &run(&study, false).figures[0].curves[0];
    for (x, mean) in curve.x.iter().zip(&curve.mean) {
        let expected = closed_form(x * 1e-3);
        assert!((mean.expect("a value") / expected - 1.0).abs() < 0.01, "{x} ms: {mean:?}, closed form {expected}");
    }
}

#[test]
fn a_constant_series_is_one_run_along_the_axis_and_a_figure_has_its_own_short_form() {
    let sweep = "quick-set = [\"network.delay='40 ms'\"]\n\
                 [figure.x]\nlabel = \"delay\"\nunit = \"ms\"\nset = [\"network.delay='{x} ms'\"]\nvalues = [5, 20, 40]\n\
                 [[figure.series]]\nname = \"swept\"\n[[figure.series]]\nname = \"scenario's\"\nconstant = true\n\
                 [[figure.claim]]\ntext = \"the swept is twice, half, a quarter\"\nrule = \"above\"\nseries = [\"swept\"]\nthan = \"scenario's\"\nto = 5\n\
                 [[figure.claim]]\ntext = \"not so at 20\"\nrule = \"above\"\nseries = [\"swept\"]\nthan = \"scenario's\"\nfrom = 20\n";
    let study = study(&figure(sweep));
    let plan = Plan::new(&study, false, None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.runs.len(), 2 * (3 + 1), "two seeds of each x, and of the scenario as it stands");
    let outcome = run(&study, false);
    assert_eq!(verdicts(&outcome), [Some(Verdict::Reproduced), Some(Verdict::NotReproduced)]);
    let constant = &outcome.figures[0].curves[1];
    assert_eq!((constant.x.len(), constant.set.len()), (3, 0), "a value at each x, by no keys");
    for mean in &constant.mean {
        let rate = mean.expect("a value");
        assert!((rate / closed_form(0.01) - 1.0).abs() < 0.01, "{rate}");
    }
    // The short form's keys come last: all of it is at 40 ms.
    let quick = run(&study, true);
    for mean in quick.figures[0].curves.iter().flat_map(|curve| &curve.mean) {
        assert!((mean.expect("a value") / closed_form(0.04) - 1.0).abs() < 0.01, "{mean:?}");
    }
}

#[test]
fn an_unknown_that_decides_is_named() {
    let unknown = "[[unknown]]\nname = \"way\"\ntext = \"the length of the way\"\n\
                   [[unknown.assumption]]\nname = \"short\"\nset = [\"network.delay='10 ms'\"]\n\
                   [[unknown.assumption]]\nname = \"long\"\nset = [\"network.delay='40 ms'\"]\n";
    let figure = figure(&format!(
        "unknown = \"way\"\n[[figure.series]]\nname = \"ours\"\n\
         [[figure.published]]\nseries = \"ours\"\nvalue = {}\n\
         [[figure.published]]\nseries = \"ours\"\nvalue = 9999\n",
        closed_form(0.01)
    ));
    let outcome = run(&study(&format!("{unknown}{figure}")), false);
    assert_eq!(verdicts(&outcome), [Some(Verdict::CannotTell), Some(Verdict::NotReproduced)]);
    let finding = &outcome.figures[0].findings[0];
    assert_eq!(finding.detail, "the length of the way decides: reproduced with short");
    let under: Vec<_> = finding.under.iter().map(|under| (under.assumption.as_str(), under.verdict)).collect();
    assert_eq!(under, [("short", Verdict::Reproduced), ("long", Verdict::NotReproduced)]);
}

#[test]
fn series_over_time_and_lists_are_reduced() {
    let text = "[[figure]]\nid = \"busy\"\ntitle = \"busy\"\nkind = \"time\"\nset = [\"run.sample='100 ms'\"]\n\
                metric = \"link.worker-1 -> switch.utilisation_series\"\n\
                [[figure.series]]\nname = \"ours\"\n\
                [[figure.claim]]\ntext = \"at the closed form\"\nrule = \"between\"\nleast = LEAST\nmost = MOST\nfrom = 2\n";
    // 44 segments of 1500 bytes in a round trip, of a gigabit.
    let share = closed_form(0.01) * 1500.0 / 1460.0 / 1000.0;
    let text = text.replace("LEAST", &(share * 0.5).to_string()).replace("MOST", &(share * 1.5).to_string());
    let mean = "[[figure]]\nid = \"mean\"\ntitle = \"mean\"\nreduce = \"mean\"\nset = [\"run.sample='100 ms'\"]\n\
                metric = \"link.worker-1 -> switch.utilisation_series\"\n\
                [[figure.series]]\nname = \"ours\"\n";
    let outcome = run(
        &study(&format!("{text}{mean}[[figure.published]]\nseries = \"ours\"\nvalue = {share}\ntolerance = 0.05\n")),
        false,
    );
    assert_eq!(verdicts(&outcome), [Some(Verdict::Reproduced); 2], "{:?}", outcome.figures);
    assert_eq!(outcome.figures[0].curves[0].x.len(), 60, "a point each 100 ms");
    assert_eq!(outcome.runs, 2, "both figures read from the same runs");
}

#[test]
fn what_is_wrong_with_a_study_is_said_where_it_stands() {
    let good = "title = \"t\"\nsource = \"s\"\n[[figure]]\nid = \"f\"\nmetric = \"network.drops\"\n[[figure.series]]\nname = \"a\"\n";
    let claim = "[[figure.claim]]\ntext = \"c\"\n";
    for (text, problem) in [
        (good.replace("metric", "metrics"), "did you mean `metric`?"),
        (good.replace("[[figure.series]]\nname = \"a\"\n", ""), "at least one [[figure.series]]"),
        (format!("{good}{claim}rule = \"between\"\n"), "this rule needs `least`, `most` or both"),
        (format!("{good}{claim}rule = \"rises\"\n"), "this rule needs an x axis"),
        (format!("{good}{claim}rule = \"above\"\n"), "the rules above, ratio and crosses compare with a series"),
        (
            format!("{good}{claim}rule = \"between\"\nleast = 1\nthan = \"a\"\n"),
            "`than` belongs to the rules above, ratio, crosses, rises, falls and greatest",
        ),
        (
            good.replace("id = \"f\"", "id = \"f\"\nkind = \"time\"\nover-seeds = \"deviation\""),
            "only a sweep has a number for each seed",
        ),
        (format!("{good}{claim}rule = \"above\"\nthan = \"aa\"\n"), "`aa` is not a series of this figure"),
        (
            format!("{good}[[figure.published]]\nseries = \"a\"\nx = 3\nvalue = 1\n"),
            "its `x` is one of the axis' values",
        ),
        (good.replace("id = \"f\"", "id = \"f\"\nunknown = \"u\""), "`u` is not an [[unknown]] of the study"),
        (good.replace("id = \"f\"", "id = \"f\"\nscenario = \"scenaro.toml\""), "did you mean `scenario.toml`?"),
        (
            format!("{good}[figure.x]\nset = [\"cluster.workers={{x-1}}\"]\nvalues = [1]\n"),
            "a brace holds what cannot be worked out",
        ),
        (format!("{good}[figure.x]\nvalues = [1, 2]\nquick = [3]\n"), "3 is not one of the `values`"),
    ] {
        let texts = vec![("study.toml".to_owned(), text.clone()), ("scenario.toml".to_owned(), String::new())];
        let error = Study::read("bad", texts).expect_err(&text).to_string();
        assert!(error.contains(problem) && error.contains("bad/study.toml:"), "{text}\n{error}");
    }
    let set = good.replace("name = \"a\"", "name = \"a\"\nset = [\"network.rat='1 Mbit/s'\"]");
    let texts = vec![("study.toml".to_owned(), set), ("scenario.toml".to_owned(), WINDOW.to_owned())];
    let study = Study::read("bad", texts).expect("it reads");
    let error = Plan::new(&study, false, None).expect_err("a wrong key").to_string();
    assert!(error.contains("did you mean `rate`?"), "{error}");
}

/// A link that is silent from 2.1 s to 4 s. Timeouts of 0.2, 0.4, 0.8 and 1.6 s (RFC 6298) follow each other, so the
/// flow goes on at 5.1 s: of twelve steps of half a second five are empty, and the window has fallen.
#[test]
fn a_series_of_a_traffic_shows_when_nothing_arrived() {
    let silent = "set = [\"faults=[{ at = '2100 ms', link = 'worker-1', silent = true, down-for = '1900 ms' }]\", \"run.sample='500 ms'\", \"tcp.rto-estimator='rfc6298'\"]\n";
    let figure = |id: &str, metric: &str, reduce: &str, bounds: &str| {
        format!(
            "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\nmetric = \"series.flow.{metric}\"\nreduce = \"{reduce}\"\n{silent}\
             [[figure.series]]\nname = \"ours\"\n[[figure.claim]]\ntext = \"c\"\nrule = \"between\"\n{bounds}\n"
        )
    };
    let text = [
        figure("zeros", "goodput", "zeros", "least = 5\nmost = 5"),
        figure("least", "goodput", "least", "most = 0"),
        figure("falls", "window", "falls", "least = 1"),
        figure("rise", "goodput", "zeros", "most = 4"),
    ]
    .concat();
    let (yes, no) = (Some(Verdict::Reproduced), Some(Verdict::NotReproduced));
    assert_eq!(verdicts(&run(&study(&text), false)), [yes, yes, yes, no]);
    for (metric, expected) in [
        ("series.flw.goodput", "no traffic is called `flw`"),
        ("series.worker-9.cpu", "no node is called `worker-9`"),
        ("series.worker-1.pushed", "no master node is called `worker-1`"),
    ] {
        let text = figure("wrong", "goodput", "least", "most = 0").replace("series.flow.goodput", metric);
        let plan = Plan::new(&study(&text), false, None).unwrap_or_else(|error| panic!("{error}"));
        let result = sim::run(&plan.runs[0].scenario, &mut |_| ControlFlow::Continue(())).expect("a run");
        let error = Record::of(&plan.runs[0], &result, "test").expect_err(metric).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// What no run can have is said before any runs.
#[test]
fn an_unknown_metric_is_an_error_of_the_file() {
    for (metric, expected) in [
        ("series.flow.speed", "no figure is called `speed`: pushed, zero_windows, goodput, window, cpu"),
        ("series.flow", "a series is written series.TRAFFIC.goodput"),
        ("link.worker-1 -> switch.speed", "no figure is called `speed`: rate_bps, delay_s, utilisation, packets"),
        ("client.flow.speed", "no figure is called `speed`: connections, bytes, drops"),
        ("traffic.flow.goodput_bpss", "did you mean `goodput_bps`?"),
    ] {
        let figure = figure("[[figure.series]]\nname = \"ours\"\n");
        let text = format!("title = \"t\"\nsource = \"s\"\n{figure}").replace("traffic.flow.goodput_warm_bps", metric);
        let texts = vec![("study.toml".to_owned(), text), ("scenario.toml".to_owned(), WINDOW.to_owned())];
        let error = Study::read("window", texts).expect_err(metric).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_study_can_be_cut_down_to_some_of_its_figures() {
    let one = |id: &str| {
        figure("[[figure.series]]\nname = \"ours\"\n").replace("\"rate\"\ntitle", &format!("\"{id}\"\ntitle"))
    };
    let mut study = study(&[one("a"), one("b"), one("third")].concat());
    assert!(study.keep_figures(&["c".to_owned()]).expect_err("none").contains("it has: a, b, third"));
    assert!(study.keep_figures(&["thrid".to_owned()]).expect_err("none").contains("did you mean `third`?"));
    study.keep_figures(&["third".to_owned(), "a".to_owned()]).expect("both are there");
    let left: Vec<_> = study.file.figure.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(left, ["a", "third"]);
}
