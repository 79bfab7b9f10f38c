//! Axes: what one key, or a group of keys that go together, is along a surface.

use crate::varied::{SweptValue, VariedKey};
use serde::Serialize;
use units::{BitRate, Bytes, Distance, Energy, Frequency, Power, Speed, Time};

/// A kind of quantity that keys have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A duration.
    Time,
    /// A size.
    Bytes,
    /// A rate of transmission.
    Rate,
    /// A length.
    Distance,
    /// A speed.
    Speed,
    /// A frequency.
    Frequency,
    /// A power.
    Power,
    /// An energy.
    Energy,
}

type Units = &'static [(&'static str, u64)];

/// The base value of a text, and the units of its kind.
fn parsed<Q: units::Quantity>(text: &str) -> Option<(u64, Units)> {
    Some((text.parse::<Q>().ok()?.base(), Q::SCALE.units))
}

impl Quantity {
    const ALL: [Self; 8] =
        [Self::Time, Self::Bytes, Self::Rate, Self::Distance, Self::Speed, Self::Frequency, Self::Power, Self::Energy];

    fn parse(self, text: &str) -> Option<(u64, Units)> {
        match self {
            Self::Time => parsed::<Time>(text),
            Self::Bytes => parsed::<Bytes>(text),
            Self::Rate => parsed::<BitRate>(text),
            Self::Distance => parsed::<Distance>(text),
            Self::Speed => parsed::<Speed>(text),
            Self::Frequency => parsed::<Frequency>(text),
            Self::Power => parsed::<Power>(text),
            Self::Energy => parsed::<Energy>(text),
        }
    }

    /// The kind of a text like "10 Mbit/s": no two kinds share a unit.
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.parse(text).is_some())
    }

    /// The value of a text in the base unit of its kind.
    pub(crate) fn base(self, text: &str) -> Option<f64> {
        self.parse(text).map(|(base, _)| base as f64)
    }

    /// The unit that a text is written in, and how many base units it has.
    pub(crate) fn unit_of(self, text: &str) -> Option<(&'static str, f64)> {
        let (_, units) = self.parse(text)?;
        let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | '+')).trim();
        units.iter().find(|(name, _)| *name == unit).map(|(name, factor)| (*name, *factor as f64))
    }

    /// The suffix of columns in this kind's SI unit, and what a base unit is in it.
    pub(crate) const fn column(self) -> (&'static str, f64) {
        match self {
            Self::Time => ("_s", 1e-12),
            Self::Bytes => ("_bytes", 1.0),
            Self::Rate => ("_bps", 1.0),
            Self::Distance => ("_m", 1e-6),
            Self::Speed => ("_m_per_s", 1e-6),
            Self::Frequency => ("_hz", 1.0),
            Self::Power => ("_w", 1e-9),
            Self::Energy => ("_j", 1e-9),
        }
    }

    /// This kind's SI unit.
    pub(crate) const fn si(self) -> &'static str {
        match self {
            Self::Time => "s",
            Self::Bytes => "B",
            Self::Rate => "bit/s",
            Self::Distance => "m",
            Self::Speed => "m/s",
            Self::Frequency => "Hz",
            Self::Power => "W",
            Self::Energy => "J",
        }
    }
}

/// What all values of a key are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Words, tables, or values of different kinds.
    Words,
    /// Numbers without a unit.
    Numbers,
    /// Numbers with the unit `packets`.
    Packets,
    /// Quantities of one kind.
    Of(Quantity),
}

fn packets(text: &str) -> Option<f64> {
    text.strip_suffix("packets")?.trim().parse().ok()
}

impl Kind {
    /// Of a key's values.
    pub(crate) fn of(values: &[SweptValue]) -> Self {
        let all = |read: &dyn Fn(&SweptValue) -> bool| values.iter().all(read);
        if all(&|value| value.toml == value.text && value.toml.parse::<f64>().is_ok_and(f64::is_finite)) {
            return Self::Numbers;
        }
        if all(&|value| packets(&value.text).is_some()) {
            return Self::Packets;
        }
        match values.first().and_then(|value| Quantity::of(&value.text)) {
            Some(quantity) if all(&|value| quantity.base(&value.text).is_some()) => Self::Of(quantity),
            _ => Self::Words,
        }
    }

    /// A value as a number in the SI unit of its kind.
    pub(crate) fn number(self, value: &SweptValue) -> Option<f64> {
        match self {
            Self::Words => None,
            Self::Numbers => value.toml.parse().ok(),
            Self::Packets => packets(&value.text),
            Self::Of(quantity) => quantity.base(&value.text).map(|base| base * quantity.column().1),
        }
    }
}

/// From this ratio of the greatest to the least value on, an axis is logarithmic.
const LOG_RATIO: f64 = 10.0;

/// A key along an axis, as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Its path; of keys that go together, that of the first.
    pub key: String,
    /// The unit of `numbers`; empty for words and counts.
    pub unit: String,
    /// The values as the file has them; of keys that go together, all of theirs.
    pub values: Vec<String>,
    /// The values in `unit`; `None` where they are words.
    pub numbers: Option<Vec<f64>>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// The other keys that go together with this one.
    pub with: Vec<String>,
}

impl Axis {
    /// Of a key, or of a group of keys that go together; not empty.
    pub(crate) fn of(group: &[&VariedKey]) -> Option<Self> {
        let (first, others) = group.split_first()?;
        let kind = Kind::of(&first.values);
        let (unit, factor) = match kind {
            Kind::Of(quantity) => first.values.first().and_then(|value| quantity.unit_of(&value.text))?,
            Kind::Packets => ("packets", 1.0),
            Kind::Numbers | Kind::Words => ("", 1.0),
        };
        let number = |value: &SweptValue| match kind {
            Kind::Of(quantity) => quantity.base(&value.text).map(|base| base / factor),
            _ => kind.number(value),
        };
        let numbers: Option<Vec<f64>> = first.values.iter().map(number).collect();
        let spans = numbers.as_ref().is_some_and(|numbers| {
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(0.0, f64::max);
            least > 0.0 && most >= LOG_RATIO * least
        });
        let text = |place: usize| {
            let rest = others.iter().filter_map(|key| key.values.get(place)).map(|value| value.text.as_str());
            let all: Vec<&str> = std::iter::once(first.values[place].text.as_str()).chain(rest).collect();
            all.join(", ")
        };
        Some(Self {
            key: first.key.clone(),
            unit: unit.to_owned(),
            values: (0..first.values.len()).map(text).collect(),
            log: numbers.is_some() && (first.log || spans),
            numbers,
            with: others.iter().map(|key| key.key.clone()).collect(),
        })
    }
}
