//! Files of flows, for traffic of kind csv.

use super::network::node_number;
use super::problem::Problems;
use super::{GivenFlow, Scenario, ScenarioError, Source, Span};
use units::{Bytes, Time};

/// No flow begins later, in seconds.
const LATEST: f64 = 86_400.0 * 30.0;

impl Scenario {
    /// The files of flows that the scenario names: which traffic, and the path relative to the scenario's own file.
    pub fn flow_files(&self) -> Vec<(usize, String)> {
        let named = self.traffic.iter().enumerate().filter(|(_, traffic)| !traffic.file.is_empty());
        named.map(|(i, traffic)| (i, traffic.file.clone())).collect()
    }

    /// Takes in the text of a file of flows. The scenario then holds the flows themselves and names the file no longer.
    pub fn take_flows(&mut self, traffic: usize, file: &str, text: &str) -> Result<(), ScenarioError> {
        let mut problems = Problems::default();
        let mut flows = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let content = line.split('#').next().unwrap_or_default();
            if !content.trim().is_empty() {
                flows.extend(read_line(content, at, self.cluster.workers, &mut problems));
            }
            at += line.len();
        }
        if !problems.is_empty() {
            let sources = vec![Source { name: file.to_owned(), text: text.to_owned() }];
            return Err(ScenarioError { sources, problems: problems.0 });
        }
        let traffic = &mut self.traffic[traffic];
        traffic.flow.extend(flows);
        traffic.file.clear();
        Ok(())
    }
}

/// Reads a line that begins at byte `at`.
fn read_line(line: &str, at: usize, workers: u32, problems: &mut Problems) -> Option<GivenFlow> {
    let mut fields = Vec::new();
    let mut start = at;
    for field in line.split(',') {
        let lead = field.len() - field.trim_start().len();
        let text = field.trim();
        fields.push((text, Span { source: 0, range: start + lead..start + lead + text.len() }));
        start += field.len() + 1;
    }
    let whole = Span { source: 0, range: at..at + line.trim_end().len() };
    let [(begin, begin_span), (from, from_span), (to, to_span), (bytes, bytes_span)] = fields.as_slice() else {
        let message = format!("a flow has 4 fields, and this line {}", fields.len());
        problems.add_with_help(&whole, message, "start in seconds, from, to, bytes");
        return None;
    };
    let seconds = begin.parse::<f64>().ok().filter(|seconds| (0.0..=LATEST).contains(seconds));
    if seconds.is_none() {
        problems.add(begin_span, format!("`{begin}` is not a start in seconds, from 0 to {LATEST}"));
    }
    for (name, span) in [(from, from_span), (to, to_span)] {
        if node_number(name).is_none_or(|number| number > workers) {
            problems.add_with_help(
                span,
                format!("there is no node `{name}`"),
                format!("master, or worker-1 to worker-{workers}"),
            );
        }
    }
    let count = bytes.parse::<u64>().ok().filter(|bytes| (1..=1 << 60).contains(bytes));
    if count.is_none() {
        problems.add(bytes_span, format!("`{bytes}` is not a number of bytes above 0"));
    }
    Some(GivenFlow {
        start: Time::from_secs_f64(seconds?),
        from: (*from).to_owned(),
        to: (*to).to_owned(),
        bytes: Bytes::new(count?),
    })
}
