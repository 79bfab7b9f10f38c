//! A testbed on one machine: network namespaces, emulated links between them ([`link`]), and measurements of real
//! programs over those links ([`study`]).

pub mod link;
pub mod study;
