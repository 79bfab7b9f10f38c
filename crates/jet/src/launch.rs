//! `jet run`: a program whose connections go through a gateway's [`Preload`](crate::door::Preload) door.

mod program;
mod shim;
mod strict;

use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::door::preload::wire;
pub use crate::door::redirect::join_launched;
pub use program::{Uncaught, find, uncaught};

/// Errors of running a program through a gateway.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No gateway behind the socket.
    #[error("no gateway answers at {}: {cause}", .socket.display())]
    NoGateway {
        /// The gateway's Unix socket.
        socket: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The door is on another loopback.
    #[error(
        "the gateway at {} is in another network namespace: run the program in the gateway's, or have the gateway \
         redirect this one",
        .0.display()
    )]
    OtherNamespace(PathBuf),
    /// The library's path cannot stand in `LD_PRELOAD`.
    #[error(
        "{}: a path with a space, a colon or more than 107 bytes cannot be given to the program's loader",
        .0.display()
    )]
    Path(PathBuf),
    /// The library cannot be written.
    #[error("cannot write the library to be preloaded, {}: {cause}", .path.display())]
    Library {
        /// The library's file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The system-call filter of `--strict` cannot be loaded.
    #[error("--strict needs seccomp filters, on x86-64, ARM64 or RISC-V64: {0}")]
    Filter(String),
    /// The program cannot be executed.
    #[error("cannot run {}: {cause}", .program.display())]
    Program {
        /// The program's file.
        program: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

/// Becomes the program, in an environment that leads its connections, and its children's, to a gateway. With `strict`
/// whatever the library is not in makes no TCP sockets.
pub fn launch(
    program: &Path,
    name: &OsString,
    arguments: &[OsString],
    environment: Environment,
    strict: bool,
) -> LaunchError {
    let mut command = Command::new(program);
    command.arg0(name).args(arguments).envs(environment);
    if strict {
        command.env(strict::VARIABLE, "1");
        if let Err(error) = strict::confine() {
            return error;
        }
    }
    LaunchError::Program { program: program.to_owned(), cause: command.exec() }
}

/// Variables and their values.
pub type Environment = [(&'static str, OsString); 2];

/// The environment that makes a program's connections go to the gateway behind `socket`. Checks that there is one.
pub fn environment(socket: &Path) -> Result<Environment, LaunchError> {
    if socket.as_os_str().len() > LONGEST_SOCKET {
        return Err(LaunchError::Path(socket.to_owned()));
    }
    reach(socket)?;
    let mut preload = shim::install()?.into_os_string();
    // The user's own preloaded libraries stay, behind this one: it connects through them.
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    Ok([("LD_PRELOAD", preload), ("TRUNKLINE_JET_SOCKET", socket.into())])
}

/// The longest path of a Unix socket (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// Asks the gateway for the door, as the library will, and connects to it: in another network namespace there is no
/// door on loopback.
fn reach(socket: &Path) -> Result<(), LaunchError> {
    let patience = Some(Duration::from_secs(5));
    let ask = || -> io::Result<u16> {
        let mut gateway = UnixStream::connect(socket)?;
        gateway.set_read_timeout(patience)?;
        gateway.set_write_timeout(patience)?;
        // 192.0.2.0/24 is in no network (RFC 5737).
        gateway.write_all(&wire::ask(SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 9))))?;
        let mut port = [0; 2];
        gateway.read_exact(&mut port)?;
        Ok(u16::from_be_bytes(port))
    };
    let port = ask().map_err(|cause| LaunchError::NoGateway { socket: socket.to_owned(), cause })?;
    let door = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    // No port: the gateway leaves that address alone, so there is nothing to try.
    if port != 0 && TcpStream::connect(door).is_err() {
        return Err(LaunchError::OtherNamespace(socket.to_owned()));
    }
    Ok(())
}
