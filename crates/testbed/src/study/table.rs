//! The measurements as text of a hundred columns.

use super::floor::below;
use super::judge::{Row, rows};
use super::{Buffers, Cell, Ended, Metric, Record, Study, Way};
use std::fmt::Write;

/// A program of a study that this machine lacks a tool for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absent {
    /// The program's name in the study.
    pub program: String,
    /// The name of the path.
    pub path: String,
    /// The tool that is not installed.
    pub tool: &'static str,
}

/// Everything as Markdown that is also readable as plain text.
pub fn markdown(study: &Study, measured: &[(Cell, Record)], absent: &[Absent], quick: bool) -> String {
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
    if let Some(floor) = study.floor {
        below(&mut text, floor, measured);
    }
    for cell in paths {
        let of_path: Vec<_> = measured.iter().filter(|(other, _)| other.path.name == cell.path.name).collect();
        let _ = writeln!(text, "\n{}\n", described(cell));
        let absent: Vec<&Absent> = absent.iter().filter(|absent| absent.path == cell.path.name).collect();
        of_path_table(&mut text, study, &ways, &of_path, &absent);
        of_programs_on_files(&mut text, &ways, &of_path);
    }
    let (late, failed) = measured.iter().fold((0, 0), |(late, failed), (_, record)| {
        let bad = record.outcome.ended == Ended::Failed;
        (late + usize::from(!bad && record.is_doubtful(study.late)), failed + usize::from(bad))
    });
    text.push_str(if study.floor.is_some() { OF_RATIOS } else { OF_GOODPUT });
    let _ = writeln!(
        text,
        "< at most: cut off before its end; ! failed ({failed}); * the emulator was late for more than\n{} of its \
         frames ({late}).",
        percent(study.late)
    );
    let rows = rows(measured);
    if !rows.is_empty() {
        published(&mut text, &rows);
    }
    text
}

/// What a table's columns are.
const OF_GOODPUT: &str = "
Goodput in Mbit/s; of downloads that were cut off by time, after the first twelve round trips.
run: jet-run. gain: jet over plain. path: jet's part of what the path carries.
local: on files of the program's own host, what it takes by itself.
";
const OF_RATIOS: &str = "
The first figure of a program is its figure of merit. bbr/plain, jet/plain: above 1 is better;
of p50, p95 and p99 it is plain over the way.
";

fn described(cell: &Cell) -> String {
    let path = &cell.path;
    let rate = path.back.rate.map_or_else(|| "no rate".to_owned(), |rate| rate.to_string());
    let loss = path.back.loss.mean();
    let capacity =
        cell.capacity_bps().map_or_else(String::new, |bps| format!(", carries {} Mbit/s", number(bps / 1e6)));
    format!("**{}**: {rate}, {:.0} round trip, {} loss each way{capacity}", path.name, path.round_trip(), percent(loss))
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// A line of a table: a figure of a program, with the buffers and congestion control of its host.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Line<'a> {
    pub program: &'a str,
    pub metric: Metric,
    pub buffers: Buffers,
    pub control: &'a str,
}

/// Whether a way has buffers and congestion control of its own.
const fn has_its_own(way: Way) -> bool {
    matches!(way, Way::Bbr | Way::Local)
}

fn lines<'a>(measured: &[&'a (Cell, Record)]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for (cell, record) in measured.iter().filter(|(cell, _)| !has_its_own(cell.way)) {
        let figures = record.outcome.figures(cell);
        // Downloads that failed have a line too.
        let first = if cell.program.tool.is_benchmark() { None } else { Some(Metric::Goodput) };
        let metrics = figures.iter().map(|figure| figure.metric);
        for metric in first.into_iter().chain(metrics) {
            let line =
                Line { program: &cell.program.name, metric, buffers: cell.buffers, control: cell.control.as_str() };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

pub(super) fn measured_of<'a>(measured: &[&'a (Cell, Record)], line: Line<'_>, way: Way) -> Option<&'a (Cell, Record)> {
    let same = |cell: &Cell| has_its_own(way) || (cell.buffers == line.buffers && cell.control == line.control);
    measured.iter().find(|(cell, _)| cell.way == way && cell.program.name == line.program && same(cell)).copied()
}

/// A column of a table after those that name the line.
#[derive(Clone, Copy)]
enum Column {
    Value(Way),
    /// How good a way is relative to plain.
    Ratio(Way),
    /// The part of the path's capacity that goes through `jet`.
    OfPath,
}

impl Column {
    /// The columns of a study: with a floor the ratio of each way, else that of `jet`.
    fn all(ways: &[Way], floor: bool) -> Vec<Self> {
        let mut columns: Vec<Self> = ways.iter().map(|way| Self::Value(*way)).collect();
        if !ways.contains(&Way::Plain) {
        } else if floor {
            columns.extend(ways.iter().filter(|way| **way != Way::Plain).map(|way| Self::Ratio(*way)));
        } else if ways.contains(&Way::Jet) {
            columns.extend([Self::Ratio(Way::Jet), Self::OfPath]);
        }
        columns
    }

    fn head(self, floor: bool) -> String {
        match self {
            Self::Value(Way::JetRun) => format!("{:>6}", "run"),
            Self::Value(way) => format!("{:>6}", way.name()),
            Self::Ratio(way) if floor => format!("{:>9}", format!("{}/plain", way.name())),
            Self::Ratio(_) => format!("{:>5}", "gain"),
            Self::OfPath => format!("{:>5}", "path"),
        }
    }

    fn shown(self, measured: &[&(Cell, Record)], line: Line<'_>, most_late: f64) -> String {
        let of = |way: Way| measured_of(measured, line, way);
        let figure = |way: Way| of(way).and_then(|(cell, record)| record.outcome.figure(cell, line.metric));
        let shown = match self {
            Self::Value(way) => of(way).map(|one| value(one, line.metric, most_late)),
            Self::Ratio(way) => {
                figure(way).zip(figure(Way::Plain)).map(|(value, plain)| number(line.metric.ratio(value, plain)))
            }
            Self::OfPath => {
                let capacity = of(Way::Jet).and_then(|(cell, _)| cell.capacity_bps());
                let goodput = figure(Way::Jet).filter(|_| line.metric == Metric::Goodput);
                goodput.zip(capacity).map(|(jet, all)| format!("{:.0} %", 100.0 * jet / all))
            }
        };
        shown.unwrap_or_else(|| "-".to_owned())
    }
}

/// The table of one path: a line per figure of a program, buffers and control; a column per way. Programs that cannot
/// be measured here have a line too.
fn of_path_table(text: &mut String, study: &Study, ways: &[Way], measured: &[&(Cell, Record)], absent: &[&Absent]) {
    let floor = study.floor.is_some();
    let columns = Column::all(ways, floor);
    let lines = lines(measured);
    let has_figures = !absent.is_empty() || lines.iter().any(|line| line.metric != Metric::Goodput);
    // The longest name decides, so that the text is readable as it is.
    let wide = lines.iter().map(|line| line.program.len()).max().unwrap_or_default().max(12);
    let row = |program: &str, figure: &str, under: &str, shown: &[String]| {
        let figure = if has_figures { format!("{figure:<14}|") } else { String::new() };
        format!("|{program:<wide$}|{figure}{under:<13}|{}|\n", shown.join("|"))
    };
    let heads: Vec<String> = columns.iter().map(|column| column.head(floor)).collect();
    text.push_str(&row("program", "figure", "buffers under", &heads));
    let dashes: Vec<String> = heads.iter().map(|head| format!("{}:", "-".repeat(head.len() - 1))).collect();
    text.push_str(&row(&"-".repeat(wide), &"-".repeat(14), &"-".repeat(13), &dashes));
    for line in lines {
        let shown = columns.iter().zip(&heads).map(|(column, head)| {
            let shown = column.shown(measured, line, study.late);
            format!("{shown:>width$}", width = head.len())
        });
        let under = format!("{} {}", line.buffers, line.control);
        text.push_str(&row(line.program, &figure_name(line.metric), &under, &shown.collect::<Vec<_>>()));
    }
    for absent in absent {
        let shown: Vec<String> = heads.iter().map(|head| format!("{:>width$}", "-", width = head.len())).collect();
        text.push_str(&row(&absent.program, &format!("no {}", absent.tool), "", &shown));
    }
}

pub(super) fn figure_name(metric: Metric) -> String {
    format!("{} {}", metric.name(), metric.unit())
}

/// Times of programs that work on files: over the path, and on files of their own host, where no path matters.
fn of_programs_on_files(text: &mut String, ways: &[Way], measured: &[&(Cell, Record)]) {
    let of = |line: Line<'_>, way: Way| {
        let (_, record) = measured_of(measured, line, way)?;
        Some(format!("{} {}", way.name(), seconds(record)))
    };
    let told = |line: Line<'_>| {
        let Line { program, buffers, control, .. } = line;
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

pub(super) fn value((cell, record): &(Cell, Record), metric: Metric, most_late: f64) -> String {
    let outcome = &record.outcome;
    if outcome.ended == Ended::Failed {
        return "!".to_owned();
    }
    let shown = outcome.figure(cell, metric).map_or_else(|| "-".to_owned(), |value| number(value * metric.scale()));
    let (most, late) = (if outcome.at_most { "<" } else { "" }, if record.is_doubtful(most_late) { "*" } else { "" });
    format!("{most}{shown}{late}")
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
pub(super) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::super::Measurement;
    use super::super::csv::csv;
    use super::super::figure::Figure;
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
            reported: Vec::new(),
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
            let text = markdown(&study, &measured, &[], false);
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
    fn figures_below_the_floor_come_first_and_programs_without_their_tool_have_a_line() {
        let text = "title = \"t\"\npaths = [\"local\"]\nbuffers = [\"default\"]\ncontrols = [\"cubic\"]\n\
                    floor = \"95 %\"\n[[program]]\nname = \"one\"\ntool = \"asyncio\"\nsize = \"1 KB\"\n\
                    time = \"1 s\"\nways = [\"plain\", \"bbr\", \"jet\"]\n[[program]]\nname = \"two\"\n\
                    tool = \"iperf3\"\ntime = \"1 s\"\nways = [\"plain\", \"jet\"]\n";
        let study = Study::parse("t", text).expect("it is right");
        let mut measured = measured(&study);
        for (cell, record) in &mut measured {
            let (rate, p99) = match cell.way {
                Way::Plain => (1_000.0, 0.010),
                Way::Jet => (900.0, 0.040),
                _ => (1_200.0, 0.005),
            };
            let of_one = vec![Figure::new(Metric::Rate, rate), Figure::new(Metric::P99, p99)];
            let of_two = vec![Figure::new(Metric::Goodput, rate * 1e6)];
            record.outcome.ended = Ended::Whole;
            record.outcome.at_most = false;
            record.outcome.reported = if cell.program.name == "one" { of_one } else { of_two };
            if cell.program.name == "two" && cell.way == Way::Jet {
                record.outcome.ended = Ended::Failed;
                record.outcome.reported.clear();
            }
        }
        let absent = Absent { program: "three".to_owned(), path: "local".to_owned(), tool: "hdfs" };
        let text = markdown(&study, &measured, &[absent], false);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--")).collect();
        // 900 of 1,000 a second; a fourth of 40 ms; what failed is the worst.
        let expected = [
            "|path       |program           |figure        | plain|   jet|jet/plain|",
            "|local      |two               |goodput Mbit/s|  1000|     !|        0|",
            "|local      |one               |rate 1/s      |  1000|   900|    0.900|",
            "|local      |one               |p99 ms        |  10.0|  40.0|    0.250|",
            "|program     |figure        |buffers under| plain|   jet|   bbr|jet/plain|bbr/plain|",
            "|one         |rate 1/s      |default cubic|  1000|   900|  1200|    0.900|     1.20|",
            "|one         |p99 ms        |default cubic|  10.0|  40.0|  5.00|    0.250|     2.00|",
            "|two         |goodput Mbit/s|default cubic|  1000|     !|     -|        -|        -|",
            "|three       |no hdfs       |             |     -|     -|     -|        -|        -|",
        ];
        assert_eq!(lines, expected, "{text}");
        assert!(text.contains("2 of 2 programs on a path by their figure of merit"), "{text}");
        let csv = csv(&measured);
        assert!(csv.starts_with("path,") && csv.lines().next().is_some_and(|head| head.ends_with(",rate_per_s,p99_s")));
        assert!(csv.lines().nth(1).is_some_and(|line| line.ends_with(",1000.000000,0.010000")), "{csv}");
    }

    #[test]
    fn a_value_says_what_is_to_be_known_of_it() {
        let study = Study::read("jet-programs").expect("it is right");
        let text = markdown(&study, &measured(&study), &[], false);
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
