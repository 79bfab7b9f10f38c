//! The near gateway, beside the programs: keeps a session with a far gateway and sends programs' connections through
//! it.

use crate::allow::Rule;
use crate::direct::{Direct, DirectError};
use crate::door::redirect::Bypass;
use crate::door::{Accepted, Answer};
use crate::handshake::{self, HandshakeError, Opening, say};
use crate::keep_alive::{self, Ends};
use crate::keys::{Fingerprint, Identity, Peers};
use crate::log::Log;
use crate::options::{MAX_PAYLOAD, Options};
use crate::paths::Paths;
use crate::program::{self, Ended};
use crate::race::race;
use crate::refusals::{Cause, in_words};
use crate::route::Route;
use crate::shared_session::SharedSession;
use crate::socket::Via;
use crate::status::Status;
use crate::tls::{self, Secret};
use crate::trust::Trusted;
use crate::turns::{Turn, Turns};
use crate::udp::{self, Flows};
use crate::{Doors, Refusal, stream_task, timer};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::ClientConfig;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;
use stripe::StreamId;
use stripe::session::{Pool, Role, Session, code};
use stripe::wire::{self, Frame, Hello};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_rustls::{TlsConnector, TlsStream};
use units::Time;

/// Pause between attempts to begin a session: the first, and the longest.
const REDIAL: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// A program waits this long for a session to begin.
const BEGIN: Duration = Duration::from_secs(10);
/// A session whose connections have ended waits this long for both ends to close its streams.
const CLOSE: Duration = Duration::from_secs(5);
/// Interval at which streams are looked at when nothing seems to have happened.
const LOOK: Time = Time::from_secs(5);
/// Streams that are opened at the same time, once the far gateway answers.
const DIALS: usize = 16;
/// Interval at which it is looked whether servers that need no gateway still need none.
const REVIEW: Duration = Duration::from_secs(1);
/// Capacity of the channel from the doors.
const WAITING: usize = 64;

/// Configuration of a near gateway.
#[derive(Clone, Debug)]
pub struct NearOptions {
    /// The gateway's key.
    pub identity: Identity,
    /// The pinned peers, among them the far gateway.
    pub peers: Peers,
    /// The far gateway, as HOST:PORT; several where it can be reached at several hosts' addresses at once.
    pub to: Vec<String>,
    /// Local addresses or interfaces from which streams leave; empty to follow the system's routes. Each with each host
    /// is a path.
    pub via: Vec<Via>,
    /// Destinations to which programs' connections may go directly, in the clear, while streams gain nothing.
    pub direct: Vec<Rule>,
    /// Streams, memory and the other options that both gateways have.
    pub options: Options,
}

/// Errors of starting a near gateway.
#[derive(Debug, thiserror::Error)]
pub enum NearError {
    /// An error of the TLS library.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// No peer is pinned, so no gateway can be trusted.
    #[error("no peer is known: pin the far gateway's fingerprint with `trunkline jet keys --pin`")]
    NoPeers,
    /// No host of the far gateway is named.
    #[error("no address of the far gateway is named")]
    Nowhere,
    /// A rule by which nothing can go directly.
    #[error(transparent)]
    Direct(#[from] DirectError),
}

/// A near gateway. It lives while this handle or a clone of its doors does.
#[derive(Debug)]
pub struct Near {
    inner: Arc<Inner>,
    doors: Doors,
}

#[derive(Debug)]
struct Inner {
    told: NearOptions,
    /// The paths, at least one.
    routes: Vec<Route>,
    trusted: Trusted,
    config: Arc<ClientConfig>,
    pool: Arc<Pool>,
    direct: Direct,
    log: Log,
    /// The session that takes connections, while there is one.
    shared: watch::Sender<Option<Arc<SharedSession>>>,
    /// All sessions, those included that only finish their connections.
    sessions: Mutex<Vec<Arc<Running>>>,
    /// Program connections that have not ended.
    programs: AtomicUsize,
    /// Permits for programs that keep flows of datagrams.
    keepers: Arc<Semaphore>,
    /// Set when nothing new is taken; and when everything has ended.
    leaving: watch::Sender<bool>,
    left: Notify,
}

/// A session and what its next stream needs.
#[derive(Debug)]
struct Running {
    shared: Arc<SharedSession>,
    id: [u8; 16],
    secret: Secret,
    /// The next stream's number (P-4).
    next_stream: AtomicU32,
    /// The address at which the session began, and the limit of streams that both ends accept.
    peer: SocketAddr,
    most: u32,
    /// The far gateway's key.
    key: Fingerprint,
}

/// A program's connection that has begun.
enum Begun {
    /// It is asked for on a session's streams.
    Striped(Arc<SharedSession>, u32),
    /// It is one with its server.
    Direct(TcpStream),
}

/// A stream whose handshake is done.
struct Stream {
    id: StreamId,
    path: u32,
    tls: TlsStream<TcpStream>,
    probe: OwnedFd,
    opening: Opening,
    hello: Hello,
    /// The far gateway's key.
    key: Fingerprint,
    /// The secret of the session's first stream.
    secret: Option<Secret>,
}

impl Near {
    /// Starts a gateway, which keeps a session from now on.
    pub fn start(told: NearOptions, log: Log) -> Result<Self, NearError> {
        if told.peers.is_empty() {
            return Err(NearError::NoPeers);
        }
        let routes = Route::all(&told.to, &told.via);
        if routes.is_empty() {
            return Err(NearError::Nowhere);
        }
        let trusted = Trusted::new(told.peers.clone());
        let config = tls::client(&told.identity, &trusted)?;
        let pool = told.options.pool();
        let direct = Direct::new(told.direct.clone())?;
        let inner = Arc::new(Inner {
            told,
            routes,
            trusted,
            config,
            pool,
            direct,
            log,
            shared: watch::Sender::new(None),
            sessions: Mutex::default(),
            programs: AtomicUsize::new(0),
            keepers: Arc::new(Semaphore::new(udp::PROGRAMS)),
            leaving: watch::Sender::new(false),
            left: Notify::new(),
        });
        let (doors, accepted) = mpsc::channel(WAITING);
        tokio::spawn(Arc::clone(&inner).take(accepted));
        if inner.direct.reached().is_some() {
            tokio::spawn(review(Arc::downgrade(&inner)));
        }
        Ok(Self { inner, doors })
    }
    /// The channel for the doors' connections.
    pub fn doors(&self) -> Doors {
        self.doors.clone()
    }
    /// The way in for the doors' datagrams, if they are carried.
    pub fn flows(&self) -> Option<Flows> {
        let inner = &self.inner;
        let flows = || Flows::new(inner.shared.subscribe(), Arc::clone(&inner.keepers), inner.log.clone());
        inner.told.options.udp.map(|_| flows())
    }
    /// The servers that programs may reach without the gateway at present, for doors that the kernel keeps.
    pub fn reached(&self) -> Option<Bypass> {
        self.inner.direct.reached().map(Bypass)
    }
    /// Waits for a session; returns whether there is one.
    pub async fn ready(&self, most: Duration) -> bool {
        self.inner.shared(most).await.is_some()
    }
    /// The gateway's status.
    pub fn status(&self) -> Status {
        let sessions = self.inner.sessions();
        let sessions = sessions.iter().map(|running| (&running.id, &*running.shared));
        let mut status = Status::of("near", sessions, &self.inner.pool, self.inner.log.refusals());
        status.direct = self.inner.direct.status(self.inner.shared.borrow().as_deref());
        status
    }
    /// Trusts these peers from now on. The sessions with others end at once, and programs are told.
    pub fn trust(&self, peers: Peers) {
        self.inner.trusted.set(peers);
        for running in self.inner.sessions().iter() {
            self.inner.end_if_unpinned(running);
        }
    }
    /// Takes no new connections, and returns when the existing ones have ended. Doors are to be closed before.
    pub async fn leave(&self) {
        self.inner.leaving.send_replace(true);
        self.inner.left.notified().await;
    }
}

/// Reviews the servers that need no gateway, as long as there is the gateway.
async fn review(inner: Weak<Inner>) {
    while let Some(inner) = inner.upgrade() {
        inner.direct.review(inner.shared.borrow().as_deref());
        drop(inner);
        sleep(REVIEW).await;
    }
}

impl Inner {
    fn sessions(&self) -> MutexGuard<'_, Vec<Arc<Running>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn end_if_unpinned(&self, running: &Running) {
        if !self.trusted.has(running.key) {
            self.log.note("a session ends", "the far gateway is not pinned any more");
            running.shared.work(|session, _| session.give_up());
        }
    }
    /// A session that accepts connections.
    async fn shared(&self, most: Duration) -> Option<Arc<SharedSession>> {
        let takes = |shared: &Option<Arc<SharedSession>>| {
            shared.as_ref().is_some_and(|shared| shared.look(Session::takes_connections))
        };
        let mut shared = self.shared.subscribe();
        let waited = timeout(most, shared.wait_for(takes)).await;
        waited.ok()?.ok()?.clone()
    }

    // === Programs ===

    /// Takes connections from the doors until all doors are closed or the gateway leaves.
    async fn take(self: Arc<Self>, mut accepted: mpsc::Receiver<Accepted>) {
        let keeper = tokio::spawn(Arc::clone(&self).keep());
        let mut leaving = self.leaving.subscribe();
        let (mut open, mut turns) = (true, Turns::default());
        loop {
            tokio::select! {
                program = accepted.recv() => {
                    let Some(program) = program else { break };
                    self.programs.fetch_add(1, Ordering::Relaxed);
                    let (inner, turn) = (Arc::clone(&self), turns.take());
                    tokio::spawn(async move {
                        Arc::clone(&inner).serve(program, turn).await;
                        inner.programs.fetch_sub(1, Ordering::Relaxed);
                    });
                }
                _ = leaving.wait_for(|leaving| *leaving), if open => {
                    accepted.close();
                    open = false;
                }
            }
        }
        while !open && self.is_busy() {
            sleep(REDIAL[0]).await;
        }
        keeper.abort();
        if !open {
            let all = self.sessions().clone();
            for running in all {
                close(&running.shared, &self.log).await;
            }
            self.left.notify_one();
        }
    }
    /// Whether there is a connection, or bytes of one that the peer has not acknowledged.
    fn is_busy(&self) -> bool {
        let busy = |session: &Session| session.connection_count() > 0 && !session.is_over();
        let keeping = self.keepers.available_permits() < udp::PROGRAMS;
        keeping
            || self.programs.load(Ordering::Relaxed) > 0
            || self.sessions().iter().any(|running| running.shared.look(busy))
    }
    /// Serves a program's connection, from the door to its end.
    async fn serve(self: Arc<Self>, accepted: Accepted, turn: Turn) {
        program::close_as(&accepted.stream, Ended::Reset);
        let called = accepted.to.clone();
        let ends = Ends::of(&accepted.stream, &called);
        let begun = match self.shared(BEGIN).await {
            Some(shared) => turn.begin(self.begin_for(shared, &called)).await,
            None => Err(libc::ENETUNREACH),
        };
        let (shared, connection) = match begun {
            Ok(Begun::Striped(shared, connection)) => (shared, connection),
            Ok(Begun::Direct(server)) => {
                // A program that has gone meanwhile needs no server.
                let Ok(program) = accepted.opened().await else { return };
                return self.direct.carry(program, server, ends).await;
            }
            Err(errno) => {
                let why = match errno {
                    libc::ENETUNREACH => "there is no session with the far gateway".to_owned(),
                    errno => in_words(errno as u32),
                };
                let cause = if errno == libc::ENETUNREACH { Cause::NoSession } else { Cause::of_code(errno as u32) };
                self.log.refused(cause, None, &format!("no connection to {called}"), &why);
                return accepted.refused(Refusal::of_code(errno as u32)).await;
            }
        };
        // Where the kernel has already completed the program's handshake, 0-RTT data may follow the OPEN.
        if !matches!(accepted.answer, Answer::Established)
            && let Err(code) = opened(&shared, connection).await
        {
            shared.work(|session, now| session.abandon(now, connection, code));
            shared.forget(connection);
            self.refused(&called, code);
            return accepted.refused(Refusal::of_code(code)).await;
        }
        match accepted.opened().await {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                keep_alive::by_default(&stream);
                let say = |keep_alive| {
                    shared.work(|session, _| session.have_kept_alive(connection, keep_alive));
                };
                tokio::select! {
                    ended = program::carry(Arc::clone(&shared), connection, stream) => {
                        if let Ended::Refused(code) = ended {
                            self.refused(&called, code);
                        }
                    }
                    () = keep_alive::mirror(ends, say) => {}
                }
            }
            Err(_) => shared.forget(connection),
        }
    }
    /// Begins a program's connection, or says by an error number why there can be none.
    async fn begin_for(&self, shared: Arc<SharedSession>, to: &wire::Destination) -> Result<Begun, i32> {
        if let Some(server) = self.direct.connect(to, &shared).await {
            return Ok(Begun::Direct(server));
        }
        let connection = shared.work(|session, _| session.connect(to.clone()));
        connection.map(|connection| Begun::Striped(shared, connection)).map_err(|_| libc::ENOBUFS)
    }

    /// The far gateway has refused a connection.
    fn refused(&self, to: &wire::Destination, code: u32) {
        self.log.refused(Cause::of_code(code), None, &format!("no connection to {to}"), &in_words(code));
    }

    // === The session ===

    /// Keeps a session: begins one, and another when that is over or accepts no more connections.
    async fn keep(self: Arc<Self>) {
        let mut pause = REDIAL[0];
        // After a failure the next path is tried first.
        for turn in 0_usize.. {
            match self.begin(turn).await {
                Ok(running) => {
                    pause = REDIAL[0];
                    let running = Arc::new(running);
                    self.sessions().insert(0, Arc::clone(&running));
                    // It may have been unpinned during the handshake.
                    self.end_if_unpinned(&running);
                    self.shared.send_replace(Some(Arc::clone(&running.shared)));
                    tokio::select! {
                        () = timer::run(&running.shared, &self.log) => {}
                        () = self.tend(&running, false) => {}
                    }
                    self.shared.send_replace(None);
                    tokio::spawn(Arc::clone(&self).finish(running));
                }
                Err(error) => {
                    self.log.note(&format!("no session with {}", self.told.to.join(", ")), &error.to_string());
                    sleep(pause.mul_f64(jitter())).await;
                    pause = (pause * 2).min(REDIAL[1]);
                }
            }
        }
    }
    /// Retires a session: it gets no new connections and finishes those that it has (P-28).
    async fn finish(self: Arc<Self>, running: Arc<Running>) {
        let shared = &running.shared;
        let idle = async {
            while shared.look(Session::connection_count) > 0 {
                sleep(REDIAL[0]).await;
            }
        };
        tokio::select! {
            () = timer::run(shared, &self.log) => {}
            () = self.tend(&running, true) => {}
            () = idle => {}
        }
        close(shared, &self.log).await;
        self.sessions().retain(|other| !Arc::ptr_eq(other, &running));
    }
    /// Begins a session with its first stream (P-7), on the first path that leads to the far gateway.
    async fn begin(self: &Arc<Self>, turn: usize) -> Result<Running, HandshakeError> {
        let mut id = [0; 16];
        SystemRandom::new().fill(&mut id).map_err(|_| HandshakeError::Io(io::ErrorKind::Other.into()))?;
        let count = self.routes.len();
        let reach = |path: usize| {
            let inner = Arc::clone(self);
            async move { Ok((path as u32, inner.routes[path].connect(None, &inner.told.options).await?)) }
        };
        let opening = async {
            let attempts = (0..count).map(|place| reach((place + turn) % count)).collect();
            let (path, tcp) = race(attempts, io::ErrorKind::NotFound.into()).await?;
            let peer = tcp.peer_addr()?;
            if let Some(policy) = self.routes[path as usize].blind(peer) {
                let remedy = "all streams take one member of the bond; layer3+4 would use all of them";
                self.log.note(&format!("the bond to {} hashes by {policy}", self.routes[path as usize]), remedy);
            }
            Ok((peer, self.greet(tcp, &id, StreamId(1), path, None).await?))
        };
        let (peer, mut stream) = timeout(handshake::PATIENCE, opening).await.unwrap_or(Err(HandshakeError::Silence))?;
        let Some(secret) = stream.secret.take() else { return Err(HandshakeError::Order) };
        let settings = self.told.options.settings(Some(&stream.hello));
        let most = settings.max_streams;
        let tuner = self.told.options.tuner(most);
        let (openings, _) = mpsc::unbounded_channel();
        let began = Instant::now();
        let session = Session::new(Time::ZERO, Role::Near, settings, tuner, &self.pool)
            .ok_or(HandshakeError::Dismissed(wire::Refusal::Busy))?;
        let shared = SharedSession::new(self.told.to.join(", "), began, session, openings);
        let key = stream.key;
        self.carry(&shared, stream);
        Ok(Running { shared, id, secret, next_stream: AtomicU32::new(2), peer, most, key })
    }
    /// Keeps the number of streams at the number wanted (P-27), on every path, until the session is over or, before it
    /// is `leaving`, takes no more connections.
    async fn tend(self: &Arc<Self>, running: &Arc<Running>, leaving: bool) {
        let shared = &running.shared;
        let mut dials = JoinSet::new();
        let mut paths = Paths::new(self.routes.len());
        loop {
            let now = shared.now();
            let (done, want, have) = shared.look(|session| {
                let left = session.peer_leaves() && !leaving;
                (session.is_over() || left, session.number(), session.stream_count())
            });
            if done {
                return;
            }
            paths.see(now, &shared.standings());
            while let Some(path) = paths.hopeless(want, running.most) {
                let standings = shared.standings();
                let Some(last) = standings.iter().rfind(|stream| stream.path == path) else { break };
                shared.work(|session, now| session.lose_stream(now, last.id));
                paths.see(now, &shared.standings());
            }
            while paths.dialling() < DIALS
                && let Some(path) = paths.next(now, want, running.most)
            {
                paths.dial(now, path);
                let id = StreamId(running.next_stream.fetch_add(1, Ordering::Relaxed));
                let (inner, running) = (Arc::clone(self), Arc::clone(running));
                dials.spawn(async move { (path, inner.join(&running, id, path).await) });
            }
            let mut drained = false;
            while let Some(path) = paths.surplus(now, want) {
                let standings = shared.standings();
                let Some(last) = standings.iter().rfind(|stream| stream.path == path && stream.usable) else {
                    break;
                };
                shared.work(|session, now| session.drain_stream(now, last.id));
                paths.see(now, &shared.standings());
                drained = true;
            }
            if drained {
                // A stream was closed; another may take its place.
                continue;
            }
            let due = shared.instant(paths.due(now).min(now.saturating_add(LOOK)));
            tokio::select! {
                () = shared.number.notified() => {}
                () = sleep_until(due) => {}
                Some(Ok((path, dialled))) = dials.join_next() => {
                    paths.dialled(shared.now(), path, dialled.is_ok(), jitter());
                    match dialled {
                        Ok(stream) => self.carry(shared, stream),
                        Err(HandshakeError::Refused(wire::Refusal::UnknownSession)) if have == 0 => return,
                        Err(error @ HandshakeError::Unpinned) if have == 0 => {
                            self.log.note("a session ends", &error.to_string());
                            // Its programs are told now, not when nobody waits for streams any more.
                            shared.work(|session, _| session.give_up());
                            return;
                        }
                        // The far gateway has not noticed that other streams are gone, or is a new process that does
                        // not know the session.
                        Err(HandshakeError::Refused(wire::Refusal::TooManyStreams | wire::Refusal::UnknownSession)) => {}
                        Err(error) => self.log.note(&format!("a stream to {}", self.routes[path as usize]), &error.to_string()),
                    }
                }
            }
        }
    }
    fn carry(self: &Arc<Self>, shared: &Arc<SharedSession>, stream: Stream) {
        shared.add_stream(stream.id, stream.path, stream.probe);
        let (inner, shared) = (Arc::clone(self), Arc::clone(shared));
        let (reader, input) = stream.opening.into_parts();
        tokio::spawn(async move {
            if let Err(error) =
                stream_task::run(shared, stream.id, stream.tls, reader, input, inner.told.options.keys_last).await
            {
                inner.log.note(&format!("a stream to {}", inner.routes[stream.path as usize]), &error.to_string());
            }
        });
    }
    /// Opens another stream of a session (P-8).
    async fn join(&self, running: &Running, id: StreamId, path: u32) -> Result<Stream, HandshakeError> {
        let opening = async {
            let (route, peer) = (&self.routes[path as usize], Some(running.peer));
            let tcp = if running.shared.standings().iter().all(|stream| !stream.usable) {
                route.probe(peer, &self.told.options).await?
            } else {
                route.connect(peer, &self.told.options).await?
            };
            self.greet(tcp, &running.id, id, path, Some(&running.secret)).await
        };
        timeout(handshake::PATIENCE, opening).await.unwrap_or(Err(HandshakeError::Silence))
    }
    /// Does TLS and HELLO.
    async fn greet(
        &self,
        tcp: TcpStream,
        session: &[u8; 16],
        id: StreamId,
        path: u32,
        secret: Option<&Secret>,
    ) -> Result<Stream, HandshakeError> {
        let probe = tcp.as_fd().try_clone_to_owned()?;
        let name = tls::name(self.told.identity.fingerprint()).ok_or(HandshakeError::Order)?;
        let mut tls = TlsConnector::from(Arc::clone(&self.config)).connect(name, tcp).await?;
        if !tls::speaks(tls.get_ref().1) {
            return Err(HandshakeError::Protocol);
        }
        let begins = match secret {
            Some(secret) => Frame::Join { proof: secret.proof(&**tls.get_ref().1, id)? },
            None => Frame::Start,
        };
        let hello = Session::hello(&self.told.options.settings(None), *session, id);
        say(&mut tls, &[Frame::Hello(hello), begins]).await?;
        let mut opening = Opening::new(MAX_PAYLOAD);
        let hello = opening.hello(&mut tls).await.map_err(HandshakeError::unpinned)?;
        if hello.session != *session || hello.stream != id.0 {
            return Err(HandshakeError::Order);
        }
        let key = tls::peer(tls.get_ref().1).ok_or(HandshakeError::Order)?;
        let secret = if secret.is_none() { Some(Secret::of(&**tls.get_ref().1, session)?) } else { None };
        Ok(Stream { id, path, tls: tls.into(), probe, opening, hello, key, secret })
    }
}

/// Ends a session whose connections have ended. Its streams are closed properly, or the far gateway would count them as
/// dead (P-26).
async fn close(shared: &SharedSession, log: &Log) {
    shared.work(|session, now| {
        let all: Vec<StreamId> = session.streams().iter().map(stripe::Stream::id).collect();
        for id in all {
            session.drain_stream(now, id);
        }
    });
    let closed = async {
        while shared.look(|session| session.streams().iter().next().is_some()) {
            sleep(REDIAL[0]).await;
        }
    };
    tokio::select! {
        () = timer::run(shared, log) => {}
        () = closed => {}
        () = sleep(CLOSE) => {}
    }
    shared.work(|session, _| session.give_up());
}

/// A random factor for pauses, so that gateways that lost their streams together do not return together.
fn jitter() -> f64 {
    let mut random = [0; 1];
    let _ = SystemRandom::new().fill(&mut random);
    0.75 + f64::from(random[0]) / 512.0
}

/// Waits until the destination has accepted a connection, or refused it, with the reason.
async fn opened(shared: &SharedSession, connection: u32) -> Result<(), u32> {
    std::future::poll_fn(|cx| {
        let state = shared.serve(connection, cx.waker(), |session| session.state(connection));
        match state {
            Some(state) if state.opened => Poll::Ready(Ok(())),
            Some(state) => state.reset.map_or(Poll::Pending, |code| Poll::Ready(Err(code))),
            None => Poll::Ready(Err(code::RESET)),
        }
    })
    .await
}
