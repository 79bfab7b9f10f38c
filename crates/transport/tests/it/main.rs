//! Integration tests of both message transports.

mod flow;
mod packets;
