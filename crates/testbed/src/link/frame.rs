//! What a queue needs to know of an Ethernet frame: flow, ECN field and class.

use super::path::ETHERNET;
use net::{Ecn, Item, PacketId};

const HEADER: usize = ETHERNET as usize;
const ETHERTYPE: usize = 12;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// A frame as a queue's item. A frame without an IP packet belongs to flow 0 and cannot be marked.
pub fn item(packet: PacketId, frame: &[u8]) -> Item {
    let bytes = frame.len() as u32;
    let Some(header) = Header::of(frame) else { return Item::new(packet, 0, bytes, Ecn::NotEct) };
    let ecn = match header.traffic_class & 3 {
        0 => Ecn::NotEct,
        3 => Ecn::Ce,
        _ => Ecn::Ect,
    };
    let mut item = Item::new(packet, header.flow(), bytes, ecn);
    // The class selectors of RFC 2474, section 4.2.2: the highest goes first.
    item.class = 7 - (header.traffic_class >> 5);
    item
}

/// Marks a frame with CE. True if it was not marked before.
pub fn mark(frame: &mut [u8]) -> bool {
    let Some(header) = Header::of(frame) else { return false };
    let class = header.traffic_class | 3;
    if class == header.traffic_class {
        return false;
    }
    if header.version == 4 {
        // The header checksum is updated for the one changed word (RFC 1624, equation 3).
        let word = |frame: &[u8], at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let old = word(frame, HEADER);
        frame[HEADER + 1] = class;
        let sum = u32::from(!word(frame, HEADER + 10)) + u32::from(!old) + u32::from(word(frame, HEADER));
        let folded = (sum & 0xffff) + (sum >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        frame[HEADER + 10..HEADER + 12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    } else {
        frame[HEADER] = frame[HEADER] & 0xf0 | class >> 4;
        frame[HEADER + 1] = frame[HEADER + 1] & 0x0f | class << 4;
    }
    true
}

/// The fields that are read from an IP header.
struct Header<'a> {
    version: u8,
    traffic_class: u8,
    addresses: &'a [u8],
    protocol: u8,
    /// Source and destination port, if there are any.
    ports: &'a [u8],
}

impl<'a> Header<'a> {
    fn of(frame: &'a [u8]) -> Option<Self> {
        let packet = frame.get(HEADER..)?;
        let ports = |at: usize, protocol: u8| {
            let has = matches!(protocol, 6 | 17 | 132 | 136);
            packet.get(at..at + 4).filter(|_| has).unwrap_or_default()
        };
        match frame.get(ETHERTYPE..HEADER)? {
            kind if kind == IPV4 => {
                let (first, protocol) = (*packet.first()?, *packet.get(9)?);
                // Only the first fragment has ports, and all fragments belong to one flow.
                let fragment = packet[6] & 0x3f != 0 || packet[7] != 0;
                let ports = if fragment { &[][..] } else { ports(usize::from(first & 0x0f) * 4, protocol) };
                Some(Self { version: 4, traffic_class: packet[1], addresses: packet.get(12..20)?, protocol, ports })
            }
            kind if kind == IPV6 => {
                let (first, second, protocol) = (*packet.first()?, *packet.get(1)?, *packet.get(6)?);
                let traffic_class = first << 4 | second >> 4;
                Some(Self {
                    version: 6,
                    traffic_class,
                    addresses: packet.get(8..40)?,
                    protocol,
                    ports: ports(40, protocol),
                })
            }
            _ => None,
        }
    }

    /// A number shared by the packets of one direction of a connection.
    fn flow(&self) -> u32 {
        let mut hash = 0x811c_9dc5_u32;
        for byte in self.addresses.iter().chain([&self.protocol]).chain(self.ports) {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with IPv4 and UDP headers and a correct checksum.
    fn ipv4(traffic_class: u8, port: u16) -> Vec<u8> {
        let mut frame = vec![0; HEADER + 28];
        frame[ETHERTYPE..HEADER].copy_from_slice(&IPV4);
        frame[HEADER] = 0x45;
        frame[HEADER + 1] = traffic_class;
        frame[HEADER + 3] = 28;
        frame[HEADER + 8] = 64;
        frame[HEADER + 9] = 17;
        frame[HEADER + 12..HEADER + 20].copy_from_slice(&[198, 18, 0, 1, 198, 18, 0, 2]);
        frame[HEADER + 20..HEADER + 22].copy_from_slice(&port.to_be_bytes());
        let sum = !sum(&frame[HEADER..HEADER + 20]);
        frame[HEADER + 10..HEADER + 12].copy_from_slice(&sum.to_be_bytes());
        frame
    }

    /// RFC 1071: 0xffff over a header with its checksum.
    fn sum(header: &[u8]) -> u16 {
        let total: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        let folded = (total & 0xffff) + (total >> 16);
        ((folded & 0xffff) + (folded >> 16)) as u16
    }

    fn ipv6(traffic_class: u8) -> Vec<u8> {
        let mut frame = vec![0; HEADER + 48];
        frame[ETHERTYPE..HEADER].copy_from_slice(&IPV6);
        frame[HEADER] = 0x60 | traffic_class >> 4;
        frame[HEADER + 1] = traffic_class << 4 | 0x0a;
        frame[HEADER + 6] = 6;
        frame
    }

    #[test]
    fn marks_keep_the_checksum_and_the_rest() {
        for class in 0..=255_u8 {
            let mut frame = ipv4(class, 1);
            assert_eq!(sum(&frame[HEADER..HEADER + 20]), 0xffff);
            assert_eq!(mark(&mut frame), class & 3 != 3);
            assert_eq!((frame[HEADER + 1], sum(&frame[HEADER..HEADER + 20])), (class | 3, 0xffff), "class {class}");
            let mut frame = ipv6(class);
            assert_eq!(mark(&mut frame), class & 3 != 3);
            assert_eq!(frame, ipv6(class | 3));
        }
    }

    #[test]
    fn flows_ecn_and_classes_are_read() {
        let of = |frame: &[u8]| item(PacketId(0), frame);
        assert_eq!(of(&ipv4(0, 1)).flow, of(&ipv4(2, 1)).flow);
        assert_ne!(of(&ipv4(0, 1)).flow, of(&ipv4(0, 2)).flow);
        for (class, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect), (2, Ecn::Ect), (3, Ecn::Ce)] {
            assert_eq!((of(&ipv4(class, 1)).ecn, of(&ipv6(class)).ecn), (ecn, ecn));
        }
        assert_eq!((of(&ipv4(0, 1)).class, of(&ipv6(0xe0)).class), (7, 0));
    }

    #[test]
    fn what_is_cut_short_is_no_ip_packet() {
        for whole in [ipv4(2, 1), ipv6(2)] {
            for length in 0..whole.len() {
                let mut frame = whole[..length].to_vec();
                let item = item(PacketId(0), &frame);
                assert_eq!(item.bytes as usize, length);
                let marked = mark(&mut frame);
                assert_eq!(marked, item.ecn == Ecn::Ect, "{length}");
            }
        }
    }
}
