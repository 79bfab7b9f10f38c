//! What becomes of requests that fail: pauses, further attempts, and when they are given up.

use super::ObjectStore;
use super::client::{Owner, State};
use super::request::Request;
use crate::context::Context;
use crate::effect::End;
use crate::ids::{ConnId, HttpId, Process};
use units::{Bytes, Time};

/// Back-off of the AWS library after throttling (`EqualJitterBackoffStrategy`): half of a delay that doubles up to a
/// maximum, and a random part of the other half.
const SDK_BASE: Time = Time::from_ms(500);
const SDK_MOST: Time = Time::from_secs(20);

impl ObjectStore {
    /// The store is asked less often: the library's pauses, and after its attempts one of S3A's.
    pub(super) fn slow_down(&mut self, ctx: &mut Context, id: HttpId) {
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

    pub(super) fn watch(&mut self, ctx: &mut Context, id: HttpId) {
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
