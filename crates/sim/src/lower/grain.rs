//! The pieces in which data moves, where there is more of it than can be followed as finely as by packets.
//!
//! Tasks and DataNodes read, compute, send and write in pieces of 64 KiB to 4 MiB: a job of 1 TB has millions of them.
//! With flows they are larger where jobs read much. What a piece's size stands for stays: no piece is more than an eighth
//! of a block, so that reading, computing and writing overlap; packets are at most half of what a socket holds, so that
//! windows and round trips bound a stream as before; of packets in flight there are as many bytes; a disk shares its time
//! among requests of any length (`storage`).

use hadoop::Config;
use scenario::{Fidelity, Scenario};
use units::{Bytes, whole};

/// So much input, in MiB, is followed as finely as by packets.
const FOLLOWED: u64 = 1 << 16;
/// The most by which pieces grow where the scenario does not say.
const COARSEST: u64 = 8;
/// Pieces that a block has at the least.
const OF_BLOCK: u64 = 8;

/// How many times as large as by packets.
pub fn grain(scenario: &Scenario) -> u64 {
    if scenario.run.fidelity == Fidelity::Packet {
        return 1;
    }
    scenario.run.grain.map_or_else(|| by_volume(input(scenario)), u64::from)
}

/// What all jobs read.
pub fn input(scenario: &Scenario) -> Bytes {
    let of = |job: &scenario::Job| if job.splits.is_empty() { job.input } else { job.splits.iter().copied().sum() };
    let total: Bytes = scenario.job.iter().map(of).sum();
    total.mul_f64(scenario.mapreduce.data_scale)
}

/// A power of two, so that blocks divide into pieces of one length.
fn by_volume(input: Bytes) -> u64 {
    let times = input.get() / (1 << 20) / FOLLOWED;
    1 << times.clamp(1, COARSEST).ilog2()
}

/// The largest piece.
pub fn largest(scenario: &Scenario) -> Bytes {
    let mut config = Config::default();
    config.hdfs.block_size = scenario.hdfs.block;
    coarsen(&mut config, grain(scenario));
    config.mapreduce.chunk
}

/// Makes all pieces so many times as large, as far as they may be.
pub fn coarsen(config: &mut Config, times: u64) {
    if times == 1 {
        return;
    }
    let (hdfs, chunk) = (&mut config.hdfs, &mut config.mapreduce.chunk);
    let most = hdfs.block_size / OF_BLOCK;
    let grown = |piece: Bytes, most: Bytes| (piece * times).min(most).max(piece);
    let packet = grown(hdfs.packet_size, most.min(hdfs.send_buffer / 2).min(hdfs.remote_window / 2));
    let in_flight = hdfs.packet_size * u64::from(hdfs.max_packets);
    hdfs.max_packets = units::word(whole((in_flight.get() as f64 / packet.get().max(1) as f64).round()).max(2));
    hdfs.packet_size = packet;
    hdfs.disk_chunk = grown(hdfs.disk_chunk, most);
    hdfs.local_chunk = grown(hdfs.local_chunk, most);
    *chunk = grown(*chunk, most);
    // What is read while the piece before is taken.
    hdfs.readahead = hdfs.readahead.max(hdfs.disk_chunk * 2);
    hdfs.read_window = hdfs.read_window.max(hdfs.local_chunk * 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_grow_with_what_is_read_and_not_beyond() {
        let times = |gib: u64| by_volume(Bytes::from_mib(gib << 10));
        assert_eq!([0, 1, 64, 127, 128, 300, 511, 512, 100_000].map(times), [1, 1, 1, 1, 2, 4, 4, 8, 8]);
    }

    /// A block of 128 MiB: pieces of 16 MiB at most. Sockets hold 1 MiB, and 80 packets of 64 KiB are 10 of 512 KiB.
    #[test]
    fn packets_are_bounded_by_sockets_and_pieces_by_blocks() {
        let mut config = Config::default();
        coarsen(&mut config, 16);
        assert_eq!((config.hdfs.packet_size, config.hdfs.max_packets), (Bytes::new(512 << 10), 10));
        assert_eq!([config.hdfs.disk_chunk, config.hdfs.local_chunk], [Bytes::from_mib(16); 2]);
        assert_eq!(config.mapreduce.chunk, Bytes::from_mib(16));
        assert_eq!(config.hdfs.remote_window, Config::default().hdfs.remote_window);
    }

    #[test]
    fn small_blocks_keep_their_pieces() {
        let mut config = Config::default();
        config.hdfs.block_size = Bytes::from_mib(8);
        coarsen(&mut config, 8);
        assert_eq!((config.hdfs.disk_chunk, config.hdfs.local_chunk), (Bytes::from_mib(1), Bytes::from_mib(2)));
        assert_eq!(config.mapreduce.chunk, Bytes::from_mib(4));
    }
}
