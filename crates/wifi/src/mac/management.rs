//! Frames by which an infrastructure is run: their kinds and lengths (IEEE Std 802.11-2012, 8.3.3). Security, which
//! would add a handshake of four frames after the association, is left out.

/// A management frame; null frames and PS-Polls are treated alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Management {
    /// Beacon: announces an access point, and the dozing stations for which it holds packets.
    Beacon,
    /// Probe request: asks for access points.
    ProbeRequest,
    /// Probe response of an access point.
    ProbeResponse,
    /// Request for open system authentication.
    Authentication,
    /// Authentication is granted.
    AuthenticationGranted,
    /// Request for association, or for reassociation from another access point.
    Association,
    /// Association is granted.
    AssociationGranted,
    /// Deauthentication: the receiver is not, or no longer, associated with the sender (10.3.4.5).
    Deauthentication,
    /// Null frame with the power management bit. From an access point it asks whether the receiver is alive.
    Null {
        /// Whether the sender dozes from now on.
        dozes: bool,
    },
    /// PS-Poll: the dozing sender is awake for one packet.
    PsPoll,
}

impl Management {
    /// Length of the MPDU with header and FCS. `ht`: with the elements that 802.11n and WMM add (capabilities 28,
    /// operation 24, WMM 9 or 26 bytes).
    pub const fn bytes(self, ht: bool) -> u32 {
        // Header and FCS, then fixed fields, a network name of 8 letters (10), 8 rates (10), the channel (3), the map
        // of waiting traffic (6).
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
