//! The declaration of the output's figures: name, unit, meaning and accessor of each, in one place.
//!
//! A kind of row (a link, a job, a traffic, ...) has one [`Metrics`], which stands beside the row's type. From it come
//! the keys of `result.json`, the columns of the Parquet tables, the paths by which studies name a metric, the counters
//! on the page, and the reference, `docs/reference/results.md`.

use super::RunResult;
use super::value::Value;
use std::borrow::Cow;
use std::ops::Deref;
use units::{BitRate, Bytes, Energy, Time};

/// The version of Trunkline that first had these declarations.
pub const FIRST_VERSION: &str = "0.1";

/// A row with the run that it is part of.
pub struct Row<'a, T> {
    of: &'a T,
    /// The run.
    pub run: &'a RunResult,
    /// The number of the row that this one is part of: of the traffic of a client, of the link of a queue.
    pub owner: usize,
}

impl<T> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Row<'_, T> {}

impl<T> Deref for Row<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.of
    }
}

impl<'a, T> Row<'a, T> {
    /// A row that is part of the run alone.
    pub const fn new(of: &'a T, run: &'a RunResult) -> Self {
        Self::owned(of, run, 0)
    }
    /// A row that is part of another.
    pub const fn owned(of: &'a T, run: &'a RunResult, owner: usize) -> Self {
        Self { of, run, owner }
    }
    /// The name of a node; empty if the run has no such node.
    pub(crate) fn node(&self, node: u32) -> String {
        let named = self.run.nodes.get(node as usize).map(|node| node.name.clone());
        let store = || self.run.object_store.as_ref().filter(|store| store.node == node);
        named.or_else(|| store().map(|_| super::object_store::NAME.to_owned())).unwrap_or_default()
    }
}

/// Accessor of a figure: reads its value from a row.
pub(crate) enum Read<T: 'static> {
    Text(fn(Row<'_, T>) -> String),
    Flag(fn(Row<'_, T>) -> bool),
    Count(fn(Row<'_, T>) -> u64),
    OptionalCount(fn(Row<'_, T>) -> Option<u64>),
    /// A row's number.
    Index(fn(Row<'_, T>) -> Option<u32>),
    Number(fn(Row<'_, T>) -> f64),
    OptionalNumber(fn(Row<'_, T>) -> Option<f64>),
    Time(fn(Row<'_, T>) -> Time),
    OptionalTime(fn(Row<'_, T>) -> Option<Time>),
    Bytes(fn(Row<'_, T>) -> Bytes),
    OptionalBytes(fn(Row<'_, T>) -> Option<Bytes>),
    Rate(fn(Row<'_, T>) -> BitRate),
    Energy(fn(Row<'_, T>) -> Energy),
    OptionalEnergy(fn(Row<'_, T>) -> Option<Energy>),
    /// A value for each step of the samples.
    Series(fn(Row<'_, T>) -> Vec<f64>),
    /// Rows inside, or a list or an object that is declared by what it holds.
    Inner(fn(Row<'_, T>) -> Value),
}

/// Description of a figure, without its accessor.
#[derive(Clone, Copy)]
pub struct Doc {
    /// Its key in `result.json`; none if it is not there.
    pub key: Option<&'static str>,
    /// Its column in the Parquet table of its rows (of a series: its name in `samples`); none if it is not there.
    pub column: Option<&'static str>,
    /// The last part of its path in a study, where its rows can be named there; none if it is not there.
    pub path: Option<&'static str>,
    /// `s`, `B`, `packets`, `share` (of one), ...
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    pub what: &'static str,
    /// The version that brought it.
    pub since: &'static str,
    /// The rows inside, declared elsewhere.
    pub inner: Option<&'static dyn Described>,
    /// Its words on the page, and whether it stands there also when it is zero.
    pub label: Option<(&'static str, bool)>,
    /// Columns, and counters on the page, are sorted by rank.
    rank: u8,
    /// `result.json` omits the key if the value is null or an empty list.
    may_be_absent: bool,
    is_series: bool,
    has_entries: bool,
    /// It exists only where packets are simulated.
    of_packets: bool,
}

type Of<T, V> = fn(Row<'_, T>) -> V;

/// Begins the declaration of a figure: its name, and its meaning in a sentence. A call that gives the accessor ends it.
pub(crate) const fn figure(name: &'static str, what: &'static str) -> Doc {
    Doc {
        key: Some(name),
        column: Some(name),
        path: Some(name),
        unit: "",
        what,
        since: FIRST_VERSION,
        inner: None,
        label: None,
        rank: 0,
        may_be_absent: false,
        is_series: false,
        has_entries: false,
        of_packets: false,
    }
}

impl Doc {
    /// Whether it is a value for each step of the samples.
    pub const fn is_series(&self) -> bool {
        self.is_series
    }
    /// Whether it is a list or an object whose entries are not declared.
    pub const fn has_entries(&self) -> bool {
        self.has_entries && self.inner.is_none()
    }
    /// Whether it exists only where packets are simulated: of a run by flows it is null, and no column.
    pub const fn is_of_packets(&self) -> bool {
        self.of_packets
    }
    /// Says that it exists only where packets are simulated.
    pub(crate) const fn of_packets(mut self) -> Self {
        self.of_packets = true;
        self
    }
    /// Gives it another name as a column.
    pub(crate) const fn column(mut self, name: &'static str) -> Self {
        self.column = Some(name);
        self
    }
    /// Gives it another name in studies.
    pub(crate) const fn path(mut self, name: &'static str) -> Self {
        self.path = Some(name);
        self
    }
    /// Leaves it out of `result.json`.
    pub(crate) const fn no_key(mut self) -> Self {
        self.key = None;
        self
    }
    /// Leaves it out of the Parquet table.
    pub(crate) const fn no_column(mut self) -> Self {
        self.column = None;
        self
    }
    /// Omits its key in `result.json` if it is null or an empty list.
    pub(crate) const fn may_be_absent(mut self) -> Self {
        self.may_be_absent = true;
        self
    }
    /// Sets its rank among columns and on the page; the default is 0.
    pub(crate) const fn rank(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }
    /// Shows it on the page under this label, even if it is zero.
    pub(crate) const fn label(mut self, words: &'static str) -> Self {
        self.label = Some((words, true));
        self
    }
    /// Shows it on the page under this label unless it is zero.
    pub(crate) const fn label_if_any(mut self, words: &'static str) -> Self {
        self.label = Some((words, false));
        self
    }

    /// Names the version that introduced it, if not the first.
    pub const fn since(mut self, version: &'static str) -> Self {
        self.since = version;
        self
    }

    const fn read<T>(mut self, unit: &'static str, read: Read<T>) -> Metric<T> {
        self.unit = unit;
        Metric { doc: self, read }
    }
    /// Accessor of a text.
    pub(crate) const fn text<T>(mut self, read: Of<T, String>) -> Metric<T> {
        self.path = None;
        self.read("text", Read::Text(read))
    }
    /// Accessor of a truth value.
    pub(crate) const fn flag<T>(self, read: Of<T, bool>) -> Metric<T> {
        self.read("yes or no", Read::Flag(read))
    }
    /// Accessor of a whole number, in this unit.
    pub(crate) const fn count<T>(self, unit: &'static str, read: Of<T, u64>) -> Metric<T> {
        self.read(unit, Read::Count(read))
    }
    /// Accessor of a whole number that is not always known.
    pub(crate) const fn optional_count<T>(self, unit: &'static str, read: Of<T, Option<u64>>) -> Metric<T> {
        self.read(unit, Read::OptionalCount(read))
    }
    /// Accessor of a reference to a row of another table; a column has -1 for none.
    pub(crate) const fn index<T>(self, read: Of<T, Option<u32>>) -> Metric<T> {
        self.read("number", Read::Index(read))
    }
    /// Accessor of a number, in this unit.
    pub(crate) const fn number<T>(self, unit: &'static str, read: Of<T, f64>) -> Metric<T> {
        self.read(unit, Read::Number(read))
    }
    /// Accessor of a number that is not always known, in this unit.
    pub(crate) const fn optional_number<T>(self, unit: &'static str, read: Of<T, Option<f64>>) -> Metric<T> {
        self.read(unit, Read::OptionalNumber(read))
    }
    /// Accessor of a simulated time, in seconds.
    pub(crate) const fn time<T>(self, read: Of<T, Time>) -> Metric<T> {
        self.read("s", Read::Time(read))
    }
    /// Accessor of a simulated time that is not always known, in seconds.
    pub(crate) const fn optional_time<T>(self, read: Of<T, Option<Time>>) -> Metric<T> {
        self.read("s", Read::OptionalTime(read))
    }
    /// Accessor of a volume, in bytes.
    pub(crate) const fn bytes<T>(self, read: Of<T, Bytes>) -> Metric<T> {
        self.read("B", Read::Bytes(read))
    }
    /// Accessor of a volume that is not always known, in bytes.
    pub(crate) const fn optional_bytes<T>(self, read: Of<T, Option<Bytes>>) -> Metric<T> {
        self.read("B", Read::OptionalBytes(read))
    }
    /// Accessor of a rate, in bit/s.
    pub(crate) const fn rate<T>(self, read: Of<T, BitRate>) -> Metric<T> {
        self.read("bit/s", Read::Rate(read))
    }
    /// Accessor of an energy, in joules.
    pub(crate) const fn energy<T>(self, read: Of<T, Energy>) -> Metric<T> {
        self.read("J", Read::Energy(read))
    }
    /// Accessor of an energy that is not always known, in joules.
    pub(crate) const fn optional_energy<T>(self, read: Of<T, Option<Energy>>) -> Metric<T> {
        self.read("J", Read::OptionalEnergy(read))
    }
    /// Accessor of a sampled series: one value per step. It appears in tables and studies only.
    pub(crate) const fn series<T>(mut self, unit: &'static str, read: Of<T, Vec<f64>>) -> Metric<T> {
        self.is_series = true;
        self.no_key().read(unit, Read::Series(read))
    }
    /// Accessor of nested rows with a declaration of their own. They appear in `result.json` only.
    pub(crate) const fn inner<T>(mut self, of: &'static dyn Described, read: Of<T, Value>) -> Metric<T> {
        self.inner = Some(of);
        self.entries("", read)
    }
    /// Accessor of a list or object whose entries need no declaration. It appears in `result.json` only.
    pub(crate) const fn entries<T>(mut self, unit: &'static str, read: Of<T, Value>) -> Metric<T> {
        self.path = None;
        self.has_entries = true;
        self.no_column().read(unit, Read::Inner(read))
    }
}

/// A figure of the rows of a type.
pub struct Metric<T: 'static> {
    pub(crate) doc: Doc,
    pub(crate) read: Read<T>,
}

/// The figures of a kind of row.
pub struct Metrics<T: 'static> {
    /// The kind of row: "links".
    pub name: &'static str,
    /// What a row is.
    pub what: &'static str,
    /// The Parquet table of all such rows.
    pub file: Option<&'static str>,
    /// The figures, in the order of `result.json`.
    pub metrics: &'static [Metric<T>],
}

/// The figures of some kind of row, as the reference sees them.
pub trait Described: Sync {
    /// The kind of row.
    fn name(&self) -> &'static str;
    /// What a row is.
    fn what(&self) -> &'static str;
    /// The Parquet table of all such rows.
    fn file(&self) -> Option<&'static str>;
    /// The figures.
    fn docs(&self) -> Vec<Doc>;
}

impl<T> Described for Metrics<T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn what(&self) -> &'static str {
        self.what
    }
    fn file(&self) -> Option<&'static str> {
        self.file
    }
    fn docs(&self) -> Vec<Doc> {
        self.metrics.iter().map(|metric| metric.doc).collect()
    }
}

impl<T> Metrics<T> {
    /// A row as `result.json` has it.
    pub(crate) fn object(&self, row: Row<'_, T>) -> Value {
        let entry = |metric: &Metric<T>| {
            let key = metric.doc.key?;
            let value = metric.value(row);
            (!metric.doc.may_be_absent || !value.is_nothing()).then_some((Cow::Borrowed(key), value))
        };
        Value::Object(self.metrics.iter().filter_map(entry).collect())
    }
    /// Rows as `result.json` has them.
    pub(crate) fn list<'a>(&self, run: &'a RunResult, rows: impl IntoIterator<Item = &'a T>) -> Value {
        Value::List(rows.into_iter().map(|row| self.object(Row::new(row, run))).collect())
    }
    /// A row as `result.json` has it, or null.
    pub(crate) fn maybe<'a>(&self, run: &'a RunResult, row: Option<&'a T>) -> Value {
        row.map(|row| self.object(Row::new(row, run))).into()
    }
    /// The figures that are columns, in the order of these.
    pub(crate) fn columns(&self) -> Vec<(&'static str, &'static Metric<T>)> {
        let column = |metric: &'static Metric<T>| metric.doc.column.map(|column| (column, metric));
        let mut columns: Vec<_> = self.metrics.iter().filter(|m| !m.doc.is_series).filter_map(column).collect();
        columns.sort_by_key(|(_, metric)| metric.doc.rank);
        columns
    }
    /// Some of the figures of a row, by the names of their columns.
    pub(crate) fn pick(&self, row: Row<'_, T>, columns: &[&'static str]) -> Value {
        let value = |column: &&'static str| {
            let metric = self.metrics.iter().find(|metric| metric.doc.column == Some(*column))?;
            Some((Cow::Borrowed(*column), metric.value(row)))
        };
        Value::Object(columns.iter().filter_map(value).collect())
    }
    /// Label and count of what the page shows of a row, in the page's order.
    pub(crate) fn labelled(&self, row: Row<'_, T>) -> Vec<(&'static str, u64)> {
        let mut shown: Vec<_> = self.metrics.iter().filter(|metric| metric.doc.label.is_some()).collect();
        shown.sort_by_key(|metric| metric.doc.rank);
        let entry = |metric: &&Metric<T>| {
            let (label, always) = metric.doc.label?;
            let Value::Count(count) = metric.value(row) else { return None };
            (always || count > 0).then_some((label, count))
        };
        shown.iter().filter_map(entry).collect()
    }
    /// The figure of that path in a study.
    pub fn at_path(&self, path: &str) -> Option<&'static Metric<T>> {
        self.metrics.iter().find(|metric| metric.doc.path == Some(path))
    }
    /// The series of that path in a study.
    pub fn series_at_path(&self, path: &str) -> Option<&'static Metric<T>> {
        self.metrics.iter().find(|metric| metric.doc.is_series && metric.doc.path == Some(path))
    }
    /// The steps of a series, by its path; empty if there is none.
    pub(crate) fn steps(&self, path: &str, row: Row<'_, T>) -> Vec<f64> {
        match self.series_at_path(path).map(|metric| &metric.read) {
            Some(Read::Series(read)) => read(row),
            _ => Vec::new(),
        }
    }
    /// The unit of the figure of that path; empty if there is none.
    pub(crate) fn unit(&self, path: &str) -> &'static str {
        self.at_path(path).map_or("", |metric| metric.doc.unit)
    }
    /// All paths in a study.
    pub fn paths(&self) -> Vec<&'static str> {
        self.metrics.iter().filter_map(|metric| metric.doc.path).collect()
    }
    /// The paths of its series in a study.
    pub fn series(&self) -> Vec<&'static str> {
        self.metrics.iter().filter(|metric| metric.doc.is_series).filter_map(|metric| metric.doc.path).collect()
    }
}

impl<T> Metric<T> {
    /// The value of the figure for a row, in its unit.
    pub fn value(&self, row: Row<'_, T>) -> Value {
        let joules = |energy: Energy| energy.as_joules();
        if self.doc.of_packets && row.run.by_flows {
            return Value::Null;
        }
        match self.read {
            Read::Text(read) => Value::Text(read(row)),
            Read::Flag(read) => Value::Flag(read(row)),
            Read::Count(read) => read(row).into(),
            Read::OptionalCount(read) => read(row).into(),
            Read::OptionalNumber(read) => read(row).into(),
            Read::Index(read) => read(row).map(u64::from).into(),
            Read::Number(read) => read(row).into(),
            Read::Time(read) => read(row).as_secs_f64().into(),
            Read::OptionalTime(read) => read(row).map(Time::as_secs_f64).into(),
            Read::Bytes(read) => read(row).get().into(),
            Read::OptionalBytes(read) => read(row).map(Bytes::get).into(),
            Read::Rate(read) => read(row).as_bps().into(),
            Read::Energy(read) => joules(read(row)).into(),
            Read::OptionalEnergy(read) => read(row).map(joules).into(),
            Read::Series(read) => Value::List(read(row).into_iter().map(Value::Number).collect()),
            Read::Inner(read) => read(row),
        }
    }
}

/// A sampled series as numbers.
pub(crate) fn widened<V: Copy + Into<f64>>(values: &[V]) -> Vec<f64> {
    values.iter().map(|value| (*value).into()).collect()
}
