//! What Linux says of a TCP socket.

use nix::getsockopt_impl;
use nix::sys::socket::{GetSockOpt, sockopt::GetStruct};
use std::io;
use std::os::fd::AsFd;

/// The beginning of the kernel's `struct tcp_info` (include/uapi/linux/tcp.h), as far as version 4.19 has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    pub window_scales: u8,
    pub flags: u8,
    pub rto: u32,
    pub ato: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last_data_sent: u32,
    pub last_ack_sent: u32,
    pub last_data_recv: u32,
    pub last_ack_recv: u32,
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt: u32,
    pub rttvar: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    pub min_rtt: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub busy_time: u64,
    pub rwnd_limited: u64,
    pub sndbuf_limited: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    pub reord_seen: u32,
}

nix::sockopt_impl!(
    /// The socket option `TCP_INFO`.
    Query, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, TcpInfo, GetStruct<TcpInfo>
);

impl TcpInfo {
    /// Asks the kernel.
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        Query.get(&socket.as_fd()).map_err(io::Error::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write, stdin};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_counts_what_was_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let (mut far, _) = listener.accept().expect("connected");
        near.write_all(&[7; 5000]).expect("connected");
        far.read_exact(&mut [0; 5000]).expect("sent");
        let info = TcpInfo::of(&near).expect("a TCP socket");
        assert_eq!((info.state, info.bytes_sent, info.bytes_retrans), (1, 5000, 0));
        assert!(info.rtt > 0 && info.snd_cwnd > 0 && info.snd_mss > 500, "{info:?}");
        assert!(TcpInfo::of(&stdin()).is_err());
    }
}
