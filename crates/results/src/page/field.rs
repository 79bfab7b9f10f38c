//! The field on the page: courses as short as a picture needs them, frames by column.

use super::from_run::{milliseconds, node_of};
use super::place;
use crate::RunResult;
use crate::field::{Field, Frame, MOST_FRAMES, Station};
use serde::Serialize;
use units::Time;

/// A course is right to this part of the field's longer side: less than a pixel, in print too.
const FINENESS: f64 = 1.0 / 4_000.0;
/// Points that one straight stretch may replace: what it costs to find out grows with its square.
const LONGEST_STRETCH: usize = 200;

/// The field of a wireless run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldData {
    /// Its extent along x.
    pub width_m: f64,
    /// Its extent along y.
    pub height_m: f64,
    /// How far a frame is received, where one radius says it for all.
    pub range_m: Option<f64>,
    /// Nodes and access points.
    pub stations: Vec<StationData>,
    /// Frames in the order of their start.
    pub frames: Frames,
}

/// A node or an access point, and where it was: straight at constant speed between points, still outside of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationData {
    /// Its name.
    pub name: String,
    /// Row of `nodes`, -1 for an access point.
    pub node: i64,
    /// Times of the points of its course.
    pub at_ms: Vec<u64>,
    /// Their x.
    pub x_mm: Vec<i64>,
    /// Their y.
    pub y_mm: Vec<i64>,
    /// When it failed, when it came back, and so on in turn.
    pub failed_ms: Vec<u64>,
}

/// Frames by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Frames {
    /// Start, after that of the frame before; of the first one, after the start of the run.
    pub gap_ns: Vec<u64>,
    /// How long it was on the air.
    pub duration_ns: Vec<u64>,
    /// Its sender, a row of `stations`.
    pub from: Vec<u32>,
    /// Its receiver, -1 for everyone.
    pub to: Vec<i64>,
    /// What it was: 0 data, 1 ACK, 2 RTS, 3 CTS, 4 block ACK, 5 beacon, 6 other.
    pub kind: Vec<u8>,
    /// Packets in it.
    pub packets: Vec<u32>,
    /// 0 received, 1 collided, 2 lost.
    pub fate: Vec<u8>,
}

/// The page's field, of a run that has one.
pub(super) fn field(result: &RunResult) -> Option<FieldData> {
    let field = result.field.as_ref()?;
    let (width_m, height_m) = (field.width.as_metres(), field.height.as_metres());
    let tolerance = width_m.max(height_m) * FINENESS;
    Some(FieldData {
        width_m,
        height_m,
        range_m: field.range.map(units::Distance::as_metres),
        stations: field.stations.iter().map(|of| station(of, tolerance, result)).collect(),
        frames: frames(field),
    })
}

fn station(of: &Station, tolerance: f64, result: &RunResult) -> StationData {
    let way = straightened(&of.way, tolerance);
    let millimetres = |metres: f64| (metres * 1e3).round() as i64;
    StationData {
        name: of.name.clone(),
        node: of.node.map_or(-1, i64::from),
        at_ms: way.iter().map(|(at, ..)| milliseconds(*at)).collect(),
        x_mm: way.iter().map(|(_, x, _)| millimetres(*x)).collect(),
        y_mm: way.iter().map(|(.., y)| millimetres(*y)).collect(),
        failed_ms: failures(of, result),
    }
}

/// When a node or an access point went down and came back, in turn: it is as the last event says.
fn failures(of: &Station, result: &RunResult) -> Vec<u64> {
    let (down, up) = if of.node.is_some() { ("node-down", "node-up") } else { ("ap-down", "ap-up") };
    let mut out = Vec::new();
    let mut failed = false;
    for event in &result.events {
        let now = match event.kind.as_str() {
            kind if kind == down => true,
            kind if kind == up => false,
            _ => continue,
        };
        let concerned = match of.node {
            Some(node) => node_of(event, result) == Some(node),
            None => place::words(&event.detail).next() == Some(of.name.as_str()),
        };
        if now != failed && concerned {
            out.push(milliseconds(event.at));
            failed = now;
        }
    }
    out
}

/// Leaves out points where the course stays within `tolerance` metres without them, at every instant.
fn straightened(way: &[(Time, f64, f64)], tolerance: f64) -> Vec<(Time, f64, f64)> {
    let mut out: Vec<(Time, f64, f64)> = Vec::new();
    let mut from = 0;
    out.extend(way.first());
    while from + 1 < way.len() {
        let mut to = from + 1;
        let end = way.len().min(from + LONGEST_STRETCH);
        while to + 1 < end && way[from + 1..=to].iter().all(|point| off(*point, way[from], way[to + 1]) <= tolerance) {
            to += 1;
        }
        out.push(way[to]);
        from = to;
    }
    out
}

/// How far a point lies from where the straight stretch between two others is at its time.
fn off(point: (Time, f64, f64), from: (Time, f64, f64), to: (Time, f64, f64)) -> f64 {
    let whole = to.0.saturating_sub(from.0).as_secs_f64();
    if whole == 0.0 {
        // A jump: nothing of it may be left out.
        return f64::INFINITY;
    }
    let part = point.0.saturating_sub(from.0).as_secs_f64() / whole;
    let (x, y) = (from.1 + (to.1 - from.1) * part, from.2 + (to.2 - from.2) * part);
    libm::hypot(point.1 - x, point.2 - y)
}

fn frames(field: &Field) -> Frames {
    let nanoseconds = |time: Time| (time.as_ps() + 500) / 1_000;
    let mut rows: Vec<&Frame> = field.frames.iter().take(MOST_FRAMES).collect();
    rows.sort_by_key(|frame| frame.at);
    let mut out = Frames::default();
    let mut last = 0;
    for frame in rows {
        let at = nanoseconds(frame.at);
        out.gap_ns.push(at - last);
        last = at;
        out.duration_ns.push(nanoseconds(frame.duration));
        out.from.push(frame.from);
        out.to.push(frame.to.map_or(-1, i64::from));
        out.kind.push(frame.kind as u8);
        out.packets.push(frame.packets);
        out.fate.push(frame.fate as u8);
    }
    out
}
