//! The store's side of a request: the limit of its prefix, the time to the first byte, and the answer.

use super::client::State;
use super::request::{Message, Method, Request};
use super::{ObjectStore, wire};
use crate::context::Context;
use crate::effect::End;
use crate::ids::{ConnId, HttpId};
use units::{Bytes, Time};

/// The 99th percentile of the standard normal distribution.
const P99: f64 = 2.326_347_9;

impl ObjectStore {
    /// Something has come to the store's end of a connection.
    pub(super) fn delivered_to_store(&mut self, ctx: &mut Context, conn: ConnId, message: Message) {
        match message {
            Message::ClientHello => {
                ctx.send(conn, End::Server, wire::SERVER_HELLO, Message::ServerHello, true);
            }
            Message::Head(id) => self.on_head(ctx, id, conn),
            Message::Upload(id) => {
                let Some(http) = self.of(id, conn) else { return };
                http.arrived += http.piece(http.arrived);
                if http.arrived == http.ask.up {
                    self.serve(ctx, id);
                }
            }
            Message::ServerHello | Message::Continue(_) | Message::Answer { .. } | Message::Download(_) => {}
        }
    }

    /// A request's header is there: the prefix takes it, or says 503 Slow Down.
    fn on_head(&mut self, ctx: &mut Context, id: HttpId, conn: ConnId) {
        let now = ctx.now;
        let Some(http) = self.https.get(&id).filter(|http| http.conn == Some(conn)) else {
            return ctx.abort(conn, End::Server);
        };
        let (prefix, reads, up) = (http.prefix, http.ask.method.reads(), http.ask.up);
        let rate = if reads { self.config.read_limit } else { self.config.write_limit };
        let limits = &mut self.limits[prefix];
        let limit = if reads { &mut limits.0 } else { &mut limits.1 };
        if !limit.take(now, rate, self.config.limit_window) {
            let answer = Message::Answer { http: id, throttled: true };
            return ctx.send(conn, End::Server, wire::SLOW_DOWN, answer, true);
        }
        if up > Bytes::ZERO {
            return ctx.send(conn, End::Server, wire::CONTINUE, Message::Continue(id), true);
        }
        self.serve(ctx, id);
    }

    /// The store has all of a request: its answer begins after a latency, and after what it copies.
    fn serve(&mut self, ctx: &mut Context, id: HttpId) {
        let latency = self.draw_latency();
        let copy_rate = self.config.copy_rate;
        let Some(http) = self.https.get_mut(&id) else { return };
        http.state = State::Served;
        if http.ask.up > Bytes::ZERO && http.ask.method == Method::Put {
            self.counters.stored += http.ask.up;
        }
        self.counters.copied += http.ask.copied;
        // While it copies, the store keeps its connection alive (S3's `CopyObject` sends white space).
        let copying = copy_rate.transmission_time(http.ask.copied);
        let pause = latency.saturating_add(copying);
        http.progress = ctx.now.saturating_add(copying);
        ctx.timer_in(pause, Request::Ready { http: id, attempt: http.attempt });
    }
    fn draw_latency(&mut self) -> Time {
        let (median, p99) = (self.config.latency, self.config.latency_p99);
        if median == Time::ZERO || p99 <= median {
            return median;
        }
        let sigma = libm::log(p99.as_secs_f64() / median.as_secs_f64()) / P99;
        median.mul_f64(libm::exp(sigma * self.latencies.normal()))
    }

    /// The answer's header leaves, and its body begins.
    pub(super) fn ready(&mut self, ctx: &mut Context, id: HttpId, attempt: u32) {
        let up = self.is_up(ctx);
        let Some(http) = self.https.get_mut(&id) else { return };
        if http.attempt != attempt || http.state != State::Served || !up {
            return;
        }
        let Some(conn) = http.conn else { return };
        http.state = State::Answered;
        (http.sent, http.acknowledged, http.arrived) = (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO);
        http.pace = ctx.now;
        let whole = http.ask.down == Bytes::ZERO;
        ctx.send(conn, End::Server, wire::ANSWER, Message::Answer { http: id, throttled: false }, whole);
        self.pump(ctx, id);
    }
}
