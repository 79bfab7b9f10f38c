//! `trunkline jet`.

mod run;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub enum Jet {
    /// Run a program whose connections go through this host's gateway
    #[command(after_help = "Examples:
  trunkline jet run -- mysqldump --host db.far.example --all-databases
  trunkline jet run -- rsync -a far.example:data/ data/
  trunkline jet run --gateway /run/trunkline/jet-run.sock -- bash

TCP connections to other hosts are caught where the program calls connect(2) of its C library; loopback, \
link-local and what the gateway was told to leave alone are not. A program that is linked statically, is written \
in Go or runs with other rights than yours is not caught, which is said on standard error when it is the \
program itself; of programs that it starts nobody can say it. Use another door for those (docs/jet.md).

The exit code is the program's; 2 if it cannot be run, 4 if no gateway answers.")]
    Run(run::Run),
}

/// Does what it is asked.
pub fn jet(command: &Jet) -> Result<(), Failure> {
    match command {
        Jet::Run(run) => run::run(run),
    }
}
