//! The order of remedies by flow level and by estimate beside that by packets, by Kendall's tau.
//!
//! A remedy stands for its setting that flow level finds best. A pair of remedies whose times by packets differ by less
//! than a hundredth of the scenario's, or by less than the 95 % interval of the differences seed by seed, is a tie and
//! left out.

use crate::runs_of::{at_flow_level, difference, mean, of_study, outcome, times};
use advise::{Remedies, RemedySet, Search};
use scenario::Scenario;

const SCENARIOS: [&str; 10] = [
    "slow-links",
    "small-files",
    "racks",
    "lossy-links",
    "terasort",
    "one-reducer",
    "spills",
    "mixed",
    "two-jobs",
    "late-reducers",
];
/// First seed and seeds by packets and by flows. Those by flows are the search's.
const PACKETS: (u64, u64) = (1_000, 5);
const FLOWS: (u64, u64) = (1, 4);
/// A part of the time that is not worth a change.
const NEGLIGIBLE: f64 = 0.01;

/// Prints the table.
pub fn print(only: Option<&str>) {
    println!("| scenario | remedies | pairs, ties left out | tau | tau by estimate | dropped | of them help |");
    println!("|---|---|---|---|---|---|---|");
    for name in SCENARIOS.into_iter().filter(|name| only.is_none_or(|only| only == *name)) {
        row(name, only.is_some());
    }
}

/// A remedy with its best setting.
struct Ranked {
    set: RemedySet,
    flow: f64,
    packets: Vec<f64>,
}

fn row(name: &str, in_full: bool) {
    let base = of_study(name);
    let mut search = Search::of_time(&base, Remedies::embedded().unwrap_or_else(|error| panic!("{error}")));
    let run = outcome(&base, &search.metrics());
    let mut singles = search.every_single(&run);
    singles.retain(|set| set.modelled);
    let mut scenarios: Vec<Scenario> = vec![base];
    scenarios.extend(singles.iter().map(|set| set.scenario.clone()));
    let flows: Vec<Scenario> = scenarios.iter().map(at_flow_level).collect();
    let flows: Vec<f64> = times(&flows, FLOWS.0, FLOWS.1).iter().map(|times| mean(times)).collect();
    let mut packets = times(&scenarios, PACKETS.0, PACKETS.1);
    let (base_flow, base_packets) = (flows[0], packets.remove(0));
    let level = mean(&base_packets);
    let helps = |times: &[f64]| {
        let saved = difference(&base_packets, times);
        saved.mean > NEGLIGIBLE * level && saved.excludes_zero()
    };
    let dropped: Vec<usize> = (0..singles.len()).filter(|place| singles[*place].dropped).collect();
    let wrongly = dropped.iter().filter(|place| helps(&packets[**place])).count();
    let mut ranked: Vec<Ranked> = Vec::new();
    for ((set, flow), packets) in singles.iter().zip(&flows[1..]).zip(&packets) {
        let entry = Ranked { set: set.clone(), flow: *flow, packets: packets.clone() };
        match ranked.iter_mut().find(|other| other.set.ids == set.ids) {
            Some(other) if other.flow > *flow => *other = entry,
            Some(_) => {}
            None => ranked.push(entry),
        }
    }
    let (mut pairs, mut flow_score, mut estimated, mut estimate_score) = (0_i32, 0_i32, 0_i32, 0_i32);
    for (i, a) in ranked.iter().enumerate() {
        for b in &ranked[i + 1..] {
            let by_packets = difference(&a.packets, &b.packets);
            if by_packets.mean.abs() < NEGLIGIBLE * level || !by_packets.excludes_zero() {
                continue;
            }
            let agreement = |other: f64| {
                if other == 0.0 {
                    0
                } else if (other > 0.0) == (by_packets.mean > 0.0) {
                    1
                } else {
                    -1
                }
            };
            pairs += 1;
            flow_score += agreement(a.flow - b.flow);
            if let Some((a, b)) = a.set.estimate.zip(b.set.estimate).filter(|(a, b)| a != b) {
                estimated += 1;
                estimate_score += agreement(b - a);
            }
        }
    }
    let tau = |score: i32, pairs: i32| {
        if pairs > 0 { format!("{:.2}", f64::from(score) / f64::from(pairs)) } else { "-".to_owned() }
    };
    println!(
        "| {name} | {} | {pairs} of {} | {} | {} of {estimated} | {} of {} | {wrongly} |",
        ranked.len(),
        ranked.len() * (ranked.len() - 1) / 2,
        tau(flow_score, pairs),
        tau(estimate_score, estimated),
        dropped.len(),
        singles.len(),
    );
    if in_full {
        println!("\nbase: packets {level:.2} s, flows {base_flow:.2} s");
        for one in &ranked {
            let off = difference(&base_packets, &one.packets);
            println!(
                "  {:<60} flow {:+6.1} %  packets {:+6.1} ± {:.1} %  estimate {:+6.1} %",
                format!("{} {:?}", one.set.ids[0], one.set.set),
                100.0 * (1.0 - one.flow / base_flow),
                100.0 * off.mean / level,
                100.0 * off.half_width.unwrap_or(0.0) / level,
                100.0 * one.set.estimate.unwrap_or(f64::NAN),
            );
        }
    }
}
