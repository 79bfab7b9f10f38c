//! Jobs over erasure-coded input.

use results::JobState;
use std::ops::ControlFlow;
use units::Bytes;

/// Maps whose sort buffers fill in the middle of a row, so that they stop reading there and go on from what is left of it:
/// each ends in its first attempt. Buffers of 1, 3 and 10 MiB of what WordCount makes of the input, 1.6 times as much.
#[test]
fn maps_that_spill_read_rows_to_their_ends() {
    for (code, workers) in [("rs-3-2", 5), ("rs-6-3", 9)] {
        for buffer in ["1 MiB", "3 MiB", "10 MiB"] {
            let text = format!(
                r#"
cluster = {{ workers = {workers} }}
hdfs = {{ block = "16 MiB", erasure-coding = "{code}" }}
mapreduce = {{ io-sort = "{buffer}", speculative = false, max-attempts = 1 }}
job = {{ workload = "wordcount", input = "256 MiB" }}
run = {{ fidelity = "flow" }}
"#
            );
            let scenario = sim::parse("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
            let result =
                sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
            let job = &result.jobs[0];
            assert_eq!(job.state, JobState::Succeeded, "{code}, {buffer}");
            assert_eq!(job.bytes.map_input, Bytes::from_mib(256), "{code}, {buffer}");
        }
    }
}
