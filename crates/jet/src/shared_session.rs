//! A session that tasks share. Each works on it for a moment, and wakes the tasks that then have something to do.

use crate::paths::Standing;
use crate::socket;
use crate::startup::Startup;
use crate::tcp_info::{BbrInfo, TcpInfo};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use stripe::optimizer::Law;
use stripe::session::{Effects, Gauge, Session, code};
use stripe::wire::{Destination, FrameReader};
use stripe::{StreamId, session::Census};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use units::{BitRate, Time};

/// A stream's socket, and what its task has not handed to it yet.
#[derive(Debug)]
struct StreamSocket {
    waker: Option<Waker>,
    /// The stream's socket, to read `TCP_INFO` from.
    socket: OwnedFd,
    /// Bytes that the stream's task has taken and the socket has not accepted.
    unwritten: u64,
    path: u32,
    /// Limit of unsent bytes in the socket.
    unsent: u32,
    /// When the socket was asked last.
    measured_at: Time,
    /// How the socket's congestion control shares a bottleneck.
    law: Law,
    startup: Startup,
}

/// A socket is asked at most once in an eighth of its round-trip time, and in this time: it is a system call, and bytes
/// handed to the socket since are counted anyway.
const FRESH: [Time; 2] = [Time::from_us(200), Time::from_ms(5)];
/// Bytes taken from the session at a time, at least a segment: what is taken can no longer go on another stream, and a
/// call costs as much as a few kilobytes.
const TAKEN: u32 = 64 << 10;

#[derive(Debug)]
struct Inner {
    session: Session,
    streams: BTreeMap<StreamId, StreamSocket>,
    programs: BTreeMap<u32, Waker>,
    /// Tasks that wait for datagrams, by flow.
    flows: BTreeMap<u32, Waker>,
    /// Sockets to which a program's bytes go at once, if nothing is held before them.
    sockets: BTreeMap<u32, Weak<TcpStream>>,
    /// The earliest deadline that the timer's task knows.
    armed: Time,
}

/// A session behind a mutex, and the tasks that wait for it.
#[derive(Debug)]
pub(crate) struct SharedSession {
    inner: Mutex<Inner>,
    /// The other gateway's name, as the owner pinned it.
    pub peer: String,
    began: Instant,
    /// Signals that the session's deadline has come nearer.
    pub timer: Notify,
    /// Signals that the number of streams, existing or wanted, has changed, or that the session is over.
    pub number: Notify,
    openings: mpsc::UnboundedSender<Asked>,
}

/// A connection or flow that the peer wants, by number, and its destination.
#[derive(Debug)]
pub(crate) enum Asked {
    Connection(u32, Destination),
    /// A flow of datagrams.
    Flow(u32, Destination),
    /// A connection that was refused with this code, to be noted.
    Refused(u32),
}

impl SharedSession {
    /// A shared form of a session; what the peer wants goes to `openings`.
    pub fn new(peer: String, began: Instant, session: Session, openings: mpsc::UnboundedSender<Asked>) -> Arc<Self> {
        let (streams, programs, flows, sockets) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let inner = Inner { session, streams, programs, flows, sockets, armed: Time::MAX };
        Arc::new(Self { inner: Mutex::new(inner), peer, began, timer: Notify::new(), number: Notify::new(), openings })
    }
    /// The session's time now.
    pub fn now(&self) -> Time {
        time_since(self.began)
    }
    /// The system's time of a session time.
    pub fn instant(&self, time: Time) -> Instant {
        self.began + std::time::Duration::from_nanos(time.as_ps().div_ceil(1000))
    }
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Reads the session.
    pub fn look<T>(&self, at: impl FnOnce(&Session) -> T) -> T {
        at(&self.lock().session)
    }
    /// Works on the session, then sends what there is to send and wakes the tasks concerned.
    pub fn work<T>(&self, on: impl FnOnce(&mut Session, Time) -> T) -> T {
        self.act(|inner, now| on(&mut inner.session, now))
    }
    fn act<T>(&self, on: impl FnOnce(&mut Inner, Time) -> T) -> T {
        let mut wakers = Vec::new();
        let mut inner = self.lock();
        let now = self.now();
        let result = on(&mut inner, now);
        inner.session.flush(now);
        let Effects { connections, streams, openings, refused, flows, flow_openings, number } = inner.session.effects();
        wakers.extend(flows.into_iter().filter_map(|flow| inner.flows.remove(&flow)));
        wakers.extend(connections.into_iter().filter_map(|connection| inner.programs.remove(&connection)));
        wakers.extend(streams.into_iter().filter_map(|id| inner.streams.get_mut(&id)?.waker.take()));
        let deadline = inner.session.deadline();
        let sooner = deadline < inner.armed;
        inner.armed = inner.armed.min(deadline);
        drop(inner);
        let connections = openings.into_iter().map(|(connection, to)| Asked::Connection(connection, to));
        let flows = flow_openings.into_iter().map(|(flow, to)| Asked::Flow(flow, to));
        let refused = (0..refused).map(|_| Asked::Refused(code::NO_ROOM));
        for opening in connections.chain(flows).chain(refused) {
            // Only a far gateway is asked for connections, and it listens as long as it has the session.
            let _ = self.openings.send(opening);
        }
        wakers.into_iter().for_each(Waker::wake);
        if sooner {
            self.timer.notify_one();
        }
        if number {
            self.number.notify_one();
        }
        result
    }

    // === Streams ===

    /// A stream is ready.
    pub fn add_stream(&self, id: StreamId, path: u32, socket: OwnedFd) {
        self.act(|inner, now| {
            let law = socket::law(&socket);
            let gauge = gauge(&socket, 0, law).unwrap_or_default();
            let startup = Startup::default();
            let stream =
                StreamSocket { waker: None, socket, unwritten: 0, path, unsent: 0, measured_at: now, law, startup };
            inner.streams.insert(id, stream);
            inner.session.add_stream(now, id, path, gauge);
        });
    }
    /// A task's socket has taken what it had from the session: gives it more. While something waits for streams,
    /// other streams may by now be better ones, and are woken too.
    pub fn take(&self, id: StreamId, out: &mut Vec<u8>) {
        self.act(|inner, now| {
            if !inner.session.has_output(id) {
                return;
            }
            let waits = inner.session.is_hungry();
            inner.measure_stale(now, |other| waits || other == id);
            let Some(stream) = inner.streams.get_mut(&id) else { return };
            inner.session.take(now, id, out, stream.unsent.max(TAKEN) as usize);
            stream.unwritten = out.len() as u64;
        });
    }
    /// Whether a stream is still part of the session. Registers the task's waker for it.
    pub fn stays(&self, id: StreamId, waker: &Waker) -> bool {
        let mut inner = self.lock();
        let stays = inner.session.has_stream(id);
        let busy = inner.session.has_output(id);
        if let Some(stream) = inner.streams.get_mut(&id) {
            stream.waker = Some(waker.clone());
            if busy && stream.unwritten == 0 {
                waker.wake_by_ref();
            }
        }
        stays
    }
    /// Frames have arrived on a stream. A violation of the protocol ends the whole session: nothing that peer says can
    /// be relied on (P-6).
    pub fn receive(&self, id: StreamId, reader: &mut FrameReader, mut input: &[u8]) -> io::Result<()> {
        self.act(|inner, now| {
            let (session, sockets) = (&mut inner.session, &inner.sockets);
            // What a program does not take now, or has reset, its own task deals with.
            let deliver = |connection: u32, bytes: &[u8]| {
                let socket = sockets.get(&connection).and_then(Weak::upgrade);
                socket.map_or(0, |socket| socket.try_write(bytes).unwrap_or(0) as u64)
            };
            let mut deliver_frames = || -> Result<(), String> {
                while let Some(item) = reader.next(&mut input).map_err(|error| error.to_string())? {
                    session.on_item_for(now, id, &item, deliver).map_err(|violation| violation.to_string())?;
                }
                Ok(())
            };
            deliver_frames().map_err(|reason| {
                session.give_up();
                io::Error::new(io::ErrorKind::InvalidData, reason)
            })
        })
    }
    /// How many of the taken bytes the socket has not accepted.
    pub fn unwritten(&self, id: StreamId, bytes: u64) {
        if let Some(stream) = self.lock().streams.get_mut(&id) {
            stream.unwritten = stream.unwritten.min(bytes);
        }
    }
    /// A stream's task has ended; `broken` if the peer's system has ended it.
    pub fn lose_stream(&self, id: StreamId, broken: bool) {
        self.act(|inner, now| {
            inner.streams.remove(&id);
            if broken {
                inner.session.break_stream(now, id);
            } else {
                inner.session.lose_stream(now, id);
            }
        });
    }
    /// Measures all streams if a decision depends on it, and does what is due.
    pub fn on_timer(&self) {
        self.act(|inner, now| {
            if inner.session.is_measuring(now) {
                inner.measure_all(now);
            }
            inner.session.on_timer(now);
        });
    }
    /// Measures all streams, for status reports.
    pub fn measure(&self) {
        self.act(Inner::measure_all);
    }
    /// When [`on_timer`](Self::on_timer) is to be called next, unless [`timer`](Self::timer) says otherwise.
    pub fn arm(&self) -> Time {
        let mut inner = self.lock();
        inner.armed = inner.session.deadline();
        inner.armed
    }

    // === Programs ===

    /// Asks the session something for a program, and wakes the program's task when its connection changes.
    pub fn serve<T>(&self, connection: u32, waker: &Waker, ask: impl FnOnce(&mut Session) -> T) -> T {
        let mut inner = self.lock();
        match inner.programs.get_mut(&connection) {
            Some(known) => known.clone_from(waker),
            None => drop(inner.programs.insert(connection, waker.clone())),
        }
        ask(&mut inner.session)
    }
    /// Reads what a program has written into the session, by `read`. How a connection's streams have served it since
    /// decides which is best.
    pub fn give<T>(&self, read: impl FnOnce(&mut Session) -> T) -> T {
        self.act(|inner, now| {
            inner.measure_stale(now, |_| true);
            read(&mut inner.session)
        })
    }
    /// From now on what comes for a program goes to its socket.
    pub fn attach(&self, connection: u32, socket: &Arc<TcpStream>) {
        self.lock().sockets.insert(connection, Arc::downgrade(socket));
    }
    /// A program's task has ended.
    pub fn forget(&self, connection: u32) {
        self.act(|inner, now| {
            inner.programs.remove(&connection);
            inner.sockets.remove(&connection);
            inner.session.release(now, connection);
        });
    }
    /// Asks the session something for the owner of a flow, and wakes the owner when a datagram comes.
    pub fn serve_flow<T>(&self, flow: u32, waker: &Waker, ask: impl FnOnce(&mut Session) -> T) -> T {
        let mut inner = self.lock();
        match inner.flows.get_mut(&flow) {
            Some(known) => known.clone_from(waker),
            None => drop(inner.flows.insert(flow, waker.clone())),
        }
        ask(&mut inner.session)
    }
    /// Closes a flow for its owner, for this reason (an error number, 0 for none).
    pub fn close_flow(&self, flow: u32, code: u32) {
        let waiting = self.act(|inner, _| {
            inner.session.close_flow(flow, code);
            inner.flows.remove(&flow)
        });
        // Another task of the flow's owner may be waiting for datagrams: wakes it.
        waiting.into_iter().for_each(Waker::wake);
    }
    /// What the kernel says of each stream's socket.
    pub fn tcp_infos(&self) -> Vec<TcpInfo> {
        self.lock().streams.values().filter_map(|stream| TcpInfo::of(&stream.socket).ok()).collect()
    }
    /// The streams that are not being closed, for the choice of the next one's path.
    pub fn standings(&self) -> Vec<Standing> {
        let inner = self.lock();
        let standing = |(id, stream): (&StreamId, &StreamSocket)| {
            let usable = inner.session.streams().get(*id).is_some_and(stripe::Stream::delivers);
            let moved = TcpInfo::of(&stream.socket).map_or(0, |info| info.bytes_acked + info.bytes_received);
            Standing { id: *id, path: stream.path, usable, moved }
        };
        inner.streams.iter().filter(|(id, _)| inner.session.counts(**id)).map(standing).collect()
    }
}

impl Inner {
    /// Measures the selected streams whose measurements are stale.
    fn measure_stale(&mut self, now: Time, which: impl Fn(StreamId) -> bool) {
        let stale = |(id, stream): (&StreamId, &StreamSocket)| {
            let rtt = self.session.gauge(*id).map_or(Time::ZERO, |gauge| gauge.rtt);
            let fresh = Time::from_ps(rtt.as_ps() / 8).clamp(FRESH[0], FRESH[1]);
            (which(*id) && now.saturating_sub(stream.measured_at) >= fresh).then_some(*id)
        };
        let stale: Vec<StreamId> = self.streams.iter().filter_map(stale).collect();
        for id in stale {
            self.measure(now, id);
        }
    }
    fn measure_all(&mut self, now: Time) {
        let ids: Vec<StreamId> = self.streams.keys().copied().collect();
        for id in ids {
            self.measure(now, id);
        }
    }
    fn measure(&mut self, now: Time, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.measured_at = now;
        if let Some(gauge) = gauge(&stream.socket, stream.unwritten, stream.law) {
            let unsent = socket::unsent(gauge.rate);
            // Not for every small change: setting it is a system call.
            if unsent > stream.unsent + stream.unsent / 2 || unsent < stream.unsent / 2 {
                stream.unsent = unsent;
                socket::limit_unsent(&stream.socket, unsent);
            }
            if stream.law == Law::Bbr
                && let Some(pacing) = stream.startup.see(now, &gauge, || BbrInfo::of(&stream.socket))
            {
                socket::pace(&stream.socket, pacing);
            }
            self.session.measure(now, id, gauge);
        }
    }
}

/// The time since an instant.
pub(crate) fn time_since(began: Instant) -> Time {
    Time::from_ns(began.elapsed().as_nanos() as u64)
}

/// The round-trip time that is assumed until one is known.
const UNKNOWN_RTT: Time = Time::from_ms(100);

/// The slow-start threshold of a socket that has not left slow start.
const INFINITE: u32 = 0x7fff_ffff;

/// The kernel's view of a stream's socket (`TCP_INFO`), with the bytes that the kernel has not been given yet.
fn gauge(socket: &OwnedFd, unwritten: u64, law: Law) -> Option<Gauge> {
    let info = TcpInfo::of(socket).ok()?;
    let rtt = if info.rtt > 0 { Time::from_us(u64::from(info.rtt)) } else { UNKNOWN_RTT };
    let mss = u64::from(info.snd_mss);
    let window = u64::from(info.snd_cwnd) * mss;
    let by_window = (window as f64 * 8.0 / rtt.as_secs_f64()) as u64;
    let in_flight = info.bytes_sent.saturating_sub(info.bytes_retrans).saturating_sub(info.bytes_acked);
    Some(Gauge {
        rtt,
        // RFC 6298's timeout, without backing off, and not below Linux's minimum.
        rto: Time::from_us(u64::from(info.rtt) + u64::from(4 * info.rttvar).max(200_000)),
        rate: BitRate::from_bps(by_window.max(info.delivery_rate.saturating_mul(8))),
        unacknowledged: unwritten + u64::from(info.notsent_bytes) + in_flight,
        mss,
        window,
        rtt_min: Time::from_us(u64::from(info.min_rtt)),
        starting: match law {
            Law::Bbr => BbrInfo::of(socket).is_some_and(|info| info.starts()),
            _ => info.snd_ssthresh >= INFINITE,
        },
        starved: info.is_app_limited(),
        law,
        census: Census {
            delivered: info.bytes_acked,
            received: info.bytes_received,
            sent: u64::from(info.data_segs_out),
            // A retransmission that the receiver did not need is no loss.
            lost: u64::from(info.total_retrans.saturating_sub(info.dsack_dups)),
            busy: Time::from_us(info.busy_time),
            limited: Time::from_us(info.rwnd_limited + info.sndbuf_limited),
        },
    })
}
