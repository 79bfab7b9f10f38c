//! Predicts every run of the quiet matrix, beside what was recorded:
//! `cargo run --release -p sim --example matrix [SEEDS]`.

#[path = "../tests/it/support"]
mod support {
    pub mod matrix;
    pub mod recorded;
}

use support::matrix::{Run, runs};
use support::recorded::{Moments, interval, median, predicted, rank, uniform};

/// Ranks of jobs' times and of shuffles, and errors of jobs' times given the placement.
#[derive(Default)]
struct Part {
    ranks: [Vec<f64>; 2],
    errors: Vec<f64>,
    inside: usize,
}

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(40);
    println!("5 %, 50 % and 95 % of {seeds} seeds; given the placement, the median; seconds from launch to finish\n");
    println!(
        "| run | set aside | predicted | recorded | given the placement | error | shuffle: given the placement | recorded \
         | error |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut open, mut aside) = (Part::default(), Part::default());
    for run in runs() {
        row(&run, seeds, if run.is_set_aside() { &mut aside } else { &mut open });
    }
    println!(
        "\n| runs | jobs | inside | within 10 % given the placement | ranks of job: D | p | of shuffle: n | D | p |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, part) in [("not set aside", open), ("set aside", aside)] {
        let Part { ranks: [job, shuffle], errors, inside } = part;
        let near = errors.iter().filter(|error| error.abs() <= 0.1).count();
        let (n, shuffles) = (job.len(), shuffle.len());
        let ((distance, p), (shuffle_distance, shuffle_p)) = (uniform(job), uniform(shuffle));
        println!(
            "| {name} | {n} | {inside} | {near} | {distance:.2} | {p:.3} | {shuffles} | {shuffle_distance:.2} \
             | {shuffle_p:.3} |"
        );
    }
}

fn row(run: &Run, seeds: u64, part: &mut Part) {
    let recorded = run.recorded();
    let free = predicted(&run.known(false), seeds);
    let placed = median(&predicted(&run.known(true), seeds));
    let (low, middle, high) = interval(free.iter().map(|moments| moments.job).collect());
    let error = placed.job / recorded.job - 1.0;
    let figures: [fn(&Moments) -> f64; 2] = [|moments| moments.job, |moments| moments.shuffling];
    for (ranks, figure) in part.ranks.iter_mut().zip(figures) {
        if figure(&recorded) > 0.0 {
            ranks.push(rank(free.iter().map(figure), figure(&recorded)));
        }
    }
    part.errors.push(error);
    part.inside += usize::from((low..=high).contains(&recorded.job));
    let shuffle = if recorded.shuffling > 0.0 {
        let error = (placed.shuffling / recorded.shuffling - 1.0) * 100.0;
        format!("{:.1} | {:.1} | {error:+.1} %", placed.shuffling, recorded.shuffling)
    } else {
        " | | ".to_owned()
    };
    println!(
        "| {} | {} | {low:.1} {middle:.1} {high:.1} | {:.1} | {:.1} | {:+.1} % | {shuffle} |",
        run.name(),
        if run.is_set_aside() { "yes" } else { "" },
        recorded.job,
        placed.job,
        error * 100.0,
    );
}
