//! Every integration test of the command line, but those in `paths`, in one program.

mod advise;
mod command;
mod fit;
#[cfg(feature = "jet")]
mod gateways;
mod import;
mod import_check;
mod import_spark;
#[cfg(feature = "jet")]
mod jet;
#[cfg(feature = "jet")]
mod jet_restart;
#[cfg(feature = "jet")]
mod jet_run;
mod kat;
mod kat_cluster;
mod kat_count;
mod kat_counted;
mod kat_measured;
mod kat_plan_file;
mod kat_recorded;
mod keeping;
mod layout;
mod mistaken;
#[cfg(feature = "jet")]
mod packaging;
mod power;
mod power_daemon;
mod power_hdfs;
mod study;
mod support;
mod sweep;
