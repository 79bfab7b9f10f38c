//! Where text is shown: how wide it is, and whether it has colours.

use crate::words::words;
use anstyle::{AnsiColor, Style};
use std::io::{self, IsTerminal};

/// Columns where nobody says how many there are.
const USUAL: usize = 80;
/// Narrower than this nothing is laid out.
const NARROWEST: usize = 40;
/// Wider than this a table is hard to read along its lines.
const WIDEST: usize = 160;

/// The place of standard output.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Width in columns.
    pub width: usize,
    colour: bool,
}

impl Screen {
    /// Standard output: `COLUMNS`, else the terminal's width, else 80; colours on a terminal without `NO_COLOR`.
    pub fn of_output() -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
        let terminal = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
        let width = columns.or_else(terminal).filter(|width| *width > 0).unwrap_or(USUAL);
        Self { width: width.clamp(NARROWEST, WIDEST), colour: has_colour(io::stdout().is_terminal()) }
    }

    /// One of this width, without colours.
    #[cfg(test)]
    pub const fn plain(width: usize) -> Self {
        Self { width, colour: false }
    }

    /// A heading.
    pub fn heading(&self, text: &str) -> String {
        self.paint(text, Style::new().bold())
    }

    /// Something that went as it should.
    pub fn good(&self, text: &str) -> String {
        self.paint(text, AnsiColor::Green.on_default())
    }

    /// Something that went wrong.
    pub fn bad(&self, text: &str) -> String {
        self.paint(text, AnsiColor::Red.on_default().bold())
    }

    /// Something that cannot be told.
    pub fn doubtful(&self, text: &str) -> String {
        self.paint(text, AnsiColor::Yellow.on_default())
    }

    /// Something that can be overlooked.
    pub fn aside(&self, text: &str) -> String {
        self.paint(text, Style::new().dimmed())
    }

    fn paint(&self, text: &str, style: Style) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The text in lines of at most this width, the first after `indent` blanks, the others after two more.
    pub fn wrapped(&self, text: &str, indent: usize) -> String {
        let (mut lines, mut line, mut blanks) = (Vec::new(), String::new(), indent);
        for word in words(text) {
            if !line.is_empty() && blanks + line.chars().count() + 1 + word.chars().count() > self.width {
                lines.push(format!("{}{line}", " ".repeat(blanks)));
                line.clear();
                blanks = indent + 2;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(format!("{}{line}", " ".repeat(blanks)));
        lines.join("\n")
    }

    /// Wraps a text of which the first words are painted by `paint`, which does not change where lines end.
    pub fn wrapped_after(
        &self,
        first: &str,
        paint: impl Fn(&Self, &str) -> String,
        rest: &str,
        indent: usize,
    ) -> String {
        self.wrapped(&format!("{first}{rest}"), indent).replacen(first, &paint(self, first), 1)
    }
}

/// Whether what is a terminal, or not, gets colours (<https://no-color.org>).
pub fn has_colour(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_go_on_indented() {
        let screen = Screen { width: 20, colour: false };
        assert_eq!(screen.wrapped("one two three four five six", 2), "  one two three four\n    five six");
        assert_eq!(screen.wrapped("", 0), "");
        assert_eq!(screen.wrapped("it has saved of it 0.00 %", 0), "it has saved of it\n  0.00 %");
    }

    #[test]
    fn colours_do_not_move_the_breaks() {
        let text = |colour| {
            let screen = Screen { width: 20, colour };
            screen.wrapped_after("GOOD", Screen::good, ": one two three four five six", 2)
        };
        let (plain, painted) = (text(false), text(true));
        assert!(painted.contains("\u{1b}["), "{painted:?}");
        assert_eq!(painted.lines().count(), plain.lines().count());
        assert_eq!(painted.replace("\u{1b}[32m", "").replace("\u{1b}[0m", ""), plain);
    }
}
