//! Real programs over emulated paths: the unmodified program alone, through `jet`, and with its competitors.
//!
//! A [`Study`] names paths, programs, ways and settings. Each combination is a [`Cell`]. A [`Trial`] measures a cell
//! between namespaces of its own and keeps a [`Record`]. `docs/reference/testbed.md` has the file format, the
//! conditions and the meaning of the figures.

mod arrival;
mod benchmarks;
mod cell;
mod clients;
mod csv;
mod curve;
mod databases;
mod error;
mod figure;
mod floor;
mod gateways;
mod hadoop;
mod judge;
mod office;
mod process;
mod record;
mod reports;
mod repositories;
mod scene;
mod servers;
mod site;
mod spec;
mod stock;
mod table;
mod tool;
mod trial;

pub use cell::{Buffers, Cell, Only, Way};
pub use csv::csv;
pub use error::TrialError;
pub use figure::{Better, Figure, Metric};
pub use judge::{Row, rows};
pub use record::{Ended, Kept, Measurement, Record};
pub use spec::Study;
pub use stock::Stock;
pub use table::{Absent, markdown};
pub use tool::{Tool, missing};
pub use trial::Trial;
