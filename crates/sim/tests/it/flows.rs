//! Runs of more connections than are held: the table is handed out in pieces and written as it comes, and the result
//! keeps a sample of it.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use results::{Flow, RunResult};
use runs::{Folder, Stop};
use scenario::Scenario;
use sim::{MOST_FLOWS, SAMPLE, run, run_with};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Forty clients that each open 1,000 connections a second, for one segment each, over links that carry this easily.
fn scenario(length: &str) -> Scenario {
    let text = format!(
        "[cluster]\nworkers = 40\n[network]\ntopology = \"star\"\nrate = \"10 Gbit/s\"\n\
         [[traffic]]\nkind = \"poisson\"\nname = \"calls\"\nfrom = \"workers\"\nto = \"master\"\nbytes = \"1 KB\"\n\
         interval = \"1 ms\"\npersistent = false\n[run]\nuntil = \"{length}\"\nsample = \"100 ms\"\n"
    );
    sim::parse("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A place for files that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("trunkline-flows-{name}-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The rows in the order in which they were handed out, and how many at a time.
fn streamed(scenario: &Scenario, folder: &Folder) -> (RunResult, Vec<Flow>, Vec<usize>) {
    let names = scenario.nodes().into_iter().map(|node| node.name).collect();
    let (mut rows, mut pieces, mut file) = (Vec::new(), Vec::new(), folder.flows(names, false));
    let mut take = |flows: &[Flow]| {
        pieces.push(flows.len());
        rows.extend_from_slice(flows);
        file.take(flows);
    };
    let result = run_with(scenario, None, Some(&mut take), &mut |_| ControlFlow::Continue(())).expect("a run");
    file.finish().expect("a whole table");
    (result, rows, pieces)
}

#[test]
fn a_table_of_too_many_connections_is_streamed_whole_and_sampled_fairly() {
    let (scratch, scenario) = (Scratch::new("many"), scenario("3.6 s"));
    let folder = Folder::create(&scratch.0).expect("a folder");
    let (result, rows, pieces) = streamed(&scenario, &folder);

    // Every session has a connection of its own, and each stands in the table once.
    let traffic = &result.traffic[0];
    assert!(rows.len() > MOST_FLOWS, "{} connections are too few to be streamed", rows.len());
    assert_eq!((result.flow_count, traffic.begun), (rows.len() as u64, rows.len() as u64));
    assert_eq!(rows.iter().map(|row| row.bytes.get()).sum::<u64>(), traffic.delivered.get());
    let key = |row: &Flow| (row.start, row.from, row.to);
    let places: BTreeMap<_, _> = rows.iter().enumerate().map(|(place, row)| (key(row), place)).collect();
    assert_eq!(places.len(), rows.len(), "a client opens one connection at a time");
    // In the order of their ends, the open ones last; never more at a time than are held.
    assert!(pieces.len() > 1 && pieces.iter().all(|rows| *rows <= MOST_FLOWS), "{pieces:?}");
    let ended = rows.partition_point(|row| row.finish.is_some());
    assert!(
        rows[ended..].iter().all(|row| row.finish.is_none()),
        "an open connection stands among those that have ended"
    );
    assert!(rows[..ended].is_sorted_by_key(|row| row.finish));
    assert!(rows[..ended].iter().all(|row| row.bytes.get() == 1_000));

    // The sample is of the table, without repetition, and a fair one: the share of it that lies in the first x of the
    // table is x, as far as Kolmogorov and Smirnov can tell at one in a thousand.
    assert!(result.is_sampled());
    let mut drawn: Vec<usize> = result.flows.iter().map(|row| places[&key(row)]).collect();
    assert!(result.flows.iter().zip(&drawn).all(|(row, place)| *row == rows[*place]));
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), SAMPLE);
    let distance =
        |(rank, place): (usize, &usize)| (rank as f64 / SAMPLE as f64 - *place as f64 / rows.len() as f64).abs();
    let farthest = drawn.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(farthest < 1.95 / (SAMPLE as f64).sqrt(), "the sample lies {farthest} away from the table");

    // The file says what was handed out.
    folder.run(&result, &Stop::new()).expect("the other tables");
    folder.commit().expect("results");
    let file = std::fs::File::open(scratch.0.join("flows.parquet")).expect("a table");
    let reader = SerializedFileReader::new(file).expect("a table");
    assert_eq!(reader.metadata().num_row_groups(), pieces.len());
    let columns = reader.metadata().file_metadata().schema_descr();
    let column = |name: &str| (0..columns.num_columns()).find(|at| columns.column(*at).name() == name).expect(name);
    let [from, to, start, bytes] = ["from", "to", "start_s", "bytes"].map(column);
    let nodes: Vec<_> = scenario.nodes().into_iter().map(|node| node.name).collect();
    let mut read = 0;
    for (row, written) in rows.iter().zip(reader.get_row_iter(None).expect("rows")) {
        let written = written.expect("a row");
        assert_eq!(written.get_string(from).ok(), nodes.get(row.from as usize));
        assert_eq!(written.get_string(to).ok(), nodes.get(row.to as usize));
        assert!((written.get_double(start).expect("a time") - row.start.as_secs_f64()).abs() < 1e-12);
        assert_eq!(written.get_long(bytes).ok(), Some(row.bytes.get() as i64));
        read += 1;
    }
    assert_eq!(read, rows.len());

    // Nobody who takes the rows: the sample is the same.
    let alone = run(&scenario, &mut |_| ControlFlow::Continue(())).expect("a run");
    assert_eq!((alone.flow_count, alone.flows), (result.flow_count, result.flows));
}

#[test]
fn fewer_connections_are_all_in_the_result() {
    let (scratch, scenario) = (Scratch::new("few"), scenario("100 ms"));
    let folder = Folder::create(&scratch.0).expect("a folder");
    let (result, rows, pieces) = streamed(&scenario, &folder);
    assert!(rows.is_empty() && pieces.is_empty() && !result.is_sampled());
    assert_eq!((result.flow_count, result.flows.len() as u64), (result.traffic[0].begun, result.traffic[0].begun));
    assert!(result.flow_count > 3_000, "{} connections", result.flow_count);
    folder.run(&result, &Stop::new()).expect("the tables");
    folder.commit().expect("results");
    let file = std::fs::File::open(scratch.0.join("flows.parquet")).expect("a table");
    let reader = SerializedFileReader::new(file).expect("a table");
    assert_eq!(reader.metadata().file_metadata().num_rows(), result.flow_count as i64);
}
