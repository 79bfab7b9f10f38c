//! Reading the program's words, and what is said of those that it does not know.

use crate::args::Arguments;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{ArgAction, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::path::Path;

/// Reads the program's words.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let mut command = with_negative_numbers(Arguments::command());
    let read = command.try_get_matches_from_mut(&words).and_then(|matches| Arguments::from_arg_matches(&matches));
    read.map_err(|mut error| {
        if error.kind() == ErrorKind::InvalidSubcommand {
            suggest(&mut error, &command, &words);
        }
        error
    })
}

/// After an option that takes a value, `-1` is a value: that it is out of range says more than that there is no option
/// `-1`.
fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let takes_value = !arg.is_positional() && matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
        arg.allow_negative_numbers(takes_value)
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Names the command that may be meant. Clap looks for words that begin alike, and knows none that is like `rnu`.
fn suggest(error: &mut Error, program: &Command, words: &[OsString]) {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let unknown = unknown.clone();
    if Path::new(&unknown).is_file() {
        let usage = format!("a command comes first, as in `trunkline run {unknown}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![usage.into()]));
        return;
    }
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return;
    }
    let mut command = program;
    for word in words.iter().skip(1).take_while(|word| **word != *unknown) {
        command = word.to_str().and_then(|word| command.find_subcommand(word)).unwrap_or(command);
    }
    let known = command.get_subcommands().filter(|known| !known.is_hide_set()).map(Command::get_name);
    if let Some(near) = units::nearest(&unknown, known) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near.to_owned()]));
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn said(line: &str) -> String {
        parse(line.split(' ').map(Into::into)).expect_err(line).to_string()
    }

    #[test]
    fn a_mistyped_command_is_answered_with_the_one_that_is_like_it() {
        for (line, near) in
            [("trunkline rnu x", "'run'"), ("trunkline kat lpan", "'plan'"), ("trunkline estmate", "'estimate'")]
        {
            let text = said(line);
            assert!(text.contains(near), "{text}");
        }
        assert!(!said("trunkline photograph").contains("similar"));
        let file = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
        let text = said(&format!("trunkline {file}"));
        assert!(text.contains(&format!("`trunkline run {file}`")), "{text}");
    }

    #[test]
    fn a_number_that_is_none_is_answered_with_the_range() {
        let cases = [
            ("run x --seed y", "invalid value 'y' for '--seed <N>': it must be a whole number from 0 to 92233720"),
            ("run x --seed -1", "'-1' for '--seed <N>': it must be a whole number"),
            ("run x --threads 0", "'0' for '--threads <N>': out of range; it must be a whole number from 1 to 1024"),
            ("run x --runs 1e3", "'1e3' for '--runs <N>': it must be a whole number from 1 to 10000"),
            ("sweep x --seeds 99999999999", "out of range; it must be a whole number from 1 to 10000"),
            ("advise x --budget -5", "`-5` is negative"),
        ];
        for (line, expected) in cases {
            let text = said(&format!("trunkline {line}"));
            assert!(text.contains(expected), "{text}\nlacks: {expected}");
        }
    }
}
