//! The doors, with real programs, between network namespaces that the tests make themselves.

mod datagrams;
mod gateways;
pub mod namespace;
mod peers;
mod preload;
mod proxies;
mod redirections;
