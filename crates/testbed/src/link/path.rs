//! The settings of a path between two namespaces.

use super::{LinkError, Trace};
use net::{Discipline, Limit, Loss};
use units::{BitRate, Bytes, Time};

/// One direction of a path: a queue, a transmitter, then a wire.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    /// Rate of the transmitter. Ethernet frames count as in tc: header and payload, without frame check sequence and
    /// preamble. `None` is unlimited.
    pub rate: Option<BitRate>,
    /// Propagation delay, one way.
    pub delay: Time,
    /// Variation of the delay.
    pub jitter: Jitter,
    /// Frames that are held back so that others overtake them.
    pub reorder: Reorder,
    /// Frames lost on the wire.
    pub loss: Loss,
    /// Queue limit. Default: what the path carries in an RTT, at least 100 full frames.
    pub limit: Option<Limit>,
    /// Queue discipline.
    pub discipline: Discipline,
    /// Changes of the shape over time.
    pub trace: Option<Trace>,
}

/// Variation of the delay: uniform within `by` to both sides, drawn for each frame.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Jitter {
    /// The delay varies uniformly by this, up and down.
    pub by: Time,
    /// Whether a frame may overtake another. Off, it waits for those before it.
    pub reorders: bool,
}

/// Frames that are held back.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Reorder {
    /// Probability that a frame is held back.
    pub share: f64,
    /// How much later such a frame arrives.
    pub by: Time,
}

/// A path between two namespaces.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// The name of the path, and of the interface at both its ends.
    pub name: String,
    /// From the near namespace to the far one.
    pub forth: Direction,
    /// From the far namespace to the near one.
    pub back: Direction,
}

/// The longest frame: an Ethernet header and 1500 bytes.
pub const FRAME: Bytes = Bytes::new(ETHERNET + 1_500);
/// An Ethernet header.
pub const ETHERNET: u64 = 14;
/// The shortest default queue, in frames.
const LEAST_QUEUE: u64 = 100;
/// Limits of queue and delay: frames are held in memory.
const LONGEST_QUEUE: u64 = 1_000_000;
const LONGEST_DELAY: Time = Time::from_secs(600);

impl Direction {
    /// A wire of this rate and one-way delay, without loss.
    pub fn new(rate: Option<BitRate>, delay: Time) -> Self {
        Self {
            rate,
            delay,
            jitter: Jitter::default(),
            reorder: Reorder::default(),
            loss: Loss::default(),
            limit: None,
            discipline: Discipline::DropTail,
            trace: None,
        }
    }

    /// The rate for which the queue is sized: the constant rate, the mean of recorded opportunities, or the highest
    /// rate of the trace.
    pub fn nominal_rate(&self) -> Option<BitRate> {
        match &self.trace {
            Some(Trace::Opportunities(opportunities)) => Some(opportunities.mean_rate()),
            Some(Trace::Changes(changes)) => self.rate.max(changes.iter().filter_map(|change| change.rate).max()),
            None => self.rate,
        }
    }

    /// Goodput of one TCP connection with timestamps at a constant rate: full segments over IPv4 carry 1448 of 1514
    /// bytes.
    pub fn tcp_goodput(&self) -> Option<BitRate> {
        let bps = u128::from(self.rate.filter(|_| self.trace.is_none())?.as_bps());
        Some(BitRate::from_bps((bps * 1_448 / u128::from(FRAME.get())) as u64))
    }

    /// The queue limit on a path with this RTT.
    pub fn limit(&self, round_trip: Time) -> Limit {
        match (self.limit, self.nominal_rate()) {
            (Some(limit), _) => limit,
            (None, None) => Limit::Unlimited,
            (None, Some(rate)) => {
                let frames = rate.bytes_in(round_trip).get().div_ceil(FRAME.get());
                Limit::Packets(frames.clamp(LEAST_QUEUE, LONGEST_QUEUE) as u32)
            }
        }
    }

    fn check(&self, round_trip: Time) -> Result<(), String> {
        if self.rate == Some(BitRate::default()) {
            return Err("the rate is zero: nothing would ever arrive".to_owned());
        }
        let delays =
            [("delay", self.delay), ("jitter", self.jitter.by), ("delay of reordered frames", self.reorder.by)];
        if let Some((what, delay)) = delays.into_iter().find(|(_, delay)| *delay > LONGEST_DELAY) {
            return Err(format!("a {what} of {delay} is longer than {LONGEST_DELAY}"));
        }
        if self.jitter.by > self.delay {
            return Err(format!("the jitter, {}, exceeds the delay, {}", self.jitter.by, self.delay));
        }
        if !(0.0..=1.0).contains(&self.reorder.share) {
            return Err(format!(
                "{} is not a share of reordered frames: it must lie between 0 and 1",
                self.reorder.share
            ));
        }
        if self.reorder.share > 0.0 && self.reorder.by == Time::ZERO {
            return Err("reordered frames need a time by which they are held back".to_owned());
        }
        self.loss.check().map_err(|error| error.to_string())?;
        let (limit, rate) = (self.limit(round_trip), self.queue_rate());
        let too_long = match limit.at_rate(rate) {
            Limit::Packets(0) => return Err("the queue must hold at least one frame".to_owned()),
            Limit::Bytes(bytes) if bytes < FRAME => {
                return Err(format!("the queue must hold at least one frame of {FRAME}, not {limit}"));
            }
            Limit::Packets(packets) => u64::from(packets) > LONGEST_QUEUE,
            Limit::Bytes(bytes) => bytes > FRAME * LONGEST_QUEUE,
            Limit::Delay(_) | Limit::Unlimited => false,
        };
        if too_long {
            return Err(format!("a queue of {limit} is longer than {LONGEST_QUEUE} full frames"));
        }
        self.discipline.check(limit, rate).map_err(|error| error.to_string())
    }

    /// The rate that the queue's discipline assumes.
    pub(super) fn queue_rate(&self) -> BitRate {
        self.nominal_rate().unwrap_or(BitRate::from_gbps(1_000))
    }
}

impl Path {
    /// A path with equal directions, each with half of the RTT.
    pub fn new(name: &str, rate: impl Into<Option<BitRate>>, round_trip: Time) -> Self {
        Self::symmetric(name, &Direction::new(rate.into(), round_trip / 2))
    }

    /// A path with `direction` both ways.
    pub fn symmetric(name: &str, direction: &Direction) -> Self {
        Self { name: name.to_owned(), forth: direction.clone(), back: direction.clone() }
    }

    /// Sets the loss both ways; a number is a loss probability per frame.
    pub fn with_loss(mut self, loss: impl Into<Loss>) -> Self {
        let loss = loss.into();
        (self.forth.loss, self.back.loss) = (loss, loss);
        self
    }

    /// Sets the queue limit both ways.
    pub fn with_limit(mut self, limit: Limit) -> Self {
        (self.forth.limit, self.back.limit) = (Some(limit), Some(limit));
        self
    }

    /// Sets the queue discipline both ways.
    pub fn with_discipline(mut self, discipline: Discipline) -> Self {
        (self.forth.discipline, self.back.discipline) = (discipline, discipline);
        self
    }

    /// The RTT without queueing: the delay there and back.
    pub fn round_trip(&self) -> Time {
        self.forth.delay + self.back.delay
    }

    /// Checks the settings.
    pub fn check(&self) -> Result<(), LinkError> {
        check_name("path", &self.name)?;
        for (way, direction) in [("there", &self.forth), ("back", &self.back)] {
            direction
                .check(self.round_trip())
                .map_err(|what| LinkError::Input(format!("path {}, {way}: {what}", self.name)))?;
        }
        Ok(())
    }
}

/// Checks a name. It becomes that of an interface, a namespace or a file.
pub(super) fn check_name(of: &str, name: &str) -> Result<(), LinkError> {
    if is_name(name) {
        return Ok(());
    }
    Err(LinkError::Input(format!(
        "`{name}` cannot name a {of}: a name begins with a letter and has at most 15 of a-z, 0-9 and -; lo, all and \
         default are taken"
    )))
}

/// Whether a text can be a name.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=15).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(plain)
        && !["lo", "all", "default"].contains(&name)
}
