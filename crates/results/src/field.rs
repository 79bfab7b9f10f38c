//! Positions of wireless stations, and a sample of their frames.

use super::metrics::{Metrics, Row, figure};
use units::{Distance, Time};

/// Most frames that a run keeps.
pub const MOST_FRAMES: usize = 20_000;

/// The field of a wireless run. Tables refer to stations by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Its extent along x.
    pub width: Distance,
    /// Its extent along y.
    pub height: Distance,
    /// Reception range, if one radius holds for all stations.
    pub range: Option<Distance>,
    /// Nodes and access points.
    pub stations: Vec<Station>,
    /// Frames in the order of their start: those of one stretch of the run, or of all of it; at most [`MOST_FRAMES`].
    pub frames: Vec<Frame>,
}

/// A wireless station: a node or an access point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Station {
    /// Its name: "worker-1", "ap-1".
    pub name: String,
    /// The node that it belongs to; none for an access point.
    pub node: Option<u32>,
    /// Its positions: time, x and y in metres from the lower left corner, in order of time. It moves straight at
    /// constant speed between them, and rests before the first and after the last.
    pub way: Vec<(Time, f64, f64)>,
}

/// A PPDU on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When its preamble began.
    pub at: Time,
    /// How long it was on the air.
    pub duration: Time,
    /// Its sender, a row of `stations`.
    pub from: u32,
    /// Its receiver; none if it was for everyone.
    pub to: Option<u32>,
    /// What it was.
    pub kind: FrameKind,
    /// Packets of the layer above in it: 0 in control frames, several in an aggregate.
    pub packets: u32,
    /// What became of it at its receiver.
    pub fate: Fate,
}

/// What a frame is; the page numbers these in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Packets of the layer above.
    Data,
    /// An acknowledgement.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// An acknowledgement of an aggregate.
    BlockAck,
    /// An access point's beacon.
    Beacon,
    /// Anything else: association, power save, routing.
    Other,
}

impl FrameKind {
    /// Its name in tables and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ack => "ack",
            Self::Rts => "rts",
            Self::Cts => "cts",
            Self::BlockAck => "block-ack",
            Self::Beacon => "beacon",
            Self::Other => "other",
        }
    }
}

/// What became of a frame; the page numbers these in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its receiver had it, or some of its packets; one for everyone reached somebody.
    Received,
    /// Other frames were on the air at its receiver.
    Collided,
    /// Too weak where its receiver was, or that one was off or sending itself.
    Lost,
}

impl Fate {
    /// Its name in tables and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Collided => "collided",
            Self::Lost => "lost",
        }
    }
}

/// Places of stations: time, x, y; the row's owner is the station.
pub static POSITIONS: Metrics<(Time, f64, f64)> = Metrics {
    name: "positions",
    what: "Of a wireless run, a point of a station's way: straight at constant speed from row to row of one station.",
    file: Some("positions"),
    metrics: &[
        figure("time_s", "When it was there.").time(|point| point.0),
        figure("station", "A node or an access point.").text(|point| name(point, point.owner as u32)),
        figure("x_m", "Distance from the field's left edge.").number("m", |point| point.1),
        figure("y_m", "Distance from the field's lower edge.").number("m", |point| point.2),
    ],
};

/// Frames on the air.
pub static FRAMES: Metrics<Frame> = Metrics {
    name: "frames",
    what: "Of a wireless run, a frame on the air; of one stretch of the run, at most 20,000.",
    file: Some("frames"),
    metrics: &[
        figure("time_s", "When its preamble began.").time(|frame| frame.at),
        figure("duration_s", "How long it was on the air.").time(|frame| frame.duration),
        figure("from", "Its sender.").text(|frame| name(frame, frame.from)),
        figure("to", "Its receiver; empty if it was for everyone.")
            .text(|frame| frame.to.map(|to| name(frame, to)).unwrap_or_default()),
        figure("kind", "`data`, `ack`, `rts`, `cts`, `block-ack`, `beacon` or `other`.")
            .text(|frame| frame.kind.name().to_owned()),
        figure("packets", "Packets of the layer above in it.").count("packets", |frame| frame.packets.into()),
        figure("fate", "What became of it at its receiver: `received`, `collided` or `lost`.")
            .text(|frame| frame.fate.name().to_owned()),
    ],
};

/// The name of a station.
fn name<T>(row: Row<'_, T>, station: u32) -> String {
    let stations = row.run.field.as_ref().map_or(&[][..], |field| &field.stations);
    stations.get(station as usize).map(|station| station.name.clone()).unwrap_or_default()
}
