//! Files that a traffic names: flows, and distributions of sizes.

use super::network::node_number;
use super::problem::Problems;
use super::{GivenFlow, Scenario, ScenarioError, SizePoint, Source, Span};
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
        let mut order = [0, 1, 2, 3];
        for (number, (at, content)) in lines(text).enumerate() {
            let fields = fields(content, at, |c| c == ',');
            if number == 0 && is_header(&fields) {
                let Some(columns) = columns(&fields) else {
                    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
                    let message = format!("these columns, {}, are not those of a list of flows", names.join(", "));
                    let help = format!("{}, in any order", COLUMNS.join(", "));
                    problems.add_with_help(&whole(content, at), message, help);
                    // Every line would be wrong after such a first one.
                    break;
                };
                order = columns;
                continue;
            }
            flows.extend(read_flow(&fields, order, &whole(content, at), self.cluster.workers, &mut problems));
        }
        failed(problems, file, text)?;
        let traffic = &mut self.traffic[traffic];
        traffic.flow.extend(flows);
        traffic.file.clear();
        Ok(())
    }

    /// The files of distributions that the scenario names: which traffic, and the path relative to the scenario's own
    /// file.
    pub fn size_files(&self) -> Vec<(usize, String)> {
        let named = self.traffic.iter().enumerate().filter(|(_, traffic)| !traffic.sizes.file.is_empty());
        named.map(|(i, traffic)| (i, traffic.sizes.file.clone())).collect()
    }

    /// Takes in the text of a file of a distribution, whose shares may go to 1 or to 100. The scenario then holds its
    /// points and names the file no longer.
    pub fn take_sizes(&mut self, traffic: usize, file: &str, text: &str) -> Result<(), ScenarioError> {
        let mut problems = Problems::default();
        let mut points: Vec<(f64, f64, Span)> = Vec::new();
        for (at, content) in lines(text) {
            let mut fields = fields(content, at, |c| c == ',' || c.is_ascii_whitespace());
            fields.retain(|(text, _)| !text.is_empty());
            let [(bytes, bytes_span), (share, share_span)] = fields.as_slice() else {
                let message = format!("a point has 2 fields, and this line {}", fields.len());
                problems.add_with_help(&whole(content, at), message, "size in bytes, share of sizes up to it");
                continue;
            };
            let number = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..=1e15).contains(number));
            match (number(bytes), number(share)) {
                (None, _) => problems.add(bytes_span, format!("`{bytes}` is not a number of bytes")),
                (_, None) => problems.add(share_span, format!("`{share}` is not a share from 0 to 1, or to 100")),
                (Some(bytes), Some(share)) => points.push((bytes, share, whole(content, at))),
            }
        }
        let percent = points.last().is_some_and(|(_, share, _)| (share - 100.0).abs() < 1e-6);
        let scale = if percent { 0.01 } else { 1.0 };
        if problems.is_empty() {
            check_points(&points, scale, &mut problems);
        }
        failed(problems, file, text)?;
        let sizes = &mut self.traffic[traffic].sizes;
        sizes.point = points
            .into_iter()
            .map(|(bytes, share, _)| SizePoint { bytes: Bytes::new(bytes.round() as u64), share: share * scale })
            .collect();
        sizes.file.clear();
        Ok(())
    }
}

/// Sizes and shares grow, and the last share is 1.
fn check_points(points: &[(f64, f64, Span)], scale: f64, problems: &mut Problems) {
    let Some((_, last, last_span)) = points.last() else {
        return problems.add(&Span { source: 0, range: 0..0 }, "a distribution needs at least one point");
    };
    let falls = |pair: &[(f64, f64, Span)]| pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1;
    if (last * scale - 1.0).abs() > 1e-9 {
        problems.add(last_span, format!("the last share is {}, and must be 1", last * scale));
    } else if let Some(at) = points.windows(2).position(falls) {
        let message = format!("point {} lies below the one before it: sizes and shares grow", at + 2);
        problems.add(&points[at + 1].2, message);
    }
}

/// The columns of a list of flows, in the order that a file without names of columns has.
const COLUMNS: [&str; 4] = ["start", "from", "to", "bytes"];

/// The lines that say something: where each begins, and what it has before a comment.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    let placed = text.split_inclusive('\n').map(move |line| {
        let at = next;
        next += line.len();
        (at, line.split('#').next().unwrap_or_default())
    });
    placed.filter(|(_, content)| !content.trim().is_empty())
}

/// The fields of a line that begins at byte `at`, and where they stand.
fn fields(line: &str, at: usize, separates: impl Fn(char) -> bool) -> Vec<(&str, Span)> {
    let mut start = at;
    let mut fields = Vec::new();
    for field in line.split(separates) {
        let lead = field.len() - field.trim_start().len();
        let text = field.trim();
        fields.push((text, Span { source: 0, range: start + lead..start + lead + text.len() }));
        start += field.len() + 1;
    }
    fields
}

fn whole(line: &str, at: usize) -> Span {
    Span { source: 0, range: at..at + line.trim_end().len() }
}

fn failed(problems: Problems, file: &str, text: &str) -> Result<(), ScenarioError> {
    if problems.is_empty() {
        return Ok(());
    }
    let sources = vec![Source { name: file.to_owned(), text: text.to_owned() }];
    Err(ScenarioError { sources, problems: problems.0 })
}

/// Names of columns, which a flow's own line is never: they all are words, and none is a node.
fn is_header(fields: &[(&str, Span)]) -> bool {
    let is_word = |text: &str| text.parse::<f64>().is_err() && node_number(text).is_none();
    fields.iter().all(|(text, _)| is_word(text) && text.starts_with(|c: char| c.is_alphabetic()))
}

/// Where each of the columns stands, if they are those of a list of flows.
fn columns(fields: &[(&str, Span)]) -> Option<[usize; 4]> {
    let mut order = [0; 4];
    for (column, place) in COLUMNS.iter().zip(&mut order) {
        *place = fields.iter().position(|(name, _)| name.eq_ignore_ascii_case(column))?;
    }
    (fields.len() == COLUMNS.len()).then_some(order)
}

/// Reads a flow from the fields of a line.
fn read_flow(
    fields: &[(&str, Span)],
    order: [usize; 4],
    line: &Span,
    workers: u32,
    problems: &mut Problems,
) -> Option<GivenFlow> {
    if fields.len() != COLUMNS.len() {
        let message = format!("a flow has 4 fields, and this line {}", fields.len());
        problems.add_with_help(line, message, "start in seconds, from, to, bytes");
        return None;
    }
    let [(begin, begin_span), (from, from_span), (to, to_span), (bytes, bytes_span)] = order.map(|at| &fields[at]);
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
