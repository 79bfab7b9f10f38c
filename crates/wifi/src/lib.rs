//! Wireless networks: how strong a signal arrives, where nodes move, what the PHY and the MAC of 802.11 make of it, and
//! how packets find a way when not all nodes hear each other.

pub mod bianchi;
pub mod energy;
pub mod mac;
pub mod medium;
pub mod mesh;
pub mod mobility;
pub mod phy;
pub mod propagation;
pub mod rate;
pub mod routing;
pub mod space;
