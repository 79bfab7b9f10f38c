//! `report.html`: a run's results as one page that opens from disk.
//!
//! [`ReportData`] is what the page reads: small, by column, at most a few thousand values per series. The page itself
//! is built from `report/` and committed, so that cargo alone embeds it; [`render`] puts the data in.

mod actual;
mod connections;
mod data;
mod disks;
mod executors;
mod field;
mod from_run;
mod many;
mod place;
mod recorded;
mod series;
mod setup;
mod spark;

pub use data::{
    Attempts, Balance, Chart, Comparison, ComparisonRow, Count, DiskLane, Disks, Fact, Finding, Flows, Happening, Job,
    Node, Phase, ReportData, Segment, Series, Traffic,
};
pub use field::{FieldData, Frames, StationData};
pub(crate) use from_run::node_of;
pub(crate) use place::{link_words, links, places, places_of_spark};
pub(crate) use setup::size;

use serde::Serialize;

/// The version that the page and its data must share; its number goes up when a field changes its meaning or goes away.
pub const SCHEMA: &str = "trunkline-report-1";

const PAGE: &str = include_str!("../../../../report/dist/report.html");
const PLACE: &str = "__REPORT_DATA__";

/// The page with the data in it: the same data, the same text.
pub fn render(data: &ReportData) -> String {
    embed(data)
}

/// The page with any data in it that it knows how to show.
pub fn embed<T: Serialize>(data: &T) -> String {
    // Nothing in it can fail to be JSON: no maps with other keys than texts, and infinities become null.
    let json = serde_json::to_string(data).unwrap_or_default();
    // Inside a script element only `<` can end it or begin a comment; in JSON it stands in texts alone.
    let safe = json.replace('<', "\\u003c");
    PAGE.replacen(PLACE, &safe, 1)
}
