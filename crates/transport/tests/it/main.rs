//! Integration tests of both message transports.

mod barrier;
mod carried;
mod flow;
mod fluid;
mod incast;
mod ns3_cubic;
mod packets;
