//! The tables of a run as Parquet files, readable by any data-frame library.
//!
//! Written with `parquet`'s own column writer: its Arrow side would multiply the time to compile.

use super::{AttemptState, Field, Flow, Locality, RunResult, TaskKind};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;
use units::Time;

/// A column of a table.
enum Column {
    Integer(Vec<i64>),
    Float(Vec<f64>),
    /// NaN stands for no value.
    OptionalFloat(Vec<Option<f64>>),
    Text(Vec<String>),
    Flag(Vec<bool>),
}

/// A table: names and columns of one length.
pub struct Table {
    /// Its file's name without the ending.
    pub name: &'static str,
    columns: Vec<(&'static str, Column)>,
}

impl Column {
    fn field(&self, name: &str) -> Result<Type> {
        let (physical, repetition) = match self {
            Self::Integer(_) => (Physical::INT64, Repetition::REQUIRED),
            Self::Float(_) => (Physical::DOUBLE, Repetition::REQUIRED),
            Self::OptionalFloat(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
            Self::Text(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
            Self::Flag(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
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
            _ => Err(parquet::errors::ParquetError::General("a column is not of its schema's type".to_owned())),
        }
    }
}

impl Table {
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
        let properties = WriterProperties::builder().set_created_by("trunkline".to_owned()).build();
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

/// Gathers rows into columns.
macro_rules! table {
    ($name:literal, $rows:expr, |$row:pat_param| { $( $column:ident : $kind:ident = $value:expr ),+ $(,)? }) => {{
        $( let mut $column = Vec::new(); )+
        for $row in $rows {
            $( $column.push($value); )+
        }
        Table { name: $name, columns: vec![$( (stringify!($column), Column::$kind($column)) ),+] }
    }};
}

/// All tables of a run; where there are too many connections, that of these is not among them.
pub fn tables(result: &RunResult) -> Vec<Table> {
    let mut tables = vec![tasks(result), phases(result), links(result), queues(result)];
    if !result.is_sampled() {
        let names: Vec<String> = result.nodes.iter().map(|node| node.name.clone()).collect();
        tables.push(flow_table(&result.flows, &names));
    }
    tables.extend([nodes(result), disks(result), samples(result), events(result), messages(result), clients(result)]);
    tables.push(occupancy(result));
    if let Some(field) = &result.field {
        tables.extend([positions(field), frames(field)]);
    }
    tables
}

fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn seconds(time: Time) -> f64 {
    time.as_secs_f64()
}

fn node_name(result: &RunResult, node: u32) -> String {
    result.nodes.get(node as usize).map(|node| node.name.clone()).unwrap_or_default()
}

fn tasks(result: &RunResult) -> Table {
    table!("tasks", &result.attempts, |row| {
        job: Integer = i64::from(row.job),
        kind: Text = match row.kind { TaskKind::Map => "map", TaskKind::Reduce => "reduce" }.to_owned(),
        task: Integer = i64::from(row.task),
        attempt: Integer = i64::from(row.attempt),
        node: Text = node_name(result, row.node),
        speculative: Flag = row.speculative,
        locality: Text = match row.locality {
            None => "",
            Some(Locality::Node) => "node",
            Some(Locality::Rack) => "rack",
            Some(Locality::Remote) => "remote",
        }.to_owned(),
        state: Text = match row.state {
            AttemptState::Succeeded => "succeeded",
            AttemptState::Failed => "failed",
            AttemptState::Killed => "killed",
            AttemptState::Running => "running",
        }.to_owned(),
        reason: Text = row.reason.clone(),
        start_s: Float = seconds(row.start),
        finish_s: Float = seconds(row.finish),
        input_bytes: Integer = integer(row.input.get()),
        output_bytes: Integer = integer(row.output.get()),
        remote_bytes: Integer = integer(row.remote.get()),
        spilled_bytes: Integer = integer(row.spilled.get()),
    })
}

fn phases(result: &RunResult) -> Table {
    let rows = result.attempts.iter().enumerate();
    let rows = rows.flat_map(|(row, attempt)| attempt.intervals.iter().map(move |interval| (row, interval)));
    table!("phases", rows, |(row, interval)| {
        task_row: Integer = row as i64,
        phase: Text = interval.phase.name().to_owned(),
        start_s: Float = seconds(interval.start),
        finish_s: Float = seconds(interval.finish),
    })
}

/// The table of some connections of nodes of these names.
pub fn flow_table(flows: &[Flow], nodes: &[String]) -> Table {
    let name = |node: u32| nodes.get(node as usize).cloned().unwrap_or_default();
    table!("flows", flows, |flow| {
        from: Text = name(flow.from),
        to: Text = name(flow.to),
        service: Text = flow.service.clone(),
        start_s: Float = seconds(flow.start),
        finish_s: OptionalFloat = flow.finish.map(seconds),
        reset: Flag = flow.reset,
        bytes: Integer = integer(flow.bytes.get()),
        bytes_back: Integer = integer(flow.bytes_back.get()),
        retransmissions: Integer = integer(flow.retransmissions),
        timeouts: Integer = integer(flow.timeouts),
        zero_windows: Integer = integer(flow.zero_windows),
        rtt_s: OptionalFloat = flow.rtt.map(seconds),
        drops: Integer = integer(flow.drops),
    })
}

fn clients(result: &RunResult) -> Table {
    let rows = result.traffic.iter().flat_map(|traffic| traffic.clients.iter().map(move |row| (traffic, row)));
    table!("clients", rows, |(of, row)| {
        traffic: Text = of.name.clone(),
        node: Text = node_name(result, row.node),
        connections: Integer = integer(row.connections),
        bytes: Integer = integer(row.bytes.get()),
        drops: Integer = integer(row.drops),
        retransmissions: Integer = integer(row.retransmissions),
        timeouts: Integer = integer(row.timeouts),
        throughput_share: Float = row.throughput_share,
        drop_share: Float = row.drop_share,
    })
}

fn messages(result: &RunResult) -> Table {
    let rows = result.traffic.iter().flat_map(|traffic| traffic.messages.iter().map(move |row| (traffic, row)));
    table!("messages", rows, |(of, row)| {
        traffic: Text = of.name.clone(),
        bytes: Integer = integer(row.bytes.get()),
        rounds: Integer = integer(row.rounds),
        latency_s: Float = seconds(row.latency),
        latency_least_s: Float = seconds(row.latency_least),
        latency_most_s: Float = seconds(row.latency_most),
        throughput_bps: Integer = integer(row.throughput.as_bps()),
    })
}

fn links(result: &RunResult) -> Table {
    table!("links", &result.links, |row| {
        link: Text = row.name.clone(),
        bond: Text = row.bond.clone(),
        rate_bps: Integer = integer(row.rate.as_bps()),
        delay_s: Float = seconds(row.delay),
        packets: Integer = integer(row.packets),
        bytes: Integer = integer(row.bytes.get()),
        drops: Integer = integer(row.drops),
        marks: Integer = integer(row.marks),
        lost: Integer = integer(row.lost),
        queue_mean_packets: Float = row.queue_mean,
        queue_max_packets: Integer = integer(row.queue_max),
        utilisation: Float = row.used,
        queue_p50_packets: OptionalFloat = row.queue_quantile(0.5).map(|packets| packets as f64),
        queue_p95_packets: OptionalFloat = row.queue_quantile(0.95).map(|packets| packets as f64),
        queue_p99_packets: OptionalFloat = row.queue_quantile(0.99).map(|packets| packets as f64),
    })
}

/// For how long each queue had each length; an empty queue that was never anything else has no row.
fn occupancy(result: &RunResult) -> Table {
    let rows = result.links.iter().filter(|link| link.queue_max > 0);
    let rows = rows.flat_map(|link| link.queue_shares.iter().map(move |row| (link, row)));
    table!("occupancy", rows, |(of, row)| {
        link: Text = of.name.clone(),
        packets: Integer = integer(row.0),
        share: Float = row.1,
    })
}

/// One row for each link and step in which anything was sent, queued, dropped or marked.
fn queues(result: &RunResult) -> Table {
    let at = |series: &[u32], step: usize| series.get(step).copied().unwrap_or(0);
    let rows = result.links.iter().flat_map(|link| {
        link.utilisation.iter().enumerate().filter_map(move |(step, utilisation)| {
            let (bytes, packets) = (at(&link.queue_bytes, step), at(&link.queue_packets, step));
            let (drops, marks) = (at(&link.drop_series, step), at(&link.mark_series, step));
            let quiet = *utilisation == 0.0 && packets == 0 && drops == 0 && marks == 0;
            (!quiet).then_some((link, step, *utilisation, bytes, packets, (drops, marks)))
        })
    });
    table!("queues", rows, |(of, step, busy, bytes, packets, (drops, marks))| {
        link: Text = of.name.clone(),
        time_s: Float = seconds(result.sample_interval * (step as u64 + 1)),
        utilisation: Float = f64::from(busy),
        queue_bytes: Integer = i64::from(bytes),
        queue_packets: Integer = i64::from(packets),
        dropped: Integer = i64::from(drops),
        marked: Integer = i64::from(marks),
    })
}

fn nodes(result: &RunResult) -> Table {
    table!("nodes", &result.nodes, |row| {
        node: Text = row.name.clone(),
        rack: Integer = i64::from(row.rack),
        host: Integer = row.host.map_or(-1, i64::from),
        interface_received: Integer = integer(row.interface_received.get()),
        interface_sent: Integer = integer(row.interface_sent.get()),
        cpu_work_s: Float = seconds(row.cpu_work),
    })
}

fn disks(result: &RunResult) -> Table {
    table!("disks", &result.disks, |row| {
        disk: Text = row.name.clone(),
        node: Text = node_name(result, row.node),
        read_bytes: Integer = integer(row.read.get()),
        written_bytes: Integer = integer(row.written.get()),
        requests: Integer = integer(row.requests),
        seeks: Integer = integer(row.seeks),
        busy_s: Float = seconds(row.busy),
    })
}

/// The sampled series of processors, disks, traffic and TCP, one row for each step in which anything happened.
fn samples(result: &RunResult) -> Table {
    let busy = |value: &f32| f64::from(*value);
    let count = |value: &u32| f64::from(*value);
    let mut series: Vec<(&str, &str, Vec<f64>)> = Vec::new();
    for node in &result.nodes {
        series.push(("cpu", &node.name, node.cpu_utilisation.iter().map(busy).collect()));
        series.push(("radio-watts", &node.name, node.radio_power.iter().map(busy).collect()));
    }
    for disk in &result.disks {
        series.push(("disk", &disk.name, disk.utilisation.iter().map(busy).collect()));
    }
    for traffic in &result.traffic {
        series.push(("goodput", &traffic.name, traffic.goodput_series.iter().map(busy).collect()));
        series.push(("window", &traffic.name, traffic.window_series.iter().map(count).collect()));
    }
    series.push(("retransmissions", "all", result.retransmissions.iter().map(count).collect()));
    series.push(("timeouts", "all", result.timeouts.iter().map(count).collect()));
    let rows = series.iter().flat_map(|(kind, name, values)| {
        let steps = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
        steps.map(move |(step, value)| (*kind, *name, step, *value))
    });
    table!("samples", rows, |(kind, name, step, value)| {
        series: Text = kind.to_owned(),
        of: Text = name.to_owned(),
        time_s: Float = seconds(result.sample_interval * (step as u64 + 1)),
        sample: Float = value,
    })
}

fn events(result: &RunResult) -> Table {
    table!("events", &result.events, |event| {
        time_s: Float = seconds(event.at),
        kind: Text = event.kind.clone(),
        node: Text = event.node.map(|node| node_name(result, node)).unwrap_or_default(),
        link: Text = event
            .link
            .and_then(|link| result.links.get(link as usize))
            .map(|link| link.name.clone())
            .unwrap_or_default(),
        detail: Text = event.detail.clone(),
    })
}

/// Where each station's course or speed changed.
fn positions(field: &Field) -> Table {
    let rows = field.stations.iter().flat_map(|station| station.way.iter().map(move |at| (station, *at)));
    table!("positions", rows, |(of, (time, x, y))| {
        time_s: Float = seconds(time),
        station: Text = of.name.clone(),
        x_m: Float = x,
        y_m: Float = y,
    })
}

fn frames(field: &Field) -> Table {
    let name = |station: u32| field.stations.get(station as usize).map(|of| of.name.clone()).unwrap_or_default();
    table!("frames", &field.frames, |row| {
        time_s: Float = seconds(row.at),
        duration_s: Float = seconds(row.duration),
        from: Text = name(row.from),
        to: Text = row.to.map(name).unwrap_or_default(),
        kind: Text = row.kind.name().to_owned(),
        packets: Integer = i64::from(row.packets),
        fate: Text = row.fate.name().to_owned(),
    })
}
