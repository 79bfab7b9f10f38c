//! Which runs of the matrix (`tests/traces/matrix`) are set aside: nothing may be fitted to them. For the tests of
//! every crate that reads them.
//!
//! A third of the runs since 26 November 2026 are: those whose name, RATE/JOB-SIZE-N, has a BLAKE3 hash that begins
//! with a byte divisible by three. The rule was written down before the first of them ran. Runs of the morning before
//! had been looked at by then, and are not.

/// Rates of the first morning, in which each job ran once or twice.
const FIRST: [&str; 2] = ["10Mbit", "unshaped"];

/// Whether a run is of the first morning, on which the machine was a fifth faster too.
pub fn is_of_first_morning(rate: &str, repetition: u32) -> bool {
    FIRST.contains(&rate) && repetition <= 2
}

/// Whether nothing may be fitted to a run; `cell` is its job and size.
pub fn is_set_aside(rate: &str, cell: &str, repetition: u32) -> bool {
    let name = format!("{rate}/{cell}-{repetition}");
    !is_of_first_morning(rate, repetition) && blake3::hash(name.as_bytes()).as_bytes()[0].is_multiple_of(3)
}
