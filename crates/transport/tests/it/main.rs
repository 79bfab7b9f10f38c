//! Integration tests of both carriers of messages.

mod flow;
mod packets;
