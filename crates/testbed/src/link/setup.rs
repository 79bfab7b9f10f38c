//! Interfaces at the ends of paths: TAP devices with fixed addresses, set up by iproute2's `ip`.
//!
//! Neighbours are fixed, no router is solicited and no group joined, so only the users' frames cross a path. The
//! addresses are reserved for measurements: 198.18.0.0/15 (RFC 2544) and 2001:2::/48 (RFC 5180).

use super::LinkError;
use super::namespace::Namespace;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// One end of all paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Where the users' programs run.
    Near,
    /// Where their servers run.
    Far,
}

/// Largest number of paths: the addresses allow no more.
pub const MOST_PATHS: usize = 250;
/// The kernel's queue in front of the emulator. It is long enough never to fill, because the path's own queue decides
/// what is dropped.
pub const KERNEL_QUEUE: u32 = 10_000;
/// The device of which TAP devices are made.
pub const TUN: &str = "/dev/net/tun";

impl Side {
    const fn number(self) -> u8 {
        match self {
            Self::Near => 1,
            Self::Far => 2,
        }
    }
    const fn other(self) -> Self {
        match self {
            Self::Near => Self::Far,
            Self::Far => Self::Near,
        }
    }
}

/// The IPv4 address of a path's end.
pub const fn ipv4(path: usize, side: Side) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, path as u8, side.number())
}

/// The IPv6 address of a path's end.
pub const fn ipv6(path: usize, side: Side) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 2, 0, path as u16, 0, 0, 0, side.number() as u16)
}

/// A locally administered MAC address for one end of a path.
fn mac(path: usize, side: Side) -> String {
    format!("02:74:6c:00:{path:02x}:{:02x}", side.number())
}

/// Whether this kernel supports IPv6.
pub fn has_ipv6() -> bool {
    Path::new("/proc/sys/net/ipv6").exists()
}

/// Makes interfaces with these names in a namespace, up and with addresses.
pub fn interfaces(namespace: &Namespace, side: Side, names: &[&str]) -> Result<Vec<SyncDevice>, LinkError> {
    let devices = namespace.within(|| names.iter().map(|name| tap(name)).collect::<Result<Vec<_>, _>>());
    let devices = devices.map_err(LinkError::system("enter a network namespace"))??;
    let mut batch = "link set dev lo up\n".to_owned();
    for (path, name) in names.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = add_interface(&mut batch, path, name, side);
    }
    ip_batch(namespace, &batch)?;
    Ok(devices)
}

fn add_interface(batch: &mut String, path: usize, name: &str, side: Side) -> std::fmt::Result {
    let (own, other) = (mac(path, side), mac(path, side.other()));
    writeln!(batch, "link set dev {name} txqueuelen {KERNEL_QUEUE} address {own}")?;
    writeln!(batch, "link set dev {name} addrgenmode none")?;
    writeln!(batch, "link set dev {name} arp off")?;
    writeln!(batch, "link set dev {name} up")?;
    writeln!(batch, "address add {}/24 dev {name}", ipv4(path, side))?;
    writeln!(batch, "neighbour replace {} lladdr {other} dev {name} nud permanent", ipv4(path, side.other()))?;
    if has_ipv6() {
        writeln!(batch, "address add {}/64 dev {name} nodad", ipv6(path, side))?;
        writeln!(batch, "neighbour replace {} lladdr {other} dev {name} nud permanent", ipv6(path, side.other()))?;
    }
    Ok(())
}

/// A TAP device in the calling thread's namespace. It is removed when dropped.
pub fn tap(name: &str) -> Result<SyncDevice, LinkError> {
    let missing = |capability, reason: String| LinkError::Missing { capability, reason };
    if !Path::new(TUN).exists() {
        return Err(missing("TUN/TAP devices", format!("there is no {TUN}")));
    }
    let device = DeviceBuilder::new().name(name).layer(Layer::L2).enable(false).build_sync().map_err(|error| {
        match error.raw_os_error() {
            Some(1 | 13) => missing("CAP_NET_ADMIN", format!("{TUN} may not be used to make an interface: {error}")),
            Some(6 | 19) => missing("TUN/TAP devices", format!("{TUN} has no driver: {error}")),
            _ => LinkError::system(format!("make the interface {name}"))(error),
        }
    })?;
    device.set_nonblocking(true).map_err(LinkError::system(format!("set up the interface {name}")))?;
    Ok(device)
}

/// Runs `ip` commands, one per line, inside a namespace.
pub fn ip_batch(namespace: &Namespace, commands: &str) -> Result<(), LinkError> {
    batch("ip", "set up interfaces", namespace, commands)
}

/// Runs commands of a program of iproute2, one per line, inside a namespace.
pub fn batch(program: &'static str, what: &str, namespace: &Namespace, commands: &str) -> Result<(), LinkError> {
    let mut command = command(program);
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut run = || -> io::Result<_> {
        let mut child = namespace.spawn(&mut command)?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(commands.as_bytes())?;
        }
        child.wait_with_output()
    };
    finished(program, what, run())
}

/// Where a program of iproute2 is: `/usr/sbin` is not in every user's path.
pub fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&folders).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn command(name: &str) -> Command {
    Command::new(program(name).unwrap_or_else(|| name.into()))
}

/// Runs one `ip` command.
pub fn ip(what: &str, arguments: &[&str]) -> Result<(), LinkError> {
    finished("ip", what, command("ip").args(arguments).stdin(Stdio::null()).output())
}

fn finished(program: &str, what: &str, output: io::Result<Output>) -> Result<(), LinkError> {
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            LinkError::Missing { capability: "iproute2", reason: format!("there is no {program}: install iproute2") }
        }
        _ => LinkError::system(format!("run {program}"))(error),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(LinkError::system(what)(io::Error::other(format!("{program} says: {said}"))))
}

/// For each interface of a namespace: the frames that overflowed the kernel's queue in front of the emulator.
pub fn overflows(namespace: &Namespace, names: &[&str]) -> io::Result<Vec<u64>> {
    let table = namespace.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))??;
    let of = |name: &&str| {
        let line = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
        // Eight fields of received traffic come first; then bytes, packets, errors and drops of sent traffic.
        line.and_then(|line| line.split_ascii_whitespace().nth(11)?.parse().ok()).unwrap_or(0)
    };
    Ok(names.iter().map(of).collect())
}
