//! Ideal completion time of a flow, alone on its path: the denominator of slowdown.

use net::Link;
use tcp::{BASE_HEADER, Config};
use transport::{End, Handle, PacketTransport};
use units::{BitRate, Bytes, Time};

/// One link of a path.
#[derive(Clone, Copy, Debug)]
struct Hop {
    rate: BitRate,
    delay: Time,
}

impl Hop {
    /// Behind a token bucket the bucket's rate counts; its burst is left out.
    fn of(link: &Link) -> Self {
        let rate = link.shaper().map_or(link.rate(), |shaper| shaper.rate.min(link.rate()));
        Self { rate, delay: link.delay() }
    }
    fn transmission(self, bytes: u64) -> Time {
        self.rate.transmission_time(Bytes::new(bytes))
    }
}

/// Time from a flow's start to the arrival of its last byte, on an empty path without losses. It comprises the
/// handshake, if the flow opens its own connection, and its packets, store and forward, at the rates of the path's
/// links. No window limits it: slow start is part of a flow's slowdown.
pub(super) fn completion(
    transport: &PacketTransport,
    handle: Handle,
    tcp: &Config,
    bytes: Bytes,
    handshake: bool,
) -> Option<Time> {
    let forth: Vec<Hop> = transport.path(handle, End::Client)?.map(Hop::of).collect();
    let back: Vec<Hop> = transport.path(handle, End::Server)?.map(Hop::of).collect();
    let framing = u64::from(transport.framing());
    // RFC 7323 and RFC 6691: timestamps take 12 bytes, which shorten the payload.
    let options = if tcp.timestamps && tcp.count_options { 12 } else { 0 };
    let header = u64::from(BASE_HEADER) + options + framing;
    let payload = u64::from(tcp.mss).saturating_sub(options).max(1);
    let mut time = Time::ZERO;
    if handshake {
        // The third packet of the handshake carries the first data.
        let syn = header + if tcp.count_options { syn_options(tcp) } else { 0 };
        time = alone(&forth, syn) + alone(&back, syn);
    }
    let packets = bytes.get().div_ceil(payload).max(1);
    let last = bytes.get() - (packets - 1) * payload + header;
    Some(time + train(&forth, packets, payload + header, last))
}

/// What a SYN's options take beyond a data segment's: segment size, window scale, and SACK-permitted where timestamps
/// leave it no padding.
fn syn_options(tcp: &Config) -> u64 {
    4 + if tcp.window_scaling { 4 } else { 0 } + if tcp.sack && !tcp.timestamps { 4 } else { 0 }
}

/// Time of one packet over the path, alone.
fn alone(path: &[Hop], bytes: u64) -> Time {
    path.iter().fold(Time::ZERO, |time, hop| time + hop.delay + hop.transmission(bytes))
}

/// Time until the last packet of a burst has arrived: `count - 1` packets of `full` bytes, then one of `last` bytes, at
/// most as long.
///
/// In a tandem of FIFO links, the arrival of the last packet is the length of the longest chain of transmissions. A
/// chain leads from the first packet on the first link to the last packet on the last link. Each step goes to the next
/// packet or to the next link. The full packets take one transmission per link, and `count - 2` more on the slowest. So
/// only the link on which a chain changes to the last packet matters.
fn train(path: &[Hop], count: u64, full: u64, last: u64) -> Time {
    let delay = path.iter().fold(Time::ZERO, |sum, hop| sum + hop.delay);
    let sum = |path: &[Hop], bytes| path.iter().fold(Time::ZERO, |sum, hop| sum + hop.transmission(bytes));
    if count == 1 {
        return delay + sum(path, last);
    }
    let (mut longest, mut through, mut slowest) = (Time::ZERO, Time::ZERO, Time::ZERO);
    for (entered, hop) in path.iter().enumerate() {
        through += hop.transmission(full);
        slowest = slowest.max(hop.transmission(full));
        longest = longest.max(through + slowest * (count - 2) + sum(&path[entered..], last));
    }
    delay + longest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The departure of each packet from each link, one after the other: the recursion that the closed form solves.
    fn by_recursion(path: &[Hop], packets: &[u64]) -> Time {
        let mut free = vec![Time::ZERO; path.len()];
        let mut arrival = Time::ZERO;
        for bytes in packets {
            arrival = Time::ZERO;
            for (hop, free) in path.iter().zip(&mut free) {
                *free = arrival.max(*free) + hop.transmission(*bytes);
                arrival = *free + hop.delay;
            }
        }
        arrival
    }

    #[test]
    fn a_train_takes_what_the_recursion_says() {
        let hop = |mbps, us| Hop { rate: BitRate::from_mbps(mbps), delay: Time::from_us(us) };
        let paths = [
            vec![hop(100, 50)],
            vec![hop(100, 50), hop(100, 10)],
            vec![hop(1_000, 5), hop(10, 1_000), hop(100, 7)],
            vec![hop(10, 5), hop(1_000, 1), hop(100, 7), hop(20, 3)],
        ];
        for path in &paths {
            for count in 1..6 {
                for last in [41, 700, 1_500] {
                    let full = std::iter::repeat_n(1_500, count as usize - 1);
                    let packets: Vec<u64> = full.chain([last]).collect();
                    assert_eq!(train(path, count, 1_500, last), by_recursion(path, &packets));
                }
            }
        }
    }
}
