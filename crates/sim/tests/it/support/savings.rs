//! What the step from one condition of the matrix to another saves, predicted and recorded.

use std::collections::BTreeMap;

/// Seconds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The median of the predictions, and their standard deviation from the width of nine tenths of them.
    pub predicted: f64,
    pub deviation: f64,
    /// The median given the placement.
    pub placed: f64,
    /// What was recorded.
    pub recorded: f64,
}

/// A normal distribution has nine tenths of its mass in so many standard deviations.
pub const NINE_TENTHS: f64 = 3.29;
/// The rates, slowest first.
const RATES: [&str; 4] = ["5Mbit", "10Mbit", "50Mbit", "unshaped"];
/// The same job without and with its combiner.
const COMBINER: (&str, &str) = ("wordcount-nocombine-64MB", "wordcount-64MB");

/// The repetitions of each job at each rate, by run names as `10Mbit/grep-64MB-2.1`.
#[derive(Default)]
pub struct Cells(BTreeMap<(String, String), Vec<Times>>);

impl Cells {
    /// Adds a repetition.
    pub fn add(&mut self, name: &str, times: Times) {
        let Some((rate, job)) = name.split_once('/') else { return };
        let Some((job, repetition)) = job.rsplit_once('-') else { return };
        let part = repetition.split_once('.').map_or(String::new(), |(_, part)| format!(".{part}"));
        self.0.entry((format!("{job}{part}"), rate.to_owned())).or_default().push(times);
    }

    /// Prints each step that both sides of are recorded.
    pub fn print(&self) {
        let key = |job: &str, rate: &str| (job.to_owned(), rate.to_owned());
        let mut steps = Vec::new();
        for (job, rate) in self.0.keys() {
            let place = RATES.iter().position(|other| other == rate).unwrap_or(RATES.len());
            steps.extend(RATES.iter().skip(place + 1).map(|faster| (key(job, rate), key(job, faster))));
        }
        steps.extend(RATES.iter().map(|rate| (key(COMBINER.0, rate), key(COMBINER.1, rate))));
        println!("\nWhat a step saves: predicted, with twice its noise; recorded; given the placement\n");
        println!("| job | from | to | predicted | recorded | given the placement | three times the noise | within |");
        println!("|---|---|---|---|---|---|---|---|");
        let (mut all, mut within, mut shown, mut shown_within) = (0, 0, 0, 0);
        for (from, to) in &steps {
            let (Some(a), Some(b)) = (self.0.get(from), self.0.get(to)) else { continue };
            let mean = |runs: &[Times], of: fn(&Times) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
            let saved = |of| mean(a, of) - mean(b, of);
            let variance = |runs: &[Times]| mean(runs, |run| run.deviation * run.deviation) / runs.len() as f64;
            let noise = (variance(a) + variance(b)).sqrt();
            let (predicted, recorded) = (saved(|run| run.predicted), saved(|run| run.recorded));
            let error = (predicted - recorded).abs();
            let near = error <= (0.15 * recorded.abs()).max(2.0 * noise);
            let is_shown = predicted.abs() >= 3.0 * noise;
            all += 1;
            within += usize::from(near);
            shown += usize::from(is_shown);
            shown_within += usize::from(is_shown && error <= 0.15 * recorded.abs());
            let (left, right) =
                if from.0 == to.0 { (&from.1, &to.1) } else { (&from.1, &format!("{} and a combiner", to.1)) };
            println!(
                "| {} | {left} | {right} | {predicted:.1} ± {:.1} | {recorded:.1} | {:.1} | {} | {} |",
                from.0,
                2.0 * noise,
                saved(|run| run.placed),
                if is_shown { "shown" } else { "" },
                if near { "yes" } else { "no" },
            );
        }
        println!(
            "\n{within} of {all} within 15 % or twice the noise; of the {shown} that are shown {shown_within} within 15 %"
        );
    }
}
