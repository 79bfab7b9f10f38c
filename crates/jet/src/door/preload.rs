//! The door of programs that `jet run` has started: a preloaded library redirects their `connect`.
//!
//! The library (`shim/connect.c`) asks at a Unix socket where to connect in place of the destination, connects there,
//! on loopback, and reports which connection that was ([`wire`]). The door matches the report with the connection,
//! whichever comes first.

pub mod wire;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::convert::Infallible;
use std::env;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use rustix::process;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time;

use super::listen::Recognised;
use super::{Accepted, Answer, DoorError, Hall, Open, Trace, listen};
use crate::handover::Inherited;
use crate::{Destination, Refusal};

/// A door for `jet run`.
#[derive(Debug)]
pub struct Preload {
    /// The Unix socket where programs find it.
    pub socket: PathBuf,
    /// Destinations that programs are told to connect to directly.
    pub direct: Vec<IpNet>,
}

/// The default place of a gateway's door: its service's runtime directory, `/run` for root, else the user's runtime
/// directory.
pub fn default_socket() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let own = || if process::geteuid().is_root() { Some("/run".into()) } else { set("XDG_RUNTIME_DIR") };
    // The runtime directory of a systemd service (systemd.exec(5)).
    let folder = set("RUNTIME_DIRECTORY").or_else(|| Some(own()?.join("trunkline")))?;
    Some(folder.join(SOCKET))
}

/// The socket of the user's own gateway if there is one, else of the system's.
pub fn nearest_socket() -> PathBuf {
    let own = default_socket().filter(|socket| socket.exists());
    own.unwrap_or_else(|| Path::new("/run/trunkline").join(SOCKET))
}

const SOCKET: &str = "jet-run.sock";

/// The file beside a socket that says where the doors are ([`wire`]).
fn doors_of(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".doors");
    path.into()
}

/// The socket's file, and the one beside it, removed when the door closes unless a successor has them.
#[derive(Debug)]
pub struct SocketFile(Option<PathBuf>);

impl SocketFile {
    /// Leaves the file to a successor.
    pub fn leave(&mut self) {
        self.0 = None;
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(doors_of(path));
            let _ = fs::remove_file(path);
        }
    }
}

impl Preload {
    pub(super) async fn open(self, hall: Hall, inherited: &Inherited) -> Result<Open, DoorError> {
        let v4 = listen::bind((Ipv4Addr::LOCALHOST, 0).into(), inherited).await?;
        // A host may do without IPv6; its programs then have no IPv6 destinations either.
        let v6 = listen::bind((Ipv6Addr::LOCALHOST, 0).into(), inherited).await.ok();
        let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port()).ok();
        let ports = [port(&v4), v6.as_ref().and_then(port)];
        let written = wire::doors(ports[0], ports[1], &self.direct);
        let (control, file, succeeds) = self.bind(&written, inherited)?;
        if succeeds {
            // The predecessor takes what has read of its ports.
            time::sleep(SETTLE).await;
        }
        let listeners = control.as_fd().try_clone_to_owned().into_iter().collect();
        let exchange =
            Arc::new(Exchange { v4: ports[0], v6: ports[1], direct: self.direct, meetings: Mutex::default() });
        let addresses = [Some(&v4), v6.as_ref()].into_iter().flatten().filter_map(|it| it.local_addr().ok()).collect();
        let mut tasks = JoinSet::new();
        for listener in [Some(v4), v6].into_iter().flatten() {
            let exchange = Arc::clone(&exchange);
            tasks.spawn(listen::serve(listener, "preload", hall.clone(), move |stream| {
                Arc::clone(&exchange).recognise(stream)
            }));
        }
        if succeeds {
            tasks.spawn(write_later(self.socket, written, hall.closing.clone()));
        }
        tasks.spawn(control_loop(control, exchange, hall.closing));
        Ok(Open { addresses, listeners, tasks, trace: Some(Trace::Preload(file)) })
    }

    /// The Unix socket, for this user and group alone, with the file of the doors beside it; and whether it was a
    /// predecessor's. While that one takes programs from the socket too, they have to ask: whoever answers gives its
    /// own ports.
    fn bind(&self, written: &[u8], inherited: &Inherited) -> Result<(UnixListener, SocketFile, bool), DoorError> {
        let failed = |cause| DoorError::Listen { address: self.socket.display().to_string(), cause };
        let file = SocketFile(Some(self.socket.clone()));
        if let Some(listener) = inherited.unix(|own| own.as_pathname() == Some(&*self.socket)) {
            let _ = fs::remove_file(doors_of(&self.socket));
            return Ok((UnixListener::from_std(listener).map_err(failed)?, file, true));
        }
        if std::os::unix::net::UnixStream::connect(&self.socket).is_ok() {
            return Err(DoorError::Occupied(self.socket.clone()));
        }
        if let Some(folder) = self.socket.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        // No answer: at most the socket file of a killed gateway is there.
        match fs::remove_file(&self.socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        // Whoever reaches the socket finds the ports of this gateway, not of one before it.
        write_doors(&self.socket, written).map_err(failed)?;
        let listener = UnixListener::bind(&self.socket).map_err(failed)?;
        fs::set_permissions(&self.socket, fs::Permissions::from_mode(0o660)).map_err(failed)?;
        Ok((listener, file, false))
    }
}

/// A new process waits so long before it takes programs from a socket that it has inherited; and so long before it
/// writes its own doors, when the old one takes none any more.
const SETTLE: Duration = Duration::from_millis(100);
const ALONE: Duration = Duration::from_secs(5);

/// Writes where the doors are, whole or not at all.
fn write_doors(socket: &Path, written: &[u8]) -> io::Result<()> {
    let path = doors_of(socket);
    let new = path.with_extension("new");
    fs::write(&new, written)?;
    fs::set_permissions(&new, fs::Permissions::from_mode(0o640))?;
    fs::rename(&new, path)
}
async fn write_later(socket: PathBuf, written: Vec<u8>, mut closing: watch::Receiver<bool>) {
    tokio::select! {
        () = listen::closing(&mut closing) => {}
        // On failure programs ask.
        () = time::sleep(ALONE) => drop(write_doors(&socket, &written)),
    }
}

/// How long one half of a connection (at the door, or at the Unix socket) waits for the other.
const MEETING: Duration = Duration::from_secs(5);

/// Matches connections at the door with what programs report of them.
struct Exchange {
    v4: Option<u16>,
    v6: Option<u16>,
    direct: Vec<IpNet>,
    meetings: Mutex<BTreeMap<SocketAddr, Half>>,
}

/// The half of a connection that came first, by the program's address.
enum Half {
    /// The connection came first: the report goes here.
    Connection(oneshot::Sender<Said>),
    Said(Said),
}

/// What the library reported of a connection.
struct Said {
    to: SocketAddr,
    answer: Answer,
    /// Dropped when the connection has taken the report; its other end when the reporter has stopped waiting.
    met: oneshot::Sender<Infallible>,
}

impl Exchange {
    /// The port to connect to in place of a destination; `None` to connect directly.
    fn verdict(&self, to: SocketAddr) -> Option<u16> {
        if self.direct.iter().any(|network| network.contains(&to.ip())) {
            return None;
        }
        if to.is_ipv4() { self.v4 } else { self.v6 }
    }

    /// The destination of a connection at the door.
    async fn recognise(self: Arc<Self>, stream: TcpStream) -> Recognised {
        let unclear = Recognised::Unclear("no program has said that it is its own");
        let Ok(from) = stream.peer_addr().map(canonical) else { return unclear };
        let said = match self.meet(from) {
            Ok(said) => said,
            Err(waiting) => {
                let said = time::timeout(MEETING, waiting).await;
                self.forget(from);
                let Ok(Ok(said)) = said else { return unclear };
                said
            }
        };
        Recognised::Accepted(Accepted { stream, to: Destination::Address(said.to), answer: said.answer })
    }

    /// The report on the connection from an address, or a receiver that will get it.
    fn meet(&self, from: SocketAddr) -> Result<Said, oneshot::Receiver<Said>> {
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Half::Said(said)) = meetings.remove(&from) {
            return Ok(said);
        }
        let (here, waiting) = oneshot::channel();
        meetings.insert(from, Half::Connection(here));
        Err(waiting)
    }

    /// Reports on the connection from an address: to its task, or for its task to find.
    fn say(&self, from: SocketAddr, said: Said) {
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        match meetings.remove(&from) {
            // If the connection has gone meanwhile, the answer is dropped and the program sees a failure.
            Some(Half::Connection(there)) => drop(there.send(said)),
            _ => drop(meetings.insert(from, Half::Said(said))),
        }
    }

    /// Removes halves that nobody waits for.
    fn forget(&self, from: SocketAddr) {
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(entry) = meetings.entry(from) {
            let alive = match entry.get() {
                Half::Connection(there) => !there.is_closed(),
                Half::Said(said) => !said.met.is_closed(),
            };
            if !alive {
                entry.remove();
            }
        }
    }
}

/// Normalises an address: IPv4-mapped to IPv4, and only address and port.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(IpAddr::to_canonical(&address.ip()), address.port())
}

/// Programs asking at once. More wait in the kernel's queue.
const PROGRAMS: usize = 4096;

async fn control_loop(control: UnixListener, exchange: Arc<Exchange>, mut closing: watch::Receiver<bool>) {
    let mut programs = JoinSet::new();
    loop {
        if programs.len() >= PROGRAMS {
            programs.join_next().await;
        }
        tokio::select! {
            program = control.accept() => match program {
                Ok((program, _)) => {
                    programs.spawn(serve(program, Arc::clone(&exchange)));
                }
                Err(_) => time::sleep(listen::EXHAUSTED).await,
            },
            Some(_) = programs.join_next(), if !programs.is_empty() => {}
            () = listen::closing(&mut closing) => break,
        }
    }
    drop(control);
    while programs.join_next().await.is_some() {}
}

/// One `connect` of a program, from request to outcome.
async fn serve(mut program: UnixStream, exchange: Arc<Exchange>) -> Option<()> {
    let (to, claim) = time::timeout(listen::PATIENCE, asked(&mut program, &exchange)).await.ok()??;
    let (met, meeting) = oneshot::channel();
    if !claim.waits {
        exchange.say(claim.from, Said { to, answer: Answer::Established, met });
        let _ = time::timeout(MEETING, meeting).await;
        exchange.forget(claim.from);
        return Some(());
    }
    let (answer, outcome) = oneshot::channel();
    exchange.say(claim.from, Said { to, answer: Answer::Preload(answer), met });
    let outcome = tokio::select! {
        outcome = outcome => Some(outcome.unwrap_or(Some(Refusal::NoGateway))),
        // The program says nothing more: the end of its socket means that it has gone.
        _ = program.read_u8() => None,
    };
    drop(meeting);
    exchange.forget(claim.from);
    let errno = outcome?.map_or(0, |refusal| refusal.errno().raw_os_error());
    program.write_all(&errno.to_be_bytes()).await.ok()
}

/// Answers where to connect, and reads which connection that has become.
async fn asked(program: &mut UnixStream, exchange: &Exchange) -> Option<(SocketAddr, wire::Claim)> {
    let mut request = [0; wire::REQUEST];
    program.read_exact(&mut request).await.ok()?;
    let wire::Request { to, asks } = wire::request(&request)?;
    if asks {
        program.write_all(&wire::verdict(exchange.verdict(to))).await.ok()?;
    }
    let mut claim = [0; wire::CLAIM];
    program.read_exact(&mut claim).await.ok()?;
    Some((to, wire::claim(&claim)?))
}
