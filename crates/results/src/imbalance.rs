//! How evenly jobs' bytes lie and move over the workers.

use super::metrics::{Metrics, figure};
use super::network::Node;
use units::{Bytes, Time};

/// What of the jobs' bytes is a worker's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeLoad {
    /// Bytes of the HDFS replicas on it when the run began: where the input was placed.
    pub stored_at_start: Bytes,
    /// Bytes of the HDFS replicas on it when the run ended: with outputs, and after re-replication and the Balancer.
    pub stored: Bytes,
    /// Input of the maps that succeeded on it.
    pub map_input: Bytes,
    /// Map output that its reducers received whole over the network.
    pub shuffle_received: Bytes,
    /// Map output that reducers of other nodes received whole from it.
    pub shuffle_sent: Bytes,
    /// What the reduces that succeeded on it have taken in, from its own maps and over the network.
    pub reduce_input: Bytes,
}

impl NodeLoad {
    /// All of them, in the order of the spreads.
    pub fn values(&self) -> [Bytes; 6] {
        LOADS.map(|(_, _, of)| of(self))
    }
}

/// The spread of one of these over the workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Imbalance {
    /// Which.
    pub name: &'static str,
    /// Its words on the page.
    pub words: &'static str,
    /// Its value on each worker, in their order.
    values: Vec<Bytes>,
}

impl Imbalance {
    /// The mean over the workers, in bytes.
    pub fn mean(&self) -> f64 {
        self.values.iter().map(|value| value.get() as f64).sum::<f64>() / self.values.len().max(1) as f64
    }
    /// The greatest.
    pub fn greatest(&self) -> Bytes {
        self.values.iter().copied().max().unwrap_or_default()
    }
    /// The greatest over the mean: 1 where all are equal, the number of workers where one has all. None where there is
    /// nothing.
    pub fn greatest_over_mean(&self) -> Option<f64> {
        let mean = self.mean();
        (mean > 0.0).then(|| self.greatest().get() as f64 / mean)
    }
    /// The coefficient of variation: the standard deviation over the workers (all of them, so by n) in units of the
    /// mean.
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean();
        let off = |value: &Bytes| value.get() as f64 - mean;
        let squares: f64 = self.values.iter().map(|value| off(value) * off(value)).sum();
        (mean > 0.0).then(|| libm::sqrt(squares / self.values.len() as f64) / mean)
    }
}

/// A load of a worker, by name.
type Of = (&'static str, &'static str, fn(&NodeLoad) -> Bytes);

const LOADS: [Of; 6] = [
    ("stored_at_start", "HDFS at the start", |load| load.stored_at_start),
    ("stored", "HDFS at the end", |load| load.stored),
    ("map_input", "map input", |load| load.map_input),
    ("shuffle_received", "shuffle in", |load| load.shuffle_received),
    ("shuffle_sent", "shuffle out", |load| load.shuffle_sent),
    ("reduce_input", "reduce input", |load| load.reduce_input),
];

/// The spread of each load over the workers among these nodes; nothing where the run has no jobs.
pub fn imbalances(nodes: &[Node]) -> Vec<Imbalance> {
    let loads: Vec<&NodeLoad> = nodes.iter().filter_map(|node| node.load.as_ref()).collect();
    let spread = |(name, words, of): Of| Imbalance { name, words, values: loads.iter().map(|load| of(load)).collect() };
    if loads.is_empty() { Vec::new() } else { LOADS.into_iter().map(spread).collect() }
}

/// What HDFS's Balancer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balancing {
    /// Iterations that moved something or tried to.
    pub iterations: u32,
    /// Replicas moved.
    pub replicas: u32,
    /// Their bytes.
    pub bytes: Bytes,
    /// When it exited, if it did.
    pub exit: Option<Time>,
    /// Whether every DataNode was within the threshold then.
    pub balanced: bool,
}

/// Figures of HDFS's Balancer.
pub static BALANCER: Metrics<Balancing> = Metrics {
    name: "balancer",
    what: "What HDFS's Balancer has done, where one is started.",
    file: None,
    metrics: &[
        figure("iterations", "Iterations that moved something or tried to.")
            .count("iterations", |balancing| balancing.iterations.into()),
        figure("replicas", "Replicas moved.").count("replicas", |balancing| balancing.replicas.into()),
        figure("moved", "Their bytes.").bytes(|balancing| balancing.bytes),
        figure("exit_s", "When it exited; null while it runs.").optional_time(|balancing| balancing.exit),
        figure("balanced", "Whether every DataNode was within the threshold when it exited.")
            .flag(|balancing| balancing.balanced),
    ],
};

/// Spreads of loads over workers.
pub static IMBALANCE: Metrics<Imbalance> = Metrics {
    name: "imbalance",
    what: "How evenly one of the jobs' loads is spread over the workers.",
    file: None,
    metrics: &[
        figure(
            "name",
            "`stored_at_start`, `stored`, `map_input`, `shuffle_received`, `shuffle_sent` or `reduce_input`, as in \
             [nodes](#nodes).",
        )
        .text(|row| row.name.to_owned()),
        figure("mean", "Its mean over the workers.").number("B", |row| row.mean()),
        figure("max", "The greatest.").bytes(|row| row.greatest()),
        figure(
            "max_over_mean",
            "The greatest over the mean: 1 is even, the number of workers is all on one; null where there is nothing.",
        )
        .optional_number("ratio", |row| row.greatest_over_mean()),
        figure("variation", "The coefficient of variation over the workers; null where there is nothing.")
            .optional_number("ratio", |row| row.variation()),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Imbalance {
        let load = |value: &u64| Node {
            load: Some(NodeLoad { map_input: Bytes::new(*value), ..NodeLoad::default() }),
            ..Node::default()
        };
        // The master has no load.
        let nodes: Vec<Node> = std::iter::once(Node::default()).chain(values.iter().map(load)).collect();
        imbalances(&nodes).into_iter().find(|row| row.name == "map_input").expect("it is there")
    }

    /// 2, 4, 4, 4, 5, 5, 7, 9: the usual example of a population's standard deviation, which is 2, with the mean 5.
    #[test]
    fn spreads_are_those_of_a_textbook() {
        let row = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((row.mean(), row.greatest()), (5.0, Bytes::new(9)));
        assert_eq!((row.greatest_over_mean(), row.variation()), (Some(1.8), Some(0.4)));
    }

    #[test]
    fn even_loads_one_loaded_worker_and_none() {
        assert_eq!((of(&[3; 8]).greatest_over_mean(), of(&[3; 8]).variation()), (Some(1.0), Some(0.0)));
        assert_eq!(of(&[0, 8, 0, 0]).greatest_over_mean(), Some(4.0));
        assert_eq!((of(&[0, 0]).greatest_over_mean(), of(&[0, 0]).variation()), (None, None));
        assert_eq!(imbalances(&[Node::default(), Node::default()]), []);
    }
}
