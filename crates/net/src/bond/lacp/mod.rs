//! The Link Aggregation Control Protocol (IEEE 802.1AX-2014, 6.4): pure state machines.
//!
//! A [`Group`] is one system's end of a bond, a port for each link. It is handed the time and one input, and appends
//! the LACPDUs to be sent.

mod pdu;
mod port;

pub use pdu::{Info, Lacpdu, State};
pub use port::{Counters, Mux, Port, Receive};

use units::Time;

/// What LACP aggregates together: our key, and the partner's system and key (the LAG ID, 6.3.6.1).
type Lag = (u16, u16, [u8; 6], u16);

/// One system's ports that are to become one bond.
#[derive(Clone, Debug)]
pub struct Group {
    ports: Vec<Port>,
    /// With whom the aggregator is; it keeps its partner as long as a port is attached for it.
    lag: Option<Lag>,
}

impl Group {
    /// Ports without carrier. Of each port's state, activity, timeout and aggregation count.
    pub fn new(ports: impl IntoIterator<Item = Info>) -> Self {
        Self { ports: ports.into_iter().map(Port::new).collect(), lag: None }
    }

    /// Its ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }
    /// Whether frames may be sent on a port.
    pub fn distributes(&self, port: usize) -> bool {
        self.ports[port].mux_state() == Mux::Distributing
    }
    /// Whether frames that arrive on a port are taken in.
    pub fn collects(&self, port: usize) -> bool {
        matches!(self.ports[port].mux_state(), Mux::Collecting | Mux::Distributing)
    }

    /// All ports get their carrier at once.
    pub fn start(&mut self, now: Time, out: &mut Vec<(usize, Lacpdu)>) {
        for port in &mut self.ports {
            port.set_carrier(now, true);
        }
        self.run_machines(now, out);
    }
    /// The carrier of a port comes or goes.
    pub fn set_carrier(&mut self, now: Time, port: usize, up: bool, out: &mut Vec<(usize, Lacpdu)>) {
        self.ports[port].set_carrier(now, up);
        self.run_machines(now, out);
    }
    /// An LACPDU arrives at a port.
    pub fn receive(&mut self, now: Time, port: usize, pdu: &Lacpdu, out: &mut Vec<(usize, Lacpdu)>) {
        self.ports[port].on_pdu(now, pdu);
        self.run_machines(now, out);
    }
    /// Time has passed; what is not due does not happen.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<(usize, Lacpdu)>) {
        self.run_machines(now, out);
    }
    /// When [`Group::on_timer`] is to be called next.
    pub fn deadline(&self) -> Time {
        self.ports.iter().map(Port::deadline).min().unwrap_or(Time::MAX)
    }

    /// Lets all machines run until none moves.
    fn run_machines(&mut self, now: Time, out: &mut Vec<(usize, Lacpdu)>) {
        for port in &mut self.ports {
            port.step_receive(now);
            port.step_periodic(now);
            port.step_wait(now);
        }
        while self.step(now) {}
        for (number, port) in self.ports.iter_mut().enumerate() {
            port.step_churn(now);
            out.extend(port.transmit(now).map(|pdu| (number, pdu)));
        }
    }

    fn step(&mut self, now: Time) -> bool {
        self.select();
        let mut waiting = self.ports.iter().filter(|port| port.mux_state() == Mux::Waiting);
        let ready = waiting.all(|port| port.waited);
        let mut moved = false;
        for port in &mut self.ports {
            moved |= port.step_mux(now, ready);
        }
        moved
    }

    /// The selection logic (6.4.14): one aggregator, for the ports of the largest group of one LAG ID. A port that is
    /// to change its group is detached first.
    fn select(&mut self) {
        let lag_of = |port: &Port| {
            let partner = port.partner();
            (port.actor().key, partner.system_priority, partner.system, partner.key)
        };
        let members = |lag: Lag| self.ports.iter().filter(|port| port.is_aggregatable() && lag_of(port) == lag).count();
        let attached =
            |port: &&Port| port.is_aggregatable() && !matches!(port.mux_state(), Mux::Detached | Mux::Waiting);
        let kept = self.lag.filter(|lag| self.ports.iter().filter(attached).any(|port| lag_of(port) == *lag));
        let largest = || {
            let lags = self.ports.iter().filter(|port| port.is_aggregatable()).map(lag_of);
            // The first of the largest: `max_by_key` would take the last.
            lags.rev().max_by_key(|lag| members(*lag))
        };
        let lag = kept.or_else(largest);
        // Without anyone to choose, those that have lost their carrier stay where they were, in case it returns.
        self.lag = lag.or(self.lag);
        for port in &mut self.ports {
            let belongs = lag.is_some_and(|lag| port.is_aggregatable() && lag_of(port) == lag);
            if belongs && port.mux_state() == Mux::Detached {
                port.selected = true;
            } else if !belongs && port.has_carrier() {
                port.selected = false;
            }
        }
    }

    /// Makes `by` the beginning of time, for machines that have run before it.
    fn rebase(&mut self, by: Time) {
        for port in &mut self.ports {
            port.rebase(by);
        }
    }
}

/// Lets two groups, port connected to port of the same number, come to an agreement before the beginning of time over
/// links that lose nothing and take no time. Returns how long it took them.
pub fn agree(ends: &mut [Group; 2]) -> Time {
    let mut out = [Vec::new(), Vec::new()];
    let mut now = Time::ZERO;
    for (end, group) in ends.iter_mut().enumerate() {
        group.start(now, &mut out[end]);
    }
    // What does not agree by now never will: the last timers are those of churn.
    let end_of_patience = Time::from_secs(120);
    loop {
        while out.iter().any(|out| !out.is_empty()) {
            for end in 0..2 {
                for (port, pdu) in std::mem::take(&mut out[end]) {
                    ends[1 - end].receive(now, port, &pdu, &mut out[1 - end]);
                }
            }
        }
        let agreed = |group: &Group| (0..group.ports.len()).all(|port| group.distributes(port));
        let next = ends[0].deadline().min(ends[1].deadline());
        if ends.iter().all(agreed) || next > end_of_patience {
            break;
        }
        now = next;
        for end in 0..2 {
            ends[end].on_timer(now, &mut out[end]);
        }
    }
    for group in ends {
        group.rebase(now);
    }
    now
}
