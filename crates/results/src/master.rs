//! The RPC servers of the master node, and connections to it.

use super::metrics::{Metrics, figure};
use tcp::SegmentCounts;
use units::{Bytes, Time};

/// Counters of the master node: messages, segments, servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Master {
    /// Messages that other nodes pushed to it, and it to them: calls and replies.
    pub pushed: u64,
    /// Zero windows that it announced.
    pub zero_windows: u64,
    /// Retransmitted segments on the connections to it, both ways.
    pub retransmissions: u64,
    /// Segments that it received and sent, over connections of every kind.
    pub segments: SegmentCounts,
    /// Segments with PSH in each step, both ways.
    pub pushed_series: Vec<u32>,
    /// Segments that announced a zero window in each step, both ways.
    pub zero_window_series: Vec<u32>,
    /// What the NameNode holds.
    pub namespace: Namespace,
    /// Its servers.
    pub servers: Vec<RpcServer>,
}

/// Objects in the NameNode's memory, at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Namespace {
    /// Files, empty ones among them.
    pub files: u64,
    /// Their blocks, whatever their replicas.
    pub blocks: u64,
    /// Memory of both.
    pub memory: Bytes,
}

/// A server on the master node.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcServer {
    /// `namenode`, `jobtracker`, or one of the ResourceManager's: `resource-tracker`, `scheduler`, `clients`.
    pub name: &'static str,
    /// Calls processed.
    pub calls: u64,
    /// Mean latency from a call to its processing.
    pub latency_mean: Time,
    /// Greatest latency from a call to its processing.
    pub latency_max: Time,
    /// The most calls that waited for a handler.
    pub queue_max: u32,
    /// Calls and parts of calls that had to wait in a receive buffer.
    pub unread: u64,
}

/// The master node's side of calls.
pub static MASTER: Metrics<Master> = Metrics {
    name: "master",
    what: "Where the run has jobs, the master node's side of calls.",
    file: None,
    metrics: &[
        figure("pushed_messages", "Calls and replies that other nodes pushed to it, and it to them.")
            .count("messages", |master| master.pushed),
        figure("pushed_per_s", "Such messages in a second of the run.").number("messages/s", |master| {
            let length = master.run.ended_at;
            if length > Time::ZERO { master.pushed as f64 / length.as_secs_f64() } else { 0.0 }
        }),
        figure("zero_windows", "Times that it closed the window of a connection.")
            .of_packets()
            .count("times", |master| master.zero_windows),
        figure("retransmissions", "Segments sent again on the connections to it, both ways.")
            .of_packets()
            .count("segments", |master| master.retransmissions),
        figure("segments", "What a capture at its interface shows.")
            .inner(&SEGMENTS, |master| SEGMENTS.maybe(master.run, Some(&master.segments))),
        figure("namespace", "What the NameNode holds at the end.")
            .inner(&NAMESPACE, |master| NAMESPACE.maybe(master.run, Some(&master.namespace))),
        figure("servers", "Each server on it.").inner(&SERVERS, |master| SERVERS.list(master.run, &master.servers)),
        figure("pushed", "Segments with PSH that it sent and received.")
            .no_column()
            .series("segments/s", |master| per_second(&master.pushed_series, master.run.sample_interval)),
        figure("zero_windows", "Segments sent by it that told of a window of zero.")
            .no_column()
            .series("segments/s", |master| per_second(&master.zero_window_series, master.run.sample_interval)),
    ],
};

fn per_second(counts: &[u32], step: Time) -> Vec<f64> {
    let step = step.as_secs_f64().max(1e-12);
    counts.iter().map(|count| f64::from(*count) / step).collect()
}

/// Segments at the master's interface.
pub static SEGMENTS: Metrics<SegmentCounts> = Metrics {
    name: "segments",
    what: "Segments at the master node's interface, over all of its connections.",
    file: None,
    metrics: &[
        figure("received", "Segments that arrived, of every kind.")
            .of_packets()
            .count("segments", |segments| segments.received),
        figure("received_pushed", "Segments that arrived with PSH.")
            .of_packets()
            .count("segments", |segments| segments.received_pushed),
        figure("sent", "Segments that it sent, of every kind.")
            .of_packets()
            .count("segments", |segments| segments.sent),
        figure("sent_pushed", "Segments that it sent with PSH.")
            .of_packets()
            .count("segments", |segments| segments.sent_pushed),
        figure("zero_windows", "Segments sent with a window of zero; SYN, FIN and RST aside.")
            .of_packets()
            .count("segments", |segments| segments.zero_windows),
    ],
};

/// Objects in the NameNode's memory.
pub static NAMESPACE: Metrics<Namespace> = Metrics {
    name: "namespace",
    what: "What the NameNode holds in memory when the run ends, the files of jobs themselves included.",
    file: None,
    metrics: &[
        figure("files", "Files.").count("files", |namespace| namespace.files),
        figure("blocks", "Blocks of files, whatever their replicas; of erasure-coded ones a group is one.")
            .count("blocks", |namespace| namespace.blocks),
        figure("memory_bytes", "Memory of both, 150 bytes each (Cloudera, HDFS overview).")
            .bytes(|namespace| namespace.memory),
    ],
};

/// Servers on the master node.
pub static SERVERS: Metrics<RpcServer> = Metrics {
    name: "servers",
    what: "A server on the master node.",
    file: None,
    metrics: &[
        figure(
            "name",
            "`namenode`, `jobtracker`, or the ResourceManager's `resource-tracker`, `scheduler`, `clients`.",
        )
        .text(|server| server.name.to_owned()),
        figure("calls", "Calls processed.").count("calls", |server| server.calls),
        figure("latency_mean_s", "From the call to its processing, mean.").time(|server| server.latency_mean),
        figure("latency_max_s", "From the call to its processing, at most.").time(|server| server.latency_max),
        figure("queue_max_calls", "The most calls that waited for a handler.")
            .count("calls", |server| server.queue_max.into()),
        figure("unread", "Calls and parts of calls that had to wait in a receive buffer.")
            .count("calls", |server| server.unread),
    ],
};
