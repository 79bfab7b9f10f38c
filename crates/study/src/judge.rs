//! Judging: from the records of a study's runs to its verdicts.

use super::catalog::Study;
use super::curve::{Curve, curve};
use super::file::{Claim, Figure, FigureKind, OverSeeds, Published, Rule};
use super::outcome::{
    AxisOutcome, CurveOutcome, FigureOutcome, Finding, ModelOutcome, PublishedOutcome, SCHEMA, StudyOutcome, Under,
    Verdict,
};
use super::plan::{Plan, PlannedFigure};
use super::record::Record;
use super::rule::{Points, decide, number, ratios};
use super::sample::{Truth, value};

impl From<Truth> for Verdict {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::Yes => Self::Reproduced,
            Truth::Unsure => Self::CannotTell,
            Truth::No => Self::NotReproduced,
        }
    }
}

/// Judges a study by the records of its runs, in the order of the plan's.
pub fn judge(study: &Study, plan: &Plan, records: &[Record]) -> StudyOutcome {
    let figures: Vec<_> = plan.figures.iter().map(|planned| of_figure(study, planned, plan.quick, records)).collect();
    let file = &study.file;
    let model = |model: &super::Model| ModelOutcome {
        name: model.name.clone(),
        source: model.source.clone(),
        link: model.link.clone(),
        code: model.code.clone(),
        test: model.test.clone(),
    };
    StudyOutcome {
        schema: SCHEMA,
        name: study.name.clone(),
        title: file.title.clone(),
        about: file.about.clone(),
        source: file.source.clone(),
        quick: plan.quick,
        runs: plan.runs.len(),
        verdict: figures.iter().filter_map(|figure| figure.verdict).min(),
        figures,
        models: file.model.iter().map(model).collect(),
        files: study.texts.clone(),
    }
}

fn of_figure(study: &Study, planned: &PlannedFigure, quick: bool, records: &[Record]) -> FigureOutcome {
    let figure = &study.file.figure[planned.figure];
    let curves: Vec<Curve> = planned.curves.iter().map(|one| curve(figure, one, &planned.curves, records)).collect();
    let judged = Judged { study, figure, planned, curves: &curves, quick };
    let published = figure.published.iter().filter(|one| one.judged).map(|one| judged.published(one));
    let findings: Vec<_> = published.chain(figure.claim.iter().map(|claim| judged.claim(claim))).collect();
    let categories = |axis: &super::Axis| {
        let words = axis.values.iter().any(|value| value.number().is_none());
        words.then(|| axis.values.iter().map(|value| value.0.clone()).collect())
    };
    let axis = match (&figure.x, figure.kind) {
        (Some(axis), _) => Some(AxisOutcome {
            label: axis.label.clone(),
            unit: axis.unit.clone(),
            log: axis.log,
            categories: categories(axis),
        }),
        (None, FigureKind::Time) => {
            Some(AxisOutcome { label: "simulated time".to_owned(), unit: "s".to_owned(), log: false, categories: None })
        }
        (None, FigureKind::Scatter) => figure.x_metric.as_ref().map(|metric| AxisOutcome {
            label: metric.rsplit('.').next().unwrap_or_default().replace('_', " "),
            unit: figure.unit.clone(),
            log: false,
            categories: None,
        }),
        (None, FigureKind::Sweep | FigureKind::Weighed) => None,
    };
    FigureOutcome {
        id: figure.id.clone(),
        title: figure.title.clone(),
        place: figure.place.clone(),
        about: figure.about.clone(),
        // A weighed figure is drawn like a sweep of its x.
        kind: if figure.kind == FigureKind::Weighed { FigureKind::Sweep } else { figure.kind }.word(),
        label: figure.label.clone(),
        unit: figure.unit.clone(),
        x: axis,
        metric: figure.metric.clone(),
        scenario: figure.scenario.as_ref().unwrap_or(&study.file.scenario).clone(),
        set: [&study.file.set[..], &figure.set].concat(),
        verdict: findings.iter().filter_map(|finding| finding.verdict).min(),
        findings,
        published: figure.published.iter().map(|one| published_of(figure, one)).collect(),
        seeds: planned.curves.first().and_then(|one| one.points.first()).map_or(0, |point| point.runs.len()),
        curves: curves.iter().map(|curve| judged.curve(curve)).collect(),
    }
}

fn published_of(figure: &Figure, published: &Published) -> PublishedOutcome {
    PublishedOutcome {
        series: published.series.clone(),
        x: published.x,
        value: published.value,
        tolerance: published.tolerance,
        place: or(&published.place, &figure.place),
        judged: published.judged,
    }
}

fn or(text: &str, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text.to_owned() }
}

/// A figure with its curves.
struct Judged<'a> {
    study: &'a Study,
    figure: &'a Figure,
    planned: &'a PlannedFigure,
    curves: &'a [Curve],
    quick: bool,
}

impl Judged<'_> {
    fn curve(&self, curve: &Curve) -> CurveOutcome {
        let series = &self.figure.series[curve.series];
        let axis = self.figure.x.iter().filter(|_| !series.constant).flat_map(|axis| axis.set.clone());
        let mut set = series.set.clone();
        if let (Some(unknown), Some(assumption)) = (self.planned.unknown, curve.assumption) {
            set.splice(0..0, self.study.file.unknown[unknown].assumption[assumption].set.iter().cloned());
        }
        set.extend(axis);
        CurveOutcome {
            series: series.name.clone(),
            assumption: curve.assumption.map(|assumption| self.assumption(assumption)),
            constant: series.constant,
            set,
            x: curve.points.iter().map(|point| point.x).collect(),
            mean: curve.points.iter().map(|point| point.y.as_ref().map(|y| y.interval.mean)).collect(),
            low: curve.points.iter().map(|point| point.y.as_ref().map(|y| y.interval.low)).collect(),
            high: curve.points.iter().map(|point| point.y.as_ref().map(|y| y.interval.high)).collect(),
        }
    }

    fn is_bars(&self) -> bool {
        self.figure.kind == FigureKind::Sweep && self.figure.x.is_none()
    }

    fn assumption(&self, assumption: usize) -> String {
        let unknown = self.planned.unknown.map(|unknown| &self.study.file.unknown[unknown]);
        unknown.map(|unknown| unknown.assumption[assumption].name.clone()).unwrap_or_default()
    }

    /// The points of a series under an assumption that lie in the claim's range and have a value.
    fn points(&self, series: &str, assumption: Option<usize>, from: f64, to: f64) -> Points {
        let of = |curve: &&Curve| self.figure.series[curve.series].name == series && curve.assumption == assumption;
        let curve = self.curves.iter().find(of);
        let inside = |point: &super::curve::Point| {
            let y = point.y.clone().filter(|_| (from..=to).contains(&point.x))?;
            Some((point.x, y))
        };
        curve.map(|curve| curve.points.iter().filter_map(inside).collect()).unwrap_or_default()
    }

    fn published(&self, published: &Published) -> Finding {
        let (least, most) = {
            let (a, b) = (published.value * (1.0 - published.tolerance), published.value * (1.0 + published.tolerance));
            (a.min(b), a.max(b))
        };
        let x = published.x.unwrap_or(0.0);
        let unit = &self.figure.unit;
        let under = |assumption| {
            let points = self.points(&published.series, assumption, x, x);
            let ours = points.first()?.1.interval;
            let times = ours.mean / published.value;
            let off =
                if times >= 10.0 { format!("{times:.0} times") } else { format!("{:+.1} %", (times - 1.0) * 100.0) };
            let with_unit = |number: String| format!("{number} {unit}").trim_end().to_owned();
            let (ours_text, published) = (with_unit(value(ours)), with_unit(number(published.value)));
            let detail = format!("ours {ours_text}, published {published} ({off})");
            Some((ours.within(least, most), detail))
        };
        let place = published.x.map_or_else(String::new, |x| {
            let axis = self.figure.x.as_ref();
            format!(" at {} {}", number(x), axis.map_or("", |axis| &axis.unit)).trim_end().to_owned()
        });
        self.finding(
            format!("{}{place}: {} {unit}", published.series, number(published.value)).trim_end().to_owned(),
            or(&published.place, &self.figure.place),
            format!(
                "the 95 % interval lies within {:.0} % of {} {unit}",
                published.tolerance * 100.0,
                number(published.value)
            )
            .trim_end()
            .to_owned(),
            under,
        )
    }

    fn claim(&self, claim: &Claim) -> Finding {
        let (from, to) = (claim.from.unwrap_or(f64::NEG_INFINITY), claim.to.unwrap_or(f64::INFINITY));
        let all: Vec<String> = self.figure.series.iter().map(|series| series.name.clone()).collect();
        let mut series = if claim.series.is_empty() { all } else { claim.series.clone() };
        series.retain(|series| *series != claim.than);
        let needed = if matches!(claim.rule, Rule::Rises | Rule::Falls | Rule::Knee | Rule::NoKnee | Rule::Crosses) {
            2
        } else {
            1
        };
        let under = |assumption| {
            if self.quick && !claim.quick {
                return None;
            }
            let than = (!claim.than.is_empty()).then(|| self.points(&claim.than, assumption, from, to));
            let mut worst: Option<(Truth, String)> = None;
            for name in &series {
                let points = self.points(name, assumption, from, to);
                if points.len() < needed || than.as_ref().is_some_and(Vec::is_empty) {
                    continue;
                }
                let (truth, detail) = match (&claim.against[..], &than) {
                    ([first, second], Some(than)) => {
                        let (first, second) =
                            (self.points(first, assumption, from, to), self.points(second, assumption, from, to));
                        match (ratios(&points, than), ratios(&first, &second)) {
                            (Ok(ours), Ok(others)) => decide(claim, &ours, Some(&others)),
                            (Err(detail), _) | (_, Err(detail)) => (Truth::Unsure, detail),
                        }
                    }
                    _ => decide(claim, &points, than.as_ref()),
                };
                // A bar has no x to name.
                let detail = if self.is_bars() { detail.replace("at 0: ", "") } else { detail };
                if worst.as_ref().is_none_or(|(least, _)| truth < *least) {
                    worst = Some((truth, format!("{name} {detail}")));
                }
            }
            worst
        };
        self.finding(claim.text.clone(), or(&claim.place, &self.figure.place), self.rule(claim, &series), under)
    }

    /// The rule in words.
    fn rule(&self, claim: &Claim, series: &[String]) -> String {
        let unit = &self.figure.unit;
        let bounds = |unit: &str| {
            let text = match (claim.least, claim.most) {
                (Some(least), Some(most)) => format!("from {} to {} {unit}", number(least), number(most)),
                (Some(least), None) => format!("at least {} {unit}", number(least)),
                (None, Some(most)) => format!("at most {} {unit}", number(most)),
                (None, None) => String::new(),
            };
            text.trim_end().to_owned()
        };
        let axis = match &self.figure.x {
            Some(axis) => axis.label.as_str(),
            None if self.figure.kind == FigureKind::Time => "time",
            None => "x",
        };
        let slack = if claim.slack > 0.0 { format!(", within {:.0} %", claim.slack * 100.0) } else { String::new() };
        let part = format!("{:.0} % of its greatest value before", claim.part * 100.0);
        let what = if claim.than.is_empty() { "value".to_owned() } else { format!("ratio to {}", claim.than) };
        let rule = match claim.rule {
            Rule::Between => format!("each value is {}", bounds(unit)),
            Rule::Rises => format!("no {what} is below the one before{slack}"),
            Rule::Falls => format!("no {what} is above the one before{slack}"),
            Rule::Greatest if claim.than.is_empty() => format!("the greatest value is {}", bounds(unit)),
            Rule::Greatest => format!("the greatest {what} is {}", bounds("")),
            Rule::Peak => format!("the greatest value stands at {axis} {}", bounds("")),
            Rule::Knee => format!("the first value below {part} stands at {axis} {}", bounds("")),
            Rule::NoKnee => format!("no value is below {part}"),
            Rule::Above if claim.against.len() == 2 => {
                let [first, second] = [&claim.against[0], &claim.against[1]];
                format!("each {what} is at least {} times that of {first} to {second}", number(claim.factor))
            }
            Rule::Above => format!("each value is at least {} times that of {}", number(claim.factor), claim.than),
            Rule::Ratio => format!("each value divided by that of {} is {}", claim.than, bounds("")),
            Rule::Crosses => format!("it comes below {} at {axis} {}", claim.than, bounds("")),
            Rule::Correlation => format!("the correlation is {}", bounds("")),
        };
        let range = match (claim.from, claim.to) {
            (None, None) => String::new(),
            (Some(from), None) => format!(", {axis} from {}", number(from)),
            (None, Some(to)) => format!(", {axis} to {}", number(to)),
            (Some(from), Some(to)) if from == to => format!(", {axis} {}", number(from)),
            (Some(from), Some(to)) => format!(", {axis} {} to {}", number(from), number(to)),
        };
        let over = match self.figure.over_seeds {
            OverSeeds::Mean => "",
            OverSeeds::Deviation => "by the standard deviation over seeds, ",
            OverSeeds::Variation => "by the coefficient of variation over seeds, ",
        };
        format!("{}: {over}{rule}{range}", series.join(", "))
    }

    /// The verdict over all assumptions: theirs if they agree, else *cannot tell*.
    fn finding(
        &self,
        text: String,
        place: String,
        rule: String,
        decide: impl Fn(Option<usize>) -> Option<(Truth, String)>,
    ) -> Finding {
        let finding = |verdict, detail, under| Finding { text, place, rule, verdict, detail, under };
        let Some(unknown) = self.planned.unknown.map(|unknown| &self.study.file.unknown[unknown]) else {
            return match decide(None) {
                Some((truth, detail)) => finding(Some(truth.into()), detail, Vec::new()),
                None => finding(None, "its points are not in this form".to_owned(), Vec::new()),
            };
        };
        let one = |index: usize| {
            let (truth, detail) = decide(Some(index))?;
            Some(Under { assumption: unknown.assumption[index].name.clone(), verdict: truth.into(), detail })
        };
        let under: Vec<Under> = (0..unknown.assumption.len()).filter_map(one).collect();
        let Some(first) = under.first() else {
            return finding(None, "its points are not in this form".to_owned(), Vec::new());
        };
        if under.iter().all(|one| one.verdict == first.verdict) {
            let (verdict, detail) =
                (first.verdict, format!("under every assumption; {}: {}", first.assumption, first.detail));
            return finding(Some(verdict), detail, under);
        }
        let named = |verdict: Verdict| {
            let names: Vec<_> =
                under.iter().filter(|one| one.verdict == verdict).map(|one| one.assumption.as_str()).collect();
            if names.is_empty() { "no assumption".to_owned() } else { names.join("; ") }
        };
        let detail = format!("{} decides: reproduced with {}", unknown.text, named(Verdict::Reproduced));
        finding(Some(Verdict::CannotTell), detail, under)
    }
}
