//! HTTP requests of a process: a connection from its pool, and the exchange on it.
//!
//! The pool is Apache HttpClient's below the AWS library: connections are kept and used again, the one that was used
//! last first; a request that finds none, and no room for another, waits in order. A connection begins with the
//! handshakes of TCP and, in one round trip, of TLS 1.3 (RFC 8446, 2). Bodies to the store leave after `100 Continue`
//! (`fs.s3a.connection.expect.continue`), so that one that is throttled sends none.

use super::request::{Channel, Message, Method, Request};
use super::{ObjectStore, wire};
use crate::context::Context;
use crate::effect::{End, Service};
use crate::ids::{ConnId, DiskStream, HttpId, Process, ReadId, WriteId};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Who a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A reader.
    Read(ReadId),
    /// A part of an upload, or a step of an output stream.
    Write(WriteId),
    /// A chain of a job's commit.
    Commit(super::commit::Chain),
    /// Nobody any more: the rest of an answer is read to keep its connection.
    Nobody,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    pub method: Method,
    /// Body to the store.
    pub up: Bytes,
    /// Body of the answer.
    pub down: Bytes,
    /// Copied within the store.
    pub copied: Bytes,
    /// The body to the store waits in this buffer on the client's disk, from this offset on.
    pub buffer: Option<(u32, DiskStream, Bytes)>,
    /// How far the answer's body may come; a reader moves it on.
    pub limit: Bytes,
}

impl Ask {
    /// A request without bodies.
    pub const fn plain(method: Method) -> Self {
        let none = Bytes::ZERO;
        Self { method, up: none, down: none, copied: none, buffer: None, limit: none }
    }
    /// This request with a body to the store.
    pub const fn with_up(self, up: Bytes) -> Self {
        Self { up, ..self }
    }
    /// This request with a body of the answer, all of which the client takes as it comes.
    pub const fn with_down(self, down: Bytes) -> Self {
        Self { down, limit: down, ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Its client is at work on it, or it waits for a connection.
    Queued,
    /// Its connection is being opened.
    Opening,
    /// The header is under way, or the body follows it.
    Asking,
    /// The store has all of it.
    Served,
    /// The answer is on its way.
    Answered,
    /// It waits to be sent again.
    Pausing,
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Http {
    pub process: Process,
    pub owner: Owner,
    pub ask: Ask,
    pub prefix: usize,
    pub state: State,
    pub conn: Option<ConnId>,
    pub attempt: u32,
    /// Of the body that is sent: read from the buffer, handed to the connection, acknowledged, with the receiver.
    pub loaded: Bytes,
    pub loading: bool,
    pub sent: Bytes,
    pub acknowledged: Bytes,
    pub arrived: Bytes,
    /// When the next piece may leave, and whether a timer says so.
    pub pace: Time,
    pub paced: bool,
    /// When its header was sent, while no byte of the answer's body is there.
    pub asked: Option<Time>,
    since: Time,
    /// When its client last heard or got rid of something.
    pub progress: Time,
    /// A timer looks whether it has been silent for too long.
    pub watched: bool,
    /// How often it was told to slow down, and has failed.
    pub throttled: u32,
    pub failed: u32,
}

impl Http {
    /// The body that is sent now: the request's or the answer's.
    pub fn body(&self) -> Bytes {
        if self.state == State::Answered { self.ask.down } else { self.ask.up }
    }
    /// Whether its header has been sent, and no answer has ended it.
    pub fn is_sent(&self) -> bool {
        self.conn.is_some() && matches!(self.state, State::Asking | State::Served | State::Answered)
    }
    /// What the store has sent of the answer's body and the client has not got.
    pub fn undelivered(&self) -> Bytes {
        if self.state == State::Answered { self.sent - self.arrived } else { Bytes::ZERO }
    }
    /// The next piece of a body with so much of it done.
    pub fn piece(&self, done: Bytes) -> Bytes {
        wire::PIECE.min(self.body() - done)
    }
}

/// A process's connections.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// Those in no use, with since when; the last one is used first.
    idle: Vec<(ConnId, Time)>,
    /// All that are open.
    open: u32,
    /// Requests that the process has made.
    made: u32,
    pub queue: VecDeque<HttpId>,
}

impl ObjectStore {
    /// Sends a request from a process.
    pub(super) fn send(&mut self, ctx: &mut Context, process: Process, ask: Ask, key: u64, owner: Owner) -> HttpId {
        self.next += 1;
        let id = HttpId(self.next);
        let prefix = self.prefix(key);
        let http = Http {
            process,
            owner,
            ask,
            prefix,
            state: State::Queued,
            conn: None,
            attempt: 0,
            loaded: Bytes::ZERO,
            loading: false,
            sent: Bytes::ZERO,
            acknowledged: Bytes::ZERO,
            arrived: Bytes::ZERO,
            pace: Time::ZERO,
            paced: false,
            asked: None,
            since: ctx.now,
            progress: ctx.now,
            watched: false,
            throttled: 0,
            failed: 0,
        };
        self.https.insert(id, http);
        let pool = self.pools.entry(process).or_default();
        let work = self.config.cpu_of(pool.made);
        pool.made = pool.made.saturating_add(1);
        if work > Time::ZERO {
            ctx.compute(process.node, work, Request::Prepared(id));
        } else {
            self.connect(ctx, id);
        }
        id
    }

    /// Finds a connection for a request, or has it wait for one.
    pub(super) fn connect(&mut self, ctx: &mut Context, id: HttpId) {
        let (now, most, idle_time) = (ctx.now, self.config.connections.max(1), self.config.idle_time);
        let Some(http) = self.https.get_mut(&id) else { return };
        http.attempt = http.attempt.wrapping_add(1);
        (http.loaded, http.loading, http.sent, http.acknowledged) = (Bytes::ZERO, false, Bytes::ZERO, Bytes::ZERO);
        (http.arrived, http.paced, http.since) = (Bytes::ZERO, false, now);
        let process = http.process;
        let pool = self.pools.entry(process).or_default();
        while let Some((conn, since)) = pool.idle.pop() {
            let usable = ctx.connections.is_open(conn, End::Client) && since.saturating_add(idle_time) > now;
            if usable {
                return self.ask(ctx, id, conn);
            }
            pool.open = pool.open.saturating_sub(1);
            self.users.remove(&conn);
            ctx.close(conn, End::Client);
        }
        if pool.open >= most {
            http.state = State::Queued;
            pool.queue.push_back(id);
            return;
        }
        pool.open += 1;
        let conn = ctx.open(Channel(process), process.node, self.config.node, Service::ObjectStore, false);
        self.counters.connections += 1;
        self.users.insert(conn, Some(id));
        http.state = State::Opening;
        http.conn = Some(conn);
        http.progress = now;
        self.watch(ctx, id);
    }

    /// The request's header goes out on a connection that is ready.
    fn ask(&mut self, ctx: &mut Context, id: HttpId, conn: ConnId) {
        let now = ctx.now;
        let Some(http) = self.https.get_mut(&id) else { return };
        self.users.insert(conn, Some(id));
        http.conn = Some(conn);
        http.state = State::Asking;
        http.progress = now;
        http.asked = Some(now);
        self.counters.waited_for_connection += now - http.since;
        self.counters.requests[http.ask.method as usize] += 1;
        ctx.send(conn, End::Client, wire::HEAD, Message::Head(id), true);
        self.watch(ctx, id);
    }

    /// A connection is ready for TLS, or for its first request.
    pub(super) fn connected(&mut self, ctx: &mut Context, conn: ConnId) {
        match self.users.get(&conn).copied() {
            Some(Some(_)) if self.config.tls => {
                ctx.send(conn, End::Client, wire::CLIENT_HELLO, Message::ClientHello, true);
            }
            Some(Some(id)) => self.ask(ctx, id, conn),
            _ => ctx.abort(conn, End::Client),
        }
    }

    /// Something has come to the client's end of a connection.
    pub(super) fn delivered_to_client(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        match message {
            Message::ServerHello => match self.users.get(&conn).copied() {
                Some(Some(id)) => self.ask(ctx, id, conn),
                _ => ctx.abort(conn, End::Client),
            },
            Message::Continue(id) => {
                if let Some(http) = self.of(id, conn) {
                    http.progress = ctx.now;
                    self.pump(ctx, id);
                }
            }
            Message::Answer { http: id, throttled } => self.answered(ctx, id, conn, throttled),
            Message::Download(id) => self.downloaded(ctx, id, conn),
            Message::ClientHello | Message::Head(_) | Message::Upload(_) => {}
        }
    }

    /// A request on the connection that it is on now.
    pub(super) fn of(&mut self, id: HttpId, conn: ConnId) -> Option<&mut Http> {
        self.https.get_mut(&id).filter(|http| http.conn == Some(conn))
    }

    fn answered(&mut self, ctx: &mut Context, id: HttpId, conn: ConnId, throttled: bool) {
        let Some(http) = self.of(id, conn) else { return };
        http.progress = ctx.now;
        if throttled {
            self.counters.throttled += 1;
            self.keep(ctx, conn);
            return self.slow_down(ctx, id);
        }
        if http.ask.down == Bytes::ZERO {
            self.counters.answered += 1;
            self.keep(ctx, conn);
            self.done(ctx, id);
        }
    }

    fn downloaded(&mut self, ctx: &mut Context, id: HttpId, conn: ConnId) {
        let now = ctx.now;
        let Some(http) = self.of(id, conn) else { return };
        http.progress = now;
        let bytes = http.piece(http.arrived);
        http.arrived += bytes;
        let (owner, whole) = (http.owner, http.arrived == http.ask.down);
        if let Some(asked) = http.asked.take()
            && http.ask.method == Method::Get
        {
            let waited = now - asked;
            self.counters.first_bytes += 1;
            self.counters.waited_for_first_byte += waited;
            self.counters.longest_first_byte = self.counters.longest_first_byte.max(waited);
        }
        self.counters.received += bytes;
        if whole {
            self.counters.answered += 1;
            self.keep(ctx, conn);
        }
        match owner {
            Owner::Read(read) => self.got(ctx, read, id, bytes),
            Owner::Nobody => self.counters.discarded += bytes,
            Owner::Write(_) | Owner::Commit(_) => {}
        }
        if whole {
            self.done(ctx, id);
        }
    }

    /// All of a request's answer is there.
    fn done(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.remove(&id) else { return };
        match http.owner {
            Owner::Read(read) => self.read_answered(ctx, read),
            Owner::Write(write) => self.write_answered(ctx, write, id, true),
            Owner::Commit(chain) => self.commit_answered(ctx, chain, true),
            Owner::Nobody => {}
        }
    }
    /// A connection's exchange is over: the next request takes it, or it waits for one.
    fn keep(&mut self, ctx: &mut Context, conn: ConnId) {
        let Some(Some(id)) = self.users.get_mut(&conn).map(Option::take) else { return };
        let Some(http) = self.https.get_mut(&id) else { return };
        http.conn = None;
        let process = http.process;
        self.offer(ctx, process, conn);
    }
    fn offer(&mut self, ctx: &mut Context, process: Process, conn: ConnId) {
        let pool = self.pools.entry(process).or_default();
        match pool.queue.pop_front() {
            Some(next) => self.ask(ctx, next, conn),
            None => pool.idle.push((conn, ctx.now)),
        }
    }
    /// A connection is gone: there is room for another.
    pub(super) fn lost(&mut self, ctx: &mut Context, process: Process, conn: ConnId) {
        self.users.remove(&conn);
        let Some(pool) = self.pools.get_mut(&process) else { return };
        pool.idle.retain(|(idle, _)| *idle != conn);
        pool.open = pool.open.saturating_sub(1);
        if let Some(next) = pool.queue.pop_front() {
            self.connect(ctx, next);
        }
    }

    /// Ends a request that nobody wants any more. One whose answer is nearly there is read to its end, so that its
    /// connection can be used again; else the connection is reset (`S3AInputStream.closeStream`).
    pub(super) fn release(&mut self, ctx: &mut Context, id: HttpId, drain: Bytes) {
        let Some(http) = self.https.get_mut(&id) else { return };
        let rest = http.ask.down - http.arrived;
        if http.conn.is_some() && http.state == State::Answered && rest <= drain {
            http.owner = Owner::Nobody;
            http.ask.limit = http.ask.down;
            return self.pump(ctx, id);
        }
        self.drop_http(ctx, id);
    }
    /// Forgets a request at once, and resets its connection.
    pub(super) fn drop_http(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.remove(&id) else { return };
        if let Some(pool) = self.pools.get_mut(&http.process) {
            pool.queue.retain(|queued| *queued != id);
        }
        let Some(conn) = http.conn else { return };
        self.counters.aborted += http.undelivered();
        self.counters.dropped += u64::from(http.is_sent());
        ctx.abort(conn, End::Client);
        self.lost(ctx, http.process, conn);
    }
    /// A process ends: its connections close, those with something under way at once.
    pub fn exit(&mut self, ctx: &mut Context, process: Process) {
        self.drop_errands(ctx, process);
        self.forget(ctx, process);
        let Some(pool) = self.pools.remove(&process) else { return };
        for (conn, _) in pool.idle {
            self.users.remove(&conn);
            ctx.close(conn, End::Client);
        }
    }
    /// Requests of a process that is gone.
    fn forget(&mut self, ctx: &mut Context, process: Process) {
        let gone: Vec<_> = self.https.iter().filter(|(_, http)| http.process == process).map(|(id, _)| *id).collect();
        if let Some(pool) = self.pools.get_mut(&process) {
            pool.queue.clear();
        }
        for id in gone {
            self.drop_http(ctx, id);
        }
    }
}
