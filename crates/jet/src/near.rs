//! The near gateway, beside the programs: keeps a session with a far gateway, and sends programs' connections through it.

use crate::door::{Accepted, Answer};
use crate::handshake::{self, HandshakeError, Opening, say};
use crate::hub::Hub;
use crate::keys::{Identity, Peers};
use crate::log::Log;
use crate::options::{MAX_PAYLOAD, Options};
use crate::socket::{self, Via};
use crate::status::Status;
use crate::tls::{self, Secret};
use crate::{Doors, Refusal, carrier, program, timer};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;
use stripe::StreamId;
use stripe::session::{Pool, Role, Session, code};
use stripe::wire::{self, Frame, Hello};
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::{TlsConnector, TlsStream};
use units::Time;

/// Between attempts to open a stream: at first, and at most.
const REDIAL: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// A program waits so long for a session to begin.
const BEGIN: Duration = Duration::from_secs(10);
/// Streams that are opened at the same time.
const DIALS: usize = 16;
/// Programs' connections between the doors and here.
const WAITING: usize = 64;

/// What a near gateway is told.
#[derive(Clone, Debug)]
pub struct NearOptions {
    /// Its key.
    pub identity: Identity,
    /// The far gateway's key, among others.
    pub peers: Peers,
    /// Where the far gateway is, as HOST:PORT.
    pub to: String,
    /// The paths that streams take; empty for as the system routes.
    pub via: Vec<Via>,
    /// All else.
    pub options: Options,
}

/// Why a near gateway cannot be.
#[derive(Debug, thiserror::Error)]
pub enum NearError {
    /// The TLS library.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// Whom should it trust?
    #[error("no peer is known: pin the far gateway's fingerprint with `trunkline jet keys --pin`")]
    NoPeers,
}

/// A near gateway. It goes on while it, or a clone of its doors, is there.
#[derive(Debug)]
pub struct Near {
    inner: Arc<Inner>,
    doors: Doors,
}

#[derive(Debug)]
struct Inner {
    told: NearOptions,
    config: Arc<ClientConfig>,
    pool: Arc<Pool>,
    log: Log,
    /// The session, while there is one.
    hub: watch::Sender<Option<Arc<Hub>>>,
}

/// A session and what its next stream needs.
#[derive(Debug)]
struct Running {
    hub: Arc<Hub>,
    id: [u8; 16],
    secret: Secret,
    next_stream: AtomicU32,
}

/// A stream that is ready.
struct Stream {
    id: StreamId,
    path: u32,
    tls: TlsStream<TcpStream>,
    probe: OwnedFd,
    opening: Opening,
    hello: Hello,
    /// Of the first stream: the session's.
    secret: Option<Secret>,
}

impl Near {
    /// A gateway that keeps a session from now on.
    pub fn start(told: NearOptions, log: Log) -> Result<Self, NearError> {
        if told.peers.is_empty() {
            return Err(NearError::NoPeers);
        }
        let config = tls::client(&told.identity, &told.peers)?;
        let pool = told.options.pool();
        let inner = Arc::new(Inner { told, config, pool, log, hub: watch::Sender::new(None) });
        let (doors, mut accepted) = mpsc::channel(WAITING);
        let keeping = Arc::clone(&inner);
        let serving = Arc::clone(&inner);
        tokio::spawn(async move {
            let keeper = tokio::spawn(keeping.keep());
            while let Some(program) = accepted.recv().await {
                tokio::spawn(Arc::clone(&serving).serve(program));
            }
            keeper.abort();
        });
        Ok(Self { inner, doors })
    }
    /// Where doors put connections.
    pub fn doors(&self) -> Doors {
        self.doors.clone()
    }
    /// Waits for a session, if there is none; says whether there is one.
    pub async fn ready(&self, most: Duration) -> bool {
        self.inner.hub(most).await.is_some()
    }
    /// How it stands.
    pub fn status(&self) -> Status {
        let hub = self.inner.hub.borrow().clone();
        Status::of("near", hub.iter().map(|hub| (self.inner.told.to.as_str(), &**hub)), &self.inner.pool)
    }
    /// Takes no new connections from now on; returns when those that are there have ended.
    pub async fn leave(&self) {
        let hub = self.inner.hub.borrow().clone();
        if let Some(hub) = hub {
            hub.work(|session, _| session.leave());
            while hub.look(Session::connection_count) > 0 && !hub.look(Session::is_over) {
                sleep(REDIAL[0]).await;
            }
        }
    }
}

impl Inner {
    async fn hub(&self, most: Duration) -> Option<Arc<Hub>> {
        let mut hub = self.hub.subscribe();
        let waited = timeout(most, hub.wait_for(Option::is_some)).await;
        waited.ok()?.ok()?.clone()
    }

    // === Programs ===

    /// A program's connection, from the door to its end.
    async fn serve(self: Arc<Self>, accepted: Accepted) {
        let to = accepted.to.clone();
        let begun = match self.hub(BEGIN).await {
            Some(hub) => {
                let connection = hub.work(|session, _| session.connect(to));
                connection.map(|connection| (hub, connection)).map_err(|_| libc::ENOBUFS)
            }
            None => Err(libc::ENETUNREACH),
        };
        let (hub, connection) = match begun {
            Ok(begun) => begun,
            Err(errno) => return accepted.refused(Refusal::of_code(errno as u32)).await,
        };
        // Where the kernel has told the program that it is connected, what it writes travels behind the OPEN.
        if !matches!(accepted.answer, Answer::Established)
            && let Err(code) = opened(&hub, connection).await
        {
            hub.work(|session, now| session.abandon(now, connection, code));
            hub.forget(connection);
            return accepted.refused(Refusal::of_code(code)).await;
        }
        match accepted.opened().await {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                program::carry(hub, connection, stream).await;
            }
            Err(_) => hub.forget(connection),
        }
    }

    // === The session ===

    /// Keeps a session: begins one, and another when that is over, or takes no more connections.
    async fn keep(self: Arc<Self>) {
        let mut pause = REDIAL[0];
        loop {
            match self.begin().await {
                Ok(running) => {
                    pause = REDIAL[0];
                    let running = Arc::new(running);
                    self.hub.send_replace(Some(Arc::clone(&running.hub)));
                    tokio::select! {
                        () = timer::run(&running.hub, &self.log) => {}
                        () = self.tend(&running, false) => {}
                    }
                    self.hub.send_replace(None);
                    tokio::spawn(Arc::clone(&self).finish(running));
                }
                Err(error) => {
                    self.log.note(&format!("no session with {}", self.told.to), &error.to_string());
                    sleep(jittered(pause)).await;
                    pause = (pause * 2).min(REDIAL[1]);
                }
            }
        }
    }
    /// A session that gets no new connections: those that it has go on to their end (P-28).
    async fn finish(self: Arc<Self>, running: Arc<Running>) {
        let hub = &running.hub;
        let idle = async {
            while hub.look(Session::connection_count) > 0 {
                sleep(REDIAL[0]).await;
            }
        };
        tokio::select! {
            () = timer::run(hub, &self.log) => {}
            () = self.tend(&running, true) => {}
            () = idle => {}
        }
        hub.work(|session, _| session.give_up());
    }
    /// A new session and its first stream (P-7).
    async fn begin(self: &Arc<Self>) -> Result<Running, HandshakeError> {
        let mut id = [0; 16];
        SystemRandom::new().fill(&mut id).map_err(|_| HandshakeError::Io(io::ErrorKind::Other.into()))?;
        let mut stream = self.dial(&id, StreamId(1), 0, None).await?;
        let Some(secret) = stream.secret.take() else { return Err(HandshakeError::Order) };
        let settings = self.told.options.settings(Some(&stream.hello));
        let tuner = self.told.options.tuner(settings.max_streams);
        let (openings, _) = mpsc::unbounded_channel();
        let began = Instant::now();
        let session = Session::new(Time::ZERO, Role::Near, settings, tuner, &self.pool)
            .ok_or(HandshakeError::Refused(wire::Refusal::Busy))?;
        let hub = Hub::new(began, session, openings);
        self.carry(&hub, stream);
        Ok(Running { hub, id, secret, next_stream: AtomicU32::new(2) })
    }
    /// Sees to it that there are as many streams as there are to be (P-27); until the session is over or, before it is `leaving`, takes no more connections.
    async fn tend(self: &Arc<Self>, running: &Arc<Running>, leaving: bool) {
        let hub = &running.hub;
        let mut dials = JoinSet::new();
        let mut pause = REDIAL[0];
        let mut wait = None;
        let mut most = u32::MAX;
        loop {
            let (done, want, have) = hub.look(|session| {
                let left = session.peer_leaves() && !leaving;
                (session.is_over() || left, session.number().min(most), session.stream_count())
            });
            if done {
                return;
            }
            while wait.is_none() && dials.len() < DIALS && (have as usize + dials.len()) < want as usize {
                let number = running.next_stream.fetch_add(1, Ordering::Relaxed);
                let (inner, running, path) = (Arc::clone(self), Arc::clone(running), self.path(hub, number));
                dials
                    .spawn(async move { inner.dial(&running.id, StreamId(number), path, Some(&running.secret)).await });
            }
            if have > want {
                hub.work(|session, now| {
                    let last: Vec<StreamId> = session.streams().iter().map(stripe::Stream::id).collect();
                    last.into_iter().rev().take((have - want) as usize).for_each(|id| session.drain_stream(now, id));
                });
            }
            tokio::select! {
                () = hub.number.notified() => {}
                () = async { wait.map_or_else(|| sleep(REDIAL[1]), sleep).await } => wait = None,
                Some(dialled) = dials.join_next() => match dialled {
                    Ok(Ok(stream)) => {
                        (pause, wait) = (REDIAL[0], None);
                        self.carry(hub, stream);
                    }
                    Ok(Err(HandshakeError::Refused(wire::Refusal::UnknownSession))) if have == 0 => return,
                    Ok(Err(HandshakeError::Refused(wire::Refusal::TooManyStreams))) => most = have.max(1),
                    Ok(Err(error)) => {
                        self.log.note(&format!("a stream to {}", self.told.to), &error.to_string());
                        wait = Some(jittered(pause));
                        pause = (pause * 2).min(REDIAL[1]);
                    }
                    Err(_) => {}
                },
            }
        }
    }
    /// The path with the fewest streams; of those, in turn.
    fn path(&self, hub: &Hub, number: u32) -> u32 {
        let paths = self.told.via.len().max(1) as u32;
        let counts = hub.paths();
        let order = |path: &u32| (counts.get(path).copied().unwrap_or(0), (path + paths - number % paths) % paths);
        (0..paths).min_by_key(order).unwrap_or(0)
    }
    fn carry(self: &Arc<Self>, hub: &Arc<Hub>, stream: Stream) {
        hub.add_stream(stream.id, stream.path, stream.probe);
        let (inner, hub) = (Arc::clone(self), Arc::clone(hub));
        let (reader, input) = stream.opening.into_parts();
        tokio::spawn(async move {
            if let Err(error) = carrier::carry(hub, stream.id, stream.tls, reader, input).await {
                inner.log.note(&format!("a stream to {}", inner.told.to), &error.to_string());
            }
        });
    }
    /// Opens a stream: TCP, TLS, HELLO.
    async fn dial(
        &self,
        session: &[u8; 16],
        id: StreamId,
        path: u32,
        secret: Option<&Secret>,
    ) -> Result<Stream, HandshakeError> {
        timeout(handshake::PATIENCE, self.open(session, id, path, secret)).await.unwrap_or(Err(HandshakeError::Silence))
    }
    async fn open(
        &self,
        session: &[u8; 16],
        id: StreamId,
        path: u32,
        secret: Option<&Secret>,
    ) -> Result<Stream, HandshakeError> {
        let tcp = self.connect(path).await?;
        let probe = tcp.as_fd().try_clone_to_owned()?;
        let name = ServerName::try_from("trunkline-jet").map_err(|_| HandshakeError::Order)?;
        let mut tls = TlsConnector::from(Arc::clone(&self.config)).connect(name, tcp).await?;
        let begins = match secret {
            Some(secret) => Frame::Join { proof: secret.proof(&**tls.get_ref().1, id)? },
            None => Frame::Start,
        };
        let hello = Session::hello(&self.told.options.settings(None), *session, id);
        say(&mut tls, &[Frame::Hello(hello), begins]).await?;
        let mut opening = Opening::new(MAX_PAYLOAD);
        let hello = opening.hello(&mut tls).await?;
        if hello.session != *session || hello.stream != id.0 {
            return Err(HandshakeError::Order);
        }
        let secret = if secret.is_none() { Some(Secret::of(&**tls.get_ref().1, session)?) } else { None };
        Ok(Stream { id, path, tls: tls.into(), probe, opening, hello, secret })
    }
    async fn connect(&self, path: u32) -> io::Result<TcpStream> {
        let via = self.told.via.get(path as usize);
        let fits = |address: &SocketAddr| match via {
            Some(Via::Address(local)) => local.is_ipv4() == address.is_ipv4(),
            _ => true,
        };
        let mut last = io::Error::other("no address of the far gateway can be reached from here");
        for address in lookup_host(&self.told.to).await?.filter(fits) {
            match socket::dial(address, via, &self.told.options).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// So that gateways which lost their streams at the same time do not come back at the same time.
fn jittered(pause: Duration) -> Duration {
    let mut random = [0; 1];
    let _ = SystemRandom::new().fill(&mut random);
    pause.mul_f64(0.75 + f64::from(random[0]) / 512.0)
}

/// Waits until a connection's destination has taken it, or is known not to, and why.
async fn opened(hub: &Hub, connection: u32) -> Result<(), u32> {
    std::future::poll_fn(|cx| {
        let state = hub.serve(connection, cx.waker(), |session, _| session.state(connection));
        match state {
            Some(state) if state.opened => Poll::Ready(Ok(())),
            Some(state) => state.reset.map_or(Poll::Pending, |code| Poll::Ready(Err(code))),
            None => Poll::Ready(Err(code::RESET)),
        }
    })
    .await
}
