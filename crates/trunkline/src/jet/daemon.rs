//! A gateway as a process: it says when it is ready, hands over to a new process, and goes when it is told to.

use crate::failure::Failure;
use jet::handover::{Inherited, succeed};
use jet::log::Log;
use serde_json::json;
use std::os::fd::BorrowedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use std::{env, io, process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a gateway's process is told by signals.
pub struct Daemon {
    log: Log,
    /// The program's file, as it was when it began: it may be another by now.
    program: PathBuf,
    terminate: Signal,
    interrupt: Signal,
    succeed: Signal,
}

/// The listeners of the process whose place this one takes, if it does.
pub fn inherited() -> Result<Inherited, Failure> {
    Inherited::receive().map_err(|error| Failure::Internal(format!("nothing was handed over: {error}")))
}

impl Daemon {
    /// Listens for signals from now on; to be called within the runtime.
    pub fn new(log: &Log) -> Result<Self, Failure> {
        let wrong = |error: io::Error| Failure::Internal(format!("no signals: {error}"));
        let listen = |kind| signal(kind).map_err(wrong);
        Ok(Self {
            log: log.clone(),
            program: env::current_exe().map_err(wrong)?,
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            succeed: listen(SignalKind::user_defined2())?,
        })
    }
    /// All that was to be opened is: tells whoever waits for that.
    pub fn ready(&self, inherited: Inherited) -> Result<(), Failure> {
        let given_up = |error| Failure::Internal(format!("the old process has not waited for this one: {error}"));
        // The service is ready already, and the old process says who it is now.
        if !inherited.ready().map_err(given_up)? {
            self.notify("READY=1");
        }
        Ok(())
    }
    /// Waits until the gateway is to go. Says whether a new process, which has these listeners, has taken its place.
    pub async fn until_told(&mut self, listeners: &[BorrowedFd<'_>]) -> bool {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return false,
                _ = self.interrupt.recv() => return false,
                _ = self.succeed.recv() => {}
            }
            let mut command = process::Command::new(&self.program);
            command.args(env::args_os().skip(1));
            match succeed(command, listeners).await {
                Ok(process) => {
                    self.notify(&format!("MAINPID={process}"));
                    self.log.write(&json!({ "event": "handed over", "process": process }));
                    return true;
                }
                Err(error) => self.log.note("not handed over", &error.to_string()),
            }
        }
    }
    /// Waits for what there is to be brought to an end, for so long at most; where a successor serves, that begins when
    /// this process is told to go. Told so once more it goes at once.
    pub async fn leave(&mut self, grace: Duration, successor: bool, leaving: impl Future<Output = ()>) {
        let mut leaving = pin!(leaving);
        if successor {
            self.log.write(&json!({ "event": "leaving", "seconds_at_most": null }));
            tokio::select! {
                () = &mut leaving => return,
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
        }
        self.log.write(&json!({ "event": "leaving", "seconds_at_most": grace.as_secs() }));
        tokio::select! {
            () = leaving => {}
            () = tokio::time::sleep(grace) => {
                self.log.note("not all connections have ended", "those that are left are reset");
            }
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
    /// Tells the service manager (sd_notify(3)), if there is one.
    fn notify(&self, state: &str) {
        let Some(at) = env::var_os("NOTIFY_SOCKET") else { return };
        let send = || {
            let socket = UnixDatagram::unbound()?;
            let address = match at.to_str().and_then(|at| at.strip_prefix('@')) {
                Some(name) => SocketAddr::from_abstract_name(name)?,
                None => SocketAddr::from_pathname(&at)?,
            };
            socket.send_to_addr(state.as_bytes(), &address)
        };
        if let Err(error) = send() {
            self.log.note("the service manager does not hear", &error.to_string());
        }
    }
}
