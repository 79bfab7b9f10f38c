//! The messages of AODV (RFC 3561, section 5) and OLSR (RFC 3626, sections 3.3, 6.1, 9.1), and their lengths on the
//! wire.

use super::{Node, Willingness};
use units::{Bytes, Time};

/// IPv4 and UDP headers, which every routing message travels in.
const HEADERS: u64 = 20 + 8;

/// A routing message to neighbours.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// AODV's RREQ.
    Request(Request),
    /// AODV's RREP, or Hello.
    Reply(Reply),
    /// AODV's RERR.
    Broken(Broken),
    /// A message of OLSR.
    Olsr(OlsrMessage),
}

impl Message {
    /// Length with IPv4 and UDP headers, as handed to the MAC.
    pub fn wire_bytes(&self) -> Bytes {
        let payload = match self {
            Self::Request(_) => 24,
            Self::Reply(_) => 20,
            Self::Broken(broken) => 4 + 8 * broken.unreachable.len() as u64,
            // Packet header, message header, and the body.
            Self::Olsr(message) => 4 + 12 + message.body.bytes(),
        };
        Bytes::new(HEADERS + payload)
    }
}

/// AODV's RREQ: who knows a way to `destination`?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The node that asks.
    pub originator: Node,
    /// The originator's own sequence number.
    pub originator_sequence: u32,
    /// Request ID: with the originator it identifies the request.
    pub id: u32,
    /// The node that a route is asked for.
    pub destination: Node,
    /// The newest number heard of the destination: an answer must be as new. `None` is the flag U.
    pub destination_sequence: Option<u32>,
    /// Hops from the originator to the one who sends it now.
    pub hops: u8,
    /// Hops it may still take.
    pub ttl: u8,
}

/// AODV's RREP: a way to `destination`, sent back to `originator`. With both the same and no hops it is a Hello.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The node that the route leads to.
    pub destination: Node,
    /// Its sequence number.
    pub destination_sequence: u32,
    /// The node that has asked.
    pub originator: Node,
    /// Hops from the one who sends it now to the destination.
    pub hops: u8,
    /// Time for which the route is valid.
    pub lifetime: Time,
}

/// AODV's RERR: these destinations, with these sequence numbers, can no longer be reached by way of me.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Destinations with their sequence numbers.
    pub unreachable: Vec<(Node, u32)>,
}

/// A message of OLSR with its header.
#[derive(Clone, PartialEq, Debug)]
pub struct OlsrMessage {
    /// The node that has made the message.
    pub originator: Node,
    /// Message sequence number: with the originator it identifies the message.
    pub sequence: u16,
    /// How long what it says holds.
    pub validity: Time,
    /// Hops it may still take.
    pub ttl: u8,
    /// Its content.
    pub body: OlsrBody,
}

/// Content of an OLSR message.
#[derive(Clone, PartialEq, Debug)]
pub enum OlsrBody {
    /// HELLO: link sensing and neighbours.
    Hello(Hello),
    /// TC: topology control.
    TopologyControl(TopologyControl),
}

impl OlsrBody {
    fn bytes(&self) -> u64 {
        match self {
            Self::Hello(hello) => {
                // Neighbours stand in groups of one link code, each with a header of 4 bytes.
                let groups =
                    LinkKind::ALL.iter().filter(|kind| hello.links.iter().any(|link| link.kind == **kind)).count();
                4 + 4 * groups as u64 + 4 * hello.links.len() as u64
            }
            Self::TopologyControl(control) => 4 + 4 * control.advertised.len() as u64,
        }
    }
}

/// OLSR's HELLO: whom I hear, and how well. It is not forwarded.
#[derive(Clone, PartialEq, Debug)]
pub struct Hello {
    /// The sender's willingness to relay.
    pub willingness: Willingness,
    /// The sender's links.
    pub links: Vec<Link>,
}

/// One neighbour in a HELLO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The neighbour's address.
    pub neighbour: Node,
    /// State of the link.
    pub kind: LinkKind,
}

/// A link code: link type and neighbour type, as far as they occur with one interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// I hear it, but do not know whether it hears me.
    Asymmetric,
    /// We hear each other.
    Symmetric,
    /// We hear each other, and I have chosen it as multipoint relay.
    Relay,
    /// I no longer hear it.
    Lost,
}

impl LinkKind {
    const ALL: [Self; 4] = [Self::Asymmetric, Self::Symmetric, Self::Relay, Self::Lost];
}

/// OLSR's TC: who has chosen me as multipoint relay.
#[derive(Clone, PartialEq, Debug)]
pub struct TopologyControl {
    /// Grows with every change of the set.
    pub number: u16,
    /// MPR selectors of the originator.
    pub advertised: Vec<Node>,
}
