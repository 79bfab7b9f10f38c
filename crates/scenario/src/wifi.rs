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
    /// Ad hoc or with access points.
    pub enum WifiMode {
        /// Each station sends directly to stations in range.
        AdHoc = "ad-hoc",
        /// All packets cross access points.
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
    /// Rate control: how a sender chooses the PHY rate.
    pub enum RateControlKind {
        /// A fixed rate.
        Fixed = "fixed",
        /// ARF, Kamerman and Monteban 1997.
        Arf = "arf",
        /// Adaptive ARF, Lacage et al. 2004.
        Aarf = "aarf",
        /// Minstrel as in Linux: sampling, and a chain of retries.
        Minstrel = "minstrel",
        /// The fastest rate that gets through, with knowledge of the receiver's SNR.
        Ideal = "ideal",
    }
}

choice! {
    /// How often bits of OFDM and HT are wrong at a ratio of signal to interference and noise.
    pub enum ErrorKind {
        /// Curves of link simulation with soft decisions (Patidar et al. 2017).
        Link = "link",
        /// Bounds for hard decisions (Miller 2003); needs 3 to 4 dB more.
        Nist = "nist",
        /// First terms for hard decisions, with the energy of pilots and guard intervals (Lacage and Henderson 2006).
        Yans = "yans",
    }
}

choice! {
    /// How receivers decide whether a frame is received.
    pub enum ReceiverKind {
        /// Errors by SINR, interval by interval; a much stronger frame takes over during a preamble.
        Interference = "interference",
        /// Thresholds alone, as in ns-2: a frame above the sensitivity is received, unless an overlapping one is less
        /// than 10 dB weaker.
        Threshold = "threshold",
    }
}

choice! {
    /// How many frames the driver sends in a round.
    pub enum DriverScheduling {
        /// One frame is sent per round while frames are received (lee2014, 4.2).
        ReceiveFirst = "receive-first",
        /// By the levels of both queues: the scheduling part of Algorithm 1 (lee2014, 5.1.2).
        QueueLevel = "queue-level",
    }
}

choice! {
    /// Drivers, each with the bus below it.
    pub enum DriverPreset {
        /// brcmfmac's limits over an SDIO bus of 100 Mbit/s.
        Sdio = "sdio",
        /// The tablets of lee2014, calibrated on the sum of Figure 6.4: 0.56 ms per frame.
        Nexus7 = "nexus7",
    }
}

choice! {
    /// The packet to drop when the MAC's transmit queue is full.
    pub enum WifiDrop {
        /// The arriving packet.
        Tail = "tail",
        /// The oldest packet.
        Head = "head",
    }
}

choice! {
    /// The MAC's transmit queue.
    pub enum WifiQueueKind {
        /// First in, first out.
        Fifo = "fifo",
        /// A CoDel queue per flow, and equal airtime for stations in turn (Høiland-Jørgensen et al. 2017).
        FqCodel = "fq-codel",
    }
}

choice! {
    /// Multi-hop routing.
    pub enum RoutingKind {
        /// No routing: packets reach only stations in range.
        None = "none",
        /// On demand (AODV, RFC 3561).
        Aodv = "aodv",
        /// Link state (OLSR, RFC 3626).
        Olsr = "olsr",
    }
}

choice! {
    /// Path loss.
    pub enum PathLossKind {
        /// Free space, Friis.
        FreeSpace = "free-space",
        /// Two-ray ground: the direct ray and a reflected one; free space below their crossover.
        TwoRay = "two-ray",
        /// Received power falls with a power of the distance.
        LogDistance = "log-distance",
    }
}

choice! {
    /// When log-normal shadowing is drawn.
    pub enum ShadowingKind {
        /// For each frame.
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
        /// No fading.
        None = "none",
        /// Rayleigh (no line of sight), drawn for each frame.
        Rayleigh = "rayleigh",
        /// Nakagami with shape `m`, drawn for each frame.
        Nakagami = "nakagami",
        /// Nakagami with shape `m` (1: Rayleigh), correlated in time by the movement of both ends and of the
        /// surroundings (Clarke 1968).
        Correlated = "correlated",
    }
}

section! {
    /// The wireless network.
    pub struct Wifi {
        /// The standard.
        standard: WifiStandard = WifiStandard::N;
        /// Ad hoc or with access points.
        mode: WifiMode = WifiMode::AdHoc;
        /// Channel width (802.11n).
        width: ChannelWidth = ChannelWidth::Mhz20;
        /// Spatial streams (802.11n).
        streams: u32 = 1, 1..=4;
        /// Whether the guard interval is 400 ns (802.11n) instead of 800 ns.
        short_guard: bool = false;
        /// Whether data are sent in the LDPC code (802.11n) instead of the convolutional one.
        ldpc: bool = false;
        /// Whether the preamble is short (802.11b).
        short_preamble: bool = false;
        /// Rate control of all stations.
        rate_control: RateControlKind = RateControlKind::Minstrel;
        /// The PHY rate of `fixed`, the initial one of `arf` and `aarf`. Left out: the fastest.
        rate: Option<BitRate> = None, BitRate::from_bps(1_000_000)..=BitRate::from_gbps(1);
        /// Frames longer than this are preceded by RTS and CTS (dot11RTSThreshold). Left out: none is.
        rts_threshold: Option<Bytes> = None, Bytes::ZERO..=Bytes::new(65_535);
        /// Attempts at a frame without RTS, and at an RTS (dot11ShortRetryLimit).
        short_retries: u32 = 7, 1..=255;
        /// Attempts at a frame with RTS (dot11LongRetryLimit).
        long_retries: u32 = 4, 1..=255;
        /// Aggregation of frames (802.11n).
        aggregation: Aggregation = Aggregation::default();
        /// The MAC's transmit queue of each station.
        queue: WifiQueue = WifiQueue::default();
        /// A driver between the host and the radio's chip, as in a tablet. Left out: the host's queue is the MAC's.
        driver: Option<Driver> = None;
        /// How receivers decide whether a frame is received.
        receiver: ReceiverKind = ReceiverKind::Interference;
        /// Error rates of the receiver `interference`.
        errors: ErrorKind = ErrorKind::Link;
        /// The radio of all stations.
        radio: Radio = Radio::default();
        /// Stations that differ from the others. Of several entries for a node the last one counts, key by key.
        node: Vec<WifiNode> = Vec::new();
        /// Distance at which a preamble is just recognised, without shadowing and fading. Sets `radio.sensitivity`.
        range: Option<Distance> = None, Distance::from_metres(1)..=Distance::from_metres(100_000);
        /// Path loss, shadowing and fading.
        propagation: Propagation = Propagation::default();
        /// Access points (infrastructure). Left out: one in the middle of the area.
        access_point: Vec<AccessPoint> = Vec::new();
        /// An access point polls a client that is silent for this long, and removes it after 3 s without an answer
        /// (hostapd: `ap_max_inactivity`).
        max_inactivity: Time = Time::from_secs(300), Time::from_secs(1)..=Time::from_secs(86_400);
        /// The wire between access points.
        wire: Wire = Wire::default();
        /// Multi-hop routing (ad hoc).
        routing: RoutingKind = RoutingKind::None;
        /// Start of the frames that are kept for the map of the report, 20,000 at most.
        frames_from: Time = Time::ZERO, Time::ZERO..=Time::from_secs(86_400 * 30);
        /// Power save: stations sleep between beacons (infrastructure). Left out: they are always awake.
        power_save: Option<PowerSave> = None;
    }
}

section! {
    /// Several frames sent as one.
    pub struct Aggregation {
        /// MPDUs in an A-MPDU; 1 disables it.
        frames: u32 = 64, 1..=64;
        /// Longest A-MPDU.
        bytes: Bytes = Bytes::new(65_535), Bytes::new(1)..=Bytes::new(65_535);
        /// Longest A-MSDU. Left out: none.
        amsdu: Option<Bytes> = None, Bytes::new(1)..=Bytes::new(7_935);
    }
}

section! {
    /// The MAC's transmit queue of a station. A packet is in it until it is acknowledged or given up.
    pub struct WifiQueue {
        /// The queue discipline.
        kind: WifiQueueKind = WifiQueueKind::Fifo;
        /// Capacity in packets, including those on the air.
        packets: u32 = 256, 1..=1_000_000;
        /// The packet to drop when the queue is full (fifo).
        drop: WifiDrop = WifiDrop::Tail;
        /// DCTCP's K: an ECN-capable packet is marked if it finds this many packets in the queue (fifo). Left out: none
        /// is. `fq-codel` marks instead of dropping.
        mark_above: Option<u32> = None, 1..=1_000_000;
    }
}

section! {
    /// A driver that moves frames between the host, which has the transmit queue, and the chip: one thread, one bus, in
    /// rounds, received ones first.
    pub struct Driver from driver_base {
        /// The driver that the other keys override.
        preset: DriverPreset = DriverPreset::Sdio;
        /// How many frames go in a round.
        scheduling: DriverScheduling = DriverScheduling::ReceiveFirst;
        /// Most frames sent in a round.
        max_frames: u32 = 20, 1..=100_000;
        /// Frames sent in a round while frames are received.
        least_frames: u32 = 1, 1..=100_000;
        /// Most frames received in a round.
        receive_frames: u32 = 50, 1..=100_000;
        /// Fixed cost of a round.
        round: Time = Time::from_us(100), Time::ZERO..=Time::from_secs(1);
        /// Cost of a frame on the bus.
        frame: Time = Time::from_us(120), Time::ZERO..=Time::from_secs(1);
        /// Frames that the chip buffers for sending.
        chip: u32 = 32, 1..=100_000;
        /// Received frames that the chip buffers for the host. Further frames are not acknowledged.
        receive_queue: u32 = 64, 1..=100_000;
        /// Most bytes in the chip, at least one frame (byte queue limits with a fixed limit). Left out: no limit.
        chip_bytes: Option<Bytes> = None, Bytes::new(1)..=Bytes::from_mib(64);
        /// Most airtime in the chip at the rate of the last frame sent, at least one frame (Linux's airtime queue
        /// limits: 5 to 12 ms). Left out: no limit.
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
        /// Transmit power.
        transmit_power: Level = Level::from_dbm(16.0);
        /// Antenna gain, for sending and receiving.
        gain: Gain = Gain(0.0);
        /// Antenna height.
        height: Distance = Distance::from_um(1_500_000), Distance::ZERO..=Distance::from_metres(10_000);
        /// Noise figure of the receiver: noise above thermal noise.
        noise_figure: Gain = Gain(7.0);
        /// The weakest signal whose preamble is recognised. A weaker one is only interference.
        sensitivity: Level = Level::from_dbm(-82.0);
        /// The weakest recognised signal that makes the channel busy. Left out: the sensitivity.
        carrier_sense: Option<Level> = None;
        /// The weakest energy of any kind that makes the channel busy.
        energy_detect: Level = Level::from_dbm(-62.0);
        /// Centre frequency. Left out: channel 6 (2437 MHz) or 36 (5180 MHz).
        frequency: Option<Frequency> = None, Frequency::from_mhz(100)..=Frequency::from_mhz(100_000);
    }
}

section! {
    /// What differs at the stations of some nodes.
    pub struct WifiNode {
        /// The nodes.
        nodes: super::Nodes = super::Nodes::Workers;
        /// Their transmit power.
        transmit_power: Option<Level> = None;
        /// Their antenna gain.
        gain: Option<Gain> = None;
        /// Their antenna height.
        height: Option<Distance> = None, Distance::ZERO..=Distance::from_metres(10_000);
        /// Their MAC's transmit queue. Left out: as `wifi.queue`.
        queue: Option<WifiQueue> = None;
        /// Their aggregation (802.11n). Left out: as `wifi.aggregation`.
        aggregation: Option<Aggregation> = None;
        /// Their driver, a whole table: nothing is taken from `wifi.driver`. Left out: as `wifi.driver`.
        driver: Option<Driver> = None;
    }
}

section! {
    /// How signals weaken.
    pub struct Propagation {
        /// Path loss.
        model: PathLossKind = PathLossKind::LogDistance;
        /// Path-loss exponent (log-distance).
        exponent: f64 = 3.0, 0.1..=10.0;
        /// Distance up to which path loss is that of free space (log-distance).
        reference: Distance = Distance::from_metres(1), Distance::from_um(1_000)..=Distance::from_metres(10_000);
        /// Standard deviation of log-normal shadowing. Left out: none.
        shadowing: Option<Gain> = None;
        /// When shadowing is drawn.
        shadowing_kind: ShadowingKind = ShadowingKind::Frame;
        /// Movement after which its correlation has fallen to 1/e (correlated).
        decorrelation: Distance = Distance::from_metres(20), Distance::from_um(1_000)..=Distance::from_metres(100_000);
        /// Time after which its correlation has fallen to 1/e, with nodes at rest or not (correlated). Left out: it
        /// does not fall with time.
        decorrelation_time: Option<Time> = None, Time::from_ms(1)..=Time::from_secs(86_400);
        /// Fast fading.
        fading: FadingKind = FadingKind::None;
        /// Nakagami's shape: 1 is Rayleigh, a greater one fades less (correlated: a whole number).
        m: f64 = 1.0, 0.5..=100.0;
        /// Speed of the surroundings (correlated). Default: 1.2 km/h, usual indoors (IEEE 802.11-03/940r4).
        around: Speed = Speed::from_um_per_s(333_000), Speed::from_um_per_s(0)..=Speed::from_metres_per_s(1_000);
    }
}

section! {
    /// An access point.
    pub struct AccessPoint {
        /// Its position: x and y.
        at: Vec<Distance> = Vec::new(), Distance::ZERO..=Distance::from_metres(1_000_000);
        /// Its antenna height. Left out: as `radio.height`.
        height: Option<Distance> = None, Distance::ZERO..=Distance::from_metres(10_000);
        /// Its transmit power. Left out: as `radio.transmit-power`.
        transmit_power: Option<Level> = None;
        /// Its MAC's transmit queue. Left out: as the stations'.
        queue: Option<WifiQueue> = None;
        /// Its aggregation (802.11n). Left out: as the stations'.
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
        /// Stations wake up for every n-th beacon.
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
