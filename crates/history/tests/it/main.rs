//! Histories of real jobs: reading them, and what is made of them.

mod bad;
mod busy;
mod configuration;
mod formats;
mod fuzz;
mod import;
mod many;
mod mutated;
mod network;
mod read;
mod record;
mod samples;
mod spark;
mod spark_files;
mod spark_foreign;
mod spark_hosts;
mod spark_import;
mod spark_sql;
mod text;
