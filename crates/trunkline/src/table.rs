//! Tables that fit the screen.

use crate::screen::Screen;
use crate::words::{pieces, words};
use comfy_table::{CellAlignment, ContentArrangement, presets};

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
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let widths = if self.figures { self.beside_figures(&columns, room) } else { self.beside_texts(&columns, room) };
        let cells = |row: &[String]| -> Vec<String> {
            let cell = |(column, width): (&usize, &usize)| {
                let text = row.get(*column).map_or("", String::as_str);
                if *width < text.chars().count() { broken(text, *width) } else { text.to_owned() }
            };
            columns.iter().zip(&widths).map(cell).collect()
        };
        let heads = cells(&self.heads);
        let lines_of_heads = heads.iter().map(|head| head.lines().count()).max().unwrap_or(0);
        table.set_header(heads);
        for row in &self.rows {
            table.add_row(cells(row));
        }
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if place == 0 { 0 } else { GAP as u16 }, 0));
            if place > 0 && self.figures && self.bars != Some(columns[place]) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let blanks = " ".repeat(self.indent);
        let mut text = String::new();
        for (number, line) in table.trim_fmt().lines().enumerate() {
            text.push_str(&blanks);
            text.push_str(&if number < lines_of_heads { screen.heading(line) } else { line.to_owned() });
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

    /// The widths of names and the figures beside them: of these alone names are broken.
    fn beside_figures(&self, columns: &[usize], room: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = columns.iter().map(|column| self.width(*column)).collect();
        let others = widths.iter().skip(1).map(|width| width + GAP).sum::<usize>();
        if let Some(names) = widths.first_mut() {
            *names = (*names).min(room.saturating_sub(others).max(1));
        }
        widths
    }

    /// The widths of columns of texts: the widest gives way, down to its longest word, and only then words are broken.
    fn beside_texts(&self, columns: &[usize], room: usize) -> Vec<usize> {
        let longest = |column: &usize, parts: fn(&str) -> usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(*column)).map(|cell| parts(cell));
            cells.chain([self.heads[*column].chars().count()]).max().unwrap_or(0)
        };
        let word = |text: &str| words(text).iter().map(|word| word.chars().count()).max().unwrap_or(0);
        let piece =
            |text: &str| words(text).into_iter().flat_map(pieces).map(|part| part.chars().count()).max().unwrap_or(0);
        let mut widths: Vec<usize> = columns.iter().map(|column| self.width(*column)).collect();
        for least in [word as fn(&str) -> usize, piece] {
            let least: Vec<usize> = columns.iter().map(|column| longest(column, least)).collect();
            while widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) > room {
                let may_give = (0..widths.len()).filter(|place| widths[*place] > least[*place]);
                let Some(widest) = may_give.max_by_key(|place| widths[*place]) else { break };
                widths[widest] -= 1;
            }
        }
        widths
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

/// A name in lines of at most so many characters where that is possible, broken between words; within a word, after
/// dashes, dots and slashes, only if it is longer than a line.
fn broken(name: &str, width: usize) -> String {
    let (mut lines, mut line) = (Vec::new(), " ".repeat(name.len() - name.trim_start().len()));
    for word in words(name) {
        let fits = word.chars().count() <= width;
        let parts: Vec<&str> = if fits { vec![word] } else { pieces(word).collect() };
        for (number, part) in parts.into_iter().enumerate() {
            let blank = if number == 0 && !line.trim_start().is_empty() { " " } else { "" };
            if !line.trim_start().is_empty() && line.chars().count() + blank.len() + part.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            } else {
                line.push_str(blank);
            }
            line.push_str(part);
        }
    }
    lines.push(line);
    lines.join("\n")
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
        assert_eq!(broken("  one two", 6), "  one\ntwo");
    }

    /// Keys are what a reader looks up: the reasons beside them give way first, and then keys are broken where their
    /// words end.
    #[test]
    fn keys_are_not_cut_within_a_word() {
        let mut table = Table::new(["assumed", "value", "why"]).of_texts();
        let key = "mapreduce.reduce-slow-start.attempt";
        table.row([key, "moved, of 19 attempts", "their hosts' clocks contradict the master's"].map(str::to_owned));
        for width in [40, 60, 80] {
            let text = table.shown(&Screen::plain(width));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert_eq!(text.contains(key), width > 40, "{width}: {text}");
            assert!(text.contains("contradict") && text.contains("attempts") && text.contains("attempt "), "{text}");
        }
    }

    #[test]
    fn what_a_narrow_screen_leaves_out_is_named() {
        let text = example().shown(&Screen::plain(48));
        assert!(!text.contains("12.00") && text.contains("a wider terminal also shows: median"), "{text}");
        assert!(example().shown(&Screen::plain(120)).contains("12.00"));
    }
}
