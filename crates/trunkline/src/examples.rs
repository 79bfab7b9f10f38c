//! Every command that help texts and documents show is one that parses, and its `--set`s are ones that a scenario
//! takes.

use crate::args::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands for something else: a synopsis, an elision, a shell's variable, a diagram.
const PLACEHOLDERS: [&str; 5] = [" [", "...", "\"$", "FINGERPRINT", " -> "];
/// What parts a command from a remark behind it.
const GAP: &str = "   ";

/// The commands of ours that a text shows, indented as help texts and documents do. A backslash or an open quote joins
/// lines.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().filter(|line| line.starts_with("  ")).map(str::trim);
    while let Some(line) = lines.next() {
        let Some(first) = line.split(GAP).next().filter(|line| line.starts_with("trunkline ")) else { continue };
        let mut command = first.to_owned();
        while let Some(begun) = command.strip_suffix('\\') {
            command = format!("{begun} {}", lines.next().unwrap_or_default());
        }
        // A quoted text may go over several lines.
        while command.matches('\'').count() % 2 == 1 {
            let Some(more) = lines.next() else { break };
            command = format!("{command}\n{more}");
        }
        if !PLACEHOLDERS.iter().any(|placeholder| command.contains(placeholder)) {
            found.push(command);
        }
    }
    found
}

/// A line's words up to a comment, a pipe or a redirection, as a shell divides them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), letter) => word.push(letter),
            (None, '\'' | '"') => (quote, begun) = (Some(letter), true),
            (None, ' ') => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, '|' | '>' | '<' | '&') => break,
            (None, '#') if !begun => break,
            (None, letter) => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    assert!(quote.is_none(), "an open quote: {line}");
    words
}

/// Parses it, and lays its assignments over the scenario that it names, or over an empty one.
fn check(line: &str) {
    let arguments = Arguments::try_parse_from(words(line)).unwrap_or_else(|error| panic!("{line}\n{error}"));
    let (files, change) = match arguments.command {
        Command::Run(run) => (vec![run.scenario], run.change),
        Command::Compare(compare) => (compare.scenarios, compare.change),
        _ => return,
    };
    for file in files {
        let path = root().join(&file);
        let of_tree = file.starts_with("scenarios");
        let text = if of_tree { fs::read_to_string(&path).expect(line) } else { "[job]\n".to_owned() };
        let parsed = sim::parse("example.toml", &text, &change.assignments);
        parsed.unwrap_or_else(|error| panic!("{line}\n{error}"));
    }
}

fn of_helps(command: &clap::Command, count: &mut usize) {
    let texts = [command.get_after_help(), command.get_after_long_help(), command.get_before_help()];
    for text in texts.into_iter().flatten() {
        for line in commands(&text.to_string()) {
            check(&line);
            *count += 1;
        }
    }
    command.get_subcommands().for_each(|next| of_helps(next, count));
}

#[test]
fn commands_of_help_texts_are_right() {
    let mut count = 0;
    of_helps(&Arguments::command(), &mut count);
    assert!(count > 30, "{count}");
}

#[test]
fn commands_of_documents_are_right() {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("docs") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|is| is == "md") {
                pages.push(path);
            }
        }
    }
    let mut count = 0;
    for page in pages {
        for line in commands(&fs::read_to_string(&page).expect("readable")) {
            check(&line);
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}
