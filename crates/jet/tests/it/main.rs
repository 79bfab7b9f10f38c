//! Every integration test of `jet` but those in `paths`, in one program.

mod doors;
mod failures;
mod fuzz;
mod gateways;
mod hostile;
mod old_keys;
mod protocol;
mod revocation;
mod support;
mod udp;
mod vanished;
