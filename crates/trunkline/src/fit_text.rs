//! What a fit says, as text.

use crate::estimates::number;
use crate::fit::{ErrorsOf, Fitted, Report, beyond};
use crate::screen::Screen;
use crate::table::Table;
use ::fit::{Checked, Errors, Stage};
use std::fmt::Write;
use units::{BitRate, Bytes, many, whole};

/// Rates, errors, predictions, proposals.
pub fn of(report: &Report, screen: &Screen) -> String {
    let mut text = String::new();
    heading(&mut text, screen, &format!("{} of {}", many(report.runs, "run"), many(report.jobs.len(), "job")));
    let mut table = Table::new(["job", "runs", "sizes", "payload rates", "CPU s/GB"]);
    for job in &report.jobs {
        table.row([
            job.name.clone(),
            job.runs.to_string(),
            range(job.sizes_bytes, bytes),
            range(job.rates_bps, rate),
            job.cpu_s_per_gb.map_or_else(|| "-".to_owned(), number),
        ]);
    }
    text.push_str(&table.shown(screen));
    left_out(&mut text, screen, &report.left_out);
    heading(&mut text, screen, "\nrates of the cluster");
    let mut table = Table::new(["stage, term", "rate", "of all seconds", "unit"]).optional(&[3]);
    let named = |rate: &Fitted| {
        let stage = match rate.stage {
            Stage::Maps => "maps",
            Stage::Shuffle => "shuffle",
            Stage::Rest => "rest",
        };
        format!("{stage}, {}", rate.term)
    };
    let (shown, little): (Vec<&Fitted>, Vec<&Fitted>) = report
        .rates
        .iter()
        .filter(|rate| rate.rate > 0.0)
        .partition(|rate| rate.share >= LITTLE || rate.expected.is_none());
    for rate in shown {
        let share = format!("{:.1} %", 100.0 * rate.share);
        table.row([named(rate), number(rate.rate), share, rate.unit.to_owned()]);
    }
    text.push_str(&table.shown(screen));
    if !little.is_empty() {
        let names: Vec<String> =
            little.into_iter().map(|rate| format!("{} ({})", named(rate), number(rate.rate))).collect();
        let sentence = format!("too little of these runs for a rate of theirs, so as expected: {}", names.join("; "));
        let _ = writeln!(text, "{}", screen.wrapped(&sentence, 0));
    }
    heading(&mut text, screen, "\nhow far off, each kind of run predicted from the others");
    let mut table = Table::new(["", "runs", "median", "most", "placed", "most placed"]);
    for kind in &report.errors {
        table.row(errors_row(kind));
    }
    text.push_str(&table.shown(screen));
    let placed = "placed: by whoever knows where its tasks ran; the difference is chance";
    let _ = writeln!(text, "{}", screen.wrapped(placed, 0));
    let said = match report.noise {
        Some(noise) => format!(
            "repetitions differ by {:.1} % (standard deviation, {} of freedom): no prediction is better",
            100.0 * noise.part,
            many(noise.degrees, "degree")
        ),
        None => "no run is repeated: what repetitions differ by is not known".to_owned(),
    };
    let _ = writeln!(text, "{}", screen.wrapped(&said, 0));
    if !report.against.is_empty() || !report.against_left_out.is_empty() {
        heading(&mut text, screen, "\nruns that had no part in the fit");
        let mut table = Table::new(["run", "recorded s", "predicted s", "off", "placed", "reach"]).optional(&[5]);
        for one in &report.against {
            table.row(checked_row(one));
        }
        text.push_str(&table.shown(screen));
        left_out(&mut text, screen, &report.against_left_out);
        let of = |error: fn(&Checked) -> f64| Errors::of(report.against.iter(), error);
        if let (Some(before), Some(placed)) = (of(Checked::error), of(Checked::placed_error)) {
            let sentence = format!(
                "{}: {:.1} % off in the median, {:.1} % by whoever knows where their tasks ran",
                many(before.count, "run"),
                100.0 * before.median,
                100.0 * placed.median
            );
            let _ = writeln!(text, "{}", screen.wrapped(&sentence, 0));
        }
    }
    if !report.predictions.is_empty() {
        heading(&mut text, screen, "\npredicted");
        let mut table =
            Table::new(["job", "maps s", "shuffle s", "rest s", "launch to finish s", "by placement", "usually off"])
                .optional(&[3, 2, 1]);
        for one in &report.predictions {
            let name =
                format!("{}, {}, {}, {} workers", one.job, bytes(one.size_bytes), rate(one.rate_bps), one.workers);
            let factor = beyond(one.reach);
            let beyond = if factor > 1.0 { format!(", {factor:.1}x beyond") } else { String::new() };
            table.row([
                name + &beyond,
                number(one.maps_s),
                number(one.shuffle_s),
                number(one.rest_s),
                number(one.total_s),
                format!("{} to {}", number(one.range_s.0), number(one.range_s.1)),
                one.usual_error.map_or_else(|| "-".to_owned(), |error| format!("{:.0} %", 100.0 * error)),
            ]);
        }
        text.push_str(&table.shown(screen));
    }
    heading(&mut text, screen, "\nthe next run that would teach most");
    let sizes = match report.grid.sizes_bytes.as_slice() {
        [] => "each job's own sizes, and twice and four times its largest".to_owned(),
        sizes => format!("{} sizes ({})", sizes.len(), range(edges(sizes), bytes)),
    };
    let grid = format!(
        "among {sizes}; {} rates ({}); {} workers",
        report.grid.rates_bps.len(),
        range(edges(&report.grid.rates_bps), rate),
        report.grid.workers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
    );
    let _ = writeln!(text, "{}", screen.wrapped(&grid, 0));
    let mut table = Table::new(["job", "size", "rate", "workers", "takes about s", "gain"]).optional(&[4]);
    for one in &report.proposals {
        table.row([
            one.job.clone(),
            bytes(one.size_bytes),
            rate(one.rate_bps),
            one.workers.to_string(),
            number(one.predicted_s),
            format!("{:.2}", one.gain),
        ]);
    }
    text + &table.shown(screen)
}

/// Of all seconds: what takes less, and is expected to be something, is what is expected.
const LITTLE: f64 = 0.0005;

fn left_out(text: &mut String, screen: &Screen, those: &[(String, String)]) {
    for (file, why) in those {
        let _ = writeln!(text, "{}", screen.wrapped(&format!("left out: {file}: {why}"), 0));
    }
}

fn heading(text: &mut String, screen: &Screen, words: &str) {
    let lead = if words.starts_with('\n') { "\n" } else { "" };
    let _ = writeln!(text, "{lead}{}", screen.heading(words.trim_start()));
}

fn errors_row(kind: &ErrorsOf) -> [String; 6] {
    let part = |errors: Option<Errors>, of: fn(&Errors) -> f64| {
        errors.map_or_else(|| "-".to_owned(), |errors| format!("{:.1} %", 100.0 * of(&errors)))
    };
    [
        kind.of.to_owned(),
        kind.before.map_or(0, |errors| errors.count).to_string(),
        part(kind.before, |errors| errors.median),
        part(kind.before, |errors| errors.most),
        part(kind.placed, |errors| errors.median),
        part(kind.placed, |errors| errors.most),
    ]
}

fn checked_row(one: &Checked) -> [String; 6] {
    let factor = beyond(one.reach);
    let beyond = if factor > 1.0 { format!("{factor:.1}x beyond") } else { "within".to_owned() };
    // The end of a long path says which run it is.
    let parts: Vec<&str> = one.name.split('/').rev().take(3).collect();
    let name: Vec<&str> = parts.into_iter().rev().collect();
    let file = name.last().copied().unwrap_or_default();
    let short = if file.len() > 40 && name.len() > 1 { name[..name.len() - 1].join("/") } else { name.join("/") };
    [
        short,
        number(one.recorded_s),
        number(one.predicted_s),
        format!("{:+.1} %", 100.0 * one.error()),
        format!("{:+.1} %", 100.0 * one.placed_error()),
        beyond,
    ]
}

fn edges(values: &[f64]) -> (f64, f64) {
    (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0))
}

fn range((least, most): (f64, f64), shown: fn(f64) -> String) -> String {
    let (least, most) = (shown(least), shown(most));
    if least == most { least } else { format!("{least} to {most}") }
}

fn bytes(value: f64) -> String {
    format!("{:.1}", Bytes::new(whole(value)))
}

fn rate(value: f64) -> String {
    format!("{:.1}", BitRate::from_bps(whole(value)))
}
