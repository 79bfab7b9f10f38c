//! Every integration test of the daemon but those of its process, which are the command line's.

mod causes;
mod counters;
mod fuzz;
mod machine;
mod wear;
mod world;
