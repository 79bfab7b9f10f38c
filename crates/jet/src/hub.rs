//! A session that tasks share: each works on it for a moment, and whoever has something to do because of that is woken.

use crate::paths::Standing;
use crate::socket;
use crate::tcp_info::TcpInfo;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use stripe::optimizer::Law;
use stripe::session::{Effects, Gauge, Session};
use stripe::wire::Destination;
use stripe::{Health, Stream, StreamId, session::Census};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use units::{BitRate, Time};

/// What is known of a stream's carrier without asking its task.
#[derive(Debug)]
struct Carrier {
    waker: Option<Waker>,
    /// Its socket, to ask how it is.
    socket: OwnedFd,
    /// Bytes that its task has taken and the socket has not.
    unwritten: u64,
    path: u32,
    /// How much may be unsent in the socket.
    unsent: u32,
    /// When the socket was asked last.
    measured_at: Time,
    /// How its congestion control shares.
    law: Law,
}

/// A socket is not asked again within an eighth of its round-trip time, or these: it is a system call, and what has been handed to it since is counted anyway.
const FRESH: [Time; 2] = [Time::from_us(200), Time::from_ms(5)];
/// Taken from the session at a time, as much as a segment at least: what is taken can no longer go elsewhere, and a call costs about as much as a few kilobytes.
const TAKEN: u32 = 64 << 10;

#[derive(Debug)]
struct Inner {
    session: Session,
    carriers: BTreeMap<StreamId, Carrier>,
    programs: BTreeMap<u32, Waker>,
    /// The earliest deadline that the timer's task knows.
    armed: Time,
}

/// A session and who waits for it.
#[derive(Debug)]
pub(crate) struct Hub {
    inner: Mutex<Inner>,
    began: Instant,
    /// A deadline has come nearer.
    pub timer: Notify,
    /// How many streams there are, or are to be, has changed; or the session is over.
    pub number: Notify,
    openings: mpsc::UnboundedSender<(u32, Destination)>,
}

impl Hub {
    /// Connections that the peer wants go to `openings`.
    pub fn new(began: Instant, session: Session, openings: mpsc::UnboundedSender<(u32, Destination)>) -> Arc<Self> {
        let inner = Inner { session, carriers: BTreeMap::new(), programs: BTreeMap::new(), armed: Time::MAX };
        Arc::new(Self { inner: Mutex::new(inner), began, timer: Notify::new(), number: Notify::new(), openings })
    }
    /// The session's time.
    pub fn now(&self) -> Time {
        time_since(self.began)
    }
    /// A session's time as the system's.
    pub fn instant(&self, time: Time) -> Instant {
        self.began + std::time::Duration::from_nanos(time.as_ps().div_ceil(1000))
    }
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Looks at the session.
    pub fn look<T>(&self, at: impl FnOnce(&Session) -> T) -> T {
        at(&self.lock().session)
    }
    /// Works on the session without concluding anything yet: [`work`](Self::work) is to follow.
    pub fn tell<T>(&self, on: impl FnOnce(&mut Session, Time) -> T) -> T {
        let now = self.now();
        on(&mut self.lock().session, now)
    }
    /// Works on the session; sends what there is to send afterwards, and wakes whom it concerns.
    pub fn work<T>(&self, on: impl FnOnce(&mut Session, Time) -> T) -> T {
        self.act(|inner, now| on(&mut inner.session, now))
    }
    fn act<T>(&self, on: impl FnOnce(&mut Inner, Time) -> T) -> T {
        let mut wakers = Vec::new();
        let mut inner = self.lock();
        let now = self.now();
        let result = on(&mut inner, now);
        inner.session.flush(now);
        let Effects { connections, streams, openings, number } = inner.session.effects();
        wakers.extend(connections.into_iter().filter_map(|connection| inner.programs.remove(&connection)));
        wakers.extend(streams.into_iter().filter_map(|id| inner.carriers.get_mut(&id)?.waker.take()));
        let deadline = inner.session.deadline();
        let sooner = deadline < inner.armed;
        inner.armed = inner.armed.min(deadline);
        drop(inner);
        for opening in openings {
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
            let carrier = Carrier { waker: None, socket, unwritten: 0, path, unsent: 0, measured_at: now, law };
            inner.carriers.insert(id, carrier);
            inner.session.add_stream(now, id, path, gauge);
        });
    }
    /// A carrier's socket has taken all that was taken from the session before: takes more.
    pub fn take(&self, id: StreamId, out: &mut Vec<u8>) {
        self.act(|inner, now| {
            if !inner.session.has_output(id) {
                return;
            }
            inner.measure_stale(now, id);
            let Some(carrier) = inner.carriers.get_mut(&id) else { return };
            inner.session.take(now, id, out, carrier.unsent.max(TAKEN) as usize);
            carrier.unwritten = out.len() as u64;
        });
    }
    /// Whether a stream is part of the session still; then its carrier is woken when there is something to do for it.
    pub fn stays(&self, id: StreamId, waker: &Waker) -> bool {
        let mut inner = self.lock();
        let stays = inner.session.has_stream(id);
        let busy = inner.session.has_output(id);
        if let Some(carrier) = inner.carriers.get_mut(&id) {
            carrier.waker = Some(waker.clone());
            if busy && carrier.unwritten == 0 {
                waker.wake_by_ref();
            }
        }
        stays
    }
    /// So much of what was taken the socket has not.
    pub fn unwritten(&self, id: StreamId, bytes: u64) {
        if let Some(carrier) = self.lock().carriers.get_mut(&id) {
            carrier.unwritten = carrier.unwritten.min(bytes);
        }
    }
    /// A stream's carrier has ended.
    pub fn lose_stream(&self, id: StreamId) {
        self.act(|inner, now| {
            inner.carriers.remove(&id);
            inner.session.lose_stream(now, id);
        });
    }
    /// Measures all streams, where something will be concluded from that, and does what is due.
    pub fn on_timer(&self) {
        self.act(|inner, now| {
            if inner.session.is_measuring(now) {
                inner.measure_all(now);
            }
            inner.session.on_timer(now);
        });
    }
    /// Measures all streams, for whoever wants to know how they are.
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

    /// Asks the session something for a program, which is woken when its connection changes.
    pub fn serve<T>(&self, connection: u32, waker: &Waker, ask: impl FnOnce(&mut Session) -> T) -> T {
        let mut inner = self.lock();
        match inner.programs.get_mut(&connection) {
            Some(known) => known.clone_from(waker),
            None => drop(inner.programs.insert(connection, waker.clone())),
        }
        ask(&mut inner.session)
    }
    /// A program's task has ended.
    pub fn forget(&self, connection: u32) {
        self.act(|inner, now| {
            inner.programs.remove(&connection);
            inner.session.release(now, connection);
        });
    }
    /// The streams that are not being closed, for whoever places the next one.
    pub fn standings(&self) -> Vec<Standing> {
        let inner = self.lock();
        let standing = |(id, carrier): (&StreamId, &Carrier)| {
            let health =
                inner.session.streams().get(*id).map(Stream::health).filter(|health| *health != Health::Draining)?;
            let moved = TcpInfo::of(&carrier.socket).map_or(0, |info| info.bytes_acked + info.bytes_received);
            Some(Standing { id: *id, path: carrier.path, usable: health == Health::Usable, moved })
        };
        inner.carriers.iter().filter_map(standing).collect()
    }
}

impl Inner {
    /// Measures a stream that is about to take something and, while something waits for streams, all others that may be the better ones by now.
    fn measure_stale(&mut self, now: Time, id: StreamId) {
        let waits = self.session.is_hungry();
        let stale = |(other, carrier): (&StreamId, &Carrier)| {
            let rtt = self.session.gauge(*other).map_or(Time::ZERO, |gauge| gauge.rtt);
            let fresh = Time::from_ps(rtt.as_ps() / 8).clamp(FRESH[0], FRESH[1]);
            ((waits || *other == id) && now.saturating_sub(carrier.measured_at) >= fresh).then_some(*other)
        };
        let stale: Vec<StreamId> = self.carriers.iter().filter_map(stale).collect();
        for id in stale {
            self.measure(now, id);
        }
    }
    fn measure_all(&mut self, now: Time) {
        let ids: Vec<StreamId> = self.carriers.keys().copied().collect();
        for id in ids {
            self.measure(now, id);
        }
    }
    fn measure(&mut self, now: Time, id: StreamId) {
        let Some(carrier) = self.carriers.get_mut(&id) else { return };
        carrier.measured_at = now;
        if let Some(gauge) = gauge(&carrier.socket, carrier.unwritten, carrier.law) {
            let unsent = socket::unsent(gauge.rate);
            // Not for every little change: it is a system call.
            if unsent > carrier.unsent + carrier.unsent / 2 || unsent < carrier.unsent / 2 {
                carrier.unsent = unsent;
                socket::limit_unsent(&carrier.socket, unsent);
            }
            self.session.measure(now, id, gauge);
        }
    }
}

/// The time since an instant.
pub(crate) fn time_since(began: Instant) -> Time {
    Time::from_ns(began.elapsed().as_nanos() as u64)
}

/// Until a round-trip time is known.
const UNKNOWN_RTT: Time = Time::from_ms(100);

/// The slow-start threshold of a socket that has not left slow start.
const INFINITE: u32 = 0x7fff_ffff;

/// What the kernel says of a stream's socket, with what it has not been given yet.
fn gauge(socket: &OwnedFd, unwritten: u64, law: Law) -> Option<Gauge> {
    let info = TcpInfo::of(socket).ok()?;
    let rtt = if info.rtt > 0 { Time::from_us(u64::from(info.rtt)) } else { UNKNOWN_RTT };
    let mss = u64::from(info.snd_mss);
    let window = u64::from(info.snd_cwnd) * mss;
    let by_window = (window as f64 * 8.0 / rtt.as_secs_f64()) as u64;
    let in_flight = info.bytes_sent.saturating_sub(info.bytes_retrans).saturating_sub(info.bytes_acked);
    Some(Gauge {
        rtt,
        // As RFC 6298 has it, without backing off, and not below what Linux takes for the least.
        rto: Time::from_us(u64::from(info.rtt) + u64::from(4 * info.rttvar).max(200_000)),
        rate: BitRate::from_bps(by_window.max(info.delivery_rate.saturating_mul(8))),
        unacknowledged: unwritten + u64::from(info.notsent_bytes) + in_flight,
        mss,
        window,
        rtt_min: Time::from_us(u64::from(info.min_rtt)),
        starting: info.snd_ssthresh >= INFINITE,
        law,
        census: Census {
            delivered: info.bytes_acked,
            sent: u64::from(info.data_segs_out),
            // A retransmission that the receiver did not need was no loss.
            lost: u64::from(info.total_retrans.saturating_sub(info.dsack_dups)),
            busy: Time::from_us(info.busy_time),
            limited: Time::from_us(info.rwnd_limited + info.sndbuf_limited),
        },
    })
}
