//! A scenario's object store as S3A's properties.

use super::settings::{Properties, milliseconds};
use super::store::{Credentials, HOST, PORT};
use scenario::{Committer, InputPolicy, Scenario};
use units::{Bytes, Time};

/// The properties that hold the key.
pub const ACCESS: &str = "fs.s3a.access.key";
pub const SECRET: &str = "fs.s3a.secret.key";

/// S3A's properties, and those of `MapReduce` by which it commits; none without a key.
pub fn properties(scenario: &Scenario, key: Option<&Credentials>) -> Properties {
    let (Some(store), Some(key)) = (&scenario.object_store, key) else { return Properties::new() };
    let s3a = &store.s3a;
    let bytes = |bytes: Bytes| bytes.get().to_string();
    let time = |time: Time| format!("{}ms", milliseconds(time));
    // Hadoop 3.5 reads by the stream of Amazon's accelerator where nothing is said; the scenario's are the older ones.
    let (stream, fadvise) = match s3a.input_policy {
        InputPolicy::Sequential => ("classic", "sequential"),
        InputPolicy::Random => ("classic", "random"),
        InputPolicy::Prefetch => ("prefetch", "sequential"),
    };
    let (committer, algorithm) = match s3a.committer {
        Committer::FileV1 => ("file", "1"),
        Committer::FileV2 => ("file", "2"),
        Committer::Directory => ("directory", "2"),
        Committer::Magic => ("magic", "2"),
    };
    vec![
        ("fs.s3a.endpoint", format!("http://{HOST}:{PORT}")),
        ("fs.s3a.endpoint.region", "us-east-1".to_owned()),
        ("fs.s3a.path.style.access", "true".to_owned()),
        ("fs.s3a.connection.ssl.enabled", "false".to_owned()),
        ("fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider".to_owned()),
        (ACCESS, key.access.clone()),
        (SECRET, key.secret.clone()),
        ("fs.s3a.block.size", bytes(s3a.block)),
        ("fs.s3a.input.stream.type", stream.to_owned()),
        ("fs.s3a.experimental.input.fadvise", fadvise.to_owned()),
        ("fs.s3a.readahead.range", bytes(s3a.readahead)),
        ("fs.s3a.prefetch.block.size", bytes(s3a.prefetch_block)),
        ("fs.s3a.prefetch.block.count", s3a.prefetch_count.to_string()),
        ("fs.s3a.vectored.read.min.seek.size", bytes(s3a.vectored_min_seek)),
        ("fs.s3a.vectored.read.max.merged.size", bytes(s3a.vectored_max_merged)),
        ("fs.s3a.vectored.active.ranged.reads", s3a.vectored_active.to_string()),
        ("fs.s3a.connection.maximum", s3a.connections.to_string()),
        ("fs.s3a.connection.idle.time", time(s3a.idle_time)),
        ("fs.s3a.connection.timeout", time(s3a.timeout)),
        ("fs.s3a.multipart.size", bytes(s3a.multipart_size)),
        ("fs.s3a.multipart.threshold", bytes(s3a.multipart_threshold)),
        ("fs.s3a.fast.upload.buffer", if s3a.disk_buffer { "disk" } else { "bytebuffer" }.to_owned()),
        ("fs.s3a.fast.upload.active.blocks", s3a.active_blocks.to_string()),
        ("fs.s3a.attempts.maximum", s3a.attempts.to_string()),
        ("fs.s3a.retry.limit", s3a.retry_limit.to_string()),
        ("fs.s3a.retry.interval", time(s3a.retry_interval)),
        ("fs.s3a.retry.throttle.limit", s3a.throttle_limit.to_string()),
        ("fs.s3a.retry.throttle.interval", time(s3a.throttle_interval)),
        ("fs.s3a.committer.name", committer.to_owned()),
        ("fs.s3a.committer.threads", s3a.committer_threads.to_string()),
        ("mapreduce.fileoutputcommitter.algorithm.version", algorithm.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_s_store_is_s3a_s_properties() {
        let text = "[object-store.s3a]\ncommitter = \"file-v1\"\ninput-policy = \"prefetch\"\nblock = \"8 MiB\"\n\
            retry-interval = \"250 ms\"\n[job]\ninput-store = \"object-store\"\n";
        let scenario = Scenario::parse("s.toml", text, &[]).expect("it is valid");
        let key = Credentials { access: "a".to_owned(), secret: "s".to_owned() };
        let all = properties(&scenario, Some(&key));
        let of = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        for (name, value) in [
            ("fs.s3a.committer.name", "file"),
            ("mapreduce.fileoutputcommitter.algorithm.version", "1"),
            ("fs.s3a.input.stream.type", "prefetch"),
            ("fs.s3a.block.size", "8388608"),
            ("fs.s3a.retry.interval", "250ms"),
            ("fs.s3a.endpoint", "http://object-store:9000"),
            (SECRET, "s"),
        ] {
            assert_eq!(of(name), Some(value), "{name}");
        }
        assert!(properties(&scenario, None).is_empty());
    }
}
