//! The far gateway, beside the servers: takes sessions and connects to allowed destinations.

use crate::allow::Allowed;
use crate::by_peer::ByPeer;
use crate::door::redirect;
use crate::handshake::{self, HandshakeError, Opening, Request, say};
use crate::keep_alive;
use crate::keys::{Fingerprint, Identity, Peers};
use crate::limits::Limits;
use crate::log::Log;
use crate::numbers::Numbers;
use crate::options::{MAX_PAYLOAD, Options};
use crate::places::{Place, Places, Source};
use crate::race::race;
use crate::refusals::{Cause, in_words};
use crate::route::alternating;
use crate::shared_session::{Asked, SharedSession};
use crate::status::Status;
use crate::tls::{self, Secret};
use crate::trust::Trusted;
use crate::turns::{Turn, Turns};
use crate::udp::{self, FlowPlaces};
use crate::{host, program, socket, stream_task, timer};
use rustls::ServerConfig;
use rustls::server::Acceptor;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stripe::StreamId;
use stripe::session::{Pool, Role, Session, code};
use stripe::wire::{Destination, Frame, Hello, Refusal};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_rustls::server::{Accept, StartHandshake};
use tokio_rustls::{LazyConfigAcceptor, TlsStream};
use units::Time;

/// Connections at once that have not said what TLS begins with: they cost a descriptor and little else.
const SILENT: usize = 1024;
/// Handshakes under way at once with strangers, over all addresses; and with peers, by their hints.
const HANDSHAKES: usize = 256;
/// A server that does not answer within this time is taken to be absent.
const CONNECT: Duration = Duration::from_secs(20);
/// A name that is not allowed is refused after this time, whether it exists or not: resolvers mostly know within it.
const BLIND: Duration = Duration::from_secs(1);
/// Why a destination is refused.
const NO_RULE: &str = "no --allow rule has it, or its name leads to a private address, which needs a rule of its own \
                       (--allow ADDRESS:PORT)";
/// Pause after a listener has failed.
const PAUSE: Duration = Duration::from_millis(100);
const BACKLOG: u32 = 1024;
/// A stream above the limit waits this long for another one to go.
const EARLY: Duration = Duration::from_secs(1);
/// Peers that were asked to open no more connections get this long to close their streams.
const GOODBYE: Duration = Duration::from_secs(10);
/// Paths of a session that are told apart: ever new addresses of a peer make no more.
const PATHS: usize = 256;
/// Destinations that are remembered while programs may be waiting to be connected to them, before they are looked
/// through.
const TURNS: usize = 64;

/// Configuration of a far gateway.
#[derive(Clone, Debug)]
pub struct FarOptions {
    /// The gateway's key.
    pub identity: Identity,
    /// The peers whose sessions are accepted.
    pub peers: Peers,
    /// The destinations that their programs may reach.
    pub allowed: Allowed,
    /// What single peers may have, in place of what the options say.
    pub limits: Limits,
    /// Streams, memory and the other options that both gateways have.
    pub options: Options,
}

/// A session with a near gateway.
#[derive(Debug)]
struct Entry {
    shared: Arc<SharedSession>,
    secret: Secret,
    peer: Fingerprint,
    begun: Instant,
    numbers: Numbers,
    /// The paths that streams have taken, by their local and remote addresses.
    paths: Vec<[IpAddr; 2]>,
}

/// A far gateway.
#[derive(Debug)]
pub struct Far {
    told: FarOptions,
    trusted: Trusted,
    sessions: Mutex<BTreeMap<[u8; 16], Entry>>,
    pool: Arc<Pool>,
    /// Each peer's part of the pool, while it has sessions.
    pools: ByPeer<Pool>,
    /// Each peer's permits for connections, while it has sessions.
    connections: ByPeer<Semaphore>,
    /// Room for flows of datagrams.
    flows: FlowPlaces,
    log: Log,
    /// Set when nothing new is accepted any more.
    leaving: watch::Sender<bool>,
}

/// Errors of starting a far gateway.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    /// The listening socket failed.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// An error of the TLS library.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// No peer is pinned, so nobody could use the gateway.
    #[error("no peer is known: pin the near gateway's fingerprint with `trunkline jet keys --pin`")]
    NoPeers,
}

/// Listens. Another process of the same user may listen already: it finishes what it has accepted, this one takes what
/// is new.
pub fn listen(address: SocketAddr, options: &Options) -> Result<TcpListener, FarError> {
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(true)?;
        socket::limit(&socket, options)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bind().map_err(|error| FarError::Listen { address, error })
}

impl Far {
    /// A gateway that accepts from these listeners from now on.
    pub fn start(told: FarOptions, listeners: Vec<TcpListener>, log: Log) -> Result<Arc<Self>, FarError> {
        if told.peers.is_empty() {
            return Err(FarError::NoPeers);
        }
        for peer in told.allowed.peers().filter(|peer| !told.peers.iter().any(|(_, name)| name == *peer)) {
            log.note(&format!("--allow {peer}=... is for nobody"), "no pinned peer has that name");
        }
        for peer in told.limits.peers().filter(|peer| !told.peers.iter().any(|(_, name)| name == *peer)) {
            log.note(&format!("--limit {peer}=... is for nobody"), "no pinned peer has that name");
        }
        let trusted = Trusted::new(told.peers.clone());
        let config = tls::server(&told.identity, &trusted)?;
        let pool = told.options.pool();
        let far = Arc::new(Self {
            flows: FlowPlaces::new(told.options.udp.unwrap_or_default()),
            told,
            trusted,
            sessions: Mutex::default(),
            pool,
            pools: ByPeer::default(),
            connections: ByPeer::default(),
            log,
            leaving: watch::Sender::new(false),
        });
        let rooms = Arc::new(Rooms::new());
        for listener in listeners {
            let mut leaving = far.leaving.subscribe();
            let (far, config, rooms) = (Arc::downgrade(&far), Arc::clone(&config), Arc::clone(&rooms));
            tokio::spawn(async move {
                loop {
                    let accepted = tokio::select! {
                        accepted = listener.accept() => accepted,
                        // Closes the listeners, so that new connections go to the successor.
                        _ = leaving.wait_for(|leaving| *leaving) => return,
                    };
                    let Some(far) = far.upgrade() else { return };
                    match accepted {
                        Ok((stream, from)) => {
                            let place = rooms.silent.take(Source::of(from.ip()));
                            let rooms = Arc::clone(&rooms);
                            tokio::spawn(far.welcome(stream, from.ip(), Arc::clone(&config), rooms, place));
                        }
                        Err(error) => {
                            // Out of descriptors, most likely: waits for open ones to be closed.
                            far.log.refused(Cause::of(&error), None, "accepting streams", &error.to_string());
                            sleep(PAUSE).await;
                        }
                    }
                }
            });
        }
        Ok(far)
    }

    /// Serves a stream to its end. It has a place among the silent, until it has said what TLS begins with.
    async fn welcome(
        self: Arc<Self>,
        stream: TcpStream,
        from: IpAddr,
        config: Arc<ServerConfig>,
        rooms: Arc<Rooms>,
        place: Place,
    ) {
        let deadline = Instant::now() + handshake::PATIENCE;
        let ended = match within(deadline, place, self.begun(stream)).await {
            // Much is remembered of a stream only from here on.
            Ok(begun) => Box::pin(self.serve_stream(begun, from, config, &rooms, deadline)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            self.dismiss(from, &error);
        }
    }
    /// Serves a stream from its handshake to its end. Strangers and peers have places of their own.
    async fn serve_stream(
        self: &Arc<Self>,
        begun: StartHandshake<TcpStream>,
        from: IpAddr,
        config: Arc<ServerConfig>,
        rooms: &Rooms,
        deadline: Instant,
    ) -> Result<(), HandshakeError> {
        let place = match begun.client_hello().server_name().and_then(|hint| self.trusted.hinted(hint)) {
            Some(peer) => rooms.peers.take(Source::Peer(peer)),
            None => rooms.strangers.take(Source::of(from)),
        };
        let (shared, id, tls, opening) = within(deadline, place, self.greet(begun.into_stream(config))).await?;
        let (reader, input) = opening.into_parts();
        stream_task::run(shared, id, tls, reader, input, self.told.options.keys_last).await.map_err(HandshakeError::Io)
    }
    fn dismiss(&self, from: IpAddr, why: &HandshakeError) {
        self.log.refused(Cause::of_stream(why), None, &format!("a stream from {from}"), &why.to_string());
    }
    /// Waits for TLS's first message. Before anything has come nothing is set up for it.
    async fn begun(&self, stream: TcpStream) -> Result<StartHandshake<TcpStream>, HandshakeError> {
        stream.readable().await?;
        socket::prepare(&stream, &self.told.options)?;
        Ok(LazyConfigAcceptor::new(Acceptor::default(), stream).await?)
    }
    /// Does TLS and HELLO, and finds the session that the stream belongs to.
    async fn greet(
        self: &Arc<Self>,
        accept: Accept<TcpStream>,
    ) -> Result<(Arc<SharedSession>, StreamId, TlsStream<TcpStream>, Opening), HandshakeError> {
        let mut tls = accept.await?;
        let stream = tls.get_ref().0;
        let probe = stream.as_fd().try_clone_to_owned()?;
        let ends = [stream.local_addr()?.ip(), stream.peer_addr()?.ip()];
        if !tls::speaks(tls.get_ref().1) {
            return Err(HandshakeError::Protocol);
        }
        let Some(peer) = tls::peer(tls.get_ref().1) else { return Err(HandshakeError::Order) };
        let mut opening = Opening::new(MAX_PAYLOAD);
        let hello = opening.hello(&mut tls).await?;
        let request = opening.request(&mut tls).await?;
        let id = StreamId(hello.stream);
        let admitted = match request {
            Request::Start => {
                let secret = Secret::of(&**tls.get_ref().1, &hello.session)?;
                self.begin(&hello, peer, secret)
            }
            Request::Join(proof) => {
                let state = &**tls.get_ref().1;
                self.join_soon(&hello, peer, |secret| secret.accepts(state, id, &proof)).await
            }
        };
        match admitted {
            Ok(shared) => {
                let own = Session::hello(&self.told.options.settings(None), hello.session, id);
                say(&mut tls, &[Frame::Hello(own)]).await?;
                shared.add_stream(id, self.path(&hello.session, ends), probe);
                Ok((shared, id, tls.into(), opening))
            }
            Err(refusal) => {
                say(&mut tls, &[Frame::Refuse(refusal)]).await?;
                // The refusal is read before the end of the stream.
                let _ = tokio::io::AsyncWriteExt::shutdown(&mut tls).await;
                Err(HandshakeError::Dismissed(refusal))
            }
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeMap<[u8; 16], Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The memory that all sessions of a peer share: beginning more sessions takes nothing from other peers (P-32).
    fn pool_of(&self, peer: Fingerprint, options: &Options) -> Arc<Pool> {
        let both_ways = options.peer_memory.saturating_mul(2);
        self.pools.of(peer, || self.pool.within(both_ways))
    }
    /// Trusts these peers from now on. The sessions of others end at once, and their programs are told.
    pub fn trust(&self, peers: Peers) {
        self.trusted.set(peers);
        // A session that begins meanwhile asks for itself, with the sessions locked.
        for entry in self.sessions().values().filter(|entry| !self.trusted.has(entry.peer)) {
            self.log.note_of(&entry.shared.peer, "a session ends", "its peer is not pinned any more");
            entry.shared.work(|session, _| session.give_up());
        }
    }
    /// Begins a new session (P-7).
    fn begin(
        self: &Arc<Self>,
        hello: &Hello,
        peer: Fingerprint,
        secret: Secret,
    ) -> Result<Arc<SharedSession>, Refusal> {
        let mut sessions = self.sessions();
        let name = self.trusted.name(peer).ok_or(Refusal::Proof)?;
        if sessions.contains_key(&hello.session) {
            return Err(Refusal::Proof);
        }
        if *self.leaving.borrow() {
            return Err(Refusal::Busy);
        }
        let options = self.told.limits.of(&name, &self.told.options);
        let settings = options.settings(Some(hello));
        let tuner = options.tuner(settings.max_streams);
        let began = Instant::now();
        let pool = self.pool_of(peer, &options);
        let Some(session) = Session::new(Time::ZERO, Role::Far, settings, tuner, &pool) else {
            // What nobody has come back to makes room for who is here: the peer will ask again.
            let alone = |entry: &&Entry| entry.shared.look(Session::alone_until).is_some();
            if let Some(entry) = sessions.values().filter(alone).min_by_key(|entry| (entry.peer != peer, entry.begun)) {
                entry.shared.work(|session, _| session.give_up());
            }
            return Err(Refusal::Busy);
        };
        // A peer that lost its streams to an outage joins its session again. It begins another where it has forgotten
        // that one.
        for entry in sessions.values().filter(|entry| entry.peer == peer) {
            entry.shared.work(Session::hurry);
        }
        let places = self.connections.of(peer, || Arc::new(Semaphore::new(options.connections)));
        let (openings, asked) = mpsc::unbounded_channel();
        let shared = SharedSession::new(name, began, session, openings);
        let mut numbers = Numbers::default();
        numbers.take(hello.stream);
        let entry = Entry { shared: Arc::clone(&shared), secret, peer, begun: began, numbers, paths: Vec::new() };
        sessions.insert(hello.session, entry);
        drop(sessions);
        tokio::spawn(Arc::clone(self).serve(hello.session, peer, Arc::clone(&shared), asked, places));
        Ok(shared)
    }
    /// Another stream of a session. One that replaces an old or dead stream may come before that is known here: it
    /// waits briefly.
    async fn join_soon(
        &self,
        hello: &Hello,
        peer: Fingerprint,
        accepts: impl Fn(&Secret) -> bool,
    ) -> Result<Arc<SharedSession>, Refusal> {
        let deadline = Instant::now() + EARLY;
        loop {
            let joined = self.join(hello, peer, &accepts);
            let Err(Refusal::TooManyStreams) = joined else { return joined };
            let Some(shared) = self.sessions().get(&hello.session).map(|entry| Arc::clone(&entry.shared)) else {
                return joined;
            };
            // An admitted stream changes the number, so the next one checks again.
            if timeout_at(deadline, shared.number.notified()).await.is_err() {
                return joined;
            }
        }
    }
    /// Another stream of a session (P-8, P-9).
    fn join(
        &self,
        hello: &Hello,
        peer: Fingerprint,
        accepts: impl FnOnce(&Secret) -> bool,
    ) -> Result<Arc<SharedSession>, Refusal> {
        let mut sessions = self.sessions();
        let entry = sessions.get_mut(&hello.session).ok_or(Refusal::UnknownSession)?;
        if entry.peer != peer || !accepts(&entry.secret) {
            return Err(Refusal::Proof);
        }
        let (count, all, over) =
            entry.shared.look(|session| (session.stream_count(), session.streams().iter().count(), session.is_over()));
        if over {
            return Err(Refusal::UnknownSession);
        }
        // Streams that are being closed do not count; but a peer that never lets them go gets no more for that.
        let most = self.told.options.most();
        if count >= most || all >= 2 * most as usize {
            return Err(Refusal::TooManyStreams);
        }
        if !entry.numbers.take(hello.stream) {
            return Err(Refusal::StreamNumber);
        }
        Ok(Arc::clone(&entry.shared))
    }
    /// The number of a session's path.
    fn path(&self, session: &[u8; 16], ends: [IpAddr; 2]) -> u32 {
        let mut sessions = self.sessions();
        let Some(entry) = sessions.get_mut(session) else { return 0 };
        let known = entry.paths.iter().position(|path| *path == ends);
        let number = known.unwrap_or(entry.paths.len());
        if known.is_none() && number < PATHS {
            entry.paths.push(ends);
        }
        number.min(PATHS) as u32
    }
    /// Serves a session until it is over.
    async fn serve(
        self: Arc<Self>,
        id: [u8; 16],
        peer: Fingerprint,
        shared: Arc<SharedSession>,
        mut asked: mpsc::UnboundedReceiver<Asked>,
        places: Arc<Semaphore>,
    ) {
        let flow_places = self.flows.of(peer);
        let connecting = async {
            let (mut turns, mut room) = (BTreeMap::<Destination, Turns>::new(), TURNS);
            while let Some(asked) = asked.recv().await {
                let (far, shared) = (Arc::clone(&self), Arc::clone(&shared));
                match asked {
                    Asked::Refused(code) => {
                        self.log.refused(
                            Cause::of_code(code),
                            Some(&shared.peer),
                            "a connection is refused",
                            &in_words(code),
                        );
                    }
                    Asked::Connection(connection, to) => {
                        // A session counts its own connections; a peer may have several sessions.
                        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                            let why = in_words(code::NO_ROOM);
                            self.log.refused(
                                Cause::of_code(code::NO_ROOM),
                                Some(&shared.peer),
                                &format!("no connection to {to}"),
                                &why,
                            );
                            shared.work(|session, now| session.refuse(now, connection, code::NO_ROOM));
                            shared.forget(connection);
                            continue;
                        };
                        if turns.len() >= room {
                            turns.retain(|_, turns| !turns.is_empty());
                            room = TURNS.max(2 * turns.len());
                        }
                        let turn = turns.entry(to.clone()).or_default().take();
                        tokio::spawn(async move {
                            far.connect(shared, connection, to, turn).await;
                            drop(place);
                        });
                    }
                    Asked::Flow(flow, to) => {
                        let places = flow_places.clone();
                        tokio::spawn(async move {
                            let reached = async { udp::connect(far.addresses(&shared.peer, &to).await?).await };
                            udp::serve(&shared, flow, &to, &places, reached, &far.log).await;
                        });
                    }
                }
            }
        };
        tokio::select! {
            () = connecting => {}
            () = timer::run(&shared, &self.log) => {}
        }
        let left = shared.look(Session::connection_count);
        if left > 0 {
            let why = "it had no streams any more, broke the rules, or is not trusted";
            self.log.refused(Cause::SessionLost, Some(&shared.peer), "a session ends with its connections", why);
        }
        self.sessions().remove(&id);
    }

    /// Connects to a program's destination, if that is allowed.
    async fn connect(self: Arc<Self>, shared: Arc<SharedSession>, connection: u32, to: Destination, turn: Turn) {
        match self.reach(&shared.peer, &to, turn).await {
            Ok(stream) => {
                shared.work(|session, _| session.accept(connection));
                program::carry(shared, connection, stream).await;
            }
            Err(error) => {
                // P-13: the error as the system's number, which the near gateway passes on to the program.
                let code = errno(&error);
                let (what, why) = match error.kind() {
                    io::ErrorKind::PermissionDenied => (format!("{to} is not allowed"), NO_RULE.to_owned()),
                    _ => (format!("no connection to {to}"), error.to_string()),
                };
                self.log.refused(Cause::of(&error), Some(&shared.peer), &what, &why);
                shared.work(|session, now| session.refuse(now, connection, code));
                shared.forget(connection);
            }
        }
    }
    async fn reach(&self, peer: &str, to: &Destination, turn: Turn) -> io::Result<TcpStream> {
        let addresses = self.addresses(peer, to).await?;
        let none = io::Error::from_raw_os_error(libc::EACCES);
        let stream = turn.begin(race(addresses.into_iter().map(connect).collect(), none)).await?;
        stream.set_nodelay(true)?;
        keep_alive::by_default(&stream);
        Ok(stream)
    }
    /// The addresses of a destination, as far as the rules allow it (P-13). What a name resolves to decides, so nothing
    /// is asked for it later. The answer for a forbidden name does not tell whether it exists, by word or by time.
    async fn addresses(&self, peer: &str, to: &Destination) -> io::Result<Vec<SocketAddr>> {
        let (allowed, forbidden) = (&self.told.allowed, io::Error::from_raw_os_error(libc::EACCES));
        let (name, port) = match to {
            Destination::Address(address) if allowed.has(peer, *address) => return Ok(vec![*address]),
            Destination::Address(_) => return Err(forbidden),
            Destination::Name(name, port) => (name.as_str(), *port),
        };
        let by_name = allowed.names(peer, to);
        if !by_name && !allowed.has_port(peer, port) {
            return Err(forbidden);
        }
        let answered_at = Instant::now() + BLIND;
        let found = lookup_host((name, port)).await;
        let fits = |address: &SocketAddr| {
            if by_name { allowed.by_name(peer, *address) } else { allowed.has(peer, *address) }
        };
        let addresses = match found {
            Ok(found) => alternating(found.filter(fits)),
            Err(_) if by_name => return Err(io::Error::from_raw_os_error(libc::EHOSTUNREACH)),
            Err(_) => Vec::new(),
        };
        if addresses.is_empty() {
            if !by_name {
                sleep_until(answered_at).await;
            }
            return Err(forbidden);
        }
        Ok(addresses)
    }

    /// Refuses new connections (P-28), and returns when the existing ones have ended. One may have been asked for
    /// before the peer has heard of it; that is over when the peer has closed its streams.
    pub async fn leave(&self) {
        self.leaving.send_replace(true);
        for entry in self.sessions().values() {
            entry.shared.work(Session::leave);
        }
        let told = Instant::now();
        // A closing stream exists until both ends have closed it: an end without close_notify would count as a death
        // (P-26).
        let goes_on = |session: &Session| {
            let streams = session.streams().iter().next().is_some();
            session.connection_count() > 0 || streams && told.elapsed() < GOODBYE
        };
        while self.sessions().values().any(|entry| entry.shared.look(goes_on)) {
            sleep(PAUSE).await;
        }
    }
    /// The gateway's status.
    pub fn status(&self) -> Status {
        Status::of(
            "far",
            self.sessions().iter().map(|(id, entry)| (id, &*entry.shared)),
            &self.pool,
            self.log.refusals(),
        )
    }
}

/// Room for handshakes: of those that have said nothing yet, of strangers, and of who gives a peer's hint.
#[derive(Debug)]
struct Rooms {
    silent: Arc<Places>,
    strangers: Arc<Places>,
    peers: Arc<Places>,
}

impl Rooms {
    fn new() -> Self {
        // Connections to servers need descriptors, too.
        let silent = SILENT.min(host::descriptors() / 4).max(1);
        let [silent, strangers, peers] = [silent, HANDSHAKES, HANDSHAKES].map(Places::new);
        Self { silent, strangers, peers }
    }
}

/// A part of a handshake, as long as there is time and its place is not taken by another.
async fn within<T>(
    deadline: Instant,
    mut place: Place,
    part: impl Future<Output = Result<T, HandshakeError>>,
) -> Result<T, HandshakeError> {
    tokio::select! {
        done = timeout_at(deadline, part) => done.unwrap_or(Err(HandshakeError::Silence)),
        () = place.lost() => Err(HandshakeError::NoPlace),
    }
}

/// Connects to a server.
async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // The mark keeps a near gateway on this host from redirecting the connection.
    let _ = redirect::exempt(&socket);
    let late = |_| Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
    timeout(CONNECT, socket.connect(address)).await.unwrap_or_else(late)
}

/// An error's number, as in RESET.
pub(crate) fn errno(error: &io::Error) -> u32 {
    error.raw_os_error().map_or(libc::EIO as u32, |errno| errno as u32)
}
