//! `trunkline jet`.

mod daemon;
mod doors;
mod gateway;
mod keys;
mod options;
mod run;
mod serve;
mod status;

use crate::failure::Failure;
use jet::keys::KeyError;
use std::path::PathBuf;
use tokio::runtime::Runtime;

#[derive(Debug, clap::Subcommand)]
pub enum Jet {
    /// Take sessions of near gateways, and connect to the servers here that they may go to
    #[command(after_help = "Examples:
  trunkline jet serve --listen 0.0.0.0:7608 --allow db.example:3306 --allow 10.0.0.0/8:1-1024
  trunkline jet serve --allow 127.0.0.1:* --monitor 127.0.0.1:7609

Peers are those whose keys `trunkline jet keys --pin` has pinned. On SIGTERM or SIGINT no new connection is taken, \
                  and those that are there may end; a second one resets them. On SIGUSR2 a new process takes \
                  this one's place, of whatever the program's file is by then; this one brings to an end what it has.")]
    Serve(serve::Serve),
    /// Keep a session with a far gateway for the programs here
    #[command(after_help = "Examples:
  trunkline jet gateway --to far.example
  trunkline jet gateway --to far.example:7608 --via 192.0.2.10 --via wlan0 --explain
  trunkline jet gateway --to far.example --udp --forward-udp 5353=dns.far.example:53 --socks5 1080

SIGTERM, SIGINT and SIGUSR2 are as with `trunkline jet serve`.")]
    Gateway(Box<gateway::Gateway>),
    /// Run a program whose connections go through this host's gateway
    #[command(after_help = "Examples:
  trunkline jet run -- mysqldump --host db.far.example --all-databases
  trunkline jet run -- rsync -a far.example:data/ data/
  trunkline jet run --strict -- rsync -a far.example:data/ data/
  trunkline jet run --gateway /run/trunkline/jet-run.sock -- bash

TCP connections to other hosts are caught where the program calls connect(2) of its C library; loopback, \
link-local and what the gateway was told to leave alone are not. A program that is linked statically, is written \
in Go or runs with other rights than yours is not caught, which is said on standard error when it is the \
program itself; of programs that it starts nobody can say it. Use another door for those (docs/reference/jet.md).
With --strict such a program is not started, and what the program starts makes no TCP sockets unless it is caught.

The exit code is the program's; 2 if it cannot be run, 4 if no gateway answers.")]
    Run(run::Run),
    /// Show this host's key, made if there is none, and pin the keys of peers
    #[command(after_help = "Examples:
  trunkline jet keys
  trunkline jet keys --pin 3f1c...9a --name far-office
  trunkline jet keys --unpin 3f1c...9a")]
    Keys(keys::Keys),
    /// Show connections, streams, rates, losses, and why there are as many streams as there are
    #[command(after_help = "Examples:
  trunkline jet status
  trunkline jet status --monitor 127.0.0.1:7609 --json")]
    Status(status::Status),
}

/// Does what it is asked.
pub fn jet(command: &Jet) -> Result<(), Failure> {
    match command {
        Jet::Serve(serve) => serve::serve(serve),
        Jet::Gateway(gateway) => gateway::gateway(gateway),
        Jet::Run(run) => run::run(run),
        Jet::Keys(keys) => keys::keys(keys),
        Jet::Status(status) => status::status(status),
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Write { .. } => Self::Output(error.to_string()),
            KeyError::Crypto => Self::Internal(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

/// Where this user's keys are.
fn keys_folder(given: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")));
    let folder = given.cloned().or_else(|| home().map(|home| home.join("trunkline/jet")));
    folder.ok_or_else(|| Failure::Input("neither XDG_CONFIG_HOME nor HOME is set: say --keys FOLDER".to_owned()))
}

fn runtime() -> Result<Runtime, Failure> {
    jet::host::runtime().map_err(|error| Failure::Internal(format!("no runtime: {error}")))
}
