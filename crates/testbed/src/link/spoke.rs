//! The link of a host to its star's switch.

use super::path::FRAME;
use super::star::{BRIDGE, MOST_MTU, StarSettings, check_count, is_plain};
use super::{Direction, LinkError, Path};
use net::{Limit, LinkSpec, Topology};
use units::{BitRate, Bytes, Time};

/// How the links of a star are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Links {
    /// By this program: rate, delay, queue and loss of each link's path.
    Emulated,
    /// By the kernel, as fast as it can, but for token buckets.
    Veth,
}

/// A host's link to the switch.
#[derive(Clone, PartialEq, Debug)]
pub struct Spoke {
    /// The path: its name is the host's; `forth` leads to the switch. Without rate, delay, loss and limit for
    /// [`Links::Veth`].
    pub path: Path,
    /// A token bucket on what the host sends.
    pub egress: Option<Bucket>,
    /// A token bucket on what the switch sends to the host.
    pub ingress: Option<Bucket>,
}

/// A token bucket of the kernel (tbf), in front of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bucket {
    /// Rate at which tokens arrive. Frames count with their Ethernet header.
    pub rate: BitRate,
    /// Depth of the bucket.
    pub burst: Bytes,
    /// What may wait for tokens.
    pub limit: Limit,
}

/// A delay that a kernel's own wire has anyway.
const NO_DELAY: Time = Time::from_us(50);
/// A rate that a kernel's own wire may stand for.
const FAST: BitRate = BitRate::from_gbps(10);

impl Bucket {
    /// The line of `tc` that lays it on an interface.
    pub(super) fn command(&self, interface: &str) -> String {
        let limit = match self.limit {
            Limit::Packets(packets) => format!("limit {}", FRAME.get() * u64::from(packets)),
            Limit::Bytes(bytes) => format!("limit {}", bytes.get()),
            Limit::Delay(delay) => format!("latency {}us", delay.as_us().max(1)),
            Limit::Unlimited => format!("limit {}", u32::MAX),
        };
        let (rate, burst) = (self.rate.as_bps(), self.burst.get());
        format!("qdisc replace dev {interface} root tbf rate {rate}bit burst {burst}b {limit}\n")
    }
}

impl Spoke {
    /// A link of this path without buckets.
    pub fn new(path: Path) -> Self {
        Self { path, egress: None, ingress: None }
    }

    /// The name of its host.
    pub fn name(&self) -> &str {
        &self.path.name
    }

    /// The links of a simulated star, and how they are best made: by the kernel where they are fast, near and lossless.
    pub fn of_topology(topology: &Topology) -> (Vec<Self>, Links) {
        let cables = topology.cables();
        let fast = |spec: &LinkSpec| spec.rate >= FAST && spec.delay <= NO_DELAY && spec.loss.mean() == 0.0;
        let kernel = cables.iter().all(|cable| fast(&cable.forth) && fast(&cable.back));
        let links = if kernel { Links::Veth } else { Links::Emulated };
        let of = |spec: &LinkSpec| match links {
            Links::Veth => Direction::new(None, Time::ZERO),
            // Behind a bucket the link's queue is empty, and the limit is the bucket's.
            Links::Emulated => Direction {
                loss: spec.loss,
                limit: spec.shaper.is_none().then_some(spec.limit),
                discipline: spec.discipline,
                ..Direction::new(Some(spec.rate), spec.delay)
            },
        };
        let bucket = |spec: &LinkSpec| {
            spec.shaper.map(|shaper| Bucket { rate: shaper.rate, burst: shaper.burst, limit: spec.limit })
        };
        let spoke = |cable: &net::Cable| Self {
            path: Path { name: topology.name(cable.a).to_owned(), forth: of(&cable.forth), back: of(&cable.back) },
            egress: bucket(&cable.forth),
            ingress: bucket(&cable.back),
        };
        (cables.iter().map(spoke).collect(), links)
    }
}

/// Checks that these links can exist side by side.
pub(super) fn check_spokes(spokes: &[Spoke], settings: &StarSettings) -> Result<(), LinkError> {
    check_count(spokes.len())?;
    if !(576..=MOST_MTU).contains(&settings.mtu) {
        return Err(LinkError::Input(format!("an MTU of {} is not from 576 to {MOST_MTU}", settings.mtu)));
    }
    if let Some(control) = &settings.control
        && !control.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        return Err(LinkError::Input(format!("`{control}` cannot name a congestion control")));
    }
    for (index, spoke) in spokes.iter().enumerate() {
        spoke.path.check()?;
        let name = spoke.name();
        if name == BRIDGE || spokes[..index].iter().any(|other| other.name() == name) {
            return Err(LinkError::Input(format!("a host cannot be named {name}: the name is taken")));
        }
        if settings.links == Links::Veth && !is_plain(&spoke.path) {
            return Err(LinkError::Input(format!(
                "the link of {name} is to be the kernel's own, which has no rate, delay, loss or queue to set"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(limit: Limit) -> String {
        Bucket { rate: BitRate::from_mbps(10), burst: Bytes::new(32_000), limit }.command("eth0")
    }

    #[test]
    fn buckets_are_spelled_as_tc_reads_them() {
        let line = "qdisc replace dev eth0 root tbf rate 10000000bit burst 32000b";
        assert_eq!(bucket(Limit::Delay(Time::from_ms(400))), format!("{line} latency 400000us\n"));
        assert_eq!(bucket(Limit::Bytes(Bytes::new(64_000))), format!("{line} limit 64000\n"));
        assert_eq!(bucket(Limit::Packets(10)), format!("{line} limit 15140\n"));
    }

    #[test]
    fn fast_links_are_the_kernel_s_and_slow_or_lossy_ones_are_emulated() {
        let kind = |spec: LinkSpec| Spoke::of_topology(&Topology::star(3, &spec)).1;
        let (fast, near) = (BitRate::from_gbps(15), Time::from_us(12));
        assert_eq!(kind(LinkSpec::new(fast, near)), Links::Veth);
        assert_eq!(kind(LinkSpec::new(BitRate::from_gbps(1), near)), Links::Emulated);
        assert_eq!(kind(LinkSpec::new(fast, Time::from_ms(1))), Links::Emulated);
        assert_eq!(kind(LinkSpec::new(fast, near).with_loss(0.001)), Links::Emulated);
    }

    #[test]
    fn what_the_kernel_s_wires_cannot_do_is_refused() {
        let spoke = Spoke::new(Path::new("m", BitRate::from_mbps(10), Time::ZERO));
        let settings = StarSettings { links: Links::Veth, ..StarSettings::default() };
        assert!(check_spokes(std::slice::from_ref(&spoke), &settings).is_err());
        assert!(check_spokes(&[spoke.clone(), spoke], &StarSettings::default()).is_err(), "one name twice");
        assert!(check_spokes(&[], &StarSettings::default()).is_err());
    }
}
