//! The Link Aggregation Control Protocol (IEEE 802.1AX-2014, 6.4) as pure state machines.
//!
//! A [`Group`] is one system's end of a bond, with a port for each link. It is handed the time and one input, and
//! appends the LACPDUs to send.

mod pdu;
mod port;

pub use pdu::{Info, Lacpdu, State};
pub use port::{Counters, Mux, Port, Receive};

use units::Time;

/// LAG ID (6.3.6.1): our key, and the partner's system and key.
type Lag = (u16, u16, [u8; 6], u16);

/// One system's ports that are to form one bond.
#[derive(Clone, Debug)]
pub struct Group {
    ports: Vec<Port>,
    /// The aggregator's LAG ID. It keeps its partner while a port is attached for it.
    lag: Option<Lag>,
}

impl Group {
    /// Ports without carrier. Of each port's state, only activity, timeout and aggregation are used.
    pub fn new(ports: impl IntoIterator<Item = Info>) -> Self {
        Self { ports: ports.into_iter().map(Port::new).collect(), lag: None }
    }

    /// Its ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }
    /// Whether frames may be sent on a port (Distributing).
    pub fn distributes(&self, port: usize) -> bool {
        self.ports[port].mux_state() == Mux::Distributing
    }
    /// Whether frames that arrive on a port are taken in (Collecting).
    pub fn collects(&self, port: usize) -> bool {
        matches!(self.ports[port].mux_state(), Mux::Collecting | Mux::Distributing)
    }

    /// All ports gain carrier at once.
    pub fn start(&mut self, now: Time, out: &mut Vec<(usize, Lacpdu)>) {
        for port in &mut self.ports {
            port.set_carrier(now, true);
        }
        self.run_machines(now, out);
    }
    /// A port gains or loses carrier.
    pub fn set_carrier(&mut self, now: Time, port: usize, up: bool, out: &mut Vec<(usize, Lacpdu)>) {
        self.ports[port].set_carrier(now, up);
        self.run_machines(now, out);
    }
    /// An LACPDU arrives at a port.
    pub fn receive(&mut self, now: Time, port: usize, pdu: &Lacpdu, out: &mut Vec<(usize, Lacpdu)>) {
        self.ports[port].on_pdu(now, pdu);
        self.run_machines(now, out);
    }
    /// Runs what is due at `now`.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<(usize, Lacpdu)>) {
        self.run_machines(now, out);
    }
    /// When [`Group::on_timer`] is to be called next.
    pub fn deadline(&self) -> Time {
        self.ports.iter().map(Port::deadline).min().unwrap_or(Time::MAX)
    }

    /// Runs all machines until none moves.
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

    /// Selection logic (6.4.14): one aggregator, for the ports of the largest group with one LAG ID. A port that
    /// changes its group is detached first.
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
        // If no port can be chosen, ports that lost their carrier stay selected, in case it returns.
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

    /// Shifts all timers: `by` becomes time zero.
    fn rebase(&mut self, by: Time) {
        for port in &mut self.ports {
            port.rebase(by);
        }
    }
}

/// Lets two groups, ports of equal number connected, agree before time zero, over links without loss or delay. Returns
/// how long it took.
pub fn agree(ends: &mut [Group; 2]) -> Time {
    let mut out = [Vec::new(), Vec::new()];
    let mut now = Time::ZERO;
    for (end, group) in ends.iter_mut().enumerate() {
        group.start(now, &mut out[end]);
    }
    // Groups that do not agree by then never will: the churn timers are the last.
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
