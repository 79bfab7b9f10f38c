//! The two ways of Yang 2012 (3.4.3) to bring records to their nodes: all queues in one process, or one in each
//! DataNode.
//!
//! One process sends every byte itself, so its interface is the bottleneck, and it holds a block that fills for each
//! node. Where each DataNode has a queue of its own, whoever has records sends them straight to their nodes; but
//! records travel by themselves, each with a header, over a connection from every sender to every node.

/// Where records wait until they fill a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// One queue for each node, all in one process.
    Central,
    /// One queue in each DataNode.
    PerDataNode,
}

/// Data that are imported, and the cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Import {
    /// Bytes of all records.
    pub bytes: f64,
    /// Bytes of a record, on average.
    pub record: f64,
    /// Bytes that travel beside each record that is sent by itself.
    pub header: f64,
    /// Copies of each block.
    pub replicas: f64,
    /// Bytes of a block.
    pub block: f64,
    /// Bytes a second of a node's interface, each way.
    pub rate: f64,
    /// Seconds to open a connection.
    pub connect: f64,
    /// Memory of the one process, bytes.
    pub memory: f64,
    /// The records are spread over the nodes (logs that they wrote, files that are laid out anew). Else one client
    /// brings them.
    pub from_nodes: bool,
}

/// What an import takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportCost {
    /// Seconds, by the busiest interface.
    pub time: f64,
    /// Bytes of memory that queues take in the process or node that has most.
    pub memory: f64,
    /// Bytes between nodes.
    pub transfer: f64,
    /// The queues fit into the memory of the process that has them.
    pub fits: bool,
}

impl Import {
    /// The cost on so many nodes.
    pub fn cost(&self, queues: Queues, nodes: u32) -> ImportCost {
        let nodes = f64::from(nodes.max(1));
        let copies = self.replicas.clamp(1.0, nodes);
        match queues {
            Queues::Central => {
                let memory = (nodes * self.block).min(self.bytes);
                // The process sends each byte once. A node takes its share of all copies, and passes on all but the
                // last.
                let of_node = self.bytes * copies / nodes;
                ImportCost {
                    time: self.bytes.max(of_node) / self.rate + nodes * self.connect,
                    memory,
                    transfer: self.bytes * copies,
                    fits: memory <= self.memory,
                }
            }
            Queues::PerDataNode => {
                let framed = self.bytes * (1.0 + self.header / self.record.max(1.0));
                // Of a node's own records its part stays.
                let routed = if self.from_nodes { framed * (nodes - 1.0) / nodes } else { framed };
                let transfer = routed + self.bytes * (copies - 1.0);
                let (sent_by_one, connections) =
                    if self.from_nodes { (transfer / nodes, nodes - 1.0) } else { (framed, nodes) };
                ImportCost {
                    time: sent_by_one.max(transfer / nodes) / self.rate + connections * self.connect,
                    memory: self.block.min(self.bytes / nodes),
                    transfer,
                    fits: true,
                }
            }
        }
    }

    /// The smallest cluster, from 2 up to `most` nodes, on which queues in the DataNodes are the better way: the import
    /// takes less time, or one process has no room for the queues.
    pub fn crossover(&self, most: u32) -> Option<u32> {
        (2..=most).find(|nodes| {
            let (central, own) = (self.cost(Queues::Central, *nodes), self.cost(Queues::PerDataNode, *nodes));
            !central.fits || own.time < central.time
        })
    }
}
