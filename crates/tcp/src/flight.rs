//! A record of every segment in flight, for controls that need send times: RTTs of single segments and delivery rate
//! samples (draft-cheng-iccrg-delivery-rate-estimation-00).

use crate::control::Delivery;
use crate::ranges::Range;
use std::collections::VecDeque;
use units::Time;

/// One transmission, with the connection's delivery state at that moment (section 3.1.2 of the draft).
#[derive(Clone, Copy, Debug)]
struct Record {
    end: u64,
    sent_at: Time,
    first_sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    app_limited: bool,
    retransmitted: bool,
    arrived: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    records: VecDeque<Record>,
    /// Where the first record starts.
    start: u64,
    /// C.delivered: bytes delivered since the connection began.
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// When the last segment left, new or again.
    left_at: Time,
    /// C.app_limited: deliveries up to here were application-limited; 0 for none.
    app_limited_until: u64,
    sample: Sample,
}

/// What the present acknowledgement has delivered so far (the draft's `rs`).
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    newest: Option<Record>,
    rtt: Option<Time>,
    bytes: u64,
}

impl Flight {
    /// New data `start..end` is sent; `idle` if nothing else is in flight.
    pub fn on_send(&mut self, now: Time, start: u64, end: u64, idle: bool) {
        self.left_at = now;
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        if self.records.is_empty() {
            self.start = start;
        }
        self.records.push_back(Record {
            end,
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.app_limited_until > 0,
            retransmitted: false,
            arrived: false,
        });
    }
    /// `start..end` is retransmitted.
    pub fn on_retransmit(&mut self, now: Time, start: u64, end: u64) {
        self.left_at = now;
        let first = self.records.partition_point(|record| record.end <= start);
        let mut from = if first == 0 { self.start } else { self.records[first - 1].end };
        for record in self.records.iter_mut().skip(first).take_while(|record| {
            let within = from < end;
            from = record.end;
            within
        }) {
            record.sent_at = now;
            record.first_sent_at = self.first_sent_at;
            record.delivered = self.delivered;
            record.delivered_at = self.delivered_at;
            record.app_limited = self.app_limited_until > 0;
            record.retransmitted = true;
        }
    }
    /// When the last segment left, if segments are recorded.
    pub fn left_at(&self) -> Time {
        self.left_at
    }
    /// When the first segment in flight was last sent.
    pub fn first_sent_at(&self) -> Option<Time> {
        self.records.front().map(|record| record.sent_at)
    }
    /// A block SACKs `news`, which nothing had SACKed: the records of it that lie inside the block are delivered.
    pub fn on_sack(&mut self, now: Time, block: Range, news: Range) {
        let first = self.records.partition_point(|record| record.end <= news.start);
        let mut from = if first == 0 { self.start } else { self.records[first - 1].end };
        for index in first..self.records.len() {
            let record = self.records[index];
            if from >= news.end || record.end > block.end {
                break;
            }
            if from >= block.start && !record.arrived {
                self.records[index].arrived = true;
                self.deliver(now, from, &record);
            }
            from = record.end;
        }
    }
    /// Everything below `una` was acknowledged.
    pub fn on_ack(&mut self, now: Time, una: u64) {
        while let Some(record) = self.records.front().copied().filter(|record| record.end <= una) {
            if !record.arrived {
                self.deliver(now, self.start, &record);
            }
            self.start = record.end;
            self.records.pop_front();
        }
    }
    /// UpdateRateSample() of the draft.
    fn deliver(&mut self, now: Time, start: u64, record: &Record) {
        let bytes = record.end - start;
        self.delivered += bytes;
        self.delivered_at = now;
        self.sample.bytes += bytes;
        if !record.retransmitted {
            self.sample.rtt = Some(now.saturating_sub(record.sent_at));
        }
        if self.sample.newest.is_none_or(|newest| record.delivered > newest.delivered) {
            self.sample.newest = Some(*record);
            self.first_sent_at = record.sent_at;
        }
    }
    /// The rate sample of the present acknowledgement (GenerateRateSample()). Intervals below `min_rtt` give no rate.
    pub fn take_delivery(&mut self, min_rtt: Option<Time>) -> Delivery {
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let sample = std::mem::take(&mut self.sample);
        let mut delivery = Delivery {
            delivered: self.delivered,
            newly_delivered: sample.bytes,
            rtt: sample.rtt,
            ..Delivery::default()
        };
        if let Some(newest) = sample.newest {
            let send_elapsed = newest.sent_at.saturating_sub(newest.first_sent_at);
            let ack_elapsed = self.delivered_at.saturating_sub(newest.delivered_at);
            delivery.prior_delivered = Some(newest.delivered);
            delivery.app_limited = newest.app_limited;
            let interval = send_elapsed.max(ack_elapsed);
            if interval > Time::ZERO && interval >= min_rtt.unwrap_or(Time::ZERO) {
                delivery.rate = Some((self.delivered - newest.delivered) as f64 / interval.as_ps() as f64);
            }
        }
        delivery
    }
    /// The application has no more to send although cwnd would allow it, with `pipe` bytes in flight.
    pub fn set_app_limited(&mut self, pipe: u64) {
        self.app_limited_until = (self.delivered + pipe).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1000;

    fn ms(t: u64) -> Time {
        Time::from_ms(t)
    }
    /// Bytes per second of a sample.
    fn rate(delivery: &Delivery) -> f64 {
        delivery.rate.expect("a sound sample") * 1e12
    }

    /// Ten segments sent one gap apart, acknowledged another gap apart from 50 ms on: the slower of the two rates
    /// counts.
    #[test]
    fn the_slower_of_sending_and_acknowledging() {
        for (send_gap, ack_gap) in [(1, 2), (2, 1), (3, 3)] {
            let mut flight = Flight::default();
            for n in 0..10 {
                flight.on_send(ms(n * send_gap), 1 + n * SIZE, 1 + (n + 1) * SIZE, n == 0);
            }
            for n in 0..10 {
                flight.on_ack(ms(50 + n * ack_gap), 1 + (n + 1) * SIZE);
                let delivery = flight.take_delivery(None);
                assert_eq!(delivery.rtt, Some(ms(50 + n * ack_gap - n * send_gap)));
                assert_eq!((delivery.delivered, delivery.newly_delivered), ((n + 1) * SIZE, SIZE));
                // All were sent before the first delivery: n + 1 segments over the longer of the send time and the time
                // since the first was sent.
                let interval = (n * send_gap).max(50 + n * ack_gap);
                let expected = ((n + 1) * SIZE) as f64 / (interval as f64 / 1000.0);
                assert!((rate(&delivery) / expected - 1.0).abs() < 1e-9);
            }
            // The next flight, sent on those acknowledgements, sees the acknowledgements' spacing.
            for n in 10..20 {
                flight.on_send(ms(50 + (n - 10) * ack_gap), 1 + n * SIZE, 1 + (n + 1) * SIZE, n == 10);
            }
            flight.on_ack(ms(100), 1 + 11 * SIZE);
            assert_eq!(flight.take_delivery(None).prior_delivered, Some(10 * SIZE));
        }
    }

    #[test]
    fn a_sacked_segment_is_delivered_once() {
        let mut flight = Flight::default();
        for n in 0..4 {
            flight.on_send(ms(n), 1 + n * SIZE, 1 + (n + 1) * SIZE, n == 0);
        }
        let third = Range { start: 1 + 2 * SIZE, end: 1 + 3 * SIZE };
        flight.on_sack(ms(50), third, third);
        assert_eq!(flight.take_delivery(None).newly_delivered, SIZE);
        let fourth = Range { start: third.end, end: third.end + SIZE };
        flight.on_sack(ms(51), Range { end: fourth.end, ..third }, fourth);
        assert_eq!(flight.take_delivery(None).newly_delivered, SIZE);
        flight.on_retransmit(ms(52), 1, 1 + SIZE);
        flight.on_ack(ms(60), 1 + 4 * SIZE);
        let delivery = flight.take_delivery(None);
        assert_eq!((delivery.newly_delivered, delivery.delivered), (2 * SIZE, 4 * SIZE));
        // Karn: the RTT of the second segment, not of the first, which was sent twice.
        assert_eq!(delivery.rtt, Some(ms(59)));
    }

    #[test]
    fn samples_of_an_idle_application_are_marked() {
        let mut flight = Flight::default();
        flight.on_send(ms(0), 1, 1 + SIZE, true);
        flight.set_app_limited(SIZE);
        flight.on_send(ms(10), 1 + SIZE, 1 + 2 * SIZE, false);
        flight.on_ack(ms(50), 1 + SIZE);
        assert!(!flight.take_delivery(None).app_limited);
        flight.on_ack(ms(60), 1 + 2 * SIZE);
        assert!(flight.take_delivery(None).app_limited);
        // Delivered beyond C.app_limited: no longer limited.
        flight.on_send(ms(60), 1 + 2 * SIZE, 1 + 3 * SIZE, true);
        flight.on_ack(ms(110), 1 + 3 * SIZE);
        assert!(!flight.take_delivery(None).app_limited);
    }

    #[test]
    fn intervals_below_the_least_round_trip_are_no_samples() {
        let mut flight = Flight::default();
        flight.on_send(ms(0), 1, 1 + SIZE, true);
        flight.on_ack(ms(5), 1 + SIZE);
        assert_eq!(flight.take_delivery(Some(ms(10))).rate, None);
    }
}
