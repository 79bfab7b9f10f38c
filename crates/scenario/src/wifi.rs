//! The wireless network of topology wifi: radios, propagation, MAC, access points.

use super::key::{Key, choice, preset_base, section, wrong_kind};
use super::problem::Problems;
use super::tree::{Tree, Value};
use serde_json::{Value as Json, json};
use units::{BitRate, Bytes, Distance, Frequency, Power, Speed, Time};

choice! {
    /// The 802.11 standard of all radios.
    pub enum WifiStandard {
        /// 802.11b, 2.4 GHz: 1, 2, 5.5, 11 Mbit/s.
        B = "b",
        /// 802.11a, 5 GHz: 6 to 54 Mbit/s.
        A = "a",
        /// 802.11g, 2.4 GHz, without stations of 802.11b: 6 to 54 Mbit/s.
        G = "g",
        /// 802.11n, 5 GHz.
        N = "n",
        /// 802.11n, 2.4 GHz.
        N24 = "n-2.4",
    }
}

choice! {
    /// Who talks to whom.
    pub enum WifiMode {
        /// Each node to every node in range.
        AdHoc = "ad-hoc",
        /// All by way of access points.
        Infrastructure = "infrastructure",
    }
}

choice! {
    /// Width of a channel (802.11n).
    pub enum ChannelWidth {
        /// One channel.
        Mhz20 = "20 MHz",
        /// Two channels.
        Mhz40 = "40 MHz",
    }
}

choice! {
    /// How a sender chooses the PHY rate.
    pub enum RateControlKind {
        /// Always the same.
        Fixed = "fixed",
        /// ARF, Kamerman and Monteban 1997.
        Arf = "arf",
        /// Adaptive ARF, Lacage et al. 2004.
        Aarf = "aarf",
        /// Minstrel, as Linux has it: samples, and a chain of retries.
        Minstrel = "minstrel",
        /// Knows what the receiver hears: the fastest that gets through.
        Ideal = "ideal",
    }
}

choice! {
    /// What a receiver makes of what it hears.
    pub enum ReceiverKind {
        /// Errors by the ratio of signal to interference and noise, interval by interval; a much stronger frame takes
        /// over during a preamble.
        Interference = "interference",
        /// Thresholds alone, as in ns-2: what comes with enough power is right, unless another at the same time is less
        /// than 10 dB weaker.
        Threshold = "threshold",
    }
}

choice! {
    /// Which frames the driver moves first.
    pub enum DriverScheduling {
        /// While something is received one frame is sent in a round (lee2014, 4.2).
        ReceiveFirst = "receive-first",
        /// By the levels of both queues: the scheduling part of Algorithm 1 (lee2014, 5.1.2).
        QueueLevel = "queue-level",
    }
}

choice! {
    /// Drivers, each with the bus below it.
    pub enum DriverPreset {
        /// brcmfmac's bounds over an SDIO bus of 100 Mbit/s.
        Sdio = "sdio",
        /// That of the tablets of lee2014, calibrated on the sum of Figure 6.4: 0.56 ms a frame.
        Nexus7 = "nexus7",
    }
}

choice! {
    /// What becomes of a packet that finds the MAC's transmit queue full.
    pub enum WifiDrop {
        /// It is dropped.
        Tail = "tail",
        /// The oldest is dropped.
        Head = "head",
    }
}

choice! {
    /// The MAC's transmit queue.
    pub enum WifiQueueKind {
        /// First in, first out.
        Fifo = "fifo",
        /// A queue of each flow with controlled delay, and turns of equal airtime between stations (Høiland-Jørgensen
        /// et al. 2017).
        FqCodel = "fq-codel",
    }
}

choice! {
    /// How packets find a node that is not in range.
    pub enum RoutingKind {
        /// They do not.
        None = "none",
        /// Routes are asked for when they are needed (AODV, RFC 3561).
        Aodv = "aodv",
        /// Routes are kept all the time (OLSR, RFC 3626).
        Olsr = "olsr",
    }
}

choice! {
    /// How a signal weakens with distance.
    pub enum PathLossKind {
        /// Free space, Friis.
        FreeSpace = "free-space",
        /// The direct ray and one from the ground; free space below their crossover.
        TwoRay = "two-ray",
        /// A power of the distance.
        LogDistance = "log-distance",
    }
}

choice! {
    /// When log-normal shadowing is drawn.
    pub enum ShadowingKind {
        /// For each frame anew.
        Frame = "frame",
        /// Once for each pair of nodes.
        Link = "link",
        /// Correlated over the distance that nodes move (Gudmundson 1991).
        Correlated = "correlated",
    }
}

choice! {
    /// Fast fading.
    pub enum FadingKind {
        /// None.
        None = "none",
        /// Rayleigh, no line of sight: drawn for each frame anew.
        Rayleigh = "rayleigh",
        /// Nakagami with parameter `m`, drawn for each frame anew.
        Nakagami = "nakagami",
        /// The same, Rayleigh's with `m` 1, as the ways of both ends and what moves around them make it in time (Clarke
        /// 1968).
        Correlated = "correlated",
    }
}

section! {
    /// The wireless network.
    pub struct Wifi {
        /// The standard.
        standard: WifiStandard = WifiStandard::N;
        /// Who talks to whom.
        mode: WifiMode = WifiMode::AdHoc;
        /// Width of the channel (802.11n).
        width: ChannelWidth = ChannelWidth::Mhz20;
        /// Spatial streams (802.11n).
        streams: u32 = 1, 1..=4;
        /// Whether the guard interval is 400 ns (802.11n); else 800 ns.
        short_guard: bool = false;
        /// Whether the preamble is short (802.11b).
        short_preamble: bool = false;
        /// How senders choose the PHY rate.
        rate_control: RateControlKind = RateControlKind::Minstrel;
        /// The PHY rate with `fixed`, the first one with `arf` and `aarf`; left out, the fastest.
        rate: Option<BitRate> = None, BitRate::from_bps(1_000_000)..=BitRate::from_gbps(1);
        /// Frames longer than this are announced by RTS and CTS; left out, none.
        rts_threshold: Option<Bytes> = None, Bytes::ZERO..=Bytes::new(65_535);
        /// Attempts at a frame that is not announced.
        short_retries: u32 = 7, 1..=255;
        /// Attempts at a frame that is announced by RTS.
        long_retries: u32 = 4, 1..=255;
        /// What is sent as one (802.11n).
        aggregation: Aggregation = Aggregation::default();
        /// The MAC's transmit queue of each station.
        queue: WifiQueue = WifiQueue::default();
        /// A driver between the host and the radio's chip, as in a tablet; left out, the host is the MAC.
        driver: Option<Driver> = None;
        /// What receivers make of what they hear.
        receiver: ReceiverKind = ReceiverKind::Interference;
        /// All radios.
        radio: Radio = Radio::default();
        /// Nodes whose stations differ; of what is said of a node several times the last counts.
        node: Vec<WifiNode> = Vec::new();
        /// The distance at which a signal's preamble is just recognised, shadowing and fading aside: sets
        /// `radio.sensitivity`.
        range: Option<Distance> = None, Distance::from_metres(1)..=Distance::from_metres(100_000);
        /// How signals weaken.
        propagation: Propagation = Propagation::default();
        /// Access points (infrastructure); left out, one in the middle of the area.
        access_point: Vec<AccessPoint> = Vec::new();
        /// Silence after which an access point asks a client whether it is still there; without an answer within 3 s it
        /// lets go of it (hostapd: `ap_max_inactivity`).
        max_inactivity: Time = Time::from_secs(300), Time::from_secs(1)..=Time::from_secs(86_400);
        /// The wire between access points.
        wire: Wire = Wire::default();
        /// How packets find a node that is not in range (ad hoc).
        routing: RoutingKind = RoutingKind::None;
        /// From when on frames are kept for the map of the report, 20,000 at most.
        frames_from: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// Stations sleep between beacons; left out, they are always awake (infrastructure).
        power_save: Option<PowerSave> = None;
    }
}

section! {
    /// Several frames sent as one.
    pub struct Aggregation {
        /// MPDUs in an A-MPDU, 1 for none.
        frames: u32 = 64, 1..=64;
        /// Longest A-MPDU.
        bytes: Bytes = Bytes::new(65_535), Bytes::new(1)..=Bytes::new(65_535);
        /// Longest A-MSDU; left out, none.
        amsdu: Option<Bytes> = None, Bytes::new(1)..=Bytes::new(7_935);
    }
}

section! {
    /// The MAC's transmit queue of a station. A packet is in it until it is acknowledged or given up.
    pub struct WifiQueue {
        /// Its discipline.
        kind: WifiQueueKind = WifiQueueKind::Fifo;
        /// Packets that it takes, those on their way included.
        packets: u32 = 256, 1..=1_000_000;
        /// What is dropped when it is full (fifo).
        drop: WifiDrop = WifiDrop::Tail;
        /// Packets in it with which one that comes and can be marked is (fifo): DCTCP's K; left out, none is.
        /// `fq-codel` marks where it would drop.
        mark_above: Option<u32> = None, 1..=1_000_000;
    }
}

section! {
    /// A driver that moves frames between the host, which has the transmit queue, and the chip: one thread, one bus, in
    /// rounds, received ones first.
    pub struct Driver from driver_base {
        /// The driver that the other keys start from.
        preset: DriverPreset = DriverPreset::Sdio;
        /// Which frames go in a round.
        scheduling: DriverScheduling = DriverScheduling::ReceiveFirst;
        /// Frames sent in a round at most.
        max_frames: u32 = 20, 1..=100_000;
        /// Frames sent in a round while something is received.
        least_frames: u32 = 1, 1..=100_000;
        /// Frames received in a round at most.
        receive_frames: u32 = 50, 1..=100_000;
        /// What a round costs by itself.
        round: Time = Time::from_us(100), Time::ZERO..=Time::from_secs(1);
        /// What a frame costs on the bus.
        frame: Time = Time::from_us(120), Time::ZERO..=Time::from_secs(1);
        /// Frames that the chip takes.
        chip: u32 = 32, 1..=100_000;
        /// Received frames that the chip keeps for the host; what comes beyond is not acknowledged.
        receive_queue: u32 = 64, 1..=100_000;
        /// It is given no more than so many bytes at a time, one frame in any case (byte queue limits, with a limit
        /// that stays).
        chip_bytes: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mib(64);
        /// It is given no more than what goes in this time on the air at the rate of the last frame sent, one frame in
        /// any case (airtime queue limits of Linux: 5 to 12 ms).
        chip_time: Option<Time> = None, Time::from_us(1)..=Time::from_secs(10);
    }
}

impl DriverPreset {
    /// What a driver of this kind is like.
    pub fn driver(self) -> Driver {
        match self {
            Self::Sdio => Driver::default(),
            // BCM4330 on SDIO. What a frame costs, bus, thread and host together, is calibrated: with 0.56 ms two
            // senders of Figure 6.4 come to the 16.0 Mbit/s that the document has. The chip keeps as many frames as
            // Broadcom's published driver puts into an A-MPDU (brcmsmac, AMPDU_MAX_MPDU).
            Self::Nexus7 => Driver { preset: self, frame: Time::from_us(560), receive_queue: 32, ..Driver::default() },
        }
    }
}

/// The preset that a driver's table or text names, else the default.
fn driver_base(tree: &Tree, problems: &mut Problems) -> Option<Driver> {
    preset_base(tree, problems, DriverPreset::driver)
}

section! {
    /// A radio.
    pub struct Radio {
        /// Power that it transmits with.
        transmit_power: Level = Level::from_dbm(16.0);
        /// Gain of its antenna.
        gain: Gain = Gain(0.0);
        /// Height of its antenna.
        height: Distance = Distance::from_um(1_500_000), Distance::ZERO..=Distance::from_metres(10_000);
        /// Noise that the receiver adds to the thermal noise.
        noise_figure: Gain = Gain(7.0);
        /// The weakest signal whose preamble it recognises; a weaker one is only interference.
        sensitivity: Level = Level::from_dbm(-82.0);
        /// The weakest recognised signal for which it keeps silent; left out, the sensitivity.
        carrier_sense: Option<Level> = None;
        /// The weakest energy of any kind for which it keeps silent.
        energy_detect: Level = Level::from_dbm(-62.0);
        /// The middle of the channel; left out, that of channel 6 (2437 MHz) or 36 (5180 MHz).
        frequency: Option<Frequency> = None, Frequency::from_mhz(100)..=Frequency::from_mhz(100_000);
    }
}

section! {
    /// What differs at the stations of some nodes.
    pub struct WifiNode {
        /// Which nodes.
        nodes: super::Nodes = super::Nodes::Workers;
        /// Power that they transmit with.
        transmit_power: Option<Level> = None;
        /// Gain of their antennas.
        gain: Option<Gain> = None;
        /// Height of their antennas.
        height: Option<Distance> = None, Distance::ZERO..=Distance::from_metres(10_000);
        /// Their MAC's transmit queue; left out, as that of all.
        queue: Option<WifiQueue> = None;
        /// What they send as one (802.11n); left out, as all.
        aggregation: Option<Aggregation> = None;
        /// Their driver, whole, not only what differs from that of all; left out, as all.
        driver: Option<Driver> = None;
    }
}

section! {
    /// How signals weaken.
    pub struct Propagation {
        /// With distance.
        model: PathLossKind = PathLossKind::LogDistance;
        /// Power of the distance (log-distance).
        exponent: f64 = 3.0, 0.1..=10.0;
        /// Distance up to which it is free space (log-distance).
        reference: Distance = Distance::from_metres(1), Distance::from_um(1_000)..=Distance::from_metres(10_000);
        /// Standard deviation of log-normal shadowing; left out, none.
        shadowing: Option<Gain> = None;
        /// When it is drawn.
        shadowing_kind: ShadowingKind = ShadowingKind::Frame;
        /// The way over which its correlation falls to 1/e (correlated).
        decorrelation: Distance = Distance::from_metres(20), Distance::from_um(1_000)..=Distance::from_metres(100_000);
        /// The time over which it does, nodes at rest or not (correlated); left out, it does not.
        decorrelation_time: Option<Time> = None, Time::from_ms(1)..=Time::from_secs(86_400);
        /// Fast fading.
        fading: FadingKind = FadingKind::None;
        /// Nakagami's parameter: 1 is Rayleigh, more is steadier (correlated: a whole number).
        m: f64 = 1.0, 0.5..=100.0;
        /// Speed of what moves around nodes, whether these move or not (correlated); 1.2 km/h is usual indoors (IEEE
        /// 802.11-03/940r4).
        around: Speed = Speed::from_um_per_s(333_000), Speed::from_um_per_s(0)..=Speed::from_metres_per_s(1_000);
    }
}

section! {
    /// An access point.
    pub struct AccessPoint {
        /// Where it stands: x and y.
        at: Vec<Distance> = Vec::new(), Distance::ZERO..=Distance::from_metres(1_000_000);
        /// Height of its antenna; left out, that of the radios.
        height: Option<Distance> = None, Distance::ZERO..=Distance::from_metres(10_000);
        /// Power that it transmits with; left out, that of the radios.
        transmit_power: Option<Level> = None;
        /// Its MAC's transmit queue; left out, as that of the stations.
        queue: Option<WifiQueue> = None;
        /// What it sends as one (802.11n); left out, as the stations.
        aggregation: Option<Aggregation> = None;
    }
}

section! {
    /// The wire between access points.
    pub struct Wire {
        /// Its rate.
        rate: BitRate = BitRate::from_gbps(1), BitRate::from_bps(1)..=BitRate::from_gbps(10_000);
        /// Its delay, one way.
        delay: Time = Time::from_us(100), Time::ZERO..=Time::from_secs(100);
    }
}

section! {
    /// Stations sleep between beacons.
    pub struct PowerSave {
        /// They wake up for every so many beacons.
        listen_interval: u32 = 1, 1..=65_535;
    }
}

/// A power level: "16 dBm" or "40 mW".
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Level(f64);

impl Level {
    /// From decibels over a milliwatt.
    pub const fn from_dbm(dbm: f64) -> Self {
        Self(dbm)
    }
    /// In decibels over a milliwatt.
    pub const fn dbm(self) -> f64 {
        self.0
    }
}

impl Key for Level {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &tree.value else {
            return wrong_kind(tree, "a power level like \"16 dBm\" or \"40 mW\"", problems);
        };
        let level = match text.trim().strip_suffix("dBm") {
            Some(number) => number.trim().parse().ok().filter(|dbm: &f64| (-300.0..=100.0).contains(dbm)),
            None => text.parse::<Power>().ok().map(|power| 10.0 * libm::log10(power.as_watts() * 1e3)),
        };
        if level.is_none_or(|dbm| !dbm.is_finite()) {
            let message = format!("\"{text}\" is not a power level");
            problems.add_with_help(
                &tree.span,
                message,
                "from -300 dBm to 100 dBm, or a power above zero: \"16 dBm\", \"40 mW\"",
            );
            return None;
        }
        level.map(Self)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(format!("{} dBm", self.0)))
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "type": "string", "pattern": "^ *(-?[0-9]+(\\.[0-9]+)? *dBm|[0-9][0-9_]*(\\.[0-9]+)? *(nW|uW|mW|W|kW)) *$" })
    }

    fn describe(_: Option<&()>) -> String {
        "power level in dBm, or a power".to_owned()
    }
}

/// A ratio of powers: "2.5 dB".
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Gain(pub f64);

impl Key for Gain {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &tree.value else {
            return wrong_kind(tree, "a ratio like \"2.5 dB\"", problems);
        };
        let number = text.trim().strip_suffix("dB").and_then(|number| number.trim().parse::<f64>().ok());
        if !number.is_some_and(|db| (-100.0..=100.0).contains(&db)) {
            problems.add_with_help(
                &tree.span,
                format!("\"{text}\" is not a ratio"),
                "from -100 dB to 100 dB: \"2.5 dB\"",
            );
            return None;
        }
        number.map(Self)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(format!("{} dB", self.0)))
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "type": "string", "pattern": "^ *-?[0-9]+(\\.[0-9]+)? *dB *$" })
    }

    fn describe(_: Option<&()>) -> String {
        "ratio in dB".to_owned()
    }
}
