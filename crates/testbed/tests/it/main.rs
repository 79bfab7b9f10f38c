//! Every integration test of `testbed` but those in `paths`, in one program.

mod descriptions;
mod model;
mod names;
mod studies;
