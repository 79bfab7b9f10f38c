//! Every integration test of `stripe`, in one program.

mod any_streams;
mod datagrams;
mod fuzz;
mod members;
mod model;
mod optimizer;
mod protocol;
mod rules;
mod schedule;
mod session;
mod starving;
mod support;
mod windows;
mod wire;
