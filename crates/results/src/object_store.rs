//! What became of the requests to an object store.

use super::metrics::{Metrics, figure};
use super::value::Value;
use std::borrow::Cow;
use units::{Bytes, Time};

/// The name of a store that is no node, among hosts and links.
pub const NAME: &str = "object-store";

/// The unit of their counts.
pub const REQUESTS: &str = "requests";

/// The store's and its clients' side of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreUse {
    /// The node that it is, or one beyond all nodes.
    pub node: u32,
    /// Bytes that came through its interface, headers included.
    pub interface_received: Bytes,
    /// Bytes that went out through it.
    pub interface_sent: Bytes,
    /// Requests by method, those sent again among them.
    pub requests: Vec<(&'static str, u64)>,
    /// Answers that said 503 Slow Down.
    pub throttled: u64,
    /// Requests sent again after their connection broke.
    pub retries: u64,
    /// Requests that failed too often.
    pub given_up: u64,
    /// Connections opened.
    pub connections: u64,
    /// Bytes of objects with their readers.
    pub read: Bytes,
    /// Bytes of answers that came or were sent for nothing.
    pub in_vain: Bytes,
    /// Bytes that the store took.
    pub stored: Bytes,
    /// Bytes copied within the store.
    pub copied: Bytes,
    /// GET requests whose body has begun.
    pub first_bytes: u64,
    /// Time from their sending to that, over all of them.
    pub waited_for_first_byte: Time,
    /// The longest of these times.
    pub longest_first_byte: Time,
    /// Time for which requests waited for a connection.
    pub waited_for_connection: Time,
    /// Time for which requests were held back after 503 or a failure.
    pub backed_off: Time,
    /// Requests in each step.
    pub request_series: Vec<u32>,
    /// Answers in each step that said 503 Slow Down.
    pub throttled_series: Vec<u32>,
    /// Connections opened in each step.
    pub connection_series: Vec<u32>,
    /// GET requests whose body has begun in each step.
    pub first_byte_series: Vec<u32>,
    /// How long these have waited for it, together.
    pub wait_series: Vec<Time>,
}

impl StoreUse {
    /// All requests.
    pub fn requests(&self) -> u64 {
        self.requests.iter().map(|(_, count)| count).sum()
    }
}

/// Figures of an object store.
pub static OBJECT_STORE: Metrics<StoreUse> = Metrics {
    name: "object_store",
    what: "What became of the requests to the object store, where the scenario has one.",
    file: None,
    metrics: &[
        figure("requests", "Requests sent, by method; those sent again among them.").entries("requests", |store| {
            Value::sorted(store.requests.iter().map(|(name, count)| (Cow::Borrowed(*name), *count)))
        }),
        figure("requests_all", "All of them together.").label("requests").count("requests", |store| store.requests()),
        figure("throttled", "Answers that said 503 Slow Down.")
            .label("503 Slow Down")
            .count("requests", |store| store.throttled),
        figure("retries", "Requests sent again after their connection broke.").count("requests", |store| store.retries),
        figure("given_up", "Requests that failed too often.").count("requests", |store| store.given_up),
        figure("connections", "Connections opened.")
            .label("connections")
            .count("connections", |store| store.connections),
        figure("read", "Bytes of objects with their readers.").label("read").bytes(|store| store.read),
        figure("in_vain", "Bytes of answers for nothing: beyond what a reader wanted, or lost with a connection.")
            .bytes(|store| store.in_vain),
        figure("stored", "Bytes that the store took: objects, parts, and committers' small files.")
            .label("stored")
            .bytes(|store| store.stored),
        figure("copied", "Bytes copied within the store: renames.").label_if_any("copied").bytes(|store| store.copied),
        figure(
            "first_byte_mean_s",
            "Mean time from a GET's sending to the first piece of its body; null where there was none.",
        )
        .optional_number("s", |store| {
            (store.first_bytes > 0).then(|| store.waited_for_first_byte.as_secs_f64() / store.first_bytes as f64)
        }),
        figure("first_byte_max_s", "The longest of these times.").time(|store| store.longest_first_byte),
        figure("interface_received", "Bytes received through its interface, headers included.")
            .bytes(|store| store.interface_received),
        figure("interface_sent", "Bytes sent through its interface, headers included.")
            .bytes(|store| store.interface_sent),
        figure("first_byte_s", "All of these times together.").time(|store| store.waited_for_first_byte),
        figure("connection_wait_s", "Time for which requests waited for a connection, handshakes included.")
            .time(|store| store.waited_for_connection),
        figure("backed_off_s", "Time for which requests were held back after 503 or a failure, over all of them.")
            .time(|store| store.backed_off),
    ],
};
