//! Settings of the file system, with Hadoop's property names and defaults.

use super::balancer::BalancerConfig;
use super::erasure::ErasureCode;
use units::{Bytes, Time};

/// Which of a block's replicas is read, and where its maps are local.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadOrder {
    /// The nearest; maps are local on every node with a replica. HDFS as it is.
    #[default]
    Nearest,
    /// The nearest of those whose disk is awake, else the one whose disk rests least deep; maps are local where the
    /// first replica is (Yang 2012, 4.3.2).
    Awake,
}

/// Settings of HDFS; the defaults are those of Hadoop 3 (`hdfs-default.xml`) where a property is named.
#[derive(Debug, Clone, PartialEq)]
pub struct HdfsConfig {
    /// `dfs.blocksize`: length of a block.
    pub block_size: Bytes,
    /// `dfs.replication`: replicas of a block.
    pub replication: u32,
    /// The erasure coding policy of the jobs' input and output (`hdfs ec -setPolicy` on their folders); none: replicas.
    pub erasure: Option<ErasureCode>,
    /// Processor seconds that coding takes for each byte of a cell that is made, and each of the k cells that it is
    /// made of. The default is that of HDFS's coder in Java (`RSRawEncoder`); docs/models/hadoop.md has its
    /// measurement.
    pub coding_cost: f64,
    /// `dfs.heartbeat.interval`: between a DataNode's heartbeats.
    pub heartbeat_interval: Time,
    /// `dfs.namenode.heartbeat.recheck-interval`: between looks for dead DataNodes.
    pub recheck_interval: Time,
    /// `dfs.blockreport.intervalMsec`: between a DataNode's full block reports.
    pub block_report_interval: Time,
    /// `dfs.namenode.redundancy.interval.seconds`: between looks for blocks with too few replicas.
    pub redundancy_interval: Time,
    /// `dfs.namenode.replication.work.multiplier.per.iteration`: blocks that one look may schedule, for each live
    /// DataNode.
    pub replication_work_multiplier: u32,
    /// `dfs.namenode.replication.max-streams`: replications that a DataNode may send at the same time.
    pub replication_max_streams: u32,
    /// `dfs.namenode.redundancy.considerLoad`: whether a DataNode with more than twice the average load is passed over.
    pub consider_load: bool,
    /// `dfs.namenode.handler.count`: calls that the NameNode has in work at the same time.
    pub handlers: u32,
    /// Processor time of one call at the NameNode.
    pub call_service: Time,
    /// `dfs.client-write-packet-size`: a packet of a block's transfer.
    pub packet_size: Bytes,
    /// `dfs.client.write.max-packets-in-flight`: packets of a stream that may wait to be sent or acknowledged.
    pub max_packets: u32,
    /// What a sender may have in its socket's send buffer; beyond it a DataNode or client blocks.
    pub send_buffer: Bytes,
    /// `dfs.datanode.readahead.bytes`: how far a DataNode reads its disk ahead of what it has sent.
    pub readahead: Bytes,
    /// How far the kernel reads a local file ahead of what its reader has taken. A DataNode in a pipeline takes in as
    /// much before it has written and passed it on.
    pub read_window: Bytes,
    /// How far a remote replica is sent ahead of what its reader has taken: what the reader's receive buffer holds.
    /// Linux lets it grow to twice what the application takes in a round trip (dynamic right-sizing, Fisk and Feng
    /// 2001), not to its maximum; a recorded reader that was killed 17.1 MB into a block had received at most 1 MB
    /// beyond.
    pub remote_window: Bytes,
    /// Largest disk request of a local read; its progress comes in such steps.
    pub local_chunk: Bytes,
    /// A DataNode asks its disk for pieces of this length, and writes received packets to it in such pieces.
    pub disk_chunk: Bytes,
    /// Processor seconds that a DataNode spends on each byte that it receives and stores: copies, checksums, its share
    /// of the kernel's work. The default was measured on a 2-core AMD EPYC virtual machine with Hadoop 3.5 (a speed of
    /// 1 in this crate).
    pub receive_cpu: f64,
    /// `dfs.client.socket-timeout`: a transfer without progress for this long has failed.
    pub socket_timeout: Time,
    /// Added to the timeout of a pipeline for each node behind (`HdfsConstants.READ_TIMEOUT_EXTENSION`).
    pub timeout_extension: Time,
    /// `dfs.client.block.write.retries`: new blocks tried when a pipeline cannot be set up.
    pub block_write_retries: u32,
    /// `dfs.client.block.write.locateFollowingBlock.initial.delay.ms`: pause before asking the NameNode again; it
    /// doubles.
    pub retry_delay: Time,
    /// `dfs.client.block.write.locateFollowingBlock.retries`: how often the NameNode is asked again.
    pub complete_retries: u32,
    /// `dfs.client.max.block.acquire.failures`: rounds over all replicas before a read fails.
    pub acquire_failures: u32,
    /// `dfs.client.retry.window.base`: pause before the next round.
    pub retry_window: Time,
    /// The Balancer, if one is started.
    pub balancer: Option<BalancerConfig>,
    /// Which of a block's replicas is read.
    pub read_order: ReadOrder,
    /// The first replicas of input blocks are dealt to the nodes in turn, as though each had written its part.
    pub even_input: bool,
}

/// Seconds that HDFS's coder in Java takes for a byte of a cell that is made, and one of the cells that it is made of.
const CODING: f64 = 0.94e-9;

impl Default for HdfsConfig {
    fn default() -> Self {
        Self {
            block_size: Bytes::from_mib(128),
            replication: 3,
            erasure: None,
            coding_cost: CODING,
            heartbeat_interval: Time::from_secs(3),
            recheck_interval: Time::from_secs(300),
            block_report_interval: Time::from_secs(21_600),
            redundancy_interval: Time::from_secs(3),
            replication_work_multiplier: 2,
            replication_max_streams: 2,
            consider_load: true,
            handlers: 10,
            call_service: Time::from_us(100),
            packet_size: Bytes::new(65_536),
            max_packets: 80,
            send_buffer: Bytes::from_mib(1),
            readahead: Bytes::from_mib(4),
            read_window: Bytes::from_mib(4),
            remote_window: Bytes::from_mib(1),
            local_chunk: Bytes::from_mib(2),
            disk_chunk: Bytes::from_mib(1),
            receive_cpu: 7e-9,
            socket_timeout: Time::from_secs(60),
            timeout_extension: Time::from_secs(5),
            block_write_retries: 3,
            retry_delay: Time::from_ms(400),
            complete_retries: 5,
            acquire_failures: 3,
            retry_window: Time::from_secs(3),
            balancer: None,
            read_order: ReadOrder::Nearest,
            even_input: false,
        }
    }
}

impl HdfsConfig {
    /// After this long without a heartbeat a DataNode is dead: twice the recheck interval and ten heartbeats, 10.5
    /// minutes by default.
    pub fn dead_after(&self) -> Time {
        self.recheck_interval * 2 + self.heartbeat_interval * 10
    }
}
