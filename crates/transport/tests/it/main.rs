//! Integration tests of both message transports.

mod flow;
mod ns3_cubic;
mod packets;
