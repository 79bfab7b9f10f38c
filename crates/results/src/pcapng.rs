//! The packets of a link as a pcapng file (draft-ietf-opsawg-pcapng), readable by Wireshark: Ethernet, IPv4 and TCP
//! headers as a capture with a short snapshot length would have them, without payload.

use std::collections::BTreeMap;
use std::io::{self, Write};
use tcp::{Flags, NO_WINDOW_SCALE, Segment};
use units::{Quantity, Time};

/// A packet as it begins to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Start of its transmission.
    pub at: Time,
    /// The node that sent it.
    pub from: u32,
    /// The node it is for.
    pub to: u32,
    /// TCP port at the sender.
    pub from_port: u16,
    /// TCP port at the receiver.
    pub to_port: u16,
    /// The segment inside.
    pub segment: &'a Segment,
}

/// A capture being written.
#[derive(Debug)]
pub struct Capture<W> {
    out: W,
    /// The shift of the windows that a sender announces, by sender, receiver and their ports, from its SYN.
    scales: BTreeMap<(u32, u32, u16, u16), u8>,
}

const ETHERNET: u16 = 1;
const SNAPSHOT: u32 = 128;

impl<W: Write> Capture<W> {
    /// Begins a capture of the link of that name; `nodes` names the nodes by number.
    pub fn new(mut out: W, link: &str, nodes: &[String]) -> io::Result<Self> {
        // Section header: byte-order magic, version 1.0, length unknown.
        let mut section = vec![0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
        section.extend([0xff; 8]);
        block(&mut out, 0x0a0d_0d0a, &section)?;
        let mut interface = Vec::new();
        interface.extend(ETHERNET.to_le_bytes());
        interface.extend([0, 0]);
        interface.extend(SNAPSHOT.to_le_bytes());
        option(&mut interface, 2, link.as_bytes());
        // Timestamps in 10^-9 s: the finest that readers keep.
        option(&mut interface, 9, &[9]);
        interface.extend([0; 4]);
        block(&mut out, 1, &interface)?;
        // Name resolution: an IPv4 address and its name, each.
        let mut names = Vec::new();
        for (node, name) in nodes.iter().enumerate() {
            let mut record = address(node as u32).to_vec();
            record.extend(name.bytes().filter(|byte| *byte != 0).take(255));
            record.push(0);
            names.extend(1_u16.to_le_bytes());
            names.extend((record.len() as u16).to_le_bytes());
            pad(&mut record);
            names.extend(record);
        }
        names.extend([0; 4]);
        block(&mut out, 4, &names)?;
        Ok(Self { out, scales: BTreeMap::new() })
    }

    /// Adds a packet.
    pub fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let segment = frame.segment;
        let sender = (frame.from, frame.to, frame.from_port, frame.to_port);
        let is_syn = segment.flags.contains(Flags::SYN);
        if is_syn && segment.window_scale != NO_WINDOW_SCALE {
            self.scales.insert(sender, segment.window_scale);
        }
        // The window of a SYN is never scaled (RFC 7323, 2.2).
        let shift = if is_syn { 0 } else { self.scales.get(&sender).copied().unwrap_or(0) };
        let headers = headers(frame, (segment.window >> shift).min(65_535) as u16);
        let nanoseconds = frame.at.base() / 1_000;
        let mut packet = vec![0; 4];
        packet.extend(((nanoseconds >> 32) as u32).to_le_bytes());
        packet.extend((nanoseconds as u32).to_le_bytes());
        packet.extend((headers.len() as u32).to_le_bytes());
        packet.extend((headers.len() as u32 + segment.len).to_le_bytes());
        packet.extend(headers);
        pad(&mut packet);
        block(&mut self.out, 6, &packet)
    }

    /// Ends the capture.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length)?;
    out.write_all(body)?;
    out.write_all(&length)
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

/// 10.0.0.1 is the master.
fn address(node: u32) -> [u8; 4] {
    let [_, high, middle, low] = (node + 1).to_be_bytes();
    [10, high, middle, low]
}

/// A locally administered address that ends in the node's number.
fn hardware_address(node: u32) -> [u8; 6] {
    let [a, b, c, d] = (node + 1).to_be_bytes();
    [2, 0, a, b, c, d]
}

/// The Internet checksum (RFC 1071), folded.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn headers(frame: &Frame<'_>, window: u16) -> Vec<u8> {
    let segment = frame.segment;
    let options = options(segment);
    let tcp_length = 20 + options.len() as u32 + segment.len;
    let (from, to) = (address(frame.from), address(frame.to));

    let mut bytes = Vec::with_capacity(SNAPSHOT as usize);
    bytes.extend(hardware_address(frame.to));
    bytes.extend(hardware_address(frame.from));
    bytes.extend([0x08, 0x00]);

    let ecn = match (segment.flags.contains(Flags::CE), segment.flags.contains(Flags::ECT)) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 0,
    };
    let [length_high, length_low] = ((tcp_length + 20) as u16).to_be_bytes();
    // Version 4, header of 5 words; don't fragment; 64 hops to live; protocol 6.
    let mut ip = [0x45, ecn, length_high, length_low, 0, 0, 0x40, 0, 64, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    ip[12..16].copy_from_slice(&from);
    ip[16..20].copy_from_slice(&to);
    let sum = checksum(&[&ip]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(ip);

    let bit = |flag, at: u8| u8::from(segment.flags.contains(flag)) << at;
    let bits = bit(Flags::FIN, 0)
        | bit(Flags::SYN, 1)
        | bit(Flags::RST, 2)
        | bit(Flags::PSH, 3)
        | bit(Flags::ACK, 4)
        | bit(Flags::ECE, 6)
        | bit(Flags::CWR, 7);
    let mut tcp = Vec::with_capacity(60);
    tcp.extend(frame.from_port.to_be_bytes());
    tcp.extend(frame.to_port.to_be_bytes());
    // Stream positions, modulo 2^32: the initial sequence number is 0.
    tcp.extend((segment.seq as u32).to_be_bytes());
    let ack = if segment.flags.contains(Flags::ACK) { segment.ack as u32 } else { 0 };
    tcp.extend(ack.to_be_bytes());
    tcp.extend([((20 + options.len()) as u8 / 4) << 4, bits]);
    tcp.extend(window.to_be_bytes());
    tcp.extend([0; 4]);
    tcp.extend(options);
    // Over a payload of zeros, which add nothing to the sum.
    let [length_high, length_low] = (tcp_length as u16).to_be_bytes();
    let sum = checksum(&[&from, &to, &[0, 6, length_high, length_low], &tcp]);
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(tcp);
    bytes
}

fn options(segment: &Segment) -> Vec<u8> {
    let mut options = Vec::new();
    if segment.flags.contains(Flags::SYN) {
        if segment.mss != 0 {
            options.extend([2, 4]);
            options.extend(segment.mss.to_be_bytes());
        }
        if segment.flags.contains(Flags::SACK_PERMITTED) {
            options.extend([4, 2]);
        }
    }
    if segment.flags.contains(Flags::TIMESTAMPS) {
        options.resize(options.len().next_multiple_of(2), 1);
        options.extend([8, 10]);
        options.extend(segment.ts_val.to_be_bytes());
        options.extend(segment.ts_ecr.to_be_bytes());
    }
    if segment.flags.contains(Flags::SYN) && segment.window_scale != NO_WINDOW_SCALE {
        options.extend([1, 3, 3, segment.window_scale]);
    }
    if segment.sack_count() > 0 {
        // A header has room for 40 bytes of options.
        let blocks = segment.sack_count().min((36 - options.len()) / 8);
        options.extend([1, 1, 5, 2 + 8 * blocks as u8]);
        for (start, end) in segment.sack_blocks().take(blocks) {
            options.extend((start as u32).to_be_bytes());
            options.extend((end as u32).to_be_bytes());
        }
    }
    options.resize(options.len().next_multiple_of(4), 1);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the blocks back by the rules of the format alone.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        let mut blocks = Vec::new();
        while !bytes.is_empty() {
            let length = word(&bytes[4..]) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(&bytes[length - 4..]) as usize, length, "the length stands at both ends");
            blocks.push((word(bytes), bytes[8..length - 4].to_vec()));
            bytes = &bytes[length..];
        }
        blocks
    }

    fn packet(body: &[u8]) -> (u64, &[u8], u32) {
        let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().expect("four bytes"));
        (u64::from(word(4)) << 32 | u64::from(word(8)), &body[20..20 + word(12) as usize], word(16))
    }

    #[test]
    fn a_handshake_and_a_loss_read_back() {
        let names = ["master".to_owned(), "worker-1".to_owned()];
        let mut capture = Capture::new(Vec::new(), "worker-1 -> switch", &names).expect("memory");
        let mut syn = Segment::new(Flags::SYN | Flags::SACK_PERMITTED | Flags::TIMESTAMPS, 0, 0);
        (syn.mss, syn.window_scale, syn.window, syn.ts_val) = (1460, 7, 65_535, 9);
        let mut data = Segment::new(Flags::ACK | Flags::PSH | Flags::TIMESTAMPS | Flags::CE, (1 << 32) + 5, 77);
        (data.len, data.window) = (1448, 512_000);
        for block in 0..3 {
            data.push_sack(1000 + 100 * block, 1050 + 100 * block);
        }
        for (at, segment) in [(Time::from_us(1_500), &syn), (Time::from_secs(5), &data)] {
            let frame = Frame { at, from: 1, to: 0, from_port: 40_000, to_port: 13_562, segment };
            capture.frame(&frame).expect("memory");
        }
        let bytes = capture.finish().expect("memory");
        let blocks = blocks(&bytes);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 4, 6, 6]);

        let (at, headers, length) = packet(&blocks[3].1);
        assert_eq!((at, length as usize), (1_500_000, headers.len()), "1.5 ms in nanoseconds, no payload");
        assert_eq!(headers[..14], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        let (ip, tcp) = headers[14..].split_at(20);
        assert_eq!((ip[0], ip[9], &ip[12..16], &ip[16..20]), (0x45, 6, &[10, 0, 0, 2][..], &[10, 0, 0, 1][..]));
        assert_eq!(checksum(&[ip]), 0, "a header with its checksum sums to zero");
        assert_eq!(usize::from(tcp[12] >> 4) * 4, tcp.len());
        assert_eq!((tcp[13], &tcp[14..16]), (2, &[0xff, 0xff][..]), "SYN alone, window not scaled");
        assert_eq!(tcp[20..], [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7]);

        let (at, headers, length) = packet(&blocks[4].1);
        assert_eq!((at, length as usize), (5_000_000_000, headers.len() + 1448));
        let (ip, tcp) = headers[14..].split_at(20);
        assert_eq!(ip[1], 3, "congestion experienced");
        assert_eq!(u16::from_be_bytes([ip[2], ip[3]]) as usize, 20 + tcp.len() + 1448);
        assert_eq!((&tcp[4..8], &tcp[8..12]), (&[0, 0, 0, 5][..], &[0, 0, 0, 77][..]), "positions modulo 2^32");
        assert_eq!((tcp[13], u16::from_be_bytes([tcp[14], tcp[15]])), (0x18, 4000), "ACK and PSH, 512000 >> 7");
        assert_eq!((tcp.len(), tcp[32..34].to_vec()), (60, vec![5, 26]), "three SACK blocks beside timestamps");
        let pseudo = [10, 0, 0, 2, 10, 0, 0, 1, 0, 6, 5, 228];
        assert_eq!(tcp.len() + 1448, 5 * 256 + 228);
        assert_eq!(checksum(&[&pseudo, tcp]), 0);
    }
}
