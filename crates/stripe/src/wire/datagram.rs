//! A datagram on a stream: whole in one frame, with its destination as long as the peer may not know it.

use super::{Destination, WireError};

/// The longest datagram in bytes: what UDP over IPv4 carries (RFC 768, RFC 791: 65,535 less both headers).
pub const MAX_DATAGRAM: usize = 65_507;
/// The longest body: length of a destination, the longest of these, and the payload.
pub(super) const MAX_DATAGRAM_BODY: usize = 2 + 3 + super::MAX_NAME + MAX_DATAGRAM;
/// What is added to the payload of a datagram that names its destination, beside that.
const LENGTH: usize = 2;

/// One datagram of a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Where the flow leads, until the peer has said that it knows.
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
