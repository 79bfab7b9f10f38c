//! Tests of `placement` through its public interface.

mod distribute;
mod fuzz;
mod histogram;
mod keys;
mod law;
mod layout;
mod pairs;
mod place;
mod profile;
mod queues;
mod support;
mod value;
mod vectors;
