//! Bonds: several links between two neighbours used as one (IEEE 802.3ad, now 802.1AX).
//!
//! A bond's members are ordinary links with their own queues and counters. Routes lead over the bond; a packet's member
//! is chosen when it is sent. A hash policy depends only on the flow, so the route carries the hash modulo 840, which
//! yields the remainder by any number of members up to eight.

mod end;
mod hash;
mod lacp;

pub use hash::{Address, HashPolicy, Headers};
pub use lacp::{Counters as PortCounters, Group, Info, Lacpdu, Mux, Port, Receive, State, agree};

pub(crate) use end::{End, Sent};

use crate::topology::{LinkId, Topology};
use thiserror::Error;
use units::Time;

/// The most members of a bond.
pub const MOST_MEMBERS: usize = 8;

/// The least common multiple of 1 to [`MOST_MEMBERS`].
pub(crate) const CLASSES: u32 = 840;

/// How an end spreads packets over the members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// By header hash: a flow stays on one member as long as the usable members stay the same.
    Hash(HashPolicy),
    /// Round robin by packet (`balance-rr`): one flow fills all members, and its packets are reordered.
    RoundRobin,
}

/// How often an end wants LACPDUs from its partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LacpRate {
    /// Every second; gives up after 3 s.
    Fast,
    /// Every 30 s; gives up after 90 s.
    Slow,
}

/// One end of a bond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndSpec {
    /// How it spreads packets.
    pub distribution: Distribution,
    /// LACP's rate; `None` for a static bond, whose members are usable while they have carrier.
    pub lacp: Option<LacpRate>,
    /// Processor time for each packet sent over the bond, one after the other.
    pub overhead: Time,
}

/// Several links between two neighbours that act as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BondSpec {
    /// Name of the bond.
    pub name: String,
    /// The members, in the direction from the first end to the second.
    pub members: Vec<LinkId>,
    /// The ends: where the members begin, and where they end.
    pub ends: [EndSpec; 2],
    /// Whether LACP has reached agreement before the run. Otherwise it starts with the run.
    pub agreed: bool,
}

/// Why a [`BondSpec`] is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BondError {
    /// Too few or too many members.
    #[error("a bond has 1 to 8 members, and `{0}` has {1}")]
    Members(String, usize),
    /// Members between different vertices.
    #[error("the members of bond `{0}` are not between the same two ends")]
    Ends(String),
    /// Members that LACP would not aggregate.
    #[error(
        "the members of bond `{0}` differ in rate: 802.3ad gives each rate a key of its own and aggregates equal keys \
         only"
    )]
    Rates(String),
    /// One end speaks LACP, the other does not.
    #[error("one end of bond `{0}` speaks LACP and the other does not: it would never find a partner")]
    Lacp(String),
    /// A link in two bonds.
    #[error("a link of bond `{0}` is in another bond, too")]
    Shared(String),
}

impl BondSpec {
    /// Checks that such a bond can exist in a topology.
    pub fn check(&self, topology: &Topology) -> Result<(), BondError> {
        let name = || self.name.clone();
        let Some(first) = self.members.first().filter(|_| self.members.len() <= MOST_MEMBERS) else {
            return Err(BondError::Members(name(), self.members.len()));
        };
        if self.members.iter().any(|member| topology.ends(*member) != topology.ends(*first)) {
            return Err(BondError::Ends(name()));
        }
        let rate = topology.spec(*first).rate;
        let links = self.members.iter().flat_map(|member| [*member, member.reverse()]);
        if links.into_iter().any(|link| topology.spec(link).rate != rate) {
            return Err(BondError::Rates(name()));
        }
        if self.ends[0].lacp.is_some() != self.ends[1].lacp.is_some() {
            return Err(BondError::Lacp(name()));
        }
        let uses = |link: &LinkId| {
            let bonds = topology.bonds().iter().flat_map(|bond| &bond.members);
            bonds.filter(|other| **other == *link || **other == link.reverse()).count()
        };
        if self.members.iter().any(|member| uses(member) > 1) {
            return Err(BondError::Shared(name()));
        }
        Ok(())
    }
}

/// Counters of one end of a bond, beside those of its members.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EndCounters {
    /// Packets handed to members.
    pub packets: u64,
    /// Packets dropped because too many waited for the end's processor.
    pub drops: u64,
    /// Packets lost because no member was usable.
    pub lost: u64,
    /// LACPDUs sent.
    pub lacpdus_sent: u64,
    /// LACPDUs received.
    pub lacpdus_received: u64,
    /// LACPDUs sent from here that were lost on the wire.
    pub lacpdus_lost: u64,
    /// Times that a port here was out of synchronization for 60 s.
    pub churns: u64,
}

/// A member has become usable to an end, or unusable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberChange {
    /// The time of the change.
    pub at: Time,
    /// Index of the bond, in the order of the specification.
    pub bond: usize,
    /// End of the bond, 0 or 1.
    pub end: usize,
    /// Index of the member within the bond, from 0.
    pub member: usize,
    /// Whether it is usable from now on.
    pub usable: bool,
    /// How many members are usable now.
    pub usable_now: usize,
}
