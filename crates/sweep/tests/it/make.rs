//! Sweeps as they are made: kept, shared out, joined, refused.

use crate::support::{STOP, Scratch, names};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use results::RunResult;
use runs::{Effort, Error, Stop};
use scenario::Scenario;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use sweep::{Asked, Made, Plan, Record, make};

const SWEEP: &str = "seeds = 2\n\
    metrics = [\"traffic.0.goodput_bps\", \"network.drops\", \"series.all-to-all-1.goodput\"]\n\
    [sweep]\nnetwork.rate = [\"10 Mbit/s\", \"100 Mbit/s\"]\nnetwork.queue.limit = [\"8 packets\", \"64 packets\"]\n\
    tcp.sack = [true, false]\n";

fn effort(stop: &Stop) -> Effort<'_> {
    Effort { threads: Some(1), stop, progress: &|_, _| {} }
}

fn made(plan: &Plan, asked: &Asked, target: &Path) -> Result<Made, Error> {
    make(plan, asked, target, &effort(&STOP))
}

fn only(share: &str) -> Asked {
    Asked { only: Some(share.parse().expect("a share")), ..Asked::default() }
}

/// A run by itself.
fn alone(scenario: &Scenario) -> RunResult {
    sim::run(scenario, &mut |_| ControlFlow::Continue(())).expect("it runs")
}

/// The rows of a table: names and values.
fn rows(file: &Path) -> Vec<Vec<(String, Field)>> {
    let reader = SerializedFileReader::new(fs::File::open(file).expect("a table")).expect("Parquet");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").get_column_iter().map(|(name, value)| (name.clone(), value.clone())).collect())
        .collect()
}

fn cell<'a>(row: &'a [(String, Field)], name: &str) -> &'a Field {
    &row.iter().find(|(column, _)| column == name).unwrap_or_else(|| panic!("{name}: {row:?}")).1
}

/// Each row has the keys with units, the seed, and what the run of that scenario and seed says by itself.
#[test]
fn the_table_has_what_each_run_says_by_itself() {
    let scratch = Scratch::new("table");
    let plan = scratch.plan(SWEEP).expect("a plan");
    let outcome = made(&plan, &Asked::default(), &scratch.path("out")).expect("made");
    assert_eq!((outcome.there, outcome.made), (16, 16));
    let table = rows(&scratch.path("out/sweep.parquet"));
    assert_eq!(table.len(), 16);
    for position in [0, 7, 15] {
        let (row, run) = (&table[position], &plan.runs[position]);
        let result = alone(&plan.scenario_of(run, &STOP).expect("read"));
        assert_eq!(*cell(row, "seed"), Field::Long(run.seed as i64));
        assert_eq!(*cell(row, "set.network.rate_bps"), Field::Double(if position < 8 { 1e7 } else { 1e8 }));
        let limit = if position % 8 < 4 { 8.0 } else { 64.0 };
        assert_eq!(*cell(row, "set.network.queue.limit_packets"), Field::Double(limit));
        assert_eq!(*cell(row, "set.tcp.sack"), Field::Str((position % 4 < 2).to_string()));
        let network = result.network.expect("packets");
        assert_eq!(*cell(row, "network.drops"), Field::Double(network.drops as f64));
        let traffic = &result.traffic[0];
        assert_eq!(*cell(row, "traffic.0.goodput_bps"), Field::Double(traffic.goodput.as_bps() as f64));
        assert_eq!(*cell(row, "traffic.0.kind"), Field::Str("all-to-all".to_owned()));
    }
    // The surface has the means of these.
    let surface = outcome.surface.expect("all runs are there");
    let drops = |position: usize| match cell(&table[position], "network.drops") {
        Field::Double(drops) => *drops,
        other => panic!("{other}"),
    };
    let point = &surface.points[3];
    assert_eq!(point.at, [0, 1, 1]);
    assert_eq!(point.figures[1].mean, Some(f64::midpoint(drops(6), drops(7))));
    assert_eq!(surface.metrics[0].unit, "bit/s");
    assert!(fs::read_to_string(scratch.path("out/report.html")).expect("a page").contains("trunkline-sweep/1"));
}

/// Every figure of the table is one that a study can name, and has the value that it has there.
#[test]
fn figures_have_the_names_and_values_of_studies() {
    let text = "[cluster]\nworkers = 4\n[node]\nidle-power = \"100 W\"\n[hdfs]\nblock = \"8 MiB\"\nreplication = 2\n\
        [mapreduce]\nreducers = 2\n[[job]]\nworkload = \"terasort\"\ninput = \"32 MB\"\n\
        [[job]]\nworkload = \"wordcount\"\ninput = \"16 MB\"\nsubmit = \"1 s\"\n\
        [[traffic]]\nkind = \"all-to-all\"\nbytes = \"200 KB\"\n";
    let result = alone(&sim::parse("s.toml", text, &[]).expect("a scenario"));
    let flat = results::flat(&result);
    assert!(flat.len() > 100, "{}", flat.len());
    let numbers = flat.iter().filter(|figure| !matches!(figure.value, results::Value::Text(_)));
    let paths = numbers.clone().map(|figure| figure.path.clone()).collect();
    let measured = study::measure(&result, &paths).expect("all of them");
    for figure in numbers {
        assert_eq!(study::check_metric(&figure.path), Ok(()), "{}", figure.path);
        let here = figure.value.number().map_or(study::Measured::Missing(()), study::Measured::Number);
        assert_eq!(measured[&figure.path], here, "{}", figure.path);
        assert_eq!(results::unit_of(&figure.path), Some(figure.unit), "{}", figure.path);
    }
    for path in
        ["job.finish_s", "jobs.1.finish_s", "job.phases.reduce.finish_s", "traffic.0.goodput_bps", "energy.total_j"]
    {
        assert!(flat.iter().any(|figure| figure.path == path), "{path}");
    }
}

#[test]
fn shares_make_the_same_as_one_call() {
    let scratch = Scratch::new("shares");
    let plan = scratch.plan(SWEEP).expect("a plan");
    made(&plan, &Asked::default(), &scratch.path("whole")).expect("made");
    let first = made(&plan, &only("1/3"), &scratch.path("a")).expect("made");
    assert_eq!((first.there, first.made, first.surface.is_none()), (6, 6, true));
    assert!(!scratch.path("a/sweep.parquet").exists());
    let again = made(&plan, &only("1/3"), &scratch.path("a")).expect("made");
    assert_eq!((again.there, again.made), (6, 0), "a share is idempotent");
    made(&plan, &only("2/3"), &scratch.path("b")).expect("made");
    let from = vec![scratch.path("a"), scratch.path("b")];
    let joined = made(&plan, &Asked { from, ..Asked::default() }, &scratch.path("joined")).expect("made");
    assert_eq!((joined.there, joined.made), (16, 5), "only the third share was missing");
    for file in ["sweep.json", "sweep.parquet", "report.html"] {
        let read = |folder: &str| fs::read(scratch.path(folder).join(file)).expect(file);
        assert!(read("joined") == read("whole"), "{file}");
    }
    let error = made(&plan, &Asked { from: vec![scratch.0.clone()], ..Asked::default() }, &scratch.path("c"));
    assert!(matches!(error, Err(Error::Input(_))), "{error:?}");
}

#[test]
fn a_journal_of_another_build_is_left_as_it_is() {
    let scratch = Scratch::new("build");
    let plan = scratch.plan(SWEEP).expect("a plan");
    made(&plan, &only("1/8"), &scratch.path("out")).expect("made");
    let mark = fs::read_to_string(scratch.path("out/sweep.json")).expect("a mark");
    let other = mark.replace(&plan.build, &"a".repeat(64));
    assert_ne!(mark, other);
    fs::write(scratch.path("out/sweep.json"), &other).expect("written");
    let before = names(&scratch.path("out/runs"));
    let error = made(&plan, &Asked::default(), &scratch.path("out")).expect_err("another build");
    let said = error.to_string();
    assert!(said.contains("holds 2 runs of another build") && said.contains("name another --out"), "{said}");
    assert_eq!(error.exit_code(), 2);
    assert_eq!(names(&scratch.path("out/runs")), before);
    assert_eq!(fs::read_to_string(scratch.path("out/sweep.json")).expect("still there"), other);
}

#[test]
fn what_is_not_a_sweep_s_folder_is_left_as_it_is() {
    let scratch = Scratch::new("foreign");
    let plan = scratch.plan(SWEEP).expect("a plan");
    let error = made(&plan, &Asked::default(), &scratch.0).expect_err("it has other files");
    assert!(error.to_string().contains("is not a sweep's folder"), "{error}");
    assert_eq!(names(&scratch.0), ["small.toml"]);
}

#[test]
fn an_interruption_keeps_what_is_done_and_says_how_to_go_on() {
    let scratch = Scratch::new("stop");
    let plan = scratch.plan(SWEEP).expect("a plan");
    let stop = Stop::new();
    let target = scratch.path("out");
    // The wish comes with the first record.
    let progress = |_: usize, _: &sim::Progress| {
        if fs::read_dir(target.join("runs")).is_ok_and(|mut runs| runs.next().is_some()) {
            stop.request();
        }
    };
    let error = make(&plan, &Asked::default(), &target, &Effort { threads: Some(1), stop: &stop, progress: &progress });
    let error = error.expect_err("interrupted");
    let kept = names(&target.join("runs")).len();
    assert!((1..16).contains(&kept), "{kept}");
    let said = error.to_string();
    assert!(said.contains(&format!("{kept} of 16 runs are kept in")) && said.contains("goes on from there"), "{said}");
    let outcome = made(&plan, &Asked::default(), &target).expect("made");
    assert_eq!((outcome.there, outcome.made), (16, 16 - kept));
}

#[test]
fn a_changed_scenario_is_not_mixed_with_what_was_planned() {
    let scratch = Scratch::new("changed");
    let plan = scratch.plan(SWEEP).expect("a plan");
    fs::write(scratch.path("small.toml"), crate::support::SMALL.replace("200 KB", "100 KB")).expect("written");
    let error = made(&plan, &Asked::default(), &scratch.path("out")).expect_err("it has changed");
    assert!(error.to_string().contains("has changed since this sweep began"), "{error}");
}

#[test]
fn a_cut_record_is_made_again() {
    let scratch = Scratch::new("cut");
    let plan = scratch.plan(SWEEP).expect("a plan");
    made(&plan, &Asked::default(), &scratch.path("out")).expect("made");
    let record = scratch.path("out/runs").join(format!("{}.json", plan.runs[4].name));
    let whole = fs::read_to_string(&record).expect("a record");
    assert!(serde_json::from_str::<Record>(&whole).is_ok());
    fs::write(&record, &whole[..whole.len() / 2]).expect("written");
    let outcome = made(&plan, &Asked::default(), &scratch.path("out")).expect("made");
    assert_eq!((outcome.there, outcome.made), (16, 1));
    assert_eq!(fs::read_to_string(&record).expect("a record"), whole, "the same again");
}
