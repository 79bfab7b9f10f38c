//! Every integration test of `storage`, in one program.

mod array;
mod disk;
mod flash;
mod processor;
mod reliability;
mod rotating;
mod store;
