//! The measurements as CSV.

use super::{Cell, Metric, Record};
use std::fmt::Write;

/// A line per cell. The first line names the columns with their units.
pub fn csv(measured: &[(Cell, Record)]) -> String {
    let mut text =
        "path,rate_bps,round_trip_s,loss,program,way,buffers,control,ended,wall_s,bytes,goodput_bps,at_most,\
                    first_12_rtt_bps,later_bps,filled_after_s,capacity_bps,streams,gateways_cpu_s,subflows,late_share"
            .to_owned();
    // What benchmarks report has columns of its own, of those metrics that occur.
    let reported = |metric: Metric, record: &Record| {
        record.outcome.reported.iter().find(|figure| figure.metric == metric).map(|figure| figure.value)
    };
    let occurs = |metric: &Metric| measured.iter().any(|(_, record)| reported(*metric, record).is_some());
    let metrics: Vec<Metric> = Metric::ALL[1..].iter().copied().filter(occurs).collect();
    for metric in &metrics {
        let _ = write!(text, ",{}", metric.column());
    }
    text.push('\n');
    for (cell, record) in measured {
        let outcome = &record.outcome;
        let some = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        let bps = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.0}"));
        let streams = outcome.streams.as_ref();
        let ended = serde_json::to_value(outcome.ended).unwrap_or_default();
        let mut fields = vec![
            cell.path.name.clone(),
            bps(cell.path.back.rate.map(|rate| rate.as_bps() as f64)),
            some(Some(cell.path.round_trip().as_secs_f64())),
            some(Some(cell.path.back.loss.mean())),
            cell.program.name.clone(),
            cell.way.name().to_owned(),
            cell.buffers.to_string(),
            cell.control.clone(),
            ended.as_str().unwrap_or_default().to_owned(),
            some(Some(outcome.wall_s)),
            outcome.bytes.to_string(),
            bps(outcome.goodput_bps.or_else(|| reported(Metric::Goodput, record))),
            outcome.at_most.to_string(),
            bps(outcome.first_bps),
            bps(outcome.later_bps),
            some(outcome.filled_after_s),
            bps(cell.capacity_bps()),
            streams.map_or_else(String::new, |streams| streams.count.to_string()),
            some(streams.map(|streams| streams.cpu_s)),
            outcome.subflows.map_or_else(String::new, |subflows| subflows.to_string()),
            some(Some(record.late_share)),
        ];
        fields.extend(metrics.iter().map(|metric| some(reported(*metric, record))));
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}
