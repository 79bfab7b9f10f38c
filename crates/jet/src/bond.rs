//! Source ports that spread streams over the members of a bond.
//!
//! A bond chooses the member by a hash of each packet's headers, so one stream stays on one member. Where the hash
//! includes ports, the stream's source port decides which one.

use net::bond::{Address, HashPolicy, Headers};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Devices may stand on devices (a VLAN on a bridge on a bond), but not deeper than this.
const DEPTH: u32 = 4;
/// Ports that are tried for one member.
const TRIES: u32 = 512;
/// Step from one tried port to the next, a prime number. The hashes of neighbouring ports alone miss some members where
/// their number is no power of two.
const STRIDE: u64 = 7919;
/// Where source ports begin if the kernel does not say: RFC 6335, section 6.
const DYNAMIC: [u16; 2] = [49_152, 65_535];

/// A bond whose hash looks at ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bond {
    /// Members in use.
    members: u32,
}

/// Why ports do not help with a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No bond, or a bond with a single member.
    Nothing,
    /// Packets leave by a bond, and their ports decide the member.
    Bond(Bond),
    /// All packets between two hosts take one member, by this policy.
    Blind(String),
}

impl Bond {
    /// A bond of `members` members with the policy `layer3+4`; `None` for fewer than two.
    pub fn of(members: u32) -> Option<Self> {
        (members > 1).then_some(Self { members })
    }
    /// What Linux reports of the device by which packets leave (bonding.rst). `devices` is /sys/class/net.
    pub fn under(devices: &Path, name: &str) -> Found {
        let Some(folder) = bonding(devices, name, DEPTH) else { return Found::Nothing };
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        let first = |text: String| text.split_whitespace().next().unwrap_or_default().to_owned();
        let slaves = read("slaves").split_whitespace().count();
        let members = match first(read("mode")).as_str() {
            // With 802.3ad, the members that the partner has taken into the aggregate.
            "802.3ad" => first(read("ad_num_ports")).parse().unwrap_or(slaves as u32),
            "balance-xor" => slaves as u32,
            // The other policies choose in other ways, or one member is in use.
            _ => return Found::Nothing,
        };
        let policy = first(read("xmit_hash_policy"));
        match (Self::of(members), policy.as_str()) {
            (None, _) => Found::Nothing,
            (Some(bond), "layer3+4" | "encap3+4") => Found::Bond(bond),
            (Some(_), _) => Found::Blind(policy),
        }
    }
    /// The member that packets of a connection take: its place among those in use.
    pub fn member(self, from: SocketAddr, to: SocketAddr) -> u32 {
        // The driver folds headers as they lie in memory (bond_xmit_hash in drivers/net/bonding/bond_main.c). The
        // formula of `net` expects network order, so it gets the numbers as the driver reads them. The four words of an
        // IPv6 address are XORed.
        let word = |bytes: &[u8]| {
            bytes.chunks_exact(4).fold(0, |hash, word| hash ^ u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        };
        let fold = |ip: IpAddr| match ip.to_canonical() {
            IpAddr::V4(ip) => word(&ip.octets()),
            IpAddr::V6(ip) => word(&ip.octets()),
        };
        let [a, b] = from.port().to_be_bytes();
        let [c, d] = to.port().to_be_bytes();
        let ports = u32::from_ne_bytes([a, b, c, d]);
        let address = |ip| Address { mac: [0; 6], ip: fold(ip) };
        let headers = Headers {
            source: address(from.ip()),
            destination: address(to.ip()),
            source_port: (ports >> 16) as u16,
            destination_port: ports as u16,
        };
        HashPolicy::Layer34.hash(&headers) % self.members
    }
    /// Source ports by which connections from `from` to `to` take the member `member` (modulo the number of members),
    /// beginning somewhere in `range`.
    pub fn ports(
        self,
        from: IpAddr,
        to: SocketAddr,
        member: u32,
        range: [u16; 2],
        somewhere: u32,
    ) -> impl Iterator<Item = u16> {
        let count = u32::from(range[1].saturating_sub(range[0])) + 1;
        let place = move |step| (u64::from(somewhere) + u64::from(step) * STRIDE) % u64::from(count);
        let ports = (0..count.min(TRIES)).map(move |step| range[0] + place(step) as u16);
        ports.filter(move |port| self.member(SocketAddr::new(from, *port), to) == member % self.members)
    }
}

/// The folder that describes the bond which a device is, or stands on.
fn bonding(devices: &Path, name: &str, depth: u32) -> Option<PathBuf> {
    let device = devices.join(name);
    let own = device.join("bonding");
    if own.is_dir() {
        return Some(own);
    }
    let mut below: Vec<String> = fs::read_dir(&device)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix("lower_").map(str::to_owned))
        .collect();
    below.sort();
    below.iter().filter(|_| depth > 0).find_map(|name| bonding(devices, name, depth - 1))
}

/// The kernel's range of local ports (ip-sysctl.rst, ip_local_port_range).
pub(crate) fn port_range() -> [u16; 2] {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ports = text.split_whitespace().filter_map(|port| port.parse().ok());
    match (ports.next(), ports.next()) {
        (Some(first), Some(last)) if first > 0 && first <= last => [first, last],
        _ => DYNAMIC,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// bond_xmit_hash of Linux 6, written independently: `layer3+4` on a host that reads `word` as a number.
    fn kernels(from: SocketAddr, to: SocketAddr, word: fn([u8; 4]) -> u32) -> u32 {
        let fold = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => word(ip.octets()),
            IpAddr::V6(ip) => ip.octets().chunks(4).fold(0, |hash, four| hash ^ word(four.try_into().expect("four"))),
        };
        let (source, destination) = (from.port().to_be_bytes(), to.port().to_be_bytes());
        let mut hash = word([source[0], source[1], destination[0], destination[1]]);
        hash ^= fold(to.ip()) ^ fold(from.ip());
        hash ^= hash >> 16;
        hash ^= hash >> 8;
        hash >> 1
    }

    #[test]
    fn a_member_by_hand() {
        // 192.0.2.1 port 40000 (9c40) to 192.0.2.2 port 7608 (1db8). In memory: 9c 40 1d b8 ^ c0 00 02 01 ^ c0 00 02 02
        // = 9c 40 1d bb; little-endian bb1d409c. >> 16: bb1d409c ^ 0000bb1d = bb1dfb81; >> 8: bb1dfb81 ^ 00bb1dfb =
        // bba6e67a; >> 1: 5dd3733d. By 3 members: 1574138685 mod 3 = 0.
        let (from, to) =
            ("192.0.2.1:40000".parse().expect("an address"), "192.0.2.2:7608".parse().expect("an address"));
        assert_eq!(kernels(from, to, u32::from_le_bytes), 0x5dd3_733d);
        if cfg!(target_endian = "little") {
            let members = [2, 3, 4, 7].map(|members| Bond { members }.member(from, to));
            assert_eq!(members, [0x5dd3_733d % 2, 0x5dd3_733d % 3, 0x5dd3_733d % 4, 0x5dd3_733d % 7]);
        }
    }

    proptest! {
        #[test]
        fn it_is_the_kernels_hash(from: SocketAddr, to: SocketAddr, members in 2_u32..9) {
            prop_assume!(from.ip().to_canonical() == from.ip() && to.ip().to_canonical() == to.ip());
            prop_assert_eq!(Bond { members }.member(from, to), kernels(from, to, u32::from_ne_bytes) % members);
        }

        #[test]
        fn every_member_has_ports(from: IpAddr, to: SocketAddr, members in 2_u32..9, somewhere: u32) {
            let bond = Bond { members };
            for member in 0..members {
                let ports: Vec<u16> = bond.ports(from, to, member + 7 * members, [32_768, 60_999], somewhere).collect();
                // The share of tried ports that fall to one member varies: ports hash unevenly where the members are no
                // power of two.
                prop_assert!(!ports.is_empty(), "none of member {}", member);
                for port in ports {
                    prop_assert!((32_768..=60_999).contains(&port));
                    prop_assert_eq!(bond.member(SocketAddr::new(from, port), to), member);
                }
            }
        }
    }

    #[test]
    fn neighbours_alone_are_not_tried() {
        // The 512 ports from here on have none of member 2.
        for (to, somewhere) in
            [("[::ec00:0:ae00:0:4e00:0]:0", 531_581_864), ("[2600:0:2000:0:3000:0:400:0]:0", 4_294_355_109)]
        {
            let (from, to) = ("::ffff:127.0.0.1".parse().expect("an address"), to.parse().expect("an address"));
            assert!(Bond { members: 5 }.ports(from, to, 2, [32_768, 60_999], somewhere).count() > 0, "{to}");
        }
    }

    #[test]
    fn what_linux_says_of_devices() {
        let devices = std::env::temp_dir().join(format!("trunkline-devices-{}", std::process::id()));
        let write = |device: &str, files: &[(&str, &str)]| {
            let folder = devices.join(device);
            fs::create_dir_all(&folder).expect("a folder");
            for (name, text) in files {
                fs::write(folder.join(name), text).expect("a file");
            }
        };
        let bond = |mode: &'static str, policy: &'static str, ports: &'static str| {
            [("mode", mode), ("xmit_hash_policy", policy), ("ad_num_ports", ports), ("slaves", "eth0 eth1 eth2\n")]
        };
        write("eth0", &[]);
        write("bond0/bonding", &bond("802.3ad 4\n", "layer3+4 1\n", "2\n"));
        write("bond0.7", &[("lower_bond0", "")]);
        write("br0", &[("lower_eth0", ""), ("lower_bond0.7", "")]);
        write("bond1/bonding", &bond("802.3ad 4\n", "layer2 0\n", "2\n"));
        write("bond2/bonding", &bond("active-backup 1\n", "layer3+4 1\n", "\n"));
        write("bond3/bonding", &bond("balance-xor 2\n", "layer3+4 1\n", "\n"));
        write("bond4/bonding", &bond("802.3ad 4\n", "layer3+4 1\n", "1\n"));
        let found: Vec<Found> = ["eth0", "bond0", "bond0.7", "br0", "bond1", "bond2", "bond3", "bond4", "none"]
            .map(|name| Bond::under(&devices, name))
            .into();
        fs::remove_dir_all(&devices).expect("it was made");
        let of = |members| Found::Bond(Bond { members });
        let expected = [
            Found::Nothing,
            of(2),
            of(2),
            of(2),
            Found::Blind("layer2".to_owned()),
            Found::Nothing,
            of(3),
            Found::Nothing,
            Found::Nothing,
        ];
        assert_eq!(found, expected);
    }
}
