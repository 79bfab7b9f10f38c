//! Transmit hash policies of a bond.
//!
//! The formulas are those of the Linux bonding driver's `xmit_hash_policy` (Linux 6, Ethernet Bonding Driver HOWTO). A
//! packet's member depends on its headers alone, so a flow never leaves its member.

/// Addresses of one end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IPv4 address; the first octet is the highest.
    pub ip: u32,
}

impl Address {
    /// The address of host `number`, as captures show it: 10.0.0.1 and 02:00:00:00:00:01 are host 0.
    pub const fn of_host(number: u32) -> Self {
        let [a, b, c, d] = number.wrapping_add(1).to_be_bytes();
        Self { mac: [2, 0, a, b, c, d], ip: u32::from_be_bytes([10, b, c, d]) }
    }
}

/// The headers that a policy may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Headers {
    /// The sending host.
    pub source: Address,
    /// The receiving host.
    pub destination: Address,
    /// TCP port at the sender.
    pub source_port: u16,
    /// TCP port at the receiver.
    pub destination_port: u16,
}

/// The headers whose hash chooses the member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashPolicy {
    /// Ethernet addresses: all traffic between two hosts takes one member.
    Layer2,
    /// Ethernet and IP addresses: as `Layer2`, but spread better behind a router.
    Layer23,
    /// IP addresses and ports: the connections between two hosts spread over the members.
    Layer34,
}

/// The packet type of IPv4 in an Ethernet header.
const IPV4: u32 = 0x0800;

impl HashPolicy {
    /// The hash. The member is the hash modulo the number of usable members.
    ///
    /// Addresses and ports are numbers in header order, as on a big-endian machine. (The driver folds them as they lie
    /// in memory. On a little-endian machine the bits that choose among 2, 4 or 8 members are the same; for other
    /// numbers of members the remainders differ.)
    pub const fn hash(self, headers: &Headers) -> u32 {
        let Headers { source, destination, source_port, destination_port } = headers;
        let layer2 = (source.mac[5] ^ destination.mac[5]) as u32 ^ IPV4;
        match self {
            Self::Layer2 => layer2,
            Self::Layer23 => fold(layer2 ^ source.ip ^ destination.ip),
            // The lowest bit is discarded: connections often use even ports only.
            Self::Layer34 => {
                fold(((*source_port as u32) << 16 | *destination_port as u32) ^ source.ip ^ destination.ip) >> 1
            }
        }
    }
}

const fn fold(hash: u32) -> u32 {
    let hash = hash ^ hash >> 16;
    hash ^ hash >> 8
}
