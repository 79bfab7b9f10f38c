//! Results of byte streams over many connections.

use super::metrics::{Metrics, figure};
use units::{Bytes, Time};

/// Results of the byte streams of one traffic, summed over its pairs of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripeOutcome {
    /// Streams in use at the end.
    pub streams_at_end: u64,
    /// The target number of streams: each change with its reason.
    pub numbers: Vec<StreamCountAt>,
    /// All streams, ended ones included.
    pub streams: Vec<StreamOutcome>,
    /// Payload sent again because its stream was lost.
    pub repeated: Bytes,
    /// Payload sent on a second stream because it was late.
    pub copied: Bytes,
    /// Duplicate payload received.
    pub duplicates: Bytes,
    /// The most bytes that a receiver buffered, in order or not.
    pub buffered_max: Bytes,
    /// The most out-of-order bytes that a receiver buffered.
    pub out_of_order_max: Bytes,
    /// Time average of out-of-order bytes at receivers.
    pub out_of_order_mean: f64,
    /// The greatest credit of a receiver at the end.
    pub credit: Bytes,
}

/// A change of the target number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCountAt {
    /// Time of the change.
    pub at: Time,
    /// The new number.
    pub streams: u32,
    /// The reason; empty where the number is fixed.
    pub reason: &'static str,
}

/// One stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOutcome {
    /// Its number in its session.
    pub stream: u32,
    /// The path that it took: a position in the scenario's `paths`.
    pub path: u32,
    /// Payload that it delivered, duplicates included.
    pub delivered: Bytes,
}

/// Byte streams over many connections.
pub static STRIPE: Metrics<StripeOutcome> = Metrics {
    name: "stripe",
    what: "The byte streams of one traffic, each over many connections, all together.",
    file: None,
    metrics: &[
        figure("streams_at_end", "Streams in use at the end.").count("streams", |stripe| stripe.streams_at_end),
        figure("numbers", "How many streams there were to be, whenever that changed.")
            .inner(&STREAM_COUNTS, |stripe| STREAM_COUNTS.list(stripe.run, &stripe.numbers)),
        figure("streams", "Each stream that there has been.")
            .inner(&STREAMS, |stripe| STREAMS.list(stripe.run, &stripe.streams)),
        figure("repeated", "Payload sent again because its stream was lost.").bytes(|stripe| stripe.repeated),
        figure("copied", "Payload sent on a second stream because it was late.").bytes(|stripe| stripe.copied),
        figure("duplicates", "Payload received that was there already.").bytes(|stripe| stripe.duplicates),
        figure("buffered_max", "The most that a receiver held, in order and not.").bytes(|stripe| stripe.buffered_max),
        figure("out_of_order_max", "The most that a receiver held out of order.")
            .bytes(|stripe| stripe.out_of_order_max),
        figure("out_of_order_mean", "What receivers held out of order, mean over time.")
            .number("B", |stripe| stripe.out_of_order_mean),
        figure("credit", "The most that a receiver would have held, at the end.").bytes(|stripe| stripe.credit),
    ],
};

/// Numbers of streams.
pub static STREAM_COUNTS: Metrics<StreamCountAt> = Metrics {
    name: "numbers",
    what: "How many streams there are to be from a time on.",
    file: None,
    metrics: &[
        figure("at_s", "From when on.").time(|number| number.at),
        figure("streams", "How many.").count("streams", |number| number.streams.into()),
        figure("reason", "Why; empty where the number is fixed.").text(|number| number.reason.to_owned()),
    ],
};

/// Figures of a stream.
pub static STREAMS: Metrics<StreamOutcome> = Metrics {
    name: "streams",
    what: "A stream of a byte stream over many.",
    file: None,
    metrics: &[
        figure("stream", "Its number in its session.").count("number", |stream| stream.stream.into()),
        figure("path", "The path that it took: a position in the scenario's `paths`.")
            .count("number", |stream| stream.path.into()),
        figure("delivered", "Payload that it brought, whether it was there already or not.")
            .bytes(|stream| stream.delivered),
    ],
};
