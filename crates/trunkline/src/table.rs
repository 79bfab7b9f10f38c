//! Tables that fit the screen.

use crate::screen::Screen;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, presets};
use units::{BitRate, Bytes, Power, Time};

/// The first column, which has names, is not made narrower than this before others are left out.
const NARROWEST_NAME: usize = 24;
/// Blanks between two columns.
const GAP: usize = 2;

/// A table: names at the left, figures right-aligned beside them.
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    indent: usize,
    /// Columns in the order in which they are left out where the screen is too narrow.
    optional: &'static [usize],
    /// The columns beside the first are figures.
    figures: bool,
    bars: Option<usize>,
}

impl Table {
    /// A table with these heads.
    pub fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Self { heads, rows: Vec::new(), indent: 0, optional: &[], figures: true, bars: None }
    }

    /// The columns beside the first have texts too, which are wrapped and stand at the left.
    pub fn of_texts(self) -> Self {
        Self { figures: false, ..self }
    }

    /// Stands after so many blanks.
    pub fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// This column has bars: they stand at the left.
    pub fn bars(self, column: usize) -> Self {
        Self { bars: Some(column), ..self }
    }

    /// These columns are left out, the first of them first, where the screen is too narrow for all.
    pub fn optional(self, optional: &'static [usize]) -> Self {
        Self { optional, ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in lines of at most the screen's width. Names that are too long are wrapped, figures never.
    pub fn shown(&self, screen: &Screen) -> String {
        let room = screen.width.saturating_sub(self.indent);
        let mut columns: Vec<usize> = (0..self.heads.len()).collect();
        let mut optional = self.optional.iter();
        while self.needs(&columns) > room {
            let Some(next) = optional.next() else { break };
            columns.retain(|column| column != next);
        }
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(room.try_into().unwrap_or(u16::MAX));
        table.set_header(columns.iter().map(|column| &self.heads[*column]));
        let others = columns.iter().skip(1).map(|column| self.width(*column) + GAP).sum::<usize>();
        let for_names = if self.figures { room.saturating_sub(others).max(1) } else { usize::MAX };
        for row in &self.rows {
            let cell = |column: &usize| row.get(*column).cloned().unwrap_or_default();
            let name = columns.first().map(|first| broken(&cell(first), for_names));
            table.add_row(name.into_iter().chain(columns.iter().skip(1).map(cell)));
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if place == 0 { 0 } else { GAP as u16 }, 0));
            if place > 0 && self.figures {
                column.set_constraint(ColumnConstraint::ContentWidth);
                if self.bars != Some(columns[place]) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        let blanks = " ".repeat(self.indent);
        let mut text = String::new();
        for (number, line) in table.trim_fmt().lines().enumerate() {
            text.push_str(&blanks);
            text.push_str(&if number == 0 { screen.heading(line) } else { line.to_owned() });
            text.push('\n');
        }
        let left_out = (0..self.heads.len()).filter(|column| !columns.contains(column));
        let left_out: Vec<&str> = left_out.map(|column| self.heads[column].as_str()).collect();
        if !left_out.is_empty() {
            let note = format!("(a wider terminal also shows: {})", left_out.join(", "));
            text.push_str(&screen.aside(&screen.wrapped(&note, self.indent)));
            text.push('\n');
        }
        text
    }

    /// Columns of the screen that these columns need.
    fn needs(&self, columns: &[usize]) -> usize {
        let name = columns.first().map_or(0, |first| self.width(*first).min(NARROWEST_NAME));
        name + columns.iter().skip(1).map(|column| self.width(*column) + GAP).sum::<usize>()
    }

    /// The longest text of a column.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([self.heads[column].chars().count()]).max().unwrap_or(0)
    }
}

/// A name in lines of at most so many characters where that is possible, broken after blanks, but not between a number
/// and its unit; within a word, after dashes and slashes, only if it is longer than a line.
fn broken(name: &str, width: usize) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    let fits = |word: &&str| word.trim_end().chars().count() <= width;
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    for (blank, _) in name.match_indices(' ') {
        let next = name[blank + 1..].split(' ').next().unwrap_or_default();
        if !is_figure(&name[start..blank], next) {
            words.push(&name[start..=blank]);
            start = blank + 1;
        }
    }
    words.push(&name[start..]);
    let parts = words.into_iter().flat_map(|word| {
        let within: &[char] = if fits(&word) { &[] } else { &['-', '/', '_', '.'] };
        word.split_inclusive(within)
    });
    for part in parts {
        if !line.is_empty() && line.chars().count() + part.trim_end().chars().count() > width {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        line.push_str(part);
    }
    lines.push(line);
    lines.join("\n")
}

/// Whether two words are a number and its unit, brackets and commas aside.
fn is_figure(number: &str, unit: &str) -> bool {
    let mark = |c: char| "(),;:".contains(c);
    let figure = format!("1 {}", unit.trim_end_matches(mark));
    let is_unit = figure.parse::<Time>().is_ok()
        || figure.parse::<Bytes>().is_ok()
        || figure.parse::<BitRate>().is_ok()
        || figure.parse::<Power>().is_ok()
        || ["1 packets", "1 %"].contains(&figure.as_str());
    is_unit && number.trim_start_matches(mark).parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new(["figure", "mean", "median", "most"]).indented(2).optional(&[2]);
        let long = "all-to-all-between-many-workers-of-one-rack: mean completion, ms".to_owned();
        table.row([long, "12.34 ± 0.56".to_owned(), "12.00".to_owned(), "99.99".to_owned()]);
        table.row(["timeouts".to_owned(), "0".to_owned(), "0".to_owned(), "3".to_owned()]);
        table
    }

    #[test]
    fn long_names_are_wrapped_and_keep_their_end() {
        for width in [46, 60, 80, 120] {
            let text = example().shown(&Screen::plain(width));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            for word in ["workers-", "completion,", "ms", "12.34 ± 0.56", "99.99"] {
                assert!(text.contains(word), "{width}, {word}: {text}");
            }
        }
        let wide = example().shown(&Screen::plain(120));
        assert_eq!(wide.lines().count(), 3, "{wide}");
    }

    #[test]
    fn names_break_where_words_end() {
        assert_eq!(broken("a-name-of words", 8), "a-name-\nof words");
        assert_eq!(broken("short", 8), "short");
        assert_eq!(broken("links (100 Mbit/s)", 16), "links\n(100 Mbit/s)");
        assert_eq!(broken("to all: 10 s of it", 9), "to all:\n10 s of\nit");
    }

    #[test]
    fn what_a_narrow_screen_leaves_out_is_named() {
        let text = example().shown(&Screen::plain(48));
        assert!(!text.contains("12.00") && text.contains("a wider terminal also shows: median"), "{text}");
        assert!(example().shown(&Screen::plain(120)).contains("12.00"));
    }
}
