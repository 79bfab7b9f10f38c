//! Checks of a study's file beyond single values: unknown names, figures that cannot be drawn, rules without bounds.

use super::catalog::Study;
use super::file::{Claim, Figure, FigureKind, OverSeeds, Rule};
use super::metric_path;
use super::template::fill;
use scenario::problem::{Problems, Span};
use scenario::tree::Tree;

/// Checks the whole.
pub fn check(study: &Study, tree: &Tree, problems: &mut Problems) {
    let file = &study.file;
    let whole = || tree.span_of("").clone();
    for (key, text) in [("title", &file.title), ("source", &file.source)] {
        if text.is_empty() {
            problems.add(&whole(), format!("a study has a `{key}`"));
        }
    }
    if file.figure.is_empty() {
        problems.add(&whole(), "a study has at least one [[figure]]");
    }
    for (i, unknown) in file.unknown.iter().enumerate() {
        if unknown.assumption.len() < 2 || unknown.text.is_empty() {
            let span = tree.span_of(&format!("unknown.{i}"));
            problems.add(span, "an unknown has a `text` and at least two [[unknown.assumption]]");
        }
    }
    let mut ids: Vec<&str> = Vec::new();
    for (i, figure) in file.figure.iter().enumerate() {
        let path = format!("figure.{i}");
        if figure.id.is_empty() || ids.contains(&figure.id.as_str()) {
            problems.add(tree.span_of(&path), "a figure has an `id` of its own");
        }
        ids.push(&figure.id);
        of_figure(study, figure, &path, tree, problems);
    }
}

fn of_figure(study: &Study, figure: &Figure, path: &str, tree: &Tree, problems: &mut Problems) {
    let at = |key: &str| tree.span_of(&format!("{path}.{key}")).clone();
    let scenario = figure.scenario.as_ref().unwrap_or(&study.file.scenario);
    if study.text(scenario).is_none() {
        problems.unknown(
            &at("scenario"),
            "a file of the study",
            scenario,
            study.texts.iter().map(|(name, _)| name.as_str()),
        );
    }
    if let Some(unknown) = &figure.unknown {
        let names: Vec<_> = study.file.unknown.iter().map(|one| one.name.as_str()).collect();
        if !names.contains(&unknown.as_str()) {
            problems.unknown(&at("unknown"), "an [[unknown]] of the study", unknown, names);
        }
    }
    if figure.series.is_empty() || figure.series.iter().any(|series| series.name.is_empty()) {
        problems.add(&at("series"), "a figure has at least one [[figure.series]], each with a `name`");
    }
    if figure.x.is_none() && figure.series.iter().any(|series| series.constant) {
        problems.add(&at("series"), "a constant series stands beside others along an `x`");
    }
    if figure.metric.is_empty() && figure.series.iter().any(|series| series.metric.is_none()) {
        problems.add(&at("metric"), "a figure has a `metric`, or each of its series has");
    }
    let own = [("metric", Some(&figure.metric)), ("per", figure.per.as_ref()), ("x-metric", figure.x_metric.as_ref())];
    let own = own.map(|(key, metric)| (key.to_owned(), metric));
    let of_series = figure.series.iter().enumerate().flat_map(|(i, series)| {
        [("metric", &series.metric), ("per", &series.per)]
            .map(|(key, metric)| (format!("series.{i}.{key}"), metric.as_ref()))
    });
    for (key, metric) in own.into_iter().chain(of_series) {
        if let Some(Err(reason)) = metric.filter(|metric| !metric.is_empty()).map(|metric| metric_path::check(metric)) {
            problems.add(&at(&key), reason);
        }
    }
    let weighed = figure.kind == FigureKind::Weighed;
    if (weighed || figure.kind == FigureKind::Scatter) != figure.x_metric.is_some() {
        problems.add(&at("x-metric"), "scatters and weighed figures, and only these, have an `x-metric`");
    }
    if weighed && (figure.series.len() != 2 || figure.x.is_none()) {
        problems.add(&at("kind"), "a weighed figure has two series, and an `x` with the weights");
    }
    if figure.over_seeds != OverSeeds::Mean && figure.kind != FigureKind::Sweep {
        problems.add(&at("over-seeds"), "only a sweep has a number for each seed, whose spread can be taken");
    }
    match &figure.x {
        Some(_) if !weighed && figure.kind != FigureKind::Sweep => problems.add(&at("x"), "only a sweep varies an `x`"),
        Some(axis) => {
            if axis.values.is_empty() {
                problems.add(&at("x"), "an axis has `values`");
            }
            for (i, template) in axis.set.iter().enumerate() {
                if axis.values.iter().any(|value| fill(template, value).is_none()) {
                    let help = "write {x}, {1000*x} or {1000/x}, the last two for values that begin with a number";
                    problems.add_with_help(&at(&format!("x.set.{i}")), "a brace holds what cannot be worked out", help);
                }
            }
            for (i, value) in axis.quick.iter().enumerate().filter(|(_, value)| !axis.values.contains(value)) {
                problems.add(&at(&format!("x.quick.{i}")), format!("{} is not one of the `values`", value.0));
            }
        }
        None => {}
    }
    let names: Vec<_> = figure.series.iter().map(|series| series.name.as_str()).collect();
    let known = |span: &Span, name: &str, problems: &mut Problems| {
        if !names.contains(&name) {
            problems.unknown(span, "a series of this figure", name, names.iter().copied());
        }
    };
    for (i, published) in figure.published.iter().enumerate() {
        known(&at(&format!("published.{i}.series")), &published.series, problems);
        let stands = match (&figure.x, published.x) {
            (Some(axis), Some(x)) => axis.values.iter().any(|value| value.number() == Some(x)),
            (None, None) => true,
            _ => false,
        };
        if published.judged && !stands {
            problems.add(
                &at(&format!("published.{i}")),
                "its `x` is one of the axis' values, or left out where there is no axis",
            );
        }
    }
    for (i, claim) in figure.claim.iter().enumerate() {
        for (k, name) in claim.series.iter().enumerate() {
            known(&at(&format!("claim.{i}.series.{k}")), name, problems);
        }
        if !claim.than.is_empty() {
            known(&at(&format!("claim.{i}.than")), &claim.than, problems);
        }
        for (k, name) in claim.against.iter().enumerate() {
            known(&at(&format!("claim.{i}.against.{k}")), name, problems);
        }
        if let Some(message) = bad(claim, figure) {
            problems.add(&at(&format!("claim.{i}")), message);
        }
    }
}

/// What a claim lacks.
fn bad(claim: &Claim, figure: &Figure) -> Option<&'static str> {
    let bounded = claim.least.is_some() || claim.most.is_some();
    let compared = matches!(claim.rule, Rule::Above | Rule::Ratio | Rule::Crosses);
    let may_compare = compared || claim.rule.is_of_ratios();
    let (from, to) = (claim.from.unwrap_or(f64::NEG_INFINITY), claim.to.unwrap_or(f64::INFINITY));
    let along =
        matches!(claim.rule, Rule::Rises | Rule::Falls | Rule::Knee | Rule::NoKnee | Rule::Peak | Rule::Crosses);
    match claim.rule {
        _ if claim.text.is_empty() => Some("a claim has a `text`"),
        _ if !claim.against.is_empty() && (claim.rule != Rule::Above || claim.against.len() != 2) => {
            Some("`against` belongs to the rule above, and names two series")
        }
        _ if compared && claim.than.is_empty() => {
            Some("the rules above, ratio and crosses compare with a series: `than`")
        }
        _ if !may_compare && !claim.than.is_empty() => {
            Some("`than` belongs to the rules above, ratio, crosses, rises, falls and greatest")
        }
        Rule::Between | Rule::Ratio | Rule::Greatest | Rule::Peak | Rule::Knee | Rule::Crosses | Rule::Correlation
            if !bounded =>
        {
            Some("this rule needs `least`, `most` or both")
        }
        Rule::Correlation if figure.kind != FigureKind::Scatter => Some("a correlation is of a scatter"),
        _ if along && figure.kind == FigureKind::Sweep && figure.x.is_none() => Some("this rule needs an x axis"),
        _ if figure.x.as_ref().is_some_and(|axis| {
            !axis.values.iter().any(|value| value.number().is_none_or(|x| (from..=to).contains(&x)))
        }) =>
        {
            Some("no value of x lies in its range")
        }
        _ => None,
    }
}
