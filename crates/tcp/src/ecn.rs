//! Explicit congestion notification: negotiation, echo and reaction (RFC 3168), and DCTCP's precise echo (RFC 8257).

use crate::control::{Control, ControlKind};
use crate::send::Phase;
use crate::{Config, Endpoint, Flags, Output, Segment};
use units::Time;

/// What an endpoint of an ECN-capable connection counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounters {
    /// Data segments received with CE.
    pub ce_received: u64,
    /// Segments received with ECE.
    pub ece_received: u64,
    /// Window reductions that an echo caused.
    pub reductions: u64,
}

/// ECN state of a connection. It exists only if both ends are ECN-capable.
#[derive(Clone, Debug)]
pub(crate) struct Ecn {
    /// Receiver: acknowledgements carry ECE. With the precise echo it is DCTCP.CE, the mark of the last segment.
    echo: bool,
    /// Receiver: ECE follows the mark of every segment (RFC 8257, section 3.2). Off, it stays set until the peer sends
    /// CWR.
    precise: bool,
    /// Sender: the next segment of new data carries CWR.
    announce: bool,
    /// Sender: no further reduction until more than this is acknowledged.
    reduced_until: u64,
    /// Sender: cwnd is shrinking to ssthresh by proportional rate reduction, until more than `reduced_until` is
    /// acknowledged.
    shrinking: bool,
    counters: EcnCounters,
}

impl Config {
    /// DCTCP needs ECN.
    fn uses_ecn(&self) -> bool {
        self.ecn || self.control == ControlKind::Dctcp
    }
}

impl Ecn {
    /// Flags of a segment of new data: ECT, and CWR on the first after a reduction. Retransmissions, pure
    /// acknowledgements and window probes are not ECN-capable (RFC 3168, sections 6.1.4 to 6.1.6), except with DCTCP.
    fn on_new_data(&mut self) -> Flags {
        if std::mem::take(&mut self.announce) { Flags::ECT | Flags::CWR } else { Flags::ECT }
    }
    fn standing_flags(&self) -> Flags {
        let echo = if self.echo { Flags::ECE } else { Flags::NONE };
        if self.precise { echo | Flags::ECT } else { echo }
    }
    /// The window was reduced for any reason, with data up to `nxt` sent.
    fn on_reduction(&mut self, nxt: u64) {
        self.reduced_until = nxt;
        self.announce = true;
    }
}

impl Endpoint {
    /// The ECN counters, if both ends are ECN-capable.
    pub fn ecn(&self) -> Option<&EcnCounters> {
        self.special.ecn.as_ref().map(|ecn| &ecn.counters)
    }
    /// The flags by which a SYN asks and a SYN-ACK grants (RFC 3168, section 6.1.1). DCTCP's SYN and SYN-ACK are
    /// ECN-capable themselves (RFC 8257, section 3.6).
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
    /// Takes the ECN flags of the peer's SYN or SYN-ACK.
    pub(crate) fn negotiate_ecn(&mut self, segment: &Segment) {
        let both = segment.flags.intersects(Flags::ECE)
            && segment.flags.contains(Flags::CWR) != segment.flags.contains(Flags::ACK);
        if both && self.config.uses_ecn() {
            self.special.ecn = Some(Box::new(Ecn {
                echo: false,
                precise: self.config.control == ControlKind::Dctcp,
                announce: false,
                reduced_until: 0,
                shrinking: false,
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
    /// The ECN flags of every segment but a SYN or RST: ECE, and with DCTCP also ECT. At a marking threshold a packet
    /// that is not ECN-capable may be dropped; hosts therefore make DCTCP's acknowledgements and retransmissions
    /// capable, too (Linux, `tcp_ecn_send`; ns-3).
    #[inline]
    pub(crate) fn echo_flags(&self) -> Flags {
        self.special.there().and_then(|special| special.ecn.as_deref()).map_or(Flags::NONE, Ecn::standing_flags)
    }
    /// Receiver: takes the CE mark of a data segment, before its data.
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
            // RFC 3168, section 6.1.3: CWR ends the echo; CE on the same segment starts it anew.
            ecn.echo = marked || ecn.echo && !flags.contains(Flags::CWR);
        } else if ecn.echo != marked {
            // RFC 8257, section 3.2: a change of CE is acknowledged at once. Segments that wait for a delayed
            // acknowledgement get their own first, with the old ECE.
            if self.rx.awaits_ack() {
                self.send_ack(now, out);
            }
            self.rx.ack_now = true;
            if let Some(ecn) = self.special.ecn() {
                ecn.echo = marked;
            }
        }
    }
    /// Sender: takes the ECE flag of an acknowledgement. True if it is set: the window must not grow (RFC 3168, section
    /// 6.1.2).
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
        // At most one reduction per window of data, and none while nothing is in flight.
        if marked && segment.ack > ecn.reduced_until && tx.una < tx.nxt && self.control.answers_echoes() {
            ecn.counters.reductions += 1;
            ecn.on_reduction(tx.nxt);
            if std::mem::take(&mut ecn.shrinking) {
                // The reduction before ends here.
                tx.window.cwnd = tx.window.ssthresh;
            }
            let (flight, before) = (self.halved(), self.tx.window.cwnd);
            let tx = &mut self.tx;
            tx.forget_undo();
            self.control.on_echo(&mut tx.window, now, flight);
            // A control's floor, two segments, may exceed the one segment that a timeout has left.
            tx.window.cwnd = tx.window.cwnd.min(before);
            let cuts = tx.phase == Phase::Open && tx.window.cwnd < before;
            if cuts && self.reduces_proportionally() && self.control.recovers_fast() {
                // Linux reduces for an echo as for a loss, in step with deliveries (`tcp_enter_cwr`).
                self.tx.window.cwnd = before;
                self.tx.begin_reduction(0);
                if let Some(ecn) = self.special.ecn() {
                    ecn.shrinking = true;
                }
            }
        }
        marked
    }
    /// Whether cwnd is shrinking because of an echo.
    #[inline]
    pub(crate) fn follows_echo(&mut self) -> bool {
        !self.special.is_blank() && self.special.ecn().is_some_and(|ecn| ecn.shrinking)
    }
    /// An acknowledgement has delivered `delivered` bytes while cwnd shrinks because of an echo. True if that ends:
    /// more is acknowledged than was out when it began, so the peer has seen CWR (Linux, `tcp_fastretrans_alert`).
    pub(crate) fn follow_echo(&mut self, delivered: u64, safe: bool) -> bool {
        let Some(ecn) = self.special.ecn() else { return false };
        let ends = self.tx.una > ecn.reduced_until;
        if ends {
            ecn.shrinking = false;
            self.tx.window.cwnd = self.tx.window.ssthresh;
        } else {
            self.tx.reduce_proportionally(delivered, safe);
        }
        ends
    }
    /// A recovery begins: it takes over what the echo has begun. True if there was something.
    pub(crate) fn end_echo_reduction(&mut self) -> bool {
        self.special.ecn().is_some_and(|ecn| std::mem::take(&mut ecn.shrinking))
    }
    /// A loss is about to reduce the window. False if the window was already reduced for the same flight: once is
    /// enough (RFC 3168, section 6.1.2; RFC 8257, section 3.5).
    pub(crate) fn loss_is_news(&mut self) -> bool {
        let Some(ecn) = self.special.ecn() else { return true };
        if self.tx.una < ecn.reduced_until && self.control.answers_echoes() {
            return false;
        }
        ecn.on_reduction(self.tx.nxt);
        true
    }
    /// The last reduction was undone: the next loss or echo is news.
    pub(crate) fn forget_reduction(&mut self) {
        if let Some(ecn) = self.special.ecn() {
            ecn.reduced_until = 0;
        }
    }
    /// The retransmission timer has expired, and the window is reduced in any case.
    pub(crate) fn note_reduction(&mut self) {
        if let Some(ecn) = self.special.ecn() {
            ecn.on_reduction(self.tx.nxt);
        }
    }
}
