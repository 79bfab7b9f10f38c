//! Explicit congestion notification: negotiation, echo and answer (RFC 3168), and the precise echo of DCTCP (RFC 8257).

use crate::control::{Control, ControlKind};
use crate::{Config, Endpoint, Flags, Output, Segment};
use units::Time;

/// What an endpoint of an ECN-capable connection counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounters {
    /// Data segments received that had met congestion (CE).
    pub ce_received: u64,
    /// Segments received that echo congestion (ECE).
    pub ece_received: u64,
    /// Times that an echo made this side reduce its window.
    pub reductions: u64,
}

/// Both ends are ECN-capable; only then does it exist.
#[derive(Clone, Debug)]
pub(crate) struct Ecn {
    /// Receiver: acknowledgements carry ECE. With the precise echo it is DCTCP.CE, the mark of the last segment.
    echo: bool,
    /// Receiver: the echo follows every segment's mark (RFC 8257, section 3.2); else it stays until the peer says CWR.
    precise: bool,
    /// Sender: the next segment of new data says CWR.
    announce: bool,
    /// Sender: one reduction answers all that was sent below this.
    reduced_until: u64,
    counters: EcnCounters,
}

impl Config {
    /// DCTCP cannot do without.
    fn uses_ecn(&self) -> bool {
        self.ecn || self.control == ControlKind::Dctcp
    }
}

impl Ecn {
    /// Flags of a segment of new data: ECN-capable, and CWR on the first after a reduction. Retransmissions, pure
    /// acknowledgements and window probes are not ECN-capable (RFC 3168, sections 6.1.4 to 6.1.6).
    fn on_new_data(&mut self) -> Flags {
        if std::mem::take(&mut self.announce) { Flags::ECT | Flags::CWR } else { Flags::ECT }
    }
    /// The window was reduced, for whatever reason, with data up to `nxt` outstanding.
    fn on_reduction(&mut self, nxt: u64) {
        self.reduced_until = nxt;
        self.announce = true;
    }
}

impl Endpoint {
    /// What is counted of ECN, if both ends are capable of it.
    pub fn ecn(&self) -> Option<&EcnCounters> {
        self.special.ecn.as_ref().map(|ecn| &ecn.counters)
    }
    /// The flags by which a SYN asks and a SYN-ACK grants (RFC 3168, section 6.1.1). DCTCP's are ECN-capable themselves
    /// (RFC 8257, section 3.6).
    pub(crate) fn ecn_syn_flags(&self, reply: bool) -> Flags {
        let asks = if reply {
            if self.special.ecn.is_some() { Flags::ECE } else { Flags::NONE }
        } else if self.config.uses_ecn() {
            Flags::ECE | Flags::CWR
        } else {
            Flags::NONE
        };
        if self.config.control == ControlKind::Dctcp { asks | Flags::ECT } else { asks }
    }
    /// Takes what the peer's SYN or SYN-ACK says of it.
    pub(crate) fn negotiate_ecn(&mut self, segment: &Segment) {
        let both = segment.flags.intersects(Flags::ECE)
            && segment.flags.contains(Flags::CWR) != segment.flags.contains(Flags::ACK);
        if both && self.config.uses_ecn() {
            self.special.ecn = Some(Box::new(Ecn {
                echo: false,
                precise: self.config.control == ControlKind::Dctcp,
                announce: false,
                reduced_until: 0,
                counters: EcnCounters::default(),
            }));
        } else if let Some(special) = self.special.written() {
            special.ecn = None;
        }
    }
    /// Flags of a segment of new data.
    #[inline]
    pub(crate) fn new_data_flags(&mut self) -> Flags {
        self.special.ecn().map_or(Flags::NONE, Ecn::on_new_data)
    }
    /// The echo that every segment but a SYN or RST carries.
    #[inline]
    pub(crate) fn echo_flags(&self) -> Flags {
        if self.special.there().is_some_and(|special| special.ecn.as_ref().is_some_and(|ecn| ecn.echo)) {
            Flags::ECE
        } else {
            Flags::NONE
        }
    }
    /// The receiver's side: takes the mark of a segment with data, before its data is taken.
    #[inline]
    pub(crate) fn take_mark(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        // Marks on segments without new data, or out of the window, count for nothing (RFC 3168, section 6.1.5).
        if !self.special.is_blank() && segment.len > 0 && segment.end() > self.rx.nxt {
            self.follow_mark(now, segment.flags, out);
        }
    }
    fn follow_mark(&mut self, now: Time, flags: Flags, out: &mut Output) {
        let Some(ecn) = self.special.ecn() else { return };
        let marked = flags.contains(Flags::CE);
        ecn.counters.ce_received += u64::from(marked);
        if !ecn.precise {
            // RFC 3168, section 6.1.3: CWR ends the echo, a mark on the same segment begins it anew.
            ecn.echo = marked || ecn.echo && !flags.contains(Flags::CWR);
        } else if ecn.echo != marked {
            // RFC 8257, section 3.2: a change is acknowledged at once; what waits for a delayed acknowledgement gets
            // one of its own, which tells of the old state.
            if self.rx.awaits_ack() {
                self.send_ack(now, out);
            }
            self.rx.ack_now = true;
            if let Some(ecn) = self.special.ecn() {
                ecn.echo = marked;
            }
        }
    }
    /// The sender's side: takes the echo of an acknowledgement of `acked` new bytes; true if it is one, so that the
    /// window must not grow by it (RFC 3168, section 6.1.2).
    #[inline]
    pub(crate) fn take_echo(&mut self, now: Time, segment: &Segment) -> bool {
        !self.special.is_blank() && self.answer_echo(now, segment)
    }
    fn answer_echo(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(ecn) = self.special.ecn() else { return false };
        let marked = segment.flags.contains(Flags::ECE);
        let tx = &mut self.tx;
        self.control.on_marks(segment.ack - tx.una, marked, segment.ack, tx.nxt);
        ecn.counters.ece_received += u64::from(marked);
        // At most one reduction for what is in the network at a time, and none while nothing is.
        if marked && segment.ack > ecn.reduced_until && tx.una < tx.nxt && self.control.answers_echoes() {
            ecn.counters.reductions += 1;
            ecn.on_reduction(tx.nxt);
            let (flight, before) = (tx.flight_size(), tx.window.cwnd);
            self.control.on_echo(&mut tx.window, now, flight);
            // The least that a control cuts to may be more than the one segment that a timeout has left.
            tx.window.cwnd = tx.window.cwnd.min(before);
        }
        marked
    }
    /// The window is about to be reduced because of a loss; false if it was reduced by an echo for the same flight:
    /// that is enough (RFC 3168, section 6.1.2; RFC 8257, section 3.5).
    pub(crate) fn loss_is_news(&mut self) -> bool {
        let Some(ecn) = self.special.ecn() else { return true };
        if self.tx.una < ecn.reduced_until && self.control.answers_echoes() {
            return false;
        }
        ecn.on_reduction(self.tx.nxt);
        true
    }
    /// The timer has expired and the window with it, reduced before or not.
    pub(crate) fn note_reduction(&mut self) {
        if let Some(ecn) = self.special.ecn() {
            ecn.on_reduction(self.tx.nxt);
        }
    }
}
