//! `trunkline man`.

use crate::args::{Arguments, Man};
use crate::emit;
use crate::failure::Failure;
use clap::{Command, CommandFactory};
use runs::{Error, write_whole};
use std::fs;
use std::path::Path;

/// Prints a manual page, or writes those of all commands.
pub fn man(args: &Man) -> Result<(), Failure> {
    // `trunkline help` says what `--help` says: no page of its own.
    let mut program = Arguments::command().disable_help_subcommand(true);
    // Gives every command its full name.
    program.build();
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        return write_all(&program, "trunkline", folder);
    }
    let mut command = &program;
    for word in &args.command {
        let Some(next) = command.get_subcommands().find(|next| next.get_name() == word) else {
            let known: Vec<&str> = pages(command).map(Command::get_name).collect();
            let near = units::nearest(word, known.iter().copied());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let there_are = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let name = command.get_bin_name().unwrap_or("trunkline");
            return Err(Failure::Input(format!("{name} has no command `{word}`; {near}there are: {there_are}")));
        };
        command = next;
    }
    emit(&String::from_utf8_lossy(&page(command)?))
}

/// The commands below this one that have pages.
fn pages(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|next| !next.is_hide_set() && next.get_name() != "help")
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    // A page of a command below the first says the version of the program, too.
    let source = concat!("trunkline ", env!("CARGO_PKG_VERSION"));
    let rendered = clap_mangen::Man::new(command.clone()).source(source).manual("Trunkline").render(&mut page);
    rendered.map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(page)
}

/// Writes the page of a command and of all below it: trunkline-testbed-link.1 for `trunkline testbed link`.
fn write_all(command: &Command, name: &str, folder: &Path) -> Result<(), Failure> {
    write_whole(&folder.join(format!("{name}.1")), &page(command)?)?;
    pages(command).try_for_each(|next| write_all(next, &format!("{name}-{}", next.get_name()), folder))
}
