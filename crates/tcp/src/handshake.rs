//! Opening a connection: SYNs, their options, their retransmission.

use crate::control::{Control, Window};
use crate::endpoint::State;
use crate::rack::Rack;
use crate::{Endpoint, Flags, Notice, Output, Recovery, Segment};
use units::Time;

impl Endpoint {
    /// Sends a SYN, or a SYN-ACK once the peer's SYN has arrived.
    pub(crate) fn send_syn(&mut self, now: Time, out: &mut Output) {
        let reply = self.state == State::SynReceived;
        let mut segment = Segment::new(if reply { Flags::SYN | Flags::ACK } else { Flags::SYN }, 0, self.rx.nxt);
        segment.mss = self.config.mss;
        // A SYN-ACK grants only what the SYN asked for.
        if if reply { self.rx.scaling } else { self.config.window_scaling } {
            segment.window_scale = self.config.window_shift();
        }
        if if reply { self.sack } else { self.config.sack } {
            segment.flags |= Flags::SACK_PERMITTED;
        }
        if if reply { self.timestamps } else { self.config.timestamps } {
            segment.flags |= Flags::TIMESTAMPS;
            segment.ts_val = now.as_us() as u32;
            segment.ts_ecr = self.tx.ts_recent;
        }
        segment.flags |= self.ecn_syn_flags(reply);
        // The window of a SYN is never scaled (RFC 7323, section 2.2).
        segment.window = self.config.receive_buffer.get().min(65_535) as u32;
        if self.config.count_options {
            segment.header = (crate::BASE_HEADER + segment.option_bytes()) as u8;
        }
        if self.tx.retries == 0 {
            self.tx.timed_at = now;
            self.tx.timed_end = 1;
        } else {
            self.tx.timed_end = 0;
        }
        self.tx.nxt = self.tx.nxt.max(1);
        self.tx.timer_at = now.saturating_add(self.rtt.rto(&self.config));
        self.rx.ack_at = Time::MAX;
        self.emit(segment, out);
    }
    /// Takes the options and window of the peer's SYN.
    pub(crate) fn on_syn(&mut self, segment: &Segment) {
        self.negotiate_ecn(segment);
        let config = &self.config;
        self.rx.nxt = 1;
        self.rx.consumed = 1;
        self.timestamps = config.timestamps && segment.flags.contains(Flags::TIMESTAMPS);
        self.sack = config.sack && segment.flags.contains(Flags::SACK_PERMITTED);
        self.rx.scaling = config.window_scaling && segment.window_scale != crate::NO_WINDOW_SCALE;
        self.rx.shift = if self.rx.scaling { config.window_shift() } else { 0 };
        self.tx.ts_recent = segment.ts_val;
        // RFC 9293's default for a peer without the MSS option.
        let mss = if segment.mss == 0 { 536 } else { segment.mss };
        let mut mss = u32::from(config.mss.min(mss));
        if self.timestamps && config.count_options {
            // RFC 6691: options reduce the payload.
            mss = mss.saturating_sub(12);
            self.header = (crate::BASE_HEADER + 12) as u8;
        }
        self.tx.window.mss = mss.max(1);
        self.rx.open_window(self.config.receive_buffer.get());
        self.tx.window_edge = 1 + u64::from(segment.window);
        self.tx.window_seq = 0;
        self.tx.max_window = segment.window;
    }
    pub(crate) fn on_established(&mut self, now: Time, out: &mut Output) {
        let tx = &mut self.tx;
        // RFC 5681, section 3.1: after a lost SYN the initial window is one segment.
        let segments = if tx.retries > 0 { 1 } else { self.config.initial_window.max(1) };
        let start_at_ssthresh = self.config.start_at_ssthresh;
        tx.window = Window { start_at_ssthresh, ..Window::new(tx.window.mss, segments) };
        tx.una = 1;
        tx.timer_at = Time::MAX;
        if tx.timed_end == 1 {
            self.rtt.sample(now.saturating_sub(tx.timed_at), &self.config);
        } else {
            self.rtt.after_lost_syn();
        }
        tx.timed_end = 0;
        tx.retries = 0;
        let records = self.control.watches_deliveries();
        let by_rack = self.config.recovery == Recovery::Rack && self.sack;
        if records {
            self.special.flight = Some(Box::default());
        }
        if by_rack {
            tx.repair.rack = Some(Box::new(Rack::new()));
        }
        self.control.on_connected(&mut tx.window, now, self.rtt.smoothed());
        self.state = if tx.finishing { State::FinWait1 } else { State::Established };
        out.notices.push(Notice::Connected);
    }
    pub(crate) fn on_segment_in_syn_sent(&mut self, now: Time, segment: &Segment, out: &mut Output) {
        let flags = segment.flags;
        let acknowledges = flags.contains(Flags::ACK);
        if acknowledges && segment.ack != 1 {
            return self.refuse(now, segment, out);
        }
        if flags.contains(Flags::RST) {
            if acknowledges {
                self.reset(now, out);
            }
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.on_syn(segment);
        if acknowledges {
            self.on_established(now, out);
            let sent = out.segments.len();
            self.transmit(now, out);
            if out.segments.len() == sent {
                self.send_ack(now, out);
            }
        } else {
            self.state = State::SynReceived;
            self.send_syn(now, out);
        }
    }
    pub(crate) fn on_syn_timeout(&mut self, now: Time, out: &mut Output) {
        self.syn_timeouts = self.syn_timeouts.saturating_add(1);
        out.timeouts += 1;
        if self.tx.retries >= self.config.syn_retries {
            return self.give_up(now, out);
        }
        self.tx.retries += 1;
        out.retransmissions += 1;
        self.rtt.back_off();
        self.send_syn(now, out);
    }
}
