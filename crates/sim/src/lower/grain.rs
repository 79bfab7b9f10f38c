//! The pieces in which data moves, where a scenario asks for larger ones than by packets (`run.grain`).
//!
//! Tasks and DataNodes read, compute, send and write in pieces of 64 KiB to 4 MiB: a job of 1 TB has millions of them.
//! With flows they can be larger. What a piece's size stands for stays: no piece is more than an eighth
//! of a block, so that reading, computing and writing overlap; packets are at most half of what a socket holds, so that
//! windows and round trips bound a stream as before; of packets in flight there are as many bytes; a disk shares its time
//! among requests of any length (`storage`).

use hadoop::Config;
use scenario::{Fidelity, Scenario};
use units::{Bytes, whole};

/// Pieces that a block has at the least.
const OF_BLOCK: u64 = 8;

/// How many times as large as by packets.
pub fn grain(scenario: &Scenario) -> u64 {
    if scenario.run.fidelity == Fidelity::Packet {
        return 1;
    }
    scenario.run.grain.map_or(1, u64::from)
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
