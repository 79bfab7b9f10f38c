//! A star: hosts, and a link from each to one switch.
//!
//! The far ends of the links are ports of a bridge in a namespace of its own. Links are emulated paths
//! ([`Links::Emulated`]), or pairs of virtual Ethernet devices ([`Links::Veth`]), which only token buckets slow down.
//! Neighbours and the bridge's table are fixed: only the users' frames cross a link.

use super::clock::Clock;
use super::engine::Runner;
use super::host::{Host, INTERFACE};
use super::namespace::Namespace;
use super::pair::start;
use super::report::Report;
use super::setup::{self, KERNEL_QUEUE, MOST_PATHS};
use super::spoke::{Links, Spoke, check_spokes};
use super::{LinkError, Path};
use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path as FilePath;
use tun_rs::SyncDevice;
use units::BitRate;

/// Hosts around a switch. Dropping it ends the processes of all hosts, and takes everything down.
#[derive(Debug)]
pub struct Star {
    hosts: Vec<Host>,
    spokes: Vec<Spoke>,
    links: Links,
    /// The namespace with the bridge.
    switch: Namespace,
    /// The runner of each path; none where links are not emulated.
    runners: Vec<Runner>,
}

/// What holds for all links of a star.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StarSettings {
    /// How the links are made.
    pub links: Links,
    /// The largest IP packet in bytes.
    pub mtu: u32,
    /// The congestion control of all connections, by the kernel's name; `None` for the kernel's default.
    pub control: Option<String>,
    /// What the random draws of emulated paths depend on.
    pub seed: u64,
}

/// The largest MTU: an emulated path carries frames without VLAN tags up to 1514 bytes.
pub const MOST_MTU: u32 = 1_500;
/// The bridge's name in its namespace.
pub(super) const BRIDGE: &str = "switch";

impl Default for StarSettings {
    fn default() -> Self {
        Self { links: Links::Emulated, mtu: MOST_MTU, control: None, seed: 1 }
    }
}

impl Star {
    /// Makes a host for each spoke, and the links. With the same seed, the same frames at the same times suffer the
    /// same losses.
    pub fn up(spokes: &[Spoke], settings: &StarSettings) -> Result<Self, LinkError> {
        check_spokes(spokes, settings)?;
        let hosts = spokes.iter().map(|spoke| Host::create(spoke.name())).collect::<Result<Vec<_>, _>>()?;
        let switch = Namespace::create()?;
        setup::ip_batch(
            &switch,
            &format!(
                "link set dev lo up\nlink add name {BRIDGE} type bridge stp_state 0 mcast_snooping 0\n\
                 link set dev {BRIDGE} addrgenmode none\nlink set dev {BRIDGE} up\n"
            ),
        )?;
        let ends = match settings.links {
            Links::Emulated => Some(taps(&hosts, &switch)?),
            Links::Veth => {
                veths(&hosts, &switch)?;
                None
            }
        };
        for (index, host) in hosts.iter().enumerate() {
            setup::ip_batch(host.net(), &at_host(index, hosts.len(), settings))?;
        }
        setup::ip_batch(&switch, &ports(&hosts, settings.links))?;
        setup::batch("bridge", "fill the switch's table", &switch, &forwarding(&hosts))?;
        for (host, spoke) in hosts.iter().zip(spokes) {
            if let Some(bucket) = &spoke.egress {
                setup::batch("tc", "shape a host's link", host.net(), &bucket.command(INTERFACE))?;
            }
        }
        let ingress: String =
            spokes.iter().filter_map(|spoke| Some(spoke.ingress.as_ref()?.command(spoke.name()))).collect();
        if !ingress.is_empty() {
            setup::batch("tc", "shape the switch's ports", &switch, &ingress)?;
        }
        let clock = Clock::start();
        let mut runners = Vec::new();
        for (index, (spoke, (near, far))) in spokes.iter().zip(ends.into_iter().flatten()).enumerate() {
            let runner = start(&spoke.path, index as u64, settings.seed, clock, near, far);
            runners.push(runner.map_err(LinkError::system("start a thread for a path"))?);
        }
        Ok(Self { hosts, spokes: spokes.to_vec(), links: settings.links, switch, runners })
    }

    /// The hosts, in the order of the spokes.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The settings of the links.
    pub fn spokes(&self) -> &[Spoke] {
        &self.spokes
    }

    pub(super) fn links(&self) -> Links {
        self.links
    }
    pub(super) fn switch(&self) -> &Namespace {
        &self.switch
    }
    /// Changes the rate of a direction, to the switch 0 and from it 1, of a host's emulated path.
    pub(super) fn set_path_rate(&self, host: usize, way: usize, rate: Option<BitRate>) {
        if let Some(runner) = self.runners.get(host) {
            runner.set_rate(way, rate);
        }
    }

    /// The address of a host.
    pub const fn address(host: usize) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, 0, host as u8 + 1)
    }

    /// What the emulated paths have done; `None` for links that are not emulated.
    pub fn report(&self) -> io::Result<Option<Report>> {
        if self.runners.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = self.spokes.iter().map(Spoke::name).collect();
        let back = setup::overflows(&self.switch, &names)?;
        let mut paths = Vec::new();
        for ((runner, host), back) in self.runners.iter().zip(&self.hosts).zip(back) {
            let mut report = runner.report();
            report.forth.overflowed = setup::overflows(host.net(), &[INTERFACE])?.first().copied().unwrap_or(0);
            report.back.overflowed = back;
            paths.push(report);
        }
        let ordinary_priority = self.runners.iter().find_map(|runner| runner.ordinary_priority.clone());
        Ok(Some(Report { paths, ordinary_priority }))
    }
}

impl Drop for Star {
    fn drop(&mut self) {
        for host in &self.hosts {
            host.net().end_processes();
        }
    }
}

/// The TAP devices of each path: at the host, at the switch.
fn taps(hosts: &[Host], switch: &Namespace) -> Result<Vec<(SyncDevice, SyncDevice)>, LinkError> {
    let enter = || LinkError::system("enter a network namespace");
    let end = |host: &Host| {
        let near = host.net().within(|| setup::tap(INTERFACE)).map_err(enter())??;
        let far = switch.within(|| setup::tap(host.name())).map_err(enter())??;
        Ok((near, far))
    };
    hosts.iter().map(end).collect()
}

/// A pair of virtual Ethernet devices for each host.
fn veths(hosts: &[Host], switch: &Namespace) -> Result<(), LinkError> {
    let mut batch = String::new();
    for host in hosts {
        let (name, net) = (host.name(), host.net().path());
        // Writing to a string does not fail.
        let _ = writeln!(batch, "link add name {name} type veth peer name {INTERFACE} netns {}", net.display());
    }
    setup::ip_batch(switch, &batch)
}

/// A locally administered MAC address.
fn mac(host: usize) -> String {
    format!("02:74:6c:01:00:{host:02x}")
}

/// What `ip` does at a host.
fn at_host(index: usize, hosts: usize, settings: &StarSettings) -> String {
    let (dev, own) = (INTERFACE, Star::address(index));
    let mut batch = format!(
        "link set dev lo up\nlink set dev {dev} address {}\nlink set dev {dev} mtu {}\n\
         link set dev {dev} addrgenmode none\nlink set dev {dev} arp off\n",
        mac(index),
        settings.mtu
    );
    // Writing to a string does not fail.
    if settings.links == Links::Emulated {
        let _ = writeln!(batch, "link set dev {dev} txqueuelen {KERNEL_QUEUE}");
    }
    let _ = writeln!(batch, "link set dev {dev} up\naddress add {own}/24 dev {dev}");
    if let Some(control) = &settings.control {
        let _ = writeln!(batch, "route change 198.18.0.0/24 dev {dev} src {own} congctl {control}");
    }
    for other in (0..hosts).filter(|other| *other != index) {
        let (address, lladdr) = (Star::address(other), mac(other));
        let _ = writeln!(batch, "neighbour replace {address} lladdr {lladdr} dev {dev} nud permanent");
    }
    batch
}

/// What `ip` does at the switch: its ports neither learn nor flood.
fn ports(hosts: &[Host], links: Links) -> String {
    let mut batch = String::new();
    for name in hosts.iter().map(Host::name) {
        // Writing to a string does not fail.
        if links == Links::Emulated {
            let _ = writeln!(batch, "link set dev {name} txqueuelen {KERNEL_QUEUE}");
        }
        let quiet = "learning off flood off mcast_flood off bcast_flood off";
        let _ = writeln!(batch, "link set dev {name} addrgenmode none");
        let _ = writeln!(batch, "link set dev {name} master {BRIDGE}");
        let _ = writeln!(batch, "link set dev {name} type bridge_slave {quiet}");
        let _ = writeln!(batch, "link set dev {name} up");
    }
    batch
}

fn forwarding(hosts: &[Host]) -> String {
    let entry = |(index, host): (usize, &Host)| format!("fdb add {} dev {} master static\n", mac(index), host.name());
    hosts.iter().enumerate().map(entry).collect()
}

/// What a star needs of this machine and does not find.
pub fn lacking(links: Links) -> Option<LinkError> {
    let missing = |capability, reason: &str| Some(LinkError::Missing { capability, reason: reason.to_owned() });
    if links == Links::Emulated && !FilePath::new(setup::TUN).exists() {
        return missing("TUN/TAP devices", "there is no /dev/net/tun");
    }
    for program in ["ip", "tc", "bridge"] {
        if setup::program(program).is_none() {
            return missing("iproute2", &format!("there is no {program}: apt-get install iproute2"));
        }
    }
    None
}

/// Checks the number of spokes, their paths and their names.
pub(super) fn check_count(spokes: usize) -> Result<(), LinkError> {
    if (1..=MOST_PATHS).contains(&spokes) {
        return Ok(());
    }
    Err(LinkError::Input(format!("{spokes} hosts were asked for: a star has 1 to {MOST_PATHS}")))
}

/// Whether a path only stands for a wire of the kernel's.
pub(super) fn is_plain(path: &Path) -> bool {
    [&path.forth, &path.back].into_iter().all(|way| {
        let plain = super::Direction::new(None, units::Time::ZERO);
        *way == plain
    })
}
