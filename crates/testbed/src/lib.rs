//! A testbed on one machine: network namespaces, emulated links between them ([`link`]), measurements of real programs
//! over those links ([`study`]), and real Hadoop clusters on a star of them ([`hadoop`]).

pub mod hadoop;
pub mod link;
pub mod study;
