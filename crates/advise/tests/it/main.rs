//! Tests of the search, and of advice from real runs.

mod race;
mod real;
mod search;
