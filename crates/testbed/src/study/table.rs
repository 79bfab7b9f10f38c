//! The measurements as text of a hundred columns, and as CSV.

use super::judge::{Row, rows};
use super::{Buffers, Cell, Ended, Record, Study, Way};
use std::fmt::Write;

/// Everything as Markdown that is also readable as plain text.
pub fn markdown(study: &Study, measured: &[(Cell, Record)], quick: bool) -> String {
    let form = if quick { ", quick form" } else { "" };
    let mut text = format!("# {}{form}\n\n{}\n", study.name, study.title);
    let ways: Vec<Way> = Way::ALL
        .into_iter()
        .filter(|way| *way != Way::Local && measured.iter().any(|(cell, _)| cell.way == *way))
        .collect();
    let mut paths: Vec<&Cell> = Vec::new();
    for (cell, _) in measured.iter().filter(|(cell, _)| cell.way != Way::Local) {
        if paths.iter().all(|known| known.path.name != cell.path.name) {
            paths.push(cell);
        }
    }
    for cell in paths {
        let of_path: Vec<_> = measured.iter().filter(|(other, _)| other.path.name == cell.path.name).collect();
        let _ = writeln!(text, "\n{}\n", described(cell));
        of_path_table(&mut text, &ways, &of_path, study.late);
        of_programs_on_files(&mut text, &ways, &of_path);
    }
    let (late, failed) = measured.iter().fold((0, 0), |(late, failed), (_, record)| {
        let bad = record.outcome.ended == Ended::Failed;
        (late + usize::from(!bad && record.is_doubtful(study.late)), failed + usize::from(bad))
    });
    let _ = writeln!(
        text,
        "\nGoodput in Mbit/s; of downloads that were cut off by time, after the first twelve round trips.\n\
         run: jet-run. gain: jet over plain. path: jet's part of what the path carries.\n\
         local: on files of the program's own host, what it takes by itself.\n\
         < at most: cut off before its end; ! failed ({failed}); * the emulator was late for more than\n{} of its \
         frames ({late}).",
        percent(study.late)
    );
    let rows = rows(measured);
    if !rows.is_empty() {
        published(&mut text, &rows);
    }
    text
}

fn described(cell: &Cell) -> String {
    let path = &cell.path;
    let rate = path.back.rate.map_or_else(|| "no rate".to_owned(), |rate| rate.to_string());
    let loss = path.back.loss.mean();
    let capacity =
        cell.capacity_bps().map_or_else(String::new, |bps| format!(", carries {} Mbit/s", number(bps / 1e6)));
    format!("**{}**: {rate}, {:.0} round trip, {} loss each way{capacity}", path.name, path.round_trip(), percent(loss))
}

fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// A line of a table: a program, with the buffers and congestion control of its host.
type Line<'a> = (&'a str, Buffers, &'a str);

/// Whether a way has buffers and congestion control of its own.
const fn has_its_own(way: Way) -> bool {
    matches!(way, Way::Bbr | Way::Local)
}

fn lines<'a>(measured: &[&'a (Cell, Record)]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for (cell, _) in measured.iter().filter(|(cell, _)| !has_its_own(cell.way)) {
        let line = (cell.program.name.as_str(), cell.buffers, cell.control.as_str());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn measured_of<'a>(measured: &[&'a (Cell, Record)], line: Line<'_>, way: Way) -> Option<&'a (Cell, Record)> {
    let (program, buffers, control) = line;
    let same = |cell: &Cell| has_its_own(way) || (cell.buffers == buffers && cell.control == control);
    measured.iter().find(|(cell, _)| cell.way == way && cell.program.name == program && same(cell)).copied()
}

/// The table of one path: a line per program, buffers and control; a column per way.
fn of_path_table(text: &mut String, ways: &[Way], measured: &[&(Cell, Record)], most_late: f64) {
    let gain = ways.contains(&Way::Plain) && ways.contains(&Way::Jet);
    let head = |way: &Way| format!("{:>6}|", if *way == Way::JetRun { "run" } else { way.name() });
    let heads = ways.iter().map(head).collect::<Vec<_>>().concat();
    let _ =
        writeln!(text, "|{:<12}|{:<13}|{heads}{}", "program", "buffers under", if gain { " gain| path|" } else { "" });
    let dashes = "-----:|".repeat(ways.len());
    let _ = writeln!(text, "|{}|{}|{dashes}{}", "-".repeat(12), "-".repeat(13), if gain { "----:|----:|" } else { "" });
    for line in lines(measured) {
        let (program, buffers, control) = line;
        let of = |way: Way| measured_of(measured, line, way);
        let under = format!("{buffers} {control}");
        let _ = write!(text, "|{program:<12}|{under:<13}|");
        for way in ways {
            let shown = of(*way).map_or_else(|| "-".to_owned(), |one| value(one, most_late));
            let _ = write!(text, "{shown:>6}|");
        }
        if gain {
            let rate = |way| of(way).and_then(|(cell, record)| record.outcome.rate_bps(cell));
            let (plain, jet) = (rate(Way::Plain), rate(Way::Jet));
            let ratio = plain.zip(jet).map_or_else(|| "-".to_owned(), |(plain, jet)| number(jet / plain));
            let capacity = of(Way::Jet).and_then(|(cell, _)| cell.capacity_bps());
            let part =
                jet.zip(capacity).map_or_else(|| "-".to_owned(), |(jet, all)| format!("{:.0} %", 100.0 * jet / all));
            let _ = write!(text, "{ratio:>5}|{part:>5}|");
        }
        text.push('\n');
    }
}

/// Times of programs that work on files: over the path, and on files of their own host, where no path matters.
fn of_programs_on_files(text: &mut String, ways: &[Way], measured: &[&(Cell, Record)]) {
    let of = |line: Line<'_>, way: Way| {
        let (_, record) = measured_of(measured, line, way)?;
        Some(format!("{} {}", way.name(), seconds(record)))
    };
    let told = |line: Line<'_>| {
        let (program, buffers, control) = line;
        let local = of(line, Way::Local)?;
        let times: Vec<String> = ways.iter().filter_map(|way| of(line, *way)).chain([local]).collect();
        Some(format!("- {program}, {buffers} {control}: {}\n", times.join(", ")))
    };
    let told: String = lines(measured).into_iter().filter_map(told).collect();
    if !told.is_empty() {
        let _ = write!(text, "\n{told}");
    }
}

fn seconds(record: &Record) -> String {
    match record.outcome.ended {
        Ended::Failed => "!".to_owned(),
        Ended::Cut => format!(">{} s", number(record.outcome.wall_s)),
        Ended::Whole => format!("{} s", number(record.outcome.wall_s)),
    }
}

fn value((cell, record): &(Cell, Record), most_late: f64) -> String {
    let outcome = &record.outcome;
    if outcome.ended == Ended::Failed {
        return "!".to_owned();
    }
    let rate = outcome.rate_bps(cell).map_or_else(|| "-".to_owned(), |bps| number(bps / 1e6));
    let (most, late) = (if outcome.at_most { "<" } else { "" }, if record.is_doubtful(most_late) { "*" } else { "" });
    format!("{most}{rate}{late}")
}

/// The comparison with the published table.
fn published(text: &mut String, rows: &[Row]) {
    let _ = writeln!(
        text,
        "\nAgainst the published table: asked is the smaller of the published speedup and what 90 % of\nthe path \
         would be.\n\n\
         | row          | program     | path        | buffers | published | asked | measured |             |\n\
         |--------------|-------------|-------------|---------|----------:|------:|---------:|-------------|"
    );
    for row in rows {
        let verdict = row.reached.map_or("cannot tell", |reached| if reached { "reached" } else { "missed" });
        let measured = format!("{}{}", if row.at_least { ">" } else { "" }, number(row.speedup));
        let _ = writeln!(
            text,
            "| {:<12} | {:<11} | {:<11} | {:<7} | {:>9} | {:>5} | {measured:>8} | {verdict:<11} |",
            row.row,
            row.program,
            row.path,
            row.buffers,
            number(row.published),
            number(row.asked)
        );
    }
    let reached = rows.iter().filter(|row| row.reached == Some(true)).count();
    let _ = writeln!(text, "\n{reached} of {} reached", rows.len());
}

/// A number with three significant digits.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A line per cell. The first line names the columns with their units.
pub fn csv(measured: &[(Cell, Record)]) -> String {
    let mut text =
        "path,rate_bps,round_trip_s,loss,program,way,buffers,control,ended,wall_s,bytes,goodput_bps,at_most,\
                    first_12_rtt_bps,later_bps,filled_after_s,capacity_bps,streams,gateways_cpu_s,subflows,late_share\n"
            .to_owned();
    for (cell, record) in measured {
        let outcome = &record.outcome;
        let some = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        let bps = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.0}"));
        let streams = outcome.streams.as_ref();
        let ended = serde_json::to_value(outcome.ended).unwrap_or_default();
        let fields = [
            cell.path.name.clone(),
            bps(cell.path.back.rate.map(|rate| rate.as_bps() as f64)),
            some(Some(cell.path.round_trip().as_secs_f64())),
            some(Some(cell.path.back.loss.mean())),
            cell.program.name.clone(),
            cell.way.name().to_owned(),
            cell.buffers.to_string(),
            cell.control.clone(),
            ended.as_str().unwrap_or_default().to_owned(),
            some(Some(outcome.wall_s)),
            outcome.bytes.to_string(),
            bps(outcome.goodput_bps),
            outcome.at_most.to_string(),
            bps(outcome.first_bps),
            bps(outcome.later_bps),
            some(outcome.filled_after_s),
            bps(cell.capacity_bps()),
            streams.map_or_else(String::new, |streams| streams.count.to_string()),
            some(streams.map(|streams| streams.cpu_s)),
            outcome.subflows.map_or_else(String::new, |subflows| subflows.to_string()),
            some(Some(record.late_share)),
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Measurement;
    use super::*;
    use crate::link::Report;

    fn measured(study: &Study) -> Vec<(Cell, Record)> {
        let outcome = |cell: &Cell| Measurement {
            ended: Ended::Cut,
            wrong: None,
            wall_s: 300.0,
            bytes: 1,
            goodput_bps: Some(if cell.way == Way::Plain { 12.345e6 } else { 123.456e6 }),
            at_most: true,
            first_bps: None,
            later_bps: Some(98.76e6),
            filled_after_s: None,
            streams: None,
            subflows: None,
            curve: Vec::new(),
        };
        let report = Report { paths: Vec::new(), ordinary_priority: None };
        let record = |cell: &Cell| Record::new(cell, outcome(cell), &report);
        study.cells(false).iter().map(|cell| (cell.clone(), record(cell))).collect()
    }

    #[test]
    fn tables_have_a_line_for_each_program_and_a_hundred_columns_at_most() {
        for (name, lines) in [("jet-programs", 3 * 11 * 2), ("jet-grid", 24 * 6)] {
            let study = Study::read(name).expect("it is right");
            let measured = measured(&study);
            let text = markdown(&study, &measured, false);
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            let is_program = |line: &&str| {
                line.starts_with('|') && !["| ", "|--", "|program"].iter().any(|other| line.starts_with(other))
            };
            let of_programs = text.lines().filter(is_program);
            assert_eq!(of_programs.count(), lines, "{text}");
            let csv = csv(&measured);
            let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
            assert!(columns.len() == measured.len() + 1 && columns.iter().all(|count| *count == columns[0]), "{csv}");
        }
    }

    #[test]
    fn a_value_says_what_is_to_be_known_of_it() {
        let study = Study::read("jet-programs").expect("it is right");
        let text = markdown(&study, &measured(&study), false);
        assert!(
            text.contains(
                "|vi-open     |64KiB cubic  | <12.3|  <123|     -|     -|  <123|     -|     -|     -| 10.0| 83 %|"
            ),
            "{text}"
        );
        assert!(
            text.contains("\n- vi-open, 64KiB cubic: plain >300 s, jet >300 s, bbr >300 s, local >300 s\n"),
            "{text}"
        );
        // Gateways that were cut off have reached nothing.
        assert!(text.contains("0 of 42 reached"), "{text}");
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 0.012_34, 0.999_7, 9.994, 9.996, 99.94, 99.96, 1_234.6].map(number);
        assert_eq!(shown, ["0", "0.012", "1.00", "9.99", "10.0", "99.9", "100", "1235"]);
    }
}
