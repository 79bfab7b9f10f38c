//! What a session knows of its streams, how many there are to be, and what it leaves.

use super::{Carrier, ENDS, Session, World};
use crate::results::{StreamOutcome, StripeOutcome};
use ::stripe::optimizer::{Path, Totals};
use ::stripe::{Health, Measured, Scheduler, StreamId};
use hadoop::End;
use tcp::control::Subflow;
use units::{BitRate, Bytes, Time};

/// The round-trip time of a stream on which none was measured.
const UNKNOWN_RTT: Time = Time::from_ms(100);

impl Session {
    // === What is known of streams ===

    /// What TCP knows of a stream at one end.
    pub(super) fn measured(&self, stream: u32, side: usize, world: &World) -> Option<Measured> {
        let carrier = self.carriers.get(&stream)?;
        let endpoint = world.net.transport.endpoint(carrier.handle, ENDS[side])?;
        let rtt = endpoint.rtt().smoothed().unwrap_or(UNKNOWN_RTT);
        let (written, acknowledged) = (endpoint.written(), endpoint.acknowledged());
        let open = endpoint.peer_window_end().saturating_sub(acknowledged);
        let window = endpoint.window().cwnd.min(open).max(u64::from(endpoint.window().mss));
        let rate = BitRate::from_bps((window as f64 * 8.0 / rtt.as_secs_f64()) as u64);
        let mut room = self.spec.send_buffer.get().saturating_sub(written - acknowledged);
        if self.spec.config.scheduler == Scheduler::EarliestDelivery {
            // Little lies unsent in a stream, so that no segment waits in one while another is idle (as TCP_NOTSENT_LOWAT has it).
            let segment = self.spec.config.segmentation.longest(rate);
            room = room.min((2 * segment).saturating_sub(written - endpoint.sent()));
        }
        let rto = endpoint.rtt().unclamped().max(world.tcp.min_rto);
        Some(Measured { rtt, rto, rate, handed: written, acknowledged, room: Bytes::new(room) })
    }
    pub(super) fn refresh(&mut self, stream: u32, side: usize, world: &World) {
        let Some(measured) = self.measured(stream, side, world) else { return };
        self.sides[side].streams.update(world.net.now, StreamId(stream), measured);
        if let (0, Some(carrier)) = (side, self.carriers.get_mut(&stream))
            && let Some(endpoint) = world.net.transport.endpoint(carrier.handle, End::Client)
        {
            let counters = endpoint.counters();
            carrier.counted = (counters.segments_sent, counters.retransmissions);
            let losses = u64::from(counters.fast_recoveries) + u64::from(counters.timeouts);
            if losses > carrier.losses {
                carrier.losses = losses;
                carrier.between_losses = endpoint.acknowledged() - carrier.acknowledged_at_loss;
                carrier.acknowledged_at_loss = endpoint.acknowledged();
            }
        }
    }
    pub(super) fn refresh_all(&mut self, world: &World) {
        for stream in self.carriers.keys().copied().collect::<Vec<_>>() {
            self.refresh(stream, 0, world);
            self.refresh(stream, 1, world);
        }
    }

    /// Hands each stream's congestion control its weights, as the windows of all have it.
    pub(super) fn couple(&self, world: &mut World) {
        let Some(coupling) = self.spec.coupling else { return };
        let subflow = |carrier: &Carrier| {
            let endpoint = world.net.transport.endpoint(carrier.handle, End::Client)?;
            let since = endpoint.acknowledged() - carrier.acknowledged_at_loss;
            Some(Subflow {
                cwnd: endpoint.window().cwnd.max(1),
                rtt: endpoint.rtt().smoothed()?,
                between_losses: carrier.between_losses.max(since),
            })
        };
        let connected = self.carriers.values().filter(|carrier| carrier.connected);
        let (handles, subflows): (Vec<_>, Vec<_>) =
            connected.filter_map(|carrier| Some((carrier.handle, subflow(carrier)?))).unzip();
        for (which, handle) in handles.into_iter().enumerate() {
            world.net.transport.set_weights(handle, End::Client, coupling.weights(&subflows, which));
        }
    }
    /// An epoch is over; returns whether the number of streams changes.
    pub(super) fn tune(&mut self, world: &World) -> bool {
        let now = world.net.now;
        let mut totals = Totals { delivered: self.sides[1].connection.readable().end, ..Totals::default() };
        (totals.sent, totals.lost) = self.counted;
        let (mut count, mut limited, mut rtt) = (0, 0, Time::ZERO);
        let (mut path, mut windows) = (None, 0);
        for carrier in self.carriers.values().filter(|carrier| carrier.connected) {
            totals.sent += carrier.counted.0;
            totals.lost += carrier.counted.1;
            let Some(endpoint) = world.net.transport.endpoint(carrier.handle, End::Client) else { continue };
            if carrier.closing {
                continue;
            }
            let offered = endpoint.peer_window_end().saturating_sub(endpoint.acknowledged());
            let window = offered.min(self.spec.send_buffer.get());
            count += 1;
            limited += u32::from(endpoint.window().cwnd >= window);
            rtt += endpoint.rtt().smoothed().unwrap_or(UNKNOWN_RTT);
            windows += window;
            path = Some((endpoint.window().mss, endpoint.rtt().rto()));
        }
        totals.rtt = if count > 0 { rtt / u64::from(count) } else { UNKNOWN_RTT };
        totals.window_limited = limited * 2 > count;
        totals.idle = self.sides[0].connection.waiting() == Bytes::ZERO;
        let (mss, rto) = path.unwrap_or((1460, Time::from_secs(1)));
        let path = Path {
            mss: Bytes::new(u64::from(mss)),
            rtt: totals.rtt,
            loss: 0.0,
            rto,
            window: Bytes::new(windows / u64::from(count.max(1))),
            per_ack: if world.tcp.delayed_ack.is_some() { 2.0 } else { 1.0 },
        };
        self.tuner.on_epoch(now, &totals, &path, count)
    }
    // === Results ===

    pub(super) fn add_to(&self, now: Time, outcome: &mut StripeOutcome) {
        outcome.streams.extend(self.gone.iter().copied());
        outcome.streams.extend(self.carriers.iter().map(|(id, carrier)| carrier.outcome(*id)));
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

impl Carrier {
    pub(super) fn outcome(&self, stream: u32) -> StreamOutcome {
        StreamOutcome { stream, path: self.path, delivered: Bytes::new(self.delivered) }
    }
}
