//! Predicts every recorded run, beside what was recorded: `cargo run --release -p sim --example traces [SEEDS [RUN]]`.
//!
//! Each job is calibrated on an unshaped run alone. First with the recorded placement, then with the scheduler's own,
//! both over several seeds. Then the runs of the quiet matrix; these alone where RUN is `matrix`.

#[path = "../tests/it/support"]
mod support {
    pub mod matrix;
    pub mod recorded;
    pub mod savings;
}

use support::matrix::{Run, runs};
use support::recorded::{
    CONFIGURED, Moments, RUNS, actual, configured, interval, median, predicted, rank, recorded, times, uniform,
};
use support::savings::{Cells, NINE_TENTHS, Times};

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(40);
    let only = std::env::args().nth(2);
    if only.as_deref() == Some("matrix") {
        return matrix(seeds);
    }
    let pairs = || RUNS.into_iter().filter(|(_, run)| only.as_ref().is_none_or(|only| run.contains(only)));
    let show = |(low, middle, high): (f64, f64, f64)| format!("{low:.1} {middle:.1} {high:.1}");
    let over = |runs: &[Moments], value: fn(&Moments) -> f64| interval(runs.iter().map(value).collect());

    println!(
        "Given the placement (median of {seeds} seeds / recorded; seconds after launch, MB received by the workers)\n"
    );
    println!("| run | maps done | shuffle done | job | job error | received | error |\n|---|---|---|---|---|---|---|");
    for (basis, run) in pairs() {
        let mut total = 0.0;
        let pairs = recorded(basis, run, true);
        for (i, pair) in pairs.iter().enumerate() {
            let (ours, theirs) = (median(&predicted(&pair.scenario, seeds)), actual(run, &pair.job));
            total += ours.received;
            let both = |ours: f64, theirs: f64| format!("{ours:.1} / {theirs:.1}");
            let error = |ours: f64, theirs: f64| format!("{:+.1} %", (ours / theirs - 1.0) * 100.0);
            // Interfaces are counted over a run, which may be several jobs.
            let last = i + 1 == pairs.len();
            let bytes = if last { both(total, theirs.received) } else { String::new() };
            let bytes_error = if last { error(total, theirs.received) } else { String::new() };
            println!(
                "| {run} | {} | {} | {} | {} | {bytes} | {bytes_error} |",
                both(ours.maps, theirs.maps),
                both(ours.shuffle, theirs.shuffle),
                both(ours.job, theirs.job),
                error(ours.job, theirs.job),
            );
        }
    }
    println!("\nClients: seconds from the start of the JVM to its exit, given the placement\n");
    println!("| run | jobs, submission to finish | client | recorded | error |\n|---|---|---|---|---|");
    for (basis, run) in pairs() {
        let pairs = recorded(basis, run, true);
        let ours: Vec<Moments> = pairs.iter().map(|pair| median(&predicted(&pair.scenario, seeds))).collect();
        // One client runs all jobs: its JVM starts once.
        let start = pairs[0].scenario.mapreduce.client_start.as_secs_f64();
        let client = ours.iter().map(|job| job.client).sum::<f64>() - start * (ours.len() - 1) as f64;
        let theirs = actual(run, &pairs[0].job).client;
        let jobs: Vec<String> = ours.iter().map(|job| format!("{:.1}", job.submitted)).collect();
        println!("| {run} | {} | {client:.1} | {theirs:.1} | {:+.1} |", jobs.join(" + "), client - theirs);
    }
    println!("\nA priori: 5 %, 50 % and 95 % of {seeds} seeds, and the same with the recorded placement\n");
    println!(
        "| run | maps done | job | recorded | inside | given the placement | received | given the placement | recorded |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (basis, run) in pairs() {
        for (free, placed) in recorded(basis, run, false).iter().zip(recorded(basis, run, true)) {
            let theirs = actual(run, &free.job);
            let (free, placed) = (predicted(&free.scenario, seeds), predicted(&placed.scenario, seeds));
            let job = over(&free, |m| m.job);
            println!(
                "| {run} | {} | {} | {:.2} | {} | {} | {} | {} | {:.1} |",
                show(over(&free, |m| m.maps)),
                show(job),
                theirs.job,
                if (job.0..=job.2).contains(&theirs.job) { "yes" } else { "no" },
                show(over(&placed, |m| m.job)),
                show(over(&free, |m| m.received)),
                show(over(&placed, |m| m.received)),
                theirs.received,
            );
        }
    }
    ranks(seeds, only.as_deref());
    if only.is_none() {
        matrix(seeds);
    }
}

/// Where each recorded time lies in its predicted distribution, and whether all together lie as chance would have it.
fn ranks(seeds: u64, only: Option<&str>) {
    println!("\nRanks: the part of {seeds} seeds, a priori, below the recorded time\n");
    println!("| run | job: recorded | median | error | rank | shuffle: recorded | median | error | rank |");
    println!("|---|---|---|---|---|---|---|---|---|");
    // Ranks of jobs' times and of shuffles; of the runs that are predicted from another one, and of all.
    let mut all: [[Vec<f64>; 2]; 2] = Default::default();
    let pairs = RUNS.into_iter().chain([CONFIGURED]).filter(|(_, run)| only.is_none_or(|only| run.contains(only)));
    for (basis, run) in pairs {
        let jobs = if (basis, run) == CONFIGURED { vec![configured()] } else { recorded(basis, run, false) };
        for pair in jobs {
            let (ours, theirs) = (predicted(&pair.scenario, seeds), times(&pair.job));
            let mut cells = Vec::new();
            let figures: [fn(&Moments) -> f64; 2] = [|m| m.job, |m| m.shuffling];
            for (place, figure) in figures.into_iter().enumerate() {
                let recorded = figure(&theirs);
                if recorded == 0.0 {
                    cells.push("| | | | ".to_owned());
                    continue;
                }
                let (middle, rank) = (figure(&median(&ours)), rank(ours.iter().map(figure), recorded));
                let error = (middle / recorded - 1.0) * 100.0;
                cells.push(format!("| {recorded:.1} | {middle:.1} | {error:+.1} % | {rank:.2} "));
                all[1][place].push(rank);
                if basis != run {
                    all[0][place].push(rank);
                }
            }
            println!("| {run}{} {}|", if basis == run { " *" } else { "" }, cells.concat());
        }
    }
    println!("\n| runs | time | n | mean rank | distance D | p |\n|---|---|---|---|---|---|");
    for (of, ranks) in ["predicted from another run", "all"].iter().zip(all) {
        for (time, ranks) in ["job", "shuffle"].iter().zip(ranks) {
            let (n, mean) = (ranks.len(), ranks.iter().sum::<f64>() / ranks.len().max(1) as f64);
            let (distance, p) = uniform(ranks);
            println!("| {of} | {time} | {n} | {mean:.2} | {distance:.2} | {p:.3} |");
        }
    }
}

/// Ranks of jobs' times and of shuffles, and errors of jobs' times given the placement.
#[derive(Default)]
struct Part {
    ranks: [Vec<f64>; 2],
    errors: Vec<f64>,
    inside: usize,
}

/// The quiet matrix.
fn matrix(seeds: u64) {
    println!("\n5 %, 50 % and 95 % of {seeds} seeds; given the placement, the median; seconds from launch to finish\n");
    println!(
        "| run | set aside | predicted | recorded | given the placement | error | shuffle: given the placement | recorded \
         | error |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut open, mut aside) = (Part::default(), Part::default());
    let mut cells = Cells::default();
    for run in runs() {
        let times = row(&run, seeds, if run.is_set_aside() { &mut aside } else { &mut open });
        cells.add(&run.name(), times);
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
    cells.print();
}

fn row(run: &Run, seeds: u64, part: &mut Part) -> Times {
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
    let deviation = (high - low) / NINE_TENTHS;
    Times { predicted: middle, deviation, placed: placed.job, recorded: recorded.job }
}
