//! A testbed on one machine: network namespaces, and emulated links between them ([`link`]).

pub mod link;
