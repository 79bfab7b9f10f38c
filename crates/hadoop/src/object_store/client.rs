//! HTTP requests of a process: a connection from its pool, the exchange on it, and what is done when it fails.
//!
//! The pool is Apache HttpClient's below the AWS library: connections are kept and used again, the one that was used
//! last first; a request that finds none, and no room for another, waits in order. A connection begins with the
//! handshakes of TCP and, in one round trip, of TLS 1.3 (RFC 8446, 2). Bodies to the store leave after `100 Continue`
//! (`fs.s3a.connection.expect.continue`), so that one that is throttled sends none.

use super::request::{Channel, Message, Method, Request};
use super::{ObjectStore, wire};
use crate::context::{Context, DiskTransfer};
use crate::effect::{DiskOp, End, Service};
use crate::ids::{ConnId, DiskStream, HttpId, Process, ReadId, WriteId};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// Back-off of the AWS library after throttling (`EqualJitterBackoffStrategy`): half of a delay that doubles up to a
/// maximum, and a random part of the other half.
const SDK_BASE: Time = Time::from_ms(500);
const SDK_MOST: Time = Time::from_secs(20);
/// Grain at which a part is read from its buffer on disk.
const LOAD: Bytes = Bytes::from_mib(1);

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
    /// It waits for a connection.
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
    watched: bool,
    throttled: u32,
    failed: u32,
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
        self.connect(ctx, id);
        id
    }

    /// Finds a connection for a request, or has it wait for one.
    fn connect(&mut self, ctx: &mut Context, id: HttpId) {
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
    /// It has failed too often.
    fn give_up(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.remove(&id) else { return };
        self.counters.given_up += 1;
        match http.owner {
            Owner::Read(read) => self.read_failed(ctx, read),
            Owner::Write(write) => self.write_answered(ctx, write, id, false),
            Owner::Commit(chain) => self.commit_answered(ctx, chain, false),
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
    fn lost(&mut self, ctx: &mut Context, process: Process, conn: ConnId) {
        self.users.remove(&conn);
        let Some(pool) = self.pools.get_mut(&process) else { return };
        pool.idle.retain(|(idle, _)| *idle != conn);
        pool.open = pool.open.saturating_sub(1);
        if let Some(next) = pool.queue.pop_front() {
            self.connect(ctx, next);
        }
    }

    /// The store is asked less often: the library's pauses, and after its attempts one of S3A's.
    fn slow_down(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.get_mut(&id) else { return };
        let (inner, outer) =
            (http.throttled % self.config.sdk_attempts.max(1), http.throttled / self.config.sdk_attempts.max(1));
        http.throttled += 1;
        let pause = if inner + 1 < self.config.sdk_attempts {
            let most = (SDK_BASE * (1 << inner.min(16))).min(SDK_MOST);
            most.mul_f64(0.5 + 0.5 * self.jitter.uniform())
        } else if outer < self.config.throttle_limit {
            doubled(self.config.throttle_interval, outer, self.jitter.uniform())
        } else {
            return self.give_up(ctx, id);
        };
        self.pause(ctx, id, pause);
    }
    /// The exchange has broken: again after a pause.
    fn try_again(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.get_mut(&id) else { return };
        http.conn = None;
        if http.owner == Owner::Nobody {
            self.https.remove(&id);
            return;
        }
        if http.failed >= self.config.retry_limit {
            return self.give_up(ctx, id);
        }
        let pause = doubled(self.config.retry_interval, http.failed, self.jitter.uniform());
        http.failed += 1;
        self.counters.retries += 1;
        // A reader goes on from where it is (`S3AInputStream.reopen`).
        if http.state == State::Answered {
            http.ask.down -= http.arrived;
            http.ask.limit = http.ask.limit.saturating_sub(http.arrived);
        }
        http.arrived = Bytes::ZERO;
        self.pause(ctx, id, pause);
    }
    fn pause(&mut self, ctx: &mut Context, id: HttpId, pause: Time) {
        if let Some(http) = self.https.get_mut(&id) {
            http.state = State::Pausing;
            http.asked = None;
            self.counters.backed_off += pause;
            ctx.timer_in(pause, Request::Again(id));
        }
    }
    pub(super) fn again(&mut self, ctx: &mut Context, id: HttpId) {
        if self.https.get(&id).is_some_and(|http| http.state == State::Pausing) {
            self.connect(ctx, id);
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
    /// A connection has broken as its client sees it.
    pub(super) fn broken(&mut self, ctx: &mut Context, process: Process, conn: ConnId) {
        let Some(user) = self.users.get(&conn).copied() else { return };
        self.fail_on(ctx, process, conn, user);
    }
    fn fail_on(&mut self, ctx: &mut Context, process: Process, conn: ConnId, user: Option<HttpId>) {
        if let Some(http) = user.and_then(|id| self.https.get(&id)) {
            self.counters.aborted += http.undelivered();
            self.counters.broken += u64::from(http.is_sent());
        }
        self.lost(ctx, process, conn);
        if let Some(id) = user {
            self.try_again(ctx, id);
        }
    }

    fn watch(&mut self, ctx: &mut Context, id: HttpId) {
        let timeout = self.config.timeout;
        if let Some(http) = self.https.get_mut(&id)
            && !http.watched
        {
            http.watched = true;
            ctx.timer(http.progress.saturating_add(timeout), Request::Silent(id));
        }
    }
    /// There may have been no byte for long.
    pub(super) fn silent(&mut self, ctx: &mut Context, id: HttpId) {
        let (now, timeout) = (ctx.now, self.config.timeout);
        let Some(http) = self.https.get_mut(&id) else { return };
        http.watched = false;
        let Some(conn) = http.conn else { return }; // watched again on the next connection
        // What the reader does not want yet does not come.
        let idle = http.state == State::Answered && http.sent == http.acknowledged && http.sent >= http.ask.limit;
        if idle {
            http.progress = now;
        }
        if http.progress.saturating_add(timeout) > now {
            return self.watch(ctx, id);
        }
        // The timeout is a socket's: part of a piece is progress too.
        ctx.ask_last_received(conn, End::Client);
    }
    /// When the client's socket last had something to read.
    pub(super) fn last_received(&mut self, ctx: &mut Context, process: Process, conn: ConnId, at: Time) {
        let timeout = self.config.timeout;
        let Some(Some(id)) = self.users.get(&conn).copied() else { return };
        let Some(http) = self.of(id, conn) else { return };
        http.progress = http.progress.max(at);
        if http.progress.saturating_add(timeout) > ctx.now {
            return self.watch(ctx, id);
        }
        ctx.abort(conn, End::Client);
        self.fail_on(ctx, process, conn, Some(id));
    }

    /// Keeps a body moving: as far as it is there and wanted, the send buffer allows and the connection's rate.
    pub(super) fn pump(&mut self, ctx: &mut Context, id: HttpId) {
        let (now, rate, buffer) = (ctx.now, self.config.connection_rate, wire::SEND_BUFFER);
        loop {
            let Some(http) = self.https.get_mut(&id) else { return };
            let Some(conn) = http.conn else { return };
            let down = http.state == State::Answered;
            if !down && http.state != State::Asking {
                return;
            }
            let body = http.body();
            let bytes = http.piece(http.sent);
            if http.sent == body {
                return;
            }
            if !down && http.ask.buffer.is_some() {
                self.load(ctx, id);
            }
            let Some(http) = self.https.get_mut(&id) else { return };
            let there = match http.ask.buffer {
                Some(_) if !down => http.loaded,
                // At least a piece beyond what is taken, however little is wanted of it.
                _ if down => {
                    if http.sent < http.ask.limit {
                        body
                    } else {
                        http.sent
                    }
                }
                _ => body,
            };
            if http.sent + bytes > there || http.sent - http.acknowledged >= buffer {
                return;
            }
            if http.pace > now {
                if !std::mem::replace(&mut http.paced, true) {
                    ctx.timer(http.pace, Request::Paced { http: id, attempt: http.attempt });
                }
                return;
            }
            http.pace = now.saturating_add(rate.transmission_time(bytes));
            http.sent += bytes;
            let last = http.sent == body;
            let (end, message) = if down {
                self.counters.sent += bytes;
                (End::Server, Message::Download(id))
            } else {
                (End::Client, Message::Upload(id))
            };
            ctx.send(conn, end, bytes, message, last);
        }
    }
    pub(super) fn pace_due(&mut self, ctx: &mut Context, id: HttpId, attempt: u32) {
        if let Some(http) = self.https.get_mut(&id).filter(|http| http.attempt == attempt) {
            http.paced = false;
            self.pump(ctx, id);
        }
    }
    /// A piece of a body has left its sender.
    pub(super) fn acknowledged(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        let (Message::Upload(id) | Message::Download(id)) = message else { return };
        let now = ctx.now;
        let Some(http) = self.of(id, conn) else { return };
        let down = matches!(message, Message::Download(_));
        if down != (http.state == State::Answered) {
            return; // of the request's body, after the answer has begun
        }
        http.acknowledged += http.piece(http.acknowledged);
        if !down {
            http.progress = now;
        }
        self.pump(ctx, id);
    }

    /// Reads on in the buffer of a part, a piece ahead of the connection.
    fn load(&mut self, ctx: &mut Context, id: HttpId) {
        let Some(http) = self.https.get_mut(&id) else { return };
        let Some((disk, stream, start)) = http.ask.buffer else { return };
        if http.loading || http.loaded == http.ask.up || http.loaded >= http.sent + LOAD * 2 {
            return;
        }
        let bytes = LOAD.min(http.ask.up - http.loaded);
        http.loading = true;
        let transfer = DiskTransfer { disk, op: DiskOp::Read, stream, offset: start + http.loaded, bytes };
        ctx.disk(http.process.node, transfer, Request::Loaded { http: id, attempt: http.attempt });
    }
    pub(super) fn loaded(&mut self, ctx: &mut Context, id: HttpId, attempt: u32) {
        let Some(http) = self.https.get_mut(&id).filter(|http| http.attempt == attempt) else { return };
        http.loading = false;
        http.loaded += LOAD.min(http.ask.up - http.loaded);
        self.pump(ctx, id);
    }
    /// The disk with a part's buffer is gone: its stream cannot go on.
    pub(super) fn load_failed(&mut self, ctx: &mut Context, id: HttpId) {
        if let Some(Owner::Write(write)) = self.https.get(&id).map(|http| http.owner) {
            self.fail_write(ctx, write);
        }
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

/// `RetryPolicies.exponentialBackoffRetry`: the interval doubled with each failure, times 0.5 to 1.5.
fn doubled(interval: Time, failures: u32, uniform: f64) -> Time {
    interval.mul_f64(f64::from(1_u32 << failures.min(20)) * (0.5 + uniform))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first three pauses of half a second, at either end; a day's intervals end in a time, not in an overflow.
    #[test]
    fn pauses_double_and_never_overflow() {
        let half = Time::from_ms(500);
        let ends = |failures| [0.0, 1.0].map(|uniform| doubled(half, failures, uniform));
        assert_eq!(ends(0), [Time::from_ms(250), Time::from_ms(750)]);
        assert_eq!(ends(1), [Time::from_ms(500), Time::from_ms(1_500)]);
        assert_eq!(ends(2), [Time::from_secs(1), Time::from_secs(3)]);
        assert!(doubled(Time::from_secs(86_400), 1_000, 1.0) > Time::from_secs(86_400 * 100));
    }
}
