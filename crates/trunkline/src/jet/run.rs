//! `trunkline jet run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueHint;
use jet::door::preload;
use jet::launch::{self, LaunchError};

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The gateway's Unix socket [default: $XDG_RUNTIME_DIR/trunkline/jet-run.sock, or the system's in /run/trunkline]
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub gateway: Option<PathBuf>,
    /// Rather refuse than go directly: a program that cannot be caught is not started, and whatever the program starts
    /// that is not caught makes no TCP connections
    #[arg(long)]
    pub strict: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Becomes the program.
pub fn run(args: &Run) -> Result<(), Failure> {
    let Some((name, arguments)) = args.command.split_first() else {
        return Err(Failure::Input("no program is named".to_owned()));
    };
    let socket = args.gateway.clone().unwrap_or_else(preload::nearest_socket);
    let socket = std::path::absolute(&socket).unwrap_or(socket);
    let Some(program) = launch::find(name) else {
        return Err(Failure::Input(format!("cannot run {}: not found in PATH", name.display())));
    };
    let environment = launch::environment(&socket).map_err(|error| failure(&error))?;
    // What the kernel redirects it redirects whatever the program is.
    let is_redirected = launch::join_launched();
    if let Ok(Some(why)) = launch::uncaught(&program) {
        let program = program.display();
        if args.strict {
            return Err(Failure::Input(format!(
                "{program} {why}: with --strict it is not started\n\
                 use a gateway's --socks5 or --forward, or its --redirect with --strict there and not here"
            )));
        }
        if !is_redirected {
            eprintln!(
                "warning: {program} {why}: its connections go directly; SOCKS5, a forward or a redirection would \
                 catch them, and --strict would not start it"
            );
        }
    }
    Err(failure(&launch::launch(&program, name, arguments, environment, args.strict)))
}

fn failure(error: &LaunchError) -> Failure {
    let said = error.to_string();
    match error {
        LaunchError::NoGateway { .. } => {
            Failure::Missing(format!("{said}\nstart one with trunkline jet gateway, or say with --gateway where it is"))
        }
        LaunchError::OtherNamespace(_) | LaunchError::Filter(_) => Failure::Missing(said),
        LaunchError::Library { .. } => Failure::Output(said),
        LaunchError::Path(_) | LaunchError::Program { .. } => Failure::Input(said),
    }
}
