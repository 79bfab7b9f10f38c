//! Predicts every recorded run, beside what was recorded: `cargo run --release -p sim --example traces [SEEDS]`.
//!
//! Each job is calibrated on an unshaped run alone. First with the recorded placement, then with the scheduler's own over
//! several seeds.

#[path = "../tests/support/recorded.rs"]
mod recorded;

use recorded::{Moments, actual, interval, predicted, recorded};

/// Runs, and the run that each is calibrated on: itself, or the first unshaped one of its job.
const RUNS: [(&str, &str); 12] = [
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-10mbit-2"),
    ("wordcount-combine-unshaped", "wordcount-combine-10mbit"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped"),
    ("wordcount-nocombine-unshaped", "wordcount-nocombine-unshaped-2"),
    ("wordcount-combine-unshaped", "wordcount-combine-unshaped"),
    ("terasort-unshaped", "terasort-unshaped"),
    ("terasort-unshaped", "terasort-unshaped-2"),
    ("grep-unshaped", "grep-unshaped"),
    ("teragen-unshaped", "teragen-unshaped"),
    ("dfsio-write-unshaped", "dfsio-write-unshaped"),
    ("dfsio-read-unshaped", "dfsio-read-unshaped"),
];

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(40);
    println!("Given the placement (predicted / recorded; seconds after launch, MB received by the workers)\n");
    println!("| run | maps done | shuffle done | job | job error | received | error |\n|---|---|---|---|---|---|---|");
    for (basis, run) in RUNS {
        let mut total = Moments::default();
        let pairs = recorded(basis, run, true);
        for (i, pair) in pairs.iter().enumerate() {
            let (ours, theirs) = (predicted(&pair.scenario, 1), actual(run, &pair.job));
            total.received += ours.received;
            let both = |ours: f64, theirs: f64| format!("{ours:.1} / {theirs:.1}");
            let error = |ours: f64, theirs: f64| format!("{:+.1} %", (ours / theirs - 1.0) * 100.0);
            // Interfaces are counted over a run, which may be several jobs.
            let last = i + 1 == pairs.len();
            let bytes = if last { both(total.received, theirs.received) } else { String::new() };
            let bytes_error = if last { error(total.received, theirs.received) } else { String::new() };
            println!(
                "| {run} | {} | {} | {} | {} | {bytes} | {bytes_error} |",
                both(ours.maps, theirs.maps),
                both(ours.shuffle, theirs.shuffle),
                both(ours.job, theirs.job),
                error(ours.job, theirs.job),
            );
        }
    }
    println!("\nA priori: 5 %, 50 % and 95 % of {seeds} seeds, and the same with the recorded placement\n");
    println!("| run | maps done | job | recorded | inside | given the placement | received | recorded |");
    println!("|---|---|---|---|---|---|---|---|");
    for (basis, run) in RUNS {
        for (free, placed) in recorded(basis, run, false).iter().zip(recorded(basis, run, true)) {
            let theirs = actual(run, &free.job);
            let runs: Vec<Moments> = (1..=seeds).map(|seed| predicted(&free.scenario, seed)).collect();
            let over = |value: fn(&Moments) -> f64| interval(runs.iter().map(value).collect());
            let fixed = interval((1..=seeds).map(|seed| predicted(&placed.scenario, seed).job).collect());
            let show = |(low, middle, high): (f64, f64, f64)| format!("{low:.1} {middle:.1} {high:.1}");
            let job = over(|m| m.job);
            println!(
                "| {run} | {} | {} | {:.1} | {} | {} | {} | {:.1} |",
                show(over(|m| m.maps)),
                show(job),
                theirs.job,
                if (job.0..=job.2).contains(&theirs.job) { "yes" } else { "no" },
                show(fixed),
                show(over(|m| m.received)),
                theirs.received,
            );
        }
    }
}
