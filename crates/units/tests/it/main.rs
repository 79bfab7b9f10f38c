//! Every integration test of `units`, in one program.

mod quantities;
