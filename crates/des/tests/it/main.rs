//! Every integration test of `des`, in one program.

mod queue;
mod statistics;
