//! Advice from real runs.

use advise::{Advice, Asked, Limits, Objective, Remedies, Verdict, advise};
use runs::{Effort, Error, Stop};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Sixteen servers answer one client at the same time over a switch with little memory, as in Vasudevan 2009.
const INCAST: &str = "[cluster]\nworkers = 17\n[network]\nrate = \"1 Gbit/s\"\n\
    queue = { kind = \"drop-tail\", limit = \"32 KB\" }\n[[traffic]]\nkind = \"barrier\"\nname = \"reads\"\n\
    from = \"worker-2..worker-17\"\nto = \"worker-1\"\nbytes = \"64 KB\"\nrounds = 20\n";

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("trunkline-advise-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn asked() -> Asked {
    Asked { objective: Objective::Time, seeds: 3, budget: None, limits: Limits::default() }
}

fn run(text: &str, only: &[&str], asked: &Asked, target: &std::path::Path, stop: &Stop) -> Result<Advice, Error> {
    let scenario = sim::parse("incast.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut remedies = Remedies::embedded().expect("valid");
    let only: Vec<String> = only.iter().map(|id| (*id).to_owned()).collect();
    if !only.is_empty() {
        remedies.keep(&only).expect("known");
    }
    let effort = Effort { threads: Some(2), stop, progress: &|_, _| {} };
    advise(&scenario, remedies, asked, target, &effort, &mut |_, _, _| {})
}

/// Vasudevan 2009: with 200 ms of minimum timeout goodput collapses; milliseconds restore it. Receivers that
/// acknowledge at once have nothing to do with it.
#[test]
fn the_remedy_against_incast_is_found_and_a_second_call_makes_no_run() {
    let (target, stop) = (scratch("incast"), Stop::new());
    let only = ["min-rto", "cubic", "locality-delay", "more-workers"];
    let first = run(INCAST, &only, &asked(), &target, &stop).expect("advice");
    let min_rto = first.remedies.iter().find(|remedy| remedy.id == "min-rto").expect("known");
    assert_eq!(min_rto.verdict, Verdict::Helps);
    assert!(min_rto.part.is_some_and(|part| part > 0.5), "{:?}", min_rto.part);
    assert!(min_rto.apply[1].contains("tcp_rto_min_us=1000"), "the best setting is the shortest: {:?}", min_rto.apply);
    assert_eq!(first.best.as_ref().map(|best| best.ids.clone()), Some(vec!["min-rto".to_owned()]));
    let others = first.remedies.iter().filter(|remedy| remedy.id != "min-rto");
    for other in others {
        assert_eq!(other.verdict, Verdict::Unfit, "{}: it is so already, or there is no job", other.id);
    }
    let page = fs::read_to_string(target.join("report.html")).expect("a page");
    assert!(page.contains("min-rto") && page.contains("incast: as it is, and what would help"));
    // Records are kept: a second call reads them, and says the same.
    let records = fs::read_dir(target.join("runs")).expect("records").count();
    assert_eq!(records, first.runs);
    let second = run(INCAST, &only, &asked(), &target, &stop).expect("advice");
    assert_eq!(first.to_json(), second.to_json());
    fs::remove_dir_all(target).expect("cleaned up");
}

/// Where senders probe for the end of what they sent (RACK-TLP) there are losses and no timeouts, and yet each waits for a
/// receiver that holds an acknowledgement back for 40 ms: to acknowledge at once is tried for losses, and helps most.
#[test]
fn acknowledging_at_once_helps_where_probes_spare_the_timeouts() {
    let (target, stop) = (scratch("at-once"), Stop::new());
    let text = include_str!("../../study/incast.toml");
    let advice = run(text, &["no-delayed-ack", "cubic"], &asked(), &target, &stop).expect("advice");
    assert_eq!(advice.best.as_ref().map(|best| best.ids.clone()), Some(vec!["no-delayed-ack".to_owned()]));
    let of = |id: &str| advice.remedies.iter().find(|remedy| remedy.id == id).and_then(|remedy| remedy.part);
    assert!(of("no-delayed-ack").is_some_and(|part| part > 0.8) && of("cubic").is_some_and(|part| part < 0.5));
    fs::remove_dir_all(target).expect("cleaned up");
}

#[test]
fn an_objective_that_the_scenario_cannot_give_is_refused() {
    let (target, stop) = (scratch("energy"), Stop::new());
    let asked = Asked { objective: Objective::Energy, seeds: 2, ..asked() };
    let text = "[cluster]\nworkers = 2\n[hdfs]\nreplication = 1\n[[job]]\ninput = \"1 MB\"\n";
    let error = run(text, &["cubic"], &asked, &target, &stop).expect_err("no power figures").to_string();
    assert!(error.contains("node.idle-power"), "{error}");
    let endless =
        "[cluster]\nworkers = 2\n[[traffic]]\nfrom = \"worker-1\"\nto = \"worker-2\"\n[run]\nuntil = \"1 s\"\n";
    let asked = Asked { objective: Objective::Time, ..asked };
    let error = run(endless, &["cubic"], &asked, &target, &stop).expect_err("nothing ends").to_string();
    assert!(error.contains("nothing in the scenario ends"), "{error}");
    fs::remove_dir_all(target).expect("cleaned up");
}

#[test]
fn an_interrupted_search_goes_on_and_a_budget_says_what_it_left_out() {
    let (target, stop) = (scratch("budget"), Stop::new());
    let cut = Asked { budget: Some(Duration::ZERO), ..asked() };
    let advice = run(INCAST, &["min-rto", "buffer"], &cut, &target, &stop).expect("advice");
    assert!(!advice.complete);
    assert!(advice.remedies.iter().all(|remedy| remedy.verdict == Verdict::Untried));
    stop.request();
    let error = run(INCAST, &["min-rto", "buffer"], &asked(), &target, &stop).expect_err("interrupted");
    assert!(matches!(&error, Error::Kept(note) if note.contains("goes on from there")), "{error:?}");
    let advice = run(INCAST, &["min-rto", "buffer"], &asked(), &target, &Stop::new()).expect("advice");
    assert!(advice.complete);
    let other = scratch("foreign");
    fs::create_dir_all(&other).expect("made");
    fs::write(other.join("thesis.tex"), "years").expect("written");
    let error = run(INCAST, &["cubic"], &asked(), &other, &Stop::new()).expect_err("not ours");
    assert!(error.to_string().contains("is not an advice's folder"), "{error}");
    for path in [target, other] {
        fs::remove_dir_all(path).expect("cleaned up");
    }
}

#[test]
fn a_run_that_outlasts_the_budget_is_given_up_and_finished_ones_are_kept() {
    let text = "[[remedy]]\nid = \"long\"\nname = \"Long\"\ncosts = \"time\"\nsource = \"a test\"\n\
        set = [\"traffic.0.rounds=1000000\"]\n";
    let remedies = || Remedies::read("mine.toml", text).expect("valid");
    let target = scratch("outlasts");
    let tell: &mut dyn FnMut(&str, usize, usize) = &mut |_, _, _| {};
    let stop = Stop::new();
    let effort = Effort { threads: Some(2), stop: &stop, progress: &|_, _| {} };
    let scenario = sim::parse("incast.toml", INCAST, &[]).expect("valid");
    // Twenty rounds take milliseconds, a million of them minutes.
    let asked = Asked { budget: Some(Duration::from_secs(1)), seeds: 2, ..asked() };
    let advice = advise(&scenario, remedies(), &asked, &target, &effort, tell).expect("advice");
    assert!(!advice.complete && advice.remedies.iter().all(|remedy| remedy.verdict == Verdict::Untried));
    // What it is compared with is there, and is not made again.
    let again = Asked { budget: Some(Duration::ZERO), ..asked };
    let advice_again = advise(&scenario, remedies(), &again, &target, &effort, tell).expect("advice");
    assert!(advice.runs >= advice_again.runs && advice_again.runs > 2, "{} {}", advice.runs, advice_again.runs);
}
