//! Tests of the search, and of advice from real runs.

mod real;
mod search;
