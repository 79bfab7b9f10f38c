//! LACPDUs: what the two ends of a link tell each other (IEEE 802.1AX-2014, 6.4.2).

/// A port's state as an octet of flags (6.4.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct State(u8);

impl State {
    /// The port sends LACPDUs unsolicited.
    pub const ACTIVITY: Self = Self(0x01);
    /// The port wants LACPDUs every second and times out after 3 s. Clear: every 30 s and after 90 s.
    pub const SHORT_TIMEOUT: Self = Self(0x02);
    /// The link may be aggregated.
    pub const AGGREGATION: Self = Self(0x04);
    /// The port is attached to the right aggregator.
    pub const SYNCHRONIZATION: Self = Self(0x08);
    /// The port takes in frames (Collecting).
    pub const COLLECTING: Self = Self(0x10);
    /// The port sends frames (Distributing).
    pub const DISTRIBUTING: Self = Self(0x20);
    /// The port uses default information about its partner.
    pub const DEFAULTED: Self = Self(0x40);
    /// The port has not heard its partner for too long.
    pub const EXPIRED: Self = Self(0x80);

    /// The union of the two.
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }
    /// Whether all of `flags` are set.
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
    /// Sets or clears flags.
    pub const fn set(&mut self, flags: Self, on: bool) {
        self.0 = if on { self.0 | flags.0 } else { self.0 & !flags.0 };
    }
    /// The octet.
    pub const fn octet(self) -> u8 {
        self.0
    }
}

/// The identity of a port, and its state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Info {
    /// Priority of the port's system.
    pub system_priority: u16,
    /// Address of the port's system.
    pub system: [u8; 6],
    /// Ports of one system with equal keys may be aggregated.
    pub key: u16,
    /// Priority of the port.
    pub port_priority: u16,
    /// Number of the port.
    pub port: u16,
    /// State of the port.
    pub state: State,
}

impl Info {
    /// Whether `other` is the same port for aggregation (`update_Selected`, 6.4.9).
    pub(super) fn is_same_port(&self, other: &Self) -> bool {
        self.same_names(other) && !self.differs_in(other, State::AGGREGATION)
    }
    pub(super) fn same_names(&self, other: &Self) -> bool {
        Self { state: State::default(), ..*self } == Self { state: State::default(), ..*other }
    }
    pub(super) const fn differs_in(&self, other: &Self, flags: State) -> bool {
        (self.state.octet() ^ other.state.octet()) & flags.octet() != 0
    }
}

/// What a port says of itself and of its supposed partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lacpdu {
    /// The sender.
    pub actor: Info,
    /// The partner as the sender knows it.
    pub partner: Info,
}

impl Lacpdu {
    /// Bytes on the wire: a frame of 124 bytes (6.4.2.3) with checksum, preamble and gap.
    pub const WIRE_BYTES: u64 = 124 + 4 + 8 + 12;
}
