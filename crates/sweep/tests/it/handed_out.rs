//! Runs that are made elsewhere, from orders alone.

use crate::support::{STOP, Scratch};
use runs::{Effort, Error};
use std::fs;
use std::sync::Arc;
use sweep::{Asked, HandedOut, Order, make};

const SWEEP: &str = "seeds = 2\nmetrics = [\"traffic.0.goodput_bps\"]\n\
    [sweep]\nnetwork.rate = [\"10 Mbit/s\", \"100 Mbit/s\"]\n";

const EFFORT: Effort<'_> = Effort { threads: Some(1), stop: &STOP, progress: &|_, _| {} };

/// An order goes as text to another process, which knows nothing else.
fn sent(order: &Order) -> Order {
    serde_json::from_str(&serde_json::to_string(order).expect("JSON")).expect("an order")
}

#[test]
fn runs_that_are_handed_out_make_the_folder_that_runs_here_do() {
    let scratch = Scratch::new("handed");
    let plan = Arc::new(scratch.plan(SWEEP).expect("a plan"));
    make(&plan, &Asked::default(), &scratch.path("here"), &EFFORT).expect("made");
    let handed = HandedOut::open(plan.clone(), &scratch.path("there")).expect("a folder");
    // Both points on the first seed come before any on the second.
    assert_eq!(handed.missing(&STOP).expect("read"), [0, 2, 1, 3]);
    for position in [3, 0, 2] {
        let order = sent(&handed.order(position, &STOP).expect("an order"));
        handed.keep(position, &order.make(&EFFORT).expect("a record")).expect("kept");
    }
    assert_eq!(handed.missing(&STOP).expect("read"), [1]);
    // The last is made here, from the same folder.
    let made = make(&plan, &Asked::default(), &scratch.path("there"), &EFFORT).expect("made");
    assert_eq!((made.there, made.made), (4, 1));
    for file in ["sweep.parquet", "sweep.json", "report.html"] {
        let read = |folder: &str| fs::read(scratch.path(folder).join(file)).expect(file);
        assert!(read("here") == read("there"), "{file}");
    }
    for run in &plan.runs {
        let read = |folder: &str| fs::read(scratch.path(folder).join(format!("runs/{}.json", run.name))).expect("kept");
        assert!(read("here") == read("there"), "{}", run.name);
    }
}

#[test]
fn an_order_of_another_build_or_scenario_is_refused() {
    let scratch = Scratch::new("refused");
    let plan = Arc::new(scratch.plan(SWEEP).expect("a plan"));
    let handed = HandedOut::open(plan.clone(), &scratch.path("out")).expect("a folder");
    let order = handed.order(0, &STOP).expect("an order");
    let other = Order { build: "b".repeat(64), ..order.clone() };
    let error = other.make(&EFFORT).expect_err("another build");
    let (theirs, ours) = ("b".repeat(12), &plan.build[..12]);
    assert!(error.to_string().contains(&theirs) && error.to_string().contains(ours), "{error}");
    assert_eq!(error.exit_code(), 2);
    let changed = Order { scenario: order.scenario.replace("10 Mbit/s", "11 Mbit/s"), ..order.clone() };
    assert!(matches!(changed.make(&EFFORT), Err(Error::Internal(_))));
    // What comes back is the record of the run that was asked for, or is not kept.
    let record = order.make(&EFFORT).expect("a record");
    assert!(matches!(handed.keep(1, &record), Err(Error::Internal(_))));
    assert!(matches!(handed.keep(0, "{}"), Err(Error::Internal(_))));
    assert_eq!(handed.missing(&STOP).expect("read").len(), 4);
}

#[test]
fn a_run_that_gives_no_result_is_marked_and_not_made_again() {
    let scratch = Scratch::new("lost");
    let plan = Arc::new(scratch.plan(SWEEP).expect("a plan"));
    let handed = HandedOut::open(plan.clone(), &scratch.path("out")).expect("a folder");
    handed.lose(2, "its worker died").expect("kept");
    assert_eq!(handed.missing(&STOP).expect("read"), [0, 1, 3]);
    let made = make(&plan, &Asked::default(), &scratch.path("out"), &EFFORT).expect("made");
    let surface = made.surface.expect("all runs are there");
    assert_eq!((made.made, surface.failures), (3, 1));
    assert_eq!(surface.points[1].failure.as_deref(), Some("its worker died"));
    // Its figure is missing, and the other seed's is not.
    assert_eq!(surface.points[1].figures[0].values[0], None);
    assert!(surface.points[1].figures[0].values[1].is_some());
    // Who asks for all anew gets it.
    let fresh = Asked { fresh: true, ..Asked::default() };
    let made = make(&plan, &fresh, &scratch.path("out"), &EFFORT).expect("made");
    assert_eq!((made.made, made.surface.expect("all").failures), (4, 0));
}
