//! Wireless networks: propagation, mobility, the PHY and MAC of 802.11, and multi-hop routing.

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
