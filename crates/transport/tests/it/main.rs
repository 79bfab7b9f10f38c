//! Integration tests of both message transports.

mod flow;
mod fluid;
mod ns3_cubic;
mod packets;
