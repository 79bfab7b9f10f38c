//! The site of a cell: the program's host and the server's, each behind a router, and the emulated path between the
//! routers.
//!
//! ```text
//! app 198.19.1.2 -- veth -- near 198.18.0.1 == the path == far 198.18.0.2 -- veth -- srv 198.19.2.2
//! ```
//!
//! Buffers and congestion control are set in `app` and `srv`. Gateways run in `near` and `far` with the system's
//! buffers.

use super::TrialError;
use super::cell::{Buffers, Cell, Way};
use crate::link::{Namespace, Pair, ip_batch};
use std::fmt::Write as _;
use std::fs;
use std::net::Ipv4Addr;

/// The namespaces of a cell. Dropping it ends the processes in them and takes everything down.
pub struct Site {
    /// The program's host.
    pub app: Namespace,
    /// The server's host.
    pub srv: Namespace,
    /// The routers, and the path between them.
    pub pair: Pair,
}

/// The address of the program's host.
pub const APP: Ipv4Addr = Ipv4Addr::new(198, 19, 1, 2);
/// The server's address.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(198, 19, 2, 2);
/// The far router's address, where the near gateway finds the far one.
pub const FAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// Further addresses for MPTCP subflows. The kernel allows up to eight subflows.
const MORE_ADDRESSES: std::ops::RangeInclusive<u8> = 3..=9;

impl Site {
    /// Makes the site of a cell.
    pub fn up(cell: &Cell) -> Result<Self, TrialError> {
        let pair = Pair::up(std::slice::from_ref(&cell.path), cell.seed)?;
        let (app, srv) = (Namespace::create()?, Namespace::create()?);
        let site = Self { app, srv, pair };
        let path = &cell.path.name;
        let control = &cell.control;
        for (router, host, net, own, other) in
            [(site.pair.near(), &site.app, 1, 1, 2), (site.pair.far(), &site.srv, 2, 2, 1)]
        {
            ip_batch(
                router,
                &format!(
                    "link add host type veth peer name eth0 netns {}\n\
                     address add 198.19.{net}.1/24 dev host\n\
                     link set dev host up\n\
                     route add 198.19.{other}.0/24 via 198.18.0.{other}\n\
                     route change 198.18.0.0/24 dev {path} src 198.18.0.{own} congctl {control}\n",
                    host.path().display()
                ),
            )?;
            ip_batch(
                host,
                &format!(
                    "link set dev lo up\n\
                     address add 198.19.{net}.2/24 dev eth0\n\
                     link set dev eth0 up\n\
                     route add default via 198.19.{net}.1 congctl {control}\n"
                ),
            )?;
            sysctl(router, "net/ipv4/ip_forward", "1")?;
            for namespace in [router, host] {
                // What one measurement learns of the path must not help the next.
                sysctl(namespace, "net/ipv4/tcp_no_metrics_save", "1")?;
            }
            if let Buffers::Limited(bytes) = cell.buffers {
                let first = |usual: u64| usual.min(bytes.get());
                sysctl(host, "net/ipv4/tcp_rmem", &format!("4096 {} {}", first(131_072), bytes.get()))?;
                sysctl(host, "net/ipv4/tcp_wmem", &format!("4096 {} {}", first(16_384), bytes.get()))?;
            }
        }
        if cell.way == Way::Mptcp {
            site.prepare_multipath()?;
        }
        Ok(site)
    }

    fn prepare_multipath(&self) -> Result<(), TrialError> {
        let mut batch = "mptcp limits set subflows 8 add_addr_accepted 8\n".to_owned();
        for host in MORE_ADDRESSES {
            let (address, device) = (format!("198.19.1.{host}"), "dev eth0");
            // Writing to a string does not fail.
            let _ = writeln!(batch, "address add {address}/24 {device}\nmptcp endpoint add {address} {device} subflow");
        }
        ip_batch(&self.app, &batch)?;
        ip_batch(&self.srv, "mptcp limits set subflows 8 add_addr_accepted 8\n")?;
        Ok(())
    }

    /// MPTCP subflows that joined from the program's host, beside the first.
    pub fn joined_subflows(&self) -> u64 {
        let read = self.app.within(|| fs::read_to_string("/proc/thread-self/net/netstat"));
        let text = read.ok().and_then(Result::ok).unwrap_or_default();
        let mut lines = text.lines().filter(|line| line.starts_with("MPTcpExt:"));
        let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
        let mut fields = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
        fields.find(|(name, _)| *name == "MPJoinSynAckRx").and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // The pair ends the routers' processes.
        self.app.end_processes();
        self.srv.end_processes();
    }
}

fn sysctl(namespace: &Namespace, key: &str, value: &str) -> Result<(), TrialError> {
    let written = namespace.within(|| fs::write(format!("/proc/sys/{key}"), value)).and_then(|written| written);
    written.map_err(TrialError::system(format!("set {} to {value}", key.replace('/', "."))))
}
