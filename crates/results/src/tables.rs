//! The tables of a run as Parquet files, readable by any data-frame library.
//!
//! Written with `parquet`'s own column writer: its Arrow side would multiply the time to compile.

use super::disk_power::DISK_STATES;
use super::field::{FRAMES, POSITIONS};
use super::job::JOBS;
use super::job::{ATTEMPTS, PHASES};
use super::metrics::{Metric, Metrics, Read, Row, figure};
use super::network::{DISKS, FLOWS, LINKS, NODES, OCCUPANCY, QUEUES};
use super::spark::SPARK_TASKS;
use super::traffic::{CLIENTS, COFLOWS, MESSAGES, TRAFFIC};
use super::{EVENTS, Flow, RUN, RunResult};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

/// A column of a table.
pub enum Column {
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Numbers.
    Float(Vec<f64>),
    /// Numbers, where there are any.
    OptionalFloat(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<String>),
    /// Yes or no.
    Flag(Vec<bool>),
    /// Yes or no, where it is known.
    OptionalFlag(Vec<Option<bool>>),
}

/// A table: names and columns of one length.
pub struct Table {
    /// Its file's name without the ending.
    pub name: &'static str,
    columns: Vec<(Cow<'static, str>, Column)>,
    /// What the file says of itself: names and texts of its metadata.
    about: Vec<(String, String)>,
}

impl Column {
    fn field(&self, name: &str) -> Result<Type> {
        let (physical, repetition) = match self {
            Self::Integer(_) => (Physical::INT64, Repetition::REQUIRED),
            Self::Float(_) => (Physical::DOUBLE, Repetition::REQUIRED),
            Self::OptionalFloat(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
            Self::Text(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
            Self::Flag(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
            Self::OptionalFlag(_) => (Physical::BOOLEAN, Repetition::OPTIONAL),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let text = matches!(self, Self::Text(_));
        if text { builder.with_logical_type(Some(LogicalType::String)) } else { builder }.build()
    }

    fn write(self, writer: &mut ColumnWriter<'_>) -> Result<usize> {
        match (self, writer) {
            (Self::Integer(values), ColumnWriter::Int64ColumnWriter(writer)) => writer.write_batch(&values, None, None),
            (Self::Float(values), ColumnWriter::DoubleColumnWriter(writer)) => writer.write_batch(&values, None, None),
            (Self::OptionalFloat(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                let present: Vec<f64> = values.into_iter().flatten().collect();
                writer.write_batch(&present, Some(&levels), None)
            }
            (Self::Text(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let values: Vec<_> = values.iter().map(|value| ByteArray::from(value.as_str())).collect();
                writer.write_batch(&values, None, None)
            }
            (Self::Flag(values), ColumnWriter::BoolColumnWriter(writer)) => writer.write_batch(&values, None, None),
            (Self::OptionalFlag(values), ColumnWriter::BoolColumnWriter(writer)) => {
                let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                let present: Vec<bool> = values.into_iter().flatten().collect();
                writer.write_batch(&present, Some(&levels), None)
            }
            _ => Err(parquet::errors::ParquetError::General("a column is not of its schema's type".to_owned())),
        }
    }
}

impl Table {
    /// A table of these columns, which have the same length; `about` becomes the file's metadata.
    pub fn of(name: &'static str, columns: Vec<(String, Column)>, about: Vec<(String, String)>) -> Self {
        let columns = columns.into_iter().map(|(name, column)| (Cow::Owned(name), column)).collect();
        Self { name, columns, about }
    }
    /// The columns with their names, in their order.
    pub fn into_columns(self) -> Vec<(Cow<'static, str>, Column)> {
        self.columns
    }
    /// What the table says of itself: names and texts.
    pub fn about(&self) -> &[(String, String)] {
        &self.about
    }
    /// Writes the table.
    pub fn write<W: Write + Send>(self, out: W) -> Result<()> {
        let mut file = self.begin(out)?;
        file.append(self)?;
        file.finish()
    }
    /// Begins a file of tables like this one.
    pub fn begin<W: Write + Send>(&self, out: W) -> Result<TableFile<W>> {
        let fields = self.columns.iter().map(|(name, column)| column.field(name).map(Arc::new));
        let schema = Type::group_type_builder(self.name).with_fields(fields.collect::<Result<_>>()?).build()?;
        // A fixed name: the writer's own would carry its version into files that should only change with their data.
        let about = self.about.iter().map(|(name, text)| KeyValue::new(name.clone(), text.clone())).collect::<Vec<_>>();
        let properties = WriterProperties::builder()
            .set_created_by("trunkline".to_owned())
            .set_key_value_metadata((!about.is_empty()).then_some(about))
            .build();
        Ok(TableFile(SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?))
    }
}

/// A file to which a table is written in pieces, each a row group.
pub struct TableFile<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> TableFile<W> {
    /// Adds rows.
    pub fn append(&mut self, rows: Table) -> Result<()> {
        let mut group = self.0.next_row_group()?;
        for (_, column) in rows.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(writer.untyped())?;
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }
    /// Ends the file.
    pub fn finish(self) -> Result<()> {
        self.0.close()?;
        Ok(())
    }
}

impl Column {
    /// A figure of all rows; none of those that are not one value.
    fn of<T>(metric: &Metric<T>, rows: &[Row<'_, T>]) -> Option<Self> {
        let integer = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let rows = rows.iter().copied();
        Some(match metric.read {
            Read::Text(read) => Self::Text(rows.map(read).collect()),
            Read::Flag(read) => Self::Flag(rows.map(read).collect()),
            Read::Count(read) => Self::Integer(rows.map(|row| integer(read(row))).collect()),
            Read::Index(read) => Self::Integer(rows.map(|row| read(row).map_or(-1, i64::from)).collect()),
            Read::Bytes(read) => Self::Integer(rows.map(|row| integer(read(row).get())).collect()),
            Read::Rate(read) => Self::Integer(rows.map(|row| integer(read(row).as_bps())).collect()),
            Read::Number(read) => Self::Float(rows.map(read).collect()),
            Read::Time(read) => Self::Float(rows.map(|row| read(row).as_secs_f64()).collect()),
            Read::Energy(read) => Self::Float(rows.map(|row| read(row).as_joules()).collect()),
            Read::OptionalCount(_)
            | Read::OptionalNumber(_)
            | Read::OptionalTime(_)
            | Read::OptionalBytes(_)
            | Read::OptionalEnergy(_) => Self::OptionalFloat(rows.map(|row| metric.value(row).number()).collect()),
            Read::Series(_) | Read::Inner(_) => return None,
        })
    }
}

/// The table of some rows.
fn table<'a, T: 'a>(of: &'static Metrics<T>, rows: impl IntoIterator<Item = Row<'a, T>>) -> Table {
    let rows: Vec<_> = rows.into_iter().collect();
    let by_flows = rows.first().is_some_and(|row| row.run.by_flows);
    let modelled = |metric: &Metric<T>| !(by_flows && metric.doc.is_of_packets());
    let columns = of.columns().into_iter().filter(|(_, metric)| modelled(metric));
    let column = |(name, metric)| Some((Cow::Borrowed(name), Column::of(metric, &rows)?));
    Table { name: of.file.unwrap_or(of.name), columns: columns.filter_map(column).collect(), about: Vec::new() }
}

fn rows<'a, T: 'a>(run: &'a RunResult, rows: &'a [T]) -> impl Iterator<Item = Row<'a, T>> {
    rows.iter().map(move |row| Row::new(row, run))
}

/// The rows of some lists, each owned by the row whose number its list has.
fn parts<'a, T: 'a>(run: &'a RunResult, lists: impl Iterator<Item = &'a [T]>) -> impl Iterator<Item = Row<'a, T>> {
    lists.enumerate().flat_map(move |(owner, list)| list.iter().map(move |row| Row::owned(row, run, owner)))
}

/// All tables of a run; where there are too many connections, that of these is not among them.
pub fn tables(run: &RunResult) -> Vec<Table> {
    let steps: Vec<Vec<_>> = run.links.iter().map(|link| link.steps().collect()).collect();
    let lengths = run.links.iter().map(|link| if link.queue_max > 0 { &link.queue_shares[..] } else { &[] });
    let mut tables = vec![
        table(&ATTEMPTS, rows(run, &run.attempts)),
        table(&PHASES, parts(run, run.attempts.iter().map(|attempt| &attempt.intervals[..]))),
        table(&LINKS, rows(run, &run.links)),
        table(&QUEUES, parts(run, steps.iter().map(Vec::as_slice))),
        table(&NODES, rows(run, &run.nodes)),
        table(&DISKS, rows(run, &run.disks)),
        table(&SAMPLES, rows(run, &samples(run))),
        table(&EVENTS, rows(run, &run.events)),
        table(&MESSAGES, parts(run, run.traffic.iter().map(|traffic| &traffic.messages[..]))),
        table(&CLIENTS, parts(run, run.traffic.iter().map(|traffic| &traffic.clients[..]))),
        table(&OCCUPANCY, parts(run, lengths)),
    ];
    if run.disks.iter().any(|disk| disk.power.is_some()) {
        let changes = run.disks.iter().filter_map(|disk| disk.power.as_ref()).flat_map(|power| &power.changes);
        tables.push(table(&DISK_STATES, changes.map(|change| Row::new(change, run))));
    }
    if let Some(spark) = &run.spark {
        tables.push(table(&SPARK_TASKS, rows(run, &spark.tasks)));
    }
    if run.traffic.iter().any(|traffic| !traffic.coflows.is_empty()) {
        tables.push(table(&COFLOWS, parts(run, run.traffic.iter().map(|traffic| &traffic.coflows[..]))));
    }
    if !run.is_sampled() {
        tables.push(flow_table(&run.flows, run));
    }
    if let Some(field) = &run.field {
        tables.push(table(&POSITIONS, parts(run, field.stations.iter().map(|station| &station.way[..]))));
        tables.push(table(&FRAMES, rows(run, &field.frames)));
    }
    tables
}

/// The table of some connections of nodes of this run.
pub fn flow_table(flows: &[Flow], run: &RunResult) -> Table {
    table(&FLOWS, rows(run, flows))
}

/// A value of a sampled series.
pub struct Sample {
    series: &'static str,
    of: Arc<str>,
    step: usize,
    value: f64,
}

/// Sampled series: those of the figures that are series and columns.
pub static SAMPLES: Metrics<Sample> = Metrics {
    name: "samples",
    what: "A value of a sampled series, where it is not zero.",
    file: Some("samples"),
    metrics: &[
        figure("series", "Which series: `cpu` of a node, `goodput` of a traffic, ...; their sections name them.")
            .text(|row| row.series.to_owned()),
        figure("of", "The node, disk, job or traffic; `all` for TCP as a whole.")
            .text(|row| row.of.as_ref().to_owned()),
        figure("time_s", "The end of the step.").time(|row| row.run.sample_interval * (row.step as u64 + 1)),
        figure("sample", "The value.").number("of the series", |row| row.value),
    ],
};

fn samples(run: &RunResult) -> Vec<Sample> {
    let mut out = Vec::new();
    sample(&NODES, run, &run.nodes, |node| &node.name, &mut out);
    sample(&DISKS, run, &run.disks, |disk| &disk.name, &mut out);
    sample(&JOBS, run, &run.jobs, |job| &job.name, &mut out);
    sample(&TRAFFIC, run, &run.traffic, |traffic| &traffic.name, &mut out);
    sample(&RUN, run, std::slice::from_ref(run), |_| "all", &mut out);
    out
}

/// Adds the steps that are not zero of the series of some rows.
fn sample<T>(of: &Metrics<T>, run: &RunResult, rows: &[T], name: fn(&T) -> &str, out: &mut Vec<Sample>) {
    for row in rows {
        let of_row: Arc<str> = name(row).into();
        for metric in of.metrics {
            let (Some(series), Read::Series(read)) = (metric.doc.column, &metric.read) else { continue };
            let values = read(Row::new(row, run)).into_iter().enumerate().filter(|(_, value)| *value != 0.0);
            out.extend(values.map(|(step, value)| Sample { series, of: of_row.clone(), step, value }));
        }
    }
}
