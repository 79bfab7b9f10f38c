//! Frames by which an infrastructure is run: their kinds and lengths (IEEE Std 802.11-2012, 8.3.3). Security, which would add a handshake of four frames
//! after the association, is left out.

/// A management frame; null frames and PS-Polls are treated alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Management {
    /// An access point is here; it tells which stations that doze it has packets for.
    Beacon,
    /// Is there an access point?
    ProbeRequest,
    /// Here.
    ProbeResponse,
    /// Open system authentication.
    Authentication,
    /// It is granted.
    AuthenticationGranted,
    /// A station wants to join, or to come over from another access point.
    Association,
    /// It has joined.
    AssociationGranted,
    /// The sender has nothing to do with the receiver, or no longer (10.3.4.5).
    Deauthentication,
    /// Nothing but the power management bit: whether the sender dozes from now on. From an access point, a question whether the receiver is there.
    Null {
        /// It does.
        dozes: bool,
    },
    /// The sender, which dozes, is awake for one packet.
    PsPoll,
}

impl Management {
    /// Length of the MPDU with header and FCS. `ht`: with the elements that 802.11n and WMM add (capabilities 28, operation 24, WMM 9 or 26 bytes).
    pub const fn bytes(self, ht: bool) -> u32 {
        // Header and FCS, then fixed fields, a network name of 8 letters (10), 8 rates (10), the channel (3), the map of waiting traffic (6).
        let (common, extra) = match self {
            Self::Beacon => (28 + 12 + 10 + 10 + 3 + 6, 28 + 24 + 26),
            Self::ProbeResponse => (28 + 12 + 10 + 10 + 3, 28 + 24 + 26),
            Self::ProbeRequest => (28 + 10 + 10, 28),
            Self::Authentication | Self::AuthenticationGranted => (28 + 6, 0),
            // Capabilities, listen interval, the former access point.
            Self::Association => (28 + 4 + 6 + 10 + 10, 28 + 9),
            Self::AssociationGranted => (28 + 6 + 10, 28 + 24 + 26),
            Self::Deauthentication => (28 + 2, 0),
            Self::Null { .. } => (28, 2),
            Self::PsPoll => (20, 0),
        };
        if ht { common + extra } else { common }
    }
}
