//! The receiving half: reassembly, the announced window, acknowledgements.

use crate::cold::{Blank, Cold};
use crate::ranges::RangeSet;
use crate::segment::MAX_SACK_BLOCKS;
use crate::{Config, Endpoint, Flags, Output, Segment};
use units::Time;

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// The next position expected (RCV.NXT).
    pub nxt: u64,
    /// Everything below has been taken by the application.
    pub consumed: u64,
    /// Right edge of the window as announced last.
    announced: u64,
    /// When a delayed acknowledgement is due.
    pub ack_at: Time,
    pub shift: u8,
    /// Window scaling is in force.
    pub scaling: bool,
    /// An acknowledgement is due in this call.
    pub ack_now: bool,
    /// The window last announced was zero.
    shut: bool,
    auto_consume: bool,
    /// Segments that wait for a delayed acknowledgement.
    unacknowledged: u8,
    quick_acks: u8,
    /// The peer's FIN has been taken in order.
    finished: bool,
    disorder: Cold<Disorder>,
}

/// Out-of-order state.
#[derive(Clone, Debug)]
struct Disorder {
    /// Ranges received beyond `nxt`.
    ranges: RangeSet,
    /// A duplicate for the next acknowledgement to report first (RFC 2883); none if its end is 0.
    duplicate: (u64, u64),
    /// A position in each recently reported range, most recent first (RFC 2018, section 4). The low 32 bits suffice: it
    /// lies within a window of `nxt`.
    reported: [u32; MAX_SACK_BLOCKS],
    /// Position of a FIN that arrived out of order, or `u64::MAX`.
    fin: u64,
    /// Segments whose data had arrived before.
    duplicates: u32,
}

impl Disorder {
    const NONE: Self = Self {
        ranges: RangeSet::new(),
        duplicate: (0, 0),
        reported: [0; MAX_SACK_BLOCKS],
        fin: u64::MAX,
        duplicates: 0,
    };
}

impl Disorder {
    /// The next acknowledgement has SACK blocks.
    #[inline]
    fn is_news(&self) -> bool {
        !self.ranges.is_empty() || self.duplicate.1 > 0
    }
}

/// The smallest window advance worth announcing (RFC 1122, section 4.2.3.3).
fn worthwhile(buffer: u64, mss: u32) -> u64 {
    u64::from(mss).min(buffer / 2).max(1)
}

/// Restores a position at or above `nxt` from its low bits. A position below `nxt` comes out above all windows.
fn whole(low: u32, nxt: u64) -> u64 {
    nxt + u64::from(low.wrapping_sub(nxt as u32))
}

const _: () = assert!(size_of::<Disorder>() <= 72);

impl Blank for Disorder {
    const BLANK: &'static Self = &Self::NONE;
    fn blank() -> Self {
        Self::NONE
    }
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        Self {
            nxt: 0,
            consumed: 0,
            announced: 0,
            ack_at: Time::MAX,
            shift: 0,
            scaling: false,
            ack_now: false,
            shut: false,
            auto_consume: config.auto_consume,
            unacknowledged: 0,
            quick_acks: config.quick_acks,
            finished: false,
            disorder: Cold::new(),
        }
    }
    /// The window of a SYN is not scaled: at most 65,535 bytes.
    pub fn open_window(&mut self, buffer: u64) {
        self.announced = 1 + buffer.min(65_535);
    }
    pub fn received(&self) -> u64 {
        self.stream_end().saturating_sub(1)
    }
    pub fn unread(&self) -> u64 {
        self.stream_end().saturating_sub(self.consumed)
    }
    /// The position after the last in-order byte.
    #[inline]
    fn stream_end(&self) -> u64 {
        self.nxt - u64::from(self.finished)
    }
    /// Segments whose data had arrived before.
    pub fn duplicates(&self) -> u32 {
        self.disorder.duplicates
    }
    pub fn consume(&mut self, bytes: u64) {
        self.consumed += bytes.min(self.unread());
    }
    /// The end of the buffer: nothing beyond it is accepted. A window announced before the buffer shrank still holds.
    #[inline]
    pub fn limit(&self, buffer: u64) -> u64 {
        (self.consumed + buffer).max(self.announced)
    }
    /// The window to announce: the free buffer, rounded down to the scale. Small advances wait (receiver silly window
    /// avoidance, RFC 1122, section 4.2.3.3).
    #[inline]
    fn window(&mut self, buffer: u64, mss: u32) -> u32 {
        let mut edge = self.limit(buffer);
        if !self.auto_consume && edge < self.announced + worthwhile(buffer, mss) {
            edge = edge.min(self.announced);
        }
        let window = edge.saturating_sub(self.nxt).min(65_535 << self.shift) >> self.shift << self.shift;
        self.announced = self.announced.max(self.nxt + window);
        window as u32
    }
    /// Whether in-order data waits for a delayed acknowledgement.
    pub fn awaits_ack(&self) -> bool {
        self.unacknowledged > 0
    }
    /// Whether the window has opened enough to tell the peer at once: by two segments, or by half the buffer if that is
    /// less.
    pub fn window_update_due(&self, mss: u32, buffer: u64) -> bool {
        let room = self.limit(buffer).saturating_sub(self.nxt).min(65_535 << self.shift) >> self.shift << self.shift;
        let news = (self.nxt + room).saturating_sub(self.announced);
        news >= (2 * u64::from(mss)).min(buffer / 2).max(1)
    }
}

impl Endpoint {
    /// Takes the data and FIN of a segment; true when the peer's stream ends with it.
    #[inline]
    pub(crate) fn take_data(&mut self, now: Time, segment: &Segment) -> bool {
        let rx = &mut self.rx;
        let fin = segment.flags.contains(Flags::FIN);
        let stamped = self.timestamps && segment.flags.contains(Flags::TIMESTAMPS);
        if stamped && segment.seq <= rx.nxt && segment.end() >= rx.nxt {
            // RFC 7323, section 4.3: with delayed acknowledgements, the timestamp of the earliest unacknowledged
            // segment is echoed.
            if rx.unacknowledged == 0 {
                self.tx.ts_recent = segment.ts_val;
            }
        }
        if segment.len == 0 && !fin {
            // An empty segment below the window is a window probe or an old acknowledgement. It is answered (RFC 9293,
            // section 3.10.7.4).
            rx.ack_now |= segment.seq < rx.nxt;
            return false;
        }
        let end = segment.seq + u64::from(segment.len);
        if segment.seq == rx.nxt
            && rx.disorder.there().is_none_or(|disorder| disorder.ranges.is_empty())
            && !fin
            && end <= rx.limit(self.config.receive_buffer.get())
        {
            rx.nxt = end;
            if rx.auto_consume {
                rx.consumed = end;
            }
            rx.on_in_order(now, (segment.len, self.tx.window.mss), self.config.delayed_ack.unwrap_or_default());
            return false;
        }
        self.take_unusual(segment, fin)
    }
    /// Data out of order, duplicate, beyond the buffer, or with a FIN: acknowledged at once (RFC 5681, section 4.2).
    fn take_unusual(&mut self, segment: &Segment, fin: bool) -> bool {
        let rx = &mut self.rx;
        rx.ack_now = true;
        let before = rx.nxt;
        if rx.finished {
            rx.disorder.duplicates += 1;
            return false;
        }
        // Data that was in flight when the window closed, or a window probe, may end beyond the buffer. The rest is cut
        // off.
        let mut stream_end = rx.disorder.fin;
        let end =
            (segment.seq + u64::from(segment.len)).min(rx.limit(self.config.receive_buffer.get())).min(stream_end);
        if fin && segment.seq + u64::from(segment.len) == end {
            stream_end = end;
        }
        let start = segment.seq.max(rx.nxt);
        if start < end {
            let again = rx.held_before(segment.seq, end);
            if let Some(again) = again {
                rx.disorder.duplicate = again;
            }
            if start == rx.nxt {
                rx.nxt = end;
                if let Some(range) = rx.disorder.ranges.at_or_after(end).filter(|range| range.start <= end) {
                    rx.nxt = range.end;
                }
                let nxt = rx.nxt;
                if let Some(disorder) = rx.disorder.written() {
                    disorder.ranges.remove_below(nxt);
                }
            } else {
                let mut fresh = false;
                rx.disorder.ranges.insert(start, end, |_, _| fresh = true);
                if !fresh {
                    rx.disorder.duplicates += 1;
                }
                rx.report(start);
            }
        } else if segment.len > 0 && segment.seq < before {
            rx.disorder.duplicates += 1;
            rx.disorder.duplicate = (segment.seq, end);
        }
        if rx.auto_consume {
            rx.consumed = rx.nxt;
        }
        if rx.nxt == stream_end {
            rx.nxt += 1;
            rx.finished = true;
        } else if stream_end != rx.disorder.fin {
            rx.disorder.fin = stream_end;
        }
        rx.finished
    }
    /// Sends an acknowledgement.
    #[inline]
    pub(crate) fn send_ack(&mut self, now: Time, out: &mut Output) {
        self.send_segment(now, self.tx.nxt, 0, Flags::NONE, out);
    }
    /// Sends a segment with the present acknowledgement, window and SACK blocks. It replaces a delayed acknowledgement.
    #[inline]
    pub(crate) fn send_segment(&mut self, now: Time, seq: u64, len: u32, flags: Flags, out: &mut Output) {
        let window = self.rx.window(self.config.receive_buffer.get(), self.tx.window.mss);
        if (window == 0) != self.rx.shut {
            self.rx.shut = !self.rx.shut;
            self.tx.repair.counts.zero_windows_announced += u32::from(self.rx.shut);
        }
        self.rx.ack_now = false;
        self.rx.ack_at = Time::MAX;
        self.rx.unacknowledged = 0;
        let mut segment = Segment::new(flags | self.echo_flags() | Flags::ACK, seq, self.rx.nxt);
        (segment.len, segment.window) = (len, window);
        self.stamp(now, &mut segment);
        if self.rx.disorder.there().is_some_and(Disorder::is_news) {
            self.add_sack_blocks(&mut segment);
        }
        self.emit(segment, out);
    }
    /// Option bytes of the next segment's SACK blocks.
    #[inline]
    pub(crate) fn sack_option_bytes(&self) -> u32 {
        if !self.sack || !self.rx.disorder.is_news() {
            return 0;
        }
        let blocks = self.rx.disorder.ranges.as_slice().len() + usize::from(self.rx.disorder.duplicate.1 > 0);
        4 + 8 * blocks.min(self.most_sack_blocks()) as u32
    }
    fn most_sack_blocks(&self) -> usize {
        if self.timestamps { MAX_SACK_BLOCKS - 1 } else { MAX_SACK_BLOCKS }
    }
    #[cold]
    fn add_sack_blocks(&mut self, segment: &mut Segment) {
        if !self.sack {
            self.rx.disorder.duplicate = (0, 0);
            return;
        }
        let most = self.most_sack_blocks();
        let (start, end) = std::mem::take(&mut self.rx.disorder.duplicate);
        if end > 0 {
            segment.push_sack(start, end);
        }
        // Recently reported ranges first, most recent first; then the others, lowest first.
        let mut listed = [0; MAX_SACK_BLOCKS];
        let mut count = 0;
        let recent = self
            .rx
            .disorder
            .reported
            .iter()
            .filter_map(|low| self.rx.disorder.ranges.containing(whole(*low, self.rx.nxt)));
        for range in recent.chain(self.rx.disorder.ranges.as_slice().iter().copied()) {
            if segment.sack_count() == most {
                break;
            }
            if !listed[..count].contains(&range.start) {
                segment.push_sack(range.start, range.end);
                listed[count] = range.start;
                count += 1;
            }
        }
        if self.config.count_options {
            segment.header = (crate::BASE_HEADER + segment.option_bytes()) as u8;
        }
    }
}

impl Receiver {
    /// In-order data has arrived: acknowledge now, with the next segment, or when the delay is over (RFC 5681, section
    /// 4.2).
    #[inline]
    fn on_in_order(&mut self, now: Time, (len, mss): (u32, u32), delay: Time) {
        self.unacknowledged += 1;
        if delay == Time::ZERO || self.unacknowledged >= 2 || self.quick_acks > 0 || len > mss {
            self.quick_acks = self.quick_acks.saturating_sub(1);
            self.ack_now = true;
        } else {
            self.ack_at = now.saturating_add(delay);
        }
    }
    /// The first contiguous part of `start..end` that had arrived before: what a DSACK reports of a segment that is
    /// wholly or partly a duplicate (RFC 2883, sections 4.1 and 4.2). Call it before the segment is taken.
    fn held_before(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if start < self.nxt {
            return Some((start, end.min(self.nxt)));
        }
        let range = self.disorder.there()?.ranges.at_or_after(start).filter(|range| range.start < end)?;
        Some((range.start.max(start), range.end.min(end)))
    }
    /// Moves the range around `position` to the front of the reported ones.
    fn report(&mut self, position: u64) {
        let nxt = self.nxt;
        let disorder = &mut *self.disorder;
        let range = disorder.ranges.containing(position);
        let same = |other: &u32| {
            range.is_some_and(|range| range.start <= whole(*other, nxt) && whole(*other, nxt) < range.end)
        };
        let at = disorder.reported.iter().position(same).unwrap_or(MAX_SACK_BLOCKS - 1);
        disorder.reported[..=at].rotate_right(1);
        disorder.reported[0] = position as u32;
    }
}
