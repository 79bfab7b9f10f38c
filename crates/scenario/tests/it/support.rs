//! Reading scenarios, and what is said of them.

use scenario::Scenario;

/// The example of the design, whose names are binding.
pub const EXAMPLE: &str = r#"
[cluster]
workers = 4
generation = "yarn"
[cluster.host]
cores = 2
disks = 1
[node]
preset = "xeon-2009"
cores = 4
[network]
topology = "star"
rate = "1 Gbit/s"
delay = "25 us"
queue = { kind = "drop-tail", limit = "128 packets" }
[[network.shape]]
nodes = "workers"
direction = "both"
rate = "10 Mbit/s"
burst = "32 KB"
limit = "400 ms"
[tcp]
control = "cubic"
min-rto = "200 ms"
receive-buffer = "4 MB"
[hdfs]
block = "64 MB"
replication = 3
[mapreduce]
reducers = 4
map-slots = 2
[job]
workload = "terasort"
input = "10 GB"
[[traffic]]
kind = "long"
[[faults]]
at = "120 s"
node = "worker-3"
down-for = "60 s"
[run]
seed = 1
until = "1 h"
"#;

pub fn parse(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse("cluster.toml", text, &sets).map_err(|error| error.to_string())
}

/// The scenario is refused, with all of these words.
pub fn refused(text: &str, sets: &[&str], words: &[&str]) {
    let error = parse(text, sets).expect_err(text);
    for word in words {
        assert!(error.contains(word), "{text} {sets:?}\n{error}\nlacks: {word}");
    }
}

/// What a scenario that is right is warned of.
pub fn warnings(text: &str, sets: &[&str]) -> String {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    let (_, warnings) =
        Scenario::parse_with("cluster.toml", text, &sets, |_| {}).unwrap_or_else(|e| panic!("{text}\n{e}"));
    warnings.to_string()
}
