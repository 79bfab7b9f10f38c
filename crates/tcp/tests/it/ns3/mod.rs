//! Vectors of ns-3's own tests: their set-ups, and the values that they expect.
//!
//! Source: github `nsnam/ns-3-dev-git`, 3-dev of 23 July 2026 (commit 1406464). Each file names the suite.
//! `docs/models/tcp-conformance.md` judges every difference.

mod dctcp;
mod linux_reno;
mod losses;
mod prr;
mod rto;
mod vegas;
