//! Integration tests of histories.

mod import;
mod many;
mod read;
