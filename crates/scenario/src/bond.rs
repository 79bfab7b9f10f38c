//! Bonds: several links between two neighbours used as one.

use super::Nodes;
use super::key::{choice, section};
use units::{BitRate, Time};

choice! {
    /// How an end of a bond uses its members (as the Linux bonding driver calls it).
    pub enum BondMode {
        /// By hash of the headers, over the members that LACP has agreed on with the partner.
        Ieee8023ad = "802.3ad",
        /// By hash of the headers, over all members that have a carrier.
        BalanceXor = "balance-xor",
        /// Packet by packet in turn, over all members that have a carrier. Packets of a flow may be reordered.
        BalanceRr = "balance-rr",
    }
}

choice! {
    /// The headers whose hash chooses the member.
    pub enum BondHash {
        /// Ethernet addresses.
        Layer2 = "layer2",
        /// Ethernet and IP addresses.
        Layer23 = "layer2+3",
        /// IP addresses and ports.
        Layer34 = "layer3+4",
    }
}

choice! {
    /// How often an end wants LACPDUs from its partner.
    pub enum Lacp {
        /// Every second; the partner is lost after 3 s.
        Fast = "fast",
        /// Every 30 s; the partner is lost after 90 s.
        Slow = "slow",
        /// No LACP.
        Off = "off",
    }
}

section! {
    /// A bond in place of a link of the topology; keys that begin with `to-` are for the other end where it differs.
    pub struct Bond {
        /// The bond's name. Left out: `bond-1` and so on. With several nodes, each node's name is appended.
        name: String = String::new();
        /// The link of each of these nodes to its switch becomes a bond. Replaces `from` and `to`.
        nodes: Option<Nodes> = None;
        /// One end: a node or a switch.
        from: String = String::new();
        /// The other end, a neighbour of `from`.
        to: String = String::new();
        /// Number of member links.
        members: u32 = 2, 1..=8;
        /// Rate of each member. Left out: that of the link in whose place the bond stands.
        rate: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
        /// How the end `from`, or the node, uses the members.
        mode: BondMode = BondMode::Ieee8023ad;
        /// The headers whose hash chooses the member (802.3ad, balance-xor).
        hash: BondHash = BondHash::Layer2;
        /// How often this end wants LACPDUs from its partner. Left out: slow with 802.3ad, else off.
        lacp: Option<Lacp> = None;
        /// CPU time of this end for each packet that it sends over the bond. Packets are processed in turn; 1,000 may
        /// wait.
        overhead: Time = Time::ZERO, Time::ZERO..=Time::from_secs(1);
        /// Whether LACP has converged before the run. Else it starts with the run.
        agreed: bool = true;
        /// Rate at the other end; it must equal `rate`.
        to_rate: Option<BitRate> = None, BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
        /// Mode of the other end. Left out: as `mode`.
        to_mode: Option<BondMode> = None;
        /// Hash of the other end. Left out: as `hash`.
        to_hash: Option<BondHash> = None;
        /// How often the other end wants LACPDUs. Left out: as `lacp` if both ends have one mode, else slow with
        /// 802.3ad and off otherwise.
        to_lacp: Option<Lacp> = None;
        /// CPU time of the other end for each packet. Left out: as `overhead`.
        to_overhead: Option<Time> = None, Time::ZERO..=Time::from_secs(1);
    }
}

/// Something that is wrong with a bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The key of the bond at which the problem stands.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl Misfit {
    /// A problem at `key`.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { key, message: message.into(), help: help.into() }
    }
}

impl Bond {
    /// Mode, hash, LACP and time per packet of an end: of `from`, or of the `other`.
    pub fn end(&self, other: bool) -> (BondMode, BondHash, Lacp, Time) {
        let (mode, hash, lacp, overhead) = (self.mode, self.hash, self.lacp, self.overhead);
        let (mode, hash, lacp, overhead) = if other {
            let lacp = self.to_lacp.or(lacp.filter(|_| self.to_mode.is_none_or(|to| to == mode)));
            (self.to_mode.unwrap_or(mode), self.to_hash.unwrap_or(hash), lacp, self.to_overhead.unwrap_or(overhead))
        } else {
            (mode, hash, lacp, overhead)
        };
        let usual = if mode == BondMode::Ieee8023ad { Lacp::Slow } else { Lacp::Off };
        (mode, hash, lacp.unwrap_or(usual), overhead)
    }

    /// What its own keys say against each other.
    pub fn contradictions(&self) -> Vec<Misfit> {
        let mut found = Vec::new();
        let (here, there) = (self.end(false), self.end(true));
        for ((mode, _, lacp, _), keys) in [(here, ["lacp", "mode"]), (there, ["to-lacp", "to-mode"])] {
            // What the other end has from this one has been said of this one.
            if keys[0] == "to-lacp" && self.to_lacp.is_none() && self.to_mode.is_none() {
                continue;
            }
            let key = if keys[0] == "lacp" || self.to_lacp.is_some() { keys[0] } else { keys[1] };
            match (mode, lacp) {
                (BondMode::Ieee8023ad, Lacp::Off) => {
                    found.push(Misfit::new(
                        key,
                        "802.3ad without LACP",
                        "mode \"balance-xor\" uses the members without it",
                    ));
                }
                (BondMode::BalanceXor | BondMode::BalanceRr, Lacp::Fast | Lacp::Slow) => {
                    let message = format!("{} does not speak LACP", mode.word());
                    found.push(Misfit::new(key, message, "mode \"802.3ad\", or `lacp = \"off\"`"));
                }
                _ => {}
            }
        }
        if found.is_empty() && (here.2 == Lacp::Off) != (there.2 == Lacp::Off) {
            let [speaks, does_not] = if here.2 == Lacp::Off { [there.0, here.0] } else { [here.0, there.0] };
            let message = format!("one end is {}, the other {}: LACP finds no partner", speaks.word(), does_not.word());
            found.push(Misfit::new("to-mode", message, "802.3ad at both ends or at neither"));
        }
        if let Some(rate) = self.to_rate.filter(|rate| self.rate.is_some_and(|here| here != *rate)) {
            let here = self.rate.unwrap_or(rate);
            let message = format!("members at {here} at one end and {rate} at the other");
            found.push(Misfit::new("to-rate", message, "the same rate at both ends"));
        }
        found
    }
}
