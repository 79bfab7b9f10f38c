//! Compression of map outputs and of a job's output: how much a codec leaves, and what it costs.
//!
//! Hadoop compresses each partition of a spill or merge as a stream of its own (`IFile.Writer` with a codec): records,
//! their lengths and the end marker. The checksum behind it is not compressed. What a reducer takes into memory it
//! decompresses while it fetches (`InMemoryMapOutput`), what it takes to disk stays as it is (`OnDiskMapOutput`).

use units::Bytes;

/// The codecs that Hadoop has (`org.apache.hadoop.io.compress`), and hadoop-lzo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codec {
    /// `DefaultCodec`: zlib's format (RFC 1950) at its default level 6.
    Deflate,
    /// `GzipCodec`: gzip's format (RFC 1952), level 6.
    Gzip,
    /// `SnappyCodec`.
    Snappy,
    /// `Lz4Codec`.
    Lz4,
    /// hadoop-lzo's `LzoCodec`: LZO1X-1.
    Lzo,
    /// `BZip2Codec`: blocks of 900 kB.
    Bzip2,
    /// `ZStandardCodec`: level 3.
    Zstd,
}

/// What compression does to bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Compression {
    /// Compressed bytes per plain byte.
    pub ratio: f64,
    /// Bytes that each compressed stream has beside its blocks: header and trailer.
    pub frame: u64,
    /// CPU seconds to compress a plain byte, of one core at speed 1.
    pub compress: f64,
    /// CPU seconds to restore a plain byte, of one core at speed 1.
    pub decompress: f64,
}

/// What of a job is compressed.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct JobCompression {
    /// `mapreduce.map.output.compress`, `mapred.compress.map.output`: map outputs, from spill to merge.
    pub map: Option<Compression>,
    /// `mapreduce.output.fileoutputformat.compress`, `mapred.output.compress`: the job's output in HDFS.
    pub output: Option<Compression>,
}

/// The checksum behind each partition (`IFileOutputStream`).
const CHECKSUM: u64 = 4;

impl Codec {
    /// The codec that a scenario names so.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "deflate" => Self::Deflate,
            "gzip" => Self::Gzip,
            "snappy" => Self::Snappy,
            "lz4" => Self::Lz4,
            "lzo" => Self::Lzo,
            "bzip2" => Self::Bzip2,
            "zstd" => Self::Zstd,
            _ => return None,
        })
    }

    /// Ratio and single-core rates of the codec's library by lzbench 1.8 on the Silesia corpus with a Core i7-8700K
    /// (its `README.md`): MB/s are plain bytes. Zstandard's level 2 stands for level 3, which the table does not have.
    pub fn compression(self) -> Compression {
        // Compressed size in percent, MB/s of compressing and of restoring, bytes of header and trailer.
        let (percent, compress, decompress, frame) = match self {
            // Two bytes of header, four of Adler-32.
            Self::Deflate => (32.19, 35.0, 407.0, 6),
            // Ten bytes of header, four of CRC-32 and four of length.
            Self::Gzip => (32.19, 35.0, 407.0, 18),
            // `BlockCompressorStream` writes two lengths before each block of 256 KiB.
            Self::Snappy => (48.19, 591.0, 1868.0, 8),
            Self::Lz4 => (47.60, 737.0, 4448.0, 8),
            Self::Lzo => (47.45, 680.0, 868.0, 8),
            // Four bytes of header, ten at the end of the stream.
            Self::Bzip2 => (25.75, 15.0, 41.0, 14),
            // Magic number, two descriptors, one block header (RFC 8878).
            Self::Zstd => (32.84, 356.0, 1067.0, 9),
        };
        Compression { ratio: percent / 100.0, frame, compress: 1e-6 / compress, decompress: 1e-6 / decompress }
    }
}

impl Compression {
    /// The length of a map output file, or of a part of one, whose `partitions` have `plain` bytes uncompressed,
    /// checksums included.
    pub fn file(&self, plain: Bytes, partitions: u32) -> Bytes {
        let partitions = u64::from(partitions);
        let checksums = CHECKSUM * partitions;
        let records = Bytes::new(plain.get().saturating_sub(checksums));
        records.mul_f64(self.ratio) + Bytes::new(checksums + self.frame * partitions)
    }
    /// What is left of output that is not cut into partitions; its one header is nothing beside it.
    pub fn output(&self, plain: Bytes) -> Bytes {
        plain.mul_f64(self.ratio)
    }
}

impl JobCompression {
    /// CPU seconds to compress so many plain bytes of map output.
    pub fn compress_map(&self, plain: Bytes) -> f64 {
        self.map.map_or(0.0, |codec| codec.compress * plain.get() as f64)
    }
    /// CPU seconds to restore so many plain bytes of map output.
    pub fn decompress_map(&self, plain: Bytes) -> f64 {
        self.map.map_or(0.0, |codec| codec.decompress * plain.get() as f64)
    }
    /// The length of a map output file or segment with so many plain bytes.
    pub fn map_file(&self, plain: Bytes, partitions: u32) -> Bytes {
        self.map.map_or(plain, |codec| codec.file(plain, partitions))
    }
    /// What a job's output of so many plain bytes has in HDFS, and the CPU seconds to get there.
    pub fn job_output(&self, plain: Bytes) -> (Bytes, f64) {
        self.output.map_or((plain, 0.0), |codec| (codec.output(plain), codec.compress * plain.get() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bytes, an end marker, in each of three partitions, with gzip: 0.3219 x 6 = 1.9 bytes of deflate, and for
    /// each partition 18 bytes by RFC 1952 and a checksum of 4.
    #[test]
    fn an_empty_file_has_its_frames() {
        let file = Codec::Gzip.compression().file(Bytes::new(3 * 6), 3);
        assert_eq!(file, Bytes::new(2 + 3 * 22));
    }

    /// By lzbench's table 1 GB takes 28.6 s with zlib at level 6 and 1.7 s with Snappy.
    #[test]
    fn rates_are_plain_bytes() {
        let time = |codec: Codec| {
            JobCompression { map: Some(codec.compression()), output: None }.compress_map(Bytes::from_mb(1_000))
        };
        assert!((time(Codec::Deflate) - 28.571).abs() < 0.001);
        assert!((time(Codec::Snappy) - 1.692).abs() < 0.001);
    }
}
