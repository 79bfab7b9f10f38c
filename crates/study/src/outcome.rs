//! The outcome of a study: `study.json`, from which its page is made.

use results::page;
use serde::Serialize;

/// The version of `study.json`; its number goes up when a field changes its meaning or goes away.
pub const SCHEMA: &str = "trunkline-study/1";

/// The verdict on a claim, a figure or a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    /// The claim does not hold.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// The seeds do not suffice, or the answer depends on something that the document leaves open.
    #[serde(rename = "cannot tell")]
    CannotTell,
    /// The claim holds.
    #[serde(rename = "reproduced")]
    Reproduced,
}

impl Verdict {
    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotReproduced => "not reproduced",
            Self::CannotTell => "cannot tell",
            Self::Reproduced => "reproduced",
        }
    }
}

/// A study's figures and verdicts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyOutcome {
    /// The version of the format, [`SCHEMA`].
    pub schema: &'static str,
    /// The study's name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it asks.
    pub about: String,
    /// The document that it re-does.
    pub source: String,
    /// Whether it is the short form.
    pub quick: bool,
    /// Number of runs behind it.
    pub runs: usize,
    /// The least verdict of its figures; none where nothing was judged.
    pub verdict: Option<Verdict>,
    /// Its figures.
    pub figures: Vec<FigureOutcome>,
    /// The models behind its numbers.
    pub models: Vec<ModelOutcome>,
    /// The files that it was read from: name and text.
    pub files: Vec<(String, String)>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureOutcome {
    /// Its name.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Where the document shows it.
    pub place: String,
    /// What must be known to read it.
    pub about: String,
    /// `sweep`, `time` or `scatter`.
    pub kind: &'static str,
    /// The label of the y axis.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// The x axis; none for bars.
    pub x: Option<AxisOutcome>,
    /// What was measured.
    pub metric: String,
    /// The file of its scenario, one of [`StudyOutcome::files`].
    pub scenario: String,
    /// Keys that all its points set.
    pub set: Vec<String>,
    /// Its curves, for each assumption.
    pub curves: Vec<CurveOutcome>,
    /// Published values.
    pub published: Vec<PublishedOutcome>,
    /// Findings on its claims and published values.
    pub findings: Vec<Finding>,
    /// The least verdict of the findings.
    pub verdict: Option<Verdict>,
    /// Seeds of each point.
    pub seeds: usize,
}

/// An x axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AxisOutcome {
    /// Its label.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// The names of its values where they are no numbers.
    pub categories: Option<Vec<String>>,
}

/// A curve: values and 95 % intervals by column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveOutcome {
    /// The series.
    pub series: String,
    /// The assumption under which it was measured.
    pub assumption: Option<String>,
    /// Whether it is one run along the axis: a line to compare the others with.
    pub constant: bool,
    /// Keys that its points set.
    pub set: Vec<String>,
    /// Values of x.
    pub x: Vec<f64>,
    /// Means over seeds; null where no run gave a value.
    pub mean: Vec<Option<f64>>,
    /// Lower ends of the 95 % intervals.
    pub low: Vec<Option<f64>>,
    /// Upper ends of the 95 % intervals.
    pub high: Vec<Option<f64>>,
}

/// A published value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedOutcome {
    /// The series that it belongs to.
    pub series: String,
    /// Its x; none for a bar.
    pub x: Option<f64>,
    /// The value.
    pub value: f64,
    /// The relative tolerance.
    pub tolerance: f64,
    /// Where it stands.
    pub place: String,
    /// Whether it decides the verdict.
    pub judged: bool,
}

/// The finding on a claim or a published value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The claim in words.
    pub text: String,
    /// Where the document says it.
    pub place: String,
    /// The rule as checked.
    pub rule: String,
    /// The verdict; `None` if the short form leaves its points out, or if it is only shown.
    pub verdict: Option<Verdict>,
    /// The reason: our values beside the published one, or the verdict under each assumption.
    pub detail: String,
    /// The verdict under each assumption, where it is judged under several.
    pub under: Vec<Under>,
}

/// A finding under one assumption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Under {
    /// The assumption.
    pub assumption: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason.
    pub detail: String,
}

/// A model behind the numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelOutcome {
    /// Its name.
    pub name: String,
    /// The standard or paper.
    pub source: String,
    /// Where that can be read.
    pub link: String,
    /// Its code.
    pub code: String,
    /// Its tests.
    pub test: String,
}

impl StudyOutcome {
    /// `study.json`.
    pub fn to_json(&self) -> String {
        // Serialisation cannot fail: all map keys are texts, and infinities become null.
        format!("{}\n", serde_json::to_string_pretty(self).unwrap_or_default())
    }
}

/// The page of a study: the same outcome, the same text.
pub fn page(outcome: &StudyOutcome) -> String {
    page::embed(outcome)
}
