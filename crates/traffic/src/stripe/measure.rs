//! Measurements of a session's streams, the tuning of their number, and results.

use super::{Census, ENDS, Session, TcpStream, World};
use ::stripe::optimizer::{Law, Newcomers, Path, Totals};
use ::stripe::{Health, Measured, Scheduler, Stream, StreamId};
use results::{StreamOutcome, StripeOutcome};
use std::collections::BTreeMap;
use tcp::control::{ControlKind, Subflow};
use transport::End;
use units::{BitRate, Bytes, Time};

/// Assumed round-trip time of a stream without a measurement.
const UNKNOWN_RTT: Time = Time::from_ms(100);

impl Session {
    // === Measurements ===

    /// Measurements of a stream at one end, from its TCP endpoint.
    pub(super) fn measured(&self, stream: u32, side: usize, world: &World) -> Option<Measured> {
        let tcp_stream = self.tcp_streams.get(&stream)?;
        let endpoint = world.net.endpoint(tcp_stream.handle, ENDS[side])?;
        let rtt = endpoint.rtt().smoothed().unwrap_or(UNKNOWN_RTT);
        let rtt_min = endpoint.rtt().min().unwrap_or(rtt);
        let (written, acknowledged) = (endpoint.written(), endpoint.acknowledged());
        let open = endpoint.peer_window_end().saturating_sub(acknowledged);
        let window = endpoint.window().cwnd.min(open).max(u64::from(endpoint.window().mss));
        let rate = BitRate::from_bps((window as f64 * 8.0 / rtt.as_secs_f64()) as u64);
        let mut room = self.spec.send_buffer.get().saturating_sub(written - acknowledged);
        if self.spec.config.scheduler == Scheduler::EarliestDelivery {
            // Limits unsent data, as TCP_NOTSENT_LOWAT does, so that no segment waits in one stream while another is
            // idle.
            let segment = self.spec.config.segmentation.longest(rate);
            room = room.min((2 * segment).saturating_sub(written - endpoint.sent()));
        }
        let rto = endpoint.rtt().base_rto(endpoint.config());
        let paced = endpoint.window().pace_ps_per_byte > 0.0;
        let window = Bytes::new(if paced { 0 } else { window });
        Some(Measured { rtt, rtt_min, rto, rate, window, handed: written, acknowledged, room: Bytes::new(room) })
    }
    pub(super) fn refresh(&mut self, stream: u32, side: usize, world: &World) {
        let Some(measured) = self.measured(stream, side, world) else { return };
        self.sides[side].streams.update(world.net.now, StreamId(stream), measured);
        if let (0, Some(tcp_stream)) = (side, self.tcp_streams.get_mut(&stream))
            && let Some(endpoint) = world.net.endpoint(tcp_stream.handle, End::Client)
        {
            let counters = endpoint.counters();
            tcp_stream.census = Census {
                delivered: endpoint.acknowledged(),
                sent: counters.segments_sent,
                lost: counters.retransmissions,
                ..Census::default()
            };
            let losses = u64::from(counters.fast_recoveries) + u64::from(counters.timeouts);
            if losses > tcp_stream.losses {
                tcp_stream.losses = losses;
                tcp_stream.between_losses = endpoint.acknowledged() - tcp_stream.acknowledged_at_loss;
                tcp_stream.acknowledged_at_loss = endpoint.acknowledged();
            }
        }
    }
    pub(super) fn refresh_all(&mut self, world: &World) {
        for stream in self.tcp_streams.keys().copied().collect::<Vec<_>>() {
            self.refresh(stream, 0, world);
            self.refresh(stream, 1, world);
        }
    }

    /// Sets the weights of coupled congestion controls from the windows of all streams.
    pub(super) fn couple(&self, world: &mut World) {
        let Some(coupling) = self.spec.coupling else { return };
        let subflow = |tcp_stream: &TcpStream| {
            let endpoint = world.net.endpoint(tcp_stream.handle, End::Client)?;
            let since = endpoint.acknowledged() - tcp_stream.acknowledged_at_loss;
            Some(Subflow {
                cwnd: endpoint.window().cwnd.max(1),
                rtt: endpoint.rtt().smoothed()?,
                between_losses: tcp_stream.between_losses.max(since),
            })
        };
        let connected = self.tcp_streams.values().filter(|tcp_stream| tcp_stream.connected);
        let (handles, subflows): (Vec<_>, Vec<_>) =
            connected.filter_map(|tcp_stream| Some((tcp_stream.handle, subflow(tcp_stream)?))).unzip();
        for (which, handle) in handles.into_iter().enumerate() {
            if let Some(packets) = world.net.transport.packets_mut() {
                packets.set_weights(handle, End::Client, coupling.weights(&subflows, which));
            }
        }
    }
    /// Feeds the tuner at the end of a round trip.
    pub(super) fn tune(&mut self, world: &World) {
        let now = world.net.now;
        let connected = self.tcp_streams.values().filter(|tcp_stream| tcp_stream.connected);
        let Census { delivered, sent, lost, .. } = connected.fold(self.census, |sum, stream| sum + stream.census);
        let mut totals = Totals { delivered, sent, lost, ..Totals::default() };
        let (mut count, mut limited, mut starting, mut rtt, mut rtt_min) = (0, 0, 0, Time::ZERO, Time::ZERO);
        let (mut path, mut windows) = (None, 0);
        let mut newcomers = Newcomers::beyond(self.tuner.before());
        let floors = self.floors(world);
        for (id, tcp_stream) in self.tcp_streams.iter_mut().filter(|(_, tcp_stream)| tcp_stream.connected) {
            let Some(endpoint) = world.net.endpoint(tcp_stream.handle, End::Client) else { continue };
            if !self.sides[0].streams.get(StreamId(*id)).is_some_and(Stream::is_used) {
                continue;
            }
            let offered = endpoint.peer_window_end().saturating_sub(endpoint.acknowledged());
            let window = offered.min(self.spec.send_buffer.get());
            let cwnd = endpoint.window().cwnd;
            let lost_before = std::mem::replace(&mut tcp_stream.lost_before, tcp_stream.census.lost);
            let window_before = std::mem::replace(&mut tcp_stream.window_before, cwnd);
            totals.lost_most = totals.lost_most.max(tcp_stream.census.lost - lost_before);
            count += 1;
            limited += u32::from(cwnd >= window);
            newcomers.add(cwnd.min(window));
            starting += u32::from(endpoint.window().slow_start() && cwnd as f64 > 1.1 * window_before as f64);
            let smoothed = endpoint.rtt().smoothed().unwrap_or(UNKNOWN_RTT);
            rtt += smoothed;
            rtt_min += floors.get(&tcp_stream.path).copied().unwrap_or(smoothed);
            windows += window;
            path = Some((endpoint.window().mss, endpoint.rto()));
        }
        let mean = |sum: Time| if count > 0 { sum / u64::from(count) } else { UNKNOWN_RTT };
        totals.rtt = mean(rtt);
        totals.rtt_min = mean(rtt_min);
        totals.starting = starting * 4 > count;
        totals.window_limited = limited * 2 > count;
        totals.newcomers = newcomers.part();
        let waiting = self.sides[0].connection.waiting();
        totals.idle = waiting == Bytes::ZERO;
        totals.credit_limited = waiting > Bytes::ZERO && waiting == self.sides[0].connection.blocked();
        let (mss, rto) = path.unwrap_or((1460, Time::from_secs(1)));
        totals.mss = Bytes::new(u64::from(mss));
        totals.law = match world.tcp.control {
            ControlKind::Cubic => Law::Cubic,
            ControlKind::Reno => Law::Reno,
            ControlKind::Bbr | ControlKind::BbrDraft => Law::Bbr,
            _ => Law::Unknown,
        };
        let path = Path {
            mss: totals.mss,
            rtt: totals.rtt,
            loss: 0.0,
            rto,
            window: Bytes::new(windows / u64::from(count.max(1))),
            per_ack: if world.tcp.delayed_ack.is_some() { 2.0 } else { 1.0 },
        };
        self.sides[0].streams.on_round(totals.idle);
        self.tuner.on_round(now, &totals, &path, count);
    }
    /// The least round-trip time of each path.
    fn floors(&self, world: &World) -> BTreeMap<u32, Time> {
        let mut floors = BTreeMap::new();
        for tcp_stream in self.tcp_streams.values().filter(|tcp_stream| tcp_stream.connected) {
            let endpoint = world.net.endpoint(tcp_stream.handle, End::Client);
            let Some(least) = endpoint.and_then(|endpoint| endpoint.rtt().min()) else { continue };
            let floor = floors.entry(tcp_stream.path).or_insert(least);
            *floor = least.min(*floor);
        }
        floors
    }
    // === Results ===

    pub(super) fn add_to(&self, now: Time, outcome: &mut StripeOutcome) {
        outcome.streams.extend(self.gone.iter().copied());
        outcome.streams.extend(self.tcp_streams.iter().map(|(id, tcp_stream)| tcp_stream.outcome(*id)));
        outcome.numbers.extend(self.numbers.iter().copied());
        let counters = self.sides[0].connection.counters();
        outcome.repeated += Bytes::new(counters.repeated);
        outcome.copied += Bytes::new(counters.copied);
        outcome.duplicates += Bytes::new(self.sides[1].connection.duplicates());
        outcome.buffered_max = outcome.buffered_max.max(Bytes::new(self.buffered_most));
        outcome.out_of_order_max = outcome.out_of_order_max.max(Bytes::new(self.held_most));
        let integral = self.held_integral + self.held as f64 * now.saturating_sub(self.held_since).as_secs_f64();
        let time = now.saturating_sub(self.began).as_secs_f64();
        outcome.out_of_order_mean += if time > 0.0 { integral / time } else { 0.0 };
        outcome.credit = outcome.credit.max(self.sides[1].connection.credit());
        let usable = self.sides[0].streams.iter().filter(|stream| stream.health() == Health::Usable).count();
        outcome.streams_at_end += usable as u64;
    }
}

impl TcpStream {
    pub(super) fn outcome(&self, stream: u32) -> StreamOutcome {
        StreamOutcome { stream, path: self.path, delivered: Bytes::new(self.delivered) }
    }
}
