//! The state machines of one port (IEEE 802.1AX-2014, 6.4.12 to 6.4.17).

use super::pdu::{Info, Lacpdu, State};
use units::Time;

/// Interval of LACPDUs to a partner with a short timeout.
const FAST_PERIODIC_TIME: Time = Time::from_secs(1);
/// Interval of LACPDUs to a partner with a long timeout.
const SLOW_PERIODIC_TIME: Time = Time::from_secs(30);
/// How long partner information is valid at a port with a short timeout.
const SHORT_TIMEOUT_TIME: Time = Time::from_secs(3);
/// How long partner information is valid at a port with a long timeout.
const LONG_TIMEOUT_TIME: Time = Time::from_secs(90);
/// How long a port waits for others to aggregate with.
const AGGREGATE_WAIT_TIME: Time = Time::from_secs(2);
/// A port out of synchronization for longer than this churns.
const CHURN_DETECTION_TIME: Time = Time::from_secs(60);
/// Most LACPDUs in any [`FAST_PERIODIC_TIME`] (6.4.16).
const BURST: usize = 3;

/// State of the receive machine (figure 6-18). LACP is always enabled here, and a port never moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receive {
    /// No carrier; partner information is kept.
    PortDisabled,
    /// Nothing received for too long, or nothing yet.
    Expired,
    /// Nothing received for so long that default partner information is used.
    Defaulted,
    /// The partner's LACPDUs arrive.
    Current,
}

/// State of the periodic transmission machine (figure 6-19).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Periodic {
    None,
    Fast,
    Slow,
}

/// State of the mux machine (figure 6-21, independent control).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mux {
    /// In no aggregator.
    Detached,
    /// Waits for other ports.
    Waiting,
    /// In the aggregator.
    Attached,
    /// Takes in frames.
    Collecting,
    /// Also sends frames.
    Distributing,
}

/// State of a churn machine (figures 6-23 and 6-24).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Churn {
    None,
    Monitor(Time),
    Churning,
}

impl Churn {
    /// Follows one end's synchronization. True when it starts to churn.
    fn step(&mut self, now: Time, carrier: bool, synchronized: bool) -> bool {
        match self {
            _ if !carrier => *self = Self::Monitor(Time::MAX),
            Self::None | Self::Monitor(_) | Self::Churning if synchronized => *self = Self::None,
            Self::None | Self::Monitor(Time::MAX) => *self = Self::Monitor(now + CHURN_DETECTION_TIME),
            Self::Monitor(until) if *until <= now => {
                *self = Self::Churning;
                return true;
            }
            _ => {}
        }
        false
    }

    fn deadline(self) -> Time {
        if let Self::Monitor(until) = self { until } else { Time::MAX }
    }
}

/// Counters of a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// LACPDUs sent.
    pub sent: u64,
    /// LACPDUs received.
    pub received: u64,
    /// Times that this end was out of synchronization for 60 s.
    pub actor_churns: u64,
    /// Times that the partner was out of synchronization for 60 s.
    pub partner_churns: u64,
}

/// One end of one link.
#[derive(Clone, Debug)]
pub struct Port {
    actor: Info,
    partner: Info,
    carrier: bool,
    receive: Receive,
    current_while: Time,
    periodic: Periodic,
    periodic_timer: Time,
    mux: Mux,
    pub(super) selected: bool,
    wait_while: Time,
    /// The wait for others is over (`Ready_N`).
    pub(super) waited: bool,
    /// An LACPDU is due.
    need_to_transmit: bool,
    /// When the last LACPDUs were sent, oldest first.
    last_sent: [Option<Time>; BURST],
    actor_churn: Churn,
    partner_churn: Churn,
    counters: Counters,
}

impl Port {
    /// A port without carrier, with all machines in their initial states. Of `actor`'s state, only activity, timeout
    /// and aggregation are used.
    pub(super) fn new(actor: Info) -> Self {
        let mut port = Self {
            actor,
            partner: Info::default(),
            carrier: false,
            receive: Receive::PortDisabled,
            current_while: Time::MAX,
            periodic: Periodic::None,
            periodic_timer: Time::MAX,
            mux: Mux::Detached,
            selected: false,
            wait_while: Time::MAX,
            waited: false,
            need_to_transmit: true,
            last_sent: [None; BURST],
            actor_churn: Churn::Monitor(Time::MAX),
            partner_churn: Churn::Monitor(Time::MAX),
            counters: Counters::default(),
        };
        port.record_default();
        port
    }

    /// The actor's parameters and state, as its LACPDUs state them.
    pub fn actor(&self) -> &Info {
        &self.actor
    }
    /// The partner's parameters and state, as last received.
    pub fn partner(&self) -> &Info {
        &self.partner
    }
    /// The receive machine's state.
    pub fn receive_state(&self) -> Receive {
        self.receive
    }
    /// The mux machine's state.
    pub fn mux_state(&self) -> Mux {
        self.mux
    }
    /// Whether this end, or the partner, churns now.
    pub fn churns(&self) -> (bool, bool) {
        (self.actor_churn == Churn::Churning, self.partner_churn == Churn::Churning)
    }
    /// Counters of the port.
    pub fn counters(&self) -> Counters {
        self.counters
    }
    pub(super) fn has_carrier(&self) -> bool {
        self.carrier
    }

    /// Whether the selection logic may choose it: its partner is known, both ends allow aggregation, and it is not
    /// connected to its own system.
    pub(super) fn is_aggregatable(&self) -> bool {
        self.carrier
            && !self.actor.state.has(State::DEFAULTED)
            && self.actor.state.has(State::AGGREGATION)
            && self.partner.state.has(State::AGGREGATION)
            && (self.partner.system_priority, self.partner.system) != (self.actor.system_priority, self.actor.system)
    }

    // === Receive machine ===

    pub(super) fn set_carrier(&mut self, now: Time, up: bool) {
        if self.carrier == up {
            return;
        }
        self.carrier = up;
        if up {
            self.expire(now);
        } else {
            self.receive = Receive::PortDisabled;
            self.current_while = Time::MAX;
            self.partner.state.set(State::SYNCHRONIZATION, false);
        }
    }

    pub(super) fn on_pdu(&mut self, now: Time, pdu: &Lacpdu) {
        if !self.carrier {
            return;
        }
        self.counters.received += 1;
        if !pdu.actor.is_same_port(&self.partner) {
            self.selected = false;
        }
        let told = State::ACTIVITY.with(State::SHORT_TIMEOUT).with(State::SYNCHRONIZATION).with(State::AGGREGATION);
        if !pdu.partner.same_names(&self.actor) || pdu.partner.differs_in(&self.actor, told) {
            self.need_to_transmit = true;
        }
        self.record(pdu);
        let short = self.actor.state.has(State::SHORT_TIMEOUT);
        self.current_while = now + if short { SHORT_TIMEOUT_TIME } else { LONG_TIMEOUT_TIME };
        self.actor.state.set(State::EXPIRED, false);
        self.receive = Receive::Current;
    }

    /// `recordPDU` (6.4.9).
    fn record(&mut self, pdu: &Lacpdu) {
        let (actor, partner) = (pdu.actor.state, pdu.partner.state);
        let maintained =
            actor.has(State::ACTIVITY) || self.actor.state.has(State::ACTIVITY) && partner.has(State::ACTIVITY);
        let matches = pdu.partner.is_same_port(&self.actor) || !actor.has(State::AGGREGATION);
        self.partner = pdu.actor;
        self.partner.state.set(State::SYNCHRONIZATION, matches && maintained && actor.has(State::SYNCHRONIZATION));
        self.actor.state.set(State::DEFAULTED, false);
    }

    /// `recordDefault` (6.4.9), with no administrative values for the partner.
    fn record_default(&mut self) {
        self.partner = Info::default();
        self.actor.state.set(State::DEFAULTED, true);
    }

    fn expire(&mut self, now: Time) {
        self.receive = Receive::Expired;
        self.partner.state.set(State::SYNCHRONIZATION, false);
        self.partner.state.set(State::SHORT_TIMEOUT, true);
        self.current_while = now + SHORT_TIMEOUT_TIME;
        self.actor.state.set(State::EXPIRED, true);
    }

    // === Timers ===

    pub(super) fn deadline(&self) -> Time {
        let transmit = if self.need_to_transmit && self.carrier { self.may_send_at() } else { Time::MAX };
        let timers = [self.current_while, self.periodic_timer, self.wait_while, transmit];
        let churns = [self.actor_churn.deadline(), self.partner_churn.deadline()];
        timers.into_iter().chain(churns).min().unwrap_or(Time::MAX)
    }

    /// Runs the receive machine's timer if it is due.
    pub(super) fn step_receive(&mut self, now: Time) {
        if self.current_while > now {
            return;
        }
        match self.receive {
            Receive::Current => self.expire(now),
            Receive::Expired => {
                // `update_Default_Selected`: the partner has no administrative values, so what was known differs from
                // them.
                self.selected = false;
                self.record_default();
                self.actor.state.set(State::EXPIRED, false);
                self.receive = Receive::Defaulted;
                self.current_while = Time::MAX;
            }
            Receive::PortDisabled | Receive::Defaulted => self.current_while = Time::MAX,
        }
    }

    pub(super) fn step_periodic(&mut self, now: Time) {
        let passive = !self.actor.state.has(State::ACTIVITY) && !self.partner.state.has(State::ACTIVITY);
        if !self.carrier || passive {
            self.periodic = Periodic::None;
            self.periodic_timer = Time::MAX;
            return;
        }
        let wanted = if self.partner.state.has(State::SHORT_TIMEOUT) { Periodic::Fast } else { Periodic::Slow };
        let expired = self.periodic_timer <= now;
        if expired || (self.periodic, wanted) == (Periodic::Slow, Periodic::Fast) {
            self.need_to_transmit = true;
        }
        if expired || self.periodic != wanted {
            self.periodic = wanted;
            self.periodic_timer = now + if wanted == Periodic::Fast { FAST_PERIODIC_TIME } else { SLOW_PERIODIC_TIME };
        }
    }

    pub(super) fn step_churn(&mut self, now: Time) {
        let synchronized = |info: &Info| info.state.has(State::SYNCHRONIZATION);
        let (actor, partner) = (synchronized(&self.actor), synchronized(&self.partner));
        self.counters.actor_churns += u64::from(self.actor_churn.step(now, self.carrier, actor));
        self.counters.partner_churns += u64::from(self.partner_churn.step(now, self.carrier, partner));
    }

    // === Mux machine ===

    /// Ends the wait for other ports if it is due.
    pub(super) fn step_wait(&mut self, now: Time) {
        if self.wait_while <= now {
            self.wait_while = Time::MAX;
            self.waited = true;
        }
    }

    /// One transition of the mux machine if one is due. `ready`: no port of the aggregator still waits for others.
    pub(super) fn step_mux(&mut self, now: Time, ready: bool) -> bool {
        let partner = self.partner.state;
        let synchronized = partner.has(State::SYNCHRONIZATION);
        let next = match self.mux {
            Mux::Detached if self.selected => Mux::Waiting,
            Mux::Waiting | Mux::Attached if !self.selected => Mux::Detached,
            Mux::Waiting if ready => Mux::Attached,
            Mux::Attached if synchronized => Mux::Collecting,
            Mux::Collecting if !self.selected || !synchronized => Mux::Attached,
            Mux::Collecting if partner.has(State::COLLECTING) => Mux::Distributing,
            Mux::Distributing if !self.selected || !synchronized || !partner.has(State::COLLECTING) => Mux::Collecting,
            _ => return false,
        };
        self.mux = next;
        self.waited = false;
        self.wait_while = if next == Mux::Waiting { now + AGGREGATE_WAIT_TIME } else { Time::MAX };
        let state = &mut self.actor.state;
        state.set(State::SYNCHRONIZATION, matches!(next, Mux::Attached | Mux::Collecting | Mux::Distributing));
        state.set(State::COLLECTING, matches!(next, Mux::Collecting | Mux::Distributing));
        state.set(State::DISTRIBUTING, next == Mux::Distributing);
        if matches!(next, Mux::Detached | Mux::Attached | Mux::Collecting) {
            self.need_to_transmit = true;
        }
        true
    }

    // === Transmit machine ===

    fn may_send_at(&self) -> Time {
        self.last_sent[0].map_or(Time::ZERO, |oldest| oldest + FAST_PERIODIC_TIME)
    }

    /// The due LACPDU, if it may be sent now.
    pub(super) fn transmit(&mut self, now: Time) -> Option<Lacpdu> {
        if !self.carrier {
            self.need_to_transmit = false;
        }
        if !self.need_to_transmit || self.may_send_at() > now {
            return None;
        }
        self.need_to_transmit = false;
        self.last_sent.rotate_left(1);
        self.last_sent[BURST - 1] = Some(now);
        self.counters.sent += 1;
        Some(Lacpdu { actor: self.actor, partner: self.partner })
    }

    /// Shifts all timers: `by` becomes time zero.
    pub(super) fn rebase(&mut self, by: Time) {
        let earlier = |time: &mut Time| {
            if *time != Time::MAX {
                *time = time.saturating_sub(by);
            }
        };
        for timer in [&mut self.current_while, &mut self.periodic_timer, &mut self.wait_while] {
            earlier(timer);
        }
        for churn in [&mut self.actor_churn, &mut self.partner_churn] {
            if let Churn::Monitor(until) = churn {
                earlier(until);
            }
        }
        self.last_sent = [None; BURST];
        self.counters = Counters::default();
    }
}
