//! A study's file: what it runs, what it measures, what was published, and by which rule it judges.

use scenario::key::{Key, choice, section, wrong_kind};
use scenario::problem::Problems;
use scenario::tree::{Inline, Tree, Value};
use serde_json::{Value as Json, json};

choice! {
    /// How a figure is drawn.
    pub enum FigureKind {
        /// A number of each run against the values of `x`; without `x`, a bar for each series.
        Sweep = "sweep",
        /// A sampled series of each run against simulated time.
        Time = "time",
        /// A list of each run against another list of it, `x-metric`: one dot for each entry.
        Scatter = "scatter",
        /// Two series weighed against each other: x times the share of a run in both runs' `metric`, and 1 - x times
        /// its share in both runs' `x-metric` (Ptc of Yang 2012, Eq. 4.3, with x for alpha).
        Weighed = "weighed",
    }
}

choice! {
    /// What becomes of a metric that is a list.
    pub enum Reduce {
        /// It stays a list; a number stays a number.
        Value = "value",
        /// Its mean.
        Mean = "mean",
        /// Its greatest entry.
        Peak = "peak",
        /// Its least entry.
        Least = "least",
        /// How many of its entries are zero.
        Zeros = "zeros",
        /// How many of its entries are more than a tenth below the one before.
        Falls = "falls",
        /// How often it stands still for a step or longer between its first growth and its last.
        Pauses = "pauses",
        /// How often it leaves its greatest value: from 0.99 of it or more to less than 0.95.
        Dips = "dips",
        /// Its sum.
        Sum = "sum",
        /// Its coefficient of variation: standard deviation over mean.
        Variation = "variation",
        /// The list of its partial sums.
        Cumulative = "cumulative",
    }
}

choice! {
    /// What becomes of the values of a point's seeds.
    pub enum OverSeeds {
        /// Their mean.
        Mean = "mean",
        /// Their standard deviation (by n - 1), as a measure of stability.
        Deviation = "deviation",
        /// Their coefficient of variation: the standard deviation in units of the mean.
        Variation = "variation",
    }
}

choice! {
    /// What a claim says of a curve. A comparison holds, or fails, when the 95 % intervals say so; else the seeds do
    /// not settle it.
    pub enum Rule {
        /// Each value lies from `least` to `most`.
        Between = "between",
        /// Each value is at least the one before, less `slack` of it; with `than`, each ratio to that series.
        Rises = "rises",
        /// Each value is at most the one before, plus `slack` of it; with `than`, each ratio to that series.
        Falls = "falls",
        /// The greatest value lies from `least` to `most`; with `than`, the greatest ratio to that series.
        Greatest = "greatest",
        /// The greatest value of a curve stands at an x from `least` to `most`.
        Peak = "peak",
        /// The first x at which the curve is below `part` of the greatest value before it lies from `least` to `most`.
        Knee = "knee",
        /// No value is below `part` of the greatest value before it.
        NoKnee = "no-knee",
        /// Each value is at least `factor` times that of the series `than` at the same x; with `against`, each ratio to
        /// `than` is at least `factor` times that of those two.
        Above = "above",
        /// Each value divided by that of the series `than` at the same x lies from `least` to `most`.
        Ratio = "ratio",
        /// The curve comes below that of the series `than`, to stay there, at an x from `least` to `most`; between two
        /// points both are straight.
        Crosses = "crosses",
        /// Pearson's correlation of the dots lies from `least` to `most`.
        Correlation = "correlation",
    }
}

impl Rule {
    /// Whether it is about ratios where there is a series to compare with.
    pub(super) const fn is_of_ratios(self) -> bool {
        matches!(self, Self::Rises | Self::Falls | Self::Greatest)
    }
}

section! {
    /// A study: scenario, sweep, metric, published values or claims, and the rule of its verdict.
    pub struct StudyFile {
        /// What it is about, in one line.
        title: String = String::new();
        /// What it asks, and what must be known to read it.
        about: String = String::new();
        /// The document that it re-does.
        source: String = String::new();
        /// Seeds of each point, from 1 on.
        seeds: u32 = 5, 1..=1000;
        /// The scenario's file, beside this one.
        scenario: String = "scenario.toml".to_owned();
        /// Keys of the scenario that every point sets: "section.key=value".
        set: Vec<String> = Vec::new();
        /// What `--quick` does less.
        quick: Quick = Quick::default();
        /// What the document does not say.
        unknown: Vec<Unknown> = Vec::new();
        /// The models behind its numbers.
        model: Vec<Model> = Vec::new();
        /// Its figures.
        figure: Vec<Figure> = Vec::new();
    }
}

section! {
    /// The short form of a study.
    pub struct Quick {
        /// Seeds of each point.
        seeds: u32 = 2, 1..=1000;
        /// Keys that every point sets, after all others.
        set: Vec<String> = Vec::new();
    }
}

section! {
    /// Something that the document leaves open. A figure that names it is judged under each assumption.
    pub struct Unknown {
        /// Its name.
        name: String = String::new();
        /// What is not known, as it completes "cannot tell: ... decides".
        text: String = String::new();
        /// What may be assumed.
        assumption: Vec<Assumption> = Vec::new();
    }
}

section! {
    /// One of the things that may be assumed.
    pub struct Assumption {
        /// Its name.
        name: String = String::new();
        /// The keys that it sets.
        set: Vec<String> = Vec::new();
    }
}

section! {
    /// A model that a number stands on.
    pub struct Model {
        /// Its name.
        name: String = String::new();
        /// The standard or paper that it follows.
        source: String = String::new();
        /// Where that can be read.
        link: String = String::new();
        /// Its code, a path in the project.
        code: String = String::new();
        /// Its tests, a path in the project.
        test: String = String::new();
    }
}

section! {
    /// A figure or table of the document.
    pub struct Figure {
        /// Its name in results.
        id: String = String::new();
        /// What it shows.
        title: String = String::new();
        /// Where the document shows it.
        place: String = String::new();
        /// What must be known to read it.
        about: String = String::new();
        /// How it is drawn.
        kind: FigureKind = FigureKind::Sweep;
        /// Another scenario's file than the study's.
        scenario: Option<String> = None;
        /// Keys that its points set, after the study's.
        set: Vec<String> = Vec::new();
        /// Seeds of each point; the study's where left out.
        seeds: Option<u32> = None, 1..=1000;
        /// What becomes of the values of a point's seeds (sweep).
        over_seeds: OverSeeds = OverSeeds::Mean;
        /// Whether `--quick` has it.
        quick: bool = true;
        /// Seeds of each point in the short form; those of the study's `[quick]` where left out.
        quick_seeds: Option<u32> = None, 1..=1000;
        /// Keys that its points set in the short form, after all others, in place of those of the study's.
        quick_set: Option<Vec<String>> = None;
        /// The unknown under whose assumptions it is judged.
        unknown: Option<String> = None;
        /// What is measured: a path into `result.json` (`traffic.reads.goodput_bps`), or `link.NAME.drops`.
        metric: String = String::new();
        /// What the metric is divided by.
        per: Option<String> = None;
        /// What the dots' x is (scatter), or what is weighed by 1 - x (weighed).
        x_metric: Option<String> = None;
        /// What becomes of a list.
        reduce: Reduce = Reduce::Value;
        /// What the metric is multiplied by; of a scatter both are.
        scale: f64 = 1.0;
        /// The label of the y axis, without unit.
        label: String = String::new();
        /// The unit of the y axis; of a scatter that of both.
        unit: String = String::new();
        /// What is varied.
        x: Option<Axis> = None;
        /// The curves, or the bars.
        series: Vec<Series> = Vec::new();
        /// Values that were published.
        published: Vec<Published> = Vec::new();
        /// What the document says of the curves.
        claim: Vec<Claim> = Vec::new();
    }
}

section! {
    /// What a figure varies.
    pub struct Axis {
        /// The label of the x axis, without unit.
        label: String = String::new();
        /// The unit of the x axis.
        unit: String = String::new();
        /// The keys that a value sets; `{x}` stands for the value, `{1000*x}` and `{1000/x}` for what they say.
        set: Vec<String> = Vec::new();
        /// The values; a text counts as the number that it begins with.
        values: Vec<Scalar> = Vec::new();
        /// The values of `--quick`; all where left out.
        quick: Vec<Scalar> = Vec::new();
        /// Whether the axis is logarithmic.
        log: bool = false;
    }
}

section! {
    /// A curve, or a bar.
    pub struct Series {
        /// Its name.
        name: String = String::new();
        /// The keys that it sets, after those of the figure and before those of x.
        set: Vec<String> = Vec::new();
        /// Another metric than the figure's.
        metric: Option<String> = None;
        /// Another divisor than the figure's.
        per: Option<String> = None;
        /// Whether it stays the same along `x`, whose keys it does not set: a line to compare the others with.
        constant: bool = false;
    }
}

section! {
    /// A published value.
    pub struct Published {
        /// The series that it belongs to.
        series: String = String::new();
        /// Its x; left out for a bar.
        x: Option<f64> = None;
        /// The value, in the figure's unit.
        value: f64 = 0.0;
        /// The relative tolerance that the 95 % interval over seeds must lie within.
        tolerance: f64 = 0.1, 0.0..=10.0;
        /// Where it stands; that of the figure where left out.
        place: String = String::new();
        /// Whether it decides the verdict; else it is only shown, like another simulator's.
        judged: bool = true;
    }
}

section! {
    /// What a document says of a figure, and the rule that decides it.
    pub struct Claim {
        /// The claim in words.
        text: String = String::new();
        /// Where the document says it; that of the figure where left out.
        place: String = String::new();
        /// What is checked.
        rule: Rule = Rule::Between;
        /// The curves of which it is said; all where left out.
        series: Vec<String> = Vec::new();
        /// The curve compared with (above, ratio; rises, falls and greatest may have one).
        than: String = String::new();
        /// Two curves (above): the first over the second is what `series` over `than` is compared with.
        against: Vec<String> = Vec::new();
        /// The least x that counts.
        from: Option<f64> = None;
        /// The greatest x that counts.
        to: Option<f64> = None;
        /// The lower bound (between, ratio, greatest: of the value; peak, knee: of x).
        least: Option<f64> = None;
        /// The upper bound.
        most: Option<f64> = None;
        /// How many times above (above).
        factor: f64 = 1.0, 0.0..=1e9;
        /// The part of the greatest value (knee, no-knee).
        part: f64 = 0.5, 0.0..=1.0;
        /// The part of a value by which the next may go against the claim (rises, falls).
        slack: f64 = 0.0, 0.0..=1.0;
        /// Whether the points of `--quick` can decide it.
        quick: bool = true;
    }
}

/// A number or a text, as it goes into a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar(pub String);

impl Scalar {
    /// The number that it begins with, if it begins with one.
    pub fn number(&self) -> Option<f64> {
        let text = self.0.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E')));
        // "64 KB" has a blank; "1e-3" has an exponent; "5 e" has none.
        text[..end.unwrap_or(text.len())].parse().ok()
    }
}

impl Key for Scalar {
    type Range = ();

    fn read(tree: &Tree, _: Option<&()>, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Value::String(text) => Some(Self(text.clone())),
            Value::Integer(_) | Value::Float(_) => Some(Self(Inline(&tree.value).to_string())),
            _ => wrong_kind(tree, "a number or a text", problems),
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.0.clone()))
    }

    fn schema(_: Option<&()>) -> Json {
        json!({ "type": ["number", "string"] })
    }

    fn describe(_: Option<&()>) -> String {
        "number or text".to_owned()
    }
}
