//! Integration tests of the results, in one binary: a file has one subject.

mod metrics;
mod reference;
