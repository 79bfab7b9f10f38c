//! Every integration test of `storage`, in one program.

mod disk;
mod power_figures;
mod power_offload;
mod power_policies;
mod power_profiles;
mod processor;
mod store;
