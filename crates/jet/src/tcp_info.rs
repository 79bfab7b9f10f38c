//! What Linux says of a TCP socket.

use nix::getsockopt_impl;
use nix::sys::socket::{GetSockOpt, sockopt::GetStruct};
use std::io;
use std::os::fd::AsFd;
use units::BitRate;

/// The beginning of the kernel's `struct tcp_info` (include/uapi/linux/tcp.h), as of version 4.19.
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

/// BBR's state: the kernel's `struct tcp_bbr_info` (include/uapi/linux/inet_diag.h).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct BbrInfo {
    pub bandwidth: [u32; 2],
    pub min_rtt: u32,
    pub pacing_gain: u32,
    pub cwnd_gain: u32,
}

/// Not in the `libc` crate (include/uapi/linux/tcp.h).
const TCP_CC_INFO: libc::c_int = 26;

nix::sockopt_impl!(
    /// The socket option `TCP_CC_INFO`, of a socket with BBR.
    QueryBbr, GetOnly, libc::IPPROTO_TCP, TCP_CC_INFO, BbrInfo, GetStruct<BbrInfo>
);

/// Gains are in 256ths (`BBR_UNIT`). Once a rate has been seen, only start-up has more than 5/4: 2/ln 2 (Cardwell et
/// al., *BBR: Congestion-Based Congestion Control*, ACM Queue 2016).
const BBR_PROBES: u32 = 256 * 5 / 4;

impl BbrInfo {
    /// Asks the kernel. Of a socket with another control it must not be asked, for that may say less.
    pub(crate) fn of(socket: &impl AsFd) -> Option<Self> {
        QueryBbr.get(&socket.as_fd()).ok()
    }
    /// Whether it is in its start-up, which ends without `ssthresh`.
    pub(crate) fn starts(&self) -> bool {
        self.bandwidth == [0, 0] || self.pacing_gain > BBR_PROBES
    }
    /// BBR's estimate of the path's rate; the struct has its low half first.
    pub(crate) fn bandwidth(&self) -> BitRate {
        let [low, high] = self.bandwidth.map(u64::from);
        BitRate::from_bps((high << 32 | low).saturating_mul(8))
    }
}

impl TcpInfo {
    /// Whether the last rate sample was app-limited: nothing left to send though the congestion window had room
    /// (`tcpi_delivery_rate_app_limited`, a field of one bit).
    pub fn is_app_limited(&self) -> bool {
        self.flags & if cfg!(target_endian = "little") { 0x01 } else { 0x80 } != 0
    }
    /// Asks the kernel.
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        Query.get(&socket.as_fd()).map_err(io::Error::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockRef;
    use std::io::{Read, Write, stdin};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::thread;

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

    #[test]
    fn bbr_says_when_its_start_up_is_over() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let (mut far, _) = listener.accept().expect("connected");
        if SockRef::from(&near).set_tcp_congestion(b"bbr").is_err() {
            eprintln!("this kernel has no BBR, or not for this user");
            return;
        }
        let starts = || BbrInfo::of(&near).expect("a socket with BBR").starts();
        assert!(starts());
        let reader = thread::spawn(move || io::copy(&mut far, &mut io::sink()));
        // Three round trips without a quarter more are enough, and there are thousands of round trips in this.
        let (mut writer, block, mut blocks) = (&near, vec![0; 64 << 10], 0);
        while starts() && blocks < 32 << 10 {
            writer.write_all(&block).expect("it reads");
            blocks += 1;
        }
        assert!(!starts(), "{blocks}");
        assert!(BbrInfo::of(&near).is_some_and(|info| info.bandwidth() > BitRate::from_bps(10_000_000)));
        near.shutdown(Shutdown::Write).expect("open");
        assert!(reader.join().expect("no panic").is_ok_and(|bytes| bytes > 64 << 10));
    }
}
