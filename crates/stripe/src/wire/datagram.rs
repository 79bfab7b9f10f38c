//! DATAGRAM: a whole datagram in one frame, with its flow's destination until the peer is known to have it.

use super::{Destination, WireError};

/// The longest datagram in bytes: what UDP over IPv4 carries (RFC 768, RFC 791: 65,535 less both headers).
pub const MAX_DATAGRAM: usize = 65_507;
/// Longest body: the destination's length, the longest destination, and the payload.
pub(super) const MAX_DATAGRAM_BODY: usize = 2 + 3 + super::MAX_NAME + MAX_DATAGRAM;
/// Length of the field that has the destination's length.
const LENGTH: usize = 2;

/// One datagram of a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Destination of the flow, until the peer has said KNOWN.
    pub to: Option<Destination>,
    /// Its bytes: [`MAX_DATAGRAM`] at most.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// The length of its body.
    pub(super) fn wire_bytes(&self) -> usize {
        self.to.as_ref().map_or(0, |to| LENGTH + to.wire_bytes()) + self.payload.len()
    }
    /// Appends its body.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        if let Some(to) = &self.to {
            out.extend((to.wire_bytes() as u16).to_be_bytes());
            to.encode(out);
        }
        out.extend(&self.payload);
    }
    /// Reads a whole body, which begins with a destination if it is `named`.
    pub(super) fn decode(body: &[u8], named: bool) -> Result<Self, WireError> {
        let length = WireError::Length(body.len() as u32);
        let (to, payload) = if named {
            let (count, rest) = body.split_first_chunk::<LENGTH>().ok_or(length)?;
            let (to, payload) = rest.split_at_checked(u16::from_be_bytes(*count).into()).ok_or(length)?;
            (Some(Destination::decode(to)?), payload)
        } else {
            (None, body)
        };
        if payload.len() > MAX_DATAGRAM {
            return Err(length);
        }
        Ok(Self { to, payload: payload.to_vec() })
    }
}
