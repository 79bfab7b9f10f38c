//! Decisions on the number of streams, and the tally of datagrams, as log lines.

use std::fmt::Write;
use stripe::optimizer::{Controller, Reason, Tuner};
use stripe::session::{Session, Tally};
use units::Time;

/// A line on datagrams is logged at most once in this time: its counts change with every datagram.
const EACH: Time = Time::from_secs(10);

/// What has been logged of a session.
#[derive(Debug, Default)]
pub(crate) struct Told {
    decision: Option<Decision>,
    /// Flows, and the tally of datagrams.
    datagrams: (usize, Tally),
    /// No line on datagrams is written before this time.
    quiet_until: Time,
}

impl Told {
    /// What has changed since it was last logged, each with its reason.
    pub fn news(&mut self, now: Time, session: &Session) -> Vec<(String, String)> {
        let mut news = Vec::new();
        let decision = Decision::of(session);
        if self.decision.as_ref().is_none_or(|told| decision.differs(told)) {
            let Decision { number, used, reason, why } = &decision;
            news.push((format!("{number} streams, {used} used here"), format!("{reason}: {why}")));
            self.decision = Some(decision);
        }
        let datagrams = (session.flow_count(), session.tally());
        if datagrams != self.datagrams && now >= self.quiet_until {
            let (flows, Tally { sent, received, late, full, refused }) = datagrams;
            let plural = if flows == 1 { "" } else { "s" };
            let dropped = format!("{late} late, {full} for lack of room, {refused} refused");
            news.push((
                format!("{flows} flow{plural} of datagrams"),
                format!("{sent} sent, {received} received, dropped here {dropped}"),
            ));
            self.datagrams = datagrams;
            self.quiet_until = now.saturating_add(EACH);
        }
        news
    }
    /// When to look again if nothing else happens.
    pub fn due(&self, now: Time) -> Time {
        if now < self.quiet_until { self.quiet_until } else { now.saturating_add(EACH) }
    }
}

/// A decision about the number of streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Streams wanted, streams used for what goes from here, and the reason; the reason's name is stable.
    pub number: u32,
    pub used: u32,
    pub reason: &'static str,
    /// The reason as a sentence, with what was measured.
    pub why: String,
}

impl Decision {
    /// The current decision.
    pub fn of(session: &Session) -> Self {
        let (number, used) = (session.number(), session.used_count());
        let (reason, why) = match session.tuner() {
            _ if session.peer_wish() > session.tuner().open() => {
                ("peer", "the other gateway has much to send".to_owned())
            }
            Tuner::Controller(controller) => (controller.reason().name(), measured(controller)),
            Tuner::Enumerator(_) => ("paper", "the paper's enumeration".to_owned()),
            Tuner::Fixed(_) => ("fixed", "as told".to_owned()),
        };
        Self { number, used, reason, why }
    }
    /// Whether this decision differs from another in more than its figures.
    pub fn differs(&self, other: &Self) -> bool {
        (self.number, self.used, self.reason) != (other.number, other.used, other.reason)
    }
}

fn measured(controller: &Controller) -> String {
    let mbps = |bps: u64| format!("{:.1} Mbit/s", bps as f64 / 1e6);
    let mut text = controller.reason().text().to_owned();
    if controller.reason() == Reason::Start {
        return text;
    }
    if let Some((from, rate)) = controller.compared() {
        let _ = write!(text, "; {from} carried {}", mbps(rate.as_bps()));
    }
    if let Some(rate) = controller.rate() {
        let _ = write!(text, "; {} now", mbps(rate.as_bps()));
    }
    // Nothing is measured while nothing waits for streams.
    if controller.most().as_bps() > 0 {
        let _ = write!(text, "; {} at most lately", mbps(controller.most().as_bps()));
    }
    if let Some(loss) = controller.loss() {
        let _ = write!(text, "; {:.3} % lost by chance", loss * 100.0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Options, Udp};
    use stripe::session::Role;
    use stripe::wire::Destination;

    #[test]
    fn what_becomes_of_datagrams_is_written_when_it_changes_and_not_too_often() {
        let options = Options { udp: Some(Udp::default()), ..Options::default() };
        let settings = options.settings(None);
        let mut session = Session::new(Time::ZERO, Role::Near, settings, options.tuner(8), &options.pool()).unwrap();
        let mut told = Told::default();
        let at = Time::from_secs;
        assert_eq!(told.news(at(0), &session).len(), 1, "of streams alone");
        let datagrams = |told: &mut Told, now, session: &Session| {
            let mut news = told.news(now, session);
            news.retain(|(what, _)| what.contains("datagrams"));
            news.pop()
        };
        let flow = session.open_flow(at(20), Destination::Name("db".to_owned(), 53)).unwrap();
        let (what, why) = datagrams(&mut told, at(20), &session).expect("at once");
        assert_eq!(what, "1 flow of datagrams");
        assert_eq!(why, "0 sent, 0 received, dropped here 0 late, 0 for lack of room, 0 refused");
        assert_eq!(told.due(at(20)), at(30), "it is looked at as soon as it may be written again");
        // No stream takes them.
        for _ in 0..3 {
            session.send_datagram(at(21), flow, b"?");
        }
        session.send_datagram(at(21), flow, &vec![0; 70_000]);
        session.on_timer(at(22));
        assert_eq!(datagrams(&mut told, at(22), &session), None, "not too often");
        assert_eq!(datagrams(&mut told, at(29), &session), None);
        let (what, why) = datagrams(&mut told, at(30), &session).expect("then all of it");
        assert_eq!(what, "1 flow of datagrams");
        assert_eq!(why, "0 sent, 0 received, dropped here 3 late, 1 for lack of room, 0 refused");
        assert_eq!(datagrams(&mut told, at(100), &session), None, "nothing is new");
        assert_eq!(told.due(at(100)), at(110));
        session.open_flow(at(101), Destination::Name("other".to_owned(), 53)).unwrap();
        session.send_datagram(at(101), flow, b"?");
        session.close_flow(flow, libc::EACCES as u32);
        session.open_flow(at(101), Destination::Name("third".to_owned(), 53)).unwrap();
        let (what, why) = datagrams(&mut told, at(101), &session).expect("at once");
        assert_eq!(what, "2 flows of datagrams");
        assert_eq!(why, "0 sent, 0 received, dropped here 3 late, 1 for lack of room, 1 refused");
    }
}
