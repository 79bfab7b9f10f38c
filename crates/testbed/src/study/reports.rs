//! What benchmarks report of themselves: the output of each tool, read into figures.

use super::Tool;
use super::figure::{Figure, Metric, percentiles};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The file in a cell's folder that has the standard output of its benchmark.
pub const OUTPUT: &str = "output";
/// How the names of logs begin, in a cell's folder, that have a line for each request or transaction.
pub const LOG: &str = "requests";

const MICROSECOND: f64 = 1e-6;

impl Tool {
    /// The figures of a benchmark that has run in a cell's folder. The first is its figure of merit.
    pub(super) fn figures(self, work: &Path) -> Result<Vec<Figure>, String> {
        let output = read(&work.join(OUTPUT))?;
        let figures = match self {
            Self::Redis | Self::RedisPipelined => redis(&output),
            Self::PgbenchSelect | Self::PgbenchTpcb | Self::PgbenchSelectNew | Self::PgbenchTpcbNew => {
                pgbench(&output, &logs(work)?)
            }
            Self::Http2 => h2load(&output, &logs(work)?),
            Self::Iperf3 | Self::Iperf3Both => iperf3(&output),
            Self::Dns => dnsperf(&output),
            _ => timed(&output),
        };
        figures.ok_or_else(|| {
            let last: Vec<&str> = output.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
            format!("its output cannot be read: {}", last.join("; "))
        })
    }
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

/// All logs: pgbench writes one for each thread.
fn logs(work: &Path) -> Result<String, String> {
    let entries = fs::read_dir(work).map_err(|error| format!("cannot read {}: {error}", work.display()))?;
    let files = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_log = |file: &Path| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LOG));
    files.filter(|file| is_log(file)).map(|file| read(&file)).collect()
}

/// A rate, and the percentiles of latencies.
fn rate(rate: f64, latencies: Vec<f64>) -> Option<Vec<Figure>> {
    let percentiles = percentiles(latencies);
    let some = rate > 0.0 && !percentiles.is_empty();
    some.then(|| [vec![Figure::new(Metric::Rate, rate)], percentiles].concat())
}

/// `redis-benchmark --csv`: a line of names, and one of values, for the only test.
fn redis(output: &str) -> Option<Vec<Figure>> {
    let fields = |line: &str| line.split(',').map(|field| field.trim_matches('"').to_owned()).collect::<Vec<_>>();
    let mut lines = output.lines().filter(|line| line.starts_with('"')).map(fields);
    let (names, values) = (lines.next()?, lines.next()?);
    let of = |name: &str| values.get(names.iter().position(|known| known == name)?)?.parse::<f64>().ok();
    let latency = |metric, name| Some(Figure::new(metric, of(name)? * 1e-3));
    Some(vec![
        Figure::new(Metric::Rate, of("rps")?),
        latency(Metric::P50, "p50_latency_ms")?,
        latency(Metric::P95, "p95_latency_ms")?,
        latency(Metric::P99, "p99_latency_ms")?,
    ])
}

/// `pgbench --log`: the rate on its output; in its logs a line for each transaction, whose third field is its latency.
fn pgbench(output: &str, logs: &str) -> Option<Vec<Figure>> {
    let tps = output.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())?;
    rate(tps, microseconds(logs)?)
}

/// `h2load --log-file`: the rate on its output; in its log a line for each request, with start, status and latency.
fn h2load(output: &str, log: &str) -> Option<Vec<Figure>> {
    let finished = output.lines().find_map(|line| line.strip_prefix("finished in "))?;
    let per_second = finished.split(", ").nth(1)?.strip_suffix(" req/s")?.parse().ok()?;
    let requests = output.lines().find(|line| line.starts_with("requests: "))?;
    let whole = requests.contains(" 0 failed, 0 errored, 0 timeout");
    if whole { rate(per_second, microseconds(log)?) } else { None }
}

/// The third field of each line.
fn microseconds(log: &str) -> Option<Vec<f64>> {
    let third = |line: &str| line.split_ascii_whitespace().nth(2)?.parse::<f64>().ok();
    log.lines().map(|line| third(line).map(|us| us * MICROSECOND)).collect()
}

/// `iperf3 --json`: what each receiver got. With `--bidir` the figure of merit is the sum.
fn iperf3(output: &str) -> Option<Vec<Figure>> {
    let end = &serde_json::from_str::<Value>(output).ok()?["end"];
    let forth = end["sum_received"]["bits_per_second"].as_f64()?;
    Some(match end["sum_received_bidir_reverse"]["bits_per_second"].as_f64() {
        None => vec![Figure::new(Metric::Goodput, forth)],
        Some(back) => vec![
            Figure::new(Metric::Goodput, forth + back),
            Figure::new(Metric::Forth, forth),
            Figure::new(Metric::Back, back),
        ],
    })
}

/// `dnsperf -v`: a line `> NOERROR NAME TYPE SECONDS` for each answer, and the sums.
fn dnsperf(output: &str) -> Option<Vec<Figure>> {
    let sum = |name: &str| -> Option<f64> {
        let rest = output.lines().find_map(|line| line.trim().strip_prefix(name))?;
        rest.split_ascii_whitespace().next()?.parse().ok()
    };
    let (sent, completed) = (sum("Queries sent:")?, sum("Queries completed:")?);
    let answers = output.lines().filter_map(|line| line.strip_prefix("> NOERROR ")?.rsplit(' ').next()?.parse().ok());
    let percentiles = percentiles(answers.collect());
    (sent > 0.0).then(|| [vec![Figure::new(Metric::Answered, completed / sent)], percentiles].concat())
}

/// The study's own clients: a latency in microseconds on each line, and at last `seconds` and how long it took.
fn timed(output: &str) -> Option<Vec<Figure>> {
    let (latencies, last) = output.trim_end().rsplit_once('\n')?;
    let seconds: f64 = last.strip_prefix("seconds ")?.parse().ok()?;
    let latencies: Vec<f64> =
        latencies.lines().map(|line| line.parse::<f64>().map(|us| us * MICROSECOND)).collect::<Result<_, _>>().ok()?;
    rate(latencies.len() as f64 / seconds, latencies)
}

/// The vectors are outputs as recorded, each of a run that is small enough to be read.
#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn are(figures: Option<Vec<Figure>>, expected: &[(Metric, f64)]) {
        let figures = figures.expect("a report");
        let metrics: Vec<Metric> = figures.iter().map(|figure| figure.metric).collect();
        assert_eq!(metrics, expected.iter().map(|(metric, _)| *metric).collect::<Vec<_>>());
        for (figure, (_, value)) in figures.iter().zip(expected) {
            assert!((figure.value / value - 1.0).abs() < 1e-9, "{figure:?}, not {value}");
        }
    }

    use Metric::{Answered, Back, Forth, Goodput, P50, P95, P99, Rate};

    #[test]
    fn redis_benchmark() {
        let output = include_str!("vectors/redis.csv");
        are(redis(output), &[(Rate, 1_176_470.5), (P50, 0.000_103), (P95, 0.000_263), (P99, 0.000_559)]);
        assert!(redis("Could not connect to Redis at 198.19.2.2:6379: Connection refused\n").is_none());
    }

    /// Of eight transactions, by nearest rank: the fourth, and the longest twice.
    #[test]
    fn pgbench_with_persistent_and_with_new_connections() {
        let output = include_str!("vectors/pgbench-select.txt");
        let log = include_str!("vectors/pgbench-select.log");
        are(pgbench(output, log), &[(Rate, 1_300.813_008), (P50, 0.000_944), (P95, 0.002_708), (P99, 0.002_708)]);
        let output = include_str!("vectors/pgbench-tpcb-new.txt");
        let log = include_str!("vectors/pgbench-tpcb-new.log");
        are(pgbench(output, log), &[(Rate, 104.588_835), (P50, 0.008_267), (P95, 0.011_990), (P99, 0.011_990)]);
        assert!(pgbench(output, "").is_none(), "no transaction");
    }

    /// Of twelve requests: the sixth, and the longest twice.
    #[test]
    fn h2load_whose_requests_all_succeed() {
        let (output, log) = (include_str!("vectors/h2load.txt"), include_str!("vectors/h2load.log"));
        are(h2load(output, log), &[(Rate, 2_294.89), (P50, 0.000_916), (P95, 0.002_413), (P99, 0.002_413)]);
        assert!(h2load(include_str!("vectors/h2load-failed.txt"), log).is_none());
    }

    /// 3,099,852,800 bytes in 1.002983 s; both ways 1,738,014,720 and 1,395,195,851 in 1.00057 s.
    #[test]
    fn iperf3_one_way_and_both_ways() {
        are(iperf3(include_str!("vectors/iperf3.json")), &[(Goodput, 3_099_852_800.0 * 8.0 / 1.002_983)]);
        let (forth, back) = (1_738_014_720.0 * 8.0 / 1.000_57, 1_395_195_851.0 * 8.0 / 1.000_57);
        let both = iperf3(include_str!("vectors/iperf3-bidir.json"));
        are(both, &[(Goodput, forth + back), (Forth, forth), (Back, back)]);
        assert!(iperf3(include_str!("vectors/iperf3-failed.json")).is_none());
    }

    /// Twenty questions over a path that loses one frame of ten each way. Of eighteen answers: the ninth, and the last
    /// twice.
    #[test]
    fn dnsperf_with_two_questions_lost() {
        let output = include_str!("vectors/dnsperf.txt");
        are(dnsperf(output), &[(Answered, 0.9), (P50, 0.010_198), (P95, 0.010_606), (P99, 0.010_606)]);
    }

    /// Eighteen answers.
    #[test]
    fn the_study_s_own_clients() {
        let output = include_str!("vectors/asyncio.txt");
        let rate = 18.0 / 1.016_763_180_999_987_5;
        are(timed(output), &[(Rate, rate), (P50, 0.100_903), (P95, 0.104_634), (P99, 0.104_634)]);
        assert!(timed("100\n101\n").is_none(), "cut short");
        assert!(timed("seconds 1.0\n").is_none(), "no answer");
    }
}
