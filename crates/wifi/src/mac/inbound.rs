//! What a station knows of packets it receives from one sender in one category: duplicates are dropped, and with block
//! ACK packets put back into order (IEEE Std 802.11-2012, 9.3.2.10 and 9.21.7).

use super::frame::{Mpdu, PacketId, Ppdu, SEQUENCES, ahead};
use super::output::Output;
use units::Time;

/// MPDUs that a window spans.
pub const WINDOW: u16 = 64;

/// A record of received sequence numbers, and packets that wait for earlier ones.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    /// Without block ACK: the last sequence number.
    last: Option<u16>,
    /// The last sequence number of management frames.
    last_management: Option<u16>,
    /// With block ACK.
    window: Option<Box<Window>>,
}

/// Scoreboard (full state) and reorder buffer of a block ACK agreement.
#[derive(Debug)]
struct Window {
    /// First sequence number that the scoreboard tells of, and a bit per MPDU received from there on.
    scored_from: u16,
    scored: u64,
    /// Next sequence number to deliver (WinStartB).
    next: u16,
    /// Bit i: MPDU `next + i` has been received.
    received: u64,
    /// Packets of MPDUs that wait, by sequence number modulo the window.
    waiting: Vec<Vec<PacketId>>,
    /// Since when nothing has been delivered while they wait.
    since: Time,
}

/// After this long without the missing MPDU what waits is delivered (mac80211: HT_RX_REORDER_BUF_TIMEOUT).
pub const REORDER_TIMEOUT: Time = Time::from_ms(100);

impl Inbound {
    /// A single MPDU has arrived without block ACK in use.
    pub fn single(&mut self, ppdu: &Ppdu, mpdu: &Mpdu, out: &mut Output) {
        let duplicate = mpdu.retry && self.last == Some(mpdu.sequence);
        self.last = Some(mpdu.sequence);
        if !duplicate {
            out.delivered.extend(ppdu.packets_of(mpdu));
        }
    }
    /// A management frame has arrived.
    pub fn management(&mut self, ppdu: &Ppdu, mpdu: &Mpdu, out: &mut Output) {
        let duplicate = mpdu.retry && self.last_management == Some(mpdu.sequence);
        self.last_management = Some(mpdu.sequence);
        if !duplicate {
            out.delivered.extend(ppdu.packets_of(mpdu));
        }
    }
    /// An MPDU has arrived with block ACK in use.
    pub fn windowed(&mut self, now: Time, ppdu: &Ppdu, mpdu: &Mpdu, out: &mut Output) {
        let window = self.window.get_or_insert_with(|| Box::new(Window::new()));
        window.score(mpdu.sequence);
        window.receive(now, mpdu.sequence, ppdu.packets_of(mpdu), out);
    }
    /// The sender's window begins at `start`: what is missing before it will not come.
    pub fn request(&mut self, now: Time, start: u16, out: &mut Output) {
        let window = self.window.get_or_insert_with(|| Box::new(Window::new()));
        let moved = ahead(window.scored_from, start);
        if moved < SEQUENCES / 2 {
            window.scored = window.scored.checked_shr(u32::from(moved)).unwrap_or(0);
            window.scored_from = start;
        }
        if ahead(window.next, start) < SEQUENCES / 2 {
            window.advance_to(start, out);
            window.release(now, out);
        }
    }
    /// The scoreboard: first sequence number and a bit per MPDU.
    pub fn scoreboard(&self) -> (u16, u64) {
        self.window.as_ref().map_or((0, 0), |window| (window.scored_from, window.scored))
    }
    /// When what waits is delivered without the missing MPDU; [`Time::MAX`] if nothing waits.
    pub fn deadline(&self) -> Time {
        let waiting = self.window.as_ref().filter(|window| window.received != 0);
        waiting.map_or(Time::MAX, |window| window.since + REORDER_TIMEOUT)
    }
    /// Delivers what has waited too long.
    pub fn on_timer(&mut self, now: Time, out: &mut Output) {
        if self.deadline() <= now
            && let Some(window) = &mut self.window
        {
            let missing = window.received.trailing_zeros() as u16;
            window.advance_to((window.next + missing) % SEQUENCES, out);
            window.release(now, out);
        }
    }
    /// Delivers all that waits and forgets the sender.
    pub fn forget(&mut self, out: &mut Output) {
        if let Some(window) = &mut self.window {
            window.advance_to((window.next + WINDOW) % SEQUENCES, out);
        }
        (self.last, self.window) = (None, None);
    }
    /// Packets that wait for earlier ones.
    pub fn into_waiting(self) -> impl Iterator<Item = PacketId> {
        self.window.into_iter().flat_map(|window| window.waiting).flatten()
    }
}

impl Window {
    /// Agreements begin with sequence number 0 on both sides.
    fn new() -> Self {
        let mut waiting = Vec::new();
        waiting.resize_with(usize::from(WINDOW), Vec::new);
        Self { scored_from: 0, scored: 0, next: 0, received: 0, waiting, since: Time::ZERO }
    }
    /// Notes it on the scoreboard, which spans 64 numbers up to the highest one received.
    fn score(&mut self, sequence: u16) {
        let place = ahead(self.scored_from, sequence);
        if place < WINDOW {
            self.scored |= 1 << place;
        } else if place < SEQUENCES / 2 {
            let moved = place - (WINDOW - 1);
            self.scored = self.scored.checked_shr(u32::from(moved)).unwrap_or(0) | 1 << (WINDOW - 1);
            self.scored_from = (self.scored_from + moved) % SEQUENCES;
        }
    }
    fn receive(&mut self, now: Time, sequence: u16, packets: &[PacketId], out: &mut Output) {
        let place = ahead(self.next, sequence);
        if place >= SEQUENCES / 2 {
            return;
        }
        if place == 0 {
            // The usual case: nothing is missing.
            out.delivered.extend(packets);
            self.received >>= 1;
            self.next = (self.next + 1) % SEQUENCES;
            self.release(now, out);
            return;
        }
        if place >= WINDOW {
            self.advance_to((sequence + SEQUENCES - (WINDOW - 1)) % SEQUENCES, out);
        }
        let place = ahead(self.next, sequence);
        if self.received >> place & 1 == 0 {
            if self.received == 0 {
                self.since = now;
            }
            self.received |= 1 << place;
            out.held.extend(packets);
            self.waiting[usize::from(sequence % WINDOW)].extend(packets);
        }
        self.release(now, out);
    }
    /// Delivers what stands before `start` and moves there.
    fn advance_to(&mut self, start: u16, out: &mut Output) {
        for _ in 0..ahead(self.next, start).min(WINDOW) {
            self.step(out);
        }
        self.next = start;
    }
    /// Delivers as far as nothing is missing.
    fn release(&mut self, now: Time, out: &mut Output) {
        while self.received & 1 == 1 {
            self.step(out);
            self.since = now;
        }
    }
    fn step(&mut self, out: &mut Output) {
        if self.received & 1 == 1 {
            out.delivered.append(&mut self.waiting[usize::from(self.next % WINDOW)]);
        }
        self.received >>= 1;
        self.next = (self.next + 1) % SEQUENCES;
    }
}
