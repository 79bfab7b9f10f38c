//! RACK: loss detection by time (RFC 8985, section 6).
//!
//! A segment is lost if one sent later has arrived, and a reordering window has passed since it should have arrived
//! itself. This takes a record per segment in flight. It finds lost retransmissions and lost tails, which duplicate
//! counting cannot.
//!
//! The RFC looks at the segments in the order of sending (section 6.2, step 5), and so that an acknowledgement does not
//! cost a walk over the window, each transmission is looked at once when something sent later arrives, and once more
//! when it is due. What was sent once lies in that order by its position; what was sent again has a queue.

use crate::ranges::Range;
use crate::scoreboard::DUP_THRESH;
use std::collections::VecDeque;
use units::Time;

/// Recoveries without a DSACK after which the reordering window returns to its minimum.
const PERSIST: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// In flight.
    Flying,
    /// Lost and not yet retransmitted.
    Lost,
    /// SACKed.
    Arrived,
}

/// The last transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: Time,
    fate: Fate,
    /// Sent more than once.
    again: bool,
}

/// `start..end` left at once; some of it may have been acknowledged or sent again since.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    at: Time,
    start: u64,
    end: u64,
}

impl Transmission {
    /// Of two segments the one that was sent later has the greater (RACK_sent_after).
    fn order(&self) -> (Time, u64) {
        (self.at, self.end)
    }
}

/// The acknowledgement being processed.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: Time,
    /// Its timestamp echo.
    echo: Option<u32>,
    /// RACK.fack before this acknowledgement: the order within one acknowledgement shows no reordering.
    fack: u64,
    /// The end of what its DSACK block reports.
    duplicate: Option<u64>,
}

/// RACK's variables (section 6.1) and deadlines.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    segments: VecDeque<Sent>,
    /// Where the first segment starts.
    start: u64,
    flying: u64,
    lost: usize,
    arrived: usize,
    /// Nothing below is lost.
    first_lost: u64,
    /// Of what was sent once, everything below is overtaken: something sent later has arrived.
    overtaken: u64,
    /// Sent again and not yet overtaken, in the order of sending.
    resent: VecDeque<Transmission>,
    /// Overtaken and not yet due, in the order of sending.
    late: VecDeque<Transmission>,
    /// RACK.xmit_ts and RACK.end_seq: of the most recently sent segment that has arrived.
    newest: (Time, u64),
    rtt: Time,
    least_rtt: Option<Time>,
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult, reo_wnd_persist, dsack_round.
    multiple: u32,
    persist: u8,
    dsack_round: Option<u64>,
    arrival: Arrival,
    /// When segments that are late now count as lost (the reordering timer).
    pub reorder_at: Time,
    pub probe: Probe,
}

/// Tail loss probe (section 7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// When the probe is due.
    pub at: Time,
    /// TLP.end_seq: SND.NXT when the outstanding probe was sent; `None` without one.
    pub end: Option<u64>,
    /// TLP.is_retrans: the probe is a retransmission.
    pub again: bool,
    /// New data was sent or acknowledged: the probe timer restarts.
    pub restart: bool,
    /// There was an RTT sample since the last probe.
    pub sampled: bool,
}

/// What an acknowledgement says of the outstanding probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No loss.
    Fine,
    /// The probe has repaired a loss that nothing else will report.
    Repaired,
}

impl Rack {
    pub fn new() -> Self {
        Self {
            segments: VecDeque::new(),
            start: 0,
            flying: 0,
            lost: 0,
            arrived: 0,
            first_lost: 0,
            overtaken: 0,
            resent: VecDeque::new(),
            late: VecDeque::new(),
            newest: (Time::ZERO, 0),
            rtt: Time::ZERO,
            least_rtt: None,
            fack: 0,
            reordering_seen: false,
            multiple: 1,
            persist: PERSIST,
            dsack_round: None,
            arrival: Arrival { now: Time::ZERO, echo: None, fack: 0, duplicate: None },
            reorder_at: Time::MAX,
            probe: Probe { at: Time::MAX, end: None, again: false, restart: false, sampled: true },
        }
    }
    /// Bytes in flight.
    pub fn flying(&self) -> u64 {
        self.flying
    }
    /// Whether something lost waits for its retransmission.
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }
    /// How many segments above una are SACKed.
    pub fn arrived(&self) -> usize {
        self.arrived
    }

    // === Sending (section 6.2, "upon transmitting") ===

    /// New data `start..end` is sent.
    pub fn on_send(&mut self, now: Time, start: u64, end: u64) {
        if self.segments.is_empty() {
            self.start = start;
        }
        self.segments.push_back(Sent { end, at: now, fate: Fate::Flying, again: false });
        self.flying += end - start;
        self.probe.restart = true;
    }
    /// `start..end`, within one segment, is retransmitted.
    pub fn on_retransmit(&mut self, now: Time, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        let (mut index, mut from) = self.first_after(start);
        while let Some(segment) = self.segments.get(index).copied().filter(|segment| segment.end <= end) {
            if segment.fate != Fate::Arrived {
                self.turn(index, from, Fate::Flying);
                self.segments[index].at = now;
                self.segments[index].again = true;
                self.resent.push_back(Transmission { at: now, start: from, end: segment.end });
            }
            (index, from) = (index + 1, segment.end);
        }
    }
    /// The first segment that ends above `position`, by its index, and where it starts.
    fn first_after(&self, position: u64) -> (usize, u64) {
        if position <= self.start {
            return (0, self.start);
        }
        let index = self.segments.partition_point(|segment| segment.end <= position);
        (index, if index == 0 { self.start } else { self.segments[index - 1].end })
    }
    /// Splits a segment at `position`.
    fn split(&mut self, position: u64) {
        let (index, from) = self.first_after(position);
        if let Some(segment) = self.segments.get(index).copied().filter(|_| from < position) {
            self.segments.insert(index, Sent { end: position, ..segment });
            self.lost += usize::from(segment.fate == Fate::Lost);
            self.arrived += usize::from(segment.fate == Fate::Arrived);
        }
    }
    /// Changes the fate of a segment that starts at `from`.
    fn turn(&mut self, index: usize, from: u64, fate: Fate) {
        let segment = &mut self.segments[index];
        let length = segment.end - from;
        match std::mem::replace(&mut segment.fate, fate) {
            Fate::Flying => self.flying -= length,
            Fate::Lost => self.lost -= 1,
            Fate::Arrived => self.arrived -= 1,
        }
        match fate {
            Fate::Flying => self.flying += length,
            Fate::Lost => {
                self.lost += 1;
                self.first_lost = self.first_lost.min(from);
            }
            Fate::Arrived => self.arrived += 1,
        }
    }

    // === Acknowledgements (section 6.2, steps 1 to 3) ===

    /// Starts an acknowledgement; `echo` is its timestamp echo.
    pub fn begin(&mut self, now: Time, echo: Option<u32>) {
        self.arrival = Arrival { now, echo, fack: self.fack, duplicate: None };
    }
    /// The acknowledgement has a DSACK block that ends at `end` (RFC 2883).
    pub fn on_dsack(&mut self, end: u64) {
        self.arrival.duplicate = Some(end);
    }
    /// A block SACKs `news`, which nothing had SACKed.
    pub fn on_sack(&mut self, block: Range, news: Range) {
        let (mut index, mut from) = self.first_after(news.start);
        while let Some(segment) = self.segments.get(index).copied().filter(|segment| segment.end <= block.end) {
            if from >= news.end {
                break;
            }
            if from >= block.start && segment.fate != Fate::Arrived {
                self.turn(index, from, Fate::Arrived);
                self.deliver(&segment);
            }
            (index, from) = (index + 1, segment.end);
        }
    }
    /// The acknowledgement is cumulative up to `una`.
    pub fn on_ack(&mut self, una: u64) {
        while let Some(segment) = self.segments.front().copied().filter(|segment| segment.end <= una) {
            if segment.fate == Fate::Arrived {
                self.arrived -= 1;
            } else {
                self.turn(0, self.start, Fate::Flying);
                self.flying -= segment.end - self.start;
                self.deliver(&segment);
            }
            self.start = segment.end;
            self.segments.pop_front();
        }
        // The receiver had room for only a part of the next segment.
        if let Some(segment) = self.segments.front().filter(|_| self.start < una) {
            self.flying -= if segment.fate == Fate::Flying { una - self.start } else { 0 };
            self.start = una;
        }
        if self.segments.is_empty() {
            self.resent.clear();
            self.late.clear();
        }
        self.probe.restart = true;
    }
    fn deliver(&mut self, segment: &Sent) {
        let Arrival { now, echo, fack, .. } = self.arrival;
        // Step 3.
        self.fack = self.fack.max(segment.end);
        self.reordering_seen |= segment.end < fack && !segment.again;
        // Step 2: no sample if the first transmission may have arrived after all.
        let rtt = now.saturating_sub(segment.at);
        let older_echo = |echo: u32| (segment.at.as_us() as u32).wrapping_sub(echo).cast_signed() > 0;
        if segment.again && (echo.is_some_and(older_echo) || self.least_rtt.is_some_and(|least| rtt < least)) {
            return;
        }
        self.rtt = rtt;
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        self.newest = self.newest.max((segment.at, segment.end));
        self.probe.sampled = true;
    }

    // === The verdict (section 6.2, steps 4 and 5) ===

    /// Widens the reordering window after a DSACK, at most once per round trip.
    pub fn adapt(&mut self, una: u64, nxt: u64) {
        self.dsack_round = self.dsack_round.filter(|round| una < *round);
        if self.dsack_round.is_none() && self.arrival.duplicate.is_some() {
            self.dsack_round = Some(nxt);
            self.multiple = self.multiple.saturating_add(1);
            self.persist = PERSIST;
        }
    }
    /// A recovery is over.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }
    fn reordering_window(&self, recovering: bool, smoothed: Time) -> Time {
        if !self.reordering_seen && (recovering || self.arrived as u64 >= DUP_THRESH) {
            return Time::ZERO;
        }
        let least = self.least_rtt.unwrap_or(Time::ZERO).as_ps();
        Time::from_ps(least.saturating_mul(u64::from(self.multiple)) / 4).min(smoothed)
    }
    /// Marks what is lost by now and sets the reordering timer; returns how many bytes it found lost.
    pub fn find_losses(&mut self, now: Time, recovering: bool, smoothed: Time) -> u64 {
        self.find_overtaken();
        let allowed = self.rtt.saturating_add(self.reordering_window(recovering, smoothed));
        let mut found = 0;
        while let Some(first) = self.late.front().copied() {
            if first.at.saturating_add(allowed) > now {
                break;
            }
            found += self.lose(first);
            self.late.pop_front();
        }
        while self.late.back().is_some_and(|last| !self.flies(*last)) {
            self.late.pop_back();
        }
        self.reorder_at = self.late.back().map_or(Time::MAX, |last| last.at.saturating_add(allowed));
        found
    }
    /// Moves what the newest arrival has overtaken among the late.
    fn find_overtaken(&mut self) {
        let known = self.late.len();
        let (mut index, mut from) = self.first_after(self.overtaken);
        while let Some(segment) = self.segments.get(index).copied() {
            if !segment.again && (segment.at, segment.end) >= self.newest {
                break;
            }
            if !segment.again && segment.fate == Fate::Flying {
                self.late.push_back(Transmission { at: segment.at, start: from, end: segment.end });
            }
            (index, from) = (index + 1, segment.end);
        }
        self.overtaken = from;
        let once = self.late.len();
        while let Some(first) = self.resent.front().copied().filter(|first| first.order() < self.newest) {
            if self.flies(first) {
                self.late.push_back(first);
            }
            self.resent.pop_front();
        }
        if known < once && once < self.late.len() {
            self.late.make_contiguous()[known..].sort_unstable_by_key(Transmission::order);
        }
    }
    /// Whether some of it is in flight, and has not been sent again.
    fn flies(&self, of: Transmission) -> bool {
        self.segments
            .range(self.first_after(of.start).0..)
            .take_while(|segment| segment.end <= of.end)
            .any(|segment| segment.at == of.at && segment.fate == Fate::Flying)
    }
    /// What of it is in flight, and has not been sent again, is lost; returns how many bytes.
    fn lose(&mut self, of: Transmission) -> u64 {
        let mut found = 0;
        let (mut index, mut from) = self.first_after(of.start);
        while let Some(segment) = self.segments.get(index).copied().filter(|segment| segment.end <= of.end) {
            if segment.at == of.at && segment.fate == Fate::Flying {
                self.turn(index, from, Fate::Lost);
                found += segment.end - from;
            }
            (index, from) = (index + 1, segment.end);
        }
        found
    }
    /// The RTO has expired (section 6.3): the first segment and the overdue ones are lost; with `all`, everything
    /// outstanding.
    pub fn mark_overdue(&mut self, now: Time, all: bool, smoothed: Time) -> u64 {
        let allowed = self.rtt.saturating_add(self.reordering_window(true, smoothed));
        let (mut found, mut from) = (0, self.start);
        for index in 0..self.segments.len() {
            let segment = self.segments[index];
            let start = std::mem::replace(&mut from, segment.end);
            let lost = all || index == 0 || segment.at.saturating_add(allowed) <= now;
            if lost && segment.fate == Fate::Flying {
                self.turn(index, start, Fate::Lost);
                found += segment.end - start;
            }
        }
        self.reorder_at = Time::MAX;
        found
    }
    /// The losses were none: what counts as lost is in flight.
    pub fn forget_losses(&mut self) {
        let mut from = self.start;
        for index in 0..self.segments.len() {
            let end = self.segments[index].end;
            if self.segments[index].fate == Fate::Lost {
                self.turn(index, from, Fate::Flying);
            }
            from = end;
        }
        self.queue_anew();
    }
    /// Puts everything in flight where the next verdict will look for it.
    fn queue_anew(&mut self) {
        self.overtaken = self.start;
        self.late.clear();
        self.resent.clear();
        let mut from = self.start;
        for segment in &self.segments {
            if segment.again && segment.fate == Fate::Flying {
                self.resent.push_back(Transmission { at: segment.at, start: from, end: segment.end });
            }
            from = segment.end;
        }
        self.resent.make_contiguous().sort_unstable_by_key(Transmission::order);
    }
    /// The receiver reneged: what it SACKed is lost.
    pub fn forget_arrived(&mut self) {
        let mut from = self.start;
        for index in 0..self.segments.len() {
            let end = self.segments[index].end;
            if self.segments[index].fate == Fate::Arrived {
                self.turn(index, from, Fate::Lost);
            }
            from = end;
        }
    }
    /// The first lost segment, cut to `most` bytes.
    pub fn next_lost(&mut self, most: u64) -> Option<(u64, u64)> {
        if self.lost == 0 {
            return None;
        }
        let (mut index, mut start) = self.first_after(self.first_lost);
        while self.segments.get(index)?.fate != Fate::Lost {
            start = self.segments[index].end;
            index += 1;
        }
        self.first_lost = start;
        Some((start, self.segments[index].end.min(start + most)))
    }

    // === Tail loss probe ===

    /// The last segment sent, cut to its last `most` bytes.
    pub fn last(&self, most: u64) -> Option<(u64, u64)> {
        let end = self.segments.back()?.end;
        let start = self.segments.iter().rev().nth(1).map_or(self.start, |segment| segment.end);
        Some((start.max(end.saturating_sub(most)), end))
    }
    /// What an acknowledgement up to `una` says of the probe (TLP_process_ack); `bare` is a duplicate without SACK
    /// blocks.
    pub fn judge_probe(&mut self, una: u64, bare: bool) -> Verdict {
        let Some(end) = self.probe.end.filter(|end| una >= *end) else { return Verdict::Fine };
        let both_arrived = self.arrival.duplicate == Some(end) || bare;
        if self.probe.again && !both_arrived && una == end {
            // The next acknowledgement will tell whether the original has arrived as well.
            return Verdict::Fine;
        }
        self.probe.end = None;
        if self.probe.again && !both_arrived { Verdict::Repaired } else { Verdict::Fine }
    }
    /// Clears the probe (section 7.1).
    pub fn reset_probe(&mut self) {
        self.probe.end = None;
        self.probe.at = Time::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: u64 = 1000;

    /// Section 6.2, step 5, as the RFC writes it, by a walk over all segments: bytes lost by now, and when the last of
    /// the others is due.
    fn walk(rack: &Rack, now: Time, recovering: bool, smoothed: Time) -> (u64, Time) {
        let allowed = rack.rtt.saturating_add(rack.reordering_window(recovering, smoothed));
        let (mut lost, mut last, mut from) = (0, None, rack.start);
        for segment in &rack.segments {
            if segment.fate == Fate::Flying && (segment.at, segment.end) < rack.newest {
                let due = segment.at.saturating_add(allowed);
                if due <= now {
                    lost += segment.end - from;
                } else {
                    last = last.max(Some(due));
                }
            }
            from = segment.end;
        }
        (lost, last.unwrap_or(Time::MAX))
    }
    /// The first lost segment, by a walk.
    fn first_lost(rack: &Rack, most: u64) -> Option<(u64, u64)> {
        let mut from = rack.start;
        for segment in &rack.segments {
            if segment.fate == Fate::Lost {
                return Some((from, segment.end.min(from + most)));
            }
            from = segment.end;
        }
        None
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is sent, lost, split, overtaken, forgiven and reneged on: the queues say what the walk says.
        #[test]
        fn the_queues_say_what_a_walk_over_the_window_says(
            story in prop::collection::vec((0_u8..12, 0_u64..40, 1_u64..8, 1_u64..30), 1..150),
        ) {
            let (mut rack, mut board) = (Rack::new(), crate::scoreboard::Scoreboard::new());
            let (mut now, mut una, mut nxt) = (Time::from_ms(1), 1, 1);
            let mut recovering = false;
            for (what, place, many, pause) in story {
                now += Time::from_ms(pause);
                let smoothed = Time::from_ms(20);
                rack.begin(now, None);
                match what {
                    0..=3 => for _ in 0..many {
                        rack.on_send(now, nxt, nxt + SIZE);
                        nxt += SIZE;
                    },
                    // Blocks may begin and end within segments.
                    4..=6 => {
                        let start = una + 1 + place * SIZE / 2;
                        let end = (start + many * SIZE / 2).min(nxt);
                        if start < end {
                            let block = Range { start, end };
                            board.sack(start, end, |news| rack.on_sack(block, news));
                        }
                    }
                    7 => {
                        let to = (una + place * SIZE / 4).min(nxt);
                        if to > una {
                            board.advance(una, to);
                            rack.on_ack(to);
                            una = to;
                        }
                    }
                    // A segment of another size than the first time cuts what was sent.
                    8 => for _ in 0..many {
                        let most = SIZE - place * 10;
                        prop_assert_eq!(rack.next_lost(most), first_lost(&rack, most));
                        let Some((start, end)) = rack.next_lost(most) else { break };
                        rack.on_retransmit(now, start, end);
                    },
                    9 => if let Some((start, end)) = rack.last(SIZE - place * 10).filter(|_| nxt > una) {
                        rack.on_retransmit(now, start, end);
                    },
                    10 => {
                        rack.mark_overdue(now, many > 6, smoothed);
                        recovering = true;
                    }
                    _ => match many {
                        1 => rack.forget_losses(),
                        2 => {
                            board.forget_sacked();
                            rack.forget_arrived();
                        }
                        3 => rack.adapt(una, nxt),
                        _ => recovering = !recovering,
                    },
                }
                let expected = walk(&rack, now, recovering, smoothed);
                let found = rack.find_losses(now, recovering, smoothed);
                prop_assert_eq!((found, rack.reorder_at), expected);
                let length = |fate: Fate| {
                    let starts = std::iter::once(rack.start).chain(rack.segments.iter().map(|segment| segment.end));
                    let mut of = rack.segments.iter().zip(starts).filter(|(segment, _)| segment.fate == fate);
                    of.by_ref().map(|(segment, from)| segment.end - from).sum::<u64>()
                };
                prop_assert_eq!(rack.flying(), length(Fate::Flying));
                prop_assert_eq!(rack.has_lost(), length(Fate::Lost) > 0);
            }
        }
    }
}
