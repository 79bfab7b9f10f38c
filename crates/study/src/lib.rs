//! Studies: the documents' experiments as data, each with what was published and the rule of its verdict.
//!
//! A study is a folder `studies/NAME` of `study.toml` ([`StudyFile`]) and the scenarios that it names; those of the
//! project are in the program ([`names`], [`Study::embedded`]). [`Plan::new`] lays out its runs: figures that need the
//! same run share it. Whoever runs them makes a [`Record`] of each, and [`judge`] turns records into an
//! [`StudyOutcome`]: every curve with its interval over seeds beside what was published, and for every claim
//! *reproduced*, *not reproduced* or *cannot tell*.

mod catalog;
mod check;
mod curve;
mod file;
mod judge;
mod metric;
mod metric_path;
mod outcome;
mod plan;
mod record;
mod rule;
mod sample;
mod spread;
mod template;

pub use catalog::{Study, names};
pub use file::{
    Assumption, Axis, Claim, Figure, FigureKind, Model, OverSeeds, Published, Quick, Reduce, Rule, Scalar, Series,
    StudyFile, Unknown,
};
pub use judge::judge;
pub use metric::{MetricError, measure};
pub use metric_path::check as check_metric;
pub use outcome::{
    AxisOutcome, CurveOutcome, FigureOutcome, Finding, ModelOutcome, PublishedOutcome, SCHEMA, StudyOutcome, Under,
    Verdict, page,
};
pub use plan::{Plan, PlannedRun};
pub use record::{Measured, Record};
pub use spread::variation;
