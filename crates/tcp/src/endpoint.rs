//! One side of a connection: its states (RFC 9293, section 3.3.2), its application's calls, its timers.

use crate::cold::Cold;
use crate::control::{AnyControl, Weights, Window};
use crate::receive::Receiver;
use crate::send::{Phase, Sender};
use crate::special::Special;
use crate::{Config, Counters, Flags, Notice, Output, RttEstimator, Segment};
use std::fmt;
use std::sync::Arc;
use units::{Bytes, Time};

/// The states of RFC 9293.
///
/// TIME-WAIT needs no timer: positions never wrap, so no segment of an old connection is mistaken for a new one's. An
/// endpoint in TIME-WAIT says [`Notice::Closed`] at once and goes on answering a repeated FIN. Its owner keeps it until
/// the other side has closed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection, or none any more.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Connected.
    Established,
    /// FIN sent, not acknowledged.
    FinWait1,
    /// FIN acknowledged; waits for the peer's.
    FinWait2,
    /// The peer's FIN has arrived; ours is not sent.
    CloseWait,
    /// FINs crossed; ours is not acknowledged.
    Closing,
    /// FIN sent after the peer's, not acknowledged.
    LastAck,
    /// Both FINs acknowledged; answers a repeated FIN.
    TimeWait,
}

impl State {
    /// Both SYNs are acknowledged (and the connection is not gone).
    pub fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived)
    }
}

/// Why an endpoint takes no more bytes to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The application has closed its stream (`EPIPE`).
    Closed,
    /// The connection was reset, aborted or given up (`ECONNRESET`).
    Gone,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the stream was closed before",
            Self::Gone => "the connection is gone",
        })
    }
}

impl std::error::Error for WriteError {}

/// Flags that take a segment off the common path.
const UNUSUAL: Flags = Flags::SYN.with(Flags::RST).with(Flags::FIN);

/// One side of a TCP connection.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    pub(crate) state: State,
    /// The peer sends timestamps too.
    pub(crate) timestamps: bool,
    /// SACK is in force: both sides permit it.
    pub(crate) sack: bool,
    /// IP and TCP header of a segment without SACK blocks.
    pub(crate) header: u8,
    /// Cork: the application holds partial segments back.
    pub(crate) cork: bool,
    /// Segments wait for room in the transmit queue.
    pub(crate) held: bool,
    /// Expiries of the SYN or SYN-ACK timer.
    pub(crate) syn_timeouts: u8,
    /// HyStart has ended a slow start since the last timeout.
    pub(crate) start_ended: bool,
    pub(crate) tx: Sender,
    pub(crate) rx: Receiver,
    pub(crate) rtt: RttEstimator,
    pub(crate) control: AnyControl,
    segments_sent: u32,
    segments_received: u32,
    /// State that most connections lack.
    pub(crate) special: Cold<Special>,
    pub(crate) config: Arc<Config>,
}

impl Endpoint {
    /// An endpoint that will open the connection.
    pub fn connect(config: &Config) -> Self {
        Self::new(Arc::new(*config), State::Closed)
    }
    /// An endpoint that waits for a SYN.
    pub fn listen(config: &Config) -> Self {
        Self::new(Arc::new(*config), State::Listen)
    }
    /// An endpoint that will open the connection, with shared settings.
    pub fn connect_as(config: &Arc<Config>) -> Self {
        Self::new(Arc::clone(config), State::Closed)
    }
    /// An endpoint that waits for a SYN, with shared settings.
    pub fn listen_as(config: &Arc<Config>) -> Self {
        Self::new(Arc::clone(config), State::Listen)
    }
    fn new(config: Arc<Config>, state: State) -> Self {
        Self {
            state,
            timestamps: false,
            sack: false,
            header: crate::BASE_HEADER as u8,
            tx: Sender::new(&config),
            rx: Receiver::new(&config),
            rtt: RttEstimator::new(),
            control: AnyControl::new(&config),
            cork: config.cork,
            held: false,
            syn_timeouts: 0,
            start_ended: false,
            segments_sent: 0,
            segments_received: 0,
            special: Cold::new(),
            config,
        }
    }

    // === What the application does ===

    /// Opens the connection actively: sends a SYN.
    pub fn open(&mut self, now: Time, out: &mut Output) {
        if self.state == State::Closed && self.tx.nxt == 0 {
            self.state = State::SynSent;
            self.send_syn(now, out);
        }
    }
    /// The application appends `bytes` to its stream. With `push` they carry PSH, and cork does not hold a partial
    /// segment back. A stream that has ended takes no more.
    pub fn write(&mut self, now: Time, bytes: u64, push: bool, out: &mut Output) -> Result<(), WriteError> {
        self.may_write()?;
        self.tx.write_end += bytes;
        if push {
            self.tx.push_end = self.tx.write_end;
        }
        if self.state.is_synchronized() {
            self.restart_if_idle(now);
            if self.counts_duplicates() {
                self.write_among_duplicates(now, out);
            } else {
                self.transmit(now, out);
            }
        }
        Ok(())
    }
    /// Whether the stream from this side still takes bytes.
    pub fn may_write(&self) -> Result<(), WriteError> {
        match self.state {
            _ if self.tx.finishing => Err(WriteError::Closed),
            State::Closed if self.tx.nxt > 0 => Err(WriteError::Gone),
            _ => Ok(()),
        }
    }
    /// Turns corking on or off; turning it off sends what was held back.
    pub fn set_cork(&mut self, now: Time, cork: bool, out: &mut Output) {
        self.cork = cork;
        if self.state.is_synchronized() {
            self.transmit(now, out);
        }
    }
    /// The application takes `bytes` of received data out of the buffer. The peer is told when its window has opened
    /// enough.
    pub fn consume(&mut self, now: Time, bytes: u64, out: &mut Output) {
        self.rx.consume(bytes);
        if self.state.is_synchronized()
            && self.rx.window_update_due(self.tx.window.mss, self.config.receive_buffer.get())
        {
            self.send_ack(now, out);
        }
    }
    /// Data was sent otherwise than by this endpoint until `active`, which has opened cwnd to `cwnd` bytes at least.
    pub fn catch_up(&mut self, cwnd: u64, active: Time) {
        self.tx.last_sent = self.tx.last_sent.max(active);
        self.tx.window.cwnd = self.tx.window.cwnd.max(cwnd);
    }
    /// Resizes the receive buffer. The peer is told if its window opens enough. A smaller buffer does not take back a
    /// window already announced.
    pub fn set_receive_buffer(&mut self, now: Time, size: Bytes, out: &mut Output) {
        if self.config.receive_buffer != size {
            Arc::make_mut(&mut self.config).receive_buffer = size;
            self.consume(now, 0, out);
        }
    }
    /// The application has written all: a FIN follows its last byte. Bytes written before the handshake is over are
    /// sent first (RFC 9293 allows to discard them).
    pub fn close(&mut self, now: Time, out: &mut Output) {
        match self.state {
            State::Listen => self.finish(out),
            State::SynSent if self.written() == 0 => self.finish(out),
            State::Closed => {}
            _ if self.tx.finishing => {}
            state => {
                self.tx.finishing = true;
                self.state = match state {
                    State::Established => State::FinWait1,
                    State::CloseWait => State::LastAck,
                    // The FIN waits for the handshake.
                    other => other,
                };
                if self.state.is_synchronized() {
                    self.transmit(now, out);
                }
            }
        }
    }
    /// Drops the connection with a RST.
    pub fn abort(&mut self, now: Time, out: &mut Output) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let mut segment = Segment::new(Flags::RST | Flags::ACK, self.tx.nxt, self.rx.nxt);
            self.stamp(now, &mut segment);
            self.emit(segment, out);
        }
        self.enter_closed(now);
    }

    // === State ===

    /// When [`on_timer`](Self::on_timer) is to be called next; [`Time::MAX`] for never.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.tx.timer_at.min(self.rx.ack_at).min(self.special.pacing.wake)
    }
    /// In-order bytes received so far.
    #[inline]
    pub fn received(&self) -> u64 {
        self.rx.received()
    }
    /// Bytes of this side's stream that the peer has acknowledged.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.tx.una.min(self.tx.write_end).saturating_sub(1)
    }
    /// Bytes that the application has written.
    pub fn written(&self) -> u64 {
        self.tx.write_end - 1
    }
    /// Bytes sent at least once.
    pub fn sent(&self) -> u64 {
        self.tx.nxt.min(self.tx.write_end).saturating_sub(1)
    }
    /// Received bytes that the application has not taken.
    pub fn unread(&self) -> u64 {
        self.rx.unread()
    }
    /// The state of the connection.
    pub fn state(&self) -> State {
        self.state
    }
    /// Sets the weights of a coupled control; any other ignores them.
    pub fn set_weights(&mut self, weights: Weights) {
        if let AnyControl::Coupled(control) = &mut self.control {
            control.set_weights(weights);
        }
    }
    /// cwnd, ssthresh and the segment size in force.
    pub fn window(&self) -> &Window {
        &self.tx.window
    }
    /// Bytes sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.tx.nxt - self.tx.una
    }
    /// *pipe* of RFC 6675: bytes in flight, which are the outstanding ones less those SACKed or lost.
    pub fn pipe(&self) -> u64 {
        self.tx.pipe()
    }
    /// Right edge of the peer's window, in bytes of this side's stream.
    pub fn peer_window_end(&self) -> u64 {
        self.tx.window_edge.saturating_sub(1)
    }
    /// In fast recovery, or in the slow start that replaces it.
    pub fn in_recovery(&self) -> bool {
        matches!(self.tx.phase, Phase::Recovery | Phase::Restart)
    }
    /// After a timeout, until everything outstanding then is acknowledged.
    pub fn in_timeout(&self) -> bool {
        self.tx.phase == Phase::Loss
    }
    /// Round-trip time and its variance.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }
    /// The retransmission timeout, with back-off.
    pub fn rto(&self) -> Time {
        self.rtt.rto(&self.config)
    }
    /// The counters.
    pub fn counters(&self) -> Counters {
        Counters {
            segments_sent: u64::from(self.segments_sent),
            segments_received: u64::from(self.segments_received),
            duplicate_segments: u64::from(self.rx.duplicates()),
            ..self.tx.repair.counts.counters()
        }
        .with_syns(self.syn_timeouts, &self.config)
    }
    /// The settings, to share with another endpoint.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    // === Timers ===

    /// Does what is due at `now`; `now` need not be [`deadline`](Self::deadline).
    pub fn on_timer(&mut self, now: Time, out: &mut Output) {
        if now >= self.special.pacing.wake {
            self.on_rack_timer(now, out);
        }
        if now >= self.tx.timer_at {
            self.tx.timer_at = Time::MAX;
            match self.state {
                State::SynSent | State::SynReceived => self.on_syn_timeout(now, out),
                _ if self.tx.una < self.tx.nxt => self.on_retransmission_timeout(now, out),
                _ => self.on_persist_timeout(now, out),
            }
        }
        if now >= self.rx.ack_at {
            self.send_ack(now, out);
        }
        if now >= self.special.pacing.wake {
            self.transmit(now, out);
        }
    }

    // === Segments ===

    /// A segment has arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        self.segments_received = self.segments_received.saturating_add(1);
        if self.state == State::Established && segment.flags.contains(Flags::ACK) && !segment.flags.intersects(UNUSUAL)
        {
            self.on_synchronized(now, segment, out);
        } else {
            self.on_unusual(now, segment, out);
        }
    }
    #[cold]
    fn on_unusual(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        let flags = segment.flags;
        match self.state {
            State::Closed => self.refuse(now, segment, out),
            State::Listen => {
                if flags.contains(Flags::ACK) {
                    self.refuse(now, segment, out);
                } else if flags.contains(Flags::SYN) && !flags.contains(Flags::RST) {
                    self.on_syn(segment);
                    self.state = State::SynReceived;
                    self.send_syn(now, out);
                }
            }
            State::SynSent => self.on_segment_in_syn_sent(now, segment, out),
            _ if flags.contains(Flags::RST) => {
                // RFC 5961, section 3.2, without its challenge acknowledgement: any RST in the window resets.
                if segment.seq <= self.rx.limit(self.config.receive_buffer.get()) && segment.end() >= self.rx.nxt {
                    self.reset(now, out);
                }
            }
            State::SynReceived if flags.contains(Flags::SYN) => {
                if flags.contains(Flags::ACK) && segment.ack == 1 {
                    // Simultaneous open: the peer has our SYN.
                    self.on_established(now, out);
                    self.send_ack(now, out);
                    self.transmit(now, out);
                } else {
                    // The SYN-ACK was lost.
                    self.send_syn(now, out);
                }
            }
            _ if flags.contains(Flags::SYN) => self.send_ack(now, out),
            _ if !flags.contains(Flags::ACK) => {}
            State::SynReceived => {
                if segment.ack == 0 || segment.ack > self.tx.nxt {
                    return self.refuse(now, segment, out);
                }
                self.on_established(now, out);
                self.tx.window_edge = self.tx.window_edge.max(segment.ack + u64::from(segment.window));
                self.on_synchronized(now, segment, out);
            }
            _ => self.on_synchronized(now, segment, out),
        }
    }
    /// Acknowledgement, data and FIN of a synchronized connection.
    #[inline]
    fn on_synchronized(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        if segment.seq > self.rx.limit(self.config.receive_buffer.get())
            || segment.ack > self.tx.nxt + u64::from(self.tx.probing)
        {
            // Not acceptable (RFC 9293, section 3.10.7.4): answer with an acknowledgement.
            return self.send_ack(now, out);
        }
        self.take_ack(now, segment, out);
        if self.state == State::Closed {
            return;
        }
        self.take_mark(now, segment, out);
        let finished = self.take_data(now, segment);
        self.transmit(now, out);
        if self.rx.ack_now {
            self.send_ack(now, out);
        }
        if finished {
            self.on_peer_finished(now, out);
        }
    }
    /// The peer's FIN is in order.
    fn on_peer_finished(&mut self, now: Time, out: &mut Output) {
        out.notices.push(Notice::PeerFinished);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now, out),
            _ => {}
        }
    }
    /// Our FIN has been acknowledged.
    pub(crate) fn on_fin_acknowledged(&mut self, now: Time, out: &mut Output) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now, out),
            State::LastAck => {
                self.enter_closed(now);
                out.notices.push(Notice::Closed);
            }
            _ => {}
        }
    }

    // === Endings ===

    fn enter_time_wait(&mut self, now: Time, out: &mut Output) {
        self.enter_closed(now);
        self.state = State::TimeWait;
        out.notices.push(Notice::Closed);
    }
    fn enter_closed(&mut self, now: Time) {
        self.enter_phase(now, Phase::Open);
        self.state = State::Closed;
        self.tx.timer_at = Time::MAX;
        self.special.stop_waiting_for_pace();
        self.rx.ack_at = Time::MAX;
        self.rx.ack_now = false;
    }
    /// Closes before a connection exists.
    fn finish(&mut self, out: &mut Output) {
        self.state = State::Closed;
        self.tx.finishing = true;
        self.tx.timer_at = Time::MAX;
        // A closed endpoint is not opened again.
        self.tx.nxt = self.tx.nxt.max(1);
        out.notices.push(Notice::Closed);
    }
    pub(crate) fn reset(&mut self, now: Time, out: &mut Output) {
        if self.state == State::TimeWait {
            return;
        }
        self.enter_closed(now);
        out.notices.push(Notice::Reset);
    }
    /// The peer does not answer.
    pub(crate) fn give_up(&mut self, now: Time, out: &mut Output) {
        if self.state.is_synchronized() {
            let mut segment = Segment::new(Flags::RST | Flags::ACK, self.tx.nxt, self.rx.nxt);
            self.stamp(now, &mut segment);
            self.emit(segment, out);
        }
        self.reset(now, out);
    }
    /// Answers a segment that belongs to no connection with a RST (RFC 9293, section 3.10.7.1).
    pub(crate) fn refuse(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        let mut reply = if segment.flags.contains(Flags::ACK) {
            Segment::new(Flags::RST, segment.ack, 0)
        } else {
            Segment::new(Flags::RST | Flags::ACK, 0, segment.end())
        };
        self.stamp(now, &mut reply);
        self.emit(reply, out);
    }

    // === Sending, the last steps ===

    /// Fills in window and options of a segment that is not a SYN.
    #[inline]
    pub(crate) fn stamp(&mut self, now: Time, segment: &mut Segment) {
        segment.header = self.header;
        if self.timestamps {
            segment.flags |= Flags::TIMESTAMPS;
            segment.ts_val = now.as_us() as u32;
            segment.ts_ecr = self.tx.ts_recent;
        }
    }
    #[inline]
    pub(crate) fn emit(&mut self, segment: Segment, out: &mut Output) {
        self.segments_sent = self.segments_sent.saturating_add(1);
        out.segments.push(segment);
    }
}

/// Of millions of connections most only wait: both ends of one, with timers and all else, take less than 960 bytes
/// (`sim/tests/it/scale.rs`).
const _: () = assert!(size_of::<Endpoint>() <= 272);
