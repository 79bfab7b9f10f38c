//! A testbed on one machine: network namespaces, emulated links between them ([`link`]), and real programs measured
//! over those ([`study`]).

pub mod link;
pub mod study;
