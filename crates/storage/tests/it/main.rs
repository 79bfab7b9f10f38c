//! Every integration test of `storage`, in one program.

mod array;
mod disk;
mod flash;
mod log_layout;
mod offloading;
mod power_figures;
mod power_offload;
mod power_policies;
mod power_profiles;
mod powered;
mod processor;
mod reliability;
mod rotating;
mod store;
