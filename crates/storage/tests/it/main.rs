//! Every integration test of `storage`, in one program.

mod disk;
mod processor;
mod store;
