//! Sampled series, made coarse enough for a page.
//!
//! A coarser cell keeps what its kind needs: a share its mean (so that areas stay right), a level its highest value (so
//! that no peak is lost), a count its sum.

use super::data::{Chart, Series};
use super::executors::Spans;
use crate::metrics::{Metrics, Row};
use crate::{DISKS, Flow, LINKS, Link, LinkEnd, NODES, RUN, RunResult};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use units::Time;

/// Most values in one series.
const LONGEST: usize = 2_000;
/// Most values on the page; a series of a large cluster is shorter, but not shorter than `SHORTEST`.
const MOST: usize = 600_000;
const SHORTEST: usize = 300;
/// Most series in one chart.
const MOST_SERIES: usize = 400;

/// How the values of fine steps become that of a coarse one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Their mean over the cell.
    Mean,
    /// The highest.
    Peak,
    /// Their sum.
    Sum,
}

impl Fold {
    const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Peak => "peak",
            Self::Sum => "sum",
        }
    }
}

/// Folds `group` values into one, from the first on; the last cell may be of fewer.
pub fn fold(values: impl IntoIterator<Item = f64>, group: usize, kind: Fold) -> Vec<f64> {
    let mut out = Vec::new();
    let mut held = 0.0_f64;
    let mut count = 0;
    let finish = |held: f64, count: usize| if kind == Fold::Mean { held / count as f64 } else { held };
    for value in values {
        held = if kind == Fold::Peak { held.max(value) } else { held + value };
        count += 1;
        if count == group {
            out.push(finish(held, count));
            (held, count) = (0.0, 0);
        }
    }
    if count > 0 {
        out.push(finish(held, count));
    }
    out
}

/// Node and name of the series of a link.
fn link_label(result: &RunResult, link: &Link) -> (i64, String) {
    let name = |node: u32| result.nodes.get(node as usize).map_or("", |node| node.name.as_str());
    match (link.from, link.to) {
        (LinkEnd::Node(_), LinkEnd::Node(_)) => (-1, link.name.clone()),
        // The members of a bond have numbers, which stand in their names.
        (_, LinkEnd::Node(node)) | (LinkEnd::Node(node), _) if !link.bond.is_empty() => {
            (i64::from(node), link.name.clone())
        }
        (_, LinkEnd::Node(node)) => (i64::from(node), format!("{} in", name(node))),
        (LinkEnd::Node(node), _) => (i64::from(node), format!("{} out", name(node))),
        _ => (-1, link.name.clone()),
    }
}

/// What the values of a chart are.
struct Measure {
    label: String,
    unit: &'static str,
    kind: Fold,
    /// What 1 is worth in the unit.
    scale: f64,
}

impl Measure {
    /// Of a series as it is declared.
    fn of<T>(metrics: &Metrics<T>, path: &str, label: &str, kind: Fold) -> Self {
        let (unit, scale) = match metrics.unit(path) {
            "share" => ("share", PER_MILLE),
            unit @ ("B" | "B/s" | "bit/s") => (unit, 1.0),
            // The page has the noun in the label.
            _ => ("count", 1.0),
        };
        Self { label: label.to_owned(), unit, kind, scale }
    }
    /// Of what happened in a step, each happening counted.
    fn per_step(what: &str, step_s: f64) -> Self {
        let label = format!("{what} per {}", Time::from_secs_f64(step_s));
        Self { label, unit: "count", kind: Fold::Sum, scale: 1.0 }
    }
}

struct Maker<'a> {
    result: &'a RunResult,
    group: usize,
    step_s: f64,
}

impl Maker<'_> {
    fn series(&self, name: String, node: i64, values: impl IntoIterator<Item = f64>, of: &Measure) -> Series {
        let values = fold(values, self.group, of.kind).into_iter().map(|value| (value / of.scale).round() as u64);
        Series { name, node, values: values.collect() }
    }

    fn of_link(&self, link: &Link, path: &str, of: &Measure) -> Series {
        let (node, name) = link_label(self.result, link);
        self.series(name, node, self.steps_of(link, path), of)
    }

    fn steps_of(&self, link: &Link, path: &str) -> Vec<f64> {
        LINKS.steps(path, Row::new(link, self.result))
    }

    /// None if all values are zero.
    fn chart(&self, id: &'static str, title: &'static str, of: Measure, mut series: Vec<Series>) -> Option<Chart> {
        series.retain(|s| s.values.iter().any(|value| *value != 0));
        // Series stop at their last sample; on one grid all are equally long.
        let longest = series.iter().map(|s| s.values.len()).max()?;
        for s in &mut series {
            s.values.resize(longest, 0);
        }
        let left_out = keep_busiest(&mut series);
        let Measure { label, unit, kind, scale } = of;
        Some(Chart { id, title, label, unit, holds: kind.name(), step_s: self.step_s, scale, series, left_out })
    }

    /// Those of the network: what a node sends to itself does not cross it.
    fn wires(&self) -> impl Iterator<Item = &Link> {
        self.result.links.iter().filter(|link| !link.is_loopback())
    }

    fn links(&self) -> Option<Chart> {
        let of = Measure::of(&LINKS, "utilisation_series", "Utilisation", Fold::Mean);
        let series = self.wires().map(|link| self.of_link(link, "utilisation_series", &of)).collect();
        self.chart("links", "Links", of, series)
    }

    /// What arrives at the nodes, all together.
    fn arriving(&self) -> Option<Chart> {
        let into = |link: &&Link| matches!(link.to, LinkEnd::Node(_));
        let mut total = Vec::new();
        for link in self.wires().filter(into) {
            let rate = link.rate.as_bps() as f64;
            add(&mut total, self.steps_of(link, "utilisation_series").into_iter().map(|share| share * rate));
        }
        let scale = quantum(total.iter().copied());
        let of = Measure { label: "On the wire".to_owned(), unit: "bit/s", kind: Fold::Mean, scale };
        let series = vec![self.series("into all nodes".to_owned(), -1, total, &of)];
        self.chart("throughput", "Throughput", of, series)
    }

    fn queues(&self) -> Option<Chart> {
        let by_bytes = self.wires().any(|link| link.queue_bytes.iter().any(|bytes| *bytes > 0));
        let (path, label) =
            if by_bytes { ("queue_bytes_series", "Waiting") } else { ("queue_series", "Packets waiting") };
        let mut of = Measure::of(&LINKS, path, label, Fold::Peak);
        of.scale = quantum(self.wires().flat_map(|link| self.steps_of(link, path)));
        let series = self.wires().map(|link| self.of_link(link, path, &of)).collect();
        self.chart("queues", "Queues", of, series)
    }

    fn losses(&self) -> Option<Chart> {
        let mut drops = Vec::new();
        for link in &self.result.links {
            add(&mut drops, self.steps_of(link, "drop_series").into_iter());
        }
        let all = |path| RUN.steps(path, Row::new(self.result, self.result));
        let of = Measure::per_step("Number", self.step_s);
        let series = vec![
            self.series("packets dropped".to_owned(), -1, drops, &of),
            self.series("segments sent again".to_owned(), -1, all("retransmissions"), &of),
            self.series("timeouts".to_owned(), -1, all("timeouts"), &of),
        ];
        self.chart("losses", "Losses", of, series)
    }

    fn drops(&self) -> Option<Chart> {
        let of = Measure::per_step("Packets", self.step_s);
        let dropping = self.wires().filter(|link| link.drop_series.iter().any(|drops| *drops > 0));
        let series: Vec<_> = dropping.map(|link| self.of_link(link, "drop_series", &of)).collect();
        // Of one link they are those of all.
        if series.len() > 1 { self.chart("drops", "Drops by link", of, series) } else { None }
    }

    fn disks(&self) -> Option<Chart> {
        let of = Measure::of(&DISKS, "disk", "Busy", Fold::Mean);
        let series = self.result.disks.iter().map(|disk| {
            let values = DISKS.steps("disk", Row::new(disk, self.result));
            self.series(disk.name.clone(), i64::from(disk.node), values, &of)
        });
        let series = series.collect();
        self.chart("disks", "Disks", of, series)
    }

    /// Rates of the disks' reads, or of their writes.
    fn disk_rates(&self, path: &str, id: &'static str, title: &'static str) -> Option<Chart> {
        let steps = |disk| DISKS.steps(path, Row::new(disk, self.result));
        let mut of = Measure::of(&DISKS, path, "Rate", Fold::Mean);
        of.scale = quantum(self.result.disks.iter().flat_map(steps));
        let series = self.result.disks.iter();
        let series = series.map(|disk| self.series(disk.name.clone(), i64::from(disk.node), steps(disk), &of));
        let series = series.collect();
        self.chart(id, title, of, series)
    }

    fn processors(&self) -> Option<Chart> {
        let of = Measure::of(&NODES, "cpu", "Busy", Fold::Mean);
        let series = self.result.nodes.iter().enumerate().map(|(i, node)| {
            let values = NODES.steps("cpu", Row::new(node, self.result));
            self.series(node.name.clone(), i as i64, values, &of)
        });
        let series = series.collect();
        self.chart("cpu", "Processors", of, series)
    }

    fn windows(&self) -> Option<Chart> {
        let of = Measure::of(&NODES, "cwnd", "Mean of a node's senders", Fold::Mean);
        let series = self.result.nodes.iter().enumerate().map(|(i, node)| {
            let values = NODES.steps("cwnd", Row::new(node, self.result));
            self.series(node.name.clone(), i as i64, values, &of)
        });
        let series = series.collect();
        self.chart("windows", "Congestion windows", of, series)
    }

    fn store(&self) -> Option<Chart> {
        let store = self.result.object_store.as_ref()?;
        let of = Measure::per_step("Number", self.step_s);
        let series = [
            ("requests", &store.request_series),
            ("503 Slow Down", &store.throttled_series),
            ("connections opened", &store.connection_series),
        ];
        let series =
            series.map(|(name, values)| self.series(name.to_owned(), -1, values.iter().copied().map(f64::from), &of));
        self.chart("store", "Object store", of, series.into())
    }

    /// Of a cell the mean over its GETs; 0 where none had its first byte.
    fn first_bytes(&self) -> Option<Chart> {
        let store = self.result.object_store.as_ref()?;
        let begun = fold(store.first_byte_series.iter().copied().map(f64::from), self.group, Fold::Sum);
        let waited = fold(store.wait_series.iter().map(|time| time.as_secs_f64()), self.group, Fold::Sum);
        let mean = |(waited, begun): (f64, f64)| (waited / begun.max(1.0) / PER_MILLE).round() as u64;
        let values = waited.into_iter().zip(begun).map(mean).collect();
        // Over more than a cell no mean is told: cells have other numbers of GETs.
        let of = Measure { label: "Mean of GETs".to_owned(), unit: "s", kind: Fold::Peak, scale: PER_MILLE };
        let series = vec![Series { name: "from request to first byte".to_owned(), node: -1, values }];
        self.chart("first-byte", "Object store: time to first byte", of, series)
    }

    /// Of Spark: how many its driver wanted, where they come and go as tasks need them, and how many were there.
    fn executors(&self) -> Option<Chart> {
        let app = self.result.spark.as_ref()?;
        let (end, step, cells) = (self.result.ended_at, Time::from_secs_f64(self.step_s), self.cells());
        let series = |name: &str, values| Series { name: name.to_owned(), node: -1, values };
        let most = |spans: &mut dyn Iterator<Item = Range<Time>>| {
            most_at_once(spans.map(|span| (span.start, span.end)), step, cells)
        };
        let wanted = app.wanted.iter().map(|wanted| (wanted.at, wanted.executors.into()));
        let spans = Spans::of(app, end);
        let series = vec![
            series("wanted", peaks(wanted, step, cells)),
            series("there", most(&mut spans.there())),
            series("with tasks", most(&mut spans.with_tasks())),
            series("excluded", most(&mut spans.excluded())),
        ];
        let of = Measure { label: "Most at once".to_owned(), unit: "count", kind: Fold::Peak, scale: 1.0 };
        self.chart("executors", "Executors", of, series)
    }

    /// How many steps the run has.
    fn cells(&self) -> usize {
        (self.result.ended_at.as_secs_f64() / self.step_s).ceil().max(1.0) as usize
    }

    fn open_flows(&self) -> Option<Chart> {
        let mut by_service: BTreeMap<&str, Vec<&Flow>> = BTreeMap::new();
        for flow in &self.result.flows {
            by_service.entry(&flow.service).or_default().push(flow);
        }
        let cells = self.cells();
        let series = by_service.into_iter().map(|(service, flows)| {
            let spans = flows.iter().map(|flow| (flow.start, flow.finish.unwrap_or(self.result.ended_at)));
            let values = most_at_once(spans, Time::from_secs_f64(self.step_s), cells);
            Series { name: service.to_owned(), node: -1, values }
        });
        let of = Measure { label: "Most open at once".to_owned(), unit: "count", kind: Fold::Peak, scale: 1.0 };
        self.chart("connections", "Connections", of, series.collect())
    }
}

/// Leaves the `MOST_SERIES` with the largest sums, in their order; says how many went.
fn keep_busiest(series: &mut Vec<Series>) -> usize {
    let left_out = series.len().saturating_sub(MOST_SERIES);
    if left_out > 0 {
        let sum = |s: &Series| s.values.iter().sum::<u64>();
        let mut ranked: Vec<_> = series.iter().enumerate().map(|(i, s)| (Reverse(sum(s)), i)).collect();
        ranked.sort_unstable();
        let mut kept = vec![false; series.len()];
        for (_, i) in &ranked[..MOST_SERIES] {
            kept[*i] = true;
        }
        let mut kept = kept.into_iter();
        series.retain(|_| kept.next().unwrap_or_default());
    }
    left_out
}

/// Adds values to sums, step by step.
fn add(sums: &mut Vec<f64>, values: impl ExactSizeIterator<Item = f64>) {
    sums.resize(sums.len().max(values.len()), 0.0);
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

const PER_MILLE: f64 = 0.001;

/// The power of ten that leaves the largest value four digits or so.
fn quantum(values: impl Iterator<Item = f64>) -> f64 {
    let mut most = values.fold(0.0_f64, f64::max);
    let mut scale = 1.0;
    while most >= 10_000.0 {
        most /= 10.0;
        scale *= 10.0;
    }
    scale
}

/// The most spans that are open at one time, in each of `cells` steps.
fn most_at_once(spans: impl Iterator<Item = (Time, Time)>, step: Time, cells: usize) -> Vec<u64> {
    // At one instant ends come before starts: a connection that replaces another is not beside it.
    let mut changes: Vec<(Time, bool)> =
        spans.flat_map(|(start, end)| [(start, true), (end.max(start), false)]).collect();
    changes.sort_unstable();
    let levels = changes.into_iter().scan(0_u64, |open, (at, opens)| {
        *open = if opens { *open + 1 } else { open.saturating_sub(1) };
        Some((at, *open))
    });
    peaks(levels, step, cells)
}

/// The highest of levels in each of `cells` steps, each of which holds from its time until the next one's.
fn peaks(levels: impl Iterator<Item = (Time, u64)>, step: Time, cells: usize) -> Vec<u64> {
    let mut values = vec![0; cells];
    let (mut now, mut filled) = (0, 0);
    for (at, level) in levels {
        let cell = ((at.as_ps() / step.as_ps().max(1)) as usize).min(cells - 1);
        while filled < cell {
            filled += 1;
            values[filled] = now;
        }
        now = level;
        values[cell] = values[cell].max(now);
    }
    while filled + 1 < cells {
        filled += 1;
        values[filled] = now;
    }
    values
}

/// All charts for which the run has values.
pub fn charts(result: &RunResult) -> Vec<Chart> {
    let lengths = result.links.iter().map(|link| link.utilisation.len());
    let lengths = lengths.chain(result.nodes.iter().map(|node| node.cpu_utilisation.len()));
    let steps = lengths.chain(result.disks.iter().map(|disk| disk.utilisation.len())).max().unwrap_or(0);
    let series = 2 * result.links.len() + result.nodes.len() + 3 * result.disks.len();
    let cells = (MOST / series.max(1)).clamp(SHORTEST, LONGEST);
    let group = steps.div_ceil(cells).max(1);
    let step_s = match result.sample_interval.as_secs_f64() * group as f64 {
        none if none <= 0.0 => (result.ended_at.as_secs_f64() / cells as f64).max(1e-9),
        step => step,
    };
    let maker = Maker { result, group, step_s };
    let all = [
        maker.arriving(),
        maker.executors(),
        maker.links(),
        maker.queues(),
        maker.losses(),
        maker.drops(),
        maker.windows(),
        maker.disks(),
        maker.disk_rates("read-rate", "disk-reads", "Reads of disks"),
        maker.disk_rates("write-rate", "disk-writes", "Writes of disks"),
        maker.processors(),
        maker.store(),
        maker.first_bytes(),
        maker.open_flows(),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_keeps_areas_peaks_and_sums() {
        let values = [1.0, 5.0, 2.0, 0.0, 4.0];
        assert_eq!(fold(values, 2, Fold::Mean), [3.0, 1.0, 4.0]);
        assert_eq!(fold(values, 2, Fold::Peak), [5.0, 2.0, 4.0]);
        assert_eq!(fold(values, 2, Fold::Sum), [6.0, 2.0, 4.0]);
    }

    #[test]
    fn most_at_once_counts_overlaps_within_and_across_steps() {
        let s = Time::from_ms;
        let spans = [(s(0), s(25)), (s(12), s(14)), (s(15), s(18)), (s(25), s(31))];
        assert_eq!(most_at_once(spans.into_iter(), s(10), 5), [1, 2, 1, 1, 0]);
    }

    /// A level of 2 from 5 ms, 5 from 12 ms, 1 from 14 ms and 3 from 40 ms on.
    #[test]
    fn peaks_hold_until_the_next_level() {
        let levels = [(5, 2), (12, 5), (14, 1), (40, 3)].map(|(at, level)| (Time::from_ms(at), level));
        assert_eq!(peaks(levels.into_iter(), Time::from_ms(10), 6), [2, 5, 1, 1, 3, 3]);
    }

    #[test]
    fn of_very_many_series_the_busiest_stay_in_order() {
        let of = |i: u64| Series { name: i.to_string(), node: -1, values: vec![0, i] };
        let mut series: Vec<_> = (0..450).map(of).collect();
        assert_eq!(keep_busiest(&mut series), 50);
        assert_eq!((series.len(), series[0].values[1]), (400, 50));
        assert!(series.windows(2).all(|pair| pair[0].values[1] < pair[1].values[1]));
    }

    #[test]
    fn a_quantum_leaves_four_digits() {
        assert!((quantum([12.0, 9_999.0].into_iter()) - 1.0).abs() < 1e-12);
        assert!((quantum([500_000.0].into_iter()) - 100.0).abs() < 1e-9);
    }

    /// A disk reads 100 MB/s in the first of two steps of a cell and nothing in the other, and never writes.
    #[test]
    fn rates_of_disks_are_means_of_their_cells() {
        let disk = crate::Disk { name: "d".to_owned(), read_rate: vec![1e8, 0.0], ..crate::Disk::default() };
        let result = RunResult { disks: vec![disk], ..RunResult::default() };
        let maker = Maker { result: &result, group: 2, step_s: 1.0 };
        let chart = maker.disk_rates("read-rate", "disk-reads", "Reads").expect("it has values");
        assert_eq!((chart.unit, chart.series[0].values[0] as f64 * chart.scale), ("B/s", 5e7));
        assert!(maker.disk_rates("write-rate", "disk-writes", "Writes").is_none());
    }

    /// Two steps in one cell: three GETs that waited 300 ms together, one that waited 50.
    #[test]
    fn the_time_to_first_byte_is_a_mean_over_requests() {
        let store = crate::StoreUse {
            request_series: vec![4, 0, 2],
            first_byte_series: vec![3, 0, 1],
            wait_series: [300, 0, 50].map(Time::from_ms).to_vec(),
            ..crate::StoreUse::default()
        };
        let result = RunResult { object_store: Some(store), ..RunResult::default() };
        let maker = Maker { result: &result, group: 2, step_s: 1.0 };
        let values = |chart: Option<Chart>| chart.expect("it has values").series.remove(0).values;
        assert_eq!(values(maker.first_bytes()), [100, 50]);
        assert_eq!(values(maker.store()), [4, 2]);
        assert_eq!(maker.store().expect("it has").series.len(), 1, "nothing was refused, no connection opened");
    }
}
