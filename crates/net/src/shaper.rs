//! Token-bucket shaping.

use units::{BitRate, Bytes, Time};

/// A token bucket: in any interval t at most burst + rate x t passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenBucketSpec {
    /// Rate at which tokens (bytes) arrive.
    pub rate: BitRate,
    /// Depth of the bucket: the most tokens it holds.
    pub burst: Bytes,
}

/// The bucket's state as one instant, as in the virtual scheduling algorithm (ITU-T I.371, annex A): exact in integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    spec: TokenBucketSpec,
    /// How long an empty bucket takes to fill.
    fill: Time,
    /// When the bucket is full if nothing more is sent.
    full_at: Time,
}

impl TokenBucket {
    pub(crate) fn new(spec: TokenBucketSpec) -> Self {
        Self { spec, fill: spec.rate.transmission_time(spec.burst), full_at: Time::ZERO }
    }

    /// The earliest start, not before `start`, with tokens for `bytes`. A packet longer than the burst goes when the
    /// bucket is full.
    pub(crate) fn earliest(&self, start: Time, bytes: u32) -> Time {
        let cost = self.cost(bytes);
        let spare = self.fill.saturating_sub(cost);
        start.max(self.full_at.saturating_sub(spare))
    }

    /// Takes the tokens of a packet whose transmission begins at `start`.
    pub(crate) fn take(&mut self, start: Time, bytes: u32) {
        self.full_at = self.full_at.max(start) + self.cost(bytes);
    }

    pub(crate) fn spec(&self) -> TokenBucketSpec {
        self.spec
    }

    fn cost(&self, bytes: u32) -> Time {
        self.spec.rate.transmission_time(Bytes::new(u64::from(bytes)))
    }
}
