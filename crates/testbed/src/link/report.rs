//! What a pair's links have done, and whether to trust measurements over them.

use super::lateness::{Lateness, TOLERANCE};
use super::pipe::Counters;
use serde_json::{Value, json};
use std::fmt;

/// What a pair's paths have done since they came up, or between two reports.
#[derive(Clone, Debug)]
pub struct Report {
    /// The paths' reports, in the order of the paths.
    pub paths: Vec<PathReport>,
    /// Why the emulator runs without real-time priority, if it does.
    pub ordinary_priority: Option<String>,
}

/// Both directions of a path.
#[derive(Clone, Debug)]
pub struct PathReport {
    /// The name of the path.
    pub name: String,
    /// From near to far.
    pub forth: PipeReport,
    /// From far to near.
    pub back: PipeReport,
    /// How long the path's thread waited for a processor, in intervals of about 10 ms. Frames that arrived meanwhile
    /// were read that much late.
    pub waits: Lateness,
}

/// What happened in one direction of a path.
#[derive(Clone, Debug, Default)]
pub struct PipeReport {
    /// Frame counters.
    pub counters: Counters,
    /// Frames that the queue marked (CE).
    pub marked: u64,
    /// Frames that the kernel refused at the far end.
    pub refused: u64,
    /// Frames lost in front of the emulator because they arrived faster than it read them.
    pub overflowed: u64,
    /// How much later than its model time each frame left.
    pub lateness: Lateness,
}

impl PathReport {
    pub(super) fn new(name: &str) -> Self {
        let (forth, back) = (PipeReport::default(), PipeReport::default());
        Self { name: name.to_owned(), forth, back, waits: Lateness::default() }
    }
}

impl PipeReport {
    fn since(&self, before: &Self) -> Self {
        let (now, then) = (&self.counters, &before.counters);
        Self {
            counters: Counters {
                offered: now.offered - then.offered,
                dropped: now.dropped - then.dropped,
                lost: now.lost - then.lost,
                held_back: now.held_back - then.held_back,
                arrived: now.arrived - then.arrived,
                arrived_bytes: now.arrived_bytes - then.arrived_bytes,
                longest_queue: now.longest_queue,
            },
            marked: self.marked - before.marked,
            refused: self.refused - before.refused,
            overflowed: self.overflowed - before.overflowed,
            lateness: self.lateness.since(&before.lateness),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "frames": {
                "offered": self.counters.offered,
                "dropped": self.counters.dropped,
                "lost": self.counters.lost,
                "held_back": self.counters.held_back,
                "marked": self.marked,
                "arrived": self.counters.arrived,
                "refused": self.refused,
                "overflowed": self.overflowed,
                "longest_queue": self.counters.longest_queue,
            },
            "arrived_bytes": self.counters.arrived_bytes,
            "lateness": self.lateness.to_json(),
        })
    }
}

impl Report {
    /// The difference from an earlier report of the same pair. The longest queue is that of all time.
    pub fn since(&self, before: &Self) -> Self {
        let paths = self.paths.iter().zip(&before.paths).map(|(path, before)| PathReport {
            name: path.name.clone(),
            forth: path.forth.since(&before.forth),
            back: path.back.since(&before.back),
            waits: path.waits.since(&before.waits),
        });
        Self { paths: paths.collect(), ordinary_priority: self.ordinary_priority.clone() }
    }

    /// Whether the emulator was late; if so, a warning for a measurement taken meanwhile.
    pub fn late(&self) -> Option<String> {
        let pipes = || self.paths.iter().flat_map(|path| [&path.forth, &path.back]);
        let late: u64 = pipes().map(|pipe| pipe.lateness.late()).sum();
        let overflowed: u64 = pipes().map(|pipe| pipe.overflowed).sum();
        let waits: u64 = self.paths.iter().map(|path| path.waits.late()).sum();
        if late + overflowed + waits == 0 {
            return None;
        }
        let frames: u64 = pipes().map(|pipe| pipe.lateness.count()).sum();
        let worst = pipes().map(|pipe| pipe.lateness.worst()).max().unwrap_or_default();
        let longest = self.paths.iter().map(|path| path.waits.worst()).max().unwrap_or_default();
        Some(format!(
            "the emulator was late: {late} of {frames} frames left more than {TOLERANCE} after their time, the worst \
             {worst:.1}; {waits} times it waited for a processor for \
             more than that, at worst {longest:.1}; {overflowed} frames came faster than it read them"
        ))
    }

    /// As JSON: shapes and units in `docs/reference/testbed.md`.
    pub fn to_json(&self) -> Value {
        let path = |path: &PathReport| {
            json!({
                "name": path.name,
                "forth": path.forth.to_json(),
                "back": path.back.to_json(),
                "processor_waits": path.waits.to_json(),
            })
        };
        json!({
            "tolerance_us": TOLERANCE.as_us(),
            "late": self.late(),
            "real_time_priority": self.ordinary_priority.is_none(),
            "paths": self.paths.iter().map(path).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for path in &self.paths {
            for (way, pipe) in [("there", &path.forth), ("back", &path.back)] {
                let Counters { offered, dropped, lost, arrived, .. } = pipe.counters;
                writeln!(
                    f,
                    "{} {way}: {offered} frames offered, {dropped} dropped, {lost} lost, {arrived} arrived; {}",
                    path.name, pipe.lateness
                )?;
            }
        }
        if let Some(reason) = &self.ordinary_priority {
            writeln!(f, "without real-time priority: {reason}")?;
        }
        match self.late() {
            Some(late) => writeln!(f, "{late}"),
            None => writeln!(f, "the emulator kept its times within {TOLERANCE}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn report(late: &[Time], waits: &[Time], overflowed: u64) -> Report {
        let mut path = PathReport::new("wan");
        for late in late {
            path.back.lateness.record(*late);
        }
        for wait in waits {
            path.waits.record(*wait);
        }
        path.forth.overflowed = overflowed;
        Report { paths: vec![path], ordinary_priority: None }
    }

    #[test]
    fn what_was_late_is_said_and_only_that() {
        let (early, late) = (Time::from_us(900), Time::from_ms(12));
        assert_eq!(report(&[early; 100], &[early; 3], 0).late(), None);
        let said = |report: Report| report.late().expect("it was late");
        assert!(
            said(report(&[early, late, early], &[], 0))
                .contains("1 of 3 frames left more than 1 ms after their time, the worst 12")
        );
        assert!(said(report(&[], &[late, late], 0)).contains("2 times it waited for a processor"));
        assert!(said(report(&[], &[], 5)).contains("5 frames came faster"));
    }

    #[test]
    fn what_was_late_before_a_measurement_is_none_of_it() {
        let (early, late) = (Time::from_us(20), Time::from_ms(12));
        let (before, after) = (report(&[late], &[late], 7), report(&[late, early, early], &[late, early], 7));
        let since = after.since(&before);
        assert_eq!((since.late(), since.paths[0].back.lateness.count()), (None, 2));
        assert!(since.paths[0].back.lateness.worst() < Time::from_us(21), "{}", since.paths[0].back.lateness.worst());
        assert_eq!(since.to_json()["paths"][0]["back"]["lateness"]["late"], 0);
    }
}
