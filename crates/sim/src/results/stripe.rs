//! What became of byte streams over many connections.

use serde::Serialize;
use units::{Bytes, Time};

/// What became of the byte streams of one traffic, all together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripeOutcome {
    /// Streams in use at the end.
    pub streams_at_end: u64,
    /// How many streams there were to be, whenever that changed, and why.
    pub numbers: Vec<StreamCountAt>,
    /// Each stream that there has been.
    pub streams: Vec<StreamOutcome>,
    /// Payload sent again because its stream was lost.
    pub repeated: Bytes,
    /// Payload sent on a second stream because it was late.
    pub copied: Bytes,
    /// Payload received that was there already.
    pub duplicates: Bytes,
    /// The most that a receiver held, in order and not.
    pub buffered_max: Bytes,
    /// The most that a receiver held out of order.
    pub out_of_order_max: Bytes,
    /// The mean over time of what receivers held out of order, in bytes.
    pub out_of_order_mean: f64,
    /// The most that a receiver would have held, at the end.
    pub credit: Bytes,
}

/// How many streams there are to be from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCountAt {
    /// From when on.
    pub at: Time,
    /// How many.
    pub streams: u32,
    /// Why; empty where the number is fixed.
    pub reason: &'static str,
}

/// One stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOutcome {
    /// Its number in its session.
    pub stream: u32,
    /// The path that it took: a position in the scenario's `paths`.
    pub path: u32,
    /// Payload that it brought, whether it was there already or not.
    pub delivered: Bytes,
}

#[derive(Serialize)]
pub struct StripeView<'a> {
    streams_at_end: u64,
    numbers: Vec<NumberView<'a>>,
    streams: Vec<StreamView>,
    repeated: u64,
    copied: u64,
    duplicates: u64,
    buffered_max: u64,
    out_of_order_max: u64,
    out_of_order_mean: f64,
    credit: u64,
}

#[derive(Serialize)]
struct NumberView<'a> {
    at_s: f64,
    streams: u32,
    reason: &'a str,
}

#[derive(Serialize)]
struct StreamView {
    stream: u32,
    path: u32,
    delivered: u64,
}

pub fn stripe_view(stripe: &StripeOutcome) -> StripeView<'_> {
    let number = |number: &StreamCountAt| NumberView {
        at_s: number.at.as_secs_f64(),
        streams: number.streams,
        reason: number.reason,
    };
    let stream = |stream: &StreamOutcome| StreamView {
        stream: stream.stream,
        path: stream.path,
        delivered: stream.delivered.get(),
    };
    StripeView {
        streams_at_end: stripe.streams_at_end,
        numbers: stripe.numbers.iter().map(number).collect(),
        streams: stripe.streams.iter().map(stream).collect(),
        repeated: stripe.repeated.get(),
        copied: stripe.copied.get(),
        duplicates: stripe.duplicates.get(),
        buffered_max: stripe.buffered_max.get(),
        out_of_order_max: stripe.out_of_order_max.get(),
        out_of_order_mean: stripe.out_of_order_mean,
        credit: stripe.credit.get(),
    }
}
