//! How far the runs are, on standard error: simulated time, packets a second, remaining time.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use runs::Clock;
use sim::Progress;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use units::Time;

/// The progress of several runs together.
pub struct Meter {
    bar: ProgressBar,
    clock: Clock,
    runs: Mutex<Vec<Progress>>,
    lines: Option<Lines>,
}

/// Lines in place of a bar, for who waits without a terminal.
struct Lines {
    /// What goes on.
    what: &'static str,
    /// When the next is due, in seconds since the beginning.
    due: Mutex<f64>,
}

const STEPS: u64 = 1000;
/// Seconds until the first line, and from one to the next.
const FIRST_LINE: f64 = 2.0;
const NEXT_LINE: f64 = 10.0;

impl Meter {
    /// For so many runs; shows nothing when `quiet` or when standard error is no terminal.
    pub fn new(runs: usize, quiet: bool) -> Self {
        let hidden = quiet || !io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar, clock: Clock::start(), runs: Mutex::new(vec![Progress::default(); runs]), lines: None }
    }

    /// For one run that somebody waits for; says what goes on every ten seconds where standard error is no terminal.
    pub fn of_wait(what: &'static str) -> Self {
        let lines = Lines { what, due: Mutex::new(FIRST_LINE) };
        Self { lines: (!io::stderr().is_terminal()).then_some(lines), ..Self::new(1, false) }
    }

    /// One run has got this far.
    pub fn update(&self, run: usize, progress: &Progress) {
        if let Some(line) = self.lines.as_ref().and_then(|lines| lines.at(self.clock.elapsed().as_secs_f64(), progress))
        {
            eprintln!("{line}");
        }
        if self.bar.is_hidden() {
            return;
        }
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs[run] = *progress;
        let done = runs.iter().map(|run| run.done).sum::<f64>() / runs.len() as f64;
        let hops: u64 = runs.iter().map(|run| run.hops).sum();
        let now: Time = runs.iter().map(|run| run.now).max().unwrap_or_default();
        drop(runs);
        let elapsed = self.clock.elapsed().as_secs_f64();
        let left = if done > 0.001 { remaining(elapsed * (1.0 - done) / done) } else { "...".to_owned() };
        self.bar.set_position((done * STEPS as f64) as u64);
        let rate = hops as f64 / elapsed.max(1e-3) / 1e6;
        self.bar.set_message(format!("simulated {now:.1}, {rate:.2} M transmissions/s, {left} left"));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Lines {
    /// What is to be said so many seconds after the beginning, if a line is due.
    fn at(&self, elapsed: f64, progress: &Progress) -> Option<String> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed < *due {
            return None;
        }
        *due = if elapsed < NEXT_LINE { NEXT_LINE } else { elapsed + NEXT_LINE };
        let (percent, now) = (progress.done * 100.0, progress.now);
        Some(format!("{}: {percent:.0} % after {elapsed:.0} s, simulated {now:.1}", self.what))
    }
}

fn remaining(seconds: f64) -> String {
    let seconds = Duration::from_secs_f64(seconds.clamp(0.0, 1e7)).as_secs();
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// How much of some files has been read.
pub struct ByteMeter(ProgressBar);

impl ByteMeter {
    /// For so many bytes; shows nothing when `quiet`, when standard error is no terminal, or when the size is not known.
    pub fn new(bytes: u64, quiet: bool) -> Self {
        let hidden = quiet || bytes == 0 || !io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {bytes_per_sec}, {eta} left") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    /// For some bytes; how many is said with those that are read. Shows nothing when `quiet`.
    pub fn of_some(quiet: bool) -> Self {
        Self::new(1, quiet)
    }

    /// So many of all bytes are read; nothing is shown where it is not known how many there are.
    pub fn at(&self, read: u64, all: u64) {
        if all > 0 {
            if self.0.length() != Some(all) {
                self.0.set_length(all);
            }
            self.0.set_position(read);
        }
    }

    /// So many more.
    pub fn add(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Off a terminal: nothing of what is over within two seconds; else a line then, after ten, and every ten more.
    #[test]
    fn who_waits_is_told_every_ten_seconds() {
        let lines = Lines { what: "a check", due: Mutex::new(FIRST_LINE) };
        let progress = Progress { done: 0.25, ..Progress::default() };
        let times = [0.5, 1.9, 2.1, 5.0, 9.9, 10.2, 19.0, 20.3, 50.0];
        let said: Vec<String> = times.iter().filter_map(|at| lines.at(*at, &progress)).collect();
        let after = ["2 s", "10 s", "20 s", "50 s"].map(|at| format!("a check: 25 % after {at}, simulated 0 s"));
        assert_eq!(said, after);
    }
}
