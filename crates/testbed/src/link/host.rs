//! A host of a star: a network namespace, and a host name of its own.

use super::namespace::on_thread;
use super::{LinkError, Namespace};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::sethostname;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::process::{Child, Command};

/// A host: programs in it see its name and its network. Both end with this handle and the programs.
#[derive(Debug)]
pub struct Host {
    name: String,
    net: Namespace,
    uts: File,
}

/// Bytes through an interface since it was made, Ethernet headers included.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
}

/// The one interface of a host besides the loopback.
pub const INTERFACE: &str = "eth0";

impl Host {
    /// A new host.
    pub(super) fn create(name: &str) -> Result<Self, LinkError> {
        let net = Namespace::create()?;
        let uts = on_thread(|| {
            unshare(CloneFlags::CLONE_NEWUTS)?;
            sethostname(name)?;
            File::open("/proc/thread-self/ns/uts")
        });
        let uts = uts.map_err(LinkError::system(format!("give a host the name {name}")))?;
        Ok(Self { name: name.to_owned(), net, uts })
    }

    /// The host behind two namespace files, as another process sees it.
    pub fn of(name: &str, net: File, uts: File) -> Self {
        Self { name: name.to_owned(), net: Namespace::of_file(net), uts }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its network.
    pub fn net(&self) -> &Namespace {
        &self.net
    }

    /// The descriptors of its namespaces in this process: network, name. Others open them below `/proc/PID/fd`.
    pub fn descriptors(&self) -> [RawFd; 2] {
        [self.net.descriptor(), self.uts.as_raw_fd()]
    }

    /// Moves the calling thread to the host for good.
    pub fn enter(&self) -> io::Result<()> {
        self.net.enter()?;
        setns(&self.uts, CloneFlags::CLONE_NEWUTS).map_err(io::Error::from)
    }

    /// Runs `work` on a thread at the host.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_thread(|| {
            self.enter()?;
            Ok(work())
        })
    }

    /// Starts a program at the host.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        self.within(|| command.spawn())?
    }

    /// What its interface has received and sent.
    pub fn traffic(&self) -> io::Result<Traffic> {
        let table = self.net.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))??;
        traffic(&table, INTERFACE)
            .ok_or_else(|| io::Error::other(format!("{} has no interface {INTERFACE}", self.name)))
    }
}

/// An interface's line in the kernel's table: eight fields of received traffic come first, then those of sent.
fn traffic(table: &str, interface: &str) -> Option<Traffic> {
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(interface)?.strip_prefix(':'))?;
    let mut fields = line.split_ascii_whitespace();
    let received = fields.next()?.parse().ok()?;
    Some(Traffic { received, sent: fields.nth(7)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_from_the_kernel_s_table() {
        // /proc/net/dev of Linux 6.18.
        let table = "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls \
             carrier compressed\n    lo:       0       0    0    0    0     0          0         0        0       0    \
             0    0    0     0       0          0\n  eth0: 2806703    9713    0    0    0     0          0         0  \
             1053354    8114    0    0    0     0       0          0\n";
        assert_eq!(traffic(table, "eth0"), Some(Traffic { received: 2_806_703, sent: 1_053_354 }));
        assert_eq!(traffic(table, "eth1"), None);
    }
}
