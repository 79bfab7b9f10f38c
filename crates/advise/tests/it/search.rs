//! The search on runs whose times are made up: what it should find is known.

use advise::{Advice, Level, Limits, Objective, Outcome, Remedies, ScreenedBy, Search, Verdict};
use scenario::Scenario;
use std::collections::BTreeMap;

pub(crate) const JOB: &str = "[cluster]\nworkers = 4\n[network]\nloss = 0.001\n[[job]]\n";

pub(crate) fn remedy(id: &str, set: &str, more: &str) -> String {
    format!("[[remedy]]\nid = \"{id}\"\nname = \"{id}\"\ncosts = \"c\"\nsource = \"s\"\nset = [\"{set}\"]\n{more}\n")
}

/// Runs a search to its end on made-up times, or up to so many runs.
pub(crate) fn search(remedies: &str, most: usize, time: impl Fn(&Scenario) -> Option<f64>) -> Advice {
    search_with(remedies, Limits::default(), most, time)
}

fn search_with(remedies: &str, limits: Limits, most: usize, time: impl Fn(&Scenario) -> Option<f64>) -> Advice {
    search_for(remedies, Objective::Time, limits, most, |scenario| {
        let time_s = time(scenario);
        Outcome { time_s, jobs: vec![("job".to_owned(), time_s)], ..Outcome::default() }
    })
}

fn search_for(
    remedies: &str,
    objective: Objective,
    limits: Limits,
    most: usize,
    outcome: impl Fn(&Scenario) -> Outcome,
) -> Advice {
    let base = Scenario::parse("s.toml", JOB, &[]).expect("valid");
    let remedies = Remedies::read("r.toml", remedies).unwrap_or_else(|error| panic!("{error}"));
    let mut search = Search::new(base, remedies, objective, 5, limits);
    let mut runs = 0;
    loop {
        let asks = search.asks();
        if asks.is_empty() || runs >= most {
            return search.advice(runs);
        }
        for ask in asks.into_iter().take(most - runs) {
            let scenario = search.scenario(ask).expect("it fits");
            search.take(ask, outcome(&scenario));
            runs += 1;
        }
    }
}

/// Three of four workers take 1.2 times as long for 0.9 of the price; a setting takes a tenth of both. Without prices in the
/// runs, as where they are asked for their time, fewer workers are not tried.
#[test]
fn the_cheapest_cluster_is_not_the_fastest() {
    let remedies = [
        remedy("fewer", "cluster.workers=3", "objectives = [\"cost\", \"energy\"]"),
        remedy("a", "mapreduce.sort-factor=64", ""),
    ];
    let outcome = |scenario: &Scenario| {
        let slower = if scenario.cluster.workers == 3 { 1.2 } else { 1.0 };
        let time = slower * if scenario.mapreduce.sort_factor == 64 { 90.0 } else { 100.0 };
        let cost = time * f64::from(scenario.cluster.workers) * 0.36 / 3600.0;
        Outcome {
            time_s: Some(time),
            cost: Some(cost),
            jobs: vec![("job".to_owned(), Some(time))],
            ..Outcome::default()
        }
    };
    let of = |objective| search_for(&remedies.concat(), objective, Limits::default(), 10_000, outcome);
    let (cost, time) = (of(Objective::Cost), of(Objective::Time));
    let best = cost.best.as_ref().expect("both save");
    let mut ids = best.ids.clone();
    ids.sort();
    assert_eq!(ids, ["a", "fewer"]);
    assert!(
        (best.part.expect("known") - (1.0 - 0.9 * 0.9)).abs() < 1e-9
            && (best.time_s.expect("known") - 108.0).abs() < 1e-9
    );
    assert!((cost.base_cost.expect("known") - 0.04).abs() < 1e-12 && cost.unit == "USD");
    assert_eq!((verdicts(&time)["fewer"], time.best.expect("one saves").ids), (Verdict::Unfit, vec!["a".to_owned()]));
}

/// A number from -0.5 to 0.5 that depends on the seed and a salt (SplitMix64).
pub(crate) fn noise(seed: u64, salt: u64) -> f64 {
    let mut z = (seed ^ salt.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn verdicts(advice: &Advice) -> BTreeMap<&str, Verdict> {
    advice.remedies.iter().map(|remedy| (remedy.id.as_str(), remedy.verdict)).collect()
}

/// Of 100 s with 10 s of noise that all remedies share: `a` saves 20, `b` 10, together 30; `c` saves 15, but nothing
/// beside `a`; `d` draws other numbers and saves nothing; `e` costs 10; `f` saves 40 and is hardware.
#[test]
fn remedies_that_go_together_are_found_and_noise_is_not() {
    let remedies = [
        remedy("a", "mapreduce.sort-factor=64", ""),
        remedy("b", "mapreduce.parallel-copies=20", ""),
        remedy("c", "mapreduce.slowstart=0.8", ""),
        remedy("d", "mapreduce.am-heartbeat=500 ms", ""),
        remedy("e", "hdfs.packet=4 KiB", ""),
        remedy("f", "cluster.workers=8", "yardstick = true"),
        remedy("g", "mapreduce.speculative=false", "when = [\"scenario.mapreduce.speculative == false\"]"),
        remedy("h", "mapreduce.speculative=true", ""),
    ];
    let advice = search(&remedies.concat(), 10_000, |scenario| {
        let mapreduce = &scenario.mapreduce;
        let a = mapreduce.sort_factor == 64;
        let mut time = 100.0 + 10.0 * noise(scenario.run.seed, 1);
        time -= if a { 20.0 } else { 0.0 };
        time -= if mapreduce.parallel_copies == 20 { 10.0 } else { 0.0 };
        time -= if mapreduce.slowstart > 0.7 && !a { 15.0 } else { 0.0 };
        time += if mapreduce.am_heartbeat.as_us() == 500_000 { 3.0 * noise(scenario.run.seed, 2) } else { 0.0 };
        time += if scenario.hdfs.packet.get() == 4_096 { 10.0 } else { 0.0 };
        time -= if scenario.cluster.workers == 8 { 40.0 } else { 0.0 };
        Some(time)
    });
    let of = verdicts(&advice);
    for id in ["a", "b", "c", "f"] {
        assert_eq!(of[id], Verdict::Helps, "{id}");
    }
    assert!([Verdict::NotShown, Verdict::NoGain].contains(&of["d"]), "{:?}", of["d"]);
    assert_eq!((of["e"], of["g"], of["h"]), (Verdict::NoGain, Verdict::Unfit, Verdict::Unfit));
    assert!(advice.complete);
    let best = advice.best.expect("something helps");
    assert_eq!(best.ids, ["a", "b"]);
    let saving = best.saving.expect("both ended");
    // The noise is common to both, and drops out.
    assert!((saving.mean - 30.0).abs() < 1e-9 && saving.half_width == Some(0.0), "{saving:?}");
    assert_eq!(best.tried.len(), 6, "without losses, with a crash, at four rates: {:?}", best.tried);
    assert!(best.hurts.is_empty());
    assert_eq!(advice.remedies[0].id, "f", "those that help stand first, by what they save");
}

#[test]
fn nothing_to_gain_is_said_so() {
    let remedies = remedy("a", "mapreduce.sort-factor=64", "");
    let advice = search(&remedies, 10_000, |scenario| Some(100.0 + noise(scenario.run.seed, 1)));
    assert_eq!((advice.best, advice.complete), (None, true));
    // Half a second of a hundred is sure and not worth a change.
    let advice =
        search(&remedies, 10_000, |scenario| Some(if scenario.mapreduce.sort_factor == 64 { 99.3 } else { 100.0 }));
    assert_eq!((verdicts(&advice)["a"], advice.best), (Verdict::NotShown, None));
}

#[test]
fn a_set_that_hurts_on_another_day_says_where() {
    let remedies = remedy("a", "mapreduce.speculative=false", "");
    let advice = search(&remedies, 10_000, |scenario| {
        let (off, crash) = (!scenario.mapreduce.speculative, !scenario.faults.is_empty());
        let noise = noise(scenario.run.seed, 3) / 10.0;
        Some(100.0 - if off { 10.0 } else { 0.0 } + if off && crash { 60.0 + noise } else { 0.0 })
    });
    let best = advice.best.expect("it helps");
    assert_eq!(best.hurts.len(), 1, "{:?}", best.hurts);
    assert!(best.hurts[0].at.contains("worker-1 down"));
    assert!((best.hurts[0].more.expect("all end").mean - 50.0).abs() < 0.1);
}

#[test]
fn a_job_that_does_not_fail_any_more_is_worth_most() {
    let remedies = [remedy("rescue", "mapreduce.max-attempts=8", ""), remedy("fast", "mapreduce.sort-factor=64", "")];
    let advice = search(&remedies.concat(), 10_000, |scenario| (scenario.mapreduce.max_attempts == 8).then_some(50.0));
    assert_eq!(verdicts(&advice)["rescue"], Verdict::Helps);
    let best = advice.best.expect("it ends");
    assert_eq!((best.ids, best.time_s, best.saving), (vec!["rescue".to_owned()], Some(50.0), None));
}

/// Of five seeds the job ends on the second alone, with `chance` on the first, too, and with `rescue` on all. One seed
/// more shows nothing, and a mean over one seed of five has no interval.
#[test]
fn what_ends_on_some_seeds_says_on_how_many() {
    let remedies =
        [remedy("rescue", "mapreduce.max-attempts=8", ""), remedy("chance", "mapreduce.sort-factor=64", "")].concat();
    let advice = search(&remedies, 10_000, |scenario| {
        let (seed, mapreduce) = (scenario.run.seed % 5, &scenario.mapreduce);
        let ends = mapreduce.max_attempts == 8 || seed == 2 || mapreduce.sort_factor == 64 && seed == 1;
        ends.then_some(if mapreduce.max_attempts == 8 { 110.0 } else { 100.0 })
    });
    assert_eq!((advice.seeds, advice.ended), (5, 1));
    assert_eq!(advice.base.map(|base| (base.mean, base.half_width)), Some((100.0, None)));
    let [rescue, chance] = &advice.remedies[..] else { panic!("two remedies") };
    assert_eq!((rescue.id.as_str(), rescue.verdict), ("rescue", Verdict::Helps));
    assert_eq!((rescue.seeds, rescue.ended, rescue.base_ended), (5, 5, 1));
    assert_eq!(rescue.saving.map(|saving| (saving.mean, saving.half_width)), Some((-10.0, None)));
    assert_eq!((chance.verdict, chance.ended, chance.base_ended), (Verdict::NotShown, 2, 1));
    let best = advice.best.as_ref().expect("it rescues");
    assert_eq!((&best.ids[..], best.ended, best.base_ended), (&["rescue".to_owned()][..], 5, 1));
}

#[test]
fn what_there_was_no_time_for_is_untried() {
    let remedies = [remedy("a", "mapreduce.sort-factor=64", ""), remedy("b", "mapreduce.parallel-copies=20", "")];
    let time = |scenario: &Scenario| Some(100.0 - f64::from(scenario.mapreduce.parallel_copies));
    // Six runs as it is, one of the screen.
    let advice = search(&remedies.concat(), 7, time);
    assert!(!advice.complete && advice.best.is_none());
    assert_eq!(verdicts(&advice)["b"], Verdict::Untried);
}

#[test]
fn keys_that_must_stay_are_not_touched() {
    let remedies = remedy("a", "mapreduce.sort-factor=64", "");
    let limits = Limits { keep: vec!["mapreduce.sort-factor".to_owned()] };
    let advice = search_with(&remedies, limits, 10_000, |_| Some(100.0));
    assert_eq!(verdicts(&advice)["a"], Verdict::Unfit);
    assert!(advice.remedies[0].reason.contains("to stay as it is"));
}

/// A search on made-up times at both levels. Returns the advice, and what ran at the scenario's own level on the
/// screen's seed, by what it set.
fn screened(remedies: &str, time: impl Fn(&Scenario, Level) -> f64) -> (Advice, Vec<Scenario>) {
    let base = Scenario::parse("s.toml", JOB, &[]).expect("valid");
    let remedies = Remedies::read("r.toml", remedies).unwrap_or_else(|error| panic!("{error}"));
    let mut search = Search::new(base, remedies, Objective::Time, 5, Limits::default());
    let mut own = Vec::new();
    let mut runs = 0;
    loop {
        let asks = search.asks();
        if asks.is_empty() {
            return (search.advice(runs), own);
        }
        for ask in asks {
            let scenario = search.scenario(ask).expect("it fits");
            let time_s = Some(time(&scenario, ask.level));
            assert_eq!(scenario.run.fidelity == scenario::Fidelity::Flow, ask.level == Level::Flow);
            search.take(ask, Outcome { time_s, jobs: vec![("job".to_owned(), time_s)], ..Outcome::default() });
            runs += 1;
            if ask.level == Level::Own && ask.seed == 5 {
                own.push(scenario);
            }
        }
    }
}

fn three() -> String {
    [
        remedy("gains", "mapreduce.sort-factor=64", ""),
        remedy("loses", "mapreduce.parallel-copies=20", ""),
        remedy("control", "tcp.control=vegas", ""),
    ]
    .concat()
}

fn screened_by(advice: &Advice) -> BTreeMap<&str, Option<ScreenedBy>> {
    advice.remedies.iter().map(|remedy| (remedy.id.as_str(), remedy.screened_by)).collect()
}

/// Where flow level has the scenario's time, what loses there does not run at its own level; a control always does.
#[test]
fn flow_level_screens_what_it_models() {
    let time = |scenario: &Scenario, level: Level| {
        let (gains, loses) = (scenario.mapreduce.sort_factor == 64, scenario.mapreduce.parallel_copies == 20);
        let off = if level == Level::Flow { 3.0 } else { 0.0 };
        100.0 + off - if gains { 10.0 } else { 0.0 } + if loses { 10.0 } else { 0.0 }
    };
    let (advice, own) = screened(&three(), time);
    assert!((advice.flow_off.expect("it was asked") - 0.03).abs() < 1e-9 && advice.flow_believed);
    assert!(own.iter().all(|run| run.mapreduce.parallel_copies != 20), "it loses at flow level");
    let by = screened_by(&advice);
    assert_eq!((by["loses"], by["control"]), (Some(ScreenedBy::Flow), Some(ScreenedBy::Run)));
    let of = verdicts(&advice);
    assert_eq!((of["gains"], of["loses"], of["control"]), (Verdict::Helps, Verdict::NoGain, Verdict::NoGain));
}

/// Where it has another time, its word does not stand: here it is wrong, and the answer right.
#[test]
fn flow_level_that_is_off_drops_nothing() {
    let time = |scenario: &Scenario, level: Level| {
        let helps = scenario.mapreduce.parallel_copies == 20;
        match level {
            Level::Flow => 50.0 + if helps { 10.0 } else { 0.0 },
            Level::Own => 100.0 - if helps { 10.0 } else { 0.0 },
        }
    };
    let (advice, _) = screened(&three(), time);
    assert!(!advice.flow_believed && advice.flow_off == Some(-0.5));
    assert_eq!(verdicts(&advice)["loses"], Verdict::Helps);
    assert!(screened_by(&advice).values().all(|by| *by == Some(ScreenedBy::Run)));
}

/// Two that lose alone and gain together are found at flow level, and shown at the scenario's own.
#[test]
fn a_pair_of_remedies_that_lose_alone_is_found() {
    let remedies =
        [remedy("a", "mapreduce.sort-factor=64", ""), remedy("b", "mapreduce.parallel-copies=20", "")].concat();
    let (advice, _) = screened(&remedies, |scenario, _| {
        match (scenario.mapreduce.sort_factor == 64, scenario.mapreduce.parallel_copies == 20) {
            (true, true) => 80.0,
            (false, false) => 100.0,
            _ => 101.0,
        }
    });
    assert_eq!(advice.best.expect("the pair helps").ids, ["a", "b"]);
}

/// A network of a hundredth of the rate: the estimate needs no run to say that it is slower.
#[test]
fn a_remedy_that_the_estimate_says_is_slower_is_not_run() {
    let remedies = [remedy("slow", "network.rate=10 Mbit/s", ""), remedy("a", "mapreduce.sort-factor=64", "")].concat();
    let (advice, own) = screened(&remedies, |_, _| 100.0);
    let slow = advice.remedies.iter().find(|remedy| remedy.id == "slow").expect("known");
    assert_eq!((slow.verdict, slow.screened_by), (Verdict::NoGain, Some(ScreenedBy::Estimate)));
    assert!(slow.part.is_some_and(|part| part < -1.0), "{:?}", slow.part);
    assert_eq!(own.len(), 1, "the scenario as it is");
}
