//! Compares measurements with the published table.

use super::{Buffers, Cell, Measurement, Record, Way};
use serde::Serialize;

/// A program through gateways, compared with the same program alone and with the published speedup.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The row's name in the published table.
    pub row: String,
    /// The program's name in the study.
    pub program: String,
    /// The name of the path.
    pub path: String,
    /// The program's and the server's buffers.
    pub buffers: String,
    /// The congestion control.
    pub control: String,
    /// The speedup published.
    pub published: f64,
    /// The speedup required: the published one, or 90 % of the path's capacity over the plain goodput if that is less.
    pub asked: f64,
    /// The speedup measured.
    pub speedup: f64,
    /// The plain goodput is an upper bound, so the speedup is a lower bound.
    pub at_least: bool,
    /// Goodput through the gateways as a fraction of the path's capacity.
    pub of_path: f64,
    /// Whether the required speedup was reached; `None` if a program was cut off with unknown progress.
    pub reached: Option<bool>,
}

/// Fraction of the path to fill where the published speedup exceeds what the path can give.
const FILLED: f64 = 0.9;

/// The rows of the published table that were measured both ways.
pub fn rows(measured: &[(Cell, Record)]) -> Vec<Row> {
    measured.iter().filter(|(cell, _)| cell.way == Way::Jet).filter_map(|jet| row(jet, measured)).collect()
}

fn row((cell, jet): &(Cell, Record), measured: &[(Cell, Record)]) -> Option<Row> {
    let (name, published) = cell.program.published.clone()?;
    let same = |other: &&(Cell, Record)| {
        let key = |cell: &Cell| (cell.path.name.clone(), cell.program.name.clone(), cell.buffers, cell.control.clone());
        other.0.way == Way::Plain && key(&other.0) == key(cell)
    };
    let (_, plain) = measured.iter().find(same)?;
    compare(name, published, cell, &jet.outcome, &plain.outcome)
}

fn compare(row: String, published: f64, cell: &Cell, jet: &Measurement, plain: &Measurement) -> Option<Row> {
    let (jet_bps, plain_bps) = (jet.rate_bps(cell)?, plain.rate_bps(cell)?);
    let capacity = cell.capacity_bps()?;
    let (speedup, asked) = (jet_bps / plain_bps, published.min(FILLED * capacity / plain_bps));
    let enough = speedup >= asked;
    Some(Row {
        row,
        program: cell.program.name.clone(),
        path: cell.path.name.clone(),
        buffers: Buffers::to_string(&cell.buffers),
        control: cell.control.clone(),
        published,
        asked,
        speedup,
        at_least: plain.at_most,
        of_path: jet_bps / capacity,
        reached: (!if enough { jet.at_most } else { plain.at_most }).then_some(enough),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Ended, Study};
    use super::*;

    fn outcome(mbps: f64, at_most: bool) -> Measurement {
        Measurement {
            ended: Ended::Whole,
            wrong: None,
            wall_s: 1.0,
            bytes: 1,
            goodput_bps: Some(mbps * 1e6),
            at_most,
            first_bps: None,
            later_bps: None,
            filled_after_s: None,
            reported: Vec::new(),
            streams: None,
            subflows: None,
            curve: Vec::new(),
        }
    }

    #[test]
    fn a_row_asks_for_what_was_published_or_what_the_path_can_give() {
        let text = "title = \"t\"\nbuffers = [\"64 KiB\"]\ncontrols = [\"cubic\"]\n\
                    [grid]\nrate = \"151.4 Mbit/s\"\nround-trips = [\"100 ms\"]\nlosses = [\"0 %\"]\n\
                    [[program]]\nname = \"curl\"\ntool = \"curl\"\nsize = \"16 MB\"\nways = [\"plain\", \"jet\"]\n";
        let study = Study::parse("t", text).expect("it is right");
        let cell = &study.cells(false)[1];
        assert!((cell.capacity_bps().expect("it has a rate") / 1e6 - 144.8).abs() < 1e-3);
        let judge = |jet: f64, plain: f64| {
            compare("r".into(), 5.4, cell, &outcome(jet, false), &outcome(plain, false)).expect("both have a rate")
        };
        // The path could give 26 times as much, so the published speedup is required.
        let row = judge(27.1, 5.0);
        assert_eq!((row.asked, row.reached), (5.4, Some(true)));
        assert_eq!(judge(26.9, 5.0).reached, Some(false));
        // The path cannot, so nine tenths of its capacity are required.
        let row = judge(131.0, 50.0);
        assert!((row.asked - 2.6064).abs() < 1e-4 && row.reached == Some(true), "{row:?}");
        assert_eq!(judge(130.0, 50.0).reached, Some(false));
        // A program that was cut off may have been slower. For the gateways that leaves the verdict open; for the plain
        // program it only makes the gain a lower bound.
        let judge = |jet: &Measurement, plain: &Measurement| {
            let row = compare("r".into(), 5.4, cell, jet, plain).expect("both have a rate");
            (row.reached, row.at_least)
        };
        assert_eq!(judge(&outcome(100.0, true), &outcome(1.0, false)), (None, false));
        assert_eq!(judge(&outcome(5.0, true), &outcome(1.0, false)), (Some(false), false));
        assert_eq!(judge(&outcome(100.0, false), &outcome(1.0, true)), (Some(true), true));
        assert_eq!(judge(&outcome(5.0, false), &outcome(1.0, true)), (None, true));
    }
}
