//! Tests of the language through its public interface.

mod jobs;
mod object_store;
mod problems;
mod reference;
mod resolve;
mod spark;
mod spark_properties;
mod support;
mod tcp;
mod traffic;
mod warnings;
mod wireless;
