//! Every integration test of `testbed` but those in `links`, in one program.

mod descriptions;
mod model;
mod names;
mod studies;
