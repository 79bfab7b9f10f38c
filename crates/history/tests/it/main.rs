//! Integration tests of histories.

mod import;
mod read;
mod record;
